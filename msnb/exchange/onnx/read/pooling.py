"""Import ONNX operators: pooling."""

import math

import numpy as np

from .convolutions import flat, padding_of
from .reader import Reader
from .values import Attributes, Node, Ref, handles


def _gather_windows(r: Reader, node: Node, x: Ref, fill: float) -> tuple[Ref, list[tuple[int, int]]]:
    """Return all windows of an image, (N, C, positions..., taps), and the padding. Padded elements are `fill`.

    The windows are gathered axis by axis, which supports every stride, dilation and padding.
    """
    kernel = node.attr("kernel_shape")
    dims = len(kernel)
    strides, dilations = node.attr("strides") or [1] * dims, node.attr("dilations") or [1] * dims
    image = x.shape[2:]
    pads = padding_of(node, image, kernel, strides, dilations)
    paddings, positions = [(0, 0), (0, 0)], []
    for n, k, s, d, (low, high) in zip(image, kernel, strides, dilations, pads, strict=True):
        reach = (k - 1) * d + 1
        free_length = n + low + high - reach
        count = (-(-free_length // s) if node.attr("ceil_mode", 0) else free_length // s) + 1
        if node.attr("ceil_mode", 0) and (count - 1) * s >= n + low:
            count -= 1
        high_pad = max((count - 1) * s + reach - n - low, high)
        paddings.append((low, high_pad))
        r.reserve_constant(count, k)
        positions.append(np.arange(count)[:, None] * s + np.arange(k)[None, :] * d)
    if any(map(any, paddings)):
        if fill == 0:
            x = r("Pad", x, paddings=tuple(paddings))
        else:
            for axis, (p, q) in enumerate(paddings):
                borders = [r.filled((*x.shape[:axis], m, *x.shape[axis + 1 :]), fill, x.dtype) for m in (p, q)]
                pieces = [v for v in (borders[0], x, borders[1]) if v.shape[axis]]
                x = r("Concat", pieces, axis=axis) if len(pieces) > 1 else x
    for i, axis_positions in enumerate(positions):
        x = r("Gather", x, r.const(axis_positions), 2 + 2 * i)
    perm = [0, 1, *range(2, 2 + 2 * dims, 2), *range(3, 3 + 2 * dims, 2)]
    x = r.transpose(x, perm)
    return r.reshape(x, (*x.shape[: 2 + dims], math.prod(kernel))), pads


def _get_window_attributes(node, dims):
    """Return kernel, strides and dilations of a pooling."""
    return node.attr("kernel_shape"), node.attr("strides") or [1] * dims, node.attr("dilations") or [1] * dims


@handles("MaxPool")
def _read_max_pool(r, node):
    x = node.inputs[0]
    dims = x.rank - 2
    kernel, strides, dilations = _get_window_attributes(node, dims)
    if len(node.outputs) > 1 and node.outputs[1]:
        return _read_max_pool_with_indices(r, node, x)
    pads = padding_of(node, x.shape[2:], kernel, strides, dilations)
    fits = all(p <= (k - 1) // 2 + k % 1 or 2 * p <= k for pair, k in zip(pads, kernel, strict=True) for p in pair)
    if dims == 2 and x.is_float and fits and not node.attr("ceil_mode", 0) and set(dilations) == {1}:
        if not any(map(any, pads)):
            return r("MaxPool", x, kernel_size=tuple(kernel), strides=tuple(strides))
        return r(
            "_MaxPool2D",
            x,
            kernel_size=tuple(kernel),
            strides=tuple(strides),
            pads=flat(pads),
            dilation=tuple(dilations),
        )
    low = -np.inf if x.is_float else np.iinfo(x.dtype).min
    windows, _ = _gather_windows(r, node, x, low)
    return r("ReduceMax", windows, (windows.rank - 1,))


def _read_max_pool_with_indices(r, node, x):
    """Return the maximum of each window, and its index in the flat input."""
    windows, _ = _gather_windows(r, node, x, -np.inf if x.is_float else np.iinfo(x.dtype).min)
    image = x.shape[2:]
    order = "F" if node.attr("storage_order", 0) else "C"
    r.reserve_constant(*x.shape)
    numbers = np.arange(math.prod(image)).reshape(image, order=order)
    offset = np.arange(x.shape[0] * x.shape[1]).reshape(x.shape[:2]) * math.prod(image)
    flat = r.const((offset.reshape(*x.shape[:2], *[1] * len(image)) + numbers).astype(np.int64))
    window_indices, _ = _gather_windows(r, node, flat, 0)
    best = r.cast(r("Argmax", windows, axis=-1), np.int64)
    indices = r("GatherD", window_indices, window_indices.rank - 1, r("ExpandDims", best, best.rank))
    return r("ReduceMax", windows, (windows.rank - 1,)), r("Squeeze", indices, axis=(indices.rank - 1,))


@handles("AveragePool")
def _read_average_pool(r, node):
    x = node.inputs[0]
    dims = x.rank - 2
    kernel, strides, dilations = _get_window_attributes(node, dims)
    pads = padding_of(node, x.shape[2:], kernel, strides, dilations)
    count_all = node.attr("count_include_pad", 0)
    if dims == 2 and set(dilations) == {1} and not any(map(any, pads)) and not node.attr("ceil_mode", 0):
        return r("AvgPool", x, kernel_size=tuple(kernel), strides=tuple(strides))
    windows, pads = _gather_windows(r, node, x, 0)
    total = r("ReduceSum", windows, (windows.rank - 1,))
    ones = r.filled((1, 1, *x.shape[2:]), 1, np.float32)
    if count_all:  # the average includes padding, but not the positions of a last window beyond the padding
        ones = r.filled((1, 1, *[n + p + q for n, (p, q) in zip(x.shape[2:], pads, strict=True)]), 1, np.float32)
        attrs = Attributes({**node.attrs, "pads": [0] * (2 * dims), "auto_pad": "NOTSET"})
        counts, _ = _gather_windows(r, node._replace(attrs=attrs), ones, 0)
        if counts.shape[2:-1] != total.shape[2:]:
            counts = r.filled((1, 1, *total.shape[2:], math.prod(kernel)), 1, np.float32)
    else:
        counts, _ = _gather_windows(r, node, ones, 0)
    return r("RealDiv", total, r.cast(r("ReduceSum", counts, (counts.rank - 1,)), x.dtype))


@handles("LpPool")
def _read_lp_pool(r, node):
    x, p = node.inputs[0], node.attr("p", 2)
    powers = r("Pow", r("Abs", x), r.like(p, x))
    windows, _ = _gather_windows(r, node, powers, 0)
    return r("Pow", r("ReduceSum", windows, (windows.rank - 1,)), r.like(1 / p, x))


def _register_global_pool(name, op):
    @handles(name)
    def read(r: Reader, node: Node) -> Ref:
        x = node.inputs[0]
        return r(op, x, tuple(range(2, x.rank)), keep_dims=True)


_register_global_pool("GlobalAveragePool", "ReduceMean")
_register_global_pool("GlobalMaxPool", "ReduceMax")


@handles("GlobalLpPool")
def _read_global_lp_pool(r, node):
    x, p = node.inputs[0], node.attr("p", 2)
    total = r("ReduceSum", r("Pow", r("Abs", x), r.like(p, x)), tuple(range(2, x.rank)), keep_dims=True)
    return r("Pow", total, r.like(1 / p, x))


@handles("MaxUnpool")
def _read_max_unpool(r, node):
    """Read MaxUnpool: scatter each value into zeros, to the index that MaxPool returned for it."""
    x, indices, output_shape = node.inputs[0], node.inputs[1], node.input(2)
    kernel, dims = node.attr("kernel_shape"), x.rank - 2
    strides, pads = node.attr("strides") or [1] * dims, node.attr("pads") or [0] * (2 * dims)
    image = [(x.shape[2 + i] - 1) * strides[i] - pads[i] - pads[dims + i] + kernel[i] for i in range(dims)]
    flat = r.filled((math.prod(x.shape[:2]) * math.prod(image),), 0, x.dtype)
    count = math.prod(x.shape)
    result = r("TensorScatterUpdate", flat, r.reshape(indices, (count, 1)), r.reshape(x, (count,)))
    result = r.reshape(result, (*x.shape[:2], *image))
    if output_shape is None:
        return result
    paddings = [(0, n - m) for n, m in zip(r.ints(output_shape), result.shape, strict=True)]
    return r("Pad", result, paddings=tuple(paddings)) if any(map(any, paddings)) else result
