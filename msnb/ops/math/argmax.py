"""Indices of the largest and smallest elements along an axis."""

import jax
import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, Int
from msnb.core.operator.api_generations import called_as
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.support.type_promotion import np_dtype
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import ANY, axis_in, dtype_in, some, tensor_argument
from msnb.ops._numpy import ArrayLike, as_tensor
from msnb.ops.array.cast import Cast
from msnb.ops.array.create import ZerosLike
from msnb.ops.array.reshape import ExpandDims, Reshape
from msnb.ops.array.sort import IndexType


def _find_extreme_index(op, function, x, axis, output_type):
    dtype_in(op, "x", x, ANY)
    axis = axis_in(op, axis, x.ndim)
    some(op, "x", x, axis)
    return function(x, axis).astype(np_dtype(output_type))


@operator
def Argmax(x, *, axis: Int = -1, output_type: IndexType = mstype.int32):
    """Return the index of the largest element along an axis; among equal elements, the first index.

    Args:
        axis (int): The axis. Default: -1.
        output_type (mindspore.dtype): mindspore.int32 or mindspore.int64. Default: mindspore.int32.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.

    Outputs:
        Tensor of `output_type`, without the axis.

    Raises:
        TypeError: If `axis` is not an int or `output_type` is not supported.
        ValueError: If `axis` is out of range.

    Examples:
        >>> print(ops.Argmax()(Tensor([[1, 20, 5], [67, 8, 9]], mindspore.float32)))
        [1 0]
    """
    return _find_extreme_index("Argmax", jnp.argmax, x, axis, output_type)


@operator
def Argmin(x, *, axis: Int = -1, output_type: IndexType = mstype.int32):
    """Return the index of the smallest element along an axis; among equal elements, the first index.

    Args:
        axis (int): The axis. Default: -1.
        output_type (mindspore.dtype): mindspore.int32 or mindspore.int64. Default: mindspore.int32.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.

    Outputs:
        Tensor of `output_type`, without the axis.

    Raises:
        TypeError: If `axis` is not an int or `output_type` is not supported.
        ValueError: If `axis` is out of range.

    Examples:
        >>> print(ops.Argmin()(Tensor([2.0, 3.1, 1.2], mindspore.float32)))
        2
    """
    return _find_extreme_index("Argmin", jnp.argmin, x, axis, output_type)


def _find_extreme_index_and_value(op, function, x, axis, keep_dims):
    dtype_in(op, "x", x, ANY)
    axis = axis_in(op, axis, x.ndim)
    some(op, "x", x, axis)
    index = jax.lax.stop_gradient(function(x, axis, keepdims=True)).astype(jnp.int32)
    # The value is selected by index, so the gradient only goes to this element, and not to equal ones.
    value = jnp.take_along_axis(x, index, axis)
    return (index, value) if keep_dims else (jnp.squeeze(index, axis), jnp.squeeze(value, axis))


@operator
def ArgMaxWithValue(x, *, axis: Int = 0, keep_dims: Bool = False):
    """Return the largest elements along an axis and their indices; among equal elements, the first index.

    Args:
        axis (int): The axis. Default: 0.
        keep_dims (bool): Keep the axis with length 1. Default: False.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.

    Outputs:
        Two Tensors, without the axis, or with `keep_dims` with length 1.

        - **index** - Indices, int32.
        - **values** - The elements, of the element type of `x`.

    Raises:
        TypeError: If `axis` is not an int or `keep_dims` is not a bool.
        ValueError: If `axis` is out of range.

    Examples:
        >>> index, value = ops.ArgMaxWithValue()(Tensor([0.0, 0.4, 0.6, 0.7, 0.1], mindspore.float32))
        >>> print(index, value)
        3 0.7
    """
    return _find_extreme_index_and_value("ArgMaxWithValue", jnp.argmax, x, axis, keep_dims)


@operator
def ArgMinWithValue(x, *, axis: Int = 0, keep_dims: Bool = False):
    """Return the smallest elements along an axis and their indices; among equal elements, the first index.

    Args:
        axis (int): The axis. Default: 0.
        keep_dims (bool): Keep the axis with length 1. Default: False.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.

    Outputs:
        Two Tensors, without the axis, or with `keep_dims` with length 1.

        - **index** - Indices, int32.
        - **values** - The elements, of the element type of `x`.

    Raises:
        TypeError: If `axis` is not an int or `keep_dims` is not a bool.
        ValueError: If `axis` is out of range.

    Examples:
        >>> index, value = ops.ArgMinWithValue()(Tensor([0.5, 0.4, 0.6], mindspore.float32))
        >>> print(index, value)
        1 0.4
    """
    return _find_extreme_index_and_value("ArgMinWithValue", jnp.argmin, x, axis, keep_dims)


