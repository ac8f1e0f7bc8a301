"""Every call in converted code goes through `call`: the user's functions are converted, some builtins know Tensors."""
import contextlib
import functools
import inspect
import threading
import types

import jax

from msnb.core import trace
from msnb.core.script.convert import convert, is_library, is_lowered

_thread = threading.local()
_builtins = {}  # builtin -> what stands for it in a graph


def replace_builtin(builtin):
    """Decorator: in converted code the decorated function stands for `builtin`."""
    def decorate(fn):
        _builtins[builtin] = fn
        return fn
    return decorate


def call(fn):
    """What to call instead of `fn` while tracing."""
    kind = type(fn)
    if kind is types.FunctionType:
        twin = convert(fn)
        if twin is not fn or not is_library(fn):
            _note(fn)
        return twin
    if kind is types.MethodType:
        function = fn.__func__
        if type(function) is not types.FunctionType:
            return fn
        twin = convert(function)
        if twin is not function:
            _note(function)
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
            _note(method)
            return types.MethodType(twin, fn)
    return fn


def scoped_call(fn):
    """As `call`; what a converted function of the user's computes stands in a scope of its own, named after it:
    ``Default/g()``, and ``Default/g() 2`` for the second call in the same graph."""
    found = call(fn)
    if type(found) not in (types.FunctionType, types.MethodType) or not is_lowered(found.__code__):
        return found
    name = "lambda" if found.__name__ == "<lambda>" else found.__name__
    if found.__code__.co_flags & inspect.CO_GENERATOR or name == "construct":
        return found

    def scoped(*args, **kwargs):
        counts = trace.thread.frame.root().calls if trace.thread.frame is not None else {}
        counts[name] = many = counts.get(name, 0) + 1
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
            for name in code.co_varnames[skip:code.co_argcount][:len(args)]:
                if name in kwargs:
                    raise TypeError(f"Multiply values for specific argument: {name}. It is given by position and by "
                                    f"keyword in a call of a partial of {partial.func.__name__}.")
        return call(partial.func)(*args, **kwargs)


# ---------------------------------------------------------------------- what a trace depended on
class Guards(list):
    """(space, name, value): names that traced code read from its globals, and what they stood for."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def add(self, fn):
        """Note the globals that a function and what is nested in it read, and its code."""
        code = fn.__code__
        if id(code) in self.seen:  # alive: a guard holds it
            return
        self.seen.add(id(code))
        self.append((CodeOf(fn), "__code__", code))
        space = fn.__globals__
        for name in _global_names(code):
            if name in space and not isinstance(space[name], types.ModuleType):
                self.append((space, name, space[name]))
        for name, cell in zip(code.co_freevars, fn.__closure__ or ()):
            with contextlib.suppress(ValueError):
                self.append((CellOf(cell), name, cell.cell_contents))


class CodeOf:
    """The code of a function, read like a dictionary: reloading tools replace it in place."""

    def __init__(self, fn):
        self.fn = fn

    def get(self, name, default=None):
        return self.fn.__code__


class CellOf:
    """A closure variable, read like a dictionary."""

    def __init__(self, cell):
        self.cell = cell

    def get(self, name, default=None):
        try:
            return self.cell.cell_contents
        except ValueError:
            return default


def _global_names(code):
    names = set(code.co_names)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            names |= _global_names(const)
    return names


@contextlib.contextmanager
def collecting():
    """Collect the guards of one trace."""
    outer = getattr(_thread, "guards", None)
    guards = _thread.guards = Guards()
    try:
        yield guards
    finally:
        _thread.guards = outer


def _note(fn):
    guards = getattr(_thread, "guards", None)
    if guards is not None:
        guards.add(fn)


