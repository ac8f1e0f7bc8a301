"""Which MindSpore a program was written for, by the names and arguments that only one of its generations has."""

import inspect
import json
from functools import cache
from importlib import resources

from msnb.check.resolving import ABSENT, resolve
from msnb.check.uses import Use
from msnb.core.operator.api_generations import DIFFERENCES, api2_meaning, difference

# Modules that r1.1 has not, so that each name in them shows MindSpore 2.
_LATER_MODULES = tuple(
    f"mindspore.{name}" for name in ("amp", "boost", "experimental", "hal", "mint", "rewrite", "runtime", "scipy")
)


@cache
def _table():
    text = resources.files("msnb.check").joinpath("generations.json").read_text(encoding="utf-8")
    return {int(generation): places for generation, places in json.loads(text).items()}


@cache
def _names():
    """{generation: names that it alone has}, arguments among them, as "mindspore.nn.Dropout(p=)"."""
    return {
        g: frozenset(
            [f"{place}.{n}" for place, names in places.items() if place != "arguments" for n in names.split()]
            + [f"{name}({n}=)" for name, names in places["arguments"].items() for n in names.split()]
        )
        for g, places in _table().items()
    }


@cache
def _later_places():
    """The modules and classes that hold names of MindSpore 2."""
    return frozenset(name.rpartition(".")[0] for name in _names()[2] if not name.endswith("=)"))


def is_later(name: str) -> bool:
    """Of a name that msnb lacks, whether MindSpore 2 has it, or names below it."""
    return name in _names()[2] or name in _later_places()


def evidence(uses: list[Use]) -> dict[int, list[Use]]:
    """The uses of names and arguments that r1.1 alone has, under 1, and of MindSpore 2's alone, under 2."""
    found: dict[int, list[Use]] = {1: [], 2: []}
    for use in uses:
        plain = use.name.replace("()", "")
        for shown in (plain, *(f"{plain}({keyword}=)" for keyword in use.keywords)):
            for generation, names in _names().items():
                if shown in names or generation == 2 and shown == plain and _is_in_later_module(plain):
                    found[generation].append(use._replace(name=shown))
    return found


def _is_in_later_module(name):
    return name in _LATER_MODULES or name.startswith(tuple(f"{module}." for module in _LATER_MODULES))


def different(uses: list[Use]) -> dict[str, list[Use]]:
    """Of a program for MindSpore 2 the names that mean another thing under r1.1: what differs -> its uses."""
    found: dict[str, list[Use]] = {}
    for use in uses:
        first = resolve(use.name) if use.called and "()" not in use.name else ABSENT
        if first is ABSENT:
            continue
        place, _, name = use.name.rpartition(".")
        second = api2_meaning(name, first, place.replace("mindspore", "msnb", 1))
        if second is not first and not _same(use, first):
            found.setdefault(difference(first, second).says, []).append(use)
    return found


def _same(use, cls):
    """Return whether a call of a class leaves nothing to what differs: it says itself what it wants."""
    if cls not in DIFFERENCES:  # what holds for all below a class says it of that class
        return isinstance(cls, type)
    _, order, defaults, _, given = DIFFERENCES[cls]
    if given or not (defaults or order):
        return bool(given) and given not in use.keywords
    first = list(inspect.signature(cls).parameters)
    if defaults:
        return not defaults.keys().isdisjoint([*use.keywords, *first[: use.given or 0]])
    return use.given is not None and first[: use.given] == list(order[: use.given])
