"""Benchmarks of explainers beside Quantus and numpy formulas."""

import explained_networks as networks
import make_explainer
import numpy as np
import pytest

import msnb
from msnb import Tensor, context, nn
from msnb.explainer._compiled import predict
from msnb.explainer.benchmark import ClassSensitivity, Faithfulness, Localization, Robustness
from msnb.explainer.benchmark._faithfulness import compute_curve, compute_naive_faithfulness
from msnb.explainer.explanation import RISE, Gradient
from msnb.explainer.explanation._attribution import Attribution

GOLDEN = np.load(make_explainer.FILE)
WEIGHTS, IMAGES, SALIENCY, MASK, NOISE = make_explainer.make_inputs()
GREY = IMAGES[12][:1, :1]
LABEL = make_explainer.TARGETS[0]
MODES = [context.PYNATIVE_MODE, context.GRAPH_MODE]
SIDES = (12, 9)  # an image whose axes differ


def network(n_channels=1):
    return networks.GoldenNetwork(WEIGHTS, n_channels)


class Fixed(Attribution):
    """Explainer that returns the same map for each image."""

    def __init__(self, net, saliency):
        super().__init__(net)
        self.saliency = saliency

    def __call__(self, inputs, targets):
        return Tensor(np.broadcast_to(self.saliency, (len(inputs), 1, *inputs.shape[2:])).astype(np.float32))


def predict_label(images):
    return predict(network(), nn.Softmax(), images)[:, LABEL]


def random_map(*shape, seed=0):
    return np.random.default_rng(seed).random(shape).astype(np.float32)


# ---------------------------------------------------------------------- faithfulness
def test_naive_faithfulness_of_all_pixels_equals_quantus():
    value = compute_naive_faithfulness(predict_label, GREY[0], SALIENCY, share=1)
    np.testing.assert_allclose(value, GOLDEN["faithfulness_estimate"][0], atol=1e-5)


def test_the_deletion_curve_of_all_pixels_equals_quantus():
    curve = compute_curve(predict_label, GREY[0], np.zeros_like(GREY[0]), SALIENCY, share=1)
    np.testing.assert_allclose(curve[1:], GOLDEN["pixel_flipping"][0], atol=1e-6)
    np.testing.assert_allclose(curve[0], predict_label(GREY)[0], atol=1e-6)


def reference_faithfulness(metric, image, saliency, net, label):
    """The formulas of the documentation, pixel by pixel."""
    order = sorted(range(saliency.size), key=lambda pixel: -saliency.reshape(-1)[pixel])
    n_steps = int(saliency.size**0.5)
    size = saliency.size // 2 // n_steps

    def probability(remaining):
        changed = np.zeros_like(image)
        for pixel in remaining:
            row, column = divmod(pixel, image.shape[2])
            changed[:, row, column] = image[:, row, column]
        return nn.Softmax()(net(Tensor(changed[None]))).asnumpy()[0, label]

    everything = set(range(saliency.size))
    if metric == "NaiveFaithfulness":
        steps = [order[step * size : (step + 1) * size] for step in range(n_steps)]
        losses = [-probability(everything - set(step)) for step in steps]
        value = np.corrcoef([saliency.reshape(-1)[step].mean() for step in steps], losses)[0, 1]
    else:
        firsts = [set(order[: step * size]) for step in range(n_steps + 1)]
        deleted = metric == "DeletionAUC"
        curve = np.array([probability(everything - first if deleted else first) for first in firsts], np.float64)
        change = curve[0] - curve if deleted else curve - curve[0]
        value = np.trapezoid(change) / n_steps
    return (1 + value) / 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("metric", ["NaiveFaithfulness", "DeletionAUC", "InsertionAUC"])
