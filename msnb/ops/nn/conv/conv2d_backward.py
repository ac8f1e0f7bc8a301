"""Gradients of Conv2D with respect to images and weights, and the transposed convolution."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import OneOf, PositiveInt, Shape
from msnb.core.operator.cases import F, case
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops.nn._kinds import GivenSides2, Layout, Offsets2, PadMode, Pads2, Sides2, Window2
from msnb.ops.nn.conv import primitive
from msnb.ops.nn.conv._shared import compare_pad_list, compare_weight, pad_check, spatial_pads
from msnb.ops.nn.conv.lowering import Geometry


@operator(aliases=("Conv2DTranspose",), refuses=pad_check("Conv2DBackpropInput"))
def Conv2DBackpropInput(
    out_backprop,
    filter,
    input_sizes: Shape,
    *,
    out_channel: PositiveInt,
    kernel_size: Window2,
    pad_mode: PadMode = "valid",
    pad: Sides2 = (0, 0, 0, 0),
    pad_list: GivenSides2 = None,
    mode: OneOf(1) = 1,
    stride: Window2 = (1, 1),
    dilation: Window2 = (1, 1),
    group: PositiveInt = 1,
    data_format: Layout = "NCHW",
):
    """Gradient of Conv2D with respect to its images, which is also the transposed convolution.

    Args:
        out_channel (int): channels of `out_backprop`.
        kernel_size (Union[int, tuple[int]]): height and width of a filter.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        pad (Union[int, tuple[int]]): padding of the forward convolution for "pad". Default: 0.
        pad_list (tuple[int]): padding of the forward convolution, (top, bottom, left, right); it overrides `pad_mode`
            and `pad`. Default: None, the padding that these two set.
        mode (int): only 1. Default: 1.
        stride (Union[int, tuple[int]]): stride of the forward convolution. Default: 1.
        dilation (Union[int, tuple[int]]): spacing of the taps. Default: 1.
        group (int): groups of the forward convolution. Default: 1.
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".

    Inputs:
        - **out_backprop** (Tensor) - (N, out_channel, H_out, W_out): the gradient of the convolution's result.
        - **filter** (Tensor) - (out_channel, C / group, kernel height, kernel width).
        - **input_sizes** (tuple[int]) - shape of the images, (N, C, H, W).

    Outputs:
        Tensor of shape `input_sizes`.
    """
    op, w = "Conv2DBackpropInput", filter
    last = data_format == "NHWC"
    if last:
        out_backprop, w = jnp.moveaxis(out_backprop, -1, 1), jnp.moveaxis(w, -1, 1)
        input_sizes = (input_sizes[0], input_sizes[3], input_sizes[1], input_sizes[2])
    compare_weight(op, w, out_channel, kernel_size)
    if pad_list is not None:
        pad_mode, pad = "pad", pad_list
    geometry = _make_backward_geometry(op, out_backprop, w, input_sizes, pad_mode, pad, stride, dilation, group)
    dx = primitive.conv_input_grad(out_backprop, w, input_sizes, geometry)
    return jnp.moveaxis(dx, 1, -1) if last else dx


@operator(refuses=pad_check("Conv2DBackpropFilter"))
def Conv2DBackpropFilter(
    out_backprop,
    input_x,
    filter_sizes: Shape,
    *,
    out_channel: PositiveInt,
    kernel_size: Window2,
    pad_mode: PadMode = "valid",
    pad: Sides2 = (0, 0, 0, 0),
    pad_list: Sides2 = (0, 0, 0, 0),
    mode: OneOf(1) = 1,
    stride: Window2 = (1, 1),
    dilation: Window2 = (1, 1),
    group: PositiveInt = 1,
    data_format: Layout = "NCHW",
):
    """Gradient of Conv2D with respect to its weights.

    Args:
        out_channel (int): channels of `out_backprop`.
        kernel_size (Union[int, tuple[int]]): height and width of a filter.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        pad (Union[int, tuple[int]]): padding of the forward convolution for "pad". Default: 0.
        pad_list (tuple): zeros, or the padding at top, bottom, left, right that follows from `pad_mode` and `pad`.
            Default: (0, 0, 0, 0).
        mode (int): only 1. Default: 1.
        stride (Union[int, tuple[int]]): stride of the forward convolution. Default: 1.
        dilation (Union[int, tuple[int]]): spacing of the taps. Default: 1.
        group (int): groups of the forward convolution. Default: 1.
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".

    Inputs:
        - **out_backprop** (Tensor) - the gradient of the convolution's result.
        - **input_x** (Tensor) - the images.
        - **filter_sizes** (tuple[int]) - shape of the weights.

    Outputs:
        Tensor of shape `filter_sizes`.
    """
    op = "Conv2DBackpropFilter"
    last = data_format == "NHWC"
    if last:
        out_backprop, input_x = jnp.moveaxis(out_backprop, -1, 1), jnp.moveaxis(input_x, -1, 1)
        filter_sizes = (filter_sizes[0], filter_sizes[3], filter_sizes[1], filter_sizes[2])
    w = jax.ShapeDtypeStruct(filter_sizes, input_x.dtype)
    compare_weight(op, w, out_channel, kernel_size)
    geometry = _make_backward_geometry(op, out_backprop, w, input_x.shape, pad_mode, pad, stride, dilation, group)
    compare_pad_list(op, pad_list, geometry.padding)
    dw = primitive.conv_filter_grad(input_x, out_backprop, filter_sizes, geometry)
    return jnp.moveaxis(dw, 1, -1) if last else dw


def _make_backward_geometry(op, dy, w, image, pad_mode, pad, stride, dilation, group):
    _check.dtype_in(op, "out_backprop", dy, _check.FLOAT)
    _check.rank(op, "out_backprop", dy, 4)
    if len(image) != 4 or len(w.shape) != 4:
        raise ValueError(
            f"For '{op}', images and weights should have 4 dimensions, but got {tuple(image)} and {tuple(w.shape)}."
        )
    padding = spatial_pads(op, pad_mode, pad, image[2:], w.shape[2:], stride, dilation)
    geometry = Geometry(stride, padding, dilation, group)
    expected = (image[0], w.shape[0], *geometry.output(image[2:], w.shape[2:]))
    if tuple(dy.shape) != expected or image[1] != w.shape[1] * group:
        raise ValueError(
            f"For '{op}', images of shape {tuple(image)} and weights of shape {tuple(w.shape)} with "
            f"{geometry} give results of shape {expected}, but 'out_backprop' has {tuple(dy.shape)}."
        )
    return geometry


@operator(functional="conv_transpose2d", generation=2)
@shapes("input: _ c _ _, weight: c m _ _, bias: m*groups")
def ConvTranspose2D(
    input,
    weight,
    bias=None,
    *,
    stride: Window2 = (1, 1),
    padding: Pads2 = (0,) * 4,
    output_padding: Offsets2 = (0, 0),
    groups: PositiveInt = 1,
    dilation: Window2 = (1, 1),
):
    """Transposed convolution of images.

    Args:
        stride (Union[int, tuple[int]]): distance of neighbouring input pixels in the result. Default: 1.
        padding (Union[int, tuple[int]]): number of pixels to cut off from each side of the result. Default: 0.
        output_padding (Union[int, tuple[int]]): number of pixels to add to each dimension of the result. Default: 0.
        groups (int): number of groups of channels. Default: 1.
        dilation (Union[int, tuple[int]]): spacing of the taps. Default: 1.

    Inputs:
        - **input** (Tensor) - (N, C, H, W).
        - **weight** (Tensor) - (C, C_out / groups, kernel height, kernel width).
        - **bias** (Tensor, optional) - (C_out,).

    Outputs:
        Tensor, (N, C_out, (H - 1) * stride - pads + dilation * (kernel - 1) + output_padding + 1, ...).
    """
    op = "ConvTranspose2D"
    _check.rank(op, "input", input, 4)
    _check.rank(op, "weight", weight, 4)
    if input.shape[1] != weight.shape[0]:
        raise ValueError(f"For '{op}', 'input' has {input.shape[1]} channels but 'weight' {weight.shape[0]}.")
    sides = tuple(zip(padding[::2], padding[1::2], strict=True))
    size = tuple(
        (n - 1) * s - sum(p) + d * (k - 1) + extra + 1
        for n, s, p, d, k, extra in zip(
            input.shape[2:], stride, sides, dilation, weight.shape[2:], output_padding, strict=True
        )
    )
    image = (input.shape[0], weight.shape[1] * groups, *size)
    y = primitive.conv_input_grad(input, weight, image, Geometry(stride, sides, dilation, groups))
    return y if bias is None else y + bias[:, None, None]


CASES = [
    case(
        Conv2DBackpropInput,
        F(2, 4, 4, 4),
        F(4, 3, 3, 3),
        (2, 3, 8, 8),
        out_channel=4,
        kernel_size=3,
        pad_mode="same",
        stride=2,
    ),
    case(
        Conv2DBackpropInput,
        F(1, 1, 4, 4),
        F(1, 1, 3, 3),
        (1, 1, 4, 4),
        out_channel=1,
        kernel_size=3,
        pad_mode="pad",
        pad_list=(1, 1, 1, 1),
    ).without("gradient", "2.7.1's has another shape than the input"),
    case(Conv2DBackpropFilter, F(1, 4, 3, 3), F(1, 2, 5, 5), (4, 2, 3, 3), out_channel=4, kernel_size=3),
    case(ConvTranspose2D, F(1, 2, 3, 3), F(2, 3, 2, 2), F(3), stride=2),
]
