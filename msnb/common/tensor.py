"""A face: Tensor and its relatives."""

from msnb.core.tensor.meta_tensor import MetaTensor
from msnb.core.tensor.sparse import RowTensor, SparseTensor
from msnb.core.tensor.tensor import Tensor

__all__ = ["MetaTensor", "RowTensor", "SparseTensor", "Tensor"]
