"""Model: train, eval, predict, and what they tell callbacks."""

import signal
import sys

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn
from msnb.train.callback import Callback

BOTH_MODES = pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])


class Recorder(Callback):
    """Remembers every call."""

    def __init__(self, *names):
        super().__init__()
        self.calls, self.steps, self.names = [], [], names

    def _note(self, name, run_context):
        cb = run_context.original_args()
        self.calls.append(name)
        if name == "step_end":
            self.steps.append((cb.cur_epoch_num, cb.cur_step_num))
            self.last = cb

    def begin(self, run_context):
        self._note("begin", run_context)

    def epoch_begin(self, run_context):
        self._note("epoch_begin", run_context)

    def step_begin(self, run_context):
        self._note("step_begin", run_context)

    def step_end(self, run_context):
        self._note("step_end", run_context)

    def epoch_end(self, run_context):
        self._note("epoch_end", run_context)

    def end(self, run_context):
        self._note("end", run_context)


@BOTH_MODES
def test_training_learns_and_evaluation_and_prediction_agree(mode, make_model, batches):
    context.set_context(mode=mode)
    model = make_model(metrics={"accuracy", "loss"})
    model.train(5, batches(), dataset_sink_mode=False)
    result = model.eval(batches(seed=1), dataset_sink_mode=False)
    assert result["accuracy"] > 0.95 and result["loss"] < 0.3
    data, label = batches(seed=1).rows[0]
    predicted = model.predict(data).asnumpy().argmax(1)
    assert (predicted == label.asnumpy()).mean() > 0.9
    assert not model.predict_network.training


def test_both_modes_train_the_same_weights(make_net, make_model, batches):
    nets = []
    for mode in (context.GRAPH_MODE, context.PYNATIVE_MODE):
        context.set_context(mode=mode)
        nets.append(make_net())
        make_model(nets[-1]).train(2, batches(), dataset_sink_mode=False)
    for a, b in zip(*(n.get_parameters() for n in nets), strict=True):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-6, err_msg=a.name)


def test_callbacks_are_called_in_r1_1s_order_with_r1_1s_values(make_model, batches):
    recorder, data = Recorder(), batches(steps=2)
    model = make_model()
    model.train(2, data, callbacks=[recorder])
    epoch = ["epoch_begin", "step_begin", "step_end", "step_begin", "step_end", "epoch_end"]
    assert recorder.calls == ["begin", *epoch, *epoch, "end"]
    assert recorder.steps == [(1, 1), (1, 2), (2, 3), (2, 4)]
    cb = recorder.last
    assert (cb.epoch_num, cb.batch_num, cb.mode, cb.device_number) == (2, 2, "train", 1)
    assert cb.train_network is model.train_network and cb.network is model._network and cb.train_dataset is data
    assert cb.loss_fn is model._loss_fn and cb.optimizer is model._optimizer and cb.list_callback == [recorder]
    assert cb.train_dataset_element == data.rows[1] and isinstance(cb.net_outputs, Tensor)
    assert cb.parallel_mode == "stand_alone"
    assert "metrics" not in cb and not hasattr(cb, "metrics")
    with pytest.raises(AttributeError, match="net_outputs"):
        cb.no_such_thing
    assert data.resets == 2


def test_initial_epoch_begins_with_a_later_epoch_and_counts_steps_from_one(make_model, batches):
    class Moments(Callback):
        def __init__(self):
            super().__init__()
            self.seen = []

        def step_end(self, run_context):
            p = run_context.original_args()
            self.seen.append((p.cur_epoch_num, p.cur_step_num, p.epoch_num))

    moments, data = Moments(), batches(steps=2)
    make_model().train(3, data, moments, initial_epoch=1)
    assert moments.seen == [(2, 1, 2), (2, 2, 2), (3, 3, 2), (3, 4, 2)]
    with pytest.raises(ValueError, match="'initial_epoch' should be below 'epoch'"):
        make_model().train(3, data, initial_epoch=3)
    with pytest.raises(ValueError, match="leave 'initial_epoch' out"):
        make_model().train(3, data, initial_epoch=1, record="run", resume=True)


def test_a_callback_stops_training(make_model, batches):
    class Stop(Recorder):
        def step_end(self, run_context):
            super().step_end(run_context)
            if run_context.original_args().cur_step_num == 3:
                run_context.request_stop()

    stop = Stop()
    make_model().train(5, batches(steps=2), callbacks=stop)
    assert stop.steps == [(1, 1), (1, 2), (2, 3)]
    assert stop.calls[-2:] == ["epoch_end", "end"]


