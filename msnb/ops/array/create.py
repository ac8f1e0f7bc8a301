"""Tensors of constant values, created from a shape or like another Tensor."""

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import DType, Optional, Shape, check
from msnb.core.operator.cases import F, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.support.type_promotion import np_dtype
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import ANY, dtype_in, rank, tensor_argument, tensor_only
from msnb.ops._in_place import take_over
from msnb.ops._numpy import ArrayLike, as_tensor, element_type, in_type
from msnb.ops.array.broadcast import BroadcastTo
from msnb.ops.array.cast import Cast, cast_array


@operator
def Fill(type: DType, shape: Shape, value):
    """A Tensor of a given shape filled with one value.

    Inputs:
        - **type** (mindspore.dtype) - Element type.
        - **shape** (tuple[int]) - Shape of the result.
        - **value** (Union[Number, bool, Tensor]) - The value; a Tensor must be a scalar.

    Outputs:
        Tensor of shape `shape` and element type `type`.

    Raises:
        TypeError: If `type` is not a type of Tensor elements or `shape` is not a tuple of int.
        ValueError: If an entry of `shape` is negative.

    Examples:
        >>> print(ops.Fill()(mindspore.float32, (2, 2), 1))
        [[1. 1.]
         [1. 1.]]
    """
    _check_non_negative_shape("Fill", shape)
    rank("Fill", "value", value, 0)
    return jnp.full(shape, cast_array(value, np_dtype(type)))


def _check_non_negative_shape(op, shape):
    if any(n < 0 for n in shape):
        raise ValueError(f"For '{op}', 'shape' should not have negative entries, but got {shape}.")


@spelling(Fill, generation=1)
def fill(type: DType, shape: tuple[int, ...], value: Tensor | float | bool) -> Tensor:
    """A Tensor of a given shape filled with one value.

    Args:
        type (mindspore.dtype): Element type.
        shape (tuple[int]): Shape of the result.
        value (Union[Number, bool, Tensor]): The value.

    Returns:
        Tensor of shape `shape` and element type `type`.

    Examples:
        >>> print(ops.fill(mindspore.float32, (2, 2), 1))
        [[1. 1.]
         [1. 1.]]
    """
    return Fill.functional(type, shape, value)


def _infer_dtype(value):
    """Return the element type of a Python number or Tensor."""
    if isinstance(value, Tensor):
        return value.dtype
    return mstype.bool_ if isinstance(value, bool) else mstype.int64 if isinstance(value, int) else mstype.float32


@spelling(Fill)
def full(size: int | tuple[int, ...] | list[int], fill_value: Tensor | float, *, dtype: DType | None = None) -> Tensor:
    """A Tensor of a given shape filled with one value.

    Args:
        size (Union[int, tuple[int]]): Shape of the result.
        fill_value (Union[Number, bool]): The value.
        dtype (mindspore.dtype): Element type. Default: None, the type of the value.

    Returns:
        Tensor.
    """
    return Fill.functional(_infer_dtype(fill_value) if dtype is None else dtype, size, fill_value)


@spelling(Fill)
def full_like(input: Tensor, fill_value: Tensor | float, *, dtype: DType | None = None) -> Tensor:
    """A Tensor filled with one value, of the shape of another.

    Args:
        input (Tensor): The Tensor whose shape and element type are used.
        fill_value (Union[Number, bool]): The value.
        dtype (mindspore.dtype): Element type. Default: None, the type of `input`.

    Returns:
        Tensor.
    """
    return Fill.functional(input.dtype if dtype is None else dtype, input.shape, fill_value)


