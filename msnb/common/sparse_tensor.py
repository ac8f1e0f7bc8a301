"""A face: Tensors that store what is not 0, under MindSpore 2's module path."""

from msnb.core.tensor.sparse import RowTensor, SparseTensor
from msnb.ops._sparse_formats import COOTensor, CSRTensor

__all__ = ["COOTensor", "CSRTensor", "RowTensor", "SparseTensor"]
