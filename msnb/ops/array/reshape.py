"""Operators that change the shape of a Tensor and keep the order of its elements."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Axis, Int, IntOrTuple, PositiveInt, Shape, check
from msnb.core.operator.api_generations import called_as, differs_in_api2, replaces_in_api2
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import (
    axes_in,
    axis_in,
    tensor_argument,
    tensor_only,
)
from msnb.ops._numpy import ArrayLike, as_tensor
from msnb.ops.array.create import Zeros
from msnb.ops.array.join import Concat


def resolve_shape(op, size, shape):
    """Return `shape` with -1 replaced by the length with which the shape has `size` elements."""
    if any(n < -1 for n in shape) or shape.count(-1) > 1:
        raise ValueError(
            f"For '{op}', 'shape' should have at most one -1 and no other negative number, but got {shape}."
        )
    product = math.prod(n for n in shape if n != -1)
    if -1 not in shape:
        fits = product == size
    else:
        fits = product != 0 and size % product == 0
        shape = tuple(size // product if n == -1 else n for n in shape) if fits else shape
    if not fits:
        raise ValueError(f"For '{op}', a Tensor of {size} elements cannot take the shape {shape}.")
    return shape


@operator(functional="reshape", called=(("input", "input_x"),), casts_inputs=False)
def Reshape(x, shape: Shape):
    """Reshape a Tensor; its elements keep their order.

    Inputs:
        - **x** (Tensor) - Of any shape and type.
        - **shape** (tuple[int]) - The new shape; one entry may be -1 and is inferred from the others.

    Outputs:
        Tensor of shape `shape` and the element type of `x`.

    Raises:
        TypeError: If `shape` is not a tuple of int.
        ValueError: If there is more than one -1, or the number of elements does not fit.

    Examples:
        >>> print(ops.Reshape()(Tensor([[1, 2, 3], [4, 5, 6]], mindspore.int32), (3, -1)))
        [[1 2]
         [3 4]
         [5 6]]
    """
    tensor_only("Reshape", "x", x)
    return jnp.reshape(x, resolve_shape("Reshape", x.size, shape))


@operator
def TransShape(x, shape: Shape):
    """Reshape a Tensor; its elements keep their order.

    Inputs:
        - **x** (Tensor) - Of any shape and type.
        - **shape** (tuple[int]) - The new shape.

    Outputs:
        Tensor of shape `shape`.

    Raises:
        ValueError: If the number of elements does not fit.
    """
    return jnp.reshape(x, resolve_shape("TransShape", x.size, shape))


@operator(functional="expand_dims", called=(("input_x", "input"),), methods=("expand_dims",), casts_inputs=False)
def ExpandDims(x, axis: Int):
    """Insert a dimension of length 1.

    Inputs:
        - **x** (Tensor) - Of any shape and type.
        - **axis** (int) - Position of the new dimension in the result, in [-x.ndim - 1, x.ndim].

    Outputs:
        Tensor with one dimension more.

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` is out of range.

    Examples:
        >>> print(ops.ExpandDims()(Tensor([1, 2], mindspore.int32), 0))
        [[1 2]]
    """
    tensor_only("ExpandDims", "x", x)
    return jnp.expand_dims(x, axis_in("ExpandDims", axis, x.ndim + 1))


@operator(functional="squeeze", called=("input",), methods=("squeeze",), generation=1, casts_inputs=False)
def Squeeze(x, *, axis: Axis = ()):
    """Remove the dimensions of length 1.

    Args:
        axis (Union[int, tuple]): Dimensions to remove, each of length 1; () removes all of length 1. Default: ().

    Inputs:
        - **x** (Tensor) - Of any shape and type.

    Outputs:
        Tensor with the remaining dimensions.

    Raises:
        TypeError: If `axis` is not an int or tuple.
        ValueError: If a named dimension is out of range or not of length 1.

    Examples:
        >>> print(ops.Squeeze(2)(Tensor(np.ones((3, 2, 1)), mindspore.float32)).shape)
        (3, 2)
    """
    tensor_only("Squeeze", "x", x)
    if isinstance(axis, tuple) and not axis:
        return jnp.squeeze(x)
    axes = axes_in("Squeeze", axis, x.ndim)
    for a in axes:
        if x.shape[a] != 1:
            raise ValueError(f"For 'Squeeze', dimension {a} should have length 1, but the shape is {x.shape}.")
    return jnp.squeeze(x, axes)


_LONG_AXES_STAY = "an axis whose length is not 1 stays as it is"


@differs_in_api2(_LONG_AXES_STAY)
@spelling(Squeeze, function="squeeze", method="squeeze")
def _squeeze_api2(input: Tensor, axis: Axis = ()) -> Tensor:
    """Remove all dimensions of length 1, or those in `axis`.

    Args:
        input (Tensor): Of any shape and type.
        axis (Union[int, tuple[int], list[int]]): Dimensions to remove if their length is 1; () stands for all
            dimensions. Default: ().

    Returns:
        Tensor.

    Raises:
        ValueError: If `axis` is out of range.

    Examples:
        >>> print(ops.squeeze(Tensor(np.ones((3, 2, 1)), mindspore.float32), 2).shape)
        (3, 2)
    """
    if axis is None or axis == ():
        return Squeeze.functional(input)
    axes = tuple(
        a for a in axes_in("squeeze", axis, tensor_argument("squeeze", "input", input).ndim) if input.shape[a] == 1
    )
    return Squeeze.functional(input, axis=axes) if axes else input


called_as(Squeeze, _squeeze_api2, _LONG_AXES_STAY)


@operator(functional="padding")
def Padding(x, *, pad_dim_size: PositiveInt = 8):
    """Pad the last dimension with zeros from length 1 to `pad_dim_size`.

    Args:
        pad_dim_size (int): New length of the last dimension. Default: 8.

    Inputs:
        - **x** (Tensor) - Of at least 2 dimensions, the last of length 1.

    Outputs:
        Tensor of the element type of `x`.

    Raises:
        TypeError: If `pad_dim_size` is not an int.
        ValueError: If `pad_dim_size` is not positive or the last dimension is not 1.

    Examples:
        >>> print(ops.Padding(4)(Tensor([[8], [10]], mindspore.float32)))
        [[ 8.  0.  0.  0.]
         [10.  0.  0.  0.]]
    """
    tensor_only("Padding", "x", x)
    if x.ndim < 2 or x.shape[-1] != 1:
        raise ValueError(
            f"For 'Padding', 'x' should have at least 2 dimensions and the last of length 1, but got shape {x.shape}."
        )
    return jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, pad_dim_size - 1)])


def _unpack_shape(shape):
    """Return the shape in the arguments of `f(*shape)`: one tuple, or several ints as a tuple."""
    if len(shape) == 1 and isinstance(shape[0], (tuple, list, Tensor)):
        return shape[0]
    return shape


@spelling(Reshape, method="reshape", generation=1)
def _tensor_reshape(self: Tensor, *shape: Any) -> Tensor:
    """Reshape the Tensor to a shape that comes as a tuple or as several ints; one may be -1."""
    return Reshape.functional(self, _unpack_shape(shape))


@spelling(Reshape, method="view", generation=1)
def _tensor_view(self: Tensor, *shape: Any) -> Tensor:
    """Reshape the Tensor to a shape that comes as a tuple or as several ints; one may be -1.

    Raises:
        ValueError: If there is no shape, or the number of elements differs.
    """
    if not shape:
        raise ValueError("For 'view', a shape should be given, but got none. The shape variable should not be empty.")
    if isinstance(shape[0], (tuple, list)) and len(shape) > 1:
        raise ValueError(
            f"For 'view', the shape should be ints or one tuple, but got {shape}. Only one tuple is needed."
        )
    if isinstance(shape[0], list):
        raise TypeError("For 'view', the shape should be a tuple or several ints, but got a list.")
    return Reshape.functional(self, _unpack_shape(shape))


@spelling(Reshape, method=("view_as", "reshape_as"))
def _tensor_view_as(self: Tensor, other: Tensor) -> Tensor:
    """Reshape the Tensor to the shape of another."""
    return Reshape.functional(self, other.shape)


@spelling(Reshape, function="ravel", method="ravel")
def ravel(input: Tensor) -> Tensor:
    """Flatten a Tensor to a vector.

    Args:
        input (Tensor): Any Tensor.

    Returns:
        Tensor of 1 dimension.
    """
    return Reshape.functional(input, (-1,))


@spelling(ExpandDims, function="unsqueeze")
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Insert a dimension of length 1.

    Args:
        input (Tensor): Any Tensor.
        dim (int): Position of the new dimension in the result.

    Returns:
        Tensor.
    """
    return ExpandDims.functional(input, dim)


spelling(ExpandDims, method="unsqueeze")(keyword_aliases(axis="dim")(unsqueeze))


@spelling(Reshape, Concat, Zeros, method="resize")
def _tensor_resize(self: Tensor, *new_shape: Any) -> Tensor:
    """Return the elements in another shape. Surplus elements are dropped, missing ones are 0."""
    new_shape = tuple(_unpack_shape(new_shape))
    count = int(np.prod(new_shape)) if new_shape else 1
    flat = ravel(self)
    if count <= flat.size:
        return Reshape.functional(flat[:count], new_shape)
    rest = Zeros.functional((count - flat.size,), self.dtype)
    return Reshape.functional(Concat.functional((flat, rest)), new_shape)


@spelling(Reshape, numpy="reshape")
def _numpy_reshape(x: ArrayLike, new_shape: Shape) -> Tensor:
    """Reshape a Tensor; its elements keep their order.

    Args:
        x (Union[Tensor, list, tuple, Number]): Any Tensor.
        new_shape (Union[int, tuple[int], list[int]]): The new shape; one entry may be -1 and is inferred from the
            others.

    Returns:
        Tensor of shape `new_shape` and the element type of `x`.

    Raises:
        TypeError: If `new_shape` does not consist of int.
        ValueError: If there is more than one -1, or the number of elements does not fit.
    """
    return Reshape.functional(as_tensor(x, "reshape", "x"), new_shape)


@spelling(Reshape, numpy="ravel")
def _numpy_ravel(x: ArrayLike) -> Tensor:
    """Flatten a Tensor to a vector.

    Args:
        x (Union[Tensor, list, tuple, Number]): Any Tensor.

    Returns:
        Tensor of 1 dimension.
    """
    return ravel(as_tensor(x, "ravel", "x"))


@spelling(ExpandDims, Reshape, numpy="expand_dims")
def _numpy_expand_dims(a: ArrayLike, axis: int | tuple[int, ...] | list[int]) -> Tensor:
    """Insert dimensions of length 1.

    Args:
        a (Union[Tensor, list, tuple, Number]): Any Tensor.
        axis (Union[int, tuple[int], list[int]]): Positions of the new dimensions in the result.

    Returns:
        Tensor with the additional dimensions.

    Raises:
        TypeError: If `axis` does not consist of int.
        ValueError: If an axis is out of range or named twice.
    """
    a, axis = as_tensor(a, "expand_dims", "a"), check(IntOrTuple, axis, "axis", "expand_dims")
    if isinstance(axis, int):
        return ExpandDims.functional(a, axis)
    new_axes = axes_in("expand_dims", axis, a.ndim + len(axis)) if axis else ()
    lengths = iter(a.shape)
    return Reshape.functional(a, tuple(1 if i in new_axes else next(lengths) for i in range(a.ndim + len(new_axes))))


@spelling(Squeeze, numpy="squeeze")
def _numpy_squeeze(a: ArrayLike, axis: int | tuple[int, ...] | list[int] | None = None) -> Tensor:
    """Remove the dimensions of length 1.

    Args:
        a (Union[Tensor, list, tuple, Number]): Any Tensor.
        axis (Union[int, tuple[int], list[int]]): Dimensions to remove, each of length 1. Default: None, all dimensions
            of length 1.

    Returns:
        Tensor with the remaining dimensions.

    Raises:
        TypeError: If `axis` does not consist of int.
        ValueError: If a named dimension is out of range or not of length 1.
    """
    a = as_tensor(a, "squeeze", "a")
    return a if axis is not None and axis in ((), []) else Squeeze.functional(a, axis)


@replaces_in_api2(_numpy_squeeze, _LONG_AXES_STAY)
def _numpy_squeeze_api2(a: ArrayLike, axis: int | tuple[int, ...] | list[int] | None = None) -> Tensor:
    """Remove the dimensions of length 1.

    Args:
        a (Union[Tensor, list, tuple, Number]): Any Tensor.
        axis (Union[int, tuple[int], list[int]]): Dimensions to remove if their length is 1. Default: None, all of them.

    Returns:
        Tensor without these dimensions.

    Raises:
        TypeError: If `axis` does not consist of int.
        ValueError: If a named dimension is out of range.
    """
    a = as_tensor(a, "squeeze", "a")
    return a if axis is not None and axis in ((), []) else _squeeze_api2(a, axis)


@spelling(Reshape)
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Reshape a Tensor to the shape of another.

    Args:
        input (Tensor): Any Tensor.
        other (Tensor): The Tensor whose shape is used, with as many elements as `input`.

    Returns:
        Tensor of the shape of `other`.

    Raises:
        TypeError: If `other` is no Tensor.
        ValueError: If the two Tensors differ in their number of elements.
    """
    return Reshape.functional(input, tensor_argument("view_as", "other", other).shape)


spelling(Reshape, function="reshape_")(Reshape.functional)


CASES = [
    case(Reshape, F(2, 3), (3, -1)),
    case(TransShape, F(2, 3), (3, 2)),
    case(ExpandDims, F(2, 3), -1),
    case(ExpandDims, F(2, 3), 1),
    case(Squeeze, F(2, 1, 3, 1)),
    case(Squeeze, F(2, 1, 3, 1), axis=1),
    case(Padding, F(2, 1), pad_dim_size=4),
    refused(ValueError, Reshape, F(2, 3), (4, 2)),
    refused(ValueError, Reshape, F(2, 3), (-1, -1)),
    refused(ValueError, Squeeze, F(2, 3), axis=0),
    case(view_as, F(2, 3), F(3, 2)),
]
