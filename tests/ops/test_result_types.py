"""Every operator returns the element types that MindSpore 2.7.1 returns, and takes those that it takes (generation 2).

Golden values: golden/result_types.json, of golden/result_types.py."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import msnb.mindspore2 as ms2
from msnb import Parameter, Tensor
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
