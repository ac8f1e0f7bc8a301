"""The first calls of a program run a quick executable; the full one takes over at a fixed call."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb.common import progress
from msnb.core.program import background_compile, extra_outputs, program_cache, program_forms, tiered_compilation
from msnb.core.program.tiered_compilation import QuickForm, TierPlan, plan_tiers

X = Tensor(np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3))
Y = Tensor(np.ones((4, 2), np.float32))


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=ms.GRAPH_MODE)


@pytest.fixture
def plan(monkeypatch):
    """All programs start quickly: the full executable is compiled from call 2 on, and takes over at call 4."""
    monkeypatch.setattr(program_forms, "plan_tiers", lambda graph, device: TierPlan(2, 4))


@pytest.fixture
def efforts(monkeypatch):
    """One of quick and full for each compilation of a form."""
    seen, run = [], background_compile._Job._compile_form

    def note(job):
        seen.append("quick" if isinstance(job.form, QuickForm) else "full")
        run(job)

    monkeypatch.setattr(background_compile._Job, "_compile_form", note)
    return seen


def make_step():
    ms.set_seed(3)
    net = nn.Dense(3, 2, weight_init=Tensor(np.full((2, 3), 0.5, np.float32)))
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    return step.set_train()


def executable_of(step):
    forms = program_cache.program_of(step, X, Y)._forms
    return "quick" if isinstance(forms.ready, QuickForm) else "full"


def train(step, times):
    ran = []
    for _ in range(times):
        loss = step(X, Y).asnumpy()
        ran.append((executable_of(step), float(loss)))
    return ran


def test_the_full_executable_takes_over_at_its_call(plan, efforts):
    ran = train(make_step(), 7)
    assert [kind for kind, _ in ran] == ["quick"] * 4 + ["full"] * 3
    assert efforts == ["quick", "full"]
    assert ran[-1][1] < ran[0][1]


def test_both_executables_train_alike(plan, monkeypatch):
    quick = [loss for _, loss in train(make_step(), 7)]
    monkeypatch.setattr(program_forms, "plan_tiers", lambda graph, device: None)
    np.testing.assert_allclose(quick, [loss for _, loss in train(make_step(), 7)], rtol=1e-5)


def test_few_calls_compile_no_full_executable(plan, efforts):
    train(make_step(), 2)
    assert efforts == ["quick"]


def test_the_call_of_the_takeover_waits_for_the_full_executable(plan, monkeypatch):
    release, run = threading.Event(), background_compile._Job._compile_form

    def compile_late(job):
        if not isinstance(job.form, QuickForm):
            release.wait(60)
        run(job)

    monkeypatch.setattr(background_compile._Job, "_compile_form", compile_late)
    step = make_step()
    assert {kind for kind, _ in train(step, 4)} == {"quick"}
    threading.Timer(0.2, release.set).start()
    assert [kind for kind, _ in train(step, 1)] == ["full"] and release.is_set()


def test_an_error_of_the_full_compilation_reaches_the_call_of_the_takeover(plan, monkeypatch):
    run = background_compile._Job._compile_form

    def fail(job):
        if isinstance(job.form, QuickForm):
            run(job)
        else:
            job.error = ValueError("XLA has no memory left")

    monkeypatch.setattr(background_compile._Job, "_compile_form", fail)
    step = make_step()
    train(step, 4)
    weight = step.network.trainable_params()[0].asnumpy()
    with pytest.raises(ValueError, match="no memory left"):
        step(X, Y)
    np.testing.assert_array_equal(step.network.trainable_params()[0].asnumpy(), weight)
    monkeypatch.setattr(background_compile._Job, "_compile_form", run)
    assert train(step, 1)[0][0] == "full"


class Recorder:
    """An observer of every n-th run."""

    def __init__(self, every):
        self.every, self.asked, self.runs = every, 0, []

    def rewrite(self, program):
        return program.jaxpr

    def wants(self, program):
        self.asked += 1
        return self.asked % self.every == 0

    def receive(self, program, run):
        values = [[np.asarray(array) for array in arrays] for arrays in (run.inputs, run.outputs)]  # copies
        self.runs.append((program, run._replace(inputs=values[0], outputs=values[1])))


@pytest.mark.parametrize("every", [1, 2])
def test_a_run_is_repeated_bit_by_bit_with_the_executable_that_computed_it(plan, every):
    observer = extra_outputs.add(Recorder(every))
    try:
        train(make_step(), 7)
    finally:
        extra_outputs.remove(observer)
    assert [run.call for _, run in observer.runs] == list(range(every - 1, 7, every))
    for program, run in observer.runs:
        for again, before in zip(program.repeat_run(run.inputs, run.call), run.outputs, strict=True):
            np.testing.assert_array_equal(np.asarray(again), np.asarray(before))


def test_who_waits_reads_when_the_full_program_takes_over(plan, monkeypatch):
    line, release, run = Line(), threading.Event(), background_compile._Job._compile_form

    def compile_late(job):
        release.wait(60)
        run(job)

    monkeypatch.setattr(background_compile._Job, "_compile_form", compile_late)
    monkeypatch.setattr(background_compile, "SILENT", 0.01)
    monkeypatch.setattr(progress, "begin", lambda: line)
    threading.Timer(0.1, release.set).start()
    train(make_step(), 1)
    assert line.ended == ["train step of Dense: compiled quickly, the full program takes over at call 5"]


class Line:
    """A progress line that stores its last texts."""

    waits = False

    def __init__(self):
        self.ended = []

    def show(self, texts, share=None, curve=()):
        pass

    def end(self, texts, curve=()):
        self.ended.append(texts[0])


def test_observers_that_come_and_go_do_not_change_the_takeover(plan):
    step = make_step()
    train(step, 1)
    observer = extra_outputs.add(Recorder(1))
    train(step, 2)
    extra_outputs.remove(observer)
    assert [kind for kind, _ in train(step, 3)] == ["quick", "full", "full"]


def test_a_profile_measures_the_full_executable(plan):
    step = make_step()
    train(step, 1)
    with tiered_compilation.full_executables():
        assert train(step, 1)[0][0] == "full"
    assert train(step, 1)[0][0] == "quick"  # the number of the call alone decides again


def test_inspection_shows_the_full_executable(plan, efforts):
    step = make_step()
    train(step, 1)
    program = program_cache.program_of(step, X, Y)
    assert "fusion" in program.compiled().as_text()
    assert program.memory()["results"] > 0
    assert executable_of(step) == "quick"


def test_a_call_on_another_thread_starts_quickly(plan):
    step, ran = make_step(), []
    thread = threading.Thread(target=lambda: ran.extend(train(step, 6)))
    thread.start()
    thread.join()
    assert [kind for kind, _ in ran] == ["quick"] * 4 + ["full"] * 2


def test_a_training_that_is_resumed_goes_on_at_its_call(plan):
    step = make_step()
    train(step, 3)
    counts = program_cache.call_counts(step)
    assert list(counts.values()) == [3]
    other = make_step()
    program_cache.restore_call_counts(other, counts)
    assert [kind for kind, _ in train(other, 3)] == ["quick", "full", "full"]
    program_cache.restore_call_counts(other, counts)  # the full executable has taken over, but had not at this call
    assert program_cache.program_of(other, X, Y).next_call == 3
    assert [kind for kind, _ in train(other, 3)] == ["quick", "full", "full"]


# ---------------------------------------------------------------- the plan
class Deep(nn.Cell):
    """Many distinct operations on few elements."""

    def construct(self, x):
        for size in range(1, 60):
            x = ops.tanh(x) + ops.reduce_sum(ops.exp(x[:size]) * 0.001)
        return x


def plan_of(net, *inputs, effort="auto"):
    program = program_cache.program_of(net, *inputs)
    before = context.get_context("compile_effort")
    context.set_context(compile_effort=effort)
    try:
        return plan_tiers(program.jaxpr, program_forms.device_of(program))
    finally:
        context.set_context(compile_effort=before)


@pytest.fixture
def users_compiler(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "")


def test_small_programs_and_slow_steps_run_the_full_executable_at_once(users_compiler):
    wide = Tensor(np.ones((3000, 3000), np.float32))
    assert plan_of(nn.Dense(3, 2), X) is None
    assert plan_of(Deep(), wide) is None
    start = plan_of(Deep(), Tensor(np.ones(64, np.float32)))
    assert tiered_compilation._FIRST <= start.takeover <= tiered_compilation._LAST and start.start <= start.takeover


def test_the_takeover_does_not_depend_on_the_machine(users_compiler, monkeypatch):
    calls = set()
    for processors in (1, 2, 64):
        monkeypatch.setattr(tiered_compilation, "_count_processors", lambda count=processors: count)
        calls.add(plan_of(Deep(), Tensor(np.ones(64, np.float32))).takeover)
    assert len(calls) == 1


def test_other_efforts_and_flags_of_the_user_have_one_tier(users_compiler, monkeypatch):
    x = Tensor(np.ones(64, np.float32))
    assert plan_of(Deep(), x, effort="full") is None
    assert plan_of(Deep(), x, effort="quick") is None
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=1")
    assert plan_of(Deep(), x) is None


def test_a_loop_of_unknown_length_has_one_tier(users_compiler):
    class Looping(Deep):
        def construct(self, x):
            while ops.reduce_sum(x) < 1000.0:
                x = super().construct(x) + 1.0
            return x

    assert plan_of(Looping(), Tensor(np.ones(64, np.float32))) is None


SCRIPT = """
import os, sys, threading
import numpy as np
import msnb as ms
from msnb import nn, Tensor, ops
from msnb.core.program import program_forms, tiered_compilation
ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)
program_forms.plan_tiers = lambda graph, device: tiered_compilation.TierPlan(2, 5)
if sys.argv[1] == "loaded":
    def spin():
        x = 0
        while True:
            x += 1
    for _ in range(3):
        threading.Thread(target=spin, daemon=True).start()
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.dense = nn.Conv2d(1, 4, 3), nn.Dense(4, 16)
    def construct(self, x):
        return ops.softmax(self.dense(ops.tanh(self.conv(x)).mean((2, 3))))
net = Net()
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 0.05)).set_train()
random = np.random.default_rng(0)
x, y = Tensor(random.random((4, 1, 8, 8), np.float32)), Tensor(random.random((4, 16), np.float32))
print(*[float(step(x, y)).hex() for _ in range(20)])
"""


def run_script(how, cache):
    path = cache.with_suffix(".py")
    path.write_text(SCRIPT)
    environment = {**os.environ, "XLA_FLAGS": "", "MSNB_CACHE": str(cache), "MSNB_COMPILE_CACHE": ""}
    done = subprocess.run([sys.executable, str(path), how], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_runs_compute_equal_bits_under_load_and_with_programs_on_disk(tmp_path):
    cold = run_script("quiet", tmp_path / "one")
    assert run_script("quiet", tmp_path / "one") == cold  # all executables are on disk
    assert run_script("loaded", tmp_path / "two") == cold
