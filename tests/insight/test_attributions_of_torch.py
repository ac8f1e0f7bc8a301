"""Attributions equal those of Captum and pytorch-grad-cam; see `tests/golden/make_attributions.py`."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import msnb
from msnb import Parameter, Tensor, context, nn, ops
from msnb.insight.attribution import smoothed
from msnb.insight.attribution.grad_cam import resize_map

STORED = np.load(Path(__file__).parent.parent / "golden" / "attributions.npz")
NAMES = {"gamma": "weight", "beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var"}
STEPS, SAMPLES, NOISE, PAD = 20, 6, 0.15, 0  # of the golden script
TOLERANCE = 1e-5


@pytest.fixture(params=[context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])
def mode(request):
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=before)


class Plain(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 4, 3, pad_mode="valid"), nn.Conv2d(4, 6, 3, pad_mode="valid")
        self.fc1, self.fc2 = nn.Dense(54, 12), nn.Dense(12, 5)
        self.relu2, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()

    def construct(self, x):
        x = self.pool(ops.ReLU()(self.conv1(x)))
        x = self.relu2(self.conv2(x))
        return self.fc2(ops.relu(self.fc1(self.flatten(x))))


class Residual(nn.Cell):
    def __init__(self):
        super().__init__()
        options = {"pad_mode": "pad", "padding": 1, "has_bias": True}
        self.conv1, self.conv2 = nn.Conv2d(3, 4, 3, **options), nn.Conv2d(4, 4, 3, **options)
        self.bn1, self.bn2, self.relu = nn.BatchNorm2d(4), nn.BatchNorm2d(4), nn.ReLU()
        self.pool, self.fc, self.flatten = nn.AvgPool2d(2, 2), nn.Dense(64, 3), nn.Flatten()

    def construct(self, x):
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.relu(self.bn2(self.conv2(x)) + x)
        return self.fc(self.flatten(self.pool(x)))


class Text(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table = Parameter(Tensor(np.zeros((20, 6), np.float32)), name="embedding.weight")
        self.fc1, self.fc2, self.gather = nn.Dense(6, 8), nn.Dense(8, 2), ops.Gather()

    def construct(self, ids):
        return self.fc2(ops.tanh(self.fc1(self.gather(self.table, ids, 0))).mean(1))


def load(net, name):
    """Load the stored weights, and return (network, targets)."""
    for parameter in net.get_parameters():
        path, _, last = parameter.name.rpartition(".")
        parameter.set_data(Tensor(STORED[f"{name}/weights/{path}.{NAMES.get(last, last)}"]))
    return net, STORED[f"{name}/targets"]


def check(values, name):
    assert np.abs(STORED[name]).max() > 1e-3
    np.testing.assert_allclose(np.squeeze(values), np.squeeze(STORED[name]), rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize(
    ("name", "method", "options"),
    [
        ("saliency", "gradient", {}),
        ("guided", "guided_backprop", {}),
        ("deconvolution", "deconvolution", {}),
        ("integrated", "integrated_gradients", {"baseline": 0.1, "steps": STEPS}),
        ("lrp_epsilon", "lrp", {"epsilon": 1e-9}),
        ("lrp_composite", "lrp", {"epsilon": 1e-9, "rule": "composite"}),
    ],
)
def test_input_attributions_equal_captum(mode, name, method, options):
    net, targets = load(Plain(), "plain")
    result = msnb.attribute(net, Tensor(STORED["plain/x"]), target=targets, method=method, **options)
    check(result.values, f"plain/{name}")


@pytest.mark.parametrize("query", ["relu2", "op:ReLU scope:relu2"])
def test_grad_cam_at_a_cell_or_node_equals_captum(mode, query):
    net, targets = load(Plain(), "plain")
    x = STORED["plain/x"]
    maps = msnb.attribute(net, Tensor(x), target=targets, method="grad_cam", node=query)
    resized = np.asarray(resize_map(jnp.asarray(STORED["plain/layer_grad_cam"]), x.shape[2:]))  # Captum does not resize
    assert maps.values.shape == (3, 1, *x.shape[2:])
    np.testing.assert_allclose(maps.values, resized, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize(("name", "method"), [("cam", "grad_cam"), ("cam_plus_plus", "grad_cam_plus_plus")])
def test_grad_cam_equals_pytorch_grad_cam(mode, name, method):
    net, targets = load(Plain(), "plain")
    result = msnb.attribute(net, Tensor(STORED["plain/x"]), target=targets, method=method, node="relu2")
    maps = result.map - result.map.min(axis=(1, 2), keepdims=True)  # as pytorch-grad-cam scales each map
    check(maps / (1e-7 + maps.max(axis=(1, 2), keepdims=True)), f"plain/{name}")


def test_smooth_grad_is_the_mean_of_gradients_with_the_noise_of_captum(mode, monkeypatch):
    noise = STORED["plain/noise"]
    rows = iter(noise)
    monkeypatch.setattr(smoothed, "draw_noise", lambda generator, shape: next(rows))
    net, targets = load(Plain(), "plain")
    options = {"samples": SAMPLES, "noise": NOISE}
    result = msnb.attribute(net, Tensor(STORED["plain/x"][:1]), target=targets[:1], method="smooth_grad", **options)
    check(result.values, "plain/smooth")


@pytest.mark.parametrize(
    ("name", "method", "options"), [("guided", "guided_backprop", {}), ("lrp_epsilon", "lrp", {"epsilon": 1e-9})]
)
def test_residual_block_with_normalization_equals_captum(mode, name, method, options):
    net, targets = load(Residual(), "residual")
    result = msnb.attribute(net, Tensor(STORED["residual/x"]), target=targets, method=method, **options)
    check(result.values, f"residual/{name}")


def test_tokens_are_explained_at_their_embedding_as_in_captum(mode):
    net, targets = load(Text(), "text")
    pad = STORED["text/weights/embedding.weight"][PAD]
    ids = Tensor(STORED["text/ids"])
    options = {"baseline": pad, "steps": STEPS}
    result = msnb.attribute(net, ids, target=targets, method="integrated_gradients", **options)
    check(result.values, "text/integrated")
    assert result.map.shape == ids.shape
