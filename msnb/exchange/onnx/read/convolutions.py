"""Readers of convolutions."""

import math
from collections.abc import Sequence

import numpy as np

from .reader import Reader
from .shapes import part
from .values import Node, Ref, Unread, handles


def padding_of(node: Node, image: Sequence[int], kernel: Sequence[int], strides, dilations) -> list[tuple[int, int]]:
    """Padding before and after each axis, as `pads` or `auto_pad` say."""
    mode, dims = node.attr("auto_pad", "NOTSET"), len(kernel)
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        found = []
        for n, k, s, d in zip(image, kernel, strides, dilations, strict=True):
            total = max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0)
            less, more = total // 2, total - total // 2
            found.append((less, more) if mode == "SAME_UPPER" else (more, less))
        return found
    pads = [0] * (2 * dims) if mode == "VALID" else node.attr("pads") or [0] * (2 * dims)
    return list(zip(pads[:dims], pads[dims:], strict=True))


def flat(pads: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Padding as one tuple, before and after each axis."""
    return tuple(n for pair in pads for n in pair)


@handles("Conv")
def _conv(r, node):
    x, w = node.inputs[:2]
    made = convolution(r, node, x, w)
    bias = node.input(2)
    return made if bias is None else r("BiasAdd", made, bias)


def convolution(r: Reader, node: Node, x: Ref, w: Ref) -> Ref:
    """A convolution of 1 to 3 dimensions."""
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
        raise Unread(f"msnb has no convolution of {dims} dimensions")
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
def _conv_transpose(r, node):
    """The padding that a node says or means, and the first of two ways to compute it."""
    x, w, bias = node.inputs[0], node.inputs[1], node.input(2)
    dims, group = x.rank - 2, node.attr("group", 1)
    kernel = w.shape[2:]
    strides, dilations = node.attr("strides") or [1] * dims, node.attr("dilations") or [1] * dims
    extra = node.attr("output_padding") or [0] * dims
    image, wanted = x.shape[2:], node.attr("output_shape")
    mode = node.attr("auto_pad", "NOTSET")
    if wanted is None and mode in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [n * s for n, s in zip(image, strides, strict=True)]
    if wanted is not None:
        pads = []
        for i in range(dims):
            total = (image[i] - 1) * strides[i] + extra[i] + (kernel[i] - 1) * dilations[i] + 1 - wanted[i]
            if total < 0:
                extra[i], total = extra[i] - total, 0
            less, more = total // 2, total - total // 2
            pads.append((less, more) if mode == "SAME_UPPER" else (more, less))
    else:
        pads = padding_of(node, image, kernel, strides, dilations)
    if dims > 3:
        raise Unread(f"msnb has no convolution of {dims} dimensions")
    made = _as_gradient(r, x, w, pads, strides, dilations, extra, group) if dims == 2 else None
    if made is None:
        made = _as_convolution(r, node, x, w, pads, strides, dilations, extra, group)
    return made if bias is None else r("BiasAdd", made, bias)


def _as_gradient(r, x, w, pads, strides, dilations, extra, group):
    """MindSpore's own transposed convolution, which is the gradient of one; None where no convolution has it."""
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


def _as_convolution(r, node, x, w, pads, strides, dilations, extra, group):
    """A convolution of the image spread with zeros, with filters that are turned round."""
    dims, kernel = x.rank - 2, w.shape[2:]
    for i in range(dims):
        if strides[i] > 1:
            x = _spread(r, x, 2 + i, strides[i])
    n, o = w.shape[0] // group, w.shape[1]
    grouped = r.reshape(w, (group, n, o, *kernel))
    turned = r.reshape(r.transpose(grouped, (0, 2, 1, *range(3, 3 + dims))), (group * o, n, *kernel))
    turned = r("ReverseV2", turned, axis=tuple(range(2, 2 + dims)))
    around = []
    for i in range(dims):
        reach = (kernel[i] - 1) * dilations[i]
        around.append((reach - pads[i][0], reach - pads[i][1] + extra[i]))
    for i, (low, high) in enumerate(around):
        if low < 0 or high < 0:
            x = part(r, x, 2 + i, max(-low, 0), x.shape[2 + i] - max(-high, 0))
            around[i] = (max(low, 0), max(high, 0))
    plain = {
        "pads": [p for p, _ in around] + [q for _, q in around],
        "dilations": list(dilations),
        "group": group,
    }
    return convolution(r, node._replace(attrs=plain), x, turned)


def _spread(r, x, axis, step):
    """`x` with step - 1 zeros between its elements along an axis."""
    n = x.shape[axis]
    lined = r.reshape(x, (*x.shape[: axis + 1], 1, *x.shape[axis + 1 :]))
    pads = [(0, 0)] * lined.rank
    pads[axis + 1] = (0, step - 1)
    wide = r("Pad", lined, paddings=tuple(pads))
    whole = r.reshape(wide, (*x.shape[:axis], n * step, *x.shape[axis + 1 :]))
    return part(r, whole, axis, 0, n * step - step + 1)


@handles("Col2Im")
def _col2im(r, node):
    """An image of the sum of its windows, which stand in columns."""
    x, image, kernel = node.inputs[0], r.ints(node.inputs[1]), r.ints(node.inputs[2])
    dims, taps = len(image), math.prod(r.ints(node.inputs[2]))
    strides, dilations = node.attr("strides") or [1] * dims, node.attr("dilations") or [1] * dims
    pads = node.attr("pads") or [0] * (2 * dims)
    wide = [n + pads[i] + pads[dims + i] for i, n in enumerate(image)]
    lines = []
    for n, k, s, d in zip(wide, kernel, strides, dilations, strict=True):
        count = (n - d * (k - 1) - 1) // s + 1
        r.room(k, count)
        lines.append(np.arange(k)[:, None] * d + np.arange(count)[None, :] * s)
    r.room(x.shape[2], taps)
    place = np.zeros((1,) * (2 * dims), np.int64)
    for i, line in enumerate(lines):
        lined = [1] * (2 * dims)
        lined[i], lined[dims + i] = line.shape
        place = place * wide[i] + line.reshape(lined)
    n, channels = x.shape[0], x.shape[1] // taps
    place = r.const(place.reshape(-1, 1))
    values = r.transpose(r.reshape(x, (n * channels, taps * x.shape[2])), (1, 0))
    made = r("TensorScatterAdd", r.filled((math.prod(wide), n * channels), 0, x.dtype), place, values)
    made = r.reshape(r.transpose(made, (1, 0)), (n, channels, *wide))
    for i in range(dims):
        made = part(r, made, 2 + i, pads[i], pads[i] + image[i])
    return made
