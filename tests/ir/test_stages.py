"""The stages of a program, from the traced operators to StableHLO, and what became of a node from one to the next."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, ir, nn, ops
from msnb.core.program.program_cache import program_of
from msnb.ir.compare import compare
from msnb.ir.stages import STAGES, Stages

X, LABELS = Tensor(np.ones((5, 3), np.float32)), Tensor(np.zeros(5, np.int32))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.act, self.second = nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2)

    def construct(self, x):
        return self.second(self.act(self.first(x)))


@pytest.fixture(scope="module")
def step():
    net = Net()
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    train_step = nn.TrainOneStepCell(loss, nn.Momentum(net.trainable_params(), 0.1, 0.9)).set_train()
    return Stages(program_of(train_step, X, LABELS), "Step")


@pytest.mark.parametrize("stage", ["StableHLO", "optimised"])
def test_the_error_of_the_previous_step_has_a_name(step, stage):
    names = [node.name for node in step[stage].parameters]
    assert "earlier error" in names and not any("rest" in name for name in names)


def ops_of(graph, direction=None):
    return [node.op for node in graph.all_nodes() if direction in (None, node.direction)]


def test_a_program_without_a_gradient_is_not_differentiated():
    stages = Stages(program_of(Net(), X), "Net")
    assert stages.offered == tuple(stage for stage in STAGES if stage != "differentiated") and stages.main == "traced"
    with pytest.raises(ValueError, match="takes no gradient"):
        stages["differentiated"]


def test_traced_is_the_forward_program_of_what_is_differentiated(step):
    assert step.offered == STAGES and step.main == "differentiated"
    traced, differentiated = step["traced"], step["differentiated"]
    assert ops_of(traced) == ops_of(differentiated, "forward") and set(ops_of(differentiated, "update")) == {
        "ApplyMomentum"
    }
    assert all(node.direction == "forward" for node in traced.all_nodes())
    relu = [next(node for node in graph.all_nodes() if node.op == "ReLU") for graph in (traced, differentiated)]
    assert len(relu[0].types) == 1 < len(relu[1].types), "what its gradient needs is not part of it"
    assert [node.name for node in traced.parameters if node.is_weight] == [
        "first.weight",
        "first.bias",
        "second.weight",
        "second.bias",
    ]
    (loss,) = traced.outputs
    assert "CheckLabels" in ops_of(traced), "whether a label is no class is no result, but looked at all the same"
    assert loss[0].op == "SparseSoftmaxCrossEntropyWithLogits" and traced.written == 0 and differentiated.written == 8


def test_differentiating_only_adds(step):
    counts = compare(step["traced"], step["differentiated"]).counts()
    assert counts == {"same": 7, "changed": 0, "fused": 0, "removed": 0, "added": 10}


def test_every_operator_is_identified_in_stablehlo_and_every_operation_of_the_graph_belongs_to_one(step):
    lowered = step["StableHLO"]
    counts = compare(step["differentiated"], lowered).counts()
    guard = counts.pop("added")  # the test that neither this step nor an earlier one has an error
    assert counts == {"same": 17, "changed": 0, "fused": 0, "removed": 0}
    assert guard == 7 and ops_of(lowered).count("select") > step["differentiated"].written  # chosen within the update
    dots = [node for node in lowered.all_nodes() if node.op == "dot_general"]
    assert len(dots) == 5 and all(node.scope.endswith("-Dense/MatMul") for node in dots)
    assert dots[0].flops == 2 * 5 * 3 * 4 and dots[0].types[0].shape == (5, 4)
    assert {"first.weight", "data"} <= {node.name for node in lowered.parameters}
    assert lowered.outputs[0][0].types[0].shape == () and lowered.written == 8


def test_primitives_and_stablehlo_are_matched_by_the_primitive_that_each_operation_came_from(step):
    primitives, lowered = step["primitives"], step["StableHLO"]
    result = compare(primitives, lowered)
    counts = result.counts()
    assert counts["same"] > 0.8 * len(primitives) and counts["removed"] < 0.1 * len(primitives)
    old, new = list(primitives.all_nodes()), list(lowered.all_nodes())
    assert {("neg", "negate"), ("mul", "multiply")} <= {(old[a].op, new[b].op) for a, b in result.links}


def test_loops_and_branches_keep_their_bodies_in_stablehlo():
    @ms.ms_function
    def program(x, n):
        i = 0
        while i < n:
            x = ops.Tanh()(x)
            i = i + 1
        if x.sum() > 0:
            x = x * 2
        return x

    lowered = Stages(program_of(program, X, Tensor(np.int32(3))), "program")["StableHLO"]
    loop = next(node for node in lowered.nodes if node.op == "While")
    assert [graph.name for graph in loop.graphs] == ["condition", "body"]
    assert "tanh" in ops_of(loop.graphs[1]) and any(node.op == "Switch" for node in lowered.nodes)
    assert "tanh" in ir.text(lowered) and ir.svg(lowered).startswith("<svg")


def test_a_module_without_main_is_refused():
    class Module:
        class body:
            operations = ()

    with pytest.raises(ValueError, match="'main'"):
        ir.read_stablehlo(Module)


def test_only_a_stage_that_has_to_be_compiled_first_takes_a_while():
    net = Net()
    stages = Stages(program_of(net, X), "Net")
    assert 0 < stages.wait("optimised") and stages.wait("traced") is None and stages.wait("StableHLO") is None
    stages["optimised"]
    assert stages.wait("optimised") is None
    assert Stages(program_of(Net(), X), "Net").wait("optimised") is not None
    net = Net()
    net.compile_and_run(X)
    assert Stages(program_of(net, X), "Net").wait("optimised") is None
