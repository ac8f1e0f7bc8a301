"""Gradients of several small batches move the weights as that of the large batch does."""

import numpy as np
import pytest

from msnb import ParameterTuple, Tensor, boost, context, nn, ops
from msnb.boost.grad_accumulation import gradient_accumulation_op

BATCH = np.random.RandomState(0).randn(6, 3).astype(np.float32)


@pytest.fixture(params=[context.GRAPH_MODE, context.PYNATIVE_MODE])
def _mode(request):
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield
    context.set_context(mode=before)


def network():
    return nn.Dense(3, 2, weight_init=Tensor(np.arange(6, dtype=np.float32).reshape(2, 3) / 10))


class Mean(nn.Cell):
    def __init__(self, net):
        super().__init__(auto_prefix=False)
        self.net = net

    def construct(self, x):
        return ops.ReduceMean()(ops.square(self.net(x)))


class Accumulating(nn.Cell):
    def __init__(self, net, steps):
        super().__init__(auto_prefix=False)
        self.loss = Mean(net)
        self.weights = ParameterTuple(net.trainable_params())
        self.gradient = ops.GradOperation(get_by_list=True)
        self.accumulate = boost.GradientAccumulation(steps, nn.Momentum(self.weights, 0.1, 0.9))

    def construct(self, x):
        return self.accumulate(self.loss(x), self.gradient(self.loss, self.weights)(x))


@pytest.mark.usefixtures("_mode")
def test_three_small_batches_are_one_large_one():
    small, large = network(), network()
    step = Accumulating(small, 3)
    train = nn.TrainOneStepCell(Mean(large), nn.Momentum(large.trainable_params(), 0.1, 0.9))
    for _ in range(2):
        before = small.weight.asnumpy().copy()
        for part in np.split(BATCH, 3):
            np.testing.assert_array_equal(small.weight.asnumpy(), before)
            step(Tensor(part))
        train(Tensor(BATCH))
        np.testing.assert_allclose(small.weight.asnumpy(), large.weight.asnumpy(), rtol=1e-5)
    assert step.accumulate._accumulation_step.asnumpy() == 0


def test_its_operation_adds_a_share():
    weight = network().weight
    accumulated = gradient_accumulation_op(4, weight, Tensor(np.full((2, 3), 8.0, np.float32)))
    np.testing.assert_allclose(weight.asnumpy(), np.arange(6).reshape(2, 3) / 10 + 2, rtol=1e-6)
    assert accumulated is weight


def test_accumulated_gradients_are_named_after_the_parameters_of_the_optimizer():
    accumulate = boost.GradientAccumulation(2, nn.SGD(network().trainable_params(), 0.1))
    assert {"grad_accumulation.optimizer.weight", "grad_accumulation.optimizer.bias"} < {
        p.name for p in accumulate.get_parameters()
    }


@pytest.mark.parametrize("steps", [0, -1])
def test_no_step_is_too_few(steps):
    with pytest.raises(ValueError, match="max_accumulation_step"):
        boost.GradientAccumulation(steps, nn.SGD(network().trainable_params(), 0.1))


def test_apply_reaches_every_cell_inner_ones_first():
    net = nn.SequentialCell(nn.Dense(2, 2), nn.SequentialCell(nn.ReLU()))
    seen = []
    assert net.apply(lambda cell: seen.append(cell.cls_name)) is net
    assert seen == ["Dense", "ReLU", "SequentialCell", "SequentialCell"]
