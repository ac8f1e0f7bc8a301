"""Statistics that ignore NaN. `nansum` is declared elsewhere, next to its operator."""

import math
from typing import Any

from msnb.common import dtype as mstype
from msnb.common.kinds import Axis, Bool, DType, Int
from msnb.core.operator.cases import F, Values, case
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import tensor_argument
from msnb.ops._numpy import ArrayLike, as_tensor, element_type, in_type
from msnb.ops.array.cast import Cast
from msnb.ops.array.where import _Where
from msnb.ops.math.cumulative import _numpy_cumsum
from msnb.ops.math.exponential import Sqrt, Square
from msnb.ops.math.extremes import ReduceMax, ReduceMin
from msnb.ops.math.isfinite import IsNan
from msnb.ops.math.logic import LogicalNot, ReduceAll
from msnb.ops.math.sum import ReduceSum, without_nan


def _reduce_without_nan(function, reduction, least, a, axis, dtype, keepdims):
    x = as_tensor(a, function, "a")
    if x._array.dtype.kind in "biu":
        return in_type(reduction.functional(x, axis, keepdims), dtype, function)
    reduced = reduction.functional(without_nan(x, least), axis, keepdims)
    nothing = ReduceAll.functional(IsNan.functional(x), axis, keepdims)
    return in_type(_Where.functional(nothing, math.nan, reduced), dtype, function)


@spelling(numpy="nanmax")
def nanmax(a: ArrayLike, axis: Axis = None, dtype: Any = None, keepdims: Bool = False) -> Tensor:
    """Largest element over axes, ignoring nan. The result is nan if all elements are nan.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers.
        axis (Union[None, int, tuple[int], list[int]]): Axes to reduce. Default: None, all axes.
        dtype (mindspore.dtype): Element type of the result. Default: None, that of `a`.
        keepdims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor.

    Raises:
        TypeError: If `a` has another type, `axis` does not consist of int, or `keepdims` is not a bool.
        ValueError: If `axis` is out of range.
    """
    return _reduce_without_nan("nanmax", ReduceMax, -math.inf, a, axis, dtype, keepdims)


@spelling(numpy="nanmin")
def nanmin(a: ArrayLike, axis: Axis = None, dtype: Any = None, keepdims: Bool = False) -> Tensor:
    """Smallest element over axes, ignoring nan. The result is nan if all elements are nan.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers.
        axis (Union[None, int, tuple[int], list[int]]): Axes to reduce. Default: None, all axes.
        dtype (mindspore.dtype): Element type of the result. Default: None, that of `a`.
        keepdims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor.

    Raises:
        TypeError: If `a` has another type, `axis` does not consist of int, or `keepdims` is not a bool.
        ValueError: If `axis` is out of range.
    """
    return _reduce_without_nan("nanmin", ReduceMin, math.inf, a, axis, dtype, keepdims)


def _convert_to_real_floats(function, a, dtype):
    """Convert `a` to floating point of at least 32 bits. Return the Tensor and the element type of the result."""
    x = as_tensor(a, function, "a")
    x = x if x.dtype == mstype.float64 else Cast.functional(x, mstype.float32)
    return x, x.dtype if dtype is None else element_type(dtype, function)


def _count_non_nan(x, axis, keepdims):
    """Count the elements that are not NaN, in the element type of `x`."""
    return ReduceSum.functional(Cast.functional(LogicalNot.functional(IsNan.functional(x)), x.dtype), axis, keepdims)


def _mean_without_nan(x, axis, keepdims):
    return ReduceSum.functional(without_nan(x), axis, keepdims) / _count_non_nan(x, axis, keepdims)


def _variance_without_nan(x, axis, ddof, keepdims):
    squares = Square.functional(without_nan(x - _mean_without_nan(x, axis, True)))
    return ReduceSum.functional(squares, axis, keepdims) / (_count_non_nan(x, axis, keepdims) - ddof)


@spelling(numpy="nanmean")
def nanmean(a: ArrayLike, axis: Axis = None, dtype: Any = None, keepdims: Bool = False) -> Tensor:
    """Mean over axes, ignoring nan. The result is nan if all elements are nan.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers.
        axis (Union[None, int, tuple[int], list[int]]): Axes to reduce. Default: None, all axes.
        dtype (mindspore.dtype): Element type of the result. Default: None, float64 for float64, else float32.
        keepdims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor.

    Raises:
        TypeError: If `a` has another type, `axis` does not consist of int, or `keepdims` is not a bool.
        ValueError: If `axis` is out of range.

    Examples:
        >>> print(mindspore.numpy.nanmean([1.0, float("nan"), 3.0]))
        2.0
    """
    x, dtype = _convert_to_real_floats("nanmean", a, dtype)
    return in_type(_mean_without_nan(x, axis, keepdims), dtype, "nanmean")


