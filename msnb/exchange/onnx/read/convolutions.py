"""Import ONNX operators: convolutions."""

import math
from collections.abc import Sequence

import numpy as np

from .reader import Reader
from .shapes import slice_axis
from .values import Node, Ref, UnsupportedOperator, handles


def padding_of(node: Node, image: Sequence[int], kernel: Sequence[int], strides, dilations) -> list[tuple[int, int]]:
    """Return (before, after) padding of each axis, from the attributes `pads` or `auto_pad`."""
    mode, dims = node.attr("auto_pad", "NOTSET"), len(kernel)
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        pairs = []
        for n, k, s, d in zip(image, kernel, strides, dilations, strict=True):
            total = max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0)
            smaller, larger = total // 2, total - total // 2
            pairs.append((smaller, larger) if mode == "SAME_UPPER" else (larger, smaller))
        return pairs
    pads = [0] * (2 * dims) if mode == "VALID" else node.attr("pads") or [0] * (2 * dims)
    return list(zip(pads[:dims], pads[dims:], strict=True))


def flat(pads: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return pairs of padding as one flat tuple."""
    return tuple(n for pair in pads for n in pair)


@handles("Conv")
def _read_conv(r, node):
    x, w = node.inputs[:2]
    result = convolution(r, node, x, w)
    bias = node.input(2)
    return result if bias is None else r("BiasAdd", result, bias)


def convolution(r: Reader, node: Node, x: Ref, w: Ref) -> Ref:
    """Add a convolution of 1 to 3 dimensions."""
    dims = x.rank - 2
    kernel = w.shape[2:]
    strides, dilations = node.attr("strides") or [1] * dims, node.attr("dilations") or [1] * dims
    pads = padding_of(node, x.shape[2:], kernel, strides, dilations)
    group = node.attr("group", 1)
    if dims == 1:
        return r(
            "_Conv1D",
            x,
            w,
            stride=tuple(strides),
            pad_mode="pad",
            padding=pads[0],
            dilation=tuple(dilations),
            groups=group,
        )
    if dims not in (2, 3):
        raise UnsupportedOperator(f"msnb has no convolution of {dims} dimensions")
    mode = "pad" if any(map(any, pads)) else "valid"
    return r(
        "Conv2D" if dims == 2 else "Conv3D",
        x,
        w,
        out_channel=w.shape[0],
        kernel_size=tuple(kernel),
        pad_mode=mode,
        pad=flat(pads),
        stride=tuple(strides),
        dilation=tuple(dilations),
        group=group,
    )


@handles("ConvTranspose")
def _read_conv_transpose(r, node):
    """Read ConvTranspose with explicit padding, as an input gradient of a convolution or as a convolution."""
    x, w, bias = node.inputs[0], node.inputs[1], node.input(2)
    dims, group = x.rank - 2, node.attr("group", 1)
    kernel = w.shape[2:]
    strides, dilations = node.attr("strides") or [1] * dims, node.attr("dilations") or [1] * dims
    extra = node.attr("output_padding") or [0] * dims
    image, output_shape = x.shape[2:], node.attr("output_shape")
    mode = node.attr("auto_pad", "NOTSET")
    if output_shape is None and mode in ("SAME_UPPER", "SAME_LOWER"):
        output_shape = [n * s for n, s in zip(image, strides, strict=True)]
    if output_shape is not None:
        pads = []
        for i in range(dims):
            total = (image[i] - 1) * strides[i] + extra[i] + (kernel[i] - 1) * dilations[i] + 1 - output_shape[i]
            if total < 0:
                extra[i], total = extra[i] - total, 0
            smaller, larger = total // 2, total - total // 2
            pads.append((smaller, larger) if mode == "SAME_UPPER" else (larger, smaller))
    else:
        pads = padding_of(node, image, kernel, strides, dilations)
    if dims > 3:
        raise UnsupportedOperator(f"msnb has no convolution of {dims} dimensions")
    result = _add_conv_transpose_as_grad(r, x, w, pads, strides, dilations, extra, group) if dims == 2 else None
    if result is None:
        result = _add_conv_transpose_as_conv(r, node, x, w, pads, strides, dilations, extra, group)
    return result if bias is None else r("BiasAdd", result, bias)


def _add_conv_transpose_as_grad(r, x, w, pads, strides, dilations, extra, group):
    """Add a transposed convolution as MindSpore's input gradient of a convolution. Return None if no convolution has
    this gradient.
    """
    if min(map(min, pads)) < 0 or any(not 0 <= n < s for n, s in zip(extra, strides, strict=True)):
        return None
    sizes = []
    for i in range(2):
        reach = (w.shape[2 + i] - 1) * dilations[i] + 1
        sizes.append((x.shape[2 + i] - 1) * strides[i] + reach + extra[i] - sum(pads[i]))
    if min(sizes) < 1:
        return None
    padded = any(map(any, pads))
    return r(
        "Conv2DBackpropInput",
        x,
        w,
        (x.shape[0], w.shape[1] * group, *sizes),
        out_channel=w.shape[0],
        kernel_size=tuple(w.shape[2:]),
        pad_mode="pad" if padded else "valid",
        pad=tuple(p for pair in pads for p in pair),
        stride=tuple(strides),
        dilation=tuple(dilations),
        group=group,
    )


def _add_conv_transpose_as_conv(r, node, x, w, pads, strides, dilations, extra, group):
    """Add a transposed convolution as a convolution: the image is interleaved with zeros, and the filters are
    reversed.
    """
    dims, kernel = x.rank - 2, w.shape[2:]
    for i in range(dims):
        if strides[i] > 1:
            x = _interleave_zeros(r, x, 2 + i, strides[i])
    n, o = w.shape[0] // group, w.shape[1]
    grouped = r.reshape(w, (group, n, o, *kernel))
    filters = r.reshape(r.transpose(grouped, (0, 2, 1, *range(3, 3 + dims))), (group * o, n, *kernel))
    filters = r("ReverseV2", filters, axis=tuple(range(2, 2 + dims)))
    pads_of_axes = []
    for i in range(dims):
        reach = (kernel[i] - 1) * dilations[i]
        pads_of_axes.append((reach - pads[i][0], reach - pads[i][1] + extra[i]))
    for i, (low, high) in enumerate(pads_of_axes):
        if low < 0 or high < 0:
            x = slice_axis(r, x, 2 + i, max(-low, 0), x.shape[2 + i] - max(-high, 0))
            pads_of_axes[i] = (max(low, 0), max(high, 0))
    attributes = {
        "pads": [p for p, _ in pads_of_axes] + [q for _, q in pads_of_axes],
        "dilations": list(dilations),
        "group": group,
    }
    return convolution(r, node._replace(attrs=attributes), x, filters)


def _interleave_zeros(r, x, axis, step):
    """Insert step - 1 zeros between the elements of `x` along an axis."""
    n = x.shape[axis]
    expanded = r.reshape(x, (*x.shape[: axis + 1], 1, *x.shape[axis + 1 :]))
    pads = [(0, 0)] * expanded.rank
    pads[axis + 1] = (0, step - 1)
    padded = r("Pad", expanded, paddings=tuple(pads))
    flattened = r.reshape(padded, (*x.shape[:axis], n * step, *x.shape[axis + 1 :]))
    return slice_axis(r, flattened, axis, 0, n * step - step + 1)


@handles("Col2Im")
def _read_col2im(r, node):
    """Add the columns, which are windows of an image, at their positions in the image."""
    x, image, kernel = node.inputs[0], r.ints(node.inputs[1]), r.ints(node.inputs[2])
    dims, taps = len(image), math.prod(r.ints(node.inputs[2]))
    strides, dilations = node.attr("strides") or [1] * dims, node.attr("dilations") or [1] * dims
    pads = node.attr("pads") or [0] * (2 * dims)
    padded_size = [n + pads[i] + pads[dims + i] for i, n in enumerate(image)]
    positions = []
    for n, k, s, d in zip(padded_size, kernel, strides, dilations, strict=True):
        count = (n - d * (k - 1) - 1) // s + 1
        r.reserve_constant(k, count)
        positions.append(np.arange(k)[:, None] * d + np.arange(count)[None, :] * s)
    r.reserve_constant(x.shape[2], taps)
    index = np.zeros((1,) * (2 * dims), np.int64)
    for i, axis_positions in enumerate(positions):
        aligned_shape = [1] * (2 * dims)
        aligned_shape[i], aligned_shape[dims + i] = axis_positions.shape
        index = index * padded_size[i] + axis_positions.reshape(aligned_shape)
    n, channels = x.shape[0], x.shape[1] // taps
    index = r.const(index.reshape(-1, 1))
    values = r.transpose(r.reshape(x, (n * channels, taps * x.shape[2])), (1, 0))
    result = r("TensorScatterAdd", r.filled((math.prod(padded_size), n * channels), 0, x.dtype), index, values)
    result = r.reshape(r.transpose(result, (1, 0)), (n, channels, *padded_size))
    for i in range(dims):
        result = slice_axis(r, result, 2 + i, pads[i], pads[i] + image[i])
    return result
