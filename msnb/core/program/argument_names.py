"""Names for the inputs of a graph, taken from the parameters of the traced function."""

import inspect
from collections.abc import Callable
from typing import Any

from msnb.core.tensor.pytree import flatten


def argument_name(fn: Callable[..., Any], rebuild: Callable[[list[Any]], Any], leaves: list[Any], spot: int) -> str:
    """Return the name of the traced argument at `spot`: the parameter of `fn` that it is passed for."""
    marks: list[object] = [None] * len(leaves)
    marks[spot] = _MARK
    args, kwargs = rebuild(marks)
    names = getattr(getattr(fn, "__self__", fn), "argument_names", None) or parameter_names(fn)
    for i, arg in enumerate(args):
        positions = [n for n, leaf in enumerate(flatten(arg)[0]) if leaf is _MARK]
        if positions:
            name = _find_parameter_name(names, i)
            return name if flatten(arg)[0] == [_MARK] else f"{name}.{positions[0]}"
    for name, arg in kwargs.items():
        if any(leaf is _MARK for leaf in flatten(arg)[0]):
            return name
    return f"x{spot}"


_MARK = object()


def _find_parameter_name(names, position):
    """Return the name of the parameter for the argument at `position`. Arguments of ``*inputs`` are ``inputs0``,
    ``inputs1``, ...
    """
    if position < len(names) and not names[position].startswith("*"):
        return names[position]
    rest = next((n for n in names if n.startswith("*")), None)
    return f"x{position}" if rest is None else f"{rest[1:]}{position - names.index(rest)}"


def parameter_names(fn: Callable[..., Any]) -> list[str]:
    """Return the names of the positional parameters of a function, with a star before a variadic one."""
    try:
        parameters = inspect.signature(fn).parameters.values()
        return [
            f"*{p.name}" if p.kind is p.VAR_POSITIONAL else p.name
            for p in parameters
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)
        ]
    except (TypeError, ValueError):
        return []
