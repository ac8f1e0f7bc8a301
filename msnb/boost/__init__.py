"""Re-export module: gradient accumulation, the part of MindSpore 2's `boost` that programs use."""

from msnb.boost.grad_accumulation import GradientAccumulation

__all__ = ["GradientAccumulation"]
