"""GRAPH mode: what is compiled, when again, and who owns the arrays."""

import builtins
import copy
import functools
import gc
import pickle
import signal
import threading
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops
from msnb.core.operator import api_generations
from msnb.core.program import extra_outputs, program_cache


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


class Scale(nn.Cell):
    """x * factor + w, and counts its calls."""

    def __init__(self, factor=2.0):
        super().__init__()
        self.factor = factor
        self.w = Parameter(np.float32([1, 1]), name="w")
        self.calls = Parameter(0, name="calls", requires_grad=False)

    def construct(self, x):
        self.calls += 1
        return x * self.factor + self.w


X = Tensor([1.0, 2.0])


def count(net):
    """Number of times the Cell was compiled."""
    return net._programs.compiled


def test_a_parameter_written_in_construct_is_rebound():
    net = Scale()
    assert net(X).asnumpy().tolist() == [3, 5]
    net(X)
    assert net.calls.asnumpy() == 2 and count(net) == 1


def test_both_modes_give_the_same():
    net = Scale()
    graph = net(X).asnumpy()
    context.set_context(mode=context.PYNATIVE_MODE)
    assert np.allclose(graph, net(X).asnumpy(), atol=1e-6) and net.calls.asnumpy() == 2


def test_a_changed_attribute_takes_effect_and_an_equal_one_costs_nothing():
    net = Scale()
    net(X)
    net.factor = 3.0
    assert net(X).asnumpy().tolist() == [4, 7] and count(net) == 2
    net.factor = 3.0
    net(X)
    net.set_train(True)
    net(X)
    net.set_train(False)
    net(X)
    assert count(net) == 3


def test_new_shapes_and_dtypes_compile_their_own_program():
    net = Scale()
    net(X)
    net(Tensor(np.ones((3, 2), np.float32)))
    net(X)
    assert count(net) == 2


def test_a_redefined_helper_is_seen_at_the_next_cell_boundary():
    space = {"__name__": "user", "ms": ms}
    import linecache

    def run(name, text):
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        exec(builtins.compile(text, name, "exec"), space)

    run("<a>", "def helper(x):\n    return x + 1\n")
    run("<b>", "@ms.ms_function\ndef f(x):\n    return helper(x)\n")
    assert space["f"](Tensor(1.0)).asnumpy() == 2
    run("<c>", "def helper(x):\n    return x + 10\n")
    ms.core.state.trace_state.epoch.bump()  # what the notebook does between cells
    assert space["f"](Tensor(1.0)).asnumpy() == 11


def test_one_parameter_in_two_cells_is_one_parameter():
    first, second = Scale(), Scale()
    second.w = first.w
    both = nn.SequentialCell(first, second)
    assert len(list(both.get_parameters())) == 3
    first.w.set_data(Tensor([10.0, 10.0]))
    assert both(X).asnumpy().tolist() == [34, 38]


def test_two_programs_that_write_overlapping_parameters_keep_each_other_right():
    class Add(nn.Cell):
        def __init__(self, *params):
            super().__init__(auto_prefix=False)
            self.params = ms.ParameterTuple(params)

        def construct(self, x):
            for p in self.params:
                p.set_data(p + x)
            return x

    a, b, c = (Parameter(np.float32(0), name=n) for n in "abc")
    ab, bc, all_ = Add(a, b), Add(b, c), Add(a, b, c)
    one = Tensor(np.float32(1))
    for net in (ab, bc, all_, ab, bc, all_, ab):
        net(one)
    assert [int(p.asnumpy()) for p in (a, b, c)] == [5, 7, 4]


def test_tensors_taken_from_parameters_survive_training():
    net = Scale()
    tensors = [net.w.value(), ops.Identity()(net.w), Tensor(net.w), net.w[0]]
    twin = copy.deepcopy(net)
    step = StepUp(net)
    for _ in range(3):
        step(X)
    assert tensors[0].asnumpy().tolist() == [1, 1] and tensors[1].asnumpy().tolist() == [1, 1]
    assert tensors[2].asnumpy().tolist() == [1, 1] and tensors[3].asnumpy() == 1
    assert twin.w.asnumpy().tolist() == [1, 1] and net.w.asnumpy().tolist() == [4, 4]


