"""Callbacks of MindSpore 2 that watch a measure, keep values, or bring a broken training back."""

import os
import signal

import numpy as np
import pytest

import msnb as ms
from msnb import mindspore2, nn
from msnb.train import callback
from msnb.train.callback import RunContext, _InternalCallbackParam

MEASURES = [1.0, 0.8, 0.85, 0.79999, 0.9, 0.7, 0.75, 0.75, 0.74, 0.9, 0.9, 0.9]


def watched(name, monitor="eval_loss", **arguments):
    """Return (the callback, the epoch after which training stopped or ended, the learning rate after each)."""
    network = nn.Dense(2, 2)
    optimizer = nn.SGD(network.trainable_params(), 0.5)
    moment = _InternalCallbackParam(train_network=nn.TrainOneStepCell(network, optimizer), optimizer=optimizer)
    context, watcher, rates = RunContext(moment), getattr(callback, name)(monitor, **arguments), []
    watcher.on_train_begin(context)
    for epoch, measure in enumerate(MEASURES, 1):
        moment.update(cur_epoch_num=epoch, net_outputs=ms.Tensor(measure, ms.float32), eval_results={monitor: measure})
        watcher.on_train_epoch_end(context)
        rates.append(float(optimizer.learning_rate.asnumpy()))
        if context.get_stop_requested():
            break
    return watcher, epoch, rates


# as MindSpore 2.7.1 stops
@pytest.mark.parametrize(
    ("arguments", "epoch", "best"),
    [
        ({}, 1, 1.0),
        ({"patience": 2}, 8, 0.7),
        ({"patience": 3, "min_delta": 0.06}, 5, 0.8),
        ({"patience": 2, "mode": "max"}, 3, 1.0),
        ({"patience": 2, "monitor": "accuracy"}, 3, 1.0),
        ({"patience": 3, "monitor": "loss", "baseline": 0.75}, 3, 0.8),
    ],
)
def test_training_stops_early_where_mindspore_stops(arguments, epoch, best):
    watcher, result, _ = watched("EarlyStopping", **arguments)
    assert (result, pytest.approx(best)) == (epoch, watcher.best)


# as MindSpore 2.7.1 reduces: the epochs after which the rate is another one
@pytest.mark.parametrize(
    ("arguments", "epochs", "last"),
    [
        ({"patience": 1, "factor": 0.5}, [3, 4, 5, 7, 8, 9, 10, 11, 12], 0.5**10),
        ({"patience": 2, "factor": 0.5, "cooldown": 2}, [4, 8, 11], 0.0625),
        ({"patience": 1, "factor": 0.1, "min_lr": 0.2}, [3], 0.2),
        ({"patience": 2, "factor": 0.5, "monitor": "loss", "min_delta": 0.06}, [4, 8, 10, 12], 0.03125),
        ({"patience": 3, "factor": 0.5, "monitor": "accuracy"}, [4, 7, 10], 0.0625),
    ],
)
def test_the_learning_rate_falls_where_mindspore_lets_it_fall(arguments, epochs, last):
    _, _, rates = watched("ReduceLROnPlateau", **arguments)
    before = [0.5, *rates]
    assert [i for i in range(1, len(before)) if before[i] != before[i - 1]] == epochs
    assert rates[-1] == pytest.approx(last)


def test_the_best_weights_come_back_and_a_measure_that_is_not_there_stops_nothing(make_model, batches, capfd):
    ms.set_seed(1)
    model = make_model(metrics={"accuracy"})
    seen = []
    stopping = ms.EarlyStopping("accuracy", patience=2, mode="min", restore_best_weights=True)
    keep = ms.LambdaCallback(on_train_epoch_begin=lambda context: seen.append(model._network.fc1.weight.asnumpy()))
    history = ms.History()
    model.fit(9, batches(), batches(), callbacks=[keep, stopping, history])
    assert stopping.stopped_epoch and len(seen) == stopping.stopped_epoch == len(history.epoch["epoch"])
    assert len(history.history["accuracy"]) == len(history.history["net_output"]) == stopping.stopped_epoch
    best = int(np.argmin(history.history["accuracy"]))
    np.testing.assert_array_equal(model._network.fc1.weight.asnumpy(), seen[best + 1])
    model.train(1, batches(), callbacks=ms.EarlyStopping("recall"))
    assert "'recall'" in capfd.readouterr().err


