"""Records of a GradientMonitor, compared with gradients computed otherwise, and its messages."""

import re
import warnings

import jax
import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, nn, ops
from msnb.common.initializer import Normal
from msnb.core.program import extra_outputs
from msnb.core.program.program_cache import program_of
from msnb.core.state import events
from msnb.insight.gradients import STATISTICS, GradientMonitor

LOSS = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
MODES = pytest.mark.parametrize("mode", (ms.GRAPH_MODE, ms.PYNATIVE_MODE), ids=("graph", "pynative"))

# Findings depend on the numbers of a recording only, which are the same in both modes (see the first tests).
ONE_MODE = pytest.mark.parametrize(
    "mode", (ms.GRAPH_MODE, pytest.param(ms.PYNATIVE_MODE, marks=pytest.mark.slow)), ids=("graph", "pynative")
)


@pytest.fixture(autouse=True)
def _mode():
    before = ms.get_context("mode")
    yield
    ms.set_context(mode=before)
    assert not extra_outputs.observers and not (events.subscribers.recorded or events.subscribers.pulled)


class MLP(nn.Cell):
    def __init__(self, act=None, depth=3, width=16, init="HeNormal"):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(8 if i == 0 else width, width, weight_init=init) for i in range(depth)])
        self.act = act or nn.ReLU()
        self.head = nn.Dense(width, 3)

    def construct(self, x):
        for layer in self.layers:
            x = self.act(layer(x))
        return self.head(x)


def data(rows=32):
    rng = np.random.default_rng(0)
    return (
        Tensor(rng.standard_normal((rows, 8)).astype(np.float32)),
        Tensor(rng.integers(0, 3, rows).astype(np.int32)),
    )


def step_of(net, rate=0.01):
    return nn.TrainOneStepCell(nn.WithLossCell(net, LOSS), nn.Momentum(net.trainable_params(), rate, 0.9)).set_train()


def train(net, steps=4, rate=0.01, **settings):
    step, (x, y) = step_of(net, rate), data()
    with GradientMonitor(net=net, **settings) as monitor:
        for _ in range(steps):
            step(x, y)
    return monitor


def kinds(monitor):
    return {finding.kind for finding in monitor.findings()}


@MODES
def test_the_numbers_are_those_of_the_gradients(mode):
    ms.set_context(mode=mode)
    ms.set_seed(3)
    net, (x, y) = MLP(), data()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    value, grads = ms.value_and_grad(lambda a, b: loss(net(a), b), None, net.trainable_params())(x, y)
    before = {p.name: p.asnumpy().copy() for p in net.trainable_params()}
    monitor = train(net, steps=1, tensors=("*.weight", "weight:head.bias"))
    recording, step = monitor.recording, monitor.recording.steps[0]
    assert step.loss == pytest.approx(float(value.asnumpy()), rel=1e-5)
    for param, grad in zip(net.trainable_params(), grads):
        row, g = recording.row(param.name, "parameter"), grad.asnumpy().astype(np.float64)
        norm, mean, std, low, high, zeros, nan, inf, _, update, weight, _ = recording.values(row, step)
        expected = [np.linalg.norm(g), g.mean(), g.std(), g.min(), g.max(), (g == 0).mean(), 0, 0]
        np.testing.assert_allclose([norm, mean, std, low, high, zeros, nan, inf], expected, rtol=2e-4, atol=1e-8)
        moved = np.linalg.norm(param.asnumpy() - before[param.name])
        size = np.linalg.norm(before[param.name])
        assert weight == pytest.approx(size, rel=1e-4)
        if size:
            assert update == pytest.approx(moved / size, rel=1e-2)
        if param.name.endswith("weight"):
            np.testing.assert_allclose(
                recording.tensor(f"parameter:{param.name}"), grad.asnumpy(), rtol=1e-4, atol=1e-7
            )
        counts, edges = recording.histogram(row, step)
        assert counts.sum() == min(g.size, counts.sum()) > 0 and edges[0] == np.float32(g.min())
    np.testing.assert_array_equal(recording.tensor("weight:head.bias"), net.head.bias.asnumpy())


