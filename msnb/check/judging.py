"""Checks whether msnb has the names that a program uses, and the arguments that it passes to them."""

import inspect
import types
from typing import NamedTuple

from msnb.check.generation import is_later
from msnb.check.resolving import ABSENT, get_signature, infer_result_class, resolve
from msnb.check.uses import ROOT, Use
from msnb.common import unsupported
from msnb.common.missing import missing as missing_sentence
from msnb.common.suggestions import TENSOR, no_attribute
from msnb.core.operator.api_generations import api2_meaning
from msnb.core.operator.declare import SPELLINGS
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell


class Finding(NamedTuple):
    """A name or argument that a program uses and msnb does not have.

    Attributes:
        use (Use): The use of the name in the program.
        kind (str): ``"name"``, ``"later"`` for a name that only raises an error, or ``"argument"``.
        text (str): One sentence for the user.
    """

    use: Use
    kind: str
    text: str


def judge(use: Use, generation: int | None = None) -> Finding | None:
    """Return a finding if msnb lacks the name or an argument of a use, else None.

    Args:
        use (Use): The use of a name in a program.
        generation (Union[int, None]): 2 if the program is written for MindSpore 2. Default: None, r1.1.
    """
    if use.guarded:
        return None
    name, is_call_result, method = use.name.partition("().")
    target = resolve(name)
    if generation == 2 and target is not ABSENT:
        target = api2_meaning(name.rpartition(".")[2], target, name.rpartition(".")[0].replace("mindspore", "msnb", 1))
    if target is ABSENT:
        missing = _find_missing_prefix(name)
        later = (is_later(name) or is_later(missing)) and unsupported.reason(missing.partition(".")[2]) is None
        text = f"msnb has no {missing} yet, which MindSpore 2 has." if later else missing_sentence(missing)
        return Finding(use, "name", text)
    if (why := getattr(target, "_later", None)) is not None and isinstance(target, type):
        return Finding(use, "later", f"{name} is not available in msnb yet; {why}.")
    if is_call_result:
        target = infer_result_class(target)
        if not isinstance(target, type) or issubclass(target, Cell):
            return None  # the class is unknown, or a Cell, whose constructor sets unknown attributes
        member = inspect.getattr_static(target, method, ABSENT)
        if member is ABSENT and hasattr(target, "__getattr__") and not issubclass(target, Tensor):
            return None
        if member is ABSENT:
            return Finding(use, "name", _format_missing_member(target, method))
        later = SPELLINGS.get(("method", method, 2)) if target is Tensor and generation == 2 else None
        if later is not None:
            return _check_arguments(use, later.target, method, 1)
        target = getattr(target, method)
        return _check_arguments(use, target, f"{target.__qualname__}" if hasattr(target, "__qualname__") else method, 1)
    return _check_arguments(use, target, name.removeprefix(f"{ROOT}."), 0) if use.called else None


def _format_missing_member(cls, name):
    if issubclass(cls, Tensor):  # missing members of Tensor have specific hints
        return no_attribute(cls.__name__, name, TENSOR, "Tensor").removesuffix(".") + "."
    return f"{cls.__name__} has no {name} here."


def _find_missing_prefix(name):
    """Return the shortest prefix of a path that does not resolve."""
    parts = name.split(".")
    for count in range(2, len(parts) + 1):
        if resolve(".".join(parts[:count])) is ABSENT:
            return ".".join(parts[:count])
    return name


def _check_arguments(use, target, name, bound):
    """Return a finding if a callable does not accept the arguments, else None. `bound` is 1 for a method that was
    looked up on its class.
    """
    # other objects may be unhashable, and `get_signature` caches by hash
    has_signature = callable(target) and not isinstance(target, types.ModuleType)
    signature = get_signature(target) if has_signature else None
    if signature is None:
        return None
    parameters = list(signature.parameters.values())
    if bound and not isinstance(target, types.MethodType) and parameters:
        parameters = parameters[1:]
    kinds = {p.kind for p in parameters}
    by_name = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    further = getattr(target, "called", ())  # keywords of other generations; the signature does not show them
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        by_name.update(further if isinstance(further, dict) else ())
        unknown = [k for k in use.keywords if k not in by_name]
        if unknown:
            return Finding(
                use,
                "argument",
                f"{name} has no argument {' or '.join(map(repr, unknown))} here; it takes "
                f"{', '.join(p.name for p in parameters) or 'none'}.",
            )
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    count = use.positional_count
    if count is not None and count > len(positional) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        return Finding(use, "argument", f"{name} takes {len(positional)} arguments here, and is given {count}.")
    return None
