"""Relevance in Transformers, gates, normalizations and loops: equal to lxt (`tests/golden/make_relevance.py`), to
formulas in numpy, and conserved.
"""

import math
from pathlib import Path

import numpy as np
import pytest

import msnb
from msnb import Parameter, Tensor, context, log, nn, ops

STORED = np.load(Path(__file__).parent.parent / "golden" / "relevance.npz")
WIDTH, HEADS, INNER, CLASSES, FEATURES = 8, 2, 12, 3, 6  # of the golden script


def draw(*shape, seed=7):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def sum_of_examples(values):
    return values.reshape(len(values), -1).sum(axis=1)


@pytest.fixture(params=[context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])
def mode(request):
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=before)


class RootMeanSquare(nn.Cell):
    """RMSNorm as operators."""

    def __init__(self):
        super().__init__()
        self.gamma = Parameter(Tensor(np.ones(WIDTH, np.float32)), "gamma")

    def construct(self, x):
        return x * ops.rsqrt(ops.square(x).mean(-1, keep_dims=True) + 1e-5) * self.gamma


class Block(nn.Cell):
    def __init__(self, is_gated):
        super().__init__()
        self.is_gated = is_gated
        kind = RootMeanSquare if is_gated else lambda: nn.LayerNorm((WIDTH,), epsilon=1e-5)
        self.norm1, self.norm2 = kind(), kind()
        self.query, self.key, self.value, self.out = (nn.Dense(WIDTH, WIDTH) for _ in range(4))
        self.fc1, self.fc2, self.gate = nn.Dense(WIDTH, INNER), nn.Dense(INNER, WIDTH), nn.Dense(WIDTH, INNER)

    def construct(self, x, mask):
        n, length, _ = x.shape
        y = self.norm1(x)
        q, k, v = (
            layer(y).reshape(n, length, HEADS, -1).transpose(0, 2, 1, 3) for layer in (self.query, self.key, self.value)
        )
        scores = ops.matmul(q, k.swapaxes(-1, -2)) / math.sqrt(WIDTH // HEADS) + mask
        y = ops.matmul(ops.softmax(scores, -1), v).transpose(0, 2, 1, 3).reshape(n, length, WIDTH)
        x = x + self.out(y)
        y = self.norm2(x)
        y = ops.silu(self.gate(y)) * self.fc1(y) if self.is_gated else ops.gelu(self.fc1(y), approximate="none")
        return x + self.fc2(y)


class Transformer(nn.Cell):
    def __init__(self, is_gated):
        super().__init__()
        self.first, self.head = nn.Dense(FEATURES, WIDTH), nn.Dense(WIDTH, CLASSES)
        self.blocks = nn.CellList([Block(is_gated) for _ in range(2)])
        self.norm = RootMeanSquare() if is_gated else nn.LayerNorm((WIDTH,), epsilon=1e-5)

    def construct(self, x, mask):
        x = self.first(x)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x[:, 0]))


def load(name):
    net = Transformer(name == "gated")
    for parameter in net.get_parameters():
        key = parameter.name.replace("gamma", "weight").replace("beta", "bias")
        parameter.set_data(Tensor(STORED[f"{name}/weights/{key}"]))
    return net


@pytest.mark.parametrize("softmax", ["taylor", "constant"])
@pytest.mark.parametrize("name", ["plain", "gated"])
def test_transformers_equal_lxt(mode, name, softmax):
    options = {"target": STORED["targets"], "method": "lrp", "epsilon": 1e-9, "softmax": softmax}
    result = msnb.attribute(load(name), Tensor(STORED["x"]), Tensor(STORED["mask"]), **options)
    np.testing.assert_allclose(result.scores, STORED[f"{name}/scores"], rtol=1e-4)
    expected = STORED[f"{name}/{softmax}"]
    np.testing.assert_allclose(result.values, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())


