"""Values of nodes: of one run, by round of a loop, and of the steps of a training."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, ir, nn, ops
from msnb.insight.debugger import select_nodes
from msnb.notebook.graph import timeline, view

X = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)


@pytest.fixture(autouse=True)
def graph_mode():
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=before)


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
    ],
)
def test_a_query_without_a_node_names_similar_ones(query, message):
    with pytest.raises(ValueError, match=message):
        view(Small(), Tensor(X), values=True).value(query)


def test_a_view_without_values_says_what_to_do():
    with pytest.raises(ValueError, match=r"has no values yet: call its run\(...\) first"):
        view(Small(), Tensor(X)).value("op:ReLU")
    with pytest.raises(TypeError, match="should be a query"):
        select_nodes(view(Small(), Tensor(X)).graph, 1.5)


def test_a_node_of_another_graph_selects_no_node_by_its_number():
    net, step = training_step()
    x, y = batches(1)[0]
    whole, forward = ir.graph(step, x, y), ir.graph(net, x)
    again = ir.graph(step, x, y)
    assert select_nodes(whole, again.nodes[-1]) == [whole.nodes[-1]]
    with pytest.raises(ValueError, match=r"is a node of another graph. Select it by a query, such as 'op:"):
        select_nodes(forward, whole.nodes[0])


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
