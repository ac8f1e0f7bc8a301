"""Batches in parts, gradients beside values: nn.GradAccumulationCell, MicroBatchInterleaved, ForwardValueAndGrad."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn, ops

BOTH_MODES = pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])


def network():
    return nn.Dense(2, 1, weight_init=Tensor([[0.5, -0.25]]), bias_init=Tensor([0.1]))


DATA = np.arange(8, dtype=np.float32).reshape(4, 2)


@BOTH_MODES
@pytest.mark.parametrize(("cls", "share"), [(nn.GradAccumulationCell, 1.0), (nn.MicroBatchInterleaved, 0.5)])
def test_micro_batches_of_a_batch_give_the_sum_or_the_mean_of_their_losses(mode, cls, share):
    context.set_context(mode=mode)
    data, label = Tensor(DATA), Tensor(np.ones((4, 1), np.float32))
    net = network()
    loss = nn.WithLossCell(net, nn.MSELoss())
    parameters, parts = ([*net.get_parameters()], cls(loss, 2))
    expected = float(loss(data, label))  # a mean over equal parts
    value, grads = ops.value_and_grad(parts, None, ms.ParameterTuple(parameters))(data, label)
    assert float(value) == pytest.approx(2 * share * expected)
    reference = ops.grad(loss, None, ms.ParameterTuple(parameters))(data, label)
    for result, target in zip(grads, reference):
        np.testing.assert_allclose(result.asnumpy(), 2 * share * target.asnumpy(), rtol=1e-5)
    with pytest.raises(ValueError, match="equal parts"):
        cls(loss, 3)(data, label)


@BOTH_MODES
@pytest.mark.parametrize("get_all", [False, True])
@pytest.mark.parametrize("get_by_list", [False, True])
def test_value_and_gradients_are_those_of_grad_operation(mode, get_all, get_by_list):
    context.set_context(mode=mode)
    net = network()
    weights = ms.ParameterTuple(net.get_parameters()) if get_by_list else None
    flags = {"get_all": get_all, "get_by_list": get_by_list, "sens_param": True}
    data, sens = Tensor(DATA), Tensor(np.full((4, 1), 2.0, np.float32))
    value, grads = nn.ForwardValueAndGrad(net, weights, **flags)(data, sens)
    np.testing.assert_array_equal(value.asnumpy(), net(data).asnumpy())
    expected = ops.GradOperation(**flags)(net, weights)(data, sens) if get_by_list else None
    expected = expected if get_by_list else ops.GradOperation(**flags)(net)(data, sens)

    def same(result, target):
        if isinstance(target, tuple):
            assert len(result) == len(target) and all(same(f, w) for f, w in zip(result, target))
            return True
        return np.allclose(result.asnumpy(), target.asnumpy())

    assert same(grads, expected)


@BOTH_MODES
def test_a_step_returns_its_gradients_by_name(mode):
    context.set_context(mode=mode)
    net = network()
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.5), return_grad=True
    )
    before = net.weight.asnumpy()
    loss, grads = step(Tensor(DATA), Tensor(np.ones((4, 1), np.float32)))
    assert loss.shape == () and set(grads) == {"weight", "bias"}
    np.testing.assert_allclose(net.weight.asnumpy(), before - 0.5 * grads["weight"].asnumpy(), rtol=1e-5)
