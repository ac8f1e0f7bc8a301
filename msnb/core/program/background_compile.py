"""XLA compiles on a thread of its own, so that who waits can be told how long it takes, and can stop waiting.

XLA cannot be interrupted. A Stop ends the waiting, at once; what is being compiled is finished on its thread and found
by the next call, as JAX keeps it with the function that was lowered.
"""

import contextlib
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

import jax

from msnb._util import gc_pause
from msnb.common import progress
from msnb.core.compat.jax_compilation import thread_settings
from msnb.core.program import persistent_cache, slow_compile_alarm

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.program.program import Program

SILENT = 2.0  # seconds before anything is shown


class _Job:
    """One compilation.

    Args:
        form (Callable): What `jax.jit` gave.
        arguments (tuple): Shapes, dtypes and shardings of its arguments.
        jaxpr (Jaxpr): The graph behind it, for its names.
        device (jax.Device): Where it is to run, None for JAX's default.
    """

    def __init__(self, form, arguments, jaxpr, device):
        self.form: Any = form
        self.arguments, self.jaxpr, self.device = arguments, jaxpr, device
        self.started = time.perf_counter()
        self.settings = thread_settings()
        self.error = None
        # Waited for instead of the thread: after a Stop inside of join(), Python 3.11 and 3.12 take it for ended.
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._work, name="msnb-compile")
        self.thread.start()

    def _work(self):
        try:
            self._run()
        finally:
            self.done.set()

    def _run(self):
        try:
            with jax.default_device(self.device), persistent_cache.scoped(self.jaxpr):
                if thread_settings() == self.settings:  # else the call would not find it, and compiles itself
                    gc_pause.without_gc(self.form.lower)(*self.arguments).compile()
        except BaseException as error:
            self.error = error
        finally:
            self.form = self.jaxpr = None  # a Stop may leave this job in the table, where only its form is looked for


_jobs = weakref.WeakKeyDictionary()  # form -> its _Job, while it is compiled


def going_on() -> bool:
    """Whether XLA is compiling at present; Python does not end before."""
    return any(not job.done.is_set() for job in list(_jobs.values()))


def ahead(program: "Program", form: Any, arguments: tuple[Any, ...]) -> None:
    """Compile `form` before it is called; returns when that is done.

    A line says how long it has taken, where lines are drawn. Off the main thread, which no Stop reaches, nothing is
    done: the call compiles.

    Raises:
        KeyboardInterrupt: At a Stop; the compilation goes on.
        Exception: What XLA raises.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    job = _jobs.get(form)
    if job is None or job.arguments != arguments:
        job = _jobs[form] = _Job(form, arguments, program.jaxpr.jaxpr, program.device)
    if not job.done.wait(SILENT):
        _wait(job, program)
    _jobs.pop(form, None)
    if job.error is not None:
        raise job.error


def _wait(job, program):
    """Wait for a compilation, and show how long that takes: in the line of a training where there is one."""
    own = progress.begin()
    line = own or progress.on_screen()
    late, quiet = contextlib.ExitStack(), False
    try:
        while not job.done.is_set():
            if not quiet and time.perf_counter() - job.started > slow_compile_alarm.AFTER:
                late.enter_context(slow_compile_alarm.HeldBack())
                quiet = True
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
        late.close()
        if own is not None:
            seconds = progress.duration(time.perf_counter() - job.started)
            done = "compiled" if job.done.is_set() else "is still being compiled, the next call waits for it"
            own.end((f"{program.title}: {done}", f"XLA {seconds}"))
