"""The hyperbolic tangent, its gradient, and softsign."""

import jax.numpy as jnp

from msnb.core.operator.cases import F, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.operator.ufunc import angle
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._in_place import take_over
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.math._elementwise import floating


@operator(functional="tanh", called=(("input", "x"),), methods=("tanh",), generation=2, numpy=angle("tanh"))
@in_float32
def Tanh(input_x):
    """Hyperbolic tangent, element by element.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.
    """
    _check.dtype_in("Tanh", "input_x", input_x, _check.FLOAT | _check.COMPLEX)
    return jnp.tanh(input_x)


@operator
@shapes("y dy: *s")
@in_float32
def TanhGrad(y, dy):
    """Gradient of Tanh, from the output of the forward pass and the cotangent."""
    return dy * (1 - y * y)


@operator(functional="softsign", called=(("x", "input"),), generation=2)
@in_float32
def Softsign(input_x):
    """x / (1 + |x|), element by element.

    Inputs:
        - **input_x** (Tensor) - any shape, float.

    Outputs:
        Tensor, shape and type of `input_x`.
    """
    _check.dtype_in("Softsign", "input_x", input_x, _check.FLOAT)
    # |x| is computed by `where`, so that the gradient of the result at 0 is 1.
    return input_x / (1 + jnp.where(input_x < 0, -input_x, input_x))


@spelling(Tanh, function="tanh_", method="tanh_")
def _tanh_inplace(input: Tensor) -> Tensor:
    """Replace each element by its hyperbolic tangent, in place.

    Args:
        input (Tensor): Floating point; it is overwritten.

    Returns:
        Tensor, `input` itself.
    """
    return take_over("tanh_", input, Tanh.functional(input))


@operator(functional="tanhshrink", generation=2)
@in_float32
def _TanhShrink(input):
    """x - tanh(x), element by element.

    Args:
        input (Tensor): Numbers, of any shape.

    Returns:
        Tensor of the shape and element type of `input`; of float32 for integers.

    Raises:
        TypeError: If `input` does not consist of numbers.
    """
    _check.dtype_in("tanhshrink", "input", input, _check.NUMBER)
    return floating(input) - jnp.tanh(floating(input))


CASES = [
    case(Tanh, F(3, 5, low=-6, high=6)).within(2e-4),
    case(Softsign, F(3, 5, low=-6, high=6)),
    case(_TanhShrink, F(2, 3)),
]
