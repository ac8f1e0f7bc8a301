"""Ctrl-C while a compiled loop runs: it ends, the Parameters are as before the call, and the training goes on."""

import json
import os
import signal
import threading

import jax
import numpy as np
import pytest

from msnb import Parameter, Tensor, context, nn, ops
from msnb.core.jaxpr.stoppable_loops import make_stoppable
from msnb.core.program.program_cache import program_of
from msnb.core.state import deferred_errors, stop_flag
from msnb.core.state import trace_state as trace

# Each case prints one line of JSON. The signal is sent when the main thread begins to wait for a program.
SCRIPT = """
import json, os, signal, sys, threading, time
import numpy as np
import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops
from msnb.core.program import persistent_cache
from msnb.core.state import stop_flag
from msnb.core.support import interrupts

context.set_context(mode=getattr(context, sys.argv[1]))
ms.set_seed(1)
run, set_flag, armed, sent = stop_flag.run, stop_flag._set_flag, [], []

def run_and_interrupt(fn, *args, **kwargs):
    if armed:
        sent.append(armed.pop())
        threading.Timer(0.05, interrupt).start()  # most likely the program runs by then; if not, less is tested
    return run(fn, *args, **kwargs)

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

stop_flag.run = run_and_interrupt

def say(name, fn, values=lambda: []):
    fn(FEW)
    before = [np.array(v) for v in values()]
    armed.append(name)
    try:
        out = fn(ENDLESS)
        (out[0] if isinstance(out, tuple) else out).asnumpy()
        ended = "returned"
    except KeyboardInterrupt:
        ended = "stopped"
    same = all(np.array_equal(a, b) for a, b in zip(before, values(), strict=True))
    again = fn(FEW)
    fine = bool(np.isfinite((again[0] if isinstance(again, tuple) else again).asnumpy()).all())
    clear = not stop_flag._is_set and not stop_flag._flag.memory.any()
    print(json.dumps([name, ended, sent == [name], same, fine, clear]), flush=True)
    sent.clear()

FEW, ENDLESS = Tensor(np.int32(3)), Tensor(np.int32(2**30))
SMALL, LARGE = Tensor(np.ones((2, 2), np.float32)), Tensor(np.full((160, 160), 1e-3, np.float32))

@ms.ms_function
def repeat(x, n):
    while n > 0:
        x = ops.tanh(ops.matmul(x, x) + x)
        n = n - n // 2**30 * 0 - (n < 2**29).astype(ms.int32)
    return x

@ms.ms_function
def nested(x, n):
    rounds = n * 0 + 3
    while rounds > 0:
        i = n * 1
        while i > 0:
            x = ops.tanh(x)
            i = i - (n < 2**29).astype(ms.int32)
        rounds = rounds - 1
    return x

@ms.ms_function
def branch(x, n):
    if x.sum() > 0:
        while n > 0:
            x = ops.tanh(x)
            n = n - (n < 2**29).astype(ms.int32)
    else:
        x = x + 1
    return ops.relu(x)

@ms.ms_function
def unused(x, n):
    while n > 0:
        product = ops.matmul(x, x)  # XLA removes it, and then runs so short a program in the call itself
        n = n - (n < 2**29).astype(ms.int32)
    return n
"""

