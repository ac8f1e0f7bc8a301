"""A gradient in PYNATIVE mode uses the forward pass that was just run, where MindSpore does."""

import gc
import weakref

import numpy as np
import pytest

import msnb
from msnb import Parameter, ParameterTuple, Tensor, context, nn, ops
from msnb.core.state import events
from msnb.interventions import zero

X = Tensor(np.random.default_rng(0).standard_normal((4, 3, 5, 5)).astype(np.float32) + 2)


class Net(nn.Cell):
    """A convolution, a batch normalization and dropout. `calls` counts runs of `construct`."""

    def __init__(self, rate=0.0):
        super().__init__()
        weight = Tensor(np.random.default_rng(1).standard_normal((2, 3, 3, 3)).astype(np.float32))
        self.conv, self.norm = nn.Conv2d(3, 2, 3, weight_init=weight), nn.BatchNorm2d(2)
        self.dropout, self.calls = nn.Dropout(1 - rate), []

    def construct(self, x, factor=None):
        self.calls.append(1)
        y = self.dropout(ops.relu(self.norm(self.conv(x))))
        return (y * y if factor is None else y * factor).mean()


class Step(nn.TrainOneStepCell):
    """A train step as users write it: the loss, then the gradient of the network."""

    def construct(self, x):
        loss = self.network(x)
        grads = self.grad(self.network, self.weights)(x, ops.ones_like(loss))
        return ops.depend(loss, self.optimizer(grads))


@pytest.fixture(autouse=True)
def pynative():
    context.set_context(mode=context.PYNATIVE_MODE)


def make_net(**settings):
    return Net(**settings).set_train().set_grad()


def gradient(net, *args, **kwargs):
    weights = ParameterTuple(net.trainable_params())
    return [g.asnumpy() for g in ops.GradOperation(get_by_list=True)(net, weights)(*args, **kwargs)]


def test_a_train_step_of_a_user_runs_the_network_once():
    net = Net()
    step = Step(net, nn.SGD(net.trainable_params(), 0.1)).set_train()
    for number in range(1, 4):
        step(X)
        assert len(net.calls) == number


