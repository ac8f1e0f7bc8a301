"""Pooling. Where several pixels of a window are the largest, the first in row order takes the whole gradient."""

from math import prod

import jax.numpy as jnp
import numpy as np
from jax import lax

from msnb.common.kinds import Bool, NonNegInt, OneOf
from msnb.core.declare import operator
from msnb.ops import _check
from msnb.ops.nn._kinds import Layout, PoolMode, Sides3, Window2, Window3
from msnb.ops.nn.conv import same_pads
from msnb.ops.nn.max_pool import max_pool, window_taps


def window_pads(op, pad_mode, image, kernel, stride):
    """Padding of each spatial dimension; ValueError if a window does not fit."""
    if pad_mode == "same":
        return tuple(same_pads(n, k, s) for n, k, s in zip(image, kernel, stride, strict=True))
    if any(n < k for n, k in zip(image, kernel, strict=True)):
        raise ValueError(
            f"For '{op}', the window {kernel} is larger than the image {tuple(image)}; "
            f"use pad_mode='same' or a smaller window."
        )
    return ((0, 0),) * len(image)


def _images(op, x, data_format):
    _check.dtype_in(op, "x", x, _check.FLOAT)
    _check.rank(op, "x", x, 4)
    return jnp.moveaxis(x, -1, 1) if data_format == "NHWC" else x


def _restore(y, data_format):
    return jnp.moveaxis(y, 1, -1) if data_format == "NHWC" else y


@operator
def MaxPool(
    x,
    *,
    kernel_size: Window2 = (1, 1),
    strides: Window2 = (1, 1),
    pad_mode: PoolMode = "valid",
    data_format: Layout = "NCHW",
):
    """The largest value of each window.

    Args:
        kernel_size (Union[int, tuple[int]]): height and width of the window. Default: 1.
        strides (Union[int, tuple[int]]): step of the window. Default: 1.
        pad_mode (str): "valid" no padding, "same" as much as keeps ceil(size / strides) outputs. Default: "valid".
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".

    Inputs:
        - **x** (Tensor) - (N, C, H, W), or (N, H, W, C) for "NHWC".

    Outputs:
        Tensor, (N, C, H_out, W_out) in the layout of `x`.

    Raises:
        TypeError: If an attribute has a wrong type.
        ValueError: If `x` is not 4-D or the window does not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor(np.arange(12).reshape(1, 1, 3, 4), mindspore.float32)
        >>> print(ops.MaxPool(kernel_size=2, strides=1)(x))
        [[[[ 5.  6.  7.]
           [ 9. 10. 11.]]]]
    """
    x = _images("MaxPool", x, data_format)
    padding = window_pads("MaxPool", pad_mode, x.shape[2:], kernel_size, strides)
    return _restore(max_pool(x, kernel_size, strides, padding), data_format)


@operator
def MaxPoolWithArgmax(
    x,
    *,
    kernel_size: Window2 = (1, 1),
    strides: Window2 = (1, 1),
    pad_mode: PoolMode = "valid",
    data_format: Layout = "NCHW",
):
    """The largest value of each window, and where it stands.

    Args:
        kernel_size (Union[int, tuple[int]]): height and width of the window. Default: 1.
        strides (Union[int, tuple[int]]): step of the window. Default: 1.
        pad_mode (str): "valid" or "same". Default: "valid".
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".

    Inputs:
        - **x** (Tensor) - (N, C, H, W).

    Outputs:
        Tuple of the values (N, C, H_out, W_out) and, as int32, the flat position of each within its image (C, H, W).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    x = _images("MaxPoolWithArgmax", x, data_format)
    padding = window_pads("MaxPoolWithArgmax", pad_mode, x.shape[2:], kernel_size, strides)
    values, where = _max_with_position(x, kernel_size, strides, padding)
    return _restore(values, data_format), _restore(where, data_format)


def _max_with_position(x, kernel, strides, padding):
    plane = x.shape[2:]
    numbers = jnp.arange(x.shape[1] * prod(plane), dtype=jnp.int32).reshape(1, x.shape[1], *plane)
    best = where = None
    for value, number in zip(
        window_taps(x, kernel, strides, padding, -jnp.inf),
        window_taps(numbers, kernel, strides, padding, 0),
        strict=True,
    ):
        if best is None:
            best, where = value, jnp.broadcast_to(number, value.shape)
        else:
            larger = value > best
            best, where = jnp.where(larger, value, best), jnp.where(larger, number, where)
    return best, where


def average(x, kernel, strides, padding, count_padding=False, divisor=None):
    """Mean of each window over the pixels inside the image, or over all with `count_padding`."""
    total = _window_sum(x, kernel, strides, padding)
    if divisor:
        return total / jnp.asarray(divisor, x.dtype)
    if count_padding or not any(map(any, padding)):
        return total / jnp.asarray(prod(kernel), x.dtype)
    return total / _window_sum(jnp.ones((1, 1, *x.shape[2:]), x.dtype), kernel, strides, padding)


def _window_sum(x, kernel, strides, padding):
    return lax.reduce_window(
        x, np.zeros((), x.dtype), lax.add, (1, 1, *kernel), (1, 1, *strides), ((0, 0), (0, 0), *padding)
    )


@operator
def AvgPool(
    x,
    *,
    kernel_size: Window2 = (1, 1),
    strides: Window2 = (1, 1),
    pad_mode: PoolMode = "valid",
    data_format: Layout = "NCHW",
):
    """The mean of each window; padding of "same" does not count.

    Args:
        kernel_size (Union[int, tuple[int]]): height and width of the window. Default: 1.
        strides (Union[int, tuple[int]]): step of the window. Default: 1.
        pad_mode (str): "valid" or "same". Default: "valid".
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".

    Inputs:
        - **x** (Tensor) - (N, C, H, W), or (N, H, W, C) for "NHWC".

    Outputs:
        Tensor, (N, C, H_out, W_out) in the layout of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    x = _images("AvgPool", x, data_format)
    padding = window_pads("AvgPool", pad_mode, x.shape[2:], kernel_size, strides)
    return _restore(average(x, kernel_size, strides, padding), data_format)


