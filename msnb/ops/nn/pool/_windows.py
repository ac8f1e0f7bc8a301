"""Sliding windows over the trailing dimensions of (N, C, ...): maxima, means and paddings."""

from math import prod

import jax.numpy as jnp
import numpy as np
from jax import lax

from msnb.ops import _check
from msnb.ops.nn.conv._shared import same_pads

# up to this many taps, a chain of comparisons has a 1.1 to 6 times faster gradient than XLA's scatter
_CHAINED_TAPS = 9


def max_pool(x, kernel, strides, padding, dilation=None):
    """Return the largest value in each window of `x` (N, C, ...). Windows slide over the trailing dimensions.

    Dilated windows always use the chain of comparisons: JAX has no gradient of a dilated `reduce_window`.
    """
    low = _get_lowest_number(x.dtype)
    if prod(kernel) <= _CHAINED_TAPS or (dilation and set(dilation) != {1}):
        return _max_pool_by_comparisons(x, kernel, strides, padding, low, dilation)
    return lax.reduce_window(x, low, lax.max, (1, 1, *kernel), (1, 1, *strides), ((0, 0), (0, 0), *padding))


def _get_lowest_number(dtype):
    """Return the smallest number of a type as a numpy scalar. With an array, JAX would not recognize `reduce_window` as
    a max pooling.
    """
    return dtype.type(-np.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).min)


def _max_pool_by_comparisons(x, kernel, strides, padding, low, dilation):
    """Return the maximum of each window, by one comparison for each tap. XLA fuses the comparisons, and the gradient is
    a sum of shifted selections.
    """
    best = None
    for value in window_taps(x, kernel, strides, padding, low, dilation):
        # The second condition lets NaN win: `value > best` is False for it. `lax` traces faster than `jnp`, and
        # this is traced once for each tap.
        larger = best is not None and lax.bitwise_or(lax.gt(value, best), lax.ne(value, value))
        best = value if best is None else lax.select(larger, value, best)
    return best


def window_extent(kernel, dilation):
    """Return the extent of a dilated window along each dimension."""
    return tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation or (1,) * len(kernel), strict=True))


