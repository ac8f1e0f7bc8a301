"""Exponential linear units: x above zero, a saturating exponential below."""

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import StrictFloat
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.math._elementwise import is_integer
from msnb.ops.nn._kinds import NotZero

_FLOAT_OR_INT = _check.FLOAT | _check.numpy_dtypes(mstype.int8, mstype.int32)


@operator(functional="elu", generation=2)
@in_float32
def Elu(input_x, *, alpha: StrictFloat = 1.0):
    """x where x > 0, alpha * (exp(x) - 1) elsewhere (arXiv:1511.07289).

    Args:
        alpha (float): scale of the negative part. Default: 1.0.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.
    """
    _check.dtype_in("Elu", "input_x", input_x, _check.FLOAT)
    return _compute_elu(input_x, alpha)


def _compute_elu(x, alpha):
    negative = jnp.where(x > 0, jnp.zeros_like(x), x)  # exp() of large values, and its gradient, stay finite
    return jnp.where(x > 0, x, alpha * jnp.expm1(negative))


@operator
@shapes("y_grad y: *s")
def EluGrad(y_grad, y):
    """Gradient of Elu, from the cotangent and the output of Elu."""
    return jnp.where(y > 0, y_grad, y_grad * (y + 1))


@operator(functional="celu", generation=2)
@in_float32
def CeLU(x, *, alpha: NotZero = 1.0):
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) (arXiv:1704.07483).

    Args:
        alpha (float): scale of the negative part, not zero. Default: 1.0.

    Inputs:
        - **x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `x`.
    """
    _check.dtype_in("CeLU", "x", x, _check.FLOAT)
    negative = jnp.where(x > 0, jnp.zeros_like(x), x)
    return jnp.where(x > 0, x, alpha * jnp.expm1(negative / alpha))


@operator(functional="selu", generation=2)
@in_float32
def SeLU(input_x):
    """Self-normalising exponential linear unit (arXiv:1706.02515).

    Inputs:
        - **input_x** (Tensor) - any shape, float, int8 or int32.

    Outputs:
        Tensor, shape and type of `input_x`.
    """
    _check.dtype_in("SeLU", "input_x", input_x, _FLOAT_OR_INT)
    if is_integer(input_x):  # truncated to integers, both constants are 1, and exp(x) - 1 is 0 for x < 0
        return jnp.maximum(input_x, 0)
    return jnp.asarray(1.05070098735548, input_x.dtype) * _compute_elu(input_x, 1.67326324235437)


CASES = [
    case(Elu, F(3, 5, low=-6, high=6)),
    case(Elu, F(3, 5, low=-6, high=6), alpha=0.5),
    case(CeLU, F(3, 6, low=-4, high=4), alpha=0.7),
    case(SeLU, F(3, 5, low=-6, high=6)).without("gradient", "MindSpore's is not that of its SeLU"),
    refused(TypeError, Elu, alpha=2),
]
