"""Program of each process in `test_processes.py`: a training on its own examples, and communication operators."""

import json
import os
import sys

import as_one
import numpy as np

from msnb import Model, Parameter, Tensor, context, nn, ops, set_seed
from msnb import dataset as ds
from msnb.communication import comm_func, create_group, destroy_group, get_group_size, get_local_rank, get_rank, init
from msnb.train.callback import LossMonitor


class Joined(nn.Cell):
    """A reduction with each of the four communication patterns."""

    def __init__(self):
        super().__init__()
        self.reduce, self.gather, self.scatter = ops.AllReduce(), ops.AllGather(), ops.ReduceScatter()
        self.broadcast = ops.Broadcast(get_group_size() - 1)

    def construct(self, x):
        return self.reduce(x), self.gather(x), self.scatter(x), self.broadcast((x,))[0]


def train(epochs, folder=None):
    """Return the Parameters of a network trained on all examples. Without communication each process has other
    values.
    """
    rank, size = get_rank(), get_group_size()
    set_seed(rank + 1)
    net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 1))
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((16, 4)).astype("f"), rng.standard_normal((16, 1)).astype("f")
    data = ds.NumpySlicesDataset(rows, shuffle=False, num_shards=size, shard_id=rank).batch(8 // size)
    model = Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.05, 0.9))
    recorded = {} if folder is None else {"record": folder, "resume": True}
    model.train(epochs, data, callbacks=[LossMonitor()], **recorded)
    return [p.asnumpy().tolist() for p in net.get_parameters()]


def run_pynative(rank):
    """Return the results of operators and of a gradient reducer outside a graph, and in groups."""
    context.set_context(mode=context.PYNATIVE_MODE)
    x, results = Tensor([1.0 + rank, 5.0 - rank]), {}
    results["called"] = ops.AllReduce()(x).asnumpy().tolist()
    largest = ops.AllReduce("max")
    results["gradient"] = ops.grad(lambda a: (largest(a) * a).sum())(x).asnumpy().tolist()
    create_group("backwards", [1, 0])
    results["backwards"] = [get_rank("backwards"), *ops.AllGather(group="backwards")(x).asnumpy().tolist()]
    destroy_group("backwards")
    create_group("backwards", [rank])
    results["own"] = ops.AllGather(group="backwards")(x).asnumpy().tolist()
    create_group("other", [1 - rank])
    try:
        ops.AllReduce(group="other")(x)
    except RuntimeError as error:
        results["refused"] = str(error)
    comm_func.barrier()
    results["exchanged"] = ops.AlltoAll(2, 0, 0)(x).asnumpy().tolist()
    reduced, handle = comm_func.all_reduce(x, async_op=True)
    handle.wait()
    results["functions"] = [
        o.asnumpy().tolist()
        for o in (
            reduced,
            comm_func.broadcast(x, 1),
            comm_func.reduce(x, 0),
            comm_func.gather_into_tensor(x),
            comm_func.scatter_tensor(x, 1),
        )
    ]
    p = Parameter(Tensor([0.0, 0.0]), name="p")
    results["mean"] = nn.DistributedGradReducer([p], mean=True)((x,))[0].asnumpy().tolist()
    return results


def begin():
    """Join the other processes and train with them."""
    init()
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, parameter_broadcast=True)


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    begin()
    rank, size = get_rank(), get_group_size()
    results = {
        "joined": [o.asnumpy().tolist() for o in Joined()(Tensor(np.arange(2 * size, dtype=np.float32) + 10 * rank))],
        "trained": train(1, "together"),
        "local": get_local_rank(),
        "size": size,
    }
    results.update(run_pynative(rank))
    results["as one"] = as_one.run_together()
    with open(f"told{rank}.json", "w") as file:
        json.dump(results, file)
