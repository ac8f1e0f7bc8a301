"""The stop flag: Ctrl-C ends the loops of a program that is running on the CPU.

Python runs the handler of Ctrl-C in the main thread between two bytecodes. While that thread waits for a program, the
handler has to wait, too, and a loop may never end. The condition of a loop in a compiled program therefore reads memory
of this process. While the main thread waits, a second thread reads the signals that arrive. At a Ctrl-C it writes to
this memory. The program then ends, its results are discarded, and Python's handler runs.

Python writes signals to the descriptor of `signal.set_wakeup_fd`, which the second thread reads. The descriptor is
installed only while the main thread waits. At all other times the user's descriptor, such as asyncio's, is installed.
Signals that arrived during the wait are forwarded to it.

The user's handler may do other things than raise KeyboardInterrupt. In this case the first Ctrl-C does not stop the
program: the handler runs after the program has ended. The second Ctrl-C stops the program.
"""

import contextlib
import functools
import itertools
import os
import select
import signal
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import jax
import numpy as np

from msnb import log
from msnb.core.compat.jax_private import share_memory
from msnb.core.state import random_stream
from msnb.core.state.trace_state import thread as _thread
from msnb.core.support import interrupts

CELLS = 16  # number of elements of the flag that a loop reads in turn
_ALIGNMENT = 64  # bytes; JAX copies memory with a smaller alignment


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


_flag, _never = _Flag(), _Flag()  # flag of the main thread; that of other threads, which no Ctrl-C sets


def is_supported(device: Any) -> bool:
    """Return True if the loops of a program on `device` can be stopped."""
    return _has_wakeup and getattr(device, "platform", None) == "cpu" and _flag.on(device) is not None


def array_on(device: Any) -> jax.Array:
    """Return the flag of this thread as the input of a program on `device`."""
    if threading.get_ident() != _get_main_thread_id():
        return _never.on(device)
    if _is_set:  # an interrupt arrived while the last wait ended
        _clear_flag()
    return _flag.on(device)


def may_have_stopped() -> bool:
    """Return True if a program may have been stopped since the flag was last clear."""
    return bool(_flag.memory[CELLS])  # `_set_flag` writes it before the numbers that loops read


class Results:
    """Results of a program with loops that is still running. They are deleted if the program is stopped.

    Entries (verdict, Results) of `trace_state.thread.pending_verdicts` are the programs with loops of this thread.

    Args:
        arrays (Iterable): The results.
        number (int): Random number that the program has drawn. Default: None.
        running (str): Name of the program if it cannot be stopped; its verdict is one of its results. Default: None.
    """

    __slots__ = ("arrays", "number", "running")

    def __init__(self, arrays: Iterable[jax.Array], number: int | None = None, running: str | None = None) -> None:
        self.arrays: list[weakref.ref[jax.Array]] = list(map(weakref.ref, arrays))
        self.number = number
        self.running: str | None = running

    def discard(self) -> None:
        """Delete the arrays, so that later reads raise an error. The next program draws the random number again."""
        if self.number is not None:
            random_stream.put_back(self.number)
        for array in self.arrays:
            live = array()
            if live is not None and not live.is_deleted():
                live.delete()


# ------------------------------------------------------------------- waiting for a program
_has_wakeup = hasattr(signal, "set_wakeup_fd") and os.name == "posix"
_ONE_CALL = ((),)
_user_descriptor: list[int] = []  # the user's wakeup descriptor while the main thread waits; otherwise empty
_n_interrupts = 0  # number of Ctrl-C since the main thread began to wait
_running: str | None = None  # name of the program that is waited for, if it cannot be stopped
_is_set, _is_forced = False, False  # the flag is set; KeyboardInterrupt is raised even if the user's handler does not


def _get_main_thread_id():
    return threading.main_thread().ident


def wait(verdict: jax.Array, results: Results) -> None:
    """Wait until `verdict`, an output of a program with loops, is computed.

    Raises:
        KeyboardInterrupt: At a Ctrl-C, which has stopped the program if that is possible.
    """
    if verdict.is_ready():
        return
    if results.running is None:
        run(verdict.block_until_ready)
    else:
        run(lambda: _poll_until_ready(verdict), results.running)


def _poll_until_ready(verdict):
    pause = 2e-5
    while not verdict.is_ready():  # a Ctrl-C is raised between two polls
        time.sleep(pause)
        pause = min(2 * pause, 2e-3)


