"""Sums, products and means over axes, and the number of nonzero elements."""

from typing import Any

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Axis, Bool, DType
from msnb.core.operator.cases import F16, F, I, Values, case, refused
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import BOOL, NUMBER, axes_in, dtype_in, tensor_argument
from msnb.ops._numpy import ArrayLike, as_tensor, in_type
from msnb.ops._upcast import in_float32
from msnb.ops.array.cast import Cast
from msnb.ops.array.where import _Where
from msnb.ops.math.compare import NotEqual
from msnb.ops.math.isfinite import IsNan


@operator(functional="reduce_sum")
def ReduceSum(x, axis: Axis = (), *, keep_dims: Bool = False, skip_mode: Bool = False):
    """Sum over axes.

    Args:
        keep_dims (bool): Keep the reduced axes with length 1. Default: False.
        skip_mode (bool): If True, an `axis` of () reduces no axis; if False, it reduces all axes. Default: False.

    Inputs:
        - **x** (Tensor) - Numbers.
        - **axis** (Union[int, tuple, list]) - Axes to reduce; all for (). Default: ().

    Outputs:
        Tensor of the element type of `x`, without the reduced axes or with length 1 in them.

    Raises:
        TypeError: If `keep_dims` is not a bool, `axis` does not consist of int, or the element type is not supported.
        ValueError: If `axis` is out of range.

    Examples:
        >>> x = Tensor([[1., 2.], [3., 4.]], mindspore.float32)
        >>> print(ops.ReduceSum(keep_dims=False)(x, 1))
        [3. 7.]
    """
    dtype_in("ReduceSum", "x", x, NUMBER, api2=BOOL)
    axes = () if skip_mode and axis == () else axes_in("ReduceSum", axis, x.ndim)
    return jnp.sum(x, axes, dtype=x.dtype, keepdims=keep_dims)


@operator
@in_float32
def ReduceProd(x, axis: Axis = (), *, keep_dims: Bool = False):
    """Product over axes.

    Args:
        keep_dims (bool): Keep the reduced axes with length 1. Default: False.

    Inputs:
        - **x** (Tensor) - Numbers.
        - **axis** (Union[int, tuple, list]) - Axes to reduce; all for (). Default: ().

    Outputs:
        Tensor of the element type of `x`, without the reduced axes or with length 1 in them.

    Raises:
        TypeError: If `keep_dims` is not a bool, `axis` does not consist of int, or the element type is not supported.
        ValueError: If `axis` is out of range.

    Examples:
        >>> x = Tensor([[1., 2.], [3., 4.]], mindspore.float32)
        >>> print(ops.ReduceProd(keep_dims=False)(x, 1))
        [ 2. 12.]
    """
    dtype_in("ReduceProd", "x", x, NUMBER, api2=BOOL)
    return jnp.prod(x, axes_in("ReduceProd", axis, x.ndim), dtype=x.dtype, keepdims=keep_dims)


@operator(functional="reduce_mean")
def ReduceMean(x, axis: Axis = (), *, keep_dims: Bool = False):
    """Mean over axes; integers give an integer.

    Args:
        keep_dims (bool): Keep the reduced axes with length 1. Default: False.

    Inputs:
        - **x** (Tensor) - Numbers.
        - **axis** (Union[int, tuple, list]) - Axes to reduce; all for (). Default: ().

    Outputs:
        Tensor of the element type of `x`, without the reduced axes or with length 1 in them.

    Raises:
        TypeError: If `keep_dims` is not a bool, `axis` does not consist of int, or the element type is not supported.
        ValueError: If `axis` is out of range.

    Examples:
        >>> x = Tensor([[1., 2.], [3., 4.]], mindspore.float32)
        >>> print(ops.ReduceMean(keep_dims=False)(x, 1))
        [1.5 3.5]
    """
    dtype_in("ReduceMean", "x", x, NUMBER)
    axes = axes_in("ReduceMean", axis, x.ndim)
    if jnp.issubdtype(x.dtype, jnp.inexact):
        return jnp.mean(x, axes, keepdims=keep_dims)
    # Integers have an integer mean: the exact sum, divided and truncated.
    return jnp.mean(x, axes, dtype=jnp.float64, keepdims=keep_dims).astype(x.dtype)


_sum, _sum_keeping = ReduceSum(), ReduceSum(True)
_mean, _mean_keeping = ReduceMean(), ReduceMean(True)


def _cast_summand(op, x, dtype):
    """Cast `x` to the element type of its sum: `dtype` if set, int64 for integers and bool."""
    tensor_argument(op, "input", x)
    if dtype is None:
        return Cast.functional(x, mstype.int64) if x._array.dtype.kind in "biu" and x.dtype != mstype.int64 else x
    return x if x.dtype == dtype else Cast.functional(x, dtype)


