"""The names of MindSpore 2.10, and those of 2.7.1 that it has dropped, are there under `--api 2`, with their arguments.

tests/golden/make_names.py writes the names. A name that is not there has a reason in `msnb.common.unsupported`.
"""

import functools
import importlib
import inspect
import json
from pathlib import Path

import pytest

import msnb.mindspore2
from msnb import Parameter, Tensor
from msnb.check.deprecation import load_deprecations
from msnb.common import unsupported
from msnb.core.operator.declare import SPELLINGS

NAMES = {
    version: json.loads((Path(__file__).parent / "golden" / "names" / f"{version}.json").read_text(encoding="utf-8"))
    for version in ("2.7.1", "2.10.0")
}
INSIDES = ("mindspore.ops.auto_generate", "mindspore.ops.operations._")
PATHS = [path for path in NAMES["2.10.0"] if not path.startswith(INSIDES)]

# Arguments that are not there, and why.
OTHER_ARGUMENTS = {
    "DynamicShape": "a shape that is known only at run time has no type here",
    "LSTM": "projections are not there; the operator is the kernel of nn.LSTM",
    "Pool": "Python's class, which MindSpore hands on",
    "RandomSampler": "the order of files, which MindRecord's readers decide themselves",
    "ResizeNearestNeighbor": "r1.1 has the corners alone",
    "RowTensor": "r1.1's constructor has the dense shape",
    "SparseTensor": "r1.1's constructor has the dense shape",
    "Range": "the length of a result needs no bound here",
    "ToType": "the argument goes by position; r1.1 calls it output_type",
    "create_group": "options of Ascend's library",
    "device_que": "a queue of Ascend's",
    "empty_like": "the argument goes by position, as in NumPy, which calls it prototype",
    "geswitch": "it raises whatever it is given",
    "infer_predict_layout": "there is no backend to skip",
    "load_distributed_checkpoint": "files of checkpoints in safetensors, cut for several processes",
    "matmul": "r1.1 has no dtype in ops.composite",
    "predict": "backends are those of MindSpore Lite",
}


@functools.cache
def home_of(path):
    """The module, class or object at a path of MindSpore, None if there is none."""
    if path == "mindspore.Parameter":  # its attributes are set by the constructor
        return Parameter(Tensor([1.0]), name="p")
    try:
        return importlib.import_module(path.replace("mindspore", "msnb.mindspore2", 1))
    except ImportError:
        parent, _, name = path.rpartition(".")
        return getattr(home_of(parent), name, None) if parent else None


def reason_of(path, name):
    """The reason why a name is not there, None if none is stated."""
    places = [path.removeprefix("mindspore").lstrip(".")]
    places += {"Parameter": ["Tensor"], "nn.Optimizer": ["nn.Cell"]}.get(places[0], [])
    return next(filter(None, (unsupported.reason(f"{place}.{name}".lstrip(".")) for place in places)), None)


def arguments_of(home, name, value):
    """The keywords that a callable takes; None if it takes any."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    found = {p.name for p in parameters} | {*getattr(value, "called", ())}
    for kind in ("function", "method"):
        for generation in (1, 2):
            spelling = SPELLINGS.get((kind, name, generation))
            operators = [getattr(cls, "operator", None) for cls in spelling.operators] if spelling else []
            for op in filter(None, operators):
                found |= {*op.called, *op.positions, *op.attributes}
    return found


def absent(path, names):
    """Names without a value and without a reason."""
    home = home_of(path)
    return [name for name in names if not hasattr(home, name) and reason_of(path, name) is None]


@pytest.mark.parametrize("path", PATHS)
def test_every_name_is_there_or_has_a_reason(path):
    assert absent(path, NAMES["2.10.0"][path]) == []


@pytest.mark.parametrize("path", PATHS)
def test_every_argument_is_taken(path):
    home, missing = home_of(path), {}
    for name, arguments in NAMES["2.10.0"][path].items():
        value = getattr(home, name, None)
        if not arguments or not callable(value) or name in OTHER_ARGUMENTS or hasattr(value, "_later"):
            continue
        taken = arguments_of(home, name, value)
        lost = {*arguments.split()} - {"*", "**"} - taken if taken is not None else ()
        if lost:
            missing[name] = sorted(lost)
    assert missing == {}


def test_names_that_2_10_has_dropped_remain():
    dropped = {
        path: [name for name in names if name not in NAMES["2.10.0"].get(path, ())]
        for path, names in NAMES["2.7.1"].items()
        if not path.startswith(INSIDES)
    }
    assert dropped["mindspore.ops"] == ["chunk_ext"]
    assert {path: lost for path, names in dropped.items() if (lost := absent(path, names))} == {}


def test_a_deprecated_name_stands_in_the_list_of_names():
    listed = {f"{path}.{name}" for path, names in NAMES["2.10.0"].items() for name in names}
    assert load_deprecations().keys() <= listed
    assert load_deprecations()["mindspore.nn.ClipByNorm"] == ("2.8.0", "ops.clip_by_norm")
