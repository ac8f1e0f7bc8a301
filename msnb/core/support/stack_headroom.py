"""Room for Python's frames.

Python keeps the frames of functions in chunks of 16 kB, and gives the last one back to the system when the first frame
in it returns. Where a loop calls functions just there, each call asks for memory that the one before has given back:
a quarter of the time of tracing a small network, by nothing but how deep it was called. Within a function whose frame
needs more than a chunk, the chunk that Python makes for it has room for all that it calls.
"""

from collections.abc import Callable
from typing import TypeVar

_Result = TypeVar("_Result")
_SLOTS = 33_000  # of 8 bytes: Python doubles a chunk until the frame fits, so that 240 kB of 512 kB are left


def with_headroom(fn: Callable[[], _Result]) -> _Result:
    """`fn()`, with room for the frames of some thousand nested calls."""
    return fn()


# No part of the room is touched until a frame lies in it.
with_headroom.__code__ = with_headroom.__code__.replace(co_stacksize=_SLOTS)
