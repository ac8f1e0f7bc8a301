"""Resizing images (N, C, H, W), with weights as constant matrices: both passes are matrix products or gathers."""

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Bool, Kind, PositiveInt, accept_value
from msnb.core.cases import F, case, refused
from msnb.core.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops.nn._pullback import transposed


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


@operator
def ResizeBilinearV2(image, size: Size, *, align_corners: Bool = False, half_pixel_centers: Bool = False):
    """Resizes images by bilinear interpolation to a size that is an input.

    Args:
        align_corners (bool): whether the centres of the corner pixels stay where they are. Default: False.
        half_pixel_centers (bool): whether pixel centres lie at half coordinates. Default: False.

    Inputs:
        - **image** (Tensor) - (N, C, H, W), float.
        - **size** (Union[tuple[int], list[int]]) - new height and width, a constant.

    Outputs:
        Tensor, (N, C, new height, new width), of the type of `image`.

    Raises:
        TypeError: If `image` is not floating point.
        ValueError: If it has not 4 dimensions, or both attributes are True.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    op = "ResizeBilinearV2"
    _check.dtype_in(op, "image", image, _check.FLOAT)
    _check.rank(op, "image", image, 4)
    if align_corners and half_pixel_centers:
        raise ValueError(f"For '{op}', 'align_corners' and 'half_pixel_centers' should not both be True.")
    return bilinear(image, size, align_corners, half_pixel_centers).astype(image.dtype)


@operator
@shapes("dout: n c _ _, x: n c _ _")
def ResizeBilinearGrad(dout, x, *, align_corners: Bool = False):
    """Gradient of ResizeBilinear from the cotangent and its input."""
    dx = transposed(lambda v: bilinear(v, dout.shape[2:], align_corners), x.shape, dout.astype(jnp.float32))
    return dx.astype(x.dtype)


def nearest_index(old, new, step=None):
    """For each pixel of an axis of length `new`, its nearest on one of length `old`."""
    return np.clip(np.floor(positions(old, new, False, False, step)).astype(np.int64), 0, old - 1)


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
]
