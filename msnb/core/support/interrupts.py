"""Stop (Ctrl-C): what it may not tear apart, what has to be thrown away after it, and Stops that Python would lose."""

import _thread
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from msnb.core.compat import jax_compilation, jax_private

_Result = TypeVar("_Result")


def uninterruptible(fn: Callable[[], Any]) -> Any:
    """`fn()`, which a Stop cannot interrupt: one that arrives meanwhile is raised as soon as it has returned.

    For what is done once, such as compiling: signals are redirected, which takes some microseconds. Off the main
    thread, where Python raises no interrupts, it is a plain call.
    """
    if threading.current_thread() is not threading.main_thread() or not callable(signal.getsignal(signal.SIGINT)):
        return fn()
    arrived = []
    before = signal.signal(signal.SIGINT, lambda *_: arrived.append(True))
    try:
        return fn()
    finally:
        signal.signal(signal.SIGINT, before)
        if arrived:
            signal.raise_signal(signal.SIGINT)


def deliver_pending(fn: Callable[[], _Result]) -> _Result:
    """`fn()`; a Stop that something within it has caught and forgotten is raised when it has returned.

    For what traces and differentiates: JAX has places with a bare ``except``, where a Stop would be taken for a
    failed attempt.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        return fn()
    arrived = []

    def note(*args):
        arrived.append(True)
        before(*args)

    try:
        signal.signal(signal.SIGINT, note)
        out = fn()
    finally:
        signal.signal(signal.SIGINT, before)
    if arrived:
        raise KeyboardInterrupt
    return out


jax_compilation.hear_while_compiling(deliver_pending)


def broken_off(error: BaseException) -> bool:
    """Whether `error` may have stopped JAX half way through compiling rather than being the fault of the program."""
    return isinstance(error, (KeyboardInterrupt, MemoryError, RecursionError)) or jax_private.is_runtime_error(error)


def _send_again(unraisable):
    """A Stop that arrives while Python runs a callback of its own (a garbage collection, a finalizer) is printed and
    forgotten. It is sent again, by another thread, when the callback has ended."""
    if unraisable.exc_type is KeyboardInterrupt:
        _thread.start_new_thread(_after_a_moment, ())
    else:
        _otherwise(unraisable)


def _after_a_moment():
    time.sleep(0.001)
    signal.raise_signal(signal.SIGINT)


_otherwise = sys.unraisablehook
sys.unraisablehook = _send_again
