"""The stop flag: Ctrl-C ends the loops of a program that is running on the CPU.

Python runs the handler of Ctrl-C in the main thread between two bytecodes. While that thread waits for a program, the
handler would wait too, for ever if a loop has no end. A loop of a compiled program therefore reads memory of this
process in its condition. While the main thread waits, a second thread reads the signals that arrive, and sets that
memory at a Ctrl-C. The program then ends, its results are discarded, and Python's handler runs.

`signal.set_wakeup_fd` tells the second thread of signals. It is set while the main thread waits and at no other time,
so that of the user, such as asyncio's, is intact; signals that arrived meanwhile are forwarded to it.

A handler of the user may have other plans than to raise KeyboardInterrupt. The first Ctrl-C is then left to it, and
runs after the program; the second one stops the program.
"""

import contextlib
import functools
import itertools
import os
import select
import signal
import socket
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import jax
import numpy as np

from msnb import log
from msnb.core.compat.jax_private import share_memory
from msnb.core.state.trace_state import thread as _thread
from msnb.core.support import interrupts

CELLS = 16  # numbers that a loop reads in turn
_ALIGNMENT = 64  # bytes; JAX copies memory with a smaller alignment
_PATIENCE = 0.5  # seconds until a message says that a program cannot be stopped


class _Flag:
    """Memory that programs read on each CPU device: `CELLS` numbers for the conditions of loops, and as many for the
    verdict at the end of a program.
    """

    def __init__(self):
        raw = np.zeros(2 * CELLS + _ALIGNMENT // 4, np.int32)
        self.memory = raw[(-raw.ctypes.data % _ALIGNMENT) // 4 :][: 2 * CELLS]
        self._arrays = {}

    def on(self, device):
        """Return the memory as an array on `device`; None if JAX cannot share memory with it."""
        if device not in self._arrays:
            self._arrays[device] = share_memory(self.memory, device)
        return self._arrays[device]


_flag, _never = _Flag(), _Flag()  # of the main thread; of other threads, to which Python delivers no Ctrl-C


def is_supported(device: Any) -> bool:
    """Return True if the loops of a program on `device` can be stopped."""
    return _has_wakeup and getattr(device, "platform", None) == "cpu" and _flag.on(device) is not None


def array_on(device: Any) -> jax.Array:
    """Return the flag of this thread as the input of a program on `device`."""
    if threading.get_ident() != _main_thread():
        return _never.on(device)
    if _is_set:  # an interrupt came while the last program was stopped
        _clear(())
    return _flag.on(device)


class Results:
    """The results of a program that may be stopped after they were returned. They are deleted if it is.

    Entries (verdict, Results) of `trace_state.thread.pending_verdicts` are the programs with loops of this thread.
    """

    __slots__ = ("arrays",)

    def __init__(self, arrays: Iterable[jax.Array]) -> None:
        self.arrays: list[weakref.ref[jax.Array]] = list(map(weakref.ref, arrays))

    def discard(self) -> None:
        """Delete the arrays, so that later reads raise an error."""
        for array in self.arrays:
            live = array()
            if live is not None and not live.is_deleted():
                live.delete()


# ------------------------------------------------------------------- waiting for a program
_has_wakeup = hasattr(signal, "set_wakeup_fd") and os.name == "posix"
_previous: deque[int] = deque()  # wakeup descriptors of the user, the oldest first, while the main thread waits
_is_set, _is_forced = False, False  # the flag is set; the handler of the user may raise nothing
_ONCE = ((),)
_ctrl_c = 0  # number of Ctrl-C since the main thread waits
_waits_for: str | None = None  # name of the program without stop flag that the main thread waits for


def _main_thread():
    return threading.main_thread().ident


def wait(verdict: jax.Array, name: str | None = None) -> None:
    """Wait until `verdict`, an output of a program with loops, is computed.

    Args:
        verdict (jax.Array): The output.
        name (str): Name of the program if it has no stop flag. Default: None.

    Raises:
        KeyboardInterrupt: At a Ctrl-C, which has stopped the program.
    """
    if not verdict.is_ready():
        run(verdict.block_until_ready, name)


def run(fn: Callable[[], Any], name: str | None = None, verdicts: list[Any] | None = None) -> Any:
    """Return ``fn()``. At a Ctrl-C in the main thread the flag is set, until the programs that run now have ended.

    Args:
        fn (Callable): Waits for a program.
        name (str): Name of the program if it has no stop flag. Default: None.
        verdicts (list): `fn` adds the verdicts of programs that it starts. Default: None.
    """
    global _waits_for
    if threading.get_ident() != _main_thread() or not _has_wakeup:
        return fn()
    if _is_set:
        _clear(())
    install = _reader().install
    try:
        _previous.extend(itertools.starmap(install, _ONCE))  # in C: an interrupt cannot lose the descriptor
        _waits_for = name
        return fn()
    finally:
        _finish_waiting(verdicts or ())


def _finish_waiting(verdicts):
    global _ctrl_c, _waits_for
    forward_to = _previous[0] if _previous else -1
    while _previous:
        with contextlib.suppress(ValueError, OSError):  # another thread has closed it
            signal.set_wakeup_fd(_previous[0])
        _previous.popleft()
    reader = _reader()
    with reader.lock:
        reader.drain()
        received, reader.received, _ctrl_c, _waits_for = reader.received, b"", 0, None
    reader.ended.set()
    if received and forward_to != -1:
        with contextlib.suppress(OSError):
            os.write(forward_to, received)
    if _is_set:
        _clear(verdicts)


def _clear(verdicts):
    """Wait for the programs of the main thread that run, then clear the flag. Their results are discarded."""
    global _is_set, _is_forced
    for verdict in verdicts:
        verdict.block_until_ready()
    pending = _thread.pending_verdicts
    for verdict, report in pending:
        if type(report) is Results:
            verdict.block_until_ready()
            if bool(verdict):
                report.discard()
    if pending:
        pending.clear()  # the other entries are checks of what these programs have returned
    _flag.memory[:] = 0
    is_forced, _is_set, _is_forced = _is_forced, False, False
    if is_forced:
        raise KeyboardInterrupt


class _Reader:
    """A thread that reads the numbers of the signals that arrive while the main thread waits."""

    def __init__(self):
        self.lock = threading.Lock()
        self.received = b""
        self.ended = threading.Event()
        self._source, self._sink = socket.socketpair()
        self._source.setblocking(False)
        self._sink.setblocking(False)
        self.install = functools.partial(signal.set_wakeup_fd, self._sink.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._run, name="msnb-stop", daemon=True).start()

    def _run(self):
        while True:
            select.select([self._source], [], [])
            with self.lock:
                count = self.drain()
            if count:
                self._say_what_is_waited_for()

    def drain(self):
        """Read the signals that have arrived; set the flag at a Ctrl-C. Return the number of those."""
        global _ctrl_c, _is_set, _is_forced
        try:
            arrived = self._source.recv(4096)
        except BlockingIOError:
            return 0
        self.received += arrived
        count = arrived.count(signal.SIGINT)
        if count and _previous:
            _ctrl_c += count
            is_default = interrupts.user_handler() is signal.default_int_handler
            if is_default or _ctrl_c > 1:
                _flag.memory[CELLS:] = 1  # before what loops read: the program must see it when a loop has ended
                _flag.memory[:CELLS] = 1
                _is_set, _is_forced = True, not is_default
        return count

    def _say_what_is_waited_for(self):
        self.ended.clear()
        name = _waits_for
        if name is not None and not self.ended.wait(_PATIENCE):
            log.warning(
                "Stop waits until %s has run: a loop can be stopped on one CPU device, where it shares memory with Python.",
                name,
            )


_the_reader: _Reader | None = None


def _reader():
    global _the_reader
    if _the_reader is None:
        _the_reader = _Reader()
    return _the_reader


def _forget_reader():
    """After a fork: the thread does not exist in the child, and its socket is the parent's."""
    global _the_reader
    _the_reader = None
    if _previous:
        _previous.clear()
        signal.set_wakeup_fd(-1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_reader)
