"""Compilation of the pullbacks of a tape on several threads, before the first backward pass runs them.

The forward pass compiles its kernels one by one, because the next call needs the result. The tape of a backward pass
is complete when it starts, so all its kernels can be compiled at the same time. Results do not change.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import jax

from msnb.core.compat.jax_compilation import thread_settings
from msnb.core.compat.jax_private import is_tracer
from msnb.core.eager.kernel import count_traces
from msnb.core.state import trace_state

_MOST_THREADS = 4  # tracing and lowering hold Python's lock
_FEW = 4  # with fewer kernels, starting a thread is not worth it
_traces = 0  # result of `count_traces` after the last backward pass that compiled


def is_due() -> bool:
    """Return True if kernels were traced since the last call of `compile_pullbacks`, so pullbacks may be new."""
    return count_traces() != _traces and trace_state.thread.frame is None


def compile_pullbacks(nodes: Iterable[Any], find_needs: Callable[[Any], tuple[bool, ...]]) -> None:
    """Compile the pullbacks of tape nodes on several threads. Pullbacks that are compiled already cost little.

    Args:
        nodes (Iterable): Nodes of a tape that operators have recorded.
        find_needs (Callable): Takes a node and returns a bool for each of its inputs, True if it needs a cotangent.

    Raises:
        KeyboardInterrupt: At a Ctrl-C. Threads end after the kernel that they compile.
    """
    global _traces
    jobs = _collect_jobs(nodes, find_needs)
    if len(jobs) >= _FEW:
        _compile_on_threads(jobs)
    _traces = count_traces()


def _collect_jobs(nodes, find_needs):
    """Return the distinct (kernel, arguments) of the pullbacks, those that run last at the end."""
    jobs = {}
    for node in nodes:
        needs = find_needs(node)
        if not any(needs) or node.kernel.joined or node.kernel.is_stoppable or any(map(_is_excluded, node.arrays)):
            continue
        kernel = node.kernel.pullback(needs)
        signature = tuple([*map(jax.typeof, node.arrays), *node.outputs])
        if (kernel, signature) not in jobs:
            cotangents = [jax.ShapeDtypeStruct(*output) for output in node.outputs]
            jobs[kernel, signature] = kernel, (*node.arrays, *cotangents)
    return deque(jobs.values())


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
            kernel, arguments = take()
        except IndexError:
            return
        try:
            kernel.compiled.lower(*arguments).compile()
        except BaseException as error:
            kernel.recover(error)
            if not isinstance(error, Exception):
                raise
