"""A network that fails to trace has a graph up to where it fails."""

import pickle

import numpy as np
import pytest

from msnb import Tensor, ir, ms_function, nn, ops
from msnb.ir.partial_graph import graph_before
from msnb.ir.payload import stage


def ones(*shape):
    return Tensor(np.ones(shape, np.float32))


class Block(nn.Cell):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.dense = nn.Dense(inputs, outputs)
        self.act = nn.ReLU()

    def construct(self, x):
        return self.act(self.dense(x))


class Wrong(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = Block(4, 8)
        self.second = Block(9, 3)

    def construct(self, x):
        return self.second(self.first(x) * 2)


def before(net, *inputs):
    with pytest.raises(Exception) as caught:
        ir.graph(net, *inputs)
    return graph_before(caught.value)


def test_what_ran_before_is_there_and_what_failed_is_the_last_node():
    graph = before(Wrong(), ones(2, 4))
    *ran, failed = graph.nodes
    assert [node.op for node in ran] == ["MatMul", "BiasAdd", "ReLU", "Mul"]
    assert failed.op == "MatMul" and failed.attrs["transpose_b"] and failed.scope == "Default/second-Block/dense-Dense"
    assert failed.problem.startswith("ValueError: For 'MatMul', the inner dimensions should agree")
    assert failed.inputs[0] is ran[-1] and failed.inputs[1].name == "second.dense.weight"
    assert failed.source[0] == __file__ and failed.source[2] == "Block.construct"
    # Parameters that the trace did not come to are no inputs
    assert [p.name for p in graph.parameters] == ["first.dense.weight", "first.dense.bias", "second.dense.weight", "x"]


def test_a_train_step_stops_in_its_forward_pass():
    net = Wrong()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params()))
    graph = before(step.set_train(), ones(2, 4), ones(2, 3))
    assert graph.nodes[-1].scope == "Default/network-WithLossCell/_backbone-Wrong/second-Block/dense-Dense"
    assert graph.nodes[-1].inputs[0] is graph.nodes[-2]


def test_what_fails_in_a_branch_stands_in_the_cell_around_it():
    class Branch(nn.Cell):
        def construct(self, x):
            if x.sum() > 0:
                x = ops.matmul(x, x)
            return x

    failed = before(nn.SequentialCell(nn.ReLU(), Branch()), ones(2, 4)).nodes[-1]
    assert failed.op == "MatMul" and failed.scope == "Default/1-Branch" and failed.source[2].endswith("construct")


def test_parameters_of_a_function_are_known_by_their_names():
    net = Wrong()

    @ms_function
    def call(x):
        return net(x)

    with pytest.raises(ValueError) as caught:
        call(ones(2, 4))
    names = [p.name for p in graph_before(caught.value).parameters]
    assert names == ["x", "first.dense.weight", "first.dense.bias"]


def test_an_error_of_the_users_own_is_marked_at_its_line():
    class Own(nn.Cell):
        def construct(self, x):
            ops.relu(x)
            raise KeyError("no such layer")

    failed = before(Own(), ones(2)).nodes[-1]
    assert failed.op == "KeyError" and failed.problem == "KeyError: 'no such layer'" and failed.source[0] == __file__


def test_it_is_printed_packed_and_pickled_with_its_sentence():
    graph = before(Wrong(), ones(2, 4))
    assert "-> ()" in ir.text(graph) and graph.nodes[-1].problem in ir.text(graph)
    assert stage(graph)["problem"] == [4, graph.nodes[-1].problem]
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert 'class="x"' in ir.svg(graph) and 'class="x"' not in ir.svg(Block(4, 8), ones(2, 4))


def test_an_error_that_is_none_of_a_trace_has_no_graph():
    assert graph_before(ValueError("elsewhere")) is None
    with pytest.raises(TypeError) as caught:
        ir.graph(Wrong(), np.ones((2, 4), np.float32))
    assert graph_before(caught.value) is None


def test_an_error_that_is_raised_in_two_traces_has_the_graph_of_the_last():
    error = ValueError("the same object")

    class Twice(nn.Cell):
        def construct(self, x):
            ops.relu(x)
            raise error

    assert [node.scope for node in before(Twice(), ones(2)).nodes] == ["Default", "Default"]
    again = before(nn.SequentialCell(nn.Tanh(), Twice()), ones(2))
    assert [node.scope for node in again.nodes] == ["Default/0-Tanh", "Default/1-Twice", "Default/1-Twice"]
