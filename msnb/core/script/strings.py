"""Texts with values in them that only the running graph knows: f-strings, `%` and `print` in converted code.

A `Text` is a str that says of such values what is known while the graph is built; `print` puts the values themselves in
their place when the graph runs.
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
    """A text of pieces, each a str or (value, conversion, format specification).

    Args:
        pieces (Sequence): The pieces; a value may be a Tensor of the graph, or hold some.
    """

    pieces: tuple[Any, ...]

    def __new__(cls, pieces: Sequence[Any]) -> "Text":
        made = super().__new__(cls, "".join(map(_said, pieces)))
        made.pieces = tuple(pieces)
        return made

    def __add__(self, other: str) -> "str | Text":
        return Text((*self.pieces, *_pieces(other))) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: str) -> "str | Text":
        return Text((*_pieces(other), *self.pieces)) if isinstance(other, str) else NotImplemented


def text(*pieces: Any) -> str:
    """An f-string of these pieces: a `Text` where one of them is not known yet."""
    flat = [p for piece in pieces for p in (_pieces(piece[0]) if _is_text(piece) else (piece,))]
    late = any(not isinstance(p, str) and (isinstance(p, _Late) or _unknown(p[0])) for p in flat)
    return Text(flat) if late else "".join(map(_said, flat))


def percent(left: Any, right: Any) -> Any:
    """``left % right`` for a text on the left."""
    if not _unknown(right):
        return left % right
    return Text([_Late(f"{left!r} % {right}", lambda found: left % found, right)])


def formatted(template: str, *args: Any, **kwargs: Any) -> str:
    """``template.format(*args, **kwargs)``."""
    if not _unknown((args, kwargs)):
        return template.format(*args, **kwargs)
    said = f"{template!r}.format({', '.join(map(str, (*args, *kwargs.values())))})"
    return Text([_Late(said, lambda found: template.format(*found[0], **found[1]), (args, kwargs))])


@replace_builtin(str)
def str_(*args: Any, **kwargs: Any) -> str:
    """``str``."""
    if len(args) == 1 and not kwargs and _unknown(args[0]):
        return Text([(args[0], ord("s"), "")])
    return str(*args, **kwargs)


@replace_builtin(print)
def print_(*args: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False) -> None:
    """``print``, each time that the graph runs, in the order of the program."""
    if (trace_state.thread.frame is None or many_devices()) and not any(map(_unknown, args)):
        return builtins.print(*args, sep=sep, end=end, file=file, flush=flush)
    makers, arrays = zip(*map(_later, args)) if args else ((), ())

    def show(*found):
        values = iter(found)
        ready = [make(values) for make in makers]
        if file is None and print_redirect.current_target is not None:
            print_redirect.current_target(ready)
        else:
            builtins.print(*ready, sep=sep, end=end, file=file, flush=True)

    jax.debug.callback(show, *[jax.lax.stop_gradient(a) for own in arrays for a in own], ordered=True)
    return None


def many_devices() -> bool:
    """Whether graphs run on several devices, where JAX keeps no order of what they call."""
    return context.get_auto_parallel_context("parallel_mode") != context.ParallelMode.STAND_ALONE


class _Late(NamedTuple):
    """A piece that `%` or `format` makes of all its values at once."""

    said: str
    make: Callable[[Any], str]
    values: Any


def _is_text(piece):
    return not isinstance(piece, str) and isinstance(piece[0], Text) and piece[1:] == (-1, "")


def _pieces(value):
    return value.pieces if isinstance(value, Text) else (value,)


def _said(piece):
    """What a piece is as long as no value is put in."""
    if isinstance(piece, str):
        return str(piece)
    if isinstance(piece, _Late):
        return piece.said
    value, conversion, specification = piece
    if _unknown(value):  # a Tensor that has no value has no digits
        return str(value)
    return format(_CONVERSIONS[conversion](value), specification)


def _unknown(value):
    return isinstance(value, Text) or any(dynamic(leaf) for leaf in flatten(value)[0])


def _later(value: Any) -> tuple[Callable[..., Any], list[Any]]:
    """(what makes the value of an iterator over arrays, the arrays that it takes from it)."""
    if isinstance(value, Text):
        made = [(lambda _, p=p: p, []) if isinstance(p, str) else _piece_later(p) for p in value.pieces]
        return lambda arrays: "".join([make(arrays) for make, _ in made]), [a for _, own in made for a in own]
    leaves, rebuild = flatten(value)
    places = [i for i, leaf in enumerate(leaves) if dynamic(leaf)]
    if not places:
        said = str(value)  # as it is now: what is printed may be changed later on
        return lambda arrays: said, []

    def make(arrays):
        ready = list(leaves)
        for i in places:
            ready[i] = Tensor(next(arrays))
        return rebuild(ready)

    return make, [leaves[i]._array for i in places]


def _piece_later(piece):
    if isinstance(piece, _Late):
        make, arrays = _later(piece.values)
        return lambda found: piece.make(make(found)), arrays
    value, conversion, specification = piece
    if not _unknown(value):
        said = _said(piece)
        return lambda found: said, []
    make, arrays = _later(value)
    return lambda found: format(_CONVERSIONS[conversion](make(found)), specification), arrays
