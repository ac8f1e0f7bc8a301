"""The identity matrix, and triangular matrices of ones."""

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import DType, Int, NonNegInt, PositiveInt, check
from msnb.core.operator.cases import case
from msnb.core.operator.declare import operator, spelling
from msnb.core.support.type_promotion import np_dtype
from msnb.core.tensor.tensor import Tensor
from msnb.ops._numpy import NUMPYS, element_type


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

    Examples:
        >>> print(ops.Eye()(2, 2, mindspore.int32))
        [[1 0]
         [0 1]]
    """
    return jnp.eye(n, m, dtype=np_dtype(t))


@spelling(Eye)
def eye(n: int, m: int | None = None, dtype: DType | None = None) -> Tensor:
    """A matrix with ones on its diagonal and zeros elsewhere.

    Args:
        n (int): Number of rows.
        m (int): Number of columns. Default: None, the number of rows.
        dtype (mindspore.dtype): Element type. Default: None, mindspore.float32.

    Returns:
        Tensor of shape (n, m).
    """
    m, dtype = n if m is None else m, mstype.float32 if dtype is None else dtype
    return _EyeAt.functional(n, m, 0, dtype) if 0 in (n, m) else Eye.functional(n, m, dtype)


@operator
def _EyeAt(n: NonNegInt, m: NonNegInt, k: Int, type: DType):
    """A matrix with ones on one of its diagonals and zeros elsewhere.

    Inputs:
        - **n** (int) - Number of rows.
        - **m** (int) - Number of columns.
        - **k** (int) - The diagonal: 0 is the main diagonal, positive numbers are above it.
        - **type** (mindspore.dtype) - Element type.

    Outputs:
        Tensor of shape (n, m) and element type `type`.
    """
    return jnp.eye(n, m, k, np_dtype(type))


def _check_size_and_diagonal(function, n, m, k):
    """Check and return the arguments N, M and k of a function of mindspore.numpy. M is N by default."""
    rows = check(NonNegInt, n, "N", function)
    return rows, rows if m is None else check(NonNegInt, m, "M", function), check(Int, k, "k", function)


@spelling(_EyeAt, numpy="eye")
def _numpy_eye(N: int, M: int | None = None, k: int = 0, dtype: DType | str = mstype.float32) -> Tensor:
    """A matrix with ones on one of its diagonals and zeros elsewhere.

    Args:
        N (int): Number of rows.
        M (int): Number of columns. Default: None, the number of rows.
        k (int): The diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.
        dtype (Union[mindspore.dtype, str]): Element type. Default: mindspore.float32.

    Returns:
        Tensor of shape (N, M).

    Raises:
        TypeError: If `N`, `M` or `k` is not an int, or `dtype` is no element type.
        ValueError: If `N` or `M` is negative.

    Examples:
        >>> print(mindspore.numpy.eye(2, 3, 1))
        [[0. 1. 0.]
         [0. 0. 1.]]
    """
    return _EyeAt.functional(*_check_size_and_diagonal("eye", N, M, k), element_type(dtype, "eye"))


@spelling(_EyeAt, numpy="identity")
def _numpy_identity(n: int, dtype: DType | str = mstype.float32) -> Tensor:
    """A square matrix with ones on its diagonal and zeros elsewhere.

    Args:
        n (int): Number of rows and columns.
        dtype (Union[mindspore.dtype, str]): Element type. Default: mindspore.float32.

    Returns:
        Tensor of shape (n, n).

    Raises:
        TypeError: If `n` is not an int, or `dtype` is no element type.
    """
    n = check(NonNegInt, n, "n", "identity")
    return _EyeAt.functional(n, n, 0, element_type(dtype, "identity"))


@operator
def _Tri(n: NonNegInt, m: NonNegInt, k: Int, type: DType):
    """A matrix with ones on and below a diagonal and zeros above it.

    Inputs:
        - **n** (int) - Number of rows.
        - **m** (int) - Number of columns.
        - **k** (int) - The diagonal: 0 is the main diagonal, positive numbers are above it.
        - **type** (mindspore.dtype) - Element type.

    Outputs:
        Tensor of shape (n, m) and element type `type`.
    """
    return jnp.tri(n, m, k, np_dtype(type))


@spelling(_Tri, numpy="tri")
def tri(N: int, M: int | None = None, k: int = 0, dtype: DType | str = mstype.float32) -> Tensor:
    """A matrix with ones on and below a diagonal and zeros above it.

    Args:
        N (int): Number of rows.
        M (int): Number of columns. Default: None, the number of rows.
        k (int): The diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.
        dtype (Union[mindspore.dtype, str]): Element type. Default: mindspore.float32.

    Returns:
        Tensor of shape (N, M).

    Raises:
        TypeError: If `N`, `M` or `k` is not an int, or `dtype` is no element type.
        ValueError: If `N` or `M` is negative.

    Examples:
        >>> print(mindspore.numpy.tri(2, 3, 1))
        [[1. 1. 0.]
         [1. 1. 1.]]
    """
    return _Tri.functional(*_check_size_and_diagonal("tri", N, M, k), element_type(dtype, "tri"))


CASES = [
    case(Eye, 2, 3, mstype.int32),
    case(_EyeAt, 3, 2, -1, mstype.float32).without("mindspore", NUMPYS),
    case(_Tri, 3, 2, 0, mstype.float32).without("mindspore", NUMPYS),
]
