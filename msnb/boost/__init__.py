"""Re-export module: gradient accumulation, the part of MindSpore 2's `boost` that programs use."""

from typing import Any

from msnb.boost.grad_accumulation import GradientAccumulation
from msnb.common.missing import asked

__all__ = ["GradientAccumulation"]


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
