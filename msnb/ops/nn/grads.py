"""Gradients of operators of `math` and `array`, as operators of their own.

Automatic differentiation does not need them; custom `bprop` methods call them. Each is differentiable again.
"""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Int, OneOf, Shape
from msnb.core.checks import Check, Range
from msnb.core.declare import operator
from msnb.ops import _check
from msnb.ops._half import in_float32
from msnb.ops.array.split import StridedSlice
from msnb.ops.nn._pullback import transposed


@operator
def AbsGrad(y, dy):
    """Gradient of Abs from its input `y` and the cotangent `dy`."""
    return dy * jnp.sign(y)


@operator
@in_float32
def ACosGrad(x, dout):
    """Gradient of ACos from its input and the cotangent."""
    return -dout * lax.rsqrt(1 - x * x)


@operator
@in_float32
def AcoshGrad(y, dout):
    """Gradient of Acosh from its output and the cotangent."""
    return dout / jnp.sinh(y)


@operator
@in_float32
def AsinGrad(x, dout):
    """Gradient of Asin from its input and the cotangent."""
    return dout * lax.rsqrt(1 - x * x)


@operator
@in_float32
def AsinhGrad(y, dout):
    """Gradient of Asinh from its output and the cotangent."""
    return dout / jnp.cosh(y)


@operator
@in_float32
def AtanGrad(x, dout):
    """Gradient of Atan from its input and the cotangent."""
    return dout / (1 + x * x)


@operator(aliases=("InvGrad",))
@in_float32
def ReciprocalGrad(y, dout):
    """Gradient of Reciprocal from its output and the cotangent."""
    return -dout * y * y


@operator
@in_float32
def RsqrtGrad(y, dout):
    """Gradient of Rsqrt from its output and the cotangent."""
    return (-0.5 * dout * y * y * y).astype(dout.dtype)


@operator
@in_float32
def SqrtGrad(y, dout):
    """Gradient of Sqrt from its output and the cotangent."""
    return 0.5 * dout / y


BOTH_GRADIENTS = "both gradients are returned; XLA leaves out the one that nobody uses"


@operator
def MaximumGrad(
    x,
    y,
    dout,
    *,
    grad_x: OneOf(True, otherwise=BOTH_GRADIENTS) = True,
    grad_y: OneOf(True, otherwise=BOTH_GRADIENTS) = True,
):
    """Gradients of Maximum; where both are equal the first takes it."""
    return _choice_grad(x >= y, x, y, dout)


@operator
def MinimumGrad(
    x,
    y,
    dout,
    *,
    grad_x: OneOf(True, otherwise=BOTH_GRADIENTS) = True,
    grad_y: OneOf(True, otherwise=BOTH_GRADIENTS) = True,
):
    """Gradients of Minimum; where both are equal the first takes it."""
    return _choice_grad(x <= y, x, y, dout)


def _choice_grad(first, x, y, dout):
    none = jnp.zeros_like(dout)
    return _sum_to(jnp.where(first, dout, none), x.shape), _sum_to(jnp.where(first, none, dout), y.shape)


def _sum_to(x, shape):
    """`x` summed over the axes along which `shape` was broadcast."""
    x = x.sum(tuple(range(x.ndim - len(shape)))) if x.ndim > len(shape) else x
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and x.shape[i] != 1)
    return x.sum(axes, keepdims=True) if axes else x


def _along_dim(given):
    dim, shape = given["dim"], given["shape"]
    return [Range(given["index"], shape[dim], -shape[dim])] if -len(shape) <= dim < len(shape) else ()


@operator(checks=[Check("index", _along_dim)])
def GatherDGrad(index, grad, *, dim: Int = 0, shape: Shape):
    """Gradient of GatherD with respect to its input, of shape `shape`."""
    dim = _check.axis_in("GatherDGrad", dim, len(shape), "dim")
    place = list(jnp.indices(index.shape, sparse=True))
    place[dim] = index
    return jnp.zeros(shape, grad.dtype).at[tuple(place)].add(grad)


@operator
def SliceGrad(dy, x, begin: Shape, size: Shape):
    """Gradient of Slice: the cotangent within zeros of the input's shape."""
    if tuple(dy.shape) != size or len(begin) != x.ndim:
        raise ValueError(
            f"For 'SliceGrad', 'dy' should have shape {size} and 'begin' {x.ndim} entries, but got "
            f"{dy.shape} and {begin}."
        )
    return jnp.pad(dy, [(b, n - b - s) for b, n, s in zip(begin, x.shape, size, strict=True)])


@operator
def StridedSliceGrad(
    dy,
    shapex: Shape,
    begin: Shape,
    end: Shape,
    strides: Shape,
    *,
    begin_mask: Int = 0,
    end_mask: Int = 0,
    ellipsis_mask: Int = 0,
    new_axis_mask: Int = 0,
    shrink_axis_mask: Int = 0,
):
    """Gradient of StridedSlice with respect to an input of shape `shapex`."""

    def cut(x):
        return StridedSlice.kernel(
            x,
            begin,
            end,
            strides,
            begin_mask=begin_mask,
            end_mask=end_mask,
            ellipsis_mask=ellipsis_mask,
            new_axis_mask=new_axis_mask,
            shrink_axis_mask=shrink_axis_mask,
        )

    return transposed(cut, shapex, dy)
