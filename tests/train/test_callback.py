"""Callbacks: what they print, when they stop training, which checkpoints they leave."""

import os
import re
import time
from unittest import mock

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn
from msnb.core.operator import api_generations
from msnb.train.callback import (
    Callback,
    CheckpointConfig,
    LearningRateScheduler,
    LossMonitor,
    ModelCheckpoint,
    RunContext,
    SummaryCollector,
    TimeMonitor,
    _CallbackManager,
    _checkpoint_cb_for_save_op,
    _InternalCallbackParam,
    _set_cur_net,
)


def moment(**values):
    cb_params = _InternalCallbackParam(cur_epoch_num=1, cur_step_num=1, batch_num=4, epoch_num=1)
    cb_params.update(values)
    return RunContext(cb_params)


def test_loss_monitor_prints_the_line_that_mindspore_prints(capsys):
    LossMonitor().step_end(moment(net_outputs=Tensor(np.float32(2.3025851))))
    assert capsys.readouterr().out == "epoch: 1 step: 1, loss is 2.3025851\n"


def test_loss_monitor_of_mindspore_2_prints_all_digits(monkeypatch, capsys):
    monkeypatch.setattr(api_generations, "shared", 2)
    LossMonitor().step_end(moment(net_outputs=Tensor(np.float32(2.3025851))))
    assert capsys.readouterr().out == "epoch: 1 step: 1, loss is 2.3025851249694824\n"


@pytest.mark.parametrize(
    ("every", "step", "outputs", "printed"),
    [
        (1, 6, Tensor(np.array([1.0, 2.0], np.float32)), "epoch: 1 step: 2, loss is 1.5\n"),
        (3, 6, Tensor(0.5), "epoch: 1 step: 2, loss is 0.5\n"),
        (4, 6, Tensor(0.5), ""),
        (0, 4, Tensor(0.5), ""),
        (1, 4, (Tensor(0.25), Tensor(False), Tensor(1024.0)), "epoch: 1 step: 4, loss is 0.25\n"),
    ],
)
def test_loss_monitor_takes_the_mean_of_the_first_output_every_few_steps(every, step, outputs, printed, capsys):
    LossMonitor(every).step_end(moment(net_outputs=outputs, cur_step_num=step))
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize("loss", [np.nan, np.inf, -np.inf])
def test_loss_monitor_stops_training_at_a_loss_that_is_not_finite(loss):
    with pytest.raises(ValueError, match="epoch: 1 step: 3"):
        LossMonitor(100).step_end(moment(net_outputs=Tensor(np.float32(loss)), cur_step_num=3))


def test_training_that_diverges_is_stopped(make_net, make_model, batches):
    with pytest.raises(ValueError, match="loss"):
        make_model(rate=1e30).train(3, batches(), callbacks=LossMonitor(100))


def test_time_monitor_prints_milliseconds_with_three_decimals(capsys):
    monitor = TimeMonitor()
    monitor.epoch_begin(moment())
    time.sleep(0.02)
    monitor.epoch_end(moment(net_outputs=Tensor(1.0)))
    match = re.fullmatch(r"epoch time: (\d+\.\d{3}) ms, per step time: (\d+\.\d{3}) ms\n", capsys.readouterr().out)
    assert float(match[1]) > 19 and float(match[2]) == pytest.approx(float(match[1]) / 4, abs=1e-3)
    monitor.epoch_end(RunContext(_InternalCallbackParam()))
    assert capsys.readouterr().out == ""


def test_time_monitor_prints_the_time_between_steps(capsys):
    monitor = TimeMonitor(data_time=True)
    monitor.epoch_begin(moment())
    for _ in range(2):
        time.sleep(0.02)
        monitor.step_begin(moment())
        monitor.step_end(moment())
    monitor.epoch_end(moment(net_outputs=Tensor(1.0)))
    found = re.search(r"per step time: (\S+) ms \(data time: (\d+\.\d{3}) ms\)\n", capsys.readouterr().out)
    assert 9.5 < float(found[2]) <= float(found[1])
    with pytest.raises(TypeError, match="data_time"):
        TimeMonitor(data_time=1)


