"""Readers of pooling."""

import math

import numpy as np

from .convolutions import flat, padding_of
from .reader import Reader
from .values import Attributes, Node, Ref, handles


def _windows(r: Reader, node: Node, x: Ref, fill: float) -> tuple[Ref, list[tuple[int, int]]]:
    """All windows of an image, (N, C, positions..., taps), and the padding: what lies outside is `fill`.

    Gathered by index, one axis after another: it fits every stride, dilation and padding.
    """
    kernel = node.attr("kernel_shape")
    dims = len(kernel)
    strides, dilations = node.attr("strides") or [1] * dims, node.attr("dilations") or [1] * dims
    image = x.shape[2:]
    pads = padding_of(node, image, kernel, strides, dilations)
    paddings, places = [(0, 0), (0, 0)], []
    for n, k, s, d, (low, high) in zip(image, kernel, strides, dilations, pads, strict=True):
        reach = (k - 1) * d + 1
        room = n + low + high - reach
        count = (-(-room // s) if node.attr("ceil_mode", 0) else room // s) + 1
        if node.attr("ceil_mode", 0) and (count - 1) * s >= n + low:
            count -= 1
        more = max((count - 1) * s + reach - n - low, high)
        paddings.append((low, more))
        r.room(count, k)
        places.append(np.arange(count)[:, None] * s + np.arange(k)[None, :] * d)
    if any(map(any, paddings)):
        if fill == 0:
            x = r("Pad", x, paddings=tuple(paddings))
        else:
            for axis, (p, q) in enumerate(paddings):
                around = [r.filled((*x.shape[:axis], m, *x.shape[axis + 1 :]), fill, x.dtype) for m in (p, q)]
                pieces = [v for v in (around[0], x, around[1]) if v.shape[axis]]
                x = r("Concat", pieces, axis=axis) if len(pieces) > 1 else x
    for i, at in enumerate(places):
        x = r("Gather", x, r.const(at), 2 + 2 * i)
    perm = [0, 1, *range(2, 2 + 2 * dims, 2), *range(3, 3 + 2 * dims, 2)]
    x = r.transpose(x, perm)
    return r.reshape(x, (*x.shape[: 2 + dims], math.prod(kernel))), pads


def _plain(node, dims):
    """(kernel, strides, dilations) of a pooling."""
    return node.attr("kernel_shape"), node.attr("strides") or [1] * dims, node.attr("dilations") or [1] * dims


@handles("MaxPool")
def _max_pool(r, node):
    x = node.inputs[0]
    dims = x.rank - 2
    kernel, strides, dilations = _plain(node, dims)
    if len(node.outputs) > 1 and node.outputs[1]:
        return _max_with_place(r, node, x)
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
    windows, _ = _windows(r, node, x, low)
    return r("ReduceMax", windows, (windows.rank - 1,))


def _max_with_place(r, node, x):
    """The largest of each window, and where it stands in the flat input."""
    windows, _ = _windows(r, node, x, -np.inf if x.is_float else np.iinfo(x.dtype).min)
    image = x.shape[2:]
    order = "F" if node.attr("storage_order", 0) else "C"
    r.room(*x.shape)
    numbers = np.arange(math.prod(image)).reshape(image, order=order)
    offset = np.arange(x.shape[0] * x.shape[1]).reshape(x.shape[:2]) * math.prod(image)
    flat = r.const((offset.reshape(*x.shape[:2], *[1] * len(image)) + numbers).astype(np.int64))
    places, _ = _windows(r, node, flat, 0)
    best = r.cast(r("Argmax", windows, axis=-1), np.int64)
    chosen = r("GatherD", places, places.rank - 1, r("ExpandDims", best, best.rank))
    return r("ReduceMax", windows, (windows.rank - 1,)), r("Squeeze", chosen, axis=(chosen.rank - 1,))


@handles("AveragePool")
def _average_pool(r, node):
    x = node.inputs[0]
    dims = x.rank - 2
    kernel, strides, dilations = _plain(node, dims)
    pads = padding_of(node, x.shape[2:], kernel, strides, dilations)
    count_all = node.attr("count_include_pad", 0)
    if dims == 2 and set(dilations) == {1} and not any(map(any, pads)) and not node.attr("ceil_mode", 0):
        return r("AvgPool", x, kernel_size=tuple(kernel), strides=tuple(strides))
    windows, pads = _windows(r, node, x, 0)
    total = r("ReduceSum", windows, (windows.rank - 1,))
    ones = r.filled((1, 1, *x.shape[2:]), 1, np.float32)
    if count_all:  # what lies in the padding counts, what a last window reaches beyond it does not
        ones = r.filled((1, 1, *[n + p + q for n, (p, q) in zip(x.shape[2:], pads, strict=True)]), 1, np.float32)
        attrs = Attributes({**node.attrs, "pads": [0] * (2 * dims), "auto_pad": "NOTSET"})
        counts, _ = _windows(r, node._replace(attrs=attrs), ones, 0)
        if counts.shape[2:-1] != total.shape[2:]:
            counts = r.filled((1, 1, *total.shape[2:], math.prod(kernel)), 1, np.float32)
    else:
        counts, _ = _windows(r, node, ones, 0)
    return r("RealDiv", total, r.cast(r("ReduceSum", counts, (counts.rank - 1,)), x.dtype))


@handles("LpPool")
def _lp_pool(r, node):
    x, p = node.inputs[0], node.attr("p", 2)
    powers = r("Pow", r("Abs", x), r.like(p, x))
    windows, _ = _windows(r, node, powers, 0)
    return r("Pow", r("ReduceSum", windows, (windows.rank - 1,)), r.like(1 / p, x))


def _global(name, ours):
    @handles(name)
    def read(r: Reader, node: Node) -> Ref:
        x = node.inputs[0]
        return r(ours, x, tuple(range(2, x.rank)), keep_dims=True)


_global("GlobalAveragePool", "ReduceMean")
_global("GlobalMaxPool", "ReduceMax")


@handles("GlobalLpPool")
def _global_lp(r, node):
    x, p = node.inputs[0], node.attr("p", 2)
    total = r("ReduceSum", r("Pow", r("Abs", x), r.like(p, x)), tuple(range(2, x.rank)), keep_dims=True)
    return r("Pow", total, r.like(1 / p, x))


@handles("MaxUnpool")
def _max_unpool(r, node):
    """Zeros, with each value at the place that a MaxPool told."""
    x, places, wanted = node.inputs[0], node.inputs[1], node.input(2)
    kernel, dims = node.attr("kernel_shape"), x.rank - 2
    strides, pads = node.attr("strides") or [1] * dims, node.attr("pads") or [0] * (2 * dims)
    image = [(x.shape[2 + i] - 1) * strides[i] - pads[i] - pads[dims + i] + kernel[i] for i in range(dims)]
    flat = r.filled((math.prod(x.shape[:2]) * math.prod(image),), 0, x.dtype)
    count = math.prod(x.shape)
    made = r("TensorScatterUpdate", flat, r.reshape(places, (count, 1)), r.reshape(x, (count,)))
    made = r.reshape(made, (*x.shape[:2], *image))
    if wanted is None:
        return made
    after = [(0, n - m) for n, m in zip(r.ints(wanted), made.shape, strict=True)]
    return r("Pad", made, paddings=tuple(after)) if any(map(any, after)) else made