@spelling(Argmax)
@keyword_aliases(axis="dim")
def argmax(input: Tensor, dim: int | None = None, keepdim: Bool = False) -> Tensor:
    """Return the index of the largest element along an axis; among equal elements, the first index.

    Args:
        input (Tensor): Numbers.
        dim (int): The axis; None searches the flattened Tensor. Default: None.
        keepdim (bool): Keep the axis with length 1. Default: False.

    Returns:
        Tensor of int64.

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If `dim` is out of range.
    """
    tensor_argument("argmax", "input", input)
    if dim is None:
        return Argmax.functional(Reshape.functional(input, (-1,)), 0, mstype.int64)
    index = Argmax.functional(input, dim, mstype.int64)
    return ExpandDims.functional(index, dim) if keepdim else index


@spelling(Argmax, method="argmax", generation=1)
def _tensor_argmax(
    self: Tensor,
    axis: int | None = None,
    keepdims: Bool = False,
    *,
    dim: int | None = None,
    keepdim: Bool | None = None,
) -> Tensor:
    """Return the index of the largest element along an axis, int64. Without an axis, search the flattened Tensor."""
    return argmax(self, axis if dim is None else dim, bool(keepdims if keepdim is None else keepdim))


@spelling(Argmax, numpy="argmax")
def _numpy_argmax(a: ArrayLike, axis: int | None = None) -> Tensor:
    """Return the index of the largest element along an axis; among equal elements, the first index.

    Args:
        a (Union[Tensor, list, tuple, Number]): Numbers or bool.
        axis (int): The axis; None searches the flattened Tensor. Default: None.

    Returns:
        Tensor of int64, without the axis.

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` is out of range.
    """
    return argmax(as_tensor(a, "argmax", "a"), axis)


@spelling(Argmin)
def argmin(input: Tensor, axis: int | None = None, keepdims: Bool = False) -> Tensor:
    """Return the index of the smallest element along an axis; among equal elements, the first index.

    Args:
        input (Tensor): Numbers.
        axis (int): The axis; None searches the flattened Tensor. Default: None.
        keepdims (bool): Keep the axis with length 1. Default: False.

    Returns:
        Tensor of int32 (that of `argmax` is int64).

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If `axis` is out of range.
    """
    tensor_argument("argmin", "input", input)
    if axis is None:
        return Argmin.functional(Reshape.functional(input, (-1,)), 0, mstype.int32)
    index = Argmin.functional(input, axis, mstype.int32)
    return ExpandDims.functional(index, axis) if keepdims else index


@spelling(Argmin, method="argmin", generation=1)
def _tensor_argmin(
    self: Tensor,
    axis: int | None = None,
    keepdims: Bool = False,
    *,
    dim: int | None = None,
    keepdim: Bool | None = None,
) -> Tensor:
    """Return the index of the smallest element along an axis, int32. Without an axis, search the flattened Tensor."""
    return argmin(self, axis if dim is None else dim, bool(keepdims if keepdim is None else keepdim))


@spelling(Argmin, numpy="argmin")
def _numpy_argmin(a: ArrayLike, axis: int | None = None) -> Tensor:
    """Return the index of the smallest element along an axis; among equal elements, the first index.

    Args:
        a (Union[Tensor, list, tuple, Number]): Numbers or bool.
        axis (int): The axis; None searches the flattened Tensor. Default: None.

    Returns:
        Tensor of int32 (that of `argmax` is int64), without the axis.

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` is out of range.
    """
    return argmin(as_tensor(a, "argmin", "a"), axis)


@spelling(ArgMaxWithValue, method="argmax_with_value")
def _tensor_argmax_with_value(self: Tensor, axis: int | None = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the largest elements along an axis and their indices, int64. Without an axis, return the largest of all
    elements and index 0."""
    return _call_value_and_index_operator(ArgMaxWithValue, self, axis, keep_dims)


@spelling(ArgMinWithValue, method="argmin_with_value")
def _tensor_argmin_with_value(self: Tensor, axis: int | None = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the smallest elements along an axis and their indices, int64. Without an axis, return the smallest of all
    elements and index 0."""
    return _call_value_and_index_operator(ArgMinWithValue, self, axis, keep_dims)


def _call_value_and_index_operator(operator, tensor, axis, keep_dims):
    if axis is None or tensor.ndim == 0 and axis in (0, -1):
        _, value = operator(0, False)(Reshape.functional(tensor, (-1,)))
        return value, Cast.functional(ZerosLike.functional(value), mstype.int64)
    index, value = operator(axis, keep_dims)(tensor)
    return value, Cast.functional(index, mstype.int64)


def _make_index_and_value_function(operator):
    """Return MindSpore 2's function for the class `operator`; the function returns (index, value)."""
    name = operator.__name__

    def function(x: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
        value, index = _call_value_and_index_operator(operator, tensor_argument(name, "x", x), axis, keep_dims)
        return index, value

    return function


for _operator in (ArgMaxWithValue, ArgMinWithValue):
    called_as(
        _operator,
        _make_index_and_value_function(_operator),
        "the indices are int64, and a Tensor may have no dimension",
    )


CASES = [
    case(Argmax, F(3, 4), axis=1),
    case(Argmin, F(3, 4), axis=0),
    case(ArgMaxWithValue, F(3, 4), axis=1, keep_dims=True),
    case(ArgMinWithValue, F(3, 4), axis=0),
    refused(TypeError, Argmax, axis=1.0, says="axis"),
]