@MODES
def test_a_histogram_of_few_elements_counts_every_one(mode):
    ms.set_context(mode=mode)
    tensor = train(MLP(), steps=1, tensors="layers.1.weight").recording
    values = tensor.tensor("parameter:layers.1.weight")
    row = tensor.row("layers.1.weight", "parameter")
    counts, edges = tensor.histogram(row, tensor.steps[0])
    assert counts.sum() == values.size
    np.testing.assert_allclose(np.cumsum(counts), [(values <= e).sum() for e in edges[1:]], atol=2)


@MODES
def test_every_operator_has_its_output_and_its_gradient(mode):
    ms.set_context(mode=mode)
    net, (x, y) = MLP(depth=2), data()
    hidden = {}

    def upto(a):
        hidden["h"] = net.act(net.layers[0](a))
        return hidden["h"]

    recording = train(net, steps=1, level="all", tensors=("output:*", "gradient:*"), rate=1e-6).recording
    name = "act/ReLU"
    out = recording.tensor(f"output:{name}")
    np.testing.assert_allclose(out, upto(x).asnumpy(), rtol=1e-4, atol=1e-5)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    grad = ms.grad(lambda h: loss(net.head(net.act(net.layers[1](h))), y))(Tensor(out)).asnumpy()
    np.testing.assert_allclose(recording.tensor(f"gradient:{name}"), grad, rtol=1e-3, atol=1e-5)
    row = recording.row(name, "output")
    values = recording.values(row, recording.steps[0])
    assert values[5] == pytest.approx((out == 0).mean(), abs=1e-6)
    dead = recording.dead_units(row)
    np.testing.assert_array_equal(dead, (out <= 0).all(axis=0))


def test_both_modes_see_the_same():
    tables = []
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        ms.set_seed(7)
        recording = train(MLP(), steps=3, level="all").recording
        tables.append(
            {
                kind: ([r.name for r in recording.rows(kind)], recording.table("norm", kind))
                for kind in ("parameter", "output")
            }
        )
    assert tables[0]["parameter"][0] == tables[1]["parameter"][0]
    np.testing.assert_allclose(tables[0]["parameter"][1], tables[1]["parameter"][1], rtol=1e-3)
    first, second = (dict(zip(*t["output"])) for t in tables)
    shared = first.keys() & second.keys()
    assert len(shared) >= 10
    for name in shared:
        np.testing.assert_allclose(first[name], second[name], rtol=1e-3)


# ---------------------------------------------------------------------- off means off
@pytest.mark.parametrize("level", ("parameters", "all"))
def test_training_gives_the_same_parameters_with_and_without(level):
    ms.set_context(mode=ms.GRAPH_MODE)
    results = []
    for watch in (False, True):
        ms.set_seed(5)
        net = MLP()
        step, (x, y) = step_of(net), data()
        with GradientMonitor(level) if watch else warnings.catch_warnings():
            losses = [step(x, y).asnumpy() for _ in range(5)]
        results.append((losses, [p.asnumpy() for p in net.trainable_params()]))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-5)
    for a, b in zip(results[0][1], results[1][1]):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_when_off_the_program_is_the_very_same():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = MLP()
    step, (x, y) = step_of(net), data()
    step(x, y)
    program = program_of(step, x, y)
    own, jaxpr = program.run, program.jaxpr
    with GradientMonitor() as monitor:
        step(x, y)
        assert program.run is not own
    step(x, y)
    assert program_of(step, x, y) is program and program.run is own and program.jaxpr is jaxpr
    assert monitor.recording.numbers == [1]


def test_a_program_without_gradients_is_left_alone():
    ms.set_context(mode=ms.GRAPH_MODE)
    net, (x, _) = MLP(), data()
    with GradientMonitor() as monitor:
        net(x)
        program = program_of(net, x)
        assert not program._forms.receivers
    assert monitor.recording.rows() == [] and monitor.findings() == []


def test_a_monitor_of_one_network_leaves_others_alone():
    ms.set_context(mode=ms.GRAPH_MODE)
    mine, other, (x, y) = MLP(), MLP(depth=1), data()
    with GradientMonitor(net=mine) as monitor:
        step_of(other)(x, y)
        assert monitor.recording.rows() == []
        step_of(mine)(x, y)
    assert len(monitor.recording.rows()) == 8


