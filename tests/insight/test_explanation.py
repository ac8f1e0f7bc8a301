"""Explainers beside Captum, numpy formulas and each other."""

from pathlib import Path

import explained_networks as networks
import make_explainer
import numpy as np
import pytest

import msnb
from msnb import Tensor, context, nn, ops
from msnb.explainer._progress import observe
from msnb.explainer.explanation import RISE, Deconvolution, GradCAM, Gradient, GuidedBackprop, Occlusion

GOLDEN = np.load(Path(make_explainer.FILE))
WEIGHTS, IMAGES, _, _, _ = make_explainer.make_inputs()
MODES = [context.PYNATIVE_MODE, context.GRAPH_MODE]
EXPLAINERS = {
    "Gradient": lambda net: Gradient(net),
    "Deconvolution": lambda net: Deconvolution(net),
    "GuidedBackprop": lambda net: GuidedBackprop(net),
    "GradCAM": lambda net: GradCAM(net, "relu"),
    "Occlusion": lambda net: Occlusion(net, nn.Softmax()),
    "RISE": lambda net: short_rise(net),
}


def short_rise(net, n_masks=70, per_eval=32):
    rise = RISE(net, nn.Softmax(), per_eval)
    rise._num_masks = n_masks
    return rise


def labels(*numbers):
    return Tensor(np.array(numbers, np.int32))


def random_image(*shape, low=-1):
    return Tensor(np.random.default_rng(3).uniform(low, 1, shape).astype(np.float32))


# ---------------------------------------------------------------------- values
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [12, 40, 64])
def test_occlusion_equals_captum(mode, size):
    context.set_context(mode=mode)
    occlusion = Occlusion(networks.GoldenNetwork(WEIGHTS), nn.Softmax())
    maps = occlusion(Tensor(IMAGES[size]), labels(*make_explainer.TARGETS))
    np.testing.assert_allclose(maps.asnumpy(), GOLDEN[f"occlusion_{size}"], atol=1e-6)


def test_occlusion_does_not_depend_on_the_batch_size():
    net, x = networks.GoldenNetwork(WEIGHTS), Tensor(IMAGES[12])
    maps = [Occlusion(net, nn.Softmax(), n)(x, 2).asnumpy() for n in (7, 200)]
    np.testing.assert_allclose(*maps, atol=1e-6)


def test_pixels_that_no_window_reaches_have_no_importance():
    maps = Occlusion(networks.GoldenNetwork(WEIGHTS), nn.Softmax())(random_image(1, 3, 67, 40), 2).asnumpy()
    assert (maps[..., 66:, :] == 0).all()
    assert (maps[..., :66, :] > 0).all()


@pytest.mark.parametrize("mode", MODES)
def test_rise_is_the_weighted_mean_of_its_masks(mode):
    import jax

    context.set_context(mode=mode)
    net, x, of_image = networks.GoldenNetwork(WEIGHTS), IMAGES[12], [[3, 1], [0, 4]]
    random = np.random.default_rng(0)
    sums, count = np.zeros((2, 2, 12, 12)), 70
    for start in range(0, count, 32):
        n = min(32, count - start)
        grids = (random.random((n, 10, 10)) < 0.5).astype(np.float32)
        enlarged = np.asarray(jax.image.resize(grids, (n, 22, 22), "bilinear"))
        for grid, top, left in zip(enlarged, *random.integers(0, 11, (2, n, 1))[..., 0], strict=True):
            mask = grid[top : top + 12, left : left + 12]
            probabilities = nn.Softmax()(net(Tensor(x * mask))).asnumpy()
            for image in range(2):
                sums[image] += probabilities[image][of_image[image]][:, None, None] * mask
    maps = short_rise(net, count)(Tensor(x), Tensor(np.array(of_image, np.int32)))
    assert maps.dtype == msnb.float32
    np.testing.assert_allclose(maps.asnumpy(), sums / count, atol=1e-6)


def test_rise_gives_the_same_maps_again_and_in_other_batches():
    net, x = networks.GoldenNetwork(WEIGHTS), Tensor(IMAGES[12])
    maps = short_rise(net)(x, labels(3, 0)).asnumpy()
    np.testing.assert_array_equal(short_rise(net)(x, labels(3, 0)).asnumpy(), maps)
    np.testing.assert_allclose(short_rise(net)(x[1:], 0).asnumpy(), maps[1:], atol=1e-6)


