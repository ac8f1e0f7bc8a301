"""Layers for triangles and diagonals of matrices. The matrices are the last two axes of a Tensor."""

import numpy as np

from msnb.common.kinds import Int, check
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.ops import functional as F

__all__ = ["Tril", "Triu", "MatrixDiag", "MatrixDiagPart", "MatrixSetDiag"]


def _check_least_axes(layer, x, least):
    if x.ndim < least:
        raise ValueError(f"For '{layer}', the input should have at least {least} dims, but got shape {x.shape}.")


class Tril(Cell):
    """
    Return the lower triangles of matrices: the elements above a diagonal are set to 0.

    Inputs:
        - **x** (Tensor) - of shape (..., M, N).
        - **k** (int) - the diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `k` is no int.
        ValueError: If `x` is no matrix.

    Examples:
        >>> print(nn.Tril()(Tensor([[1, 2], [3, 4]])))
        [[1 0]
         [3 4]]
    """

    def construct(self, x: Tensor, k: int = 0) -> Tensor:
        """Return the triangle."""
        return F.tril(x, check(Int, k, "k", self.cls_name))


class Triu(Cell):
    """
    Return the upper triangles of matrices: the elements below a diagonal are set to 0.

    Inputs:
        - **x** (Tensor) - of shape (..., M, N).
        - **k** (int) - the diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `k` is no int.
        ValueError: If `x` is no matrix.

    Examples:
        >>> print(nn.Triu()(Tensor([[1, 2], [3, 4]])))
        [[1 2]
         [0 4]]
    """

    def construct(self, x: Tensor, k: int = 0) -> Tensor:
        """Return the triangle."""
        return F.triu(x, check(Int, k, "k", self.cls_name))


def _set_diagonal(diagonal, matrices):
    """Return `matrices` with the diagonals replaced."""
    rows, columns = matrices.shape[-2:]
    on_diagonal = Tensor(np.broadcast_to(np.eye(rows, columns, dtype=bool), matrices.shape))
    expanded = F.broadcast_to(F.expand_dims(diagonal, -1 if rows <= columns else -2), matrices.shape)
    return F.select(on_diagonal, expanded, matrices)


class MatrixDiag(Cell):
    """
    Create square matrices with the last axis of the input as the main diagonal, and 0 elsewhere.

    Inputs:
        - **x** (Tensor) - of shape (..., N).

    Outputs:
        Tensor of shape (..., N, N).

    Raises:
        ValueError: If `x` is a scalar.

    Examples:
        >>> print(nn.MatrixDiag()(Tensor([1, -1], mindspore.float32)))
        [[ 1.  0.]
         [ 0. -1.]]
    """

    def construct(self, input_x: Tensor) -> Tensor:
        """Return the matrices."""
        _check_least_axes(self.cls_name, input_x, 1)
        return _set_diagonal(input_x, F.zeros((*input_x.shape, input_x.shape[-1]), input_x.dtype))


class MatrixDiagPart(Cell):
    """
    Return the main diagonals of matrices.

    Inputs:
        - **x** (Tensor) - of shape (..., M, N).

    Outputs:
        Tensor of shape (..., min(M, N)).

    Raises:
        ValueError: If `x` is no matrix.

    Examples:
        >>> print(nn.MatrixDiagPart()(Tensor([[1, 2], [3, 4]], mindspore.float32)))
        [1. 4.]
    """

    def construct(self, input_x: Tensor) -> Tensor:
        """Return the diagonals."""
        _check_least_axes(self.cls_name, input_x, 2)
        return F.diagonal(input_x, 0, -2, -1)


class MatrixSetDiag(Cell):
    """
    Replace the main diagonals of matrices.

    Inputs:
        - **x** (Tensor) - of shape (..., M, N).
        - **diagonal** (Tensor) - the diagonals, of the type of `x` and of shape (..., min(M, N)).

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If the types differ.
        ValueError: If `x` is no matrix, or `diagonal` of another shape.

    Examples:
        >>> x = Tensor([[-1, 0], [0, 1]], mindspore.float32)
        >>> print(nn.MatrixSetDiag()(x, Tensor([3.0, 2.0], mindspore.float32)))
        [[3. 0.]
         [0. 2.]]
    """

    def construct(self, input_x: Tensor, diagonal: Tensor) -> Tensor:
        """Return the matrices with the new diagonals."""
        _check_least_axes(self.cls_name, input_x, 2)
        fitting = (*input_x.shape[:-2], min(input_x.shape[-2:]))
        if diagonal.dtype != input_x.dtype:
            raise TypeError(
                f"For '{self.cls_name}', 'diagonal' should be of type {input_x.dtype}, but got {diagonal.dtype}."
            )
        if tuple(diagonal.shape) != fitting:
            raise ValueError(
                f"For '{self.cls_name}', 'diagonal' should be of shape {fitting}, but got {tuple(diagonal.shape)}."
            )
        return _set_diagonal(diagonal, input_x)
