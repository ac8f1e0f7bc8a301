"""A recorded training that breaks off goes on where it was, and ends with the bits that it would have had."""

import numpy as np
import pytest

import msnb as ms
from msnb import context, nn
from msnb import dataset as ds
from msnb.insight.runs import Run
from msnb.train import DynamicLossScaleManager, Model
from msnb.train.callback import Callback

BATCHES, EPOCHS = 5, 3


class Broken(Exception):
    pass


class BreakAfter(Callback):
    def __init__(self, step):
        self.step, self.seen = step, []

    def on_train_step_end(self, run_context):
        moment = run_context.original_args()
        self.seen.append((moment.cur_epoch_num, moment.cur_step_num))
        if moment.cur_step_num == self.step:
            raise Broken


def train(callback=None, scaling=False, **options):
    """Return the Parameters after a training with dropout, momentum and a shuffled dataset, as a program would begin
    it."""
    ms.set_seed(3)
    rng = np.random.RandomState(0)
    columns = rng.rand(4 * BATCHES, 6).astype(np.float32), rng.rand(4 * BATCHES, 1).astype(np.float32)
    data = ds.NumpySlicesDataset(columns, ["x", "y"], shuffle=True).batch(4)
    net = nn.SequentialCell(nn.Dense(6, 8), nn.Dropout(0.5), nn.Dense(8, 1))
    net.set_train()
    manager = {"loss_scale_manager": DynamicLossScaleManager(16, 2, 2)} if scaling else {}
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    model = Model(net, nn.MSELoss(), optimizer, **manager)
    model.train(EPOCHS, data, callbacks=callback, display=False, **options)
    return {p.name: p.asnumpy() for p in model.train_network.get_parameters()}


def check_equal(some, others):
    assert some.keys() == others.keys()
    for name in some:
        np.testing.assert_array_equal(some[name], others[name], err_msg=name)


@pytest.fixture(autouse=True)
def graph_mode_in_a_folder(tmp_path, monkeypatch):
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    monkeypatch.chdir(tmp_path)
    yield
    context.set_context(mode=before)


@pytest.mark.parametrize(
    ("broken", "options", "first"),
    [
        (3, {}, (1, 1)),  # no epoch is complete
        (7, {}, (2, 6)),
        (BATCHES, {}, (1, 1)),  # the last step of an epoch, before its end
        (9, {"resume": 2}, (2, 9)),
        (12, {"resume": 4, "scaling": True}, (3, 11)),  # the last one was kept at the end of the second epoch
        (6, {"dataset_sink_mode": True, "sink_size": 3, "resume": 2}, (2, 5)),
    ],
)
def test_a_training_that_broke_off_ends_with_the_same_bits(broken, options, first):
    options = {"resume": True, **options}
    plain = {name: value for name, value in options.items() if name != "resume"}
    with pytest.raises(Broken):
        train(BreakAfter(broken), record="run", **options)
    again = BreakAfter(None)
    result = train(again, record="run", **options)
    check_equal(result, train(**plain))
    assert again.seen[0] == first
    run = Run("runs/run")
    run.refresh()
    assert run.state == "finished" and run.scalar("loss").steps.max() == again.seen[-1][1] - 1


def test_a_training_that_is_complete_trains_no_further():
    first = train(record="run", resume=True)
    again = BreakAfter(None)
    check_equal(train(again, record="run", resume=True), first)
    assert again.seen == []


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"resume": True}, ValueError, "record='NAME'"),
        ({"resume": True, "record": True}, ValueError, "record='NAME'"),
        ({"resume": 0, "record": "run"}, ValueError, "positive number"),
        ({"resume": "yes", "record": "run"}, TypeError, "bool or an int"),
    ],
)
def test_what_resume_cannot_be_is_said(options, error, words):
    with pytest.raises(error, match=words):
        train(**options)


def test_another_number_of_steps_is_refused():
    train(record="run", resume=True)
    with pytest.raises(ValueError, match="5 steps in an epoch, but now there are 2"):
        train(record="run", resume=True, dataset_sink_mode=True, sink_size=2)
