"""Reductions of mint. Arguments are `dim` and `keepdim`, indices are int64, and `std` and `var` are unbiased by
default."""

from typing import Any

from msnb.common import dtype as mstype
from msnb.common.kinds import Axis, Bool, DType, readable
from msnb.core.operator.api_generations import as_api2
from msnb.core.tensor.tensor import Tensor
from msnb.mint._rows import cast_to_int64
from msnb.ops import functional as F
from msnb.ops import operations as P
from msnb.ops.array.cast import Cast
from msnb.ops.math.maximum import Maximum, Minimum
from msnb.ops.nn.top_k import _KthValue

__all__ = [
    "count_nonzero",
    "cummax",
    "cummin",
    "cumsum",
    "kthvalue",
    "max",
    "mean",
    "median",
    "min",
    "norm",
    "prod",
    "std",
    "std_mean",
    "sum",
    "var",
    "var_mean",
]


def _cast_unless_none(x, dtype):
    return x if dtype is None else Cast.functional(x, dtype)


@readable
def sum(input: Tensor, dim: Axis = None, keepdim: Bool = False, *, dtype: DType | None = None) -> Tensor:
    """Return the sum over dimensions; integers and bool are added as int64.

    Args:
        input (Tensor): Numbers or bool.
        dim (Union[None, int, tuple[int], list[int]]): The dimensions, None for all. Default: None.
        keepdim (bool): Whether to keep the reduced dimensions with length 1. Default: False.
        dtype (mindspore.dtype): Element type in which to add. Default: None.

    Returns:
        Tensor.
    """
    return F.sum(input, dim, keepdim, dtype=dtype)


@readable
def mean(input: Tensor, dim: Axis = None, keepdim: Bool = False, *, dtype: DType | None = None) -> Tensor:
    """Return the mean over dimensions.

    Args:
        input (Tensor): Numbers.
        dim (Union[None, int, tuple[int], list[int]]): The dimensions, None for all. Default: None.
        keepdim (bool): Whether to keep the reduced dimensions with length 1. Default: False.
        dtype (mindspore.dtype): Element type in which to compute. Default: None, the type of `input`.

    Returns:
        Tensor.
    """
    return F.mean(_cast_unless_none(input, dtype), dim, keepdim)


@readable
def prod(input: Tensor, dim: Axis = None, keepdim: Bool = False, *, dtype: DType | None = None) -> Tensor:
    """Return the product over dimensions; integers and bool are multiplied as int64.

    Args:
        input (Tensor): Numbers or bool.
        dim (Union[None, int, tuple[int], list[int]]): The dimensions, None for all. Default: None.
        keepdim (bool): Whether to keep the reduced dimensions with length 1. Default: False.
        dtype (mindspore.dtype): Element type in which to multiply. Default: None.

    Returns:
        Tensor.
    """
    return F.prod(input, dim, keepdim, dtype)


@readable
def count_nonzero(input: Tensor, dim: Axis = None) -> Tensor:
    """Return the number of elements that are not 0.

    Args:
        input (Tensor): Numbers or bool.
        dim (Union[None, int, tuple[int], list[int]]): The dimensions, None for all. Default: None.

    Returns:
        Tensor of int64.
    """
    return F.sum(F.not_equal(input, 0), dim)


def _find_extreme_values(name, arg_class, elementwise, reduce_all, input, dim, keepdim, other):
    if not isinstance(input, Tensor):
        raise TypeError(f"For '{name}', 'input' should be a Tensor, but got {type(input).__name__}.")
    if dim is None and keepdim:
        raise TypeError(f"For '{name}', 'keepdim' is of a dimension, but 'dim' is None.")
    if other is not None or isinstance(dim, Tensor):
        return elementwise.functional(input, dim if other is None else other)
    if dim is None:
        return reduce_all(input)
    index, value = as_api2(arg_class)(dim, keepdim)(input)
    return value, cast_to_int64(index)


@readable
def max(
    input: Tensor, dim: int | Tensor | None = None, keepdim: Bool = False, *, other: Tensor | None = None
) -> Tensor | tuple[Tensor, Tensor]:
    """Return the largest element of `input`. With `dim`, return (largest elements along this dimension, their indices).
    With a second Tensor, return the element-wise maximum.

    Args:
        input (Tensor): Numbers.
        dim (Union[int, Tensor]): The dimension, or the second Tensor. Default: None.
        keepdim (bool): Whether to keep the dimension with length 1. Default: False.
        other (Tensor): The second Tensor. Default: None.

    Returns:
        Tensor; with a dimension a tuple (elements, int64 indices).
    """
    return _find_extreme_values("max", P.ArgMaxWithValue, Maximum, F.amax, input, dim, keepdim, other)