# ---------------------------------------------------------------------- findings
@ONE_MODE
def test_a_deep_sigmoid_network_is_said_to_vanish(mode):
    ms.set_context(mode=mode)
    monitor = train(MLP(nn.Sigmoid(), depth=6, init="normal"), level="parameters")
    findings = [f for f in monitor.findings() if f.kind == "vanishing"]
    assert len(findings) == 1 and findings[0].severity == "error"
    assert (
        "6 Sigmoids" in findings[0].text and "layers.0.weight" in findings[0].text and "head.weight" in findings[0].text
    )
    norms = monitor.recording.table("norm")[:, -1]
    assert norms[0] < 1e-3 * norms[-2]


@ONE_MODE
@pytest.mark.parametrize("level", ("parameters", "all"))
def test_a_healthy_network_has_no_findings(mode, level):
    ms.set_context(mode=mode)
    ms.set_seed(1)
    assert train(MLP(), steps=6, level=level).findings() == []


def test_gradients_that_grow_toward_the_input_are_said_to_explode():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Growing(nn.Cell):
        """Each layer hands on a tenth of what it got, but a hundred times its gradient."""

        def __init__(self):
            super().__init__()
            self.layers = nn.CellList([nn.Dense(8, 8, weight_init=Normal(0.5)) for _ in range(5)])

        def construct(self, x):
            for layer in self.layers:
                x = layer(x) * 100
                x = x - ops.stop_gradient(x * 0.999)
            return x.mean()

    net = Growing()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 1e-30)).set_train()
    with GradientMonitor() as monitor:
        step(data()[0])
    findings = [f for f in monitor.findings() if f.kind == "exploding"]
    assert len(findings) == 1 and "explode toward the input" in findings[0].text and findings[0].severity == "error"


def test_a_jump_of_the_norm_is_said_to_explode():
    ms.set_context(mode=ms.GRAPH_MODE)
    net, (x, y) = MLP(), data()
    step = step_of(net, 1e-6)
    with GradientMonitor() as monitor:
        for scale in (1, 1, 1, 1, 1, 1e5):
            step(x * scale, y)
    findings = [f for f in monitor.findings() if f.kind == "exploding"]
    assert findings and findings[0].step == 6


@ONE_MODE
def test_dead_relus_are_counted_by_unit(mode):
    ms.set_context(mode=mode)
    net = MLP(depth=2)
    net.layers[1].bias.set_data(Tensor(np.where(np.arange(16) < 12, -100, 0).astype(np.float32)))
    findings = [f for f in train(net, steps=3, level="all").findings() if f.kind == "dead"]
    assert len(findings) == 1 and re.search(r"of 16 units of self\.act.*, 2nd call \(", findings[0].text)
    assert int(findings[0].text.split(": ")[1].split(" of ")[0]) >= 12


@ONE_MODE
def test_saturated_activations_are_detected(mode):
    ms.set_context(mode=mode)
    monitor = train(MLP(nn.Tanh(), init=Normal(3.0)), level="all")
    findings = [f for f in monitor.findings() if f.kind == "saturated"]
    assert len(findings) == 1 and "Tanh" in findings[0].text
    assert "saturated" not in kinds(train(MLP(nn.Tanh(), init="XavierUniform"), level="all"))


@ONE_MODE
def test_parameters_without_a_gradient_are_named(mode):
    ms.set_context(mode=mode)

    class Spare(MLP):
        def __init__(self):
            super().__init__(depth=2)
            self.spare = nn.Dense(4, 5)
            self.forgotten = ms.Parameter(Tensor(np.ones(3, np.float32)), name="forgotten")

    net, (x, y) = Spare(), data()
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    trained = [p for p in net.trainable_params() if p.name != "forgotten"]
    step = nn.TrainOneStepCell(loss, nn.SGD(trained, 0.01)).set_train()
    with GradientMonitor(net=net) as monitor:
        step(x, y)
        step(x, y)
    texts = [f.text for f in monitor.findings() if f.kind == "missing"]
    assert any(t.startswith("forgotten: trainable") for t in texts)
    assert any(t.startswith("spare.weight, spare.bias: not used by the forward pass") for t in texts)


OPTIMIZERS = [name for name in nn.optim.__all__ if name not in ("Optimizer", "thor")]  # thor trains Cells of its own


def optimizer_of(name, net):
    if name == "LARS":
        return nn.LARS(nn.SGD(net.trainable_params(), 0.01))
    if name == "AdaFactor":  # its learning rate follows from the number of the step
        return nn.AdaFactor(net.trainable_params())
    return getattr(nn, name)(net.trainable_params(), 0.01, *[0.9] * (name == "Momentum"))


