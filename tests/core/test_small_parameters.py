"""Small Parameters, which no program donates on a GPU. There is none here: a processor passes for one."""

import numpy as np

from msnb import Parameter, Tensor, context, nn, ops
from msnb.core.program import executable


class Counting(nn.Cell):
    """A large Parameter and three small ones that all get the same value."""

    def __init__(self):
        super().__init__()
        self.large = Parameter(Tensor(np.zeros((64, 64), np.float32)), name="large")
        self.counts = [Parameter(Tensor(np.float32(0)), name=f"count{i}") for i in range(3)]
        self.first, self.second, self.third = self.counts

    def construct(self, x):
        ops.assign(self.large, self.large + x)
        ops.assign(self.first, 1 / (self.first + x))
        ops.assign(self.second, 1 / (self.first + 0 * x))
        ops.assign(self.third, self.first)
        return self.large.sum()


def run_steps(steps=3):
    net = Counting()
    outs = [float(net(Tensor(np.float32(i + 1))).asnumpy()) for i in range(steps)]
    return net, [*outs, *(float(p.asnumpy()) for p in net.counts)]


def test_what_is_small_is_lent_and_the_rest_given(gpu):
    context.set_context(mode=context.GRAPH_MODE)
    net, _ = run_steps(1)
    before = [p._array for p in (net.large, *net.counts)]
    net(Tensor(np.float32(2)))
    assert [a.is_deleted() for a in before] == [True, False, False, False]


def test_numbers_are_those_of_a_program_that_gives_all(request):
    context.set_context(mode=context.GRAPH_MODE)
    _, expected = run_steps()
    request.getfixturevalue("gpu")
    _, result = run_steps()
    assert result == expected


def test_such_a_program_is_lowered_and_shows_its_memory_like_any(gpu):
    context.set_context(mode=context.GRAPH_MODE)
    net, _ = run_steps(2)
    (program,) = [entry[0].program for entry in net._programs.table.values()]
    assert "Counting" in program.compiled().as_text() and program.calls == 2


def test_nothing_is_lent_on_a_processor():
    assert executable.undonated_indices([Parameter(Tensor(np.float32(0)), name="p")]) == frozenset()
