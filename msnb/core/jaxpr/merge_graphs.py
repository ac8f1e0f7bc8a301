"""Merge graphs of one program that several observers have extended: their common equations are computed once."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr

from msnb.core.compat.jax_private import Literal, Var, inside_call, nest_source_info, without_argument_names
from msnb.core.jaxpr.instrument import REMAT_PRIMITIVES, TRANSPARENT, open_jaxpr


def merge_graphs(graphs: Sequence[ClosedJaxpr]) -> ClosedJaxpr:
    """Return one graph with the outputs of all graphs, one graph after another.

    The graphs have the same inputs. An equation of a later graph that equals one of the first graphs, with equal
    operands, takes its results. The equations of the first graph stay as they are, except that calls are inlined.
    XLA's own elimination of common subexpressions does not find all of them: a step of a residual network was computed
    once for each graph.
    """
    merge = _Merge(graphs[0].jaxpr)
    outputs = [atom for graph in graphs for atom in merge.add(graph)]
    effects = set().union(*[eqn.effects for eqn in merge.equations])
    jaxpr = graphs[0].jaxpr.replace(
        constvars=[var for var, _ in merge.constants.values()],
        invars=merge.inputs,
        outvars=outputs,
        eqns=merge.equations,
        effects=effects,
        debug_info=without_argument_names(graphs[0].jaxpr),
    )
    return ClosedJaxpr(jaxpr, [value for _, value in merge.constants.values()])


class _Merge:
    """The merged graph while graphs are added to it.

    Attributes:
        inputs (list[Var]): its inputs.
        equations (list): its equations, calls inlined.
        constants (dict): id of a constant -> (its variable, its value).
    """

    def __init__(self, jaxpr: Any) -> None:
        self.inputs = [Var(var.aval) for var in jaxpr.invars]
        self.equations: list[Any] = []
        self.constants: dict[int, tuple[Any, Any]] = {}
        self._results: dict[Any, list[Any]] = {}  # (key of an equation, its number among equal ones) -> its results
        self._counts: dict[Any, int] = {}  # key of an equation -> number of equal equations in the current graph

    def add(self, graph: ClosedJaxpr) -> list[Any]:
        """Add the equations of a graph that are new. Return its outputs."""
        self._counts.clear()  # equal equations of one graph are not merged
        return self._walk(graph.jaxpr, graph.consts, self.inputs, None)

    def _walk(self, jaxpr, consts, args, call):
        env = dict(zip(jaxpr.invars, args, strict=True))
        env |= {var: self._constant(var, value) for var, value in zip(jaxpr.constvars, consts, strict=True)}
        scopes: dict[Any, Any] = {}

        def look_up(atom):
            return atom if isinstance(atom, Literal) else env[atom]

        for eqn in jaxpr.eqns:
            kind, operands = eqn.primitive.name, [look_up(atom) for atom in eqn.invars]
            source = eqn.source_info if call is None else nest_source_info(eqn.source_info, call, scopes)
            if kind in TRANSPARENT and kind not in REMAT_PRIMITIVES:
                inner_call = inside_call(source, eqn.params.get("name"))
                results = self._walk(*open_jaxpr(eqn.params[TRANSPARENT[kind]]), operands, inner_call)
            else:
                results = self._add_equation(eqn, operands, source)
            env.update(zip(eqn.outvars, results, strict=True))
        return [look_up(atom) for atom in jaxpr.outvars]

    def _constant(self, var, value):
        if id(value) not in self.constants:
            self.constants[id(value)] = Var(var.aval), value
        return self.constants[id(value)][0]

    def _add_equation(self, eqn, operands, source):
        key = eqn.primitive, tuple(map(_key_of_operand, operands)), _key_of_value(eqn.params)
        number = self._counts[key] = self._counts.get(key, 0) + 1
        if (key, number) not in self._results:
            results = [Var(var.aval) for var in eqn.outvars]
            self.equations.append(eqn.replace(invars=operands, outvars=results, source_info=source))
            self._results[key, number] = results
        return self._results[key, number]


def _key_of_operand(atom):
    return ("literal", str(atom.aval), np.asarray(atom.val).tobytes()) if isinstance(atom, Literal) else id(atom)


def _key_of_value(value):
    """Return a key that equal parameters of equations share."""
    if isinstance(value, dict):
        return tuple((name, _key_of_value(entry)) for name, entry in sorted(value.items()))
    if isinstance(value, (tuple, list)):
        return type(value), tuple(map(_key_of_value, value))
    if hasattr(value, "eqns") or hasattr(value, "jaxpr"):
        return _key_of_jaxpr(*open_jaxpr(value))
    if isinstance(value, (float, np.ndarray, np.generic, jax.Array)) or not _is_hashable(value):
        return type(value), repr(value) if isinstance(value, float) else id(value)
    return type(value), value


def _key_of_jaxpr(jaxpr, consts):
    numbers: dict[Any, int] = {}  # variable -> its number in the order of the graph

    def key(atom):
        return _key_of_operand(atom) if isinstance(atom, Literal) else numbers.setdefault(atom, len(numbers))

    inputs = [(key(var), str(var.aval)) for var in (*jaxpr.constvars, *jaxpr.invars)]
    equations = [
        (eqn.primitive, tuple(map(key, eqn.invars)), _key_of_value(eqn.params), tuple(map(key, eqn.outvars)))
        for eqn in jaxpr.eqns
    ]
    return tuple(inputs), tuple(map(id, consts)), tuple(equations), tuple(map(key, jaxpr.outvars))


def _is_hashable(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True
