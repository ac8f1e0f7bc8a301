"""2.x's functional convolutions and pooling."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from msnb.common.kinds import Bool, Kind, NonNegInt, Optional, PositiveInt, accept_value
from msnb.core.declare import operator
from msnb.ops import _check
from msnb.ops.nn import conv_primitive
from msnb.ops.nn._kinds import (
    Offsets2,
    PadMode,
    Pads1,
    Pads2,
    Pads3,
    Window1,
    Window2,
    Window3,
)
from msnb.ops.nn.conv import _check_images, _check_output, pads
from msnb.ops.nn.conv_lowering import Geometry, direct
from msnb.ops.nn.max_pool import max_pool
from msnb.ops.nn.pool import _max_with_position, average


def _convolve(op, x, w, bias, stride, pad_mode, padding, dilation, groups):
    dims = len(stride)
    _check_images(op, x, w, dims, groups)
    geometry = Geometry(
        stride, pads(op, pad_mode, padding, x.shape[2:], w.shape[2:], stride, dilation), dilation, groups
    )
    _check_output(op, geometry, x.shape[2:], w.shape[2:])
    y = (conv_primitive.conv if dims == 2 else direct)(x, w, geometry)
    return y if bias is None else y + bias.reshape((-1,) + (1,) * dims)


@operator(functional="conv1d")
def Conv1DForm(
    input,
    weight,
    bias=None,
    *,
    stride: Window1 = (1,),
    pad_mode: PadMode = "valid",
    padding: Pads1 = (0, 0),
    dilation: Window1 = (1,),
    groups: PositiveInt = 1,
):
    """Cross-correlation of sequences with a bank of filters.

    Args:
        stride (int): step of the window. Default: 1.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        padding (Union[int, tuple[int]]): padding at both ends for "pad". Default: 0.
        dilation (int): spacing of the taps. Default: 1.
        groups (int): number of groups of channels. Default: 1.

    Inputs:
        - **input** (Tensor) - (N, C, L).
        - **weight** (Tensor) - (C_out, C / groups, kernel).
        - **bias** (Tensor, optional) - (C_out,).

    Outputs:
        Tensor, (N, C_out, L_out).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.rank("conv1d", "input", input, 3)
    _check.rank("conv1d", "weight", weight, 3)
    y = _convolve(
        "conv1d",
        input[:, :, None],
        weight[:, :, None],
        None,
        (1, *stride),
        pad_mode,
        (0, 0, *padding),
        (1, *dilation),
        groups,
    )[:, :, 0]
    return y if bias is None else y + bias[:, None]


@operator(functional="conv2d")
def Conv2DForm(
    input,
    weight,
    bias=None,
    *,
    stride: Window2 = (1, 1),
    pad_mode: PadMode = "valid",
    padding: Pads2 = (0, 0, 0, 0),
    dilation: Window2 = (1, 1),
    groups: PositiveInt = 1,
):
    """Cross-correlation of images with a bank of filters.

    Args:
        stride (Union[int, tuple[int]]): step of the window. Default: 1.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        padding (Union[int, tuple[int]]): padding for "pad": one number, (height, width), or top, bottom, left, right.
            Default: 0.
        dilation (Union[int, tuple[int]]): spacing of the taps. Default: 1.
        groups (int): number of groups of channels. Default: 1.

    Inputs:
        - **input** (Tensor) - (N, C, H, W).
        - **weight** (Tensor) - (C_out, C / groups, kernel height, kernel width).
        - **bias** (Tensor, optional) - (C_out,).

    Outputs:
        Tensor, (N, C_out, H_out, W_out).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _convolve("conv2d", input, weight, bias, stride, pad_mode, padding, dilation, groups)


@operator(functional="conv3d")
def Conv3DForm(
    input,
    weight,
    bias=None,
    *,
    stride: Window3 = (1, 1, 1),
    pad_mode: PadMode = "valid",
    padding: Pads3 = (0,) * 6,
    dilation: Window3 = (1, 1, 1),
    groups: PositiveInt = 1,
):
    """Cross-correlation of volumes with a bank of filters.

    Args:
        stride (Union[int, tuple[int]]): step of the window. Default: 1.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        padding (Union[int, tuple[int]]): padding for "pad". Default: 0.
        dilation (Union[int, tuple[int]]): spacing of the taps. Default: 1.
        groups (int): number of groups of channels. Default: 1.

    Inputs:
        - **input** (Tensor) - (N, C, D, H, W).
        - **weight** (Tensor) - (C_out, C / groups, kernel depth, height, width).
        - **bias** (Tensor, optional) - (C_out,).

    Outputs:
        Tensor, (N, C_out, D_out, H_out, W_out).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _convolve("conv3d", input, weight, bias, stride, pad_mode, padding, dilation, groups)