class Vision(nn.Cell):
    """A vision Transformer without biases, from the layers of nn."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 8, 4, 4, pad_mode="valid", weight_init="normal")
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)
        self.head = nn.Dense(8, 4, has_bias=False)

    def construct(self, x):
        x = self.patches(x)
        return self.head(self.encoder(x.reshape(x.shape[0], 8, -1).swapaxes(1, 2)).mean(1))


def test_relevance_of_a_vision_transformer_is_conserved_with_constant_weights_of_attention(mode):
    net = Vision().set_train(False)
    for parameter in net.get_parameters():
        is_zero = parameter.name.endswith(("bias", "beta"))
        parameter.set_data(Tensor(draw(*parameter.shape, seed=parameter.size) * (0 if is_zero else 0.5)))
    x = Tensor(draw(2, 3, 12, 12))
    result = msnb.attribute(net, x, target=1, method="lrp", epsilon=0.0, softmax="constant")
    np.testing.assert_allclose(sum_of_examples(result.values), result.scores, rtol=1e-2, atol=1e-4)
    by_taylor = msnb.attribute(net, x, target=1, method="lrp", epsilon=0.0)
    assert np.isfinite(by_taylor.values).all() and not np.allclose(by_taylor.values, result.values, rtol=0.1)


def test_softmax_has_the_terms_of_its_taylor_expansion():
    x = draw(2, 4)
    result = msnb.attribute(ops.softmax, Tensor(x), target=1, method="lrp")
    weights = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    expected = x * weights[:, 1:2] * (np.eye(4)[1] - weights)
    np.testing.assert_allclose(result.values, expected, rtol=1e-4, atol=1e-6)


def test_a_mask_of_minus_infinity_has_no_relevance():
    mask = Tensor(np.array([0, -np.inf, 0, 0], np.float32))
    for net in (lambda x: ops.softmax(x + mask), lambda x: ops.softmax(ops.masked_fill(x, mask < 0, -np.inf))):
        values = msnb.attribute(net, Tensor(draw(2, 4)), target=0, method="lrp").values
        assert np.isfinite(values).all() and not values[:, 1].any() and values[:, 0].all()


def test_a_constant_softmax_that_stops_everything_says_so(monkeypatch):
    said = []
    monkeypatch.setattr(log, "warning", lambda form, *args: said.append(form % args))
    msnb.attribute(ops.softmax, Tensor(draw(2, 4)), target=1, method="lrp", softmax="constant")
    assert "which softmax='constant' stops" in said[0]
    with pytest.raises(ValueError, match="'softmax' should be one of 'taylor', 'constant'"):
        msnb.attribute(ops.softmax, Tensor(draw(2, 4)), target=1, method="lrp", softmax="mean")


def normalize(x, axes, scale):
    """Return (normalized x times a scale, standard deviation)."""
    deviation = np.sqrt(x.var(axes, keepdims=True) + 1e-5)
    return (x - x.mean(axes, keepdims=True)) / deviation * scale, deviation


SCALE = 1 + 0.3 * draw(4, seed=1)
NORMALIZATIONS = {
    "layer": lambda x: ops.layer_norm(x, (4,), Tensor(SCALE), ops.zeros(4), 1e-5),
    "group": lambda x: ops.group_norm(x, 2, Tensor(SCALE), ops.zeros(4), 1e-5),
    "group without weights": lambda x: ops.group_norm(x, 2, eps=1e-5),
    "instance": nn.InstanceNorm2d(4),
    "root mean square": lambda x: ops.rms_norm(x, Tensor(SCALE))[0],
    "unit length": lambda x: ops.L2Normalize(1)(x),
    "written out": lambda x: (x - x.mean(1, keep_dims=True)) / ops.sqrt(x.var(1, keepdims=True) + 1e-5),
}


@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_normalizations_preserve_relevance(mode, name):
    x = draw(2, 3, 4) if name in ("layer", "root mean square") else draw(2, 4, 3, 3)
    net = NORMALIZATIONS[name]
    weights = Tensor(draw(*x.shape[1:], seed=3))
    options = {"target": None, "method": "lrp", "epsilon": 0.0}
    result = msnb.attribute(lambda x: (net(x) * weights).sum(tuple(range(1, x.ndim))), Tensor(x), **options)
    np.testing.assert_allclose(sum_of_examples(result.values), result.scores, rtol=1e-3, atol=1e-4)
    assert np.ptp(result.values) > 0.1


def test_a_layer_norm_is_linear_with_a_constant_deviation():
    x, bias = draw(2, 4), draw(4, seed=2)
    net = lambda x: ops.layer_norm(x, (4,), Tensor(SCALE), Tensor(bias), 1e-5)  # noqa: E731
    values = msnb.attribute(net, Tensor(x), target=2, method="lrp", epsilon=0.0).values
    _, deviation = normalize(x, (1,), SCALE)
    expected = x * (np.eye(4)[2] - 0.25) * SCALE[2] / deviation  # the bias takes the rest of the score
    np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-5)


def test_factors_have_equal_shares_and_a_divisor_has_none(mode):
    x = np.abs(draw(2, 4)) + 0.5
    options = {"target": 1, "method": "lrp", "epsilon": 0.0}
    halves = msnb.attribute(lambda x: x[:, :2] * x[:, 2:], Tensor(x), **options).values
    np.testing.assert_allclose(halves[:, [1, 3]], np.repeat(x[:, 1:2] * x[:, 3:4] / 2, 2, 1), rtol=1e-5)
    for net in (lambda x: x[:, :2] / x[:, 2:], lambda x: x[:, :2] * ops.reciprocal(x[:, 2:])):
        values = msnb.attribute(net, Tensor(x), **options).values
        np.testing.assert_allclose(values, x[:, 1:2] / x[:, 3:4] * np.eye(4)[1], rtol=1e-5)
    gate = msnb.attribute(lambda x: ops.glu(x), Tensor(x), **options)
    np.testing.assert_allclose(gate.values[:, [1, 3]], np.repeat(gate.scores[:, None] / 2, 2, 1), rtol=1e-5)
    product = msnb.attribute(lambda x: ops.einsum("ni,ni->n", x, x), Tensor(x), method="lrp", epsilon=0.0)
    np.testing.assert_allclose(product.values, x * x, rtol=1e-5)


class Repeated(nn.Cell):
    """The same layer three times, in a loop of Tensors or of Python."""

    def __init__(self, kind):
        super().__init__()
        self.fc, self.kind = nn.Dense(5, 5), kind

    def construct(self, x):
        if self.kind == "python":
            for _ in range(3):
                x = self.step(x)
        else:
            count = ops.zeros((), msnb.int32)
            while count < 3:
                x = self.step(x)
                count = count + 1
        return self.fc(x)

    def step(self, x):
        y = ops.tanh(self.fc(x))
        return ops.layer_norm(x * ops.sigmoid(y) + y, (5,), ops.ones(5), ops.zeros(5), 1e-5)


def test_weights_in_a_loop_have_no_relevance(mode):
    x, values = Tensor(draw(2, 5)), {}
    for kind in ("python", "tensor"):
        net = Repeated(kind)
        net.fc.weight.set_data(Tensor(draw(5, 5, seed=2)))
        net.fc.bias.set_data(Tensor(draw(5, seed=3)))
        options = {"target": [4, 0], "method": "lrp", "epsilon": 1e-6}
        values[kind] = msnb.attribute(net, x, **options).values
    np.testing.assert_allclose(values["tensor"], values["python"], rtol=1e-4, atol=1e-5)
    assert np.abs(values["python"]).max() > 0.1


def test_a_recurrent_layer_is_named():
    class Tagger(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layer = nn.GRU(3, 4, batch_first=True)

        def construct(self, x):
            return self.layer(x)[0][:, -1]

    with pytest.raises(ValueError, match=r"LRP has no rule for layer/Recurrent .*'integrated_gradients'"):
        msnb.attribute(Tagger(), Tensor(draw(2, 5, 3)), target=0, method="lrp")
