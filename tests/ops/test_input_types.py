"""Functions and layers take the element types that MindSpore 2.7.1 takes, and return those that it returns.

Golden values: golden/input_types.json, of golden/input_types.py. Operators: test_result_types.py."""

import json
import sys
from pathlib import Path

import pytest

import msnb.mindspore2 as ms2
from msnb.core.operator import api_generations

GOLDEN = Path(__file__).parents[1] / "golden"
sys.path[:0] = [str(GOLDEN), str(GOLDEN.parent), str(GOLDEN.parent / "ops")]
import input_types  # noqa: E402
from result_types import by_call  # noqa: E402
from sweeps import swept  # noqa: E402

TABLE = by_call(json.loads((GOLDEN / "input_types.json").read_text(encoding="utf-8")))
DIFFERENCES = json.loads((GOLDEN / "input_type_differences.json").read_text(encoding="utf-8"))
DIFFERENT = {(name, dtype) for name, row in DIFFERENCES.items() for dtype in row["dtypes"].split()}
CASES = [
    (name, dtype, question)
    for name, dtype, question in input_types.questions()
    if not TABLE.get((name, dtype), "Error").endswith("Error") and (name, dtype) not in DIFFERENT
]


@pytest.fixture
def api2():
    """msnb as programs for MindSpore 2 see it."""
    api_generations.share(2)
    yield input_types.Framework(ms2)
    api_generations.share(1)


@pytest.mark.parametrize("case", swept(CASES, lambda case: case[0]), ids=lambda case: f"{case[0]} {case[1]}")
def test_the_result_types_are_those_of_mindspore_2(api2, case):
    name, dtype, question = case
    assert input_types.answer(api2, question) == TABLE[name, dtype]


def test_every_listed_difference_has_a_reason():
    assert [name for name, row in DIFFERENCES.items() if len(row["why"]) < 12] == []
    assert set(TABLE) >= DIFFERENT