@operator(functional="conv_transpose2d")
def ConvTranspose2DForm(
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
        stride (Union[int, tuple[int]]): how far apart the inputs land. Default: 1.
        padding (Union[int, tuple[int]]): pixels cut off at each side. Default: 0.
        output_padding (Union[int, tuple[int]]): added to the size of the result. Default: 0.
        groups (int): number of groups of channels. Default: 1.
        dilation (Union[int, tuple[int]]): spacing of the taps. Default: 1.

    Inputs:
        - **input** (Tensor) - (N, C, H, W).
        - **weight** (Tensor) - (C, C_out / groups, kernel height, kernel width).
        - **bias** (Tensor, optional) - (C_out,).

    Outputs:
        Tensor, (N, C_out, (H - 1) * stride - pads + dilation * (kernel - 1) + output_padding + 1, ...).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "conv_transpose2d"
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
    y = conv_primitive.conv_input_grad(input, weight, image, Geometry(stride, sides, dilation, groups))
    return y if bias is None else y + bias[:, None, None]


# ---------------------------------------------------------------------- pooling
def _pool_sides(x, kernel, stride, padding, ceil_mode):
    """Padding (before, after); with `ceil_mode` a last incomplete window that starts inside the image counts."""
    sides = []
    for n, k, s, (low, high) in zip(
        x.shape[2:], kernel, stride, zip(padding[::2], padding[1::2], strict=True), strict=True
    ):
        total = n + low + high
        if ceil_mode:
            count = -(-(total - k) // s) + 1
            if (count - 1) * s >= n + low:
                count -= 1
            high += max((count - 1) * s + k - total, 0)
        if total < k:
            raise ValueError(f"The window {kernel} is larger than the padded image {tuple(x.shape[2:])}.")
        sides.append((low, high))
    return tuple(sides)


def _unbatched(x, dims, pool):
    """`pool` of (N, C, ...), also given (C, ...)."""
    if x.ndim == dims + 1:
        out = pool(x[None])
        return tuple(o[0] for o in out) if isinstance(out, tuple) else out[0]
    if x.ndim != dims + 2:
        raise ValueError(f"The input should have {dims + 1} or {dims + 2} dimensions, but got shape {x.shape}.")
    return pool(x)


@operator(functional="max_pool2d")
def MaxPool2DForm(
    x,
    *,
    kernel_size: Window2,
    stride: Optional(Window2) = None,
    padding: Pads2 = (0,) * 4,
    dilation: Window2 = (1, 1),
    return_indices: Bool = False,
    ceil_mode: Bool = False,
):
    """The largest value of each window.

    Args:
        kernel_size (Union[int, tuple[int]]): height and width of the window.
        stride (Union[int, tuple[int]]): step of the window. Default: None, `kernel_size`.
        padding (Union[int, tuple[int]]): padding at each side. Default: 0.
        dilation (Union[int, tuple[int]]): only 1. Default: 1.
        return_indices (bool): whether positions within each plane come too, int64. Default: False.
        ceil_mode (bool): whether a last incomplete window counts. Default: False.

    Inputs:
        - **x** (Tensor) - (N, C, H, W) or (C, H, W).

    Outputs:
        Tensor of the values, or a tuple of values and positions.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    if dilation != (1, 1):
        raise ValueError(f"For 'max_pool2d', only dilation 1 is supported, but got {dilation}.")
    _check.dtype_in("max_pool2d", "x", x, _check.FLOAT)
    stride = stride or kernel_size

    def pool(x):
        sides = _pool_sides(x, kernel_size, stride, padding, ceil_mode)
        if not return_indices:
            return max_pool(x, kernel_size, stride, sides)
        values, where = _max_with_position(x, kernel_size, stride, sides)
        return values, (where % (x.shape[2] * x.shape[3])).astype(jnp.int64)

    return _unbatched(x, 2, pool)


def _average_form(op, x, kernel, stride, padding, ceil_mode, count_include_pad, divisor):
    _check.dtype_in(op, "input_x", x, _check.FLOAT)
    dims = len(kernel)

    def pool(x):
        base = tuple(zip(padding[::2], padding[1::2], strict=True))
        sides = _pool_sides(x, kernel, stride, padding, ceil_mode)
        if divisor or not count_include_pad or sides == base:
            return average(x, kernel, stride, sides, count_include_pad, divisor)
        # what ceil_mode adds beyond the padding is no part of any mean
        x = jnp.pad(x, ((0, 0), (0, 0), *base))
        beyond = tuple((0, s[1] - b[1]) for s, b in zip(sides, base, strict=True))
        return average(x, kernel, stride, beyond)

    return _unbatched(x, dims, pool)


@operator(functional="avg_pool1d")
def AvgPool1DForm(
    input_x,
    *,
    kernel_size: Window1 = (1,),
    stride: Window1 = (1,),
    padding: Pads1 = (0, 0),
    ceil_mode: Bool = False,
    count_include_pad: Bool = True,
):
    """The mean of each window of a sequence.

    Args:
        kernel_size (int): length of the window. Default: 1.
        stride (int): step of the window. Default: 1.
        padding (int): zeros at each end. Default: 0.
        ceil_mode (bool): whether a last incomplete window counts. Default: False.
        count_include_pad (bool): whether the padding counts in the mean. Default: True.

    Inputs:
        - **input_x** (Tensor) - (N, C, L).

    Outputs:
        Tensor, (N, C, L_out).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _average_form("avg_pool1d", input_x, kernel_size, stride, padding, ceil_mode, count_include_pad, 0)


@operator(functional="avg_pool2d")
def AvgPool2DForm(
    input_x,
    *,
    kernel_size: Window2 = (1, 1),
    stride: Window2 = (1, 1),
    padding: Pads2 = (0,) * 4,
    ceil_mode: Bool = False,
    count_include_pad: Bool = True,
    divisor_override: NonNegInt = 0,
):
    """The mean of each window of an image.

    Args:
        kernel_size (Union[int, tuple[int]]): height and width of the window. Default: 1.
        stride (Union[int, tuple[int]]): step of the window. Default: 1.
        padding (Union[int, tuple[int]]): zeros at each side. Default: 0.
        ceil_mode (bool): whether a last incomplete window counts. Default: False.
        count_include_pad (bool): whether the padding counts in the mean. Default: True.
        divisor_override (int): divides the sum instead, if not 0. Default: 0.

    Inputs:
        - **input_x** (Tensor) - (N, C, H, W) or (C, H, W).

    Outputs:
        Tensor, (N, C, H_out, W_out).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _average_form(
        "avg_pool2d", input_x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


@operator(functional="avg_pool3d")
def AvgPool3DForm(
    input_x,
    *,
    kernel_size: Window3 = (1, 1, 1),
    stride: Window3 = (1, 1, 1),
    padding: Pads3 = (0,) * 6,
    ceil_mode: Bool = False,
    count_include_pad: Bool = True,
    divisor_override: NonNegInt = 0,
):
    """The mean of each window of a volume.

    Args:
        kernel_size (Union[int, tuple[int]]): depth, height and width of the window. Default: 1.
        stride (Union[int, tuple[int]]): step of the window. Default: 1.
        padding (Union[int, tuple[int]]): zeros at each side. Default: 0.
        ceil_mode (bool): whether a last incomplete window counts. Default: False.
        count_include_pad (bool): whether the padding counts in the mean. Default: True.
        divisor_override (int): divides the sum instead, if not 0. Default: 0.

    Inputs:
        - **input_x** (Tensor) - (N, C, D, H, W).

    Outputs:
        Tensor, (N, C, D_out, H_out, W_out).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _average_form(
        "avg_pool3d", input_x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def _output_size(dims):
    def accept(value):
        values = value if isinstance(value, (tuple, list)) else (value,) * dims
        if len(values) != dims:
            raise ValueError
        return tuple(None if v is None else accept_value(PositiveInt, v) for v in values)

    return Kind(f"a positive int, None or a tuple of {dims} of them", accept)


OutputSize1, OutputSize2, OutputSize3 = _output_size(1), _output_size(2), _output_size(3)


def _bins(old, new):
    """Where each of `new` nearly equal bins of an axis of length `old` starts and ends."""
    i = np.arange(new)
    return i * old // new, -(-(i + 1) * old // new)


def _adaptive(op, x, size, mean):
    dims = len(size)
    if x.ndim not in (dims + 1, dims + 2):
        raise ValueError(f"For '{op}', 'input' should have {dims + 1} or {dims + 2} dimensions, but got {x.shape}.")
    for axis, new in zip(range(x.ndim - dims, x.ndim), size, strict=True):
        old = x.shape[axis]
        new = old if new is None else new
        starts, ends = _bins(old, new)
        if old % new == 0:
            x = x.reshape(*x.shape[:axis], new, old // new, *x.shape[axis + 1 :])
            x = jnp.mean(x, axis + 1) if mean else jnp.max(x, axis + 1)
        elif mean:
            where = np.arange(old)
            inside = (where >= starts[:, None]) & (where < ends[:, None])
            matrix = jnp.asarray(inside / inside.sum(1, keepdims=True), x.dtype)
            x = jnp.moveaxis(jnp.tensordot(x, matrix, ((axis,), (1,)), precision=lax.Precision.HIGHEST), -1, axis)
        else:
            x = jnp.stack(
                [jnp.max(lax.slice_in_dim(x, a, b, axis=axis), axis) for a, b in zip(starts, ends, strict=True)], axis
            )
    return x


@operator(functional="adaptive_avg_pool1d")
def AdaptiveAvgPool1D(input, *, output_size: OutputSize1):
    """The mean of each of `output_size` nearly equal parts of every sequence.

    Args:
        output_size (Union[int, tuple[int]]): number of parts of each dimension; None keeps it.

    Inputs:
        - **input** (Tensor) - (N, C, L), or without N.

    Outputs:
        Tensor, trailing dimensions `output_size`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("adaptive_avg_pool1d", "input", input, _check.FLOAT)
    return _adaptive("adaptive_avg_pool1d", input, output_size, mean=True)


@operator(functional="adaptive_max_pool1d")
def AdaptiveMaxPool1D(input, *, output_size: OutputSize1):
    """The largest value of each of `output_size` nearly equal parts of every sequence.

    Args:
        output_size (Union[int, tuple[int]]): number of parts of each dimension; None keeps it.

    Inputs:
        - **input** (Tensor) - (N, C, L), or without N.

    Outputs:
        Tensor, trailing dimensions `output_size`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("adaptive_max_pool1d", "input", input, _check.FLOAT)
    return _adaptive("adaptive_max_pool1d", input, output_size, mean=False)


@operator(functional="adaptive_avg_pool2d")
def AdaptiveAvgPool2D(input, *, output_size: OutputSize2):
    """The mean of each of `output_size` nearly equal parts of every image.

    Args:
        output_size (Union[int, tuple[int]]): number of parts of each dimension; None keeps it.

    Inputs:
        - **input** (Tensor) - (N, C, H, W), or without N.

    Outputs:
        Tensor, trailing dimensions `output_size`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("adaptive_avg_pool2d", "input", input, _check.FLOAT)
    return _adaptive("adaptive_avg_pool2d", input, output_size, mean=True)


@operator(functional="adaptive_max_pool2d")
def AdaptiveMaxPool2D(input, *, output_size: OutputSize2):
    """The largest value of each of `output_size` nearly equal parts of every image.

    Args:
        output_size (Union[int, tuple[int]]): number of parts of each dimension; None keeps it.

    Inputs:
        - **input** (Tensor) - (N, C, H, W), or without N.

    Outputs:
        Tensor, trailing dimensions `output_size`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("adaptive_max_pool2d", "input", input, _check.FLOAT)
    return _adaptive("adaptive_max_pool2d", input, output_size, mean=False)


@operator(functional="adaptive_avg_pool3d")
def AdaptiveAvgPool3D(input, *, output_size: OutputSize3):
    """The mean of each of `output_size` nearly equal parts of every volume.

    Args:
        output_size (Union[int, tuple[int]]): number of parts of each dimension; None keeps it.

    Inputs:
        - **input** (Tensor) - (N, C, D, H, W), or without N.

    Outputs:
        Tensor, trailing dimensions `output_size`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("adaptive_avg_pool3d", "input", input, _check.FLOAT)
    return _adaptive("adaptive_avg_pool3d", input, output_size, mean=True)


@operator(functional="adaptive_max_pool3d")
def AdaptiveMaxPool3D(input, *, output_size: OutputSize3):
    """The largest value of each of `output_size` nearly equal parts of every volume.

    Args:
        output_size (Union[int, tuple[int]]): number of parts of each dimension; None keeps it.

    Inputs:
        - **input** (Tensor) - (N, C, D, H, W), or without N.

    Outputs:
        Tensor, trailing dimensions `output_size`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("adaptive_max_pool3d", "input", input, _check.FLOAT)
    return _adaptive("adaptive_max_pool3d", input, output_size, mean=False)
