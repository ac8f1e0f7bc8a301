"""Convolution of volumes, its gradients and its transpose."""

import jax

from msnb.common.kinds import IntOrTuple, OneOf, PositiveInt, Shape
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops.nn._kinds import Offsets3, PadMode, Sides3, Window3
from msnb.ops.nn._pullback import apply_transpose
from msnb.ops.nn.conv._shared import (
    add_bias,
    both_sides,
    check_pad,
    check_weight,
    convolve,
    filter_attributes,
    pad_check,
    spatial_pads,
    transposed_length,
)
from msnb.ops.nn.conv.lowering import Geometry, direct


@operator(refuses=pad_check("Conv3D"))
@shapes("x: _ _ _ _ _, weight: out_channel _ _ _ _")
def Conv3D(
    x,
    weight,
    *,
    out_channel: PositiveInt,
    kernel_size: Window3,
    mode: OneOf(1) = 1,
    pad_mode: PadMode = "valid",
    pad: Sides3 = (0,) * 6,
    stride: Window3 = (1, 1, 1),
    dilation: Window3 = (1, 1, 1),
    group: PositiveInt = 1,
    data_format: OneOf("NCDHW") = "NCDHW",
):
    """Cross-correlation of volumes with a bank of filters.

    Args:
        out_channel (int): number of filters.
        kernel_size (Union[int, tuple[int]]): depth, height and width of a filter.
        mode (int): only 1. Default: 1.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        pad (Union[int, tuple[int]]): padding at head, tail, top, bottom, left, right for "pad". Default: 0.
        stride (Union[int, tuple[int]]): step of the window. Default: 1.
        dilation (Union[int, tuple[int]]): spacing of the taps. Default: 1.
        group (int): number of groups of channels. Default: 1.
        data_format (str): "NCDHW". Default: "NCDHW".

    Inputs:
        - **x** (Tensor) - (N, C, D, H, W).
        - **weight** (Tensor) - (out_channel, C / group, kernel depth, height, width).

    Outputs:
        Tensor, (N, out_channel, D_out, H_out, W_out).
    """
    weight = check_weight("Conv3D", weight, out_channel, kernel_size)
    return convolve("Conv3D", x, weight, pad_mode, pad, stride, dilation, group)


