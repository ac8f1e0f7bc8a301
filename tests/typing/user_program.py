"""A program as a user of r1.1 writes it. `make lint` has pyright read it: no error, no Any where a type is known."""

from typing import assert_type

import numpy as np

import msnb as ms
from msnb import Model, Parameter, Tensor, context, nn, ops
from msnb import dataset as ds
from msnb.ops import operations as P
from msnb.train.callback import LossMonitor

context.set_context(mode=context.GRAPH_MODE)


class LeNet(nn.Cell):
    def __init__(self, classes: int = 10):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.dense = nn.Dense(16 * 5 * 5, classes)
        self.scale = Parameter(Tensor(np.ones(classes), ms.float32), name="scale")
        self.softmax = P.Softmax(axis=1)

    def construct(self, x: Tensor) -> Tensor:
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        return self.dense(self.flatten(x)) * self.scale


def train() -> float:
    images = np.random.default_rng(0).normal(size=(32, 1, 32, 32)).astype(np.float32)
    labels = np.arange(32, dtype=np.int32) % 10
    data = ds.NumpySlicesDataset({"image": images, "label": labels}).shuffle(32).batch(8)
    net = LeNet()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.01, momentum=0.9)
    model = Model(net, loss, optimizer, metrics={"accuracy": nn.Accuracy()})
    model.train(1, data, callbacks=LossMonitor(), dataset_sink_mode=False)
    return model.eval(data, dataset_sink_mode=False)["accuracy"]


def look(x: Tensor) -> None:
    assert_type(x.sum(), Tensor)
    assert_type(x.mean(1), Tensor)
    assert_type(x + 1, Tensor)
    assert_type(x[0], Tensor)
    assert_type(x.shape, tuple[int, ...])
    assert_type(ops.softmax(x), Tensor)
    assert_type(ops.relu(x), Tensor)
    assert_type(P.ReduceSum(keep_dims=True)(x, 1), Tensor)
    assert_type(nn.Dense(3, 1)(x), Tensor)
    assert_type(LeNet()(x), Tensor)
    assert_type(LeNet().set_train(), LeNet)
    assert_type(LeNet().trainable_params(), list[Parameter])
    assert_type(ms.load_checkpoint("lenet.ckpt"), dict[str, Parameter])
