"""Re-export module at MindSpore's path `mindspore.ops.composite.base`."""

from msnb.core.transforms.grad import GradOperation
from msnb.ops.composite.multitype import HyperMap, Map, MultitypeFuncGraph, add_flags, core

__all__ = ["GradOperation", "HyperMap", "Map", "MultitypeFuncGraph", "add_flags", "core"]
