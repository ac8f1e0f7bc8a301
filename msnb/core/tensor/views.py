"""Parts of Tensors that know of what they are parts, so that in PYNATIVE mode ``x[0][1] = 5`` can reach `x`.

Arrays never change: what is put into a part is put into its Tensor as well, by an operator of its own, through which
gradients flow. A part does not keep its Tensor alive, since nobody sees what is put into one that is gone. In GRAPH
mode the source transformation sees the whole statement (`core.script.lower`), and no part is remembered.
"""

import weakref
from typing import Any

from msnb.core.state import trace_state
from msnb.core.tensor.tensor import Tensor

_thread = trace_state.thread
_known: Any = Tensor._whole  # the slot itself, as an attribute that is not there would ask for a sentence


def view_of(whole: Tensor, index: Any, part: Tensor) -> Tensor:
    """`part`, which remembers that it is ``whole[index]``."""
    if _thread.frame is None and part is not whole:
        _known.__set__(part, (whole if _remembers(whole) else weakref.ref(whole), index))
    return part


def _remembers(tensor):
    try:
        _known.__get__(tensor)
    except AttributeError:
        return False
    return True


def base_of(part: Tensor) -> tuple[Tensor, Any] | None:
    """The Tensor and the index that a Tensor is the part at; None if it is no part, or that one is gone."""
    try:
        whole, index = _known.__get__(part)
    except AttributeError:
        return None
    whole = whole() if isinstance(whole, weakref.ref) else whole
    return None if whole is None else (whole, index)
