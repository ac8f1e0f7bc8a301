"""Cells around networks: loss, gradients, training steps, loss scale."""

import copy
import pickle

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops
from msnb.core.operator import api_generations

BOTH_MODES = pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])


class Net(nn.Cell):
    """y = w * x, with a BatchNorm-like buffer that counts forward passes."""

    def __init__(self, w=1.0):
        super().__init__()
        self.w = Parameter(Tensor(np.array([w], np.float32)), name="w")
        self.calls = Parameter(Tensor(0, ms.int32), name="calls", requires_grad=False)
        self.count = ops.AssignAdd()

    def construct(self, x):
        ops.depend(x, self.count(self.calls, Tensor(1, ms.int32)))
        return x * self.w


class Half(nn.Cell):
    """Loss (out - label)**2 / 2, one per element."""

    def construct(self, out, label):
        return (out - label) ** 2 / 2


def t(*values):
    return Tensor(np.array(values, np.float32))


def step_of(net, optimizer=None, **kwargs):
    optimizer = optimizer or nn.SGD(net.trainable_params(), 0.1)
    return nn.TrainOneStepCell(nn.WithLossCell(net, Half()), optimizer, **kwargs).set_train()


@BOTH_MODES
def test_with_loss_cell_hands_the_output_and_the_label_to_the_loss(mode):
    context.set_context(mode=mode)
    net = Net(2.0)
    cell = nn.WithLossCell(net, Half())
    assert cell(t(1.0, 2.0), t(0.0, 0.0)).asnumpy().tolist() == [2.0, 8.0]
    assert cell.backbone_network is net


@BOTH_MODES
def test_a_training_step_returns_the_loss_before_the_update_and_runs_forward_once(mode):
    context.set_context(mode=mode)
    net = Net()
    step = step_of(net)
    assert step(t(2.0), t(0.0)).asnumpy().tolist() == [2.0]
    np.testing.assert_allclose(net.w.asnumpy(), [0.6], rtol=1e-6)
    np.testing.assert_allclose(step(t(2.0), t(0.0)).asnumpy(), [0.72], rtol=1e-6)
    assert net.calls.asnumpy() == 2


@BOTH_MODES
def test_sens_is_the_cotangent_of_every_element_of_the_loss(mode):
    context.set_context(mode=mode)
    net = Net()
    step_of(net, sens=4.0)(t(1.0, 2.0), t(0.0, 0.0))
    np.testing.assert_allclose(net.w.asnumpy(), [1 - 0.1 * 4 * 5], rtol=1e-6)
    with pytest.raises(TypeError):
        step_of(Net(), sens="1")


@BOTH_MODES
def test_both_ways_to_train_give_the_same_weights(mode):
    context.set_context(mode=mode)
    ms.set_seed(1)
    rng = np.random.RandomState(0)
    x, y = Tensor(rng.randn(8, 4).astype(np.float32)), Tensor(rng.randint(0, 3, 8).astype(np.int32))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    first = nn.SequentialCell(nn.Dense(4, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Dense(5, 3))
    second = copy.deepcopy(first)

    optimizer = nn.Momentum(first.trainable_params(), 0.1, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(first, loss), optimizer).set_train()

    class Step(nn.Cell):  # as r1.1's documentation writes it
        def __init__(self, network, optimizer):
            super().__init__(auto_prefix=False)
            self.network = network
            self.weights = ms.ParameterTuple(network.trainable_params())
            self.optimizer = optimizer
            self.grad = ops.GradOperation(get_by_list=True)

        def construct(self, x, label):
            grads = self.grad(self.network, self.weights)(x, label)
            return ops.depend(True, self.optimizer(grads))

    mine = Step(nn.WithLossCell(second, loss), nn.Momentum(second.trainable_params(), 0.1, 0.9)).set_train()
    for _ in range(3):
        step(x, y)
        mine(x, y)
    for a, b in zip(first.get_parameters(), second.get_parameters(), strict=True):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-6, err_msg=a.name)


