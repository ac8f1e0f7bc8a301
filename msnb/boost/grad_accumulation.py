"""Re-export module: gradient accumulation, at MindSpore 2's path."""

from msnb.nn.wrap._accumulation import GradientAccumulation, gradient_accumulation_op, gradient_clear_op

__all__ = ["GradientAccumulation", "gradient_accumulation_op", "gradient_clear_op"]
