"""Add measurements of inner values to a program as extra outputs, also inside loops and branches.

The caller names the equations: `insight.instrument` finds them by the nodes of a graph, `sown_values` by a label.
"""

from collections.abc import Mapping
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr

from msnb.core.compat.jax_private import Literal, eval_jaxpr, scan_counts, without_argument_names


class Measure:
    """Base class of measurements of values inside a program.

    A point is an object with a `slot`, the index of its value among the results of the equation. Every method returns a
    pytree of arrays whose shapes depend on the point only.
    """

    def measure(self, point: Any, array: Any) -> Any:
        """Return the measurement of one value."""
        raise NotImplementedError

    def empty(self, point: Any) -> Any:
        """Return the measurement of a value that was never computed, the neutral element of `merge`."""
        raise NotImplementedError

    def merge(self, point: Any, first: Any, second: Any) -> Any:
        """Combine the measurements of two iterations of a loop."""
        raise NotImplementedError

    def finish(self, points: list[Any], measurements: list[Any], inputs: list[Any], outputs: list[Any]) -> Any:
        """Return the extra outputs of the program, a list of arrays.

        Args:
            points (list): The points that were measured.
            measurements (list): The measurement of each point.
            inputs (list): The inputs of the program.
            outputs (list): The original outputs of the program.
        """
        return [leaf for measurement in measurements for leaf in jax.tree.leaves(measurement)]


def instrument(
    closed: ClosedJaxpr, points_by_key: Mapping[tuple[Any, ...], list[Any]], measure: Measure
) -> tuple[ClosedJaxpr, list[Any]]:
    """Return (graph, points): the same equations, with the measurements of the points as extra outputs.

    Args:
        closed (ClosedJaxpr): The program.
        points_by_key (Mapping): Key of an equation -> points at its results, in the order of execution. A key is (id of
            an enclosing equation, index of the nested graph), ..., id of the equation. Points in the condition of a
            `while` are not measured.
        measure (Measure): The measurement.
    """
    keys_inside: dict[tuple[Any, ...], list[Any]] = {}
    for key in points_by_key:
        for end in range(1, len(key)):
            keys_inside.setdefault((*key[: end - 1], key[end - 1][0]), []).append(key)
    order = {id(point): number for number, point in enumerate(p for points in points_by_key.values() for p in points)}
    evaluate, measured_points = _Evaluator(points_by_key, keys_inside, measure), []

    def traced(*args):
        outs, values = evaluate(closed.jaxpr, closed.consts, args, ())
        values.sort(key=lambda entry: order[id(entry[0])])
        measured_points[:] = [point for point, _ in values]
        return [*outs, *measure.finish(list(measured_points), [value for _, value in values], list(args), list(outs))]

    return jax.make_jaxpr(traced)(*[_shape_of(v.aval) for v in closed.jaxpr.invars]), measured_points


def _shape_of(aval):
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=getattr(aval, "weak_type", False))


# Equations that are inlined if a value inside is measured: only their name is lost.
TRANSPARENT = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "custom_lin": "call_jaxpr",
    "remat2": "jaxpr",
    "remat": "jaxpr",
    "checkpoint": "jaxpr",
}
_REMAT = ("remat2", "remat", "checkpoint")


