"""Assignments to `_cells` and `_params` of a Cell, as libraries write them to replace layers, change the network."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn

BOTH_MODES = pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])
X = Tensor(np.array([[1.0, -2.0]], np.float32))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.ReLU()
        self.scale = Parameter(Tensor([2.0], ms.float32), name="scale")

    def construct(self, x):
        return self.layer(x) * self.scale


class Negative(nn.Cell):
    def __init__(self, inner):
        super().__init__(auto_prefix=False)
        self.inner = inner

    def construct(self, x):
        return -self.inner(x)


def values(net):
    return net(X).asnumpy().tolist()


@BOTH_MODES
def test_a_replaced_cell_and_a_replaced_parameter_are_used_by_the_next_call(mode):
    context.set_context(mode=mode)
    net = Net()
    assert values(net) == [[2.0, 0.0]]
    net._cells["layer"] = Negative(net.layer)
    assert isinstance(net.layer, Negative) and values(net) == [[-2.0, 0.0]]
    net._params["scale"] = Parameter(Tensor([3.0], ms.float32), name="scale")
    assert values(net) == [[-3.0, 0.0]] and float(net.scale) == 3.0


@BOTH_MODES
@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_copy_has_members_of_its_own(duplicate, mode):
    context.set_context(mode=mode)
    net = Net()
    other = duplicate(net)
    other._cells["layer"] = nn.Tanh()
    other.extra = nn.ReLU()
    assert isinstance(net.layer, nn.ReLU) and values(net) == [[2.0, 0.0]] and list(net._cells) == ["layer"]
    np.testing.assert_allclose(other(X).asnumpy(), 2 * np.tanh(X.asnumpy()), rtol=1e-5)


def test_removed_members_are_no_attributes():
    net = Net()
    del net._cells["layer"]
    net._params.clear()
    assert not hasattr(net, "layer") and not hasattr(net, "scale")
    net.layer = nn.ReLU()
    assert net._cells.pop("layer") is not None and not hasattr(net, "layer")


def test_a_cell_is_freed_without_a_garbage_collection():
    gc.disable()
    try:
        net = Net()
        reference = weakref.ref(net)
        del net
        assert reference() is None
    finally:
        gc.enable()
