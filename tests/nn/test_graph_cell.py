"""A graph as a Cell computes what the network computes that it was read from, and trains as that one does."""

import pickle

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, ir, nn, ops
from msnb.nn.graph_cell import operator_of


def randoms(*shape):
    return Tensor(np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32))


class Convolutions(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3, has_bias=True), nn.BatchNorm2d(4)
        self.pool, self.act, self.flat, self.out = nn.MaxPool2d(2, 2), nn.LeakyReLU(0.3), nn.Flatten(), nn.Dense(16, 3)

    def construct(self, x):
        return self.out(self.flat(self.pool(self.act(self.norm(self.conv(x)))))) * 0.5


class Branches(nn.Cell):
    """A loop, a branch, indices, an LSTM, a layer without bias, optional inputs that are absent, two results."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.out = nn.Dense(10, 3, has_bias=False)

    def construct(self, x, rounds):
        start = ops.Zeros()((4, 2, 5), ms.float32)
        y, _ = self.lstm(x, (start, start))
        turn = 0
        while turn < rounds:
            y = y * 2 + 1
            turn += 1
        if y.sum() > 0:
            y = y + 1
        else:
            y = y - x.mean()
        return self.out(ops.layer_norm(y, (10,)))[:, -1], ops.Concat(1)((y, y, y))


class Half(nn.Cell):
    """Layers that compute in another type than that of their inputs."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, has_bias=True).to_float(ms.float16)
        self.out, self.cast = nn.Dense(4, 3).to_float(ms.float16), ops.Cast()

    def construct(self, x):
        return self.cast(self.out(self.conv(x).mean((2, 3))), ms.float32) + x.mean()


NETWORKS = {
    "half": (Half, (randoms(2, 3, 4, 4),)),
    "convolutions": (Convolutions, (randoms(2, 3, 4, 4),)),
    "branches": (Branches, (randoms(2, 3, 4), Tensor(3, ms.int32))),
    "branches, no round": (Branches, (randoms(2, 3, 4), Tensor(0, ms.int32))),
}


def make_graph_cell(name):
    """Return (network, its inputs, its graph, the graph as a Cell)."""
    kind, inputs = NETWORKS[name]
    net = kind().set_train(False)
    graph = ir.graph(net, *inputs)
    return net, inputs, graph, nn.GraphCell(graph, {p.name: p for p in net.get_parameters()})


def arrays(results):
    return [r.asnumpy() for r in (results if isinstance(results, tuple) else (results,))]


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
@pytest.mark.parametrize("name", NETWORKS)
def test_it_computes_what_the_network_computes(name, mode):
    net, inputs, _, cell = make_graph_cell(name)
    context.set_context(mode=mode)
    for own, others in zip(arrays(cell(*inputs)), arrays(net(*inputs)), strict=True):
        np.testing.assert_array_equal(own, others)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_gradients_are_those_of_the_network(mode):
    net, inputs, _, cell = make_graph_cell("branches")
    context.set_context(mode=mode)
    weights = [p for p in cell.trainable_params()]
    assert {p.name for p in weights} == {p.name for p in net.trainable_params()}
    theirs = {p.name: p for p in net.trainable_params()}
    of = ops.GradOperation(get_by_list=True)
    own = of(cell, ms.ParameterTuple(weights))(*inputs)
    others = of(net, ms.ParameterTuple([theirs[p.name] for p in weights]))(*inputs)
    for a, b in zip(own, others, strict=True):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-6)


def test_the_graph_of_the_cell_is_the_graph():
    _, inputs, graph, cell = make_graph_cell("convolutions")
    again = ir.graph(cell, *inputs)
    assert [(n.op, n.attrs, n.scope, n.types) for n in again.all_nodes()] == [
        (n.op, n.attrs, n.scope, n.types) for n in graph.all_nodes()
    ]


@pytest.mark.parametrize("name", NETWORKS)
def test_a_call_says_what_each_input_of_its_operator_was_given(name):
    for node in make_graph_cell(name)[2].all_nodes():
        op = operator_of(node)
        if op is None or node.direction != "forward":
            continue
        layout = node.layout or (1,) * len(op.inputs)
        assert len(layout) == len(op.inputs)
        assert sum(e[0] if isinstance(e, tuple) else e == 1 for e in layout) == len(node.inputs)
        static = [given.name for given, entry in zip(op.inputs, layout, strict=True) if entry == -1]
        assert set(static) <= set(node.attrs)


def test_a_pickled_graph_runs():
    net, inputs, graph, _ = make_graph_cell("branches")
    graph = pickle.loads(pickle.dumps(graph))
    cell = nn.GraphCell(graph, {p.name: p for p in net.get_parameters()})
    for own, others in zip(arrays(cell(*inputs)), arrays(net(*inputs)), strict=True):
        np.testing.assert_array_equal(own, others)


def test_what_does_not_fit_is_refused():
    net, inputs, graph, cell = make_graph_cell("convolutions")
    values = {p.name: p for p in net.get_parameters()}
    with pytest.raises(ValueError, match=r"'conv.weight' has no value"):
        nn.GraphCell(graph, {k: v for k, v in values.items() if k != "conv.weight"})
    with pytest.raises(ValueError, match="names that the graph lacks: other"):
        nn.GraphCell(graph, {**values, "other": inputs[0]})
    with pytest.raises(ValueError, match=r"'out.bias' has shape \(3,\)"):
        nn.GraphCell(graph, {**values, "out.bias": Tensor(np.zeros(4, np.float32))})
    with pytest.raises(TypeError, match=r"mindspore.load\(file\)"):
        nn.GraphCell("model.mindir")
    with pytest.raises(TypeError, match=r"takes 1 inputs \(x\), but got 2"):
        cell(*inputs, *inputs)


def test_operators_that_are_not_there_are_all_named():
    graph = ir.graph(nn.ReLU(), randoms(2))
    graph.nodes[0].op = "Unheard"
    with pytest.raises(NotImplementedError, match=r"operators that msnb does not have: Unheard \("):
        nn.GraphCell(graph)
