"""Helpers of the checks of this folder: programs, their collectives, and the run of a file of checks.

The number of devices is fixed before the first computation, so a file runs in a process of its own (`run`). Each of its
functions whose name begins with `check_` is a check.
"""

import collections
import importlib
import traceback

import numpy as np

from msnb import Parameter, Tensor, context, nn, ops
from msnb.core.program.program_cache import program_of
from msnb.ops import operations as P
from msnb.parallel.graph.collective_stats import collectives

RANDOM = np.random.default_rng(0)


def set_devices(devices=8, **settings):
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=devices, **settings)


def floats(*shape):
    return Tensor(RANDOM.standard_normal(shape).astype(np.float32))


def communication_of(program, devices=8):
    """Return the communication in a compiled program."""
    return collectives(program.compiled().as_text(), devices)


def count_communication(program, devices=8):
    """Return the number of communication operations of each kind."""
    return dict(collections.Counter(one.kind for one in communication_of(program, devices)))


def refused(call, message):
    try:
        call()
    except RuntimeError as error:
        assert message in str(error), error
        return
    raise AssertionError(f"not refused: {message}")


class TwoProducts(nn.Cell):
    """x @ w1 @ w2, the example of MindSpore's design note."""

    def __init__(self, *strategies):
        super().__init__()
        random = np.random.default_rng(1)
        self.w1, self.w2 = (
            Parameter(Tensor(random.standard_normal((64, 64)).astype(np.float32) / 8), name=n) for n in ("w1", "w2")
        )
        self.first, self.second = (P.MatMul().shard(s) if s else P.MatMul() for s in strategies or (None, None))

    def construct(self, x):
        return self.second(self.first(x, self.w1), self.w2)


class Squares(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, x):
        return ops.square(self.net(x)).mean()


def train(net, x, steps=3):
    """Return (losses, new weights, program) after a few steps of momentum."""
    step = nn.TrainOneStepCell(Squares(net), nn.Momentum(net.trainable_params(), 0.01, 0.9)).set_train()
    losses = [step(x).asnumpy() for _ in range(steps)]
    return losses, [p.asnumpy() for p in net.trainable_params()], program_of(step, x)


class Layers(nn.Cell):
    def __init__(self, width=256):
        super().__init__()
        self.layers = nn.SequentialCell([nn.Dense(width, width, activation="relu") for _ in range(3)])

    def construct(self, x):
        return self.layers(x)


def run(checks):
    """Run the checks of a module, each from the default context.

    Raises:
        SystemExit: If one fails; what went wrong is printed.
    """
    set_devices()  # before anything is computed
    failed = []
    for name, check in vars(importlib.import_module(checks)).copy().items():
        if name.startswith("check_"):
            context.reset_auto_parallel_context()
            try:
                check()
            except Exception:
                failed.append(name)
                print(f"==== {name}\n{traceback.format_exc()}", flush=True)
    if failed:
        raise SystemExit(f"{len(failed)} failed: {failed}")
