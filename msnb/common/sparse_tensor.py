"""Re-export module: sparse Tensors, at MindSpore 2's path."""

from msnb.core.tensor.sparse import RowTensor, SparseTensor
from msnb.ops._sparse_formats import COOTensor, CSRTensor

RowTensorInner = RowTensor  # the name of the class within MindSpore 2

__all__ = ["COOTensor", "CSRTensor", "RowTensor", "SparseTensor"]
