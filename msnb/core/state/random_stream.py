"""Stateful seeds over JAX keys.

`set_seed` restarts a stream of numbers. Every program and every eager random operator takes the next number. A program
receives its number as an argument, makes a key of it and splits that key (see `trace_state.TraceFrame.next_key`). The
same program after the same seed therefore gives the same values, and two calls of it differ. Without a seed the stream
starts at a number drawn from the operating system.
"""

import contextlib
import os
import random as stdlib_random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from msnb.common import seed as _seed
from msnb.core.state.trace_state import thread


class Stream:
    """A seeded sequence of distinct numbers."""

    def __init__(self):
        self.lock = threading.Lock()
        self.restart(None)

    def restart(self, seed):
        """Restart the stream from `seed`; None draws a seed from the operating system."""
        self.base = int.from_bytes(os.urandom(4), "little") if seed is None else int(seed) & 0xFFFFFFFF
        self.count = 0

    def next_number(self):
        """Return the next int64; each number of a stream is drawn once."""
        with self.lock:
            self.count += 1
            return self._compute_current_number()

    def put_back(self, number):
        """Make `number` the next one again if it was drawn last. Called if the program that took it was stopped."""
        with self.lock:
            if number == self._compute_current_number():
                self.count -= 1

    def _compute_current_number(self):
        return (self.base << 30 | (self.count & 0x3FFFFFFF)) & 0x7FFFFFFFFFFFFFFF


default = Stream()
next_number: Callable[..., Any] = default.next_number
put_back: Callable[[int], None] = default.put_back


def key_of(number: int) -> jax.Array:
    """Return the JAX key of one number of a stream; `number` may be traced."""
    return jax.random.key(number)


class _ThreadStream(threading.local):
    stream: Stream | None = None


_thread_stream = _ThreadStream()


@contextlib.contextmanager
def draw_from(stream: Stream) -> Iterator[None]:
    """Context manager: random operators of this thread outside programs draw from `stream` instead of the default
    stream.
    """
    before, _thread_stream.stream = _thread_stream.stream, stream
    try:
        yield
    finally:
        _thread_stream.stream = before


@contextlib.contextmanager
def preserve_streams() -> Iterator[None]:
    """Context manager that restores all random streams on exit: those of operators, `numpy.random` and `random`."""
    default_state, numpy_state, python_state = (
        (default.base, default.count),
        np.random.get_state(),
        stdlib_random.getstate(),
    )
    with _seed.undisturbed():
        try:
            yield
        finally:
            default.base, default.count = default_state
            np.random.set_state(numpy_state)
            stdlib_random.setstate(python_state)


_eager_key = jax.jit(key_of)


def next_key() -> jax.Array:
    """Return a new key. In a trace it comes from the stream of the program, otherwise from the stream of `draw_from`
    or from the default stream.
    """
    frame = thread.frame
    if frame is not None:
        return frame.next_key()
    stream = _thread_stream.stream
    return _eager_key(next_number() if stream is None else stream.next_number())


_seed.on_seed(default.restart)
