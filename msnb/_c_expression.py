"""A face: what Python code looks for in MindSpore's C++ module: the classes of Tensors and types, and its switches."""

from msnb.common import dtype as typing
from msnb.core import security
from msnb.core.meta_tensor import MetaTensor
from msnb.core.tensor import Tensor

__all__ = ["MetaTensor", "Tensor", "security", "typing"]
