"""Equal Cells are traced once, and the graph is the one that tracing each of them gives."""

from collections import Counter

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, nn, ops
from msnb.core.program.program_cache import program_of
from msnb.nn._cell import deduplication

X = Tensor(np.linspace(-1, 1, 12).reshape(3, 4).astype(np.float32))


class Block(nn.Cell):
    def __init__(self, scale=1.0):
        super().__init__()
        self.dense = nn.Dense(4, 4, weight_init="normal")
        self.norm = nn.BatchNorm1d(4)
        self.scale = scale

    def construct(self, x):
        return x + self.scale * ops.relu(self.norm(self.dense(x)))


class Drawing(Block):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.5)

    def construct(self, x):
        return self.dropout(super().construct(x))


class Stack(nn.Cell):
    def __init__(self, blocks):
        super().__init__()
        self.blocks = nn.CellList(blocks)

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return x


@pytest.fixture(autouse=True)
def _graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)


@pytest.fixture
def traced_classes(monkeypatch):
    """Return the classes of the Cells of a list, as often as they were traced."""
    results = []
    run = nn.Cell._run_with_precision_and_hooks

    def counting(self, args, kwargs):
        results.append(type(self).__name__)
        return run(self, args, kwargs)

    monkeypatch.setattr(nn.Cell, "_run_with_precision_and_hooks", counting)
    return results


def flat(monkeypatch):
    """From here on each Cell is traced by itself."""
    monkeypatch.setattr(deduplication, "_find_shared_traced_cell", lambda cell, args, frame: None)


def equations(net, *args):
    """Count each operator in each scope of the graph. Sums of gradients, and the beginning of the random stream, may be
    one scope further out."""
    eqns = program_of(net, *args).jaxpr.jaxpr.eqns
    scope = lambda e: "" if e.primitive.name in ("add_any", "random_seed") else str(e.source_info.name_stack)  # noqa: E731
    return Counter((e.primitive.name, str(e.params.get("name")), scope(e)) for e in eqns)


def step(make):
    ms.set_seed(1)
    net = make().set_train()
    return net, nn.TrainOneStepCell(net, nn.Momentum(net.trainable_params(), 0.1, 0.9))


NETS = {
    "blocks": lambda: Stack([Block() for _ in range(7)]),
    "two kinds": lambda: Stack([Block(1.0 + i % 2) for i in range(10)]),
    "random": lambda: Stack([Drawing() for _ in range(6)]),
    "one Cell again and again": lambda: Stack([Block()] * 6),
    "shared within": lambda: Stack([shared(Block(), Block()) for _ in range(6)]),
}


def shared(some, other):
    other.dense.weight = some.dense.weight
    return nn.SequentialCell(some, other)


@pytest.mark.parametrize("make", NETS.values(), ids=NETS)
def test_the_graph_is_that_of_tracing_every_cell(make, monkeypatch):
    once, train = step(make)
    graphs = equations(once, X), equations(train, X)
    inputs = program_of(train, X).inputs
    flat(monkeypatch)
    each, train = step(make)
    assert graphs == (equations(each, X), equations(train, X))
    assert inputs == program_of(train, X).inputs


@pytest.mark.parametrize("make", NETS.values(), ids=NETS)
def test_training_gives_the_same_numbers(make, monkeypatch):
    results = []
    for _ in range(2):
        net, train = step(make)
        for _ in range(3):
            train(X)
        results.append([p.asnumpy() for p in net.get_parameters()])
        flat(monkeypatch)
    for once, each in zip(*results, strict=True):
        np.testing.assert_allclose(once, each, rtol=2e-6, atol=1e-7)


def test_one_trace_serves_ten_equal_cells(traced_classes):
    Stack([Block() for _ in range(10)])(X)
    assert traced_classes.count("Block") == 1


def test_a_few_traces_serve_ten_calls_of_a_cell(traced_classes):
    Stack([Block()] * 10)(X)
    assert traced_classes.count("Block") == deduplication._MIN_REPEATS + 1


