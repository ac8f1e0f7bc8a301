"""Gaussian error linear units: exact, in the tanh form, and with a sigmoid."""

import jax
import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import OneOf
from msnb.core.operator.cases import F16, F, case
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.nn._pullback import pull


@operator(aliases=("Gelu",))
@in_float32
def GeLU(input_x):
    """Gaussian error linear unit, tanh form: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) (arXiv:1606.08415).

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.
    """
    _check.dtype_in("GeLU", "input_x", input_x, _check.FLOAT)
    return 0.5 * input_x * (1 + jnp.tanh(0.7978845608028654 * (input_x + 0.044715 * input_x * input_x * input_x)))


@operator
@shapes("dy x y: *s")
def GeLUGrad(dy, x, y):
    """Gradient of GeLU, from the cotangent and the input and output of the forward pass."""
    return pull(GeLU.kernel, x)(dy)[0]


@operator(functional="gelu", generation=2)
@in_float32
def GeluExt(input, approximate: OneOf("none", "tanh") = "none"):
    """Gaussian error linear unit: x * Phi(x), where Phi is the cumulative distribution function of the normal
    distribution.

    Inputs:
        - **input** (Tensor) - any shape, float.
        - **approximate** (str) - "none", exact, or "tanh", the form of the class `ops.GeLU`. Default: "none".

    Outputs:
        Tensor, shape and type of `input`.
    """
    _check.dtype_in("GeluExt", "input", input, _check.FLOAT)
    if approximate == "tanh":
        return GeLU.kernel(input)
    return 0.5 * input * (1 + lax.erf(input * 0.7071067811865476))


@operator(aliases=("FastGelu",), functional="fast_gelu", called=("x",), generation=2)
@in_float32
def FastGeLU(input_x):
    """x * sigmoid(1.702 x), an approximation of GeLU.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.
    """
    _check.dtype_in("FastGeLU", "input_x", input_x, _check.FLOAT)
    return input_x * jax.lax.logistic(1.702 * input_x)


@operator
@shapes("dy x: *s")
def FastGeLUGrad(dy, x):
    """Gradient of FastGeLU, from the cotangent and the input of the forward pass."""
    return pull(FastGeLU.kernel, x)(dy)[0]


CASES = [
    case(GeLU, F(3, 5, low=-6, high=6)),
    case(GeLU, F16(3, 5)),
    case(GeluExt, F(3, 6, low=-4, high=4)),
    case(GeluExt, F(3, 6), "tanh"),
    case(FastGeLU, F(3, 5, low=-6, high=6)),
]