@MODES
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_what_an_optimizer_keeps_is_not_missed_a_gradient(mode, name):
    ms.set_context(mode=mode)
    net, (x, y) = MLP(depth=1), data()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, LOSS), optimizer_of(name, net)).set_train()
    with GradientMonitor(net=step) as monitor:
        step(x, y)
        step(x, y)
    assert not [f.text for f in monitor.findings() if f.severity == "error" or f.kind in ("missing", "flat")]


# Arguments of a loss, the layers before it, and its target.
PART = np.random.default_rng(1).uniform(0.1, 0.9, (32, 3)).astype(np.float32)
CLASS = np.random.default_rng(1).integers(0, 3, 32).astype(np.int32)
HOT = np.eye(3, dtype=np.float32)[CLASS]
SIGN = 2 * HOT - 1
LOSSES = {
    **dict.fromkeys(
        ("L1Loss", "L1LossExt", "MAELoss", "MSELoss", "RMSELoss", "SmoothL1Loss", "HuberLoss"), ({}, (), PART)
    ),
    **dict.fromkeys(("BCELoss", "DiceLoss"), ({}, (nn.Sigmoid,), PART)),
    "BCEWithLogitsLoss": ({}, (), PART),
    "KLDivLoss": ({}, (nn.LogSoftmax,), PART),
    "SoftmaxCrossEntropyWithLogits": ({"sparse": True, "reduction": "mean"}, (), CLASS),
    "CrossEntropyLoss": ({}, (), CLASS),
    "NLLLoss": ({}, (nn.LogSoftmax,), CLASS),
    "FocalLoss": ({}, (), CLASS[:, None]),
    "PoissonNLLLoss": ({}, (), np.floor(4 * PART)),
    "HingeEmbeddingLoss": ({}, (nn.Sigmoid,), SIGN),
    "SoftMarginLoss": ({}, (), SIGN),
    "MultiLabelSoftMarginLoss": ({}, (), HOT),
    "MultiMarginLoss": ({}, (), CLASS.astype(np.int64)),
    "MultilabelMarginLoss": ({}, (), np.stack([CLASS, np.full(32, -1, np.int32), CLASS], 1)),
    "MultiClassDiceLoss": ({}, (), HOT),
}


def test_every_loss_of_two_inputs_is_tried():
    others = {"LossBase", "SampledSoftmaxLoss", "CTCLoss"}  # a base class; four inputs
    others |= {"CosineEmbeddingLoss", "GaussianNLLLoss", "MarginRankingLoss"}  # three inputs
    others |= {"TripletMarginLoss", "TripletMarginWithDistanceLoss"}
    assert set(nn.loss.__all__) == {*LOSSES, *others}


@pytest.mark.parametrize("name", LOSSES)
def test_no_loss_alarms_about_a_healthy_network(name):
    ms.set_context(mode=ms.GRAPH_MODE)
    settings, layers, target = LOSSES[name]
    net = nn.SequentialCell(MLP(depth=2), *(layer() for layer in layers))
    loss = nn.WithLossCell(net, getattr(nn, name)(**settings))
    step = nn.TrainOneStepCell(loss, nn.SGD(net.trainable_params(), 0.01)).set_train()
    with GradientMonitor(net=step) as monitor:
        for _ in range(3):
            step(data()[0], Tensor(target))
    assert not [f.text for f in monitor.findings() if f.severity == "error"]


class Ends(nn.Cell):
    """A Parameter, and what stands between it and the loss."""

    def __init__(self, end, start=1.0):
        super().__init__()
        self.weight = ms.Parameter(Tensor(np.full((3, 4), start, np.float32)), name="weight")
        self.end = end

    def construct(self, x):
        return self.end(self.weight * x).mean()


@pytest.mark.parametrize(
    "end, start, said",
    (
        (ops.stop_gradient, 1.0, "does not depend on the Parameters"),
        (ops.round, 1.3, "does not depend on the Parameters"),
        (lambda x: ops.cast(ops.Argmax()(x), ms.float32), 1.0, "does not depend on the Parameters"),
        (ops.relu, -1.0, "is saturated: it is exactly 0"),
        (lambda x: ops.relu(x) + 2, -1.0, "depends on the Parameters, but, where it stands at 2, is flat"),
    ),
)
def test_gradients_of_zero_are_distinguished_from_a_loss_that_cannot_react(end, start, said):
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Ends(end, start)
    step = ms.value_and_grad(net, None, net.trainable_params())
    with GradientMonitor(net=net) as monitor:
        step(Tensor(np.ones((3, 4), np.float32)))
    assert [said in finding.text for finding in monitor.findings()] == [True]


