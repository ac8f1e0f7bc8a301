"""Checks that only the data can answer: when they are done, and what they leave as it was."""

import jax.numpy as jnp
import numpy as np
import pytest

import msnb as ms
from msnb import Model, Parameter, Tensor, context, nn, ops
from msnb import dataset as ds
from msnb.core.operator import value_checks
from msnb.core.program import program_cache
from msnb.core.state import deferred_errors, trace_state
from msnb.ops import operations as P

GRAPH, PYNATIVE = context.GRAPH_MODE, context.PYNATIVE_MODE


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=GRAPH)
    yield
    assert not trace_state.thread.pending_verdicts


def i32(*values):
    return Tensor(np.array(values, np.int32))


def step(reduction="mean"):
    net = nn.Dense(3, 4)
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction=reduction))
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    return net, optimizer, nn.TrainOneStepCell(loss, optimizer).set_train()


X = Tensor(np.ones((2, 3), np.float32))


# ---------------------------------------------------------------------- labels in a graph
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_a_step_with_a_wrong_label_changes_nothing_and_says_so_at_the_next_look(reduction):
    net, optimizer, train = step(reduction)
    train(X, i32(0, 3)).asnumpy()
    before = [p.asnumpy() for p in train.get_parameters()]
    train(X, i32(0, 4))  # nobody waits
    assert len(trace_state.thread.pending_verdicts) == 1
    with pytest.raises(RuntimeError, match="labels of 4 classes, from 0 to 3, but got 4") as caught:
        net.weight.asnumpy()
    assert ", first called at test_checks.py" in caught.value.__notes__[0]
    assert all((p.asnumpy() == b).all() for p, b in zip(train.get_parameters(), before, strict=True))
    assert train(X, i32(0, 3)).asnumpy() > 0 and (net.weight.asnumpy() != before[0]).any()


@pytest.mark.parametrize(
    "look",
    [
        str,
        repr,
        float,
        bool,
        lambda t: t.asnumpy(),
        lambda t: f"{t:.2f}",
        np.asarray,
        lambda t: t.tolist(),
        lambda t: t.data_sync(),
    ],
)
def test_every_look_at_a_value_settles(look):
    _, _, train = step()
    train(X, i32(0, 9))
    with pytest.raises(RuntimeError, match="got 9"):
        look(Tensor(1.0))


def test_steps_after_a_wrong_label_change_nothing_until_the_error_is_raised():
    net, _, train = step()
    train(X, i32(0, 3)).asnumpy()
    weight = net.weight.asnumpy()
    train(X, i32(0, 9))
    for _ in range(5):
        train(X, i32(0, 3))
        train(X, i32(0, 8))
    assert len(trace_state.thread.pending_verdicts) == 1
    with pytest.raises(RuntimeError, match="got 9"):
        print(X)
    assert (net.weight.asnumpy() == weight).all()
    train(X, i32(0, 3))
    assert (net.weight.asnumpy() != weight).any()


def test_the_error_of_a_wrong_label_is_raised_even_if_nobody_looks():
    net, _, train = step()
    train(X, i32(0, 9))
    weight = np.asarray(net.weight._get_stored_array())
    with pytest.raises(RuntimeError, match="got 9"):
        for _ in range(64):
            train(X, i32(0, 3))
    assert (net.weight.asnumpy() == weight).all()


def test_a_verdict_that_is_there_is_reported_by_the_next_call_of_another_program_before_it_starts():
    _, _, train = step()
    net, _, other = step()
    other(X, i32(0, 3)).asnumpy()
    weight = net.weight.asnumpy()
    train(X, i32(0, 9))
    trace_state.thread.pending_verdicts[0][0].block_until_ready()
    with pytest.raises(RuntimeError, match="got 9"):
        other(X, i32(0, 3))
    assert (net.weight.asnumpy() == weight).all()


def test_two_programs_in_turns_write_nothing_after_an_error(monkeypatch):
    monkeypatch.setattr(deferred_errors, "poll", lambda **_: None)  # as if no error code were ready
    (first, _, train), (_, _, other) = step(), step()
    weight = first.weight.asnumpy()
    train(X, i32(0, 9))
    for _ in range(3):
        other(X, i32(0, 1))
        train(X, i32(0, 1))
    with pytest.raises(RuntimeError, match="got 9"):
        first.weight.asnumpy()
    np.testing.assert_array_equal(first.weight.asnumpy(), weight)


