"""Hooks of a Cell around `construct` and its gradient. The expected numbers are those of MindSpore 2.7.1."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb.core.program import program_cache

BOTH = pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])


def ones_to_two():
    return nn.Dense(3, 2, weight_init="ones")


@BOTH
def test_hooks_change_what_goes_through_and_a_handle_takes_them_back(mode):
    context.set_context(mode=mode)
    net, x = ones_to_two(), Tensor(np.ones((1, 3), np.float32))
    handles = [
        net.register_forward_pre_hook(lambda cell, args: args[0] * 2),
        net.register_forward_pre_hook(lambda cell, args, kwargs: (args, kwargs), with_kwargs=True),
        net.register_forward_hook(lambda cell, args, out: out + cell.out_channels),
        net.register_forward_hook(lambda cell, args, kwargs, out: out * 10, with_kwargs=True),
        net.register_backward_pre_hook(lambda cell, grads: grads[0] * 3),
        net.register_backward_hook(lambda name, came, goes: goes[0] * 5),
    ]
    assert net(x).asnumpy().tolist() == [[80, 80]]
    assert ops.GradOperation()(net)(x).asnumpy().tolist() == [[600] * 3]
    for handle in handles:
        handle.remove()
        handle.remove()
    assert net(x).asnumpy().tolist() == [[3, 3]]
    assert ops.GradOperation()(net)(x).asnumpy().tolist() == [[2, 2, 2]]


def test_a_hook_belongs_to_its_cell_among_equal_ones():
    context.set_context(mode=context.GRAPH_MODE)
    net = nn.SequentialCell([nn.SequentialCell([nn.Dense(2, 2, weight_init="ones"), nn.ReLU()]) for _ in range(6)])
    x = Tensor(np.ones((1, 2), np.float32))
    assert net(x).asnumpy().tolist() == [[64, 64]]
    handle = net[3].register_forward_hook(lambda cell, args, out: out / 64)
    assert net(x).asnumpy().tolist() == [[1, 1]]
    handle.remove()
    assert net(x).asnumpy().tolist() == [[64, 64]]


@pytest.mark.parametrize(
    ("method", "hook", "error"),
    [
        ("register_forward_hook", 3, TypeError),
        ("register_backward_pre_hook", lambda cell, grads: (grads[0], grads[0]), TypeError),
        ("register_forward_pre_hook", None, TypeError),
    ],
)
def test_what_is_no_hook_is_refused(method, hook, error):
    context.set_context(mode=context.PYNATIVE_MODE)
    net = ones_to_two()
    with pytest.raises(error):
        getattr(net, method)(hook)
        ops.GradOperation()(net)(Tensor(np.ones((1, 3), np.float32)))


class Block(nn.Cell):
    """Something of everything: Parameters that learn and that do not, and chance."""

    def __init__(self):
        super().__init__()
        self.dense, self.norm, self.dropout = nn.Dense(4, 4), nn.BatchNorm1d(4), nn.Dropout(p=0.3)

    def construct(self, x, factor=1.0):
        return self.dropout(ops.tanh(self.norm(self.dense(ops.sin(x))))) * factor


class Twice(nn.Cell):
    def __init__(self, recompute):
        super().__init__()
        self.first, self.second = Block(), Block()
        if recompute:
            self.first.recompute()
            self.second.recompute()

    def construct(self, x):
        return self.second(self.first(x), factor=2.0).sum()


def test_a_recomputed_cell_gives_the_same_and_its_gradient_keeps_less():
    context.set_context(mode=context.GRAPH_MODE)
    results, texts = [], []
    for recompute in (False, True):
        ms.set_seed(3)
        net = Twice(recompute).set_train()
        learnt = ms.ParameterTuple(net.trainable_params())
        step = ops.GradOperation(get_all=True, get_by_list=True)(net, learnt)
        x = Tensor(np.random.RandomState(0).randn(5, 4).astype(np.float32))
        (of_x,), of_weights = step(x)
        results.append([v.asnumpy() for v in (of_x, *of_weights, *net.untrainable_params())])
        texts.append(str(program_cache.program_of(net, x).jaxpr))
    for plain, again in zip(*results, strict=True):
        np.testing.assert_allclose(again, plain, rtol=1e-6, atol=1e-7)
    assert ["checkpoint[" in text or "remat" in text for text in texts] == [False, True]
