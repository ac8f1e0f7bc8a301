"""Resizing images (N, C, H, W), with weights as constant matrices: both passes are matrix products or gathers."""

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Bool, Kind, OneOf, PositiveInt, StrictFloat, accept_value
from msnb.core.checks import index
from msnb.core.declare import operator
from msnb.ops import _check


def _accept_size(value):
    if not isinstance(value, (tuple, list)):
        raise TypeError
    if len(value) != 2:
        raise ValueError
    return tuple(accept_value(PositiveInt, v) for v in value)


Size = Kind("a tuple or list of 2 positive ints", _accept_size)


def positions(old, new, align_corners, half_pixel_centers, step=None):
    """Where the pixels of an axis of length `new` lie on one of length `old` (float32, as MindSpore computes).

    They are `step` apart, unless corners are aligned; old / new where none is given.
    """
    places = np.arange(new, dtype=np.float32)
    if align_corners:
        return places * np.float32((old - 1) / (new - 1) if new > 1 else 0)
    scale = np.float32(old) / np.float32(new) if step is None else np.float32(step)
    return (places + np.float32(0.5)) * scale - np.float32(0.5) if half_pixel_centers else places * scale


def lerp_matrix(old, new, align_corners, half_pixel_centers=False, step=None):
    """(new, old) matrix of linear interpolation along one axis."""
    where = np.maximum(positions(old, new, align_corners, half_pixel_centers, step), 0)
    low = np.minimum(where.astype(np.int64), old - 1)
    high = np.minimum(low + 1, old - 1)
    share = (where - low).astype(np.float32)
    matrix = np.zeros((new, old), np.float32)
    np.add.at(matrix, (np.arange(new), low), 1 - share)
    np.add.at(matrix, (np.arange(new), high), share)
    return matrix


def bilinear(x, size, align_corners, half_pixel_centers=False):
    """Bilinear resize of the last two axes, in float32 at least."""
    x = x.astype(jnp.promote_types(x.dtype, jnp.float32))
    for axis, new in ((-2, size[0]), (-1, size[1])):
        if x.shape[axis] != new or half_pixel_centers:
            matrix = jnp.asarray(lerp_matrix(x.shape[axis], new, align_corners, half_pixel_centers), x.dtype)
            x = jnp.einsum("ij,ncjw->nciw" if axis == -2 else "ij,nchj->nchi", matrix, x, precision="highest")
    return x


