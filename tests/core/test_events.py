"""Events: a subscriber receives them and changes nothing, with any other subscribers, in any order of start and end."""

import itertools
import pickle
import sys
import threading

import jax
import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb import dataset as ds
from msnb.core.eager import float_status, kernel
from msnb.core.program import extra_outputs, program_cache
from msnb.core.state import events, trace_state
from msnb.insight.gradients import GradientMonitor
from msnb.insight.profile import Recorder
from msnb.nn.cell import Cell, GraphKernel
from msnb.notebook.graph.calls import CallRecorder
from msnb.ops import operations as P

MODES = pytest.mark.parametrize("mode", (ms.GRAPH_MODE, ms.PYNATIVE_MODE), ids=("graph", "pynative"))
X, Y = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3), np.float32([[1], [0], [2], [1]])


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.act, self.last = nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 1)

    def construct(self, x):
        return self.last(self.act(self.first(x)))


class Training:
    """A step of training that starts anew at each `run`, on the same compiled program."""

    def __init__(self):
        net = Net()
        self.step = nn.TrainOneStepCell(
            nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9)
        )
        self.start = {p: p.asnumpy().copy() for p in self.step.get_parameters()}

    def run(self):
        """Loss of two steps, and the Parameters after them."""
        for parameter, value in self.start.items():
            parameter.set_data(Tensor(value))
        losses = [self.step(Tensor(X), Tensor(Y)).asnumpy() for _ in range(2)]
        return [*losses, *(p.asnumpy() for p in self.start)]


@pytest.fixture(scope="module")
def training():
    return Training()


def have_equal_arrays(some, others):
    return all(np.array_equal(a, b) for a, b in zip(some, others, strict=True))


class Status:
    """The float status of PYNATIVE mode, from `start` to `stop`."""

    def start(self):
        float_status.begin()
        return self

    def stop(self):
        self.seen = bool(float_status.end())


class Graphs:
    """A subscriber like `--ir`, which collects graphs."""

    def start(self):
        self.ran = CallRecorder()
        return self

    def stop(self):
        self.ran.close()


WATCHERS = {
    "profiler": lambda: Recorder(kernels=False),
    "gradients": lambda: GradientMonitor("all"),
    "graphs": Graphs,
    "status": Status,
}


@pytest.fixture(autouse=True)
def nothing_is_left():
    """Before and after each test nobody listens, and everything is what it was."""
    subscribers = {event: getattr(events.subscribers, event) for event in events.subscribers.__slots__}
    yield
    assert {event: getattr(events.subscribers, event) for event in events.subscribers.__slots__} == subscribers
    assert not extra_outputs.observers and events.current() is None
    assert not trace_state.thread.results_observed and not any(type(k.run) is kernel._ObservedRun for k in kernel._live)
    assert Recorder._active is None


# ---------------------------------------------------------------------- several tools at once
@MODES
@pytest.mark.parametrize("names", list(itertools.combinations(WATCHERS, 3)), ids="+".join)
def test_three_watchers_are_closed_in_any_order_and_change_nothing(training, mode, names):
    context.set_context(mode=mode)
    expected = training.run()
    for order in itertools.permutations(names):
        watchers = {name: WATCHERS[name]().start() for name in names}
        assert have_equal_arrays(training.run(), expected)
        for name in order:
            watchers[name].stop()
            assert have_equal_arrays(training.run(), expected)
        if "profiler" in names:
            assert len(watchers["profiler"].recording.calls) >= 2
        if "gradients" in names:
            assert len(watchers["gradients"].recording.steps) >= 2
        if "graphs" in names:
            assert watchers["graphs"].ran._called[0][0] is training.step
        if "status" in names:
            assert not watchers["status"].seen


@MODES
@pytest.mark.parametrize("names", list(itertools.permutations(WATCHERS, 2)), ids="+".join)
def test_an_error_within_two_watchers_leaves_nothing_attached(training, mode, names):
    context.set_context(mode=mode)
    expected = training.run()
    watchers = [WATCHERS[name]().start() for name in names]
    with pytest.raises(ZeroDivisionError):
        try:
            assert have_equal_arrays(training.run(), expected)
            1 / 0  # noqa: B018
        finally:
            for watcher in watchers:
                watcher.stop()
    assert have_equal_arrays(training.run(), expected)


