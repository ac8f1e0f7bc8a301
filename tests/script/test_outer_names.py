"""Compiled code reads attributes through super(), and global names."""

import pytest

import msnb as ms
from msnb import Tensor, nn

SCALE = 2.0


class Base(nn.Cell):
    def __init__(self):
        super().__init__()
        self.factor = 3.0
        self.relu = nn.ReLU()


class Explicit(Base):
    def construct(self, x):
        return x * super(Explicit, self).factor  # noqa: UP008 - as networks for r1.1 write it


class Short(Base):
    def construct(self, x):
        return super().relu(x) * super().factor


class Missing(Base):
    def construct(self, x):
        return super().nothing(x)


@pytest.mark.parametrize("net, answer", [(Explicit, [3, -6]), (Short, [3, 0])])
def test_super_has_what_the_constructor_of_a_base_class_has_set(net, answer):
    ms.set_context(mode=ms.GRAPH_MODE)
    assert net()(Tensor([1.0, -2.0])).asnumpy().tolist() == answer


def test_super_has_nothing_that_is_nowhere():
    ms.set_context(mode=ms.GRAPH_MODE)
    with pytest.raises(AttributeError, match="nothing"):
        Missing()(Tensor([1.0]))


@ms.jit
def scaled(x):
    global SCALE
    if x.sum() > 0:
        return x * SCALE
    return x


def test_a_global_name_is_read():
    assert scaled(Tensor([1.0, 2.0])).asnumpy().tolist() == [2, 4]


@ms.jit
def shifted(x, y):
    if x.allclose(y):
        return x + 1
    return y


@pytest.mark.parametrize("other, answer", [([1.0, 2.0], [2, 3]), ([1.0, 5.0], [1, 5])])
def test_a_condition_may_ask_whether_tensors_are_close(other, answer):
    assert shifted(Tensor([1.0, 2.0]), Tensor(other)).asnumpy().tolist() == answer


@ms.jit
def is_zero_free(x):
    return ms.ops.is_nonzero(x)


def test_is_nonzero_has_a_value_in_a_graph():
    assert is_zero_free(Tensor([2.0])).asnumpy() and not is_zero_free(Tensor([0.0])).asnumpy()
