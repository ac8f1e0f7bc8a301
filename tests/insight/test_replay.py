"""Values of nodes: of one run, by round of a loop, and of the steps of a training."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, ir, nn, ops
from msnb.insight.debugger import select_nodes
from msnb.notebook.graph import timeline, view

X = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
pytestmark = pytest.mark.usefixtures("graph_mode")


class Small(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(3, 5, weight_init="ones")
        self.relu = nn.ReLU()
        self.second = nn.Dense(5, 2, weight_init="ones")

    def construct(self, x):
        hidden = self.relu(self.first(x))
        return self.second(hidden * 2)


def training_step(rate=0.1):
    net = Small()
    loss = nn.WithLossCell(net, nn.MSELoss())
    step = nn.TrainOneStepCell(loss, nn.Momentum(net.trainable_params(), rate, 0.9))
    return net, step.set_train()


def batches(count=5):
    rng = np.random.default_rng(1)
    return [
        (Tensor(rng.standard_normal((4, 3)).astype(np.float32)), Tensor(rng.standard_normal((4, 2)).astype(np.float32)))
        for _ in range(count)
    ]


def test_each_node_has_the_value_that_it_has_in_pynative_mode():
    net = Small()
    shown = view(net, Tensor(X), values=True)
    context.set_context(mode=context.PYNATIVE_MODE)
    hidden = net.first(Tensor(X))
    expected = {
        "op:BiasAdd scope:first": hidden,
        "op:ReLU": ops.relu(hidden),
        "op:Mul": ops.relu(hidden) * 2,
        "op:BiasAdd scope:second": net(Tensor(X)),
    }
    for query, value in expected.items():
        np.testing.assert_allclose(shown.value(query).asnumpy(), value.asnumpy(), rtol=1e-6)


def test_a_training_step_that_is_viewed_does_not_train_and_shows_gradients_and_updates():
    net, step = training_step()
    x, y = batches(1)[0]
    before = net.first.weight.asnumpy()
    shown = view(step, x, y).run()
    np.testing.assert_array_equal(net.first.weight.asnumpy(), before)
    context.set_context(mode=context.PYNATIVE_MODE)

    def tail(hidden):
        return nn.MSELoss()(net.second(hidden * 2), y)

    gradient = ms.ops.GradOperation()(tail)(ops.relu(net.first(x)))
    np.testing.assert_allclose(shown.value("op:ReLU", kind="gradient").asnumpy(), gradient.asnumpy(), rtol=1e-5)
    replay = shown._values.replay
    ((name, old, new),) = replay.weights(select_nodes(shown.graph, "op:MatMul scope:first lane:forward")[0])
    assert name == "first.weight"
    np.testing.assert_array_equal(np.asarray(old), before)
    step(x, y)
    np.testing.assert_allclose(np.asarray(new), net.first.weight.asnumpy(), rtol=1e-6)


def test_values_inside_a_loop_are_read_by_round():
    class Doubling(nn.Cell):
        def construct(self, x, n):
            while n > 0:
                x = ops.tanh(x * 2)
                n = n - 1
            return x

    shown = view(Doubling(), Tensor(X), Tensor(3, ms.int32), values=True)
    (node,) = select_nodes(shown.graph, "op:Tanh")
    expected, rounds = X, []
    for _ in range(3):
        expected = np.tanh(expected * 2)
        rounds.append(expected)
    for index, value in enumerate(rounds):
        np.testing.assert_allclose(shown.value(node, round=index).asnumpy(), value, rtol=1e-6)
    np.testing.assert_allclose(shown.value(node).asnumpy(), rounds[-1], rtol=1e-6)
    with pytest.raises(ValueError, match="has run 3 times, so 'round' is 0 to 2, not 3"):
        shown.value(node, round=3)


def test_values_belong_to_the_complete_program_where_its_forward_part_is_shown_first():
    _, step = training_step()
    x, y = batches(1)[0]
    shown = view(step, x, y, stages=("traced", "differentiated"), values=True)
    assert shown._values.stage == "differentiated"
    assert shown.value("op:ReLU").shape == (4, 5) and shown.value("op:ReLU", kind="gradient").shape == (4, 5)
    shown.values()
    assert ("differentiated", "value abs_mean") in shown._columns


def test_statistics_colour_the_graph():
    net = Small()
    shown = view(net, Tensor(X)).run()
    shown.values("max")
    column = shown.columns["value max"]["values"]
    (relu,) = select_nodes(shown.graph, "op:ReLU")
    assert column[relu.id] == pytest.approx(float(shown.value(relu).asnumpy().max()), rel=1e-6)
    with pytest.raises(ValueError, match="'stat' should be one of abs_mean, mean"):
        shown.values("median")


def test_other_shapes_show_their_own_graph():
    shown = view(Small(), Tensor(X))
    shown.run(Tensor(X[:2]))
    assert shown.value("op:ReLU").shape == (2, 5) and shown.graph.nodes[0].shape == (2, 5)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("op:Rely", "No node of the graph matches 'op:Rely'. Similar operators: ReLU"),
        ("line:99999", "Its lines are "),
        ("node:7777", "Its operators: "),
        ("opp:ReLU", "'opp:' is no field. Did you mean 'op:'\\? The fields: op:, scope:"),
    ],
)
def test_a_query_without_a_node_names_similar_ones(query, message):
    with pytest.raises(ValueError, match=message):
        view(Small(), Tensor(X), values=True).value(query)


def test_a_shape_selects_results_and_parameters():
    graph = view(Small(), Tensor(X)).graph
    relu = next(node for node in graph.all_nodes() if node.op == "ReLU")
    shape = "x".join(map(str, relu.shape))
    assert relu in select_nodes(graph, f"shape:{shape}") and relu in select_nodes(graph, "op:ReLU shape:*x*")
    with pytest.raises(ValueError, match="No node"):
        select_nodes(graph, "shape:77x77")


def test_a_view_without_values_says_what_to_do():
    with pytest.raises(ValueError, match=r"has no values yet: call its run\(...\) first"):
        view(Small(), Tensor(X)).value("op:ReLU")
    with pytest.raises(TypeError, match="should be a query"):
        select_nodes(view(Small(), Tensor(X)).graph, 1.5)


class Nested(nn.Cell):
    def construct(self, x, n):
        i = n * 0
        while i < n:
            j = i * 0
            while j < i:
                x = ops.tanh(x * 2)
                j = j + 1
            i = i + 1
        return x


def test_values_inside_nested_loops_are_read_by_the_round_of_each_loop():
    shown = view(Nested(), Tensor(X), Tensor(3, ms.int32), values=True)
    (node,) = select_nodes(shown.graph, "op:Tanh")
    expected = X
    for outer in range(3):
        for inner in range(outer):
            expected = np.tanh(expected * 2)
            np.testing.assert_allclose(shown.value(node, round=(outer, inner)).asnumpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(shown.value(node).asnumpy(), expected, rtol=1e-6)
    replay = shown._values.replay
    assert replay.rounds(node) == 3 and replay.iterations(node) == (3, 2)
    assert replay.iterations(node, round=(1, 0)) == (3, 1)
    assert len(replay._forms._cache) == 2, "all rounds share one compiled form"


@pytest.mark.parametrize(
    ("round", "message"),
    [
        (2, r"is inside 2 loops, so 'round' is 2 ints, one per loop from the outermost, but got 2"),
        ((0, 0), r"have run \(3, 0\) times there: 'round' is 0 to 2, not \(0, 0\)"),
        ((2, 2), r"'round' is 0 to 2 and 0 to 1, not \(2, 2\)"),
    ],
)
def test_a_round_that_nested_loops_do_not_have_is_refused(round, message):
    with pytest.raises(ValueError, match=message):
        view(Nested(), Tensor(X), Tensor(3, ms.int32), values=True).value("op:Tanh", round=round)


def test_a_branch_inside_a_loop_has_a_value_in_the_rounds_that_took_it():
    class Alternating(nn.Cell):
        def construct(self, x, n):
            while n > 0:
                if n % 2 == 0:
                    x = ops.tanh(x)
                n = n - 1
            return x

    shown = view(Alternating(), Tensor(X), Tensor(4, ms.int32), values=True)
    once = np.tanh(X)
    np.testing.assert_allclose(shown.value("op:Tanh", round=0).asnumpy(), once, rtol=1e-6)
    np.testing.assert_allclose(shown.value("op:Tanh", round=2).asnumpy(), np.tanh(once), rtol=1e-6)
    with pytest.raises(ValueError, match="did not run in round 1: it is inside a branch"):
        shown.value("op:Tanh", round=1)


def test_a_node_of_another_graph_selects_no_node_by_its_number():
    net, step = training_step()
    x, y = batches(1)[0]
    step_graph, forward = ir.graph(step, x, y), ir.graph(net, x)
    again = ir.graph(step, x, y)
    assert select_nodes(step_graph, again.nodes[-1]) == [step_graph.nodes[-1]]
    with pytest.raises(ValueError, match=r"is a node of another graph. Select it by a query, such as 'op:"):
        select_nodes(forward, step_graph.nodes[0])


# ---------------------------------------------------------------------- timelines
@pytest.mark.parametrize("disk", [False, True])
def test_a_step_of_a_timeline_has_the_bits_of_a_run_that_was_stopped_there(disk, tmp_path):
    data = batches()
    net, step = training_step()
    with timeline(net, disk=tmp_path if disk else None) as recorded:
        for x, y in data:
            step(x, y)
    assert recorded.steps == [1, 2, 3, 4, 5]
    net, step = training_step()
    for number, (x, y) in enumerate(data, 1):
        stopped = view(step, x, y).run()
        for query in ("op:ReLU", "op:BiasAdd scope:second lane:forward"):
            expected = stopped.value(query).asnumpy()
            assert recorded.value(query, number).asnumpy().tobytes() == expected.tobytes(), (number, query)
        step(x, y)


@pytest.mark.slow
def test_a_step_of_resnet_50_on_disk_has_the_bits_of_a_run_that_was_stopped_there(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mindspore", ms)
    networks = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "networks.py"))
    rng = np.random.default_rng(0)
    images = [Tensor(rng.standard_normal((2, 3, 64, 64)).astype(np.float32)) for _ in range(3)]
    labels = Tensor(np.array([1, 2], np.int32))

    def training_step():
        ms.set_seed(0)
        loss = nn.WithLossCell(networks["ResNet50"](), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
        return nn.TrainOneStepCell(loss, nn.Momentum(loss.trainable_params(), 0.01, 0.9)).set_train()

    step = training_step()
    with timeline(step, disk=tmp_path) as recorded:
        for x in images:
            step(x, labels)
    again = training_step()
    for x in images[:-1]:
        again(x, labels)
    stopped = view(again, images[-1], labels).run()
    for query in ("op:ReLU", "op:Conv2D lane:backward", "op:MatMul"):
        expected = stopped.value(query).asnumpy()
        assert recorded.value(query, 3).asnumpy().tobytes() == expected.tobytes(), query


class Dropping(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(3, 5, weight_init="ones"), nn.Dense(5, 2, weight_init="ones")
        self.dropout = nn.Dropout(0.5)

    def construct(self, x):
        return self.second(self.dropout(ops.relu(self.first(x))))


class Plain(Dropping):
    def construct(self, x):
        return self.second(ops.relu(self.first(x)))


def adam_step(kind):
    ms.set_seed(3)
    net = kind()
    loss = nn.WithLossCell(net, nn.MSELoss())
    return net, nn.TrainOneStepCell(loss, nn.Adam(net.trainable_params(), 0.01)).set_train()


@pytest.mark.parametrize("disk", [False, True])
def test_time_travel_repeats_dropout_and_adam_bit_by_bit(disk, tmp_path, monkeypatch):
    monkeypatch.setattr("msnb.insight.debugger.timeline._CHECKPOINT_EVERY", 3)
    data = batches(8)
    net, step = adam_step(Dropping)
    trained, losses = [], []
    with timeline(net, disk=tmp_path if disk else None) as recorded:
        for x, y in data:
            trained.append([p.asnumpy() for p in step.get_parameters()])
            losses.append(step(x, y).asnumpy())
        trained.append([p.asnumpy() for p in step.get_parameters()])
    names = [p.name for p in step.get_parameters()]
    for number in (8, 1, 5, 2):
        replay = recorded.replay(number)
        assert np.asarray(replay.results[0]).tobytes() == losses[number - 1].tobytes()
        before = dict(zip(names, trained[number - 1], strict=True))
        after = dict(zip(names, trained[number], strict=True))
        for parameter, array in zip(replay.program.params, replay.inputs, strict=False):
            assert np.asarray(array).tobytes() == before[parameter.name].tobytes(), (number, parameter.name)
        for parameter, array in zip(replay.program.written, replay.updates(), strict=True):
            assert np.asarray(array).tobytes() == after[parameter.name].tobytes(), (number, parameter.name)


@pytest.mark.parametrize("disk", [False, True])
def test_a_step_in_pynative_mode_starts_from_its_exact_parameters(disk, tmp_path):
    context.set_context(mode=context.PYNATIVE_MODE)
    net, step = adam_step(Plain)
    weights, losses = [], []
    with timeline(net, disk=tmp_path if disk else None) as recorded:
        for x, y in batches(4):
            weights.append(net.first.weight.asnumpy())
            losses.append(float(step(x, y).asnumpy()))
    for number, (weight, loss) in enumerate(zip(weights, losses, strict=True), 1):
        replay = recorded.replay(number)
        at = [entry[1] for entry in replay.program.inputs].index("first.weight")
        assert np.asarray(replay.inputs[at]).tobytes() == weight.tobytes()
        assert float(replay.results[0]) == pytest.approx(loss, rel=1e-6)


def test_random_numbers_of_pynative_mode_are_said_to_differ(caplog, monkeypatch):
    said = []
    monkeypatch.setattr("msnb.log.warning", lambda form, *args: said.append(form % args))
    context.set_context(mode=context.PYNATIVE_MODE)
    net, step = adam_step(Dropping)
    with timeline(net):
        for x, y in batches(2):
            step(x, y)
    assert len(said) == 1 and "in PYNATIVE mode. A replay draws others" in said[0]


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_steps_between_the_recorded_ones_are_not_observed(mode, monkeypatch):
    context.set_context(mode=mode)
    data = batches(7)
    net, step = training_step()
    received = []
    with timeline(net, every=3) as recorded:
        receive = recorded.receive
        monkeypatch.setattr(recorded, "receive", lambda *run: (received.append(1), receive(*run)))
        for x, y in data:
            step(x, y)
    assert recorded.steps == [1, 4, 7]
    if mode == context.GRAPH_MODE:
        assert len(received) == 3
    net, step = training_step()
    for number, (x, y) in enumerate(data, 1):
        if number in recorded.steps:
            at = [entry[1] for entry in recorded.replay(number).program.inputs].index("first.weight")
            assert np.asarray(recorded.replay(number).inputs[at]).tobytes() == net.first.weight.asnumpy().tobytes()
        step(x, y)


def test_the_steps_of_a_sunk_epoch_are_steps_of_the_timeline():
    net = Small()
    data = ms.dataset.NumpySlicesDataset({"x": X, "y": X[:, :2].copy()}, shuffle=False).batch(2)
    model = ms.Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    with timeline(net) as recorded:
        model.train(2, data, dataset_sink_mode=True, sink_size=3)
    assert recorded.steps == [1, 2, 3, 4, 5, 6] and recorded.value("op:ReLU", 4).shape == (2, 5)


def test_parameters_that_another_program_overwrites_are_said_to_be_gone():
    net, step = training_step()
    other = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)).set_train()
    x, y = batches(1)[0]
    with timeline(net, every=5) as recorded:
        step(x, y)
    recorded.replay(1).inputs[0].delete()
    recorded._replays.clear()
    with pytest.raises(ValueError, match="Step 1 can't be computed again: another program has overwritten"):
        recorded.value("op:ReLU", 1)
    other(x, y)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_a_timeline_records_a_training_by_model(mode):
    context.set_context(mode=mode)
    net = Small()
    data = ms.dataset.NumpySlicesDataset({"x": X, "y": X[:, :2].copy()}, shuffle=False).batch(2)
    model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    weight = net.first.weight.asnumpy()
    with timeline(net) as recorded:
        model.train(2, data, dataset_sink_mode=False)
    assert recorded.steps == [1, 2, 3, 4]
    first = recorded.replay(1)
    index = [entry[1] for entry in first.program.inputs].index("first.weight")
    np.testing.assert_array_equal(np.asarray(first.inputs[index]), weight)
    losses = recorded.losses()
    assert list(losses) == recorded.steps and losses[4] < losses[1]


def test_gradient_and_optimizer_as_separate_programs_are_one_step():
    net = Small()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    loss = nn.WithLossCell(net, nn.MSELoss())
    gradient = ms.ms_function(lambda x, y: ops.GradOperation(get_by_list=True)(loss, net.trainable_params())(x, y))
    with timeline(net) as recorded:
        for x, y in batches(3):
            optimizer(gradient(x, y))
    assert recorded.steps == [1, 2, 3] and recorded.value("op:ReLU", 2).shape == (4, 5)


def test_a_gradient_outside_of_a_cell_is_a_step_with_forward_values_in_pynative_mode(monkeypatch):
    said, weights = [], []
    monkeypatch.setattr("msnb.log.warning", lambda form, *args: said.append(form % args))
    context.set_context(mode=context.PYNATIVE_MODE)
    net, loss_fn = Small(), nn.MSELoss()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    gradient = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
    with timeline(net) as recorded:
        for x, y in batches(3):
            weights.append(net.first.weight.asnumpy())
            optimizer(gradient(x, y)[1])
    assert recorded.steps == [1, 2, 3] and recorded.value("op:ReLU", 3).shape == (4, 5)
    for number, weight in enumerate(weights, 1):
        replay = recorded.replay(number)
        at = [entry[1] for entry in replay.program.inputs].index("first.weight")
        assert np.asarray(replay.inputs[at]).tobytes() == weight.tobytes()
    assert len(said) == 1 and "is taken outside of a Cell, so in PYNATIVE mode" in said[0]


def test_moving_averages_of_a_forward_pass_are_no_step_in_pynative_mode():
    context.set_context(mode=context.PYNATIVE_MODE)
    net = nn.SequentialCell(nn.Dense(3, 4), nn.BatchNorm1d(4)).set_train()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    gradient = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)
    with timeline(net) as recorded:
        for x, _ in batches(2):
            optimizer(gradient(x)[1])
    assert recorded.steps == [1, 2]


@pytest.mark.parametrize("name", ["learning_rate", "second.bias"])
def test_a_parameter_that_the_user_sets_between_two_steps_is_on_disk(name, tmp_path):
    net, step = training_step()
    losses = []
    with timeline(net, disk=tmp_path) as recorded:
        for number, (x, y) in enumerate(batches(6)):
            if number == 3:
                parameter = next(p for p in step.get_parameters() if p.name == name)
                parameter.set_data(Tensor(np.full(parameter.shape, 0.5, np.float32)))
            losses.append(float(step(x, y).asnumpy()))
    assert list(recorded.losses().values()) == losses
    assert sorted(path.stem for path in tmp_path.glob("parameters-*")) == ["parameters-000001", "parameters-000004"]


def test_the_steps_of_a_timeline_are_listed_for_one_that_is_not_recorded():
    net, step = training_step()
    with timeline(net, every=3) as recorded:
        for x, y in batches(8):
            step(x, y)
    with pytest.raises(ValueError, match=r"Step 2 is not in the timeline, which has steps 1, 4, 7\.$"):
        recorded.value("op:ReLU", 2)


def test_memory_is_bounded_and_unshared_arrays_are_freed():
    net, step = training_step()
    with timeline(net, memory=2000) as recorded:
        for x, y in batches(20):
            step(x, y)
    assert recorded.nbytes <= 2000 and recorded.steps[-1] == 20 and recorded.n_dropped == 20 - len(recorded)
    with pytest.raises(ValueError, match=r"Step 1 is not in the timeline, which has steps .* `memory=` or `disk=`"):
        recorded.value("op:ReLU", 1)


def test_a_timeline_changes_nothing_after_its_block():
    data = batches()
    weights = []
    for records in (False, True):
        net, step = training_step()
        if records:
            with timeline(net):
                for x, y in data[:3]:
                    step(x, y)
        else:
            for x, y in data[:3]:
                step(x, y)
        for x, y in data[3:]:
            step(x, y)
        weights.append(net.first.weight.asnumpy())
    np.testing.assert_array_equal(*weights)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"every": 0}, ValueError, "'every' should be an int of at least 1"),
        ({"memory": "much"}, ValueError, "'memory' should be a size such as '256MB'"),
        ({"memory": 0}, ValueError, "'memory' should be a size such as '256MB'"),
    ],
)
def test_wrong_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        timeline(Small(), **options)
    with pytest.raises(TypeError, match="'net' should be a Cell, but got int"):
        timeline(3)