def test_states_after_three_steps_are_those_of_graph_mode():
    states = []
    for mode in (context.PYNATIVE_MODE, context.GRAPH_MODE):
        context.set_context(mode=mode)
        net = Net()
        step = Step(net, nn.SGD(net.trainable_params(), 0.1)).set_train()
        losses = [step(X).asnumpy() for _ in range(3)]
        states.append([*losses, *(p.asnumpy() for p in net.get_parameters())])
    for first, second in zip(*states, strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("needs", [{"get_all": True}, {"get_by_list": True}, {"get_all": True, "get_by_list": True}])
def test_gradients_are_those_of_a_network_that_was_not_called(needs):
    results = []
    for is_called in (True, False):
        net = make_net()
        if is_called:
            net(X)
        grads = ops.GradOperation(**needs)(net, ParameterTuple(net.trainable_params()))(X)
        results.append([leaf.asnumpy() for leaf in flatten(grads)])
        assert len(net.calls) == 1
    for first, second in zip(*results, strict=True):
        np.testing.assert_array_equal(first, second)


def flatten(grads):
    return [grads] if isinstance(grads, Tensor) else [leaf for each in grads for leaf in flatten(each)]


def test_gradient_has_the_dropout_mask_of_the_loss():
    class Linear(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w, self.dropout = Parameter(Tensor(np.arange(1, 101, dtype=np.float32)), name="w"), nn.Dropout(0.5)

        def construct(self, x):
            return self.dropout(self.w * x).sum()

    net, x = Linear().set_train().set_grad(), Tensor(np.ones(100, np.float32))
    loss = net(x).asnumpy()
    (grad,) = gradient(net, x)
    np.testing.assert_allclose((grad * np.arange(1, 101)).sum(), loss, rtol=1e-5)


def test_value_and_grad_returns_the_value_of_the_recording():
    net = make_net()
    loss = net(X)
    value, _ = msnb.value_and_grad(net, None, net.trainable_params())(X)
    assert len(net.calls) == 1 and value.asnumpy() == loss.asnumpy()


def set_a_weight(net, x):
    net.conv.weight.set_data(net.conv.weight * 2)


def change_the_input(net, x):
    x[0] = 9.0


def evaluate(net, x):
    net.set_train(False)


def call_another_network(net, x):
    make_net()(x)


def take_the_gradient(net, x):
    gradient(net, x)


CHANGES = [set_a_weight, change_the_input, evaluate, call_another_network, take_the_gradient]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_network_runs_again_after_a_change(change):
    net, x = make_net(), X.copy()
    net(x)
    change(net, x)
    before = len(net.calls)
    grads = gradient(net, x)
    assert len(net.calls) == before + 1
    other = make_net()
    if change is evaluate:
        other.set_train(False)
        for mine, theirs in zip(other.get_parameters(), net.get_parameters(), strict=True):
            mine.set_data(theirs)
    if change is set_a_weight:
        set_a_weight(other, x)
    for first, second in zip(grads, gradient(other, x), strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("first", [(X.copy(),), (X, X)], ids=["an equal Tensor", "more arguments"])
def test_network_runs_again_for_other_arguments(first):
    net = make_net()
    net(first[0], *(each.mean() for each in first[1:]))
    gradient(net, X)
    assert len(net.calls) == 2


def test_network_runs_again_for_an_intervention_that_began_later():
    class Scaled(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w, self.relu = Parameter(Tensor([2.0, 3.0]), name="w"), nn.ReLU()

        def construct(self, x):
            return (self.relu(self.w * x) * x).sum()

    net, x = Scaled().set_train().set_grad(), Tensor([1.0, 2.0])
    net(x)
    with msnb.intervene(net, {"op:ReLU": zero()}):
        (grad,) = gradient(net, x)
    np.testing.assert_array_equal(grad, [0.0, 0.0])
    net(x)
    np.testing.assert_array_equal(gradient(net, x)[0], [1.0, 4.0])


def test_an_observer_that_begins_later_sees_the_forward_pass():
    net, nodes = make_net(), []
    net(X)
    with events.listen(recorded=lambda node, boxes: nodes.append(node.kernel.name)):
        gradient(net, X)
    assert any(name.startswith("Conv2D") for name in nodes) and len(net.calls) == 2


def test_a_tensor_that_is_passed_twice_has_two_gradients():
    class Product(nn.Cell):
        def construct(self, x, y):
            return (x * x * y).sum()

    net, x = Product().set_train().set_grad(), Tensor([2.0, 3.0])
    net(x, x)
    first, second = ops.GradOperation(get_all=True)(net)(x, x)
    np.testing.assert_array_equal(first.asnumpy(), [8.0, 18.0])
    np.testing.assert_array_equal(second.asnumpy(), [4.0, 9.0])


def test_without_set_grad_or_in_no_grad_nothing_is_recorded():
    net = Net().set_train()
    net(X)
    gradient(net, X)
    assert len(net.calls) == 2
    net = make_net()
    with msnb.common.api._no_grad():
        net(X)
    gradient(net, X)
    assert len(net.calls) == 2


def test_result_and_arguments_of_a_recorded_call_are_not_tracked():
    net = make_net()
    loss = net(X)
    assert loss._node is None and X._node is None


def test_a_call_that_fails_leaves_nothing_behind():
    net = make_net()
    net(X)
    with pytest.raises(ValueError, match="Conv2D"):
        net(Tensor(np.ones((1, 2, 5, 5), np.float32)))
    gradient(net, X)
    assert len(net.calls) == 3


def test_a_recording_is_freed_by_the_next_one():
    class Remembers(nn.Cell):
        def construct(self, x):
            y = x * 2
            seen.append(weakref.ref(y._array))
            return (y * y).sum()

    seen, net = [], Remembers().set_train().set_grad()
    net(X)
    ops.GradOperation()(net)(X)  # from now on no thread compiles a gradient and refers to the arrays
    seen.clear()
    net(X)
    net(X.copy())
    gc.collect()
    assert seen[0]() is None and seen[1]() is not None
    ops.GradOperation()(net)(X)
    gc.collect()
    assert seen[1]() is None


def test_a_watch_changes_no_result():
    net = Net()
    step = Step(net, nn.SGD(net.trainable_params(), 0.1)).set_train()
    plain = Net()
    other = Step(plain, nn.SGD(plain.trainable_params(), 0.1)).set_train()
    with msnb.watch(net, "TO"):
        watched = [step(X).asnumpy() for _ in range(2)]
    assert [other(X).asnumpy() for _ in range(2)] == watched
    for first, second in zip(net.get_parameters(), plain.get_parameters(), strict=True):
        np.testing.assert_array_equal(first.asnumpy(), second.asnumpy())
