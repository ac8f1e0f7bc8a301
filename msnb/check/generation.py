"""Names and arguments that only one API generation has, as evidence of the generation of a program."""

import inspect
import json
from functools import cache
from importlib import resources

from msnb.check.resolving import ABSENT, infer_result_class, resolve
from msnb.check.uses import Use
from msnb.core.operator.api_generations import DIFFERENCES, api2_meaning, difference
from msnb.core.operator.declare import SPELLINGS
from msnb.core.tensor.tensor import Tensor

# Modules that r1.1 lacks. Each name in them indicates MindSpore 2.
_LATER_MODULES = tuple(
    f"mindspore.{name}" for name in ("amp", "boost", "experimental", "hal", "mint", "rewrite", "runtime", "scipy")
)


@cache
def _load_generation_table():
    text = resources.files("msnb.check").joinpath("generations.json").read_text(encoding="utf-8")
    return {int(generation): names_of_owners for generation, names_of_owners in json.loads(text).items()}


@cache
def _load_names_of_one_generation():
    """Return {generation: names that only this generation has}. Arguments are included, in the form
    "mindspore.nn.Dropout(p=)".
    """
    return {
        g: frozenset(
            [f"{owner}.{n}" for owner, names in names_of_owners.items() if owner != "arguments" for n in names.split()]
            + [f"{name}({n}=)" for name, names in names_of_owners["arguments"].items() for n in names.split()]
        )
        for g, names_of_owners in _load_generation_table().items()
    }


@cache
def _collect_owners_of_api2_names():
    """Return the modules and classes with names that only MindSpore 2 has."""
    return frozenset(name.rpartition(".")[0] for name in _load_names_of_one_generation()[2] if not name.endswith("=)"))


def is_later(name: str) -> bool:
    """Return True if only MindSpore 2 has `name`, or if `name` is a module or class with such names."""
    return name in _load_names_of_one_generation()[2] or name in _collect_owners_of_api2_names()


def evidence(uses: list[Use]) -> dict[int, list[Use]]:
    """Return {1: uses of names and arguments that only r1.1 has, 2: uses of those that only MindSpore 2 has}."""
    uses_of: dict[int, list[Use]] = {1: [], 2: []}
    for use in uses:
        plain = use.name.replace("()", "")
        for candidate in (plain, *(f"{plain}({keyword}=)" for keyword in use.keywords)):
            for generation, names in _load_names_of_one_generation().items():
                if candidate in names or generation == 2 and candidate == plain and _is_in_api2_module(plain):
                    uses_of[generation].append(use._replace(name=candidate))
    return uses_of


def _is_in_api2_module(name):
    return name in _LATER_MODULES or name.startswith(tuple(f"{module}." for module in _LATER_MODULES))


def different(uses: list[Use]) -> dict[str, list[Use]]:
    """Return {description of a difference: uses} for the names that MindSpore 2 and r1.1 define differently."""
    uses_of: dict[str, list[Use]] = {}
    for use in uses:
        meanings = _find_tensor_method_meanings(use) if "()" in use.name else _find_meanings(use)
        if meanings is None:
            continue
        first, second = meanings
        if second is not first and not _is_same_in_both_generations(use, first, second):
            uses_of.setdefault(difference(first, second).says, []).append(use)
    return uses_of


def _find_meanings(use):
    """Return r1.1's and MindSpore 2's object of a name that is called, or None."""
    first = resolve(use.name) if use.called else ABSENT
    if first is ABSENT:
        return None
    owner, _, name = use.name.rpartition(".")
    return first, api2_meaning(name, first, owner.replace("mindspore", "msnb", 1))


def _find_tensor_method_meanings(use):
    """Return r1.1's and MindSpore 2's function of a method that is called on a Tensor, or None.

    A method is reported only where its difference names the argument that matters: in other methods MindSpore 2
    accepts more.
    """
    called, _, method = use.name.partition("().")
    first, second = (SPELLINGS.get(("method", method, generation)) for generation in (1, 2))
    if not use.called or first is None or second is None or not DIFFERENCES[second.target].given:
        return None
    target = resolve(called)
    return (first.target, second.target) if infer_result_class(target) is Tensor else None


def _is_same_in_both_generations(use, first, second):
    """Return True if the arguments of a call make it independent of the difference between r1.1 and MindSpore 2."""
    declared = first if first in DIFFERENCES else second
    if declared not in DIFFERENCES:  # a class whose base class differs is not reported again
        return isinstance(first, type)
    _, order, defaults, _, argument = DIFFERENCES[declared]
    if argument or not (defaults or order):
        return bool(argument) and not _has_argument(use, argument, second)
    parameters = list(inspect.signature(first).parameters)
    if defaults:
        return not defaults.keys().isdisjoint([*use.keywords, *parameters[: use.positional_count or 0]])
    return use.positional_count is not None and parameters[: use.positional_count] == list(
        order[: use.positional_count]
    )


def _has_argument(use, argument, second):
    """Return True if a call passes `argument` by keyword or, to a method, by position."""
    if argument in use.keywords or "()" not in use.name:
        return argument in use.keywords
    positional = list(inspect.signature(second).parameters)[1:]
    return use.positional_count is None or argument in positional[: use.positional_count]