def test_two_or_three_equal_cells_are_traced_as_they_stand(traced_classes):
    Stack([Block() for _ in range(deduplication._MIN_REPEATS)])(X)
    assert traced_classes.count("Block") == deduplication._MIN_REPEATS


@pytest.mark.parametrize(
    "blocks",
    [
        lambda: [Block(float(i)) for i in range(6)],
        lambda: [Block().set_train(i < 3) for i in range(6)],
        lambda: [holding(Block(), Tensor(np.float32(i))) for i in range(6)],
        lambda: [holding(Block(), ops.ReduceSum(i < 3)) for i in range(6)],
        lambda: [without_gradient(Block(), i < 3) for i in range(6)],
    ],
    ids=["number", "training", "Tensor", "Primitive", "requires_grad"],
)
def test_what_differs_is_traced_by_itself(blocks, traced_classes):
    result = blocks()
    Stack(result)(X)
    assert traced_classes.count("Block") == len(result)


def holding(block, value):
    block.held = value
    return block


def without_gradient(block, number):
    block.dense.weight.requires_grad = bool(number)
    return block


def test_a_cell_that_sets_an_attribute_is_traced_each_time():
    class Counting(Block):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def construct(self, x):
            self.calls = self.calls + 1
            return super().construct(x)

    blocks = [Counting() for _ in range(6)]
    Stack(blocks)(X)
    assert [b.calls for b in blocks] == [1] * 6


def test_a_cell_that_prints_prints_for_each_call(capsys):
    class Saying(Block):
        def construct(self, x):
            print("here", x.shape)
            return super().construct(x)

    Stack([Saying() for _ in range(6)])(X)
    assert capsys.readouterr().out.count("here") == 6


def test_one_tensor_given_twice_is_one(traced_classes):
    class Pair(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(4, 4)

        def construct(self, a, b):
            return self.dense(a) * 2 if a is b else self.dense(a) + b

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.pairs = nn.CellList([Pair() for _ in range(6)])

        def construct(self, x):
            for i, pair in enumerate(self.pairs):
                x = pair(x, x) if i % 2 else pair(x, x + 1)
            return x

    net = Net()
    got = net(X).asnumpy()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    np.testing.assert_allclose(got, net(X).asnumpy(), rtol=1e-5)


def test_a_parameter_from_outside_is_read_as_it_is_by_then():
    outside = Parameter(Tensor(np.ones(4, np.float32)), name="outside")

    class Reading(Block):
        def construct(self, x):
            return self.dense(x) * outside

    class Net(Stack):
        def __init__(self):
            super().__init__([Reading() for _ in range(6)])
            self.outside = outside

        def construct(self, x):
            for block in self.blocks:
                x = block(x)
                ops.assign(self.outside, self.outside + 1)
            return x

    net = Net()
    got = net(X).asnumpy()
    outside.set_data(Tensor(np.ones(4, np.float32)))
    ms.set_context(mode=ms.PYNATIVE_MODE)
    np.testing.assert_allclose(got, net(X).asnumpy(), rtol=1e-5)


def test_an_error_names_the_layer_it_stands_in():
    class Wrong(Block):
        def construct(self, x):
            return self.dense(x).reshape(5, 5) if x.shape[0] == 3 and self.scale == 3.0 else super().construct(x)

    with pytest.raises(ValueError) as caught:
        Stack([Wrong() for _ in range(5)] + [Wrong(3.0)])(X)
    assert "blocks.5" in "\n".join(caught.value.__notes__)


def test_inside_a_loop_and_a_branch_of_the_graph():
    class Looping(Stack):
        def construct(self, x):
            i = Tensor(0)
            while i < 2:
                for block in self.blocks:
                    x = block(x)
                i = i + 1
            if x.sum() > 0:
                for block in self.blocks:
                    x = block(x)
            return x

    net = Looping([Block() for _ in range(6)])
    got = net(X).asnumpy()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    np.testing.assert_allclose(got, net(X).asnumpy(), rtol=1e-5)
