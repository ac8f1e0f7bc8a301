"""Views of Tensors in PYNATIVE mode: ``x[0]`` references `x`, so that ``x[0][1] = 5`` changes `x`.

Arrays are immutable. An assignment to a view is also applied to its base, by an operator through which gradients flow.
A view refers to its base weakly: without other references to the base, nothing can read the changed value. In GRAPH
mode the source transformation sees the complete statement (`core.script.lower`), and no views are recorded.
"""

import weakref
from typing import Any

from msnb.core.state import trace_state
from msnb.core.tensor.tensor import Tensor

_thread = trace_state.thread
_base_slot: Any = Tensor._whole  # the slot descriptor: an access to an empty slot by name is slow


def view_of(base: Tensor, index: Any, part: Tensor) -> Tensor:
    """Record that `part` is ``base[index]``, and return `part`."""
    if _thread.frame is None and part is not base:
        _base_slot.__set__(part, (base if _is_view(base) else weakref.ref(base), index))
    return part


def _is_view(tensor):
    try:
        _base_slot.__get__(tensor)
    except AttributeError:
        return False
    return True


def base_of(tensor: Tensor) -> tuple[Tensor, Any] | None:
    """Return (base, index) of a view; None if the Tensor is not a view or its base is gone."""
    try:
        base, index = _base_slot.__get__(tensor)
    except AttributeError:
        return None
    base = base() if isinstance(base, weakref.ref) else base
    return None if base is None else (base, index)
