"""Operators that select elements and slices of a Tensor by index.

If indices are checked (see `core.checks`), an index out of range raises an error. Otherwise the selected element is
NaN, the smallest number of a signed integer type, or the largest number of an unsigned type.
"""

import jax
import jax.numpy as jnp

from msnb.common.kinds import (
    Axis,
    Int,
    Shape,
    check,
)
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.operator.value_checks import Check, Range, index, position
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import INDEX, INT, axis_in, dtype_in, rank, same_shape, some, tensor_only, wide
from msnb.ops._in_place import take_over
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensor
from msnb.ops._shapes import shapes


def _take_slices(op, params, indices, axis):
    tensor_only(op, "params", params)
    dtype_in(op, "indices", indices, INT)
    axis = axis_in(op, axis, params.ndim)
    if indices.size:
        some(op, "params", params, axis)
    return jnp.take(params, wide(indices), axis, mode="fill")


@operator(
    functional="gather",
    called=("input_params", "input_indices"),
    aliases=("GatherV2",),
    checks=[index("indices", of="params", axis="axis")],
)
def Gather(params, indices, axis: Int, *, batch_dims: Int = 0):
    """Select slices of a Tensor along an axis.

    Args:
        batch_dims (int): Number of leading batch dimensions that `params` and `indices` share. Each element of the
            batch is indexed separately. Default: 0.

    Inputs:
        - **params** (Tensor) - Of at least 1 dimension.
        - **indices** (Tensor) - Integers, of any shape; negative ones count from the end.
        - **axis** (int) - The axis that `indices` refer to.

    Outputs:
        Tensor of shape params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:].

    Raises:
        TypeError: If `indices` are not integers or `axis` is not an int.
        ValueError: If `axis` is out of range.
        RuntimeError: If an index is out of range. Compiled graphs check this only with ``check_indices``, else
            the element is NaN.

    Examples:
        >>> x = Tensor([[1, 2, 3], [4, 5, 6]], mindspore.float32)
        >>> print(ops.Gather()(x, Tensor([0, 2], mindspore.int32), 1))
        [[1. 3.]
         [4. 6.]]
    """
    tensor_only("Gather", "params", params)
    axis, batch = axis_in("Gather", axis, params.ndim), batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    if not 0 <= batch <= min(axis, indices.ndim) or params.shape[:batch] != indices.shape[:batch]:
        raise ValueError(
            f"For 'Gather', 'batch_dims' should count dimensions before 'axis', {axis}, that 'params' and 'indices' "
            f"have in common, but got {batch_dims} for the shapes {params.shape} and {indices.shape}."
        )

    def gather(params, indices):
        return _take_slices("Gather", params, indices, axis - batch)

    for _ in range(batch):
        gather = jax.vmap(gather)
    return gather(params, indices)


@spelling(Gather, function="index_select")
def index_select(input: Tensor, axis: int, index: Tensor) -> Tensor:
    """Select slices of a Tensor along an axis.

    Args:
        input (Tensor): Of at least 1 dimension.
        axis (int): The axis.
        index (Tensor): Integers, a vector.

    Returns:
        Tensor.
    """
    return Gather.functional(input, index, axis)


spelling(Gather, method="index_select")(keyword_aliases(dim="axis")(index_select))


def _make_row_gradient_rule(first):
    """Return the gradient rule of a row lookup in a table whose first row has the index `first`. The rule returns
    (rows, their gradients).
    """

    def rows(table, indices, cotangent):
        return indices.reshape(-1) - first, cotangent.reshape(-1, *table.shape[1:])

    return rows


@operator(
    checks=[index("indices", of="params", axis="axis")],
    rows=lambda axis: _make_row_gradient_rule(0) if axis == 0 else None,
)
def SparseGatherV2(params, indices, axis: Int):
    """Select slices of a Tensor along an axis, as Gather does.

    If `axis` is 0 and no other operator reads the Parameter `params`, its gradient is a :class:`mindspore.RowTensor`.

    Inputs:
        - **params** (Tensor) - Of at least 1 dimension.
        - **indices** (Tensor) - Integers, of any shape.
        - **axis** (int) - The axis that `indices` refer to.

    Outputs:
        Tensor of shape params.shape[:axis] + indices.shape + params.shape[axis + 1:].

    Raises:
        TypeError: If `indices` are not integers or `axis` is not an int.
        ValueError: If `axis` is out of range.
        RuntimeError: If an index is out of range. Compiled graphs check this only with ``check_indices``, else
            the element is NaN.
    """
    return _take_slices("SparseGatherV2", params, indices, axis)


