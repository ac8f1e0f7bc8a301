"""A face: Tensor and its relatives."""

from msnb.core.meta_tensor import MetaTensor
from msnb.core.sparse_tensor import RowTensor, SparseTensor
from msnb.core.tensor import Tensor

__all__ = ["MetaTensor", "RowTensor", "SparseTensor", "Tensor"]
