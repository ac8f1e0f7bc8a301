"""Depthwise convolution: each channel has its own filters."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import OneOf, PositiveInt, Shape
from msnb.core.operator.cases import F, case
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops.nn._kinds import PadMode, Sides2, Window2
from msnb.ops.nn._pullback import apply_transpose
from msnb.ops.nn.conv._shared import check_depthwise, check_pad, compare_pad_list, convolve, spatial_pads


def _check_attributes(a):
    check_pad("DepthwiseConv2dNative", a["pad_mode"], a["pad"])
    for key in ("stride", "dilation"):
        if a[key][0] != a[key][1]:
            raise ValueError(
                f"For 'DepthwiseConv2dNative', '{key}' should be equal in height and width, but got {a[key]}."
            )


@operator(refuses=_check_attributes)
def DepthwiseConv2dNative(
    x,
    weight,
    *,
    channel_multiplier: PositiveInt,
    kernel_size: Window2,
    mode: OneOf(3) = 3,
    pad_mode: PadMode = "valid",
    pad: Sides2 = (0, 0, 0, 0),
    stride: Window2 = (1, 1),
    dilation: Window2 = (1, 1),
    group: PositiveInt = 1,
):
    """Convolve each channel with `channel_multiplier` separate filters.

    Args:
        channel_multiplier (int): number of filters per channel.
        kernel_size (Union[int, tuple[int]]): height and width of a filter.
        mode (int): only 3. Default: 3.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        pad (Union[int, tuple[int]]): padding at top, bottom, left, right for "pad". Default: 0.
        stride (Union[int, tuple[int]]): step of the window, equal in both directions. Default: 1.
        dilation (Union[int, tuple[int]]): spacing of the taps, equal in both directions. Default: 1.
        group (int): 1 or C; no effect: each channel is convolved separately. Default: 1.

    Inputs:
        - **x** (Tensor) - (N, C, H, W).
        - **weight** (Tensor) - (channel_multiplier, C, kernel height, kernel width).

    Outputs:
        Tensor, (N, C * channel_multiplier, H_out, W_out).
    """
    op = "DepthwiseConv2dNative"
    _check.rank(op, "x", x, 4)
    _check.rank(op, "weight", weight, 4)
    weight = check_depthwise(op, weight, x.shape[1], channel_multiplier, kernel_size, group)
    return _convolve_channels(x, weight, pad_mode, pad, stride, dilation)


def _convolve_channels(x, w, pad_mode, pad, stride, dilation):
    filters = jnp.swapaxes(w, 0, 1).reshape(-1, 1, *w.shape[2:])
    return convolve("DepthwiseConv2dNative", x, filters, pad_mode, pad, stride, dilation, x.shape[1])


@operator
@shapes("x: n c _ _, dout: n _ _ _")
def DepthwiseConv2dNativeBackpropFilter(
    x,
    filter_size: Shape,
    dout,
    *,
    channel_multiplier: PositiveInt,
    kernel_size: Window2,
    pad_mode: PadMode = "valid",
    pad: Sides2 = (0,) * 4,
    pad_list: Sides2 = (0,) * 4,
    mode: OneOf(3) = 3,
    stride: Window2 = (1, 1),
    dilation: Window2 = (1, 1),
    group: PositiveInt = 1,
):
    """Gradient of DepthwiseConv2dNative with respect to its weights."""
    op, w = "DepthwiseConv2dNativeBackpropFilter", jax.ShapeDtypeStruct(filter_size, dout.dtype)
    w = check_depthwise(op, w, x.shape[1], channel_multiplier, kernel_size, group, "filter_size")
    compare_pad_list(op, pad_list, spatial_pads(op, pad_mode, pad, x.shape[2:], kernel_size, stride, dilation))
    return apply_transpose(lambda w: _convolve_channels(x, w, pad_mode, pad, stride, dilation), w.shape, dout)


@operator
@shapes("filter: _ _ _ _, dout: _ _ _ _")
def DepthwiseConv2dNativeBackpropInput(
    input_size: Shape,
    filter,
    dout,
    *,
    channel_multiplier: PositiveInt,
    kernel_size: Window2,
    pad_mode: PadMode = "valid",
    pad: Sides2 = (0,) * 4,
    pad_list: Sides2 = (0,) * 4,
    mode: OneOf(3) = 3,
    stride: Window2 = (1, 1),
    dilation: Window2 = (1, 1),
    group: PositiveInt = 1,
):
    """Gradient of DepthwiseConv2dNative with respect to its images."""
    op = "DepthwiseConv2dNativeBackpropInput"
    filter = check_depthwise(op, filter, input_size[1], channel_multiplier, kernel_size, group, "filter")
    compare_pad_list(op, pad_list, spatial_pads(op, pad_mode, pad, input_size[2:], kernel_size, stride, dilation))
    return apply_transpose(lambda x: _convolve_channels(x, filter, pad_mode, pad, stride, dilation), input_size, dout)


CASES = [
    case(DepthwiseConv2dNative, F(1, 2, 5, 5), F(1, 2, 3, 3), channel_multiplier=1, kernel_size=3),
    case(
        DepthwiseConv2dNativeBackpropFilter,
        F(1, 2, 5, 5),
        (1, 2, 3, 3),
        F(1, 2, 3, 3),
        channel_multiplier=1,
        kernel_size=3,
    ),
    case(
        DepthwiseConv2dNativeBackpropInput,
        (1, 2, 5, 5),
        F(1, 2, 3, 3),
        F(1, 2, 3, 3),
        channel_multiplier=1,
        kernel_size=3,
    ),
]
