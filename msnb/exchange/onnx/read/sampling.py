"""Import ONNX operators: grid sampling and affine grids."""

import itertools
import math

import numpy as np

from .reader import Reader
from .values import Ref, UnsupportedOperator, handles

_CUBIC = -0.75  # coefficient `a` of cubic convolution


@handles("GridSample")
def _read_grid_sample(r, node):
    x, grid = node.inputs
    mode, padding = node.attr("mode", "linear"), node.attr("padding_mode", "zeros")
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    align = bool(node.attr("align_corners", 0))
    if x.rank == 4 and mode != "cubic" and padding != "reflection":
        mode = "bilinear" if mode == "linear" else mode
        return r("GridSampler2D", x, grid, interpolation_mode=mode, padding_mode=padding, align_corners=align)
    if mode not in ("nearest", "linear", "cubic") or padding not in ("zeros", "border", "reflection"):
        raise UnsupportedOperator(f"it samples by {mode!r} and {padding!r}")
    return _sample_grid(r, x, grid, mode, padding, align)


def _sample_grid(r: Reader, x: Ref, grid: Ref, mode: str, padding: str, align: bool) -> Ref:
    """Return the weighted sum of the pixels around each position, in any number of dimensions."""
    image, grid_shape = x.shape[2:], grid.shape[1:-1]
    count = math.prod(grid_shape)
    flat = r.reshape(x, (*x.shape[:2], math.prod(image)))
    taps = []
    for axis, n in enumerate(image):
        coordinate = r("Slice", grid, (0,) * (grid.rank - 1) + (len(image) - 1 - axis,), (*grid.shape[:-1], 1))
        coordinate = r.reshape(coordinate, (grid.shape[0], 1, count))
        coordinate = r(
            "Mul", r("Add", coordinate, r.like(1, coordinate)), r.like((n - 1 if align else n) / 2, coordinate)
        )
        coordinate = coordinate if align else r("Sub", coordinate, r.like(0.5, coordinate))
        taps.append(_compute_interpolation_taps(r, coordinate, n, mode, padding, align))
    total = None
    for corner in itertools.product(*taps):
        index, corner_weight = None, None
        for (coordinate, weight), n in zip(corner, image, strict=True):
            is_inside = r(
                "LogicalAnd",
                r("GreaterEqual", coordinate, r.like(0, coordinate)),
                r("LessEqual", coordinate, r.like(n - 1, coordinate)),
            )
            weight = r.cast(is_inside, x.dtype) if weight is None else r("Mul", weight, r.cast(is_inside, x.dtype))
            corner_weight = weight if corner_weight is None else r("Mul", corner_weight, weight)
            axis_index = r.cast(_clip_values(r, coordinate, 0, n - 1), np.int64)
            index = axis_index if index is None else r("Add", r("Mul", index, r.like(n, index)), axis_index)
        index = r("BroadcastTo", index, shape=(*x.shape[:2], count))
        value = r("Mul", r("GatherD", flat, 2, index), corner_weight)
        total = value if total is None else r("Add", total, value)
    return r.reshape(total, (*x.shape[:2], *grid_shape))


def _compute_interpolation_taps(r, coordinate, n, mode, padding, align):
    """Return [(integer position along an axis, weight)] of the pixels to interpolate. The weight None stands for 1."""
    if mode != "cubic":
        coordinate = _move_into_image(r, coordinate, n, padding, align)
    if mode == "nearest":
        return [(r("Rint", coordinate), None)]
    first = r("Floor", coordinate)
    t = r("Sub", coordinate, first)
    if mode == "linear":
        return [(first, r("Sub", r.like(1, t), t)), (r("Add", first, r.like(1, first)), t)]
    taps = []
    for offset in (-1, 0, 1, 2):
        position = _move_into_image(r, r("Add", first, r.like(offset, first)), n, padding, align)
        taps.append(
            (position, _compute_cubic_weight(r, r("Abs", r("Sub", t, r.like(offset, t))), abs(offset - 0.5) < 1))
        )
    return taps


def _compute_cubic_weight(r, d, near):
    """Return the weight of cubic interpolation at a distance: below 1 if `near` is True, from 1 to 2 if it is False."""
    a = _CUBIC
    factors = (a + 2, -(a + 3), 0, 1) if near else (a, -5 * a, 8 * a, -4 * a)
    polynomial = r.like(factors[0], d)
    for factor in factors[1:]:
        polynomial = r("Add", r("Mul", polynomial, d), r.like(factor, d))
    return polynomial


def _move_into_image(r, coordinate, n, padding, align):
    """Clamp positions outside the image to its border, or reflect them."""
    if padding == "zeros":
        return coordinate
    if padding == "reflection":
        low, high = (0, n - 1) if align else (-0.5, n - 0.5)
        if high == low:
            return r("ZerosLike", coordinate)
        span = r.like(high - low, coordinate)
        away = r("Abs", r("Sub", coordinate, r.like(low, coordinate)))
        turns = r("Floor", r("RealDiv", away, span))
        rest = r("Sub", away, r("Mul", turns, span))
        even = r("Equal", r("FloorMod", turns, r.like(2, turns)), r.like(0, turns))
        coordinate = r("Where", even, r("Add", rest, r.like(low, coordinate)), r("Sub", r.like(high, coordinate), rest))
    return _clip_values(r, coordinate, 0, n - 1)


def _clip_values(r, x, low, high):
    return r("Minimum", r("Maximum", x, r.like(low, x)), r.like(high, x))


@handles("AffineGrid")
def _read_affine_grid(r, node):
    theta, size = node.inputs[0], r.ints(node.inputs[1])
    align, image = bool(node.attr("align_corners", 0)), size[2:]
    lines = []
    r.reserve_constant(len(image) + 1, *image)
    for n in image:
        line = np.linspace(-1, 1, n) if align else (np.arange(n) * 2 + 1) / n - 1
        lines.append(line if n > 1 or not align else np.zeros(1))
    mesh = np.meshgrid(*lines, indexing="ij")
    points = np.stack([m.reshape(-1) for m in mesh[::-1]] + [np.ones(math.prod(image))], -1)
    grid = r("MatMulBroadcast", r.const(points.astype(theta.dtype)), r.transpose(theta, (0, 2, 1)))
    return r.reshape(grid, (size[0], *image, len(image)))