def window_taps(x, kernel, strides, padding, fill, dilation=None):
    """Yield, for every tap of the window in row order, the pixels that it reads from `x` padded with `fill`."""
    dilation = dilation or (1,) * len(kernel)
    if any(map(any, padding)):
        x = jnp.pad(x, ((0, 0), (0, 0), *padding), constant_values=fill)
    outs = [(n - r) // s + 1 for n, r, s in zip(x.shape[2:], window_extent(kernel, dilation), strides, strict=True)]
    for flat in range(prod(kernel)):
        tap = []
        for k, d in zip(reversed(kernel), reversed(dilation), strict=True):
            flat, index = divmod(flat, k)
            tap.insert(0, d * index)
        stops = [t + (o - 1) * s + 1 for t, o, s in zip(tap, outs, strides, strict=True)]
        yield lax.slice(x, (0, 0, *tap), (*x.shape[:2], *stops), (1, 1, *strides))


def max_with_position(x, kernel, strides, padding, dilation=None):
    """Return the largest value in each window and its flat position in (C, ...), int32.

    If several values are the largest, the position of the first in row order is returned.
    """
    plane = x.shape[2:]
    numbers = jnp.arange(x.shape[1] * prod(plane), dtype=jnp.int32).reshape(1, x.shape[1], *plane)
    best = where = None
    for value, number in zip(
        window_taps(x, kernel, strides, padding, _get_lowest_number(x.dtype), dilation),
        window_taps(numbers, kernel, strides, padding, 0, dilation),
        strict=True,
    ):
        if best is None:
            best, where = value, jnp.broadcast_to(number, value.shape)
        else:
            larger = (value > best) | ((value != value) & (best == best))  # the first NaN is the largest
            best, where = jnp.where(larger, value, best), jnp.where(larger, number, where)
    return best, where


def average_windows(x, kernel, strides, padding, count_padding=False, divisor=None):
    """Return the mean of each window over the pixels inside the image, or over all with `count_padding`."""
    total = _sum_windows(x, kernel, strides, padding)
    if divisor:
        return total / jnp.asarray(divisor, x.dtype)
    if count_padding or not any(map(any, padding)):
        return total / jnp.asarray(prod(kernel), x.dtype)
    return total / _sum_windows(jnp.ones((1, 1, *x.shape[2:]), x.dtype), kernel, strides, padding)


def _sum_windows(x, kernel, strides, padding):
    return lax.reduce_window(
        x, np.zeros((), x.dtype), lax.add, (1, 1, *kernel), (1, 1, *strides), ((0, 0), (0, 0), *padding)
    )


def window_pads(op, pad_mode, image, kernel, stride):
    """Return the padding of each spatial dimension. Raise ValueError if a window does not fit."""
    if 0 in image:
        raise ValueError(f"For '{op}', images should have pixels, but got {tuple(image)} of them.")
    if pad_mode == "same":
        return tuple(same_pads(n, k, s) for n, k, s in zip(image, kernel, stride, strict=True))
    if any(n < k for n, k in zip(image, kernel, strict=True)):
        raise ValueError(
            f"For '{op}', the window {kernel} is larger than the image {tuple(image)}; "
            f"use pad_mode='same' or a smaller window."
        )
    return ((0, 0),) * len(image)


def pad_pairs(padding):
    """Return a flat padding of two numbers per dimension as pairs (before, after)."""
    return tuple(zip(padding[::2], padding[1::2], strict=True))


def ceil_mode_pads(op, image, kernel, stride, padding, ceil_mode):
    """Return the padding (before, after) of each dimension. With `ceil_mode` it has room for a last window that starts
    in the image and extends beyond the border.
    """
    pads = []
    for n, k, s, (low, high) in zip(image, kernel, stride, pad_pairs(padding), strict=True):
        total, total_padding = n + low + high, low + high
        if ceil_mode:
            count = -(-(total - k) // s) + 1
            if (count - 1) * s >= n + low:
                count -= 1
            high += max((count - 1) * s + k - total, 0)
        if total_padding > k:
            raise ValueError(f"For '{op}', a padding of {total_padding} in all is more than a window of {k} looks at.")
        if total < k:
            raise ValueError(f"For '{op}', the window {kernel} is larger than the padded image {tuple(image)}.")
        pads.append((low, high))
    return tuple(pads)


def padded_average(op, x, kernel, stride, padding, ceil_mode, count_include_pad, divisor):
    """Return the mean of each window of `x`, with a padding of two numbers per dimension."""
    base = pad_pairs(padding)
    pads = ceil_mode_pads(op, x.shape[2:], kernel, stride, padding, ceil_mode)
    if divisor or not count_include_pad or pads == base:
        return average_windows(x, kernel, stride, pads, count_include_pad, divisor)
    # the means exclude the padding that ceil_mode adds
    x = jnp.pad(x, ((0, 0), (0, 0), *base))
    beyond = tuple((0, f[1] - b[1]) for f, b in zip(pads, base, strict=True))
    return average_windows(x, kernel, stride, beyond)


def volume_pads(op, x, pad_mode, padding, kernel, strides, ceil_mode):
    """Return the padding of each dimension of volumes. Raise an error unless `x` is float and has 5 dimensions."""
    _check.dtype_in(op, "x", x, _check.FLOAT)
    _check.rank(op, "x", x, 5)
    if pad_mode != "pad":
        return window_pads(op, pad_mode, x.shape[2:], kernel, strides)
    return ceil_mode_pads(op, x.shape[2:], kernel, strides, padding, ceil_mode)


def apply_batched(op, x, dims, pool):
    """Apply `pool`, a function of arrays (N, C, ...), to an array (N, C, ...) or (C, ...)."""
    if x.ndim == dims + 1:
        out = pool(x[None])
        return tuple(o[0] for o in out) if isinstance(out, tuple) else out[0]
    _check.rank(op, "x", x, dims + 1, dims + 2)
    return pool(x)


def to_channels_first(op, x, data_format):
    """Return images as (N, C, H, W). Raise an error unless `x` is float and has 4 dimensions."""
    _check.dtype_in(op, "x", x, _check.FLOAT)
    _check.rank(op, "x", x, 4)
    return jnp.moveaxis(x, -1, 1) if data_format == "NHWC" else x


def from_channels_first(y, data_format):
    """Return (N, C, H, W) in the data format of the input."""
    return jnp.moveaxis(y, 1, -1) if data_format == "NHWC" else y
