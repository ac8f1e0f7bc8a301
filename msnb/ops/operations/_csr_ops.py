"""Classes of the operators on CSRTensors. They call the functions of `msnb.ops.sparse_formats`."""

from typing import Any

from msnb.core.tensor.tensor import Tensor
from msnb.ops._host import HostPrimitive
from msnb.ops._sparse_formats import CSRTensor
from msnb.ops.sparse_formats import (
    coo2csr,
    csr2coo,
    csr_div,
    csr_gather,
    csr_mul,
    csr_mv,
    csr_reduce_sum,
)


class CSRReduceSum(HostPrimitive):
    """Sum the rows (axis 1) or columns (axis 0) of a CSRTensor."""

    def __call__(self, csr_tensor: CSRTensor, axis: int) -> Tensor:
        return csr_reduce_sum(csr_tensor, axis)


class CSRMV(HostPrimitive):
    """Multiply a CSRTensor by a column vector."""

    def __call__(self, csr_tensor: CSRTensor, dense: Tensor) -> Tensor:
        return csr_mv(csr_tensor, dense)


class CSRMM(HostPrimitive):
    """Multiply a CSRTensor by a dense matrix or a CSRTensor."""

    def __call__(self, csr_tensor: CSRTensor, matrix: Any) -> Any:
        return csr_tensor.mm(matrix)


class CSRMul(HostPrimitive):
    """Multiply each value of a CSRTensor by the element of a dense Tensor at the same coordinates."""

    def __call__(self, csr_tensor: CSRTensor, dense: Tensor) -> Tensor:
        return csr_mul(csr_tensor, dense)


class CSRDiv(HostPrimitive):
    """Divide each value of a CSRTensor by the element of a dense Tensor at the same coordinates."""

    def __call__(self, csr_tensor: CSRTensor, dense: Tensor) -> Tensor:
        return csr_div(csr_tensor, dense)


class CSRGather(HostPrimitive):
    """Gather the elements of a dense Tensor at the coordinates of a CSRTensor."""

    def __call__(self, indptr: Tensor, indices: Tensor, dense: Tensor, sparse_shape: tuple[int, ...]) -> Tensor:
        return csr_gather(indptr, indices, dense, sparse_shape)


class CSR2COO(HostPrimitive):
    """Return the row index of each of `nnz` values, from the row pointer `indptr`."""

    def __call__(self, indptr: Tensor, nnz: int) -> Tensor:
        return csr2coo(indptr, nnz)


class COO2CSR(HostPrimitive):
    """Return the row pointer of `height` rows, from the ascending row indices of the values."""

    def __call__(self, row_indices: Tensor, height: int) -> Tensor:
        return coo2csr(row_indices, height)


__all__ = ["COO2CSR", "CSR2COO", "CSRMM", "CSRMV", "CSRDiv", "CSRGather", "CSRMul", "CSRReduceSum"]