def test_learning_rate_scheduler_sets_what_its_function_says(make_net, make_model, batches, capsys):
    model = make_model()
    model.train(1, batches(), callbacks=LearningRateScheduler(lambda lr, step: lr / 2 if step in (2, 3) else lr))
    np.testing.assert_allclose(model._optimizer.learning_rate.asnumpy(), 0.025)
    out = capsys.readouterr().out
    assert out == "At step 2, learning_rate change to 0.05\nAt step 3, learning_rate change to 0.025\n"
    net = make_net()
    model = make_model(net, optimizer=nn.SGD(net.trainable_params(), [0.1, 0.2]))
    with pytest.raises(TypeError, match="one number"):
        model.train(1, batches(), callbacks=LearningRateScheduler(lambda lr, step: lr))


def test_checkpoints_are_named_by_epoch_and_step_and_the_oldest_are_removed(make_model, batches, tmp_path):
    checkpoint = ModelCheckpoint("net", str(tmp_path), CheckpointConfig(save_checkpoint_steps=2, keep_checkpoint_max=2))
    make_model().train(2, batches(steps=3), callbacks=checkpoint)
    names = sorted(n for n in os.listdir(tmp_path) if n.endswith(".ckpt"))
    assert names == ["net-2_1.ckpt", "net-2_3.ckpt"]
    assert checkpoint.latest_ckpt_file_name == str(tmp_path / "net-2_3.ckpt")


def test_the_last_step_is_saved_even_when_it_is_not_due(make_model, batches, tmp_path):
    config = CheckpointConfig(save_checkpoint_steps=100)
    make_model().train(1, batches(steps=3), callbacks=ModelCheckpoint(directory=str(tmp_path), config=config))
    assert [n for n in os.listdir(tmp_path) if n.endswith(".ckpt")] == ["CKP-1_3.ckpt"]


def test_a_second_run_gets_a_number_behind_the_prefix(make_model, batches, tmp_path):
    for _ in range(3):
        config = CheckpointConfig(save_checkpoint_steps=3)
        make_model().train(1, batches(steps=3), callbacks=ModelCheckpoint("net", str(tmp_path), config))
    names = sorted(n for n in os.listdir(tmp_path) if n.endswith(".ckpt"))
    assert names == ["net-1_3.ckpt", "net_1-1_3.ckpt", "net_2-1_3.ckpt"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_checkpoint_of_training_restores_network_and_optimizer(asynchronous, make_net, make_model, batches, tmp_path):
    context.set_context(mode=context.GRAPH_MODE)
    config = CheckpointConfig(save_checkpoint_steps=4, keep_checkpoint_max=10, async_save=asynchronous)
    whole = make_model()
    whole.train(2, batches(), callbacks=ModelCheckpoint("net", str(tmp_path), config))
    resumed = make_model(make_net())
    values = ms.load_checkpoint(str(tmp_path / "net-1_4.ckpt"))
    assert {"fc1.weight", "bn.moving_mean", "moments.fc1.weight", "learning_rate", "momentum"} <= set(values)
    assert ms.load_param_into_net(resumed.train_network, values) == []
    resumed.train(1, batches())
    for a, b in zip(whole.train_network.get_parameters(), resumed.train_network.get_parameters(), strict=True):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy(), err_msg=a.name)


def test_another_network_can_be_saved_instead(make_net, make_model, batches, tmp_path):
    net = make_net()
    config = CheckpointConfig(save_checkpoint_steps=4, saved_network=net)
    make_model(net).train(1, batches(), callbacks=ModelCheckpoint("net", str(tmp_path), config))
    assert set(ms.load_checkpoint(str(tmp_path / "net-1_4.ckpt"))) == {p.name for p in net.get_parameters()}


