"""Small networks that go to MINDIR and back, written once for msnb under its alias and for MindSpore itself.

`NETWORKS` has name -> (function that makes the network, inputs as numpy arrays).
"""

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal


class LeNet(nn.Cell):
    """Convolutions, pooling and Dense layers."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 2, 5, pad_mode="valid"), nn.Conv2d(2, 3, 3, has_bias=True)
        self.fc1, self.fc2 = nn.Dense(27, 8), nn.Dense(8, 4, activation="relu")
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        return self.fc2(self.relu(self.fc1(self.flatten(self.pool(self.relu(self.conv2(x)))))))


class Residual(nn.Cell):
    """A block of ResNet's: normalised convolutions beside a shortcut with a stride."""

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4)
        self.conv2, self.bn2 = nn.Conv2d(4, 6, 3, 2), nn.BatchNorm2d(6)
        self.down = nn.SequentialCell([nn.Conv2d(3, 6, 1, 2), nn.BatchNorm2d(6)])
        self.relu, self.mean = nn.ReLU(), ops.ReduceMean(keep_dims=True)

    def construct(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.mean(self.relu(y + self.down(x)), (2, 3))


class Inverted(nn.Cell):
    """A block of MobileNetV2's: wide, depthwise, narrow."""

    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Conv2d(3, 6, 1), nn.BatchNorm2d(6), nn.ReLU6(),
            nn.Conv2d(6, 6, 3, 1, pad_mode="pad", padding=1, group=6), nn.BatchNorm2d(6), nn.ReLU6(),
            nn.Conv2d(6, 3, 1), nn.BatchNorm2d(3),
        )  # fmt: skip
        self.pool, self.out = nn.AvgPool2d(4), nn.Dense(3, 2)

    def construct(self, x):
        y = self.pool(x + self.layers(x))
        return self.out(ops.reshape(y, (y.shape[0], -1)))


class Attention(nn.Cell):
    """A block of an encoder."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Dense(8, 8) for _ in range(4))
        self.norm, self.softmax = nn.LayerNorm((8,)), nn.Softmax(-1)
        self.wide, self.narrow, self.act = nn.Dense(8, 16), nn.Dense(16, 8), nn.GELU()
        self.across, self.matmul = ops.BatchMatMul(transpose_b=True), ops.BatchMatMul()

    def split(self, x):
        return x.reshape(x.shape[0], x.shape[1], 2, 4).transpose(0, 2, 1, 3)

    def construct(self, x):
        weights = self.softmax(self.across(self.split(self.query(x)), self.split(self.key(x))) * 0.5)
        mixed = self.matmul(weights, self.split(self.value(x))).transpose(0, 2, 1, 3).reshape(x.shape)
        x = self.norm(x + self.out(mixed))
        return x + self.narrow(self.act(self.wide(x)))


class GPT(nn.Cell):
    """Words to logits, with a causal mask: Embedding, Gather, Cast, Select."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 8)
        self.places = ms.Parameter(Tensor(np.linspace(-1, 1, 40).reshape(5, 8).astype(np.float32)), name="places")
        self.block, self.norm, self.head = Attention(), nn.LayerNorm((8,)), nn.Dense(8, 11, has_bias=False)
        self.mask = Tensor(np.tril(np.ones((5, 5), np.float32)))
        self.softmax, self.matmul = nn.Softmax(-1), ops.BatchMatMul(transpose_b=True)

    def construct(self, ids):
        x = self.words(ids) + self.places
        scores = self.matmul(x, x) + (1 - self.mask) * -10000.0
        x = ops.BatchMatMul()(self.softmax(scores), x)
        return self.head(self.norm(self.block(x)))


class UNet(nn.Cell):
    """Down, up and a shortcut: Conv2dTranspose, Concat, interpolation."""

    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv2d(2, 4, 3, 2), nn.Conv2dTranspose(4, 2, 2, 2, pad_mode="valid")
        self.out, self.concat, self.act = nn.Conv2d(4, 1, 1, has_bias=True), ops.Concat(1), nn.Sigmoid()

    def construct(self, x):
        y = self.up(self.act(self.down(x)))
        return self.out(self.concat((x, y)))


