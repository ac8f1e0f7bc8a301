"""Stateful seeds over JAX keys.

`set_seed` fixes a stream; every program and every eager random operator takes the next number of it. A program gets
its number as an argument, folds it into a key and splits that key as it goes (see `trace.Frame.next_key`), so the same
program after the same seed gives the same values, and two calls of it differ. Without a seed the stream starts at a
number drawn from the operating system.
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
    """Numbers of which no two are equal, from a seed on."""

    def __init__(self):
        self.lock = threading.Lock()
        self.restart(None)

    def restart(self, seed):
        """Begin the stream of `seed` anew."""
        self.base = int.from_bytes(os.urandom(4), "little") if seed is None else int(seed) & 0xFFFFFFFF
        self.count = 0

    def next_number(self):
        """An int64 that no earlier draw of this stream had."""
        with self.lock:
            self.count += 1
            return (self.base << 30 | (self.count & 0x3FFFFFFF)) & 0x7FFFFFFFFFFFFFFF


default = Stream()
next_number: Callable[..., Any] = default.next_number


def key_of(number: int) -> jax.Array:
    """The JAX key of one number of the stream; `number` may be traced."""
    return jax.random.key(number)


class _Chosen(threading.local):
    stream: Stream | None = None


_chosen = _Chosen()


@contextlib.contextmanager
def drawing(stream: Stream) -> Iterator[None]:
    """Within, what this thread draws outside of programs is of another stream than the default."""
    before, _chosen.stream = _chosen.stream, stream
    try:
        yield
    finally:
        _chosen.stream = before


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Within, random numbers may be drawn; afterwards every stream goes on where it was: that of the operators, and
    those of `numpy.random` and `random`."""
    stream, drawn, python = (default.base, default.count), np.random.get_state(), stdlib_random.getstate()
    with _seed.undisturbed():
        try:
            yield
        finally:
            default.base, default.count = stream
            np.random.set_state(drawn)
            stdlib_random.setstate(python)


_eager_key = jax.jit(key_of)


def next_key() -> jax.Array:
    """A fresh key: of the program being traced, or of the eager stream, which `drawing` may have chosen."""
    frame = thread.frame
    if frame is not None:
        return frame.next_key()
    stream = _chosen.stream
    return _eager_key(next_number() if stream is None else stream.next_number())


_seed.on_seed(default.restart)