def test_faithfulness_equals_its_formula(mode, metric):
    context.set_context(mode=mode)
    net, image, saliency = network(3), random_map(3, *SIDES), random_map(*SIDES, seed=1)
    faithfulness = Faithfulness(5, nn.Softmax(), metric)
    score = faithfulness.evaluate(Fixed(net, saliency), Tensor(image[None]), LABEL)
    expected = reference_faithfulness(metric, image, saliency, net, LABEL)
    assert (score.shape, score.dtype) == ((1,), np.float64)
    np.testing.assert_allclose(score, expected, atol=1e-5)
    again = faithfulness.evaluate(
        Gradient(net), Tensor(image[None]), Tensor([LABEL], msnb.int32), Tensor(saliency[None, None])
    )
    np.testing.assert_array_equal(again, score)


def test_a_better_map_has_a_higher_score():
    """The upper half of the image decides, and one map knows it."""

    class Upper(nn.Cell):
        def construct(self, x):
            total = x[:, :, :6].mean((1, 2, 3)).reshape(-1, 1)
            return total * Tensor([[-1.0, 1.0]], msnb.float32)

    image = Tensor(np.ones((1, 1, 12, 12), np.float32))
    right, wrong = np.zeros((12, 12)), np.zeros((12, 12))
    right[:6], wrong[6:] = 1, 1
    ramp = np.linspace(0, 0.01, 144).reshape(12, 12)  # no ties
    for metric in ("NaiveFaithfulness", "DeletionAUC", "InsertionAUC"):
        faithfulness, net = Faithfulness(2, nn.Softmax(), metric), Upper()
        scores = [faithfulness.evaluate(Fixed(net, m + ramp), image, 1)[0] for m in (right, wrong)]
        assert scores[0] >= scores[1] if metric == "NaiveFaithfulness" else scores[0] > scores[1] + 0.05


def test_a_constant_map_has_no_correlation(capfd):
    score = Faithfulness(5, nn.Softmax()).evaluate(Fixed(network(), np.ones((12, 12))), Tensor(GREY), LABEL)
    assert score.tolist() == [0.5]
    assert "the map is constant" in capfd.readouterr().err


# ---------------------------------------------------------------------- localization
def test_the_pointing_game_without_tolerance_equals_quantus():
    localization = Localization(5)
    localization._metric_arg = 1
    for saliency, expected in zip((SALIENCY, SALIENCY * MASK), GOLDEN["pointing_game"], strict=True):
        score = localization.evaluate(Fixed(network(), saliency), Tensor(GREY), LABEL, mask=MASK[None, None])
        assert score.tolist() == [expected]


@pytest.mark.parametrize(("distance", "expected"), [(14, 1.0), (15, 0.0)])
def test_the_pointing_game_allows_less_than_15_pixels(distance, expected):
    """Along both axes, of different lengths."""
    for axis in (0, 1):
        saliency, mask = np.zeros((40, 50)), np.zeros((1, 1, 40, 50))
        saliency[20, 10] = 1
        position = [20, 10]
        position[axis] += distance
        mask[0, 0, *position] = 1
        image = Tensor(random_map(1, 1, 40, 50))
        score = Localization(5).evaluate(Fixed(network(), saliency), image, 1, mask=Tensor(mask))
        assert score.tolist() == [expected]


def test_iosr_is_the_share_of_the_salient_region():
    saliency, mask = random_map(*SIDES), np.zeros((1, 1, *SIDES))
    mask[..., 2:11, 3:5] = 1
    is_salient = saliency > saliency.max() / 2
    score = Localization(5, "IoSR").evaluate(Fixed(network(), saliency), Tensor(random_map(1, 1, *SIDES)), 2, mask=mask)
    np.testing.assert_allclose(score, (is_salient & (mask[0, 0] > 0)).sum() / is_salient.sum())


def test_a_map_of_zeros_has_no_salient_region():
    mask = np.ones((1, 1, 12, 12))
    score = Localization(5, "IoSR").evaluate(Fixed(network(), np.zeros((12, 12))), Tensor(GREY), 2, mask=mask)
    assert score.tolist() == [0.0]


