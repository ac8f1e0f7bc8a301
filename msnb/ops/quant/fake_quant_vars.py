"""Simulated quantisation with a learned range. The gradient of elements outside the range goes to its bounds."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import Bool
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._upcast import widened
from msnb.ops.quant._grid import Bits, columns, grid_of, one_value


@jax.custom_jvp
def _attach_clip_gradient(x, low, high, value, below, above):
    """Return `value` with the gradient of clip(x, low, high): the derivative is 1 with respect to `low` where `below`
    is True, to `high` where `above` is True, and to `x` elsewhere.
    """
    return value


@_attach_clip_gradient.defjvp
def _attach_clip_gradient_jvp(primals, tangents):
    value, below, above = primals[3:]
    dx, dlow, dhigh = tangents[:3]
    return value, jnp.where(below, dlow, jnp.where(above, dhigh, dx)).astype(value.dtype)


def _make_grid_and_outside_masks(x, low, high, num_bits, narrow_range):
    grid = grid_of(low, high, num_bits, False, narrow_range)
    return grid, x < grid.low, x > grid.high


def _fake_quant(x, low, high, num_bits, narrow_range):
    wide = widened(x)
    grid, below, above = _make_grid_and_outside_masks(wide, low, high, num_bits, narrow_range)
    return _attach_clip_gradient(wide, low, high, grid.rounded(wide), below, above).astype(x.dtype)


def _compute_gradients(gradients, x, low, high, num_bits, narrow_range, axes):
    _, below, above = _make_grid_and_outside_masks(widened(x), low, high, num_bits, narrow_range)
    dlow, dhigh = (jnp.sum(jnp.where(where, widened(gradients), 0), axes) for where in (below, above))
    return jnp.where(below | above, 0, gradients), dlow, dhigh


def _check_layer_bounds(op, x, low, high):
    _check.dtype_in(op, "x", x, _check.FLOAT)
    one_value(op, min=low, max=high)
    return widened(low).reshape(()), widened(high).reshape(())


def _check_channel_bounds(op, x, low, high):
    _check.dtype_in(op, "x", x, _check.FLOAT)
    return columns(op, x, x.ndim - 1, min=low, max=high)


@operator
def FakeQuantWithMinMaxVars(x, min, max, *, num_bits: Bits = 8, narrow_range: Bool = False):
    """Rounds elements to the values that integers of `num_bits` bits can represent, in a range whose bounds are
    learned.

    The gradient of an element goes to `min` if the element is below the shifted range, to `max` if it is above, and to
    `x` otherwise.

    Args:
        num_bits (int): number of bits, from 2 to 16. Default: 8.
        narrow_range (bool): whether the smallest integer is left out. Default: False.

    Inputs:
        - **x** (Tensor) - any shape, float.
        - **min**, **max** (Tensor) - ends of the range, one value each.

    Outputs:
        Tensor, shape and type of `x`.

    Raises:
        TypeError: If an input is not a float Tensor.
        ValueError: If `num_bits` is out of range, or `min` or `max` has more than one value.

    Examples:
        >>> x = Tensor([-7.0, -0.4, 0.0, 2.9], mindspore.float32)
        >>> low, high = Tensor([-4.0], mindspore.float32), Tensor([3.0], mindspore.float32)
        >>> print(ops.operations.FakeQuantWithMinMaxVars(num_bits=3)(x, low, high))
        [-4.  0.  0.  3.]
    """
    return _fake_quant(x, *_check_layer_bounds("FakeQuantWithMinMaxVars", x, min, max), num_bits, narrow_range)


@operator
def FakeQuantWithMinMaxVarsGradient(gradients, x, min, max, *, num_bits: Bits = 8, narrow_range: Bool = False):
    """Gradients of FakeQuantWithMinMaxVars with respect to `x`, `min` and `max`."""
    op = "FakeQuantWithMinMaxVarsGradient"
    ends = _check_layer_bounds(op, x, min, max)
    _check.same_shape(op, gradients=gradients, x=x)
    dx, dlow, dhigh = _compute_gradients(gradients, x, *ends, num_bits, narrow_range, None)
    return dx, dlow.reshape(min.shape).astype(min.dtype), dhigh.reshape(max.shape).astype(max.dtype)


@operator
def FakeQuantWithMinMaxVarsPerChannel(x, min, max, *, num_bits: Bits = 8, narrow_range: Bool = False):
    """FakeQuantWithMinMaxVars with a separate range for each channel. The channels are the last axis.

    Args:
        num_bits (int): number of bits, from 2 to 16. Default: 8.
        narrow_range (bool): whether the smallest integer is left out. Default: False.

    Inputs:
        - **x** (Tensor) - (..., C), float.
        - **min**, **max** (Tensor) - ends of the ranges, (C,).

    Outputs:
        Tensor, shape and type of `x`.

    Raises:
        TypeError: If an input is not a float Tensor.
        ValueError: If `num_bits` is out of range, or `min` or `max` does not have one value per channel.
    """
    return _fake_quant(
        x, *_check_channel_bounds("FakeQuantWithMinMaxVarsPerChannel", x, min, max), num_bits, narrow_range
    )


@operator
def FakeQuantWithMinMaxVarsPerChannelGradient(
    gradients, x, min, max, *, num_bits: Bits = 8, narrow_range: Bool = False
):
    """Gradients of FakeQuantWithMinMaxVarsPerChannel with respect to `x`, `min` and `max`."""
    op = "FakeQuantWithMinMaxVarsPerChannelGradient"
    ends = _check_channel_bounds(op, x, min, max)
    _check.same_shape(op, gradients=gradients, x=x)
    dx, dlow, dhigh = _compute_gradients(gradients, x, *ends, num_bits, narrow_range, tuple(range(x.ndim - 1)))
    return dx, dlow.astype(min.dtype), dhigh.astype(max.dtype)


_RANGE = Values([-1.1]), Values([1.7])
_RANGES = Values([-1.1, -0.3, 0.0]), Values([1.7, 1.5, 0.9])
_STAIRCASE = "the gradient is that of clipping, not of the staircase"

CASES = [
    case(FakeQuantWithMinMaxVars, F(4, 3), *_RANGE).without("differences", _STAIRCASE),
    case(FakeQuantWithMinMaxVars, F(4, 3), *_RANGE, num_bits=4, narrow_range=True).without("differences", _STAIRCASE),
    case(FakeQuantWithMinMaxVarsGradient, F(4, 3), F(4, 3), *_RANGE, num_bits=4).without("differences", _STAIRCASE),
    case(FakeQuantWithMinMaxVarsPerChannel, F(2, 4, 3), *_RANGES).without("differences", _STAIRCASE),
    case(FakeQuantWithMinMaxVarsPerChannelGradient, F(2, 4, 3), F(2, 4, 3), *_RANGES).without(
        "differences", _STAIRCASE
    ),
    refused(ValueError, FakeQuantWithMinMaxVars, num_bits=17),
    refused(ValueError, FakeQuantWithMinMaxVars, F(4, 3), *_RANGES),
    refused(ValueError, FakeQuantWithMinMaxVarsPerChannel, F(3, 4), *_RANGES),
]
