"""Keep the Parameters unchanged if a call fails: the program itself selects between their new and old arrays.

The selection follows directly after the equation that computes a new array, inside the operator that contains it, and
later equations read the selected value. With all selections at the end of the program, XLA would compute the moments
of an optimizer twice, for the selection and for the weights, and copy the old moments in each step.
"""

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, Var, jaxpr_as_fun

from msnb.core.compat.jax_private import UNSPECIFIED, new_variable, without_argument_names

_FLAG = jax.ShapeDtypeStruct((), bool)


def keep_on_error(
    graph: ClosedJaxpr, n_results: int, old_inputs: Sequence[int], failure: int | None = None
) -> ClosedJaxpr:
    """Return a graph like `graph` that returns the old arrays of written Parameters if the error is not 0.

    Args:
        graph (ClosedJaxpr): Its outputs are `n_results` results, of which the last one is the error, then the new
            arrays, then any others.
        n_results (int): Number of results.
        old_inputs (Sequence[int]): For each new array, the index of the input with the old one.
        failure (int): Index of another output that is the error, a bool. Default: None.
    """
    jaxpr = graph.jaxpr
    error = jaxpr.outvars[n_results - 1 if failure is None else failure]
    n_before = next((i + 1 for i, eqn in enumerate(jaxpr.eqns) if error in eqn.outvars), 0)
    fine, test = _inline_jaxpr(_trace_no_error_test(error.aval), [error])
    if n_before:
        # The test gets the scope of the equation that computes the error. With the top-level scope, graph views would
        # show the enclosing Cell twice.
        test = [eqn.replace(source_info=jaxpr.eqns[n_before - 1].source_info) for eqn in test]
    olds = {n_results + position: jaxpr.invars[index] for position, index in enumerate(old_inputs)}
    eqns, outvars = _insert_selections(jaxpr, jaxpr.eqns[n_before:], fine, olds)
    return ClosedJaxpr(jaxpr.replace(eqns=[*jaxpr.eqns[:n_before], *test, *eqns], outvars=outvars), graph.consts)


def continue_error(graph: ClosedJaxpr, n_results: int) -> ClosedJaxpr:
    """Return a graph with one more input, the error of the previous call, which replaces the graph's own error if it is
    not 0.

    Args:
        graph (ClosedJaxpr): Its outputs are `n_results` results, of which the last one is the error, then others.
        n_results (int): Number of results.
    """
    jaxpr = graph.jaxpr
    error = jaxpr.outvars[n_results - 1]
    n_before = next((i + 1 for i, eqn in enumerate(jaxpr.eqns) if error in eqn.outvars), 0)
    earlier = new_variable(_trace_earlier_error(error.aval).invars[1])
    combined, eqns = _inline_jaxpr(_trace_earlier_error(error.aval), [error, earlier])
    if n_before:
        eqns = [eqn.replace(source_info=jaxpr.eqns[n_before - 1].source_info) for eqn in eqns]
    outvars = [*jaxpr.outvars[: n_results - 1], combined, *jaxpr.outvars[n_results:]]
    return ClosedJaxpr(
        jaxpr.replace(
            invars=[*jaxpr.invars, earlier],
            eqns=[*jaxpr.eqns[:n_before], *eqns, *jaxpr.eqns[n_before:]],
            outvars=outvars,
            debug_info=without_argument_names(jaxpr),
        ),
        graph.consts,
    )


def _insert_selections(jaxpr, eqns, fine, olds):
    """Return (equations, output variables) of a jaxpr ending with `eqns`, with selections for the outputs in `olds`.

    Args:
        fine (Var): True selects the new array.
        olds (dict): Index of an output -> variable with the old array.
    """
    outvars, final_eqns = list(jaxpr.outvars), []
    computed = {var for eqn in eqns for var in eqn.outvars}
    n_uses = Counter(var for var in outvars if isinstance(var, Var))
    olds_by_variable = {}
    for position, old in olds.items():
        new = outvars[position]
        if isinstance(new, Var) and new in computed and new not in olds_by_variable and n_uses[new] == 1:
            olds_by_variable[new] = old
        else:
            outvars[position], more = _inline_jaxpr(_trace_selection(new.aval, old.aval), [fine, new, old])
            final_eqns += more
    new_eqns = []
    for eqn in eqns:
        olds_by_slot = {i: olds_by_variable[var] for i, var in enumerate(eqn.outvars) if var in olds_by_variable}
        input_indices = {
            i: eqn.invars.index(old) for i, old in olds_by_slot.items() if _is_pure_call(eqn) and old in eqn.invars
        }
        if input_indices:
            body = _add_flag_input(eqn.params["jaxpr"], tuple(input_indices.items()))
            params = _extend_call_params(eqn.params, len(eqn.invars)) or _trace_call_params(body, eqn.params["name"])
            params = {**params, "jaxpr": body}
            eqn = eqn.replace(invars=[*eqn.invars, fine], params=params)
        unselected = {eqn.outvars[i]: new_variable(eqn.outvars[i]) for i in olds_by_slot if i not in input_indices}
        new_eqns.append(eqn.replace(outvars=[unselected.get(var, var) for var in eqn.outvars]) if unselected else eqn)
        for new, value in unselected.items():
            _, more = _inline_jaxpr(
                _trace_selection(new.aval, olds_by_variable[new].aval), [fine, value, olds_by_variable[new]], [new]
            )
            new_eqns += [e.replace(source_info=eqn.source_info) for e in more]
    return new_eqns + final_eqns, outvars


