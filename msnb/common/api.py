"""A face: compiled functions."""
from msnb.core.api import jit, ms_function

__all__ = ["jit", "ms_function"]
