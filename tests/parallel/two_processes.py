"""What each of several processes runs (`test_processes.py`): a training on its rows, and what joins them."""

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
    """Each of the four ways."""

    def __init__(self):
        super().__init__()
        self.reduce, self.gather, self.scatter = ops.AllReduce(), ops.AllGather(), ops.ReduceScatter()
        self.broadcast = ops.Broadcast(get_group_size() - 1)

    def construct(self, x):
        return self.reduce(x), self.gather(x), self.scatter(x), self.broadcast((x,))[0]


def trained(epochs, folder=None):
    """The Parameters of a network that was trained on all rows; each process would begin with others."""
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


def in_pynative(rank):
    """What operators and a reducer of gradients give outside of a graph, and in groups."""
    context.set_context(mode=context.PYNATIVE_MODE)
    x, found = Tensor([1.0 + rank, 5.0 - rank]), {}
    found["called"] = ops.AllReduce()(x).asnumpy().tolist()
    largest = ops.AllReduce("max")
    found["gradient"] = ops.grad(lambda a: (largest(a) * a).sum())(x).asnumpy().tolist()
    create_group("backwards", [1, 0])
    found["backwards"] = [get_rank("backwards"), *ops.AllGather(group="backwards")(x).asnumpy().tolist()]
    destroy_group("backwards")
    create_group("backwards", [rank])
    found["own"] = ops.AllGather(group="backwards")(x).asnumpy().tolist()
    create_group("other", [1 - rank])
    try:
        ops.AllReduce(group="other")(x)
    except RuntimeError as error:
        found["refused"] = str(error)
    comm_func.barrier()
    found["exchanged"] = ops.AlltoAll(2, 0, 0)(x).asnumpy().tolist()
    given, handle = comm_func.all_reduce(x, async_op=True)
    handle.wait()
    found["functions"] = [
        o.asnumpy().tolist()
        for o in (
            given,
            comm_func.broadcast(x, 1),
            comm_func.reduce(x, 0),
            comm_func.gather_into_tensor(x),
            comm_func.scatter_tensor(x, 1),
        )
    ]
    p = Parameter(Tensor([0.0, 0.0]), name="p")
    found["mean"] = nn.DistributedGradReducer([p], mean=True)((x,))[0].asnumpy().tolist()
    return found


def begin():
    """Join the others, and train with them."""
    init()
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, parameter_broadcast=True)


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    begin()
    rank, size = get_rank(), get_group_size()
    told = {
        "joined": [o.asnumpy().tolist() for o in Joined()(Tensor(np.arange(2 * size, dtype=np.float32) + 10 * rank))],
        "trained": trained(1, "together"),
        "local": get_local_rank(),
        "size": size,
    }
    told.update(in_pynative(rank))
    told["as one"] = as_one.together()
    with open(f"told{rank}.json", "w") as file:
        json.dump(told, file)
