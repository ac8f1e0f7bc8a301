"""Resizing of images (N, C, H, W). Each axis is multiplied by a constant matrix of interpolation weights."""

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Bool, Each, Kind, Number, OneOf, Optional, PositiveInt, Shape, accept_value
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops.nn._neighbours import weigh_neighbours
from msnb.ops.nn._pullback import pull


def _accept_size(value):
    if not isinstance(value, (tuple, list)):
        raise TypeError
    if len(value) != 2:
        raise ValueError
    return tuple(accept_value(PositiveInt, v) for v in value)


Size = Kind("a tuple or list of 2 positive ints", _accept_size)


def positions(old, new, align_corners, half_pixel_centers, step=None):
    """Return, for each pixel of an axis of length `new`, its position on an axis of `old` pixels. Positions are
    float32, as in MindSpore.

    Their distance is (old - 1) / (new - 1) if corners are aligned, otherwise `step`, or old / new if `step` is None.
    """
    indices = np.arange(new, dtype=np.float32)
    if align_corners:
        return indices * np.float32((old - 1) / (new - 1) if new > 1 else 0)
    scale = np.float32(old) / np.float32(new) if step is None else np.float32(step)
    return (indices + np.float32(0.5)) * scale - np.float32(0.5) if half_pixel_centers else indices * scale


def lerp_matrix(old, new, align_corners, half_pixel_centers=False, step=None):
    """Return the (new, old) matrix of linear interpolation along one axis."""
    where = np.maximum(positions(old, new, align_corners, half_pixel_centers, step), 0)
    low = np.minimum(where.astype(np.int64), old - 1)
    high = np.minimum(low + 1, old - 1)
    share = (where - low).astype(np.float32)
    matrix = np.zeros((new, old), np.float32)
    np.add.at(matrix, (np.arange(new), low), 1 - share)
    np.add.at(matrix, (np.arange(new), high), share)
    return matrix


def bilinear(x, size, align_corners, half_pixel_centers=False):
    """Resize the last two axes bilinearly, in at least float32."""
    x = x.astype(jnp.promote_types(x.dtype, jnp.float32))
    for axis, new in ((-2, size[0]), (-1, size[1])):
        if x.shape[axis] != new or half_pixel_centers:
            x = weigh_neighbours(x, x.ndim + axis, lerp_matrix(x.shape[axis], new, align_corners, half_pixel_centers))
    return x


@operator
def ResizeBilinear(x, *, size: Size, align_corners: Bool = False, half_pixel_centers: Bool = False):
    """Resizes images by bilinear interpolation.

    Args:
        size (Union[tuple[int], list[int]]): new height and width.
        align_corners (bool): True aligns the centres of the corner pixels of input and result. Default: False.
        half_pixel_centers (bool): True puts the centre of pixel i at i + 0.5. Default: False.

    Inputs:
        - **x** (Tensor) - (N, C, H, W), float.

    Outputs:
        Tensor, (N, C, new height, new width), float32 (float64 for float64).
    """
    _check.dtype_in("ResizeBilinear", "x", x, _check.FLOAT)
    _check.rank("ResizeBilinear", "x", x, 4)
    _check.some("ResizeBilinear", "x", x, 2, 3)
    if align_corners and half_pixel_centers:
        raise ValueError("For 'ResizeBilinear', 'align_corners' and 'half_pixel_centers' should not both be True.")
    return bilinear(x, size, align_corners, half_pixel_centers)


@operator
def ResizeBilinearV2(image, size: Size, *, align_corners: Bool = False, half_pixel_centers: Bool = False):
    """Resizes images by bilinear interpolation. `size` is an input, and must be a constant.

    Args:
        align_corners (bool): True aligns the centres of the corner pixels of input and result. Default: False.
        half_pixel_centers (bool): True puts the centre of pixel i at i + 0.5. Default: False.

    Inputs:
        - **image** (Tensor) - (N, C, H, W), float.
        - **size** (Union[tuple[int], list[int]]) - new height and width, a constant.

    Outputs:
        Tensor, (N, C, new height, new width), of the type of `image`.

    Raises:
        TypeError: If `image` is not floating point.
        ValueError: If the input does not have 4 dimensions, or both attributes are True.
    """
    op = "ResizeBilinearV2"
    _check.dtype_in(op, "image", image, _check.FLOAT)
    _check.rank(op, "image", image, 4)
    _check.some(op, "image", image, 2, 3)
    if align_corners and half_pixel_centers:
        raise ValueError(f"For '{op}', 'align_corners' and 'half_pixel_centers' should not both be True.")
    return bilinear(image, size, align_corners, half_pixel_centers).astype(image.dtype)


