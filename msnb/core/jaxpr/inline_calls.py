"""Calls that were made to trace equal parts of a network once are dissolved: what is shown and compiled is flat.

A call of such a part is one equation under a `PartName`. JAX differentiates and transposes it like any other call,
once for equal ones. At the end of a trace each becomes the equations that it stands for, with variables of its own,
under the scope that it was made in: the same graph as without any call.
"""

from typing import Any

from jax.extend.core import ClosedJaxpr, Var

from msnb.core.compat.jax_private import fresh, other_graphs, under, unnamed
from msnb.core.jaxpr.op_names import GraphName


class PartName(GraphName):
    """Name of a call that is no operator's."""

    __slots__ = ()


def inline_calls(graph: ClosedJaxpr) -> ClosedJaxpr:
    """`graph` without calls of parts, however deep; the same object where there are none."""
    consts: dict[int, tuple[Any, Any]] = {}
    jaxpr = _flat(graph.jaxpr, consts, {})
    if jaxpr is graph.jaxpr:
        return graph
    variables, values = [v for v, _ in consts.values()], [value for _, value in consts.values()]
    return ClosedJaxpr(
        jaxpr.replace(constvars=[*jaxpr.constvars, *variables], debug_info=unnamed(jaxpr)), [*graph.consts, *values]
    )


def _flat(jaxpr, consts, known):
    """A jaxpr without calls of parts.

    Args:
        consts (dict): id of an array that a part brings along -> (variable for it, the array); this adds to it.
        known (dict): id of a jaxpr inside -> (the same without calls, the jaxpr).
    """
    eqns, stands, changed = [], {}, False
    for eqn in jaxpr.eqns:
        invars = [_of(v, stands) for v in eqn.invars]
        if isinstance(eqn.params.get("name"), PartName):
            _spread(eqn.params["jaxpr"], invars, eqn, eqns, stands, consts, known)
            changed = True
            continue
        new = other_graphs(eqn.params, lambda graph: _body(graph, known))
        if new or any(a is not b for a, b in zip(invars, eqn.invars, strict=True)):
            eqn, changed = eqn.replace(invars=invars, params={**eqn.params, **new}), True
        eqns.append(eqn)
    if not changed:
        return jaxpr
    return jaxpr.replace(eqns=eqns, outvars=[_of(v, stands) for v in jaxpr.outvars])


def _spread(part, invars, call, eqns, stands, consts, known):
    """Append to `eqns` what the call of a part computes, and to `stands` what its results are."""
    jaxpr = _once(part.jaxpr, known, consts)
    inside = dict(zip(jaxpr.invars, invars, strict=True))
    for var, value in zip(jaxpr.constvars, part.consts, strict=True):
        inside[var] = consts.setdefault(id(value), (fresh(var), value))[0]
    scopes = {}  # equations that shared the text of their scope share it again
    for eqn in jaxpr.eqns:
        outvars = [fresh(v) for v in eqn.outvars]
        inside.update(zip(eqn.outvars, outvars, strict=True))
        where = under(eqn.source_info, call.source_info, scopes)
        eqns.append(eqn.replace(invars=[_of(v, inside) for v in eqn.invars], outvars=outvars, source_info=where))
    stands.update((out, _of(var, inside)) for out, var in zip(call.outvars, jaxpr.outvars, strict=True))


def _of(atom, stands):
    return stands.get(atom, atom) if isinstance(atom, Var) else atom


def _once(jaxpr, known, consts):
    """`jaxpr` without calls of parts, looked at once however many calls there are."""
    found = known.get(id(jaxpr))
    if found is None:
        found = known[id(jaxpr)] = _flat(jaxpr, consts, known), jaxpr  # its id is its own while it is kept
    return found[0]


def _body(graph, known):
    found = known.get(id(graph))
    if found is None:
        found = known[id(graph)] = inline_calls(graph) if isinstance(graph, ClosedJaxpr) else _open(graph), graph
    return found[0]


def _open(jaxpr):
    """The same for a graph that can hold no arrays; where a part brings one along, its call stays."""
    consts: dict[int, tuple[Any, Any]] = {}
    flat = _flat(jaxpr, consts, {})
    return jaxpr if consts else flat
