"""Queries that select nodes of a graph."""

import numpy as np
import pytest

from msnb import Tensor, ir, nn
from msnb.insight.debugger import select_nodes


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc10, self.relu = nn.Dense(3, 3), nn.Dense(3, 3), nn.ReLU()
        self.dense = nn.SequentialCell([nn.Dense(3, 3), nn.ReLU()])

    def construct(self, x):
        return self.dense(self.relu(self.fc10(self.relu(self.fc1(x)))))


X = Tensor(np.ones((2, 3), np.float32))


@pytest.mark.parametrize(
    ("query", "scopes"),
    [
        ("fc1", ["fc1-Dense"]),
        ("fc1 matmul", ["fc1-Dense"]),
        ("fc", ["fc1-Dense", "fc10-Dense"]),
        ("dense", ["dense-SequentialCell/0-Dense", "dense-SequentialCell/1-ReLU"]),
        ("dense.1", ["dense-SequentialCell/1-ReLU"]),
        ("relu", ["relu-ReLU"]),
        ("op:relu", ["relu-ReLU", "dense-SequentialCell/1-ReLU"]),
        ("fc10 fc10.weight", ["fc10-Dense"]),
    ],
)
def test_a_word_that_is_the_path_of_a_cell_selects_this_cell(query, scopes):
    nodes = select_nodes(ir.graph(Net(), X), query)
    assert sorted({node.scope.removeprefix("Default/") for node in nodes}) == sorted(scopes)


def test_the_path_begins_at_the_network_of_a_train_step():
    net = Net()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params()))
    graph = ir.graph(step, X, X)
    assert {node.scope.rpartition("/")[2] for node in select_nodes(graph, "fc1")} == {"fc1-Dense"}
    assert {node.op for node in select_nodes(graph, "fc1.weight")} >= {"MatMul", "SGD"}  # no Cell: a Parameter
    assert {node.op for node in select_nodes(graph, "fc1 sgd")} == {"SGD"}  # no node of the Cell
