"""Handling of Ctrl-C: sections that it must not interrupt, and interrupts that Python or JAX would lose."""

import _thread
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from msnb.core.compat import jax_compilation, jax_private

_Result = TypeVar("_Result")
_replaced: list[Any] = []  # handlers of the user that the functions below have replaced, the outermost first


_current_handler: Callable[..., Any] = getattr(signal, "_signal", signal).getsignal  # the public one is slower


def raises_at_once() -> bool:
    """Return True if a Ctrl-C raises KeyboardInterrupt in the main thread: its handler is Python's own."""
    return _current_handler(signal.SIGINT) is signal.default_int_handler


def user_handler() -> Any:
    """Return the handler of Ctrl-C that the user or Python has set, also within the functions below."""
    return _replaced[0] if _replaced else signal.getsignal(signal.SIGINT)


def uninterruptible(fn: Callable[[], Any]) -> Any:
    """Return ``fn()`` without interruption: an interrupt that arrives meanwhile is raised when `fn` has returned.

    For rare operations such as compilation: the signal handler is replaced, which takes some microseconds. Python
    raises interrupts in the main thread only; in other threads this is a plain call.
    """
    if threading.current_thread() is not threading.main_thread() or not callable(signal.getsignal(signal.SIGINT)):
        return fn()
    arrived = []
    previous = signal.signal(signal.SIGINT, lambda *_: arrived.append(True))
    _replaced.append(previous)
    try:
        return fn()
    finally:
        _replaced.pop()
        signal.signal(signal.SIGINT, previous)
        if arrived:
            signal.raise_signal(signal.SIGINT)


def deliver_pending(fn: Callable[[], _Result]) -> _Result:
    """Return ``fn()``; an interrupt that code inside it caught and ignored is raised when `fn` has returned.

    For tracing and differentiation: JAX has bare ``except`` clauses that treat an interrupt as a failed attempt.
    """
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(previous):
        return fn()
    arrived = []

    def note(*args):
        arrived.append(True)
        previous(*args)

    _replaced.append(previous)
    try:
        signal.signal(signal.SIGINT, note)
        out = fn()
    finally:
        signal.signal(signal.SIGINT, previous)
        _replaced.pop()
    if arrived:
        raise KeyboardInterrupt
    return out


jax_compilation.deliver_interrupts_with(deliver_pending)


def is_incomplete_compilation(error: BaseException) -> bool:
    """Return True if `error` may have stopped JAX in the middle of a compilation, rather than being the program's
    fault.
    """
    return isinstance(error, (KeyboardInterrupt, MemoryError, RecursionError)) or jax_private.is_runtime_error(error)


def _resend_interrupt(unraisable):
    """Send an interrupt again that arrived in a callback of Python (a garbage collection, a finalizer).

    Python prints such an exception and ignores it. Another thread sends the signal when the callback has ended.
    """
    if unraisable.exc_type is KeyboardInterrupt:
        _thread.start_new_thread(_raise_interrupt_after_delay, ())
    else:
        _previous_hook(unraisable)


def _raise_interrupt_after_delay():
    time.sleep(0.001)
    signal.raise_signal(signal.SIGINT)


_previous_hook = sys.unraisablehook
sys.unraisablehook = _resend_interrupt