CASES = """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense, self.dropout = nn.Dense(2, 2), nn.Dropout(0.5)

    def construct(self, x, n):
        return self.dropout(repeat(self.dense(x), n)).sum()

class Counts(nn.Cell):
    def __init__(self):
        super().__init__()
        self.total = Parameter(np.zeros(2, np.float32), name="total")

    def construct(self, n):
        i = ops.zeros_like(n)
        while i < n:
            self.total += 1
            i = i + (n < 2**29).astype(ms.int32)
        return self.total * 2

net, counts = Net(), Counts()
optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
step = nn.TrainOneStepCell(net, optimizer).set_train()
weights = lambda: [p.asnumpy() for p in step.get_parameters()]
jit_counts = ms.ms_function(counts.construct)
in_float = ops.GradOperation()(lambda x, n: repeat(x, n).sum())
say("small", lambda n: repeat(SMALL, n))
say("large", lambda n: repeat(LARGE, n))
say("nested", lambda n: nested(SMALL, n))
say("branch", lambda n: branch(SMALL, n))
say("unused product", lambda n: unused(LARGE, n))
say("gradient", lambda n: in_float(SMALL, n))
say("training", lambda n: step(SMALL, n), weights)
say("written in the loop", jit_counts, lambda: [counts.total.asnumpy()])

lstm = nn.LSTM(1, 1)
ROWS = Tensor(np.zeros((1_500_000, 1, 1), np.float32))
say("scan", lambda n: lstm(ROWS if n is ENDLESS else ROWS[:3]))

# The handler of the user comes first; the second Ctrl-C stops the program.
arrived = []
def note(*_):
    arrived.append(1)
    if len(arrived) == 1:
        threading.Timer(0.05, interrupt).start()
signal.signal(signal.SIGINT, note)
say("handler", lambda n: repeat(LARGE, n))
while len(arrived) < 2:
    time.sleep(0.01)
signal.signal(signal.SIGINT, signal.default_int_handler)
print(json.dumps(["descriptor", signal.set_wakeup_fd(-1)]), flush=True)
"""

NAMES = ["small", "large", "nested", "branch", "unused product", "gradient", "training", "written in the loop", "scan"]
MODES = ["GRAPH_MODE", "PYNATIVE_MODE"]


@pytest.fixture(scope="module", params=MODES)
def outcome(request, fresh, tmp_path_factory):
    """Return {case: the rest of its line} of a process."""
    folder = tmp_path_factory.mktemp("stop")
    done = fresh.run(SCRIPT + CASES, folder, request.param)
    assert done.status == 0, done.err
    return {name: rest for name, *rest in map(json.loads, done.out.splitlines())}


@pytest.mark.parametrize("name", NAMES)
def test_a_loop_is_stopped_and_nothing_has_changed(outcome, name):
    assert outcome[name] == ["stopped", True, True, True, True]


def test_a_handler_of_the_user_has_the_first_interrupt(outcome):
    assert outcome["handler"] == ["stopped", True, True, True, True]


def test_the_wakeup_descriptor_of_the_user_is_restored(outcome):
    assert outcome["descriptor"] == [-1]


TRAINING = """
import msnb.dataset as ds

class Loss(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense, self.dropout = nn.Dense(2, 2), nn.Dropout(0.5)

    def construct(self, x, n):
        return self.dropout(repeat(self.dense(x), n)).sum()

def train(rounds, steps):
    ms.set_seed(5)
    net = Loss()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    xs = np.random.default_rng(0).normal(size=(len(rounds), 2, 2)).astype(np.float32)
    rows = ds.NumpySlicesDataset((xs, np.array(rounds, np.int32)), ["x", "n"], shuffle=False)
    model = ms.Model(net, optimizer=optimizer)
    try:
        model.train(1, rows, dataset_sink_mode=True)
        ended = "finished"
    except KeyboardInterrupt as error:
        ended = "stopped"
    step = model.train_network
    for x, n in zip(xs[len(rounds) - steps :], rounds[len(rounds) - steps :]):
        step(Tensor(x), Tensor(np.int32(min(n, 3))))
    return ended, [p.asnumpy().tolist() for p in (*net.trainable_params(), *optimizer.moments)]

ended, through = train([3, 2, 3, 1, 2], 0)
run_plain = run_and_interrupt

def at_the_endless_step(fn, *args, **kwargs):
    global calls
    calls += 1
    if calls == 3:
        armed.append("epoch")
    return run_plain(fn, *args, **kwargs)

calls = 0
stop_flag.run = at_the_endless_step
stopped, resumed = train([3, 2, 2**30, 1, 2], 3)
print(json.dumps([ended, stopped, sent, through == resumed]))
"""


