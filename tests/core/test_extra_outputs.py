"""Observers of compiled programs: a halt reaches the user, and an observer can leave out runs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from msnb import Parameter, Tensor, context, nn
from msnb.core.jaxpr.instrument import Measure, instrument
from msnb.core.jaxpr.merge_graphs import merge_graphs
from msnb.core.program import extra_outputs


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)


class Counter(nn.Cell):
    def __init__(self):
        super().__init__()
        self.total = Parameter(Tensor(np.zeros(3, np.float32)), name="total")

    def construct(self, x):
        self.total = self.total + x
        return self.total * 2


class Observer:
    """Adds the first result as an extra output, and wants the runs whose number is a multiple of `every`."""

    def __init__(self, every=1):
        self.every, self.asked, self.totals = every, 0, []

    def rewrite(self, program):
        closed = program.jaxpr
        return closed.replace(jaxpr=closed.jaxpr.replace(outvars=[*closed.jaxpr.outvars, closed.jaxpr.outvars[0]]))

    def wants(self, program):
        self.asked += 1
        return (self.asked - 1) % self.every == 0

    def receive(self, program, run):
        self.totals.append(float(run.extras[0][0]))


@pytest.fixture
def observe():
    observers = []

    def start(observer):
        observers.append(extra_outputs.add(observer))
        return observer

    yield start
    for observer in observers:
        extra_outputs.remove(observer)


def run(net, times):
    return [float(net(Tensor(np.ones(3, np.float32))).asnumpy()[0]) for _ in range(times)]


def test_an_observer_receives_the_runs_that_it_wants(observe):
    observer, net = observe(Observer(every=3)), Counter()
    assert run(net, 7) == [2, 4, 6, 8, 10, 12, 14]
    assert observer.asked == 7
    assert observer.totals == [2, 8, 14]


def test_both_forms_are_compiled_once(observe, monkeypatch):
    net, compiled = Counter(), []
    from msnb.core.program import background_compile

    compile_ahead = background_compile.compile_ahead
    monkeypatch.setattr(
        background_compile, "compile_ahead", lambda *args: (compiled.append(1), compile_ahead(*args))[1]
    )
    observe(Observer(every=2))
    run(net, 8)
    assert len(compiled) == 2


def test_a_run_reaches_only_the_observers_that_want_it(observe):
    often, seldom, net = observe(Observer(every=1)), observe(Observer(every=4)), Counter()
    run(net, 4)
    assert often.totals == [2, 4, 6, 8]
    assert seldom.totals == [2]


def test_a_halt_reaches_the_user_and_the_observer_stays(observe):
    class Stopping(Observer):
        def receive(self, program, run):
            super().receive(program, run)
            if len(self.totals) == 2:
                raise extra_outputs.Halt("the second run")

    observer, net = observe(Stopping()), Counter()
    run(net, 1)
    with pytest.raises(extra_outputs.Halt, match="the second run"):
        run(net, 1)
    assert net.total.asnumpy()[0] == 2  # of the step that has ended
    assert run(net, 1) == [6]
    assert observer.totals == [2, 4, 6]


def test_an_observer_that_fails_when_it_is_asked_is_removed(observe, caplog):
    class Failing(Observer):
        def wants(self, program):
            raise ValueError("no answer")

    observer, net = observe(Failing()), Counter()
    assert run(net, 2) == [2, 4]
    assert observer not in extra_outputs.observers
    assert observer.totals == []


class Doubling(nn.Cell):
    """Doubles `x` n times, in a loop that Ctrl-C can end."""

    def construct(self, x, n):
        i = n * 0
        while i < n:
            x = x * 2
            i = i + 1
        return x


def test_observers_of_a_program_with_a_loop_receive_the_runs_that_they_want(observe):
    often, seldom, net = observe(Observer(every=1)), observe(Observer(every=2)), Doubling()
    x, n = Tensor(np.ones(3, np.float32)), Tensor(np.int32(3))
    assert [float(net(x, n).asnumpy()[0]) for _ in range(3)] == [8, 8, 8]
    assert often.totals == [8, 8, 8]
    assert seldom.totals == [8, 8]


class _Sum(Measure):
    def measure(self, point, array):
        return array.sum()


class _Point:
    slot = 0


def _count_primitives(closed):
    names = [eqn.primitive.name for eqn in closed.jaxpr.eqns]
    return {name: names.count(name) for name in names}


def test_graphs_of_several_observers_compute_their_common_equations_once():
    @jax.jit
    def layer(x, w):
        return jnp.tanh(x @ w)

    def network(x, w):
        twice = layer(x, w) + layer(x, w)  # equal calls of one graph are not merged
        branch = jax.lax.cond(x[0, 0] > 0, lambda: twice, lambda: -twice)
        return jax.lax.fori_loop(0, 3, lambda _, y: layer(y, w), branch)

    x, w = jnp.asarray(np.random.default_rng(0).standard_normal((2, 4, 4)), jnp.float32)
    closed = jax.make_jaxpr(network)(x, w)
    call = next(eqn for eqn in closed.jaxpr.eqns if eqn.primitive.name in ("jit", "pjit"))
    inner = call.params["jaxpr"].jaxpr.eqns[-1]
    measured, _ = instrument(closed, {((id(call), 0), id(inner)): [_Point()]}, _Sum())
    merged = merge_graphs([closed, measured, measured])
    own, every = _count_primitives(merge_graphs([closed])), _count_primitives(merged)
    assert every == own | {"reduce_sum": 1}
    assert own["dot_general"] == 2
    results = jax.jit(jax.extend.core.jaxpr_as_fun(merged))(x, w)
    expected = jax.jit(network)(x, w)
    np.testing.assert_array_equal(results[0], expected)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_allclose(results[2], layer(x, w).sum(), rtol=1e-6)
    np.testing.assert_array_equal(results[2], results[4])


def test_loops_with_other_constants_are_not_merged():
    def looped(constant):
        inner = jax.make_jaxpr(lambda y: y * 2 + constant)(jnp.float32(1))  # the constant is hidden in a nested graph
        call = jax.extend.core.jaxpr_as_fun(inner)
        return jax.make_jaxpr(lambda x: jax.lax.fori_loop(0, 3, lambda _, y: call(y)[0], x))(jnp.float32(1))

    first, second = looped(jnp.float32(1)), looped(jnp.float32(5))
    merged = merge_graphs([first, second, first])
    assert _count_primitives(merged) == {name: 2 * n for name, n in _count_primitives(first).items()}
    results = jax.extend.core.jaxpr_as_fun(merged)(jnp.float32(1))
    assert [float(result) for result in results] == [15, 43, 15]
