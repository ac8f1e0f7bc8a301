"""A face: what Python code looks for in MindSpore's C++ module: the classes of Tensors and types."""

from msnb.common import dtype as typing
from msnb.core.meta_tensor import MetaTensor
from msnb.core.tensor import Tensor

__all__ = ["MetaTensor", "Tensor", "typing"]
