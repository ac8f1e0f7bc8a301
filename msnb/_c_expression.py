"""A face: what Python code looks for in MindSpore's C++ module: the classes of Tensors and types."""

from msnb.common import dtype as typing
from msnb.core.tensor import MetaTensor, Tensor

__all__ = ["MetaTensor", "Tensor", "typing"]
