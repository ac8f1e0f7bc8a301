"""Operators that pick elements of a Tensor by indices: gathering, arg-extrema, sorting, distinct values.

An index out of range raises where it is checked (see `core.checks`); elsewhere it gives NaN, in integers the smallest
number of the type, in unsigned ones the largest.
"""

import jax
import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, Int, Kind, accept_value
from msnb.core.checks import index, position
from msnb.core.declare import operator
from msnb.ops._check import INDEX, INT, NUMBER, axis_in, dtype_in, rank, tensor_only, wide


def _gather(op, params, indices, axis):
    tensor_only(op, "params", params)
    dtype_in(op, "indices", indices, INT)
    return jnp.take(params, wide(indices), axis_in(op, axis, params.ndim), mode="fill")


@operator(functional="gather", aliases=("GatherV2",), checks=[index("indices", of="params", axis="axis")])
def Gather(params, indices, axis: Int):
    """Slices of a Tensor along an axis.

    Inputs:
        - **params** (Tensor) - Of at least 1 dimension.
        - **indices** (Tensor) - Integers, of any shape; negative ones count from the end.
        - **axis** (int) - The axis that `indices` count along.

    Outputs:
        Tensor of shape params.shape[:axis] + indices.shape + params.shape[axis + 1:].

    Raises:
        TypeError: If `indices` are not integers or `axis` is not an int.
        ValueError: If `axis` is out of range.
        RuntimeError: If an index is out of range; in a compiled graph only with ``check_indices``, else NaN.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([[1, 2, 3], [4, 5, 6]], mindspore.float32)
        >>> print(ops.Gather()(x, Tensor([0, 2], mindspore.int32), 1))
        [[1. 3.]
         [4. 6.]]
    """
    return _gather("Gather", params, indices, axis)


