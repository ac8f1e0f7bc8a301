"""Measure or replace inner values of a program, also inside loops and branches.

`instrument` adds measurements as extra outputs. `evaluate_replaced` evaluates a program with other values at some
points; the trace around it differentiates the changed program. The caller names the equations: `insight.instrument`
finds them by the nodes of a graph, `sown_values` by a label.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
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

    def merge_iteration(self, point: Any, first: Any, second: Any, depth: int) -> Any:
        """Combine the measurements of the iterations so far with that of the next one. Default: `merge`.

        Args:
            point (Any): The point.
            first (Any): The measurement of the earlier iterations, or `empty`.
            second (Any): The measurement of the next iteration, or `empty`.
            depth (int): The number of loops around this loop.
        """
        return self.merge(point, first, second)

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
    keys_inside = _group_keys_by_enclosing_equation(points_by_key)
    order = {id(point): number for number, point in enumerate(p for points in points_by_key.values() for p in points)}
    evaluate, measured_points = _Evaluator(points_by_key, keys_inside, measure), []

    def traced(*args):
        outs, values = evaluate(closed.jaxpr, closed.consts, args, ())
        values.sort(key=lambda entry: order[id(entry[0])])
        measured_points[:] = [point for point, _ in values]
        return [*outs, *measure.finish(list(measured_points), [value for _, value in values], list(args), list(outs))]

    return jax.make_jaxpr(traced)(*[_to_shape_dtype_struct(v.aval) for v in closed.jaxpr.invars]), measured_points


def _group_keys_by_enclosing_equation(points_by_key):
    keys_inside: dict[tuple[Any, ...], list[Any]] = {}
    for key in points_by_key:
        for end in range(1, len(key)):
            keys_inside.setdefault((*key[: end - 1], key[end - 1][0]), []).append(key)
    return keys_inside


def _to_shape_dtype_struct(aval):
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=getattr(aval, "weak_type", False))


# Primitive of a call -> its parameter with the graph. To measure a value inside, the call is inlined: only its name
# is lost.
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
# Calls whose values are recomputed. If they were inlined, the values would be stored.
REMAT_PRIMITIVES = ("remat2", "remat", "checkpoint")


class _Evaluator:
    """Evaluates a jaxpr on tracers; returns its results and [(point, measurement)]."""

    is_immediate = False  # True if points take effect before the next equation

    def __init__(self, points_by_key, keys_inside, measure):
        self.points_by_key = points_by_key  # key of an equation -> its points
        self.keys_inside = keys_inside  # path of an equation -> keys of measured equations inside it
        self.rule = measure
        self.depth = 0  # number of loops around the equations that are being evaluated

    def __call__(self, jaxpr, consts, args, path):
        env = dict(zip(jaxpr.constvars, consts)) | dict(zip(jaxpr.invars, args))
        measured, plain = [], []

        def look_up(var):
            return var.val if isinstance(var, Literal) else env[var]

        def flush():
            if plain:
                evaluate_equations(jaxpr, plain, env)
                for eqn in plain:
                    measured.extend(self._process_result_points(eqn, path, env))
                plain.clear()

        for eqn in jaxpr.eqns:
            if (*path, id(eqn)) not in self.keys_inside:
                plain.append(eqn)
                if self.is_immediate and (*path, id(eqn)) in self.points_by_key:
                    flush()
                continue
            flush()
            outs, nested = self._evaluate_nested_equation(eqn, [look_up(v) for v in eqn.invars], path)
            env.update(zip(eqn.outvars, outs))
            measured += nested
            measured += self._process_result_points(eqn, path, env)
        flush()
        return [look_up(v) for v in jaxpr.outvars], measured

    def _process_result_points(self, eqn, path, env):
        """Return [(point, measurement)] of the points at the results of an equation."""
        points = self.points_by_key.get((*path, id(eqn)), ())
        return [(point, self.rule.measure(point, env[eqn.outvars[point.slot]])) for point in points]

    def _evaluate_nested_equation(self, eqn, args, path):
        kind = eqn.primitive.name
        if kind in REMAT_PRIMITIVES:
            return self._run_remat(eqn, args, path)
        if kind in TRANSPARENT:
            inner = eqn.params[TRANSPARENT[kind]]
            return self(*open_jaxpr(inner), args, (*path, (id(eqn), 0)))
        return {"cond": self._run_cond, "while": self._run_while, "scan": self._run_scan}[kind](eqn, args, path)

    def _list_points_inside(self, path, eqn, index=None):
        """Return the measured points inside an equation, in the order of their measurement."""
        start = (*path, (id(eqn), index))
        return [
            point
            for key in self.keys_inside.get((*path, id(eqn)), ())
            if index is None or key[: len(start)] == start
            for point in self.points_by_key[key]
        ]

    def _run_nested_graph(self, jaxpr, consts, args, path, points):
        """Return the results of a nested graph and its measurements in the order of `points`, empty for unmeasured
        points.
        """
        outs, measured = self(jaxpr, consts, args, path)
        by_point = {id(point): value for point, value in measured}
        return outs, [by_point[id(p)] if id(p) in by_point else self.rule.empty(p) for p in points]

    def _run_remat(self, eqn, args, path):
        inner, points = eqn.params["jaxpr"], self._list_points_inside(path, eqn)

        def body(*values):
            return self._run_nested_graph(*open_jaxpr(inner), values, (*path, (id(eqn), 0)), points)

        outs, values = jax.checkpoint(body, prevent_cse=eqn.params["prevent_cse"], policy=eqn.params["policy"])(*args)
        return outs, list(zip(points, values))

    def _run_cond(self, eqn, args, path):
        branches, points = eqn.params["branches"], self._list_points_inside(path, eqn)

        def branch(index, inner):
            return lambda *values: self._run_nested_graph(*open_jaxpr(inner), values, (*path, (id(eqn), index)), points)

        outs, values = jax.lax.switch(args[0], [branch(i, b) for i, b in enumerate(branches)], *args[1:])
        return outs, list(zip(points, values))

    def _run_while(self, eqn, args, path):
        first, second = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
        cond_consts, body_consts, carry = args[:first], args[first : first + second], args[first + second :]
        condition, body = eqn.params["cond_jaxpr"], eqn.params["body_jaxpr"]
        points = self._list_points_inside(path, eqn, 1)

        def test(state):
            return eval_jaxpr(*open_jaxpr(condition), *cond_consts, *state[0])[0]

        def iterate(state):
            inside = (*path, (id(eqn), 1))
            outs, values = self._run_loop_iteration(*open_jaxpr(body), [*body_consts, *state[0]], inside, points)
            return outs, self._merge_measurements(points, state[1], values)

        outs, values = jax.lax.while_loop(test, iterate, (list(carry), [self.rule.empty(p) for p in points]))
        return outs, list(zip(points, values))

    def _run_scan(self, eqn, args, path):
        params = eqn.params
        n_consts, n_carry = scan_counts(eqn)
        consts, carry, rows = args[:n_consts], args[n_consts : n_consts + n_carry], args[n_consts + n_carry :]
        points = self._list_points_inside(path, eqn)

        def iterate(state, row):
            inside = (*path, (id(eqn), 0))
            args = [*consts, *state[0], *row]
            outs, values = self._run_loop_iteration(*open_jaxpr(params["jaxpr"]), args, inside, points)
            return (outs[:n_carry], self._merge_measurements(points, state[1], values)), outs[n_carry:]

        start = list(carry), [self.rule.empty(p) for p in points]
        (outs, values), stacked = jax.lax.scan(
            iterate, start, list(rows), length=params["length"], reverse=params["reverse"], unroll=params["unroll"]
        )
        return [*outs, *stacked], list(zip(points, values))

    def _run_loop_iteration(self, jaxpr, consts, args, path, points):
        self.depth += 1
        try:
            return self._run_nested_graph(jaxpr, consts, args, path, points)
        finally:
            self.depth -= 1

    def _merge_measurements(self, points, before, now):
        return [self.rule.merge_iteration(point, a, b, self.depth) for point, a, b in zip(points, before, now)]


class Replace:
    """Base class of changes of values inside a program. A point is as in `Measure`."""

    def replace(self, point: Any, array: Any, rounds: tuple[Any, ...]) -> Any:
        """Return the new value of one point, with the shape and dtype of `array`.

        Args:
            point (Any): The point.
            array (jax.Array): The value.
            rounds (tuple): The number of the current iteration of each loop around the point, from 0, outermost first.
        """
        raise NotImplementedError

    def evaluates(self, point: Any) -> bool:
        """Return True if `evaluate` computes the equation of a point. Default: False."""
        return False

    def evaluate(self, point: Any, args: Sequence[Any]) -> Sequence[Any]:
        """Return new results of the equation of a point. `replace` is applied to them afterwards.

        Args:
            point (Any): The point.
            args (Sequence): The inputs of the equation.
        """
        raise NotImplementedError


def evaluate_replaced(
    closed: ClosedJaxpr,
    args: Sequence[Any],
    points_by_key: Mapping[tuple[Any, ...], list[Any]],
    rule: Replace,
    run_while: Callable[..., Any],
) -> list[Any]:
    """Evaluate a program in the current trace with new values at some points; return its results.

    Args:
        closed (ClosedJaxpr): The program.
        args (Sequence): Its inputs.
        points_by_key (Mapping): As for `instrument`. Points in the condition of a `while` have no effect.
        rule (Replace): Returns the new values.
        run_while (Callable): Runs a loop: (condition, body, state) -> state. It decides how the loop is differentiated.
    """
    evaluate = _Replacer(points_by_key, _group_keys_by_enclosing_equation(points_by_key), rule)
    evaluate.run_while = run_while
    return evaluate(closed.jaxpr, closed.consts, list(args), ())[0]


_CUSTOM_GRADIENTS = ("custom_vjp_call", "custom_vjp_call_jaxpr")


class _Replacer(_Evaluator):
    """Evaluates a jaxpr on tracers, and replaces values at points. It measures nothing."""

    is_immediate = True
    run_while: Callable[..., Any]

    def __init__(self, points_by_key, keys_inside, rule):
        super().__init__(points_by_key, keys_inside, rule)
        self._rounds = ()

    def _process_result_points(self, eqn, path, env):
        points = self.points_by_key.get((*path, id(eqn)), ())
        for point in points:
            if self.rule.evaluates(point):  # the original results are then unused; XLA removes them
                args = [var.val if isinstance(var, Literal) else env[var] for var in eqn.invars]
                env.update(zip(eqn.outvars, self.rule.evaluate(point, args), strict=True))
        for point in points:
            var = eqn.outvars[point.slot]
            env[var] = self.rule.replace(point, env[var], self._rounds)
        return []

    def _list_points_inside(self, path, eqn, index=None):
        return []

    def _evaluate_nested_equation(self, eqn, args, path):
        if eqn.primitive.name in _CUSTOM_GRADIENTS:
            return self._run_custom_gradient(eqn, args, path)
        return super()._evaluate_nested_equation(eqn, args, path)

    def _run_custom_gradient(self, eqn, args, path):
        """Run a function that defines its own gradient. The gradient does not use the new values inside the function.

        A function that consists of a `while` only defines how msnb differentiates the loop: the loop is evaluated
        directly. If all replaced values are results of the function, the function runs with its gradient, and the
        values are replaced afterwards. In all other cases, differentiating the function raises an error.
        """
        jaxpr, consts = open_jaxpr(eqn.params[TRANSPARENT[eqn.primitive.name]])
        inner_path = (*path, (id(eqn), 0))
        if [inner.primitive.name for inner in jaxpr.eqns] == ["while"]:
            return self(jaxpr, consts, args, inner_path)
        points_of_outputs = self._map_outputs_to_points(jaxpr, inner_path)
        points = super()._list_points_inside(path, eqn)
        if sum(map(len, points_of_outputs.values())) == len(points) and not any(map(self.rule.evaluates, points)):
            env = {var: arg for var, arg in zip(eqn.invars, args) if not isinstance(var, Literal)}
            evaluate_equations(jaxpr, [eqn], env)
            outs = [env.get(var) for var in eqn.outvars]
            for index, points in points_of_outputs.items():
                for point in points:
                    outs[index] = self.rule.replace(point, outs[index], self._rounds)
            return outs, []

        @jax.custom_vjp
        def run(*values):
            return tuple(self(jaxpr, consts, values, inner_path)[0])

        def forward(*values):
            return run(*values), ()

        def backward(*_):
            raise ValueError(
                "A value is replaced inside a Cell with a bprop of its own, which does not know the new value. Replace "
                "an output of the Cell, or call the network without a gradient."
            )

        run.defvjp(forward, backward)
        return list(run(*args)), []

    def _map_outputs_to_points(self, jaxpr, path):
        """Return {index of an output: points at it} for values that no equation of the graph reads."""
        read = {v for eqn in jaxpr.eqns for v in eqn.invars if not isinstance(v, Literal)}
        points: dict[int, list[Any]] = {}
        for eqn in jaxpr.eqns:
            for point in self.points_by_key.get((*path, id(eqn)), ()):
                var = eqn.outvars[point.slot]
                indices = [index for index, out in enumerate(jaxpr.outvars) if out is var]
                if len(indices) == 1 and var not in read:
                    points.setdefault(indices[0], []).append(point)
        return points

    def _run_loop_body(self, jaxpr, args, path, count):
        outer, self._rounds = self._rounds, (*self._rounds, count)
        try:
            return self(*open_jaxpr(jaxpr), args, path)[0]
        finally:
            self._rounds = outer

    def _run_while(self, eqn, args, path):
        first, second = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
        cond_consts, body_consts, carry = args[:first], args[first : first + second], args[first + second :]
        condition, body = eqn.params["cond_jaxpr"], eqn.params["body_jaxpr"]

        def test(state):
            return eval_jaxpr(*open_jaxpr(condition), *cond_consts, *state[1])[0]

        def iterate(state):
            count, values = state
            return count + 1, self._run_loop_body(body, [*body_consts, *values], (*path, (id(eqn), 1)), count)

        return self.run_while(test, iterate, (jnp.int32(0), list(carry)))[1], []

    def _run_scan(self, eqn, args, path):
        params = eqn.params
        n_consts, n_carry = scan_counts(eqn)
        consts, carry, rows = args[:n_consts], args[n_consts : n_consts + n_carry], args[n_consts + n_carry :]

        def iterate(state, row):
            count, values = state
            outs = self._run_loop_body(params["jaxpr"], [*consts, *values, *row], (*path, (id(eqn), 0)), count)
            return (count + 1, outs[:n_carry]), outs[n_carry:]

        (_, outs), stacked = jax.lax.scan(
            iterate,
            (jnp.int32(0), list(carry)),
            list(rows),
            length=params["length"],
            reverse=params["reverse"],
            unroll=params["unroll"],
        )
        return [*outs, *stacked], []


def evaluate_equations(jaxpr: Any, eqns: list[Any], env: dict[Any, Any]) -> None:
    """Evaluate equations of `jaxpr` on the values in `env`, and add their results; scopes and lines are preserved."""
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