@operator
@shapes("dout: n c h2>0 w2>0, x: n c h>0 w>0")
def ResizeBilinearGrad(dout, x, *, align_corners: Bool = False):
    """Gradient of ResizeBilinear, from the cotangent and the input of the forward pass."""
    resized = lambda v: bilinear(v, dout.shape[2:], align_corners)
    return pull(resized, jnp.zeros(x.shape, jnp.float32))(dout.astype(jnp.float32))[0].astype(x.dtype)


def nearest_index(old, new, step=None):
    """Return, for each pixel of an axis of length `new`, the index of the nearest pixel of an axis of length `old`."""
    return np.clip(np.floor(positions(old, new, False, False, step)).astype(np.int64), 0, old - 1)


def _check_resize_arguments(op, x, size, dims, align_corners=False, half_pixel_centers=False):
    _check.dtype_in(op, "image", x, _check.NUMBER)
    _check.rank(op, "image", x, dims + 2)
    _check.some(op, "image", x, *range(2, dims + 2))
    if align_corners and half_pixel_centers:
        raise ValueError(f"For '{op}', 'align_corners' and 'half_pixel_centers' should not both be True.")
    if len(size) != dims or min(size) < 1:
        raise ValueError(f"For '{op}', 'size' should be {dims} positive ints, but got {size}.")


def _multiply_axes_by_matrices(x, matrices):
    """Multiply each of the last axes of `x` by its matrix (new, old), in at least float32."""
    wide = x.astype(jnp.promote_types(x.dtype, jnp.float32))
    for axis, matrix in enumerate(matrices, start=x.ndim - len(matrices)):
        wide = weigh_neighbours(wide, axis, matrix)
    return wide


@operator
def ResizeNearestNeighborV2(image, size: Size, *, align_corners: Bool = False, half_pixel_centers: Bool = False):
    """Resizes images by taking the nearest pixel. `size` is an input, and must be a constant.

    Args:
        align_corners (bool): True aligns the centres of the corner pixels of input and result. Default: False.
        half_pixel_centers (bool): True puts the centre of pixel i at i + 0.5. Default: False.

    Inputs:
        - **image** (Tensor) - (N, C, H, W).
        - **size** (Union[tuple[int], list[int]]) - new height and width, a constant.

    Outputs:
        Tensor, (N, C, new height, new width), of the type of `image`.

    Raises:
        ValueError: If the input does not have 4 dimensions, or both attributes are True.
    """
    _check_resize_arguments("ResizeNearestNeighborV2", image, size, 2, align_corners, half_pixel_centers)
    for axis, new in enumerate(size, start=2):
        old = image.shape[axis]
        if half_pixel_centers:
            where = np.floor((np.arange(new, dtype=np.float32) + np.float32(0.5)) * np.float32(old / new))
        else:
            where = positions(old, new, align_corners, False)
            where = np.floor(where + np.float32(0.5)) if align_corners else np.floor(where)
        image = jnp.take(image, np.minimum(where.astype(np.int64), old - 1), axis=axis)
    return image


def _make_cubic_matrix(old, new, align_corners, half_pixel_centers):
    """Return the (new, old) matrix of cubic convolution along one axis (Keys 1981). Weights are computed at multiples
    of 1/1024 pixel.
    """
    where = positions(old, new, align_corners, half_pixel_centers)
    low = np.floor(where).astype(np.int64)
    share = np.rint((where - low) * 1024) / 1024
    slope = -0.5 if half_pixel_centers else -0.75
    matrix = np.zeros((new, old))
    for tap in range(-1, 3):
        distance = np.abs(share - tap)
        near_weight = ((slope + 2) * distance - (slope + 3)) * distance * distance + 1
        far_weight = ((slope * distance - 5 * slope) * distance + 8 * slope) * distance - 4 * slope
        weight = np.where(distance <= 1, near_weight, far_weight)
        pixel = low + tap
        if half_pixel_centers:  # pixels outside have no weight
            weight = np.where((pixel >= 0) & (pixel < old), weight, 0)
        np.add.at(matrix, (np.arange(new), np.clip(pixel, 0, old - 1)), weight)
    return matrix / matrix.sum(1, keepdims=True) if half_pixel_centers else matrix


