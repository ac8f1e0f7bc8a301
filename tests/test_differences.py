"""The page of differences from MindSpore says what is: every example gives what stands beside it."""

import re
from pathlib import Path

import numpy as np
import pytest

import msnb
from msnb import Tensor, nn, ops
from msnb.ops import operations as P

PAGE = (Path(__file__).parent.parent / "docs" / "differences.md").read_text(encoding="utf-8")
ROWS = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in PAGE.splitlines() if line.startswith("| `")]


NAMES = {
    "np": np,
    "P": P,
    "nn": nn,
    "ops": ops,
    "mindspore": msnb,
    "Tensor": Tensor,
    "grad": ops.GradOperation(),
    "grads": ops.GradOperation(get_all=True),
}


def test_there_are_rows_and_each_has_a_reason():
    assert len(ROWS) > 12
    assert [row[0] for row in ROWS if len(row) != 4 or len(row[3]) < 8 or row[1] == row[2]] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip("`")[:60])
def test_an_example_gives_what_the_page_says(row):
    example, expected = row[0].strip("`"), row[1].strip("`")
    if expected.isidentifier() and expected.endswith("Error"):
        with pytest.raises(__builtins__[expected]):
            eval(example, dict(NAMES))
        return
    result = eval(example, dict(NAMES))
    assert repr(result.asnumpy().tolist() if isinstance(result, Tensor) else result) == expected
