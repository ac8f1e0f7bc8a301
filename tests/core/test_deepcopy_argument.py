"""`__deepcopy__` of Tensors, called by hand: MindSpore does not read its argument."""

import copy

import pytest

import msnb as ms
from msnb import Parameter, Tensor


@pytest.mark.parametrize("make", [Tensor, lambda v: Parameter(Tensor(v), name="w")])
def test_deepcopy_takes_any_memodict(make):
    x = make([1.0, 2.0])
    for argument in ({}, None, Tensor([3.0])):
        clone = x.__deepcopy__(memodict=argument)
        assert clone is not x and clone.asnumpy().tolist() == [1.0, 2.0]


def test_deepcopy_of_a_list_copies_a_tensor_once():
    x = Tensor([1.0], ms.float32)
    first, second = copy.deepcopy([x, x])
    assert first is second and first is not x