@readable
def min(
    input: Tensor, dim: int | Tensor | None = None, keepdim: Bool = False, *, other: Tensor | None = None
) -> Tensor | tuple[Tensor, Tensor]:
    """Return the smallest element of `input`. With `dim`, return (smallest elements along this dimension, their
    indices). With a second Tensor, return the element-wise minimum.

    Args:
        input (Tensor): Numbers.
        dim (Union[int, Tensor]): The dimension, or the second Tensor. Default: None.
        keepdim (bool): Whether to keep the dimension with length 1. Default: False.
        other (Tensor): The second Tensor. Default: None.

    Returns:
        Tensor; with a dimension a tuple (elements, int64 indices).
    """
    return _find_extreme_values("min", P.ArgMinWithValue, Minimum, F.amin, input, dim, keepdim, other)


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Return (the k-th smallest elements along a dimension, their indices).

    Args:
        input (Tensor): Numbers.
        k (int): The rank, counted from 1.
        dim (int): The dimension. Default: -1.
        keepdim (bool): Whether to keep the dimension with length 1. Default: False.

    Returns:
        A tuple (elements, int64 indices of the elements).
    """
    return _KthValue.functional(input, k, dim, keepdim)


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """Return the median. For an even number of elements it is the lower of the two middle elements.

    Args:
        input (Tensor): Numbers.
        dim (int): The dimension; None for all elements. Default: None.
        keepdim (bool): Whether to keep the dimension with length 1. Default: False.

    Returns:
        Tensor; with a dimension a tuple (elements, int64 indices).
    """
    if dim is None:
        flat = input.reshape(-1)
        return _KthValue.functional(flat, (flat.shape[0] + 1) // 2, 0, False)[0]
    return _KthValue.functional(input, (input.shape[dim] + 1) // 2, dim, keepdim)


def cummax(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Return (cumulative maxima along a dimension, their indices).

    Args:
        input (Tensor): Numbers.
        dim (int): The dimension.

    Returns:
        A tuple of two Tensors of the shape of `input`; the indices are int64.
    """
    values, indices = F.cummax(input, dim)
    return values, cast_to_int64(indices)


def cummin(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Return (cumulative minima along a dimension, their indices).

    Args:
        input (Tensor): Numbers.
        dim (int): The dimension.

    Returns:
        A tuple of two Tensors of the shape of `input`; the indices are int64.
    """
    values, indices = F.cummin(input, dim)
    return values, cast_to_int64(indices)


@readable
def cumsum(input: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """Return the cumulative sum along a dimension; integers and bool are added as int64.

    Args:
        input (Tensor): Numbers or bool.
        dim (int): The dimension.
        dtype (mindspore.dtype): Element type in which to add. Default: None.

    Returns:
        Tensor of the shape of `input`.
    """
    is_integer = input._array.dtype.kind in "biu"
    return F.cumsum(_cast_unless_none(input, mstype.int64 if is_integer and dtype is None else dtype), dim)


@readable
def std(input: Tensor, dim: Axis = None, *, correction: float = 1, keepdim: Bool = False) -> Tensor:
    """Return the standard deviation over dimensions.

    Args:
        input (Tensor): Floating point numbers.
        dim (Union[None, int, tuple[int]]): The dimensions, None for all. Default: None.
        correction (int): The divisor is the number of elements minus this. Default: 1.
        keepdim (bool): Whether to keep the dimensions with length 1. Default: False.

    Returns:
        Tensor.
    """
    return F.std(input, () if dim is None else dim, correction, keepdim)


@readable
def var(input: Tensor, dim: Axis = None, *, correction: float = 1, keepdim: Bool = False) -> Tensor:
    """Return the variance over dimensions.

    Args:
        input (Tensor): Floating point numbers.
        dim (Union[None, int, tuple[int]]): The dimensions, None for all. Default: None.
        correction (int): The divisor is the number of elements minus this. Default: 1.
        keepdim (bool): Whether to keep the dimensions with length 1. Default: False.

    Returns:
        Tensor.
    """
    return F.var(input, () if dim is None else dim, correction, keepdim)


@readable
def std_mean(input: Tensor, dim: Axis = None, *, correction: float = 1, keepdim: Bool = False) -> tuple[Tensor, Tensor]:
    """Return (standard deviation, mean), see `std`.

    Args:
        input (Tensor): Floating point numbers.
        dim (Union[None, int, tuple[int]]): The dimensions, None for all. Default: None.
        correction (int): The divisor is the number of elements minus this. Default: 1.
        keepdim (bool): Whether to keep the dimensions with length 1. Default: False.

    Returns:
        A tuple of two Tensors.
    """
    return std(input, dim, correction=correction, keepdim=keepdim), F.mean(input, dim, keepdim)


@readable
def var_mean(input: Tensor, dim: Axis = None, *, correction: float = 1, keepdim: Bool = False) -> tuple[Tensor, Tensor]:
    """Return (variance, mean), see `var`.

    Args:
        input (Tensor): Floating point numbers.
        dim (Union[None, int, tuple[int]]): The dimensions, None for all. Default: None.
        correction (int): The divisor is the number of elements minus this. Default: 1.
        keepdim (bool): Whether to keep the dimensions with length 1. Default: False.

    Returns:
        A tuple of two Tensors.
    """
    return var(input, dim, correction=correction, keepdim=keepdim), F.mean(input, dim, keepdim)


@readable
def norm(
    input: Tensor, p: Any = "fro", dim: Axis = None, keepdim: Bool = False, *, dtype: DType | None = None
) -> Tensor:
    """Return the norm of vectors. If `p` is "nuc", return the nuclear norm of matrices.

    Args:
        input (Tensor): Floating point or complex numbers.
        p (Union[int, float, "fro", "nuc"]): The order of the norm; "fro" is 2. Default: "fro".
        dim (Union[None, int, tuple[int], list[int]]): The dimensions of a vector or a matrix. Default: None, all
            dimensions for vectors and the last two for matrices.
        keepdim (bool): Whether to keep the reduced dimensions with length 1. Default: False.
        dtype (mindspore.dtype): Element type in which to compute. Default: None, the type of `input`.

    Returns:
        Tensor.

    Raises:
        ValueError: If `p` is another string.
    """
    if p == "nuc":
        return F.matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if isinstance(p, str) and p != "fro":
        raise ValueError(f"For 'norm', 'p' should be a number, 'fro' or 'nuc', but got {p!r}.")
    return F.vector_norm(input, 2 if p == "fro" else p, dim, keepdim, dtype=dtype)
