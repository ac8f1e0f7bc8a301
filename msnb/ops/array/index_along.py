"""Operators that add to, replace or fill slices at indices along an axis, and `index_put`."""

from msnb.common.kinds import Int, OneOf, Tensors
from msnb.core.errors.messages import describe
from msnb.core.operator.cases import F, Values, Written, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.operator.value_checks import index as of_axis
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import ANY, INDEX, NO_RACE, NUMBER, axis_in, dtype_in, rank, same_dtype, tensor_argument
from msnb.ops._in_place import take_over
from msnb.ops.array._scatter import cast_updates
from msnb.ops.array.broadcast import BroadcastTo
from msnb.ops.array.sequence import arange
from msnb.ops.index import getitem, setitem


def _select_slices_for_update(op, x, axis, indices, updates=None):
    """Return JAX's indexed update helper `x.at[...]` for the slices at `indices` along an axis; check the shape of
    `updates`.
    """
    dtype_in(op, "indices", indices, INDEX)
    rank(op, "indices", indices, 0, 1)
    axis = axis_in(op, axis, x.ndim)
    expected = (*x.shape[:axis], indices.size, *x.shape[axis + 1 :])
    if updates is not None and updates.shape != expected:
        raise ValueError(f"For '{op}', what is put there should have shape {expected}, but got {updates.shape}.")
    return x.at[(slice(None),) * axis + (indices.reshape(-1),)]


def _add_slices_along_axis(op, x, indices, y, axis):
    dtype_in(op, "x", x, NUMBER)
    y = cast_updates(op, x, y)
    return _select_slices_for_update(op, x, axis, indices, y).add(y, mode="drop")


@operator(writes=("x",), checks=[of_axis("indices", of="x", axis="axis")])
def IndexAdd(
    x,
    indices,
    y,
    *,
    axis: Int,
    use_lock: OneOf(True, otherwise=NO_RACE) = True,
    check_index_bound: OneOf(True, otherwise="mindspore.context's check_indices says when they are looked at") = True,
):
    """Add slices to a Parameter at indices along an axis, in place.

    Args:
        axis (int): The axis.
        use_lock (bool): No effect, because updates in one program never interleave. Default: True.
        check_index_bound (bool): No effect, because the context's ``check_indices`` decides. Default: True.

    Inputs:
        - **x** (Parameter) - Parameter to update.
        - **indices** (Tensor) - A vector of int32 or int64.
        - **y** (Tensor) - Addend, of the shape of `x` except along the axis. It is converted to the element type of
          `x` unless that would narrow it.

    Outputs:
        Tensor, the new value of the Parameter.

    Raises:
        TypeError: If `indices` are not integers, or `y` has a wider element type than `x`.
        ValueError: If the shapes do not fit.
    """
    return _add_slices_along_axis("index_add", x, indices, y, axis)


@operator(checks=[of_axis("indices", of="x", axis="axis")])
def _IndexAdded(x, indices, y, *, axis: Int):
    """Copy a Tensor and add slices at indices along an axis."""
    return _add_slices_along_axis("index_add", x, indices, y, axis)


@spelling(IndexAdd, _IndexAdded)
def index_add(
    x: Tensor, indices: Tensor, y: Tensor, axis: int, use_lock: bool = True, check_index_bound: bool = True
) -> Tensor:
    """Add slices to a Tensor at indices along an axis. A Parameter is changed in place; otherwise a copy is returned.

    Args:
        x (Union[Parameter, Tensor]): Tensor to increase.
        indices (Tensor): A vector of int32 or int64.
        y (Tensor): Addend, of the shape of `x` except along the axis. It is converted to the element type of `x`
            unless that would narrow it.
        axis (int): The axis.
        use_lock (bool): No effect, because updates in one program never interleave. Default: True.
        check_index_bound (bool): No effect, because the context's ``check_indices`` decides. Default: True.

    Returns:
        Tensor; `x` itself if it is a Parameter.

    Raises:
        TypeError: If `indices` are not integers, or the element types differ.
        ValueError: If the shapes do not fit.

    Examples:
        >>> x, y = Tensor([1., 2., 3.], mindspore.float32), Tensor([10., 10.], mindspore.float32)
        >>> print(ops.index_add(x, Tensor([0, 2], mindspore.int32), y, 0))
        [11.  2. 13.]
    """
    if isinstance(x, Parameter):
        return IndexAdd(axis, use_lock, check_index_bound)(x, indices, y)
    if not (use_lock and check_index_bound):
        IndexAdd(axis, use_lock, check_index_bound)  # the constructor logs that these arguments have no effect
    return _IndexAdded(axis)(x, indices, y)


