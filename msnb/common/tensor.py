"""A face: Tensor and its relatives."""

from msnb.core.tensor import MetaTensor, RowTensor, SparseTensor, Tensor

__all__ = ["MetaTensor", "RowTensor", "SparseTensor", "Tensor"]
