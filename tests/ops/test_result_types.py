"""Every operator returns the element types that MindSpore 2.7.1 returns, and takes those that it takes (generation 2).

Golden values: golden/result_types.json, of golden/result_types.py."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import msnb.mindspore2 as ms2
from msnb import Parameter, Tensor, nn
from msnb.common import dtype as mstype
from msnb.core.operator import api_generations

GOLDEN = Path(__file__).parents[1] / "golden"
sys.path[:0] = [str(GOLDEN), str(GOLDEN.parent)]
import result_types  # noqa: E402
from oracle import MODULES, Oracle  # noqa: E402
from sweeps import swept  # noqa: E402

TABLE = result_types.by_call(json.loads((GOLDEN / "result_types.json").read_text(encoding="utf-8")))
DIFFERENCES = json.loads((GOLDEN / "result_type_differences.json").read_text(encoding="utf-8"))
DIFFERENT = {(name, dtype) for name, row in DIFFERENCES.items() for dtype in row["dtypes"].split()}
CASES = [
    (name, dtype, question)
    for name, dtype, question in result_types.questions()
    if not TABLE.get((name, dtype), "Error").endswith("Error") and (name, dtype) not in DIFFERENT
]


class Api2(Oracle):
    """The calls of the golden script, with msnb's names of MindSpore 2."""

    def __init__(self):
        self.ms = ms2

    def boxed(self, value, name=None):
        if isinstance(value, np.ndarray):
            return Parameter(Tensor(value), name=name) if name else Tensor(value)
        return super().boxed(value, name)

    def call_of(self, kind, name, attributes):
        if kind != "class":
            return super().call_of(kind, name, attributes)
        attributes = {key: self.boxed(value) for key, value in attributes.items()}
        for module in MODULES:
            target = getattr(importlib.import_module(f"msnb.{module}"), name, None)
            if isinstance(target, type):
                return api_generations.as_api2(target)(**attributes)
        return None


@pytest.fixture
def api2():
    """msnb as programs for MindSpore 2 see it."""
    api_generations.share(2)
    yield Api2()
    api_generations.share(1)


@pytest.mark.parametrize("case", swept(CASES, lambda case: case[0]), ids=lambda case: f"{case[0]} {case[1]}")
def test_the_result_types_are_those_of_mindspore_2(api2, case):
    name, dtype, question = case
    assert result_types.answer(api2, question) == TABLE[name, dtype]


def test_every_listed_difference_has_a_reason():
    assert [name for name, row in DIFFERENCES.items() if len(row["why"]) < 12] == []
    assert set(TABLE) >= DIFFERENT


def make_integers(*values, dtype=np.int32):
    return Tensor(np.array(values, dtype))


EXAMPLES = {  # values of MindSpore 2.7.1
    "amax": (lambda: ms2.ops.amax(make_integers([1, 2], [3, 4]), 1, initial=2.9), "int32", [2, 4]),
    "addmv": (
        lambda: ms2.ops.addmv(make_integers(10, 3), make_integers([5, 7], [3, 4]), make_integers(1, 2), beta=2.5),
        "int32",
        [39, 17],
    ),
    "approximate_equal": (
        lambda: ms2.ops.approximate_equal(make_integers(1, 2), Tensor([1.0, 3.0])),
        "bool",
        [True, False],
    ),
    "clip_by_value": (lambda: ms2.ops.clip_by_value(make_integers(1, 5), 0.5, 2.5), "int32", [1, 2]),
    "cumprod": (lambda: ms2.ops.cumprod(make_integers(1, 2), 0, dtype=ms2.bool_), "bool", [True, True]),
    "Div": (lambda: ms2.ops.Div()(make_integers(7, -7), make_integers(2, 2)), "float32", [3.5, -3.5]),
    "LogicalXor": (lambda: ms2.ops.LogicalXor()(True, Tensor([True, False])), "bool", [False, True]),
    "AvgPool1d": (
        lambda: ms2.nn.AvgPool1d(3, 2, ceil_mode=True)(make_integers(*range(8), dtype=np.float32).reshape(1, 1, 8))[
            0, 0
        ],
        "float32",
        [1.0, 3.0, 5.0, 6.5],
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_call_returns_what_mindspore_2_returns(api2, name):
    call, dtype, values = EXAMPLES[name]
    result = call().asnumpy()
    assert (result.dtype.name, result.tolist()) == (dtype, values)


# Results of MindSpore 2.7.1 and 2.10.0, in both modes.
JOINED = {
    "bool int8": "int8",
    "bool float16": "float16",
    "uint8 int8": "int16",
    "uint8 bfloat16": "bfloat16",
    "int32 int64": "int64",
    "int32 float32": "float32",
    "int64 float16": "float16",
    "float16 bfloat16": "float32",
    "float16 float32": "float32",
    "float32 float64": "float64",
    "float64 complex64": "complex128",
    "int64 float16 float32": "float32",
}
JOIN = {
    "Concat": lambda tensors: ms2.ops.Concat(0)(tensors),
    "concat": lambda tensors: ms2.ops.concat(tensors),
    "mint.cat": lambda tensors: ms2.mint.cat(tensors),
    "hstack": lambda tensors: ms2.ops.hstack(tensors),
}


@pytest.mark.parametrize("join", JOIN)
@pytest.mark.parametrize("types", JOINED)
def test_tensors_of_several_types_are_joined_in_their_common_type(api2, join, types):
    tensors = [Tensor([i], getattr(mstype, "bool_" if t == "bool" else t)) for i, t in enumerate(types.split())]
    result = JOIN[join](tensors)
    assert (str(result.dtype).lower(), result.astype(mstype.float32).asnumpy().tolist()) == (
        JOINED[types],
        list(range(len(tensors))),
    )


@pytest.mark.parametrize("types", ["uint16 int32", "uint64 float32"])
def test_tensors_without_a_common_type_are_not_joined(api2, types):
    first, second = (Tensor([1], getattr(mstype, t)) for t in types.split())
    with pytest.raises(TypeError, match="cast one of them"):
        ms2.ops.concat((first, second))


@pytest.mark.parametrize("mode", [ms2.PYNATIVE_MODE, ms2.GRAPH_MODE])
def test_gradients_of_joined_tensors_have_the_types_of_the_tensors(api2, mode):
    class Join(nn.Cell):
        def construct(self, x, y):
            return (ms2.ops.concat((x, y)) * Tensor([2.0, 3.0], mstype.float32)).sum()

    ms2.set_context(mode=mode)
    half, single = Tensor([1], mstype.float16), Tensor([1], mstype.float32)
    gradients = ms2.grad(Join(), (0, 1))(half, single)
    assert [(g.dtype, g.asnumpy().tolist()) for g in gradients] == [(mstype.float16, [2.0]), (mstype.float32, [3.0])]


def test_r11_refuses_to_join_tensors_of_several_types():
    api_generations.share(2)
    half, single = Tensor([1], mstype.float16), Tensor([1], mstype.float32)
    ms2.ops.concat((half, single))  # compiles a kernel that r1.1 does not use
    api_generations.share(1)
    with pytest.raises(TypeError, match="one element type"):
        ms2.ops.concat((half, single))


@pytest.mark.parametrize("settings", [{}, {"affine": False}])
def test_group_norm_computes_in_the_type_of_to_float(settings):
    net = nn.GroupNorm(2, 4, **settings).to_float(mstype.float16)
    assert net(Tensor(np.ones((2, 4, 2, 2), np.float32))).dtype == mstype.float16
