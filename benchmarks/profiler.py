"""How much of a training step the profiler attributes by measurement, and whether replayed groups add up to the step.

    python benchmarks/profiler.py [lenet] [resnet50] [transformer]

Attributed: kernels that XLA names and that can be what it says, or whose operation and shapes fit one operator only.
Replay: groups of operators, as XLA fused them, each run as one compiled function, against the whole step run between
them. Both take the step on two cores or more as it comes; on a busy machine run it twice.
"""

import sys
import time

import numpy as np

import msnb.alias
from msnb import Tensor, context, nn, ops
from msnb.insight.profile import machine, profile


class Block(nn.Cell):
    """Attention and a feed-forward network, each after a LayerNorm."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Dense(width, width) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.up, self.down, self.act = nn.Dense(width, 4 * width), nn.Dense(4 * width, width), nn.GELU()
        self.softmax, self.product = nn.Softmax(-1), ops.BatchMatMul()
        self.scores, self.transpose = ops.BatchMatMul(transpose_b=True), ops.Transpose()

    def split(self, x):
        batch, length, width = x.shape
        return self.transpose(x.reshape((batch, length, self.heads, width // self.heads)), (0, 2, 1, 3))

    def construct(self, x):
        y = self.norm1(x)
        q, k, v = self.split(self.q(y)), self.split(self.k(y)), self.split(self.v(y))
        weights = self.softmax(self.scores(q, k) * (x.shape[-1] // self.heads) ** -0.5)
        y = self.transpose(self.product(weights, v), (0, 2, 1, 3)).reshape(x.shape)
        x = x + self.o(y)
        return x + self.down(self.act(self.up(self.norm2(x))))


class Transformer(nn.Cell):
    """A small encoder that predicts a token per position."""

    def __init__(self, words=200, width=128, heads=4, layers=4):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.blocks = nn.SequentialCell([Block(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm((width,)), nn.Dense(width, words)

    def construct(self, x):
        x = self.head(self.norm(self.blocks(self.embedding(x))))
        return x.reshape((-1, x.shape[-1]))


def training(name):
    """(training step, inputs) of a network."""
    msnb.alias.install()
    import networks

    random = np.random.default_rng(0)
    net = {"lenet": networks.LeNet, "resnet50": networks.ResNet50, "transformer": Transformer}[name]()
    if name == "transformer":
        x, y = random.integers(0, 200, (4, 64)), random.integers(0, 200, 256)
    else:
        x = random.random((32, 1, 32, 32) if name == "lenet" else (4, 3, 64, 64), np.float32)
        y = random.integers(0, 10, len(x))
    step = networks.training_step(net)
    return step, Tensor(x.astype(np.int32) if name == "transformer" else x), Tensor(y.astype(np.int32))


def profiling(name):
    """A call that profiles three steps."""
    context.set_context(mode=context.GRAPH_MODE)
    step = training(name)
    return lambda: profile(*step, steps=3).step_seconds


# What `compare.py` times.
TIMED = {"profile LeNet": lambda: profiling("lenet"), "profile Transformer": lambda: profiling("transformer")}


def main(names):
    """Print one line per network."""
    context.set_context(mode=context.GRAPH_MODE)
    print(machine())
    for name in names:
        made = profile(*training(name), steps=8)
        how, total = made.attribution, sum(made.parts.values())
        of_step = (how["measured"] + how["fused"]) * made.busy / total
        started = time.perf_counter()
        replayed = made.replay()
        print(
            f"{name:12} step {made.step_seconds * 1e3:7.2f} ms; kernels: {100 * how['measured']:.0f} % one operator, "
            f"{100 * how['fused']:.0f} % fused, {100 * how['xla']:.0f} % XLA's copies, {100 * how['inferred']:.1f} % "
            f"inferred; measured on operators: {100 * of_step:.0f} % of the step\n"
            f"{'':12} replay of {len(replayed.groups)} groups ({replayed.compiled} functions, "
            f"{time.perf_counter() - started:.0f} s): {replayed.total * 1e3:.2f} ms (one by one "
            f"{replayed.alone * 1e3:.2f}) + copies, gaps and call {replayed.rest * 1e3:.2f} ms, "
            f"step {replayed.step * 1e3:.2f} ms: {100 * replayed.difference:+.0f} %",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:] or ("lenet", "resnet50", "transformer"))
