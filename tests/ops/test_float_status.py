"""The NPU's float status: overflow between clear and get is seen, so that r1.x's loss-scale cells skip such a step."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, ParameterTuple, Tensor, context, nn, ops
from msnb.core.state import trace_state
from msnb.ops import composite as C
from msnb.ops import functional as F
from msnb.ops import operations as P


@pytest.fixture(params=[context.PYNATIVE_MODE, context.GRAPH_MODE], ids=["pynative", "graph"], autouse=True)
def mode(request):
    context.set_context(mode=request.param)
    yield
    assert trace_state.thread.results_observed == 0  # nobody pays afterwards


class Watched(nn.Cell):
    """Runs `compute` between clear and get, and `before` and `after` around; returns the words as returned and held."""

    def __init__(self, compute, before=None, after=None):
        super().__init__()
        self.compute, self.before, self.after = compute, before or (lambda x: x), after or (lambda x: x)
        self.alloc, self.clear, self.get = P.NPUAllocFloatStatus(), P.NPUClearFloatStatus(), P.NPUGetFloatStatus()

    def construct(self, x):
        status = self.alloc()
        self.before(x)
        self.clear(status)
        y = self.compute(x)
        returned = self.get(status)
        self.after(x)
        return y, returned, status


def square(x):
    return x * x


def squared_in_a_branch(x):
    return x * x if x.sum() > 0 else x


def squared_in_a_loop(x):
    while x.sum() < 1e36:
        x = x * x
    return x


def gradient_alone_overflows(x):
    return ops.GradOperation()(lambda x: P.Sqrt()(x).sum())(x * 0)


def cast_to_half(x):
    return x.astype(ms.float16)


def reduced(x):
    return P.ReduceSum()(P.Concat()((x, x)) * 2e8)


OVERFLOWS = [square, squared_in_a_branch, squared_in_a_loop, gradient_alone_overflows, cast_to_half, reduced]


@pytest.mark.parametrize("compute", OVERFLOWS)
def test_an_overflow_between_clear_and_get_is_seen(compute):
    for x, seen in ((1e30, 1), (2.0, float(compute in (gradient_alone_overflows, squared_in_a_loop)))):
        _, returned, flag = Watched(compute)(Tensor(np.full(3, x, np.float32)))
        np.testing.assert_array_equal(returned.asnumpy(), [seen] + [0] * 7)
        np.testing.assert_array_equal(flag.asnumpy(), returned.asnumpy())


def test_what_overflows_before_clear_or_after_get_does_not_count():
    _, status, _ = Watched(lambda x: x + 1, before=square, after=square)(Tensor([1e30]))
    assert status.asnumpy().sum() == 0


def test_integers_and_finite_results_are_no_overflow():
    _, status, _ = Watched(lambda x: (x + 1, P.Cast()(x, ms.int32), P.Equal()(x, x)))(Tensor([3e38]))
    assert status.asnumpy().sum() == 0


def test_an_error_in_between_leaves_nobody_looking():
    context.set_context(mode=context.GRAPH_MODE)

    def fail(x):
        raise KeyError("in between")

    with pytest.raises(KeyError):
        Watched(fail)(Tensor([1.0]))


class LossScaleStep(nn.Cell):
    """A training step as r1.x's mixed-precision networks write it: skipped when the status says overflow."""

    def __init__(self, network, optimizer, scale):
        super().__init__(auto_prefix=False)
        self.network, self.optimizer = network, optimizer
        self.weights = ParameterTuple(network.trainable_params())
        self.grad = C.GradOperation(get_by_list=True, sens_param=True)
        self.alloc, self.get, self.clear = P.NPUAllocFloatStatus(), P.NPUGetFloatStatus(), P.NPUClearFloatStatus()
        self.reduce_sum, self.less_equal = P.ReduceSum(keep_dims=False), P.LessEqual()
        self.base = Tensor(1, ms.float32)
        self.hyper_map = C.HyperMap()
        self.scale = Parameter(Tensor(scale, ms.float32), name="loss_scale")

    def construct(self, x):
        init = self.alloc()
        self.clear(init)
        loss = self.network(x)
        grads = self.grad(self.network, self.weights)(x, P.Cast()(self.scale, ms.float32))
        grads = self.hyper_map(F.partial(unscale, self.scale), grads)
        self.get(init)
        flag_sum = self.reduce_sum(init, (0,))
        cond = self.less_equal(self.base, flag_sum)
        succ = False if cond else self.optimizer(grads)
        return F.depend(loss, succ), cond


unscale = C.MultitypeFuncGraph("unscale")


@unscale.register("Tensor", "Tensor")
def _unscale(scale, grad):
    return grad * P.Reciprocal()(scale)


class HalfNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 1, weight_init="ones").to_float(ms.float16)

    def construct(self, x):
        return P.Cast()(P.ReduceMean()(self.dense(x)), ms.float32)


@pytest.mark.parametrize(("scale", "overflows"), [(1024.0, False), (2.0**24, True)])
def test_a_step_that_overflows_leaves_the_weights_as_they_were(scale, overflows):
    net = HalfNet()
    step = LossScaleStep(net, nn.Momentum(net.trainable_params(), 0.1, 0.9), scale)
    before = net.dense.weight.asnumpy().copy()
    for _ in range(2):
        _, cond = step(Tensor(np.ones((2, 4), np.float32)))
        assert bool(cond.asnumpy()) is overflows
    after = net.dense.weight.asnumpy()
    assert np.isfinite(after).all()
    assert np.array_equal(after, before) is overflows


def test_an_operator_with_a_traced_number_is_watched_too():
    """It has a way of its own to be dispatched."""
    from msnb.core.eager import float_status

    context.set_context(mode=context.PYNATIVE_MODE)
    leaky, x = P.LeakyReLUExt(1e30), Tensor(np.float32([-1e30]))
    leaky(x)  # its numbers are placed from now on
    float_status.begin()
    leaky(x)
    assert bool(float_status.end())