@spelling(ReduceSum, function="sum")
def sum_(input: Tensor, dim: Axis = None, keepdim: Bool = False, *, dtype: DType | None = None) -> Tensor:
    """Sum over axes; integers and bool are added as int64.

    Args:
        input (Tensor): Numbers or bool.
        dim (Union[None, int, tuple[int], list[int]]): Axes; all for None. Default: None.
        keepdim (bool): Keep the axes with length 1. Default: False.
        dtype (mindspore.dtype): Element type of the result. Default: None: int64 for integers and bool, otherwise that
            of `input`.

    Returns:
        Tensor.

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If `dim` is out of range.

    Examples:
        >>> print(ops.sum(Tensor([[1, 2], [3, 4]], mindspore.float32), 1))
        [3. 7.]
    """
    x = _cast_summand("sum", input, dtype)
    return _sum(x, dim) if keepdim is False else _sum_keeping(x, dim) if keepdim is True else ReduceSum(keepdim)(x, dim)


@spelling(ReduceSum, method="sum", generation=1)
def _tensor_sum(
    self: Tensor,
    axis: Axis = None,
    dtype: DType | None = None,
    keepdims: Bool = False,
    initial: float | None = None,
    *,
    dim: Axis = None,
    keepdim: Bool | None = None,
    keep_dims: Bool | None = None,
) -> Tensor:
    """Sum over axes; integers and bool are added as int64.

    Args:
        axis (Union[None, int, tuple[int]]): Axes; all for None. Default: None.
        dtype (mindspore.dtype): Element type of the result. Default: None.
        keepdims (bool): Keep the axes with length 1. Default: False.
        initial (Number): Added to the sum. Default: None.

    Returns:
        Tensor.
    """
    if isinstance(dtype, bool):  # sum(axis, keepdims)
        dtype, keepdims = None, dtype
    for other in (keep_dims, keepdim):
        keepdims = keepdims if other is None else other
    total = sum_(self, axis if dim is None else dim, keepdims, dtype=dtype)
    return total if initial is None else total + initial


def without_nan(x: Tensor, instead: float = 0) -> Tensor:
    """Return `x` with NaN replaced by a number; integers unchanged."""
    return x if x._array.dtype.kind in "biu" else _Where.functional(IsNan.functional(x), instead, x)


@spelling(ReduceSum, function="nansum")
def nansum(input: Tensor, axis: Axis = None, keepdims: Bool = False, *, dtype: DType | None = None) -> Tensor:
    """Sum over axes; nan counts as 0.

    Args:
        input (Tensor): Numbers or bool.
        axis (Union[None, int, tuple[int]]): Axes; all for None. Default: None.
        keepdims (bool): Keep the axes with length 1. Default: False.
        dtype (mindspore.dtype): Element type of the result. Default: None, that of `input`, or int64 for bool.

    Returns:
        Tensor.
    """
    if dtype is None and isinstance(input, Tensor) and input.dtype != mstype.bool_:
        dtype = input.dtype
    return sum_(_Where.functional(IsNan.functional(input), 0, input), axis, keepdims, dtype=dtype)


spelling(ReduceSum, method="nansum")(keyword_aliases(dim="axis", keepdim="keepdims")(nansum))


@spelling(ReduceProd, function="prod")
def prod(input: Tensor, axis: Axis = None, keep_dims: Bool = False, dtype: DType | None = None) -> Tensor:
    """Product over axes; integers and bool are multiplied as int64.

    Args:
        input (Tensor): Numbers or bool.
        axis (Union[None, int, tuple[int], list[int]]): Axes; all for None. Default: None.
        keep_dims (bool): Keep the axes with length 1. Default: False.
        dtype (mindspore.dtype): Element type of the result. Default: None: int64 for integers and bool, otherwise that
            of `input`.

    Returns:
        Tensor.

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If `axis` is out of range.

    Examples:
        >>> print(ops.prod(Tensor([[1, 2], [3, 4]], mindspore.float32), 1))
        [ 2. 12.]
    """
    return ReduceProd.functional(_cast_summand("prod", input, dtype), axis, keep_dims)


spelling(ReduceProd, method="prod")(keyword_aliases(dim="axis", keepdim="keep_dims")(prod))


@spelling(ReduceMean)
def mean(x: Tensor, axis: Axis = None, keep_dims: Bool = False) -> Tensor:
    """Mean over axes; integers give an integer.

    Args:
        x (Tensor): Numbers.
        axis (Union[None, int, tuple[int], list[int]]): Axes; all for None. Default: None.
        keep_dims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor of the element type of `x`.

    Raises:
        TypeError: If `x` is not a Tensor of numbers.
        ValueError: If `axis` is out of range.

    Examples:
        >>> print(ops.mean(Tensor([[1, 2], [3, 4]], mindspore.float32), 1))
        [1.5 3.5]
    """
    tensor_argument("mean", "x", x)
    if keep_dims is False:
        return _mean(x, axis)
    return _mean_keeping(x, axis) if keep_dims is True else ReduceMean(keep_dims)(x, axis)