def run(fn: Callable[[], Any], running: str | None = None) -> Any:
    """Return ``fn()``. A Ctrl-C in the main thread sets the flag until the programs that run now have ended.

    Args:
        fn (Callable): Waits for a program, or starts one and adds it to `trace_state.thread.pending_verdicts`.
        running (str): Name of the program if it cannot be stopped. A Ctrl-C then logs a message, also while Python
            waits for the device, and the flag is not set. Default: None.
    """
    global _running
    if threading.get_ident() != _get_main_thread_id() or not _has_wakeup:
        return fn()
    if _user_descriptor or _is_set:  # an interrupt arrived while the last wait ended
        _finish_waiting(False)
    has_raised, _running = True, running
    try:
        # `extend` and `starmap` run in C: an interrupt cannot arrive between installing and storing the descriptor.
        _user_descriptor.extend(itertools.starmap(_get_reader().install, _ONE_CALL))
        out = fn()
        has_raised = False
    finally:
        try:
            _finish_waiting(has_raised)
        except KeyboardInterrupt:  # a second or late Ctrl-C, or `_is_forced`
            _finish_waiting(True)
            raise
    return out


def _finish_waiting(has_raised):
    """Restore the user's wakeup descriptor. If a Ctrl-C has arrived, stop programs and clear the flag.

    It may be called again.
    """
    global _n_interrupts
    reader, user = _get_reader(), _user_descriptor[0] if _user_descriptor else -1
    if _user_descriptor:
        with contextlib.suppress(ValueError, OSError):  # another thread has closed it
            signal.set_wakeup_fd(user)
    if user == -1 and not (has_raised or reader.received or _n_interrupts or _is_set):
        if interrupts.raises_at_once():  # a Ctrl-C would have raised: skip reading, which takes 10 us
            _user_descriptor.clear()
            return
    with reader.lock:
        reader.drain()
        if _n_interrupts and has_raised and _running is None:  # the handler ran while the main thread waited
            _set_flag(False)
        received, reader.received, _n_interrupts = reader.received, b"", 0
        _user_descriptor.clear()
    if received and user != -1:
        with contextlib.suppress(OSError):
            os.write(user, received)
    if _is_set:
        _clear_flag()


def _set_flag(is_forced):
    global _is_set, _is_forced
    _flag.memory[CELLS:] = 1  # first: when a stopped loop has ended, the verdict must read 1
    _flag.memory[:CELLS] = 1
    _is_set, _is_forced = True, is_forced


def _clear_flag():
    """Wait until the programs of the main thread have ended, discard their results, and clear the flag."""
    global _is_set, _is_forced
    pending = _thread.pending_verdicts
    for verdict, report in pending:
        if type(report) is Results and report.running is None:
            verdict.block_until_ready()
            if bool(verdict):
                report.discard()
    if pending:  # the other entries check results of these programs
        pending.clear()
    _flag.memory[:] = 0
    is_forced, _is_set, _is_forced = _is_forced, False, False
    if is_forced:
        raise KeyboardInterrupt


class _Reader:
    """A thread that reads the numbers of the signals that arrive while the main thread waits."""

    def __init__(self):
        self.lock = threading.Lock()
        self.received = b""
        self._source, self._sink = socket.socketpair()
        self._source.setblocking(False)
        self._sink.setblocking(False)
        self.install = functools.partial(signal.set_wakeup_fd, self._sink.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._read_signals_forever, name="msnb-stop", daemon=True).start()

    def _read_signals_forever(self):
        while True:
            select.select([self._source], [], [])
            with self.lock:
                self.drain()

    def drain(self):
        """Read the signals that have arrived, and set the flag at a Ctrl-C. The caller has the lock."""
        global _n_interrupts
        try:
            arrived = self._source.recv(4096)
        except BlockingIOError:
            return
        self.received += arrived
        count = arrived.count(signal.SIGINT)
        if count and _user_descriptor:
            _n_interrupts += count
            if _running is not None:
                log.warning(
                    "%s is still running, and the next value waits for it. Stop ends loops that run on one CPU device, "
                    "because they read memory of Python.",
                    _running,
                )
                return
            is_default = interrupts.user_handler() is signal.default_int_handler
            if is_default or _n_interrupts > 1:
                _set_flag(not is_default)


_the_reader: _Reader | None = None


def _get_reader():
    global _the_reader
    if _the_reader is None:
        _the_reader = _Reader()
    return _the_reader


def _reset_reader_after_fork():
    """Forget the reader in a forked child: its thread does not exist there, and its socket belongs to the parent."""
    global _the_reader
    _the_reader = None
    if _user_descriptor:
        _user_descriptor.clear()
        signal.set_wakeup_fd(-1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_reader_after_fork)
