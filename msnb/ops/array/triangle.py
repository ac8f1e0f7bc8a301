"""Operators that select triangles and diagonals of matrices, or build diagonal matrices."""

import math

import jax.numpy as jnp

from msnb.common.kinds import Int, check
from msnb.core.operator.cases import F, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import rank, tensor_argument, tensor_only
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensor
from msnb.ops.array.broadcast import BroadcastTo


@operator(functional="tril", called=("input",), methods=("tril",))
def Tril(x, *, diagonal: Int = 0):
    """Lower triangle: set the elements above a diagonal of the last two dimensions to zero.

    Args:
        diagonal (int): The uppermost diagonal to keep: 0 is the main diagonal, positive numbers are above it. Default:
            0.

    Inputs:
        - **x** (Tensor) - Of at least 2 dimensions.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        ValueError: If `x` has fewer than 2 dimensions.

    Examples:
        >>> print(ops.tril(Tensor([[1, 2], [3, 4]])))
        [[1 0]
         [3 4]]
    """
    return _take_triangle("Tril", jnp.tril, x, diagonal)


@operator(functional="triu", called=("input",), methods=("triu",))
def Triu(x, *, diagonal: Int = 0):
    """Upper triangle: set the elements below a diagonal of the last two dimensions to zero.

    Args:
        diagonal (int): The lowest diagonal to keep: 0 is the main diagonal, positive numbers are above it. Default: 0.

    Inputs:
        - **x** (Tensor) - Of at least 2 dimensions.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        ValueError: If `x` has fewer than 2 dimensions.

    Examples:
        >>> print(ops.triu(Tensor([[1, 2], [3, 4]])))
        [[1 2]
         [0 4]]
    """
    return _take_triangle("Triu", jnp.triu, x, diagonal)


def _convert_to_matrices(function, m):
    """Convert to a Tensor of matrices. A vector becomes the matrix with that vector in every row, as in numpy."""
    m = as_tensor(m, function, "m")
    if not m.ndim:
        raise ValueError(f"For '{function}', 'm' should have at least 1 dimension, but got a number.")
    return BroadcastTo.functional(m, (m.size, m.size)) if m.ndim == 1 else m


@spelling(Tril, numpy="tril")
def _numpy_tril(m: ArrayLike, k: int = 0) -> Tensor:
    """Lower triangle: set the elements above a diagonal of the last two dimensions to zero.

    Args:
        m (Union[Tensor, list, tuple]): Of at least 1 dimension. A vector is first converted to the matrix with that
            vector in every row.
        k (int): The uppermost diagonal to keep: 0 is the main diagonal, positive numbers are above it. Default: 0.

    Returns:
        Tensor of the shape and element type of `m`.

    Raises:
        TypeError: If `k` is not an int.
        ValueError: If `m` is a number.
    """
    return Tril.functional(_convert_to_matrices("tril", m), check(Int, k, "k", "tril"))


@spelling(Triu, numpy="triu")
def _numpy_triu(m: ArrayLike, k: int = 0) -> Tensor:
    """Upper triangle: set the elements below a diagonal of the last two dimensions to zero.

    Args:
        m (Union[Tensor, list, tuple]): Of at least 1 dimension. A vector is first converted to the matrix with that
            vector in every row.
        k (int): The lowest diagonal to keep: 0 is the main diagonal, positive numbers are above it. Default: 0.

    Returns:
        Tensor of the shape and element type of `m`.

    Raises:
        TypeError: If `k` is not an int.
        ValueError: If `m` is a number.
    """
    return Triu.functional(_convert_to_matrices("triu", m), check(Int, k, "k", "triu"))


def _take_triangle(op, function, x, diagonal):
    tensor_only(op, "x", x)
    if x.ndim < 2:
        raise ValueError(f"For '{op}', 'x' should have at least 2 dimensions, but got shape {x.shape}.")
    return function(x, diagonal)