def test_a_step_that_is_repeated_knows_no_earlier_error():
    _, _, train = step()
    program = program_cache.program_of(train, X, i32(0, 1))
    train(X, i32(0, 9))
    inputs = [np.asarray(p._get_stored_array()) for p in program.params]
    assert np.asarray(program.repeat_run([*inputs, X._array, i32(1, 2)._array], 0)[1]).tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="got 9"):
        print(X)


def test_training_ends_with_the_error_of_a_wrong_label():
    net = nn.Dense(3, 4)
    data = ds.NumpySlicesDataset({"x": np.ones((4, 3), np.float32), "y": np.int32([0, 1, 2, 4])}, shuffle=False)
    model = Model(
        net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), nn.SGD(net.trainable_params(), 0.1)
    )
    with pytest.raises(RuntimeError, match="got 4"):
        model.train(1, data.batch(2), dataset_sink_mode=False)
    assert np.isfinite(net.weight.asnumpy()).all()


def test_the_graph_of_a_step_holds_one_node_for_the_check_and_none_for_the_stored_value():
    _, _, train = step()
    jaxpr = program_cache.program_of(train, X, i32(0, 1)).jaxpr.jaxpr
    names = [e.params.get("name") for e in jaxpr.eqns]
    assert names.count("CheckLabels") == 1 and "_where" not in names
    assert not any(e.primitive.name == "select_n" for e in jaxpr.eqns)


def test_a_program_in_pynative_mode_under_a_gradient_keeps_its_parameters_too():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = Parameter(np.float32([0]), name="count")

        @ms.ms_function
        def construct(self, x, y):
            self.count += 1
            return ops.cross_entropy(x, y)

    context.set_context(mode=PYNATIVE)
    net = Net()
    logits = Tensor(np.ones((2, 4), np.float32))
    ops.GradOperation()(net)(logits, i32(0, 3))
    with pytest.raises(RuntimeError, match="got 9"):
        ops.GradOperation()(net)(logits, i32(0, 9)).asnumpy()
    deferred_errors.wait_and_report()
    assert net.count.asnumpy().tolist() == [1]


# ---------------------------------------------------------------------- the checked form
class Picks(nn.Cell):
    def construct(self, x, i):
        return x[i]


def test_switching_the_checks_runs_another_program_and_finds_the_first_one_again():
    net, x = Picks(), Tensor(np.float32([1, 2]))
    assert np.isnan(net(x, i32(5)).asnumpy()).all()
    context.set_context(check_indices=True)
    with pytest.raises(IndexError, match="got 5"):
        net(x, i32(5))
    assert net._programs.compiled == 2
    context.set_context(check_indices=False)
    assert np.isnan(net(x, i32(5)).asnumpy()).all() and net._programs.compiled == 2


def branch(x, i):
    return x[i] if i[0] > 0 else x[:2]


def loop(x, i):
    k = i[0]
    total = x[0] * 0
    while k > 0:
        total = total + x[k].sum()
        k = k - 1
    return total


def counted(x, i):
    total = x[0] * 0
    for k in range(3):
        total = total + x[i + k].sum()
    return total


def batched(x, i):
    return ms.vmap(lambda one: x[one], 0)(i)


def pushed(x, i):
    return ms.jvp(lambda x: x[i] * 2, x, x)[1]


def jacobian(x, i):
    return ms.jacrev(lambda x: x[i] * 2)(x)


def gradient(x, i):
    return ops.GradOperation()(lambda x: x[i] * x[i])(x)


class OwnGradient(nn.Cell):
    def construct(self, x, i):
        return x[i]

    def bprop(self, x, i, out, dout):
        return x * 0, i


_own = OwnGradient()


def own_gradient(x, i):
    return _own(x, i)


@pytest.mark.parametrize("fn", [branch, loop, counted, batched, pushed, jacobian, gradient, own_gradient])
def test_a_check_is_heard_from_inside(fn):
    context.set_context(check_indices=True)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.calls = Parameter(np.float32([0]), name="calls")

        def construct(self, x, i):
            self.calls += 1
            return fn(x, i)

    net, x = Net(), Tensor(np.float32([1, 2, 3, 4, 5]))
    net(x, i32(1, 2))
    with pytest.raises(IndexError, match="in \\[-5, 5\\), but got [5-9]"):
        net(x, i32(7, 2))
    assert net.calls.asnumpy().tolist() == [1]


