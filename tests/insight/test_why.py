"""`why`: the reason for the gradient of a Parameter, in sentences that the numbers decide."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb.insight.debugger import select_nodes
from msnb.insight.debugger.replay import Replay, program_inputs
from msnb.insight.debugger.why import cause_of
from msnb.ir.api import of_program

RNG = np.random.default_rng(0)
X = Tensor(RNG.standard_normal((4, 8)).astype(np.float32))
Y = Tensor(np.ones((4, 2), np.float32))
pytestmark = pytest.mark.usefixtures("graph_mode")


def dense(inputs, outputs):
    rng = np.random.default_rng(inputs + outputs)
    return nn.Dense(
        inputs, outputs, weight_init=Tensor(rng.standard_normal((outputs, inputs)).astype(np.float32) * 0.4)
    )


class Net(nn.Cell):
    def __init__(self, middle=None, depth=2, activation=None):
        super().__init__()
        self.layers = nn.CellList([dense(8, 8) for _ in range(depth)])
        self.head, self.unused = dense(8, 2), dense(2, 2)
        self.middle, self.activation = middle, activation or ops.Tanh()

    def construct(self, x):
        for layer in self.layers:
            x = self.activation(layer(x))
        if self.middle is not None:
            x = self.middle(x)
        return self.head(x)


def loss_of(net):
    return nn.WithLossCell(net, nn.MSELoss())


def why_first_weight(middle, **options):
    net = Net(middle, **options)
    return ms.why(net.layers[0].weight, loss_of(net), X, Y)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_the_factors_multiply_to_the_norm_of_the_gradient(mode):
    context.set_context(mode=mode)
    net = Net()
    loss = loss_of(net)
    answer = ms.why(net.layers[0].weight, loss, X, Y)
    gradient = ops.GradOperation(get_by_list=True)(loss, [net.layers[0].weight])(X, Y)[0].asnumpy()
    np.testing.assert_allclose(answer.norm, np.linalg.norm(gradient), rtol=1e-5)
    np.testing.assert_allclose(math.prod(p.factor for p in answer.path), answer.norm, rtol=1e-5)
    assert [p.node.op for p in answer.path] == [
        "MSELossExt", "BiasAdd", "MatMul", "Tanh", "BiasAdd", "MatMul", "Tanh", "BiasAdd", "MatMul",
    ]  # fmt: skip
    assert not answer.reasons and str(answer).startswith("The gradient of layers.0.weight has norm ")


@pytest.mark.parametrize(
    ("middle", "kind", "operator", "words"),
    [
        (lambda x: ops.stop_gradient(x), "cut", "StopGradient", "derivative is zero whatever the values are"),
        (lambda x: ops.Round()(x), "cut", "Round", "derivative is zero whatever the values are"),
        (lambda x: ops.cast(ops.cast(x, ms.int32), ms.float32), "cut", "Cast", "its result is int32"),
        (lambda x: ops.relu(x - 100), "dead", "ReLU", "passes nothing: 100 % of its outputs are flat"),
        (lambda x: x * 0, "zero", "Mul", "its other operand is the constant 0"),
        (lambda x: ops.log(x * 0), "nonfinite", "Log", "32 of 32 elements equal to 0"),
        (lambda x: ops.sqrt(x * 0), "nonfinite", "Sqrt", "makes the first gradient that is not finite"),
        (lambda x: x / (x - x), "nonfinite", None, "divisor has 32 of 32 elements equal to 0"),
        (lambda x: ops.Sigmoid()(x * 1000), "saturated", "Sigmoid", "of its outputs lie at its ends"),
        (lambda x: ops.Softmax()(x * 1e4), "saturated", "Softmax", "one probability exceeds 0.999"),
    ],
)
def test_the_cause_is_named_with_its_line(middle, kind, operator, words):
    answer = why_first_weight(middle)
    reason = answer.reasons[0]
    assert reason.kind == kind and words in reason.text, answer
    assert operator is None or reason.node.op == operator
    assert "(test_why.py:" in reason.text and reason.text in answer.text


def test_weights_of_zero_pass_nothing():
    net = Net()
    net.head.weight.set_data(Tensor(np.zeros((2, 8), np.float32)))
    answer = ms.why(net.layers[0].weight, loss_of(net), X, Y)
    assert answer.norm == 0 and [reason.kind for reason in answer.reasons] == ["zero"]
    assert "head.weight, its other operand, is zero everywhere" in answer.text


def test_small_factors_are_counted_by_operator():
    answer = why_first_weight(None, depth=8, activation=ops.Sigmoid())
    texts = [reason.text for reason in answer.reasons if reason.kind == "small"]
    (sigmoids,) = [text for text in texts if "8 Sigmoid on the path multiply" in text]
    product = math.prod(p.factor for p in answer.path if p.node.op == "Sigmoid")
    assert f"multiply the gradient by {product:.2g} in all" in sigmoids


def test_a_healthy_gradient_has_no_reason():
    assert not why_first_weight(None).reasons


def test_a_branch_that_passes_is_followed():
    answer = why_first_weight(lambda x: ops.stop_gradient(x) + 2 * x)
    assert answer.norm > 0 and "StopGradient" not in [p.node.op for p in answer.path]
    assert not [reason for reason in answer.reasons if reason.kind == "cut"]


def test_a_loss_that_checks_its_labels():
    net = Net()
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    labels = Tensor(np.array([0, 1, 1, 0], np.int32))
    answer = ms.why(net.head.bias, loss, X, labels)
    gradient = ops.GradOperation(get_by_list=True)(loss, [net.head.bias])(X, labels)[0].asnumpy()
    np.testing.assert_allclose(answer.norm, np.linalg.norm(gradient), rtol=1e-5)


def test_a_loop_is_one_node_of_the_path():
    class Loop(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layer = dense(8, 8)

        def construct(self, x, n):
            while n > 0:
                x = ops.tanh(self.layer(x))
                n = n - 1
            return x.sum()

    net = Loop()
    answer = ms.why(net.layer.weight, net, X, Tensor(3, ms.int32))
    gradient = ops.GradOperation(get_by_list=True)(net, [net.layer.weight])(X, Tensor(3, ms.int32))[0].asnumpy()
    np.testing.assert_allclose(answer.norm, np.linalg.norm(gradient), rtol=1e-5)
    assert [p.node.op for p in answer.path] == ["ReduceSum", "While"]


def test_a_parameter_that_nothing_reads():
    net = Net()
    answer = ms.why(net.unused.weight, loss_of(net), X, Y)
    assert answer.reasons[0].kind == "unread" and "unused.weight is not read" in answer.text


def test_a_value_that_does_not_reach_the_loss():
    class Side(nn.Cell):
        def __init__(self):
            super().__init__()
            self.main, self.side = dense(8, 2), dense(8, 2)

        def construct(self, x, y):
            side = ops.tanh(self.side(x))
            return ops.square(self.main(x) - y).mean(), side

    net = Side()
    answer = ms.why(net.side.weight, net, X, Y)
    assert "does not depend on side.weight: what is computed from it ends at Tanh (test_why.py:" in answer.text


def test_a_frozen_parameter_is_said():
    net = Net()
    net.layers[0].weight.requires_grad = False
    answer = ms.why(net.layers[0].weight, loss_of(net), X, Y)
    assert answer.reasons[0].kind == "frozen" and answer.norm > 0


def test_the_gradient_of_a_node():
    net = Net()
    answer = ms.why("op:Tanh", loss_of(net), X, Y)

    def loss_of_activation(value):
        hidden = ops.tanh(net.layers[1](value))
        return nn.MSELoss()(net.head(hidden), Y)

    hidden = ops.tanh(net.layers[0](X))
    gradient = ops.GradOperation()(loss_of_activation)(hidden).asnumpy()
    np.testing.assert_allclose(answer.norm, np.linalg.norm(gradient), rtol=1e-5)
    assert [p.node.op for p in answer.path] == ["MSELossExt", "BiasAdd", "MatMul", "Tanh", "BiasAdd", "MatMul"]
    assert "The gradient of Tanh" in answer.text and "2 nodes match 'op:Tanh'; this is the first" in answer.text
    node = answer.view().graph.nodes[0]
    assert ms.why(node, loss_of(net), X, Y).explanation.target.startswith("layers.0/MatMul")


def test_a_node_whose_gradient_is_cut_names_the_cause():
    net = Net(lambda x: ops.stop_gradient(x))
    answer = ms.why("op:Tanh", loss_of(net), X, Y)
    assert answer.norm == 0 and answer.reasons[0].kind == "cut" and answer.reasons[0].node.op == "StopGradient"


class Recurrent(nn.Cell):
    def __init__(self, scale=0.5):
        super().__init__()
        self.weight = ms.Parameter(Tensor(np.array([[scale, 0.1], [-0.2, scale]], np.float32)), name="weight")
        self.tanh = ops.Tanh()

    def construct(self, x, n):
        h = x
        while n > 0:
            h = self.tanh(ops.matmul(h, self.weight))
            n = n - 1
        return (h * h).sum()


def unrolled_gradients(weight, x, n):
    """Return (gradient of each state after its round, contribution of each round to the gradient of the weight)."""
    states = [x]
    for _ in range(n):
        states.append(np.tanh(states[-1] @ weight))
    gradient, after, parts = 2 * states[-1], [], []
    for before, state in zip(reversed(states[:-1]), reversed(states[1:]), strict=True):
        after.append(gradient)
        inner = gradient * (1 - state**2)
        parts.append(before.T @ inner)
        gradient = inner @ weight.T
    return after[::-1], parts[::-1]


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_a_loop_has_the_gradients_of_its_rounds(mode):
    context.set_context(mode=mode)
    net, x = Recurrent(), RNG.standard_normal((3, 2)).astype(np.float32)
    answer = ms.why(net.weight, net, Tensor(x), Tensor(4, ms.int32))
    (rounds,) = answer.rounds
    after, parts = unrolled_gradients(net.weight.asnumpy(), x, 4)
    assert (rounds.variables, rounds.source) == (("h",), "weight")
    np.testing.assert_allclose([norm for (norm,) in rounds.after], list(map(np.linalg.norm, after)), rtol=1e-4)
    np.testing.assert_allclose(rounds.contributions, list(map(np.linalg.norm, parts)), rtol=1e-4)
    np.testing.assert_allclose(answer.norm, np.linalg.norm(sum(parts)), rtol=1e-4)
    lines = rounds.table().splitlines()
    assert lines[0].startswith("while(h, n)") and lines[1].split() == ["round", "h", "weight"]
    assert [line.split()[0] for line in lines[2:]] == ["3", "2", "1", "0"] and rounds.table() in str(answer)


def test_the_middle_of_many_rounds_is_left_out_of_the_text():
    net = Recurrent()
    (rounds,) = ms.why(net.weight, net, Tensor(X.asnumpy()[:, :2]), Tensor(50, ms.int32)).rounds
    assert len(rounds.after) == 50 and rounds.after[0] < rounds.after[-1]
    numbers = [line.split()[0] for line in rounds.table().splitlines()[2:]]
    assert numbers == ["49", "48", "47", "46", "45", "…", "4", "3", "2", "1", "0"]


def test_a_loop_of_too_many_rounds_stays_one_node(monkeypatch):
    monkeypatch.setattr("msnb.insight.debugger.loop_rounds._MAX_ROUNDS", 3)
    net = Recurrent()
    answer = ms.why(net.weight, net, Tensor(X.asnumpy()[:, :2]), Tensor(4, ms.int32))
    assert not answer.rounds and "While" in answer.text


def test_a_node_inside_a_loop_names_the_loop():
    def loss(x, n):
        while n > 0:
            x = ops.tanh(x)
            n = n - 1
        return x.sum()

    three = Tensor(3, ms.int32)
    assert [p.node.op for p in ms.why("op:While", loss, X, three).path] == ["ReduceSum"]
    with pytest.raises(ValueError, match="Tanh .* is inside a loop or a branch"):
        ms.why("op:Tanh", loss, X, three)


def test_a_node_of_a_step_of_a_timeline():
    net = Net()
    step = nn.TrainOneStepCell(loss_of(net), nn.SGD(net.trainable_params(), 0.1)).set_train()
    with ms.timeline(net) as recorded:
        for _ in range(2):
            step(X, Y)
    norms = [recorded.why("op:Tanh", number).norm for number in recorded.steps]
    assert norms[0] != norms[1] and ms.why("op:Tanh", step=1).norm == norms[0]


def test_a_step_of_a_timeline():
    net = Net(lambda x: ops.stop_gradient(x))
    step = nn.TrainOneStepCell(loss_of(net), nn.SGD(net.trainable_params(), 0.1)).set_train()
    with ms.timeline(net) as recorded:
        for _ in range(3):
            step(X, Y)
    head = [recorded.why("head.weight", number).norm for number in recorded.steps]
    assert head[0] > head[1] > head[2] > 0
    answer = ms.why(net.layers[0].weight, step=2)
    assert answer.norm == 0 and answer.reasons[0].node.op == "StopGradient"
    np.testing.assert_allclose(answer.explanation.loss, recorded.losses()[2], rtol=1e-6)


def test_a_step_with_dropout_uses_its_random_number():
    net = nn.SequentialCell([dense(8, 8), nn.Dropout(0.5), dense(8, 2)])
    step = nn.TrainOneStepCell(loss_of(net), nn.SGD(net.trainable_params(), 0.1)).set_train()
    with ms.timeline(net) as recorded:
        for _ in range(2):
            step(X, Y)
    for number in recorded.steps:
        assert recorded.why(net[0].weight, number).explanation.loss == pytest.approx(
            recorded.losses()[number], rel=1e-5
        )


def test_a_step_whose_network_is_not_known():
    net = Net()
    optimizer, loss = nn.SGD(net.trainable_params(), 0.1), loss_of(net)
    gradient = ms.ms_function(lambda x, y: ops.GradOperation(get_by_list=True)(loss, net.trainable_params())(x, y))
    with ms.timeline(net) as recorded:
        optimizer(gradient(X, Y))
    with pytest.raises(ValueError, match=r"can't be traced alone: .* msnb.why\(parameter, loss_net, x, y\)"):
        recorded.why(net.head.weight)


@pytest.mark.parametrize("factor", [1.0, np.nan])  # also where a gradient is no number
def test_the_path_is_marked_on_the_graph(factor):
    net = Net()
    answer = ms.why(net.layers[0].weight, loss_of(net), X * factor, Y)
    graph_view = answer.view()
    values = graph_view.columns["path"]["values"]
    marked = [node.id for node, value in zip(graph_view.graph.all_nodes(), values, strict=True) if value is not None]
    assert sorted(marked) == sorted(p.node.id for p in answer.path) and graph_view.colour == "path"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda net: ms.why("layers.0.wait", loss_of(net), X, Y), ValueError, "Similar ones: .*layers.0.weight"),
        (lambda net: ms.why(3.5, loss_of(net), X, Y), TypeError, "'target' should be a Parameter, its name, or a node"),
        (lambda net: ms.why("op:ReLU", loss_of(net), X, Y), ValueError, "No node of the graph matches 'op:ReLU'"),
        (lambda net: ms.why(net.head.weight, net, X), ValueError, r"should return a scalar loss, .* shape \(4, 2\)"),
        (lambda net: ms.why(net.head.weight, 3, X), TypeError, "'loss_net' should be a Cell or function"),
        (lambda net: ms.why(Net().head.weight, loss_of(net), X, Y), ValueError, "is no Parameter of WithLossCell"),
        (lambda net: ms.why(net.head.weight), ValueError, r"or record the training in msnb.timeline\(net\) first"),
        (lambda net: ms.why(net.head.weight, loss_of(net), X, Y, step=1), ValueError, "select a recorded step"),
    ],
)
def test_wrong_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(Net())


# ---------------------------------------------------------------------- hits
def replay_of(function):
    program, inputs = program_inputs(function, X)
    return Replay(program, of_program(program, program.name), inputs)


def test_the_cause_of_a_hit_is_the_first_value_that_is_not_finite():
    replay = replay_of(lambda x: ops.tanh(ops.exp(ops.log(x - x) * 2) + ops.log(ops.relu(x) - 1) * 3))
    (hit_node,) = select_nodes(replay.graph, "op:Tanh")
    path = cause_of(SimpleNamespace(node=hit_node), replay)
    assert path[-1] is hit_node and path[0].op == "Log" and [node.op for node in path][1] == "Mul"


def test_the_cause_of_a_limit_is_the_first_value_over_it():
    replay = replay_of(lambda x: ops.exp(x) * 1000 + 1)
    (hit_node,) = select_nodes(replay.graph, "op:Add")
    hit = SimpleNamespace(node=hit_node, parameter="max_gt", preset=500.0, actual=3000.0)
    assert [node.op for node in cause_of(hit, replay)] == ["Mul", "Add"]


def test_the_cause_of_a_bad_weight_is_traced_through_its_update():
    net = Net(lambda x: ops.log(x * 0))
    step = nn.TrainOneStepCell(loss_of(net), nn.SGD(net.trainable_params(), 0.1)).set_train()
    program, inputs = program_inputs(step, X, Y)
    replay = Replay(program, of_program(program, program.name), inputs)
    for kind in ("weight", "gradient"):
        path = cause_of(SimpleNamespace(node=None, name="head.weight", kind=kind), replay)
        assert path[0].op == "Log", (kind, path)
    (healthy,) = cause_of(SimpleNamespace(node=None, name="unused.weight", kind="weight"), replay)
    assert healthy.op == "SGD"
    assert cause_of(SimpleNamespace(node=None, name="none", kind="weight"), replay) == []
