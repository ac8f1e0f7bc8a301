"""Convolutions: what MindSpore calls Conv2D, its transposes, depthwise and three-dimensional forms."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import OneOf, PositiveInt, Shape
from msnb.core.declare import operator
from msnb.ops import _check
from msnb.ops.nn import conv_primitive
from msnb.ops.nn._kinds import Layout, Offsets3, PadMode, Sides2, Sides3, Window2, Window3
from msnb.ops.nn._variant import refuse
from msnb.ops.nn.conv_lowering import Geometry, direct


def pads(op, pad_mode, pad, image, kernel, stride, dilation):
    """Padding (before, after) of each spatial dimension for one of MindSpore's three modes."""
    if pad_mode == "pad":
        return tuple(zip(pad[::2], pad[1::2], strict=True))
    _refuse_pad(op, pad_mode, pad)
    if pad_mode == "valid":
        return ((0, 0),) * len(image)
    return tuple(same_pads(n, k, s, d) for n, k, s, d in zip(image, kernel, stride, dilation, strict=True))


def _refuse_pad(op, pad_mode, pad):
    if pad_mode != "pad" and any(pad):
        raise ValueError(
            f"For '{op}', 'pad' should be 0 when 'pad_mode' is '{pad_mode}', but got {pad}; use pad_mode='pad'."
        )


def same_pads(n, k, s, d=1):
    """Padding that keeps ceil(n / s) outputs; an odd total puts the extra pixel after."""
    total = max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0)
    return total // 2, total - total // 2


def _check_images(op, x, w, dims, group):
    _check.dtype_in(op, "x", x, _check.FLOAT)
    _check.dtype_in(op, "weight", w, _check.FLOAT)
    _check.same_dtype(op, x=x, weight=w)
    _check.rank(op, "x", x, dims + 2)
    _check.rank(op, "weight", w, dims + 2)
    if x.shape[1] != w.shape[1] * group:
        raise ValueError(
            f"For '{op}', 'x' has {x.shape[1]} channels but 'weight' of shape {w.shape} with group "
            f"{group} needs {w.shape[1] * group}."
        )


def check_weight(op, w, out_channel, kernel_size, name="weight"):
    """`w` (or what has its shape), if that is what the attributes say; ValueError otherwise."""
    if w.shape[0] != out_channel or tuple(w.shape[2:]) != kernel_size:
        raise ValueError(
            f"For '{op}', '{name}' should have shape ({out_channel}, *, {', '.join(map(str, kernel_size))}"
            f"), as out_channel and kernel_size say, but got {w.shape}."
        )
    return w


def check_depthwise(op, w, channels, channel_multiplier, kernel_size, group, name="weight"):
    """`w` (or what has its shape), if that is what attributes and images say; ValueError otherwise."""
    expected = (channel_multiplier, channels, *kernel_size)
    if tuple(w.shape) != expected:
        raise ValueError(f"For '{op}', '{name}' should have shape {expected}, but got {tuple(w.shape)}.")
    if group not in (1, channels):
        raise ValueError(
            f"For '{op}', 'group' should be 1 or {channels}, the channels of the images, each of which is "
            f"its own group, but got {group}."
        )
    return w


def _check_output(op, geometry, image, kernel):
    out = geometry.output(image, kernel)
    if min(out) < 1:
        raise ValueError(
            f"For '{op}', the kernel {kernel} with dilation {geometry.dilation} is larger than the padded "
            f"image {image} with padding {geometry.padding}."
        )


@operator
def Conv2D(
    x,
    weight,
    *,
    out_channel: PositiveInt,
    kernel_size: Window2,
    mode: OneOf(1) = 1,
    pad_mode: PadMode = "valid",
    pad: Sides2 = (0, 0, 0, 0),
    stride: Window2 = (1, 1),
    dilation: Window2 = (1, 1),
    group: PositiveInt = 1,
    data_format: Layout = "NCHW",
):
    """Cross-correlation of images with a bank of filters.

    Args:
        out_channel (int): number of filters.
        kernel_size (Union[int, tuple[int]]): height and width of a filter.
        mode (int): only 1, cross-correlation. Default: 1.
        pad_mode (str): "valid" no padding, "same" as much as keeps ceil(size / stride) outputs, "pad" what `pad`
            says. Default: "valid".
        pad (Union[int, tuple[int]]): padding at top, bottom, left, right for "pad". Default: 0.
        stride (Union[int, tuple[int]]): step of the window. Default: 1.
        dilation (Union[int, tuple[int]]): spacing of the filter's taps. Default: 1.
        group (int): number of groups of channels that do not mix. Default: 1.
        data_format (str): "NCHW" or "NHWC" for `x` and the result. Default: "NCHW".

    Inputs:
        - **x** (Tensor) - (N, C, H, W), or (N, H, W, C) for "NHWC".
        - **weight** (Tensor) - (out_channel, C / group, kernel height, kernel width), or with C last for "NHWC".

    Outputs:
        Tensor, (N, out_channel, H_out, W_out) in the layout of `x`.

    Raises:
        TypeError: If an attribute or input has a wrong type.
        ValueError: If shapes and attributes do not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor(np.ones((10, 32, 32, 32)), mindspore.float32)
        >>> w = Tensor(np.ones((32, 32, 3, 3)), mindspore.float32)
        >>> ops.Conv2D(out_channel=32, kernel_size=3)(x, w).shape
        (10, 32, 30, 30)
    """
    last = data_format == "NHWC"
    if last:
        _check.rank("Conv2D", "x", x, 4)
        x, weight = jnp.moveaxis(x, -1, 1), jnp.moveaxis(weight, -1, 1)
    y = _conv2d(
        "Conv2D", x, check_weight("Conv2D", weight, out_channel, kernel_size), pad_mode, pad, stride, dilation, group
    )
    return jnp.moveaxis(y, 1, -1) if last else y


