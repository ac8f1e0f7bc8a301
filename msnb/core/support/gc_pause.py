"""Python looks for cyclic garbage whenever enough has been made, through all that is alive: a fifth of the time of
tracing a large network, and half of that of drawing it, though none of what is made there is garbage."""

import functools
import gc
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_Args = ParamSpec("_Args")
_Result = TypeVar("_Result")


def later(fn: Callable[_Args, _Result]) -> Callable[_Args, _Result]:
    """`fn` as a function while whose calls the garbage waits; where the collector is off, it stays off."""

    @functools.wraps(fn)
    def unhurried(*args: _Args.args, **kwargs: _Args.kwargs) -> _Result:
        if not gc.isenabled():
            return fn(*args, **kwargs)
        try:
            gc.disable()
            return fn(*args, **kwargs)
        finally:
            gc.enable()

    return unhurried