@BOTH_MODES
def test_with_grad_cell_returns_one_gradient_per_trainable_parameter(mode):
    context.set_context(mode=mode)
    net = Net()
    (grad,) = nn.WithGradCell(net, Half())(t(1.0, 2.0), t(0.0, 0.0))
    assert grad.asnumpy().tolist() == [5.0]
    (grad,) = nn.WithGradCell(net, Half(), sens=2.0)(t(1.0, 2.0), t(0.0, 0.0))
    assert grad.asnumpy().tolist() == [10.0]
    (grad,) = nn.WithGradCell(net, Half(), sens=t(1.0, 0.0))(t(1.0, 2.0), t(0.0, 0.0))
    assert grad.asnumpy().tolist() == [1.0]
    (grad,) = nn.WithGradCell(net)(t(1.0, 2.0))
    assert grad.asnumpy().tolist() == [3.0]


@BOTH_MODES
def test_with_eval_cell_returns_loss_output_and_label_in_float32_if_asked(mode):
    context.set_context(mode=mode)
    net = Net().to_float(ms.float16)
    loss, output, label = nn.WithEvalCell(net, Half(), add_cast_fp32=True)(t(2.0), t(0.0))
    assert (loss.dtype, output.dtype, label.dtype) == (ms.float32,) * 3
    assert loss.asnumpy().tolist() == [2.0]


@BOTH_MODES
def test_parameter_update_writes_the_learning_rate(mode):
    context.set_context(mode=mode)
    net = Net()
    step = step_of(net)
    rate = step.parameters_dict()["learning_rate"]
    nn.ParameterUpdate(rate)(Tensor(0.5, ms.float32))
    step(t(1.0), t(0.0))
    assert net.w.asnumpy().tolist() == [0.5]
    with pytest.raises(TypeError):
        nn.ParameterUpdate(Tensor(1.0))


@BOTH_MODES
def test_a_step_that_overflows_leaves_weights_and_optimizer_as_they_were(mode):
    context.set_context(mode=mode)
    net = Net()
    optimizer = nn.Adam(net.trainable_params(), 0.1)
    network = nn.WithLossCell(net, Half())
    step = nn.TrainOneStepWithLossScaleCell(network, optimizer, Tensor(np.array([16.0], np.float32))).set_train()
    loss, overflow, scale = step(t(2.0), t(0.0))
    assert (loss.asnumpy().tolist(), bool(overflow.asnumpy()), scale.asnumpy().tolist()) == ([2.0], False, [16.0])
    before = {p.name: p.asnumpy() for p in optimizer.get_parameters()}
    loss, overflow, scale = step(t(np.inf), t(0.0))
    assert bool(overflow.asnumpy())
    for p in optimizer.get_parameters():
        np.testing.assert_array_equal(p.asnumpy(), before[p.name], err_msg=p.name)
    step(t(2.0), t(0.0))
    assert net.w.asnumpy()[0] < before["w"][0]


@BOTH_MODES
def test_a_forward_pass_that_overflows_leaves_its_statistics_as_they_were(mode):
    context.set_context(mode=mode)
    norm, dense = nn.BatchNorm1d(2), nn.Dense(2, 1)
    net = nn.SequentialCell(norm, dense)
    network = nn.WithLossCell(net, nn.MSELoss())
    step = nn.TrainOneStepWithLossScaleCell(
        network, nn.SGD(net.trainable_params(), 0.1), Tensor(16.0, ms.float32)
    ).set_train()
    x = np.array([[1, 2], [3, 5]], np.float32)
    step(Tensor(x), Tensor(x[:, :1]))
    before = {p.name: p.asnumpy() for p in step.get_parameters()}
    assert before[norm.moving_mean.name].any()
    assert bool(step(Tensor(x * np.inf), Tensor(x[:, :1]))[1].asnumpy())
    for p in step.get_parameters():
        np.testing.assert_array_equal(p.asnumpy(), before[p.name], err_msg=p.name)
    step.set_sense_scale(Tensor(3e38, ms.float32))  # only the gradients overflow
    weight = dense.weight.asnumpy()
    assert bool(step(Tensor(x), Tensor(x[:, :1] * 100))[1].asnumpy())
    np.testing.assert_array_equal(dense.weight.asnumpy(), weight)
    assert (norm.moving_mean.asnumpy() > before[norm.moving_mean.name]).all()


