"""A program that several processes run as one (`two_processes.py`), and what one process computes by itself."""

import time
from pathlib import Path

import numpy as np

import msnb
from msnb import Parameter, Tensor, context, nn, ops, set_seed
from msnb.communication import _agreeing, get_group_size, get_rank

X = np.random.default_rng(0).integers(0, 12, (3, 8))
Y = np.random.default_rng(1).integers(0, 4, (3, 8)).astype(np.int32)


class Net(nn.Cell):
    """A table that is cut by rows, a product that is cut by columns, and one whose sums are of all devices."""

    def __init__(self, cut):
        super().__init__()
        self.table, self.first, self.second = (
            Parameter(Tensor(np.random.rand(*shape).astype(np.float32) - 0.5), name=name)
            for name, shape in {"table": (12, 8), "first": (8, 16), "second": (16, 4)}.items()
        )
        self.look_up, self.widen, self.narrow = ops.Gather(), ops.MatMul(), ops.MatMul()
        self.relu, self.drop = nn.ReLU(), nn.Dropout(0.8)
        self.normal, self.uniform = ops.StandardNormal(), ops.UniformReal(seed=3)
        if cut > 1:
            self.look_up.shard(((cut, 1), (1,)))
            self.widen.shard(((1, 1), (1, cut)))
            self.narrow.shard(((1, cut), (cut, 1)))

    def construct(self, x):
        wide = self.relu(self.widen(self.look_up(self.table, x, 0), self.first))
        drawn = self.normal((1, 4)) * self.uniform((4,)) / 8
        return self.narrow(self.drop(wide), self.second) + drawn


def made(cut):
    """A train step whose Parameters and random numbers are others in each process, until all run it together."""
    set_seed(get_rank() + 1)
    net = Net(cut)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Adam(net.trainable_params(), 0.01)).set_train()


def batches(whole):
    """The whole batches, or the rows of this process."""
    rows = slice(None) if whole else np.arange(8).reshape(get_group_size(), -1)[get_rank()]
    return [(Tensor(x[rows]), Tensor(y[rows])) for x, y in zip(X, Y, strict=True)]


def losses(step, whole=True):
    return [float(step(x, y).asnumpy()) for x, y in batches(whole)]


def said(act):
    """How a call is refused."""
    try:
        act()
    except RuntimeError as error:
        return str(error)


def together():
    """What a process tells of programs that it runs as one with the others; it leaves checkpoints."""
    rank, size = get_rank(), get_group_size()
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(parallel_mode="auto_parallel", full_batch=True)
    told = {"searched": losses(made(1))}
    context.set_auto_parallel_context(parallel_mode="semi_auto_parallel", full_batch=False)
    step = made(size)
    told["cut"] = losses(step, whole=False)
    net = step.network._backbone
    told["rows"] = net.set_train(False)(batches(False)[0][0]).shape
    told["refused"] = said(net.first.asnumpy)
    if rank == 0:
        _agreeing.PATIENCE = 0.1
        told["alone"] = said(lambda: msnb.save_checkpoint(net, "alone.ckpt"))
        _agreeing.PATIENCE = 60
        Path("waited").touch()
    while not Path("waited").exists():
        time.sleep(0.01)
    msnb.save_checkpoint(step, f"whole{rank}.ckpt")
    msnb.save_checkpoint(step, f"part{rank}.ckpt", integrated_save=False)
    msnb.parallel.save_sharded(step, "sharded")
    told["first"] = msnb.parallel.whole(net.first).asnumpy().tolist()
    net.first.set_data(ops.zeros_like(Tensor(told["first"])))
    told["missing"] = msnb.parallel.load_sharded("sharded", step)
    told["goes on"] = losses(step, whole=False)
    context.reset_auto_parallel_context()
    return told
