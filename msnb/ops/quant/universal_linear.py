"""Simulated quantisation of activations between two learned bounds (universal linear quantisation)."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import Bool, OneOf
from msnb.core.operator.cases import F, Flags, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32, widened

EightBits = OneOf(8)
LEAST = 1.192092896e-07  # the smallest step: the distance from 1 to the next number of float32


@jax.custom_jvp
def _attach_bound_gradients(x, low, high, value, inside_low, inside_high, loss):
    """Return `value` with custom gradients. The derivative with respect to `x` is 1 inside the range. `low` and `high`
    get the gradients of the elements beyond them and of the rounding error `loss`.
    """
    return value


@_attach_bound_gradients.defjvp
def _attach_bound_gradients_jvp(primals, tangents):
    value, inside_low, inside_high, loss = primals[3:]
    dx, dlow, dhigh = tangents[:3]
    inside = jnp.where(inside_low & inside_high, dx, 0)
    return value, (
        inside
        + _compute_low_bound_derivative(inside_low, loss) * dlow
        + _compute_high_bound_derivative(inside_high, loss) * dhigh
    ).astype(value.dtype)


def _compute_low_bound_derivative(mask, loss):
    return (1 - mask.astype(loss.dtype)) - loss


def _compute_high_bound_derivative(mask, loss):
    return (1 - mask.astype(loss.dtype)) + loss


@operator
def ActsULQ(x, clamp_min, clamp_max, *, fixed_min: Bool = False, num_bits: EightBits = 8):
    """Rounds to 256 equally spaced values between two learned bounds; 0 is one of the values.

    Args:
        fixed_min (bool): whether the lower bound is 0 and `clamp_min` is ignored. Default: False.
        num_bits (int): number of bits; only 8. Default: 8.

    Inputs:
        - **x** (Tensor) - any shape, float.
        - **clamp_min**, **clamp_max** (Tensor) - the ends, one value each.

    Outputs:
        Tuple of four Tensors of the shape of `x`: the rounded `x`; a bool mask of the elements that are not below the
        range; a bool mask of the elements that are not above it; and the rounding error as a fraction of the range. The
        first and the last have the type of `x`. The gradient of the first result is passed to `x` unchanged inside the
        range. `clamp_min` and `clamp_max` get the gradients of the elements beyond them and of the rounding error.

    Raises:
        TypeError: If an input is not a float Tensor.
        ValueError: If `clamp_min` or `clamp_max` has more than one value.
    """
    for name, value in (("x", x), ("clamp_min", clamp_min), ("clamp_max", clamp_max)):
        _check.dtype_in("ActsULQ", name, value, _check.FLOAT)
        if name != "x" and value.size != 1:
            raise ValueError(f"For 'ActsULQ', '{name}' should have one value, but got shape {value.shape}.")
    wide, low, high = widened(x), widened(clamp_min).reshape(()), widened(clamp_max).reshape(())
    ends = low, high
    last = 2**num_bits - 1
    low = jnp.zeros_like(low) if fixed_min else jnp.minimum(low, 0)
    scale = (jnp.maximum(high, last * LEAST) - low) / last
    first = jnp.round(low / scale)
    bottom, top = first * scale, (first + last) * scale
    inside_low, inside_high = wide >= bottom, wide <= top
    steps = jnp.clip(wide, bottom, top) / scale
    rounded = jnp.round(steps)
    # Outside the range, the loss is the rounding error of the lower end.
    loss = jnp.where(inside_low & inside_high, rounded - steps, first - low / scale) / last
    loss = jax.lax.stop_gradient(loss)
    y = _attach_bound_gradients(wide, *ends, rounded * scale, inside_low, inside_high, loss)
    return y.astype(x.dtype), inside_low, inside_high, loss.astype(x.dtype)


@operator
@shapes("y_grad clamp_min_mask clamp_max_mask: *s")
def ActsULQInputGrad(y_grad, clamp_min_mask, clamp_max_mask):
    """Gradient of ActsULQ with respect to `x`: `y_grad` where both masks are True, 0 elsewhere."""
    return jnp.where((clamp_min_mask != 0) & (clamp_max_mask != 0), y_grad, 0)


@operator
@shapes("y_grad clamp_min_mask x_clamped_loss: *s")
@in_float32
def ActULQClampMinGrad(y_grad, clamp_min_mask, x_clamped_loss):
    """Gradient of ActsULQ with respect to `clamp_min`: one element, with as many axes as `y_grad`."""
    return jnp.sum(y_grad * _compute_low_bound_derivative(clamp_min_mask, x_clamped_loss), keepdims=True)


@operator
@shapes("y_grad clamp_max_mask x_clamped_loss: *s")
@in_float32
def ActULQClampMaxGrad(y_grad, clamp_max_mask, x_clamped_loss):
    """Gradient of ActsULQ with respect to `clamp_max`: one element, with as many axes as `y_grad`."""
    return jnp.sum(y_grad * _compute_high_bound_derivative(clamp_max_mask, x_clamped_loss), keepdims=True)


_ENDS = Values([[-1.1]]), Values([[1.3]])
_STAIRCASE = "the gradient is that of clipping and of the error, not of the staircase"

CASES = [
    case(ActsULQ, F(4, 3), *_ENDS).wrt(of=0).without("differences", _STAIRCASE),
    case(ActsULQ, F(4, 3), *_ENDS, fixed_min=True).wrt(of=0).without("differences", _STAIRCASE),
    case(ActsULQInputGrad, F(4, 3), Flags(4, 3), Flags(4, 3)),
    case(ActULQClampMinGrad, F(4, 3), Flags(4, 3), F(4, 3)),
    case(ActULQClampMaxGrad, F(4, 3), Flags(4, 3), F(4, 3)),
    refused(ValueError, ActsULQ, num_bits=4),
    refused(ValueError, ActsULQ, F(4, 3), F(4, 3), F(4, 3)),
]