@BOTH_MODES
def test_the_scale_does_not_change_the_update(mode):
    context.set_context(mode=mode)
    plain, scaled = Net(), Net()
    step_of(plain)(t(2.0), t(0.0))
    network = nn.WithLossCell(scaled, Half())
    step = nn.TrainOneStepWithLossScaleCell(
        network, nn.SGD(scaled.trainable_params(), 0.1), nn.FixedLossScaleUpdateCell(1024.0)
    )
    step.set_train()(t(2.0), t(0.0))
    np.testing.assert_allclose(scaled.w.asnumpy(), plain.w.asnumpy(), rtol=1e-6)
    step.set_sense_scale(Tensor(2.0, ms.float32))
    assert step(t(2.0), t(0.0))[2].asnumpy() == 2.0
    with pytest.raises(TypeError):
        step.set_sense_scale(2.0)


@BOTH_MODES
def test_a_dynamic_scale_falls_on_overflow_and_rises_after_a_window_without(mode):
    context.set_context(mode=mode)
    net = Net(0.0)
    manager = nn.DynamicLossScaleUpdateCell(loss_scale_value=8.0, scale_factor=2, scale_window=2)
    step = nn.TrainOneStepWithLossScaleCell(
        nn.WithLossCell(net, Half()), nn.SGD(net.trainable_params(), 0.1), scale_sense=manager
    ).set_train()
    scales = []
    for x in (1.0, 1.0, np.inf, np.inf, 1.0, 1.0, 1.0):
        step(t(x), t(0.0))
        scales.append(float(step.scale_sense.asnumpy()))
    assert scales == [8.0, 16.0, 8.0, 4.0, 4.0, 8.0, 8.0]
    assert manager.get_loss_scale() == 8.0


def test_a_loss_scale_in_one_place_only_is_said(monkeypatch):
    said = []
    monkeypatch.setattr("msnb.log.once", lambda text, *args: said.append(text % args))
    net = nn.WithLossCell(Net(), Half())
    plain, scaled = (nn.SGD(net.trainable_params(), 0.1, loss_scale=s) for s in (1.0, 64.0))
    manager = nn.FixedLossScaleUpdateCell(64.0)

    class Own(nn.TrainOneStepCell):
        def construct(self, x):
            return x

    for make in (
        lambda: nn.TrainOneStepCell(net, plain),
        lambda: nn.TrainOneStepCell(net, scaled, 64.0),
        lambda: nn.TrainOneStepWithLossScaleCell(net, plain, manager),
        lambda: Own(net, scaled),
    ):
        make()
    assert not said
    for make in (
        lambda: nn.TrainOneStepCell(net, scaled),
        lambda: nn.TrainOneStepCell(net, plain, 64.0),
        lambda: nn.TrainOneStepWithLossScaleCell(net, scaled, manager),
    ):
        make()
    assert len(said) == 3 and all("SGD" in text for text in said)


def test_loss_scale_arguments_are_checked():
    net = nn.WithLossCell(Net(), Half())
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    with pytest.raises(TypeError):
        nn.TrainOneStepWithLossScaleCell(net, optimizer, 2.0)
    with pytest.raises(ValueError):
        nn.TrainOneStepWithLossScaleCell(net, optimizer, t(1.0, 2.0))


def test_the_grad_reducer_of_one_process_changes_nothing():
    reducer = nn.DistributedGradReducer(Net().trainable_params(), mean=True, degree=1)
    grads = (t(1.0), t(2.0))
    assert [g.asnumpy().tolist() for g in reducer(grads)] == [[1.0], [2.0]]
    with pytest.raises(ValueError):
        nn.DistributedGradReducer([], degree=0)


