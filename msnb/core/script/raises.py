"""`raise` and `assert` under a condition that only the running graph knows: the program returns which one was hit."""
import jax.numpy as jnp

from msnb.core.errors import place as show_place
from msnb.core.trace import thread


class Raised(BaseException):
    """Ends the tracing of a branch at its `raise`; never leaves the tracer."""


def raising(error, place):
    """What a `raise` statement raises: the error itself, or `Raised` where it depends on the graph's values."""
    frame = thread.frame
    if frame is None or frame.parent is None or not frame.conditional():
        return error() if isinstance(error, type) and issubclass(error, BaseException) else error
    errors = frame.root().errors
    errors.append((error() if isinstance(error, type) else error, place))
    frame.error = jnp.where(frame.current_error() == 0, len(errors), frame.current_error()).astype(jnp.int32)
    return Raised()


def assert_(condition, message, place):
    """An `assert` statement; `message` is None or a function giving the message."""
    from msnb.core.script.builtin import dynamic
    text = message() if message is not None else f"assertion failed at {show_place(*place)}"
    if not dynamic(condition):
        if not condition:
            raise AssertionError(text)
        return
    check(condition, AssertionError(text), place)


def check(condition, error, place):
    """Raise `error` after the graph has run if `condition` (a traced Tensor) was false."""
    from msnb.core.script.builtin import boolean
    frame = thread.frame
    errors = frame.root().errors
    errors.append((error, place))
    current = frame.current_error()
    frame.error = jnp.where((current == 0) & ~boolean(condition, place), len(errors), current).astype(jnp.int32)
