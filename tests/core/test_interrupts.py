"""Stop at the worst moment, and other threads."""

import gc
import signal
import sys
import threading
import time

import jax
import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops
from msnb.core.compat.jax_private import trace_state
from msnb.core.eager.kernel import Kernel
from msnb.core.state import trace_state as trace
from msnb.core.support import interrupts
from msnb.core.tensor.parameter_store import copy_shared

X = Tensor(np.float32([1.0, 2.0]))


@pytest.fixture
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


class Stops:
    """A function that a Stop hits in its first call."""

    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        if self.calls == 1:
            raise KeyboardInterrupt
        return x + 1


def slow_path(fn):
    """Check that a call goes through JAX's Python code, as the first call of a signature and all of a broken one do."""
    seen = []

    def look(frame, event, arg):
        seen.append(frame.f_code.co_name)

    sys.setprofile(look)
    try:
        fn()
    finally:
        sys.setprofile(None)
    return "cache_miss" in seen


def test_a_stop_waits_until_an_atomic_section_is_done():
    done = []

    def work():
        signal.raise_signal(signal.SIGINT)
        done.append(True)
        return 3

    with pytest.raises(KeyboardInterrupt):
        interrupts.uninterruptible(work)
    assert done == [True] and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert interrupts.uninterruptible(lambda: 3) == 3


def test_a_stop_that_something_swallows_is_raised_afterwards():
    """JAX takes whatever comes for a failed attempt, in places."""

    def work():
        try:
            signal.raise_signal(signal.SIGINT)
        except:  # noqa: E722
            done.append(1)

    done, before = [], signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        interrupts.deliver_pending(work)
    assert done and interrupts.deliver_pending(lambda: 3) == 3 and signal.getsignal(signal.SIGINT) is before
    with pytest.raises(ZeroDivisionError):
        interrupts.deliver_pending(lambda: 1 // 0)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_a_stop_that_jax_swallows_while_it_differentiates_is_raised(mode, monkeypatch):
    import jax._src.api as api

    def hears_nothing(value):
        try:
            signal.raise_signal(signal.SIGINT)
        except:  # noqa: E722
            return False

    net = nn.Dense(3, 2)
    context.set_context(mode=mode)
    ms.ops.GradOperation()(net)(Tensor(np.ones((2, 3), np.float32)))
    monkeypatch.setattr(api, "_is_ref", hears_nothing)
    with pytest.raises(KeyboardInterrupt):
        ms.ops.GradOperation()(net)(Tensor(np.ones((5, 3), np.float32)))


def test_a_stop_that_jax_swallows_in_the_first_call_of_an_operator_is_raised():
    """JAX asks a new executable for its shardings and layouts, and takes whatever comes for "it has none"."""
    from jax._src.interpreters import pxla

    class Executable:
        def get_output_layouts(self):
            signal.raise_signal(signal.SIGINT)

        get_parameter_layouts = get_output_memory_kinds = get_output_layouts

    with pytest.raises(KeyboardInterrupt):
        pxla._get_layouts_from_executable(Executable(), [], [], 0, [], [])
    with pytest.raises(KeyboardInterrupt):
        pxla.get_out_shardings_from_executable(Executable(), pxla.xc.DeviceList(tuple(jax.devices())), 1, 0)


def test_a_stop_in_a_finalizer_is_sent_again(monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", interrupts._resend_interrupt)  # pytest may have put its own there

    class Thing:
        def __del__(self):
            raise KeyboardInterrupt

    def waits():
        end = time.monotonic() + 5
        while time.monotonic() < end:
            gc.isenabled()

    # In a function of its own: Python 3.13 leaves the jump at the end of a loop out of a `with` around it.
    with pytest.raises(KeyboardInterrupt):  # it may come at once
        Thing()
        waits()


def test_a_kernel_stopped_in_its_first_call_is_as_fast_afterwards():
    kernel = Kernel("Stopped", Stops())
    with pytest.raises(KeyboardInterrupt):
        kernel.call(X._array)
    kernel.call(X._array)
    assert not slow_path(lambda: kernel.call(X._array))


def test_an_operator_stopped_in_its_first_call_is_as_fast_afterwards(monkeypatch):
    square = ops.Square()
    monkeypatch.setattr(square, "_kernel", Kernel("Stopped", Stops()))
    with pytest.raises(KeyboardInterrupt):
        square(X)
    square(X)
    assert not slow_path(lambda: square(X))


class Adds(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(np.float32([1, 1]), name="w")

    def construct(self, x):
        self.w += x
        return self.w * 2


def test_a_program_stopped_while_it_compiles_keeps_its_parameters_and_is_as_fast_afterwards(graph_mode, monkeypatch):
    net = Adds()
    net.compile(X)
    program = next(e.program for entries in net._programs.table.values() for e in entries)
    forms, calls = program._forms, []

    def stopped(*args):
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return forms._flat(*args)

    forms.current = forms.own = forms._compile_call(stopped, donate=True)
    with pytest.raises(KeyboardInterrupt):
        net(X)
    assert net.w.asnumpy().tolist() == [1, 1]
    net(X)
    assert net.w.asnumpy().tolist() == [2, 3] and not slow_path(lambda: net(X))


def test_a_stop_at_the_end_of_a_trace_leaves_nothing_behind(graph_mode, monkeypatch):
    net, before = Adds(), trace_state()
    monkeypatch.setattr(trace.TraceFrame, "__exit__", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        net(X)
    monkeypatch.undo()
    assert trace.thread.frame is None and trace.thread.recording == 0
    assert trace_state()[1] == before[1] and trace_state()[0] == before[0]
    assert net(X).asnumpy().tolist() == [4, 6]


def test_arrays_that_something_else_holds_are_copied_before_they_are_given_away():
    arrays = [np.ones(2), np.ones(3)]
    assert copy_shared(arrays) is arrays
    alias = arrays[1]
    copies = copy_shared(arrays)
    assert copies[0] is arrays[0] and copies[1] is not alias


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["GRAPH", "PYNATIVE"])
def test_several_threads_train_and_predict_with_one_network(mode):
    context.set_context(mode=mode)
    net = nn.SequentialCell([nn.Dense(2, 8), nn.ReLU(), nn.Dense(8, 1)])
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.001, 0.9))
    x, y = Tensor(np.ones((4, 2), np.float32)), Tensor(np.ones((4, 1), np.float32))
    step.set_train()(x, y)
    net(x).asnumpy()
    errors, end = [], time.monotonic() + 0.7

    def work(fn):
        try:
            while time.monotonic() < end:
                fn()
        except Exception as error:
            errors.append(error)

    jobs = [lambda: step(x, y), lambda: step(x, y), lambda: net(x).asnumpy(), lambda: net[0].weight.asnumpy()]
    threads = [threading.Thread(target=work, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    context.set_context(mode=context.PYNATIVE_MODE)
    assert not errors and np.isfinite(net[0].weight.asnumpy()).all()


def test_a_gradient_is_taken_while_another_step_writes_the_parameters():
    w = Parameter(np.float32([3.0]), name="w")
    optimizer = nn.SGD([w], 1.0)

    def loss(x):
        y = x * w * w
        optimizer((ms.Tensor([1.0]),))  # writes w over before the gradient goes back through y
        return y

    assert ops.grad(loss)(Tensor([1.0])).asnumpy().tolist() == [9]
