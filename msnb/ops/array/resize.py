"""Nearest-neighbor resizing of images."""

import jax.numpy as jnp

from msnb.common.kinds import (
    Bool,
    Kind,
    Shape,
)
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import operator
from msnb.ops._check import (
    NUMBER,
    dtype_in,
    rank,
    some,
)
from msnb.ops._shapes import shapes


def _check_image_size(value):
    value = tuple(value) if isinstance(value, (tuple, list)) else None
    if value is None or any(isinstance(v, bool) or not isinstance(v, int) for v in value):
        raise TypeError
    if len(value) != 2 or min(value) < 0:
        raise ValueError
    return value


ImageSize = Kind("two non-negative ints", _check_image_size)


@operator
def ResizeNearestNeighbor(input_x, *, size: ImageSize, align_corners: Bool = False):
    """Resize images by nearest-neighbor interpolation.

    Args:
        size (Union[tuple, list]): New height and width.
        align_corners (bool): True keeps the centres of the corner pixels in place. Default: False.

    Inputs:
        - **input_x** (Tensor) - Images of shape (N, C, H, W).

    Outputs:
        Tensor of shape (N, C, *size) and the element type of `input_x`.

    Raises:
        TypeError: If `size` does not consist of int or `align_corners` is not a bool.
        ValueError: If `size` does not have two entries or `input_x` does not have four dimensions.

    Examples:
        >>> x = Tensor([[[[1., 2.], [3., 4.]]]], mindspore.float32)
        >>> print(ops.ResizeNearestNeighbor((1, 2))(x))
        [[[[1. 2.]]]]
    """
    dtype_in("ResizeNearestNeighbor", "input_x", input_x, NUMBER)
    rank("ResizeNearestNeighbor", "input_x", input_x, 4)
    some("ResizeNearestNeighbor", "input_x", input_x, 2, 3)
    for axis, new in zip((2, 3), size, strict=True):
        input_x = jnp.take(input_x, _compute_source_indices(input_x.shape[axis], new, align_corners), axis)
    return input_x


def _compute_source_indices(old, new, align_corners):
    """Return the index of the source pixel of each of `new` pixels along an axis that had `old` pixels."""
    if align_corners and new > 1:
        source = jnp.floor(jnp.arange(new) * jnp.float32((old - 1) / (new - 1)) + 0.5)
    else:
        source = jnp.floor(jnp.arange(new) * jnp.float32(old / max(new, 1)))
    return jnp.clip(source.astype(jnp.int32), 0, old - 1)


@operator
@shapes("grads: n c h w")
def ResizeNearestNeighborGrad(grads, size: Shape, *, align_corners: Bool = False):
    """Gradient of ResizeNearestNeighbor with respect to images of height and width `size`."""
    for axis, old in enumerate(size, start=2):
        index = _compute_source_indices(old, grads.shape[axis], align_corners)
        shape = (*grads.shape[:axis], old, *grads.shape[axis + 1 :])
        grads = jnp.zeros(shape, grads.dtype).at[(slice(None),) * axis + (index,)].add(grads)
    return grads


CASES = [
    case(ResizeNearestNeighbor, F(1, 1, 4, 3), size=(3, 5)),
    case(ResizeNearestNeighbor, F(1, 1, 4, 3), size=(8, 6), align_corners=True),
    case(ResizeNearestNeighborGrad, F(1, 1, 4, 4), (2, 2)),
    refused(ValueError, ResizeNearestNeighbor, size=(1, 2, 3), says="size"),
]
