"""Write pickles and a pipeline of today, which later versions load: ``python tests/golden/make_pickles.py``.

The files in `pickles` were written by commit 52e9820a, before the modules of `core` got their present paths. They name
the private modules of that time, so they must not be written again: an old file that loads is what the test is about.
A new kind of object gets a line in `OBJECTS` and a file of its own.
"""

import json
import os
import pickle
import sys
from pathlib import Path

import numpy as np

import msnb as ms
from msnb import Tensor, nn, ops
from msnb import dataset as ds
from msnb.common.initializer import Normal
from msnb.dataset import text, vision
from msnb.parallel.sharding.named_layout import Layout

FOLDER = Path(__file__).with_name("pickles")


def network():
    """Return a network with one layer of each kind that keeps state of its own."""
    ms.set_seed(1)
    return nn.SequentialCell(
        [
            nn.Conv2d(1, 2, 3, has_bias=True),
            nn.BatchNorm2d(2),
            nn.PReLU(),
            nn.Dropout(0.8),
            nn.MaxPool2d(2, 2),
            nn.Flatten(),
            nn.Dense(32, 4, weight_init=Normal(0.1), activation="relu"),
            nn.LayerNorm((4,)),
        ]
    )


def network_that_ran():
    """Return the network after one compiled call, which leaves programs at the Cell."""
    net = network()
    net(Tensor(np.ones((1, 1, 8, 8), np.float32)))
    return net


def train_step():
    net = nn.WithLossCell(network(), nn.MSELoss())
    return nn.TrainOneStepCell(net, nn.Momentum(net.trainable_params(), 0.1, 0.9))


def marked_primitive():
    operator = ops.MatMul(transpose_b=True)
    operator.add_prim_attr("primitive_target", "CPU")
    return operator


def graph():
    from msnb import ir  # spares JAX's tracing to those who only load

    return ir.graph(nn.Dense(2, 2, weight_init="ones"), Tensor(np.ones((1, 2), np.float32)))


OBJECTS = {
    "tensor": lambda: Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)),
    "tensor_bfloat16": lambda: Tensor([1.5, -2.0], ms.bfloat16),
    "parameter": lambda: ms.Parameter(Tensor([1.0, 2.0]), name="w", requires_grad=False),
    "parameter_tuple": lambda: ms.ParameterTuple([ms.Parameter(Tensor([1.0]), name="a")]),
    "dtype": lambda: [ms.float16, ms.int8, ms.bool_],
    "primitive": lambda: ops.ReduceSum(keep_dims=True),
    "primitive_marked": marked_primitive,
    "cell": network,
    "cell_that_ran": network_that_ran,
    "train_step": train_step,
    "lstm": lambda: nn.LSTM(2, 3),
    "multihead_attention": lambda: nn.MultiheadAttention(4, 2),
    "row_tensor": lambda: ms.RowTensor(Tensor([0], ms.int32), Tensor([[1.0, 2.0]]), (3, 2)),
    "layout": lambda: Layout((2, 4), ("dp", "mp"))("dp", "mp"),
    "graph": graph,
    "vision_operators": lambda: [vision.Resize((4, 4)), vision.RandomCrop(2), vision.HWC2CHW()],
}


def pipeline():
    data = ds.TextFileDataset("lines.txt", shuffle=False)
    data = data.map(text.CaseFold(), "text").rename("text", "line")
    return data.skip(1).batch(1, drop_remainder=True).repeat(2)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, make in OBJECTS.items():
        path = FOLDER / f"{name}.pkl"
        if not path.exists():
            path.write_bytes(pickle.dumps(make()))
            print("wrote", path, file=sys.stderr)
    path = FOLDER / "pipeline.json"
    if not path.exists():
        os.chdir(FOLDER)
        description = json.dumps(ds.serialize(pipeline()))
        path.write_text(description.replace(str(FOLDER), "FOLDER") + "\n", encoding="utf-8")