def test_evaluation_calls_callbacks_too_and_names_the_metrics(make_model, batches):
    class Eval(Callback):
        def end(self, run_context):
            self.cb = run_context.original_args()

        def on_eval_step_end(self, run_context):
            self.steps = run_context.original_args().cur_step_num

        def on_train_step_end(self, run_context):
            raise AssertionError("this is no training")

    callback = Eval()
    result = make_model(metrics={"acc"}).eval(batches(steps=3), callbacks=[callback])
    assert callback.steps == 3 and callback.cb.mode == "eval"
    assert callback.cb.metrics == result == {"acc": result["acc"]}


def test_sink_size_sets_the_steps_of_an_epoch_and_goes_on_in_the_dataset(make_model, batches):
    recorder = Recorder()
    data = batches(steps=3)
    seen = []

    class Seen(Callback):
        def step_begin(self, run_context):
            element = run_context.original_args().train_dataset_element
            seen.append(next(i for i, row in enumerate(data.rows) if row is element))

    make_model().train(3, data, callbacks=[recorder, Seen()], dataset_sink_mode=True, sink_size=2)
    assert recorder.steps == [(1, 1), (1, 2), (2, 3), (2, 4), (3, 5), (3, 6)]
    assert recorder.last.batch_num == 2
    assert seen == [0, 1, 2, 0, 1, 2]


def test_a_network_with_loss_inside_takes_any_number_of_columns(make_net, batches):
    class WithLoss(nn.Cell):
        def __init__(self, net):
            super().__init__()
            self.net, self.loss = net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

        def construct(self, data, label, again):
            return self.loss(self.net(data) + self.net(again), label)

    net = WithLoss(make_net())
    recorder = Recorder()
    ms.Model(net, optimizer=nn.SGD(net.trainable_params())).train(1, batches(columns=3), callbacks=recorder)
    assert len(recorder.steps) == 4


def test_a_custom_evaluation_network_says_where_its_outputs_are(make_net, batches):
    class Eval(nn.Cell):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def construct(self, data, label):
            return label, self.net(data), data.sum()

    model = ms.Model(make_net(), eval_network=Eval(make_net()), eval_indexes=[2, 1, 0], metrics={"acc", "loss"})
    assert set(model.eval(batches())) == {"acc", "loss"}


@pytest.mark.parametrize("level", ["O0", "O2", "O3"])
@BOTH_MODES
def test_every_level_of_mixed_precision_learns_and_keeps_float32_parameters(mode, level, make_net, make_model, batches):
    context.set_context(mode=mode)
    net = make_net()
    model = make_model(net, metrics={"acc"}, amp_level=level)
    model.train(4, batches(), dataset_sink_mode=False)
    assert all(p.dtype == ms.float32 for p in net.get_parameters())
    assert model.eval(batches(seed=1), dataset_sink_mode=False)["acc"] > 0.9
    expected = ms.float32 if level == "O0" else ms.float16
    assert model.predict(batches().rows[0][0]).dtype == expected


def test_level_o2_keeps_batchnorm_in_float32_and_o3_does_not(make_net, make_model, batches):
    def text(**kwargs):
        net = make_net()
        names = [p.name for p in net.get_parameters()]
        model = make_model(net, **kwargs)
        assert [p.name for p in net.get_parameters()] == names
        return str(ms.core.program.program_cache.program_of(net, batches().rows[0][0]).jaxpr), model

    text_of_o2, model = text(amp_level="O2", loss_scale_manager=None)
    assert isinstance(model.train_network, nn.TrainOneStepCell)
    assert not isinstance(model.train_network, nn.TrainOneStepWithLossScaleCell)
    cast, _ = text(amp_level="O2", keep_batchnorm_fp32=False)
    assert text_of_o2 != cast


@BOTH_MODES
def test_a_loss_scale_that_is_too_high_falls_until_training_goes_on(mode, make_net, make_model, batches):
    context.set_context(mode=mode)
    manager = ms.DynamicLossScaleManager(init_loss_scale=2**24, scale_factor=16, scale_window=1000)
    net = make_net()
    before = net.fc1.weight.asnumpy()
    model = make_model(net, amp_level="O2", loss_scale_manager=manager)
    recorder = Recorder()
    model.train(2, batches(), callbacks=recorder)
    assert manager.get_loss_scale() == model.train_network.scale_sense.asnumpy() < 2**24
    assert isinstance(recorder.last.net_outputs, tuple)
    assert not np.array_equal(net.fc1.weight.asnumpy(), before)


def test_a_fixed_loss_scale_needs_no_look_at_each_step(make_net, make_model, batches):
    manager = ms.FixedLossScaleManager(128.0)
    model = make_model(loss_scale_manager=manager)
    assert not model._needs_overflow_report()
    model.train(1, batches())
    net = make_net()
    plain = make_model(net)
    plain.train(1, batches())
    for a, b in zip(net.get_parameters(), model._network.get_parameters(), strict=True):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-6)