def test_data_parallel_training_puts_a_reducer_into_the_step():
    context.set_auto_parallel_context(parallel_mode=context.ParallelMode.DATA_PARALLEL)
    net = Net()
    step = step_of(net)
    assert step.reducer_flag
    step(t(2.0), t(0.0))
    np.testing.assert_allclose(net.w.asnumpy(), [0.6], rtol=1e-6)


def test_device_queues_say_that_they_do_not_exist():
    with pytest.raises(NotImplementedError, match="queue"):
        nn.GetNextSingleOp([ms.float32], [(1,)], "queue")


@BOTH_MODES
def test_virtual_dataset_cells_call_what_they_hold(mode):
    context.set_context(mode=mode)

    class Three(nn.Cell):
        def construct(self, a, b, c):
            return a + b * c

    assert nn.VirtualDatasetCellTriple(Three())(t(1.0), t(2.0), t(3.0)).asnumpy().tolist() == [7.0]


def test_a_failed_step_leaves_everything_as_it_was_and_the_cell_usable():
    context.set_context(mode=context.GRAPH_MODE)
    net = nn.Dense(3, 2)
    before = net.weight.asnumpy()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params())).set_train()
    with pytest.raises(ValueError):
        step(Tensor(np.ones((2, 4), np.float32)), Tensor(np.ones((2, 2), np.float32)))
    np.testing.assert_array_equal(net.weight.asnumpy(), before)
    step(Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((2, 2), np.float32)))
    assert not np.array_equal(net.weight.asnumpy(), before)


def test_a_training_step_can_be_copied_and_pickled():
    net = Net()
    step = step_of(net)
    step(t(2.0), t(0.0))
    for twin in (copy.deepcopy(step), pickle.loads(pickle.dumps(step))):
        before = net.w.asnumpy()
        twin(t(2.0), t(0.0))
        np.testing.assert_array_equal(net.w.asnumpy(), before)
        assert twin.network._backbone.w.asnumpy()[0] < before[0]


def test_an_optimizer_belongs_to_the_network_that_it_trains():
    net, other = Net(), nn.Dense(1, 1)
    part = nn.SGD([net.w, *other.trainable_params()], 0.1)  # one that trains more than this network is fine
    assert step_of(net, part).optimizer is part
    with pytest.raises(ValueError, match="The optimizer holds no Parameter of this Net"):
        step_of(net, nn.SGD(other.trainable_params(), 0.1))
    with pytest.raises(ValueError, match="another Net, made earlier"):
        step_of(Net(), part)


def test_cells_in_a_plain_list_are_said_once(monkeypatch):
    said = []
    monkeypatch.setattr("msnb.log.once", lambda text, *args: said.append(text % args))

    class Listed(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Dense(2, 2), nn.ReLU()]
            self.layers.append(nn.Dense(2, 2))
            self.first = self.layers[0]
            self.frozen = (nn.Dense(2, 2),)
            for param in self.frozen[0].get_parameters():
                param.requires_grad = False
            self.cells_of_a_list = nn.CellList([nn.Dense(2, 2)])
            self.ways = {"in": self.first}

    nn.SequentialCell(Listed()).trainable_params()
    assert len(said) == 1 and said[0].startswith("1 Cell is not seen in 'layers' of Listed, a list: no optimizer")


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_in_mindspore_2_an_optimizer_of_another_network_leaves_the_network_as_it_is(mode, capsys):
    api_generations.share(2)
    try:
        ms.set_context(mode=mode)
        net, other = Net(), nn.Dense(1, 1)
        before = [p.asnumpy().copy() for p in (net.w, *other.trainable_params())]
        step = step_of(net, nn.SGD(other.trainable_params(), 0.1))
        assert np.isfinite(step(t(2.0), t(0.0)).asnumpy()).all()
        for parameter, value in zip((net.w, *other.trainable_params()), before, strict=True):
            np.testing.assert_array_equal(parameter.asnumpy(), value)
        with pytest.raises(ValueError, match="another Net, made earlier"):
            step_of(Net(), nn.SGD([net.w], 0.1))
    finally:
        api_generations.share(1)
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert "Training leaves this network as it is" in capsys.readouterr().err
