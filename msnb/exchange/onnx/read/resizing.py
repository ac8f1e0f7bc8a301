"""Import ONNX operators: resizing."""

import math
from typing import Any

import numpy as np

from .values import UnsupportedOperator, handles


@handles("Resize", "Upsample")
def _read_resize(r, node):
    """Read Resize as one Gather or matrix product per axis. Every mode is linear and separable."""
    x = node.inputs[0]
    coordinate_mode = node.attr("coordinate_transformation_mode", "half_pixel")
    region = None
    if node.op == "Upsample" or node.version < 11:
        coordinate_mode = "asymmetric"
        scale_values = node.attr("scales") if node.version < 9 and node.op == "Upsample" else r.static(node.inputs[1])
        scales, sizes = [float(s) for s in scale_values], None
        extra = {"nearest_mode": "floor"}
    else:
        scales, sizes, extra = _read_static_scales(r, node), _read_static_sizes(r, node), {}
        if coordinate_mode == "tf_crop_and_resize":
            region = [float(v) for v in r.static(node.input(1))]
    axes = [a % x.rank for a in node.attr("axes") or range(x.rank)]
    policy = node.attr("keep_aspect_ratio_policy", "stretch")
    scales, sizes = _complete_scales_and_sizes([x.shape[a] for a in axes], scales, sizes, policy)
    settings = {
        "mode": node.attr("mode", "nearest"),
        "nearest": extra.get("nearest_mode", node.attr("nearest_mode", "round_prefer_floor")),
        "cubic": node.attr("cubic_coeff_a", -0.75),
        "antialias": bool(node.attr("antialias", 0)),
        "exclude": bool(node.attr("exclude_outside", 0)),
    }
    kind, is_outside = x.dtype, None
    for number, (axis, scale, size) in enumerate(zip(axes, scales, sizes, strict=True)):
        n = x.shape[axis]
        if n == size and scale == 1 and region is None:
            continue
        ends = (region[number], region[len(axes) + number]) if region else None
        r.reserve_constant(size, 1 if settings["mode"] == "nearest" else n)
        sources = positions(n, size, scale, coordinate_mode, ends)
        if settings["mode"] == "nearest":
            x = r("Gather", x, r.const(_compute_nearest_indices(sources, n, settings["nearest"])), axis)
        else:
            x = r.cast(x, np.float32) if not x.is_float else x
            matrix = r.const(weights(sources, n, scale, settings).astype(x.dtype).T)
            perm = [i for i in range(x.rank) if i != axis] + [axis]
            x = r.transpose(r("MatMulBroadcast", r.transpose(x, perm), matrix), np.argsort(perm))
        if ends:
            is_axis_outside = ((sources < 0) | (sources > n - 1)).reshape(
                [-1 if i == axis else 1 for i in range(x.rank)]
            )
            is_outside = is_axis_outside if is_outside is None else is_outside | is_axis_outside
    if is_outside is not None and is_outside.any():
        r.reserve_constant(*x.shape)
        x = r(
            "Where", r.const(np.broadcast_to(is_outside, x.shape)), r.like(node.attr("extrapolation_value", 0.0), x), x
        )
    return r.cast(x, kind) if kind == x.dtype or "float" in kind.name else r.cast(r("Rint", x), kind)


def _complete_scales_and_sizes(lengths, scales, sizes, policy):
    """Return the scales and the sizes of axes with these lengths. If `sizes` is None, they follow from `scales`."""
    if sizes is None:
        return scales, [int(math.floor(n * s)) for n, s in zip(lengths, scales, strict=True)]
    ratios = [size / n for size, n in zip(sizes, lengths, strict=True)]
    if policy == "stretch":
        return ratios, sizes
    ratio = min(ratios) if policy == "not_larger" else max(ratios)
    return [ratio] * len(ratios), [int(math.floor(ratio * n + 0.5)) for n in lengths]


def _read_static_scales(r, node):
    scales = node.input(2)
    if scales is None or not math.prod(scales.shape):
        return None
    return [float(s) for s in r.static(scales)]


def _read_static_sizes(r, node):
    sizes = node.input(3)
    return None if sizes is None or not math.prod(sizes.shape) else [int(n) for n in r.static(sizes)]


def positions(n: int, size: int, scale: float, mode: str, ends: tuple[float, float] | None) -> np.ndarray:
    """Return the coordinate in the input, on an axis of length `n`, of each position of the resized axis."""
    targets = np.arange(size, dtype=np.float64)
    if mode == "asymmetric":
        return targets / scale
    if mode == "align_corners":
        resized_length = n * scale  # this need not be an integer
        return targets * (n - 1) / (resized_length - 1) if size > 1 else targets * 0
    if mode == "tf_crop_and_resize":
        start, end = ends
        return (
            targets * (end - start) * (n - 1) / (size - 1) + start * (n - 1)
            if size > 1
            else (start + end) * (n - 1) / 2 + targets
        )
    if mode == "pytorch_half_pixel" and size == 1:
        return targets * 0
    if mode == "half_pixel_symmetric":
        adjust = size / (n * scale)
        centre = n / 2
        return centre * (1 - adjust) + (targets + 0.5) / scale - 0.5
    if mode not in ("half_pixel", "pytorch_half_pixel"):
        raise UnsupportedOperator(f"it resizes by {mode!r}")
    return (targets + 0.5) / scale - 0.5


def _compute_nearest_indices(sources, n, mode):
    rounded = {
        "round_prefer_floor": lambda w: np.ceil(w - 0.5),
        "round_prefer_ceil": lambda w: np.floor(w + 0.5),
        "floor": np.floor,
        "ceil": np.ceil,
    }[mode](sources)
    return np.clip(rounded, 0, n - 1).astype(np.int64)


def weights(sources: np.ndarray, n: int, scale: float, settings: dict[str, Any]) -> np.ndarray:
    """Return the (len(sources), n) matrix of linear or cubic interpolation."""
    cubic, a = settings["mode"] == "cubic", settings["cubic"]
    stretch = min(scale, 1.0) if settings["antialias"] else 1.0
    reach = (2 if cubic else 1) / stretch
    matrix = np.zeros((len(sources), n))
    for row, w in enumerate(sources):
        first = math.floor(w - reach) + 1 if stretch < 1 else math.floor(w) - (1 if cubic else 0)
        last = math.ceil(w + reach) - 1 if stretch < 1 else math.floor(w) + (2 if cubic else 1)
        taps = np.arange(first, last + 1)
        d = np.abs(w - taps) * stretch
        if cubic:
            near = (a + 2) * d**3 - (a + 3) * d**2 + 1
            far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
            tap_weights = np.where(d <= 1, near, np.where(d < 2, far, 0))
        else:
            tap_weights = np.maximum(1 - d, 0)
        if settings["exclude"]:
            tap_weights = np.where((taps < 0) | (taps >= n), 0, tap_weights)
        if settings["exclude"] or stretch < 1:
            tap_weights = tap_weights / tap_weights.sum()
        np.add.at(matrix[row], np.clip(taps, 0, n - 1), tap_weights)
    return matrix
