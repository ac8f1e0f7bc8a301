"""Basic layers on triangles and diagonals of matrices."""

import numpy as np

from msnb._checkparam import Rel, Validator
from msnb.core.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.ops import operations as P

__all__ = ["Tril", "Triu", "MatrixDiag", "MatrixDiagPart", "MatrixSetDiag"]


class _Triangle(Cell):
    """Keep one triangle of the last two axes."""

    def __init__(self):
        super().__init__()
        self.select = P.Select()
        self.zeros_like = P.ZerosLike()

    def _keep(self, triangle, x, k):
        Validator.check_int(x.ndim, 1, Rel.GE, "x rank", self.cls_name)
        Validator.check_is_int(k, "k value", self.cls_name)
        mask = Tensor(triangle(np.ones(x.shape, dtype=bool), k))
        return self.select(mask, x, self.zeros_like(x))


class Tril(_Triangle):
    """
    The lower triangle: elements above the k-th diagonal become 0.

    Inputs:
        - **x** (Tensor) - of shape (..., M, N).
        - **k** (int) - the diagonal: 0 is the main one, positive ones lie above it. Default: 0.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `k` is not an int.
        ValueError: If `x` is a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> tril = nn.Tril()
        >>> print(tril(Tensor(np.array([[1, 2], [3, 4]]))))
        [[1 0]
         [3 4]]
    """

    def construct(self, x, k=0):
        return self._keep(np.tril, x, k)


class Triu(_Triangle):
    """
    The upper triangle: elements below the k-th diagonal become 0.

    Inputs:
        - **x** (Tensor) - of shape (..., M, N).
        - **k** (int) - the diagonal: 0 is the main one, positive ones lie above it. Default: 0.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `k` is not an int.
        ValueError: If `x` is a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> triu = nn.Triu()
        >>> print(triu(Tensor(np.array([[1, 2], [3, 4]]))))
        [[1 2]
         [0 4]]
    """

    def construct(self, x, k=0):
        return self._keep(np.triu, x, k)


class _Diagonal(Cell):
    """Read and write main diagonals."""

    def __init__(self):
        super().__init__()
        self.select = P.Select()
        self.zeros_like = P.ZerosLike()
        self.expand_dims = P.ExpandDims()

    def _is_diagonal(self, shape):
        """True on the diagonal of the last two axes, False elsewhere."""
        return P.BroadcastTo(shape)(Tensor(np.eye(*shape[-2:], dtype=bool)))

    def _along_diagonal(self, diagonal, shape):
        """A Tensor of `shape` that has `diagonal` on the diagonal of its last two axes."""
        rows, columns = shape[-2:]
        return P.BroadcastTo(shape)(self.expand_dims(diagonal, -1 if rows <= columns else -2))


class MatrixDiag(_Diagonal):
    """
    Diagonal matrices whose main diagonals are the last axis of the input.

    Inputs:
        - **x** (Tensor) - of shape (..., N).

    Outputs:
        Tensor of shape (..., N, N).

    Raises:
        ValueError: If `x` is a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> matrix_diag = nn.MatrixDiag()
        >>> print(matrix_diag(Tensor(np.array([1, -1]), mindspore.float32)))
        [[ 1.  0.]
         [ 0. -1.]]
    """

    def construct(self, input_x):
        Validator.check_int(input_x.ndim, 1, Rel.GE, "x rank", self.cls_name)
        shape = (*input_x.shape, input_x.shape[-1])
        values = self._along_diagonal(input_x, shape)
        return self.select(self._is_diagonal(shape), values, self.zeros_like(values))


class MatrixDiagPart(_Diagonal):
    """
    The main diagonals of the matrices in the last two axes.

    Inputs:
        - **x** (Tensor) - of shape (..., M, N).

    Outputs:
        Tensor of shape (..., min(M, N)).

    Raises:
        ValueError: If `x` has fewer than 2 axes.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> matrix_diag_part = nn.MatrixDiagPart()
        >>> print(matrix_diag_part(Tensor([[-1, 0], [0, 1]], mindspore.float32)))
        [-1.  1.]
    """

    def __init__(self):
        super().__init__()
        self.reduce_sum = P.ReduceSum()

    def construct(self, input_x):
        Validator.check_int(input_x.ndim, 2, Rel.GE, "x rank", self.cls_name)
        rows, columns = input_x.shape[-2:]
        diagonal = self.select(self._is_diagonal(input_x.shape), input_x, self.zeros_like(input_x))
        return self.reduce_sum(diagonal, -1 if rows <= columns else -2)


class MatrixSetDiag(_Diagonal):
    """
    Replace the main diagonals of the matrices in the last two axes.

    Inputs:
        - **x** (Tensor) - of shape (..., M, N).
        - **diagonal** (Tensor) - of the type of `x` and of shape (..., min(M, N)).

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If the types differ.
        ValueError: If `x` has fewer than 2 axes, or the shape of `diagonal` does not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> matrix_set_diag = nn.MatrixSetDiag()
        >>> x = Tensor([[-1, 0], [0, 1]], mindspore.float32)
        >>> print(matrix_set_diag(x, Tensor([-1., 2.], mindspore.float32)))
        [[-1.  0.]
         [ 0.  2.]]
    """

    def construct(self, input_x, diagonal):
        Validator.check_int(input_x.ndim, 2, Rel.GE, "x rank", self.cls_name)
        expected = (*input_x.shape[:-2], min(input_x.shape[-2:]))
        if diagonal.dtype != input_x.dtype:
            raise TypeError(
                f"For 'MatrixSetDiag', 'x' and 'diagonal' should have one type, but got {input_x.dtype} and "
                f"{diagonal.dtype}."
            )
        if tuple(diagonal.shape) != expected:
            raise ValueError(
                f"For 'MatrixSetDiag', 'diagonal' should be of shape {expected}, but got {tuple(diagonal.shape)}."
            )
        values = self._along_diagonal(diagonal, input_x.shape)
        return self.select(self._is_diagonal(input_x.shape), values, input_x)
