"""Which MindSpore a program was written for, by the names that only one of its generations has."""

import json
from functools import cache
from importlib import resources

from msnb.check.uses import Use

_WEIGHTS = (
    "its first weights are drawn from N(0, 0.01), and in MindSpore 2 from a HeUniform distribution; give weight_init "
    "to have the same in both"
)
# What both have, and what is different here, where r1.1's meaning holds.
DIFFERENT: dict[str, str] = {
    "mindspore.nn.Dropout": (
        "its first argument is the probability to keep a value, and in MindSpore 2 to drop it; write p= or keep_prob="
    ),
    "mindspore.nn.Dense": _WEIGHTS,
    "mindspore.nn.Conv1d": _WEIGHTS,
    "mindspore.nn.Conv2d": _WEIGHTS,
    "mindspore.nn.Conv1dTranspose": _WEIGHTS,
    "mindspore.nn.Conv2dTranspose": _WEIGHTS,
    "mindspore.nn.BCELoss": "its reduction is 'none', and in MindSpore 2 'mean'; give reduction",
    "mindspore.ops.TopK": "it does not sort unless sorted=True is given, as MindSpore 2 does",
}


@cache
def _names():
    text = resources.files("msnb.check").joinpath("generations.json").read_text(encoding="utf-8")
    table = json.loads(text)
    return {
        g: frozenset(f"{place}.{n}" for place, names in places.items() for n in names.split())
        for g, places in table.items()
    }


def is_later(name: str) -> bool:
    """Whether a name is one that r1.1 did not have, and MindSpore 2 has."""
    return name in _names()["2"]


def evidence(uses: list[Use]) -> dict[int, list[Use]]:
    """The uses of names that r1.1 alone has, under 1, and of those that MindSpore 2 alone has, under 2."""
    names = _names()
    return {g: [use for use in uses if use.name.replace("()", "") in names[str(g)]] for g in (1, 2)}


def different(uses: list[Use]) -> dict[str, list[Use]]:
    """Of a program for MindSpore 2 the names that mean another thing here: what differs -> its uses."""
    found: dict[str, list[Use]] = {}
    for use in uses:
        why = DIFFERENT.get(use.name)
        if why is None or not use.called:
            continue
        if use.name.endswith("Dropout") and not use.given:
            continue  # it says which one it means
        if {"weight_init", "reduction", "sorted"} & set(use.keywords):
            continue
        found.setdefault(why, []).append(use)
    return found