def test_checkpoints_by_time_are_saved_after_so_many_seconds(make_model, batches, tmp_path):
    config = CheckpointConfig(save_checkpoint_steps=0, save_checkpoint_seconds=1, keep_checkpoint_max=9)
    checkpoint = ModelCheckpoint("net", str(tmp_path), config)
    checkpoint._last_time -= 2
    make_model().train(1, batches(steps=3), callbacks=checkpoint)
    names = sorted(n for n in os.listdir(tmp_path) if n.endswith(".ckpt"))
    assert names == ["net-1_1.ckpt", "net-1_3.ckpt"]


def test_checkpoint_config_lets_steps_go_before_seconds_and_number_before_minutes():
    policy = CheckpointConfig(2, 10, 3, 4).get_checkpoint_policy()
    assert policy["save_checkpoint_steps"] == 2 and policy["save_checkpoint_seconds"] is None
    assert policy["keep_checkpoint_max"] == 3 and policy["keep_checkpoint_per_n_minutes"] is None
    policy = CheckpointConfig(0, 10, 0, 0).get_checkpoint_policy()
    assert policy["save_checkpoint_seconds"] == 10 and policy["keep_checkpoint_max"] == 1


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (ValueError, lambda: CheckpointConfig(0, 0, 0, 0)),
        (ValueError, lambda: CheckpointConfig(0, None, 0, None)),
        (ValueError, lambda: CheckpointConfig(-1)),
        (TypeError, lambda: CheckpointConfig(saved_network="net")),
        (TypeError, lambda: CheckpointConfig(async_save=1)),
        (ValueError, lambda: ModelCheckpoint(123)),
        (ValueError, lambda: ModelCheckpoint("a/b")),
        (TypeError, lambda: ModelCheckpoint(config="config")),
        (TypeError, lambda: ModelCheckpoint(directory=1)),
        (ValueError, lambda: LossMonitor(-1)),
        (ValueError, lambda: LossMonitor(1.5)),
        (TypeError, lambda: RunContext(666)),
        (TypeError, lambda: _CallbackManager([None])),
        (TypeError, lambda: SummaryCollector(3)),
        (TypeError, lambda: ms.train.summary.SummaryRecord("")),
    ],
)
def test_wrong_arguments_raise_mindspores_error_class(error, make):
    with pytest.raises(error) as info:
        make()
    assert len(str(info.value)) > 20


def test_callbacks_are_left_after_an_error_too():
    with mock.patch.object(Callback, "__exit__", return_value=None) as leave:
        with pytest.raises(ZeroDivisionError), _CallbackManager([Callback(), Callback()]):
            raise ZeroDivisionError
    assert leave.call_count == 2


def test_a_callback_that_only_has_an_instance_attribute_is_called(make_model, batches):
    seen = []
    callback = Callback()
    callback.step_end = lambda run_context: seen.append(run_context.original_args().cur_step_num)
    make_model().train(1, batches(steps=2), callbacks=callback)
    assert seen == [1, 2]


def test_values_are_filled_into_the_network_that_was_set(make_net):
    net = make_net()
    values = [{"name": "fc1.bias", "data": Tensor(np.full(8, 3.0, np.float32))}]
    assert _checkpoint_cb_for_save_op(values) is False
    _set_cur_net(net)
    assert _checkpoint_cb_for_save_op(values) is True
    assert net.fc1.bias.asnumpy().tolist() == [3.0] * 8


def test_the_graph_of_a_compiled_network_is_saved_beside_the_checkpoints(make_model, batches, tmp_path):
    context.set_context(mode=context.GRAPH_MODE)
    make_model().train(1, batches(), callbacks=ModelCheckpoint("net", str(tmp_path)))
    assert "ApplyMomentum" in (tmp_path / "net-graph.meta").read_text()