class Recurrent(nn.Cell):
    """An LSTM over a sequence, and a class from its last state."""

    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(3, 4, batch_first=True), nn.Dense(4, 2)
        self.start = Tensor(np.zeros((1, 2, 4), np.float32))

    def construct(self, x):
        y, _ = self.lstm(x, (self.start, self.start))
        return self.out(y[:, -1])


class Loop(nn.Cell):
    """A `while` whose rounds depend on an input, and an `if`."""

    def __init__(self):
        super().__init__()
        self.dense, self.total = nn.Dense(3, 3), ops.ReduceSum()

    def construct(self, x, rounds):
        turn = rounds - rounds
        while turn < rounds:
            x = self.dense(x)
            turn = turn + 1
        if self.total(x) > 0:
            x = x + 1
        else:
            x = x * 2
        return x


class Whole(nn.Cell):
    """Whole numbers and truth values."""

    def construct(self, a, b, flag):
        larger = ops.Maximum()(a, b) + a // 2
        odd = ops.LogicalAnd()(ops.Equal()(a, b), flag)
        picked = ops.Select()(odd, a, larger)
        return (
            picked,
            ops.Cast()(ops.LogicalNot()(odd), ms.int32) - b,
            ops.OneHot()(b, 4, Tensor(1.0, ms.float32), Tensor(0.0, ms.float32)),
        )


class Slices(nn.Cell):
    """Pieces of Tensors, and ways to put them together."""

    def construct(self, x):
        a, b = ops.Split(1, 2)(x)
        y = ops.Stack(0)((a, b))
        z = ops.Tile()(ops.ExpandDims()(x[1:, ::2], 0), (2, 1, 1))
        return ops.Squeeze(0)(y[:1]), z, ops.Transpose()(x, (1, 0)), ops.exp(-x) / 3


class Left(nn.Cell):
    """A loop with `return`, `continue` and `break` in it."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 3)

    def construct(self, x, rounds):
        turn = rounds - rounds
        while turn < rounds:
            turn = turn + 1
            if x.sum() > 20.0:
                return x * 10
            if x.sum() > 10.0:
                x = x + 0.5
                continue
            if x.mean() < -50.0:
                break
            x = self.dense(x) + 1
        return x * 3


class Nested(nn.Cell):
    """A loop in a loop, each with a way out."""

    def construct(self, x, rounds):
        turn = rounds - rounds
        while turn < rounds:
            inner = rounds - rounds
            while inner < rounds:
                x = x + 1
                if x.sum() > 25.0:
                    break
                inner = inner + 1
            if x.sum() > 40.0:
                return x
            x = x * 1.5
            turn = turn + 1
        return -x


class Layers(nn.Cell):
    """One of several Cells, as inputs say."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(3, 3), nn.Dense(3, 3)
        self.dense, self.acts = (self.first, self.second), (nn.ReLU(), nn.Tanh(), nn.Softmax(), nn.Sigmoid())

    def construct(self, x, which, act):
        return self.acts[act](self.dense[which](x))