class StepUp(nn.Cell):
    """Adds one to the weight of a net and returns weight and input as they came in."""

    def __init__(self, net):
        super().__init__(auto_prefix=False)
        self.net = net

    def construct(self, x):
        before = self.net.w
        self.net.w.set_data(self.net.w + 1)
        return before + 0, x


def test_a_parameter_returned_or_assigned_as_it_is_belongs_to_nobody_else():
    class Hand(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(np.float32([1, 1]), name="w")
            self.v = Parameter(np.float32([0, 0]), name="v")

        def construct(self, x):
            self.v.set_data(x)
            old = self.w * 1
            self.w.set_data(self.w + x)
            return old, self.v

    net, x = Hand(), Tensor([1.0, 2.0])
    outputs = [net(x) for _ in range(3)]
    assert x.asnumpy().tolist() == [1, 2]
    assert outputs[0][0].asnumpy().tolist() == [1, 1] and outputs[0][1].asnumpy().tolist() == [1, 2]


def test_an_error_while_tracing_leaves_parameters_and_thread_as_they_were():
    class Broken(Scale):
        def construct(self, x):
            self.w.set_data(self.w + 1)
            raise KeyError("mine")

    net = Broken()
    with pytest.raises(KeyError, match="mine"):
        net(X)
    assert ms.core.state.trace_state.thread.frame is None and net.w.asnumpy().tolist() == [1, 1]
    with pytest.raises(ValueError):
        Scale()(Tensor([1.0, 2.0, 3.0]))
    assert Scale()(X).asnumpy().tolist() == [3, 5]


def test_numpy_inputs_are_refused():
    with pytest.raises(TypeError, match="Tensor"):
        Scale()(np.ones(2, np.float32))


def test_python_numbers_and_nested_tuples_are_arguments():
    @ms.ms_function
    def f(x, pair, k, flag):
        return x * pair[0] + pair[1][0] if flag else x * k

    assert f(X, (X, [X]), 3, True).asnumpy().tolist() == [2, 6]
    assert f(X, (X, [X]), 3, False).asnumpy().tolist() == [3, 6]
    assert f(X, (X, [X]), 0.5, False).asnumpy().tolist() == [0.5, 1]


def test_a_float_argument_does_not_compile_again():
    @ms.ms_function
    def f(x, k):
        return x * k

    for k in (0.1, 0.2, 0.3):
        f(X, k)
    assert f._programs.compiled == 1 and f(X, 0.5).dtype == ms.float32


def test_a_traced_tensor_used_as_a_number_says_what_to_do():
    @ms.ms_function
    def f(x):
        return np.sum(x.asnumpy())

    with pytest.raises(RuntimeError, match="PYNATIVE"):
        f(X)


def test_an_attribute_cannot_keep_a_traced_tensor():
    class Keep(nn.Cell):
        def construct(self, x):
            self.last = x * 2
            return x

    with pytest.raises(TypeError, match="Parameter"):
        Keep()(X)


def test_cells_are_copied_and_pickled_with_their_values():
    net = Scale()
    net(X)
    for twin in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        twin.w.set_data(Tensor([5.0, 5.0]))
        assert twin(X).asnumpy().tolist() == [7, 9] and net.w.asnumpy().tolist() == [1, 1]


def test_a_cell_is_used_from_two_threads():
    net, results = Scale(), []

    def work():
        for _ in range(20):
            results.append(net(X).asnumpy().tolist())

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [[3, 5]] * 40 and net.calls.asnumpy() == 40


def test_an_interrupt_leaves_the_last_complete_step():
    class Slow(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Parameter(np.ones((400, 400), np.float32), name="a")
            self.n = Parameter(0, name="n")

        def construct(self, x):
            self.a.set_data(ops.MatMul()(self.a, self.a) * 0.0025)
            self.n += 1
            return x

    net = Slow()
    net(X)
    for delay in (0.011, 0.023, 0.037):
        with pytest.raises(KeyboardInterrupt):  # also when this thread waits for its turn for longer than the timer
            timer = threading.Timer(delay, signal.raise_signal, (signal.SIGINT,))
            timer.start()
            while timer.is_alive():
                net(X)
            timer.join()
        before = int(net.n.asnumpy())
        assert np.allclose(net.a.asnumpy(), 1.0, rtol=1e-2)
        net(X)
        assert net.n.asnumpy() == before + 1


def test_duplicate_parameter_names_are_refused():
    class Two(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Parameter(1.0, name="same")
            self.b = Parameter(1.0, name="same")

        def construct(self, x):
            return x

    with pytest.raises(ValueError, match="same"):
        Two()(X)


def test_keyword_arguments_are_bound_to_construct():
    class Two(nn.Cell):
        def construct(self, x, y, k=2):
            return x - y * k

    assert Two()(y=X, x=X * 4).asnumpy().tolist() == [2, 4]

    class Only(nn.Cell):
        def construct(self, x, *, k):
            return x * k

    with pytest.raises(ValueError, match="'k' can only be given by keyword"):
        Only()(X, k=2)


def test_keywords_of_construct_under_mindspore_2(monkeypatch):
    monkeypatch.setattr(api_generations, "shared", 2)

    class More(nn.Cell):
        def construct(self, x, *rest, scale=2, **more):
            return (x + sum(rest) + more.get("shift", 0)) * scale

    assert More()(X, X, scale=X, shift=1.5).tolist() == ((2 * X + 1.5) * X).tolist()

    class Own(nn.Cell):
        def construct(self, x, *, k=3):
            return x * k

        def bprop(self, x, out, dout):
            return (dout,)

    assert ops.grad(lambda x: Own()(x=x))(X).tolist() == [1] * len(X)
    with pytest.raises(ValueError, match="its bprop gets inputs by position"):
        ops.grad(Own())(X, k=2)


def test_program_of_describes_the_graph():
    program = program_cache.program_of(Scale(), X)
    assert ("param", "w", True) in program.inputs and ("arg", "x") in program.inputs
    assert program.outputs == [("result", 0), ("param", "calls")]
    assert "stablehlo" in program.lowered().as_text()


def test_random_operators_repeat_after_the_same_seed_and_differ_between_calls():
    @ms.ms_function
    def draw():
        return ops.StandardNormal()((4,))

    ms.set_seed(3)
    first, second = draw().asnumpy(), draw().asnumpy()
    ms.set_seed(3)
    assert (draw().asnumpy() == first).all() and (first != second).any()


# ---------------------------------------------------------------------- observers
class Norms:
    """An observer that adds the sum of squares of each result that is a Parameter's new value."""

    def __init__(self, expected=lambda program: True):
        self.wanted = expected
        self.asked = 0
        self.seen = []

    def rewrite(self, program):
        self.asked += 1
        if not self.wanted(program):
            return None
        graph, first = program.jaxpr, program.n_results

        def further(*args):
            outs = jax.core.eval_jaxpr(graph.jaxpr, graph.consts, *args)
            return (*outs, *[jnp.sum(jnp.square(o)) for o in outs[first:]])

        return jax.make_jaxpr(further)(*graph.in_avals)

    def receive(self, program, run):
        self.seen.append([float(e) for e in run.extras])
        self.last = run


@pytest.fixture
def watched():
    added = []
    yield lambda observer: added.append(observer) or extra_outputs.add(observer)
    for observer in added:
        extra_outputs.remove(observer)


def test_an_observer_sees_further_arrays_of_each_run_and_changes_no_result(watched):
    plain, net = Scale(), Scale()
    expected = [plain(X).asnumpy() for _ in range(3)]
    seen = watched(Norms()).seen
    assert all((net(X).asnumpy() == e).all() for e in expected)
    assert seen == [[1.0], [4.0], [9.0]] and net.calls.asnumpy() == 3


def test_an_observer_can_run_the_program_again_on_the_inputs_of_a_run(watched):
    net, observer = Scale(), watched(Norms())
    net(X)
    net(X)
    arrays = observer.last
    net(X)
    graph = program_cache.program_of(net, X).jaxpr
    again = jax.core.eval_jaxpr(graph.jaxpr, graph.consts, *arrays.inputs)
    assert [a.tolist() for a in again] == [o.tolist() for o in arrays.outputs] and 2.0 in [o.tolist() for o in again]


class ResultSums:
    """An observer that adds the sum of the first result."""

    def __init__(self):
        self.seen = []

    def rewrite(self, program):
        graph = program.jaxpr

        def with_sum(*args):
            outs = jax.core.eval_jaxpr(graph.jaxpr, graph.consts, *args)
            return (*outs, jnp.sum(outs[0]))

        return jax.make_jaxpr(with_sum)(*graph.in_avals)

    def receive(self, program, run):
        self.seen += [float(e) for e in run.extras]


def test_an_observer_follows_the_changed_weights_of_a_frozen_network(watched):
    net = nn.Dense(2, 2, weight_init="ones")
    predict = ms.frozen(net)
    observer, sums = watched(ResultSums()), []
    for factor in (1, 3):
        net.weight.set_data(net.weight * factor)
        sums.append(float(predict(X.reshape(1, 2)).asnumpy().sum()))
    assert observer.seen == sums and sums[1] == 3 * sums[0]


def test_an_observer_that_comes_and_goes_leaves_the_compiled_program_as_it_was():
    net = Scale()
    net(X)
    program = program_cache.program_of(net, X)
    own = program.run
    first, second = Norms(), Norms()
    extra_outputs.add(first)
    extra_outputs.add(second)
    net(X)
    assert program.run is not own and first.seen == second.seen == [[4.0]]
    extra_outputs.remove(first)
    net(X)
    extra_outputs.remove(second)
    net(X)
    assert program.run is own and first.seen == [[4.0]] and second.seen == [[4.0], [9.0]]
    assert program_cache.program_of(net, X) is program and first.asked == 1


def test_a_program_keeps_no_observer_alive_but_its_form_for_when_it_comes_again():
    net, observer = Scale(), Norms()
    extra_outputs.add(observer)
    net(X)
    form = program_cache.program_of(net, X).run
    extra_outputs.remove(observer)
    net(X)
    extra_outputs.add(observer)
    net(X)
    assert program_cache.program_of(net, X).run is form and observer.asked == 1 and observer.seen == [[1.0], [9.0]]
    extra_outputs.remove(observer)
    gone = weakref.ref(observer)
    del observer
    gc.collect()
    assert gone() is None


def test_an_observer_may_leave_a_program_alone(watched):
    net, observer = Scale(), Norms(lambda program: False)
    net(X)
    run = program_cache.program_of(net, X).run
    watched(observer)
    net(X)
    assert program_cache.program_of(net, X).run is run and observer.asked == 1 and not observer.seen


def test_gradients_of_parameters_are_named_in_the_graph_of_a_train_step():
    net = nn.Dense(3, 2)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
    program = program_cache.program_of(step, Tensor(np.ones((4, 3), np.float32)), Tensor(np.ones((4, 2), np.float32)))
    names = [eqn.params["name"] for eqn in program.jaxpr.jaxpr.eqns if eqn.primitive.name == "name"]
    assert names == [f"gradient:{p.name}" for p in net.trainable_params()]


def test_the_program_of_a_value_and_grad_function_is_returned_without_running_it():
    net = Scale()
    step = ops.value_and_grad(net, None, net.trainable_params())
    program = program_cache.program_of(step, X)
    assert net.calls.asnumpy() == 0 and [name for kind, name, *_ in program.inputs if kind == "arg"] == ["x"]
    step(X)
    assert program.calls == 1


def test_a_partial_is_compiled_under_the_name_of_its_function():
    def scale(factor, x):
        return x * factor

    compiled = ms.ms_function(functools.partial(scale, 2.0))
    assert compiled(X).asnumpy().tolist() == [2, 4] and compiled.name == "scale"


def test_a_network_nested_too_deep_is_named():
    class Nests(nn.Cell):
        def construct(self, x):
            return self(x)

    with pytest.raises(RecursionError, match="graph of Nests needs more than Python's"):
        Nests()(X)
