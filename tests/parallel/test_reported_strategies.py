"""Strategies and layouts of programs, as r1.1's executor reports them."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, log, nn, ops
from msnb.common.api import _Executor, _executor
from msnb.core.program.program_cache import program_of
from msnb.ops import _selected_ops
from msnb.ops import operations as P

X = Tensor(np.ones((64, 32), np.float32))


@pytest.fixture(autouse=True)
def graph():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.reset_auto_parallel_context()


def set_devices(mode="auto_parallel", devices=8, **settings):
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


class ProductAndFunction(nn.Cell):
    """A product, followed by a function with one more input."""

    def __init__(self, function):
        super().__init__()
        self.product, self.function = P.MatMul(), function

    def construct(self, x, y, b):
        return self.function(self.product(x, y), b)


def test_strategies_of_search():
    """All devices compute, and each reads as little as it can: a product in two directions, and what follows it in the
    same."""
    set_devices()
    y, b = Tensor(np.ones((32, 128), np.float32)), Tensor(np.ones((64, 128), np.float32))
    net = ProductAndFunction(P.FloorDiv())
    _executor.compile(net, X, y, b)
    assert _executor._get_shard_strategy(net) == {
        "Default/MatMul-op1": [[2, 1], [1, 4]],
        "Default/FloorDiv-op0": [[2, 4], [2, 4]],
    }
    row = ProductAndFunction(P.FloorDiv())
    _executor.compile(row, X, Tensor(np.ones((32, 1), np.float32)), Tensor(np.ones((1, 64), np.float32)))
    assert _executor._get_shard_strategy(row)["Default/MatMul-op1"] == [[8, 1], [1, 1]]


def test_strategies_exclude_optimizer():
    set_devices()
    net = Layer()
    loss = nn.WithLossCell(net, lambda out, label: ((out - label) ** 2).mean())
    step = nn.TrainOneStepCell(loss, nn.Momentum(net.trainable_params(), 0.1, 0.9)).set_train()
    step(X, X)
    strategies = _executor._get_shard_strategy(step)
    names = sorted(name.rpartition("/")[2].partition("-")[0] for name in strategies)
    assert names == ["MatMul", "Pow", "ReLU", "ReduceMean", "Sub"], strategies
    for name, cuts in strategies.items():
        assert all(np.prod(cut) in (1, 8) for cut in cuts), (name, cuts)
    assert set(step.parameter_layout_dict) >= {"weight", "moments.weight"}


def test_strategies_of_other_axes_and_explicit_strategies():
    set_devices()
    net = nn.SequentialCell([nn.OneHot(depth=16)])
    net(Tensor(np.zeros(64, np.int32)))
    (cuts,) = (cuts for name, cuts in _executor._get_shard_strategy(net).items() if "OneHot" in name)
    assert len(cuts[0]) == 2 and cuts[1:] == [[], []] and np.prod(cuts[0]) == 8, cuts
    layer = Layer(((1, 4), (4, 2)))
    layer(X)
    assert _executor._get_shard_strategy(layer)["Default/MatMul-op1"] == [[1, 4], [4, 2]]


def test_operator_numbers_start_at_result():
    """The numbers follow a depth-first walk from the result, as in r1.1. Dead operators come last."""
    set_devices("semi_auto_parallel")

    def run(x):
        one, two, _ = ops.tanh(x), P.Exp().shard(((2, 1),))(x), P.Neg().shard(((1, 8),))(x)
        return P.MatMul(transpose_b=True).shard(((4, 1), (2, 1)))(P.Abs().shard(((8, 1),))(two), one)

    program = program_of(run, X)
    strategies = {name.rpartition("/")[2]: cuts for name, cuts in program.spread.shards(program).items()}
    expected = {"MatMul-op0": [[4, 1], [2, 1]], "Abs-op1": [[8, 1]], "Exp-op2": [[2, 1]], "Neg-op4": [[1, 8]]}
    assert strategies == expected


def test_names_and_count_of_cell_list():
    """Those of one Cell, the two behind them, and the argument that several operators read."""
    set_devices()
    net = Layers()
    _executor.compile(net, X)
    assert "Default/layers-CellList/2-Layer/ReLU-op2" in _executor._get_shard_strategy(net)
    assert _executor._get_num_parallel_ops(net) == 2 + 2 + 1
    set_devices("semi_auto_parallel")
    _executor.compile(net, X)
    assert _executor._get_num_parallel_ops(net) == 0


def test_gradient_groups_are_empty(monkeypatch, capsys):
    monkeypatch.setattr(log, "_logged_once", set())
    net = Layer()
    for ask in (_executor._get_allreduce_fusion, _executor._get_num_parallel_ops, _Executor()._get_shard_strategy):
        with pytest.raises(RuntimeError, match="no program of Layer yet: call it"):
            ask(net)
    set_devices("data_parallel")
    _executor.compile(net, X)
    assert _executor._get_allreduce_fusion(net) == {} == _executor._get_shard_strategy(net)
    assert "XLA joins communication" in capsys.readouterr().err


def test_layouts_after_plain_call():
    layout = ([2, 4], [-1, 0], [32, 8], 0, True, "")
    set_devices("semi_auto_parallel")
    net = Layer(((2, 1), (1, 4)))
    assert net.parameter_layout_dict == {}
    net(X)
    assert net.parameter_layout_dict == {"x": ([2, 4], [1, -1], [32, 32], 0, True, ""), "weight": layout}
    set_devices("auto_parallel")
    net(X)
    layouts = net.parameter_layout_dict
    assert set(layouts) == {"x", "weight"} and layouts["weight"][2] == [32 // c for c in cuts(*layouts["weight"][:2])]
    set_devices("stand_alone", 1)
    net(X)
    assert net.parameter_layout_dict == {}
    net.parameter_layout_dict = {"weight": layout}
    assert net.parameter_layout_dict == {"weight": layout}


def test_strategy_file_of_search(tmp_path):
    set_devices(strategy_ckpt_save_file=str(tmp_path / "found.ckpt"))
    net = Layer()
    net(X)
    strategy = _executor._get_shard_strategy(net)["Default/MatMul-op1"]
    set_devices("semi_auto_parallel", strategy_ckpt_save_file="", strategy_ckpt_load_file=str(tmp_path / "found.ckpt"))
    again = Layer()
    _executor.compile(again, X)
    assert _executor._get_shard_strategy(again) == {"Default/MatMul-op1": strategy}


def cuts(matrix, tensor_map):
    return [1 if place < 0 else matrix[-1 - place] for place in tensor_map]


def test_argument_with_two_shardings_raises():
    set_devices("semi_auto_parallel", 16)

    def run(x):
        return P.Tanh().shard(((16, 1),))(x) + P.Exp().shard(((4, 4),))(x)

    class Twice(nn.Cell):
        def construct(self, x):
            return run(x)

    with pytest.raises(RuntimeError, match="argument 'x' is cut in two ways over the 16 devices: .*hand it over twice"):
        _executor.compile(Twice(), X)


def test_pynative_strategy_warns_once(monkeypatch, capsys):
    monkeypatch.setattr(log, "_logged_once", set())
    context.set_context(mode=context.PYNATIVE_MODE)
    for mode, devices, warnings in (("stand_alone", 1, 0), ("semi_auto_parallel", 1, 0), ("semi_auto_parallel", 8, 1)):
        set_devices(mode, devices)
        net = Layer(((8, 1), (1, 1)))
        net.product.add_prim_attr("of", mode + str(devices))  # kernels of its own
        for rows in (8, 16):
            net(Tensor(np.ones((rows, 32), np.float32)))
        stderr = capsys.readouterr().err
        assert stderr.count("in PYNATIVE mode one device computes all") == warnings, stderr


def test_get_next_graph_is_only_compiled():
    net = nn.SequentialCell([nn.ReLU()])

    class Fetching(nn.Cell):
        def __init__(self):
            super().__init__()
            self.get_next = P.GetNext([ms.float32, ms.int32], [[32, 64], [32]], 2, "queue")

        def construct(self):
            data, label = self.get_next()
            return net(data), label

    set_devices("semi_auto_parallel", 4)
    fetching = Fetching()
    _executor.compile(fetching)
    assert [v.aval.shape for v in program_of(fetching).jaxpr.jaxpr.outvars] == [(32, 64), (32,)]
    with pytest.raises(NotImplementedError, match="'GetNext' announces.*Iterate over the dataset"):
        fetching()
    with pytest.raises(NotImplementedError, match="iterate over the dataset"):
        fetching.get_next()


def test_uncompiled_function_is_reported(monkeypatch, capsys):
    monkeypatch.setattr(log, "_logged_once", set())

    class Distinct(nn.Cell):
        def construct(self, x):
            return P.Unique()(x)[0]

    set_devices("semi_auto_parallel")
    places = Tensor(np.array([3, 1, 3], np.int32))
    assert _executor.compile(Distinct(), places, phase="train") == ("train", False)
    assert "'Unique'" in capsys.readouterr().err
    assert Distinct()(places).shape == (2,)


def test_graph_kernel_setting_changes_nothing():
    assert _selected_ops.SoftmaxCrossEntropyWithLogits is P.SoftmaxCrossEntropyWithLogits
    assert _selected_ops.Gelu is P.GeLU


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"parallel_mode": "stand_alone"}, nn.Lamb, "semi_auto_parallel"),
        ({"parallel_mode": "data_parallel", "device_num": 16}, nn.Lamb, "each of 16 devices .*, but there are 1"),
        ({"parallel_mode": "data_parallel"}, nn.Adam, "for Lamb and AdamWeightDecay, but the optimizer is Adam"),
    ],
)
def test_parallel_optimizer_errors_of_r1_1(settings, kind, message):
    context.set_auto_parallel_context(enable_parallel_optimizer=True, **settings)
    with pytest.raises(RuntimeError, match=message):
        kind(Layer().trainable_params(), learning_rate=0.1)