def test_the_masks_depend_on_the_seed(monkeypatch):
    net, x = networks.GoldenNetwork(WEIGHTS), Tensor(IMAGES[12])
    first = short_rise(net)(x, 3).asnumpy()
    monkeypatch.setattr("msnb.common.seed._global_seed", 5)
    assert not np.allclose(short_rise(net)(x, 3).asnumpy(), first, atol=1e-4)


def test_rise_has_6000_masks_of_10_by_10():
    rise = RISE(networks.Linear(), nn.Softmax())
    assert (rise._num_masks, rise._down_sample_size, rise._mask_probability) == (6000, 10, 0.5)
    batches = list(rise._draw_masks(4, 6))
    assert sum(is_mask.sum() for *_, is_mask in batches) == 6000
    assert {tuple(map(np.shape, batch)) for batch in batches} == {((32, 10, 10), (32, 4, 10), (32, 6, 10), (32,))}
    assert abs(np.mean([grids.mean() for grids, *_ in batches[:-1]]) - 0.5) < 0.01


@pytest.mark.parametrize("mode", MODES)
def test_gradients_equal_their_formulas(mode):
    context.set_context(mode=mode)
    net, x = networks.Linear(), random_image(2, 1, 4, 4)
    weight, active = net.fc.weight.asnumpy()[[2, 0]].reshape(2, 1, 4, 4), x.asnumpy() > 0
    expected = {
        Gradient: np.abs(weight * active),
        Deconvolution: np.maximum(weight, 0),
        GuidedBackprop: np.maximum(weight, 0) * active,
    }
    for explainer, maps in expected.items():
        np.testing.assert_allclose(explainer(net)(x, labels(2, 0)).asnumpy(), maps, rtol=1e-6)


def test_the_largest_channel_counts():
    net = networks.Linear(shape=(3, 4, 4))
    weight = net.fc.weight.asnumpy()[1].reshape(1, 3, 4, 4)
    maps = Gradient(net)(random_image(1, 3, 4, 4, low=0.1), 1).asnumpy()
    np.testing.assert_allclose(maps, np.abs(weight).max(1, keepdims=True), rtol=1e-6)


@pytest.mark.parametrize("explainer", [Deconvolution, GuidedBackprop])
@pytest.mark.parametrize("relu", [ops.ReLU(), ops.relu])
def test_functional_relus_follow_the_rule(explainer, relu):
    net, x = networks.Linear(), random_image(1, 1, 4, 4)
    functional = networks.Linear(relu=relu)
    functional.fc = net.fc
    np.testing.assert_array_equal(explainer(functional)(x, 1).asnumpy(), explainer(net)(x, 1).asnumpy())


@pytest.mark.parametrize("mode", MODES)
def test_grad_cam_weights_activations_with_their_mean_gradients(mode):
    context.set_context(mode=mode)
    net, x = networks.GoldenNetwork(WEIGHTS), IMAGES[12]
    activations = net.relu(net.conv(Tensor(x), net.kernel) + net.bias.reshape(1, 4, 1, 1)).asnumpy()
    weights = WEIGHTS["dense"][[3, 0]] / 144
    expected = np.maximum(np.einsum("nk,nkhw->nhw", weights, activations), 0)[:, None]
    np.testing.assert_allclose(GradCAM(net, "relu")(Tensor(x), labels(3, 0)).asnumpy(), expected, atol=1e-6)
    np.testing.assert_allclose(GradCAM(net, "op:ReLU")(Tensor(x), labels(3, 0)).asnumpy(), expected, atol=1e-6)


def test_grad_cam_without_a_layer_uses_the_image():
    net, x = networks.Linear(), random_image(1, 1, 4, 4)
    mean = (net.fc.weight.asnumpy()[1].reshape(4, 4) * (x.asnumpy()[0, 0] > 0)).mean()
    np.testing.assert_allclose(GradCAM(net)(x, 1).asnumpy(), np.maximum(mean * x.asnumpy(), 0), rtol=1e-5, atol=1e-7)


# ---------------------------------------------------------------------- calls
@pytest.mark.parametrize("name", EXPLAINERS)
def test_targets_are_an_int_or_a_tensor_of_no_or_one_axis(name):
    explainer, x = EXPLAINERS[name](networks.GoldenNetwork(WEIGHTS)), Tensor(IMAGES[12])
    maps = [explainer(x, targets).asnumpy() for targets in (2, Tensor(2, msnb.int32), labels(2, 2))]
    assert maps[0].shape == (2, 1, 12, 12)
    np.testing.assert_array_equal(maps[1], maps[0])
    np.testing.assert_array_equal(maps[2], maps[0])