def test_without_dropping_steps_the_optimizer_divides_by_the_loss_scale(make_net, batches):
    net, loss = make_net(), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    manager = ms.FixedLossScaleManager(64.0, drop_overflow_update=False)
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9, loss_scale=64.0)
    ms.Model(net, loss, optimizer, loss_scale_manager=manager).train(1, batches())
    other = make_net()
    ms.Model(other, loss, nn.Momentum(other.trainable_params(), 0.1, 0.9)).train(1, batches())
    np.testing.assert_allclose(net.fc1.weight.asnumpy(), other.fc1.weight.asnumpy(), rtol=1e-4, atol=1e-6)


@BOTH_MODES
def test_an_interrupt_leaves_the_last_complete_step_and_a_usable_network(mode, make_net, make_model, batches):
    context.set_context(mode=mode)

    class Interrupt(Callback):
        def step_begin(self, run_context):
            if run_context.original_args().cur_step_num == 3:
                raise KeyboardInterrupt

        def __exit__(self, *err):
            self.closed = True

    net, interrupt = make_net(), Interrupt()
    model = make_model(net, metrics={"acc"})
    with pytest.raises(KeyboardInterrupt):
        model.train(1, batches(), callbacks=interrupt)
    assert interrupt.closed
    twin = make_net()
    data = batches()
    data.rows = data.rows[:2]
    make_model(twin).train(1, data)
    for a, b in zip(net.get_parameters(), twin.get_parameters(), strict=True):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy(), err_msg=a.name)
    model.train(1, batches())
    assert model.eval(batches())["acc"] > 0.3


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
def test_an_interrupt_inside_a_compiled_step_leaves_no_half_written_state(make_net, make_model, batches):
    """Interrupts at several moments of a run, as the stop button does."""
    context.set_context(mode=context.GRAPH_MODE)
    net = make_net()
    model = make_model(net, metrics={"acc"})
    data = batches(steps=300)
    model.train(1, batches())
    armed = []

    def stop(signum, frame):
        if armed:
            armed.clear()
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    interrupted = 0
    try:
        for delay in (0.003, 0.011, 0.023, 0.031):
            try:
                armed.append(True)
                signal.setitimer(signal.ITIMER_REAL, delay)
                model.train(1, data)
                armed.clear()
            except KeyboardInterrupt:
                interrupted += 1
            for p in model.train_network.get_parameters():
                assert np.isfinite(p.asnumpy()).all(), p.name
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted
    model.train(1, batches())
    assert model.eval(batches())["acc"] > 0.9


def test_build_compiles_before_training_in_graph_mode_only(make_model, batches):
    context.set_context(mode=context.GRAPH_MODE)
    model = make_model(metrics={"acc"})
    model.build(batches(), batches())
    compiled = model.train_network._programs.compiled
    model.train(1, batches())
    assert model.train_network._programs.compiled == compiled == 1
    with pytest.raises(ValueError):
        model.build()
    context.set_context(mode=context.PYNATIVE_MODE)
    with pytest.raises(RuntimeError):
        model.build(batches())


@pytest.mark.parametrize(
    ("error", "act"),
    [
        (ValueError, lambda make, data: make(level="O1")),
        (ValueError, lambda make, data: make(amp_level="O9")),
        (ValueError, lambda make, data: make(amp_level="auto")),
        (ValueError, lambda make, data: make(optimizer=None, loss_scale_manager=ms.FixedLossScaleManager())),
        (TypeError, lambda make, data: make(loss_scale_manager=128)),
        (TypeError, lambda make, data: make(optimizer=1)),
        (ValueError, lambda make, data: make(loss_fn=None, metrics={"acc"})),
        (ValueError, lambda make, data: make(eval_network=nn.ReLU(), eval_indexes=[0, 1], metrics={"acc"})),
        (ValueError, lambda make, data: make().eval(data)),
        (ValueError, lambda make, data: make().train(0, data)),
        (TypeError, lambda make, data: make().train(1.5, data)),
        (TypeError, lambda make, data: make().train(1, data, dataset_sink_mode=1)),
        (TypeError, lambda make, data: make().train(1, data, sink_size=1.0)),
        (ValueError, lambda make, data: make().train(1, data, sink_size=0)),
        (TypeError, lambda make, data: make().train(1, [1, 2])),
        (TypeError, lambda make, data: make().train(1, data, callbacks=["print"])),
        (TypeError, lambda make, data: make().train(1, data, callbacks=print)),
        (ValueError, lambda make, data: make().predict(np.ones(2))),
        (RuntimeError, lambda make, data: make().infer_predict_layout(Tensor([1.0]))),
        (ValueError, lambda make, data: ms.FixedLossScaleManager(0.5)),
        (ValueError, lambda make, data: ms.DynamicLossScaleManager(0.5)),
        (ValueError, lambda make, data: ms.DynamicLossScaleManager(scale_window=0)),
        (ValueError, lambda make, data: ms.build_train_network(nn.ReLU(), make()._optimizer, levels="O0")),
        (TypeError, lambda make, data: ms.build_train_network(1, make()._optimizer)),
    ],
)
def test_wrong_arguments_raise_mindspores_error_class(error, act, make_model, batches):
    context.set_context(device_target="CPU", mode=context.PYNATIVE_MODE)
    with pytest.raises(error) as info:
        act(make_model, batches())
    assert len(str(info.value)) > 20


