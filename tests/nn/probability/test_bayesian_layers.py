"""Bayesian layers: what they draw, their divergence, their loss, and networks that are made Bayesian."""

import numpy as np
import pytest
from scipy import stats

import msnb as ms
from msnb import Tensor, nn, ops
from msnb.nn.probability import bnn_layers, transforms


def _t(x, dtype=ms.float32):
    return Tensor(np.asarray(x), dtype)


def _std(rho):
    return 1e-6 + np.log1p(np.exp(rho.astype(np.float64)))


def test_a_posterior_is_normal_with_a_positive_deviation():
    ms.set_seed(0)
    posterior = bnn_layers.NormalPosterior("fc", [40, 50], loc_mean=1, loc_std=0.5, untransformed_scale_mean=-1)
    assert [p.name for p in posterior.trainable_params()] == ["fc_mean", "fc_untransformed_std"]
    assert stats.kstest(posterior.mean.asnumpy().ravel(), stats.norm(1, 0.5).cdf).pvalue > 1e-3
    assert stats.kstest(posterior.untransformed_std.asnumpy().ravel(), stats.norm(-1, 0.1).cdf).pvalue > 1e-3
    np.testing.assert_allclose(posterior("sd").asnumpy(), _std(posterior.untransformed_std.asnumpy()), rtol=1e-5)
    np.testing.assert_allclose(posterior.std_trans(_t([-200.0, 200.0])).asnumpy(), [1e-6, 200], rtol=1e-5)
    score = (posterior("sample").asnumpy() - posterior.mean.asnumpy()) / posterior("sd").asnumpy()
    assert stats.kstest(score.ravel(), stats.norm.cdf).pvalue > 1e-3


@pytest.mark.parametrize("kind", [bnn_layers.DenseReparam, bnn_layers.DenseLocalReparam])
def test_outputs_have_the_mean_and_the_variance_of_the_weights(kind):
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(1)
    layer = kind(3, 2, has_bias=True, weight_posterior_fn=_wide, bias_posterior_fn=_wide)
    x = np.array([[1.0, -2.0, 0.5]], np.float32)
    drawn = np.concatenate([layer(_t(x)).asnumpy() for _ in range(600)])
    weight, bias = layer.weight_posterior, layer.bias_posterior
    mean = x @ weight.mean.asnumpy().T + bias.mean.asnumpy()
    variance = x**2 @ weight("sd").asnumpy().T ** 2 + bias("sd").asnumpy() ** 2
    for column, m, v in zip(drawn.T, mean[0], variance[0], strict=True):
        assert stats.kstest(column, stats.norm(m, np.sqrt(v)).cdf).pvalue > 1e-3


def _wide(name, shape):
    return bnn_layers.NormalPosterior(name, shape, untransformed_scale_mean=0)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_the_loss_is_the_networks_and_the_divergences(mode):
    ms.set_context(mode=mode)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = bnn_layers.ConvReparam(1, 2, 3, pad_mode="valid", has_bias=True)
            self.rest = nn.SequentialCell(nn.Flatten(), bnn_layers.DenseReparam(8, 3, activation="relu"))

        def construct(self, x):
            return self.rest(self.conv(x))

    net = Net()
    assert [p.name for p in net.untrainable_params()] == ["conv.weight", "conv.bias"]
    assert len(net.trainable_params()) == 8
    dense = net.rest[1]
    expected = 0.0
    for layer in (net.conv, dense):
        for posterior in (layer.weight_posterior, layer.bias_posterior):
            mu, sd = posterior.mean.asnumpy().astype(np.float64), _std(posterior.untransformed_std.asnumpy())
            expected += np.sum(0.5 * (mu**2 + 0.01) / sd**2 - 0.5 + np.log(sd / 0.1))  # KL(N(0, 0.1) || posterior)
    with_loss = bnn_layers.WithBNNLossCell(net, nn.MSELoss(), dnn_factor=0, bnn_factor=0.5)
    assert with_loss.backbone_network is net and len(with_loss.kl_loss) == 2
    x, y = _t(np.ones((2, 1, 4, 4))), _t(np.zeros((2, 3)))
    np.testing.assert_allclose(with_loss(x, y).asnumpy(), 0.5 * expected, rtol=1e-4)
    gradient = ops.GradOperation(get_by_list=True)(with_loss, net.trainable_params())(x, y)
    mu, sd = dense.bias_posterior.mean.asnumpy(), _std(dense.bias_posterior.untransformed_std.asnumpy())
    named = dict(zip((p.name for p in net.trainable_params()), gradient, strict=True))
    np.testing.assert_allclose(named["rest.1.bias_posterior.mean"].asnumpy(), 0.5 * mu / sd**2, rtol=1e-3)


