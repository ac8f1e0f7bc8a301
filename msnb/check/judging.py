"""Whether msnb has what a program uses: the names, and the arguments that it gives them."""

import functools
import importlib
import inspect
import sys
import types
from typing import Any, NamedTuple

from msnb.check.generation import is_later
from msnb.check.uses import ROOT, Use
from msnb.common.missing import missing as missing_sentence
from msnb.core.tensor import Tensor
from msnb.nn.cell import Cell

_OURS = __name__.partition(".")[0]
_ABSENT = object()


class Finding(NamedTuple):
    """What a program uses and msnb does not have.

    Attributes:
        use (Use): Where, and what.
        kind (str): ``"name"``, ``"later"`` for a name that only says that it is not available yet, or ``"argument"``.
        text (str): One sentence on it.
    """

    use: Use
    kind: str
    text: str


def judge(use: Use) -> Finding | None:
    """What is to be said of a use, None where it is well."""
    if use.guarded:
        return None
    name, made, method = use.name.partition("().")
    found = resolve(name)
    if found is _ABSENT:
        missing = _first_missing(name)
        later = is_later(name) or is_later(missing)
        text = f"msnb has no {missing} yet, which MindSpore 2 has." if later else missing_sentence(missing)
        return Finding(use, "name", text)
    if (why := getattr(found, "_later", None)) is not None and isinstance(found, type):
        return Finding(use, "later", f"{name} is not available in msnb yet; {why}.")
    if made:
        if not isinstance(found, type) or issubclass(found, Cell):
            return None  # what a function gives is not known, and a Cell has what its constructor sets
        member = inspect.getattr_static(found, method, _ABSENT)
        if member is _ABSENT and hasattr(found, "__getattr__") and not issubclass(found, Tensor):
            return None
        if member is _ABSENT:
            return Finding(use, "name", f"{found.__name__} has no {method} here.")
        found = getattr(found, method)
        return _arguments(use, found, f"{found.__qualname__}" if hasattr(found, "__qualname__") else method, 1)
    return _arguments(use, found, name.removeprefix(f"{ROOT}."), 0) if use.called else None


@functools.cache
def resolve(name: str) -> Any:
    """What a path of MindSpore's is in msnb, `_ABSENT` where it is nothing."""
    found: Any = sys.modules[_OURS]
    path = ROOT
    for part in name.split(".")[1:]:
        path = f"{path}.{part}"
        inner = _member(found, part)
        if inner is _ABSENT:
            inner = _module(found, part)
        if inner is _ABSENT:
            return _ABSENT
        found = inner
    return found


def _member(owner, name):
    try:
        return getattr(owner, name)
    except AttributeError:
        return _ABSENT if isinstance(owner, (types.ModuleType, type)) else None  # of an object: who knows


def _module(owner, name):
    if not isinstance(owner, types.ModuleType):
        return _ABSENT
    try:
        path = f"{owner.__name__}.{name}"
        return importlib.import_module(path)  # spares the rooms that the program does not name
    except ModuleNotFoundError:
        return _ABSENT


def _first_missing(name):
    """The shortest part of a path that leads nowhere."""
    parts = name.split(".")
    for count in range(2, len(parts) + 1):
        if resolve(".".join(parts[:count])) is _ABSENT:
            return ".".join(parts[:count])
    return name


def _arguments(use, found, shown, bound):
    """A finding where a callable does not take what it is given; `bound` is 1 for a method looked up on its class."""
    taken = _signature(found)
    if taken is None:
        return None
    parameters = list(taken.parameters.values())
    if bound and not isinstance(found, types.MethodType) and parameters:
        parameters = parameters[1:]
    kinds = {p.kind for p in parameters}
    by_name = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        unknown = [k for k in use.keywords if k not in by_name]
        if unknown:
            return Finding(
                use,
                "argument",
                f"{shown} has no argument {' or '.join(map(repr, unknown))} here; it takes "
                f"{', '.join(p.name for p in parameters) or 'none'}.",
            )
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if use.given is not None and use.given > len(places) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        return Finding(use, "argument", f"{shown} takes {len(places)} arguments here, and is given {use.given}.")
    return None


@functools.cache
def _signature(found):
    if not callable(found) or isinstance(found, types.ModuleType):
        return None
    try:
        return inspect.signature(found)
    except (TypeError, ValueError):
        return None