@operator(functional="gather_d", checks=[index("index", of="x", axis="dim")])
def GatherD(x, dim: Int, index):
    """Select elements along a dimension: result[i, j] = x[index[i, j], j] for `dim` 0.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.
        - **dim** (int) - The dimension that `index` refers to.
        - **index** (Tensor) - int32 or int64, with as many dimensions as `x`. Only along `dim` it can be longer than
          `x`.

    Outputs:
        Tensor of the shape of `index` and the element type of `x`.

    Raises:
        TypeError: If `index` is not int32 or int64, or `dim` is not an int.
        ValueError: If `dim` is out of range or the shapes do not fit.
        RuntimeError: If an index is out of range. Compiled graphs check this only with ``check_indices``, else
            the element is NaN.

    Examples:
        >>> x = Tensor([[1, 2], [3, 4]], mindspore.int32)
        >>> print(ops.GatherD()(x, 1, Tensor([[0, 0], [1, 0]], mindspore.int32)))
        [[1 1]
         [4 3]]
    """
    tensor_only("GatherD", "x", x)
    dtype_in("GatherD", "index", index, INDEX)
    if x.ndim == index.ndim == 0:
        x, index, scalar = x.reshape(1), index.reshape(1), True
    else:
        scalar = False
    dim = axis_in("GatherD", dim, x.ndim, "dim")
    if index.ndim != x.ndim or any(
        i > n and d != dim for d, (i, n) in enumerate(zip(index.shape, x.shape, strict=True))
    ):
        raise ValueError(
            f"For 'GatherD', 'index' should have as many dimensions as 'x' and fit into it except along "
            f"{dim}, but got shapes {index.shape} and {x.shape}."
        )
    x = x[tuple(slice(None) if d == dim else slice(n) for d, n in enumerate(index.shape))]
    gathered = jnp.take_along_axis(x, index, dim, mode="fill")
    return gathered.reshape(()) if scalar else gathered


def _list_index_ranges(inputs):
    dim, shape = inputs["dim"], inputs["shape"]
    return [Range(inputs["index"], shape[dim], -shape[dim])] if -len(shape) <= dim < len(shape) else ()


@operator(checks=[Check("index", _list_index_ranges)])
def GatherDGrad(index, grad, *, dim: Int = 0, shape: Shape):
    """Gradient of GatherD with respect to the input `x`, which has the shape `shape`."""
    dim = axis_in("GatherDGrad", dim, len(shape), "dim")
    dtype_in("GatherDGrad", "index", index, INT)
    rank("GatherDGrad", "index", index, len(shape))
    same_shape("GatherDGrad", index=index, grad=grad)
    position = list(jnp.indices(index.shape, sparse=True))
    position[dim] = index
    return jnp.zeros(shape, grad.dtype).at[tuple(position)].add(grad)


