"""A small problem for training tests: three clusters in the plane, a two-layer network."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, nn


class Net(nn.Cell):
    def __init__(self, hidden=8):
        super().__init__()
        self.fc1 = nn.Dense(2, hidden, weight_init="normal")
        self.bn = nn.BatchNorm1d(hidden)
        self.relu = nn.ReLU()
        self.fc2 = nn.Dense(hidden, 3, weight_init="normal")

    def construct(self, x):
        return self.fc2(self.relu(self.bn(self.fc1(x))))


class Batches:
    """The methods of a dataset that Model calls, without the data engine."""

    def __init__(self, steps=4, batch=16, columns=2, seed=0):
        rng = np.random.RandomState(seed)
        centres = np.array([[2, 0], [-2, 1], [0, -2]], np.float32)
        self.rows = []
        for _ in range(steps):
            label = rng.randint(0, 3, batch).astype(np.int32)
            data = (centres[label] + 0.3 * rng.randn(batch, 2)).astype(np.float32)
            self.rows.append((Tensor(data), Tensor(label), Tensor(data))[:columns])
        self.resets = 0

    def get_dataset_size(self):
        return len(self.rows)

    def create_tuple_iterator(self, num_epochs=-1, do_copy=True):
        return Passes(self.rows, num_epochs)

    def reset(self):
        self.resets += 1


class Passes:
    """StopIteration after each pass; the next call of `next` begins another one while there are epochs left."""

    def __init__(self, rows, num_epochs):
        self.rows, self.left, self.at = rows, num_epochs, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.left == 0:
            raise StopIteration
        if self.at == len(self.rows):
            self.at, self.left = 0, self.left - 1
            raise StopIteration
        self.at += 1
        return self.rows[self.at - 1]


@pytest.fixture
def batches():
    return Batches


@pytest.fixture
def make_net():
    def make(**kwargs):
        ms.set_seed(3)
        return Net(**kwargs)

    return make


@pytest.fixture
def make_model(make_net):
    """make_model(net=None, **arguments of Model) with cross entropy and momentum."""

    def make(net=None, rate=0.1, **kwargs):
        net = net or make_net()
        kwargs.setdefault("loss_fn", nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
        kwargs.setdefault("optimizer", nn.Momentum(net.trainable_params(), rate, 0.9))
        return ms.Model(net, **kwargs)

    return make
