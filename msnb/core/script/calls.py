"""Every call in converted code goes through `call`: the user's functions are converted, some builtins know Tensors."""

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import jax

from msnb.core.errors.converted_code import is_converted
from msnb.core.script.convert_function import convert, is_library
from msnb.core.script.guards import note
from msnb.core.state import trace_state

_builtins = {}  # builtin -> what stands for it in a graph


def replace_builtin(builtin: Any) -> Callable[[Any], Any]:
    """Decorator: in converted code the decorated function stands for `builtin`."""

    def decorate(fn):
        _builtins[builtin] = fn
        return fn

    return decorate


def call(fn: Callable[..., Any]) -> Any:
    """What to call instead of `fn` while tracing."""
    kind = type(fn)
    if kind is types.FunctionType:
        twin = convert(fn)
        if twin is not fn or not is_library(fn):
            note(fn)
        return twin
    if kind is types.MethodType:
        function = fn.__func__
        if type(function) is not types.FunctionType:
            return fn
        twin = convert(function)
        if twin is not function:
            note(function, fn.__self__)
            return types.MethodType(twin, fn.__self__)
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
        twin = convert(method)
        if twin is not method:
            note(method, fn)
            return types.MethodType(twin, fn)
    return fn


def scoped_call(fn: Callable[..., Any]) -> Any:
    """As `call`; what a converted function of the user's computes stands in a scope of its own, named after it:
    ``Default/g()``, and ``Default/g() 2`` for the second call by the same Cell."""
    found = call(fn)
    if type(found) not in (types.FunctionType, types.MethodType) or not is_converted(found.__code__):
        return found
    name = "lambda" if found.__name__ == "<lambda>" else found.__name__
    if found.__code__.co_flags & inspect.CO_GENERATOR or name == "construct":
        return found

    def scoped(*args, **kwargs):
        thread = trace_state.thread
        counts = thread.frame.root().calls if thread.frame is not None else {}
        key = id(thread.cell), name  # the trace keeps the Cell
        counts[key] = many = counts.get(key, 0) + 1
        with jax.named_scope(f"{name}()" if many == 1 else f"{name}() {many}"):
            return found(*args, **kwargs)

    return scoped


class _Partial:
    """A `functools.partial` in converted code: its function is converted, and an argument given twice is named."""

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
