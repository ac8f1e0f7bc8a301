"""Compilation on a separate thread, so that progress can be shown, the wait can be interrupted, and calls can go on.

XLA cannot be interrupted. Ctrl-C ends the wait at once. The compilation goes on in its thread, and the next call finds
its result, because JAX caches the executable with the lowered function.
"""

import contextlib
import os
import threading
import time
import weakref
from typing import Any, Protocol

import jax
from jax.extend.core import ClosedJaxpr

from msnb._util import freed_memory, gc_pause
from msnb.common import progress
from msnb.core.compat.jax_compilation import thread_settings
from msnb.core.program import persistent_cache, slow_compile_alarm
from msnb.core.program.tiered_compilation import QuickForm

SILENT = 2.0  # seconds before a progress line is shown
_LONG = 1.0  # seconds; a compilation that takes longer frees enough memory to return it, which takes 30 ms


class _Job:
    """One compilation that runs in a thread.

    Args:
        form (Callable): The `jax.jit` function, or a `QuickForm` of it.
        arguments (tuple): Shapes, dtypes and shardings of its arguments.
        jaxpr (Jaxpr): The graph. Its name stacks are part of the cache key.
        device (jax.Device): Target device, None for JAX's default.
    """

    def __init__(self, form, arguments, jaxpr, device):
        self.form: Any = form
        self.arguments, self.jaxpr, self.device = arguments, jaxpr, device
        self.takeover = form.takeover if isinstance(form, QuickForm) else None
        self.started = time.perf_counter()
        self.settings = thread_settings()
        self.error = None
        # The main thread waits for this event and does not join the thread: after an interrupted join(), Python 3.11
        # and 3.12 treat the thread as ended.
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._compile_and_signal_done, name="msnb-compile")
        self.thread.start()

    def _compile_and_signal_done(self):
        try:
            self._compile_form()
        finally:
            self.done.set()
        if time.perf_counter() - self.started > _LONG:
            freed_memory.return_freed_memory()

    def _get_compile_function(self):
        form, arguments = self.form, self.arguments
        if isinstance(form, QuickForm):
            return lambda: form.compile(arguments)
        return lambda: form.lower(*arguments).compile()

    def _compile_form(self):
        try:
            with jax.default_device(self.device), persistent_cache.compiling(self.jaxpr):
                # JAX finds an executable only under equal thread settings. If they differ here, compiling is useless.
                if thread_settings() == self.settings:
                    gc_pause.without_gc(self._get_compile_function())()
        except BaseException as error:
            self.error = error
        finally:
            self.form = self.jaxpr = None  # `form` is a weak key of `_jobs`: the job must not keep it alive


_jobs = weakref.WeakKeyDictionary()  # form -> its _Job, while it is compiled
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_jobs.clear)  # the threads of the jobs do not exist in the child


def is_compiling() -> bool:
    """Return True while XLA compiles in a thread; Python waits for that thread before it exits."""
    return any(not job.done.is_set() for job in list(_jobs.values()))


class TracedProgram(Protocol):
    """Protocol of `Program`: the attributes that its compilation reads."""

    device: Any
    jaxpr: ClosedJaxpr
    seconds: dict[str, float]

    @property
    def title(self) -> str:
        """Name for progress lines."""
        ...


def start(program: TracedProgram, form: Any, arguments: tuple[Any, ...]) -> _Job:
    """Start to compile `form`, a variant of the program, in a thread, unless it is being compiled for `arguments`."""
    job = _jobs.get(form)
    if job is None or job.arguments != arguments:
        job = _jobs[form] = _Job(form, arguments, program.jaxpr.jaxpr, program.device)
    return job


def compile_ahead(program: TracedProgram, form: Any, arguments: tuple[Any, ...]) -> None:
    """Compile `form`, a variant of the program, in a thread, and wait until it is compiled.

    A progress line is shown if progress lines are on. A Ctrl-C reaches the main thread only, so on other threads this
    does nothing and the call compiles.

    Raises:
        KeyboardInterrupt: At a Ctrl-C; the compilation goes on.
        Exception: An error of XLA.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    job = start(program, form, arguments)
    if not job.done.wait(SILENT):
        _wait_with_progress(job, program)
    _jobs.pop(form, None)
    if job.error is not None:
        raise job.error


def _wait_with_progress(job, program):
    """Wait for a compilation and show its duration, in the progress line of a training if there is one."""
    own_line = progress.begin()
    line = own_line or progress.on_screen()
    alarm_filter, is_filtered = contextlib.ExitStack(), False
    try:
        while not job.done.is_set():
            if not is_filtered and time.perf_counter() - job.started > slow_compile_alarm.AFTER:
                alarm_filter.enter_context(slow_compile_alarm.SuppressAlarm())
                is_filtered = True
            if line is not None and not line.waits:
                line.show(
                    (
                        f"compiling: {program.title}",
                        f"{len(program.jaxpr.jaxpr.eqns):,} operators",
                        f"traced in {progress.duration(program.seconds['trace'])}",
                        f"XLA {progress.duration(time.perf_counter() - job.started)}",
                    )
                )
            job.done.wait(progress.EVERY)
    finally:
        alarm_filter.close()
        if own_line is not None:
            seconds = progress.duration(time.perf_counter() - job.started)
            outcome = "compiled" if job.done.is_set() else "is still being compiled, the next call waits for it"
            if job.done.is_set() and job.takeover is not None:
                outcome = f"compiled quickly, the full program takes over at call {job.takeover + 1}"
            own_line.end((f"{program.title}: {outcome}", f"XLA {seconds}"))
