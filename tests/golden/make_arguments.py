"""Stores what arguments MindSpore 2.7.1's functions of `mindspore.ops` and methods of Tensor take, in arguments.json.

    ORACLE/bin/python tests/golden/make_arguments.py

ORACLE is a virtual environment with mindspore 2. What Python cannot read a signature of is left out.
"""

import importlib
import inspect
import json
import pathlib

import mindspore


def arguments(thing):
    """The names that a caller may give; None where nothing can be read."""
    try:
        parameters = inspect.signature(getattr(thing, "__wrapped__", thing)).parameters.values()
    except (TypeError, ValueError):
        return None
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return " ".join(n for n in names if n != "self")


def functions(home):
    """{name: arguments} of the public functions of a module, or the methods of a class."""
    names = getattr(home, "__all__", None) or dir(home)
    found = {n: getattr(home, n, None) for n in sorted(names) if not n.startswith("_")}
    read = {n: arguments(v) for n, v in found.items() if callable(v) and not inspect.isclass(v)}
    return {n: text for n, text in read.items() if text}


if __name__ == "__main__":
    places = {"ops": importlib.import_module("mindspore.ops"), "Tensor": mindspore.Tensor}
    target = pathlib.Path(__file__).with_name("arguments.json")
    found = {place: functions(home) for place, home in places.items()}
    target.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