def _conv2d(op, x, w, pad_mode, pad, stride, dilation, group):
    _check_images(op, x, w, 2, group)
    if w.shape[0] % group:
        raise ValueError(f"For '{op}', out_channel {w.shape[0]} should be a multiple of group {group}.")
    image, kernel = x.shape[2:], w.shape[2:]
    geometry = Geometry(stride, pads(op, pad_mode, pad, image, kernel, stride, dilation), dilation, group)
    _check_output(op, geometry, image, kernel)
    return conv_primitive.conv(x, w, geometry)


@operator
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
    """Convolution of each channel with its own `channel_multiplier` filters.

    Args:
        channel_multiplier (int): filters a channel.
        kernel_size (Union[int, tuple[int]]): height and width of a filter.
        mode (int): only 3. Default: 3.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        pad (Union[int, tuple[int]]): padding at top, bottom, left, right for "pad". Default: 0.
        stride (Union[int, tuple[int]]): step of the window, equal in both directions. Default: 1.
        dilation (Union[int, tuple[int]]): spacing of the taps, equal in both directions. Default: 1.
        group (int): 1 or C: every channel is its own group in either case. Default: 1.

    Inputs:
        - **x** (Tensor) - (N, C, H, W).
        - **weight** (Tensor) - (channel_multiplier, C, kernel height, kernel width).

    Outputs:
        Tensor, (N, C * channel_multiplier, H_out, W_out).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "DepthwiseConv2dNative"
    _check.rank(op, "x", x, 4)
    _check.rank(op, "weight", weight, 4)
    weight = check_depthwise(op, weight, x.shape[1], channel_multiplier, kernel_size, group)
    filters = jnp.swapaxes(weight, 0, 1).reshape(-1, 1, *kernel_size)
    return _conv2d(op, x, filters, pad_mode, pad, stride, dilation, x.shape[1])


@operator(aliases=("Conv2DTranspose",))
def Conv2DBackpropInput(
    out_backprop,
    filter,
    input_sizes: Shape,
    *,
    out_channel: PositiveInt,
    kernel_size: Window2,
    pad_mode: PadMode = "valid",
    pad: Sides2 = (0, 0, 0, 0),
    pad_list: OneOf(None) = None,
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
        pad_list (None): only None: it follows from `pad_mode` and `pad`. Default: None.
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

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op, w = "Conv2DBackpropInput", filter
    last = data_format == "NHWC"
    if last:
        out_backprop, w = jnp.moveaxis(out_backprop, -1, 1), jnp.moveaxis(w, -1, 1)
        input_sizes = (input_sizes[0], input_sizes[3], input_sizes[1], input_sizes[2])
    w = check_weight(op, w, out_channel, kernel_size, "filter")
    geometry = _backward_geometry(op, out_backprop, w, input_sizes, pad_mode, pad, stride, dilation, group)
    dx = conv_primitive.conv_input_grad(out_backprop, w, input_sizes, geometry)
    return jnp.moveaxis(dx, 1, -1) if last else dx


@operator
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

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "Conv2DBackpropFilter"
    last = data_format == "NHWC"
    if last:
        out_backprop, input_x = jnp.moveaxis(out_backprop, -1, 1), jnp.moveaxis(input_x, -1, 1)
        filter_sizes = (filter_sizes[0], filter_sizes[3], filter_sizes[1], filter_sizes[2])
    w = jax.ShapeDtypeStruct(filter_sizes, input_x.dtype)
    w = check_weight(op, w, out_channel, kernel_size, "filter_sizes")
    geometry = _backward_geometry(op, out_backprop, w, input_x.shape, pad_mode, pad, stride, dilation, group)
    compare_pad_list(op, pad_list, geometry.padding)
    dw = conv_primitive.conv_filter_grad(input_x, out_backprop, filter_sizes, geometry)
    return jnp.moveaxis(dw, 1, -1) if last else dw


def compare_pad_list(op, pad_list, padding):
    """ValueError unless a `pad_list` is zeros, as if not given, or what the other attributes say."""
    expected = tuple(n for sides in padding for n in sides)
    if any(pad_list) and pad_list != expected:
        raise ValueError(
            f"For '{op}', 'pad_list' should be zeros or {expected}, as 'pad_mode' and 'pad' say, but got {pad_list}."
        )


def _backward_geometry(op, dy, w, image, pad_mode, pad, stride, dilation, group):
    _check.dtype_in(op, "out_backprop", dy, _check.FLOAT)
    _check.rank(op, "out_backprop", dy, 4)
    if len(image) != 4 or len(w.shape) != 4:
        raise ValueError(
            f"For '{op}', images and weights should have 4 dimensions, but got {tuple(image)} and {tuple(w.shape)}."
        )
    padding = pads(op, pad_mode, pad, image[2:], w.shape[2:], stride, dilation)
    geometry = Geometry(stride, padding, dilation, group)
    expected = (image[0], w.shape[0], *geometry.output(image[2:], w.shape[2:]))
    if tuple(dy.shape) != expected or image[1] != w.shape[1] * group:
        raise ValueError(
            f"For '{op}', images of shape {tuple(image)} and weights of shape {tuple(w.shape)} with "
            f"{geometry} give results of shape {expected}, but 'out_backprop' has {tuple(dy.shape)}."
        )
    return geometry


# ---------------------------------------------------------------------- three dimensions
@operator
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

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "Conv3D"
    weight = check_weight(op, weight, out_channel, kernel_size)
    _check_images(op, x, weight, 3, group)
    geometry = Geometry(stride, pads(op, pad_mode, pad, x.shape[2:], kernel_size, stride, dilation), dilation, group)
    _check_output(op, geometry, x.shape[2:], kernel_size)
    return direct(x, weight, geometry)


@operator
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

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "Conv3DBackpropInput"
    weight = check_weight(op, weight, out_channel, kernel_size)
    padding = pads(op, pad_mode, pad, input_size[2:], kernel_size, stride, dilation)
    return _transposed3d(dout, weight, input_size, Geometry(stride, padding, dilation, group))


@operator
def Conv3DTranspose(
    dout,
    weight,
    *,
    in_channel: PositiveInt,
    out_channel: PositiveInt,
    kernel_size: Window3,
    mode: OneOf(1) = 1,
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
        pad (Union[int, tuple[int]]): pixels cut off at head, tail, top, bottom, left, right. Default: 0.
        stride (Union[int, tuple[int]]): how far apart the inputs land. Default: 1.
        dilation (Union[int, tuple[int]]): spacing of the taps. Default: 1.
        group (int): number of groups of channels. Default: 1.
        output_padding (Union[int, tuple[int]]): added to the size of the result. Default: 0.
        data_format (str): "NCDHW". Default: "NCDHW".

    Inputs:
        - **dout** (Tensor) - (N, in_channel, D, H, W).
        - **weight** (Tensor) - (in_channel, out_channel / group, kernel depth, height, width).

    Outputs:
        Tensor, (N, out_channel, (D - 1) * stride - pads + dilation * (kernel - 1) + output_padding + 1, ...).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "Conv3DTranspose"
    _check.rank(op, "dout", dout, 5)
    weight = check_weight(op, weight, in_channel, kernel_size)
    for extra, s, d in zip(output_padding, stride, dilation, strict=True):
        if extra >= max(s, d):
            raise ValueError(
                f"For '{op}', 'output_padding' should be smaller than stride or dilation, but got "
                f"{output_padding} for stride {stride} and dilation {dilation}."
            )
    padding = tuple(zip(pad[::2], pad[1::2], strict=True))
    size = tuple(
        (n - 1) * s - sum(p) + d * (k - 1) + extra + 1
        for n, s, p, d, k, extra in zip(
            dout.shape[2:], stride, padding, dilation, kernel_size, output_padding, strict=True
        )
    )
    return _transposed3d(dout, weight, (dout.shape[0], out_channel, *size), Geometry(stride, padding, dilation, group))


def _transposed3d(dy, w, image, geometry):
    return jax.linear_transpose(lambda x: direct(x, w, geometry), jax.ShapeDtypeStruct(image, dy.dtype))(dy)[0]


# ---------------------------------------------------------------------- attributes that do not go together
def _check_uneven(a):
    for key in ("stride", "dilation"):
        if a[key][0] != a[key][1]:
            raise ValueError(
                f"For 'DepthwiseConv2dNative', '{key}' should be equal in height and width, but got {a[key]}."
            )


for _name in (
    "Conv2D",
    "DepthwiseConv2dNative",
    "Conv2DBackpropInput",
    "Conv2DBackpropFilter",
    "Conv3D",
    "Conv3DBackpropInput",
):
    refuse(_name, lambda a, name=_name: _refuse_pad(name, a["pad_mode"], a["pad"]))
refuse("DepthwiseConv2dNative", _check_uneven)
