"""Conversion between flat indices and indices per dimension."""

import math

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import OneOf, Shape, Tensors, check
from msnb.core.operator.cases import Values, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import INDEX, INT, dtype_in, rank, wide
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensor, common_type
from msnb.ops._shapes import shapes


def _check_memory_order(function, order):
    if order not in ("C", "F"):
        raise ValueError(f"For '{function}', 'order' should be 'C' or 'F', but got {order!r}.")
    return order


def _compute_element_strides(shape, order):
    """Return the stride of each dimension in elements. The last dimension has stride 1 for order "C", the first for
    "F".
    """
    along = shape if order == "C" else shape[::-1]
    steps = [math.prod(along[d + 1 :]) for d in range(len(along))]
    return steps if order == "C" else steps[::-1]


@operator
def _UnravelIndexOf(indices, *, shape: Shape, order: OneOf("C", "F") = "C"):
    """Convert flat indices to one index per dimension.

    Args:
        shape (tuple[int]): The shape of the indexed Tensor.
        order (str): "C" for row-major order, "F" for column-major order. Default: "C".

    Inputs:
        - **indices** (Tensor) - Integers; those out of range are clipped to the first or the last element.

    Outputs:
        A tuple of Tensors, one for each dimension.
    """
    dtype_in("unravel_index", "indices", indices, INT)
    size = math.prod(shape)
    flat = jnp.clip(wide(indices), -size, size - 1) % size
    return tuple(flat // step % n for step, n in zip(_compute_element_strides(shape, order), shape, strict=True))


@spelling(_UnravelIndexOf, numpy="unravel_index")
def unravel_index(indices: ArrayLike, shape: Shape, order: str = "C") -> tuple[Tensor, ...]:
    """Convert flat indices to one index per dimension.

    Args:
        indices (Union[Tensor, list, tuple, int]): Integers. Negative indices count from the end. Indices out of range
            are clipped to the first or the last element.
        shape (Union[int, tuple[int], list[int]]): The shape of the indexed Tensor.
        order (str): "C" for row-major order, "F" for column-major order. Default: "C".

    Returns:
        A tuple of Tensors of the shape of `indices`, one for each dimension.

    Raises:
        TypeError: If `indices` or `shape` does not consist of int.
        ValueError: If `order` is another string.

    Examples:
        >>> print(mindspore.numpy.unravel_index([22, 41, 37], (7, 6))[0])
        [3 6 6]
    """
    shape = check(Shape, shape, "shape", "unravel_index")
    coordinates = _UnravelIndexOf.functional(
        as_tensor(indices, "unravel_index", "indices"), shape, _check_memory_order("unravel_index", order)
    )
    return coordinates if isinstance(coordinates, tuple) else (coordinates,)


@operator
@shapes("places: ~s")
def _RavelMultiIndex(
    places: Tensors, *, shape: Shape, mode: OneOf("clip", "wrap") = "clip", order: OneOf("C", "F") = "C"
):
    """Convert one index per dimension to flat indices.

    Args:
        shape (tuple[int]): The shape of the indexed Tensor.
        mode (str): Treatment of an index out of range: "clip" uses the first or the last index, "wrap" the index modulo
            the length. Default: "clip".
        order (str): "C" for row-major order, "F" for column-major order. Default: "C".

    Inputs:
        - **places** (tuple[Tensor]) - Integers, one Tensor of indices for each dimension.

    Outputs:
        Tensor of integers.
    """
    for i, x in enumerate(places):
        dtype_in("ravel_multi_index", f"multi_index[{i}]", x, INT)
    wrapped = [wide(x) % n if mode == "wrap" else jnp.clip(wide(x), 0, n - 1) for x, n in zip(places, shape)]
    return sum(x * step for x, step in zip(wrapped, _compute_element_strides(shape, order)))


@spelling(_RavelMultiIndex, numpy="ravel_multi_index")
def ravel_multi_index(multi_index: ArrayLike, dims: Shape, mode: str = "clip", order: str = "C") -> Tensor:
    """Convert one index per dimension to flat indices.

    Args:
        multi_index (Union[tuple, list, Tensor]): Indices for each dimension: a Tensor, list or number. A single Tensor
            has the indices of dimension i in its i-th slice.
        dims (Union[int, tuple[int], list[int]]): The shape of the indexed Tensor.
        mode (str): Treatment of an index out of range: "clip" uses the first or the last index, "wrap" the index modulo
            the length. Default: "clip".
        order (str): "C" for row-major order, "F" for column-major order. Default: "C".

    Returns:
        Tensor of float32, as in MindSpore, of the broadcast shape of the indices.

    Raises:
        TypeError: If `multi_index` or `dims` does not consist of int.
        ValueError: If the number of indices is not that of `dims`, or `mode` or `order` is another string.

    Examples:
        >>> print(mindspore.numpy.ravel_multi_index(([3, 6, 6], [4, 5, 1]), (7, 6)))
        [22. 41. 37.]
    """
    op, dims = "ravel_multi_index", check(Shape, dims, "dims", "ravel_multi_index")
    if not isinstance(multi_index, (tuple, list)):
        multi_index = tuple(as_tensor(multi_index, op, "multi_index"))
    coordinates = [as_tensor(x, op, f"multi_index[{i}]") for i, x in enumerate(multi_index)]
    if len(coordinates) != len(dims):
        raise ValueError(
            f"For '{op}', 'multi_index' should have {len(dims)} parts, as 'dims', but got {len(coordinates)}."
        )
    flat = _RavelMultiIndex.functional(common_type(*coordinates), dims, mode, _check_memory_order(op, order))
    return flat.astype(mstype.float32)


@operator(generation=2)
def UnravelIndex(indices, dims: Shape):
    """Convert flat indices to one index per dimension.

    Inputs:
        - **indices** (Tensor) - int32 or int64, a scalar or a vector; all must be in range.
        - **dims** (Union[Tensor, tuple[int]]) - The shape of the indexed Tensor.

    Outputs:
        Tensor of shape (len(dims), len(indices)), or (len(dims),) for a scalar, of the element type of `indices`.

    Raises:
        TypeError: If `indices` are not integers.
        ValueError: If `indices` have more than 1 dimension.
    """
    dtype_in("UnravelIndex", "indices", indices, INDEX)
    rank("UnravelIndex", "indices", indices, 0, 1)
    return jnp.stack([indices // step % n for step, n in zip(_compute_element_strides(dims, "C"), dims, strict=True)])


CASES = [
    case(UnravelIndex, Values([2, 5]), Values([3, 3])),
    case(_UnravelIndexOf, Values([22, 41, -1, 99]), shape=(7, 6)).without("mindspore", NUMPYS),
    case(_UnravelIndexOf, Values([31, 41, 13]), shape=(7, 6), order="F").without("mindspore", NUMPYS),
    case(_RavelMultiIndex, (Values([3, 6]), Values([4, 9])), shape=(7, 6)).without("mindspore", NUMPYS),
]
