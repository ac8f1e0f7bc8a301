"""What a call that fails leaves as it was: the program itself chooses between new and old arrays of Parameters.

The choice stands right behind what computes a new array, within the operator that does, and what follows reads what
was chosen. With all choices at the end XLA computes the moments of an optimizer twice, for the choice and for the
weights, and copies the old ones in each step to be able to.
"""

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, Var, jaxpr_as_fun

from msnb.core.compat.jax_private import UNSPECIFIED, fresh, unnamed

_FLAG = jax.ShapeDtypeStruct((), bool)


def keep_on_error(graph: ClosedJaxpr, n_results: int, kept: Sequence[int]) -> ClosedJaxpr:
    """`graph` with the old arrays of the written Parameters for their new ones wherever the error is not 0.

    Args:
        graph (ClosedJaxpr): Its outputs are `n_results` results, of which the last one is the error, then the new
            arrays, then any others.
        n_results (int): Number of results.
        kept (Sequence[int]): For each new array, which input the old one is.
    """
    jaxpr = graph.jaxpr
    error = jaxpr.outvars[n_results - 1]
    known = next((i + 1 for i, eqn in enumerate(jaxpr.eqns) if error in eqn.outvars), 0)
    fine, test = _inlined(_passed(error.aval), [error])
    if known:  # part of what finds the error: beside every Cell, it would end the call of the one it stands in
        test = [eqn.replace(source_info=jaxpr.eqns[known - 1].source_info) for eqn in test]
    olds = {n_results + position: jaxpr.invars[index] for position, index in enumerate(kept)}
    eqns, outvars = _chosen(jaxpr, jaxpr.eqns[known:], fine, olds)
    return ClosedJaxpr(jaxpr.replace(eqns=[*jaxpr.eqns[:known], *test, *eqns], outvars=outvars), graph.consts)


def _chosen(jaxpr, eqns, fine, olds):
    """(equations, output variables) of a jaxpr that ends with `eqns`, with a choice for the outputs that `olds` has.

    Args:
        fine (Var): Whether the new array is taken.
        olds (dict): Position of an output -> variable of what is taken otherwise.
    """
    outvars, late = list(jaxpr.outvars), []
    made = {var for eqn in eqns for var in eqn.outvars}
    given = Counter(var for var in outvars if isinstance(var, Var))
    early = {}
    for position, old in olds.items():
        new = outvars[position]
        if isinstance(new, Var) and new in made and new not in early and given[new] == 1:
            early[new] = old
        else:
            outvars[position], more = _inlined(_choice(new.aval, old.aval), [fine, new, old])
            late += more
    found = []
    for eqn in eqns:
        wanted = {i: early[var] for i, var in enumerate(eqn.outvars) if var in early}
        inside = {i: eqn.invars.index(old) for i, old in wanted.items() if _is_call(eqn) and old in eqn.invars}
        if inside:
            body = _body(eqn.params["jaxpr"], tuple(inside.items()))
            params = _widened(eqn.params, len(eqn.invars)) or _traced(body, eqn.params["name"])
            params = {**params, "jaxpr": body}
            eqn = eqn.replace(invars=[*eqn.invars, fine], params=params)
        raw = {eqn.outvars[i]: fresh(eqn.outvars[i]) for i in wanted if i not in inside}
        found.append(eqn.replace(outvars=[raw.get(var, var) for var in eqn.outvars]) if raw else eqn)
        for new, value in raw.items():
            _, more = _inlined(_choice(new.aval, early[new].aval), [fine, value, early[new]], [new])
            found += [e.replace(source_info=eqn.source_info) for e in more]
    return found + late, outvars


def _is_call(eqn):
    return eqn.primitive.name in ("jit", "pjit") and not eqn.effects


@functools.lru_cache(maxsize=256)
def _body(closed: ClosedJaxpr, inside: tuple[tuple[int, int], ...]) -> ClosedJaxpr:
    """The graph within a call of an operator, with one more input, by which it chooses."""
    jaxpr = closed.jaxpr
    flag = fresh(_flag())
    eqns, outvars = _chosen(jaxpr, jaxpr.eqns, flag, {i: jaxpr.invars[index] for i, index in inside})
    body = jaxpr.replace(invars=[*jaxpr.invars, flag], eqns=eqns, outvars=outvars, debug_info=unnamed(jaxpr))
    return ClosedJaxpr(body, closed.consts)


@functools.cache
def _flag():
    return jax.make_jaxpr(lambda fine: fine)(_FLAG).jaxpr.invars[0]


def _widened(params, count):
    """The parameters of a call for one more input, of which is said as much as of the first: nothing. None where JAX
    says something of its inputs, or keeps its parameters otherwise."""
    said = {name: params.get(name) for name in ("in_shardings", "in_layouts", "donated_invars")}
    for value in said.values():
        if type(value) is not tuple or len(value) != count or not count or any(v is not value[0] for v in value):
            return None
    if said["in_layouts"][0] is not None or said["donated_invars"][0] or said["in_shardings"][0] is not UNSPECIFIED:
        return None
    return {**params, **{name: (*value, value[0]) for name, value in said.items()}}


def _traced(body, name):
    """The same as JAX makes them when it traces such a call."""
    function = jaxpr_as_fun(body)
    operator = lambda *arrays: function(*arrays)  # noqa: E731 - its name is the operator's
    operator.__name__ = operator.__qualname__ = name
    return _graph(jax.jit(operator), *[v.aval for v in body.jaxpr.invars]).eqns[0].params


@functools.lru_cache(maxsize=16)
def _passed(error):
    return _graph(lambda e: e[0] == 0, error)


@functools.lru_cache(maxsize=1024)
def _choice(new, old):
    if (new.shape, new.dtype) != (old.shape, old.dtype):
        return _graph(jnp.where, _FLAG, new, old)
    return _graph(lambda fine, new, old: lax.select_n(fine, old, new), _FLAG, new, old)


def _graph(function, *avals) -> Jaxpr:
    return jax.make_jaxpr(function)(*[jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals]).jaxpr


def _inlined(jaxpr, inputs, outputs=()):
    """(output, equations) of a small jaxpr on the variables `inputs`, with variables of its own."""
    stands: dict[Any, Any] = dict(zip(jaxpr.invars, inputs)) | dict(zip(jaxpr.outvars, outputs))
    eqns = []
    for eqn in jaxpr.eqns:
        for var in eqn.outvars:
            if var not in stands:
                stands[var] = fresh(var)
        invars = [stands.get(v, v) if isinstance(v, Var) else v for v in eqn.invars]
        eqns.append(eqn.replace(invars=invars, outvars=[stands[v] for v in eqn.outvars]))
    return stands[jaxpr.outvars[0]], eqns