@spelling(Conv3D)
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: IntOrTuple = 1,
    pad_mode: str = "valid",
    padding: IntOrTuple = 0,
    dilation: IntOrTuple = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of volumes with a bank of filters.

    Args:
        input (Tensor): (N, C, D, H, W).
        weight (Tensor): (C_out, C / groups, kernel depth, kernel height, kernel width).
        bias (Tensor): (C_out,). Default: None.
        stride (Union[int, tuple[int]]): Step of the window. Default: 1.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        padding (Union[int, tuple[int]]): Padding for "pad". Default: 0.
        dilation (Union[int, tuple[int]]): Spacing of the taps. Default: 1.
        groups (int): Number of groups of channels. Default: 1.

    Returns:
        Tensor, (N, C_out, D_out, H_out, W_out).
    """
    number, window = filter_attributes("conv3d", weight)
    padding = padding if type(padding) is int else both_sides(padding, 3)
    y = Conv3D.functional(input, weight, number, window, 1, pad_mode, padding, stride, dilation, groups)
    return y if bias is None else add_bias(y, bias)


@operator(refuses=pad_check("Conv3DBackpropInput"))
@shapes("weight: out_channel _ _ _ _, dout: n out_channel _ _ _")
def Conv3DBackpropInput(
    weight,
    dout,
    input_size: Shape,
    *,
    out_channel: PositiveInt,
    kernel_size: Window3,
    mode: OneOf(1) = 1,
    pad_mode: PadMode = "valid",
    pad: Sides3 = (0,) * 6,
    stride: Window3 = (1, 1, 1),
    dilation: Window3 = (1, 1, 1),
    group: PositiveInt = 1,
    data_format: OneOf("NCDHW") = "NCDHW",
):
    """Gradient of Conv3D with respect to its volumes.

    Args:
        out_channel (int): channels of `dout`.
        kernel_size (Union[int, tuple[int]]): depth, height and width of a filter.
        mode (int): only 1. Default: 1.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        pad (Union[int, tuple[int]]): padding of the forward convolution for "pad". Default: 0.
        stride (Union[int, tuple[int]]): stride of the forward convolution. Default: 1.
        dilation (Union[int, tuple[int]]): spacing of the taps. Default: 1.
        group (int): groups of the forward convolution. Default: 1.
        data_format (str): "NCDHW". Default: "NCDHW".

    Inputs:
        - **weight** (Tensor) - (out_channel, C / group, kernel depth, height, width).
        - **dout** (Tensor) - the gradient of the convolution's result.
        - **input_size** (tuple[int]) - shape of the volumes.

    Outputs:
        Tensor of shape `input_size`.
    """
    op = "Conv3DBackpropInput"
    weight = check_weight(op, weight, out_channel, kernel_size)
    padding = spatial_pads(op, pad_mode, pad, input_size[2:], kernel_size, stride, dilation)
    return _compute_input_grad(dout, weight, input_size, Geometry(stride, padding, dilation, group))


@operator
@shapes("x: n _ _ _ _, out_backprop: n out_channel _ _ _")
def Conv3DBackpropFilter(
    x,
    out_backprop,
    filter_size: Shape,
    *,
    out_channel: PositiveInt,
    kernel_size: Window3,
    mode: OneOf(1) = 1,
    pad_mode: PadMode = "valid",
    pad: Sides3 = (0,) * 6,
    stride: Window3 = (1, 1, 1),
    dilation: Window3 = (1, 1, 1),
    group: PositiveInt = 1,
    data_format: OneOf("NCDHW") = "NCDHW",
):
    """Gradient of Conv3D with respect to its weights."""
    op, w = "Conv3DBackpropFilter", jax.ShapeDtypeStruct(filter_size, out_backprop.dtype)
    w = check_weight(op, w, out_channel, kernel_size, "filter_size")
    padding = spatial_pads(op, pad_mode, pad, x.shape[2:], kernel_size, stride, dilation)
    geometry = Geometry(stride, padding, dilation, group)
    return apply_transpose(lambda w: direct(x, w, geometry), w.shape, out_backprop)


def _check_output_padding(attributes):
    """Raise ValueError unless `pad_mode` allows `output_padding` and each entry of it is small enough."""
    op = "Conv3DTranspose"
    check_pad(op, attributes["pad_mode"], attributes["pad"])
    extra, stride, dilation = (attributes[name] for name in ("output_padding", "stride", "dilation"))
    if attributes["pad_mode"] != "pad" and any(extra):
        raise ValueError(
            f"For '{op}', 'output_padding' should be 0 when 'pad_mode' is '{attributes['pad_mode']}', but got {extra}; "
            f"use pad_mode='pad'."
        )
    if any(e >= max(s, d) for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise ValueError(
            f"For '{op}', 'output_padding' should be smaller than stride or dilation, but got "
            f"{extra} for stride {stride} and dilation {dilation}."
        )


@operator(refuses=_check_output_padding)
@shapes("dout: _ _ _ _ _, weight: in_channel _ _ _ _")
def Conv3DTranspose(
    dout,
    weight,
    *,
    in_channel: PositiveInt,
    out_channel: PositiveInt,
    kernel_size: Window3,
    mode: OneOf(1) = 1,
    pad_mode: PadMode = "valid",
    pad: Sides3 = (0,) * 6,
    stride: Window3 = (1, 1, 1),
    dilation: Window3 = (1, 1, 1),
    group: PositiveInt = 1,
    output_padding: Offsets3 = (0, 0, 0),
    data_format: OneOf("NCDHW") = "NCDHW",
):
    """Transposed convolution of volumes.

    Args:
        in_channel (int): channels of `dout`.
        out_channel (int): channels of the result.
        kernel_size (Union[int, tuple[int]]): depth, height and width of a filter.
        mode (int): only 1. Default: 1.
        pad_mode (str): sets the output size. "same": size * stride; "valid": size * stride + max(dilation * (kernel -
            1) + 1 - stride, 0); "pad": see Outputs. Default: "valid".
        pad (Union[int, tuple[int]]): pixels that "pad" cuts off at head, tail, top, bottom, left, right. Default: 0.
        stride (Union[int, tuple[int]]): distance of neighbouring input pixels in the result. Default: 1.
        dilation (Union[int, tuple[int]]): spacing of the taps. Default: 1.
        group (int): number of groups of channels. Default: 1.
        output_padding (Union[int, tuple[int]]): for "pad", added to the size of the result; less than the stride or
            the dilation. Default: 0.
        data_format (str): "NCDHW". Default: "NCDHW".

    Inputs:
        - **dout** (Tensor) - (N, in_channel, D, H, W).
        - **weight** (Tensor) - (in_channel, out_channel / group, kernel depth, height, width).

    Outputs:
        Tensor, (N, out_channel, D_out, H_out, W_out). For "pad", D_out is
        (D - 1) * stride - pads + dilation * (kernel - 1) + output_padding + 1.

    Raises:
        ValueError: If `pad` or `output_padding` is given without "pad", or shapes and attributes do not fit.
    """
    op = "Conv3DTranspose"
    _check.rank(op, "dout", dout, 5)
    weight = check_weight(op, weight, in_channel, kernel_size)
    dimensions = zip(dout.shape[2:], kernel_size, stride, dilation, pad[::2], pad[1::2], output_padding, strict=True)
    size = tuple(transposed_length(pad_mode, *dimension) for dimension in dimensions)
    padding = spatial_pads(op, pad_mode, pad, size, kernel_size, stride, dilation)
    return _compute_input_grad(
        dout, weight, (dout.shape[0], out_channel, *size), Geometry(stride, padding, dilation, group)
    )


def _compute_input_grad(dy, w, image, geometry):
    return apply_transpose(lambda x: direct(x, w, geometry), image, dy)


@spelling(Conv3DTranspose)
def conv3d_transpose(
    inputs: Tensor,
    weight: Tensor,
    pad_mode: str = "valid",
    padding: IntOrTuple = 0,
    stride: IntOrTuple = 1,
    dilation: IntOrTuple = 1,
    group: int = 1,
    output_padding: IntOrTuple = 0,
) -> Tensor:
    """Transposed convolution of volumes.

    Args:
        inputs (Tensor): Of shape (N, C_in, D, H, W).
        weight (Tensor): Of shape (C_in, C_out / group, kernel depth, height, width).
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        padding (Union[int, tuple[int]]): Pixels that "pad" cuts off at each side. Default: 0.
        stride (Union[int, tuple[int]]): Distance of neighbouring input pixels in the result. Default: 1.
        dilation (Union[int, tuple[int]]): Spacing of the taps. Default: 1.
        group (int): Number of groups of channels. Default: 1.
        output_padding (Union[int, tuple[int]]): For "pad", added to the size of the result. Default: 0.

    Returns:
        Tensor of shape (N, C_out, D_out, H_out, W_out).

    Raises:
        TypeError: If the element types do not fit.
        ValueError: If the shapes do not fit.
    """
    for name, x in (("inputs", inputs), ("weight", weight)):
        _check.rank("conv3d_transpose", name, _check.tensor_argument("conv3d_transpose", name, x), 5)
    operator = Conv3DTranspose(
        inputs.shape[1],
        weight.shape[1],
        weight.shape[2:],
        1,
        pad_mode,
        padding,
        stride,
        dilation,
        group,
        output_padding,
    )
    return operator(inputs, weight)


CASES = [
    case(conv3d_transpose, F(1, 2, 2, 3, 3), F(2, 3, 2, 2, 2)).within(1e-4),
    refused(ValueError, conv3d_transpose, F(1, 2, 3, 3), F(2, 3, 2, 2, 2)),
    case(Conv3D, F(1, 3, 4, 5, 4), F(4, 3, 2, 2, 2), out_channel=4, kernel_size=2),
    case(conv3d, F(1, 2, 4, 4, 5), F(3, 2, 2, 2, 2)),
    case(Conv3DTranspose, F(1, 4, 3, 3, 2), F(4, 3, 2, 2, 2), in_channel=4, out_channel=3, kernel_size=2, stride=2),
    case(Conv3DTranspose, F(1, 4, 2, 3, 3), F(4, 3, 2, 2, 2), in_channel=4, out_channel=3, kernel_size=2, stride=3),
    case(
        Conv3DTranspose,
        F(1, 4, 2, 3, 2),
        F(4, 1, 3, 3, 2),
        in_channel=4,
        out_channel=2,
        kernel_size=(3, 3, 2),
        stride=2,
        group=2,
        pad_mode="same",
    ),
    case(
        Conv3DTranspose,
        F(1, 2, 3, 2, 3),
        F(2, 3, 3, 3, 3),
        in_channel=2,
        out_channel=3,
        kernel_size=3,
        stride=2,
        pad_mode="pad",
        pad=(1, 1, 0, 1, 1, 0),
        output_padding=1,
    ),
    refused(ValueError, Conv3DTranspose, in_channel=4, out_channel=3, kernel_size=2, pad=1),
    refused(ValueError, Conv3DTranspose, in_channel=4, out_channel=3, kernel_size=2, output_padding=1),
    case(Conv3DBackpropInput, F(4, 2, 2, 2, 2), F(1, 4, 2, 2, 2), (1, 2, 3, 3, 3), out_channel=4, kernel_size=2),
    case(Conv3DBackpropFilter, F(1, 2, 3, 3, 3), F(1, 4, 2, 2, 2), (4, 2, 2, 2, 2), out_channel=4, kernel_size=2),
]
