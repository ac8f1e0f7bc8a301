"""`raise` and `assert` under a condition that is only known at run time: the program returns an error code."""

import contextlib
from typing import Any

import jax

from msnb.core.errors.data_dependent_shape import ValueNeeded
from msnb.core.errors.messages import format_location as format_location
from msnb.core.operator import api_generations
from msnb.core.script import strings
from msnb.core.script.builtin_overloads import boolean, dynamic
from msnb.core.state.trace_state import thread


class Raised(BaseException):
    """Exception that ends the trace of a branch at its `raise`. It never leaves the tracer."""


def raising(error: Any, location: tuple[Any, ...]) -> Any:
    """Return the exception for a `raise` statement: the error, or `Raised` if the statement depends on values of the
    graph.
    """
    frame = thread.frame
    if frame is None or frame.parent is None or not frame.conditional():
        error = error() if isinstance(error, type) and issubclass(error, BaseException) else error
        if api_generations.shared == 2 and any(map(strings.is_unknown, getattr(error, "args", ()))):
            raise ValueNeeded("the text of an error", f"raised at {format_location(*location)}")
        return error
    errors = frame.trace.errors
    _refuse_inside_try(errors, "raise", location)
    error = error() if isinstance(error, type) else error
    _insert_values(error)
    frame.fail(errors.add(error, location))
    return Raised()


def _insert_values(error, condition=None):
    """Make the graph insert the values of its run into the arguments of `error`. With `condition`, a bool array, it
    does so only if that is false."""
    args = getattr(error, "args", ())
    if strings.many_devices() or not any(map(strings.is_unknown, args)):
        return
    deferred = {i: strings.defer_value(arg) for i, arg in enumerate(args) if strings.is_unknown(arg)}
    arrays = [jax.lax.stop_gradient(array) for _, own in deferred.values() for array in own]

    def insert(*arrays):
        values = iter(arrays)
        error.args = tuple(deferred[i][0](values) if i in deferred else arg for i, arg in enumerate(args))

    def call(*arrays):
        jax.debug.callback(insert, *arrays)

    if condition is None:
        call(*arrays)
    else:
        jax.lax.cond(condition, lambda *arrays: None, call, *arrays)


@contextlib.contextmanager
def trying(location):
    """Context manager for the body of a `try` statement with handlers."""
    if thread.frame is None:
        yield
        return
    handlers = thread.frame.trace.errors.handlers
    handlers.append(location)
    try:
        yield
    finally:
        handlers.pop()


def _refuse_inside_try(errors, what, location):
    """Refuse a run-time error inside `try`. A graph raises after its run, when no handler is active any more."""
    if errors.handlers and errors.refusal is None:
        errors.refusal = TypeError(
            f"{format_location(*location)}: whether this {what} happens depends on a Tensor, and the 'try' at "
            f"{format_location(*errors.handlers[-1])} cannot catch it: a graph raises after it has run. "
            f"Write what the handler does in an 'if', or catch the error around the call of the graph."
        )


def assert_(condition: Any, message: Any, location: tuple[Any, ...]) -> None:
    """Run an `assert` statement; `message` is None or a function that returns the message."""
    text = message() if message is not None else f"assertion failed at {format_location(*location)}"
    if not dynamic(condition):
        if not condition:
            raise AssertionError(text)
        return
    error = AssertionError(text)
    _insert_values(error, boolean(condition, location))
    check(condition, error, location)


def check(condition: Any, error: Any, location: tuple[Any, ...]) -> None:
    """Raise `error` after the run of the graph if `condition` (a traced Tensor) is false."""
    frame = thread.frame
    errors = frame.trace.errors
    _refuse_inside_try(errors, type(error).__name__, location)
    frame.fail(errors.add(error, location), ~boolean(condition, location))