# ---------------------------------------------------------------------- robustness
@pytest.mark.parametrize("mode", MODES)
def test_robustness_of_the_same_noise_equals_quantus(mode):
    context.set_context(mode=mode)

    class Softmaxed(networks.GoldenNetwork):  # Quantus explains the probability
        def construct(self, x):
            return nn.Softmax()(super().construct(x))

    robustness = Robustness(5, nn.Softmax())
    robustness._draw_noisy_images = lambda net, image: iter(image + NOISE[:, None])
    score = robustness.evaluate(Gradient(Softmaxed(WEIGHTS, 1)), Tensor(GREY), LABEL)
    np.testing.assert_allclose(score, np.exp(-GOLDEN["max_sensitivity"]), atol=1e-5)


def test_robustness_draws_again_while_the_probabilities_change_much():
    class Steep(nn.Cell):
        def construct(self, x):
            total = x.mean((1, 2, 3)).reshape(-1, 1)
            return total * Tensor([[-300.0, 300.0]], msnb.float32)

    random, image = np.random.default_rng(0), np.zeros((1, 1, 4, 4), np.float32)
    expected = []
    for _ in range(10):
        for _ in range(3):
            noisy = (image + random.uniform(-0.2, 0.2, image.shape)).astype(np.float32)
            total = noisy.astype(np.float64).mean() * 300
            probabilities = np.exp([-total, total]) / np.exp([-total, total]).sum()
            if np.linalg.norm(probabilities - 0.5) <= 0.1:
                break
        expected.append(noisy)
    drawn = list(Robustness(2, nn.Softmax())._draw_noisy_images(Steep(), image))
    np.testing.assert_array_equal(drawn, expected)
    assert np.abs(drawn).max() <= 0.2


def test_robustness_is_1_for_equal_maps_and_nan_for_a_map_of_zeros(capfd):
    robustness, image = Robustness(5, nn.Softmax()), Tensor(GREY)
    assert robustness.evaluate(Fixed(network(), SALIENCY), image, LABEL).tolist() == [1.0]
    assert np.isnan(robustness.evaluate(Fixed(network(), np.zeros((12, 12))), image, LABEL)).all()
    assert "the map is 0 everywhere" in capfd.readouterr().err


# ---------------------------------------------------------------------- class sensitivity
@pytest.mark.parametrize("explainer", [Gradient, lambda net: RISE(net, nn.Softmax(), 600)])
def test_class_sensitivity_correlates_the_maps_of_the_surest_and_least_sure_label(explainer):
    net, image = network(3), Tensor(IMAGES[12][:1])
    explainer, logits = explainer(net), net(image).asnumpy()[0]
    first, last = (explainer(image, int(label)).asnumpy().ravel() for label in (logits.argmax(), logits.argmin()))
    score = ClassSensitivity().evaluate(explainer, image)
    np.testing.assert_allclose(score, [(1 - np.corrcoef(first, last)[0, 1]) / 2], atol=1e-6)


def test_constant_maps_have_no_correlation():
    assert ClassSensitivity().evaluate(Fixed(network(), np.ones((12, 12))), Tensor(GREY)).tolist() == [0.5]


# ---------------------------------------------------------------------- collected scores
def test_scores_of_labels_are_collected():
    metric = Localization(3)
    metric.aggregate(0.5, 1)
    metric.aggregate(np.array([1.0, np.nan]), Tensor([2, 2], msnb.int32))
    metric.aggregate(Tensor([0.25], msnb.float32), np.array([1]))
    metric.aggregate(1.0, np.array([0]))
    assert metric.num_labels == 3
    assert metric.class_performances == [1.0, 0.375, 1.0]
    assert metric.performance == (1 + 0.5 + 0.25 + 1) / 4
    results = metric.get_results()
    assert {label: results[label][:1] for label in results} == {0: [1.0], 1: [0.5], 2: [1.0]}
    results[0].append(9.0)
    assert metric.get_results()[0] == [1.0]
    metric.reset()
    assert (metric.performance, metric.class_performances) == (0.0, [0.0, 0.0, 0.0])


def test_scores_without_a_label_are_collected():
    metric = ClassSensitivity()
    metric.aggregate(0.5)
    metric.aggregate(np.array([1.0, np.inf]))
    metric.aggregate(Tensor([[0.75]], msnb.float32))
    assert metric.performance == 0.75
    assert metric.get_results() == [0.5, 1.0, np.inf, 0.75]
    metric.reset()
    assert (metric.performance, metric.get_results()) == (0.0, [])


