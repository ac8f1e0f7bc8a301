"""log(1 + exp(x)) and functions of it."""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Float
from msnb.core.operator.cases import F16, F, case
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32


def log_one_plus_exp(x):
    """Return log(1 + exp(x)) without overflow."""
    return jnp.logaddexp(x, jnp.zeros_like(x))


@operator
@in_float32
def Softplus(input_x):
    """log(1 + exp(x)), computed without overflow.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.
    """
    _check.dtype_in("Softplus", "input_x", input_x, _check.FLOAT)
    return log_one_plus_exp(input_x)


@operator(functional="softplus", generation=2)
@in_float32
def SoftplusExt(input, *, beta: Float = 1.0, threshold: Float = 20.0):
    """log(1 + exp(beta x)) / beta, x itself where beta x is above `threshold`.

    Args:
        beta (float): steepness. Default: 1.
        threshold (float): value of beta * x above which the function is linear. Default: 20.

    Inputs:
        - **input** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input`.
    """
    _check.dtype_in("SoftplusExt", "input", input, _check.FLOAT)
    scaled = input * beta
    return jnp.where(scaled > threshold, input, log_one_plus_exp(scaled) / beta)


@operator
@shapes("dout x: *s")
def SoftplusGrad(dout, x):
    """Gradient of Softplus, from the cotangent and the input of the forward pass."""
    return dout * lax.logistic(x)


@operator(functional="mish", generation=2)
@in_float32
def Mish(x):
    """x * tanh(log(1 + exp(x))) (arXiv:1908.08681).

    Inputs:
        - **x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `x`.
    """
    _check.dtype_in("Mish", "x", x, _check.FLOAT)
    return x * jnp.tanh(log_one_plus_exp(x))


CASES = [
    case(Softplus, F(3, 5, low=-6, high=6)),
    case(Softplus, F16(3, 5)),
    case(SoftplusExt, F(3, 6, low=-10, high=10), beta=2, threshold=4),
    case(Mish, F(3, 5, low=-6, high=6)).within(1e-3),
]
