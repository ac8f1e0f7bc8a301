"""Cumulative sums, products and extremes along an axis."""

from typing import Any

import jax.numpy as jnp
from jax import lax

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, Int, check
from msnb.core.operator.cases import F, Flags, I, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import FLOAT, NUMBER, axis_in, dtype_in, tensor_argument
from msnb.ops._numpy import ArrayLike, as_tensor, element_type, in_type
from msnb.ops._upcast import in_float32
from msnb.ops.array.cast import Cast
from msnb.ops.array.reshape import Reshape


@operator
def CumSum(x, axis: Int, *, exclusive: Bool = False, reverse: Bool = False):
    """Running sum along an axis.

    Args:
        exclusive (bool): Exclude each element from its own sum. Default: False.
        reverse (bool): Accumulate from the end. Default: False.

    Inputs:
        - **x** (Tensor) - Numbers.
        - **axis** (int) - The axis of the accumulation.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` does not consist of numbers, `axis` is not an int, or an argument is not a bool.
        ValueError: If `axis` is out of range.

    Examples:
        >>> x = Tensor([[1., 2., 3.]], mindspore.float32)
        >>> print(ops.CumSum()(x, 1))
        [[1. 3. 6.]]
    """
    return _accumulate_along_axis("CumSum", jnp.cumsum, 0, x, axis, exclusive, reverse)


@operator
def CumProd(x, axis: Int, *, exclusive: Bool = False, reverse: Bool = False):
    """Running product along an axis.

    Args:
        exclusive (bool): Exclude each element from its own product. Default: False.
        reverse (bool): Accumulate from the end. Default: False.

    Inputs:
        - **x** (Tensor) - Numbers.
        - **axis** (int) - The axis of the accumulation.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` does not consist of numbers, `axis` is not an int, or an argument is not a bool.
        ValueError: If `axis` is out of range.

    Examples:
        >>> x = Tensor([[1., 2., 3.]], mindspore.float32)
        >>> print(ops.CumProd()(x, 1))
        [[1. 2. 6.]]
    """
    return _accumulate_along_axis("CumProd", jnp.cumprod, 1, x, axis, exclusive, reverse)


def _accumulate_along_axis(op, accumulate, start, x, axis, exclusive, reverse):
    """Apply a cumulative function along an axis. With `exclusive` the first result is `start`."""
    dtype_in(op, "x", x, NUMBER)
    axis = axis_in(op, axis, x.ndim)
    if reverse:
        x = jnp.flip(x, axis)
    result = in_float32(lambda x: accumulate(x, axis=axis, dtype=x.dtype))(x)
    if exclusive:
        first = jnp.full_like(jnp.take(result, jnp.arange(min(1, x.shape[axis])), axis=axis), start)
        result = jnp.concatenate([first, jnp.take(result, jnp.arange(x.shape[axis] - 1), axis=axis)], axis)
    return jnp.flip(result, axis) if reverse else result


@spelling(CumSum)
def cumsum(x: Tensor, axis: int, dtype: DType | None = None) -> Tensor:
    """Running sum along an axis.

    Args:
        x (Tensor): Numbers.
        axis (int): The axis.
        dtype (mindspore.dtype): Element type of the result. Default: None, that of `x`.

    Returns:
        Tensor of the shape of `x`.
    """
    return _cast_and_accumulate("cumsum", CumSum.functional, x, axis, dtype)


