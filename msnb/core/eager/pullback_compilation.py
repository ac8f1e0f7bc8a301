"""Compilation of the pullbacks of a tape on several threads, before the first backward pass runs them.

The forward pass compiles its kernels one by one, because the next call needs the result. Meanwhile a thread compiles
the pullbacks of the operators that have run. The tape of a backward pass is complete when it starts, so all kernels
that are left can be compiled at the same time. Results do not change.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import jax

from msnb.core.compat.jax_compilation import thread_settings
from msnb.core.compat.jax_private import is_tracer
from msnb.core.state import trace_state

_MOST_THREADS = 4  # tracing and lowering hold Python's lock
_FEW = 4  # with fewer kernels, starting a thread is not worth it


class _Seen(threading.local):
    """The number of traces of this thread at the last call of a function. Threads that compile count for themselves."""

    in_forward: int = 0  # of `compile_ahead`
    in_backward: int = 0  # of `compile_pullbacks`


_thread, _seen = trace_state.thread, _Seen()


def is_due() -> bool:
    """Return True if kernels were traced since the last call of `compile_pullbacks`, so pullbacks may be new."""
    return _thread.n_traces != _seen.in_backward and _thread.frame is None


def is_due_in_forward() -> bool:
    """Return True if kernels were traced since the last call of `compile_ahead`."""
    return _thread.n_traces != _seen.in_forward and _thread.frame is None


def compile_ahead(node: Any) -> None:
    """Compile the pullback of a new tape node on a thread, with respect to its tracked inputs.

    Args:
        node (Node): The node of an operator.
    """
    _seen.in_forward = _thread.n_traces
    _ahead.add(_collect_jobs([node], lambda node: tuple([link is not None for link in node.inputs])))


class _Ahead:
    """Jobs that a thread does during the forward pass."""

    def __init__(self):
        self._jobs: deque[Any] = deque()
        self._current: Any = None  # the job that the thread does now
        self._thread: threading.Thread | None = None
        self._settings: Any = None
        self._device: Any = None
        self._lock = threading.Lock()

    def add(self, jobs):
        """Add jobs of this thread, and start the thread that does them if none runs."""
        settings, device = thread_settings(), jax.config.jax_default_device
        with self._lock:
            if self._thread is not None and (settings, device) != (self._settings, self._device):
                return  # the backward pass compiles them
            self._jobs.extend(jobs)
            if self._thread is None and self._jobs:
                self._settings, self._device = settings, device
                self._thread = threading.Thread(target=self._compile_in_thread, name="msnb-compile")
                self._thread.start()

    def stop(self):
        """Drop the jobs that have not begun. Return (thread, key of its last job), or None if no thread runs."""
        with self._lock:
            self._jobs.clear()
            return None if self._thread is None else (self._thread, self._current)

    def _compile_in_thread(self):
        with jax.default_device(self._device):
            is_usable = thread_settings() == self._settings  # otherwise JAX does not use the executables
            while True:
                with self._lock:
                    if not (self._jobs and is_usable and threading.main_thread().is_alive()):
                        self._jobs.clear()
                        self._thread = self._current = None
                        return
                    self._current, arguments = self._jobs.popleft()
                _compile_job(self._current[0], arguments)


_ahead = _Ahead()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ahead.__init__)  # the thread does not exist in the child


def compile_pullbacks(nodes: Iterable[Any], find_needs: Callable[[Any], tuple[bool, ...]]) -> None:
    """Compile the pullbacks of tape nodes on several threads. Pullbacks that are compiled already cost little.

    Args:
        nodes (Iterable): Nodes of a tape that operators have recorded.
        find_needs (Callable): Takes a node and returns a bool for each of its inputs, True if it needs a cotangent.

    Raises:
        KeyboardInterrupt: At a Ctrl-C. Threads end after the kernel that they compile.
    """
    last = _ahead.stop()
    jobs = _collect_jobs(nodes, find_needs)
    if last is not None:
        jobs = deque(job for job in jobs if job[0] != last[1])  # two threads would compile it twice
    try:
        if len(jobs) >= _FEW:
            _compile_on_threads(jobs)
    finally:
        if last is not None:
            last[0].join()
    _seen.in_backward = _thread.n_traces


def _collect_jobs(nodes, find_needs):
    """Return the distinct jobs ((kernel, signature), arguments) of the pullbacks, those that run last at the end."""
    jobs = {}
    for node in nodes:
        needs = find_needs(node)
        if not any(needs) or node.kernel.joined or node.kernel.is_stoppable or any(map(_is_excluded, node.arrays)):
            continue
        kernel = node.kernel.pullback(needs)
        signature = tuple([*map(jax.typeof, node.arrays), *node.outputs])
        if (kernel, signature) not in jobs:
            cotangents = [jax.ShapeDtypeStruct(*output) for output in node.outputs]
            jobs[kernel, signature] = *node.arrays, *cotangents
    return deque(jobs.items())


def _is_excluded(array):
    """Return True for a tracer, whose pullback is not run by itself, and for an array that the user has put on a
    device, where its cotangent would be, too.
    """
    return is_tracer(array) or getattr(array, "committed", False)


def _compile_on_threads(jobs):
    settings, device = thread_settings(), jax.config.jax_default_device

    def compile_in_thread():
        with jax.default_device(device):
            if thread_settings() == settings:  # otherwise JAX does not use the executables
                _compile(jobs, jobs.pop)

    count = min(os.cpu_count() or 1, _MOST_THREADS, len(jobs) // 2)
    threads = [threading.Thread(target=compile_in_thread, name="msnb-compile") for _ in range(count - 1)]
    for thread in threads:
        thread.start()
    try:
        _compile(jobs, jobs.popleft)
    finally:
        jobs.clear()
    for thread in threads:
        thread.join()


def _compile(jobs, take):
    """Compile jobs until none is left. An error ends it and is raised where the pullback runs."""
    while True:
        try:
            (kernel, _), arguments = take()
        except IndexError:
            return
        _compile_job(kernel, arguments)


def _compile_job(kernel, arguments):
    try:
        kernel.compiled.lower(*arguments).compile()
    except BaseException as error:
        kernel.recover(error)
        if not isinstance(error, Exception):
            raise
