"""Re-export module: compiled functions and compiler settings."""

from typing import Any

from msnb.common.missing import asked
from msnb.core.eager.no_grad import _no_grad
from msnb.core.transforms.compiler_hints import _function_forbid_reuse as _function_forbid_reuse
from msnb.core.transforms.compiler_hints import (
    jit_class,
    ms_class,
    ms_memory_recycle,
    mutable,
    no_inline,
    set_recursion_limit,
)
from msnb.core.transforms.jit import _Executor, _executor, _pynative_executor, jit, ms_function
from msnb.core.transforms.jit import _MindsporeFunctionExecutor as _MindsporeFunctionExecutor

_cell_graph_executor = _executor  # MindSpore 2's name
cells_compile_cache: dict[int, object] = {}  # always empty: each Cell stores its own programs

__all__ = [
    "_Executor",
    "_cell_graph_executor",
    "_executor",
    "_no_grad",
    "_pynative_executor",
    "jit",
    "jit_class",
    "ms_class",
    "ms_function",
    "ms_memory_recycle",
    "mutable",
    "no_inline",
    "set_recursion_limit",
]


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