@spelling(IndexAdd, _IndexAdded)
def inplace_index_add(var: Tensor, indices: Tensor, updates: Tensor, axis: int) -> Tensor:
    """Add slices to a Parameter at indices along an axis, in place.

    Args:
        var (Parameter): Tensor to update.
        indices (Tensor): A vector of int32 or int64.
        updates (Tensor): Addend, of the shape of `var` except along the axis. It is converted to the element type of
            `var` unless that would narrow it.
        axis (int): The axis.

    Returns:
        Tensor, the new value of the Parameter.

    Raises:
        TypeError: If `indices` are not integers, or the element types differ.
        ValueError: If the shapes do not fit.
    """
    return index_add(var, indices, updates, axis)


@spelling(_IndexAdded, method="index_add")
def _tensor_index_add(
    self: Tensor, indices: Tensor, y: Tensor, axis: int, use_lock: bool = True, check_index_bound: bool = True
) -> Tensor:
    """Return a copy with slices added at indices along an axis; see `ops.index_add`."""
    IndexAdd(axis, use_lock, check_index_bound)  # the constructor logs arguments that have no effect
    return _IndexAdded(axis)(self, indices, y)


@spelling(_IndexAdded, method="index_add_")
def _index_add_inplace(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    """Add `alpha` times `source` at indices along a dimension in place, and return the Tensor."""
    tensor_argument("index_add_", "source", source)
    return take_over("index_add_", self, _IndexAdded(dim)(self, index, source if alpha == 1 else source * alpha))


@operator(checks=[of_axis("index", of="x", axis="dim")])
def _IndexCopied(x, index, source, *, dim: Int):
    """Copy a Tensor and replace slices at indices along a dimension by the slices of `source`."""
    dtype_in("index_copy_", "self", x, ANY)
    same_dtype("index_copy_", self=x, tensor=source)
    return _select_slices_for_update("index_copy_", x, dim, index, source).set(source, mode="drop")


@spelling(_IndexCopied, method="index_copy_")
def _index_copy_inplace(self: Tensor, dim: int, index: Tensor, tensor: Tensor) -> Tensor:
    """Write the slices of another Tensor at indices along a dimension, and return the Tensor."""
    return take_over("index_copy_", self, _IndexCopied(dim)(self, index, tensor))


@spelling(method="index")
def _tensor_index(self: Tensor, indices: tuple[Tensor, ...] | list[Tensor]) -> Tensor:
    """Return ``x[indices]``. `indices` has one Tensor for each dimension."""
    return getitem(self, tuple(indices))


@spelling(_IndexAdded, method="index_put")
def _tensor_index_put(
    self: Tensor, indices: tuple[Tensor, ...] | list[Tensor], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Return a copy in which ``x[indices]`` is replaced or increased by values; `indices` has one Tensor per dimension.

    Args:
        indices (Union[tuple[Tensor], list[Tensor]]): Integers or bool, as in ``x[indices]``.
        values (Tensor): Of a shape that broadcasts to that of ``x[indices]``.
        accumulate (bool): Add the values instead of replacing elements. Default: False.

    Returns:
        Tensor.
    """
    if not isinstance(indices, (tuple, list)):
        raise TypeError(f"For 'index_put', 'indices' should be a tuple or list, but got {describe(indices)}.")
    index = tuple(indices)
    if not accumulate:
        return setitem(self, index, values)
    numbers = arange(self.size).reshape(self.shape)
    flat = getitem(numbers, index)
    added = BroadcastTo(flat.shape)(tensor_argument("index_put", "values", values)).reshape(-1)
    return _IndexAdded(0)(self.reshape(-1), flat.reshape(-1), added).reshape(self.shape)


@spelling(_IndexAdded, method="index_put_")
def _index_put_inplace(
    self: Tensor, indices: tuple[Tensor, ...] | list[Tensor], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Replace or increase ``x[indices]`` by values in place, and return the Tensor."""
    return take_over("index_put_", self, _tensor_index_put(self, indices, values, accumulate))


_A_PART = "a part of Tensor's methods, which 2.7.1 has on Ascend"


@operator(writes=("var",), checks=[of_axis("indices", of="var", axis="axis")], generation=2)
def InplaceIndexAdd(var, indices, updates, *, axis: Int):
    """Add slices to a Parameter at indices along an axis, in place.

    Args:
        axis (int): The axis.

    Inputs:
        - **var** (Parameter) - Parameter to update.
        - **indices** (Tensor) - A vector of int32.
        - **updates** (Tensor) - Addend, of the element type of `var` and of its shape, except along the axis.

    Outputs:
        Tensor, the new value of the Parameter.

    Raises:
        TypeError: If `indices` are not integers, or `y` has a wider element type than `x`.
        ValueError: If the shapes do not fit.
    """
    return _add_slices_along_axis("InplaceIndexAdd", var, indices, updates, axis)


@operator(generation=2)
def IndexPut(x1, x2, indices: Tensors, *, accumulate: OneOf(0, 1) = 0):
    """Copy a Tensor and replace ``x1[indices]`` by values; `indices` has one Tensor per dimension.

    Args:
        accumulate (int): 1 to add the values to the elements. Default: 0.

    Inputs:
        - **x1** (Tensor) - Any Tensor.
        - **x2** (Tensor) - A vector of the element type of `x1` with one value for each index, or one value for all.
        - **indices** (tuple[Tensor]) - A vector of int32 or int64 for each of the first dimensions.

    Outputs:
        Tensor of the shape and element type of `x1`.

    Raises:
        TypeError: If the element types differ, or indices are not integers.
        ValueError: If there are more indices than dimensions.
    """
    same_dtype("IndexPut", x1=x1, x2=x2)
    for i, one in enumerate(indices):
        dtype_in("IndexPut", f"indices[{i}]", one, INDEX)
    if len(indices) > x1.ndim:
        raise ValueError(f"For 'IndexPut', 'indices' should be at most {x1.ndim}, but got {len(indices)}.")
    if len({one.shape for one in indices}) != 1 or x2.shape not in ((), (1,), indices[0].shape):
        raise ValueError(
            f"For 'IndexPut', 'indices' should be vectors of one length, and 'x2' one value or one for each of them, "
            f"but got the shapes {[one.shape for one in indices]} and {x2.shape}."
        )
    at = x1.at[tuple(indices)]
    rest = x2.reshape(-1, *(1,) * (x1.ndim - len(indices))) if x2.ndim == 1 else x2
    return (at.add if accumulate else at.set)(rest, mode="drop")


CASES = [
    case(IndexPut, F(2, 3), F(2), (Values([0, 1]), Values([1, -1]))).wrt(0, 1),
    case(IndexPut, F(2, 3), F(1), (Values([0, 0]), Values([1, 1])), accumulate=1).wrt(0, 1),
    case(InplaceIndexAdd, Written(F(2, 3)), Values([0, 2]), F(2, 2), axis=1),
    case(IndexAdd, F(2, 3), Values([0, 2]), F(2, 2), axis=1),
    case(index_add, Written(F(3, 2)), Values([0, 2]), F(2, 2), 0),
    case(inplace_index_add, Written(F(3, 2)), Values([0, 0]), F(2, 2), 0),
    case(_IndexAdded, F(3, 2), Values([0, 2]), F(2, 2), axis=0).without("mindspore", _A_PART),
    case(_IndexCopied, F(3, 2), Values([0, 2]), F(2, 2), dim=0).without("mindspore", _A_PART),
    case(_tensor_index_put, F(2, 3), (Values([0, 1]), Values([1, 2])), F(2)).without("gradient", "2.7.1 fails"),
    case(_tensor_index_put, F(2, 3), (Values([0, 0]), Values([1, 1])), F(2), True).without("gradient", "2.7.1 fails"),
    refused(ValueError, _IndexAdded, F(3, 2), Values([0, 2]), F(3, 2), axis=0, says="index_add"),
    refused(TypeError, _IndexAdded, F(3, 2), Values([0, 2]), F(2, 2, dtype="float64"), axis=0, says="index_add"),
]