@pytest.mark.parametrize("name", EXPLAINERS)
def test_a_network_is_traced_once_for_a_shape(name):
    net, x = networks.GoldenNetwork(WEIGHTS), Tensor(IMAGES[12])
    explainer = EXPLAINERS[name](net)
    explainer(x, 1)
    with networks.counted_traces() as traces:
        explainer(x, labels(3, 0))
        explainer(x, 2)
        if name not in ("Occlusion", "RISE"):  # another activation is another program
            EXPLAINERS[name](net)(x, 2)
    assert not traces


@pytest.mark.parametrize("name", EXPLAINERS)
def test_explainers_use_the_network_in_evaluation_mode_and_restore_it(name):
    class Noisy(networks.GoldenNetwork):
        def __init__(self):
            super().__init__(WEIGHTS)
            self.dropout = nn.Dropout(0.5)

        def construct(self, x):
            return super().construct(self.dropout(x))

    net, x = Noisy(), Tensor(IMAGES[12])
    explainer = EXPLAINERS[name](net)
    assert not net.training
    maps = explainer(x, 1).asnumpy()
    net.set_train(True)
    np.testing.assert_array_equal(explainer(x, 1).asnumpy(), maps)
    assert net.training
    assert net.dropout.training


def test_the_network_is_an_attribute():
    net = networks.Linear()
    assert Gradient(net).network is net


# ---------------------------------------------------------------------- progress
@pytest.fixture
def no_clock(monkeypatch):
    """Reports come after each 100 steps, however long they take."""
    monkeypatch.setattr("msnb.explainer._progress._EVERY_SECONDS", float("inf"))


def test_a_report_also_comes_after_a_second(monkeypatch):
    monkeypatch.setattr("msnb.explainer._progress._EVERY_SECONDS", 0)
    reports = []
    with observe(lambda *report: reports.append(report[2])):
        short_rise(networks.GoldenNetwork(WEIGHTS), 250, 50)(Tensor(IMAGES[12]), 3)
    assert reports == [0, 50, 100, 150, 200, 250]


def test_observers_get_partial_maps(no_clock):
    rise, reports = short_rise(networks.GoldenNetwork(WEIGHTS), 250, 50), []
    with observe(lambda *report: reports.append(report)):
        maps = rise(Tensor(IMAGES[12]), 3).asnumpy()
    assert [done for _, _, done, _ in reports] == [0, 100, 200, 250]
    assert {(explainer, total) for explainer, _, _, total in reports} == {(rise, 250)}
    assert not reports[0][1].any()
    np.testing.assert_array_equal(reports[-1][1], maps)
    shorter = short_rise(rise.network, 100, 50)(Tensor(IMAGES[12]), 3).asnumpy()
    np.testing.assert_allclose(next(m for _, m, done, _ in reports if done == 100), shorter, atol=1e-6)
    n_reports = len(reports)
    rise(Tensor(IMAGES[12]), 3)
    assert len(reports) == n_reports


def test_observers_get_partial_maps_of_occlusion(no_clock):
    occlusion, reports = Occlusion(networks.GoldenNetwork(WEIGHTS), nn.Softmax()), []
    with observe(lambda *report: reports.append(report)):
        maps = occlusion(Tensor(IMAGES[12]), 3).asnumpy()
    assert (reports[0][2], reports[-1][2]) == (0, 202)  # 100 windows and the image itself, for two images
    assert {(explainer, total) for explainer, _, _, total in reports} == {(occlusion, 202)}
    assert not reports[0][1].any()
    np.testing.assert_array_equal(reports[-1][1], maps)
    assert any(partial[0].any() and not partial[1].any() for _, partial, _, _ in reports)


def test_an_observer_that_fails_is_removed(capfd):
    calls = []

    def fail(*report):
        calls.append(report)
        raise OSError("no page")

    with observe(fail):
        short_rise(networks.GoldenNetwork(WEIGHTS), 250, 50)(Tensor(IMAGES[12]), 3)
    assert len(calls) == 1
    assert "An observer of explanations failed and was removed: OSError: no page" in capfd.readouterr().err


def test_rise_can_be_stopped_and_has_the_map_so_far(no_clock):
    rise = short_rise(networks.GoldenNetwork(WEIGHTS), 250, 50)

    def stop(explainer, maps, done, total):
        if done >= 100:
            raise KeyboardInterrupt

    with observe(stop), pytest.raises(KeyboardInterrupt, match=r"RISE was stopped after \d+ of 250 masks"):
        rise(Tensor(IMAGES[12]), 3)
    shorter = short_rise(rise.network, 100, 50)(Tensor(IMAGES[12]), 3)
    np.testing.assert_allclose(rise.partial_saliency.asnumpy(), shorter.asnumpy(), atol=1e-6)