@spelling(Fill, numpy="full")
def _numpy_full(shape: Shape, fill_value: ArrayLike, dtype: DType | str | None = None) -> Tensor:
    """A Tensor filled with one value, or with values that broadcast to its shape.

    Args:
        shape (Union[int, tuple[int], list[int]]): Shape of the result.
        fill_value (Union[int, float, bool, list, tuple, Tensor]): The value, or values.
        dtype (Union[mindspore.dtype, str]): Element type. Default: None, the type of the value: int32 for an int,
            float32 for a float.

    Returns:
        Tensor of shape `shape`.

    Raises:
        TypeError: If `shape` does not consist of int, or `fill_value` has another type.
        ValueError: If an entry of `shape` is negative, or `fill_value` does not broadcast to it.

    Examples:
        >>> print(mindspore.numpy.full((2, 2), [1, 2]))
        [[1 2]
         [1 2]]
    """
    shape = check(Shape, shape, "shape", "full")
    if isinstance(fill_value, (bool, int, float)):
        dtype = as_tensor(fill_value, "full", "fill_value").dtype if dtype is None else element_type(dtype, "full")
        return Fill.functional(dtype, shape, fill_value)
    values = in_type(as_tensor(fill_value, "full", "fill_value"), dtype, "full")
    return BroadcastTo.functional(values, shape)


def _infer_shape_and_dtype(function, a, dtype, shape):
    """Return shape and element type of a new Tensor like `a`, an argument of `function`."""
    a = as_tensor(a, function, "a")
    return a.shape if shape is None else shape, a.dtype if dtype is None else element_type(dtype, function)


@spelling(Fill, numpy="full_like")
def _numpy_full_like(
    a: ArrayLike, fill_value: ArrayLike, dtype: DType | str | None = None, shape: Shape | None = None
) -> Tensor:
    """A Tensor filled with one value, of the shape and element type of another.

    Args:
        a (Union[Tensor, list, tuple, Number]): The Tensor whose shape and element type are used.
        fill_value (Number): The value.
        dtype (Union[mindspore.dtype, str]): Another element type. Default: None.
        shape (Union[int, tuple[int]]): Another shape. Default: None.

    Returns:
        Tensor.
    """
    shape, dtype = _infer_shape_and_dtype("full_like", a, dtype, shape)
    return _numpy_full(shape, fill_value, dtype)


@spelling(Fill, method="fill", generation=1)
def _tensor_fill(self: Tensor, value: Tensor | float | bool) -> Tensor:
    """Return a Tensor of the same shape and type, filled with one value."""
    return full_like(self, value)


@spelling(Fill, method="new_full")
def _tensor_new_full(
    self: Tensor, size: int | tuple[int, ...] | list[int], fill_value: float, *, dtype: DType | None = None
) -> Tensor:
    """Return a Tensor of another shape filled with one value, of this Tensor's element type unless `dtype` is set."""
    return full(size, fill_value, dtype=dtype or self.dtype)


@operator(functional="ones", called=("", "dtype"))
def Ones(shape: Shape, type: Optional(DType) = mstype.float32):
    """A Tensor of ones.

    Inputs:
        - **shape** (Union[int, tuple[int]]) - Shape of the result.
        - **type** (mindspore.dtype) - Element type. Default: mindspore.float32.

    Outputs:
        Tensor of shape `shape` and element type `type`.

    Raises:
        TypeError: If `shape` does not consist of int or `type` is not a type of Tensor elements.
        ValueError: If an entry of `shape` is negative.

    Examples:
        >>> print(ops.Ones()((2,), mindspore.float32))
        [1. 1.]
    """
    _check_non_negative_shape("Ones", shape)
    return jnp.ones(shape, np_dtype(type or mstype.float32))


@spelling(Ones, numpy="ones")
def _numpy_ones(shape: Shape, dtype: DType | str = mstype.float32) -> Tensor:
    """A Tensor of ones.

    Args:
        shape (Union[int, tuple[int], list[int]]): Shape of the result.
        dtype (Union[mindspore.dtype, str]): Element type. Default: mindspore.float32.

    Returns:
        Tensor of shape `shape` and element type `dtype`.

    Raises:
        TypeError: If `shape` does not consist of int, or `dtype` is no element type.
        ValueError: If an entry of `shape` is negative.
    """
    return Ones.functional(shape, element_type(dtype, "ones"))