@operator
def ResizeBilinear(x, *, size: Size, align_corners: Bool = False, half_pixel_centers: Bool = False):
    """Resizes images by bilinear interpolation.

    Args:
        size (Union[tuple[int], list[int]]): new height and width.
        align_corners (bool): whether the centres of the corner pixels stay where they are. Default: False.
        half_pixel_centers (bool): whether pixel centres lie at half coordinates. Default: False.

    Inputs:
        - **x** (Tensor) - (N, C, H, W), float.

    Outputs:
        Tensor, (N, C, new height, new width), float32 (float64 for float64).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.dtype_in("ResizeBilinear", "x", x, _check.FLOAT)
    _check.rank("ResizeBilinear", "x", x, 4)
    if align_corners and half_pixel_centers:
        raise ValueError("For 'ResizeBilinear', 'align_corners' and 'half_pixel_centers' should not both be True.")
    return bilinear(x, size, align_corners, half_pixel_centers)


def nearest_index(old, new, align_corners, half_pixel_centers=False, step=None):
    """For each pixel of an axis of length `new`, its nearest on one of length `old`."""
    if align_corners:
        where = np.floor(positions(old, new, True, False) + np.float32(0.5))  # half away from zero
    elif half_pixel_centers:
        where = np.floor((np.arange(new, dtype=np.float32) + np.float32(0.5)) * np.float32(old / new))
    else:
        where = np.floor(positions(old, new, False, False, step))
    return np.clip(where.astype(np.int64), 0, old - 1)


def nearest(x, size, align_corners, half_pixel_centers=False):
    """Nearest-neighbour resize of the last two axes; whole multiples are repeats, whose gradient is a plain sum."""
    for axis, new in ((2, size[0]), (3, size[1])):
        old = x.shape[axis]
        if new == old:
            continue
        if new % old == 0 and not align_corners:
            x = jnp.repeat(x, new // old, axis=axis)
        else:
            x = jnp.take(x, nearest_index(old, new, align_corners, half_pixel_centers), axis=axis)
    return x


@operator(checks=[index("box_index", of="x", negative=False, error=ValueError)])
def CropAndResize(
    x,
    boxes,
    box_index,
    crop_size: Size,
    *,
    method: OneOf("bilinear", "nearest", "bilinear_v2") = "bilinear",
    extrapolation_value: StrictFloat = 0.0,
):
    """Cuts boxes out of images and resizes them.

    Args:
        method (str): "bilinear", "nearest" or "bilinear_v2". Default: "bilinear".
        extrapolation_value (float): stands for what lies outside the image. Default: 0.0.

    Inputs:
        - **x** (Tensor) - (N, H, W, C).
        - **boxes** (Tensor) - (n, 4), float32: y1, x1, y2, x2 as shares of height - 1 and width - 1.
        - **box_index** (Tensor) - (n,), int32: the image of each box.
        - **crop_size** (tuple[int]) - height and width of the crops.

    Outputs:
        Tensor, (n, crop height, crop width, C), float32.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "CropAndResize"
    _check.rank(op, "x", x, 4)
    _check.rank(op, "boxes", boxes, 2)
    _check.rank(op, "box_index", box_index, 1)
    _check.dtype_in(op, "boxes", boxes, _check.FLOAT)
    _check.dtype_in(op, "box_index", box_index, _check.INDEX)
    if boxes.shape[1] != 4 or boxes.shape[0] != box_index.shape[0]:
        raise ValueError(
            f"For '{op}', 'boxes' should have shape (n, 4) and 'box_index' (n,), but got {boxes.shape} "
            f"and {box_index.shape}."
        )
    height, width = x.shape[1:3]
    ys = _crop_positions(boxes[:, 0], boxes[:, 2], height, crop_size[0], method)
    xs = _crop_positions(boxes[:, 1], boxes[:, 3], width, crop_size[1], method)
    inside = _inside(ys, height, method)[:, :, None] & _inside(xs, width, method)[:, None, :]
    if method == "nearest":
        picked = _pick(x, box_index, _half_up(ys), _half_up(xs))
    else:
        y0, x0 = jnp.floor(ys), jnp.floor(xs)
        dy, dx = (ys - y0)[:, :, None, None], (xs - x0)[:, None, :, None]
        top = _pick(x, box_index, y0, x0) * (1 - dx) + _pick(x, box_index, y0, x0 + 1) * dx
        bottom = _pick(x, box_index, y0 + 1, x0) * (1 - dx) + _pick(x, box_index, y0 + 1, x0 + 1) * dx
        picked = top * (1 - dy) + bottom * dy
    known = (box_index >= 0) & (box_index < x.shape[0])
    crops = jnp.where(inside[..., None], picked, jnp.float32(extrapolation_value)).astype(jnp.float32)
    return jnp.where(known[:, None, None, None], crops, jnp.nan)


def _crop_positions(low, high, size, count, method):
    steps = jnp.arange(count, dtype=jnp.float32)
    if method == "bilinear_v2":  # cell centres of the box in pixels
        cell = (high - low) * size / count
        return (low * size)[:, None] + (steps + 0.5) * cell[:, None] - 0.5
    if count == 1:
        return (0.5 * (low + high) * (size - 1))[:, None]
    return (low * (size - 1))[:, None] + steps * ((high - low) * (size - 1) / (count - 1))[:, None]


def _inside(where, size, method):
    return (where >= 0) & (where <= size - 1) if method != "bilinear_v2" else (where > -1) & (where < size)


def _half_up(where):
    return jnp.floor(where + 0.5)


def _pick(x, image, ys, xs):
    rows = jnp.clip(ys, 0, x.shape[1] - 1).astype(jnp.int32)
    columns = jnp.clip(xs, 0, x.shape[2] - 1).astype(jnp.int32)
    return x[image[:, None, None], rows[:, :, None], columns[:, None, :]].astype(jnp.float32)
