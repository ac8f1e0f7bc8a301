"""Errors that are known only when the device is done: nobody waits for them, and the next look at a value raises them.

A check of data, of labels say, ends in a small array on the device. Waiting for it would stop the stream of calls; it
is kept instead, thread by thread and in the order of the calls, together with a function that says what it means.
"""

import atexit
from collections import deque
from collections.abc import Callable

import jax
import numpy as np

from msnb import log
from msnb.core.state.trace_state import thread as _thread

_MOST = 256  # verdicts that may be waited for later; by then the first of them has long been there


def defer(verdict: jax.Array, report: Callable[..., None]) -> None:
    """Keep `verdict` (jax.Array) until it is looked at; `report` then takes it as a numpy array, and may raise."""
    waiting = _thread.late
    if not waiting:
        waiting = _thread.late = deque()
    waiting.append((verdict, report))
    if len(waiting) > _MOST:
        _report_first(waiting)


def poll() -> None:
    """Report the verdicts that are there, without waiting for any."""
    waiting = _thread.late
    while waiting and waiting[0][0].is_ready():
        _report_first(waiting)


def settle() -> None:
    """Wait for all verdicts of this thread and report them; one that is an error ends it."""
    waiting = _thread.late
    while waiting:
        _report_first(waiting)


def _report_first(waiting):
    verdict, report = waiting[0]
    try:
        value = np.asarray(verdict)
    except Exception:
        waiting.popleft()
        raise
    waiting.popleft()
    try:
        report(value)
    except Exception:
        waiting.clear()  # these calls had been started before the error could be known
        raise


@atexit.register
def _settle_at_exit():
    """A program that ends without a look at any value says at least in the log what went wrong."""
    try:
        settle()
    except Exception as error:
        log.error("\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]))
