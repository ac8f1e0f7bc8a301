"""A program that several processes run as one (`two_processes.py`), and the reference values of a single process."""

import time
from pathlib import Path

import numpy as np

import msnb
from msnb import Parameter, Tensor, context, nn, ops, set_seed
from msnb.communication import _coordination, get_group_size, get_rank

X = np.random.default_rng(0).integers(0, 12, (3, 8))
Y = np.random.default_rng(1).integers(0, 4, (3, 8)).astype(np.int32)


class Net(nn.Cell):
    """A row-sharded table, a column-sharded product, and a product with an all-reduce."""

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
        noise = self.normal((1, 4)) * self.uniform((4,)) / 8
        return self.narrow(self.drop(wide), self.second) + noise


def create_step(cut):
    """Return a train step whose Parameters and random numbers differ between processes until they run it together."""
    set_seed(get_rank() + 1)
    net = Net(cut)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Adam(net.trainable_params(), 0.01)).set_train()


def batches(full):
    """Return the full batches, or this process's examples of them."""
    rows = slice(None) if full else np.arange(8).reshape(get_group_size(), -1)[get_rank()]
    return [(Tensor(x[rows]), Tensor(y[rows])) for x, y in zip(X, Y, strict=True)]


def losses(step, full=True):
    return [float(step(x, y).asnumpy()) for x, y in batches(full)]


def error_of(act):
    """Return the error message of a call."""
    try:
        act()
    except RuntimeError as error:
        return str(error)


def run_together():
    """Run programs with the other processes, save checkpoints, and return results."""
    rank, size = get_rank(), get_group_size()
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(parallel_mode="auto_parallel", full_batch=True)
    results = {"searched": losses(create_step(1))}
    context.set_auto_parallel_context(parallel_mode="semi_auto_parallel", full_batch=False)
    step = create_step(size)
    results["cut"] = losses(step, full=False)
    net = step.network._backbone
    results["rows"] = net.set_train(False)(batches(False)[0][0]).shape
    results["refused"] = error_of(net.first.asnumpy)
    if rank == 0:
        _coordination.PATIENCE = 0.1
        results["alone"] = error_of(lambda: msnb.save_checkpoint(net, "alone.ckpt"))
        _coordination.PATIENCE = 60
        Path("waited").touch()
    while not Path("waited").exists():
        time.sleep(0.01)
    msnb.save_checkpoint(step, f"whole{rank}.ckpt")
    msnb.save_checkpoint(step, f"part{rank}.ckpt", integrated_save=False)
    msnb.parallel.save_sharded(step, "sharded")
    results["first"] = msnb.parallel.whole(net.first).asnumpy().tolist()
    net.first.set_data(ops.zeros_like(Tensor(results["first"])))
    results["missing"] = msnb.parallel.load_sharded("sharded", step)
    results["goes on"] = losses(step, full=False)
    context.reset_auto_parallel_context()
    return results
