"""`call`, which wraps every call in converted code: it converts functions of the user and replaces some builtins."""

import functools
import inspect
import types
from collections import Counter
from collections.abc import Callable
from typing import Any

import jax

from msnb.core.errors.converted_code import is_converted
from msnb.core.script.convert_function import convert, is_library
from msnb.core.script.guards import note
from msnb.core.script.lower import SyntaxRefused
from msnb.core.script.source import SourceMissing
from msnb.core.state import trace_state

_builtins = {}  # builtin -> its replacement in a graph


def replace_builtin(builtin: Any) -> Callable[[Any], Any]:
    """Decorator: the decorated function replaces `builtin` in converted code."""

    def decorate(fn):
        _builtins[builtin] = fn
        return fn

    return decorate


def call(fn: Callable[..., Any]) -> Any:
    """Return the callable that converted code uses instead of `fn` while tracing."""
    kind = type(fn)
    if kind is types.FunctionType:
        converted = _convert(fn)
        if converted is not fn or not is_library(fn):
            note(fn)
        return converted
    if kind is types.MethodType:
        function = fn.__func__
        if type(function) is not types.FunctionType:
            return fn
        converted = _convert(function)
        if converted is not function:
            note(function, fn.__self__)
            method = types.MethodType(converted, fn.__self__)
            return method if _takes_instance(fn) else _Selfless(method, function)
        return fn
    if kind is types.BuiltinFunctionType or kind is type:
        replacement = _builtins.get(fn) if fn.__module__ == "builtins" else None
        return replacement or fn
    if kind is functools.partial:
        return _Partial(fn)
    if isinstance(fn, type) or hasattr(fn, "_graph_call") or isinstance(fn, types.BuiltinMethodType):
        return fn
    method = vars(kind).get("__call__") or getattr(kind, "__call__", None)  # noqa: B004 - the function is wanted
    if type(method) is types.FunctionType and not is_library(method):
        converted = _convert(method)
        if converted is not method:
            note(method, fn)
            return types.MethodType(converted, fn)
    return fn


def _convert(fn):
    """Return `convert(fn)`. Outside a trace, a function that cannot be converted is returned unchanged."""
    try:
        return convert(fn)
    except (SourceMissing, SyntaxRefused):
        if trace_state.thread.frame is not None:
            raise
        return fn


def _takes_instance(method):
    """Return True if a method names its first parameter `self`, as graphs expect, or is a class method."""
    code = method.__func__.__code__
    return not code.co_argcount or code.co_varnames[0] == "self" or isinstance(method.__self__, type)


class _Selfless:
    """A method in converted code whose first parameter is not named `self`.

    A graph fills in the instance by that name only. So a call that Python cannot bind with the instance runs without.
    """

    def __init__(self, method, function):
        self.method = method
        self.signature = inspect.signature(function)

    def __call__(self, *args, **kwargs):
        instance = self.method.__self__
        if not self._binds(instance, *args, **kwargs) and self._binds(*args, **kwargs):
            return self.method.__func__(*args, **kwargs)
        return self.method(*args, **kwargs)

    def _binds(self, *args, **kwargs):
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError:
            return False
        return True


class _CallCounts(Counter):
    """Dict (id of Cell, name) -> number of calls of a function by that Cell in one trace."""

    def snapshot(self) -> dict[tuple[int, str], int]:
        """Return the counts for `restore`."""
        return dict(self)

    def restore(self, snapshot: dict[tuple[int, str], int]) -> None:
        """Set the counts back to those of `snapshot`."""
        self.clear()
        self.update(snapshot)


def scoped_call(fn: Callable[..., Any]) -> Any:
    """Return the callable of `call`, with a name scope for converted functions of the user.

    The scope is named after the function: ``Default/g()``, and ``Default/g() 2`` for the second call by the same Cell.
    """
    converted = call(fn)
    if type(converted) not in (types.FunctionType, types.MethodType) or not is_converted(converted.__code__):
        return converted
    name = "lambda" if converted.__name__ == "<lambda>" else converted.__name__
    if converted.__code__.co_flags & inspect.CO_GENERATOR or name == "construct":
        return converted

    def scoped(*args, **kwargs):
        thread = trace_state.thread
        counts = thread.frame.trace.state_of(_CallCounts) if thread.frame is not None else _CallCounts()
        key = id(thread.cell), name  # the trace keeps the Cell alive
        counts[key] += 1
        count = counts[key]
        with jax.named_scope(f"{name}()" if count == 1 else f"{name}() {count}"):
            return converted(*args, **kwargs)

    return scoped


class _Partial:
    """A `functools.partial` in converted code. Its function is converted, and an argument passed twice is named in the
    error.
    """

    def __init__(self, partial):
        self.partial = partial

    def __call__(self, *args, **kwargs):
        partial = self.partial
        args, kwargs = partial.args + args, {**partial.keywords, **kwargs}
        code = getattr(getattr(partial.func, "__func__", partial.func), "__code__", None)
        if code is not None and kwargs:
            skip = 1 if isinstance(partial.func, types.MethodType) else 0
            for name in code.co_varnames[skip : code.co_argcount][: len(args)]:
                if name in kwargs:
                    raise TypeError(
                        f"Multiply values for specific argument: {name}. It is given by position and by "
                        f"keyword in a call of a partial of {partial.func.__name__}."
                    )
        return call(partial.func)(*args, **kwargs)