def _is_pure_call(eqn):
    return eqn.primitive.name in ("jit", "pjit") and not eqn.effects


@functools.lru_cache(maxsize=256)
def _add_flag_input(closed: ClosedJaxpr, input_indices: tuple[tuple[int, int], ...]) -> ClosedJaxpr:
    """Return the graph of an operator's call with an additional bool input that selects between new and old outputs."""
    jaxpr = closed.jaxpr
    flag = new_variable(_make_flag_variable())
    eqns, outvars = _insert_selections(jaxpr, jaxpr.eqns, flag, {i: jaxpr.invars[index] for i, index in input_indices})
    body = jaxpr.replace(
        invars=[*jaxpr.invars, flag], eqns=eqns, outvars=outvars, debug_info=without_argument_names(jaxpr)
    )
    return ClosedJaxpr(body, closed.consts)


@functools.cache
def _make_flag_variable():
    return jax.make_jaxpr(lambda fine: fine)(_FLAG).jaxpr.invars[0]


def _extend_call_params(params, count):
    """Return the parameters of a call extended by one input, with the same unspecified shardings as the first input.

    Return None if JAX has specified something for the inputs, or stores the parameters in another form.
    """
    specified = {name: params.get(name) for name in ("in_shardings", "in_layouts", "donated_invars")}
    for value in specified.values():
        if type(value) is not tuple or len(value) != count or not count or any(v is not value[0] for v in value):
            return None
    if (
        specified["in_layouts"][0] is not None
        or specified["donated_invars"][0]
        or specified["in_shardings"][0] is not UNSPECIFIED
    ):
        return None
    return {**params, **{name: (*value, value[0]) for name, value in specified.items()}}


def _trace_call_params(body, name):
    """Return the `params` of the equation that JAX traces for a jitted call of `body`."""
    function = jaxpr_as_fun(body)
    operator = lambda *arrays: function(*arrays)  # noqa: E731 - a def could not take the operator's name
    operator.__name__ = operator.__qualname__ = name
    return _make_jaxpr(jax.jit(operator), *[v.aval for v in body.jaxpr.invars]).eqns[0].params


@functools.lru_cache(maxsize=16)
def _trace_no_error_test(error):
    return _make_jaxpr(lambda e: e[0] == 0 if e.ndim else jnp.logical_not(e), error)


@functools.lru_cache(maxsize=16)
def _trace_earlier_error(error):
    return _make_jaxpr(lambda own, earlier: jnp.where(earlier[0] == 0, own, earlier), error, error)


@functools.lru_cache(maxsize=1024)
def _trace_selection(new, old):
    if (new.shape, new.dtype) != (old.shape, old.dtype):
        return _make_jaxpr(jnp.where, _FLAG, new, old)
    return _make_jaxpr(lambda fine, new, old: lax.select_n(fine, old, new), _FLAG, new, old)


def _make_jaxpr(function, *avals) -> Jaxpr:
    return jax.make_jaxpr(function)(*[jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals]).jaxpr


def _inline_jaxpr(jaxpr, inputs, outputs=()):
    """Return (output, equations) of a small jaxpr applied to the variables `inputs`, with new inner variables."""
    variables: dict[Any, Any] = dict(zip(jaxpr.invars, inputs)) | dict(zip(jaxpr.outvars, outputs))
    eqns = []
    for eqn in jaxpr.eqns:
        for var in eqn.outvars:
            if var not in variables:
                variables[var] = new_variable(var)
        invars = [variables.get(v, v) if isinstance(v, Var) else v for v in eqn.invars]
        eqns.append(eqn.replace(invars=invars, outvars=[variables[v] for v in eqn.outvars]))
    return variables[jaxpr.outvars[0]], eqns