def test_observers_hear_of_an_explainer_that_ends_by_an_error(no_clock, capfd):
    rise, stopped = short_rise(networks.GoldenNetwork(WEIGHTS), 250, 50), []

    def fail(explainer):
        stopped.append("failed")
        raise OSError("no page")

    with observe(lambda *report: None, stopped.append), observe(lambda *report: None, fail):
        rise(Tensor(IMAGES[12]), 3)
        assert not stopped
        for _ in range(2):
            with pytest.raises(ValueError, match="targets"):
                rise(Tensor(IMAGES[12]), 1000)
    assert stopped == [rise, "failed", rise]
    assert "An observer of explanations failed and was removed: OSError: no page" in capfd.readouterr().err


# ---------------------------------------------------------------------- errors
NET = networks.Linear(shape=(3, 4, 4))
X = random_image(2, 3, 4, 4)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Gradient(lambda x: x), TypeError, "'network' should be Cell"),
        (lambda: RISE(NET, None), TypeError, "'activation_fn' should be Cell"),
        (lambda: Occlusion(NET, nn.Softmax(), 2.0), TypeError, "'perturbation_per_eval' should be int"),
        (
            lambda: RISE(NET, nn.Softmax(), 0),
            ValueError,
            "'perturbation_per_eval' should be a positive integer, but got 0",
        ),
        (lambda: GradCAM(NET, 3), TypeError, "'layer' should be str"),
        (lambda: GradCAM(NET, "rely"), ValueError, "'layer' should be the name of a Cell .* got 'rely'.*: relu"),
    ],
)
def test_wrong_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("name", EXPLAINERS)
@pytest.mark.parametrize(
    ("inputs", "targets", "error", "message"),
    [
        (X.asnumpy(), 1, TypeError, "'inputs' should be Tensor"),
        (X[0], 1, ValueError, "'inputs' should be a 4D Tensor .* Add an axis"),
        (X, "cat", TypeError, "'targets' should be int or Tensor"),
        (X, [1, 2], TypeError, "'targets' should be int or Tensor"),
        (X, Tensor([1.0, 2.0]), TypeError, "'targets' should be integers"),
        (X, labels(1, 2, 0), ValueError, r"'targets' should be an int, or a Tensor of shape .* with N = 2 .* \(3,\)"),
        (X, Tensor(np.zeros((2, 1, 1), np.int32)), ValueError, r"got shape \(2, 1, 1\)"),
        (X, 3, ValueError, "3"),
        (X, labels(0, -1), ValueError, "'targets' should be at least 0, but got -1"),
    ],
)
def test_wrong_inputs(name, inputs, targets, error, message):
    explainer = GradCAM(NET) if name == "GradCAM" else EXPLAINERS[name](NET)
    with pytest.raises(error, match=message):
        explainer(inputs, targets)


@pytest.mark.parametrize("name", [name for name in EXPLAINERS if name != "RISE"])
def test_only_rise_explains_several_labels_of_an_image(name):
    explainer = GradCAM(NET) if name == "GradCAM" else EXPLAINERS[name](NET)
    with pytest.raises(ValueError, match=r"got shape \(2, 2\)"):
        explainer(X, Tensor(np.zeros((2, 2), np.int32)))


def test_a_network_that_returns_no_scores_is_an_error():
    class Sum(nn.Cell):
        def construct(self, x):
            return x.sum()

    with pytest.raises(ValueError, match="The network should return one Tensor"):
        short_rise(Sum())(X, 0)


@pytest.mark.parametrize("kind", [Gradient, GuidedBackprop, Deconvolution, GradCAM, Occlusion])
def test_an_empty_batch_has_empty_maps(kind):
    arguments = (nn.Softmax(),) if kind is Occlusion else ()
    maps = kind(networks.Linear(), *arguments)(Tensor(np.zeros((0, 1, 4, 4), np.float32)), 1)
    assert maps.shape == (0, 1, 4, 4)


def test_an_array_in_place_of_a_tensor_is_described_on_one_line():
    with pytest.raises(TypeError, match=r"'inputs' should be Tensor, but got float32\[2, 1, 4, 4\] \(ndarray\)\.$"):
        Gradient(networks.Linear())(np.zeros((2, 1, 4, 4), np.float32), 1)