@operator
def ResizeBicubic(image, size: Size, *, align_corners: Bool = False, half_pixel_centers: Bool = False):
    """Resizes images by cubic convolution. `size` is an input, and must be a constant.

    Args:
        align_corners (bool): True aligns the centres of the corner pixels of input and result. Default: False.
        half_pixel_centers (bool): True puts the centre of pixel i at i + 0.5. Default: False.

    Inputs:
        - **image** (Tensor) - (N, C, H, W), numbers.
        - **size** (Union[tuple[int], list[int]]) - new height and width, a constant.

    Outputs:
        Tensor, (N, C, new height, new width), of the type of `image`.

    Raises:
        ValueError: If the input does not have 4 dimensions, or both attributes are True.
    """
    _check_resize_arguments("ResizeBicubic", image, size, 2, align_corners, half_pixel_centers)
    pairs = zip(image.shape[2:], size, strict=True)
    matrices = [_make_cubic_matrix(old, new, align_corners, half_pixel_centers) for old, new in pairs]
    return _multiply_axes_by_matrices(image, matrices).astype(image.dtype)


@operator
def ResizeLinear1D(
    x, size: Shape, *, coordinate_transformation_mode: OneOf("align_corners", "half_pixel") = "align_corners"
):
    """Resizes sequences by linear interpolation. `size` is an input, and must be a constant.

    Args:
        coordinate_transformation_mode (str): "align_corners" aligns the first and the last elements of input and
            result, "half_pixel" puts the centre of element i at i + 0.5. Default: "align_corners".

    Inputs:
        - **x** (Tensor) - (N, C, L), float.
        - **size** (Union[int, tuple[int]]) - new length, a constant.

    Outputs:
        Tensor, (N, C, new length), of the type of `x`.

    Raises:
        ValueError: If `x` does not have 3 dimensions.
    """
    _check_resize_arguments("ResizeLinear1D", x, size, 1)
    align = coordinate_transformation_mode == "align_corners"
    return _multiply_axes_by_matrices(x, [lerp_matrix(x.shape[2], size[0], align, not align)]).astype(x.dtype)


def _compute_volume_size_and_steps(op, x, output_size, scales):
    if (output_size is None) == (scales is None):
        raise ValueError(f"For '{op}', give exactly one of 'output_size' and 'scales'.")
    size = output_size if scales is None else [int(n * s) for n, s in zip(x.shape[2:], scales, strict=True)]
    _check_resize_arguments(op, x, tuple(size), 3)
    return size, None if scales is None else [1 / s for s in scales]


@operator
@shapes("x: _ _ _ _ _")
def UpsampleNearest3D(x, output_size: Optional(Shape) = None, scales: Optional(Each(Number)) = None):
    """Resizes volumes by taking the nearest voxel.

    Inputs:
        - **x** (Tensor) - (N, C, D, H, W).
        - **output_size** (tuple[int]) - new sides. Default: None.
        - **scales** (tuple[float]) - factor of each side, if `output_size` is None. Default: None.

    Outputs:
        Tensor, (N, C, *sides), of the type of `x`.

    Raises:
        ValueError: If `x` does not have 5 dimensions, or `output_size` and `scales` are both given or both missing.
    """
    size, steps = _compute_volume_size_and_steps("UpsampleNearest3D", x, output_size, scales)
    for axis, new in enumerate(size, start=2):
        x = jnp.take(x, nearest_index(x.shape[axis], new, steps and steps[axis - 2]), axis=axis)
    return x