def test_a_stopped_epoch_goes_on_with_the_same_bits(fresh, tmp_path):
    """The random numbers of the stopped step are drawn again."""
    done = fresh.run(SCRIPT + TRAINING, tmp_path, "GRAPH_MODE")
    assert done.status == 0, done.err
    assert json.loads(done.out.splitlines()[-1]) == ["finished", "stopped", ["epoch"], True]


SUNK = """
import msnb.dataset as ds

ROWS = np.random.default_rng(0).normal(size=(100_000, 2, 2)).astype(np.float32)

class Interrupts(ms.Callback):
    count = 0

    def step_end(self, run_context):
        self.count += 1
        if self.count == 5:
            threading.Thread(target=self.interrupt).start()

    def interrupt(self):
        sent.append(self.count)
        interrupt()

class Loss(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense, self.dropout = nn.Dense(2, 2), nn.Dropout(0.5)

    def construct(self, x):
        return self.dropout(self.dense(x)).sum()

def make():
    ms.set_seed(5)
    net = Loss()
    return ms.Model(net, optimizer=nn.Momentum(net.trainable_params(), 0.1, 0.9))

def train(model, rows, callbacks=None):
    model.train(1, ds.NumpySlicesDataset(rows, ["x"], shuffle=False), callbacks, dataset_sink_mode=True)

def state(model):
    return [p.asnumpy().tolist() for p in model.train_network.get_parameters()]

model, callback = make(), Interrupts()
try:
    train(model, ROWS, callback)
    ended = "finished"
except KeyboardInterrupt:
    ended = "stopped"
stopped, twin, n = state(model), make(), callback.count
train(twin, ROWS[:n])
if state(twin) != stopped:  # the interrupt came between a step and its callback
    train(twin, ROWS[n : n + 1])
    n += 1
same = state(twin) == stopped
for each in (model, twin):
    ms.set_seed(6)
    train(each, ROWS[n : n + 3])
print(json.dumps([ended, callback.count - sent[0], same, state(model) == state(twin) != stopped]))
"""


@pytest.mark.parametrize("mode", MODES)
def test_a_sunk_epoch_of_short_steps_ends_at_the_next_step(fresh, tmp_path, mode):
    """Each Parameter is that of a finished step, and the next training goes on from there."""
    done = fresh.run(SCRIPT + SUNK, tmp_path, mode)
    assert done.status == 0, done.err
    ended, n_after, *same = json.loads(done.out.splitlines()[-1])
    assert (ended, same) == ("stopped", [True, True])
    assert n_after <= 2


CACHED = """
context.set_context(enable_compile_cache=True, compile_cache_path=sys.argv[2])
say("large", lambda n: repeat(LARGE, n))
print(json.dumps(["hits", persistent_cache.in_use().hits]), flush=True)
"""


def test_a_program_from_the_disk_is_stopped(fresh, tmp_path):
    """It holds no address of the process that has compiled it."""
    for number in range(2):
        done = fresh.run(SCRIPT + CACHED, tmp_path, "GRAPH_MODE", tmp_path / "compiled")
        assert done.status == 0, done.err
        outcome, hits = map(json.loads, done.out.splitlines())
        assert outcome == ["large", "stopped", True, True, True, True]
        assert number == 0 or hits[1] > 0


@pytest.fixture
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


