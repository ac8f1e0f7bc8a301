"""Measure the share of a training step that the profiler attributes by measurement, and the sum of replayed groups.

    python benchmarks/profiler.py [lenet] [resnet50] [transformer]

Attributed: kernels whose name in XLA is plausible, or whose operation and shapes fit one operator only. Replay: groups
of operators, as XLA fused them, each run as one compiled function. The complete step runs between them. Both use all
cores; on a busy machine run the script twice.
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


def make_step_and_inputs(name):
    """Return the training step of a network and its inputs."""
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


def make_profile_call(name):
    """Return a call that profiles three steps."""
    context.set_context(mode=context.GRAPH_MODE)
    step = make_step_and_inputs(name)
    return lambda: profile(*step, steps=3).step_seconds


# Rows of `compare.py`.
TIMED = {
    "profile LeNet": lambda: make_profile_call("lenet"),
    "profile Transformer": lambda: make_profile_call("transformer"),
}


def main(names):
    """Print one line per network."""
    context.set_context(mode=context.GRAPH_MODE)
    print(machine())
    for name in names:
        report = profile(*make_step_and_inputs(name), steps=8)
        percent = {kind: 100 * share for kind, share in report.attribution.items()}
        of_step = (percent["measured"] + percent["fused"]) * report.busy / sum(report.parts.values())
        start = time.perf_counter()
        replay = report.replay()
        print(
            f"{name:12} step {report.step_seconds * 1e3:7.2f} ms; kernels: {percent['measured']:.0f} % one operator, "
            f"{percent['fused']:.0f} % fused, {percent['xla']:.0f} % copies of XLA, {percent['inferred']:.1f} % "
            f"inferred; measured on operators: {of_step:.0f} % of the step\n"
            f"{'':12} replay of {len(replay.groups)} groups ({replay.compiled} functions, "
            f"{time.perf_counter() - start:.0f} s): {replay.total * 1e3:.2f} ms (one by one "
            f"{replay.alone * 1e3:.2f}) + copies, gaps and call {replay.rest * 1e3:.2f} ms, "
            f"step {replay.step * 1e3:.2f} ms: {100 * replay.difference:+.0f} %",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:] or ("lenet", "resnet50", "transformer"))