# ---------------------------------------------------------------------- three dimensions (2.x)
def _volume_pads(op, x, pad_mode, pad, kernel, strides, ceil_mode):
    _check.dtype_in(op, "x", x, _check.FLOAT)
    _check.rank(op, "x", x, 5)
    if pad_mode != "pad":
        return window_pads(op, pad_mode, x.shape[2:], kernel, strides)
    padding = list(zip(pad[::2], pad[1::2], strict=True))
    if ceil_mode:
        padding = [
            (lo, hi + (-(n + lo + hi - k) % s))
            for (lo, hi), n, k, s in zip(padding, x.shape[2:], kernel, strides, strict=True)
        ]
    return tuple(padding)


@operator
def MaxPool3D(
    x,
    *,
    kernel_size: Window3 = (1, 1, 1),
    strides: Window3 = (1, 1, 1),
    pad_mode: OneOf("valid", "same", "pad", fold=True) = "valid",
    pad_list: Sides3 = (0,) * 6,
    ceil_mode: Bool = False,
    data_format: OneOf("NCDHW") = "NCDHW",
):
    """The largest value of each window of a volume.

    Args:
        kernel_size (Union[int, tuple[int]]): depth, height and width of the window. Default: 1.
        strides (Union[int, tuple[int]]): step of the window. Default: 1.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        pad_list (Union[int, tuple[int]]): padding at head, tail, top, bottom, left, right for "pad". Default: 0.
        ceil_mode (bool): whether a last incomplete window counts, for "pad". Default: False.
        data_format (str): "NCDHW". Default: "NCDHW".

    Inputs:
        - **x** (Tensor) - (N, C, D, H, W).

    Outputs:
        Tensor, (N, C, D_out, H_out, W_out).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return max_pool(
        x, kernel_size, strides, _volume_pads("MaxPool3D", x, pad_mode, pad_list, kernel_size, strides, ceil_mode)
    )


@operator
def AvgPool3D(
    x,
    *,
    kernel_size: Window3 = (1, 1, 1),
    strides: Window3 = (1, 1, 1),
    pad_mode: OneOf("valid", "same", "pad", fold=True) = "valid",
    pad: Sides3 = (0,) * 6,
    ceil_mode: Bool = False,
    count_include_pad: Bool = True,
    divisor_override: NonNegInt = 0,
    data_format: OneOf("NCDHW") = "NCDHW",
):
    """The mean of each window of a volume.

    Args:
        kernel_size (Union[int, tuple[int]]): depth, height and width of the window. Default: 1.
        strides (Union[int, tuple[int]]): step of the window. Default: 1.
        pad_mode (str): "valid", "same" or "pad". Default: "valid".
        pad (Union[int, tuple[int]]): padding at head, tail, top, bottom, left, right for "pad". Default: 0.
        ceil_mode (bool): whether a last incomplete window counts, for "pad". Default: False.
        count_include_pad (bool): whether zeros of the padding count in the mean. Default: True.
        divisor_override (int): divides the sum instead of the number of pixels, if not 0. Default: 0.
        data_format (str): "NCDHW". Default: "NCDHW".

    Inputs:
        - **x** (Tensor) - (N, C, D, H, W).

    Outputs:
        Tensor, (N, C, D_out, H_out, W_out).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    padding = _volume_pads("AvgPool3D", x, pad_mode, pad, kernel_size, strides, ceil_mode)
    return average(x, kernel_size, strides, padding, count_include_pad, divisor_override)
