"""Networks for the export as Python source, and their inputs."""

import numpy as np

import msnb as ms
from msnb import Parameter, Tensor, nn, ops


def randoms(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


class LeNet(nn.Cell):
    """Sequential layers with a shared activation and a shared pooling."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()
        self.fc1, self.fc2, self.fc3 = nn.Dense(64, 12), nn.Dense(12, 8), nn.Dense(8, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.conv2(self.pool(self.relu(self.conv1(x))))))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(self.flatten(x))))))


class Block(nn.Cell):
    """A residual block."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, outputs, 3, stride=stride), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = nn.Conv2d(outputs, outputs, 3), nn.BatchNorm2d(outputs)
        self.relu, self.down = nn.ReLU(), None
        if stride != 1 or inputs != outputs:
            self.down = nn.SequentialCell([nn.Conv2d(inputs, outputs, 1, stride=stride), nn.BatchNorm2d(outputs)])

    def construct(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        if self.down is not None:
            x = self.down(x)
        return self.relu(x + y)


class Residual(nn.Cell):
    """Blocks in a SequentialCell and in a CellList, with and without a projection."""

    def __init__(self):
        super().__init__()
        self.stem, self.norm, self.relu = nn.Conv2d(3, 4, 7, stride=2), nn.BatchNorm2d(4), nn.ReLU()
        self.pool = nn.MaxPool2d(3, 2, pad_mode="same")
        self.layer1 = nn.SequentialCell([Block(4, 4, 1), Block(4, 4, 1)])
        self.blocks = nn.CellList([Block(4, 8, 2), Block(8, 8, 1), Block(8, 16, 2)])
        self.mean, self.fc = ops.ReduceMean(), nn.Dense(16, 5)

    def construct(self, x):
        x = self.layer1(self.pool(self.relu(self.norm(self.stem(x)))))
        for block in self.blocks:
            x = block(x)
        return self.fc(self.mean(x, (2, 3)))


class Mobile(nn.Cell):
    """Depthwise convolutions, and squeeze and excitation."""

    def __init__(self):
        super().__init__()
        self.wide, self.deep = nn.Conv2d(3, 6, 1), nn.Conv2d(6, 6, 3, pad_mode="pad", padding=1, group=6)
        self.act, self.gate = nn.ReLU6(), nn.HSigmoid()
        self.squeeze, self.spread = nn.Conv2d(6, 2, 1, has_bias=True), nn.Conv2d(2, 6, 1, has_bias=True)
        self.pool = nn.AvgPool2d(4, 4)

    def construct(self, x):
        x = self.act(self.deep(self.act(self.wide(x))))
        weight = self.gate(self.spread(ops.relu(self.squeeze(ops.ReduceMean(True)(x, (2, 3))))))
        return self.pool(x * weight)


class Attention(nn.Cell):
    """Multi-head attention with a constant mask."""

    def __init__(self, width=8, heads=2, length=5):
        super().__init__()
        self.query, self.key, self.value = nn.Dense(width, width), nn.Dense(width, width), nn.Dense(width, width)
        self.out, self.softmax, self.heads = nn.Dense(width, width), nn.Softmax(-1), heads
        self.scores, self.mixed = ops.BatchMatMul(transpose_b=True), ops.BatchMatMul()
        self.mask = Tensor(np.triu(np.full((length, length), -1e4, np.float32), 1))

    def split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.heads, -1).transpose(0, 2, 1, 3)

    def construct(self, x):
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        weights = self.softmax(self.scores(query, key) * 0.5 + self.mask)
        return self.out(self.mixed(weights, value).transpose(0, 2, 1, 3).reshape(x.shape))


class Transformer(nn.Cell):
    """Attention blocks with word and position embeddings; the output shares the word embedding."""

    def __init__(self):
        super().__init__()
        self.words = Parameter(Tensor(randoms(11, 8)), name="words")
        self.places = Parameter(Tensor(randoms(5, 8)), name="places", requires_grad=False)
        self.attention = nn.CellList([Attention(), Attention()])
        self.norm = nn.CellList([nn.LayerNorm((8,)), nn.LayerNorm((8,))])
        self.up, self.down, self.act = nn.Dense(8, 16), nn.Dense(16, 8), nn.GELU()
        self.gather, self.matmul = ops.Gather(), ops.MatMul(transpose_b=True)

    def construct(self, ids):
        x = self.gather(self.words, ids, 0) + self.places
        for attention, norm in zip(self.attention, self.norm):
            x = norm(x + attention(x))
        x = x + self.down(self.act(self.up(x)))
        return self.matmul(x.reshape(-1, 8), self.words)


class Recurrent(nn.Cell):
    """An LSTM and its last step."""

    def __init__(self):
        super().__init__()
        self.table, self.lstm = nn.Embedding(10, 4), nn.LSTM(4, 5, batch_first=True)
        self.norm, self.out = nn.LayerNorm((5,)), nn.Dense(5, 3, has_bias=False)

    def construct(self, x):
        start = ops.Zeros()((1, 2, 5), ms.float32)
        y, (h, _) = self.lstm(self.table(x), (start, start))
        return self.out(self.norm(y)[:, -1]), h


class Rounds(nn.Cell):
    """A loop that contains a branch, and a branch after it."""

    def construct(self, x, rounds):
        turn = 0
        while turn < rounds:
            x = x * 2 + 1
            if x.sum() > 100:
                x = x / 3
            turn += 1
        if x.mean() > 0:
            y = x - 1
        else:
            y = ops.exp(x)
        return y, x[1, ::-1]


class Layered(nn.Cell):
    """Layers in a loop and in branches, and variables that are swapped."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(4, 4), nn.Dense(4, 4)

    def construct(self, x, y):
        while ops.reduce_sum(x * x) < 50:
            x, y = self.first(x) + y, x
            x = x * 2
        if ops.reduce_sum(y) > 0:
            x = self.second(x)
        else:
            x, y = y, x
        return x, y


class Halving(nn.Cell):
    """A Cell with a loop."""

    def construct(self, x, turns):
        while turns > 0:
            x, turns = x / 2 + 1, turns - 1
        return x


class Twice(nn.Cell):
    """Two Cells with a loop each."""

    def __init__(self):
        super().__init__()
        self.first, self.second = Halving(), Halving()

    def construct(self, x, turns):
        return self.second(ops.tanh(self.first(x, turns)), turns + 1)


class Decoder(nn.Cell):
    """Downsampling, upsampling and a skip connection; concatenation and slicing."""

    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv2d(2, 4, 3, stride=2, has_bias=True), nn.Conv2dTranspose(4, 2, 2, stride=2)
        self.join, self.last = ops.Concat(1), nn.Conv2d(4, 1, 1, has_bias=True)

    def construct(self, x):
        y = self.up(ops.tanh(self.down(x)))
        y = self.last(self.join((x, y)))
        y[:, :, 0] = 0.5
        return ops.Sigmoid()(y[:, 0, 1:, ::2])


class Shared(nn.Cell):
    """A Cell that is called for two inputs, and a Parameter that two Cells use."""

    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell([nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 2)])
        self.scale = Parameter(Tensor(np.float32(1.5)), name="scale")

    def construct(self, x, y):
        a, b = self.body(x) * self.scale, self.body(y) / self.scale
        return ops.Equal()(a, b), a - b, -a


NETWORKS = {
    "lenet": (LeNet, [randoms(2, 1, 20, 20)]),
    "residual": (Residual, [randoms(2, 3, 32, 32)]),
    "mobile": (Mobile, [randoms(1, 3, 8, 8)]),
    "attention": (Attention, [randoms(2, 5, 8)]),
    "transformer": (Transformer, [np.array([[1, 2, 9, 0, 4], [10, 3, 3, 1, 0]], np.int32)]),
    "recurrent": (Recurrent, [np.array([[1, 2, 9], [0, 4, 4]], np.int32)]),
    "rounds": (Rounds, [randoms(2, 3), np.array(5, np.int32)]),
    "no round": (Rounds, [randoms(2, 3) - 3, np.array(0, np.int32)]),
    "layered": (Layered, [randoms(2, 4), randoms(2, 4) + 1]),
    "twice": (Twice, [randoms(2, 3), np.array(2, np.int32)]),
    "decoder": (Decoder, [randoms(1, 2, 6, 6)]),
    "shared": (Shared, [randoms(2, 3), randoms(2, 3) + 1]),
}
