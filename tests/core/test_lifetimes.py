"""Cached data of an object belongs to it and is freed with it."""

import copy
import functools
import gc
import linecache
import pickle
import weakref

import numpy as np
import pytest
from jax._src.interpreters import partial_eval

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb.core.compat import jax_private
from msnb.core.errors import converted_code
from msnb.core.program import program_cache
from msnb.core.script import convert_function
from msnb.core.state import events, trace_state
from msnb.core.support.weak_identity import ObjectKey, WeakIdentityDict, attach, attached
from msnb.core.transforms import functional


@pytest.fixture(params=[context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["GRAPH", "PYNATIVE"])
def mode(request):
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=context.PYNATIVE_MODE)


X = Tensor(np.float32([1.0]))


class Scales:
    """No Cell."""

    def __init__(self, factor):
        self.factor = factor

    def run(self, x):
        return x * self.factor

    @ms.ms_function
    def compiled(self, x):
        return x * self.factor


class Frozen(tuple):
    """Cannot be referenced weakly."""

    def run(self, x):
        return x * self[0]


@pytest.mark.parametrize("kind", [Scales, lambda factor: Frozen([factor])], ids=["object", "tuple"])
@pytest.mark.parametrize(
    "of",
    [
        lambda thing: ops.GradOperation()(thing.run)(X),
        lambda thing: ops.grad(thing.run)(X),
        lambda thing: ops.value_and_grad(thing.run)(X)[0],
        lambda thing: ops.value_and_grad(thing.run)(X)[1],
        lambda thing: ops.grad(functools.partial(thing.run))(X),
        lambda thing: ops.grad(lambda x: thing.run(x))(X),
        lambda thing: ms.ms_function(thing.run)(X),
        lambda thing: functional.vmap(thing.run)(X),
        lambda thing: functional.jacrev(thing.run)(X).reshape((1,)),
        lambda thing: ops.grad(ops.grad(lambda x: thing.run(x) * x * x))(X) / 6,
    ],
)
def test_a_new_object_gets_its_own_program_and_not_that_of_a_dead_one(mode, kind, of):
    for number in range(1, 9):
        thing = kind(float(number))
        assert float(of(thing).asnumpy().reshape(-1)[0]) == pytest.approx(number)
        del thing


def test_a_compiled_method_belongs_to_its_object(mode):
    for number in range(1, 9):
        assert float(Scales(float(number)).compiled(X).asnumpy()[0]) == number


def train_network():
    """Weak references to a network that has been trained, to one of its Parameters and to a function of it."""
    net = nn.SequentialCell([nn.Dense(3, 4), nn.Dense(4, 1)])
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    x, y = Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((2, 1), np.float32))
    step.set_train()(x, y)

    def loss(x, depth=1):
        return net(x).sum() if depth == 0 else loss(x, depth - 1)  # refers to itself

    ops.grad(loss)(x)
    ms.ms_function(loss)(x)
    return weakref.ref(net), weakref.ref(next(net.get_parameters())), weakref.ref(loss)


def test_a_network_its_parameters_and_functions_of_it_are_freed(mode):
    refs = train_network()
    gc.collect()
    assert [ref() for ref in refs] == [None, None, None]


def test_code_and_constants_that_are_gone_are_forgotten():
    context.set_context(mode=context.GRAPH_MODE)
    source = (
        "class Fresh(nn.Cell):\n"
        "    def construct(self, x):\n"
        "        if x.sum() > 0:\n"
        "            return x * self.constant\n"
        "        return x\n"
    )
    linecache.cache["<fresh>"] = (len(source), None, source.splitlines(True), "<fresh>")

    def run():
        space = {"nn": nn, "__name__": "fresh"}
        exec(compile(source, "<fresh>", "exec"), space)
        cell = space["Fresh"]()
        cell.constant = Tensor([2.0])
        assert cell(X).asnumpy().tolist() == [2]

    run()  # the library's own code that it calls stays
    gc.collect()
    before = [len(table) for table in (convert_function._codes, converted_code._converted, trace_state.constants)]
    for _ in range(3):
        run()
    gc.collect()
    assert [
        len(table) for table in (convert_function._codes, converted_code._converted, trace_state.constants)
    ] == before
    context.set_context(mode=context.PYNATIVE_MODE)


def test_a_function_that_wraps_another_has_programs_of_its_own(mode):
    def double(x):
        return x * 2

    assert ops.grad(double)(X).asnumpy() == 2

    @functools.wraps(double)
    def more(x):
        return double(x) * 3

    assert ops.grad(more)(X).asnumpy() == 6


