"""Crop boxes from images and resize them."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import OneOf, StrictFloat
from msnb.core.operator.cases import F, I, Values, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.operator.value_checks import index
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops.nn.image.resize import Size


@operator(checks=[index("box_index", of="x", negative=False, error=ValueError)])
@shapes("x: b>0 h>0 w>0 _, boxes: n 4, box_index: n")
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
        extrapolation_value (float): value of samples outside the image. Default: 0.0.

    Inputs:
        - **x** (Tensor) - (N, H, W, C).
        - **boxes** (Tensor) - (n, 4), float32: y1, x1, y2, x2 as fractions of height - 1 and width - 1.
        - **box_index** (Tensor) - (n,), int32: the image of each box.
        - **crop_size** (tuple[int]) - height and width of the crops.

    Outputs:
        Tensor, (n, crop height, crop width, C), float32.
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
    ys = _compute_sample_positions(boxes[:, 0], boxes[:, 2], height, crop_size[0], method)
    xs = _compute_sample_positions(boxes[:, 1], boxes[:, 3], width, crop_size[1], method)
    inside = _is_inside(ys, height, method)[:, :, None] & _is_inside(xs, width, method)[:, None, :]
    if method == "nearest":
        picked = _gather_pixels(x, box_index, _round_half_up(ys), _round_half_up(xs))
    else:
        y0, x0 = jnp.floor(ys), jnp.floor(xs)
        dy, dx = (ys - y0)[:, :, None, None], (xs - x0)[:, None, :, None]
        top = _gather_pixels(x, box_index, y0, x0) * (1 - dx) + _gather_pixels(x, box_index, y0, x0 + 1) * dx
        bottom = _gather_pixels(x, box_index, y0 + 1, x0) * (1 - dx) + _gather_pixels(x, box_index, y0 + 1, x0 + 1) * dx
        picked = top * (1 - dy) + bottom * dy
    is_valid_index = (box_index >= 0) & (box_index < x.shape[0])
    crops = jnp.where(inside[..., None], picked, jnp.float32(extrapolation_value)).astype(jnp.float32)
    return jnp.where(is_valid_index[:, None, None, None], crops, jnp.nan)


def _compute_sample_positions(low, high, size, count, method):
    """Return the positions of the samples of each box along an axis of `size` pixels, float32 of shape (boxes, count).

    They are computed in double precision. A compiler may compute a position twice: for the index of the pixel and for
    its weight. In float32 the two could be rounded to different sides of an integer.
    """
    exact = jax.dtypes.canonicalize_dtype(jnp.float64)
    low, high, steps = low.astype(exact), high.astype(exact), jnp.arange(count, dtype=exact)
    if method == "bilinear_v2":  # cell centres of the box in pixels
        cell = (high - low) * size / count
        where = (low * size)[:, None] + (steps + 0.5) * cell[:, None] - 0.5
    elif count == 1:
        where = (0.5 * (low + high) * (size - 1))[:, None]
    else:
        where = (low * (size - 1))[:, None] + steps * ((high - low) * (size - 1) / (count - 1))[:, None]
    return where.astype(jnp.float32)


def _is_inside(where, size, method):
    return (where >= 0) & (where <= size - 1) if method != "bilinear_v2" else (where > -1) & (where < size)


def _round_half_up(where):
    return jnp.floor(where + 0.5)


def _gather_pixels(x, image, ys, xs):
    rows = jnp.clip(ys, 0, x.shape[1] - 1).astype(jnp.int32)
    columns = jnp.clip(xs, 0, x.shape[2] - 1).astype(jnp.int32)
    return x[image[:, None, None], rows[:, :, None], columns[:, None, :]].astype(jnp.float32)


_CROPS = Values([[0.1, 0.2, 0.8, 0.9], [0.6, -0.2, 0.2, 1.1], [0.0, 0.0, 1.0, 1.0]]), I(3, low=0, high=2)
_NARROW = "its result is float32"


@spelling(CropAndResize)
def crop_and_resize(
    image: Tensor,
    boxes: Tensor,
    box_indices: Tensor,
    crop_size: tuple[int, int],
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Tensor:
    """Cuts boxes out of images and resizes them.

    Args:
        image (Tensor): Of shape (N, H, W, C).
        boxes (Tensor): Of shape (n, 4), float32: y1, x1, y2, x2 as fractions of height - 1 and width - 1.
        box_indices (Tensor): Of shape (n,), int32: the image of each box.
        crop_size (tuple[int]): Height and width of the crops.
        method (str): "bilinear", "nearest" or "bilinear_v2". Default: "bilinear".
        extrapolation_value (float): Value of samples outside the image. Default: 0.0.

    Returns:
        Tensor of float32, of shape (n, crop height, crop width, C).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes do not fit, or `method` has another value.
    """
    return CropAndResize(method, extrapolation_value)(image, boxes, box_indices, crop_size)


CASES = [
    case(CropAndResize, F(2, 6, 7, 3), *_CROPS, (3, 4)).wrt(0).without("differences", _NARROW),
    case(CropAndResize, F(2, 6, 7, 3), *_CROPS, (3, 4), method="nearest", extrapolation_value=2.0)
    .wrt(0)
    .without("differences", _NARROW),
]
