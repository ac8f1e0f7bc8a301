"""Operators that select bands of matrices, and read, write or replace their diagonals.

Several diagonals are the rows of one Tensor, the uppermost first. `align` gives the sides to which shorter diagonals
are aligned in their rows: "RIGHT_LEFT" aligns those above the main diagonal to the right and those below it to the
left. The remaining elements of a row are padding.
"""

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Int, IntOrTuple, OneOf
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import same_dtype, same_shape, tensor_only
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32

Alignment = OneOf("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def _require_matrix(op, x):
    tensor_only(op, "x", x)
    if x.ndim < 2:
        raise ValueError(f"For '{op}', 'x' should have at least 2 dimensions, but got shape {x.shape}.")


def _check_diagonal_range(op, k, rows, columns):
    """Check `k`, one diagonal or a pair, and return the lowest and the uppermost diagonal."""
    low, high = (k, k) if isinstance(k, int) else (k * 2)[:2] if len(k) == 1 else k
    if low > high or low <= -rows or high >= columns:
        raise ValueError(f"For '{op}', 'k' should be diagonals of {rows} rows and {columns} columns, but got {k}.")
    return low, high


def _compute_diagonal_indices(low, high, rows, columns, align):
    """Return row indices, column indices and a mask, all of shape (number of diagonals, longest diagonal). Row 0
    belongs to the diagonal `high`, the last row to `low`. The mask is False at the padding of shorter diagonals.
    """
    longest = min(rows + min(high, 0), columns - max(low, 0))
    offset, position = np.arange(high, low - 1, -1)[:, None], np.arange(longest)
    length = np.minimum(rows + np.minimum(offset, 0), columns - np.maximum(offset, 0))
    above, below = align.split("_")
    right = np.where(offset >= 0, above == "RIGHT", below == "RIGHT")
    position = position - np.where(right, longest - length, 0)
    is_valid = (position >= 0) & (position < length)
    row, column = position - np.minimum(offset, 0), position + np.maximum(offset, 0)
    return np.where(is_valid, row, 0), np.where(is_valid, column, 0), is_valid


def _check_diagonals(op, diagonals, low, high, rows, columns):
    longest = min(rows + min(high, 0), columns - max(low, 0))
    tail = (longest,) if low == high else (high - low + 1, longest)
    if diagonals.shape[-len(tail) :] != tail:
        raise ValueError(f"For '{op}', the diagonals should have shape (*, {tail}), but got {diagonals.shape}.")
    return diagonals[..., None, :] if low == high else diagonals


def _replace_diagonals(x, diagonals, low, high, align):
    row, column, is_valid = _compute_diagonal_indices(low, high, *x.shape[-2:], align)
    positions = tuple(np.nonzero(is_valid))
    return x.at[..., row[positions], column[positions]].set(diagonals[(..., *positions)])


@operator(functional="matrix_band_part", generation=2)
def MatrixBandPart(x, lower: Int, upper: Int):
    """Set the elements of matrices outside of a band around the main diagonal to zero.

    Inputs:
        - **x** (Tensor) - Of at least 2 dimensions.
        - **lower** (Union[int, Tensor]) - Number of diagonals below the main one to keep; a negative number keeps all.
        - **upper** (Union[int, Tensor]) - Number of diagonals above the main one to keep; a negative number keeps all.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `lower` or `upper` is not an int.
        ValueError: If `x` has fewer than 2 dimensions.
    """
    _require_matrix("MatrixBandPart", x)
    x = jnp.triu(x, -lower) if lower >= 0 else x
    return jnp.tril(x, upper) if upper >= 0 else x


@operator
@shapes("x: ... _, padding_value: ()")
def MatrixDiagV3(x, k: IntOrTuple, num_rows: Int, num_cols: Int, padding_value, *, align: Alignment = "RIGHT_LEFT"):
    """Build matrices from their diagonals.

    Args:
        align (str): The sides to which shorter diagonals above and below the main one are aligned; the other side is
            padded. Default: "RIGHT_LEFT".

    Inputs:
        - **x** (Tensor) - The diagonals, of shape (*, length), or (*, number, length) for several diagonals.
        - **k** (Union[int, tuple[int], Tensor]) - The diagonal, or a pair: the lowest and the uppermost.
        - **num_rows** (Union[int, Tensor]) - Number of rows of the matrices; -1 for the least possible number.
        - **num_cols** (Union[int, Tensor]) - Number of columns of the matrices; -1 for the least possible number.
        - **padding_value** (Union[int, float, Tensor]) - Value outside of the diagonals.

    Outputs:
        Tensor of shape (*, num_rows, num_cols) and the element type of `x`.

    Raises:
        TypeError: If `k`, `num_rows` or `num_cols` does not consist of int.
        ValueError: If the diagonals do not fit the matrices.
    """
    op = "MatrixDiagV3"
    tensor_only(op, "x", x)
    low, high = (k, k) if isinstance(k, int) else (k * 2)[:2] if len(k) == 1 else k
    longest = x.shape[-1]
    least_rows, least_columns = longest - min(high, 0), longest + max(low, 0)
    if num_rows == num_cols == -1:
        num_rows = num_cols = max(least_rows, least_columns)
    num_rows, num_cols = (least if n == -1 else n for n, least in ((num_rows, least_rows), (num_cols, least_columns)))
    low, high = _check_diagonal_range(op, k, num_rows, num_cols)
    diagonals = _check_diagonals(op, x, low, high, num_rows, num_cols)
    matrices = jnp.full((*diagonals.shape[:-2], num_rows, num_cols), padding_value.astype(x.dtype))
    return _replace_diagonals(matrices, diagonals, low, high, align)


@spelling(MatrixDiagV3)
def matrix_diag(
    x: Tensor,
    k: Tensor | int = 0,
    num_rows: Tensor | int = -1,
    num_cols: Tensor | int = -1,
    padding_value: Tensor | float = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Build matrices from their diagonals.

    Args:
        x (Tensor): The diagonals, of shape (*, length), or (*, number, length) for several diagonals.
        k (Union[int, Tensor]): The diagonal, or a pair: the lowest and the uppermost. Default: 0.
        num_rows (Union[int, Tensor]): Number of rows of the matrices; -1 for the least possible number. Default: -1.
        num_cols (Union[int, Tensor]): Number of columns of the matrices; -1 for the least possible number. Default: -1.
        padding_value (Union[int, float, Tensor]): Value outside of the diagonals. Default: 0.
        align (str): The sides to which shorter diagonals above and below the main one are aligned; the other side is
            padded. Default: "RIGHT_LEFT".

    Returns:
        Tensor of shape (*, num_rows, num_cols).

    Raises:
        ValueError: If the diagonals do not fit the matrices.
    """
    return MatrixDiagV3.functional(x, k, num_rows, num_cols, padding_value, align)


@operator
@shapes("padding_value: ()")
def MatrixDiagPartV3(x, k: IntOrTuple, padding_value, *, align: Alignment = "RIGHT_LEFT"):
    """Read diagonals of matrices.

    Args:
        align (str): The sides to which shorter diagonals above and below the main one are aligned; the other side is
            padded. Default: "RIGHT_LEFT".

    Inputs:
        - **x** (Tensor) - Of at least 2 dimensions.
        - **k** (Union[int, tuple[int], Tensor]) - The diagonal, or a pair: the lowest and the uppermost.
        - **padding_value** (Union[int, float, Tensor]) - Padding of shorter diagonals.

    Outputs:
        Tensor of shape (*, length), or (*, number, length) for several diagonals.

    Raises:
        TypeError: If `k` does not consist of int.
        ValueError: If `x` has no such diagonals.
    """
    _require_matrix("MatrixDiagPartV3", x)
    low, high = _check_diagonal_range("MatrixDiagPartV3", k, *x.shape[-2:])
    row, column, is_valid = _compute_diagonal_indices(low, high, *x.shape[-2:], align)
    diagonals = jnp.where(is_valid, x[..., row, column], padding_value.astype(x.dtype))
    return diagonals[..., 0, :] if low == high else diagonals


@spelling(MatrixDiagPartV3)
def matrix_diag_part(x: Tensor, k: Tensor | int, padding_value: Tensor | float, align: str = "RIGHT_LEFT") -> Tensor:
    """Read diagonals of matrices.

    Args:
        x (Tensor): Of at least 2 dimensions.
        k (Union[int, Tensor]): The diagonal, or a pair: the lowest and the uppermost.
        padding_value (Union[int, float, Tensor]): Padding of shorter diagonals.
        align (str): The sides to which shorter diagonals above and below the main one are aligned; the other side is
            padded. Default: "RIGHT_LEFT".

    Returns:
        Tensor of shape (*, length), or (*, number, length) for several diagonals.

    Raises:
        ValueError: If `x` has no such diagonals.
    """
    return MatrixDiagPartV3.functional(x, k, padding_value, align)


@operator
def MatrixSetDiagV3(x, diagonal, k: IntOrTuple, *, align: Alignment = "RIGHT_LEFT"):
    """Copy matrices and replace some of their diagonals.

    Args:
        align (str): The sides to which shorter diagonals above and below the main one are aligned; the other side is
            padded. Default: "RIGHT_LEFT".

    Inputs:
        - **x** (Tensor) - Of at least 2 dimensions.
        - **diagonal** (Tensor) - The diagonals, of shape (*, length), or (*, number, length) for several diagonals.
        - **k** (Union[int, tuple[int], Tensor]) - The diagonal, or a pair: the lowest and the uppermost.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `k` does not consist of int.
        ValueError: If `x` has no such diagonals, or `diagonal` does not have their shape.
    """
    op = "MatrixSetDiagV3"
    _require_matrix(op, x)
    low, high = _check_diagonal_range(op, k, *x.shape[-2:])
    return _replace_diagonals(x, _check_diagonals(op, diagonal, low, high, *x.shape[-2:]), low, high, align)


@spelling(MatrixSetDiagV3)
def matrix_set_diag(x: Tensor, diagonal: Tensor, k: Tensor | int = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """Copy matrices and replace some of their diagonals.

    Args:
        x (Tensor): Of at least 2 dimensions.
        diagonal (Tensor): The diagonals, of shape (*, length), or (*, number, length) for several diagonals.
        k (Union[int, Tensor]): The diagonal, or a pair: the lowest and the uppermost. Default: 0.
        align (str): The sides to which shorter diagonals above and below the main one are aligned; the other side is
            padded. Default: "RIGHT_LEFT".

    Returns:
        Tensor of the shape and element type of `x`.

    Raises:
        ValueError: If `x` has no such diagonals, or `diagonal` does not have their shape.
    """
    return MatrixSetDiagV3.functional(x, diagonal, k, align)


_BAND, _ONE = Values([-1, 1]), Values(1)
_EVERY = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def _choose_broadcast_axis(assist):
    """Return the axis along which a diagonal is broadcast to matrices of the shape of `assist`: the longer one of the
    last two axes, or -2 for square matrices.
    """
    return -1 if assist.shape[-2] < assist.shape[-1] else -2


@operator
@shapes("assist: ... n n")
def MatrixDiag(x, assist):
    """Write diagonals into matrices of zeros. `assist` holds matrices that are 1 on the diagonal and 0 elsewhere.

    Inputs:
        - **x** (Tensor) - The diagonals, of a shape that broadcasts to the shape of `assist` without axis -2.
        - **assist** (Tensor) - The matrices, of the element type of `x`.

    Outputs:
        Tensor of the shape of `assist`.

    Raises:
        TypeError: If the element types differ.
        ValueError: If the matrices are not square, or the shapes do not fit.
    """
    same_dtype("MatrixDiag", x=x, assist=assist)
    if x.ndim >= assist.ndim or any(
        n not in (1, m) for n, m in zip(x.shape[::-1], (assist.shape[-1:] + assist.shape[-3::-1]))
    ):
        raise ValueError(f"For 'MatrixDiag', 'x' of shape {x.shape} does not fit 'assist' of shape {assist.shape}.")
    return jnp.expand_dims(x, -2) * assist if x.ndim else x * assist


@operator
@shapes("x: ... _ _")
def MatrixDiagPart(x, assist):
    """Read the diagonals of matrices. `assist` holds matrices that are 1 on the diagonal and 0 elsewhere.

    Inputs:
        - **x** (Tensor) - The matrices, of at least 2 dimensions.
        - **assist** (Tensor) - Of the shape and element type of `x`.

    Outputs:
        Tensor of the shape of `x` without the longer one of its last two axes.

    Raises:
        TypeError: If the element types differ.
        ValueError: If the shapes differ.
    """
    same_dtype("MatrixDiagPart", x=x, assist=assist)
    same_shape("MatrixDiagPart", x=x, assist=assist)
    return jnp.sum(x * assist, _choose_broadcast_axis(assist), dtype=x.dtype)


@operator
@in_float32
@shapes("x: ... _ _")
def MatrixSetDiag(x, diagonal, assist):
    """Replace the diagonals of matrices. `assist` holds matrices that are 1 on the diagonal and 0 elsewhere.

    Inputs:
        - **x** (Tensor) - The matrices, of at least 2 dimensions.
        - **diagonal** (Tensor) - The diagonals, of the shape of `x` without the longer one of its last two axes.
        - **assist** (Tensor) - Of the shape and element type of `x`.

    Outputs:
        Tensor of the shape of `x`.

    Raises:
        TypeError: If the element types differ.
        ValueError: If the shapes do not fit.
    """
    same_dtype("MatrixSetDiag", x=x, diagonal=diagonal, assist=assist)
    same_shape("MatrixSetDiag", x=x, assist=assist)
    expanded = jnp.expand_dims(diagonal, _choose_broadcast_axis(assist))
    if expanded.ndim != x.ndim or any(n not in (1, m) for n, m in zip(expanded.shape, x.shape)):
        raise ValueError(
            f"For 'MatrixSetDiag', 'diagonal' of shape {diagonal.shape} does not fit 'x' of shape {x.shape}."
        )
    return x * (1 - assist) + expanded * assist


CASES = [
    case(MatrixBandPart, F(3, 4), 1, 0),
    case(MatrixBandPart, F(2, 3, 3), -1, 1),
    case(matrix_diag, F(2, 3)),
    case(matrix_diag, F(2), Values(-1), Values(3), Values(2), Values(9.0)).wrt(0),
    *(case(matrix_diag, F(2, 3, 3), _BAND, align=align) for align in _EVERY),
    *(case(matrix_diag_part, F(3, 4), _BAND, Values(0.5), align=align).wrt(0) for align in _EVERY),
    case(matrix_diag_part, F(2, 3, 2), Values(-1), Values(0.0)).wrt(0),
    case(matrix_set_diag, F(3, 4), F(3), _ONE),
    *(case(matrix_set_diag, F(3, 4), F(3, 3), _BAND, align=align) for align in _EVERY),
    case(MatrixDiagV3, F(3, 3), Values([-1, 1]), Values(3), Values(3), Values(0.0), align="LEFT_RIGHT").wrt(0),
    case(MatrixDiagPartV3, F(3, 3), _BAND, Values(0.0)).wrt(0),
    case(MatrixSetDiagV3, F(3, 3), F(3, 3), _BAND),
    refused(ValueError, MatrixDiagPartV3, F(3, 3), 3, Values(0.0)),
    refused(ValueError, MatrixSetDiagV3, F(3, 3), F(2), 0),
    refused(ValueError, MatrixBandPart, F(3), 0, 0),
    case(MatrixDiag, F(2), F(3, 2, 2)).without("mindspore", "r1.1's alone; tests/ops/test_edges.py has its example"),
    case(MatrixDiagPart, F(3, 2, 2), F(3, 2, 2)).without("mindspore", "r1.1's alone"),
    case(MatrixSetDiag, F(2, 3), F(2), F(2, 3)).without("mindspore", "r1.1's alone"),
    refused(ValueError, MatrixDiagPart, F(2, 2), F(2, 3)),
]
