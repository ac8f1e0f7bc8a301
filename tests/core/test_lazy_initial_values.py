"""Initial values of Parameters are computed at their first use."""

import copy
import pickle

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops
from msnb.common.initializer import initializer
from msnb.core.tensor.lazy import LazyParameter, LazyTensor
from msnb.nn.utils import no_init_parameters

MAKES = {
    "dense": lambda: nn.Dense(4, 3),
    "convolution": lambda: nn.SequentialCell(nn.Conv2d(2, 3, 3, has_bias=True), nn.BatchNorm2d(3)),
    "table": lambda: nn.Embedding(5, 4),
    "norm": lambda: nn.LayerNorm((4,)),
    "attention": lambda: nn.MultiheadAttention(4, 2),
    "optimizer": lambda: nn.Adam(nn.Dense(4, 3).trainable_params(), 0.1),
}


def late(make):
    with no_init_parameters():
        return make()


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_lazy_initial_values_equal_immediate_ones(make):
    ms.set_seed(3)
    expected = make()
    ms.set_seed(3)
    net = late(make)
    assert any(type(p) is LazyParameter for p in net.get_parameters())
    for p, other in zip(net.get_parameters(), expected.get_parameters(), strict=True):
        assert (p.name, p.shape, p.dtype, p.size, p.ndim) == (
            other.name,
            other.shape,
            other.dtype,
            other.size,
            other.ndim,
        )
    before = [type(p) for p in net.get_parameters()]
    assert list(net.init_parameters_data()) == list(net.get_parameters())
    assert LazyParameter in before and all(type(p) is Parameter for p in net.get_parameters())
    for p, other in zip(net.get_parameters(), expected.get_parameters(), strict=True):
        np.testing.assert_array_equal(p.asnumpy(), other.asnumpy(), p.name)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_a_network_trains_that_had_no_values(mode):
    context.set_context(mode=mode)

    def losses(around):
        ms.set_seed(1)
        net = around(lambda: nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 1)))
        loss = nn.WithLossCell(net, nn.MSELoss())
        step = around(lambda: nn.TrainOneStepCell(loss, nn.Adam(net.trainable_params(), 0.1))).set_train()
        return [float(step(ops.ones((2, 4)), ops.zeros((2, 1))).asnumpy()) for _ in range(3)]

    assert losses(late) == losses(lambda make: make())


def test_what_nobody_reads_is_never_there():
    with no_init_parameters():
        net = nn.Dense(1 << 20, 1 << 20)  # 4 TB
    assert net.weight.shape == (1 << 20, 1 << 20) and net.weight.has_init
    assert str(net.weight).startswith("Parameter (name=weight, shape=(1048576, 1048576)")


def test_a_checkpoint_comes_before_first_values(tmp_path):
    ms.save_checkpoint(nn.Dense(2, 3), str(tmp_path / "net.ckpt"))
    parameters = ms.load_checkpoint(str(tmp_path / "net.ckpt"))
    net = late(lambda: nn.Dense(2, 3, weight_init=Refusing()))
    assert ms.load_param_into_net(net, parameters) in ([], ([], []))
    np.testing.assert_array_equal(net.weight.asnumpy(), parameters["weight"].asnumpy())


class Refusing(ms.common.initializer.Initializer):
    """An initializer that nobody may ask."""

    def _initialize(self, arr):
        raise AssertionError("it was asked")


def test_who_asks_for_values_gets_them():
    def made():
        with no_init_parameters():
            return Parameter(initializer("uniform", (3, 2)), name="w")

    for ask in (str, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p)), lambda p: p.clone(), lambda p: p + 1):
        p = made()
        ask(p)
        assert type(p) is Parameter and np.isfinite(p.asnumpy()).all() or ask is str
    p = made()
    p.set_dtype(ms.float16)
    assert type(p) is LazyParameter and p.dtype == ms.float16 and p.asnumpy().dtype == np.float16
    p = made()
    p.set_data(ops.ones((3, 2)))
    assert p.asnumpy().tolist() == [[1.0, 1.0]] * 3
    with no_init_parameters():
        tensor = initializer("uniform", (3, 2))
    p = Parameter(tensor, name="w")
    assert type(tensor) is LazyTensor
    np.testing.assert_array_equal(p.asnumpy(), tensor.asnumpy())
    assert type(tensor) is Tensor
