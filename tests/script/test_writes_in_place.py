"""Tensors that a branch or a loop of a graph writes in place have the values of PYNATIVE mode afterwards."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops
from msnb.core.operator import api_generations


@pytest.fixture(autouse=True)
def mindspore_2(monkeypatch):
    monkeypatch.setattr(api_generations, "shared", 2)


def tensor(value, dtype=ms.float32):
    return Tensor(np.asarray(value), dtype)


class Branch(nn.Cell):
    def construct(self, x, y):
        z = x + 1
        if x.sum() < y.sum():
            ops.AssignAdd()(z, y)
        return z


class BothBranches(nn.Cell):
    def construct(self, x, y):
        z, w = x + 1, x * 2
        if x.sum() < y.sum():
            ops.AssignAdd()(z, y)
        else:
            ops.AssignSub()(w, y)
            z = z * 3
        return z, w


class Helper(nn.Cell):
    def add(self, z, y):
        if y.sum() > 0:
            ops.AssignAdd()(z, y)

    def construct(self, x, y):
        values = [x + 1, y]
        if x.sum() < y.sum():
            self.add(values[0], y)
            self.add(values[0], y)
        return values[0]


class While(nn.Cell):
    def construct(self, x, y):
        z, i = x + 1, Tensor(0)
        while i < 3:
            ops.AssignAdd()(z, y * i)
            i = i + 1
        return z


class LoopInBranchInLoop(nn.Cell):
    def construct(self, x, y):
        z, i = x + 1, Tensor(0)
        while i < 3:
            j = Tensor(0)
            if i > 0:
                while j < 2:
                    ops.AssignAdd()(z, y)
                    j = j + 1
            else:
                ops.AssignSub()(z, y * 5)
            i = i + 1
        return z


class CreatedInside(nn.Cell):
    def construct(self, x, y):
        z = x + 1
        if x.sum() < y.sum():
            inner = y * 2
            ops.AssignAdd()(inner, x)
            z = z + inner
        return z


class WithParameter(nn.Cell):
    def __init__(self):
        super().__init__()
        self.total = Parameter(tensor([0.0, 0.0]), name="total")

    def construct(self, x, y):
        z, i = x + 1, Tensor(0)
        while i < 2:
            ops.AssignAdd()(z, y)
            ops.AssignAdd()(self.total, z)
            i = i + 1
        return z, self.total + 0


NETWORKS = [Branch, BothBranches, Helper, While, LoopInBranchInLoop, CreatedInside, WithParameter]
INPUTS = [([1.0, 2.0], [3.0, 4.0]), ([5.0, 2.0], [1.0, -4.0])]


def run(network, mode, x, y):
    context.set_context(mode=mode)
    out = network()(tensor(x), tensor(y))
    return [value.asnumpy() for value in (out if isinstance(out, tuple) else (out,))]


@pytest.mark.parametrize("x, y", INPUTS)
@pytest.mark.parametrize("network", NETWORKS, ids=lambda cell: cell.__name__)
def test_a_graph_has_the_values_of_pynative_mode(network, x, y):
    graph, eager = (run(network, mode, x, y) for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE))
    for one, other in zip(graph, eager, strict=True):
        np.testing.assert_allclose(one, other)


def test_values_are_those_of_the_formula():
    context.set_context(mode=ms.GRAPH_MODE)
    np.testing.assert_allclose(While()(tensor([1.0]), tensor([2.0])).asnumpy(), [1 + 1 + 2 * (0 + 1 + 2)])
    np.testing.assert_allclose(Branch()(tensor([1.0]), tensor([2.0])).asnumpy(), [4])
    np.testing.assert_allclose(Branch()(tensor([3.0]), tensor([2.0])).asnumpy(), [4])


@pytest.mark.parametrize("network, dx, dy", [(Branch, 1, 1), (While, 1, 3), (LoopInBranchInLoop, 1, -1)])
def test_gradients_pass_through_the_writes(network, dx, dy):
    context.set_context(mode=ms.GRAPH_MODE)
    gradients = ops.GradOperation(get_all=True)(network())(tensor([1.0, 2.0]), tensor([3.0, 4.0]))
    np.testing.assert_allclose(gradients[0].asnumpy(), [dx, dx])
    np.testing.assert_allclose(gradients[1].asnumpy(), [dy, dy])


class ChangedType(nn.Cell):
    def construct(self, x, y):
        z = x + 1
        if x.sum() < y.sum():
            z.set_dtype(ms.int32)
        return z


def test_a_branch_may_not_write_another_dtype(monkeypatch):
    monkeypatch.setattr(api_generations, "shared", 1)
    context.set_context(mode=ms.GRAPH_MODE)
    with pytest.raises(TypeError, match="dtype and shape have to stay the same"):
        ChangedType()(tensor([1.0]), tensor([2.0]))