@spelling(GatherD, function="gather_elements", method="gather_elements")
def gather_elements(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Select elements along a dimension; the same as `gather_d`: result[i, j] = input[index[i, j], j] for `dim` 0.

    Args:
        input (Tensor): Of at least 1 dimension.
        dim (int): The dimension.
        index (Tensor): int32 or int64.

    Returns:
        Tensor of the shape of `index`.
    """
    return GatherD.functional(input, dim, index)


def _rename_gather_keywords(args, kwargs):
    """Rename the keywords of `gather(dim=, index=)` to those of `_tensor_gather`. That form selects single elements."""
    return {("axis" if key == "index" else "input_indices" if key == "dim" else key): v for key, v in kwargs.items()}


@spelling(Gather, GatherD, method="gather")
@keyword_aliases(_rename_gather_keywords, dim="input_indices", index="axis")
def _tensor_gather(self: Tensor, input_indices: Tensor | int, axis: int = 0, batch_dims: int = 0) -> Tensor:
    """Select slices along an axis, as `ops.gather` does."""
    if isinstance(input_indices, int):  # a call gather(dim, index), which selects single elements
        return GatherD.functional(self, input_indices, axis)
    return Gather.functional(self, input_indices, axis, batch_dims)


@operator(functional="gather_nd", methods=("gather_nd",), checks=[position("indices", of="input_x")])
def GatherNd(input_x, indices):
    """Select slices of a Tensor. Each row of `indices` is a position in the first dimensions of `input_x`.

    Inputs:
        - **input_x** (Tensor) - Of at least 1 dimension.
        - **indices** (Tensor) - Integers; each row along the last dimension is a position.

    Outputs:
        Tensor of shape indices.shape[:-1] + input_x.shape[indices.shape[-1]:].

    Raises:
        TypeError: If `indices` are not integers.
        ValueError: If a position has more entries than `input_x` has dimensions.
        RuntimeError: If a position is out of range. Compiled graphs check this only with ``check_indices``.

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
    if indices.size:
        some("GatherNd", "input_x", input_x, *range(indices.shape[-1]))
    position = tuple(jnp.moveaxis(wide(indices), -1, 0))
    return input_x.at[position].get(mode="fill", wrap_negative_indices=False)


@operator(rows=_make_row_gradient_rule)
def EmbeddingLookup(params, indices, offset: Int):
    """Look up rows: params[indices - offset], and zeros for an index outside of the table.

    If no other operator reads the Parameter `params`, its gradient is a :class:`mindspore.RowTensor`.

    Inputs:
        - **params** (Tensor) - The table, of 1 or 2 dimensions.
        - **indices** (Tensor) - Integers, of any shape.
        - **offset** (int) - Index of the first row.

    Outputs:
        Tensor of shape indices.shape + params.shape[1:].

    Raises:
        TypeError: If `indices` are not integers or `offset` is not an int.
        ValueError: If `params` has more than 2 dimensions.

    Examples:
        >>> x = Tensor([[8, 9], [10, 11], [12, 13]], mindspore.float32)
        >>> print(ops.EmbeddingLookup()(x, Tensor([5, 2], mindspore.int32), 4))
        [[10. 11.]
         [ 0.  0.]]
    """
    dtype_in("EmbeddingLookup", "indices", indices, INT)
    rank("EmbeddingLookup", "params", params, 1, 2)
    if indices.size:
        some("EmbeddingLookup", "params", params, 0)
    row = indices.astype(jnp.int64) - offset
    return jnp.take(params, jnp.where(row < 0, params.shape[0], row), 0, mode="fill", fill_value=0)


@operator
def Take(input, indices, axis: Axis = ()):
    """Select slices of a Tensor along an axis, or elements of the flattened Tensor.

    Inputs:
        - **input** (Tensor) - Any Tensor.
        - **indices** (Tensor) - Integers; an index out of range selects the first or the last slice.
        - **axis** (int) - The axis; () flattens the Tensor. Default: ().

    Outputs:
        Tensor.
    """
    tensor_only("take", "input", input)
    axes = () if axis == () else (axis_in("take", axis, input.ndim),)
    if indices.size:
        some("take", "input", input, *axes)
    return jnp.take(input, wide(indices), *axes, mode="clip")


@spelling(Take, method="take", generation=1)
@keyword_aliases(index="indices")
def _tensor_take(
    self: Tensor, indices: Tensor | int | list | tuple, axis: int | None = None, mode: str = "clip"
) -> Tensor:
    """Select elements by index, from the flattened Tensor or along an axis.

    Args:
        indices (Tensor): Integers.
        axis (int): The axis; None flattens the Tensor. Default: None.
        mode (str): "clip" or "wrap": treatment of an index out of range. Default: "clip".

    Returns:
        Tensor.
    """
    if mode not in ("clip", "wrap"):
        raise ValueError(f"For 'take', 'mode' should be 'clip' or 'wrap', but got {mode!r}.")
    indices = indices if isinstance(indices, Tensor) else Tensor(indices)
    if mode == "wrap":
        indices = indices % (self.size if axis is None else self.shape[axis_in("take", axis, self.ndim)])
    return Take.functional(self, indices, axis)


@spelling(Take, numpy="take")
def take(a: ArrayLike, indices: ArrayLike, axis: int | None = None, mode: str = "clip") -> Tensor:
    """Select elements by index, from the flattened Tensor or along an axis.

    Args:
        a (Union[Tensor, list, tuple]): Any Tensor.
        indices (Union[Tensor, list, tuple, int]): Integers.
        axis (int): The axis; None flattens the Tensor. Default: None.
        mode (str): Treatment of an index out of range: "clip" selects the first or the last element, and the first for
            every negative index; "wrap" uses the index modulo the length. Default: "clip".

    Returns:
        Tensor of shape a.shape[:axis] + indices.shape + a.shape[axis + 1:].

    Raises:
        TypeError: If `indices` are not integers, or `axis` is not an int.
        ValueError: If `axis` is out of range, or `mode` is another string.

    Examples:
        >>> print(mindspore.numpy.take([4, 3, 5, 7], [[0, 1], [2, 9]]))
        [[4 3]
         [5 7]]
    """
    a, indices = as_tensor(a, "take", "a"), as_tensor(indices, "take", "indices")
    dtype_in("take", "indices", indices._array, INT)
    if axis is not None:
        axis = axis_in("take", check(Int, axis, "axis", "take"), a.ndim)
    return _tensor_take(a, indices, axis, mode)


@operator(checks=[index("indices", of="arr", axis="axis")])
def _TakeAlongAxis(arr, indices, axis: Int):
    """Select elements along an axis: result[i, j] = arr[indices[i, j], j] for `axis` 0. `arr` and `indices` broadcast
    along the other dimensions.

    Inputs:
        - **arr** (Tensor) - Any Tensor.
        - **indices** (Tensor) - Integers, of as many dimensions as `arr`; negative ones count from the end.
        - **axis** (int) - The axis that `indices` refer to.

    Outputs:
        Tensor of the element type of `arr`.
    """
    op = "take_along_axis"
    dtype_in(op, "indices", indices, INT)
    axis = axis_in(op, axis, arr.ndim)
    if indices.ndim != arr.ndim or any(
        1 not in (i, n) and i != n and d != axis for d, (i, n) in enumerate(zip(indices.shape, arr.shape))
    ):
        raise ValueError(
            f"For '{op}', 'indices' should have as many dimensions as 'arr' and fit to it in all but axis {axis}, but "
            f"got shapes {indices.shape} and {arr.shape}."
        )
    return jnp.take_along_axis(arr, wide(indices), axis, mode="fill")


@spelling(_TakeAlongAxis, numpy="take_along_axis")
def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: int | None) -> Tensor:
    """Select elements along an axis: result[i, j] = arr[indices[i, j], j] for `axis` 0. The indices may come from
    argsort.

    Args:
        arr (Union[Tensor, list, tuple]): Any Tensor.
        indices (Union[Tensor, list, tuple]): Integers, of as many dimensions as `arr`; dimensions other than `axis`
            broadcast.
        axis (int): The axis that `indices` refer to; None flattens `arr`.

    Returns:
        Tensor of the element type of `arr`.

    Raises:
        TypeError: If `indices` are not integers, or `axis` is not an int.
        ValueError: If `axis` is out of range, or the shapes do not fit.
        RuntimeError: If an index is out of range. Compiled graphs check this only with ``check_indices``, else
            the element is NaN.
    """
    arr, indices = as_tensor(arr, "take_along_axis", "arr"), as_tensor(indices, "take_along_axis", "indices")
    return _TakeAlongAxis.functional(arr.ravel() if axis is None else arr, indices, 0 if axis is None else axis)


