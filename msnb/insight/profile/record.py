"""Record running networks: steps, waits, compilations, kernels."""

import shutil
import tempfile
import threading
import time
from typing import Any, Self

import jax

from msnb import context, log
from msnb.core.program.tiered_compilation import full_executables
from msnb.core.state import events

from . import xplane
from .dispatch import Watch
from .machine import load

_COMPILING = "/jax/core/compile/"
_TRACED_STEPS = 30
_TRACED_SECONDS = 8.0
_clock = time.perf_counter_ns


class Recording:
    """Recorded events. Times are nanoseconds on the clock of `time.perf_counter_ns`.

    Attributes:
        calls (list): (network, start, end) of outermost calls of Cells and compiled functions.
        programs (dict): Program -> arrays of its latest call.
        waits (list): (start, end) of each wait for a row of a dataset.
        compiling (list): (start, end) of each compilation.
        kernels (list[xplane.Kernel]): kernels that ran in the interval `traced`, a pair (start, end); None without a
            trace.
        dispatched (list[dispatch.Call]): operators of PYNATIVE mode.
        steps (list): (start, end) of steps that the caller marked, empty if the calls are the steps.
        load (float | None): load average at the start.
    """

    def __init__(self):
        self.start = self.end = 0
        self.calls: list[Any] = []
        self.programs: dict[Any, Any] = {}
        self.waits: list[Any] = []
        self.compiling: list[Any] = []
        self.steps: list[Any] = []
        self.kernels: list[Any] = []
        self.dispatched: list[Any] = []
        self.traced: Any = None
        self.mode = "GRAPH"
        self.load: float | None = load()


