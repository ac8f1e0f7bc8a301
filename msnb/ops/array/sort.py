"""Operators that sort a Tensor, search in it, or find distinct elements."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, Int, Kind, accept_value, check
from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.data_dependent_shape import DataDependentShape
from msnb.core.operator.api_generations import differs_in_api2
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.support.type_promotion import np_dtype
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import INDEX, NUMBER, axis_in, dtype_in, rank, tensor_argument
from msnb.ops._host import HostPrimitive, host_operator
from msnb.ops._numpy import ArrayLike, as_tensor, common_type
from msnb.ops.array.cast import Cast
from msnb.ops.array.gather import GatherD
from msnb.ops.array.unique_consecutive import sorted_unique


def _make_type_kind(*allowed):
    def accept(value):
        value = accept_value(DType, value)
        if value not in allowed:
            raise TypeError
        return value

    return Kind(" or ".join(map(repr, allowed)), accept)


IndexType = _make_type_kind(mstype.int32, mstype.int64)


@operator(functional="sort", called=("input_x",))
def Sort(x, *, axis: Int = -1, descending: Bool = False):
    """Sort a Tensor along an axis; return the sorted elements and their indices in the input.

    Args:
        axis (int): The axis. Default: -1.
        descending (bool): Sort in descending order. Default: False.

    Inputs:
        - **x** (Tensor) - Numbers, of at least 1 dimension.

    Outputs:
        Two Tensors of the shape of `x`.

        - **y1** - The elements in order; equal ones keep their order.
        - **y2** - Their indices, int32.

    Raises:
        TypeError: If `axis` is not an int or `descending` is not a bool.
        ValueError: If `axis` is out of range.

    Examples:
        >>> values, indices = ops.Sort()(Tensor([8, 2, 1], mindspore.float16))
        >>> print(values, indices)
        [1. 2. 8.] [2 1 0]
    """
    dtype_in("Sort", "x", x, NUMBER)
    axis = axis_in("Sort", axis, x.ndim)
    order = jnp.argsort(jax.lax.stop_gradient(x), axis, stable=True, descending=descending)
    return jnp.take_along_axis(x, order, axis), order.astype(jnp.int32)


@spelling(Sort, function="argsort")
def argsort(input: Tensor, axis: int = -1, descending: bool = False) -> Tensor:
    """Return the indices that sort a Tensor along an axis.

    Args:
        input (Tensor): Numbers.
        axis (int): The axis. Default: -1.
        descending (bool): Sort in descending order. Default: False.

    Returns:
        Tensor of int32.
    """
    return Sort.functional(input, axis, descending)[1]


@spelling(Sort, method="argsort")
@keyword_aliases(dim="axis")
def _tensor_argsort(self: Tensor, axis: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Return the indices that sort the elements along an axis. The sort is stable."""
    check(Bool, stable, "stable", "argsort")
    return argsort(self, axis, descending)


