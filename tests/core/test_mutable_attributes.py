"""A Tensor that is an attribute of a Cell and that its graph sets is an input and an output of the program."""

import copy

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops
from msnb.core.tensor.cell_state import CellState

ONES = np.ones((2, 3), np.float32)


class Sum(nn.Cell):
    """Adds up what it is given."""

    def __init__(self):
        super().__init__()
        self.total, self.calls = Tensor(np.zeros((2, 3), np.float32)), Tensor(0, ms.int32)

    def construct(self, x):
        self.calls += 1
        self.total = self.total + x
        return self.total * 2


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_it_goes_on_from_call_to_call(mode):
    context.set_context(mode=mode)
    net = Sum()
    for number in (1, 2, 3):
        np.testing.assert_array_equal(net(Tensor(ONES)).asnumpy(), 2 * number * ONES)
    assert net.calls == 3 and str(net.calls) == "3" and isinstance(net.total, Tensor)
    assert not isinstance(net.total, Parameter) and not net.trainable_params() and not net.parameters_dict()


def test_no_call_is_traced_again():
    traced = []

    class Counted(Sum):
        def construct(self, x):
            traced.append(1)
            return super().construct(x)

    net = Counted()
    for _ in range(5):
        net(Tensor(ONES))
    before = len(traced)
    net.total = Tensor(np.full((2, 3), 9, np.float32))
    np.testing.assert_array_equal(net(Tensor(ONES)).asnumpy(), 20 * ONES)
    assert len(traced) == before and net.calls == 6


def test_branches_loops_sub_cells_and_items_set_it():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Sum()
            self.register_buffer("seen", Tensor(np.zeros(3, np.float32)))
            self.state = Tensor(np.zeros((2, 3), np.float32))

        def construct(self, x):
            y = self.inner(x)
            if x.sum() > 0:
                self.state = self.state + y
            else:
                self.state = self.state * 0
            i = 0
            while i < x.max():
                self.state = self.state + 1
                i += 1
            self.seen[1] = self.seen[1] + 1
            self.seen[0:1][0] += x[0][0]
            return self.state

    net = Net()
    np.testing.assert_array_equal(net(Tensor(ONES)).asnumpy(), 3 * ONES)
    np.testing.assert_array_equal(net(Tensor(ONES)).asnumpy(), 8 * ONES)
    assert not net(Tensor(-ONES)).asnumpy().any()
    assert net.inner.calls == 3 and net.seen.asnumpy().tolist() == [1, 3, 0]
    assert net.state_dict()["seen"].asnumpy().tolist() == [1, 3, 0]


def test_it_is_trained_with():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(3, 1, weight_init="ones")
            self.before = Tensor(np.zeros((2, 1), np.float32))

        def construct(self, x):
            self.before = ops.tanh(self.dense(x) + self.before)
            return self.before

    def losses(mode):
        context.set_context(mode=mode)
        net = Net()
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
        return [float(step(Tensor(0.1 * ONES), Tensor(ONES[:, :1])).asnumpy()) for _ in range(4)]

    np.testing.assert_allclose(losses(context.GRAPH_MODE), losses(context.PYNATIVE_MODE), rtol=1e-5)


def test_copies_and_the_other_mode_have_plain_tensors():
    net = Sum()
    net(Tensor(ONES))
    twin = copy.deepcopy(net)
    assert type(net.calls) is CellState and type(twin.calls) is Tensor
    twin(Tensor(ONES))
    assert net.calls == 1 and twin.calls == 2
    context.set_context(mode=context.PYNATIVE_MODE)
    net(Tensor(ONES))
    assert type(net.calls) is Tensor and net.calls == 2


@pytest.mark.parametrize("first", [None, 0, Tensor(np.zeros(2, np.float32))])
def test_what_is_no_such_tensor_before_cannot_become_one(first):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.state = first

        def construct(self, x):
            self.state = x * 2
            return x

    with pytest.raises(TypeError, match="'state' of Net .* shape and type .* Parameter"):
        Net()(Tensor(ONES))
