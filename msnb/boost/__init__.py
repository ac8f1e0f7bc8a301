"""A face: of MindSpore 2's `boost` what programs use, the accumulation of gradients."""

from msnb.boost.grad_accumulation import GradientAccumulation

__all__ = ["GradientAccumulation"]