@operator(checks=[index("indices", of="params", axis="axis")])
def SparseGatherV2(params, indices, axis: Int):
    """Slices of a Tensor along an axis; the same as Gather.

    Inputs:
        - **params** (Tensor) - Of at least 1 dimension.
        - **indices** (Tensor) - Integers, of any shape.
        - **axis** (int) - The axis that `indices` count along.

    Outputs:
        Tensor of shape params.shape[:axis] + indices.shape + params.shape[axis + 1:].

    Raises:
        TypeError: If `indices` are not integers or `axis` is not an int.
        ValueError: If `axis` is out of range.
        RuntimeError: If an index is out of range; in a compiled graph only with ``check_indices``, else NaN.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _gather("SparseGatherV2", params, indices, axis)


@operator(functional="gather_d", checks=[index("index", of="x", axis="dim")])
def GatherD(x, dim: Int, index):
    """The element at `index` along a dimension, for each place of `index`.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.
        - **dim** (int) - The dimension that `index` counts along.
        - **index** (Tensor) - int32 or int64, of as many dimensions as `x` and no longer in any but `dim`.

    Outputs:
        Tensor of the shape of `index` and the element type of `x`.

    Raises:
        TypeError: If `index` is not int32 or int64, or `dim` is not an int.
        ValueError: If `dim` is out of range or the shapes do not fit.
        RuntimeError: If an index is out of range; in a compiled graph only with ``check_indices``, else NaN.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([[1, 2], [3, 4]], mindspore.int32)
        >>> print(ops.GatherD()(x, 1, Tensor([[0, 0], [1, 0]], mindspore.int32)))
        [[1 1]
         [4 3]]
    """
    tensor_only("GatherD", "x", x)
    dtype_in("GatherD", "index", index, INDEX)
    dim = axis_in("GatherD", dim, x.ndim, "dim")
    if index.ndim != x.ndim or any(
        i > n and d != dim for d, (i, n) in enumerate(zip(index.shape, x.shape, strict=True))
    ):
        raise ValueError(
            f"For 'GatherD', 'index' should have as many dimensions as 'x' and fit into it except along "
            f"{dim}, but got shapes {index.shape} and {x.shape}."
        )
    x = x[tuple(slice(None) if d == dim else slice(n) for d, n in enumerate(index.shape))]
    return jnp.take_along_axis(x, index, dim, mode="fill")


@operator(functional="gather_nd", methods=("gather_nd",), checks=[position("indices", of="input_x")])
def GatherNd(input_x, indices):
    """Slices of a Tensor, each at a position in its first dimensions.

    Inputs:
        - **input_x** (Tensor) - Of at least 1 dimension.
        - **indices** (Tensor) - Integers; the last dimension holds positions.

    Outputs:
        Tensor of shape indices.shape[:-1] + input_x.shape[indices.shape[-1]:].

    Raises:
        TypeError: If `indices` are not integers.
        ValueError: If a position has more entries than `input_x` dimensions.
        RuntimeError: If a position is outside; in a compiled graph only with ``check_indices``, else NaN.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([[-0.1, 0.3], [0.4, 0.5]], mindspore.float32)
        >>> print(ops.GatherNd()(x, Tensor([[0, 0], [1, 1]], mindspore.int32)))
        [-0.1  0.5]
    """
    tensor_only("GatherNd", "input_x", input_x)
    dtype_in("GatherNd", "indices", indices, INT)
    if not indices.ndim or indices.shape[-1] > input_x.ndim:
        raise ValueError(
            f"For 'GatherNd', the last dimension of 'indices' should be at most {input_x.ndim}, the "
            f"number of dimensions of 'input_x', but the shape is {indices.shape}."
        )
    place = tuple(jnp.moveaxis(wide(indices), -1, 0))
    return input_x.at[place].get(mode="fill", wrap_negative_indices=False)


@operator
def EmbeddingLookup(params, indices, offset: Int):
    """Rows of a table that holds the rows from `offset` on; other indices give zeros.

    Inputs:
        - **params** (Tensor) - The table, of 1 or 2 dimensions.
        - **indices** (Tensor) - Integers, of any shape.
        - **offset** (int) - Index of the first row.

    Outputs:
        Tensor of shape indices.shape + params.shape[1:].

    Raises:
        TypeError: If `indices` are not integers or `offset` is not an int.
        ValueError: If `params` has more than 2 dimensions.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([[8, 9], [10, 11], [12, 13]], mindspore.float32)
        >>> print(ops.EmbeddingLookup()(x, Tensor([5, 2], mindspore.int32), 4))
        [[10. 11.]
         [ 0.  0.]]
    """
    dtype_in("EmbeddingLookup", "indices", indices, INT)
    rank("EmbeddingLookup", "params", params, 1, 2)
    place = indices.astype(jnp.int64) - offset
    return jnp.take(params, jnp.where(place < 0, params.shape[0], place), 0, mode="fill", fill_value=0)


def _index_type(*allowed):
    def accept(value):
        value = accept_value(DType, value)
        if value not in allowed:
            raise TypeError
        return value

    return Kind(" or ".join(map(repr, allowed)), accept)


IndexType = _index_type(mstype.int32, mstype.int64)


@operator(functional="sort")
def Sort(x, *, axis: Int = -1, descending: Bool = False):
    """The elements of a Tensor in order along an axis, and where they stood.

    Args:
        axis (int): The axis. Default: -1.
        descending (bool): Whether the largest comes first. Default: False.

    Inputs:
        - **x** (Tensor) - Numbers, of at least 1 dimension.

    Outputs:
        Two Tensors of the shape of `x`.

        - **y1** - The elements in order; equal ones keep their order.
        - **y2** - Their indices, int32.

    Raises:
        TypeError: If `axis` is not an int or `descending` is not a bool.
        ValueError: If `axis` is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> values, indices = ops.Sort()(Tensor([8, 2, 1], mindspore.float16))
        >>> print(values, indices)
        [1. 2. 8.] [2 1 0]
    """
    dtype_in("Sort", "x", x, NUMBER)
    axis = axis_in("Sort", axis, x.ndim)
    order = jnp.argsort(jax.lax.stop_gradient(x), axis, stable=True, descending=descending)
    return jnp.take_along_axis(x, order, axis), order.astype(jnp.int32)


def _first_places(x):
    """For a vector: which elements are the first of their value, and for each element the rank of its value's first
    place among the first places."""
    count = x.shape[0]
    order = jnp.argsort(x, stable=True)
    ordered = x[order]
    new = jnp.concatenate([jnp.ones(1, bool), ordered[1:] != ordered[:-1]]) if count else jnp.zeros(0, bool)
    group = jnp.cumsum(new) - 1
    first = jnp.full(count, count).at[group].min(order)  # first place of each group
    by_place = jnp.zeros(count, bool).at[order].set(new)  # in a stable sort a group begins with its first place
    number = jnp.cumsum(by_place) - 1
    inverse = (
        jnp.zeros(count, jnp.int32)
        .at[order]
        .set(number[jnp.minimum(first, max(count - 1, 0))][group].astype(jnp.int32))
    )
    return by_place, inverse


@operator(functional="unique_with_pad")
def UniqueWithPad(x, pad_num):
    """The distinct elements of a vector in order of appearance, filled up to its length, and where each belongs.

    Inputs:
        - **x** (Tensor) - A vector of numbers.
        - **pad_num** (Union[int, Tensor]) - What fills the rest.

    Outputs:
        Two Tensors of the shape of `x`.

        - **y** - The distinct elements, then `pad_num`.
        - **idx** - For each element of `x` its index in `y`, of the type of `x` for integers, else int32.

    Raises:
        TypeError: If `x` is not made of numbers.
        ValueError: If `x` is not a vector.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> y, idx = ops.UniqueWithPad()(Tensor([1, 1, 5, 5, 4], mindspore.int32), 8)
        >>> print(y, idx)
        [1 5 4 8 8] [0 0 1 1 2]
    """
    dtype_in("UniqueWithPad", "x", x, NUMBER)
    rank("UniqueWithPad", "x", x, 1)
    first, inverse = _first_places(x)
    place = jnp.where(first, jnp.cumsum(first) - 1, x.shape[0])
    values = jnp.full(x.shape, pad_num.astype(x.dtype)).at[place].set(x, mode="drop")
    return values, inverse.astype(x.dtype if x.dtype in INDEX else jnp.int32)


def _pair(value):
    value = tuple(value) if isinstance(value, (tuple, list)) else None
    if value is None or any(isinstance(v, bool) or not isinstance(v, int) for v in value):
        raise TypeError
    if len(value) != 2 or min(value) < 0:
        raise ValueError
    return value


ImageSize = Kind("two non-negative ints", _pair)


@operator
def ResizeNearestNeighbor(input_x, *, size: ImageSize, align_corners: Bool = False):
    """Images in another size, each pixel taken from the nearest one.

    Args:
        size (Union[tuple, list]): New height and width.
        align_corners (bool): Whether the centres of the corner pixels stay where they are. Default: False.

    Inputs:
        - **input_x** (Tensor) - Images of shape (N, C, H, W).

    Outputs:
        Tensor of shape (N, C, *size) and the element type of `input_x`.

    Raises:
        TypeError: If `size` is not made of int or `align_corners` is not a bool.
        ValueError: If `size` has not two entries or `input_x` not four dimensions.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([[[[1., 2.], [3., 4.]]]], mindspore.float32)
        >>> print(ops.ResizeNearestNeighbor((1, 2))(x))
        [[[[1. 2.]]]]
    """
    dtype_in("ResizeNearestNeighbor", "input_x", input_x, NUMBER)
    rank("ResizeNearestNeighbor", "input_x", input_x, 4)
    for axis, new in zip((2, 3), size, strict=True):
        old = input_x.shape[axis]
        if align_corners and new > 1:
            source = jnp.floor(jnp.arange(new) * jnp.float32((old - 1) / (new - 1)) + 0.5)
        else:
            source = jnp.floor(jnp.arange(new) * jnp.float32(old / max(new, 1)))
        input_x = jnp.take(input_x, jnp.clip(source.astype(jnp.int32), 0, old - 1), axis)
    return input_x
