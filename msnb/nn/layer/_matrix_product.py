"""Layers for products, inverses and determinants of matrices. The matrices are the last two axes of a Tensor."""

from msnb.common import dtype as mstype
from msnb.common.arguments import answered
from msnb.common.kinds import Bool, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import FLOATS, check_dtypes
from msnb.nn.cell import Cell
from msnb.ops import functional as F
from msnb.ops import operations as P

__all__ = ["MatMul", "MatInverse", "MatDet"]


class MatMul(Cell):
    """
    Matrix product, as in numpy.matmul: the leading axes broadcast, and a vector is a row on the left, a column on the
    right.

    Args:
        transpose_x1 (bool): Whether x1 is transposed. Default: False.
        transpose_x2 (bool): Whether x2 is transposed. Default: False.

    Inputs:
        - **x1** (Tensor) - the left factor.
        - **x2** (Tensor) - the right factor, of the same type.

    Outputs:
        Tensor, the product.

    Raises:
        TypeError: If an argument is no bool.
        ValueError: If the columns of x1 are not as many as the rows of x2, or the leading axes do not broadcast.

    Examples:
        >>> x = Tensor([[1.0, 2.0]], mindspore.float32)
        >>> print(nn.MatMul(transpose_x2=True)(x, x))
        [[5.]]
    """

    @checked
    def __init__(self, transpose_x1: Bool = False, transpose_x2: Bool = False) -> None:
        super().__init__()
        self.transpose_x1: bool = transpose_x1
        self.transpose_x2: bool = transpose_x2

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the product."""
        return F.matmul(_transpose_if(x1, self.transpose_x1), _transpose_if(x2, self.transpose_x2))


def _transpose_if(x, condition):
    return F.swapaxes(x, -1, -2) if condition and x.ndim > 1 else x


class MatInverse(Cell):
    """
    Invert symmetric, positive definite matrices.

    Inputs:
        - **a** (Tensor) - float16 or float32, of shape (..., N, N).

    Outputs:
        Tensor, float32, of the shape of `a`.

    Raises:
        TypeError: If `a` is of another type.

    Examples:
        >>> print(nn.MatInverse()(Tensor([[2.0, 0.0], [0.0, 4.0]], mindspore.float32)))
        [[0.5  0.  ]
         [0.   0.25]]
    """

    @answered
    def __init__(self) -> None:
        super().__init__()
        self.inverse: P.MatrixInverse = P.MatrixInverse()

    def construct(self, a: Tensor) -> Tensor:
        """Return the inverse."""
        check_dtypes(self.cls_name, FLOATS, a=a)
        return self.inverse(F.cast(a, mstype.float32))


class MatDet(Cell):
    """
    Compute the determinant of symmetric, positive definite matrices.

    Inputs:
        - **a** (Tensor) - float16 or float32, of shape (..., N, N).

    Outputs:
        Tensor, float32, of shape (...).

    Raises:
        TypeError: If `a` is of another type.

    Examples:
        >>> print(nn.MatDet()(Tensor([[2.0, 0.0], [0.0, 4.0]], mindspore.float32)))
        8.0
    """

    @answered
    def __init__(self) -> None:
        super().__init__()
        self.determinant: P.MatrixDeterminant = P.MatrixDeterminant()

    def construct(self, a: Tensor) -> Tensor:
        """Return the determinant."""
        check_dtypes(self.cls_name, FLOATS, a=a)
        return self.determinant(F.cast(a, mstype.float32))