def test_what_a_branch_does_not_run_is_not_checked():
    context.set_context(check_indices=True)

    class Net(nn.Cell):
        def construct(self, x, i):
            return branch(x, i)

    assert Net()(Tensor(np.float32([1, 2])), i32(-9, -9)).asnumpy().tolist() == [1, 2]


def test_the_first_of_two_errors_is_raised():
    context.set_context(check_indices=True)

    class Net(nn.Cell):
        def construct(self, x, i):
            if i[0] > 3:
                raise KeyError("large")
            return x[i]

    x = Tensor(np.float32([1, 2]))
    with pytest.raises(KeyError, match="large"):
        Net()(x, i32(5))
    with pytest.raises(IndexError, match="got 3"):
        Net()(x, i32(3))


# ---------------------------------------------------------------------- PYNATIVE mode
@pytest.fixture
def slow(monkeypatch):
    """No array counts as being there."""
    monkeypatch.setattr(value_checks, "is_available", lambda value: not hasattr(value, "is_ready"))


def test_indices_that_are_not_there_yet_are_checked_at_the_next_look(slow):
    context.set_context(mode=PYNATIVE)
    y = Tensor(np.float32([1, 2]))[i32(5)]  # the line that the error names
    z = Tensor(np.float32([1, 2]))[i32(1)]
    with pytest.raises(IndexError, match="but got 5") as caught:
        print(z)
    assert "test_checks.py" in caught.value.__notes__[0]
    assert np.isnan(y.asnumpy()).all() and z.asnumpy() == 2


def test_number_of_verdicts_is_limited(slow):
    context.set_context(mode=PYNATIVE)
    x = Tensor(np.float32([1, 2]))
    for _ in range(300):
        x[i32(0)]
    assert len(trace_state.thread.pending_verdicts) <= 256
    deferred_errors.wait_and_report()


def test_operators_without_checks_run_as_before():
    assert not P.Add.operator.checks and not P.OneHot.operator.checks
    assert P.Add.operator.functional(Tensor(1.0), Tensor(2.0)).asnumpy() == 3


@pytest.mark.parametrize("mode", [context.PYNATIVE_MODE, context.GRAPH_MODE], ids=["PYNATIVE", "GRAPH"])
def test_an_operator_that_is_recomputed_is_still_checked(mode):
    context.set_context(mode=mode)
    look_up = P.Gather().recompute()
    assert look_up(Tensor(np.float32([1, 2])), i32(1), 0).asnumpy() == 2
    with pytest.raises(RuntimeError, match="but got 5"):
        look_up(Tensor(np.float32([1, 2])), i32(5), 0).asnumpy()


# ---------------------------------------------------------------------- ranges
VALUES = [
    np.array(v, d) for d in (np.int32, np.int64, np.int8, np.uint8) for v in ([0], [3, 4], [[1, 2], [3, 100]], [])
]


@pytest.mark.parametrize(
    "values",
    VALUES + [np.array([-1, 2, -100], np.int32), np.array([-(2**31)], np.int32)],
    ids=lambda v: f"{v.dtype}{v.tolist()}",
)
@pytest.mark.parametrize("bounds", [(4, 0, None), (4, -4, None), (4, None, None), (4, 0, 100), (900, 0, -9)], ids=str)
def test_host_and_device_agree_on_what_is_out_of_range(values, bounds):
    high, low, ignored = bounds
    bad = [v for v in values.reshape(-1).tolist() if not ((low is None or low <= v) and v < high) and v != ignored]
    result = value_checks.find_out_of_range(values, high, low, ignored)
    assert result == (bad[0] if bad else None)
    verdict = np.asarray(
        value_checks._update_error_code(jnp.asarray(values), high, low, ignored, 7, np.zeros(2, np.int32))
    )
    assert verdict.tolist() == ([7, max(bad)] if bad else [0, 0])


def test_an_operator_of_a_user_can_say_what_its_indices_keep_to():
    from msnb.core.operator.declare import operator
    from msnb.core.operator.operator_types import REGISTRY

    @operator(checks=[value_checks.index("rows", of="x", negative=False)])
    def TestRows(x, rows):
        return x[rows]

    try:
        context.set_context(mode=PYNATIVE)
        run = TestRows()
        assert run(Tensor(np.float32([1, 2])), i32(1)).asnumpy() == 2
        with pytest.raises(RuntimeError, match="For 'TestRows', 'rows' should be in \\[0, 2\\), but got -1"):
            run(Tensor(np.float32([1, 2])), i32(-1))
    finally:
        del REGISTRY["TestRows"]
