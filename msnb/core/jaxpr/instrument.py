"""A program with further outputs that are measured inside it, in loops and branches too.

Who wants them says at which equations; `insight.instrument` finds those by the nodes of a graph, `handed` by a label.
"""

from collections.abc import Mapping
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr

from msnb.core.compat.jax_private import Literal, eval_jaxpr, scan_counts, unnamed


class Measure:
    """What is asked for at a point: an object with the `slot` of its value among the results of the equation. Subclass
    it; every result is a pytree of arrays whose shapes depend on the point alone."""

    def measure(self, point: Any, array: Any) -> Any:
        """The measurement of one value."""
        raise NotImplementedError

    def empty(self, point: Any) -> Any:
        """What stands for a value that was never computed; the unit of `merge`."""
        raise NotImplementedError

    def merge(self, point: Any, first: Any, second: Any) -> Any:
        """One measurement for two rounds of a loop."""
        raise NotImplementedError

    def finish(self, points: list[Any], measured: list[Any], inputs: list[Any], outputs: list[Any]) -> Any:
        """The program's further outputs, a list of arrays.

        Args:
            points (list): what was measured.
            measured (list): the measurement of each.
            inputs (list): the arrays that the program was given.
            outputs (list): its own results.
        """
        return [leaf for each in measured for leaf in jax.tree.leaves(each)]


def instrument(
    closed: ClosedJaxpr, wanted: Mapping[tuple[Any, ...], list[Any]], measure: Measure
) -> tuple[ClosedJaxpr, list[Any]]:
    """(graph, points): the same equations, whose further outputs are what `measure` makes of the points.

    Args:
        closed (ClosedJaxpr): The program.
        wanted (Mapping): Key of an equation -> points at its results, in the order of execution. A key is (id of an
            equation around, which of its graphs), ..., id of the equation. Points in the condition of a `while` are
            not reached.
        measure (Measure): How.
    """
    around: dict[tuple[Any, ...], list[Any]] = {}
    for key in wanted:
        for end in range(1, len(key)):
            around.setdefault((*key[: end - 1], key[end - 1][0]), []).append(key)
    place = {id(point): number for number, point in enumerate(p for points in wanted.values() for p in points)}
    run, found = _Run(wanted, around, measure), []

    def traced(*args):
        outs, values = run(closed.jaxpr, closed.consts, args, ())
        values.sort(key=lambda entry: place[id(entry[0])])
        found[:] = [point for point, _ in values]
        return [*outs, *measure.finish(list(found), [value for _, value in values], list(args), list(outs))]

    return jax.make_jaxpr(traced)(*[_like(v.aval) for v in closed.jaxpr.invars]), found


def _like(aval):
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=getattr(aval, "weak_type", False))


# Equations that are taken apart where something inside them is measured: nothing is lost but a name.
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


