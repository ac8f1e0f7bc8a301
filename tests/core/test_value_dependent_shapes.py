"""A Cell whose results have a shape that depends on values gives them in GRAPH mode as in PYNATIVE mode."""

import numpy as np
import pytest

import msnb as ms
import msnb.numpy as mnp
from msnb import Tensor, context, nn, ops
from msnb.core.program import program_cache

X = np.array([3.0, 1.0, 0.0, 3.0, 2.0], np.float32)
FUNCTIONS = {
    "Unique": lambda x: ops.Unique()(x),
    "unique": lambda x: mnp.unique(x),
    "masked_select": lambda x: ops.masked_select(x, x > 1),
    "x[mask]": lambda x: x[x > 1],
    "x[mask, i]": lambda x: x.reshape((5, 1))[x > 1, 0],
    "nonzero": lambda x: ops.nonzero(x),
    "where": lambda x: mnp.where(x > 1)[0],
    "argwhere": lambda x: mnp.argwhere(x),
    "setdiff1d": lambda x: mnp.setdiff1d(x, [1]),
    "intersect1d": lambda x: mnp.intersect1d(x, [1]),
    "CTCGreedyDecoder": lambda x: ops.CTCGreedyDecoder()(x.reshape((5, 1, 1)), Tensor([5], ms.int32)),
    "ComputeAccidentalHits": lambda x: ops.operations.ComputeAccidentalHits(1)(
        x.astype(ms.int32).reshape((5, 1)), x.astype(ms.int32)
    ),
}


class Net(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function
        self.dense = nn.Dense(5, 5)

    def construct(self, x):
        return self.function(x), self.dense(x.reshape((1, 5)))


def in_mode(mode, function, *inputs):
    context.set_context(mode=mode)
    out = function(*inputs)
    return [part.asnumpy() for part in (out if isinstance(out, tuple) else (out,))]


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_gives_the_same_in_both_modes(function):
    graph = in_mode(context.GRAPH_MODE, ms.ms_function(function), Tensor(X))
    eager = in_mode(context.PYNATIVE_MODE, function, Tensor(X))
    for result, expected in zip(graph, eager, strict=True):
        np.testing.assert_array_equal(result, expected)
        assert result.dtype == expected.dtype


def test_cells_without_such_an_operator_stay_compiled_and_nothing_is_traced_twice(monkeypatch):
    context.set_context(mode=context.GRAPH_MODE)
    traces = []
    traced = program_cache.Program._trace_to_fixpoint

    def count_trace(self, *args):
        traces.append(self.name)
        return traced(self, *args)

    monkeypatch.setattr(program_cache.Program, "_trace_to_fixpoint", count_trace)
    net = Net(FUNCTIONS["x[mask]"])
    for _ in range(3):
        picked, _ = net(Tensor(X))
        assert picked.asnumpy().tolist() == [3.0, 3.0, 2.0]
    assert len(program_cache.programs_of(net.dense).table) == 1
    assert traces == ["Net", "Dense"]


def test_a_changed_cell_is_compiled_once_it_can_be():
    context.set_context(mode=context.GRAPH_MODE)
    net = Net(FUNCTIONS["x[mask]"])
    net(Tensor(X))
    net.function = lambda x: x + 1
    assert net(Tensor(X))[0].asnumpy().tolist() == (X + 1).tolist()
    assert len(program_cache.programs_of(net).table) == 1


@pytest.mark.parametrize("pick", ["x[mask]", "masked_select"])
def test_gradients_pass_such_an_operator_in_both_modes(pick):
    def loss(x):
        return (FUNCTIONS[pick](x) ** 2).sum()

    for mode in (context.GRAPH_MODE, context.PYNATIVE_MODE):
        context.set_context(mode=mode)
        gradient = ops.GradOperation()(loss)(Tensor(X))
        np.testing.assert_allclose(gradient.asnumpy(), np.where(X > 1, 2 * X, 0))


def test_a_train_step_with_such_an_operator_learns_as_in_pynative_mode():
    losses = {}
    for mode in (context.GRAPH_MODE, context.PYNATIVE_MODE):
        context.set_context(mode=mode)
        ms.set_seed(1)

        class Picked(nn.Cell):
            def __init__(self):
                super().__init__()
                self.dense = nn.Dense(5, 5, weight_init="ones")

            def construct(self, x):
                y = self.dense(x)
                return (y[y > 0] ** 2).mean()

        net = Picked()
        step = nn.TrainOneStepCell(net, nn.Momentum(net.trainable_params(), 0.01, 0.9)).set_train()
        losses[mode] = [float(step(Tensor(X[None])).asnumpy()) for _ in range(4)]
    first, second = losses.values()
    np.testing.assert_allclose(first, second, rtol=1e-5)
    assert first[-1] < first[0]


def test_it_is_said_with_what_to_write_instead(capfd):
    @ms.ms_function
    def only_here(x):
        return x[x > 0]

    only_here(Tensor(X))
    only_here(Tensor(X[:3]))
    said = [line for line in capfd.readouterr().err.splitlines() if "only_here" in line]
    assert len(said) == 1 and "operator by operator" in said[0] and "ops.select" in said[0]


def test_a_graph_of_it_cannot_be_shown():
    with pytest.raises(RuntimeError, match="UniqueWithPad"):
        program_cache.program_of(lambda x: ops.Unique()(x), Tensor(X))
