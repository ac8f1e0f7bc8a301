"""Processes for the user's Python functions. They are forked, so that functions of a notebook need no pickling."""

import multiprocessing
import os
import signal
import traceback
import warnings
import weakref


class _Worker:
    """One process that answers calls one after the other."""

    def __init__(self, functions):
        context = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(functions, other, self.pipe), daemon=True)
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
            kind, text, trace = value
            raise RuntimeError(f"{kind}: {text}\nIn a worker process:\n{trace}")
        return value


def _serve(functions, pipe, parents):
    parents.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        if task is None:
            return
        index, share = task
        try:
            pipe.send((True, [functions[index](*args) for args in share]))
        except Exception as error:
            pipe.send((False, (type(error).__name__, str(error), traceback.format_exc())))


def _end(workers):
    for worker in workers:
        try:
            worker.pipe.send(None)
        except OSError:
            pass
    for worker in workers:
        worker.pipe.close()
        worker.process.join(0.5)
        if worker.process.is_alive():
            worker.process.terminate()


class ProcessPool:
    """`size` processes, started at the first use, ended with :meth:`close`, with the pool or with this process."""

    def __init__(self, functions, size):
        self._functions = functions
        self._size = max(1, size)
        self._workers = None
        self._finalizer = None

    def _start(self):
        if self._workers is None:
            self._workers = [_Worker(self._functions) for _ in range(self._size)]
            self._finalizer = weakref.finalize(self, _end, self._workers)
        return self._workers

    def map(self, rows, index=0):
        """The function's result for each tuple of arguments, in order."""
        workers = self._start()
        share = -(-len(rows) // len(workers))
        parts = [rows[i : i + share] for i in range(0, len(rows), share)]
        busy = workers[: len(parts)]
        for worker, part in zip(busy, parts, strict=True):
            worker.send(index, part)
        out, failure = [], None
        for worker in busy:  # every answer is fetched, or the next call would get it
            try:
                out += worker.receive()
            except RuntimeError as error:
                failure = failure or error
        if failure is not None:
            raise failure
        return out

    def call(self, index, *args):
        """The function's result for these arguments."""
        return self.map([args], index)[0]

    def close(self):
        """End the processes."""
        if self._finalizer is not None:
            self._finalizer()
            self._workers = self._finalizer = None
