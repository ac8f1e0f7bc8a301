"""Readers of what takes images at places: grids of them, and what makes such grids."""

import itertools
import math

import numpy as np

from .reader import Reader
from .values import Ref, Unread, handles

_CUBIC = -0.75  # how far cubic weights overshoot


@handles("GridSample")
def _grid_sample(r, node):
    x, grid = node.inputs
    mode, padding = node.attr("mode", "linear"), node.attr("padding_mode", "zeros")
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    align = bool(node.attr("align_corners", 0))
    if x.rank == 4 and mode != "cubic" and padding != "reflection":
        mode = "bilinear" if mode == "linear" else mode
        return r("GridSampler2D", x, grid, interpolation_mode=mode, padding_mode=padding, align_corners=align)
    if mode not in ("nearest", "linear", "cubic") or padding not in ("zeros", "border", "reflection"):
        raise Unread(f"it samples by {mode!r} and {padding!r}")
    return _sampled(r, x, grid, mode, padding, align)


def _sampled(r: Reader, x: Ref, grid: Ref, mode: str, padding: str, align: bool) -> Ref:
    """The sum of the pixels around each place, by their weights, in any number of dimensions."""
    image, places = x.shape[2:], grid.shape[1:-1]
    count = math.prod(places)
    flat = r.reshape(x, (*x.shape[:2], math.prod(image)))
    taps = []
    for axis, n in enumerate(image):
        at = r("Slice", grid, (0,) * (grid.rank - 1) + (len(image) - 1 - axis,), (*grid.shape[:-1], 1))
        at = r.reshape(at, (grid.shape[0], 1, count))
        at = r("Mul", r("Add", at, r.like(1, at)), r.like((n - 1 if align else n) / 2, at))
        at = at if align else r("Sub", at, r.like(0.5, at))
        taps.append(_taps(r, at, n, mode, padding, align))
    total = None
    for chosen in itertools.product(*taps):
        index, share = None, None
        for (at, weight), n in zip(chosen, image, strict=True):
            inside = r("LogicalAnd", r("GreaterEqual", at, r.like(0, at)), r("LessEqual", at, r.like(n - 1, at)))
            weight = r.cast(inside, x.dtype) if weight is None else r("Mul", weight, r.cast(inside, x.dtype))
            share = weight if share is None else r("Mul", share, weight)
            line = r.cast(_clipped(r, at, 0, n - 1), np.int64)
            index = line if index is None else r("Add", r("Mul", index, r.like(n, index)), line)
        index = r("BroadcastTo", index, shape=(*x.shape[:2], count))
        value = r("Mul", r("GatherD", flat, 2, index), share)
        total = value if total is None else r("Add", total, value)
    return r.reshape(total, (*x.shape[:2], *places))


def _taps(r, at, n, mode, padding, align):
    """[(whole place along an axis, its weight)]; None for a weight of 1."""
    if mode != "cubic":
        at = _within(r, at, n, padding, align)
    if mode == "nearest":
        return [(r("Rint", at), None)]
    first = r("Floor", at)
    t = r("Sub", at, first)
    if mode == "linear":
        return [(first, r("Sub", r.like(1, t), t)), (r("Add", first, r.like(1, first)), t)]
    found = []
    for offset in (-1, 0, 1, 2):
        place = _within(r, r("Add", first, r.like(offset, first)), n, padding, align)
        found.append((place, _cubic(r, r("Abs", r("Sub", t, r.like(offset, t))), abs(offset - 0.5) < 1)))
    return found


def _cubic(r, d, near):
    """The weight of a pixel at a distance, of the two near ones or the two beyond them."""
    a = _CUBIC
    factors = (a + 2, -(a + 3), 0, 1) if near else (a, -5 * a, 8 * a, -4 * a)
    made = r.like(factors[0], d)
    for factor in factors[1:]:
        made = r("Add", r("Mul", made, d), r.like(factor, d))
    return made


def _within(r, at, n, padding, align):
    """Places beyond the image moved to its edge, or reflected at it."""
    if padding == "zeros":
        return at
    if padding == "reflection":
        low, high = (0, n - 1) if align else (-0.5, n - 0.5)
        if high == low:
            return r("ZerosLike", at)
        span = r.like(high - low, at)
        away = r("Abs", r("Sub", at, r.like(low, at)))
        turns = r("Floor", r("RealDiv", away, span))
        rest = r("Sub", away, r("Mul", turns, span))
        even = r("Equal", r("FloorMod", turns, r.like(2, turns)), r.like(0, turns))
        at = r("Where", even, r("Add", rest, r.like(low, at)), r("Sub", r.like(high, at), rest))
    return _clipped(r, at, 0, n - 1)


def _clipped(r, x, low, high):
    return r("Minimum", r("Maximum", x, r.like(low, x)), r.like(high, x))


@handles("AffineGrid")
def _affine_grid(r, node):
    theta, size = node.inputs[0], r.ints(node.inputs[1])
    align, image = bool(node.attr("align_corners", 0)), size[2:]
    lines = []
    r.room(len(image) + 1, *image)
    for n in image:
        line = np.linspace(-1, 1, n) if align else (np.arange(n) * 2 + 1) / n - 1
        lines.append(line if n > 1 or not align else np.zeros(1))
    mesh = np.meshgrid(*lines, indexing="ij")
    points = np.stack([m.reshape(-1) for m in mesh[::-1]] + [np.ones(math.prod(image))], -1)
    made = r("MatMulBroadcast", r.const(points.astype(theta.dtype)), r.transpose(theta, (0, 2, 1)))
    return r.reshape(made, (size[0], *image, len(image)))
