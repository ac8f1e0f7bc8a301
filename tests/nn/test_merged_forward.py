"""A step of a program's own that calls its network, and then takes the gradient of the same call."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, nn, ops

X = np.arange(12, dtype=np.float32).reshape(4, 3)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm, self.dense = nn.BatchNorm1d(3), nn.Dense(3, 1)
        self.calls = Parameter(Tensor(0.0), name="calls", requires_grad=False)

    def construct(self, x):
        self.calls = self.calls + 1.0
        return self.dense(self.norm(x)).sum()


class Step(nn.Cell):
    """r1.1's usual step; `change` is called between the network and its gradient."""

    def __init__(self, net, change=lambda cell: None, scale=1.0):
        super().__init__(auto_prefix=False)
        self.net, self.change, self.scale = net, change, scale
        self.optimizer = nn.SGD(net.trainable_params(), 0.0)
        self.grad = ops.GradOperation(get_by_list=True)

    def construct(self, x):
        loss = self.net(x)
        self.change(self)
        grads = self.grad(self.net, self.optimizer.parameters)(x * self.scale if self.scale != 1.0 else x)
        return ops.depend(loss, self.optimizer(grads))


def write_weight(step):
    ops.assign(step.net.dense.weight, step.net.dense.weight * 2.0)


@pytest.fixture(autouse=True)
def graph_mode():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=before)


@pytest.mark.parametrize(
    "settings, runs", [({}, 1), ({"change": write_weight}, 2), ({"scale": 2.0}, 2)], ids=["same", "written", "scaled"]
)
def test_a_network_and_its_gradient_are_one_run(settings, runs):
    """With MindSpore's merge, moving statistics are updated once in a step: 0.1 of the mean, not 0.19."""
    step = Step(Net().set_train(), **settings)
    for _ in range(2):
        step(Tensor(X))
    assert step.net.calls.asnumpy() == 2 * runs
    if runs == 1:
        np.testing.assert_allclose(step.net.norm.moving_mean.asnumpy(), (1 - 0.9**2) * X.mean(0), rtol=1e-5)
