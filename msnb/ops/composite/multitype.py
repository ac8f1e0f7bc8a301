"""Overloads by type (`MultitypeFuncGraph`) and maps over nested tuples (`HyperMap`)."""

import functools

from msnb import log
from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, check
from msnb.core import script
from msnb.core.errors.messages import describe
from msnb.core.tensor.sparse import RowTensor, SparseTensor
from msnb.core.tensor.tensor import Tensor
from msnb.ops.operations import OnesLike, ZerosLike

_CLASSES = {
    "tensor": Tensor,
    "rowtensor": RowTensor,
    "sparsetensor": SparseTensor,
    "number": (int, float),
    "bool": bool,
    "string": str,
    "str": str,
    "tuple": tuple,
    "list": list,
    "dict": dict,
    "dictionary": dict,
    "none": type(None),
    "nonetype": type(None),
    "int": int,
    "float": float,
    "typetype": mstype.Type,
    "slice": slice,
    "ellipsis": type(...),
    "cosparse": SparseTensor,
}


def _make_type_matcher(kind):
    """Return a predicate for one declared type: a name, a MindSpore type or a class."""
    if isinstance(kind, mstype.TensorType):
        return lambda v: isinstance(v, Tensor)
    if isinstance(kind, mstype.Number) and kind.bits is None and kind.kind == "Number":
        return lambda v: isinstance(v, (int, float))
    if isinstance(kind, mstype.Type):
        python = mstype.dtype_to_pytype(kind)
        return lambda v: isinstance(v, python)
    if isinstance(kind, type):
        return lambda v: isinstance(v, kind)
    if not isinstance(kind, str):
        raise TypeError(f"A type of an overload should be a name or a mindspore type, but got {kind!r}.")
    name = kind.lower()
    if name in ("func", "function"):
        return callable
    if name in ("any", "anything", "problem", "env", "ref"):
        return lambda v: True
    if name in _CLASSES:
        return lambda v: isinstance(v, _CLASSES[name])
    try:
        dtype = getattr(mstype, name)
    except AttributeError:
        raise TypeError(f"There is no type named '{kind}' to register an overload for.") from None
    return lambda v: isinstance(v, Tensor) and v.dtype == dtype or isinstance(v, mstype.dtype_to_pytype(dtype))


class MultitypeFuncGraph:
    """A function with one implementation per combination of argument types (multiple dispatch).

    Args:
        name (str): Name shown in errors.
        read_value (bool): No effect. An argument that is a Parameter is always passed as a Parameter. Default: False.

    Raises:
        ValueError: If no registered combination of types matches the arguments of a call.

    Examples:
        >>> scale = ops.MultitypeFuncGraph("scale")
        >>> @scale.register("Tensor", "Number")
        ... def _scale_tensor(x, k):
        ...     return x * k
        >>> print(scale(Tensor(2.0), 3))
        6.0
    """

    def __init__(self, name, read_value=False):
        log.unused(
            "MultitypeFuncGraph", "a Parameter is passed as it is, and is read where it is used", read_value=read_value
        )
        self.name = name
        self.entries = []

    def register(self, *type_names):
        """Decorator that registers a function for arguments of the given types. Each type is a name ("Tensor",
        "Number", "Tuple", ...) or a mindspore type."""
        matchers = tuple(_make_type_matcher(t) for t in type_names)

        def decorate(fn):
            self.entries.append((type_names, matchers, fn))
            return fn

        return decorate

    def __call__(self, *args):
        if len(self.entries) == 1 and len(self.entries[0][1]) == len(args):
            return script.call(self.entries[0][2])(*args)
        for _, matchers, fn in self.entries:
            if len(matchers) == len(args) and all(m(a) for m, a in zip(matchers, args)):
                return script.call(fn)(*args)
        overloads = "; ".join(", ".join(map(str, names)) for names, _, _ in self.entries)
        raise ValueError(
            f"'{self.name}' is not defined for ({', '.join(describe(a) for a in args)}). "
            f"It is defined for: {overloads or 'nothing yet'}."
        )

    def __repr__(self):
        return f"MultitypeFuncGraph({self.name})"


