"""Which gradients are zero whatever the values are: what lies between them and the loss has no derivative at all."""

from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr

from msnb.core.compat.jax_private import Literal
from msnb.insight.gradients.rows import LABEL

# of nothing but zeros they make zeros: among all operands, or in the first one
_OF_ALL = frozenset(
    ("add", "add_any", "sub", "max", "min", "concatenate", "pad", "scatter-add", "dynamic_update_slice")
)
_OF_FIRST = frozenset(
    "abs convert_element_type copy cumsum div dynamic_slice expand_dims expm1 gather imag name neg real reduce_max "
    "reduce_min reduce_precision reduce_sum reduce_window_sum reshape rev select_and_scatter_add sign sin slice sqrt "
    "squeeze tanh transpose broadcast_in_dim optimization_barrier".split()
)
_OF_ANY = frozenset(("mul", "dot_general", "conv_general_dilated", "and"))
_CALLS = ("jaxpr", "call_jaxpr", "fun_jaxpr")
_BRANCHING = ("while", "scan", "cond")


def cut_off(closed: ClosedJaxpr) -> frozenset[str]:
    """Parameters that the loss cannot react to.

    Args:
        closed (ClosedJaxpr): a program in which the gradients of Parameters are labelled.

    Returns:
        frozenset[str], the names of those whose gradient is made of zeros alone. Loops and branches are taken to give
        anything.
    """
    found = set()
    zero = {var for var, value in zip(closed.jaxpr.constvars, closed.consts, strict=True) if _is_zero(value)}
    _follow(closed.jaxpr, zero, found)
    return frozenset(found)


def _follow(jaxpr: Jaxpr, zero: set[Any], found: set[str]) -> list[bool]:
    """Add to `zero` the variables that are zero, to `found` the labels on such; which outputs are."""

    def known(var):
        return _is_zero(var.val) if isinstance(var, Literal) else var in zero

    for eqn in jaxpr.eqns:
        kind, given = eqn.primitive.name, [known(var) for var in eqn.invars]
        inner = next((eqn.params[name] for name in _CALLS if name in eqn.params), None)
        if inner is not None and kind not in _BRANCHING:
            body = getattr(inner, "jaxpr", inner)
            outs = _follow(body, {var for var, is_zero in zip(body.invars, given) if is_zero}, found)
        else:
            outs = [_makes_zero(kind, given)] * len(eqn.outvars)
        zero.update(var for var, is_zero in zip(eqn.outvars, outs) if is_zero)
        if kind == "name" and given[0] and eqn.params["name"].startswith(LABEL):
            found.add(eqn.params["name"][len(LABEL) :])
    return [known(var) for var in jaxpr.outvars]


def _makes_zero(kind, given):
    if kind in _OF_ALL:
        return all(given)
    if kind == "select_n":
        return all(given[1:])
    if kind in _OF_ANY:
        return any(given)
    return kind in _OF_FIRST and given[0]


def _is_zero(value):
    return not np.any(np.asarray(value))
