"""A face: what Python code looks for in MindSpore's C++ module: the classes of Tensors and types, and its switches."""

from typing import Any

from msnb.common import dtype as typing
from msnb.common.missing import asked
from msnb.core.support import security
from msnb.core.transforms.compiler_hints import disable_multi_thread
from msnb.core.tensor.meta_tensor import MetaTensor
from msnb.core.tensor.tensor import Tensor

__all__ = ["MetaTensor", "Tensor", "disable_multi_thread", "security", "typing"]


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
