"""A face: compiled functions."""

from msnb.core.api import _executor, jit, ms_function

__all__ = ["_executor", "jit", "ms_function"]