def test_a_gradient_that_never_changes_is_noticed():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Sum(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(Tensor(np.arange(6, dtype=np.float32)), name="w")

        def construct(self, x):
            return (self.w * 3).sum() + x.sum()

    net = Sum()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1)).set_train()
    with GradientMonitor() as monitor:
        for i in range(5):
            step(Tensor(np.full(2, i, np.float32)))
    assert "constant" in kinds(monitor)
    assert "constant" not in kinds(train(MLP(), steps=5))


# ---------------------------------------------------------------------- the first NaN
class Log(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(8, 4)
        self.log = ops.Log()

    def construct(self, x):
        x = self.first(x)
        x = self.log(x)  # of a negative number
        return x.mean()


class Root(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = ms.Parameter(Tensor(np.zeros(4, np.float32)), name="w")

    def construct(self, x):
        return ops.sqrt(self.w * x).sum()  # 0, whose derivative is infinite; times x = 0 that is NaN


@MODES
@pytest.mark.parametrize("level", ("parameters", "all"))
def test_the_first_nan_names_the_operator_and_its_line(mode, level):
    ms.set_context(mode=mode)
    ms.set_seed(1)
    net, (x, _) = Log(), data()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1)).set_train()
    with GradientMonitor(level) as monitor:
        step(x)
        step(x)
    nonfinite = monitor.recording.nonfinite
    line = Log.construct.__code__.co_firstlineno + 2
    assert (nonfinite.step, nonfinite.what, nonfinite.direction) == (1, "NaN", "forward")
    assert nonfinite.name.endswith("Log") and nonfinite.source[1] == line and nonfinite.source[0] == __file__
    first = monitor.findings()[0]
    assert first.kind == "nonfinite" and f"test_gradients.py:{line}, in the forward pass" in first.text


@MODES
def test_without_locating_a_nan_is_still_seen_in_the_loss_and_the_gradients(mode):
    ms.set_context(mode=mode)
    for net, x, name in ((Log(), data()[0], "the loss"), (Root(), Tensor([1, 0, 1, 1.0]), "gradient of w")):
        step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1)).set_train()
        with GradientMonitor(locate=False) as monitor:
            step(x)
        assert monitor.recording.nonfinite.name == name


@MODES
def test_a_nan_of_the_backward_pass_is_distinguished_from_one_of_the_forward_pass(mode):
    ms.set_context(mode=mode)
    net = Root()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1)).set_train()
    with GradientMonitor() as monitor:
        step(Tensor(np.array([1, 0, 1, 1], np.float32)))
    nonfinite = monitor.recording.nonfinite
    assert nonfinite.direction == "backward" and nonfinite.step == 1
    assert nonfinite.source is None or nonfinite.source[0] == __file__


def test_an_input_that_holds_a_nan_is_named():
    ms.set_context(mode=ms.GRAPH_MODE)
    net, (x, y) = MLP(), data()
    step = step_of(net)
    with GradientMonitor() as monitor:
        step(x, y)
        step(Tensor(np.where(np.arange(8) == 3, np.nan, x.asnumpy()).astype(np.float32)), y)
        step(x, y)
    nonfinite = monitor.recording.nonfinite
    assert (nonfinite.step, nonfinite.direction, nonfinite.what) == (2, "input", "NaN") and "input" in nonfinite.name


def test_nan_and_inf_are_counted():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Odd(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(Tensor(np.ones(5, np.float32)), name="w")

        def construct(self, x):
            return (self.w * x).sum()

    net = Odd()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1)).set_train()
    with GradientMonitor() as monitor:
        step(Tensor(np.array([1, np.nan, np.inf, np.inf, 2], np.float32)))
    recording = monitor.recording
    assert recording.table("nan")[0, 0] == 1 and recording.table("inf")[0, 0] == 2


