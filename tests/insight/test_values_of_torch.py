"""Values and gradients of every node equal those of PyTorch's hooks on equal weights; see `tests/golden/values`."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from msnb import Tensor, int32, nn, ops
from msnb.insight.debugger import Replay, select_nodes
from msnb.insight.debugger.replay import program_inputs
from msnb.ir.api import of_program
from msnb.notebook.graph import view

FOLDER = Path(__file__).parents[1] / "golden" / "values"
_spec = importlib.util.spec_from_file_location("make_values", FOLDER / "make_values.py")
golden = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(golden)
TOLERANCE = 1e-5  # relative to the largest element
# In float32 the gradient at a convolution of ResNet-18 depends on the order of sums: it is off by 1e-5 to 2.1e-5,
# depending on JAX and the processor.
GRADIENT_TOLERANCE = 3e-5
OPERATORS = {"FusedBatchNormEx": "BatchNorm"}  # names in the golden files
pytestmark = pytest.mark.usefixtures("graph_mode")


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.fc1, self.fc2, self.fc3 = nn.Dense(400, 120), nn.Dense(120, 84), nn.Dense(84, 10)
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()

    def construct(self, x):
        x = self.pool(self.relu(self.conv2(self.pool(self.relu(self.conv1(x))))))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(self.flatten(x))))))


class Residual(nn.Cell):
    def __init__(self, before, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, channels, 3, stride, pad_mode="pad", padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, pad_mode="pad", padding=1)
        self.norm1, self.norm2 = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)
        self.down = None
        if stride == 2:
            self.down = nn.SequentialCell([nn.Conv2d(before, channels, 1, 2), nn.BatchNorm2d(channels)])

    def construct(self, x):
        y = self.norm2(self.conv2(ops.relu(self.norm1(self.conv1(x)))))
        return ops.relu(y + (x if self.down is None else self.down(x)))


class ResNet(nn.Cell):
    def __init__(self, width=8):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, width, 7, 2, pad_mode="pad", padding=3), nn.BatchNorm2d(width)
        before, stages = width, []
        for stage in range(4):
            blocks = []
            for block in range(2):
                blocks.append(Residual(before, width << stage, 2 if stage and not block else 1))
                before = width << stage
            stages.append(nn.SequentialCell(blocks))
        self.stages = nn.SequentialCell(stages)
        self.head = nn.Dense(before, 10)
        self.pool = ops.MaxPool(3, 2, "same")

    def construct(self, x):
        x = self.pool(ops.relu(self.norm(self.conv(x))))
        return self.head(self.stages(x).mean((2, 3)))


class Block(nn.Cell):
    def __init__(self, size, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((size,)), nn.LayerNorm((size,))
        self.query, self.key, self.value, self.out = (nn.Dense(size, size) for _ in range(4))
        self.up, self.down = nn.Dense(size, 4 * size), nn.Dense(4 * size, size)
        self.gelu, self.softmax, self.heads = nn.GELU(), nn.Softmax(), heads
        self.product, self.turned = ops.BatchMatMul(), ops.BatchMatMul(transpose_b=True)

    def construct(self, x):
        batch, length, size = x.shape
        y = self.norm1(x)
        shape = (batch, length, self.heads, size // self.heads)
        q, k, v = (part(y).reshape(shape).transpose((0, 2, 1, 3)) for part in (self.query, self.key, self.value))
        weights = self.softmax(self.turned(q, k) * (self.heads / size) ** 0.5)
        mixed = self.product(weights, v).transpose((0, 2, 1, 3)).reshape(x.shape)
        x = x + self.out(mixed)
        return x + self.down(self.gelu(self.up(self.norm2(x))))


class Transformer(nn.Cell):
    def __init__(self, recomputes=False):
        super().__init__()
        self.blocks = nn.SequentialCell([Block(8, 2) for _ in range(2)])
        if recomputes:
            self.blocks[0].recompute()

    def construct(self, x):
        return self.blocks(x)


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.rx, self.zx, self.nx = (nn.Dense(4, 5, has_bias=False) for _ in range(3))
        self.rh, self.zh, self.nh = (nn.Dense(5, 5, has_bias=False) for _ in range(3))

    def construct(self, x):
        h = ops.zeros((3, 5), x.dtype)
        for _ in range(golden.ROUNDS):
            h = self.one(x, h)
        return h

    def one(self, x, h):
        r = ops.sigmoid(self.rx(x) + self.rh(h))
        z = ops.sigmoid(self.zx(x) + self.zh(h))
        n = ops.tanh(self.nx(x) + r * self.nh(h))
        return z * h + (1 - z) * n


class Looping(Recurrent):
    def construct(self, x, count):
        h = ops.zeros((3, 5), x.dtype)
        while count > 0:
            h = self.one(x, h)
            count = count - 1
        return h


NETWORKS = {
    "lenet": LeNet,
    "resnet": ResNet,
    "transformer": Transformer,
    "recomputed transformer": lambda: Transformer(True),
    "recurrent": Recurrent,
}


def with_weights(net):
    for parameter in net.trainable_params():
        parameter.set_data(Tensor(golden.weight(parameter.name, parameter.shape)))
    return net


def assert_close(value, expected, what, least=1e-3, tolerance=TOLERANCE):
    value = golden.some(np.asarray(value))
    assert value.shape == expected.shape, what
    assert np.abs(value - expected).max() <= tolerance * max(np.abs(expected).max(), least), what


def replayed_step(name):
    """Return (replay of one training step, golden values)."""
    key = name.split()[-1]
    _, shape, result = golden.NETWORKS[key]
    net = with_weights(NETWORKS[name]())
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.5)).set_train()
    inputs = Tensor(golden.array("x", shape)), Tensor(golden.array("target", result))
    program, arrays = program_inputs(step, *inputs)
    return Replay(program, of_program(program, name), arrays), np.load(FOLDER / f"{key}.npz")


@pytest.mark.parametrize("name", NETWORKS)
def test_every_node_with_a_counterpart_in_torch_has_its_value_and_gradient(name):
    replay, stored = replayed_step(name)
    nodes = {}
    for node in replay.graph.all_nodes():
        if node.direction == "forward" and "_loss_fn" not in node.scope:
            nodes.setdefault(OPERATORS.get(node.op, node.op), []).append(node)
    compared = without_gradient = 0
    for key in (key.removeprefix("value ") for key in stored.files if key.startswith("value ")):
        op, number = key.split("/")
        if name == "recurrent" and op == "Add":
            continue  # sums of gates are Adds, too; the test of rounds compares the states
        node = nodes[op][int(number)]
        assert_close(replay.output(node), stored[f"value {key}"], key)
        gradient = replay.gradient(node)
        compared += 1
        if gradient is None:
            without_gradient += 1
        else:
            assert_close(gradient, stored[f"gradient {key}"], f"gradient of {key}", tolerance=GRADIENT_TOLERANCE)
    assert_close(replay.results[0], golden.some(stored["loss"]), "loss")
    counts = {op: sum(f.startswith(f"value {op}/") for f in stored.files) for op in nodes}
    assert all(len(nodes[op]) == count for op, count in counts.items() if count and name != "recurrent")
    assert without_gradient <= compared // 2, f"{without_gradient} of {compared} nodes have no gradient"


@pytest.mark.parametrize("name", ["lenet", "recomputed transformer"])
def test_updates_are_those_of_torch_gradients(name):
    replay, stored = replayed_step(name)
    weights = {}
    for node in replay.graph.all_nodes():
        weights |= {key: (old, new) for key, old, new in replay.weights(node) if new is not None}
    for key in (key.removeprefix("weight ") for key in stored.files if key.startswith("weight ")):
        old, new = weights[key]
        assert_close((np.asarray(old) - np.asarray(new)) / 0.5, stored[f"weight {key}"], key, 0.05)


def test_rounds_of_a_while_loop_have_the_values_of_torch_steps():
    net = with_weights(Looping())
    shown = view(net, Tensor(golden.array("x", (3, 4))), Tensor(golden.ROUNDS, int32), values=True)
    stored = np.load(FOLDER / "recurrent.npz")
    first, second = select_nodes(shown.graph, "op:Sigmoid")
    (tanh,), state = select_nodes(shown.graph, "op:Tanh"), select_nodes(shown.graph, "op:Add")[-1]
    for number in range(golden.ROUNDS):
        assert_close(shown.value(first, round=number).asnumpy(), stored[f"value Sigmoid/{2 * number}"], number)
        assert_close(shown.value(second, round=number).asnumpy(), stored[f"value Sigmoid/{2 * number + 1}"], number)
        assert_close(shown.value(tanh, round=number).asnumpy(), stored[f"value Tanh/{number}"], number)
        assert_close(shown.value(state, round=number).asnumpy(), stored[f"value Add/{number}"], number)
