"""A Cell that construct makes sets what it likes in its `__init__`, in both modes, wherever in construct that is."""

import numpy as np
import pytest

from msnb import Parameter, Tensor, context, nn, ops

KEPT = {
    "a number": lambda x: 3,
    "a number twice": lambda x: 2.5,
    "a list": lambda x: [1, 2, 3],
    "a text": lambda x: "three",
    "nothing": lambda x: None,
    "an operator": lambda x: ops.ReLU(),
    "a Cell": lambda x: nn.Tanh(),
    "Cells": lambda x: nn.SequentialCell(nn.ReLU(), nn.Sigmoid()),
    "a Tensor": lambda x: Tensor([2.0]),
    "a computed Tensor": lambda x: x * 2.0,
    "a tuple with one": lambda x: (1, x + 1.0),
}
PLACES = ["straight", "condition", "loop", "python loop", "function", "gradient"]


class Made(nn.Cell):
    def __init__(self, kept):
        super().__init__()
        self.kept = None
        self.kept = kept
        self.again = self.kept

    def construct(self, x):
        kept = self.again
        if isinstance(kept, (nn.Cell, ops.Primitive)):
            return kept(x)
        if isinstance(kept, tuple):
            return x * kept[1]
        if isinstance(kept, (int, float, Tensor)):
            return x * kept
        return x + 1.0


def call_cell(kept, x):
    return Made(kept)(x)


class Net(nn.Cell):
    def __init__(self, make, place):
        super().__init__()
        self.make, self.place = make, place

    def construct(self, x):
        if self.place == "straight":
            return Made(self.make(x))(x)
        if self.place == "function":
            return call_cell(self.make(x), x)
        if self.place == "gradient":
            return ops.GradOperation()(Made(self.make(x)))(x)
        if self.place == "python loop":
            for _ in range(2):
                x = Made(self.make(x))(x)
            return x
        if self.place == "condition":
            if x.sum() > 0:
                x = Made(self.make(x))(x)
            else:
                x = x - 1.0
            return x
        count = x.sum() * 0.0
        while count < 2.0:
            x = Made(self.make(x))(x)
            count = count + 1.0
        return x


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kept", sorted(KEPT))
def test_both_modes_compute_the_same_and_one_program_serves(kept, place):
    net = Net(KEPT[kept], place)
    results = []
    for mode in (context.PYNATIVE_MODE, context.GRAPH_MODE):
        context.set_context(mode=mode)
        results.append([net(Tensor(x)).asnumpy() for x in ([0.5, 1.0, 2.0], [-1.0, -0.5, -3.0], [0.25, 1.0, 2.0])])
    np.testing.assert_allclose(results[1], results[0], rtol=1e-6)
    assert len(net._programs.table) == 1


def test_what_was_there_before_the_graph_still_may_not_change_under_a_condition():
    class Counts(nn.Cell):
        def construct(self, x):
            if x.sum() > 0:
                self.count = 1
            return x

    context.set_context(mode=context.GRAPH_MODE)
    with pytest.raises(TypeError, match="set under a condition"):
        Counts()(Tensor([1.0]))


def test_a_layer_that_each_call_makes_begins_anew():
    class Fresh(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([2.0]), name="w")

        def construct(self, x):
            return x * self.w

    class Outer(nn.Cell):
        def construct(self, x):
            return Fresh()(x)

    class Keeps(nn.Cell):
        def construct(self, x):
            self.inner = Fresh()
            return self.inner(x)

    context.set_context(mode=context.GRAPH_MODE)
    outer = Outer()
    assert [outer(Tensor([3.0])).asnumpy().item() for _ in range(2)] == [6.0, 6.0]
    with pytest.raises(RuntimeError, match="Make it once"):
        Keeps()(Tensor([1.0]))