@spelling(Sort, method="sort")
@keyword_aliases(dim="axis")
def _tensor_sort(self: Tensor, axis: int = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
    """Return the sorted elements along an axis and their indices. The sort is stable."""
    check(Bool, stable, "stable", "sort")
    return Sort.functional(self, axis, descending)


@operator
def SearchSorted(sorted_sequence, values, *, dtype: IndexType = mstype.int64, right: Bool = False):
    """Find the positions at which values can be inserted into a sorted vector.

    Args:
        dtype (mindspore.dtype): int32 or int64. Default: mindspore.int64.
        right (bool): True inserts values after equal elements, False before them. Default: False.

    Inputs:
        - **sorted_sequence** (Tensor) - Numbers, in ascending order along the last dimension.
        - **values** (Tensor) - Numbers. They can have any shape if `sorted_sequence` is a vector. Otherwise only the
          last dimension can differ from that of `sorted_sequence`.

    Outputs:
        Tensor of `dtype`, of the shape of `values`.

    Raises:
        TypeError: If the element types are not numbers.
        ValueError: If the shapes do not fit.
    """
    dtype_in("searchsorted", "sorted_sequence", sorted_sequence, NUMBER)
    dtype_in("searchsorted", "values", values, NUMBER)
    side = "right" if right else "left"
    if sorted_sequence.ndim == 1:
        return jnp.searchsorted(sorted_sequence, values, side=side).astype(np_dtype(dtype))
    rows = sorted_sequence.shape[:-1]
    if values.shape[:-1] != rows or not rows:
        raise ValueError(
            f"For 'searchsorted', 'values' should have the dimensions of 'sorted_sequence', {sorted_sequence.shape}, "
            f"but for the last one, but got {values.shape}."
        )
    ordered, sought = (x.reshape(math.prod(rows), x.shape[-1]) for x in (sorted_sequence, values))
    positions = jax.vmap(lambda a, v: jnp.searchsorted(a, v, side=side))(ordered, sought)
    return positions.reshape(values.shape).astype(np_dtype(dtype))


@spelling(SearchSorted)
def searchsorted(
    sorted_sequence: Tensor,
    values: Tensor,
    *,
    out_int32: Bool = False,
    right: Bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Find the positions at which values can be inserted into a sorted Tensor.

    Args:
        sorted_sequence (Tensor): Numbers, sorted along the last dimension, or sorted by `sorter`.
        values (Tensor): Numbers. They can have any shape if `sorted_sequence` is a vector. Otherwise only the last
            dimension can differ from that of `sorted_sequence`.
        out_int32 (bool): Return int32 rather than int64. Default: False.
        right (bool): True inserts values after equal elements, False before them. Default: False.
        side (str): "left" or "right", instead of `right`. Default: None.
        sorter (Tensor): Indices that sort `sorted_sequence` along its last dimension. Default: None.

    Returns:
        Tensor of int64 or int32, of the shape of `values`.

    Raises:
        ValueError: If `side` is another string or contradicts `right`, or the shapes do not fit.

    Examples:
        >>> print(ops.searchsorted(Tensor([1., 2., 3.]), Tensor([2., 9.]), side="right"))
        [2 3]
    """
    if side not in (None, "left", "right"):
        raise ValueError(f"For 'searchsorted', 'side' should be 'left' or 'right', but got {side!r}.")
    if side == "left" and right:
        raise ValueError("For 'searchsorted', 'side' is 'left', but 'right' is True; give one of the two.")
    if sorter is not None:
        if sorter.shape != sorted_sequence.shape:
            raise ValueError(
                f"For 'searchsorted', 'sorter' should have the shape of 'sorted_sequence', {sorted_sequence.shape}, "
                f"but got {sorter.shape}."
            )
        sorted_sequence = GatherD.functional(sorted_sequence, -1, sorter)
    positions = SearchSorted(right=bool(right) or side == "right")(sorted_sequence, values)
    return Cast.functional(positions, mstype.int32) if out_int32 else positions


@spelling(SearchSorted, method="searchsorted")
def _tensor_searchsorted(self: Tensor, v: ArrayLike, side: str = "left", sorter: ArrayLike | None = None) -> Tensor:
    """Return the insertion positions (int32) of values in this Tensor. It must be sorted, unless `sorter` sorts it."""
    sorter = sorter if sorter is None else as_tensor(sorter, "searchsorted", "sorter")
    return searchsorted(self, as_tensor(v, "searchsorted", "v"), out_int32=True, side=side, sorter=sorter)


@spelling(SearchSorted, numpy="searchsorted")
def _numpy_searchsorted(a: ArrayLike, v: ArrayLike, side: str = "left", sorter: ArrayLike | None = None) -> Tensor:
    """Find the positions at which values can be inserted into a sorted vector.

    Args:
        a (Union[Tensor, list, tuple]): A vector of numbers, sorted, or sorted by `sorter`.
        v (Union[Tensor, list, tuple, Number]): The values, of any shape.
        side (str): "left" inserts a value before equal elements, "right" after them. Default: "left".
        sorter (Union[Tensor, list, tuple]): Indices that sort `a`. Default: None.

    Returns:
        Tensor of int32, of the shape of `v`.

    Raises:
        ValueError: If `a` is no vector, `side` is another string, or `sorter` is not as long as `a`.

    Examples:
        >>> print(mindspore.numpy.searchsorted([1, 2, 3, 4, 5], [0, 3, 9]))
        [0 2 5]
    """
    if side not in ("left", "right"):
        raise ValueError(f"For 'searchsorted', 'side' should be 'left' or 'right', but got {side!r}.")
    a, v = common_type(as_tensor(a, "searchsorted", "a"), as_tensor(v, "searchsorted", "v"))
    if sorter is not None:
        sorter = as_tensor(sorter, "searchsorted", "sorter")
        if sorter.shape != a.shape:
            raise ValueError(
                f"For 'searchsorted', 'sorter' should have the shape of 'a', {a.shape}, but got {sorter.shape}."
            )
        a = a[sorter]
    return SearchSorted(mstype.int32, side == "right")(a, v)


def _find_first_occurrences(x):
    """Return a mask of the elements that occur for the first time, and the index of each element among these."""
    count = x.shape[0]
    order = jnp.argsort(x, stable=True)
    ordered = x[order]
    new = jnp.concatenate([jnp.ones(1, bool), ordered[1:] != ordered[:-1]]) if count else jnp.zeros(0, bool)
    group = jnp.cumsum(new) - 1
    first = jnp.full(count, count).at[group].min(order)  # smallest index of each group of equal elements
    is_first = jnp.zeros(count, bool).at[order].set(new)  # the sort is stable: the smallest index of a group is first
    number = jnp.cumsum(is_first) - 1
    inverse = (
        jnp.zeros(count, jnp.int32)
        .at[order]
        .set(number[jnp.minimum(first, max(count - 1, 0))][group].astype(jnp.int32))
    )
    return is_first, inverse


@operator(functional="unique_with_pad")
def UniqueWithPad(x, pad_num):
    """Return the distinct elements in order of appearance, padded to the input's length, and the index of each input
    element.

    Inputs:
        - **x** (Tensor) - A vector of numbers.
        - **pad_num** (Union[int, Tensor]) - Padding of the result.

    Outputs:
        Two Tensors of the shape of `x`.

        - **y** - The distinct elements, then `pad_num`.
        - **idx** - The index in `y` of each element of `x`. The element type is that of `x` for integers, else int32.

    Raises:
        TypeError: If `x` does not consist of numbers.
        ValueError: If `x` is not a vector.

    Examples:
        >>> y, idx = ops.UniqueWithPad()(Tensor([1, 1, 5, 5, 4], mindspore.int32), 8)
        >>> print(y, idx)
        [1 5 4 8 8] [0 0 1 1 2]
    """
    dtype_in("UniqueWithPad", "x", x, NUMBER)
    rank("UniqueWithPad", "x", x, 1)
    first, inverse = _find_first_occurrences(x)
    rank_of_value = jnp.where(first, jnp.cumsum(first) - 1, x.shape[0])
    values = jnp.full(x.shape, pad_num.astype(x.dtype)).at[rank_of_value].set(x, mode="drop")
    return values, inverse.astype(x.dtype if x.dtype in INDEX else jnp.int32)


@host_operator("unique")
class Unique(HostPrimitive):
    """Return the distinct elements of a vector in order of appearance, and for each element its index among them.

    The length of the first result depends on data. A Cell with this operator therefore is not compiled: in GRAPH mode,
    too, it runs operator by operator. UniqueWithPad can be compiled.

    Inputs:
        - **input** (Tensor) - Numbers, of any shape.

    Outputs:
        Two Tensors.

        - **y** - The distinct elements.
        - **idx** - For each element of `input` its index in `y`, of the shape of `input`; int64 for int64, else int32.

    Raises:
        TypeError: If `input` is not a Tensor.

    Examples:
        >>> y, idx = ops.Unique()(Tensor([1, 2, 5, 2], mindspore.int32))
        >>> print(y, idx)
        [1 2 5] [0 1 2 1]
    """

    def __call__(self, input):
        x = tensor_argument("Unique", "input", input)
        if is_tracer(x._array):
            raise DataDependentShape("Unique", "the number of distinct elements", "use UniqueWithPad")
        values, first, inverse = np.unique(x.asnumpy(), return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        index_type = np.int64 if x.dtype == mstype.int64 else np.int32
        return Tensor(values[order]), Tensor(rank[inverse.reshape(x.shape)].astype(index_type))


@spelling(Unique, method="unique", generation=1)
def _tensor_unique(self: Tensor) -> tuple[Tensor, Tensor]:
    """Return the distinct elements and the index of each element among them, as `ops.unique`."""
    return Unique()(self)


@differs_in_api2("it returns the distinct elements in ascending order; indices and counts are returned on request")
@spelling(Unique, method="unique")
def _tensor_unique_api2(
    self: Tensor,
    sorted: Bool = True,
    return_inverse: Bool = False,
    return_counts: Bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """Return the distinct elements, or the distinct slices along `dim`, in ascending order.

    Args:
        sorted (bool): No effect: the result is always sorted. Default: True.
        return_inverse (bool): Whether to also return, for each element or slice, its index in the result. Default:
            False.
        return_counts (bool): Whether to also return the count of each result. Default: False.
        dim (int): Dimension whose slices are compared; None compares elements. Default: None.

    Returns:
        Tensor; a tuple if further results are requested.

    Raises:
        ValueError: If `dim` is out of range.
    """
    return sorted_unique(self, return_inverse, return_counts, dim)


@spelling(Unique, numpy="unique")
def _numpy_unique(x: ArrayLike, return_inverse: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """Return the sorted distinct elements of a Tensor. This does not run in a compiled graph, because their number
    depends on data.

    Args:
        x (Union[Tensor, list, tuple, Number]): Numbers; it is flattened.
        return_inverse (bool): Also return the index of each element among the distinct ones. Default: False.

    Returns:
        Tensor, a vector. With `return_inverse`, a tuple of this vector and a vector of indices. The indices are int64
        if `x` is int64, else int32.

    Raises:
        TypeError: If `return_inverse` is not a bool.

    Examples:
        >>> print(mindspore.numpy.unique([3, 1, 3, 2]))
        [1 2 3]
    """
    appeared, inverse = Unique()(as_tensor(x, "unique", "x").ravel())
    if not appeared.size:
        return (appeared, inverse) if return_inverse else appeared
    order = argsort(appeared.astype(mstype.int32) if appeared.dtype == mstype.bool_ else appeared)
    distinct = appeared[order]
    if not check(Bool, return_inverse, "return_inverse", "unique"):
        return distinct
    return distinct, argsort(order)[inverse].astype(inverse.dtype)


@spelling(Sort, function="msort", method="msort")
def msort(input: Tensor) -> Tensor:
    """Sort the elements along the first dimension.

    Args:
        input (Tensor): Numbers.

    Returns:
        Tensor of the shape and element type of `input`.

    Raises:
        TypeError: If `input` does not consist of numbers.
    """
    return Sort(0)(input)[0]


@spelling(UniqueWithPad, method="unique_with_pad")
def _tensor_unique_with_pad(self: Tensor, pad_num: int) -> tuple[Tensor, Tensor]:
    """Return the distinct elements of a vector, padded with `pad_num` to the length of the vector, and for each element
    its index among them."""
    return UniqueWithPad()(self, pad_num)


CASES = [
    case(msort, F(3, 2)),
    case(Sort, F(3, 4), axis=0),
    case(Sort, F(3, 4), descending=True),
    case(SearchSorted, Values([1.0, 2.0, 3.0]), Values([[0.5, 2.0], [2.5, 9.0]])),
    case(SearchSorted, Values([1.0, 2.0, 3.0]), Values([2.0]), dtype=mstype.int32),
    case(SearchSorted, Values([1.0, 2.0, 3.0]), Values([[0.5, 2.0], [2.5, 9.0]]), right=True).without(
        "mindspore", "its class takes no notice of `right`, its function does"
    ),
    case(searchsorted, Values([1.0, 2.0, 3.0]), Values([[0.5, 2.0], [2.5, 9.0]]), out_int32=True, side="right"),
    case(searchsorted, Values([[1, 2, 3], [4, 5, 6]]), Values([[2, 9], [4, 5]])),
    refused(ValueError, searchsorted, F(3), F(2), right=True, side="left"),
    refused(ValueError, searchsorted, F(3), F(2), sorter=Values([0, 1])),
    case(UniqueWithPad, Values([3, 1, 3, 2]), 0),
    case(UniqueWithPad, F(4), 0.0),
    case(Unique, Values([3, 1, 3, 2])).without("graph", "its shapes depend on values"),
]
