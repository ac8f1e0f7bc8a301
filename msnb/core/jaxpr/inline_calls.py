"""Inline the calls of shared Cells, so that views and XLA see a flat graph.

Equal Cells of a network are traced once. Each occurrence of such a Cell is an equation with a `PartName` that calls the
traced part. JAX differentiates and transposes the part once. At the end of the trace each call is replaced by the
equations of the part, with new variables, in the scope of the call. The result equals a trace without such calls.
"""

from typing import Any

from jax.extend.core import ClosedJaxpr, Var

from msnb.core.compat.jax_private import map_nested_graphs, nest_source_info, new_variable, without_argument_names
from msnb.core.jaxpr.op_names import GraphName


class PartName(GraphName):
    """Name of the call of a network part; the calls of operators have a `GraphName`."""

    __slots__ = ()


def inline_calls(graph: ClosedJaxpr) -> ClosedJaxpr:
    """Return `graph` with the calls of shared Cells inlined, at any depth; the same object if there are none."""
    consts: dict[int, tuple[Any, Any]] = {}
    jaxpr = _inline_jaxpr_calls(graph.jaxpr, consts, {})
    if jaxpr is graph.jaxpr:
        return graph
    variables, values = [v for v, _ in consts.values()], [value for _, value in consts.values()]
    return ClosedJaxpr(
        jaxpr.replace(constvars=[*jaxpr.constvars, *variables], debug_info=without_argument_names(jaxpr)),
        [*graph.consts, *values],
    )


def _inline_jaxpr_calls(jaxpr, consts, cache):
    """Return a jaxpr with the calls of shared Cells inlined.

    Args:
        consts (dict): id of a constant array of a part -> (variable for it, the array). New constants are added.
        cache (dict): id of a nested jaxpr -> (the inlined jaxpr, the original jaxpr).
    """
    eqns, substitutes, changed = [], {}, False
    for eqn in jaxpr.eqns:
        invars = [_substitute_variable(v, substitutes) for v in eqn.invars]
        if isinstance(eqn.params.get("name"), PartName):
            _inline_part_call(eqn.params["jaxpr"], invars, eqn, eqns, substitutes, consts, cache)
            changed = True
            continue
        new = map_nested_graphs(eqn.params, lambda graph: _inline_calls_in_nested_graph(graph, cache))
        if new or any(a is not b for a, b in zip(invars, eqn.invars, strict=True)):
            eqn, changed = eqn.replace(invars=invars, params={**eqn.params, **new}), True
        eqns.append(eqn)
    if not changed:
        return jaxpr
    return jaxpr.replace(eqns=eqns, outvars=[_substitute_variable(v, substitutes) for v in jaxpr.outvars])


def _inline_part_call(part, invars, call, eqns, substitutes, consts, cache):
    """Append the equations of the call of a part to `eqns`, and its results to `substitutes`."""
    jaxpr = _inline_calls_cached(part.jaxpr, cache, consts)
    variables = dict(zip(jaxpr.invars, invars, strict=True))
    for var, value in zip(jaxpr.constvars, part.consts, strict=True):
        variables[var] = consts.setdefault(id(value), (new_variable(var), value))[0]
    scopes = {}  # equations that share a name stack object still share one after inlining
    for eqn in jaxpr.eqns:
        outvars = [new_variable(v) for v in eqn.outvars]
        variables.update(zip(eqn.outvars, outvars, strict=True))
        source_info = nest_source_info(eqn.source_info, call.source_info, scopes)
        eqns.append(
            eqn.replace(
                invars=[_substitute_variable(v, variables) for v in eqn.invars],
                outvars=outvars,
                source_info=source_info,
            )
        )
    substitutes.update(
        (out, _substitute_variable(var, variables)) for out, var in zip(call.outvars, jaxpr.outvars, strict=True)
    )


def _substitute_variable(atom, substitutes):
    return substitutes.get(atom, atom) if isinstance(atom, Var) else atom


def _inline_calls_cached(jaxpr, cache, consts):
    """Return `jaxpr` with the calls of shared Cells inlined, computed once per jaxpr."""
    entry = cache.get(id(jaxpr))
    if entry is None:
        entry = cache[id(jaxpr)] = _inline_jaxpr_calls(jaxpr, consts, cache), jaxpr  # the reference keeps the id unique
    return entry[0]


def _inline_calls_in_nested_graph(graph, cache):
    entry = cache.get(id(graph))
    if entry is None:
        entry = cache[id(graph)] = (
            inline_calls(graph) if isinstance(graph, ClosedJaxpr) else _inline_calls_in_open_jaxpr(graph),
            graph,
        )
    return entry[0]


def _inline_calls_in_open_jaxpr(jaxpr):
    """Return an open jaxpr with the calls of shared Cells inlined.

    An open jaxpr has no constants. If a part has an array as a constant, the jaxpr is returned unchanged.
    """
    consts: dict[int, tuple[Any, Any]] = {}
    flat = _inline_jaxpr_calls(jaxpr, consts, {})
    return jaxpr if consts else flat
