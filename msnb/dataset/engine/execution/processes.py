"""Worker processes for the user's Python functions. They are forked, so functions of a notebook need not be pickled."""

import multiprocessing
import os
import signal
import threading
import traceback
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from msnb.dataset.engine.execution.errors import find_user_line


class WorkerError(RuntimeError):
    """Error that a function raised in a worker process.

    Attributes:
        msnb_results: Results of the calls before it.
        msnb_line: Line of the user's code that raised the error.
    """


class _Worker:
    """One worker process, which executes calls one after the other."""

    def __init__(self, functions):
        context = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_serve_calls, args=(functions, other, self.pipe), daemon=True)
        with warnings.catch_warnings():
            # JAX and Python warn that threads do not survive a fork; the child runs numpy and the user's function only.
            warnings.simplefilter("ignore")
            self.process.start()
        other.close()

    def send(self, index, share):
        self.pipe.send((index, share))

    def receive(self):
        try:
            ok, value = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            self.process.join(1)
            raise RuntimeError(
                f"A worker process ended unexpectedly (exit code {self.process.exitcode}). It may have run out of "
                f"memory, or "
                "the function may have crashed; try without python_multiprocessing."
            ) from None
        if not ok:
            results, text, line, trace = value
            error = WorkerError(text)
            error.msnb_results, error.msnb_line = results, line
            error.add_note(f"In a worker process:\n{trace}")
            raise error
        return value


def _serve_calls(functions, pipe, parent_pipe):
    parent_pipe.close()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C also reaches this process: end without a traceback
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the program's handler must not run in this process
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        if task is None:
            return
        index, share = task
        out = []
        try:
            for args in share:
                out.append(functions[index](*args))
            pipe.send((True, out))
        except Exception as error:
            description = f"{type(error).__name__}: {error}", find_user_line(error), traceback.format_exc()
            try:
                pipe.send((False, (out, *description)))
            except Exception:  # the results cannot be pickled
                pipe.send((False, ([], *description)))


def _end_workers(workers, turn):
    """End the worker processes, or terminate them at once if a thread still waits for their results."""
    idle = turn.acquire(blocking=False)
    for worker in workers:
        if not idle:
            worker.process.terminate()
            continue
        try:
            worker.pipe.send(None)
        except OSError:
            pass
    for worker in workers:
        worker.process.join(0.5)
        for stop in (worker.process.terminate, worker.process.kill):
            if worker.process.is_alive():
                stop()
                worker.process.join(2)  # without `join` it would stay in the process table
    if idle or turn.acquire(timeout=2):  # the waiting thread must read the end of its pipe first
        for worker in workers:
            worker.pipe.close()
        turn.release()


class ProcessPool:
    """Pool of `size` worker processes that call `functions`.

    They start at the first use. They end when :meth:`close` is called, the pool is deleted or this process ends.
    """

    def __init__(self, functions: Sequence[Callable[..., Any]], size: int) -> None:
        self._functions = functions
        self._size = max(1, size)
        self._workers = None
        self._finalizer = None
        self._closed = False
        self._lock = threading.Lock()  # a prefetching thread must not start processes while another ends them
        self._turn = threading.Lock()  # locked while answers are pending

    def _get_workers(self):
        with self._lock:
            return self._start_workers()

    def _start_workers(self):
        if self._closed:
            raise RuntimeError("The worker processes were ended: the iterator they worked for was stopped.")
        if self._workers is None:
            self._workers = [_Worker(self._functions) for _ in range(self._size)]
            self._finalizer = weakref.finalize(self, _end_workers, self._workers, self._turn)
        for number, worker in enumerate(self._workers):
            if not worker.process.is_alive():  # ended by an interrupt, after which the iteration continues
                self._workers[number] = _Worker(self._functions)
        return self._workers

    def map(self, rows: Any, index: int = 0) -> Any:
        """Call function `index` with each tuple of arguments in `rows`. Return the results in order."""
        with self._turn:
            return self._map_rows(rows, index)

    def _map_rows(self, rows, index):
        workers = self._get_workers()
        share = -(-len(rows) // len(workers))
        busy = workers[: -(-len(rows) // share)] if rows else []
        for number, worker in enumerate(busy):
            worker.send(index, rows[number * share : (number + 1) * share])
        out, failure = [], None
        for worker in busy:  # Receive every answer. Otherwise the next call would receive it.
            try:
                answer = worker.receive()
            except RuntimeError as error:
                answer, last = getattr(error, "msnb_results", []), error
            else:
                last = None
            if failure is None:
                out += answer
                failure = last
        if failure is not None:
            failure.msnb_results = out
            raise failure
        return out

    def call(self, index: int, *args: Any) -> Any:
        """Call function `index` with these arguments in a worker process. Return its result."""
        return self.map([args], index)[0]

    def close(self) -> None:
        """End the processes. The pool cannot be used afterwards."""
        with self._lock:
            self._closed = True
            if self._finalizer is not None:
                self._finalizer()