@spelling(function="nanmean", method="nanmean")
def _ops_nanmean(input: Tensor, axis: Axis = None, keepdims: Bool = False, *, dtype: DType | None = None) -> Tensor:
    """Mean over axes, ignoring nan. The result is nan if all elements are nan.

    Args:
        input (Tensor): Numbers.
        axis (Union[None, int, tuple[int], list[int]]): Axes to reduce. Default: None, all axes.
        keepdims (bool): Keep the axes with length 1. Default: False.
        dtype (mindspore.dtype): Element type of the result. Default: None, that of `input`, float32 for integers.

    Returns:
        Tensor.

    Raises:
        TypeError: If `input` is no Tensor, or `keepdims` is not a bool.
        ValueError: If `axis` is out of range.
    """
    result_type = input.dtype if tensor_argument("nanmean", "input", input).is_floating_point() else mstype.float32
    x, _ = _convert_to_real_floats("nanmean", input, None)
    return in_type(_mean_without_nan(x, axis, keepdims), dtype or result_type, "nanmean")


@spelling(numpy="nanvar")
def nanvar(a: ArrayLike, axis: Axis = None, dtype: Any = None, ddof: Int = 0, keepdims: Bool = False) -> Tensor:
    """Variance over axes, ignoring nan. The result is nan if all elements are nan.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers.
        axis (Union[None, int, tuple[int], list[int]]): Axes to reduce. Default: None, all axes.
        dtype (mindspore.dtype): Element type of the result. Default: None, float64 for float64, else float32.
        ddof (int): Delta degrees of freedom: the sum of squares is divided by the number of non-nan elements minus
            `ddof`. Default: 0.
        keepdims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor.

    Raises:
        TypeError: If `a` has another type, `axis` does not consist of int, or `keepdims` is not a bool.
        ValueError: If `axis` is out of range.
    """
    x, dtype = _convert_to_real_floats("nanvar", a, dtype)
    return in_type(_variance_without_nan(x, axis, ddof, keepdims), dtype, "nanvar")


@spelling(numpy="nanstd")
def nanstd(a: ArrayLike, axis: Axis = None, dtype: Any = None, ddof: Int = 0, keepdims: Bool = False) -> Tensor:
    """Standard deviation over axes, ignoring nan. The result is nan if all elements are nan.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers.
        axis (Union[None, int, tuple[int], list[int]]): Axes to reduce. Default: None, all axes.
        dtype (mindspore.dtype): Element type of the result. Default: None, float64 for float64, else float32.
        ddof (int): Delta degrees of freedom: the sum of squares is divided by the number of non-nan elements minus
            `ddof`. Default: 0.
        keepdims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor.

    Raises:
        TypeError: If `a` has another type, `axis` does not consist of int, or `keepdims` is not a bool.
        ValueError: If `axis` is out of range.
    """
    x, dtype = _convert_to_real_floats("nanstd", a, dtype)
    return in_type(Sqrt.functional(_variance_without_nan(x, axis, ddof, keepdims)), dtype, "nanstd")


@spelling(numpy="nancumsum")
def nancumsum(a: ArrayLike, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Running sum along an axis in which nan is treated as 0; bool and integers below 32 bits are added as int32.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers.
        axis (int): The axis; None flattens the Tensor. Default: None.
        dtype (mindspore.dtype): Element type of the sum. Default: None, that of `a`, or int32 for bool and small ints.

    Returns:
        Tensor of the shape of `a`, or a vector.

    Raises:
        TypeError: If `a` has another type, or `axis` is not an int.
        ValueError: If `axis` is out of range.
    """
    return _numpy_cumsum(without_nan(as_tensor(a, "nancumsum", "a")), axis, dtype)


CASES = [
    case(_ops_nanmean, F(2, 3), 1, True),
    case(_ops_nanmean, Values([[1.0, math.nan], [3.0, 4.0]])).without("gradient", "MindSpore's is nan at nan"),
]
