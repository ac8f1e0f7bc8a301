"""Find gradients that are zero for all values, because no operator between them and the loss has a derivative."""

from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr

from msnb.core.compat.jax_private import Literal
from msnb.insight.gradients.rows import LABEL

# Primitives whose result is zero if all operands are zero (_OF_ALL), if the first operand is zero (_OF_FIRST), or if
# any operand is zero (_OF_ANY).
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
    """Return the names of Parameters whose gradient is zero for all values of the Parameters and inputs.

    Args:
        closed (ClosedJaxpr): a program in which the gradients of Parameters are labelled.

    Returns:
        frozenset[str], the names of those whose gradient is computed from zeros only. Results of loops and branches
        count as nonzero.
    """
    labels = set()
    zero = {var for var, value in zip(closed.jaxpr.constvars, closed.consts, strict=True) if _is_zero(value)}
    _propagate_zeros(closed.jaxpr, zero, labels)
    return frozenset(labels)


def _propagate_zeros(jaxpr: Jaxpr, zero: set[Any], labels: set[str]) -> list[bool]:
    """Add variables that are zero to `zero`, and their labels to `labels`. Return a bool per output: True if zero."""

    def is_known_zero(var):
        return _is_zero(var.val) if isinstance(var, Literal) else var in zero

    for eqn in jaxpr.eqns:
        kind, operands_are_zero = eqn.primitive.name, [is_known_zero(var) for var in eqn.invars]
        inner = next((eqn.params[name] for name in _CALLS if name in eqn.params), None)
        if inner is not None and kind not in _BRANCHING:
            body = getattr(inner, "jaxpr", inner)
            outs = _propagate_zeros(
                body, {var for var, is_zero in zip(body.invars, operands_are_zero) if is_zero}, labels
            )
        else:
            outs = [_is_result_zero(kind, operands_are_zero)] * len(eqn.outvars)
        zero.update(var for var, is_zero in zip(eqn.outvars, outs) if is_zero)
        if kind == "name" and operands_are_zero[0] and eqn.params["name"].startswith(LABEL):
            labels.add(eqn.params["name"][len(LABEL) :])
    return [is_known_zero(var) for var in jaxpr.outvars]


def _is_result_zero(kind, operands_are_zero):
    if kind in _OF_ALL:
        return all(operands_are_zero)
    if kind == "select_n":
        return all(operands_are_zero[1:])
    if kind in _OF_ANY:
        return any(operands_are_zero)
    return kind in _OF_FIRST and operands_are_zero[0]


def _is_zero(value):
    return not np.any(np.asarray(value))
