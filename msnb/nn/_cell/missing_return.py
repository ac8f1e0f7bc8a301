"""Warning about a `construct` without `return`, which is not an error in Python."""

import dis
import functools
from collections.abc import Callable
from types import CodeType
from typing import Any

from msnb import log
from msnb.core.errors.source_location import format_location
from msnb.core.tensor.tensor import Tensor

# names of functions with effects: a `construct` that calls one may return nothing
_EFFECTS = ("assign", "print", "append", "extend", "update", "summary", "save", "set_data", "raise", "hook")
_STORES = ("STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_DEREF", "RAISE_VARARGS", "YIELD_VALUE", "DELETE_SUBSCR")


def warn_missing_return(owner: str, construct: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Warn once about a `construct` that returned None, if it takes Tensors, computes something and has no `return`
    with a value.

    Args:
        owner (str): Class name of the Cell.
        construct (Callable): The method `construct`.
        args (tuple): The inputs of the call.
    """
    code = getattr(construct, "__code__", None)
    if code is None or not any(isinstance(arg, Tensor) for arg in args) or not _returns_nothing(code):
        return
    stored_names = [i.argval for i in dis.get_instructions(code) if i.opname.startswith("STORE_FAST")]
    stored_names = [name for name in stored_names if isinstance(name, str)]
    log.once(
        f"construct of {owner} ({format_location(code.co_filename, code.co_firstlineno)}) computes, but returns None; "
        f"end it with 'return {stored_names[-1] if stored_names else '...'}'."
    )


@functools.lru_cache(maxsize=1024)
def _returns_nothing(code: CodeType) -> bool:
    """Return True if code computes something, has no `return` with a value, and has no visible effect."""
    computes, before = False, None
    for instruction in dis.get_instructions(code):
        name, value = instruction.opname, instruction.argval
        if name in _STORES or name.startswith("LOAD") and any(word in str(value).lower() for word in _EFFECTS):
            return False
        if name == "RETURN_CONST" and value is not None or name == "RETURN_VALUE" and before != ("LOAD_CONST", None):
            return False
        computes = computes or name.startswith(("CALL", "BINARY", "UNARY"))
        before = name, value
    return computes