class _Evaluator:
    """Evaluates a jaxpr on tracers; returns its results and [(point, measurement)]."""

    def __init__(self, points_by_key, keys_inside, measure):
        self.points_by_key = points_by_key  # key of an equation -> its points
        self.keys_inside = keys_inside  # path of an equation -> keys of measured equations inside it
        self.rule = measure

    def __call__(self, jaxpr, consts, args, path):
        env = dict(zip(jaxpr.constvars, consts)) | dict(zip(jaxpr.invars, args))
        measured, plain = [], []

        def look_up(var):
            return var.val if isinstance(var, Literal) else env[var]

        def flush():
            if plain:
                evaluate_equations(jaxpr, plain, env)
                for eqn in plain:
                    for point in self.points_by_key.get((*path, id(eqn)), ()):
                        measured.append((point, self.rule.measure(point, env[eqn.outvars[point.slot]])))
                plain.clear()

        for eqn in jaxpr.eqns:
            if (*path, id(eqn)) not in self.keys_inside:
                plain.append(eqn)
                continue
            flush()
            outs, nested = self._evaluate_nested(eqn, [look_up(v) for v in eqn.invars], path)
            env.update(zip(eqn.outvars, outs))
            measured += nested
            for point in self.points_by_key.get((*path, id(eqn)), ()):
                measured.append((point, self.rule.measure(point, env[eqn.outvars[point.slot]])))
        flush()
        return [look_up(v) for v in jaxpr.outvars], measured

    def _evaluate_nested(self, eqn, args, path):
        kind = eqn.primitive.name
        if kind in _REMAT:
            return self._run_remat(eqn, args, path)
        if kind in TRANSPARENT:
            inner = eqn.params[TRANSPARENT[kind]]
            return self(*open_jaxpr(inner), args, (*path, (id(eqn), 0)))
        return {"cond": self._run_cond, "while": self._run_while, "scan": self._run_scan}[kind](eqn, args, path)

    def _points_inside(self, path, eqn, index=None):
        """Return the measured points inside an equation, in the order of their measurement."""
        start = (*path, (id(eqn), index))
        return [
            point
            for key in self.keys_inside.get((*path, id(eqn)), ())
            if index is None or key[: len(start)] == start
            for point in self.points_by_key[key]
        ]

    def _run_nested(self, jaxpr, consts, args, path, points):
        """Return the results of a nested graph and its measurements in the order of `points`, empty for unmeasured
        points.
        """
        outs, measured = self(jaxpr, consts, args, path)
        by_point = {id(point): value for point, value in measured}
        return outs, [by_point[id(p)] if id(p) in by_point else self.rule.empty(p) for p in points]

    def _run_remat(self, eqn, args, path):
        inner, points = eqn.params["jaxpr"], self._points_inside(path, eqn)

        def body(*values):
            return self._run_nested(*open_jaxpr(inner), values, (*path, (id(eqn), 0)), points)

        outs, values = jax.checkpoint(body, prevent_cse=eqn.params["prevent_cse"], policy=eqn.params["policy"])(*args)
        return outs, list(zip(points, values))

    def _run_cond(self, eqn, args, path):
        branches, points = eqn.params["branches"], self._points_inside(path, eqn)

        def branch(index, inner):
            return lambda *values: self._run_nested(*open_jaxpr(inner), values, (*path, (id(eqn), index)), points)

        outs, values = jax.lax.switch(args[0], [branch(i, b) for i, b in enumerate(branches)], *args[1:])
        return outs, list(zip(points, values))

    def _run_while(self, eqn, args, path):
        first, second = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
        cond_consts, body_consts, carry = args[:first], args[first : first + second], args[first + second :]
        condition, body = eqn.params["cond_jaxpr"], eqn.params["body_jaxpr"]
        points = self._points_inside(path, eqn, 1)

        def test(state):
            return eval_jaxpr(*open_jaxpr(condition), *cond_consts, *state[0])[0]

        def iterate(state):
            outs, values = self._run_nested(*open_jaxpr(body), [*body_consts, *state[0]], (*path, (id(eqn), 1)), points)
            return outs, self._merge_measurements(points, state[1], values)

        outs, values = jax.lax.while_loop(test, iterate, (list(carry), [self.rule.empty(p) for p in points]))
        return outs, list(zip(points, values))

    def _run_scan(self, eqn, args, path):
        params = eqn.params
        n_consts, n_carry = scan_counts(eqn)
        consts, carry, rows = args[:n_consts], args[n_consts : n_consts + n_carry], args[n_consts + n_carry :]
        points = self._points_inside(path, eqn)

        def iterate(state, row):
            outs, values = self._run_nested(
                *open_jaxpr(params["jaxpr"]), [*consts, *state[0], *row], (*path, (id(eqn), 0)), points
            )
            return (outs[:n_carry], self._merge_measurements(points, state[1], values)), outs[n_carry:]

        start = list(carry), [self.rule.empty(p) for p in points]
        (outs, values), stacked = jax.lax.scan(
            iterate, start, list(rows), length=params["length"], reverse=params["reverse"], unroll=params["unroll"]
        )
        return [*outs, *stacked], list(zip(points, values))

    def _merge_measurements(self, points, before, now):
        return [self.rule.merge(point, a, b) for point, a, b in zip(points, before, now)]


def evaluate_equations(jaxpr: Any, eqns: list[Any], env: dict[Any, Any]) -> None:
    """Evaluate equations of `jaxpr` on the values in `env`, and add their results; scopes and lines are kept."""
    outputs = [v for eqn in eqns for v in eqn.outvars if type(v).__name__ != "DropVar"]
    computed = set(outputs)
    free = list(
        dict.fromkeys(v for eqn in eqns for v in eqn.invars if not isinstance(v, Literal) and v not in computed)
    )
    effects = set().union(*[eqn.effects for eqn in eqns])
    debug = without_argument_names(jaxpr)
    segment = jaxpr.replace(
        constvars=[], invars=free, outvars=outputs, eqns=list(eqns), effects=effects, debug_info=debug
    )
    env.update(zip(outputs, eval_jaxpr(segment, (), *[env[v] for v in free])))


def open_jaxpr(inner: Any) -> tuple[Any, Any]:
    """Return (jaxpr, constants) of a closed or an open jaxpr."""
    return (inner.jaxpr, inner.consts) if hasattr(inner, "consts") else (inner, ())
