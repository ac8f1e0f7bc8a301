"""Small versions of the networks of the model zoo, for `planning.py`."""

import numpy as np
from networks import Block, LeNet, ResNet50, training_step

from mindspore import Tensor, nn, ops


def make_floats(*shape):
    return Tensor(np.zeros(shape, np.float32))


def make_integers(*shape):
    return Tensor(np.zeros(shape, np.int32))


def _make_convolutions(*layers):
    """Return convolutions with BatchNorm and ReLU: (inputs, outputs, kernel, stride, groups); "pool" halves."""
    cells = []
    for layer in layers:
        if layer == "pool":
            cells.append(nn.MaxPool2d(2, 2))
            continue
        inputs, outputs, kernel, stride, groups = layer
        cells += [nn.Conv2d(inputs, outputs, kernel, stride, group=groups), nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.SequentialCell(cells)


class Basic(nn.Cell):
    """A block of two convolutions beside a shortcut."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = _make_convolutions((inputs, outputs, 3, stride, 1), (outputs, outputs, 3, 1, 1))
        self.down = _make_convolutions((inputs, outputs, 1, stride, 1)) if stride > 1 or inputs != outputs else None

    def construct(self, x):
        return self.body(x) + (x if self.down is None else self.down(x))


class Inverted(nn.Cell):
    """A block of MobileNetV2: wider, by channels, narrower."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        wide = 6 * inputs
        self.body = _make_convolutions((inputs, wide, 1, 1, 1), (wide, wide, 3, stride, wide), (wide, outputs, 1, 1, 1))
        self.same = inputs == outputs and stride == 1

    def construct(self, x):
        return self.body(x) + x if self.same else self.body(x)


class Classifier(nn.Cell):
    """A trunk of convolutions, the mean over pixels, ten classes."""

    def __init__(self, trunk, channels):
        super().__init__()
        self.trunk, self.mean, self.head = nn.SequentialCell(trunk), ops.ReduceMean(), nn.Dense(channels, 10)

    def construct(self, x):
        return self.head(self.mean(self.trunk(x), (2, 3)))


class UNet(nn.Cell):
    """Two steps down, two up, and a class for each pixel."""

    def __init__(self):
        super().__init__()
        self.first, self.second = _make_convolutions((3, 32, 3, 1, 1)), _make_convolutions((32, 64, 3, 1, 1))
        self.third = _make_convolutions((64, 128, 3, 1, 1))
        self.up2, self.up1 = nn.Conv2dTranspose(128, 64, 2, 2), nn.Conv2dTranspose(64, 32, 2, 2)
        self.join2, self.join1 = _make_convolutions((128, 64, 3, 1, 1)), _make_convolutions((64, 32, 3, 1, 1))
        self.head, self.pool, self.concat = nn.Conv2d(32, 4, 1), nn.MaxPool2d(2, 2), ops.Concat(1)

    def construct(self, x):
        first = self.first(x)
        second = self.second(self.pool(first))
        third = self.third(self.pool(second))
        x = self.join2(self.concat((second, self.up2(third))))
        x = self.head(self.join1(self.concat((first, self.up1(x)))))
        return ops.reshape(ops.transpose(x, (0, 2, 3, 1)), (-1, 4))


class WordLSTM(nn.Cell):
    """A table of words, an LSTM, two classes."""

    def __init__(self):
        super().__init__()
        self.table, self.lstm = nn.Embedding(4000, 128), nn.LSTM(128, 128, batch_first=True)
        self.head, self.start = nn.Dense(128, 2), make_floats(1, 64, 128)

    def construct(self, words):
        out, _ = self.lstm(self.table(words), (self.start, self.start))
        return self.head(out[:, -1])


class Bert(nn.Cell):
    """BERT with two blocks: tables of words and of positions, and a class."""

    def __init__(self, size=4000, width=128, tokens=64):
        super().__init__()
        self.table, self.positions = nn.Embedding(size, width), nn.Embedding(tokens, width)
        self.blocks, self.norm = nn.SequentialCell([Block(width, 4) for _ in range(2)]), nn.LayerNorm((width,))
        self.head, self.at = nn.Dense(width, 2), Tensor(np.arange(tokens, dtype=np.int32))

    def body(self, words):
        return self.blocks(self.norm(self.table(words) + self.positions(self.at)))

    def construct(self, words):
        return self.head(self.body(words)[:, 0])


class GPT(Bert):
    """GPT: the next word at each position."""

    def __init__(self):
        super().__init__()
        self.head = nn.Dense(128, 4000)

    def construct(self, words):
        return ops.reshape(self.head(self.body(words)), (-1, 4000))


class WideDeep(nn.Cell):
    """A sum of weights of the features beside layers on their vectors."""

    def __init__(self, size=20000, fields=16):
        super().__init__()
        self.wide, self.deep = nn.Embedding(size, 2), nn.Embedding(size, 16)
        self.layers = nn.SequentialCell([nn.Dense(16 * fields, 256, activation="relu"), nn.Dense(256, 2)])

    def construct(self, ids):
        deep = ops.reshape(self.deep(ids), (ids.shape[0], -1))
        return self.layers(deep) + self.wide(ids).sum(1)


class DeepFM(WideDeep):
    """WideDeep with the products of all pairs of vectors."""

    def construct(self, ids):
        vectors = self.deep(ids)
        pairs = (ops.square(vectors.sum(1)) - ops.square(vectors).sum(1)).sum(1) / 2
        deep = self.layers(ops.reshape(vectors, (ids.shape[0], -1)))
        return deep + self.wide(ids).sum(1) + ops.expand_dims(pairs, 1)


class EmbeddingSum(nn.Cell):
    """Vectors of words, summed, and a layer behind them."""

    def __init__(self, size=20000, width=64):
        super().__init__()
        self.table, self.head = nn.Embedding(size, width), nn.Dense(width, 1024)

    def construct(self, ids):
        return self.head(self.table(ids).sum(1))


def _make_layers(width=1024):
    return nn.SequentialCell([nn.Dense(width, width, activation="relu") for _ in range(4)])


def _make_mobilenet():
    return [*_make_convolutions((3, 32, 3, 2, 1)), Inverted(32, 32, 1), Inverted(32, 64, 2), Inverted(64, 64, 1)]


def _make_vgg():
    widths = (3, 64, "pool", 128, "pool", 256, 256, "pool", 512, 512)
    layers, last = [], widths[0]
    for width in widths[1:]:
        layers.append(width if width == "pool" else (last, width, 3, 1, 1))
        last = last if width == "pool" else width
    return [*_make_convolutions(*layers)]


def _make_resnet():
    shapes = ((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2))
    return [*_make_convolutions((3, 64, 7, 2, 1)), *(b for i, o, s in shapes for b in (Basic(i, o, s), Basic(o, o, 1)))]


EVIDENCE = {  # small networks on which XLA's own propagation sends more
    "MLP": lambda: (_make_layers(), make_floats(256, 1024), make_integers(256)),
    "embedding": lambda: (EmbeddingSum(), make_integers(256, 8), make_integers(256)),
    "block": lambda: (
        nn.SequentialCell([Block(128, 4), nn.Flatten(), nn.Dense(4096, 10)]),
        make_floats(32, 32, 128),
        make_integers(32),
    ),
}
ZOO = {
    "LeNet": lambda: (LeNet(), make_floats(64, 1, 32, 32), make_integers(64)),
    "ResNet-18": lambda: (Classifier(_make_resnet(), 512), make_floats(64, 3, 32, 32), make_integers(64)),
    "ResNet-50": lambda: (ResNet50(), make_floats(64, 3, 64, 64), make_integers(64)),
    "MobileNetV2": lambda: (Classifier(_make_mobilenet(), 64), make_floats(64, 3, 32, 32), make_integers(64)),
    "VGG": lambda: (Classifier(_make_vgg(), 512), make_floats(64, 3, 32, 32), make_integers(64)),
    "UNet": lambda: (UNet(), make_floats(64, 3, 32, 32), make_integers(64 * 32 * 32)),
    "LSTM": lambda: (WordLSTM(), make_integers(64, 32), make_integers(64)),
    "BERT-tiny": lambda: (Bert(), make_integers(64, 64), make_integers(64)),
    "GPT-tiny": lambda: (GPT(), make_integers(64, 64), make_integers(64 * 64)),
    "wide and deep": lambda: (WideDeep(), make_integers(1024, 16), make_integers(1024)),
    "DeepFM": lambda: (DeepFM(), make_integers(1024, 16), make_integers(1024)),
}


def make_step_and_batch(name):
    """Return (train step, its batch)."""
    net, *batch = {**EVIDENCE, **ZOO}[name]()
    return training_step(net), batch