@operator(functional="diag", called=(("input", "input_x"),))
def Diag(x):
    """A Tensor with `x` on its diagonal and zeros elsewhere.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.

    Outputs:
        Tensor of shape (*x.shape, *x.shape).

    Raises:
        TypeError: If `x` is not a Tensor.
        ValueError: If `x` is a scalar.

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
def _tensor_diag(self: Tensor) -> Tensor:
    """Return a Tensor with this one on its diagonal."""
    return Diag.functional(self)


@operator
def _DiagAt(x, *, k: Int = 0):
    """Make a matrix with a vector on one of its diagonals, or read a diagonal of a matrix.

    Args:
        k (int): The diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.

    Inputs:
        - **x** (Tensor) - A vector or a matrix.

    Outputs:
        Tensor of the element type of `x`: a matrix if `x` is a vector, a vector if `x` is a matrix.
    """
    rank("diag", "v", x, 1, 2)
    return jnp.diag(x, k)


@spelling(_DiagAt, numpy="diag")
def _numpy_diag(v: ArrayLike, k: int = 0) -> Tensor:
    """Read a diagonal of a matrix, or make a matrix with a vector on a diagonal and zeros elsewhere.

    Args:
        v (Union[Tensor, list, tuple]): A matrix or a vector.
        k (int): The diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.

    Returns:
        Tensor: a vector if `v` is a matrix, a matrix if `v` is a vector.

    Raises:
        TypeError: If `k` is not an int.
        ValueError: If `v` has neither 1 nor 2 dimensions.

    Examples:
        >>> print(mindspore.numpy.diag([1, 2], 1))
        [[0 1 0]
         [0 0 2]
         [0 0 0]]
    """
    return _DiagAt.functional(as_tensor(v, "diag", "v"), check(Int, k, "k", "diag"))


@spelling(_DiagAt, numpy="diagflat")
def _numpy_diagflat(v: ArrayLike, k: int = 0) -> Tensor:
    """Make a matrix with the elements of a Tensor on a diagonal and zeros elsewhere.

    Args:
        v (Union[Tensor, list, tuple, Number]): The elements, of any shape.
        k (int): The diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.

    Returns:
        Tensor of 2 dimensions.

    Raises:
        TypeError: If `k` is not an int.
    """
    return _DiagAt.functional(as_tensor(v, "diagflat", "v").ravel(), check(Int, k, "k", "diagflat"))


@operator
def DiagPart(x):
    """The diagonal of a Tensor of shape (*s, *s): the inverse of Diag.

    Inputs:
        - **x** (Tensor) - Of shape (*D, *D).

    Outputs:
        Tensor of shape D.

    Raises:
        TypeError: If `x` is not a Tensor.
        ValueError: If the first half of the shape differs from the second half.

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


@operator(functional="diagonal", called=("", "", ("dim1", "axis1"), ("dim2", "axis2")), methods=("diagonal",))
def Diagonal(input, *, offset: Int = 0, dim1: Int = 0, dim2: Int = 1):
    """Read a diagonal of a Tensor along two of its dimensions.

    Args:
        input (Tensor): Of at least 2 dimensions.
        offset (int): The diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.
        dim1 (int): The first dimension. Default: 0.
        dim2 (int): The second dimension. Default: 1.

    Returns:
        Tensor, in which the diagonal is the last dimension.
    """
    tensor_only("diagonal", "input", input)
    if input.ndim < 2:
        raise ValueError(f"For 'diagonal', 'input' should have at least 2 dimensions, but got shape {input.shape}.")
    return jnp.diagonal(input, offset, dim1, dim2)


@spelling(Diagonal, numpy="diagonal")
def _numpy_diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Read a diagonal of a Tensor along two of its dimensions.

    Args:
        a (Union[Tensor, list, tuple]): Of at least 2 dimensions.
        offset (int): The diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.
        axis1 (int): The dimension of the rows. Default: 0.
        axis2 (int): The dimension of the columns. Default: 1.

    Returns:
        Tensor, in which the diagonal is the last dimension.

    Raises:
        TypeError: If an argument is not an int.
        ValueError: If `a` has fewer than 2 dimensions, or an axis is out of range.
    """
    return Diagonal.functional(as_tensor(a, "diagonal", "a"), offset, axis1, axis2)


@spelling(_DiagAt, function="diagflat", method="diagflat")
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Make a matrix with the elements of a Tensor on a diagonal and zeros elsewhere.

    Args:
        input (Tensor): Of any shape; it is flattened.
        offset (int): The diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.

    Returns:
        Tensor, a square matrix.

    Raises:
        TypeError: If `input` is not a Tensor.
    """
    return _DiagAt(offset)(tensor_argument("diagflat", "input", input).reshape(-1))


CASES = [
    case(_DiagAt, F(3), k=1).without("mindspore", NUMPYS),
    case(_DiagAt, F(2, 3), k=-1).without("mindspore", NUMPYS),
    case(Triu, F(3, 3), diagonal=1),
    case(Diag, F(3)),
    case(DiagPart, F(3, 3)),
]