@spelling(ReduceMean, method="mean", generation=1)
def _tensor_mean(
    self: Tensor,
    axis: Axis = (),
    keep_dims: Bool = False,
    *,
    keepdims: Bool | None = None,
    keepdim: Bool | None = None,
    dim: Axis = None,
    dtype: DType | None = None,
) -> Tensor:
    """Mean over axes; integers give an integer.

    Args:
        axis (Union[None, int, tuple[int], list[int]]): Axes; all for (). Default: ().
        keep_dims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor of the element type of this Tensor.
    """
    for other in (keepdim, keepdims):
        keep_dims = keep_dims if other is None else other
    return mean(self if dtype is None else Cast.functional(self, dtype), axis if dim is None else dim, keep_dims)


@spelling(ReduceSum, function="count_nonzero")
def count_nonzero(x: Tensor, axis: Axis = (), keep_dims: Bool = False, dtype: DType = mstype.int32) -> Tensor:
    """Count the nonzero elements over axes.

    Args:
        x (Tensor): Numbers.
        axis (Union[int, tuple[int], list[int]]): Axes; all for (). Default: ().
        keep_dims (bool): Keep the axes with length 1. Default: False.
        dtype (mindspore.dtype): Element type of the result, a number or bool. Default: mindspore.int32.

    Returns:
        Tensor of element type `dtype`.

    Raises:
        TypeError: If `axis` does not consist of int, `keep_dims` not a bool, or `x` is not numeric.
        ValueError: If `axis` is out of range.

    Examples:
        >>> print(ops.count_nonzero(Tensor([[0, 1, 0], [1, 1, 0]], mindspore.float32)))
        3
    """
    tensor_argument("count_nonzero", "x", x)
    if x.dtype == mstype.bool_:
        raise TypeError("For 'count_nonzero', 'x' should be made of numbers, but got Bool; cast it first.")
    if dtype not in (*mstype.number_type, mstype.bool_):
        raise TypeError(f"For 'count_nonzero', 'dtype' should be a number type or bool, but got {dtype!r}.")
    counted = Cast.functional(NotEqual.functional(x, 0), mstype.int64)
    return Cast.functional(ReduceSum.functional(counted, axis, keep_dims=keep_dims), dtype)


spelling(ReduceSum, method="count_nonzero")(keyword_aliases(dim="axis")(count_nonzero))


@operator(generation=2)
def CountNonZero(x, *, dims: Axis = ()):
    """Count the nonzero elements over axes.

    Args:
        dims (Union[int, tuple[int], list[int]]): Axes; all for (). Default: ().

    Inputs:
        - **x** (Tensor) - Numbers.

    Outputs:
        Tensor of int64, without the axes.

    Raises:
        TypeError: If `x` does not consist of numbers.
        ValueError: If an axis is out of range.
    """
    dtype_in("CountNonZero", "x", x, NUMBER)
    return jnp.count_nonzero(x, axes_in("CountNonZero", dims, x.ndim, "dims")).astype(jnp.int64)


@spelling(ReduceSum, numpy="sum")
def _numpy_sum(
    a: ArrayLike, axis: Axis = None, dtype: Any = None, keepdims: Bool = False, initial: float | None = None
) -> Tensor:
    """Sum over axes; bool, signed integers and uint8 are added as int64.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers.
        axis (Union[None, int, tuple[int], list[int]]): Axes; all for None. Default: None.
        dtype (mindspore.dtype): Element type in which to add. Default: None: int64 for bool, signed integers and uint8,
            otherwise that of `a`.
        keepdims (bool): Keep the axes with length 1. Default: False.
        initial (Union[int, float]): Added to the sum. Default: None.

    Returns:
        Tensor.

    Raises:
        TypeError: If `a` has another type, `axis` does not consist of int, or `keepdims` is not a bool.
        ValueError: If `axis` is out of range.
    """
    x = as_tensor(a, "sum", "a")
    narrow = x._array.dtype.kind in "bi" or x.dtype == mstype.uint8
    x = in_type(x, mstype.int64 if dtype is None and narrow else dtype, "sum")
    total = ReduceSum.functional(Cast.functional(x, mstype.int32) if x.dtype == mstype.bool_ else x, axis, keepdims)
    total = total if initial is None else in_type(total + as_tensor(initial, "sum", "initial"), total.dtype, "sum")
    return in_type(total, dtype, "sum")


