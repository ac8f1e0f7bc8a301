"""Errors of data checks, raised after the device has computed them.

A check of data, such as the range of labels, computes a small array on the device. Waiting for this array at once would
stall the stream of calls. Instead, the array is added to a queue of the thread, with a function that raises the error.
The next read of any value waits for the queue.

The result of a program that writes Parameters is the input of its next run, which writes nothing if there is an error.
So only the last result is in the queue, and it is read once for many runs.
"""

import atexit
from collections import deque
from collections.abc import Callable

import jax

from msnb import log
from msnb.core.state import stop_flag
from msnb.core.state.trace_state import thread as _thread

_MAX_PENDING = 256  # maximum length of the queue; then `defer` waits for the oldest result, which is usually ready


def defer(verdict: jax.Array, report: Callable[..., None] | stop_flag.Results) -> None:
    """Queue `verdict`, the result of a data check. When it has been computed, `report` is called with it and may
    raise.
    """
    pending = _thread.pending_verdicts
    if type(pending) is tuple:  # no result was added yet
        pending = _thread.pending_verdicts = deque()
    if pending and pending[-1][0] is verdict:
        return
    pending.append((verdict, report))
    if len(pending) > _MAX_PENDING:
        _report_first_pending(pending)


def poll(finishes_loops: bool = False) -> None:
    """Report the results of data checks that are ready, without waiting for others.

    Args:
        finishes_loops (bool): True to wait for programs with loops that a Ctrl-C may stop: if one is stopped, its
            results are discarded, and nothing may have been computed from them. Default: False.
    """
    pending = _thread.pending_verdicts
    if finishes_loops:
        for verdict, report in list(pending):
            if type(report) is stop_flag.Results and report.running is None:
                stop_flag.wait(verdict, report)
    while pending and pending[0][0].is_ready():
        if type(pending[0][1]) is stop_flag.Results:
            pending.popleft()  # the program has ended
        else:
            _report_first_pending(pending)


def take_result_of(report: Callable[..., None]) -> jax.Array | None:
    """Remove and return the result in the queue with which `report` would be called; None if there is none."""
    pending = _thread.pending_verdicts
    for index, (verdict, other) in enumerate(pending):
        if other is report:
            del pending[index]
            return verdict
    return None


def wait_and_report() -> None:
    """Wait for the results of all data checks of this thread and report them in order. The first error empties the
    queue.
    """
    pending = _thread.pending_verdicts
    while pending:
        _report_first_pending(pending)


def _report_first_pending(pending):
    verdict, report = pending[0]
    if type(report) is stop_flag.Results:
        stop_flag.wait(verdict, report)
        if pending:  # empty if the program was stopped and the interrupt is raised later
            pending.popleft()
        return
    try:
        verdict.block_until_ready()
    except Exception:
        pending.popleft()
        raise
    pending.popleft()
    try:
        report(verdict)
    except Exception:
        pending.clear()  # the later calls were dispatched before this error was known
        raise


@atexit.register
def _report_at_exit():
    """Log pending errors of a program that ends without reading a value."""
    try:
        wait_and_report()
    except Exception as error:
        log.error("\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]))
