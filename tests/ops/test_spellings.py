"""One operator, one file: who opens the file of an operator sees everything that is called by its name."""

import ast
import inspect
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from trees import tree_of

import msnb
from msnb import Tensor, ops
from msnb.core.operator import declare
from msnb.core.operator.operator_types import REGISTRY

PACKAGE = Path(msnb.__file__).parent
# Other tests declare operators of their own.
SPELLINGS = {k: s for k, s in declare.SPELLINGS.items() if not k[1].startswith("Test")}
# One name, two things: MindSpore's operator in place and torch's method of a Tensor; a class and what gives back its
# argument; Python's `&` from the right and random numbers; numpy's `resize` of any Tensor and that of
# images; numpy's `histogram` with edges and weights, and counts in equal bins; a triangle's places
# as numpy's pair of vectors and as a matrix.
UNLIKE = {
    *(f"scatter{what}" for what in ("add", "sub", "mul", "div", "max", "min")),
    "histogram",
    "identity",
    "invert",  # the bits of an integer, and `~x`, which is a logical not
    "rand",
    "resize",
    "to",  # a cast, and `to_`, which moves a Tensor to a device
    "trilindices",
    "triuindices",
}


def file_of(target):
    target = target.fget if isinstance(target, property) else target
    target = target if inspect.isroutine(target) or inspect.isclass(target) else type(target)
    return Path(inspect.getsourcefile(target)).relative_to(PACKAGE).as_posix()


def test_inspect_finds_the_file_of_every_operator_and_spelling():
    wrong = [key for key, s in SPELLINGS.items() if not file_of(s.target).startswith(("ops/", "numpy/"))]
    assert not wrong


def test_the_signature_of_an_operator_is_how_it_is_constructed():
    assert str(inspect.signature(ops.Concat)) == "(axis: int = 0)"
    ops.Concat(*inspect.signature(ops.Concat).bind(1).args)
    for name, op in REGISTRY.items():
        taken = inspect.signature(op.primitive).parameters if op.primitive is not None else {}
        ordered = list(taken) == list(op.attributes)
        assert not taken or ordered, name


def test_inspect_finds_the_written_function_of_every_operator():
    for name, op in REGISTRY.items():
        if inspect.isclass(op.primitive) and op.kernels is not None:
            source = inspect.getsource(op.primitive)
            assert re.search(rf"def {op.primitive.__name__}\(", source), name


def concepts():
    """Return {name without case and underscores: files} of classes, functions, methods and numpy's functions."""
    results = {}
    for (kind, name, _), s in SPELLINGS.items():
        results.setdefault(name.lower().replace("_", ""), {}).setdefault(file_of(s.target), []).append(f"{kind} {name}")
    return results


def test_what_is_called_by_one_name_stands_in_one_file():
    split = {name: files for name, files in concepts().items() if len(files) > 1 and name not in UNLIKE}
    assert not split, "\n".join(f"{n}: {f}" for n, f in split.items())


def test_a_written_spelling_stands_beside_an_operator_that_it_leads_to():
    wrong = []
    for (kind, name, _), s in SPELLINGS.items():
        homes = {file_of(cls) for cls in s.operators if inspect.isclass(cls)}
        if homes and file_of(s.target) not in homes:
            wrong.append(f"{kind} {name} stands in {file_of(s.target)}, its operators in {homes}")
    assert not wrong, "\n".join(wrong)


def test_no_operator_is_looked_up_by_text():
    # Where names are entered, what a pickle, a graph or a file names, a face that MindSpore lets people import anything
    # from, a generator.
    allowed = {
        "core/operator/declare.py",
        "core/operator/primitive.py",
        "exchange/mindir/read/graph_builder.py",
        "exchange/mindir/read/reader.py",
        "exchange/onnx/read/reader.py",
        "exchange/onnx/write/graphs.py",
        "ops/_host.py",
        "ops/comm.py",
        "ops/composite/__init__.py",
        "parallel/graph/operator_calls.py",
        "cli/stubs.py",
    }
    tables, wrong = ("REGISTRY", "FUNCTIONAL", "F"), []
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE).as_posix()
        # a text that has no such subscript needs no tree
        if place in allowed or not re.search(rf"\b({'|'.join(tables)})\s*\[", path.read_text(encoding="utf-8")):
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in tables:
                wrong.append(f"{place}:{node.lineno}")
    assert not wrong, wrong


def calls(function):
    for _ in range(3):
        function()
    count = 0

    def count_calls(frame, event, argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(count_calls)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count - 1


Y = Tensor(np.ones((3, 4), np.float32))
G = Tensor(np.ones(4, np.float32))
softmax = ops.Softmax()


@pytest.mark.parametrize(
    "most, call",
    [
        (1, lambda: softmax(Y)),
        (2, lambda: Y + Y),
        (6, lambda: Y.sum()),
        (6, lambda: Y.mean(1)),
        (6, lambda: Y.max()),
        (6, lambda: Y.reshape(2, 6)),
        (6, lambda: Y.astype(msnb.float16)),
        (6, lambda: ops.softmax(Y)),
        (18, lambda: ops.layer_norm(Y, (4,), G, G)),
        (6, lambda: ops.concat((Y, Y))),
    ],
)
def test_a_spelling_costs_few_calls_of_python(most, call):
    assert calls(call) <= most


def test_a_call_remembers_nothing_wrong_of_the_last_one():
    x = Tensor(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    keeping = ops.ReduceSum(True)
    assert keeping(x, 1).shape == (2, 1) and keeping(x, (1,)).shape == (2, 1) and keeping(x).shape == (1, 1)
    with pytest.raises(TypeError):
        keeping(x, True)  # equal to 1, and no axis
    assert ops.cast(x, msnb.int32).dtype == msnb.int32 and ops.cast(x, msnb.float16).dtype == msnb.float16
    assert ops.layer_norm(x, (3,)).shape == ops.layer_norm(x, (3,), G[:3], G[:3]).shape
    with pytest.raises(TypeError):
        keeping(x, 1.0)
