"""Avoid repeated allocations of memory for Python's frames.

Python keeps frames of functions in chunks of 16 kB, and frees the last chunk when the first frame in it returns. If a
loop calls functions at such a boundary, each call allocates the chunk again. This took a quarter of the time of tracing
a small network, depending only on the depth of the call. A function whose frame is larger than a chunk gets a chunk
that has space for all its callees.
"""

from collections.abc import Callable
from typing import TypeVar

_Result = TypeVar("_Result")
_SLOTS = 33_000  # slots of 8 bytes: Python doubles a chunk until the frame fits; 240 kB of 512 kB remain


def with_headroom(fn: Callable[[], _Result]) -> _Result:
    """Return ``fn()``, run with memory for the frames of some thousand nested calls."""
    return fn()


# The large frame costs no memory: the system provides pages only when they are used.
with_headroom.__code__ = with_headroom.__code__.replace(co_stacksize=_SLOTS)
