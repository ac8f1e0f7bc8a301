"""Operators that write diagonals into matrices, and block diagonal matrices."""

import math

import jax.numpy as jnp
from jax.scipy.linalg import block_diag as blocks

from msnb.common.kinds import Bool, Float, Int, Tensors
from msnb.core.operator.cases import F, I, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import ANY, NUMBER, axis_in, dtype_in, tensor_only
from msnb.ops._in_place import take_over


def _normalize_dimension_pair(op, ndim, dim1, dim2):
    """Check that `dim1` and `dim2` are two different dimensions, and return both counted from the front."""
    first, second = axis_in(op, dim1, ndim, "dim1"), axis_in(op, dim2, ndim, "dim2")
    if first == second:
        raise ValueError(f"For '{op}', 'dim1' and 'dim2' should be two dimensions, but got {dim1} and {dim2}.")
    return first, second


def _compute_diagonal_indices(offset, count):
    """Return the row indices and the column indices of the elements of a diagonal."""
    along = jnp.arange(count)
    return along + max(-offset, 0), along + max(offset, 0)


@operator(functional="diag_embed", generation=2)
def _DiagEmbed(input, offset: Int = 0, dim1: Int = -2, dim2: Int = -1):
    """Make matrices whose diagonals are the vectors along the last dimension of a Tensor. Other elements are 0.

    Inputs:
        - **input** (Tensor) - Numbers or bool, of at least 1 dimension.
        - **offset** (int) - The diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.
        - **dim1** (int) - The dimension of the rows in the result. Default: -2.
        - **dim2** (int) - The dimension of the columns. Default: -1.

    Outputs:
        Tensor with one dimension more than `input`.

    Raises:
        TypeError: If `input` is not a Tensor, or another argument is not an int.
        ValueError: If `dim1` or `dim2` is out of range, or they are equal.

    Examples:
        >>> print(ops.diag_embed(Tensor([2, 3], mindspore.int32)))
        [[2 0]
         [0 3]]
    """
    dtype_in("diag_embed", "input", input, ANY)
    if not input.ndim:
        raise ValueError("For 'diag_embed', 'input' should have at least 1 dimension, but got shape ().")
    first, second = _normalize_dimension_pair("diag_embed", input.ndim + 1, dim1, dim2)
    side = input.shape[-1] + abs(offset)
    matrices = jnp.zeros((*input.shape[:-1], side, side), input.dtype)
    rows, columns = _compute_diagonal_indices(offset, input.shape[-1])
    return jnp.moveaxis(matrices.at[..., rows, columns].set(input), (-2, -1), (first, second))


@operator(functional="diagonal_scatter", methods=("diagonal_scatter",), generation=2)
def _DiagonalScatter(input, src, offset: Int = 0, dim1: Int = 0, dim2: Int = 1):
    """Copy a Tensor and replace a diagonal of two of its dimensions.

    Inputs:
        - **input** (Tensor) - Of at least 2 dimensions.
        - **src** (Tensor) - New values of the diagonal. The shape is that of `input` without the two dimensions,
          followed by the length of the diagonal.
        - **offset** (int) - The diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.
        - **dim1** (int) - The dimension of the rows. Default: 0.
        - **dim2** (int) - The dimension of the columns. Default: 1.

    Outputs:
        Tensor of the shape and element type of `input`.

    Raises:
        TypeError: If an input is not a Tensor.
        ValueError: If `src` has another shape, or a dimension is out of range.
    """
    tensor_only("diagonal_scatter", "input", input)
    tensor_only("diagonal_scatter", "src", src)
    first, second = _normalize_dimension_pair("diagonal_scatter", input.ndim, dim1, dim2)
    expected = jnp.diagonal(input, offset, first, second).shape
    if src.shape != expected:
        raise ValueError(f"For 'diagonal_scatter', 'src' should have shape {expected}, but got {src.shape}.")
    matrices = jnp.moveaxis(input, (first, second), (-2, -1))
    rows, columns = _compute_diagonal_indices(offset, expected[-1])
    written = matrices.at[..., rows, columns].set(src.astype(input.dtype))
    return jnp.moveaxis(written, (-2, -1), (first, second))


