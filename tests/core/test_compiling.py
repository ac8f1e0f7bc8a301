"""XLA compiles on its own thread: a Stop ends the wait at once, the program is stored, and a wait is displayed."""

import os
import signal
import subprocess
import sys
import threading

import jax
import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn
from msnb.common import progress
from msnb.core.program import background_compile, slow_compile_alarm

X = Tensor(np.ones((2, 4), np.float32))


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=ms.GRAPH_MODE)


@pytest.fixture
def compilation_release(monkeypatch):
    """Compilations that go on for as long as this event is not set."""
    release, run = threading.Event(), background_compile._Job._compile_form

    def slowly(job):
        release.wait(120)
        run(job)

    monkeypatch.setattr(background_compile._Job, "_compile_form", slowly)
    yield release
    release.set()


@pytest.fixture
def compiled_names():
    """Collect the names of the programs that are compiled for a network called Dense."""
    seen = []

    def note(event, *_, fun_name="", **__):
        if "backend_compile" in event and "Dense" in fun_name:
            seen.append(fun_name)

    jax.monitoring.register_event_duration_secs_listener(note)
    yield seen
    jax.monitoring.unregister_event_duration_listener(note)


class Line:
    """Draws into a list, and tells when something is drawn."""

    waits = False

    def __init__(self, drawn):
        self.shown, self.ended, self.drawn = [], [], drawn

    def show(self, parts, share=None, curve=()):
        self.shown.append(parts)
        self.drawn()

    def end(self, parts, curve=()):
        self.ended.append(parts)


def test_a_program_is_compiled_once(compiled_names):
    net = nn.Dense(4, 3)
    net(X)
    assert len(compiled_names) == 1
    net(X)
    assert len(compiled_names) == 1


def test_a_stop_ends_the_waiting_at_once_and_the_next_call_takes_what_was_compiled(compilation_release, compiled_names):
    net = nn.Dense(4, 3)
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()  # as Ctrl-C does: to the process
        net(X)
    assert not compilation_release.is_set() and not compiled_names
    threading.Timer(0.3, compilation_release.set).start()
    assert net(X).shape == (2, 3)
    assert compilation_release.is_set() and len(compiled_names) == 1  # it has waited, and not compiled a second time


def test_who_waits_sees_what_is_compiled_and_for_how_long(compilation_release, monkeypatch):
    line = Line(compilation_release.set)  # what is seen ends the compilation
    monkeypatch.setattr(background_compile, "SILENT", 0.01)
    monkeypatch.setattr(progress, "begin", lambda: line)
    monkeypatch.setattr(progress, "EVERY", 0.01)
    net = nn.Dense(4, 3)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)).set_train()
    step(X, Tensor(np.ones((2, 3), np.float32)))
    first, *_ = line.shown
    assert first[0] == "compiling: train step of Dense" and first[1].endswith(" operators")
    assert first[2].startswith("traced in ") and first[3].startswith("XLA ")
    assert line.ended[0][0] == "train step of Dense: compiled"


def test_what_xla_raises_is_raised_and_the_next_call_tries_again(monkeypatch):
    net, run = nn.Dense(4, 3), background_compile._Job._compile_form

    def fail(job):
        job.error = ValueError("XLA has no memory left")

    monkeypatch.setattr(background_compile._Job, "_compile_form", fail)
    with pytest.raises(ValueError, match="no memory left"):
        net(X)
    monkeypatch.setattr(background_compile._Job, "_compile_form", run)
    assert net(X).shape == (2, 3)


def test_other_threads_compile_where_they_call():
    results = []
    net = nn.Dense(4, 3)
    thread = threading.Thread(target=lambda: results.append(net(X).shape))
    thread.start()
    thread.join()
    assert results == [(2, 3)]


RULE = "*" * 32
ALARM = (
    f"E1121 23:44:15 28571 slow_operation_alarm.cc:73] \n{RULE}\n"
    f"[Compiling module jit_Grad for CPU] Very slow compile? If you want to file a bug\n{RULE}\n"
)


def test_the_alarm_of_xla_is_suppressed_and_nothing_else_is(capfd):
    with slow_compile_alarm.SuppressAlarm():
        os.write(2, f"before\n{ALARM}between\n{ALARM}".encode())
        subprocess.run([sys.executable, "-c", "import os; os.write(2, b'of a child\\n')"], check=True)
    os.write(2, b"after\n")
    assert capfd.readouterr().err == "before\nbetween\nof a child\nafter\n"


def test_a_compilation_that_takes_minutes_raises_no_alarm_in_the_cell(monkeypatch, capfd):
    monkeypatch.setattr(slow_compile_alarm, "AFTER", 0.0)
    monkeypatch.setattr(background_compile, "SILENT", 0.0)
    release = threading.Event()

    class SuppressAlarm(slow_compile_alarm.SuppressAlarm):
        def __enter__(self):
            super().__enter__()
            release.set()

    monkeypatch.setattr(slow_compile_alarm, "SuppressAlarm", SuppressAlarm)

    class Job(background_compile._Job):
        def _compile_form(self):
            assert release.wait(120)
            os.write(2, ALARM.encode() + b"something else\n")

    monkeypatch.setattr(background_compile, "_Job", Job)
    nn.Dense(4, 3)(X)
    assert "slow_operation_alarm" not in (said := capfd.readouterr().err) and "something else" in said


def test_a_long_compilation_returns_the_memory_that_it_has_freed(monkeypatch):
    returned = threading.Event()
    monkeypatch.setattr(background_compile.freed_memory, "return_freed_memory", returned.set)
    monkeypatch.setattr(background_compile, "_LONG", float("inf"))
    nn.Dense(4, 3)(X)
    assert not returned.is_set()
    monkeypatch.setattr(background_compile, "_LONG", 0)
    nn.Dense(4, 5)(X)
    assert returned.wait(60)


@pytest.mark.skipif(sys.platform != "linux" or not hasattr(os, "confstr"), reason="needs Linux")
def test_freed_memory_is_returned_to_the_system():
    if "glibc" not in (os.confstr("CS_GNU_LIBC_VERSION") or ""):
        pytest.skip("needs glibc")
    program = """
import os
from msnb._util.freed_memory import return_freed_memory
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
blocks = [bytes(60_000) for _ in range(3000)]  # smaller than what glibc returns at once
end = bytes(60_000)  # the memory before it cannot be returned by making the heap shorter
del blocks
before = resident()
return_freed_memory()
assert before - resident() > 100, (before, resident())
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


@pytest.mark.skipif(sys.platform != "linux" or not hasattr(os, "confstr"), reason="needs Linux")
@pytest.mark.parametrize("setting", [{}, {"MALLOC_TOP_PAD_": "131072"}], ids=["default", "chosen by the user"])
def test_freed_memory_is_reused_unless_the_user_has_chosen_otherwise(setting):
    if "glibc" not in (os.confstr("CS_GNU_LIBC_VERSION") or ""):
        pytest.skip("needs glibc")
    program = """
import resource
import numpy as np
import msnb
def count_page_faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    blocks = [np.ones(1 << 20, np.float32) for _ in range(20)]
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
count_page_faults()
print(min(count_page_faults() for _ in range(5)))
"""
    env = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_") and k != "GLIBC_TUNABLES"} | setting
    out = subprocess.run(
        [sys.executable, "-c", program], check=True, timeout=120, env=env, capture_output=True, text=True
    )
    pages = 20 * (4 << 20) // os.sysconf("SC_PAGE_SIZE")
    assert (int(out.stdout) < pages / 10) == (not setting), (out.stdout, pages)
