"""CSRTensor operators as classes. The functions of `msnb.ops.sparse_formats` compute them."""

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
    """Sums of the rows (axis 1) or columns (axis 0) of a CSRTensor."""

    def __call__(self, csr_tensor: CSRTensor, axis: int) -> Tensor:
        return csr_reduce_sum(csr_tensor, axis)


class CSRMV(HostPrimitive):
    """The product of a CSRTensor with a column."""

    def __call__(self, csr_tensor: CSRTensor, dense: Tensor) -> Tensor:
        return csr_mv(csr_tensor, dense)


class CSRMM(HostPrimitive):
    """The product of a CSRTensor with a matrix, dense or of CSR."""

    def __call__(self, csr_tensor: CSRTensor, matrix: Any) -> Any:
        return csr_tensor.mm(matrix)


class CSRMul(HostPrimitive):
    """The values of a CSRTensor times the elements of a Tensor at their places."""

    def __call__(self, csr_tensor: CSRTensor, dense: Tensor) -> Tensor:
        return csr_mul(csr_tensor, dense)


class CSRDiv(HostPrimitive):
    """The values of a CSRTensor over the elements of a Tensor at their places."""

    def __call__(self, csr_tensor: CSRTensor, dense: Tensor) -> Tensor:
        return csr_div(csr_tensor, dense)


class CSRGather(HostPrimitive):
    """The elements of a dense Tensor at the places of a CSRTensor."""

    def __call__(self, indptr: Tensor, indices: Tensor, dense: Tensor, sparse_shape: tuple[int, ...]) -> Tensor:
        return csr_gather(indptr, indices, dense, sparse_shape)


class CSR2COO(HostPrimitive):
    """The row of each of `nnz` values, from the first position of each row."""

    def __call__(self, indptr: Tensor, nnz: int) -> Tensor:
        return csr2coo(indptr, nnz)


class COO2CSR(HostPrimitive):
    """Return the first position of each of `height` rows, from the ascending rows of the values."""

    def __call__(self, row_indices: Tensor, height: int) -> Tensor:
        return coo2csr(row_indices, height)


__all__ = ["COO2CSR", "CSR2COO", "CSRMM", "CSRMV", "CSRDiv", "CSRGather", "CSRMul", "CSRReduceSum"]