# ---------------------------------------------------------------------- errors
NET = networks.Linear(3, shape=(1, 4, 4))
X = Tensor(random_map(1, 1, 4, 4))
EXPLAINER = Gradient(NET)


def evaluate(*args, metric=None, **options):
    return (metric or Faithfulness(3, nn.Softmax())).evaluate(*args, **options)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Localization(2.0), TypeError, "'num_labels' should be int"),
        (lambda: Robustness(0, nn.Softmax()), ValueError, "'num_labels' should be a positive integer, but got 0"),
        (lambda: Faithfulness(3, None), TypeError, "'activation_fn' should be Cell"),
        (lambda: Robustness(3, 1), TypeError, "'activation_fn' should be Cell"),
        (
            lambda: Faithfulness(3, nn.Softmax(), "AUC"),
            ValueError,
            "'metric' should be one of .*DeletionAUC.* got 'AUC'",
        ),
        (lambda: Localization(3, "IoU"), ValueError, r"'metric' should be one of \['PointingGame', 'IoSR'\]"),
        (lambda: evaluate(NET, X, 1), TypeError, "'explainer' should be Attribution"),
        (lambda: evaluate(EXPLAINER, X.asnumpy(), 1), TypeError, "'inputs' should be Tensor"),
        (lambda: evaluate(EXPLAINER, X[0], 1), ValueError, "'inputs' should be a 4D Tensor"),
        (lambda: evaluate(EXPLAINER, Tensor(random_map(2, 1, 4, 4)), 1), ValueError, "one image .* but got 2 images"),
        (
            lambda: ClassSensitivity().evaluate(EXPLAINER, Tensor(random_map(2, 1, 4, 4))),
            ValueError,
            "one image .* but got 2 images",
        ),
        (lambda: ClassSensitivity().evaluate(NET, X), TypeError, "'explainer' should be Attribution"),
        (lambda: evaluate(EXPLAINER, X, 3), ValueError, "'targets' should be from 0 to 2, but got 3"),
        (lambda: evaluate(EXPLAINER, X, -1), ValueError, "'targets' should be at least 0, but got -1"),
        (lambda: evaluate(EXPLAINER, X, 1.0), TypeError, "'targets' should be int or Tensor"),
        (lambda: evaluate(EXPLAINER, X, Tensor([0, 1], msnb.int32)), ValueError, r"got shape \(2,\)"),
        (
            lambda: evaluate(EXPLAINER, X, 1, metric=Robustness(4, nn.Softmax())),
            ValueError,
            "'num_labels' should be the number of outputs of the network of the explainer, 3, but got 4",
        ),
        (lambda: evaluate(EXPLAINER, X, 1, X.asnumpy()), TypeError, "'saliency' should be Tensor or NoneType"),
        (lambda: evaluate(EXPLAINER, X, 1, X[0]), ValueError, r"'saliency' should have the shape \(1, 1, 4, 4\)"),
        (lambda: evaluate(EXPLAINER, X, 1, metric=Localization(3)), ValueError, "'mask' should be the pixels"),
        (lambda: evaluate(EXPLAINER, X, 1, metric=Localization(3), mask=[1]), TypeError, "'mask' should be"),
        (
            lambda: evaluate(EXPLAINER, X, 1, metric=Localization(3), mask=np.ones((4, 4))),
            ValueError,
            r"'mask' should have the shape \(1, 1, 4, 4\)",
        ),
        (lambda: Localization(3).aggregate("good", 1), TypeError, "'result' should be float"),
        (lambda: Localization(3).aggregate(0.5, "cat"), TypeError, "'targets' should be int"),
        (lambda: Localization(3).aggregate(0.5, 3), ValueError, "'targets' should be from 0 to 2, but got 3"),
        (lambda: Localization(3).aggregate(0.5, np.array([0, 1])), ValueError, "2 labels and 1 scores"),
        (lambda: ClassSensitivity().aggregate(None), TypeError, "'result' should be float"),
    ],
)
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()
