"""Update of the minimum and maximum of activations from batch to batch."""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Bool, NonNegInt
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._upcast import widened
from msnb.ops.nn._kinds import Momentum
from msnb.ops.quant._grid import columns, one_value


def _update_range(low, high, batch_low, batch_high, ema, ema_decay):
    """Return the updated (low, high), which includes 0. A bound stays unchanged if that of the batch is not finite.

    Otherwise an overflow, which is normal with loss scaling, would stay in the moving average.
    """

    def end(before, batch, bound):
        moved = ema_decay * widened(before) + (1 - ema_decay) * widened(batch) if ema else widened(batch)
        return lax.stop_gradient(jnp.where(jnp.isfinite(moved), bound(moved, 0), before).astype(before.dtype))

    return end(low, batch_low, jnp.minimum), end(high, batch_high, jnp.maximum)


@operator
def MinMaxUpdatePerLayer(x, min, max, *, ema: Bool = False, ema_decay: Momentum = 0.999):
    """Return the minimum and maximum of all elements of `x`, for FakeQuantPerLayer. The range always includes 0.

    Args:
        ema (bool): True returns ema_decay * old + (1 - ema_decay) * new. Default: False.
        ema_decay (float): weight of the old range. Default: 0.999.

    Inputs:
        - **x** (Tensor) - any shape, float.
        - **min**, **max** (Tensor) - the range so far, one value each.

    Outputs:
        Tuple of the new `min` and `max`, which get no gradient.

    Raises:
        TypeError: If an input is not a float Tensor.
        ValueError: If `min` or `max` has more than one value, or `ema_decay` is not in [0, 1].

    Examples:
        >>> from mindspore.ops.operations import _quant_ops as Q
        >>> x = Tensor([1.0, 2.0, 4.0], mindspore.float32)
        >>> low, high = Tensor([-6.0], mindspore.float32), Tensor([6.0], mindspore.float32)
        >>> low, high = Q.MinMaxUpdatePerLayer(ema=True, ema_decay=0.5)(x, low, high)
        >>> print(low, high)
        [-2.5] [5.]
    """
    _check.dtype_in("MinMaxUpdatePerLayer", "x", x, _check.FLOAT)
    _check.some("MinMaxUpdatePerLayer", "x", x)
    one_value("MinMaxUpdatePerLayer", min=min, max=max)
    return _update_range(min, max, jnp.min(x), jnp.max(x), ema, ema_decay)


@operator
def MinMaxUpdatePerChannel(x, min, max, *, ema: Bool = False, ema_decay: Momentum = 0.999, channel_axis: NonNegInt = 1):
    """Return the minimum and maximum of each channel of `x`, for FakeQuantPerChannel. Each range includes 0.

    Args:
        ema (bool): True returns ema_decay * old + (1 - ema_decay) * new. Default: False.
        ema_decay (float): weight of the old ranges. Default: 0.999.
        channel_axis (int): the axis of the channels: 0 of weights, 1 of images. Default: 1.

    Inputs:
        - **x** (Tensor) - any shape, float.
        - **min**, **max** (Tensor) - the ranges so far, (C,).

    Outputs:
        Tuple of the new `min` and `max`, which get no gradient.

    Raises:
        TypeError: If an input is not a float Tensor.
        ValueError: If `min` or `max` does not have one value per channel, `channel_axis` is not an axis, or `ema_decay`
            is not in [0, 1].
    """
    _check.dtype_in("MinMaxUpdatePerChannel", "x", x, _check.FLOAT)
    _check.some("MinMaxUpdatePerChannel", "x", x)
    columns("MinMaxUpdatePerChannel", x, channel_axis, min=min, max=max)
    others = tuple(i for i in range(x.ndim) if i != channel_axis)
    return _update_range(min, max, jnp.min(x, others), jnp.max(x, others), ema, ema_decay)


_RANGE = Values([-1.1]), Values([1.7])
_RANGES = Values([-1.1, -0.3, 0.0]), Values([1.7, 1.5, 0.9])
_NONE = "a range gets no gradient"

CASES = [
    case(MinMaxUpdatePerLayer, F(4, 3), *_RANGE).without("differences", _NONE),
    case(MinMaxUpdatePerLayer, F(4, 3, low=1, high=2), *_RANGE, ema=True, ema_decay=0.3).without("differences", _NONE),
    case(MinMaxUpdatePerChannel, F(4, 3), *_RANGES).without("differences", _NONE),
    case(MinMaxUpdatePerChannel, F(3, 2, 2), *_RANGES, ema=True, channel_axis=0).without("differences", _NONE),
    refused(ValueError, MinMaxUpdatePerLayer, ema_decay=1.5),
    refused(ValueError, MinMaxUpdatePerLayer, F(4, 3), *_RANGES),
    refused(ValueError, MinMaxUpdatePerChannel, F(4, 3), *_RANGES, channel_axis=2),
]
