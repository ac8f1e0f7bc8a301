"""A face: gradients of several steps that are applied together, and the operations on each of them."""

from msnb.nn.wrap._accumulation import GradientAccumulation, gradient_accumulation_op, gradient_clear_op

__all__ = ["GradientAccumulation", "gradient_accumulation_op", "gradient_clear_op"]
