"""Operators and functions refuse an argument that is no Tensor, with a sentence of their own."""

import numpy as np
import pytest
from operator_rows import ROWS, boxed, names_of
from raising import raised_here
from sweeps import split

import msnb
from msnb import Tensor, context
from msnb.core.operator.cases import Written

FIRST, _ = split(ROWS, lambda row: row.case.target)
WRONG = (
    None,
    "text",
    np.datetime64("2020-01-01"),
    msnb.COOTensor(Tensor(np.array([[0, 0]]), msnb.int64), Tensor(np.ones(1, np.float32)), (2, 3)),
)


@pytest.mark.parametrize("part", range(2))
def test_what_is_no_tensor_is_refused_by_the_operator(part):
    context.set_context(mode=context.PYNATIVE_MODE)
    results = []
    for turn, row in enumerate(FIRST[part::2]):
        kinds = {kind for kind, _ in names_of(row.case.target)}
        inputs = row.inputs()
        for place, value in enumerate(inputs):
            of_method = place == 0 and kinds == {"method"}  # that is always a Tensor
            if of_method or not isinstance(value, (np.ndarray, Written)):
                continue
            given = [boxed(value) for value in inputs]
            given[place] = WRONG[(turn + place) % len(WRONG)]
            try:
                row.call()(*given)
            except Exception as error:
                if not raised_here(error):
                    results.append((row.file, row.text, place, repr(error)))
    assert results == []
