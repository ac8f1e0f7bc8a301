"""A ResNet-18 with changed values equals PyTorch's with hooks; see `tests/golden/make_resnet_interventions.py`.

Both compute in float64. In float32 the gradients of this network differ by 2e-5, also without any change.
"""

from pathlib import Path

import numpy as np
import pytest
from test_values_of_torch import ResNet, golden, with_weights

import msnb
from msnb import Tensor, nn, ops
from msnb.insight.debugger import select_nodes
from msnb.interventions import clamp, scale, steer, zero

STORED = np.load(Path(__file__).parents[1] / "golden" / "resnet_interventions.npz")
TOLERANCE = 1e-5  # relative to the largest element
CHANGES = {  # name -> (operator, its number in the order of execution, change)
    "none": None,
    "zero": ("op:ReLU", 11, zero(channel=5)),
    "steer": ("op:Add", 3, steer(golden.array("steering", (16,)), 3.0)),
    "scale": ("op:Conv2D", 9, scale(2.5, batch=2)),
    "clamp": ("op:FusedBatchNormEx", 7, clamp(-0.5, 0.5)),
}
pytestmark = pytest.mark.usefixtures("graph_mode")


def double(array):
    return Tensor(array.astype(np.float64))


@pytest.fixture(scope="module")
def step():
    """Return (network, function of the input that returns the output, and gradients of the loss)."""
    net = msnb.in_dtype("float64", with_weights(ResNet()).set_train()).network()
    target = double(golden.array("target", (8, 10)))
    loss = nn.WithLossCell(net, nn.MSELoss())
    differentiate = ops.GradOperation(get_all=True, get_by_list=True)(loss, net.trainable_params())
    return net, lambda x: (net(x), differentiate(x, target))


def assert_close(value, expected, title, least=1e-3):
    assert value.shape == expected.shape, title
    assert np.abs(value - expected).max() <= TOLERANCE * max(np.abs(expected).max(), least), title


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_value_of_a_resnet_equals_a_hook_of_pytorch_with_its_gradients(step, name):
    net, run = step
    x = double(golden.array("x", (8, 3, 32, 32)))
    if CHANGES[name] is None:
        y, (grads, by_weight) = run(x)
    else:
        query, number, change = CHANGES[name]
        node = select_nodes(msnb.ir.graph(net, x), query)[number]
        with msnb.intervene(net, {node.id: change}):
            y, (grads, by_weight) = run(x)
    assert_close(y.asnumpy().reshape(-1), STORED[f"{name} y"], "output")
    assert_close(golden.some(grads[0].asnumpy()), STORED[f"{name} dx"], "gradient of the input")
    for parameter, gradient in zip(net.trainable_params(), by_weight, strict=True):
        title = f"{name} d {parameter.name}"
        assert_close(golden.some(gradient.asnumpy()), STORED[title], title)