class Recorder:
    """Records from `start` to `stop`. Only one Recorder can record at a time.

    Args:
        steps (int): number of steps without compiling after which the kernel trace ends. Later steps are still timed.
            Default: 30.
        kernels (bool): True to trace kernels. Default: True.
        repeated (bool): True to trace from the second call of the same network on. Default: False.
    """

    _active = None

    def __init__(self, steps: int = _TRACED_STEPS, kernels: bool = True, repeated: bool = False) -> None:
        self.recording: Recording | None = None
        self._steps = steps
        self._kernels_in = kernels
        self._repeated = repeated
        self._owner = None
        self._listener = None
        self._outermost = None
        self._folder = None
        self._last = None
        self._program = None  # program of the last call
        self._clean = 0
        self._traced_since = 0
        self._watch = None
        self._full_executables: Any = None  # programs run their full executables meanwhile

    # ------------------------------------------------------------------ beginning and end
    def start(self) -> Self:
        """Start recording.

        Raises:
            RuntimeError: If another recording is going on.
        """
        if Recorder._active is not None:
            raise RuntimeError(
                "A profile is being taken already; end it with analyse() (or leave its `with` block) "
                "before another one begins."
            )
        Recorder._active = self
        self._full_executables = full_executables()
        self._full_executables.__enter__()
        self.recording = recording = Recording()
        self._owner = threading.get_ident()
        self._listener = events.listen(
            entered=self._on_enter,
            left=self._on_leave,
            ran=self._on_program_run,
            waited=self._on_data_wait,
            name="profile",
            here=True,
        )
        jax.monitoring.register_event_duration_secs_listener(self._on_compile_event)
        self._watch_operators_if_pynative()
        recording.start = _clock()
        if self._kernels_in:
            self.trace()
        return self

    def stop(self) -> Recording:
        """Stop recording.

        Returns:
            Recording.
        """
        recording = self.recording
        try:
            self._wait_for_device()
            recording.end = _clock()
            self.end_trace()
        finally:
            if self._watch is not None:
                self._watch.close()
                recording.dispatched = self._watch.calls
                # most of the time was spent in compiled functions, although the context is in PYNATIVE mode
                if self._watch.runs_programs:
                    recording.mode, recording.dispatched = "GRAPH", []
            self._listener.close()
            jax.monitoring.unregister_event_duration_listener(self._on_compile_event)
            self._full_executables.__exit__(None, None, None)
            Recorder._active = None
        return recording

    def mark(self) -> None:
        """End a step now. It began at the end of the previous step, or at the start of the recording."""
        self._wait_for_device()
        steps = self.recording.steps
        steps.append((steps[-1][1] if steps else self.recording.start, _clock()))

    def step(self) -> Any:
        """Return a context manager for one step. A caller uses it if it knows where a step begins and ends."""
        return _Step(self)

    # ------------------------------------------------------------------ event handlers
    def _on_enter(self, call):
        if self._outermost is None:
            self._wait_for_device()  # JAX returns before the work is done: a step ends when the device has finished it
            self._start_or_end_trace(call.net)
            self._outermost = call, _clock()

    def _on_leave(self, call):
        if self._outermost is not None and self._outermost[0] is call:
            _, start = self._outermost
            self._outermost = None
            self.recording.calls.append((call.net, start, _clock()))
            if call.error is None:
                self._last = call.out
            else:
                self._program = None

    def _on_program_run(self, program, arrays, outs, start, sent):
        self.recording.programs[program] = list(arrays)
        self._program = program

    def _on_data_wait(self, iterator, start, end):
        self.recording.waits.append((start, end))

    def _is_own_thread(self):
        return threading.get_ident() == self._owner

    def _on_compile_event(self, event, duration, **_):
        if event.startswith(_COMPILING) and self._is_own_thread():
            now = _clock()
            self.recording.compiling.append((now - int(duration * 1e9), now))

    # ------------------------------------------------------------------ the kernel trace
    def trace(self) -> None:
        """Start the kernel trace."""
        options = jax.profiler.ProfileOptions()
        options.python_tracer_level = 0  # no events for Python calls, because they are slow
        options.host_tracer_level = 2
        folder = tempfile.mkdtemp(prefix="msnb-profile-")
        try:
            jax.profiler.start_trace(folder, profiler_options=options)
        except Exception as error:
            shutil.rmtree(folder, ignore_errors=True)
            log.once(f"Kernels are not traced, so that nothing is said about single operators: {error}")
            return
        self._folder = folder
        self._anchor = _write_trace_mark()
        self._traced_since = _clock()

    def trace_no_repeats(self) -> None:
        """End the trace that started at the second call of a network, and start no trace at later calls."""
        self._repeated = False
        self.end_trace()

    def end_trace(self) -> None:
        """End the kernel trace and read it."""
        if self._folder is None:
            return
        folder, self._folder = self._folder, None
        self._wait_for_device()
        ended = _clock()
        try:
            jax.profiler.stop_trace()
            kernels, marks = xplane.read(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        anchors = [start for name, start, _, _ in marks if name == _ANCHOR]
        if not anchors:
            log.once("The trace of kernels holds no time mark; nothing is said about single operators.")
            return
        shift = self._anchor - anchors[-1]
        for kernel in kernels:
            kernel.start += shift
            kernel.end += shift
        self.recording.kernels = kernels
        self.recording.traced = (self._traced_since, ended)

    def _watch_operators_if_pynative(self):
        """Record operators only in PYNATIVE mode. A user's program may set the mode after `start`, so the mode is
        checked again at the first call.
        """
        self.recording.mode = "GRAPH" if context.get_context("mode") == context.GRAPH_MODE else "PYNATIVE"
        if self._watch is not None and self.recording.mode == "GRAPH":
            self._watch.close()
            self._watch = None
        elif self._watch is None and self.recording.mode == "PYNATIVE":
            self._watch = Watch()
            self._watch.open()

    def _start_or_end_trace(self, net):
        """Start or end the kernel trace between two steps."""
        if not self.recording.calls:
            self._watch_operators_if_pynative()
        if self._repeated and any(earlier is net for earlier, _, _ in self.recording.calls):
            self._repeated = False
            self.trace()
        if self._folder is None:
            return
        compiling = self.recording.compiling
        calls = self.recording.calls
        if calls and not (compiling and compiling[-1][1] > calls[-1][1]):
            self._clean += 1
        if self._clean > self._steps or (self._clean > 3 and _clock() - self._traced_since > _TRACED_SECONDS * 1e9):
            self.end_trace()

    def _wait_for_device(self):
        """Wait for the results of the last call and for the Parameters that it writes."""
        written = self._program.written if self._program is not None else ()
        jax.block_until_ready(arrays_of([self._last, written]))


class _Step:
    def __init__(self, recorder):
        self.recorder = recorder

    def __enter__(self):
        self.start = _clock()
        return self

    def __exit__(self, *exc):
        if exc[0] is None:
            self.recorder._wait_for_device()
            self.recorder.recording.steps.append((self.start, _clock()))
        return False


_ANCHOR = "msnb:anchor"


def _write_trace_mark():
    """Write a mark into the trace and return its time."""
    with jax.profiler.TraceAnnotation(_ANCHOR):
        pass
    before = _clock()
    with jax.profiler.TraceAnnotation(_ANCHOR):
        after = _clock()
    return (before + after) // 2


def arrays_of(value: Any) -> list[jax.Array]:
    """Return the JAX arrays in the result of a network."""
    if hasattr(value, "_array"):
        return [value._array]
    if isinstance(value, (tuple, list)):
        return [array for item in value for array in arrays_of(item)]
    if isinstance(value, dict):
        return arrays_of(list(value.values()))
    return [value] if isinstance(value, jax.Array) else []
