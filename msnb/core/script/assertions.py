"""`raise` and `assert` under a condition that only the running graph knows: the program returns which one was hit."""

import contextlib
from typing import Any

from msnb.core.errors.messages import format_location as show_place
from msnb.core.script.builtin_overloads import boolean, dynamic
from msnb.core.state.trace_state import thread


class Raised(BaseException):
    """Ends the tracing of a branch at its `raise`; never leaves the tracer."""


def raising(error: Any, place: tuple[Any, ...]) -> Any:
    """What a `raise` statement raises: the error itself, or `Raised` where it depends on the graph's values."""
    frame = thread.frame
    if frame is None or frame.parent is None or not frame.conditional():
        return error() if isinstance(error, type) and issubclass(error, BaseException) else error
    _refuse_handlers(frame.root(), "raise", place)
    errors = frame.root().errors
    errors.append((error() if isinstance(error, type) else error, place))
    frame.fail(len(errors))
    return Raised()


@contextlib.contextmanager
def trying(place):
    """The body of a `try` statement with handlers."""
    root = thread.frame.root() if thread.frame is not None else None
    if root is None:
        yield
        return
    root.handlers.append(place)
    try:
        yield
    finally:
        root.handlers.pop()


def _refuse_handlers(root, what, place):
    """An error of the running graph comes after every handler was left; the trace ends with this where one is open."""
    if root.handlers and root.refused is None:
        root.refused = TypeError(
            f"{show_place(*place)}: whether this {what} happens depends on a Tensor, and the 'try' at "
            f"{show_place(*root.handlers[-1])} cannot catch it: a graph raises after it has run. "
            f"Write what the handler does in an 'if', or catch the error around the call of the graph."
        )


def assert_(condition: Any, message: Any, place: tuple[Any, ...]) -> None:
    """An `assert` statement; `message` is None or a function giving the message."""
    text = message() if message is not None else f"assertion failed at {show_place(*place)}"
    if not dynamic(condition):
        if not condition:
            raise AssertionError(text)
        return
    check(condition, AssertionError(text), place)


def check(condition: Any, error: Any, place: tuple[Any, ...]) -> None:
    """Raise `error` after the graph has run if `condition` (a traced Tensor) was false."""
    frame = thread.frame
    _refuse_handlers(frame.root(), type(error).__name__, place)
    errors = frame.root().errors
    errors.append((error, place))
    frame.fail(len(errors), ~boolean(condition, place))