# ---------------------------------------------------------------------- budgets
def test_a_long_training_is_thinned_evenly_and_says_so():
    ms.set_context(mode=ms.GRAPH_MODE)
    recording = train(MLP(depth=1), steps=50, keep=10).recording
    numbers = recording.numbers
    assert len(numbers) <= 11 and numbers[0] == 1 and numbers[-1] == 50
    assert set(np.diff(numbers[:-1])) == {8}
    assert any("50 steps ran; every eighth" in note for note in recording.notes())


@MODES
def test_complete_tensors_stay_within_their_memory(mode):
    ms.set_context(mode=mode)
    recording = train(MLP(depth=2), steps=12, tensors="layers.1.weight", memory=6 * 1024).recording
    history = recording.tensors[("parameter", "layers.1.weight")]
    both = [v for tensors in recording.tensors.values() for v in tensors.values()]
    assert sum(v.nbytes for v in both) <= 6 * 1024 and len(history) >= 2 and 1 in history
    assert any("did not fit into 6 KiB" in note for note in recording.notes())
    with pytest.raises(KeyError, match="was recorded in steps"):
        recording.tensor("parameter:layers.1.weight", 2)


def test_a_tensor_that_was_not_asked_for_says_how_to():
    ms.set_context(mode=ms.GRAPH_MODE)
    with pytest.raises(KeyError, match="tensors="):
        train(MLP(depth=1), steps=2).recording.tensor("head.weight", 1)


@MODES
def test_any_tensor_of_the_last_step_is_at_hand(mode):
    ms.set_context(mode=mode)
    asked = train(MLP(), level="all", tensors="*").recording
    recording = train(MLP(), level="all").recording
    at_hand = {"parameter", "weight"} if mode == ms.GRAPH_MODE else {"parameter", "output", "gradient"}
    for (kind, name), history in asked.tensors.items():
        if kind in at_hand:
            assert recording.tensor(f"{kind}:{name}", 4).shape == history[4].shape
    with GradientMonitor() as monitor:
        net, (x, y) = MLP(), data()
        step_of(net)(x, y)
    assert np.isclose(np.linalg.norm(monitor.recording.tensor("head.weight")), monitor.recording.table("norm")[-2, -1])


def test_a_unit_that_is_no_number_is_not_called_dead():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = MLP(depth=1)
    net.layers[0].weight.set_data(Tensor(np.full((16, 8), np.nan, np.float32)))
    assert kinds(train(net, steps=2, level="all")) == {"nonfinite"}


@pytest.mark.parametrize("act", (nn.ReLU, nn.Sigmoid))
def test_what_leaves_the_program_gives_the_numbers_that_are_taken_inside(act):
    ms.set_context(mode=ms.GRAPH_MODE)
    net, (x, y) = MLP(act(), init=Normal(2.0)), data()
    results = []
    for room in (0, 1 << 30):
        monitor = GradientMonitor("all", net=net)
        monitor.room = room
        with monitor:
            ms.value_and_grad(nn.WithLossCell(net, LOSS), None, net.trainable_params())(x, y)
        results.append(monitor.recording)
    inside, outside = results
    assert len(outside.latest) > len(inside.latest) > 0
    for kind in ("output", "gradient"):
        for name in STATISTICS:
            np.testing.assert_allclose(inside.table(name, kind), outside.table(name, kind), rtol=1e-4, atol=1e-6)
        assert inside.rows(kind) == outside.rows(kind)
    if act is nn.Sigmoid:
        assert np.nanmax(outside.table("saturated", "output")) > 0.3


def test_a_network_that_is_looked_at_from_its_first_step_on_is_compiled_once():
    ms.set_context(mode=ms.GRAPH_MODE)
    compiled = []

    def hear(event, duration, fun_name="", **_):
        if event.endswith("backend_compile_duration") and "Train" in fun_name:
            compiled.append(fun_name)

    jax.monitoring.register_event_duration_secs_listener(hear)
    try:
        train(MLP(depth=5), steps=2)
    finally:
        jax.monitoring.unregister_event_duration_listener(hear)
    assert len(compiled) == 1


