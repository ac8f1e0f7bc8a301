"""A loss that is not finite any more is said once, by a look that never waits for a step."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, nn
from msnb.train import _loss_watch
from msnb.train._loss_watch import LossWatch


@pytest.fixture
def said(monkeypatch):
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


@pytest.mark.parametrize(("losses", "lines"), [((1, 2), 0), ((1, np.nan), 1), ((np.inf, np.inf, np.inf), 1)])
def test_a_training_without_callbacks_says_so_once(losses, lines, said):
    ms.Model(Loss()).train(1, Rows(*losses), dataset_sink_mode=False)
    assert len(said) == lines
    assert all(f"step {len(losses)}, epoch 1" in line for line in said)


def test_within_a_long_epoch_it_looks_every_few_steps_at_what_is_computed(said, monkeypatch):
    monkeypatch.setattr(_loss_watch, "_EVERY", 2)
    ready = []
    watch = LossWatch()
    monkeypatch.setattr(watch, "_judge", lambda: ready.append(watch._seen[2]))
    for step in range(1, 7):
        watch.step(Tensor(1.0), 1, step)
    assert ready == [2, 4]


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
def test_only_a_loss_counts_and_no_step_that_is_skipped_to_find_a_loss_scale(outputs, lines, said):
    watch = LossWatch()
    watch.look(outputs, 1, 1)
    watch.finish()
    watch.look(outputs, 1, 2)
    watch.finish()
    assert len(said) == lines
