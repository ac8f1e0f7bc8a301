"""Stores which names of MindSpore one generation has and the other has not, in msnb/check/generations.json: by these
`msnb check` tells what a program was written for.

    ORACLE/bin/python tests/golden/make_generations.py

ORACLE is a virtual environment with mindspore 2. r1.1's names are those of r1_1_names.json.
"""

import importlib
import json
import pathlib
import types

import mindspore

HERE = pathlib.Path(__file__).parent
# where programs import names from
PLACES = """mindspore mindspore.nn mindspore.ops mindspore.numpy mindspore.train mindspore.train.callback
mindspore.train.metrics mindspore.amp mindspore.common mindspore.context mindspore.communication mindspore.dataset
mindspore.dataset.vision mindspore.dataset.transforms mindspore.dataset.text mindspore.mint mindspore.mint.nn
mindspore.mint.optim mindspore.mint.nn.functional mindspore.experimental.optim mindspore.scipy.linalg mindspore.hal
mindspore.runtime mindspore.boost mindspore.rewrite mindspore.Tensor mindspore.Model mindspore.nn.Cell""".split()


def owner(place):
    """The module or class, None where there is none."""
    try:
        return importlib.import_module(place)
    except ImportError:
        parent, _, name = place.rpartition(".")
        return getattr(importlib.import_module(parent), name, None)


def names_of(place):
    """Public names, those of modules that a module has happened to import left out."""
    found = owner(place)
    if found is None:
        return set()
    listed = getattr(found, "__all__", None) or dir(found)
    return {
        n
        for n in listed
        if not n.startswith("_")
        and (value := getattr(found, n, None)) is not None
        and (not isinstance(value, types.ModuleType) or value.__name__ == f"{place}.{n}")
    }


def main():
    old = {p: set(n.split()) for p, n in json.loads((HERE / "r1_1_names.json").read_text("utf-8")).items()}
    first, second = {}, {}
    for place, names in old.items():
        here = owner_or_none(place)
        if callable(here) and not isinstance(here, type):
            continue  # its names are settings
        gone = {n for n in names if not n.startswith("_") and (here is None or not hasattr(here, n))}
        if gone and "._" not in place:
            first[place] = " ".join(sorted(gone))
    for place in PLACES:
        new = {n for n in names_of(place) - old.get(place, set()) if not any(o.startswith(f"{place}.{n}") for o in old)}
        if new:
            second[place] = " ".join(sorted(new))
    text = json.dumps({"1": first, "2": second}, indent=0, sort_keys=True)
    (HERE.parents[1] / "msnb" / "check" / "generations.json").write_text(text + "\n", encoding="utf-8")
    print(
        f"{sum(len(v.split()) for v in first.values())} names of r1.1 alone, "
        f"{sum(len(v.split()) for v in second.values())} of {mindspore.__version__} alone"
    )


def owner_or_none(place):
    try:
        return owner(place)
    except (ImportError, AttributeError):
        return None


main()