class Lengths(nn.Cell):
    """Shapes that are computed of the inputs' axes."""

    def __init__(self):
        super().__init__()
        self.conv, self.pool = nn.Conv2d(2, 3, 3, has_bias=True), nn.MaxPool2d(2, 2)

    def construct(self, x, image):
        batch, steps, width = x.shape
        y = ops.transpose(ops.reshape(x, (batch * steps, 2, width // 2)), (0, 2, 1))
        return ops.reshape(y, (batch, steps, width)) + x[:, :1], ops.relu(self.pool(self.conv(image)))


class Classifier(nn.Cell):
    """Convolutions, normalised, with a way around: what a train step differentiates."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.out = nn.Conv2d(1, 2, 3, has_bias=True), nn.BatchNorm2d(2), nn.Dense(8, 3)
        self.tanh, self.pool, self.mean = nn.Tanh(), nn.MaxPool2d(2, 2), nn.AvgPool2d(2, 2)
        self.flatten = nn.Flatten()

    def construct(self, x):
        y = self.tanh(self.norm(self.conv(x)))
        return self.out(self.flatten(self.pool(y) + self.mean(y)))


class Words(nn.Cell):
    """A look-up, scores and a norm."""

    def __init__(self):
        super().__init__()
        self.table, self.norm, self.out = nn.Embedding(7, 4, False, Normal(0.5)), nn.LayerNorm((4,)), nn.Dense(4, 3)
        self.across, self.product = ops.BatchMatMul(transpose_b=True), ops.BatchMatMul()
        self.softmax, self.mean, self.act = nn.Softmax(), ops.ReduceMean(), nn.GELU()

    def construct(self, words):
        x = self.table(words)
        x = self.norm(x + self.product(self.softmax(self.across(x, x) * 0.5), x))
        return self.out(self.mean(self.act(x), 1))


class Counted(nn.Cell):
    """A network that counts how often it was called."""

    def __init__(self):
        super().__init__()
        self.calls = Parameter(Tensor(np.array([2.0], np.float32)), name="calls", requires_grad=False)
        self.dense = nn.Dense(3, 2)

    def construct(self, x):
        y = self.dense(x) * self.calls
        self.calls += 1.0
        return y


def _step(network, optimizer, images):
    """Return a train step of a classifier."""

    def make():
        net = network()
        loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=images, reduction="mean"))
        return nn.TrainOneStepCell(loss, optimizer(net.trainable_params()))

    return make


def _momentum(parameters):
    return nn.Momentum(parameters, nn.exponential_decay_lr(0.2, 0.9, 6, 2, 1), 0.9, weight_decay=0.01)


def _floats(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


NETWORKS = {
    "lenet": (LeNet, [_floats(0, 2, 1, 16, 16)]),
    "residual": (Residual, [_floats(1, 2, 3, 6, 6)]),
    "inverted": (Inverted, [_floats(2, 2, 3, 4, 4)]),
    "attention": (Attention, [_floats(3, 2, 3, 8)]),
    "gpt": (GPT, [np.array([[1, 5, 2, 10, 0], [3, 3, 9, 1, 7]], np.int32)]),
    "unet": (UNet, [_floats(4, 1, 2, 6, 6)]),
    "recurrent": (Recurrent, [_floats(5, 2, 3, 3)]),
    "loop": (Loop, [_floats(6, 2, 3), np.array(2, np.int32)]),
    "whole": (Whole, [np.array([1, -5, 7], np.int32), np.array([1, 2, 3], np.int32), np.array([True, True, False])]),
    "slices": (Slices, [_floats(7, 3, 4)]),
    "left": (Left, [_floats(8, 2, 3), np.array(40, np.int32)]),
    "nested": (Nested, [_floats(9, 2, 3), np.array(5, np.int32)]),
    "layers": (Layers, [_floats(12, 2, 3), np.array(1, np.int32), np.array(2, np.int32)]),
    "lengths": (Lengths, [_floats(10, 3, 2, 4), _floats(11, 2, 2, 6, 4)]),
}
# Those that are written for inputs with axes of any length: name -> shapes.
OPEN = {"lengths": [(None, None, 4), (None, 2, None, 4)]}
# Networks that write Parameters: name -> the same; its losses, or results, differ from call to call.
STEPS = {
    "step_momentum": (_step(Classifier, _momentum, True), [_floats(13, 2, 1, 4, 4), np.array([0, 2], np.int32)]),
    "step_adam": (
        _step(Words, lambda parameters: nn.Adam(parameters, 0.05), False),
        [np.array([[1, 5, 2], [3, 3, 6]], np.int32), np.eye(3, dtype=np.float32)[:2]],
    ),
    "counted": (Counted, [_floats(14, 2, 3)]),
}