@spelling(Ones, numpy="ones_like")
def _numpy_ones_like(a: ArrayLike, dtype: DType | str | None = None, shape: Shape | None = None) -> Tensor:
    """A Tensor of ones, of the shape and element type of another.

    Args:
        a (Union[Tensor, list, tuple, Number]): The Tensor whose shape and element type are used.
        dtype (Union[mindspore.dtype, str]): Another element type. Default: None.
        shape (Union[int, tuple[int]]): Another shape. Default: None.

    Returns:
        Tensor.
    """
    return Ones.functional(*_infer_shape_and_dtype("ones_like", a, dtype, shape))


@spelling(Ones, method="new_ones")
def _tensor_new_ones(self: Tensor, size: int | tuple[int, ...] | list[int], dtype: DType | None = None) -> Tensor:
    """Return a Tensor of ones of another shape, of this Tensor's element type unless `dtype` is set."""
    return Ones.functional(size, dtype or self.dtype)


@operator(functional="zeros", called=("size", "dtype"))
def Zeros(shape: Shape, type: Optional(DType) = mstype.float32):
    """A Tensor of zeros.

    Inputs:
        - **shape** (Union[int, tuple[int]]) - Shape of the result.
        - **type** (mindspore.dtype) - Element type. Default: mindspore.float32.

    Outputs:
        Tensor of shape `shape` and element type `type`.

    Raises:
        TypeError: If `shape` does not consist of int or `type` is not a type of Tensor elements.
        ValueError: If an entry of `shape` is negative.

    Examples:
        >>> print(ops.Zeros()((2,), mindspore.float32))
        [0. 0.]
    """
    _check_non_negative_shape("Zeros", shape)
    return jnp.zeros(shape, np_dtype(type or mstype.float32))


@spelling(Zeros, numpy=("zeros", "empty"))
def _numpy_zeros(shape: Shape, dtype: DType | str = mstype.float32) -> Tensor:
    """A Tensor of zeros.

    Args:
        shape (Union[int, tuple[int], list[int]]): Shape of the result.
        dtype (Union[mindspore.dtype, str]): Element type. Default: mindspore.float32.

    Returns:
        Tensor of shape `shape` and element type `dtype`.

    Raises:
        TypeError: If `shape` does not consist of int, or `dtype` is no element type.
        ValueError: If an entry of `shape` is negative.
    """
    return Zeros.functional(shape, element_type(dtype, "zeros"))


@spelling(Zeros, numpy=("zeros_like", "empty_like"))
def _numpy_zeros_like(a: ArrayLike, dtype: DType | str | None = None, shape: Shape | None = None) -> Tensor:
    """A Tensor of zeros, of the shape and element type of another.

    Args:
        a (Union[Tensor, list, tuple, Number]): The Tensor whose shape and element type are used.
        dtype (Union[mindspore.dtype, str]): Another element type. Default: None.
        shape (Union[int, tuple[int]]): Another shape. Default: None.

    Returns:
        Tensor.
    """
    return Zeros.functional(*_infer_shape_and_dtype("zeros_like", a, dtype, shape))


@spelling(Zeros, method="new_zeros")
def _tensor_new_zeros(self: Tensor, size: int | tuple[int, ...] | list[int], dtype: DType | None = None) -> Tensor:
    """Return a Tensor of zeros of another shape, of this Tensor's element type unless `dtype` is set."""
    return Zeros.functional(size, dtype or self.dtype)


@operator(casts_inputs=False)
def OnesLike(x):
    """A Tensor of ones, of the shape and element type of another.

    Inputs:
        - **x** (Tensor) - Of any shape, of numbers or bool.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not a Tensor.

    Examples:
        >>> print(ops.OnesLike()(Tensor([[0, 1], [2, 1]], mindspore.int32)))
        [[1 1]
         [1 1]]
    """
    dtype_in("OnesLike", "x", x, ANY)
    return jnp.ones(x.shape, x.dtype)


def _fill_like(operator, number, input, dtype):
    if isinstance(input, (tuple, list)):
        return tuple(_fill_like(operator, number, one, dtype) for one in input)
    if isinstance(input, (bool, int, float)):
        return type(input)(number)
    result = operator.functional(input)
    return result if dtype is None else Cast.functional(result, dtype)


