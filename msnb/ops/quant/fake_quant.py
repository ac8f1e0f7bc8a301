"""Simulated quantisation with a given range, and its straight-through gradient."""

import jax.numpy as jnp

from msnb.common.kinds import Bool, NonNegInt, OneOf
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import widened
from msnb.ops.nn._kinds import Momentum
from msnb.ops.quant._grid import Bits, columns, delayed, grid_of, one_value, straight_through

MOVED_ELSEWHERE = "the range is moved by MinMaxUpdatePerLayer or MinMaxUpdatePerChannel"


def _fake_quant(op, x, low, high, step, num_bits, quant_delay, symmetric, narrow_range):
    wide = widened(x)
    grid = grid_of(low, high, num_bits, symmetric, narrow_range)
    value, passes = grid.rounded(wide), grid.holds(wide)
    value = delayed(op, quant_delay, step, value, wide)
    passes = delayed(op, quant_delay, step, passes, jnp.ones_like(passes))
    return straight_through(x, value.astype(x.dtype), passes)


def _fake_quant_grad(op, dout, x, low, high, step, num_bits, quant_delay, symmetric, narrow_range):
    _check.same_shape(op, dout=dout, x=x)
    passes = grid_of(low, high, num_bits, symmetric, narrow_range).holds(widened(x))
    return delayed(op, quant_delay, step, jnp.where(passes, dout, 0), dout)


@operator
@shapes("step: () | 1")
def FakeQuantPerLayer(
    x,
    min,
    max,
    step=None,
    *,
    num_bits: Bits = 8,
    ema: OneOf(False, otherwise=MOVED_ELSEWHERE) = False,
    ema_decay: OneOf(0.999, otherwise=MOVED_ELSEWHERE, among=Momentum) = 0.999,
    quant_delay: NonNegInt = 0,
    symmetric: Bool = False,
    narrow_range: Bool = False,
    training: Bool = True,
):
    """Rounds elements to the values that integers of `num_bits` bits can represent, with one range for all elements.

    The range is shifted slightly so that 0 is one of these values. The gradient is passed to `x` unchanged within the
    range, and is 0 outside; `min` and `max` get none.

    Args:
        num_bits (int): number of bits, from 2 to 16. Default: 8.
        ema (bool): no effect: MinMaxUpdatePerLayer updates the range. Default: False.
        ema_decay (float): no effect, as `ema`. Default: 0.999.
        quant_delay (int): number of training steps before rounding begins. Default: 0.
        symmetric (bool): whether to widen the range so that 0 is its middle. Default: False.
        narrow_range (bool): whether the smallest integer is left out. Default: False.
        training (bool): whether `quant_delay` applies. Default: True.

    Inputs:
        - **x** (Tensor) - any shape, float.
        - **min**, **max** (Tensor) - ends of the range, one value each.
        - **step** (Tensor) - number of steps before this one, one value; required only if `quant_delay` is not 0.

    Outputs:
        Tensor, shape and type of `x`.

    Raises:
        TypeError: If `x`, `min` or `max` is not a float Tensor.
        ValueError: If `num_bits` is out of range, `min` or `max` has more than one value, or `quant_delay` is set
            without `step`.

    Examples:
        >>> from mindspore.ops.operations import _quant_ops as Q
        >>> x = Tensor([-7.0, -0.4, 0.0, 2.9], mindspore.float32)
        >>> low, high = Tensor([-4.0], mindspore.float32), Tensor([3.0], mindspore.float32)
        >>> print(Q.FakeQuantPerLayer(num_bits=3)(x, low, high))
        [-4.  0.  0.  3.]
    """
    _check.dtype_in("FakeQuantPerLayer", "x", x, _check.FLOAT)
    one_value("FakeQuantPerLayer", min=min, max=max)
    delay = quant_delay if training else 0
    ends = min.reshape(()), max.reshape(())
    return _fake_quant("FakeQuantPerLayer", x, *ends, step, num_bits, delay, symmetric, narrow_range)


@operator
def FakeQuantPerLayerGrad(
    dout,
    x,
    min,
    max,
    step=None,
    *,
    num_bits: Bits = 8,
    quant_delay: NonNegInt = 0,
    symmetric: Bool = False,
    narrow_range: Bool = False,
):
    """Gradient of FakeQuantPerLayer: `dout` where `x` is within the range after its shift, 0 elsewhere."""
    one_value("FakeQuantPerLayerGrad", min=min, max=max)
    ends = min.reshape(()), max.reshape(())
    return _fake_quant_grad(
        "FakeQuantPerLayerGrad", dout, x, *ends, step, num_bits, quant_delay, symmetric, narrow_range
    )


