"""A Parameter that a function makes each time it is called, in GRAPH mode: a value of its graph, or refused."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops

X = Tensor(np.float32([[1, -2, 3]]))


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


def added(x):
    return ops.index_add(Parameter(Tensor(np.zeros((2, 3), np.float32)), name="a"), Tensor([1], ms.int32), x, 0)


def test_a_parameter_of_one_call_begins_anew_in_each():
    for _ in range(2):
        assert ms.jit(added)(X).asnumpy().tolist() == [[0, 0, 0], [1, -2, 3]]
    assert ops.grad(lambda x: (added(x) * 3.0).sum())(X).asnumpy().tolist() == [[3, 3, 3]]


def test_a_layer_of_one_call_is_computed_with():
    def rectified(x):
        return nn.PReLU(w=0.5)(x)

    assert ms.jit(rectified)(X).asnumpy().tolist() == [[1, -1, 3]]
    assert ops.grad(rectified)(X).asnumpy().tolist() == [[1, 0.5, 1]]


class Late(nn.Cell):
    """It has a Parameter of its own, and makes another in construct."""

    def __init__(self, keep):
        super().__init__()
        self.rate, self.late, self.keep = Parameter(Tensor(2.0)), None, keep

    def construct(self, x):
        self.keep(self)
        return x * self.rate * self.late


def once(cell):
    if cell.late is None:
        cell.late = Parameter(Tensor(np.ones(3, np.float32)), name="late")


def always(cell):
    cell.late = Parameter(Tensor(np.ones(3, np.float32)), name="late")


def within(cell):
    cell.layer = nn.Dense(3, 3)
    cell.layer(X)
    cell.late = 1.0


def test_a_parameter_that_the_first_call_makes_is_the_cell_s():
    net = Late(once)
    assert net(X).asnumpy().tolist() == [[2, -4, 6]]
    net.late.set_data(Tensor(np.float32([1, 2, 3])))
    assert net(X).asnumpy().tolist() == [[2, -8, 18]]


@pytest.mark.parametrize("keep", [always, within])
def test_one_that_each_graph_would_have_of_its_own_is_refused(keep):
    with pytest.raises(RuntimeError, match="Late makes a Parameter and keeps it, .* Make it once"):
        Late(keep)(X)