def test_a_training_that_broke_off_goes_on_from_its_backup(make_model, batches, tmp_path):
    def break_off(context):
        if context.original_args().cur_epoch_num == 2:
            raise KeyboardInterrupt

    backup = ms.BackupAndRestore(str(tmp_path))
    first, second = make_model(), make_model()
    with pytest.raises(KeyboardInterrupt):
        first.train(3, batches(), callbacks=[backup, ms.LambdaCallback(on_train_step_begin=break_off)])
    begun = []
    look = ms.LambdaCallback(on_train_begin=lambda context: begun.append(second._network.fc1.weight.asnumpy()))
    second.train(1, batches(), callbacks=[backup, look])
    np.testing.assert_array_equal(begun[0], first._network.fc1.weight.asnumpy())
    assert not os.path.exists(backup.backup_file)


def test_a_signal_ends_training_after_its_step_and_the_next_one_goes_on(make_model, batches, tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    model, again = make_model(), make_model()
    ask = ms.LambdaCallback(on_train_step_begin=lambda context: signal.raise_signal(signal.SIGTERM))
    exits = ms.OnRequestExit(save_mindir=False, directory=str(tmp_path))
    model.train(3, batches(), callbacks=[ask, exits])
    assert model._optimizer is not None and exits.exit
    assert (tmp_path / "rank_0" / "Net_train.ckpt").exists()
    assert signal.getsignal(signal.SIGTERM) == before
    begun = []
    look = ms.LambdaCallback(on_train_begin=lambda context: begun.append(again._network.fc1.weight.asnumpy()))
    again.train(1, batches(), callbacks=[ms.OnRequestExit(save_mindir=False, directory=str(tmp_path)), look])
    np.testing.assert_array_equal(begun[0], model._network.fc1.weight.asnumpy())


class Rates(callback.Callback):
    """Keeps what each epoch measures, and the learning rate after it."""

    def __init__(self):
        super().__init__()
        self.measured, self.rates = [], []

    def on_train_epoch_end(self, run_context):
        moment = run_context.original_args()
        self.measured.append(moment.get("eval_results"))
        self.rates.append(float(moment.optimizer.learning_rate.asnumpy()))


def fit(watcher, metrics, sink=False, generation=ms, frequency=1):
    """Return the `Rates` of a training whose loss grows from epoch to epoch."""
    x = np.linspace(-1, 1, 8, dtype=np.float32).reshape(8, 1)
    rows = ms.dataset.NumpySlicesDataset({"x": x, "y": 3 * x + 1}, shuffle=False).batch(4)
    network = generation.nn.Dense(1, 1, weight_init="zeros", bias_init="zeros")
    optimizer = generation.nn.SGD(network.trainable_params(), 5.0)
    model = generation.Model(network, generation.nn.MSELoss(), optimizer, metrics=metrics)
    rates = Rates()
    callbacks = [rates, *([watcher] if watcher is not None else ())]
    model.fit(6, rows, rows, frequency, callbacks, dataset_sink_mode=sink, display=False)
    return rates


@pytest.mark.parametrize("sink", [False, True])
@pytest.mark.parametrize("metrics", [{"mae"}, {"loss"}, {"mae", "loss"}, {"error": nn.MAE()}])
@pytest.mark.parametrize("generation", [ms, mindspore2], ids=["1", "2"])
def test_the_default_measure_acts_whatever_the_metrics(metrics, sink, generation):
    # MindSpore 2.7.1 stops at the end of the third epoch, and halves the rate after the second.
    assert len(fit(callback.EarlyStopping(patience=2), metrics, sink, generation).rates) == 3
    rates = fit(callback.ReduceLROnPlateau(patience=1, factor=0.5), metrics, sink, generation).rates
    assert rates[:3] == [5.0, 5.0, 2.5]


def test_the_loss_of_an_evaluation_is_the_mean_over_its_batches(capsys):
    seen = fit(callback.LossMonitor(), {"loss"}, frequency=2).measured
    assert [measured is None for measured in seen] == [True, False] * 3
    for measured in seen[1::2]:
        assert measured["eval_loss"] == pytest.approx(measured["loss"], rel=1e-6)
    assert "eval_loss" not in capsys.readouterr().out  # LossMonitor prints the metrics that were asked for
