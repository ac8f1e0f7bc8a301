"""Shrinkage: small values become 0."""

import jax.numpy as jnp

from msnb.common.kinds import Float
from msnb.core.operator.cases import F, Values, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check


@operator(functional="hardshrink", called=("input",), generation=2)
def HShrink(input_x, *, lambd: Float = 0.5):
    """x where |x| > lambd, 0 elsewhere.

    Args:
        lambd (float): the threshold. Default: 0.5.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.
    """
    _check.dtype_in("HShrink", "input_x", input_x, _check.FLOAT)
    return jnp.where((input_x >= -lambd) & (input_x <= lambd), jnp.zeros_like(input_x), input_x)


@operator(functional="softshrink", called=(("input", "x"),), generation=2)
def SoftShrink(input_x, *, lambd: Float = 0.5):
    """x - lambd where x > lambd, x + lambd where x < -lambd, 0 between.

    Args:
        lambd (float): the threshold. Default: 0.5.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.
    """
    _check.dtype_in("SoftShrink", "input_x", input_x, _check.FLOAT)
    beyond = jnp.where(input_x > 0, input_x - lambd, input_x + lambd)
    return jnp.where((input_x >= -lambd) & (input_x <= lambd), jnp.zeros_like(input_x), beyond)  # NaN stays NaN


@spelling(SoftShrink, function="soft_shrink", method="soft_shrink")
def soft_shrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x - lambd where x > lambd, x + lambd where x < -lambd, 0 between.

    Args:
        input (Tensor): Floating point, of any shape.
        lambd (float): The threshold. Default: 0.5.

    Returns:
        Tensor of the shape and element type of `input`.
    """
    return SoftShrink.functional(input, lambd)


spelling(HShrink, method="hardshrink")(HShrink.functional)


CASES = [
    *(case(shrink, x) for shrink in (HShrink, SoftShrink) for x in (F(3, 5), Values([-0.5, 0.0, 0.5]))),
    case(SoftShrink, F(3, 6), lambd=0.3),
    case(soft_shrink, F(3, 4), 0.7),
]
