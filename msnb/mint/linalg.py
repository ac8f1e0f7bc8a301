"""Linear algebra of mint."""

from typing import Any

from msnb.common.kinds import Axis, Bool, DType, readable
from msnb.core.tensor.tensor import Tensor
from msnb.mint._rows import with_mint_names
from msnb.ops import functional as F

__all__ = ["inv", "matrix_norm", "norm", "qr", "vector_norm"]

inv = with_mint_names("inv", "input", F.inverse)
vector_norm = with_mint_names("vector_norm", "x ord dim:axis keepdim:keepdims * dtype")
matrix_norm = with_mint_names("matrix_norm", "A ord dim:axis keepdim:keepdims * dtype")


def qr(A: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """QR decomposition: return (Q, R) with Q R = A, where Q has orthonormal columns and R is upper triangular.

    Args:
        A (Tensor): (..., M, N), floating point or complex.
        mode (str): "reduced", "complete" for a square Q, or "r" for R only, with an empty Q. Default: "reduced".

    Returns:
        A tuple of two Tensors.
    """
    if mode == "r":
        return F.zeros((0,), A.dtype), F.qr(A)[1]
    return F.qr(A, mode)


@readable
def norm(A: Tensor, ord: Any = None, dim: Axis = None, keepdim: Bool = False, *, dtype: DType | None = None) -> Tensor:
    """Return the norm of vectors, or of matrices.

    Args:
        A (Tensor): Floating point or complex numbers.
        ord (Union[int, float, "fro", "nuc"]): The order of the norm. Default: None, the square root of the sum of
            squares.
        dim (Union[None, int, tuple[int]]): One dimension for vectors, two for matrices, None for all. Default: None.
        keepdim (bool): Whether to keep the reduced dimensions with length 1. Default: False.
        dtype (mindspore.dtype): Element type in which to compute. Default: None, the type of `A`.

    Returns:
        Tensor.
    """
    return F.norm(A, ord, dim, keepdim, dtype)
