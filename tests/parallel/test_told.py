"""What programs tell of their strategies and layouts when they are asked as r1.1's executor is."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, log, nn, ops
from msnb.common.api import _Executor, _executor
from msnb.core.compile import program_of
from msnb.ops import _selected_ops
from msnb.ops import operations as P

X = Tensor(np.ones((64, 32), np.float32))


@pytest.fixture(autouse=True)
def graph():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.reset_auto_parallel_context()


def spread(mode="auto_parallel", devices=8, **settings):
    context.set_auto_parallel_context(parallel_mode=mode, device_num=devices, **settings)


class Layer(nn.Cell):
    def __init__(self, strategy=None):
        super().__init__()
        self.weight = Parameter(Tensor(np.ones((32, 32), np.float32)), name="weight")
        self.product, self.relu = P.MatMul(), P.ReLU()
        if strategy:
            self.product.shard(strategy)

    def construct(self, x):
        return self.relu(self.product(x, self.weight))


class Layers(nn.Cell):
    def __init__(self, count=3):
        super().__init__()
        self.layers = nn.CellList([Layer() for _ in range(count)])
        self.add, self.mul = P.Add(), P.Mul()

    def construct(self, x):
        out = x
        for layer in self.layers:
            out = layer(out)
        return self.add(self.mul(out, x), x)


class Told(nn.Cell):
    """A product, and a function of it with one more input."""

    def __init__(self, function):
        super().__init__()
        self.product, self.function = P.MatMul(), function

    def construct(self, x, y, b):
        return self.function(self.product(x, y), b)


def test_what_a_search_has_found_is_told_of_each_operator():
    """All devices compute, and each reads as little as it can: a product in two directions, and what follows it in the
    same."""
    spread()
    y, b = Tensor(np.ones((32, 128), np.float32)), Tensor(np.ones((64, 128), np.float32))
    net = Told(P.FloorDiv())
    _executor.compile(net, X, y, b)
    assert _executor._get_shard_strategy(net) == {
        "Default/MatMul-op1": [[2, 1], [1, 4]],
        "Default/FloorDiv-op0": [[2, 4], [2, 4]],
    }
    row = Told(P.FloorDiv())
    _executor.compile(row, X, Tensor(np.ones((32, 1), np.float32)), Tensor(np.ones((1, 64), np.float32)))
    assert _executor._get_shard_strategy(row)["Default/MatMul-op1"] == [[8, 1], [1, 1]]


def test_of_a_training_the_network_is_told_and_not_the_optimizer():
    spread()
    net = Layer()
    loss = nn.WithLossCell(net, lambda out, label: ((out - label) ** 2).mean())
    step = nn.TrainOneStepCell(loss, nn.Momentum(net.trainable_params(), 0.1, 0.9)).set_train()
    step(X, X)
    found = _executor._get_shard_strategy(step)
    names = sorted(name.rpartition("/")[2].partition("-")[0] for name in found)
    assert names == ["MatMul", "Pow", "ReLU", "ReduceMean", "Sub"], found
    for name, cuts in found.items():
        assert all(np.prod(cut) in (1, 8) for cut in cuts), (name, cuts)
    assert set(step.parameter_layout_dict) >= {"weight", "moments.weight"}


def test_operators_of_other_axes_are_told_in_these_and_own_strategies_as_they_are():
    spread()
    net = nn.SequentialCell([nn.OneHot(depth=16)])
    net(Tensor(np.zeros(64, np.int32)))
    (cuts,) = (cuts for name, cuts in _executor._get_shard_strategy(net).items() if "OneHot" in name)
    assert len(cuts[0]) == 2 and cuts[1:] == [[], []] and np.prod(cuts[0]) == 8, cuts
    given = Layer(((1, 4), (4, 2)))
    given(X)
    assert _executor._get_shard_strategy(given)["Default/MatMul-op1"] == [[1, 4], [4, 2]]


def test_operators_are_numbered_from_the_result_back():
    """Each input with all that is behind it before the next, as r1.1 meets them; what no result needs comes last."""
    spread("semi_auto_parallel")

    def run(x):
        one, two, _ = ops.tanh(x), P.Exp().shard(((2, 1),))(x), P.Neg().shard(((1, 8),))(x)
        return P.MatMul(transpose_b=True).shard(((4, 1), (2, 1)))(P.Abs().shard(((8, 1),))(two), one)

    program = program_of(run, X)
    found = {name.rpartition("/")[2]: cuts for name, cuts in program.spread.shards(program).items()}
    wanted = {"MatMul-op0": [[4, 1], [2, 1]], "Abs-op1": [[8, 1]], "Exp-op2": [[2, 1]], "Neg-op4": [[1, 8]]}
    assert found == wanted


def test_cells_of_a_list_are_called_and_counted_as_r1_1_does():
    """Those of one Cell, the two behind them, and the argument that several operators read."""
    spread()
    net = Layers()
    _executor.compile(net, X)
    assert "Default/layers-CellList/2-Layer/ReLU-op2" in _executor._get_shard_strategy(net)
    assert _executor._get_num_parallel_ops(net) == 2 + 2 + 1
    spread("semi_auto_parallel")
    _executor.compile(net, X)
    assert _executor._get_num_parallel_ops(net) == 0


def test_there_are_no_groups_of_gradients(monkeypatch, capsys):
    monkeypatch.setattr(log, "_said", set())
    net = Layer()
    for ask in (_executor._get_allreduce_fusion, _executor._get_num_parallel_ops, _Executor()._get_shard_strategy):
        with pytest.raises(RuntimeError, match="no program of Layer yet: call it"):
            ask(net)
    spread("data_parallel")
    _executor.compile(net, X)
    assert _executor._get_allreduce_fusion(net) == {} == _executor._get_shard_strategy(net)
    assert "XLA joins communication" in capsys.readouterr().err


def test_a_plain_call_tells_layouts_too():
    layout = ([2, 4], [-1, 0], [32, 8], 0, True, "")
    spread("semi_auto_parallel")
    net = Layer(((2, 1), (1, 4)))
    assert net.parameter_layout_dict == {}
    net(X)
    assert net.parameter_layout_dict == {"x": ([2, 4], [1, -1], [32, 32], 0, True, ""), "weight": layout}
    spread("auto_parallel")
    net(X)
    found = net.parameter_layout_dict
    assert set(found) == {"x", "weight"} and found["weight"][2] == [32 // c for c in cuts(*found["weight"][:2])]
    spread("stand_alone", 1)
    net(X)
    assert net.parameter_layout_dict == {}
    net.parameter_layout_dict = {"weight": layout}
    assert net.parameter_layout_dict == {"weight": layout}


def test_what_a_search_has_found_is_written_and_taken_from_a_file(tmp_path):
    spread(strategy_ckpt_save_file=str(tmp_path / "found.ckpt"))
    net = Layer()
    net(X)
    found = _executor._get_shard_strategy(net)["Default/MatMul-op1"]
    spread("semi_auto_parallel", strategy_ckpt_save_file="", strategy_ckpt_load_file=str(tmp_path / "found.ckpt"))
    again = Layer()
    _executor.compile(again, X)
    assert _executor._get_shard_strategy(again) == {"Default/MatMul-op1": found}


def cuts(matrix, tensor_map):
    return [1 if place < 0 else matrix[-1 - place] for place in tensor_map]


def test_an_argument_that_two_operators_cut_differently_is_refused():
    spread("semi_auto_parallel", 16)

    def run(x):
        return P.Tanh().shard(((16, 1),))(x) + P.Exp().shard(((4, 4),))(x)

    class Twice(nn.Cell):
        def construct(self, x):
            return run(x)

    with pytest.raises(RuntimeError, match="argument 'x' is cut in two ways over the 16 devices: .*hand it over twice"):
        _executor.compile(Twice(), X)


def test_strategies_in_pynative_mode_are_said_to_do_nothing_once(monkeypatch, capsys):
    monkeypatch.setattr(log, "_said", set())
    context.set_context(mode=context.PYNATIVE_MODE)
    for mode, devices, told in (("stand_alone", 1, 0), ("semi_auto_parallel", 1, 0), ("semi_auto_parallel", 8, 1)):
        spread(mode, devices)
        net = Layer(((8, 1), (1, 1)))
        net.product.add_prim_attr("of", mode + str(devices))  # kernels of its own
        for rows in (8, 16):
            net(Tensor(np.ones((rows, 32), np.float32)))
        said = capsys.readouterr().err
        assert said.count("in PYNATIVE mode one device computes all") == told, said


def test_a_graph_with_get_next_is_compiled_and_not_run():
    net = nn.SequentialCell([nn.ReLU()])

    class Fetching(nn.Cell):
        def __init__(self):
            super().__init__()
            self.get_next = P.GetNext([ms.float32, ms.int32], [[32, 64], [32]], 2, "queue")

        def construct(self):
            data, label = self.get_next()
            return net(data), label

    spread("semi_auto_parallel", 4)
    fetching = Fetching()
    _executor.compile(fetching)
    assert [v.aval.shape for v in program_of(fetching).jaxpr.jaxpr.outvars] == [(32, 64), (32,)]
    with pytest.raises(NotImplementedError, match="'GetNext' announces.*Iterate over the dataset"):
        fetching()
    with pytest.raises(NotImplementedError, match="iterate over the dataset"):
        fetching.get_next()


def test_what_runs_operator_by_operator_is_not_compiled_which_is_said(monkeypatch, capsys):
    monkeypatch.setattr(log, "_said", set())

    class Distinct(nn.Cell):
        def construct(self, x):
            return P.Unique()(x)[0]

    spread("semi_auto_parallel")
    places = Tensor(np.array([3, 1, 3], np.int32))
    assert _executor.compile(Distinct(), places, phase="train") == ("train", False)
    assert "'Unique'" in capsys.readouterr().err
    assert Distinct()(places).shape == (2,)


def test_operators_that_graph_kernels_may_stand_in_for_are_the_same():
    assert _selected_ops.SoftmaxCrossEntropyWithLogits is P.SoftmaxCrossEntropyWithLogits
    assert _selected_ops.Gelu is P.GeLU


@pytest.mark.parametrize(
    ("settings", "kind", "said"),
    [
        ({"parallel_mode": "stand_alone"}, nn.Lamb, "semi_auto_parallel"),
        ({"parallel_mode": "data_parallel", "device_num": 16}, nn.Lamb, "each of 16 devices .*, but there are 1"),
        ({"parallel_mode": "data_parallel"}, nn.Adam, "for Lamb and AdamWeightDecay, but the optimizer is Adam"),
    ],
)
def test_a_parallel_optimizer_is_refused_where_r1_1_refuses_it(settings, kind, said):
    context.set_auto_parallel_context(enable_parallel_optimizer=True, **settings)
    with pytest.raises(RuntimeError, match=said):
        kind(Layer().trainable_params(), learning_rate=0.1)
