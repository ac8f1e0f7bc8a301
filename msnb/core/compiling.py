"""XLA compiles on a thread of its own, so that who waits can be told how long it takes, and can stop waiting.

XLA cannot be interrupted. A Stop ends the waiting, at once; what is being compiled is finished on its thread and found
by the next call, as JAX keeps it with the function that was lowered.
"""

import threading
import time
import weakref
from typing import Any

import jax

from msnb.core import compiled_files, events
from msnb.core._jax_private import settings_of_thread

SILENT = 2.0  # seconds before anybody is told
_EVERY = 0.25  # seconds between two tellings


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
        self.settings = settings_of_thread()
        self.error = None
        self.thread = threading.Thread(target=self._run, name="msnb-compile")
        self.thread.start()

    def _run(self):
        try:
            with jax.default_device(self.device), compiled_files.scoped(self.jaxpr):
                if settings_of_thread() == self.settings:  # else the call would not find it, and compiles itself
                    self.form.lower(*self.arguments).compile()
        except BaseException as error:
            self.error = error
        finally:
            self.form = self.jaxpr = None  # a Stop may leave this job in the table, where only its form is looked for


_jobs = weakref.WeakKeyDictionary()  # form -> its _Job, while it is compiled


def ahead(program, form, arguments):
    """Compile `form` before it is called; returns when that is done.

    Listeners are told of `compiling` in the thread that waits. Off the main thread, which no Stop reaches, nothing is
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
    told = False
    try:
        job.thread.join(SILENT)
        while job.thread.is_alive():
            if events.asked.compiling:
                told = True
                events.tell("compiling", program, time.perf_counter() - job.started)
            job.thread.join(_EVERY)
    finally:
        if told:
            events.tell("compiling", program, None)
    _jobs.pop(form, None)
    if job.error is not None:
        raise job.error
