"""Readers of resizing."""

import math
from typing import Any

import numpy as np

from .values import Unread, handles


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
        r.room(size, 1 if how["mode"] == "nearest" else n)
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
        r.room(*x.shape)
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
        whole = n * scale  # which need not be a whole number
        return at * (n - 1) / (whole - 1) if size > 1 else at * 0
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