@spelling(ReduceMean, numpy="mean")
def _numpy_mean(a: ArrayLike, axis: Axis = None, keepdims: Bool = False, dtype: Any = None) -> Tensor:
    """Mean over axes; integers give an integer, unless `dtype` is another type.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers; bool is converted to int32.
        axis (Union[None, int, tuple[int], list[int]]): Axes; all for None. Default: None.
        keepdims (bool): Keep the axes with length 1. Default: False.
        dtype (mindspore.dtype): Element type in which to compute. Default: None, that of `a`.

    Returns:
        Tensor.

    Raises:
        TypeError: If `a` has another type, `axis` does not consist of int, or `keepdims` is not a bool.
        ValueError: If `axis` is out of range.
    """
    x = in_type(as_tensor(a, "mean", "a"), dtype, "mean")
    return mean(Cast.functional(x, mstype.int32) if x.dtype == mstype.bool_ else x, axis, keepdims)


@spelling(ReduceSum, numpy="nansum")
def _numpy_nansum(a: ArrayLike, axis: Axis = None, dtype: Any = None, keepdims: Bool = False) -> Tensor:
    """Sum over axes; nan counts as 0; integers are added in their own type.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Numbers; bool is converted to int32.
        axis (Union[None, int, tuple[int], list[int]]): Axes; all for None. Default: None.
        dtype (mindspore.dtype): Element type of the result. Default: None, that of `a`.
        keepdims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor.

    Raises:
        TypeError: If `a` has another type, `axis` does not consist of int, or `keepdims` is not a bool.
        ValueError: If `axis` is out of range.
    """
    x = without_nan(as_tensor(a, "nansum", "a"))
    x = Cast.functional(x, mstype.int32) if x.dtype == mstype.bool_ else x
    return in_type(ReduceSum.functional(x, axis, keepdims), dtype, "nansum")


@spelling(ReduceSum, numpy="count_nonzero")
def _numpy_count_nonzero(x: ArrayLike, axis: Axis = None, keepdims: Bool = False) -> Tensor:
    """Count the nonzero elements over axes.

    Args:
        x (Union[Tensor, list, tuple, int, float, bool]): Of any shape.
        axis (Union[None, int, tuple[int], list[int]]): Axes; all for None. Default: None.
        keepdims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor of int32.

    Raises:
        TypeError: If `x` has another type, `axis` does not consist of int, or `keepdims` is not a bool.
        ValueError: If `axis` is out of range.
    """
    x = as_tensor(x, "count_nonzero", "x")
    return count_nonzero(Cast.functional(x, mstype.int32) if x.dtype == mstype.bool_ else x, axis, keepdims)


@spelling(ReduceSum, method="sum_to_size")
def _tensor_sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Sum over the axes along which a Tensor of shape `size` would be broadcast to this Tensor's shape.

    Args:
        size (Union[int, tuple[int], list[int]]): The shape, as one argument or as several.

    Returns:
        Tensor of that shape.

    Raises:
        ValueError: If that shape does not broadcast to that of the Tensor.
    """
    shape = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    behind = self.shape[len(self.shape) - len(shape) :]
    if len(shape) > self.ndim or any(n not in (1, old) for n, old in zip(shape, behind)):
        raise ValueError(f"For 'sum_to_size', {shape} should broadcast to the shape of the Tensor, {self.shape}.")
    lead = self.ndim - len(shape)
    axes = tuple(i + lead for i, (n, old) in enumerate(zip(shape, behind)) if n != old)
    total = ReduceSum(True)(self, axes) if axes else self
    return ReduceSum()(total, tuple(range(lead))) if lead else total


CASES = [
    case(CountNonZero, I(2, 3, low=0, high=3), dims=1).without("mindspore", "its class cannot be called"),
    case(ReduceSum, F(2, 3, 2)),
    case(ReduceSum, F(2, 3, 2), 1),
    case(ReduceSum, F(2, 3, 2), (0, -1), keep_dims=True),
    case(ReduceSum, F(3), (), keep_dims=True),
    case(ReduceSum, I(2, 3), 1),
    case(ReduceProd, F(2, 3, 2)).without("gradient", "MindSpore 2.7.1 hands the cotangent through"),
    case(ReduceProd, F(2, 3, 2), 1),
    case(ReduceProd, F(2, 3, 2), (0, -1), keep_dims=True),
    case(ReduceProd, I(2, 3), 1),
    case(ReduceMean, F(2, 3, 2), 1),
    case(ReduceMean, F(2, 3, 2), (0, -1), keep_dims=True),
    case(ReduceMean, Values([-1, -2, -4])),
    case(ReduceMean, F16(64)),
    refused(ValueError, ReduceSum, F(2, 3), 5),
    refused(TypeError, ReduceSum, F(2, 3), 5.0),
    refused(TypeError, ReduceSum, keep_dims=1, says="keep_dims"),
]
