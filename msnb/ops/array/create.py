"""Operators that make Tensors of given values: constants, triangles, copies of a shape."""

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import DType, Int, Optional, PositiveInt, Shape
from msnb.core.declare import operator
from msnb.core.dtype import np_dtype
from msnb.ops._check import ANY, dtype_in, rank, tensor_only
from msnb.ops.array.shape import cast_array


@operator(functional="tril", methods=("tril",))
def Tril(x, *, diagonal: Int = 0):
    """A Tensor with zeros above a diagonal of its last two dimensions.

    Args:
        diagonal (int): Which diagonal is the last one kept, counted upwards. Default: 0.

    Inputs:
        - **x** (Tensor) - Of at least 2 dimensions.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        ValueError: If `x` has fewer than 2 dimensions.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.tril(Tensor([[1, 2], [3, 4]])))
        [[1 0]
         [3 4]]
    """
    return _triangle("Tril", jnp.tril, x, diagonal)


@operator(functional="triu", methods=("triu",))
def Triu(x, *, diagonal: Int = 0):
    """A Tensor with zeros below a diagonal of its last two dimensions.

    Args:
        diagonal (int): Which diagonal is the first one kept, counted upwards. Default: 0.

    Inputs:
        - **x** (Tensor) - Of at least 2 dimensions.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        ValueError: If `x` has fewer than 2 dimensions.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.triu(Tensor([[1, 2], [3, 4]])))
        [[1 2]
         [0 4]]
    """
    return _triangle("Triu", jnp.triu, x, diagonal)


def _triangle(op, function, x, diagonal):
    tensor_only(op, "x", x)
    if x.ndim < 2:
        raise ValueError(f"For '{op}', 'x' should have at least 2 dimensions, but got shape {x.shape}.")
    return function(x, diagonal)


@operator
def Fill(type: DType, shape: Shape, value):
    """A Tensor with one value in every place.

    Inputs:
        - **type** (mindspore.dtype) - Element type.
        - **shape** (tuple[int]) - Shape of the result.
        - **value** (Union[Number, bool, Tensor]) - The value; a Tensor must be a scalar.

    Outputs:
        Tensor of shape `shape` and element type `type`.

    Raises:
        TypeError: If `type` is not a type of Tensor elements or `shape` is not a tuple of int.
        ValueError: If an entry of `shape` is negative.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Fill()(mindspore.float32, (2, 2), 1))
        [[1. 1.]
         [1. 1.]]
    """
    _creatable("Fill", shape)
    rank("Fill", "value", value, 0)
    return jnp.full(shape, cast_array(value, np_dtype(type)))


def _creatable(op, shape):
    if any(n < 0 for n in shape):
        raise ValueError(f"For '{op}', 'shape' should not have negative entries, but got {shape}.")


@operator(functional="ones")
def Ones(shape: Shape, type: Optional(DType) = mstype.float32):
    """A Tensor of ones.

    Inputs:
        - **shape** (Union[int, tuple[int]]) - Shape of the result.
        - **type** (mindspore.dtype) - Element type. Default: mindspore.float32.

    Outputs:
        Tensor of shape `shape` and element type `type`.

    Raises:
        TypeError: If `shape` is not made of int or `type` is not a type of Tensor elements.
        ValueError: If an entry of `shape` is negative.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Ones()((2,), mindspore.float32))
        [1. 1.]
    """
    _creatable("Ones", shape)
    return jnp.ones(shape, np_dtype(type or mstype.float32))


@operator(functional="zeros")
def Zeros(shape: Shape, type: Optional(DType) = mstype.float32):
    """A Tensor of zeros.

    Inputs:
        - **shape** (Union[int, tuple[int]]) - Shape of the result.
        - **type** (mindspore.dtype) - Element type. Default: mindspore.float32.

    Outputs:
        Tensor of shape `shape` and element type `type`.

    Raises:
        TypeError: If `shape` is not made of int or `type` is not a type of Tensor elements.
        ValueError: If an entry of `shape` is negative.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Zeros()((2,), mindspore.float32))
        [0. 0.]
    """
    _creatable("Zeros", shape)
    return jnp.zeros(shape, np_dtype(type or mstype.float32))


@operator
def OnesLike(x):
    """A Tensor of ones, of the shape and element type of another.

    Inputs:
        - **x** (Tensor) - Of any shape, of numbers or bool.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not a Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.OnesLike()(Tensor([[0, 1], [2, 1]], mindspore.int32)))
        [[1 1]
         [1 1]]
    """
    dtype_in("OnesLike", "x", x, ANY)
    return jnp.ones(x.shape, x.dtype)


@operator
def ZerosLike(x):
    """A Tensor of zeros, of the shape and element type of another.

    Inputs:
        - **x** (Tensor) - Of any shape, of numbers or bool.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not a Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.ZerosLike()(Tensor([[0., 1.]], mindspore.float32)))
        [[0. 0.]]
    """
    dtype_in("ZerosLike", "x", x, ANY)
    return jnp.zeros(x.shape, x.dtype)


@operator
def Eye(n: PositiveInt, m: PositiveInt, t: DType):
    """A matrix with ones on its diagonal and zeros elsewhere.

    Inputs:
        - **n** (int) - Number of rows.
        - **m** (int) - Number of columns.
        - **t** (mindspore.dtype) - Element type.

    Outputs:
        Tensor of shape (n, m) and element type `t`.

    Raises:
        TypeError: If `n` or `m` is not an int or `t` is not a type of Tensor elements.
        ValueError: If `n` or `m` is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Eye()(2, 2, mindspore.int32))
        [[1 0]
         [0 1]]
    """
    return jnp.eye(n, m, dtype=np_dtype(t))