def test_the_float_status_sees_what_overflows_beside_other_watchers():
    context.set_context(mode=ms.PYNATIVE_MODE)
    weight = ms.Parameter(Tensor(np.float32([1e30])), name="w")

    class Square(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = weight

        def construct(self, x):
            return x * self.w * self.w

    with GradientMonitor(), events.listen(pulled=lambda *_: None, dispatched=lambda *_: None):
        float_status.begin()
        ops.GradOperation(get_by_list=True)(Square(), [weight])(Tensor(np.float32([1.0])))
        assert bool(float_status.end())


# ---------------------------------------------------------------------- a listener that fails
@pytest.fixture
def warnings(monkeypatch):
    said = []
    monkeypatch.setattr(events.log, "warning", lambda text, *args: said.append(text % args))
    return said


@MODES
@pytest.mark.parametrize("event", events.EVENTS)
def test_a_listener_that_raises_is_dropped_and_named_once_and_nobody_else_notices(training, warnings, mode, event):
    context.set_context(mode=mode)
    expected, heard = training.run(), []

    def broken(*args):
        raise KeyError("mine")

    def work():
        for _ in ds.NumpySlicesDataset(X, shuffle=False).create_tuple_iterator():
            pass
        if event == "compiled":
            ms.ms_function(lambda x: x + 1)(Tensor(X))
        return training.run()

    with events.listen(**{event: lambda *args: heard.append(args)}):
        work()
        count = len(heard)
        listener = events.listen(**{event: broken}, name="The broken one")
        with events.listen(**{event: lambda *args: heard.append(args)}):
            assert have_equal_arrays(work(), expected)
    if not count:  # a graph has no tape
        listener.close()
    assert len(heard) == 3 * count and listener.closed
    assert len(warnings) == (count > 0) and isinstance(listener.problem, KeyError if count else type(None))
    assert all("The broken one" in text and event in text and "test_events.py" in text for text in warnings)


def test_results_that_depend_on_a_listener_come_with_its_error():
    context.set_context(mode=ms.PYNATIVE_MODE)
    with events.listen(dispatched=lambda *_: [][0], vital=True), pytest.raises((IndexError, RuntimeError)):
        ops.relu(Tensor(X))


def test_an_interrupt_goes_through_a_listener_and_leaves_it_there():
    def stop(call):
        raise KeyboardInterrupt

    with events.listen(entered=stop) as listener, pytest.raises(KeyboardInterrupt):
        Net()(Tensor(X))
    assert listener.problem is None


@pytest.mark.parametrize("failing", ("rewrite", "receive"))
def test_an_observer_that_raises_is_dropped_and_the_program_runs(training, monkeypatch, failing):
    said = []
    monkeypatch.setattr(extra_outputs.log, "warning", lambda text, *args: said.append(text % args))
    context.set_context(mode=ms.GRAPH_MODE)
    expected = training.run()

    class Observer:
        def rewrite(self, program):
            if failing == "rewrite":
                raise KeyError("mine")
            return program.jaxpr

        def receive(self, program, run):
            raise KeyError("mine")

    extra_outputs.add(Observer())
    with GradientMonitor() as monitor:
        assert have_equal_arrays(training.run(), expected)
    assert not extra_outputs.observers and len(monitor.recording.steps) == 2
    assert len(said) == 1 and "Observer" in said[0]


# ---------------------------------------------------------------------- what is told
@MODES
def test_calls_of_cells_come_with_their_scope_arguments_and_results(mode):
    context.set_context(mode=mode)
    net, received = Net(), []
    with events.listen(entered=lambda c: received.append(c.scope), left=lambda c: received.append(c)):
        out = net(Tensor(X))
    scopes = [entry for entry in received if isinstance(entry, tuple)]
    assert scopes == [("Net",), ("Net", "first-Dense"), ("Net", "act-ReLU"), ("Net", "last-Dense")]
    outermost = received[-1]
    assert outermost.net is net and outermost.out is out and outermost.around is None and not outermost.traced
    inner = [entry for entry in received[:-1] if isinstance(entry, events.Call)]
    assert outermost.args[0].shape == (4, 3) and [c.traced for c in inner] == [mode == ms.GRAPH_MODE] * 3


def test_a_call_that_fails_is_left_with_its_error_and_an_unreported_one_is_not_left():
    context.set_context(mode=ms.PYNATIVE_MODE)
    left, late = [], []

    class Fails(nn.Cell):
        def construct(self, x):
            self.listener = events.listen(left=late.append)
            raise ValueError("no")

    net = Fails()
    with events.listen(left=lambda c: left.append((c.net, type(c.error)))), pytest.raises(ValueError):
        net(Tensor(X))
    net.listener.close()
    assert left == [(net, ValueError)] and not late


def test_kernels_are_reported_with_arrays_and_result_unless_they_are_traced():
    context.set_context(mode=ms.PYNATIVE_MODE)
    received, x = [], Tensor(X)
    with events.listen(dispatched=lambda *args: received.append(args)):
        y = ops.relu(x)
        kernel.Kernel("Made", lambda a: a + 1).run(x._array)
        jax.jit(lambda a: ops.relu(Tensor(a))._array)(x._array)
    ops.relu(x)
    assert [k.name.partition(".")[0] for k, *_ in received] == ["ReLU", "Made"]
    _, arrays, out, start, sent = received[0]
    assert arrays[0] is x._array and out is y._array and start < sent


def test_a_gradient_is_reported_from_its_recording_to_its_end():
    context.set_context(mode=ms.PYNATIVE_MODE)
    received = []
    tell = {e: lambda *args, e=e: received.append(e) for e in ("recorded", "pulled", "differentiated")}
    with events.listen(**tell):
        ops.grad(lambda x: ops.exp(ops.sin(x)))(Tensor(X))
    assert received == ["recorded", "recorded", "pulled", "pulled", "differentiated"]


def test_programs_are_reported_when_they_are_compiled_and_when_they_run():
    context.set_context(mode=ms.GRAPH_MODE)
    net, received = Net(), []
    with events.listen(
        compiled=lambda p: received.append(("compiled", p)),
        ran=lambda p, arrays, outs, *_: received.append((len(arrays), outs)),
    ):
        out = net(Tensor(X))
        net(Tensor(X))
    assert [entry[0] for entry in received] == [1, "compiled", 1] and received[0][1][0] is out._array
    assert received[1][1] is program_cache.program_of(net, Tensor(X))


def test_a_dataset_tells_of_each_row_that_it_was_asked_for():
    received = []
    rows = ds.NumpySlicesDataset(X, shuffle=False).create_tuple_iterator()
    with events.listen(waited=lambda iterator, start, end: received.append(start < end)):
        assert len(list(rows)) == 4
    assert received == [True] * 5  # and the one that there was not


# ---------------------------------------------------------------------- listening
def test_what_a_listener_runs_is_reported_to_others_and_not_to_itself():
    context.set_context(mode=ms.PYNATIVE_MODE)
    mine, others, x = [], [], Tensor(X)

    def note(k, *_):
        mine.append(k.name)
        ops.tanh(x)

    with events.listen(dispatched=note), events.listen(dispatched=lambda k, *_: others.append(k.name)):
        ops.relu(x)
    assert mine == ["ReLU"] and sorted(others) == ["ReLU", "Tanh"]


@pytest.mark.parametrize("here, heard", [(True, 1), (False, 2)])
def test_a_listener_hears_of_its_own_thread_or_of_all(here, heard):
    context.set_context(mode=ms.PYNATIVE_MODE)
    received, x = [], Tensor(X)
    with events.listen(dispatched=lambda *_: received.append(1), here=here):
        ops.relu(x)
        thread = threading.Thread(target=ops.relu, args=(x,))
        thread.start()
        thread.join()
    assert len(received) == heard


def test_a_listener_may_close_itself_and_others_while_it_is_called():
    context.set_context(mode=ms.PYNATIVE_MODE)
    received = []

    def once(*_):
        received.append("first")
        first.close(), second.close()

    first, second = events.listen(dispatched=once), events.listen(dispatched=lambda *_: received.append("second"))
    ops.relu(Tensor(X))
    ops.relu(Tensor(X))
    first.close()
    assert received == ["first"]


@pytest.mark.parametrize("wrong", ({"run": print}, {"ran": 3}, {}))
def test_listening_to_what_there_is_not_is_refused(wrong):
    with pytest.raises(TypeError, match="event|callable"):
        events.listen(**wrong)


# ---------------------------------------------------------------------- nobody listens
def calls(work):
    """Return the names of the Python functions that a call of `work` calls."""
    seen = []
    work(), work()
    sys.setprofile(lambda frame, event, _: seen.append(frame.f_code.co_qualname) if event == "call" else None)
    try:
        work()
    finally:
        sys.setprofile(None)
    return seen[1:]


def warm():
    """Python calls of one operator, of `+`, of a warm network and of a warm function."""
    x, relu, net = Tensor(X), P.ReLU(), nn.Dense(3, 2, has_bias=False)
    function = ms.ms_function(lambda x: x * 2)
    context.set_context(mode=ms.PYNATIVE_MODE)
    counts = [len(calls(lambda: relu(x))), len(calls(lambda: x + x))]
    context.set_context(mode=ms.GRAPH_MODE)
    return [*counts, len(calls(lambda: net(x))), len(calls(lambda: function(x)))]


def test_nobody_pays_for_events_that_nobody_listens_to():
    before = warm()
    assert all(now <= most for now, most in zip(before, (1, 2, 14, 13), strict=True)), before
    with events.listen(**{event: lambda *_: None for event in events.EVENTS}):
        assert warm()[0] > before[0]
    assert warm() == before


def test_cells_pickle_by_the_names_that_they_always_had():
    net = pickle.loads(pickle.dumps(nn.Dense(3, 2)))
    assert isinstance(net, Cell) and net(Tensor(X)).shape == (4, 2) and issubclass(GraphKernel, Cell)
    assert pickle.loads(pickle.dumps(Cell)) is Cell and Cell.__module__ == "msnb.nn.cell"


def test_a_cell_is_reported_when_constructed_with_those_inside_it():
    received = []

    class Inner(nn.Cell):
        pass

    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

    with events.listen(made=received.append):
        net = Outer()
    Inner()
    assert received == [net, net.inner]
