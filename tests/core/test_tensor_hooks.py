"""Hooks on the gradient of a Tensor, beside MindSpore 2.7.1, whose numbers these are."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn

X, Y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])


def listed(gradient):
    return [g.asnumpy().tolist() for g in gradient] if isinstance(gradient, tuple) else gradient.asnumpy().tolist()


@pytest.mark.parametrize("mode", [0, 1])
def test_hooks_of_what_is_computed_follow_each_other(mode):
    context.set_context(mode=mode)

    def f(x, y):
        z = x * y
        z.register_hook(lambda gradient: gradient * 2)
        z.register_hook(lambda gradient: gradient + 1)
        z.register_hook(lambda gradient: None)
        z.register_hook(lambda gradient: gradient * gradient)
        handle = z.register_hook(lambda gradient: gradient * 0)
        handle.remove()
        return z * 3

    assert listed(ms.grad(f, (0, 1))(X, Y)) == [[147.0, 196.0], [49.0, 98.0]]
    if mode:
        assert listed(f(X, Y)) == [9.0, 24.0]


@pytest.mark.parametrize("mode", [0, 1])
def test_hooks_of_a_parameter_and_their_end(mode):
    context.set_context(mode=mode)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([1.0, 2.0]), name="w")

        def construct(self, x):
            return (self.w * x).sum()

    net = Net()
    derived = ms.grad(net, None, net.w)
    assert listed(derived(Y)) == [3.0, 4.0]
    handle = net.w.register_hook(hook_fn=lambda gradient: gradient * 2)
    assert len(net.w.hooks()) == 1
    assert listed(derived(Y)) == [6.0, 8.0]
    step = nn.TrainOneStepCell(net, nn.SGD([net.w], 1.0))
    step(Y)
    assert listed(net.w) == [-5.0, -6.0]
    handle.remove()
    step(Y)
    assert listed(net.w) == [-8.0, -10.0] and net.w.hooks() == []
    assert listed(derived(Y)) == [3.0, 4.0]


def test_a_hook_of_an_input_sees_its_gradient_and_what_is_computed_anew_has_none():
    seen = []
    x = Tensor([1.0, 2.0])
    x.register_hook(lambda gradient: seen.append(gradient.asnumpy().tolist()))
    assert listed(ms.grad(lambda x: (x * x).sum())(x)) == [2.0, 4.0] == seen[0]
    assert listed(ms.grad(lambda y: (x * y).sum())(Y)) == [1.0, 2.0] and len(seen) == 1

    def f(x):
        z = x * 2
        z.register_hook(lambda gradient: gradient * 5)
        z += x
        z.register_hook(lambda gradient: gradient * 2)
        return z

    assert listed(ms.grad(f)(Y)) == [22.0, 22.0]


def test_a_hook_of_an_input_of_a_graph_says_that_it_is_not_called(capsys):
    ms.log._reset()
    context.set_context(mode=context.GRAPH_MODE)
    Tensor([1.0]).register_hook(lambda gradient: gradient)
    assert "Register it in construct" in capsys.readouterr().err


@pytest.mark.parametrize("hook", [3, lambda gradient: 3, lambda gradient: Tensor(np.zeros(3, np.float32))])
def test_what_is_no_hook_is_refused(hook):
    def f(x):
        z = x * x
        z.register_hook(hook)
        return z

    with pytest.raises(TypeError, match="register_hook"):
        ms.grad(f)(X)


@pytest.mark.parametrize(
    ("object_", "name", "said"),
    [
        (X, "storage", "data_ptr"),
        (X, "to_dlpack", "np.from_dlpack"),
        (nn.ReLU(), "pipeline_segment", "compiled"),
    ],
)
def test_what_is_refused_says_what_to_do(object_, name, said):
    with pytest.raises(AttributeError, match=said):
        getattr(object_, name)
