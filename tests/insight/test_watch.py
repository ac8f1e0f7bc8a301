"""`msnb.watch`: trainings that go wrong, in both modes, in loops and branches; and what a watch leaves alone."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import observed_networks
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops
from msnb.core.program.program_cache import program_of
from msnb.insight.watchpoints.bounds import select_bounded_points
from msnb.insight.watchpoints.conditions import ConditionError
from msnb.insight.watchpoints.overflow_points import select_overflow_points
from msnb.insight.watchpoints.watch import WatchpointHit
from msnb.ir.read import read

RNG = np.random.default_rng(0)
X = Tensor(RNG.standard_normal((6, 4)).astype(np.float32))
Y = Tensor(np.arange(6, dtype=np.int32) % 3)
MODES = {"GRAPH": context.GRAPH_MODE, "PYNATIVE": context.PYNATIVE_MODE}


@pytest.fixture(params=MODES)
def mode(request):
    before = context.get_context("mode")
    context.set_context(mode=MODES[request.param])
    yield request.param
    context.set_context(mode=before)


class Net(nn.Cell):
    def __init__(self, hidden=5):
        super().__init__()
        self.first = observed_networks.dense(4, hidden)
        self.relu = nn.ReLU()
        self.second = observed_networks.dense(hidden, 3)

    def construct(self, x):
        return self.second(self.relu(self.first(x)))


class LogOfZero(nn.Cell):
    """A loss that takes the logarithm of what a ReLU has set to 0."""

    def __init__(self):
        super().__init__()
        self.net = Net()
        self.relu = nn.ReLU()

    def construct(self, x, y):
        return ops.log(self.relu(self.net(x))).mean()


def step_of(net, lr=0.1, parameters=None):
    optimizer = nn.Momentum(parameters or net.trainable_params(), lr, 0.9)
    return nn.TrainOneStepCell(net, optimizer).set_train()


def lossy(net):
    return observed_networks.with_loss(net)


# ---------------------------------------------------------------------- trainings that go wrong
def test_the_first_hit_of_a_log_of_zero_is_the_log_with_its_line(mode):
    step = step_of(LogOfZero())
    with ms.watch(step, "TO", "OO") as watch:
        step(X, Y)
    origin = next(hit for hit in watch.hits if hit.condition == "operator_overflow")
    assert origin == dataclasses.replace(
        next(hit for hit in watch.hits if hit.condition == "tensor_overflow"), condition="operator_overflow"
    )
    assert (origin.step, origin.op, origin.lane) == (1, "Log", "forward")
    assert origin.line == LogOfZero.construct.__code__.co_firstlineno + 1
    assert origin.actual > 0
    assert any(hit.lane == "backward" for hit in watch.hits)


def test_a_learning_rate_that_is_far_too_large_is_a_change_of_weights(mode):
    step = step_of(lossy(Net()), lr=1e6)
    with ms.watch(step, ("WCL", {"abs_mean_update_ratio_gt": 100}), ("WL", {"abs_mean_gt": 50})) as watch:
        step(X, Y)
    names = {(hit.name, hit.condition) for hit in watch.hits}
    assert ("first.weight", "weight_change_too_large") in names
    assert ("second.weight", "weight_too_large") in names
    assert all(hit.lane == "update" and hit.actual > hit.preset for hit in watch.hits)


def test_a_dead_relu_has_a_range_and_a_gradient_that_vanishes(mode):
    net = Net()
    net.first.bias.set_data(Tensor(np.full(5, -1e3, np.float32)))
    step = step_of(lossy(net))
    with ms.watch(step, ("GV", {"abs_mean_lt": 1e-9}), "TZ", *recommended_relu(), every=1) as watch:
        step(X, Y)
    assert {hit.name for hit in watch.hits if hit.condition == "gradient_vanishing"} == {
        f"gradient of {name}" for name in ("first.weight", "first.bias", "second.weight")
    }
    (dead,) = [hit for hit in watch.hits if hit.condition == "activation_range"]
    assert (dead.op, dead.cell.rpartition(".")[2], dead.actual) == ("ReLU", "relu", 100.0)
    assert any(hit.condition == "tensor_all_zero" and hit.op == "ReLU" for hit in watch.hits)


def recommended_relu():
    ends = {"range_start_inclusive": -1, "range_end_inclusive": 0}
    return [("AR", {**ends, "range_percentage_gt": 99.9})]


def test_a_frozen_weight_has_not_changed(mode):
    net = Net()
    net.first.weight.requires_grad = False
    step = step_of(lossy(net))
    with ms.watch(step, "WNC", "WCS") as watch:
        step(X, Y)
        step(X, Y)
    frozen = [(hit.step, hit.condition) for hit in watch.hits if hit.name == "first.weight"]
    assert frozen == [(s, c) for s in (1, 2) for c in ("weight_not_changed", "weight_change_too_small")]
    assert not [hit for hit in watch.hits if hit.name == "second.weight"]


def test_weights_are_checked_before_the_first_step(mode):
    net = Net()
    net.second.weight.set_data(Tensor(np.zeros((3, 5), np.float32)))
    step = step_of(lossy(net))
    with ms.watch(step, "WI") as watch:
        step(X, Y)
        step(X, Y)
    assert {(hit.step, hit.name) for hit in watch.hits} == {
        (1, name) for name in ("first.bias", "second.weight", "second.bias")
    }


def test_initialization_is_skipped_once_the_training_has_begun(mode):
    step = step_of(lossy(Net()))
    step(X, Y)
    with ms.watch(step, "WI") as watch:
        step(X, Y)
    assert not watch.hits
    assert any("the training has begun" in note for note in watch.notes)


def test_a_loop_of_ones_own_counts_a_gradient_and_its_update_as_one_step(mode):
    net = lossy(Net())
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    gradient = ms.value_and_grad(lambda x, y: net(x, y), None, optimizer.parameters)
    with ms.watch(net, ("GL", {"abs_mean_gt": 0}), ("WCL", {"abs_mean_update_ratio_gt": 0})) as watch:
        for _ in range(3):
            _, gradients = gradient(X, Y)
            optimizer(gradients)
    for condition in ("gradient_too_large", "weight_change_too_large"):
        steps = [hit.step for hit in watch.hits if hit.condition == condition]
        assert sorted(steps) == [s for s in (1, 2, 3) for _ in range(4)]


def test_a_model_takes_a_watch_as_a_callback(mode):
    rows = RNG.standard_normal((12, 4)).astype(np.float32), np.arange(12, dtype=np.int32) % 3
    batches = ms.dataset.NumpySlicesDataset(rows, ["data", "label"], shuffle=False).batch(6)
    net = Net()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = ms.Model(net, loss, nn.Momentum(net.trainable_params(), 0.1, 0.9))
    watch = ms.watch(net, ("GL", {"abs_mean_gt": 0}))
    model.train(2, batches, callbacks=watch, dataset_sink_mode=False)
    assert sorted({hit.step for hit in watch.hits}) == [1, 2, 3, 4]


# ---------------------------------------------------------------------- actions
def test_raise_names_step_node_line_and_number(mode):
    step = step_of(LogOfZero())
    with pytest.raises(WatchpointHit) as error, ms.watch(step, "OO", at="raise"):
        for _ in range(5):
            step(X, Y)
    text = str(error.value)
    assert "step 1" in text and "Log" in text and "ops.log(self.relu(self.net(x)))" in text
    assert "NaN or infinite" in text


def test_raise_leaves_the_parameters_of_the_step(graph_mode):
    alone, watched = (step_of(lossy(Net())) for _ in range(2))
    big = Tensor(X.asnumpy() * 1e6)
    for batch in (X, big):
        alone(batch, Y)
    with pytest.raises(WatchpointHit), ms.watch(watched, ("GL", {"abs_mean_gt": 1e3}), at="raise"):
        for batch in (X, big, X, X, X):
            watched(batch, Y)
    for a, b in zip(alone.get_parameters(), watched.get_parameters(), strict=True):
        assert np.array_equal(a.asnumpy(), b.asnumpy())


def test_a_function_is_called_with_each_hit(mode):
    seen = []
    step = step_of(LogOfZero())
    with ms.watch(step, "OO", at=seen.append) as watch:
        step(X, Y)
    assert seen == watch.hits and seen


def test_an_error_of_the_function_ends_the_training(mode):
    def fail(hit):
        raise RuntimeError("stop here")

    step = step_of(LogOfZero())
    with pytest.raises(WatchpointHit, match="stop here"), ms.watch(step, "OO", at=fail):
        step(X, Y)


def test_hits_can_be_read_while_the_watch_is_on(mode):
    step = step_of(LogOfZero())
    with ms.watch(step, "OO") as watch:
        step(X, Y)
        assert watch.hits


def test_the_graph_of_an_early_step_has_the_values_of_that_step(mode):
    net = Net()
    step, hidden = step_of(lossy(net), lr=1.0), []
    with ms.watch(step, ("TL", {"max_gt": -1e9}), every=1) as watch:
        for _ in range(3):
            hidden.append(np.maximum(X.asnumpy() @ net.first.weight.asnumpy().T + net.first.bias.asnumpy(), 0))
            step(X, Y)
    for number, expected in enumerate(hidden, 1):
        np.testing.assert_allclose(watch.view(number).value("op:ReLU").asnumpy(), expected, atol=1e-5)


# ---------------------------------------------------------------------- nodes
def test_a_query_selects_nodes_and_the_weights_that_they_read(mode):
    step = step_of(lossy(Net()))
    conditions = ("TL", {"abs_mean_gt": 0}), ("GL", {"abs_mean_gt": 0}), ("WL", {"abs_mean_gt": 0})
    with ms.watch(step, *conditions, nodes="op:MatMul lane:forward") as watch:
        step(X, Y)
    assert {hit.op for hit in watch.hits if hit.kind == "tensor"} == {"MatMul"}
    if mode == "GRAPH":  # in PYNATIVE mode an operator does not say which Parameter it reads
        weights = {hit.name for hit in watch.hits if hit.kind == "weight"}
        assert weights == {"first.weight", "second.weight"}


def test_a_query_without_a_node_is_a_value_error_with_near_operators(mode):
    step = step_of(lossy(Net()))
    with pytest.raises(ValueError, match="MatMul|BiasAdd|ApplyMomentum"), ms.watch(step, "TO", nodes="op:MatMull"):
        step(X, Y)


def test_a_function_of_a_tensor_is_a_condition(mode):
    def far_from_zero(x):
        return ops.abs(x).max() > 100

    step = step_of(lossy(Net()))
    with ms.watch(step, far_from_zero, nodes="op:MatMul") as watch:
        step(X, Y)
        step(Tensor(X.asnumpy() * 1e4), Y)
    assert {(hit.step, hit.condition) for hit in watch.hits} == {(2, "far_from_zero")}


def test_a_function_with_branches_is_a_condition(mode):
    step = step_of(lossy(Net()))
    with ms.watch(step, lambda x: ops.abs(x).max() > 100 and not x.min() > 0, nodes="op:MatMul") as watch:
        step(X, Y)
        step(Tensor(X.asnumpy() * 1e4), Y)
    assert {(hit.step, hit.condition) for hit in watch.hits} == {(2, "<lambda>")}


def test_a_function_that_fails_ends_the_step_with_its_error(mode):
    step = step_of(lossy(Net()))
    words = r"The condition <lambda> failed for a Tensor of shape \(.*\) and type float32: .*no_such_method"
    with pytest.raises(ConditionError, match=words):
        with ms.watch(step, lambda x: x.no_such_method() > 1, nodes="op:MatMul"):
            step(X, Y)
    step(X, Y)


def test_every_nth_step_is_checked(mode):
    step = step_of(lossy(Net()))
    with ms.watch(step, ("GL", {"abs_mean_gt": 0}), every=3) as watch:
        for _ in range(7):
            step(X, Y)
    assert sorted({hit.step for hit in watch.hits}) == [1, 4, 7]


def test_conditions_that_read_everything_are_checked_each_tenth_step(mode):
    step = step_of(lossy(Net()))
    with ms.watch(step, ("TL", {"abs_mean_gt": 0}), ("GL", {"abs_mean_gt": 0})) as watch:
        for _ in range(12):
            step(X, Y)
    steps = {c: sorted({h.step for h in watch.hits if h.condition == c}) for c in ("tensor_too_large",)}
    assert steps == {"tensor_too_large": [1, 11]}
    assert sorted({h.step for h in watch.hits if h.condition == "gradient_too_large"}) == list(range(1, 13))
    assert any("each 10th step" in note for note in watch.notes)


def test_weights_with_many_numbers_are_read_each_tenth_step(mode, monkeypatch):
    monkeypatch.setattr("msnb.insight.watchpoints.watch._MANY_NUMBERS", 10)
    step = step_of(lossy(Net()))
    small = {"abs_mean_update_ratio_gt": 0.0}
    with ms.watch(step, ("WCL", small), ("GL", {"abs_mean_gt": 0}), "WO", "TO") as watch:
        for _ in range(12):
            step(X, Y)
    steps = {hit.condition: set() for hit in watch.hits}
    for hit in watch.hits:
        steps[hit.condition].add(hit.step)
    assert steps == {"weight_change_too_large": {1, 11}, "gradient_too_large": {1, 11}}
    assert sum("numbers of the weights" in note for note in watch.notes) == 2
    with ms.watch(step, ("WCL", small), every=1) as watch:
        for _ in range(3):
            step(X, Y)
    assert {hit.step for hit in watch.hits} == {1, 2, 3}


def test_a_statistic_that_leaves_its_band_is_a_hit(mode):
    step = step_of(lossy(Net()), lr=1e-3)
    with ms.watch(step, ("GL", {"band": 4}), ("TL", {"band": 4, "window": 8}), every=1) as watch:
        for _ in range(8):
            step(X, Y)
        assert not watch.hits
        step(Tensor(X.asnumpy() * 100), Y)
    hits = [hit for hit in watch.hits if hit.condition == "gradient_too_large"]
    assert {hit.step for hit in watch.hits} == {9}
    assert hits and all(hit.parameter == "band" and hit.actual > hit.preset for hit in hits)
    assert any(hit.condition == "tensor_too_large" and hit.op == "MatMul" for hit in watch.hits)


def test_units_that_stay_zero_are_said_once(mode):
    net = Net()
    net.first.bias.set_data(Tensor(np.float32([-1e3, 1, 1, -1e3, 1])))
    step = step_of(lossy(net), lr=1e-6)
    with ms.watch(step, ("dead", {"steps": 3}), nodes="op:ReLU", every=1) as watch:
        for _ in range(6):
            step(X, Y)
    ((hit),) = watch.hits
    assert (hit.step, hit.op, hit.name.rpartition(", ")[0].rpartition(",")[2]) == (3, "ReLU", " units 0")


# ---------------------------------------------------------------------- loops, branches, recomputed and repeated Cells
class Looped(nn.Cell):
    def __init__(self, kind):
        super().__init__()
        self.weight = Parameter(Tensor(np.float32(2.0)), name="scale.weight")
        self.kind = kind

    def construct(self, x, n):
        if self.kind == "while":
            i = ops.zeros_like(n)
            while i < n:
                x = ops.square(x) * self.weight
                i = i + 1
        elif self.kind == "scan":
            x = ops.ForiLoop()(0, 5, lambda i, x: ops.square(x) * self.weight, x, False)
        elif n > 3:
            x = ops.log(x - x)
        return x.sum()


@pytest.mark.parametrize("kind", ["while", "scan"])
def test_a_hit_in_a_loop_has_its_round(graph_mode, kind):
    net = Looped(kind)
    with ms.watch(net, "OO") as watch:
        net(Tensor(np.float32([1e3, 1.0])), Tensor(5, ms.int32))
    first = watch.hits[0]
    assert (first.op, first.round, first.actual) == ("Square", 3, 1)  # 2e6, 8e12, 1.28e26, then more than float32 has


def test_a_hit_in_a_branch_is_one_of_the_branch_that_ran(graph_mode):
    net = Looped("cond")
    with ms.watch(net, "OO") as watch:
        net(Tensor(np.float32([1.0, 2.0])), Tensor(2, ms.int32))
        assert not watch.hits
        net(Tensor(np.float32([1.0, 2.0])), Tensor(5, ms.int32))
    assert [(hit.step, hit.op) for hit in watch.hits] == [(2, "Log")]


def test_recomputed_and_repeated_cells_are_watched(graph_mode):
    training = observed_networks.recompute()
    with ms.watch(training.step, ("TL", {"abs_mean_gt": 0}), nodes="op:Tanh", every=1) as watch:
        training.run()
    forward = {hit.cell for hit in watch.hits if hit.lane == "forward"}
    assert len(forward) == 3
    assert sorted({hit.step for hit in watch.hits}) == [1, 2, 3]


# ---------------------------------------------------------------------- what stays as it is
@pytest.mark.parametrize("name", observed_networks.NETWORKS)
def test_losses_and_parameters_have_the_same_bits(graph_mode, name):
    make = observed_networks.NETWORKS[name]
    ms.set_seed(1)
    alone = make().run()
    ms.set_seed(1)
    training = make()
    nets = [training.step] if isinstance(training.step, nn.Cell) else []
    holder = nets[0] if nets else Holder(training.parameters)
    with ms.watch(holder, "TO", ("GL", {"abs_mean_gt": 1e9}), ("WCL", {"abs_mean_update_ratio_gt": 1e12})) as watch:
        watched = training.run()
    assert not watch.problem
    for a, b in zip(alone, watched, strict=True):
        assert np.array_equal(a, b)


class Holder(nn.Cell):
    """A Cell of Parameters that another network has."""

    def __init__(self, parameters):
        super().__init__(auto_prefix=False)
        self.owned = ms.ParameterTuple(parameters)


def test_without_a_watch_the_program_is_the_same_text(graph_mode):
    step = step_of(lossy(Net()))
    before = program_of(step, X, Y).lowered().as_text()
    with ms.watch(step):
        step(X, Y)
    step(X, Y)
    program = program_of(step, X, Y)
    assert program.lowered().as_text() == before


def test_a_net_that_never_runs_is_said(mode, capfd):
    with ms.watch(Net(), "TO"):
        pass
    assert "Net has not run" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"every": 0}, ValueError),
        ({"every": True}, ValueError),
        ({"at": "stop"}, ValueError),
        ({"at": 3}, TypeError),
    ],
    ids=str,
)
def test_bad_arguments_are_errors(keywords, error):
    with pytest.raises(error):
        ms.watch(Net(), "TO", **keywords)
    with pytest.raises(TypeError, match="should be a Cell"):
        ms.watch(lambda x: x, "TO")


# ---------------------------------------------------------------------- results
def test_other_conditions_can_be_checked_without_running_again(mode):
    step = step_of(LogOfZero())
    with ms.watch(step, "OO") as watch:
        step(X, Y)
    again = watch.recheck(("TL", {"abs_mean_gt": 0}), nodes=None)
    assert {hit.condition for hit in again.hits} == {"tensor_too_large"}
    assert any(hit.op == "MatMul" and hit.is_checked for hit in again.hits)
    assert any(hit.op == "Log" and not hit.is_checked for hit in again.hits)
    assert "step 1" in repr(again)


def test_a_hit_of_single_channels_names_them(mode):
    net = Net()
    net.first.bias.set_data(Tensor(np.array([-100, 1, 1, -100, 1], np.float32)))
    step = step_of(lossy(net))
    with ms.watch(step, "TZ", ("TZ", {"per_channel": True}), nodes="op:ReLU", every=1) as watch:
        step(X, Y)
    (hit,) = [hit for hit in watch.hits if hit.lane == "forward"]
    assert hit.channels == (0, 3) and hit.actual == 100 and "channels 0, 3" in hit.describe()
    row = next(row for row in watch.table().rows() if row["lane"] == "forward")
    assert row["node"].endswith("(channels 0, 3)")


def test_a_weight_whose_channels_are_frozen_names_them(mode):
    net = Net()
    net.first.bias.set_data(Tensor(np.array([-100, 1, 1, -100, 1], np.float32)))
    step = nn.TrainOneStepCell(lossy(net), nn.SGD(net.trainable_params(), 0.1)).set_train()
    with ms.watch(step, ("WNC", {"per_channel": True}), ("GE", {"per_channel": True}), every=1) as watch:
        step(X, Y)
    frozen = {hit.name: hit.channels for hit in watch.hits}
    assert {0, 3} <= set(frozen["first.weight"]) and not any("second.bias" in name for name in frozen), frozen


def test_the_table_has_advice_for_its_conditions(mode):
    step = step_of(LogOfZero())
    with ms.watch(step, "OO", lambda x: ops.isnan(x).any()) as watch:
        step(X, Y)
    assert "watch.cause(hit)" in watch.hits[0].advice
    assert repr(watch.table()).count("operator_overflow: The usual reasons") == 1
    assert "The usual reasons" in watch.table()._repr_html_()


def test_the_table_is_text_and_html(mode):
    step = step_of(LogOfZero())
    with ms.watch(step, "OO") as watch:
        step(X, Y)
    assert "operator_overflow" in repr(watch.table())
    assert "<th" in watch.table()._repr_html_() and "operator_overflow" in watch._repr_html_()
    assert "hits in step 1" in repr(watch)


def test_the_view_marks_the_nodes_with_hits(mode):
    step = step_of(LogOfZero())
    with ms.watch(step, "TO") as watch:
        step(X, Y)
    view = watch.view()
    marked = [n.op for n, count in zip(view.graph.all_nodes(), view.columns["hits"]["values"], strict=True) if count]
    assert marked[0] == "Log"
    assert view.value("op:Log") is not None


# ---------------------------------------------------------------------- few tests find every NaN and infinity
def _points(fn, *args):
    closed = jax.make_jaxpr(fn)(*args)
    nodes = {}
    read(closed, visit=lambda node, eqn, path: nodes.setdefault((*path, id(eqn)), node))
    slots = {key: range(4) for key, node in nodes.items() if node is not None}
    names = {key: node.op for key, node in nodes.items() if node is not None}
    bounded = select_bounded_points(closed, slots, [None] * len(closed.in_avals))
    return (
        sorted(names[key] for key, _ in select_overflow_points(closed, slots)),
        sorted(names[key] for key, _ in bounded.points),
    )


def test_a_nan_that_travels_on_is_tested_at_the_end_only():
    assert _points(lambda x: jnp.sum(jnp.sin(x) * 2 + 1), jnp.ones(3)) == (["reduce_sum"], [])


def test_a_nan_that_a_where_swallows_is_tested_before_it():
    fn = lambda x: jnp.sum(jax.lax.select(x > 0, jax.lax.log(x), jnp.zeros(3)))  # noqa: E731
    finite, bounded = _points(fn, jnp.ones(3))
    assert "log" in finite and "log" in bounded


def test_an_infinity_that_a_division_swallows_is_tested_before_it():
    finite, bounded = _points(lambda x: jnp.sum(1 / jax.lax.exp(x)), jnp.ones(3))
    assert "exp" in finite and "exp" in bounded


def test_products_of_bounded_values_are_tested_when_their_bound_grows_too_large():
    def fn(x):
        for _ in range(8):
            x = jax.lax.mul(x, jax.lax.integer_pow(x, 2))
        return x

    _, bounded = _points(fn, jnp.ones(3))
    assert 3 < len(bounded) < 16


def test_bounds_that_ring_without_a_hit_are_given_up(graph_mode):
    net = Net()
    step = step_of(lossy(net), lr=1e-30)
    net.first.weight.set_data(Tensor(np.full((5, 4), 1e6, np.float32)))  # large, and no overflow
    with ms.watch(step, "TO") as watch:
        for _ in range(8):
            step(X, Y)
        (group,) = watch._groups
        (alarm,) = group.alarms.values()
        assert not alarm.is_bounded
        step(Tensor(X.asnumpy() * np.float32(np.inf)), Y)
    assert {hit.step for hit in watch.hits} == {9}


# ---------------------------------------------------------------------- names
def test_a_word_that_is_the_path_of_a_cell_watches_this_cell(mode):
    net = Net()
    net.first_norm = nn.LayerNorm((5,))
    net.construct = lambda x: net.second(net.first_norm(net.first(x)))
    step = step_of(lossy(net))
    with ms.watch(step, ("TL", {"abs_mean_gt": 0}), nodes="first lane:forward") as watch:
        step(X, Y)
    operators = {hit.op for hit in watch.hits if hit.kind == "tensor"}
    assert {"MatMul", "BiasAdd"} <= operators and "LayerNorm" not in operators


def test_a_watch_without_hits_shows_the_graph_of_the_network(mode):
    step = step_of(lossy(Net()))
    with ms.watch(step, "TO") as watch:
        step(X, Y)
    assert {"MatMul", "ReLU"} <= {node.op for node in watch.view().graph.all_nodes()}


def test_an_operator_of_the_network_itself_is_named_without_its_scope(mode):
    step = step_of(LogOfZero())
    with ms.watch(step, "OO") as watch:
        step(X, Y)
    assert watch.hits[0].title.startswith("Log-op")
