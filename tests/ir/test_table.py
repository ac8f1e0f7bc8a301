"""A graph as rows."""

import numpy as np

from msnb import Tensor, ir, nn
from msnb.ir.table import attributes_of, of_cells, of_nodes


class Block(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.fc, self.act = nn.Dense(width, width), nn.ReLU()

    def construct(self, x):
        return self.act(self.fc(x)) + x


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(Block(4), Block(4), Block(4))
        self.head = nn.Dense(4, 2, has_bias=False)

    def construct(self, x):
        return self.head(self.body(x))


X = Tensor(np.ones((5, 4), np.float32))


def test_a_node_is_a_row_with_what_it_is_and_what_it_costs():
    rows = of_nodes(ir.graph(Net(), X))
    assert [row["operator"] for row in rows] == ["MatMul", "BiasAdd", "ReLU", "Add"] * 3 + ["MatMul"]
    assert rows[-1] == {
        "node": 12,
        "operator": "MatMul",
        "cell": "head",
        "class": "Dense",
        "direction": "forward",
        "shape": (5, 2),
        "dtype": "Float32",
        "inputs": [11, "head.weight"],
        "attributes": {"transpose_a": "False", "transpose_b": "True"},
        "parameters": 8,
        "flops": 5 * 2 * 4 * 2,
        "bytes": 4 * (5 * 4 + 8 + 5 * 2),
        "source": rows[-1]["source"],
    }
    assert rows[-1]["source"].startswith("test_table.py:") and rows[0]["inputs"] == ["x", "body.0.fc.weight"]


def test_a_cell_is_a_row_and_equal_ones_are_one():
    rows = of_cells(ir.graph(Net(), X))
    assert [(row["cell"], row["class"], row["depth"], row["repeats"]) for row in rows] == [
        ("", "Net", 0, 1),
        ("body", "SequentialCell", 1, 1),
        ("body.0", "Block", 2, 3),
        ("body.0.fc", "Dense", 3, 1),
        ("body.0.act", "ReLU", 3, 1),
        ("head", "Dense", 1, 1),
    ]
    whole, body, block, fc, act, head = rows
    assert whole["shape"] == head["shape"] == (5, 2) and body["shape"] == block["shape"] == (5, 4)
    assert (
        whole["parameters"] == 3 * 20 + 8 and body["parameters"] == 60 and block["parameters"] == fc["parameters"] == 20
    )
    assert block["nodes"] == 4 and whole["nodes"] == 13 and fc["parameter_bytes"] == 80
    assert whole["flops"] == body["flops"] + head["flops"] and body["flops"] == 3 * block["flops"]


def test_of_a_train_step_the_forward_part_is_counted():
    net = Net()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params())).set_train()
    rows = of_cells(ir.graph(step, X, Tensor(np.ones((5, 2), np.float32))))
    block = next(row for row in rows if row["cell"].endswith("body.0"))
    assert block["repeats"] == 3 and block["shape"] == (5, 4) and block["nodes"] == 4


def test_the_attributes_that_lead_to_a_scope_have_no_classes():
    assert attributes_of("Default/network-WithLossCell/layer-1-Dense/g() 2") == "network.layer-1.g() 2"
    assert attributes_of("") == attributes_of("Default") == ""
