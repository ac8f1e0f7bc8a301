"""RoIAlign: features of image regions in a grid of fixed size."""

import functools
import math

import jax
import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Bool, Each, Kind, NonNegInt, OneOf, PositiveInt, Shape, StrictFloat, kind_of
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops.nn._pullback import apply_transpose


def _accept_sample_number(value):
    return value if value == -1 and type(value) is int else _POSITIVE.accept(value)


_POSITIVE = kind_of(PositiveInt)
Samples = Kind("a positive int, or -1", _accept_sample_number, python=int)


@operator
@shapes("features: b>0 _ h>0 w>0, rois: _ 5")
def ROIAlign(
    features,
    rois,
    *,
    pooled_height: PositiveInt,
    pooled_width: PositiveInt,
    spatial_scale: StrictFloat,
    sample_num: Samples = 2,
    roi_end_mode: OneOf(0, 1) = 1,
):
    """Mean of bilinear samples in each cell of a grid over each region (Mask R-CNN, arXiv:1703.06870).

    Args:
        pooled_height (int): rows of the grid.
        pooled_width (int): columns of the grid.
        spatial_scale (float): factor from image coordinates to feature coordinates.
        sample_num (int): samples per cell in each direction. -1 takes one for each full pixel of the cell's height or
            width, and at least one; MindSpore 2.7.1 returns NaN for cells smaller than a pixel. Default: 2.
        roi_end_mode (int): 1 includes the pixel of the end corner; 0 excludes it, and a region is at least 1 x 1.
            Default: 1.

    Inputs:
        - **features** (Tensor) - (N, C, H, W).
        - **rois** (Tensor) - (n, 5): image, x0, y0, x1, y1. Takes no gradient.

    Outputs:
        Tensor, (n, C, pooled_height, pooled_width), type of `features`.
    """
    op = "ROIAlign"
    _check.dtype_in(op, "features", features, _check.FLOAT)
    _check.dtype_in(op, "rois", rois, _check.FLOAT)
    _check.rank(op, "features", features, 4)
    if rois.ndim != 2 or rois.shape[1] != 5:
        raise ValueError(f"For '{op}', 'rois' should have shape (n, 5), but got {rois.shape}.")
    rois = lax.stop_gradient(rois).astype(jnp.float32)
    wide = features.astype(jnp.promote_types(features.dtype, jnp.float32))
    start = rois[:, 1:3] * spatial_scale
    size = (rois[:, 3:5] + roi_end_mode) * spatial_scale - start
    if roi_end_mode == 0:
        size = jnp.maximum(size, 1.0)
    image = jnp.floor(rois[:, 0] + 0.5).astype(jnp.int32)
    if sample_num == -1:
        rows = _compute_pixel_weights(start[:, 1], size[:, 1], pooled_height, features.shape[2]).astype(wide.dtype)
        columns = _compute_pixel_weights(start[:, 0], size[:, 0], pooled_width, features.shape[3]).astype(wide.dtype)
        means = lambda region: jnp.einsum("iy,cyx,jx->cij", region[1], wide[region[0]], region[2])  # noqa: E731
        return lax.map(means, (image, rows, columns)).astype(features.dtype)
    ys = _compute_sample_neighbours(start[:, 1], size[:, 1], pooled_height, sample_num, features.shape[2])
    xs = _compute_sample_neighbours(start[:, 0], size[:, 0], pooled_width, sample_num, features.shape[3])

    def one(region):
        index, (y0, y1, dy, inside_y), (x0, x1, dx, inside_x) = region
        pick = lambda y, x: wide[index, :, y[:, None], x[None, :]]  # noqa: E731
        dy, dx = dy[:, None, None].astype(wide.dtype), dx[None, :, None].astype(wide.dtype)
        value = (pick(y0, x0) * (1 - dx) + pick(y0, x1) * dx) * (1 - dy) + (
            pick(y1, x0) * (1 - dx) + pick(y1, x1) * dx
        ) * dy
        value = jnp.where(inside_y[:, None, None] & inside_x[None, :, None], value, 0)
        return value.reshape(pooled_height, sample_num, pooled_width, sample_num, -1).mean((1, 3)).transpose(2, 0, 1)

    together = max(_AT_ONCE // (features.shape[1] * pooled_height * pooled_width * sample_num**2), 1)
    if rois.shape[0] <= together:
        return jax.vmap(one)((image, ys, xs)).astype(features.dtype)
    return lax.map(one, (image, ys, xs), batch_size=together).astype(features.dtype)


_AT_ONCE = 1 << 23  # samples in memory at a time


def _compute_sample_neighbours(start, size, cells, samples, length):
    """Return for every sample along one axis: the indices of the pixels on both sides, the distance from the first of
    them, and True if the sample is inside the image.
    """
    step = size[:, None] / cells
    where = start[:, None] + (jnp.arange(cells * samples, dtype=jnp.float32) + 0.5) / samples * step
    inside = (where >= -1.0) & (where <= length)
    where = jnp.clip(where, 0, length - 1)
    low = jnp.floor(where)
    first = low.astype(jnp.int32)
    # A neighbour of weight 0 is not read: it may be NaN, and 0 * NaN is NaN.
    second = jnp.where(where > low, jnp.minimum(first + 1, length - 1), first)
    return first, second, where - low, inside


def _compute_pixel_weights(start, size, cells, length, is_rounded_up=False):
    """Return the weight of each pixel along one axis in each cell, (n, cells, length), for one sample per pixel.

    The number of samples is rounded down to at least 1, or up. Samples are at least one pixel apart, so at most
    `length + 2` of them are inside; they are at least half a pixel apart if their number is rounded up. The index of
    the first one is computed, and the others follow it.
    """
    step = size[:, None, None] / cells
    many = jnp.ceil(step) if is_rounded_up else jnp.maximum(jnp.floor(step), 1)
    apart = step / jnp.maximum(many, 1)
    begin = start[:, None, None] + step * jnp.arange(cells)[:, None]
    first = jnp.clip(jnp.ceil((-1.0 - begin) / jnp.maximum(apart, 1e-6) - 0.5), 0, many)
    sample = first + jnp.arange(2 * length + 5 if is_rounded_up else length + 3)
    where = begin + (sample + 0.5) * apart
    counts = (sample < many) & (where >= -1.0) & (where <= length)
    weight = jnp.where(counts, 1 / jnp.maximum(many, 1), 0)
    where = jnp.clip(where, 0, length - 1)
    low = jnp.floor(where)
    above = weight * (where - low)
    low = low.astype(jnp.int32)
    n, c = jnp.ogrid[: start.shape[0], :cells]
    zeros = jnp.zeros((start.shape[0], cells, length), jnp.float32)
    shares = zeros.at[n[..., None], c[..., None], low].add(weight - above)
    return shares.at[n[..., None], c[..., None], jnp.minimum(low + 1, length - 1)].add(above)


@operator
def ROIAlignGrad(
    ydiff,
    rois,
    *,
    xdiff_shape: Shape,
    pooled_height: PositiveInt,
    pooled_width: PositiveInt,
    spatial_scale: StrictFloat,
    sample_num: Samples = 2,
):
    """Gradient of ROIAlign with respect to features of shape `xdiff_shape`."""
    return apply_transpose(
        lambda x: ROIAlign.kernel(
            x,
            rois,
            pooled_height=pooled_height,
            pooled_width=pooled_width,
            spatial_scale=spatial_scale,
            sample_num=sample_num,
        ),
        xdiff_shape,
        ydiff,
    )


@operator
def _RegionAlign(features, starts, sizes, images, *, pooled_size: Each(PositiveInt, 2), samples: NonNegInt, mean: Bool):
    """Mean or maximum of bilinear samples in each cell of a grid over each region, as ONNX's RoiAlign has it.

    Args:
        pooled_size (tuple[int]): rows and columns of the grid.
        samples (int): samples per cell in each direction. 0 takes one for each full or partial pixel of the cell.
        mean (bool): True takes the mean. False takes the largest product of a pixel and its weight; `samples` must not
            be 0 then.

    Inputs:
        - **features** (Tensor) - (N, C, H, W).
        - **starts** (Tensor) - (n, 2): y and x of the first corner, in pixels of the features.
        - **sizes** (Tensor) - (n, 2): height and width.
        - **images** (Tensor) - (n,), the index of the image.

    Outputs:
        Tensor, (n, C, *pooled_size), type of `features`.
    """
    _check.rank("RegionAlign", "features", features, 4)
    _check.rank("RegionAlign", "images", images, 1)
    if not starts.shape == sizes.shape == (*images.shape, 2):
        raise ValueError(
            f"For 'RegionAlign', 'starts' and 'sizes' should have shape {(*images.shape, 2)}, but got {starts.shape} "
            f"and {sizes.shape}."
        )
    if not (features.shape[0] and features.shape[2] and features.shape[3]):
        raise ValueError(f"For 'RegionAlign', 'features' should have pixels, but got shape {features.shape}.")
    wide = features.astype(jnp.promote_types(features.dtype, jnp.float32))
    starts, sizes = (lax.stop_gradient(v).astype(jnp.float32) for v in (starts, sizes))
    axes = list(zip(starts.T, sizes.T, pooled_size, features.shape[2:], strict=True))
    if samples == 0:
        rows, columns = (_compute_pixel_weights(*axis, is_rounded_up=True).astype(wide.dtype) for axis in axes)
        means = lambda region: jnp.einsum("iy,cyx,jx->cij", region[1], wide[region[0]], region[2])  # noqa: E731
        return lax.map(means, (images, rows, columns)).astype(features.dtype)

    def one(region):
        index, (y0, y1, dy, inside_y), (x0, x1, dx, inside_x) = region
        inside = inside_y[:, None] & inside_x[None, :]
        products = []
        for y, high in ((y0, False), (y1, True)):
            for x, right in ((x0, False), (x1, True)):
                weight = (dy if high else 1 - dy)[:, None] * (dx if right else 1 - dx)[None, :]
                weight = jnp.where(inside, weight, 0).astype(wide.dtype)
                products.append(wide[index, :, y[:, None], x[None, :]] * weight[..., None])
        value = sum(products) if mean else functools.reduce(jnp.maximum, products)
        value = value.reshape(pooled_size[0], samples, pooled_size[1], samples, -1)
        return (value.mean((1, 3)) if mean else value.max((1, 3))).transpose(2, 0, 1)

    ys, xs = (_compute_sample_neighbours(start, size, cells, samples, length) for start, size, cells, length in axes)
    together = max(_AT_ONCE // (features.shape[1] * math.prod(pooled_size) * samples**2), 1)
    if starts.shape[0] <= together:
        return jax.vmap(one)((images, ys, xs)).astype(features.dtype)
    return lax.map(one, (images, ys, xs), batch_size=together).astype(features.dtype)


_ROIS = Values([[0.0, 1.0, 2.0, 9.0, 10.0], [1.0, -3.0, 0.0, 14.0, 5.0]])
_REGIONS = (Values([[0.3, 1.2], [-1.5, 2.0]]), Values([[3.1, 4.7], [6.0, 0.4]]), Values([1, 0]))

CASES = [
    case(ROIAlign, F(2, 3, 6, 7), _ROIS, pooled_height=2, pooled_width=3, spatial_scale=0.5, sample_num=-1).wrt(0),
    case(ROIAlign, F(2, 3, 6, 7), _ROIS, pooled_height=2, pooled_width=3, spatial_scale=0.5, sample_num=2).wrt(0),
    case(
        ROIAlignGrad, F(2, 3, 2, 2), _ROIS, xdiff_shape=(2, 3, 6, 7), pooled_height=2, pooled_width=2, spatial_scale=0.5
    ).wrt(0),
    case(_RegionAlign, F(2, 3, 6, 7), *_REGIONS, pooled_size=(2, 3), samples=0, mean=True).wrt(0),
    case(_RegionAlign, F(2, 3, 6, 7), *_REGIONS, pooled_size=(2, 3), samples=2, mean=True).wrt(0),
    case(_RegionAlign, F(2, 3, 6, 7), *_REGIONS, pooled_size=(2, 3), samples=2, mean=False).wrt(0),
    refused(ValueError, ROIAlign, pooled_height=2, pooled_width=2, spatial_scale=1.0, roi_end_mode=2),
]
