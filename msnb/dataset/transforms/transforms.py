"""Re-export module of MindSpore 2's transforms: one class for the C++ and the Python class of r1.1."""

from msnb.dataset.core.tensor_op import Implementation as Implementation
from msnb.dataset.core.tensor_op import PyTensorOperation as PyTensorOperation
from msnb.dataset.core.tensor_op import TensorOperation as TensorOperation
from msnb.dataset.transforms._common import (
    Concatenate,
    Duplicate,
    Fill,
    Mask,
    OneHot,
    PadEnd,
    Relational,
    Slice,
    TypeCast,
    Unique,
)
from msnb.dataset.transforms._composite import Compose, Plugin, RandomApply, RandomChoice, RandomOrder

__all__ = [
    "Compose",
    "Concatenate",
    "Duplicate",
    "Fill",
    "Mask",
    "OneHot",
    "PadEnd",
    "Plugin",
    "RandomApply",
    "RandomChoice",
    "RandomOrder",
    "Relational",
    "Slice",
    "TypeCast",
    "Unique",
]
