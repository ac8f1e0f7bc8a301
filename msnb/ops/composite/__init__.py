"""Higher-order functions (maps, overloads, gradients), at MindSpore's path `mindspore.ops.composite`."""

from msnb.core.operator.operator_types import FUNCTIONAL
from msnb.core.transforms.grad import GradOperation
from msnb.ops.composite.clip import clip_by_global_norm, clip_by_norm, clip_by_value
from msnb.ops.composite.multitype import (
    HyperMap,
    Map,
    MultitypeFuncGraph,
    add_flags,
    core,
    hyper_add,
    ones_like,
    zeros_like,
    zip_operation,
)

__all__ = [
    "GradOperation",
    "HyperMap",
    "Map",
    "MultitypeFuncGraph",
    "add_flags",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "core",
    "hyper_add",
    "ones_like",
    "zeros_like",
    "zip_operation",
]


def __getattr__(name):
    """Return the function `name` of `mindspore.ops.functional`, because MindSpore has functions such as `normal` at
    both paths."""
    if name in FUNCTIONAL:
        return FUNCTIONAL[name]
    raise AttributeError(f"module 'msnb.ops.composite' has no attribute '{name}'")