@operator
@shapes("x: _ _ _ _ _")
def UpsampleTrilinear3D(
    x, output_size: Optional(Shape) = None, scales: Optional(Each(Number)) = None, *, align_corners: Bool = False
):
    """Resizes volumes by linear interpolation along each spatial axis.

    Args:
        align_corners (bool): True aligns the centres of the corner pixels of input and result. Default: False.

    Inputs:
        - **x** (Tensor) - (N, C, D, H, W), float.
        - **output_size** (tuple[int]) - new sides. Default: None.
        - **scales** (tuple[float]) - factor of each side, if `output_size` is None. Default: None.

    Outputs:
        Tensor, (N, C, *sides), of the type of `x`.

    Raises:
        ValueError: If `x` does not have 5 dimensions, or `output_size` and `scales` are both given or both missing.
    """
    size, steps = _compute_volume_size_and_steps("UpsampleTrilinear3D", x, output_size, scales)
    matrices = [
        lerp_matrix(old, new, align_corners, not align_corners, step)
        for old, new, step in zip(x.shape[2:], size, steps or (None,) * 3, strict=True)
    ]
    return _multiply_axes_by_matrices(x, matrices).astype(x.dtype)


@operator
def ResizeArea(images, size: Shape, *, align_corners: Bool = False):
    """Resizes images: each new pixel is the mean of the area of the old image that it covers.

    Args:
        align_corners (bool): True aligns the centres of the corner pixels of input and result. Default: False.

    Inputs:
        - **images** (Tensor) - (N, H, W, C), numbers.
        - **size** (Union[Tensor, tuple[int]]) - new height and width, a constant.

    Outputs:
        Tensor of float32, (N, new height, new width, C).

    Raises:
        ValueError: If the input does not have 4 dimensions.
    """
    _check_resize_arguments("ResizeArea", images, size, 2)
    matrices = []
    for old, new in zip(images.shape[1:3], size, strict=True):
        scale = (old - 1) / (new - 1) if align_corners and new > 1 else old / new
        low = np.arange(new)[:, None] * scale
        pixel = np.arange(max(old, int(np.ceil(new * scale))))
        cover = np.clip(np.minimum(low + scale, pixel + 1) - np.maximum(low, pixel), 0, None) / scale
        matrix = np.zeros((new, old))
        np.add.at(matrix, (slice(None), np.minimum(pixel, old - 1)), cover)
        matrices.append(matrix)
    wide = _multiply_axes_by_matrices(jnp.moveaxis(images, -1, 1).astype(jnp.float32), matrices)
    return jnp.moveaxis(wide, 1, -1).astype(jnp.float32)


CASES = [
    case(ResizeBilinearV2, F(1, 2, 3, 4), (5, 3)),
    case(ResizeBilinearV2, F(1, 2, 3, 4), (2, 7), align_corners=True),
    case(ResizeBilinearV2, F(1, 2, 3, 4), (6, 8), half_pixel_centers=True),
    *(
        case(ResizeBilinear, F(2, 3, 4, 6), size=size, align_corners=corners)
        for size in ((3, 9), (1, 2))
        for corners in (False, True)
    ),
    case(ResizeBilinearGrad, F(2, 3, 3, 9), F(2, 3, 4, 6)).without("differences", "it adds in float32"),
    refused(TypeError, ResizeBilinear, size=3),
    *(
        case(resize, F(1, 2, 4, 5), size, **how)
        for resize in (ResizeNearestNeighborV2, ResizeBicubic)
        for size, how in (((3, 8), {}), ((6, 2), {"align_corners": True}), ((6, 8), {"half_pixel_centers": True}))
    ),
    case(ResizeLinear1D, F(1, 2, 4), (7,)),
    case(ResizeLinear1D, F(1, 2, 4), (3,), coordinate_transformation_mode="half_pixel"),
    case(UpsampleNearest3D, F(1, 2, 2, 3, 2), (3, 4, 4), None),
    case(UpsampleNearest3D, F(1, 2, 2, 3, 2), None, (2.0, 1.5, 1.0)),
    case(UpsampleTrilinear3D, F(1, 2, 2, 3, 2), (3, 4, 4), None),
    case(UpsampleTrilinear3D, F(1, 2, 2, 3, 2), None, (2.0, 1.5, 1.0), align_corners=True),
    *(
        case(ResizeArea, F(1, 4, 5, 2), Values(size), **how).without("differences", "it computes in float32")
        for size, how in (([2, 3], {}), ([6, 3], {}), ([3, 3], {"align_corners": True}))
    ),
    refused(ValueError, UpsampleNearest3D, F(1, 1, 2, 2, 2), None, None),
]
