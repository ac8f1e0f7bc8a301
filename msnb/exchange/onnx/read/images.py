"""Readers of convolutions, pooling and resizing."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .reader import Attributes, Node, Reader, Ref, Unread, handles
from .shapes import part


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


def _flat(pads):
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
        pad=_flat(pads),
        stride=tuple(strides),
        dilation=tuple(dilations),
        group=group,
    )


@handles("ConvInteger")
def _conv_integer(r, node):
    x, w = (r.cast(v, np.float32) for v in node.inputs[:2])
    for place in (2, 3):
        zero = node.input(place)
        if zero is not None:
            zero = r.reshape(r.cast(zero, np.float32), () if zero.shape in ((), (1,)) else (-1, 1, 1, 1))
            x, w = (r("Sub", x, zero), w) if place == 2 else (x, r("Sub", w, zero))
    return r.cast(r("Rint", convolution(r, node, x, w)), np.int32)


@handles("ConvTranspose")
def _conv_transpose(r, node):
    """A convolution of the image spread with zeros, with filters that are turned round."""
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
    made = convolution(r, node._replace(attrs=plain), x, turned)
    return made if bias is None else r("BiasAdd", made, bias)


def _spread(r, x, axis, step):
    """`x` with step - 1 zeros between its elements along an axis."""
    n = x.shape[axis]
    lined = r.reshape(x, (*x.shape[: axis + 1], 1, *x.shape[axis + 1 :]))
    pads = [(0, 0)] * lined.rank
    pads[axis + 1] = (0, step - 1)
    wide = r("Pad", lined, paddings=tuple(pads))
    whole = r.reshape(wide, (*x.shape[:axis], n * step, *x.shape[axis + 1 :]))
    return part(r, whole, axis, 0, n * step - step + 1)


# ---------------------------------------------------------------------- pooling
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
        places.append(np.arange(count)[:, None] * s + np.arange(k)[None, :] * d)
    if any(map(any, paddings)):
        if fill == 0:
            x = r("Pad", x, paddings=tuple(paddings))
        else:
            for axis, (p, q) in enumerate(paddings):
                around = [r.const(np.full((*x.shape[:axis], m, *x.shape[axis + 1 :]), fill, x.dtype)) for m in (p, q)]
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
            pads=_flat(pads),
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
    ones = r.const(np.ones((1, 1, *x.shape[2:]), np.float32))
    if count_all:  # what lies in the padding counts, what a last window reaches beyond it does not
        ones = r.const(np.ones((1, 1, *[n + p + q for n, (p, q) in zip(x.shape[2:], pads, strict=True)]), np.float32))
        attrs = Attributes({**node.attrs, "pads": [0] * (2 * dims), "auto_pad": "NOTSET"})
        counts, _ = _windows(r, node._replace(attrs=attrs), ones, 0)
        if counts.shape[2:-1] != total.shape[2:]:
            counts = r.const(np.ones((1, 1, *total.shape[2:], math.prod(kernel)), np.float32))
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


# ---------------------------------------------------------------------- resizing
@handles("Resize", "Upsample")
def _resize(r, node):
    """Every mode is linear, and works on one axis after another: a matrix for each."""
    x = node.inputs[0]
    places = node.attr("coordinate_transformation_mode", "half_pixel")
    region = None
    if node.op == "Upsample" or node.version < 11:
        places = "asymmetric"
        given = node.attr("scales") if node.version < 9 and node.op == "Upsample" else r.static(node.inputs[1])
        scales, sizes = [float(s) for s in given], None
        extra = {"nearest_mode": "floor"}
    else:
        scales, sizes, extra = _scales(r, node), _sizes(r, node), {}
        if places == "tf_crop_and_resize":
            region = [float(v) for v in r.static(node.input(1))]
    axes = [a % x.rank for a in node.attr("axes") or range(x.rank)]
    if sizes is not None:
        policy = node.attr("keep_aspect_ratio_policy", "stretch")
        ratios = [s / x.shape[a] for s, a in zip(sizes, axes, strict=True)]
        if policy == "stretch":
            scales = ratios
        else:
            ratio = min(ratios) if policy == "not_larger" else max(ratios)
            scales = [ratio] * len(axes)
            sizes = [int(math.floor(ratio * x.shape[a] + 0.5)) for a in axes]
    else:
        sizes = [int(math.floor(x.shape[a] * s)) for a, s in zip(axes, scales, strict=True)]
    how = {
        "mode": node.attr("mode", "nearest"),
        "places": places,
        "nearest": extra.get("nearest_mode", node.attr("nearest_mode", "round_prefer_floor")),
        "cubic": node.attr("cubic_coeff_a", -0.75),
        "antialias": bool(node.attr("antialias", 0)),
        "exclude": bool(node.attr("exclude_outside", 0)),
    }
    kind, outside = x.dtype, None
    for number, (axis, scale, size) in enumerate(zip(axes, scales, sizes, strict=True)):
        n = x.shape[axis]
        if n == size and scale == 1 and region is None:
            continue
        ends = (region[number], region[len(axes) + number]) if region else None
        where = positions(n, size, scale, places, ends)
        if how["mode"] == "nearest":
            x = r("Gather", x, r.const(_nearest(where, n, how["nearest"])), axis)
        else:
            x = r.cast(x, np.float32) if not x.is_float else x
            matrix = r.const(weights(where, n, scale, how).astype(x.dtype).T)
            perm = [i for i in range(x.rank) if i != axis] + [axis]
            x = r.transpose(r("MatMulBroadcast", r.transpose(x, perm), matrix), np.argsort(perm))
        if ends:
            out = ((where < 0) | (where > n - 1)).reshape([-1 if i == axis else 1 for i in range(x.rank)])
            outside = out if outside is None else outside | out
    if outside is not None and outside.any():
        x = r("Where", r.const(np.broadcast_to(outside, x.shape)), r.like(node.attr("extrapolation_value", 0.0), x), x)
    return r.cast(x, kind) if kind == x.dtype or "float" in kind.name else r.cast(r("Rint", x), kind)


def _scales(r, node):
    found = node.input(2)
    if found is None or not math.prod(found.shape):
        return None
    return [float(s) for s in r.static(found)]


def _sizes(r, node):
    found = node.input(3)
    return None if found is None or not math.prod(found.shape) else [int(n) for n in r.static(found)]


def positions(n: int, size: int, scale: float, mode: str, ends: tuple[float, float] | None) -> np.ndarray:
    """Where the places of an axis of length `size` lie on one of length `n`."""
    at = np.arange(size, dtype=np.float64)
    if mode == "asymmetric":
        return at / scale
    if mode == "align_corners":
        return at * (n - 1) / (size - 1) if size > 1 else at * 0
    if mode == "tf_crop_and_resize":
        start, end = ends
        return (
            at * (end - start) * (n - 1) / (size - 1) + start * (n - 1)
            if size > 1
            else (start + end) * (n - 1) / 2 + at
        )
    if mode == "pytorch_half_pixel" and size == 1:
        return at * 0
    if mode == "half_pixel_symmetric":
        adjust = size / (n * scale)
        centre = n / 2
        return centre * (1 - adjust) + (at + 0.5) / scale - 0.5
    if mode not in ("half_pixel", "pytorch_half_pixel"):
        raise Unread(f"it resizes by {mode!r}")
    return (at + 0.5) / scale - 0.5


def _nearest(where, n, mode):
    rounded = {
        "round_prefer_floor": lambda w: np.ceil(w - 0.5),
        "round_prefer_ceil": lambda w: np.floor(w + 0.5),
        "floor": np.floor,
        "ceil": np.ceil,
    }[mode](where)
    return np.clip(rounded, 0, n - 1).astype(np.int64)


def weights(where: np.ndarray, n: int, scale: float, how: dict[str, Any]) -> np.ndarray:
    """(len(where), n) matrix of linear or cubic interpolation."""
    cubic, a = how["mode"] == "cubic", how["cubic"]
    stretch = min(scale, 1.0) if how["antialias"] else 1.0
    reach = (2 if cubic else 1) / stretch
    matrix = np.zeros((len(where), n))
    for row, w in enumerate(where):
        first = math.floor(w - reach) + 1 if stretch < 1 else math.floor(w) - (1 if cubic else 0)
        last = math.ceil(w + reach) - 1 if stretch < 1 else math.floor(w) + (2 if cubic else 1)
        taps = np.arange(first, last + 1)
        d = np.abs(w - taps) * stretch
        if cubic:
            near = (a + 2) * d**3 - (a + 3) * d**2 + 1
            far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
            share = np.where(d <= 1, near, np.where(d < 2, far, 0))
        else:
            share = np.maximum(1 - d, 0)
        if how["exclude"]:
            share = np.where((taps < 0) | (taps >= n), 0, share)
        if how["exclude"] or stretch < 1:
            share = share / share.sum()
        np.add.at(matrix[row], np.clip(taps, 0, n - 1), share)
    return matrix


@handles("GridSample")
def _grid_sample(r, node):
    x, grid = node.inputs
    mode = {"linear": "bilinear", "cubic": "bicubic"}.get(node.attr("mode", "linear"), node.attr("mode", "linear"))
    if x.rank != 4 or mode == "bicubic":
        raise Unread(f"msnb has no sampling of {x.rank - 2} dimensions by {mode!r}")
    return r(
        "GridSampler2D",
        x,
        grid,
        interpolation_mode=mode,
        padding_mode=node.attr("padding_mode", "zeros"),
        align_corners=bool(node.attr("align_corners", 0)),
    )


@handles("AffineGrid")
def _affine_grid(r, node):
    theta, size = node.inputs[0], r.ints(node.inputs[1])
    align, image = bool(node.attr("align_corners", 0)), size[2:]
    lines = []
    for n in image:
        line = np.linspace(-1, 1, n) if align else (np.arange(n) * 2 + 1) / n - 1
        lines.append(line if n > 1 or not align else np.zeros(1))
    mesh = np.meshgrid(*lines, indexing="ij")
    points = np.stack([m.reshape(-1) for m in mesh[::-1]] + [np.ones(math.prod(image))], -1)
    made = r("MatMulBroadcast", r.const(points.astype(theta.dtype)), r.transpose(theta, (0, 2, 1)))
    return r.reshape(made, (size[0], *image, len(image)))
