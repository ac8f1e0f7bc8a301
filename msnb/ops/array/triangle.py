"""Diagonals and triangles of matrices."""

import math

import jax.numpy as jnp

from msnb.common.kinds import (
    Int,
)
from msnb.core.cases import F, case
from msnb.core.declare import operator, spelling
from msnb.core.tensor import Tensor
from msnb.ops._check import (
    tensor_only,
)


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


@operator(functional="diag")
def Diag(x):
    """A Tensor with `x` on its diagonal and zeros elsewhere.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.

    Outputs:
        Tensor of shape (*x.shape, *x.shape).

    Raises:
        TypeError: If `x` is not a Tensor.
        ValueError: If `x` is a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Diag()(Tensor([1, 2], mindspore.int32)))
        [[1 0]
         [0 2]]
    """
    tensor_only("Diag", "x", x)
    if not x.ndim:
        raise ValueError("For 'Diag', 'x' should have at least 1 dimension, but got a scalar.")
    return jnp.diag(x.reshape(-1)).reshape(x.shape * 2)


@spelling(Diag, method="diag")
def _diag_of(self: Tensor) -> Tensor:
    """A Tensor with this one on its diagonal."""
    return Diag.functional(self)


@operator
def DiagPart(x):
    """The diagonal of a Tensor whose shape is twice the same: the inverse of Diag.

    Inputs:
        - **x** (Tensor) - Of shape (*D, *D).

    Outputs:
        Tensor of shape D.

    Raises:
        TypeError: If `x` is not a Tensor.
        ValueError: If the two halves of the shape differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.DiagPart()(Tensor([[1, 0], [0, 2]], mindspore.int32)))
        [1 2]
    """
    tensor_only("DiagPart", "x", x)
    half = x.shape[: x.ndim // 2]
    if not x.ndim or x.shape != half * 2:
        raise ValueError(f"For 'DiagPart', the two halves of the shape of 'x' should agree, but got {x.shape}.")
    count = math.prod(half)
    return jnp.diagonal(x.reshape(count, count)).reshape(half)


@operator(functional="diagonal", methods=("diagonal",))
def Diagonal(input, *, offset: Int = 0, dim1: Int = 0, dim2: Int = 1):
    """A diagonal of two dimensions of a Tensor.

    Args:
        input (Tensor): Of at least 2 dimensions.
        offset (int): Which diagonal, counted upwards from the main one. Default: 0.
        dim1 (int): The first dimension. Default: 0.
        dim2 (int): The second dimension. Default: 1.

    Returns:
        Tensor, in which the diagonal is the last dimension.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    tensor_only("diagonal", "input", input)
    if input.ndim < 2:
        raise ValueError(f"For 'diagonal', 'input' should have at least 2 dimensions, but got shape {input.shape}.")
    return jnp.diagonal(input, offset, dim1, dim2)


CASES = [
    case(Triu, F(3, 3), diagonal=1),
    case(Diag, F(3)),
    case(DiagPart, F(3, 3)),
]
