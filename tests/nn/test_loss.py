"""Loss functions: reductions, the base class that networks derive from, and use inside a training step."""

import numpy as np
import pytest

import msnb as ms
from msnb import nn, ops
from msnb.nn.loss.loss import _Loss


def _t(values, dtype=ms.float32):
    return ms.Tensor(np.array(values), dtype)


@pytest.mark.parametrize(
    ("reduction", "expected"), [("mean", 2.5), ("sum", 10.0), ("none", [1.0, 2.0, 3.0, 4.0]), (None, [1, 2, 3, 4])]
)
def test_reduction_decides_what_becomes_of_the_losses(reduction, expected):
    loss = nn.L1Loss(reduction)(_t([1, 2, 3, 4]), _t([0, 0, 0, 0]))
    np.testing.assert_allclose(loss.asnumpy(), expected)


def test_a_loss_of_ones_own_derives_from_the_base():
    class Cubic(_Loss):
        def construct(self, base, target):
            x = self.reduce_mean((base - target) ** 3, self.get_axis(base)[1:])
            return self.get_loss(x)

    assert nn.LossBase is _Loss
    loss = Cubic("sum")(_t([[1, 3], [2, 2]]), _t([[0, 0], [0, 0]]))
    assert loss.asnumpy() == pytest.approx(14 + 8)


def test_weights_multiply_the_losses_before_they_are_reduced():
    assert _Loss("sum").get_loss(_t([1, 2]), _t([3, 4])).asnumpy() == pytest.approx(11)


@pytest.mark.parametrize("dtype", [ms.int32, ms.int64])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_sparse_and_one_hot_labels_mean_the_same(reduction, dtype):
    logits = _t(np.random.RandomState(0).randn(5, 3))
    labels = np.array([0, 2, 1, 1, 0])
    sparse = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction=reduction)
    dense = nn.SoftmaxCrossEntropyWithLogits(reduction=reduction)
    one_hot = _t(np.eye(3)[labels])
    np.testing.assert_allclose(sparse(logits, _t(labels, dtype)).asnumpy(), dense(logits, one_hot).asnumpy(), rtol=1e-6)
    np.testing.assert_allclose(
        ops.GradOperation()(sparse)(logits, _t(labels, dtype)).asnumpy(),
        ops.GradOperation()(dense)(logits, one_hot).asnumpy(),
        atol=1e-6,
    )


def test_sparse_is_not_the_default():
    loss = nn.SoftmaxCrossEntropyWithLogits()
    assert loss.sparse is False
    assert loss(_t([[0.0, 0.0]]), _t([[1.0, 0.0]])).asnumpy() == pytest.approx([np.log(2)])


def test_cross_entropy_stays_finite_for_large_logits():
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")(_t([[1000.0, 0.0]]), _t([1], ms.int32))
    assert loss.asnumpy() == pytest.approx(1000)
    logits = nn.BCEWithLogitsLoss()(_t([200.0, -200.0]), _t([0.0, 1.0]))
    assert logits.asnumpy() == pytest.approx(200)


def test_smooth_l1_is_not_reduced():
    loss = nn.SmoothL1Loss(beta=2.0)(_t([1, 5]), _t([0, 0]))
    np.testing.assert_allclose(loss.asnumpy(), [0.25, 4.0])


def test_focal_loss_without_focus_is_cross_entropy():
    logits, labels = _t(np.random.RandomState(0).randn(4, 3)), _t([0, 1, 2, 1], ms.int32)
    focal, plain = nn.FocalLoss(gamma=0.0), nn.CrossEntropyLoss()
    assert focal(logits, labels).asnumpy() == pytest.approx(float(plain(logits, labels).asnumpy()), rel=1e-5)
    assert (nn.FocalLoss(reduction="none")(logits, labels).asnumpy() < 2).all()


def test_focal_loss_of_several_positions_and_of_subsets_of_classes():
    """Values of MindSpore 2.7.1."""
    logits, weight = _t((np.arange(12) % 5 - 2).reshape(2, 3, 2) / 2.0), _t([1.0, 2.0, 0.5])
    classes, parts = [[[0, 2]], [[1, 1]]], [[[1, 0], [0, 1], [2, 0]], [[0, 1], [1, 1], [0, 0]]]
    each = nn.FocalLoss(weight, reduction="none")
    np.testing.assert_allclose(each(logits, _t(classes, ms.int32)).asnumpy(), [1.359808, 0.128155], rtol=1e-5)
    expected = [[0.996803, 0.064078, 0.022839], [0.432733, 0.128155, 0.0]]
    np.testing.assert_allclose(each(logits, _t(parts, ms.int32)).asnumpy(), expected, rtol=1e-4)
    np.testing.assert_allclose(nn.FocalLoss(gamma=1.5)(logits, _t(parts, ms.int32)).asnumpy(), 0.295856, rtol=1e-5)
    with pytest.raises(ValueError, match="'labels' should have shape"):
        each(logits, _t([[1]], ms.int32))


def test_the_mean_leaves_out_ignored_labels():
    logits, labels = _t(np.random.RandomState(0).randn(4, 3)), [0, 1, 2, 1]
    loss = nn.CrossEntropyLoss(ignore_index=1, label_smoothing=0.2)
    rows = [0, 2]
    expected = loss(_t(logits.asnumpy()[rows]), _t(np.array(labels)[rows], ms.int32))
    assert loss(logits, _t(labels, ms.int32)).asnumpy() == pytest.approx(float(expected.asnumpy()), rel=1e-6)


@pytest.mark.parametrize("length", [1.0, 1e-3])
def test_the_cosine_does_not_depend_on_lengths(length):
    x, y = _t([[length, 0.0]]), _t([[length, length]])
    for loss in (nn.CosineEmbeddingLoss(), ops.cosine_embedding_loss):
        assert loss(x, y, _t([1], ms.int32)).asnumpy() == pytest.approx(1 - np.sqrt(0.5), rel=1e-5)


@pytest.mark.parametrize("loss", [nn.L1Loss, nn.MSELoss])
def test_losses_of_ints_are_ints(loss):
    x, y = _t([1, 5, 9], ms.int32), _t([1, 2, 3], ms.int32)
    assert loss()(x, y).dtype == loss("none")(x, y).dtype == ms.int32


@pytest.mark.parametrize("loss", [nn.NLLLoss, nn.CrossEntropyLoss])
def test_weights_in_float32_give_a_loss_in_float32(loss):
    logits, labels = _t([[0.5, -0.5]], ms.float16), _t([1], ms.int32)
    assert loss()(logits, labels).dtype == ms.float16
    assert loss(_t([1.0, 2.0]))(logits, labels).dtype == ms.float32


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("loss", [nn.L1Loss, nn.MSELoss])
def test_predictions_that_meet_every_target_are_said(mode, loss, monkeypatch):
    said = []
    monkeypatch.setattr("msnb.log.once", lambda text, *args: said.append(text % args))
    ms.set_context(mode=mode)
    rows = 5 + mode  # what was traced before says nothing
    column = ms.ops.ones((rows, 1), ms.float32)
    loss()(column, _t([0.0]))
    loss()(column, ms.Tensor(0.0, ms.float32))
    loss()(column, column)
    assert not said
    loss()(column, ms.ops.ones((rows,), ms.float32))
    assert said == [
        f"A loss compares predictions of shape ({rows}, 1) with targets of shape ({rows},): they broadcast to "
        f"({rows}, {rows}), every prediction beside every target. Reshape one of them."
    ]
