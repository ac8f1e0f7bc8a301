"""Stores which names of MindSpore, and which arguments of those that both have, one generation has and the other has
not, in msnb/check/generations.json: by these `msnb check` tells what a program was written for.

    ORACLE/bin/python tests/golden/make_generations.py R1.1

ORACLE is a virtual environment with mindspore 2. r1.1's names are those of r1_1_names.json; R1.1 is a list of what r1.1
has, as JSON, each with its module, name, kind and signature.
"""

import ast
import importlib
import inspect
import json
import pathlib
import sys
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
    """Return the module or class, None where there is none."""
    try:
        return importlib.import_module(place)
    except ImportError:
        parent, _, name = place.rpartition(".")
        return getattr(importlib.import_module(parent), name, None)


def names_of(place):
    """Public names, those of modules that a module has happened to import left out."""
    module = owner(place)
    if module is None:
        return set()
    listed = getattr(module, "__all__", None) or dir(module)
    return {
        n
        for n in listed
        if not n.startswith("_")
        and (value := getattr(module, n, None)) is not None
        and (not isinstance(value, types.ModuleType) or value.__name__ == f"{place}.{n}")
    }


def parse_parameters(signature):
    """Return the parameters in the text of a signature; None where it is no text of one, or takes any keywords."""
    try:
        a = ast.parse(f"def f{signature}: pass").body[0].args
    except SyntaxError:
        return None
    return None if a.kwarg else {arg.arg for arg in [*a.posonlyargs, *a.args, *a.kwonlyargs]}


def arguments(taken):
    """Return two dicts, name -> arguments: what r1.1 alone takes, and MindSpore 2 alone."""
    first, second = {}, {}
    for name, signature in taken:
        old, new = parse_parameters(signature), owner_or_none(name) if "._" not in name else None
        if old is None or not callable(new):
            continue
        try:
            parameters = inspect.signature(new).parameters.values()
        except (TypeError, ValueError):
            continue
        if any(p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in parameters):
            continue
        now = {p.name for p in parameters}
        for result, these in ((first, old - now), (second, now - old)):
            if these:
                result[name] = " ".join(sorted(these))
    return first, second


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
    taken = [(f"{e['module']}.{e['name']}", e["signature"]) for e in json.loads(pathlib.Path(sys.argv[1]).read_text())]
    first["arguments"], second["arguments"] = arguments(taken)
    text = json.dumps({"1": first, "2": second}, indent=0, sort_keys=True)
    (HERE.parents[1] / "msnb" / "check" / "generations.json").write_text(text + "\n", encoding="utf-8")
    print(
        f"{sum(len(v.split()) for p, v in first.items() if p != 'arguments')} names of r1.1 alone, "
        f"{sum(len(v.split()) for p, v in second.items() if p != 'arguments')} of {mindspore.__version__} alone, "
        f"arguments of {len(first['arguments'])} and {len(second['arguments'])}"
    )


def owner_or_none(place):
    try:
        return owner(place)
    except (ImportError, AttributeError):
        return None


main()
