"""Stores the public names of MindSpore in mindspore_names.json, against which tests/test_public_names.py holds msnb's,
and all names of r1.1, members of classes included, in r1_1_names.json, which tests/test_r1_1_names.py walks.

    ORACLE/bin/python tests/golden/make_names.py R1_1.json

ORACLE is a virtual environment with mindspore 2; R1_1.json lists what r1.1 has, as objects with `module` and `name`.
MindSpore 1.7 is in the list only as far as one of the two has kept its names: no package index carries it.
"""

import importlib
import json
import pathlib
import sys

import mindspore

# Where a name counts as public. The last ones are no address that a user writes, but what they define is documented
# under another one, or is what a method of Tensor is made of.
PLACES = (
    "mindspore.ops",
    "mindspore.ops.operations",
    "mindspore.ops.functional",
    "mindspore.ops.composite",
    "mindspore.nn",
    "mindspore.Tensor",
    "mindspore.mint",
    "mindspore.mint.nn.functional",
    "mindspore.numpy",
    "mindspore.ops.function",
    "mindspore.ops.auto_generate",
    "mindspore.ops.operations._inner_ops",
    "mindspore.ops.operations._grad_ops",
    "mindspore.ops.operations._quant_ops",
)


def names_of(place):
    """What `place` of the installed MindSpore lists, as far as it is there, without private names."""
    if place == "mindspore.Tensor":
        found = dir(mindspore.Tensor)
    else:
        module = importlib.import_module(place)
        found = [n for n in getattr(module, "__all__", ()) or dir(module) if hasattr(module, n)]
    return sorted({n for n in found if not n.startswith("_")})


def names_of_r1_1(path):
    """The same of r1.1, from its list."""
    listed = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    found = {place: sorted({e["name"] for e in listed if e["module"] == place}) for place in PLACES}
    return {p: [n for n in names if not n.startswith("_")] for p, names in found.items() if names}


def every_name_of_r1_1(path):
    """All that r1.1 has, at each place: a module, a class, or a function, whose settings are its names."""
    places = {}
    for entry in json.loads(pathlib.Path(path).read_text(encoding="utf-8")):
        places.setdefault(entry["module"], set()).add(entry["name"])
    return {place: " ".join(sorted(names)) for place, names in sorted(places.items())}


if __name__ == "__main__":
    every = json.dumps(every_name_of_r1_1(sys.argv[1]), indent=0)
    pathlib.Path(__file__).with_name("r1_1_names.json").write_text(every + "\n", encoding="utf-8")
    names = {"r1.1": names_of_r1_1(sys.argv[1]), mindspore.__version__: {p: names_of(p) for p in PLACES}}
    lines = [
        f"  {json.dumps(version)}: {{\n"
        + ",\n".join(f"    {json.dumps(place)}: {json.dumps(' '.join(found))}" for place, found in places.items())
        + "\n  }"
        for version, places in names.items()
    ]
    target = pathlib.Path(__file__).with_name("mindspore_names.json")
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print({version: {p: len(n) for p, n in places.items()} for version, places in names.items()})
