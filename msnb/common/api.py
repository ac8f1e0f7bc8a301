"""A face: compiled functions, and what beside them is told to a compiler."""

from msnb.core.api import _executor, _pynative_executor, jit, ms_function
from msnb.core.compiler_hints import jit_class, ms_class, ms_memory_recycle, set_recursion_limit
from msnb.core.no_grad import _no_grad

__all__ = [
    "_executor",
    "_no_grad",
    "_pynative_executor",
    "jit",
    "jit_class",
    "ms_class",
    "ms_function",
    "ms_memory_recycle",
    "set_recursion_limit",
]
