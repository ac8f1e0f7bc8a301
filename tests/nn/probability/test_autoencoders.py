"""Variational autoencoders, their loss and training, and the tools that are built of them."""

from pathlib import Path

import numpy as np
import pytest

import msnb as ms
import msnb.dataset as ds
from msnb import Tensor, nn
from msnb.nn.probability.bnn_layers import DenseReparam
from msnb.nn.probability.dpn import VAE, ConditionalVAE
from msnb.nn.probability.infer import ELBO, SVI
from msnb.nn.probability.toolbox import UncertaintyEvaluation, VAEAnomalyDetection


def _t(x, dtype=ms.float32):
    return Tensor(np.asarray(x), dtype)


class Encoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.flatten, self.dense = nn.Flatten(), nn.Dense(64, 16, activation="relu")

    def construct(self, x):
        return self.dense(self.flatten(x))


class LabelledEncoder(Encoder):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 16)

    def construct(self, x, y):
        return super().construct(x) + self.table(y)


class Decoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(16, 64, activation="sigmoid")

    def construct(self, z):
        return self.dense(z).reshape((-1, 1, 8, 8))


@pytest.fixture(scope="module")
def digits():
    """Return (images of shape (N, 1, 8, 8) in [0, 1], their classes)."""
    with np.load(Path(ms.__file__).parent / "_data" / "digits.npz") as stored:
        images, labels = stored["images"][:512], stored["labels"][:512]
    return (images.reshape(-1, 1, 8, 8) / 16).astype(np.float32), labels.astype(np.int32)


def _batches(digits):
    return ds.NumpySlicesDataset({"image": digits[0], "label": digits[1]}, shuffle=False).batch(64)


def test_the_bound_is_the_squares_and_the_divergence():
    mu, std = np.array([[0.5, -1.0]]), np.array([[0.5, 2.0]])
    x, reconstruction = np.array([[1.0, 2.0, 3.0]]), np.array([[1.5, 2.0, 1.0]])
    expected = 0.25 + 4 + np.sum(0.5 * (mu**2 + std**2 - 1) - np.log(std))
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        loss = ELBO()((_t(reconstruction), _t(x), _t(mu), _t(std)), _t(0.0))
        assert loss.asnumpy() == pytest.approx(expected, rel=1e-5)
    with pytest.raises(ValueError, match="'output_prior' should be"):
        ELBO(output_prior="Bernoulli")


