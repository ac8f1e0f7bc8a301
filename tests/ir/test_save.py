import os
import re

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, ir, nn, ops
from msnb.core.program.program_cache import program_of
from msnb.ir import save
from msnb.ir.stages import stages_of


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 4)
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.relu(self.fc(x))


X = Tensor(np.ones((2, 3), np.float32))


def test_the_text_of_a_cell_names_its_operators_scopes_parameters_and_lines():
    text = ir.text(Net(), X)
    assert "MatMul(%x, %para0_fc.weight)" in text and "transpose_b: True" in text
    assert "# Default/fc-Dense  # test_save.py:" in text and "ReLU(" in text


def test_a_function_is_a_graph_too():
    graph = ir.graph(lambda x: x * x + x, X)
    assert [node.op for node in graph.nodes] == ["Mul", "Add"]


def test_a_training_step_has_an_update_for_every_weight():
    net = Net()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    graph = ir.graph(step, X, Tensor(np.ones((2, 4), np.float32)))
    assert [node.op for node in graph.nodes if node.direction == "update"].count("ApplyMomentum") == 2
    assert {node.direction for node in graph.nodes} == {"forward", "backward", "update"}


def test_looking_at_a_network_neither_runs_nor_changes_it():
    net = Net()
    before = [p.asnumpy().copy() for p in net.get_parameters()]
    ir.text(net, X)
    assert all((a == p.asnumpy()).all() for a, p in zip(before, net.get_parameters(), strict=False))


def test_every_stage_of_a_program_can_be_read():
    stages = stages_of(program_of(Net(), X), "Net")
    assert [node.op for node in stages["traced"].nodes][:1] == ["MatMul"]
    assert "dot_general" in [node.op for node in stages["primitives"].nodes]
    assert all(node.instruction for node in stages["optimised"].nodes)
    assert {"fc.weight", "fc.bias", "x"} <= {node.name for node in stages["optimised"].parameters}


def test_an_unknown_stage_is_refused():
    with pytest.raises(ValueError, match="'fancy'"):
        stages_of(program_of(Net(), X), "Net", ("fancy",))


def test_save_graphs_writes_text_and_dot_of_each_stage(tmp_path):
    context.set_context(mode=context.GRAPH_MODE, save_graphs=True, save_graphs_path=str(tmp_path))
    try:
        Net()(X)
    finally:
        context.set_context(save_graphs=False, mode=context.PYNATIVE_MODE)
    names = sorted(name.partition("_")[2] for name in os.listdir(tmp_path))
    assert names == ["Net_optimised.dot", "Net_optimised.ir", "Net_traced.dot", "Net_traced.ir"]
    traced = next(name for name in os.listdir(tmp_path) if name.endswith("traced.ir"))
    assert "MatMul" in (tmp_path / traced).read_text()


class LeNet(nn.Cell):
    """Two convolutions with pooling, which XLA calls as loops and fusions of its own, and a Dense."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 2, 3), nn.Conv2d(2, 3, 3)
        self.pool, self.relu, self.flatten = nn.MaxPool2d(2, 2), nn.ReLU(), nn.Flatten()
        self.head = nn.Dense(12, 4)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        return self.head(self.flatten(self.pool(self.relu(self.conv2(x)))))


class While(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(3, 3)

    def construct(self, x):
        i = 0
        while ops.cast(x.sum(), ms.int32) > i and i < 3:
            x, i = self.layer(x) + 10, i + 1
        return x


class Attention(nn.Cell):
    """A block of a Transformer, with Dropout."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = nn.Dense(4, 4), nn.Dense(4, 4), nn.Dense(4, 4)
        self.norm, self.drop, self.softmax = nn.LayerNorm((4,)), nn.Dropout(), nn.Softmax()

    def construct(self, x):
        scores = ops.matmul(self.query(x), self.key(x).T)
        return self.norm(x + self.drop(ops.matmul(self.softmax(scores), self.value(x))))


def floats(*shape):
    return Tensor(np.random.default_rng(0).standard_normal(shape).astype(np.float32))


DRAWN = {"LeNet": (LeNet, (2, 1, 8, 8)), "while": (While, (2, 3)), "Attention": (Attention, (5, 4))}


@pytest.mark.parametrize("network", DRAWN)
def test_every_stage_of_a_training_is_written_and_its_edges_join_what_is_drawn(network, tmp_path, capfd):
    kind, shape = DRAWN[network]
    net = kind()
    step = nn.TrainOneStepCell(net, nn.Momentum(net.trainable_params(), 0.1, 0.9)) if network != "while" else net
    context.set_context(mode=context.GRAPH_MODE, save_graphs=True, save_graphs_path=str(tmp_path))
    try:
        step.set_train(network != "while")(floats(*shape))
    finally:
        context.set_context(save_graphs=False)
    stages = {file.stem.rpartition("_")[2] for file in tmp_path.iterdir()}
    assert stages == {"traced" if network == "while" else "differentiated", "optimised"}
    assert "not written" not in capfd.readouterr().err
    for file in tmp_path.glob("*.dot"):
        text = file.read_text(encoding="utf-8")
        drawn = re.findall(r"^ *(\w+) \[", text, re.MULTILINE)
        assert len(drawn) == len(set(drawn)), "two nodes have one name"
        ends = {end for edge in re.findall(r"^ *(\w+) -> (\w+);", text, re.MULTILINE) for end in edge}
        assert ends and ends <= set(drawn), ends - set(drawn)
        assert text.count("{") == text.count("}")


def test_a_folder_that_cannot_be_written_does_not_stop_the_network(tmp_path, capfd):
    save.install()
    blocked = tmp_path / "file"
    blocked.write_text("")
    context.set_context(mode=context.GRAPH_MODE)
    program = program_of(Net(), X)
    with pytest.raises(OSError):
        save.save(program, str(blocked))
    context.set_context(mode=context.PYNATIVE_MODE)