def test_a_network_becomes_bayesian_with_its_optimizers_settings():
    net = nn.SequentialCell(
        nn.Conv2d(1, 2, 3, pad_mode="pad", padding=1),
        nn.Flatten(),
        nn.SequentialCell(nn.Dense(32, 3, activation="relu")),
    )
    optimizer = nn.Adam(net.trainable_params(), 0.02, beta1=0.8, weight_decay=0.5, loss_scale=2.0)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer, sens=2.0)
    bayesian = transforms.TransformToBNN(step, 1, 0.001).transform_to_bnn_model(
        add_dense_args={"bias_prior_fn": _prior}
    )
    conv, dense = net[0], net[2][0]
    assert (type(conv), type(dense)) == (bnn_layers.ConvReparam, bnn_layers.DenseReparam)
    assert (conv.pad_mode, conv.padding, conv.has_bias) == ("pad", 1, False) and isinstance(dense.activation, nn.ReLU)
    assert dense.bias_prior.normal.sd().asnumpy() == 0.5
    assert net.trainable_params()[-1].name == "2.0.bias_posterior.untransformed_std"
    optimizer_before = bayesian.optimizer
    assert isinstance(optimizer_before, nn.Adam) and len(optimizer_before.parameters) == 6 and bayesian.sens == 2.0
    settings = (
        optimizer_before.learning_rate,
        optimizer_before.beta1,
        optimizer_before.weight_decay,
        optimizer_before.loss_scale,
    )
    np.testing.assert_allclose([float(Tensor(s).asnumpy()) for s in settings], [0.02, 0.8, 1.0, 2.0], rtol=1e-6)
    x, y = _t(np.ones((2, 1, 4, 4))), _t(np.zeros((2, 3)))
    ms.set_context(mode=ms.GRAPH_MODE)
    before = dense.weight_posterior.mean.asnumpy().copy()
    assert np.isfinite(bayesian(x, y).asnumpy()) and (dense.weight_posterior.mean.asnumpy() != before).any()


def _prior():
    return bnn_layers.NormalPrior(std=0.5)


def test_layers_of_one_type_are_replaced():
    net = nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Dense(32, 3))
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    transform = transforms.TransformToBNN(nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer))
    with pytest.raises(ValueError, match="'dnn_layer_type' should be Dense or Conv2d"):
        transform.transform_to_bnn_layer(nn.ReLU, bnn_layers.DenseReparam)
    with pytest.raises(ValueError, match="'bnn_layer_type' should be DenseReparam or ConvReparam"):
        transform.transform_to_bnn_layer(nn.Dense, nn.Dense)
    transform.transform_to_bnn_layer(nn.Dense, bnn_layers.DenseReparam)
    assert [type(cell).__name__ for cell in net] == ["Conv2d", "Flatten", "DenseReparam"]


@pytest.mark.parametrize(
    ("error", "says", "make"),
    [
        (TypeError, "'name' should be a string", lambda: bnn_layers.NormalPosterior(1, [2])),
        (TypeError, "'shape' should be a tuple or a list", lambda: bnn_layers.NormalPosterior("w", 2)),
        (
            TypeError,
            "'loc_std' should be an int or a float of at",
            lambda: bnn_layers.NormalPosterior("w", [2], loc_std=-1),
        ),
        (
            TypeError,
            "'weight_prior_fn' should give a Cell",
            lambda: bnn_layers.DenseReparam(2, 2, weight_prior_fn=nn.ReLU),
        ),
        (
            TypeError,
            "'weight_posterior_fn' should be a function of 'name' and 'shape'",
            lambda: bnn_layers.ConvReparam(2, 2, 3, weight_posterior_fn=lambda shape: None),
        ),
        (ValueError, "'activation' should be", lambda: bnn_layers.DenseReparam(2, 2, activation=3)),
        (ValueError, "'in_channels' should be a positive int", lambda: bnn_layers.DenseReparam(0, 2)),
        (ValueError, "'pad_mode' should be", lambda: bnn_layers.ConvReparam(2, 2, 3, pad_mode="full")),
        (ValueError, "'bnn_factor'", lambda: bnn_layers.WithBNNLossCell(nn.ReLU(), nn.MSELoss(), 1, -1)),
        (TypeError, "'dnn_factor'", lambda: bnn_layers.WithBNNLossCell(nn.ReLU(), nn.MSELoss(), True)),
        (TypeError, "'trainable_dnn' should be a TrainOneStepCell", lambda: transforms.TransformToBNN(nn.ReLU())),
    ],
)
def test_what_is_refused_says_what_to_give(error, says, make):
    with pytest.raises(error, match=says):
        make()