def test_the_latent_numbers_are_drawn_around_what_the_encoder_says(digits):
    ms.set_context(mode=ms.GRAPH_MODE)
    vae = VAE(Encoder(), Decoder(), 16, 4)
    x = _t(digits[0][:2])
    result, same, mu, std = vae(x)
    assert result.shape == (2, 1, 8, 8) and mu.shape == std.shape == (2, 4)
    np.testing.assert_array_equal(same.asnumpy(), digits[0][:2])
    hidden = vae.encoder(x)
    np.testing.assert_allclose(mu.asnumpy(), vae.dense1(hidden).asnumpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(std.asnumpy(), np.exp(vae.dense2(hidden).asnumpy() / 2), rtol=1e-5)
    assert not np.array_equal(result.asnumpy(), vae(x)[0].asnumpy())
    assert vae.generate_sample(3, (-1, 1, 8, 8)).shape == (3, 1, 8, 8)
    for shape in ((2, 1, 8, 8), (-1, 64), [-1, 1, 8, 8]):
        with pytest.raises(ValueError, match=r"'shape' should be \(3, C, H, W\) or \(-1, C, H, W\)"):
            vae.generate_sample(3, shape)


def test_inference_lowers_the_loss_and_an_outlier_is_far_from_its_reconstruction(digits):
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(1)
    detection = VAEAnomalyDetection(Encoder(), Decoder(), 16, 4)
    svi = SVI(nn.WithLossCell(detection.vae, ELBO()), nn.Adam(detection.vae.trainable_params(), 0.005))
    assert svi.run(_batches(digits), 1) is detection.vae
    first = svi.get_train_loss()
    svi.run(_batches(digits), 12)
    assert svi.get_train_loss() < 0.5 * first
    assert detection.train(_batches(digits), 1) is detection.vae
    digit, noise = _t(digits[0][:1]), _t(np.tile([[0.0, 1.0], [1.0, 0.0]], (4, 4)).reshape(1, 1, 8, 8))
    limit = 0.5 * (detection.predict_outlier_score(digit) + detection.predict_outlier_score(noise))
    assert [detection.predict_outlier(x, float(limit)) for x in (digit, noise)] == [False, True]
    with pytest.raises(ValueError, match="should have the columns 'image' and 'label', but has x"):
        svi.run(ds.NumpySlicesDataset({"x": digits[0]}).batch(64), 1)
    with pytest.raises(TypeError, match="should be an ELBO"):
        SVI(nn.WithLossCell(detection.vae, nn.MSELoss()), svi.optimizer)


# That a training is the same in both modes is held by tests/nn; here one is enough.
@pytest.mark.parametrize("mode", [pytest.param(ms.PYNATIVE_MODE, marks=pytest.mark.slow), ms.GRAPH_MODE])
def test_a_conditional_autoencoder_gets_the_class(mode, digits):
    ms.set_context(mode=mode)

    class WithLoss(nn.WithLossCell):
        def construct(self, data, label):
            return self._loss_fn(self._backbone(data, label), label)

    vae = ConditionalVAE(LabelledEncoder(), Decoder(), 16, 4, 10)
    images, labels = _t(digits[0][:64]), _t(digits[1][:64], ms.int32)
    svi = SVI(WithLoss(vae, ELBO()), nn.Adam(vae.trainable_params(), 0.01))
    svi.run(_batches(tuple(part[:64] for part in digits)), 2)
    assert np.isfinite(svi.get_train_loss())
    assert vae.reconstruct_sample(images, labels).shape == images.shape
    vae.dense3.weight[:, :4] = 0.0  # what is drawn has no effect now, and the class has
    same, other = (vae.generate_sample(_t([n, n], ms.int32), 2, (2, 1, 8, 8)).asnumpy() for n in (3, 4))
    np.testing.assert_allclose(same[0], same[1], rtol=1e-6)
    assert np.abs(same - other).max() > 1e-6
    with pytest.raises(ValueError, match="'latent_size' should be at most 'hidden_size', but got 17 and 16"):
        VAE(Encoder(), Decoder(), 16, 17)
    with pytest.raises(TypeError, match="'decoder' should be a Cell"):
        VAE(Encoder(), 1, 16, 4)


def _net(*last):
    return nn.SequentialCell(nn.Flatten(), nn.Dense(64, 12, activation="relu"), nn.Dense(12, 10), *last)


def test_uncertainty_of_a_classification(digits, capsys, tmp_path):
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(2)
    x = _t(digits[0][:3])
    folders = [str(tmp_path / name) for name in ("epi", "ale")]
    evaluation = UncertaintyEvaluation(_net(), _batches(digits), "classification", 10, 1, *folders, save_model=True)
    epistemic, aleatoric = evaluation.eval_epistemic_uncertainty(x), evaluation.eval_aleatoric_uncertainty(x)
    assert "loss is" in capsys.readouterr().out
    assert epistemic.shape == (3, 10) and (epistemic > 0).all() and aleatoric.shape == (3,) and (aleatoric >= 0).all()
    saved = [str(next(Path(folder).glob("*.ckpt"))) for folder in folders]
    read = UncertaintyEvaluation(_net(), _batches(digits), "classification", 10, 1, *saved)
    np.testing.assert_allclose(read.eval_aleatoric_uncertainty(x), aleatoric, rtol=1e-5)
    read.eval_epistemic_uncertainty(x)
    assert "loss is" not in capsys.readouterr().out


def test_uncertainty_of_a_regression(digits):
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(2)
    labels = np.random.RandomState(0).randn(512, 1).astype(np.float32)
    data = ds.NumpySlicesDataset({"image": digits[0], "label": labels}, shuffle=False).batch(64)
    evaluation = UncertaintyEvaluation(_net(nn.Dense(10, 1)), data, "regression", epochs=8)
    x = _t(digits[0][:3])
    assert evaluation.eval_epistemic_uncertainty(x).shape == (3, 1)
    assert evaluation.eval_aleatoric_uncertainty(x).shape == (3,)
    _, log_variance = evaluation.ale_uncer_model(_t(digits[0]))
    assert abs(log_variance.asnumpy().mean()) < 0.5  # the labels are noise of variance 1


def test_a_network_with_dropout_is_neither_changed_nor_trained(digits):
    net = _net(nn.Dropout(0.5))
    names = [p.name for p in net.get_parameters()]
    evaluation = UncertaintyEvaluation(net, None, "classification", 10)
    assert (evaluation.eval_epistemic_uncertainty(_t(digits[0][:3])) > 0).any()
    assert [type(cell) for cell in net] == [type(cell) for cell in _net(nn.Dropout(0.5))] and len(names) == 4
    with pytest.raises(ValueError, match="needs a 'train_dataset'"):
        evaluation.eval_aleatoric_uncertainty(_t(digits[0][:3]))
    with pytest.raises(ValueError, match="a Dropout layer, or a Dense or Conv2d layer"):
        UncertaintyEvaluation(nn.SequentialCell(DenseReparam(4, 2)), None, "regression").eval_epistemic_uncertainty(
            _t(np.ones((1, 4)))
        )
    with pytest.raises(ValueError, match="'save_model' needs"):
        UncertaintyEvaluation(net, None, "regression", save_model=True)
    with pytest.raises(ValueError, match="'task_type' should be"):
        UncertaintyEvaluation(net, None, "ranking")
