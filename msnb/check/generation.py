"""Which MindSpore a program was written for, by the names that only one of its generations has."""

import inspect
import json
from functools import cache
from importlib import resources

from msnb.check.resolving import ABSENT, resolve
from msnb.check.uses import Use
from msnb.core.generations import DIFFERENCES, difference, meant_in_second


@cache
def _names():
    text = resources.files("msnb.check").joinpath("generations.json").read_text(encoding="utf-8")
    table = json.loads(text)
    return {
        g: frozenset(f"{place}.{n}" for place, names in places.items() for n in names.split())
        for g, places in table.items()
    }


@cache
def _later_places():
    """The modules and classes that hold names of MindSpore 2."""
    return frozenset(name.rpartition(".")[0] for name in _names()["2"])


def is_later(name: str) -> bool:
    """Of a name that msnb lacks, whether MindSpore 2 has it, or names below it."""
    return name in _names()["2"] or name in _later_places()


def evidence(uses: list[Use]) -> dict[int, list[Use]]:
    """The uses of names that r1.1 alone has, under 1, and of those that MindSpore 2 alone has, under 2."""
    names = _names()
    return {g: [use for use in uses if use.name.replace("()", "") in names[str(g)]] for g in (1, 2)}


def different(uses: list[Use]) -> dict[str, list[Use]]:
    """Of a program for MindSpore 2 the names that mean another thing under r1.1: what differs -> its uses."""
    found: dict[str, list[Use]] = {}
    for use in uses:
        first = resolve(use.name) if use.called and "()" not in use.name else ABSENT
        if first is ABSENT:
            continue
        place, _, name = use.name.rpartition(".")
        second = meant_in_second(name, first, place.replace("mindspore", "msnb", 1))
        if second is not first and not _same(use, first):
            found.setdefault(difference(first, second).says, []).append(use)
    return found


def _same(use, cls):
    """Whether a call of a class leaves nothing to what differs: it says itself what it wants."""
    if cls not in DIFFERENCES:  # what holds for all below a class says it of that class
        return isinstance(cls, type)
    _, order, defaults, _, given = DIFFERENCES[cls]
    if given or not (defaults or order):
        return bool(given) and given not in use.keywords
    first = list(inspect.signature(cls).parameters)
    if defaults:
        return not defaults.keys().isdisjoint([*use.keywords, *first[: use.given or 0]])
    return use.given is not None and first[: use.given] == list(order[: use.given])