@spelling(CumProd)
def cumprod(input: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """Running product along an axis.

    Args:
        input (Tensor): Numbers.
        dim (int): The axis.
        dtype (mindspore.dtype): Element type of the result. Default: None, that of `input`.

    Returns:
        Tensor of the shape of `input`.
    """
    if dtype == mstype.bool_:  # the product of bool is logical and
        truth = Cast.functional(tensor_argument("cumprod", "x", input), dtype)
        return Cast.functional(_cast_and_accumulate("cumprod", CumProd.functional, truth, dim, mstype.int8), dtype)
    return _cast_and_accumulate("cumprod", CumProd.functional, input, dim, dtype)


def _cast_and_accumulate(op, accumulate, x, axis, dtype):
    tensor_argument(op, "x", x)
    return accumulate(x if dtype is None else Cast.functional(x, dtype), axis)


_WIDENED = {mstype.bool_: mstype.int32, mstype.int8: mstype.int32, mstype.int16: mstype.int32}
_ADDED_AS = {**_WIDENED, mstype.uint8: mstype.int32}  # element type -> type of its cumulative sum


@spelling(CumSum, method="cumsum", generation=1)
def _tensor_cumsum(
    self: Tensor, axis: int | None = None, dtype: DType | None = None, *, dim: int | None = None
) -> Tensor:
    """Return the cumulative sum along an axis, or of the flattened Tensor. bool and small integers become int32."""
    axis = axis if dim is None else dim
    dtype = _ADDED_AS.get(self.dtype) if dtype is None else dtype
    return cumsum(self.reshape(-1), 0, dtype) if axis is None else cumsum(self, axis, dtype)


@spelling(CumProd, method="cumprod")
def _tensor_cumprod(
    self: Tensor, axis: int | None = None, dtype: DType | None = None, *, dim: int | None = None
) -> Tensor:
    """Return the cumulative product along an axis, or of the flattened Tensor."""
    axis = axis if dim is None else dim
    return cumprod(self.reshape(-1), 0, dtype) if axis is None else cumprod(self, axis, dtype)


def _accumulate_array_like(function, run, a, axis, dtype, wide):
    x = as_tensor(a, function, "a")
    dtype_of_sum = element_type(dtype, function) if dtype is not None else wide.get(x.dtype, x.dtype)
    if axis is None:
        x, axis = Reshape.functional(x, (-1,)), 0
    return run(in_type(x, dtype_of_sum, function), check(Int, axis, "axis", function))


@spelling(CumSum, numpy="cumsum")
def _numpy_cumsum(a: ArrayLike, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Running sum along an axis; bool and integers below 32 bits are added as int32.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers.
        axis (int): The axis; None flattens the Tensor. Default: None.
        dtype (mindspore.dtype): Element type of the computation. Default: None, the type of `a`, or int32 for bool and
            small integers.

    Returns:
        Tensor of the shape of `a`, or a vector.

    Raises:
        TypeError: If `a` has another type, or `axis` is not an int.
        ValueError: If `axis` is out of range.
    """
    return _accumulate_array_like("cumsum", CumSum.functional, a, axis, dtype, _ADDED_AS)


@spelling(CumProd, numpy="cumprod")
def _numpy_cumprod(a: ArrayLike, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Running product along an axis; bool and integers below 32 bits are multiplied as int32 or uint32.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers.
        axis (int): The axis; None flattens the Tensor. Default: None.
        dtype (mindspore.dtype): Element type of the computation. Default: None, the type of `a`, or a type of 32 bits
            for bool and small integers.

    Returns:
        Tensor of the shape of `a`, or a vector.

    Raises:
        TypeError: If `a` has another type, or `axis` is not an int.
        ValueError: If `axis` is out of range.
    """
    wide = {**_WIDENED, mstype.uint8: mstype.uint32, mstype.uint16: mstype.uint32}
    return _accumulate_array_like("cumprod", CumProd.functional, a, axis, dtype, wide)


def _compute_cumulative_extremes(op, combine, x, axis):
    """Return the cumulative extremes along an axis and the index of the last element with that value."""
    dtype_in(op, "input", x, NUMBER)
    axis = axis_in(op, axis, x.ndim)
    positions = lax.broadcasted_iota(jnp.int64, x.shape, axis)

    def later(left, right):
        (a, i), (b, j) = left, right
        takes = combine(b, a) | jnp.isnan(b)
        return jnp.where(takes, b, a), jnp.where(takes, j, i)

    _, where = lax.associative_scan(later, (lax.stop_gradient(x), positions), axis=axis)
    return jnp.take_along_axis(x, where, axis), where


@operator(functional="cummax", called=("input",), methods=("cummax",), generation=2)
def Cummax(x, *, axis: Int):
    """Cumulative maximum along an axis, and the index of each maximum.

    Args:
        axis (int): The axis of the accumulation.

    Inputs:
        - **x** (Tensor) - Numbers.

    Outputs:
        A tuple of two Tensors of the shape of `x`: the elements, and their indices, int64; among equal elements, the
        last index.

    Raises:
        TypeError: If `x` does not consist of numbers, or `axis` is not an int.
        ValueError: If `axis` is out of range.
    """
    return _compute_cumulative_extremes("cummax", jnp.greater_equal, x, axis)


@operator(functional="cummin", called=("input",), methods=("cummin",), generation=2)
def Cummin(x, *, axis: Int):
    """Cumulative minimum along an axis, and the index of each minimum.

    Args:
        axis (int): The axis of the accumulation.

    Inputs:
        - **x** (Tensor) - Numbers.

    Outputs:
        A tuple of two Tensors of the shape of `x`: the elements, and their indices, int32; among equal elements, the
        last index.

    Raises:
        TypeError: If `x` does not consist of numbers, or `axis` is not an int.
        ValueError: If `axis` is out of range.
    """
    values, indices = _compute_cumulative_extremes("cummin", jnp.less_equal, x, axis)
    return values, indices.astype(jnp.int32)


@operator(generation=2)
def CumulativeLogsumexp(x, axis: Int, *, exclusive: Bool = False, reverse: Bool = False):
    """Logarithm of the running sum of exponentials along an axis.

    Args:
        exclusive (bool): Exclude each element from its own result. The first result is then the lowest finite number.
            Default: False.
        reverse (bool): Accumulate from the end. Default: False.

    Inputs:
        - **x** (Tensor) - Floating point.
        - **axis** (Union[Tensor, int]) - The axis of the accumulation.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not floating point, or `axis` is not an int.
        ValueError: If `axis` is out of range.
    """
    dtype_in("logcumsumexp", "input", x, FLOAT)
    axis = axis_in("logcumsumexp", axis, x.ndim)
    result = in_float32(lax.cumlogsumexp)(x, axis, reverse)
    if not exclusive:
        return result
    first = lax.slice_in_dim(result, 0, 1, axis=axis)
    lowest = jnp.full_like(first, jnp.finfo(x.dtype).min)
    if reverse:
        return jnp.concatenate([lax.slice_in_dim(result, 1, None, axis=axis), lowest], axis)
    return jnp.concatenate([lowest, lax.slice_in_dim(result, 0, x.shape[axis] - 1, axis=axis)], axis)


@spelling(CumulativeLogsumexp, function="logcumsumexp", method="logcumsumexp")
def logcumsumexp(input: Tensor, axis: int) -> Tensor:
    """Logarithm of the running sum of exponentials along an axis.

    Args:
        input (Tensor): Floating point.
        axis (int): The axis of the accumulation.

    Returns:
        Tensor of the shape and element type of `input`.

    Raises:
        TypeError: If `input` is not floating point, or `axis` is not an int.
        ValueError: If `axis` is out of range.
    """
    return CumulativeLogsumexp()(input, axis)


CASES = [
    case(Cummax, F(2, 4), axis=1).without("gradient", "2.7.1 dies of it"),
    case(Cummin, F(3, 2), axis=0).without("gradient", "2.7.1 dies of it"),
    case(Cummax, Values([[1, 3, 3, 2]]), axis=-1).without("gradient", "2.7.1 dies of it"),
    case(Cummin, Values([[3, 1, 1, 2]]), axis=-1).without("gradient", "2.7.1 dies of it"),
    case(CumulativeLogsumexp, F(2, 4), Values(1)),
    case(CumulativeLogsumexp, F(2, 4), Values(0), reverse=True),
    case(CumulativeLogsumexp, F(2, 4), Values(1), exclusive=True).without("half", "it gives float32's lowest"),
    case(logcumsumexp, F(2, 4), 1),
    refused(ValueError, Cummax, F(2), axis=1),
    refused(TypeError, logcumsumexp, I(2), 0),
    *(
        case(run, F(2, 4), *axis, **attributes)
        for run in (CumSum, CumProd)
        for axis, attributes in (
            ((1,), {}),
            ((0,), {"exclusive": True}),
            ((-1,), {"reverse": True}),
            ((1,), {"exclusive": True, "reverse": True}),
        )
    ),
    case(CumSum, I(2, 3), 1),
    refused(TypeError, CumSum, Flags(2), 0),
]
