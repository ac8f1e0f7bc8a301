"""Adds measurements to a program: the same equations, and further outputs that are computed from values inside it.

`instrument` takes a jaxpr and gives one back that JAX compiles as one program. What is measured and how is the
caller's: gradient summaries, watchpoints and summaries of tensors stand on it alike.

A value inside a loop is measured in each round, and the rounds are merged; one inside a branch is measured when the
branch runs. Values in the condition of a `while` cannot be measured: they are listed in `Instrumented.missed`.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr

from msnb.core._jax_private import Literal, eval_jaxpr, scan_counts, unnamed
from msnb.ir.anf import CNode
from msnb.ir.read import read


@dataclasses.dataclass(frozen=True)
class Point:
    """A value inside a program.

    Attributes:
        node (Union[CNode, None]): the operator that makes it; None for a value that `checkpoint_name` labelled.
        slot (int): which of the results of its equation it is.
        shape (tuple), dtype (numpy.dtype): what it is.
        label (str): the name that `checkpoint_name` gave, "" for other values.
        nested (bool): whether it stands inside a loop or a branch.
    """

    node: CNode | None
    slot: int
    shape: tuple[Any, ...]
    dtype: np.dtype
    label: str = ""
    nested: bool = False


class Measure:
    """What `instrument` asks for. Subclass it; every result is a pytree of arrays whose shapes depend on the point
    alone."""

    def measure(self, point: Any, array: Any) -> Any:
        """The measurement of one value."""
        raise NotImplementedError

    def empty(self, point: Any) -> Any:
        """What stands for a value that was never computed; the unit of `merge`."""
        raise NotImplementedError

    def merge(self, point: Any, first: Any, second: Any) -> Any:
        """One measurement for two rounds of a loop."""
        raise NotImplementedError

    def finish(self, points: list[Point], measured: list[Any], inputs: list[Any], outputs: list[Any]) -> Any:
        """The program's further outputs, a list of arrays.

        Args:
            points (list[Point]): what was measured.
            measured (list): the measurement of each.
            inputs (list): the arrays that the program was given.
            outputs (list): its own results.
        """
        return [leaf for each in measured for leaf in jax.tree.leaves(each)]


@dataclasses.dataclass(frozen=True)
class Instrumented:
    """What `instrument` returns.

    Attributes:
        jaxpr (ClosedJaxpr): the program's inputs; its own outputs, then the further ones.
        points (list[Point]): what is measured, in the order of execution.
        missed (list[Point]): what was chosen but stands where nothing can be measured.
        graph (FuncGraph): the program as it was read; the nodes of the points are its nodes.
    """

    jaxpr: object
    points: list[Any]
    missed: list[Any]
    graph: object


def instrument(
    closed: ClosedJaxpr,
    choose: Callable[..., Any],
    measure: Measure,
    inputs: list[tuple[Any, ...]] | None = None,
    name: str = "main",
) -> Instrumented:
    """Add measurements to a program.

    Args:
        closed (ClosedJaxpr): the program.
        choose (Callable): from the list of all Points to those that are to be measured.
        measure (Measure): how.
        inputs (list[tuple]): what the inputs are, as for `msnb.ir.read`. Default: None.
        name (str): name of the graph. Default: "main".

    Returns:
        Instrumented.

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> class Largest(Measure):
        ...     def measure(self, point, array):
        ...         return jnp.abs(array).max()
        >>> made = instrument(jax.make_jaxpr(lambda x: jnp.sin(x) * 2)(jnp.ones(3)), lambda points: points, Largest())
        >>> [point.node.op for point in made.points]
        ['sin', 'mul']
    """
    sites, around = {}, {}
    order = []

    def visit(node, eqn, path):
        label = eqn.params["name"] if node is None else ""
        key = (*path, id(eqn))
        nested = any(kinds[number] not in _TRANSPARENT for number, _ in path)
        found = [
            Point(node, slot, tuple(var.aval.shape), var.aval.dtype, label, nested)
            for slot, var in enumerate(eqn.outvars)
            if type(var).__name__ != "DropVar" and hasattr(var.aval, "shape")
        ]
        sites[key] = found
        order.append((key, found))

    kinds = _kinds(closed.jaxpr, {})
    graph = read(closed, name, inputs, visit=visit)
    everything = [point for _, found in order for point in found]
    chosen = {id(point) for point in choose(everything)}
    wanted = {}
    for key, found in order:
        picked = [point for point in found if id(point) in chosen]
        if picked:
            wanted[key] = picked
            for end in range(1, len(key)):
                around.setdefault((*key[: end - 1], key[end - 1][0]), []).append(key)
    run = _Run(wanted, around, measure)
    shapes = [
        jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype, weak_type=getattr(v.aval, "weak_type", False))
        for v in closed.jaxpr.invars
    ]
    note = {}

    def traced(*args):
        outs, measured = run(closed.jaxpr, closed.consts, args, ())
        place = {id(point): number for number, point in enumerate(everything)}
        measured.sort(key=lambda entry: place[id(entry[0])])
        note["points"] = [point for point, _ in measured]
        return [*outs, *measure.finish(note["points"], [value for _, value in measured], list(args), list(outs))]

    made = jax.make_jaxpr(traced)(*shapes)
    measured = {id(point) for point in note["points"]}
    return Instrumented(
        made, note["points"], [p for p in everything if id(p) in chosen and id(p) not in measured], graph
    )


# Equations that are taken apart where something inside them is measured: nothing is lost but a name.
_TRANSPARENT = {
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


def _kinds(jaxpr, kinds):
    """{id of an equation: its primitive}, of nested ones too."""
    for eqn in jaxpr.eqns:
        kinds[id(eqn)] = eqn.primitive.name
        for value in eqn.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    _kinds(inner, kinds)
    return kinds


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
        if kind in _TRANSPARENT:
            inner = eqn.params[_TRANSPARENT[kind]]
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
