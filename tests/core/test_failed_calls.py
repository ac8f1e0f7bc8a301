"""A call that fails leaves the Parameters as they were, at no price for those that do not."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from msnb import Parameter, Tensor, context, nn, ops
from msnb.core.jaxpr import guarded_updates as keeping_module
from msnb.core.program import program_cache


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)


LOSS = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
X = Tensor(np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4))
RIGHT, WRONG = Tensor(np.array([0, 1, 4], np.int32)), Tensor(np.array([0, 5, 1], np.int32))
OPTIMIZERS = [
    lambda params: nn.Momentum(params, 0.1, 0.9),
    lambda params: nn.Adam(params, 0.1, use_nesterov=True),
    lambda params: nn.Lamb(params, 0.1),
    lambda params: nn.RMSProp(params, 0.1, centered=True),
]


def step_of(make):
    net = nn.SequentialCell(nn.Dense(4, 6), nn.BatchNorm1d(6), nn.Dense(6, 5))
    return nn.TrainOneStepCell(nn.WithLossCell(net, LOSS), make(net.trainable_params())).set_train()


def values(step):
    return {p.name: p.asnumpy().copy() for p in step.get_parameters()}


@pytest.mark.parametrize("make", OPTIMIZERS)
def test_a_step_with_a_wrong_label_changes_nothing_and_the_next_one_does(make):
    step = step_of(make)
    step(X, RIGHT)
    before = values(step)
    with pytest.raises(RuntimeError, match="labels"):
        step(X, WRONG).asnumpy()
    for name, value in values(step).items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)
    step(X, RIGHT)
    after = values(step)
    assert not np.array_equal(after["0.weight"], before["0.weight"])


@pytest.mark.parametrize("make", OPTIMIZERS[:2])
def test_no_weight_and_no_moment_is_copied_in_a_step(make):
    step = step_of(make)
    text = program_cache.program_of(step, X, RIGHT).compiled().as_text()
    entry = text[text.index("\nENTRY") :]
    assert not re.findall(r"f32\[6,4\]\S* copy\(", entry)  # of the first layer, whose weight no gradient needs


class Exchange(nn.Cell):
    """Parameters whose new values come from everywhere: each other, a constant, one another's result, the error."""

    def __init__(self):
        super().__init__()
        self.a, self.b = (Parameter(np.full(3, v, np.float32), name=n) for v, n in ((1, "a"), (2, "b")))
        self.c, self.d = (Parameter(np.full(3, v, np.float32), name=n) for v, n in ((3, "c"), (4, "d")))
        self.e = Parameter(np.zeros((), np.float32), name="e")

    def construct(self, x, labels):
        a, b = self.a + 0, self.b + 0
        ops.assign(self.a, b)
        ops.assign(self.b, a)
        total = x + self.d
        ops.assign(self.c, total)
        ops.assign(self.d, total)
        ops.assign_add(self.e, 1.0)
        loss = LOSS(total.reshape(1, 3), labels)
        ops.assign_add(self.e, loss)
        return loss


def test_values_known_before_the_error_and_values_that_two_parameters_share_survive_too():
    net = Exchange()
    x, right, wrong = Tensor(np.ones(3, np.float32)), Tensor(np.array([2], np.int32)), Tensor(np.array([3], np.int32))
    with pytest.raises(RuntimeError, match="labels"):
        net(x, wrong).asnumpy()
    got = [p.asnumpy().tolist() for p in (net.a, net.b, net.c, net.d, net.e)]
    assert got == [[1] * 3, [2] * 3, [3] * 3, [4] * 3, 0]
    loss = net(x, right)
    got = [p.asnumpy().tolist() for p in (net.a, net.b, net.c, net.d)]
    assert got == [[2] * 3, [1] * 3, [5] * 3, [5] * 3]
    np.testing.assert_allclose(net.e.asnumpy(), 1 + loss.asnumpy(), rtol=1e-6)


def test_a_call_with_one_more_input_is_what_jax_would_make_of_it():
    def Scale(x, y):
        return x * y

    (call,) = jax.make_jaxpr(jax.jit(Scale))(jnp.ones(3), jnp.ones(3)).eqns
    body = keeping_module._add_flag_input(call.params["jaxpr"], ((0, 0),))
    widened = keeping_module._extend_call_params(call.params, len(call.invars))
    traced = keeping_module._trace_call_params(body, "Scale")
    assert widened.keys() == traced.keys()
    assert {k: v for k, v in widened.items() if k != "jaxpr"} == {k: v for k, v in traced.items() if k != "jaxpr"}


def test_a_call_of_which_jax_says_more_is_traced():
    (call,) = jax.make_jaxpr(jax.jit(lambda x, y: x * y, donate_argnums=0))(jnp.ones(3), jnp.ones(3)).eqns
    assert keeping_module._extend_call_params(call.params, len(call.invars)) is None