@operator
def FakeQuantPerChannel(
    x,
    min,
    max,
    step=None,
    *,
    num_bits: Bits = 8,
    ema: OneOf(False, otherwise=MOVED_ELSEWHERE) = False,
    ema_decay: OneOf(0.999, otherwise=MOVED_ELSEWHERE, among=Momentum) = 0.999,
    quant_delay: NonNegInt = 0,
    symmetric: Bool = False,
    narrow_range: Bool = False,
    training: Bool = True,
    channel_axis: NonNegInt = 1,
):
    """FakeQuantPerLayer with a separate range for each channel.

    Args:
        num_bits (int): number of bits, from 2 to 16. Default: 8.
        ema (bool): no effect: MinMaxUpdatePerChannel updates the ranges. Default: False.
        ema_decay (float): no effect, as `ema`. Default: 0.999.
        quant_delay (int): number of training steps before rounding begins. Default: 0.
        symmetric (bool): whether to widen each range so that 0 is its middle. Default: False.
        narrow_range (bool): whether the smallest integer is left out. Default: False.
        training (bool): whether `quant_delay` applies. Default: True.
        channel_axis (int): the axis of the channels: 0 of weights, 1 of images. Default: 1.

    Inputs:
        - **x** (Tensor) - any shape, float.
        - **min**, **max** (Tensor) - ends of the ranges, (C,).
        - **step** (Tensor) - number of steps before this one, one value; required only if `quant_delay` is not 0.

    Outputs:
        Tensor, shape and type of `x`.

    Raises:
        TypeError: If `x`, `min` or `max` is not a float Tensor.
        ValueError: If `num_bits` is out of range, `channel_axis` is not an axis, `min` or `max` does not have one value
            per channel, or `quant_delay` is set without `step`.

    Examples:
        >>> from mindspore.ops.operations import _quant_ops as Q
        >>> x = Tensor([[1.0, 1.0], [0.4, 0.4]], mindspore.float32)
        >>> low, high = Tensor([0.0, 0.0], mindspore.float32), Tensor([3.0, 1.5], mindspore.float32)
        >>> print(Q.FakeQuantPerChannel(num_bits=2)(x, low, high))
        [[1.  1. ]
         [0.  0.5]]
    """
    _check.dtype_in("FakeQuantPerChannel", "x", x, _check.FLOAT)
    delay = quant_delay if training else 0
    ends = columns("FakeQuantPerChannel", x, channel_axis, min=min, max=max)
    return _fake_quant("FakeQuantPerChannel", x, *ends, step, num_bits, delay, symmetric, narrow_range)


@operator
def FakeQuantPerChannelGrad(
    dout,
    x,
    min,
    max,
    step=None,
    *,
    num_bits: Bits = 8,
    quant_delay: NonNegInt = 0,
    symmetric: Bool = False,
    narrow_range: Bool = False,
    channel_axis: NonNegInt = 1,
):
    """Gradient of FakeQuantPerChannel: `dout` where `x` is within the shifted range of its channel, 0 elsewhere."""
    ends = columns("FakeQuantPerChannelGrad", x, channel_axis, min=min, max=max)
    return _fake_quant_grad(
        "FakeQuantPerChannelGrad", dout, x, *ends, step, num_bits, quant_delay, symmetric, narrow_range
    )


_RANGE = Values([-1.1]), Values([1.7])
_RANGES = Values([-1.1, -0.3, 0.0]), Values([1.7, 1.5, 0.9])
_STAIRCASE = "the gradient is that of the identity, not of the staircase"

CASES = [
    case(FakeQuantPerLayer, F(4, 3), *_RANGE).without("differences", _STAIRCASE),
    case(FakeQuantPerLayer, F(4, 3), *_RANGE, num_bits=4, symmetric=True).without("differences", _STAIRCASE),
    case(FakeQuantPerLayer, F(4, 3), *_RANGE, Values([2]), quant_delay=2).without("differences", _STAIRCASE),
    case(FakeQuantPerLayer, F(4, 3), *_RANGE, quant_delay=2, training=False).without("differences", _STAIRCASE),
    case(FakeQuantPerLayerGrad, F(4, 3), F(4, 3), *_RANGE, narrow_range=True).without("differences", _STAIRCASE),
    case(FakeQuantPerChannel, F(4, 3), *_RANGES).without("differences", _STAIRCASE),
    case(FakeQuantPerChannel, F(3, 4), *_RANGES, num_bits=4, narrow_range=True, channel_axis=0).without(
        "differences", _STAIRCASE
    ),
    case(FakeQuantPerChannelGrad, F(4, 3), F(4, 3), *_RANGES, symmetric=True).without("differences", _STAIRCASE),
    refused(ValueError, FakeQuantPerLayer, num_bits=1),
    refused(ValueError, FakeQuantPerLayer, F(4, 3), *_RANGES),
    refused(ValueError, FakeQuantPerLayer, F(4, 3), *_RANGE, quant_delay=2),
    refused(ValueError, FakeQuantPerChannel, F(4, 2), *_RANGES),
    refused(TypeError, FakeQuantPerChannel, Values([[1, 2, 3]]), *_RANGES),
]