@operator
def FillDiagonal(input_x, *, fill_value: Float, wrap: Bool = False):
    """Copy a Tensor and fill its main diagonal with one number.

    Args:
        fill_value (float): The number.
        wrap (bool): True to start the diagonal of a tall matrix again below its end, as `numpy.fill_diagonal` does.
            Default: False.

    Inputs:
        - **input_x** (Tensor) - Numbers, of at least 2 dimensions. More than 2 dimensions must have equal lengths.

    Outputs:
        Tensor of the shape and element type of `input_x`.

    Raises:
        TypeError: If `input_x` does not consist of numbers.
        ValueError: If `input_x` has fewer than 2 dimensions, or more than 2 dimensions of different lengths.

    Examples:
        >>> print(ops.FillDiagonal(9.0)(Tensor(np.zeros((2, 3)), mindspore.float32)))
        [[9. 0. 0.]
         [0. 9. 0.]]
    """
    dtype_in("fill_diagonal", "input_x", input_x, NUMBER)
    shape = input_x.shape
    if len(shape) < 2 or len(shape) > 2 and len(set(shape)) > 1:
        raise ValueError(
            f"For 'fill_diagonal', 'input_x' should have 2 dimensions, or more of one length, but got shape {shape}."
        )
    step = sum(math.prod(shape[i + 1 :]) for i in range(len(shape)))
    end = math.prod(shape) if wrap or len(shape) > 2 else min(shape) * step
    flat = input_x.reshape(-1).at[jnp.arange(0, min(end, math.prod(shape)), step)]
    return flat.set(jnp.asarray(fill_value, input_x.dtype)).reshape(shape)


@spelling(FillDiagonal, method="fill_diagonal")
def _tensor_fill_diagonal(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Return a copy with one number on the main diagonal."""
    return FillDiagonal(float(fill_value), wrap)(self)


@spelling(FillDiagonal, method="fill_diagonal_")
def _fill_diagonal_inplace(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Write one number to the main diagonal and return the Tensor."""
    return take_over("fill_diagonal_", self, FillDiagonal(float(fill_value), wrap)(self))


@operator
def _BlockDiag(inputs: Tensors):
    """Build a block diagonal matrix from matrices.

    Inputs:
        - **inputs** (Union[tuple[Tensor], list[Tensor]]) - Blocks of at most 2 dimensions; a number or vector is a row.

    Outputs:
        Tensor of 2 dimensions.
    """
    for x in inputs:
        if x.ndim > 2:
            raise ValueError(f"For 'block_diag', Tensors should have at most 2 dimensions, but got shape {x.shape}.")
    return blocks(*inputs)


@spelling(_BlockDiag)
def block_diag(*inputs: Tensor) -> Tensor:
    """Build a block diagonal matrix from matrices.

    Args:
        inputs (Tensor): The blocks, of at most 2 dimensions; a vector is a row.

    Returns:
        Tensor of 2 dimensions.

    Raises:
        ValueError: If a Tensor has more than 2 dimensions.
    """
    return _BlockDiag.functional(inputs)


CASES = [
    case(_DiagEmbed, F(2, 3)),
    case(_DiagEmbed, F(2, 3), 1, 0, 2),
    case(_DiagEmbed, I(3), -2),
    case(_DiagonalScatter, F(2, 3), F(2)),
    case(_DiagonalScatter, F(2, 3, 4), F(2, 2), 2, 1, 2),
    case(FillDiagonal, F(3, 4), fill_value=2.0),
    case(FillDiagonal, F(5, 2), fill_value=2.0, wrap=True),
    case(FillDiagonal, F(2, 2, 2), fill_value=2.0),
    refused(ValueError, FillDiagonal, F(3), fill_value=2.0, says="fill_diagonal"),
    case(block_diag, F(2, 3), F(3), F(1, 1)),
    refused(ValueError, _DiagEmbed, F(2), 0, 1, 1),
    refused(ValueError, _DiagonalScatter, F(2, 3), F(3)),
    refused(ValueError, block_diag, F(1, 1, 1)),
]
