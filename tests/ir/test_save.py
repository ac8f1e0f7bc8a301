import os

import numpy as np
import pytest

from msnb import Tensor, context, ir, nn
from msnb.core.compile import program_of
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
    made = stages_of(program_of(Net(), X), "Net")
    assert [node.op for node in made["traced"].nodes][:1] == ["MatMul"]
    assert "dot_general" in [node.op for node in made["primitives"].nodes]
    assert all(node.instruction for node in made["optimised"].nodes)
    assert {"fc.weight", "fc.bias", "x"} <= {node.name for node in made["optimised"].parameters}


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


def test_a_folder_that_cannot_be_written_does_not_stop_the_network(tmp_path, capfd):
    save.install()
    blocked = tmp_path / "file"
    blocked.write_text("")
    context.set_context(mode=context.GRAPH_MODE)
    program = program_of(Net(), X)
    with pytest.raises(OSError):
        save.save(program, str(blocked))
    context.set_context(mode=context.PYNATIVE_MODE)