class Repeats(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(np.float32([1, 2]), name="w")

    def construct(self, x, n):
        while n > 0:
            x = ops.tanh(x * self.w)
            n = n - 1
        self.w += x
        return x


X, N = Tensor(np.float32([0.5, 0.25])), Tensor(np.int32(4))


def test_the_flag_is_seen_nowhere(graph_mode):
    net = Repeats()
    program = program_of(net, X, N)
    assert program._forms.is_stoppable
    assert len(program.inputs) == 3 and len(program.jaxpr.in_avals) == 3 and len(program.example_arguments()[2:]) == 2
    net(X, N)
    assert "32xi32" not in program.lowered().as_text() and "s32[32]" not in program.compiled().as_text()
    assert "32xi32" in program.lowered(with_stop_flag=True).as_text()


def test_a_program_without_loops_is_as_it_was(graph_mode):
    program = program_of(nn.Dense(2, 2), Tensor(np.ones((2, 2), np.float32)))
    assert not program._forms.has_loops
    assert program.lowered().as_text() == program.lowered(with_stop_flag=True).as_text()


def test_a_short_scan_has_no_flag(graph_mode):
    x = Tensor(np.ones((5, 1, 2), np.float32))
    assert not program_of(nn.LSTM(2, 3), x)._forms.has_loops


@pytest.mark.parametrize("is_supported", [True, False])
def test_a_loop_has_the_same_bits_with_and_without_the_flag(graph_mode, monkeypatch, is_supported):
    monkeypatch.setattr(stop_flag, "is_supported", lambda device: is_supported)
    net = Repeats()
    first, second = net(X, N).asnumpy(), net(X, N).asnumpy()
    context.set_context(mode=context.PYNATIVE_MODE)
    twin = Repeats()
    assert np.allclose(first, twin(X, N).asnumpy(), rtol=1e-6) and np.allclose(second, twin(X, N).asnumpy(), rtol=1e-6)


def test_a_thread_beside_the_main_one_is_not_stopped(graph_mode):
    net, seen = Repeats(), []
    stop_flag._set_flag(False)
    try:
        thread = threading.Thread(target=lambda: seen.append(net(X, N).asnumpy()))
        thread.start()
        thread.join()
    finally:
        stop_flag._clear_flag()
    assert np.allclose(seen[0], Repeats()(X, N).asnumpy())


def test_signals_that_arrive_meanwhile_reach_the_descriptor_of_the_user():
    read, write = os.pipe()
    os.set_blocking(write, False)
    handler = signal.signal(signal.SIGUSR1, lambda *_: None)
    before = signal.set_wakeup_fd(write)
    try:
        stop_flag.run(lambda: signal.raise_signal(signal.SIGUSR1))
        assert os.read(read, 10) == bytes([signal.SIGUSR1])
        assert signal.set_wakeup_fd(before) == write
    finally:
        signal.signal(signal.SIGUSR1, handler)
        signal.set_wakeup_fd(before)
        os.close(read)
        os.close(write)


class Verdict:
    """An output that is never ready, and a Ctrl-C while it is waited for: at the second look."""

    n_looks = 0

    def is_ready(self):
        self.n_looks += 1
        if self.n_looks > 1:
            signal.raise_signal(signal.SIGINT)
        return False


def test_a_program_that_cannot_be_stopped_says_so(capsys):
    deferred_errors.defer(Verdict(), stop_flag.Results((), running="train step of Net"))
    try:
        with pytest.raises(KeyboardInterrupt):
            X.asnumpy()
    finally:
        trace.thread.pending_verdicts = ()
    assert "train step of Net is still running" in capsys.readouterr().err


def test_a_program_with_loops_elsewhere_is_waited_for_by_name(graph_mode, monkeypatch):
    monkeypatch.setattr(stop_flag, "is_supported", lambda device: False)
    net, seen = Repeats(), []
    monkeypatch.setattr(deferred_errors, "defer", lambda verdict, report: seen.append(report.running))
    net(X, N)
    assert seen == ["Repeats"]


def test_a_loop_that_counts_gets_no_counter_of_its_own():
    """Each number of the state of a loop costs a kernel in each round."""
    closed = jax.make_jaxpr(
        lambda n: jax.lax.while_loop(lambda v: v[0] > 0, lambda v: (v[0] - 1, v[1] * 2.0), (n, 1.0))
    )
    (loop,) = (e for e in make_stoppable(closed(np.int32(4))).jaxpr.eqns if e.primitive.name == "while")
    assert len(loop.outvars) == 2


def test_a_loop_without_a_counter_gets_one():
    closed = jax.make_jaxpr(lambda x: jax.lax.while_loop(lambda v: v.sum() < 9, lambda v: v + 1, x))(np.ones(2))
    (loop,) = (e for e in make_stoppable(closed).jaxpr.eqns if e.primitive.name == "while")
    assert len(loop.outvars) == 2