class HyperMap:
    """Applies an operation to corresponding elements of nested tuples and lists.

    Args:
        ops (Union[MultitypeFuncGraph, Callable, None]): The operation; None takes it as the first argument of each
            call. Default: None.
        reverse (bool): True to process the elements in reverse order. Default: False.

    Inputs:
        - **args** (tuple) - The nested sequences, all of the same structure.

    Raises:
        TypeError: If `ops` is not callable, or the structures differ.

    Examples:
        >>> double = ops.HyperMap(lambda x: x * 2)
        >>> double(((1, 2), 3))
        ((2, 4), 6)
    """

    _deep = True

    def __init__(self, ops=None, reverse=False):
        if ops is not None and not callable(ops):
            raise TypeError(f"For 'HyperMap', 'ops' should be callable, but got {describe(ops)}.")
        self.ops = ops
        self.reverse = check(Bool, reverse, "reverse", type(self).__name__)

    def __call__(self, *args):
        operation = self.ops
        if operation is None:
            operation, *args = args
        return self._map_nested(_prepare_function_for_graph(operation), args)

    def _map_nested(self, operation, args):
        first = args[0]
        if not isinstance(first, (tuple, list)):
            return operation(*args)
        for other in args[1:]:
            if not isinstance(other, (tuple, list)) or len(other) != len(first):
                raise TypeError(
                    f"The arguments of a map should have the same structure, but got {describe(first)} "
                    f"and {describe(other)}."
                )
        rows = list(zip(*args))
        rows = rows[::-1] if self.reverse else rows
        if self._deep:
            results = [self._map_nested(operation, items) for items in rows]
        else:
            results = [operation(*items) for items in rows]
        results = results[::-1] if self.reverse else results
        return results if type(first) is list else tuple(results)


class Map(HyperMap):
    """Applies an operation to corresponding elements of tuples and lists, one level deep.

    Args:
        ops (Union[MultitypeFuncGraph, Callable, None]): The operation; None takes it as the first argument of each
            call. Default: None.
        reverse (bool): True to process the elements in reverse order. Default: False.
    """

    _deep = False


def _prepare_function_for_graph(operation):
    """Return a user's function with its Python control flow lowered for graphs. Return functions of msnb unchanged."""
    return script.call(operation)


def core(fn=None, **flags):
    """Decorator that marks a function for the compiler. The flags become the attribute ``fn._mindspore_flags``."""
    if fn is None:
        return functools.partial(core, **flags)
    fn._mindspore_flags = {**getattr(fn, "_mindspore_flags", {}), "core": True, **flags}
    return fn


def add_flags(fn=None, **flags):
    """Decorator that sets flags of a function or Cell."""
    if fn is None:
        return functools.partial(add_flags, **flags)
    if hasattr(fn, "add_flags"):
        return fn.add_flags(**flags)
    fn._mindspore_flags = {**getattr(fn, "_mindspore_flags", {}), **flags}
    return fn


def _make_fill_like_function(operator):
    def fill(value):
        if isinstance(value, (tuple, list)):
            return tuple(fill(v) for v in value)
        if isinstance(value, (int, float)):
            return type(value)(operator == "OnesLike")
        return (OnesLike if operator == "OnesLike" else ZerosLike)()(value)

    return fill


zeros_like = _make_fill_like_function("ZerosLike")
ones_like = _make_fill_like_function("OnesLike")


def hyper_add(x, y):
    """Add two nested structures of the same shape, element by element."""
    return HyperMap(lambda a, b: a + b)(x, y)


def zip_operation(*sequences):
    """Return tuple(zip(*sequences))."""
    return tuple(zip(*sequences))
