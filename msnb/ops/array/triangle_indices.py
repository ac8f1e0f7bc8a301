"""Row and column indices of the elements of a triangle."""

import jax.numpy as jnp
import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Int, NonNegInt, check
from msnb.core.operator.cases import case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.support.type_promotion import np_dtype
from msnb.core.tensor.tensor import Tensor
from msnb.ops.array.sort import IndexType


def _stack_triangle_indices(find, row, col, offset, dtype):
    return jnp.asarray(np.stack(find(row, offset, col)).astype(np_dtype(dtype)))


@operator(generation=2)
def TrilIndices(*, row: NonNegInt, col: NonNegInt, offset: Int = 0, dtype: IndexType = mstype.int32):
    """Return the row indices and column indices of the elements on and below a diagonal, row by row.

    Args:
        row (int): Number of rows.
        col (int): Number of columns.
        offset (int): The diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.
        dtype (mindspore.dtype): int32 or int64. Default: mindspore.int32.

    Outputs:
        Tensor of shape (2, number of elements).

    Examples:
        >>> print(ops.TrilIndices(2, 2)())
        [[0 1 1]
         [0 0 1]]
    """
    return _stack_triangle_indices(np.tril_indices, row, col, offset, dtype)


@operator(generation=2)
def TriuIndices(*, row: NonNegInt, col: NonNegInt, offset: Int = 0, dtype: IndexType = mstype.int32):
    """Return the row indices and column indices of the elements on and above a diagonal, row by row.

    Args:
        row (int): Number of rows.
        col (int): Number of columns.
        offset (int): The diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.
        dtype (mindspore.dtype): int32 or int64. Default: mindspore.int32.

    Outputs:
        Tensor of shape (2, number of elements).

    Examples:
        >>> print(ops.TriuIndices(2, 2)())
        [[0 0 1]
         [0 1 1]]
    """
    return _stack_triangle_indices(np.triu_indices, row, col, offset, dtype)


def _check_and_call_operator(function, operator, row, col, offset, dtype):
    row, col = check(NonNegInt, row, "row", function), check(NonNegInt, col, "col", function)
    return operator(row, col, check(Int, offset, "offset", function), check(IndexType, dtype, "dtype", function))()


@spelling(TrilIndices)
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: mstype.Type = mstype.int64) -> Tensor:
    """Return the row indices and column indices of the elements on and below a diagonal, row by row.

    Args:
        row (int): Number of rows.
        col (int): Number of columns.
        offset (int): The diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.
        dtype (mindspore.dtype): int32 or int64. Default: mindspore.int64.

    Returns:
        Tensor of shape (2, number of elements).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `row` or `col` is negative.
    """
    return _check_and_call_operator("tril_indices", TrilIndices, row, col, offset, dtype)


@spelling(TriuIndices)
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: mstype.Type = mstype.int64) -> Tensor:
    """Return the row indices and column indices of the elements on and above a diagonal, row by row.

    Args:
        row (int): Number of rows.
        col (int): Number of columns.
        offset (int): The diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.
        dtype (mindspore.dtype): int32 or int64. Default: mindspore.int64.

    Returns:
        Tensor of shape (2, number of elements).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `row` or `col` is negative.
    """
    return _check_and_call_operator("triu_indices", TriuIndices, row, col, offset, dtype)


CASES = [
    case(TrilIndices, row=3, col=2),
    case(TriuIndices, row=3, col=4, offset=1, dtype=mstype.int64),
    case(tril_indices, 2, 3, -1),
    case(triu_indices, 2, 3, dtype=mstype.int32),
    refused(ValueError, tril_indices, -1, 2),
]