# ---------------------------------------------------------------------- training loops of all kinds
@MODES
def test_model_train_takes_it_as_a_callback(mode):
    ms.set_context(mode=mode)
    from msnb import dataset

    rng = np.random.default_rng(0)
    batches = dataset.NumpySlicesDataset(
        (rng.standard_normal((40, 8)).astype(np.float32), rng.integers(0, 3, 40).astype(np.int32)), shuffle=False
    ).batch(8)
    net = MLP(depth=1)
    model = ms.Model(
        net,
        nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
        nn.Momentum(net.trainable_params(), 0.01, 0.9),
    )
    monitor = GradientMonitor()
    model.train(2, batches, callbacks=monitor, dataset_sink_mode=False)
    assert monitor.recording.numbers == list(range(1, 11))
    assert np.isfinite(monitor.recording.table("norm")).all()
    assert np.isfinite(monitor.recording.table("update")[0]).all()


@MODES
def test_a_loop_with_value_and_grad_and_an_optimizer_is_one_step_per_round(mode):
    ms.set_context(mode=mode)
    net, (x, y) = MLP(depth=2), data()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    value_and_grad = ms.value_and_grad(lambda a, b: loss(net(a), b), None, optimizer.parameters)
    with GradientMonitor() as monitor:
        for _ in range(3):
            _, grads = value_and_grad(x, y)
            optimizer(grads)
    recording = monitor.recording
    assert recording.numbers == [1, 2, 3] and len(recording.rows()) == 6
    assert np.isfinite(recording.table("update")).sum() >= 15  # a bias that begins as zero has no ratio at first


def test_a_last_batch_of_another_size_goes_into_the_same_rows():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = MLP(depth=1)
    step = step_of(net)
    with GradientMonitor() as monitor:
        for rows in (32, 32, 8):
            step(*data(rows))
    assert monitor.recording.table("norm").shape == (4, 3) and np.isfinite(monitor.recording.table("norm")).all()


def test_gradients_within_a_loop_of_the_network_are_recorded():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Recurrent(nn.Cell):
        def __init__(self):
            super().__init__()
            self.cell = nn.Dense(8, 8)

        def construct(self, x, n):
            i = ops.zeros_like(n)
            while i < n:
                x = ops.tanh(self.cell(x))
                i = i + 1
            return x.sum()

    net, (x, _) = Recurrent(), data()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1)).set_train()
    with GradientMonitor("all") as monitor:
        step(x, Tensor(3, ms.int32))
    recording = monitor.recording
    inner = [r for r in recording.rows("output") if r.op == "Tanh"]
    assert inner and np.isfinite(recording.values(inner[0], recording.steps[0])[0])
    assert recording.table("norm")[0, 0] > 0


def test_wrong_settings_say_what_is_expected():
    with pytest.raises(ValueError, match="'level' should be one of parameters, all"):
        GradientMonitor("some")
    with pytest.raises(ValueError, match="'keep' should be an int of at least 2"):
        GradientMonitor(keep=1)
    with pytest.raises(TypeError, match="'tensors' should be names"):
        GradientMonitor(tensors=[3])
    with pytest.raises(TypeError, match="'net' should be a Cell"):
        GradientMonitor(net=3)
    with pytest.raises(TypeError, match="'locate' should be bool"):
        GradientMonitor(locate=1)


# ---------------------------------------------------------------------- what is kept meanwhile
def test_numbers_that_wait_for_the_device_stay_few():
    ms.set_context(mode=ms.GRAPH_MODE)
    net, (x, y) = MLP(), data()
    step = step_of(net)
    with GradientMonitor() as monitor:
        for number in range(30):
            step(x, y)
            monitor.recording.end_step(number)
            assert len(monitor.recording._pending) <= 2 * monitor.recording.lag + 1
    assert monitor.recording.numbers == list(range(30))


def test_large_networks_wait_for_fewer_steps(monkeypatch):
    ms.set_context(mode=ms.GRAPH_MODE)
    monkeypatch.setattr("msnb.insight.gradients.monitor._MAX_PENDING_BYTES", 10_000)
    assert train(MLP()).recording.lag == 2
    assert train(MLP(), locate=False).recording.lag == 8


def test_a_step_whose_parameters_were_written_over_still_names_the_gradient():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Root()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1)).set_train()
    with GradientMonitor() as monitor:
        before = net.w._get_stored_array()
        step(Tensor([1, 0, 1, 1.0]))
        before.delete()
    nonfinite = monitor.recording.nonfinite
    assert (nonfinite.what, nonfinite.name, nonfinite.direction) == ("NaN", "gradient of w", "backward")
    assert np.isnan(monitor.recording.table("update")).all()  # its change is unknown
