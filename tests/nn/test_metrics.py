"""Metrics: values by hand and of MindSpore, accumulation over batches, and what they refuse."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import msnb as ms
from msnb import nn

SCORES = [[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]]
LABELS = [1, 0, 1]

GOLDEN = Path(__file__).parent.parent / "golden"
recipe = runpy.run_path(str(GOLDEN / "make_metrics.py"))
golden = json.loads((GOLDEN / "metrics.json").read_text(encoding="utf-8"))


def _are_equal(result, expected):
    if isinstance(expected, list) and any(isinstance(part, list) for part in expected):
        return len(result) == len(expected) and all(map(_are_equal, result, expected))
    return np.shape(result) == np.shape(expected) and np.allclose(result, expected, rtol=1e-6, equal_nan=True)


@pytest.mark.parametrize("case", recipe["CASES"])
def test_a_metric_has_mindspores_value(case):
    result = recipe["run"](ms, case)
    assert _are_equal(result, golden[case]), f"{result} is not {golden[case]}"


@pytest.mark.parametrize("batch", [128, 3])
def test_occlusion_tells_by_how_much_a_score_falls(batch):
    net = nn.Dense(4, 2, weight_init=ms.Tensor([[0.1, 0.8, 0.1, 0.1], [1.0, 1.0, 1.0, 1.0]]))
    image, label = np.array([[0.1, 0.2, 0.3, 0.4]], np.float32), np.array(1)
    metric = nn.OcclusionSensitivity(n_batch=batch)
    np.testing.assert_allclose(metric(net, image, label), [0.3, 0.6, 1.0, 0.9], rtol=1e-5)  # as MindSpore 2.7.1
    metric = nn.OcclusionSensitivity(n_batch=batch, margin=[1], b_box=[1, -1])
    np.testing.assert_allclose(metric(net, image, 1), [0.3, 0.5, 0.7], rtol=1e-5)
    with pytest.raises(ValueError, match="b_box"):
        nn.OcclusionSensitivity(b_box=[0, 9])(net, image, 1)


def test_the_area_under_a_curve_is_that_of_its_trapezoids():
    x, y = np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0])
    assert nn.auc(x, y) == nn.auc(x[::-1], y[::-1]) == nn.auc(x[[1, 0, 2]], y[[1, 0, 2]], reorder=True) == 0.75
    with pytest.raises(ValueError, match="reorder"):
        nn.auc(x[[1, 0, 2]], y)


@pytest.mark.parametrize(
    ("metric", "batch", "error"),
    [
        (nn.BleuScore(), ([["a"]], []), ValueError),
        (nn.ConfusionMatrix(2), ([0, 1], [0, 2]), ValueError),
        (nn.ConfusionMatrix(2), ([[0, 1]], [0, 1]), ValueError),
        (nn.ConfusionMatrixMetric(), ([[0, 2]], [[0, 2]]), ValueError),
        (nn.ConfusionMatrixMetric(calculation_method=True), ([[0, 1]], [[0, 1]]), ValueError),
        (nn.Dice(), ([1.0], [1.0, 2.0]), ValueError),
        (nn.Perplexity(), ([[0.5, 0.5]], [0, 1]), RuntimeError),
        (nn.ROC(class_num=3), ([[0.5, 0.5]], [0]), ValueError),
        (nn.HausdorffDistance(), ([1, 0], [1, 0], 7), ValueError),
        (nn.MeanSurfaceDistance(), ([1, 0], [1, 0], "1"), TypeError),
        (nn.OcclusionSensitivity(), (len, [1.0], 0), TypeError),
    ],
)
def test_what_does_not_fit_a_metric_is_refused(metric, batch, error):
    with pytest.raises(error):
        metric.update(*batch)
    with pytest.raises(RuntimeError, match="no value yet"):
        type(metric)(*([2] if isinstance(metric, nn.ConfusionMatrix) else [])).eval()


def _tensors(scores=SCORES, labels=LABELS):
    return ms.Tensor(np.array(scores, np.float32)), ms.Tensor(np.array(labels, np.int32))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (nn.Accuracy(), 2 / 3),
        (nn.Precision(), [0.5, 1]),
        (nn.Recall(), [1, 0.5]),
        (nn.Fbeta(2), [5 * 1 / (4 * 1 + 2), 5 * 1 / (4 * 2 + 1)]),
        (nn.F1(), [2 / 3, 2 / 3]),
        (nn.TopKCategoricalAccuracy(2), 1),
        (nn.Top1CategoricalAccuracy(), 2 / 3),
    ],
)
@pytest.mark.parametrize("one_hot", [False, True])
def test_a_classification_metric_has_the_value_of_its_definition(metric, expected, one_hot):
    labels = np.eye(2)[LABELS] if one_hot else LABELS
    metric.clear()
    metric.update(*_tensors(labels=labels))
    np.testing.assert_allclose(metric.eval(), expected)


@pytest.mark.parametrize("metric", [nn.Accuracy(), nn.Precision(), nn.Recall(), nn.F1(), nn.Top1CategoricalAccuracy()])
def test_batches_add_up(metric):
    scores, labels = np.random.RandomState(0).rand(8, 3), np.arange(8) % 3
    of_all_rows = metric(scores, labels)
    metric.clear()
    for part in (slice(0, 3), slice(3, 8)):
        metric.update(scores[part], labels[part])
    np.testing.assert_allclose(metric.eval(), of_all_rows)


def test_multilabel_looks_at_every_label():
    predicted = np.array([[0, 1, 0], [1, 1, 0], [0, 1, 1]])
    true = np.array([[0, 1, 0], [1, 0, 0], [0, 1, 1]])
    assert nn.Accuracy("multilabel")(predicted, true) == pytest.approx(2 / 3)
    precision, recall = nn.Precision("multilabel"), nn.Recall("multilabel")
    np.testing.assert_allclose(precision(predicted, true), [1, 0.5, 1])
    np.testing.assert_allclose(precision.eval(average=True), 2.5 / 3)
    np.testing.assert_allclose(recall(predicted, true), [1, 1, 1])


def test_average_is_the_mean_over_classes():
    metric = nn.Precision()
    metric.update(*_tensors())
    assert metric.eval(average=True) == pytest.approx(0.75)


def test_segmentation_scores_are_taken_per_pixel():
    scores = np.random.RandomState(0).rand(2, 3, 4, 5)
    assert nn.Accuracy()(scores, scores.argmax(1)) == 1.0


def test_errors_are_means_over_samples():
    predicted, true = np.array([0.1, 0.2, 0.6, 0.9]), np.array([0.1, 0.25, 0.7, 0.9])
    assert nn.MAE()(predicted, true) == pytest.approx(0.15 / 4)
    assert nn.MSE()(predicted, true) == pytest.approx((0.0025 + 0.01) / 4)
    assert nn.MSE()(np.ones((2, 3)), np.zeros((2, 3))) == pytest.approx(3)


def test_loss_is_the_mean_over_batches():
    metric = nn.Loss()
    for loss in (ms.Tensor(0.2, ms.float32), ms.Tensor([0.4, 0.8], ms.float32)):
        metric.update(loss)
    assert metric.eval() == pytest.approx(0.4)


@pytest.mark.parametrize("name", nn.names())
def test_a_metric_of_every_name_can_be_constructed(name):
    if name != "auc":  # a function, as in MindSpore
        assert isinstance(nn.get_metric_fn(name, *([2] if name in ("topk", "confusion_matrix") else [])), nn.Metric)


def test_metrics_come_as_a_dict_a_set_or_not_at_all():
    from msnb.nn.metrics import get_metrics

    assert get_metrics(None) is None
    assert isinstance(get_metrics({"acc"})["acc"], nn.Accuracy)
    metrics = {"a": nn.Accuracy()}
    assert get_metrics(metrics) is metrics
    for wrong in ("acc", {"a": "acc"}, {1: nn.Accuracy()}):
        with pytest.raises(TypeError):
            get_metrics(wrong)
    with pytest.raises(KeyError):
        get_metrics({"no_such_metric"})


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (TypeError, lambda: nn.Accuracy("regression")),
        (ValueError, lambda: nn.Fbeta(0)),
        (TypeError, lambda: nn.TopKCategoricalAccuracy("5")),
        (ValueError, lambda: nn.TopKCategoricalAccuracy(0)),
        (TypeError, lambda: nn.Metric()),
        (RuntimeError, lambda: nn.Accuracy().eval()),
        (RuntimeError, lambda: nn.Precision().eval()),
        (RuntimeError, lambda: nn.F1().eval()),
        (RuntimeError, lambda: nn.MAE().eval()),
        (RuntimeError, lambda: nn.Loss().eval()),
        (RuntimeError, lambda: nn.Top1CategoricalAccuracy().eval()),
        (ValueError, lambda: nn.Accuracy().update(np.ones((2, 3)))),
        (ValueError, lambda: nn.Accuracy()(np.ones((2, 3)), np.ones((2, 3, 4)))),
        (ValueError, lambda: nn.Accuracy()(np.ones((2, 3)), np.ones(3))),
        (ValueError, lambda: nn.Accuracy("multilabel")(np.full((2, 3), 2), np.ones((2, 3)))),
        (ValueError, lambda: nn.Precision()(np.ones((2, 3)), np.array([1, 3]))),
        (ValueError, lambda: nn.Loss().update(1, 2)),
        (ValueError, lambda: nn.Loss().update(np.ones((2, 2)))),
        (TypeError, lambda: nn.Loss().update(0.5)),
    ],
)
def test_misuse_is_refused(error, make):
    with pytest.raises(error):
        make()


def test_batches_need_the_same_number_of_classes():
    metric = nn.Accuracy()
    metric.update(np.ones((2, 3)), np.zeros(2))
    with pytest.raises(ValueError, match="3 classes"):
        metric.update(np.ones((2, 4)), np.zeros(2))


R1_1 = {
    "accuracy",
    "acc",
    "precision",
    "recall",
    "F1",
    "topk",
    "top_1_accuracy",
    "top_5_accuracy",
    "mae",
    "mse",
    "loss",
}


def _names_and_values():
    scores, labels = np.array(SCORES, np.float32), np.array(LABELS, np.int32)
    for name in sorted({*nn.metrics.names()} & R1_1):
        metric = nn.get_metric_fn(name, 2) if name == "topk" else nn.get_metric_fn(name)
        inputs = (
            [scores[:, 0]]
            if name == "loss"
            else [scores[:, 0], scores[:, 1]]
            if name in ("mae", "mse")
            else [scores, labels]
        )
        yield name, metric, [ms.Tensor(x) for x in inputs]
    yield "Fbeta", nn.Fbeta(2), [ms.Tensor(scores), ms.Tensor(labels)]


@pytest.mark.parametrize(("name", "metric", "inputs"), [pytest.param(*c, id=c[0]) for c in _names_and_values()])
def test_a_metric_is_a_plain_number_or_an_array(name, metric, inputs):
    metric.clear()
    metric.update(*inputs)
    value = metric.eval()
    if isinstance(value, np.ndarray):
        value = metric.eval(average=True)
    assert type(value) is float and "np." not in str({name: value})


@pytest.mark.parametrize("metric", [nn.Accuracy(), nn.Top1CategoricalAccuracy()])
def test_scores_that_are_nan_and_labels_that_name_no_class_are_said(metric, monkeypatch):
    said = []
    monkeypatch.setattr("msnb.log.once", lambda text, *args: said.append(text % args))
    metric(*_tensors())
    assert not said
    metric(*_tensors(scores=[[np.nan, 1], [0, 1], [0, 1]]))
    metric(*_tensors(labels=[0, 1, 2]))
    metric(*_tensors(labels=[0, 1, -1]))
    assert "NaN" in said[0] and all("2 classes" in text for text in said[1:]) and len(said) == 3


@pytest.mark.parametrize("metric", [nn.Precision(), nn.Recall(), nn.F1()])
@pytest.mark.parametrize("label", [-1, 2])
def test_labels_that_name_no_class_are_refused_where_classes_are_counted(metric, label):
    with pytest.raises(ValueError, match="class"):
        metric(*_tensors(labels=[0, 1, label]))


def test_occlusion_sensitivity_refuses_a_bool_as_margin():
    with pytest.raises(TypeError, match="margin"):
        nn.OcclusionSensitivity(margin=True)