@operator(functional="index_fill", methods=("index_fill",), checks=[index("index", "x", "axis")])
@shapes("value: ()")
def IndexFill(x, axis: Int, index, value):
    """Copy a Tensor and fill the slices at the given indices with one value.

    Inputs:
        - **x** (Tensor) - Any Tensor.
        - **axis** (int) - The axis that `index` refers to.
        - **index** (Tensor) - Integers, a vector; negative ones count from the end.
        - **value** (Union[Tensor, Number]) - The value.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        RuntimeError: If an index is out of range. Compiled graphs check this only with ``check_indices``.
    """
    axis = axis_in("index_fill", axis, x.ndim)
    return x.at[(slice(None),) * axis + (wide(index),)].set(value.astype(x.dtype))


@spelling(Take, function="take")
def _ops_take(input: Tensor, index: Tensor) -> Tensor:
    """Select elements of a Tensor by their flat indices.

    Args:
        input (Tensor): Any Tensor.
        index (Tensor): int32 or int64; negative ones count from the end.

    Returns:
        Tensor of the shape of `index`.

    Raises:
        TypeError: If `index` does not consist of integers.
    """
    return Take.functional(input, index)


@spelling(IndexFill, method="index_fill_")
def _index_fill_inplace(self: Tensor, dim: int, index: Tensor, value: Tensor | float) -> Tensor:
    """Fill slices along a dimension with one number and return the Tensor."""
    return take_over("index_fill_", self, IndexFill.functional(self, dim, index, value))


CASES = [
    case(Gather, F(4, 3), Values([0, 2, 0]), 0),
    case(Gather, F(4, 3), Values([[2], [0]]), 1),
    case(SparseGatherV2, F(3, 2), Values([0, 2]), 0),
    case(GatherD, F(3, 3), 1, Values([[0, 2], [1, 0], [2, 2]])),
    case(GatherDGrad, Values([0, 2]), F(2), dim=0, shape=(4,)),
    case(GatherNd, F(3, 3), Values([[0, 1], [2, 2]])),
    case(EmbeddingLookup, F(4, 2), Values([3, 5, 2, 7]), 2).without("gradient", "MindSpore 2.7.1 forgets the offset"),
    case(Take, F(2, 3), Values([0, 2]), 1),
    case(_TakeAlongAxis, F(2, 3), Values([[0, 2, -1, 0]]), 1).without("mindspore", NUMPYS),
    case(IndexFill, F(3, 2), 0, Values([1]), F()).without("gradient", "MindSpore has none for the value"),
    case(Gather, F(2, 3, 4), Values([[0, 2], [1, 1]]), 1, batch_dims=1),
    case(Gather, F(2, 3, 4), Values([[0, 2], [1, 3]]), -1, batch_dims=-1),
    refused(ValueError, Gather, F(2, 3), Values([0, 2, 1]), 1, batch_dims=1),
    refused(TypeError, Gather, F(2, 3), F(2, 3), 0),
    refused(ValueError, Gather, F(2, 3), Values([0]), 2),
    case(_ops_take, F(2, 3), Values([[0, 4], [-1, 2]])),
]