def test_a_model_says_its_members(make_net, make_model, batches):
    model = make_model(metrics={"acc"})
    model.train(2, batches())
    text = "network=Net, loss_fn=SoftmaxCrossEntropyWithLogits, optimizer=Momentum, metrics=acc"
    assert repr(model) == f"Model<{text}, epochs trained: 2>"
    assert repr(ms.Model(make_net())) == "Model<network=Net, epochs trained: 0>"


class TrainsItself(nn.Cell):
    """A network that needs no optimizer of the Model's."""

    def __init__(self, net, loss):
        super().__init__()
        self.step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.SGD(net.trainable_params()))

    def construct(self, data, label):
        return self.step(data, label)


@BOTH_MODES
def test_a_training_in_which_nothing_is_learnt_says_so(mode, make_net, batches, monkeypatch):
    said = []
    monkeypatch.setattr("msnb.log.warning", lambda text, *args: said.append(text % args))
    context.set_context(mode=mode)
    net, loss = make_net(), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    ms.Model(TrainsItself(net, loss)).train(1, batches())
    assert not said
    ms.Model(net, loss).train(2, batches())
    assert len(said) == 1 and said[0].startswith("This Model has no optimizer")


def test_an_optimizer_of_a_network_constructed_earlier_is_named_when_it_trains(make_net, make_model, batches):
    optimizer = nn.Momentum(make_net().trainable_params(), 0.1, 0.9)
    model = make_model(make_net(), optimizer=optimizer, metrics={"loss"})
    assert model.eval(batches(), dataset_sink_mode=False)["loss"] > 0 and model.train_network is None
    for _ in range(2):
        with pytest.raises(ValueError, match="holds Parameters of another Net, made earlier; make it anew"):
            model.train(1, batches())


def test_an_empty_dataset_and_wrong_columns_are_named(make_model, batches):
    with pytest.raises(ValueError, match="empty"):
        make_model().train(1, batches(steps=0))
    with pytest.raises(ValueError, match="two columns"):
        make_model().train(1, batches(columns=3))


def test_two_columns_without_a_loss_get_the_cure(batches):
    class Plain(nn.Cell):
        def construct(self, x):
            return x.sum()

    with pytest.raises(
        TypeError, match=r"has 2 columns, but construct of Plain takes \(x\), and the Model has no loss_fn"
    ):
        ms.Model(Plain()).train(1, batches())


def test_a_dynamic_manager_gives_up_after_a_thousand_overflows():
    manager = ms.DynamicLossScaleManager(4, 2, 2)
    with pytest.raises(RuntimeError):
        for _ in range(2000):
            manager.update_loss_scale(True)
    assert manager.get_loss_scale() == 1


def test_dataset_helper_gives_one_pass_per_loop(batches):
    helper = ms.DatasetHelper(batches(steps=3), dataset_sink_mode=False, epoch_num=2)
    assert [len(list(helper)) for _ in range(2)] == [3, 3]
    with pytest.raises(RuntimeError):
        ms.connect_network_with_dataset(nn.ReLU(), helper)
    helper = ms.DatasetHelper(batches(steps=3), sink_size=2, epoch_num=3)
    assert [len(list(helper)) for _ in range(3)] == [2, 2, 2]
    net = nn.ReLU()
    assert ms.connect_network_with_dataset(net, helper) is net
    assert helper.sink_size() == 1


def test_the_training_loop_costs_little_beside_the_step(make_model, batches):
    """In calls of Python functions, which do not depend on what else the machine does."""
    context.set_context(mode=context.GRAPH_MODE)
    model, data = make_model(), batches(steps=200)
    model.train(1, data)
    network, row = model.train_network, data.rows[0]

    def calls(run):
        seen = []
        sys.setprofile(lambda frame, event, arg: seen.append(1) if event == "call" else None)
        try:
            run()
        finally:
            sys.setprofile(None)
        return len(seen)

    def bare():
        for _ in range(200):
            network(*row)

    assert (calls(lambda: model.train(1, data)) - calls(bare)) / 200 < 16
