"""Strings with values that are only known at run time: f-strings, `%` and `print` in converted code.

A `Text` is a str. It contains descriptions of such values, written at trace time. `print` inserts the values themselves
when the graph runs.
"""

import builtins
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax

from msnb import context
from msnb.core.script.calls import replace_builtin
from msnb.core.state import trace_state
from msnb.core.support import print_redirect
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor
from msnb.core.tensor.tensor import is_traced as dynamic

_CONVERSIONS = {-1: lambda value: value, ord("s"): str, ord("r"): repr, ord("a"): ascii}


class Text(str):
    """A string with values that are not known yet, as pieces: each a str or (value, conversion, format specification).

    Args:
        pieces (Sequence): The pieces; a value may be or contain a traced Tensor.
    """

    pieces: tuple[Any, ...]

    def __new__(cls, pieces: Sequence[Any]) -> "Text":
        instance = super().__new__(cls, "".join(map(_format_at_trace_time, pieces)))
        instance.pieces = tuple(pieces)
        return instance

    def __add__(self, other: str) -> "str | Text":
        return Text((*self.pieces, *_split_text(other))) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: str) -> "str | Text":
        return Text((*_split_text(other), *self.pieces)) if isinstance(other, str) else NotImplemented


def text(*pieces: Any) -> str:
    """Return the f-string of these pieces: a `Text` if one of them is not known yet."""
    flat = [p for piece in pieces for p in (_split_text(piece[0]) if _is_unformatted_text(piece) else (piece,))]
    is_deferred = any(not isinstance(p, str) and (isinstance(p, _DeferredPiece) or is_unknown(p[0])) for p in flat)
    return Text(flat) if is_deferred else "".join(map(_format_at_trace_time, flat))


def percent(left: Any, right: Any) -> Any:
    """Return ``left % right`` for a string on the left."""
    if not is_unknown(right):
        return left % right
    return Text([_DeferredPiece(f"{left!r} % {right}", lambda found: left % found, right)])


def formatted(template: str, *args: Any, **kwargs: Any) -> str:
    """Return ``template.format(*args, **kwargs)``."""
    if not is_unknown((args, kwargs)):
        return template.format(*args, **kwargs)
    static_text = f"{template!r}.format({', '.join(map(str, (*args, *kwargs.values())))})"
    return Text([_DeferredPiece(static_text, lambda found: template.format(*found[0], **found[1]), (args, kwargs))])


@replace_builtin(str)
def str_(*args: Any, **kwargs: Any) -> str:
    """Return ``str(*args, **kwargs)``, a `Text` if the value is not known yet."""
    if len(args) == 1 and not kwargs and is_unknown(args[0]):
        return Text([(args[0], ord("s"), "")])
    return str(*args, **kwargs)


@replace_builtin(print)
def print_(*args: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False) -> None:
    """Run ``print`` in each run of the graph, in program order."""
    if (trace_state.thread.frame is None or many_devices()) and not any(map(is_unknown, args)):
        return builtins.print(*args, sep=sep, end=end, file=file, flush=flush)
    makers, arrays = zip(*map(defer_value, args)) if args else ((), ())

    def show(*arrays):
        values = iter(arrays)
        ready = [make(values) for make in makers]
        if file is None and print_redirect.current_target is not None:
            print_redirect.current_target(ready)
        else:
            builtins.print(*ready, sep=sep, end=end, file=file, flush=True)

    jax.debug.callback(show, *[jax.lax.stop_gradient(a) for own in arrays for a in own], ordered=True)
    return None


def many_devices() -> bool:
    """Return True if graphs run on several devices, where JAX does not order callbacks."""
    return context.get_auto_parallel_context("parallel_mode") != context.ParallelMode.STAND_ALONE


class _DeferredPiece(NamedTuple):
    """A piece that `%` or `format` computes from all its values at once."""

    static_text: str
    make: Callable[[Any], str]
    values: Any


def _is_unformatted_text(piece):
    return not isinstance(piece, str) and isinstance(piece[0], Text) and piece[1:] == (-1, "")


def _split_text(value):
    return value.pieces if isinstance(value, Text) else (value,)


def _format_at_trace_time(piece):
    """Return a piece as text that describes it at trace time."""
    if isinstance(piece, str):
        return str(piece)
    if isinstance(piece, _DeferredPiece):
        return piece.static_text
    value, conversion, specification = piece
    if is_unknown(value):  # a traced Tensor has no digits to format
        return str(value)
    return format(_CONVERSIONS[conversion](value), specification)


def is_unknown(value: Any) -> bool:
    """Return True if a value is a `Text` or has a traced Tensor."""
    return isinstance(value, Text) or any(dynamic(leaf) for leaf in flatten(value)[0])


def defer_value(value: Any) -> tuple[Callable[..., Any], list[Any]]:
    """Return (make, arrays) for a value that is known when the graph runs.

    `arrays` are the traced arrays in it. ``make(iterator)`` returns the value with arrays of one run in their place.
    """
    if isinstance(value, Text):
        deferred = [(lambda _, p=p: p, []) if isinstance(p, str) else _defer_formatted_value(p) for p in value.pieces]
        return lambda arrays: "".join([make(arrays) for make, _ in deferred]), [a for _, own in deferred for a in own]
    leaves, rebuild = flatten(value)
    positions = [i for i, leaf in enumerate(leaves) if dynamic(leaf)]
    if not positions:
        static_text = str(value)  # the value at this time; it may be mutated later
        return lambda arrays: static_text, []

    def make(arrays):
        ready = list(leaves)
        for i in positions:
            ready[i] = Tensor(next(arrays))
        return rebuild(ready)

    return make, [leaves[i]._array for i in positions]


def _defer_formatted_value(piece):
    if isinstance(piece, _DeferredPiece):
        make, arrays = defer_value(piece.values)
        return lambda found: piece.make(make(found)), arrays
    value, conversion, specification = piece
    if not is_unknown(value):
        static_text = _format_at_trace_time(piece)
        return lambda found: static_text, []
    make, arrays = defer_value(value)
    return lambda found: format(_CONVERSIONS[conversion](make(found)), specification), arrays