class _Run:
    """Evaluates a jaxpr on tracers; returns its results and [(Point, measurement)]."""

    def __init__(self, wanted, around, measure):
        self.wanted = wanted  # (path, id of the equation) -> Points
        self.around = around  # path of an equation that others stand in -> keys of those
        self.rule = measure

    def __call__(self, jaxpr, consts, args, path):
        env = dict(zip(jaxpr.constvars, consts)) | dict(zip(jaxpr.invars, args))
        measured, plain = [], []

        def look_up(var):
            return var.val if isinstance(var, Literal) else env[var]

        def flush():
            if plain:
                self._plain(jaxpr, plain, env)
                for eqn in plain:
                    for point in self.wanted.get((*path, id(eqn)), ()):
                        measured.append((point, self.rule.measure(point, env[eqn.outvars[point.slot]])))
                plain.clear()

        for eqn in jaxpr.eqns:
            if (*path, id(eqn)) not in self.around:
                plain.append(eqn)
                continue
            flush()
            outs, inside = self._special(eqn, [look_up(v) for v in eqn.invars], path)
            env.update(zip(eqn.outvars, outs))
            measured += inside
            for point in self.wanted.get((*path, id(eqn)), ()):
                measured.append((point, self.rule.measure(point, env[eqn.outvars[point.slot]])))
        flush()
        return [look_up(v) for v in jaxpr.outvars], measured

    def _plain(self, jaxpr, eqns, env):
        """Evaluate equations that nothing is measured inside of, with their scopes and source lines."""
        made = [v for eqn in eqns for v in eqn.outvars if type(v).__name__ != "DropVar"]
        own = set(made)
        free = list(dict.fromkeys(v for eqn in eqns for v in eqn.invars if not isinstance(v, Literal) and v not in own))
        effects = set().union(*[eqn.effects for eqn in eqns])
        debug = unnamed(jaxpr)
        part = jaxpr.replace(
            constvars=[], invars=free, outvars=made, eqns=list(eqns), effects=effects, debug_info=debug
        )
        env.update(zip(made, eval_jaxpr(part, (), *[env[v] for v in free])))

    def _special(self, eqn, args, path):
        kind = eqn.primitive.name
        if kind in _REMAT:
            return self._remat(eqn, args, path)
        if kind in TRANSPARENT:
            inner = eqn.params[TRANSPARENT[kind]]
            return self(*_parts(inner), args, (*path, (id(eqn), 0)))
        return {"cond": self._cond, "while": self._while, "scan": self._scan}[kind](eqn, args, path)

    def _points(self, path, eqn, index=None):
        """Points inside an equation, in the order in which they are measured there."""
        start = (*path, (id(eqn), index))
        return [
            point
            for key in self.around.get((*path, id(eqn)), ())
            if index is None or key[: len(start)] == start
            for point in self.wanted[key]
        ]

    def _inside(self, jaxpr, consts, args, path, points):
        """Results, and the measurements as a list in the order of `points` (those missed are empty)."""
        outs, measured = self(jaxpr, consts, args, path)
        found = {id(point): value for point, value in measured}
        return outs, [found[id(p)] if id(p) in found else self.rule.empty(p) for p in points]

    def _remat(self, eqn, args, path):
        inner, points = eqn.params["jaxpr"], self._points(path, eqn)

        def body(*values):
            return self._inside(*_parts(inner), values, (*path, (id(eqn), 0)), points)

        outs, values = jax.checkpoint(body, prevent_cse=eqn.params["prevent_cse"], policy=eqn.params["policy"])(*args)
        return outs, list(zip(points, values))

    def _cond(self, eqn, args, path):
        branches, points = eqn.params["branches"], self._points(path, eqn)

        def branch(index, inner):
            return lambda *values: self._inside(*_parts(inner), values, (*path, (id(eqn), index)), points)

        outs, values = jax.lax.switch(args[0], [branch(i, b) for i, b in enumerate(branches)], *args[1:])
        return outs, list(zip(points, values))

    def _while(self, eqn, args, path):
        first, second = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
        cond_consts, body_consts, carry = args[:first], args[first : first + second], args[first + second :]
        condition, body = eqn.params["cond_jaxpr"], eqn.params["body_jaxpr"]
        points = self._points(path, eqn, 1)

        def go_on(state):
            return eval_jaxpr(*_parts(condition), *cond_consts, *state[0])[0]

        def round(state):
            outs, values = self._inside(*_parts(body), [*body_consts, *state[0]], (*path, (id(eqn), 1)), points)
            return outs, self._merge(points, state[1], values)

        outs, values = jax.lax.while_loop(go_on, round, (list(carry), [self.rule.empty(p) for p in points]))
        return outs, list(zip(points, values))

    def _scan(self, eqn, args, path):
        params = eqn.params
        n_consts, n_carry = scan_counts(eqn)
        consts, carry, rows = args[:n_consts], args[n_consts : n_consts + n_carry], args[n_consts + n_carry :]
        points = self._points(path, eqn)

        def round(state, row):
            outs, values = self._inside(
                *_parts(params["jaxpr"]), [*consts, *state[0], *row], (*path, (id(eqn), 0)), points
            )
            return (outs[:n_carry], self._merge(points, state[1], values)), outs[n_carry:]

        start = list(carry), [self.rule.empty(p) for p in points]
        (outs, values), stacked = jax.lax.scan(
            round, start, list(rows), length=params["length"], reverse=params["reverse"], unroll=params["unroll"]
        )
        return [*outs, *stacked], list(zip(points, values))

    def _merge(self, points, before, now):
        return [self.rule.merge(point, a, b) for point, a, b in zip(points, before, now)]


def _parts(inner):
    """(jaxpr, constants) of a closed or an open jaxpr."""
    return (inner.jaxpr, inner.consts) if hasattr(inner, "consts") else (inner, ())
