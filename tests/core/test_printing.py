"""A Tensor shows itself as MindSpore's does (golden/make_reprs.py)."""

import json

import make_reprs
import numpy as np
import pytest

import msnb as ms
from msnb import Tensor

SHOWN = list(zip(make_reprs.arrays(), json.loads(make_reprs.FILE.read_text()), strict=True))


@pytest.mark.parametrize("kind", sorted({array.dtype.name for array, _ in SHOWN}))
def test_repr_is_mindspores_for_shapes_and_numbers_of_each_type(kind):
    mine = [(array, text) for array, text in SHOWN if array.dtype.name == kind]
    assert len(mine) > 15
    for array, text in mine:
        assert repr(Tensor(array)) == text


def test_bfloat16_is_shown_in_six_digits():
    assert repr(Tensor([1.5, -2.25], ms.bfloat16)) == "Tensor(shape=[2], dtype=BFloat16, value= [  1.5, -2.25])"


@pytest.mark.parametrize("shape", [(3,), (1001,), (40, 40)])
def test_str_is_numpys(shape):
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    assert str(Tensor(array)) == str(array)