def test_the_programs_of_one_function_are_bounded():
    context.set_context(mode=context.GRAPH_MODE)
    from msnb.core.program import program_cache

    scale = ms.ms_function(lambda x, n: x * n)
    old, program_cache._MAX_SIGNATURES = program_cache._MAX_SIGNATURES, 4
    try:
        for n in range(8):
            assert scale(X, n).asnumpy() == n
        assert len(scale._programs.table) == 4
    finally:
        program_cache._MAX_SIGNATURES = old
        context.set_context(mode=context.PYNATIVE_MODE)


def test_an_identity_is_equal_to_that_of_the_same_object_while_it_lives():
    thing, twin = Scales(1.0), Scales(1.0)
    one, again, other = ObjectKey(thing), ObjectKey(thing), ObjectKey(twin)
    assert one == again and hash(one) == hash(again) and one != other
    del thing
    assert one == one and one != again and one != ObjectKey(None) and ObjectKey(None) == ObjectKey(None)


def test_an_identity_map_forgets_with_its_keys():
    table, thing = WeakIdentityDict(), Scales(1.0)
    table[thing] = 3
    assert table.get(thing) == 3 and thing in table and len(table) == 1
    del thing
    assert len(table) == 0


def test_what_is_attached_to_a_function_is_not_copied_with_it():
    def fn():
        return None

    attach(fn, "mark", 1)
    wrapped = functools.wraps(fn)(lambda: None)
    assert attached(fn, "mark") == 1 and attached(wrapped, "mark") is None
    assert pickle.loads(pickle.dumps(fn.__dict__))["mark"].value is None
    assert copy.deepcopy(fn.__dict__)["mark"].value is None


def test_traces_of_operators_for_networks_that_are_gone_are_dropped(monkeypatch):
    """JAX has traces of operators for each shape; ever new widths must not fill the memory."""
    traces = partial_eval.trace_to_jaxpr
    monkeypatch.setattr(jax_private, "_MAX_TRACES", 10)
    context.set_context(mode=context.GRAPH_MODE)
    try:
        numbers, references = [], []
        for width in range(3, 15):
            net = nn.SequentialCell([nn.Dense(2, width), nn.ReLU(), nn.Dense(width, 1)])
            step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
            step(Tensor(np.ones((4, 2), np.float32)), Tensor(np.ones((4, 1), np.float32)))
            references += [weakref.ref(net), weakref.ref(net[0].weight), weakref.ref(program_cache.programs_of(step))]
            references += map(
                weakref.ref, (entry.program for entries in step._programs.table.values() for entry in entries)
            )
            del net, step
            gc.collect()
            numbers.append(traces.cache_info().currsize)
        assert not [reference for reference in references if reference() is not None]
        assert max(numbers) - min(numbers) < 60, "a network has 20 traces, which the next one drops"
    finally:
        context.set_context(mode=context.PYNATIVE_MODE)


def test_a_network_is_as_quick_after_its_operators_traces_are_dropped(monkeypatch):
    """Its compiled programs stay."""
    context.set_context(mode=context.GRAPH_MODE)
    try:
        net, x = nn.Dense(2, 3), Tensor(np.ones((4, 2), np.float32))
        before = net(x)
        with events.listen(compiled=lambda program: pytest.fail("it is compiled again")):
            monkeypatch.setattr(jax_private, "_MAX_TRACES", -jax_private._remaining_traces)
            jax_private.limit_traces()
            assert np.array_equal(net(x).asnumpy(), before.asnumpy())
        assert [entry.program.calls for entries in net._programs.table.values() for entry in entries] == [2]
    finally:
        context.set_context(mode=context.PYNATIVE_MODE)


def test_an_operator_that_runs_in_ever_new_shapes_has_few_traces_and_compiles_each_once(monkeypatch):
    monkeypatch.setattr(jax_private, "_MAX_TRACES", 10)
    shapes = [Tensor(np.ones((1, width), np.float32)) for width in range(301, 341)]
    compiled, numbers = ops.HSwish(), []
    for x in shapes:
        ops.GradOperation()(compiled)(x)
        numbers.append(partial_eval.trace_to_jaxpr.cache_info().currsize)
    assert max(numbers) - min(numbers) < 120, "each shape has at least 6 traces, 240 in total"
    traced = partial_eval.trace_to_jaxpr.cache_info().misses
    for x in shapes:
        ops.GradOperation()(compiled)(x)
    assert partial_eval.trace_to_jaxpr.cache_info().misses == traced
