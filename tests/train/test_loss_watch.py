"""A loss that is not finite any more is said once, by a look that never waits for a step."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, nn
from msnb.train import _loss_monitoring
from msnb.train._loss_monitoring import LossWatch


@pytest.fixture
def warnings(monkeypatch):
    lines = []
    monkeypatch.setattr("msnb.log.warning", lambda text, *args: lines.append(text % args))
    return lines


class Loss(nn.Cell):
    """A network that returns its input as loss, so that the dataset says what the losses are."""

    def construct(self, x):
        return x


class Rows:
    def __init__(self, *losses):
        self.losses = losses

    def get_dataset_size(self):
        return len(self.losses)

    def create_tuple_iterator(self, num_epochs=-1, do_copy=True):
        return iter([(Tensor(np.float32(loss)),) for loss in self.losses])

    def reset(self):
        pass


@pytest.mark.parametrize(
    ("losses", "first"), [((1, 2), None), ((1, np.nan), 2), ((1, 2, np.inf, np.nan, 1, np.nan), 3), ((np.inf,) * 3, 1)]
)
def test_a_training_without_callbacks_names_the_first_step_once(losses, first, warnings):
    ms.Model(Loss()).train(1, Rows(*losses), dataset_sink_mode=False)
    assert [f"in step {first}, epoch 1 of Model.train, and" in line for line in warnings] == ([True] if first else [])
    assert all("GradientMonitor()" in line and "%ms_grad" in line for line in warnings)


class Pending:
    """An array of the device that is computed when it is told so."""

    shape, dtype = (), np.dtype(np.float32)

    def __init__(self, value):
        self.value, self.computed, self.read = np.float32(value), False, 0

    def is_deleted(self):
        return False

    def is_ready(self):
        return self.computed

    def __array__(self, dtype=None, copy=None):
        assert self.computed, "a step was waited for"
        self.read += 1
        return np.asarray(self.value)


def test_a_look_reads_the_newest_loss_that_is_computed_and_waits_for_none(monkeypatch):
    monkeypatch.setattr(_loss_monitoring, "_select_loss_arrays", lambda outputs: (outputs,))
    watch, losses = LossWatch(), [Pending(loss) for loss in (5, 4, 3)]
    for step, loss in enumerate(losses, 1):
        watch.step(loss, 1, step)
    assert watch.look() == []
    losses[0].computed = losses[1].computed = True
    assert watch.look() == [(2, 4)] and watch.loss == 4
    assert watch.look() == []
    assert [loss.read for loss in losses] == [0, 1, 0]


def test_more_losses_of_a_look_lie_at_even_distances_and_end_with_the_newest():
    watch = LossWatch()
    for step in range(1, 12):
        watch.step(Tensor(step, ms.float32), 1, step)
    assert watch.finish(4) == [(2, 2), (5, 5), (8, 8), (11, 11)]


def test_a_first_look_that_comes_late_says_that_it_may_have_been_earlier(warnings, monkeypatch):
    monkeypatch.setattr(_loss_monitoring, "_QUEUE_LENGTH", 4)
    watch = LossWatch()
    for step in range(1, 9):
        watch.step(Tensor(np.nan, ms.float32), 1, step)
    watch.finish()
    assert len(warnings) == 1 and "in step 5, epoch 1 of Model.train, maybe since an earlier one" in warnings[0]


def test_of_losses_that_are_no_single_number_two_stay():
    watch = LossWatch()
    for step in range(1, 9):
        watch.step(Tensor(np.full(3, step, np.float32)), 1, step)
    assert len(watch._recent) == 2 and watch.finish() == [(8, 8)]


def scaled(loss, overflow, scale):
    return Tensor(loss, ms.float32), Tensor(overflow), Tensor(scale, ms.float32)


@pytest.mark.parametrize(
    ("outputs", "lines"),
    [
        (scaled(np.inf, True, 1024.0), 0),  # the loss scale falls and training goes on
        (scaled(np.inf, True, 1.0), 1),
        (scaled(np.nan, False, 1024.0), 1),
        (Tensor(np.array([1, np.nan], np.float32)), 1),
        (Tensor(np.array([1, 2], np.int32)), 0),
        ((), 0),
        (None, 0),
    ],
)
def test_only_a_loss_counts_and_no_step_that_is_skipped_to_find_a_loss_scale(outputs, lines, warnings):
    watch = LossWatch()
    for step in (1, 2):
        watch.step(outputs, 1, step)
        watch.finish()
    assert len(warnings) == lines
