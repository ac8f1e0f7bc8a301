"""Re-export module: sparse Tensors, at MindSpore 2's path."""

from msnb.core.tensor.sparse import RowTensor, SparseTensor
from msnb.ops._sparse_formats import COOTensor, CSRTensor

__all__ = ["COOTensor", "CSRTensor", "RowTensor", "SparseTensor"]