@spelling(OnesLike)
def ones_like(input: Tensor, *, dtype: DType | None = None) -> Tensor:
    """A Tensor of ones, of the shape of another.

    Args:
        input (Union[Tensor, tuple, list]): The Tensor whose shape and element type are used; for a sequence of Tensors
            the result is a sequence, too.
        dtype (mindspore.dtype): Element type. Default: None, the type of `input`.

    Returns:
        Tensor.
    """
    return _fill_like(OnesLike, 1, input, dtype)


@operator(casts_inputs=False)
def ZerosLike(x):
    """A Tensor of zeros, of the shape and element type of another.

    Inputs:
        - **x** (Tensor) - Of any shape, of numbers or bool.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not a Tensor.

    Examples:
        >>> print(ops.ZerosLike()(Tensor([[0., 1.]], mindspore.float32)))
        [[0. 0.]]
    """
    dtype_in("ZerosLike", "x", x, ANY)
    return jnp.zeros(x.shape, x.dtype)


@spelling(ZerosLike)
def zeros_like(input: Tensor, *, dtype: DType | None = None) -> Tensor:
    """A Tensor of zeros, of the shape of another.

    Args:
        input (Union[Tensor, tuple, list]): The Tensor whose shape and element type are used; for a sequence of Tensors
            the result is a sequence, too.
        dtype (mindspore.dtype): Element type. Default: None, the type of `input`.

    Returns:
        Tensor.
    """
    return _fill_like(ZerosLike, 0, input, dtype)


@spelling(ZerosLike, function="zero_", method="zero_")
def zero_(input: Tensor) -> Tensor:
    """Fill a Tensor with zeros in place, and return it.

    Args:
        input (Tensor): The Tensor to overwrite.

    Returns:
        Tensor, `input` itself.

    Raises:
        TypeError: If `input` is not a Tensor.
    """
    return take_over("zero_", tensor_argument("zero_", "input", input), ZerosLike.functional(input))


@spelling(Fill, function="fills", method="fills")
def fills(x: Tensor, value: Tensor | float) -> Tensor:
    """A Tensor filled with one number, of the shape and element type of another.

    Args:
        x (Tensor): The Tensor whose shape and element type are used.
        value (Union[int, float, Tensor]): The number, or a Tensor of one element without dimensions.

    Returns:
        Tensor.

    Raises:
        TypeError: If `x` is not a Tensor.
    """
    return full_like(tensor_argument("fills", "x", x), value)


@operator(generation=2)
def FillV2(shape: Shape, value):
    """A Tensor of a given shape filled with one value.

    Inputs:
        - **shape** (Union[Tensor, tuple[int]]) - Shape of the result.
        - **value** (Tensor) - The value, a scalar.

    Outputs:
        Tensor of shape `shape` and the element type of `value`.

    Raises:
        TypeError: If `value` is not a Tensor.
        ValueError: If `value` is no scalar, or a length is negative.
    """
    tensor_only("FillV2", "value", value)
    rank("FillV2", "value", value, 0)
    _check_non_negative_shape("FillV2", shape)
    return jnp.full(shape, value)


@operator(generation=2)
def Fills(x, value):
    """A Tensor filled with one number, of the shape and element type of another.

    Inputs:
        - **x** (Tensor) - The Tensor whose shape and element type are used.
        - **value** (Union[int, float, Tensor]) - The number, or a Tensor of one element without dimensions.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not a Tensor.
        ValueError: If `value` is no scalar.
    """
    tensor_only("Fills", "x", x)
    rank("Fills", "value", value, 0)
    return jnp.full(x.shape, cast_array(value, x.dtype))


@spelling(Fill, method="fill_")
def _fill_inplace(self: Tensor, value: Tensor | float) -> Tensor:
    """Fill the Tensor with one number in place, and return it."""
    return take_over("fill_", self, full_like(self, value))


CASES = [
    case(FillV2, (2, 3), F()),
    case(Fills, F(2, 3), 2.5).without("mindspore", "the CPU has no kernel"),
    case(Fill, mstype.float32, (2, 2), 1.5).without("differences", "its result is float32"),
    case(Ones, (2, 2), mstype.int32),
    case(Zeros, (2, 2), mstype.float16),
]
