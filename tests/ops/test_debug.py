"""Print, summaries and hooks in both modes."""

import jax
import pytest

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb.core.operator import api_generations
from msnb.ops import debug
from msnb.ops import operations as P

MODES = [context.PYNATIVE_MODE, context.GRAPH_MODE]


@pytest.mark.parametrize("mode", MODES)
def test_print_shows_values_when_the_program_runs_in_order(mode, capsys):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.print = P.Print()

        def construct(self, x):
            self.print("first", x)
            y = x * 2
            self.print((y, "second"))
            return y

    context.set_context(mode=mode)
    net = Net()
    for _ in range(2):
        net(Tensor([1.0, 2.0])).asnumpy()
        jax.effects_barrier()
    out = capsys.readouterr().out.split("\n")
    assert out[:2] == ["first", "[1. 2.]"] and "second" in out[2] and out[3:5] == ["first", "[1. 2.]"]


@pytest.mark.parametrize("mode", MODES)
def test_print_of_mindspore_2_shows_shape_and_type(mode, capsys):
    class Net(nn.Cell):
        def construct(self, x, y):
            ops.print_("first", x, 2.5)
            ops.print_(y)
            return x + 1

    context.set_context(mode=mode)
    api_generations.share(2)
    try:
        Net()(Tensor([[1], [2]], ms.int32), Tensor(1.5)).asnumpy()
        jax.effects_barrier()
    finally:
        api_generations.share(1)
    assert capsys.readouterr().out.split("\n") == [
        "first",
        "Tensor(shape=[2, 1], dtype=Int32, value=",
        "[[1],",
        " [2]])",
        "2.5",
        "Tensor(shape=[], dtype=Float32, value= 1.5)",
        "",
    ]


@pytest.mark.parametrize("mode", MODES)
def test_summaries_reach_their_listeners(mode):
    seen = []
    remove = debug.on_summary(lambda kind, name, tensor, _: seen.append((kind, name, float(tensor.asnumpy().sum()))))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scalar, self.tensor = P.ScalarSummary(), P.TensorSummary()

        def construct(self, x):
            self.tensor("x", x)
            self.scalar("loss", x.sum())
            return x + 1

    context.set_context(mode=mode)
    try:
        Net()(Tensor([1.0, 2.0])).asnumpy()
        jax.effects_barrier()
    finally:
        remove()
    assert seen == [("tensor", "x", 3.0), ("scalar", "loss", 3.0)]


def test_a_summary_without_a_name_or_of_a_wrong_shape_is_refused():
    with pytest.raises(ValueError):
        P.ScalarSummary()("", Tensor(1.0))
    with pytest.raises(ValueError):
        P.ScalarSummary()("x", Tensor([1.0, 2.0]))
    with pytest.raises(TypeError):
        P.ImageSummary()("x", 3)


def test_a_hook_sees_the_gradient_and_may_replace_it():
    seen = []

    def hook(grad):
        seen.append(float(grad[0]))
        return grad[0] * 10

    hooked = P.HookBackward(hook)
    grads = ops.GradOperation(get_all=True)(lambda x, y: hooked(x * y) * y)(Tensor(3.0), Tensor(2.0))
    assert seen == [2.0]
    assert [float(g) for g in grads] == [40.0, 66.0]


@pytest.mark.parametrize("mode", MODES)
def test_an_inserted_function_changes_the_gradient(mode):
    context.set_context(mode=mode)
    clip = P.InsertGradientOf(lambda g: g * 0.5)
    assert float(ops.GradOperation()(lambda x: clip(x) * 4)(Tensor(3.0))) == 2.0


def test_assert_shows_the_values_when_the_condition_fails():
    P.Assert()(Tensor(True), [Tensor([1.0])])
    with pytest.raises(RuntimeError, match="1. 2."):
        P.Assert()(Tensor(False), [Tensor([1.0, 2.0])])
