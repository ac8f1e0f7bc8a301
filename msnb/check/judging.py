"""Whether msnb has what a program uses: the names, and the arguments that it gives them."""

import functools
import inspect
import types
from typing import NamedTuple

from msnb.check.generation import is_later
from msnb.check.resolving import ABSENT, resolve
from msnb.check.uses import ROOT, Use
from msnb.common import unsupported
from msnb.common.missing import missing as missing_sentence
from msnb.common.suggestions import TENSOR, no_attribute
from msnb.core.operator.api_generations import api2_meaning
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell


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


def judge(use: Use, generation: int | None = None) -> Finding | None:
    """What is to be said of a use, None where it is well.

    Args:
        use (Use): The use.
        generation (Union[int, None]): 2 where the program is written for MindSpore 2. Default: None, that of r1.1.
    """
    if use.guarded:
        return None
    name, made, method = use.name.partition("().")
    found = resolve(name)
    if generation == 2 and found is not ABSENT:
        found = api2_meaning(name.rpartition(".")[2], found, name.rpartition(".")[0].replace("mindspore", "msnb", 1))
    if found is ABSENT:
        missing = _first_missing(name)
        later = (is_later(name) or is_later(missing)) and unsupported.reason(missing.partition(".")[2]) is None
        text = f"msnb has no {missing} yet, which MindSpore 2 has." if later else missing_sentence(missing)
        return Finding(use, "name", text)
    if (why := getattr(found, "_later", None)) is not None and isinstance(found, type):
        return Finding(use, "later", f"{name} is not available in msnb yet; {why}.")
    if made:
        found = _given(found)
        if not isinstance(found, type) or issubclass(found, Cell):
            return None  # what it gives is not known, and a Cell has what its constructor sets
        member = inspect.getattr_static(found, method, ABSENT)
        if member is ABSENT and hasattr(found, "__getattr__") and not issubclass(found, Tensor):
            return None
        if member is ABSENT:
            return Finding(use, "name", _no_member(found, method))
        found = getattr(found, method)
        return _arguments(use, found, f"{found.__qualname__}" if hasattr(found, "__qualname__") else method, 1)
    return _arguments(use, found, name.removeprefix(f"{ROOT}."), 0) if use.called else None


def _given(found):
    """The class of what a call gives: itself of a class, a Tensor where a function says so, None where nothing does."""
    if isinstance(found, type):
        return found
    taken = _signature(found) if inspect.isfunction(found) else None
    return Tensor if taken is not None and taken.return_annotation is Tensor else None


def _no_member(cls, name):
    if issubclass(cls, Tensor):  # what a Tensor is asked for says itself what it is called here
        return no_attribute(cls.__name__, name, TENSOR, "Tensor").removesuffix(".") + "."
    return f"{cls.__name__} has no {name} here."


def _first_missing(name):
    """The shortest part of a path that leads nowhere."""
    parts = name.split(".")
    for count in range(2, len(parts) + 1):
        if resolve(".".join(parts[:count])) is ABSENT:
            return ".".join(parts[:count])
    return name


def _arguments(use, found, shown, bound):
    """A finding where a callable does not take what it is given; `bound` is 1 for a method looked up on its class."""
    asked = callable(found) and not isinstance(found, types.ModuleType)  # what is no function may have no hash either
    taken = _signature(found) if asked else None
    if taken is None:
        return None
    parameters = list(taken.parameters.values())
    if bound and not isinstance(found, types.MethodType) and parameters:
        parameters = parameters[1:]
    kinds = {p.kind for p in parameters}
    by_name = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    further = getattr(found, "called", ())  # keywords of other years, which the signature does not show
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        by_name.update(further if isinstance(further, dict) else ())
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
    try:
        return inspect.signature(found)
    except (TypeError, ValueError):
        return None
