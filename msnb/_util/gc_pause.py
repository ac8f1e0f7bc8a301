"""Pauses of Python's garbage collector while many objects are created that stay alive.

The collector starts whenever enough objects were created and walks all that are alive: a fifth of the time of tracing a
large network and half of the time of drawing it, though none of them is garbage.
"""

import contextlib
import functools
import gc
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

_Args = ParamSpec("_Args")
_Result = TypeVar("_Result")


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Turn Python's garbage collector off until the end of the block; where it was off, it stays off.

    Importing JAX creates a hundred thousand objects, and the declarations of operators as many again. By default the
    collector walks all of them three times meanwhile: a third of the time that importing msnb takes.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            if not gc.get_freeze_count():  # counted as old: the next look at what is new is not one at all of this
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def without_gc(fn: Callable[_Args, _Result]) -> Callable[_Args, _Result]:
    """Return `fn` with the garbage collector off during its calls; where it is off, it stays off."""

    @functools.wraps(fn)
    def call_without_gc(*args: _Args.args, **kwargs: _Args.kwargs) -> _Result:
        if not gc.isenabled():
            return fn(*args, **kwargs)
        try:
            gc.disable()
            return fn(*args, **kwargs)
        finally:
            gc.enable()

    return call_without_gc
