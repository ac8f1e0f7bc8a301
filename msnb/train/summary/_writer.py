"""The one thread that writes what is recorded, while the training goes on.

Records go to their file in one call of the system for all that the thread has found to do: what was written before a
crash is whole, and of the last record the beginning at most is there, which readers take as not yet written. A file
that cannot be written, for a full disk say, is closed with one line in the log, and the training goes on without it.
"""

import contextlib
import os
import threading
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import jax
import numpy as np

from msnb import log
from msnb.formats.event_records import frames

_WAITING = 1024  # jobs; who records faster than the disk takes it waits then
_LOOK = 0.25  # seconds from one look for jobs to the next
_AT_ONCE = 1 << 20  # bytes of records; more are not kept waiting


class EventFile:
    """A file of records that is made when the first one comes.

    Args:
        path (Path): The file.
        first (Callable): Gives the payload that begins it; None for nothing. Default: None.
        most (Union[int, None]): Bytes that it may get; it ends before the record that does not fit. Default: None.
    """

    def __init__(self, path: Path, first: Callable[[], bytes] | None = None, most: int | None = None) -> None:
        self.path, self.failed = path, None
        self._first, self._most = first, most
        self._descriptor: Any = None
        self._size = 0
        self._waiting: list[bytes] = []
        self._bytes = 0  # of these

    def append(self, payload: bytes) -> None:
        """Write a record with the next `flush`; nothing, once a record could not be written.

        Raises:
            OSError: See `flush`, which this calls when much is waiting.
        """
        if self.failed is None:
            self._waiting.append(payload)
            self._bytes += len(payload)
            if self._bytes > _AT_ONCE:
                self.flush()

    def flush(self) -> None:
        """Write the records that wait.

        Raises:
            OSError: If one could not be written, the first time.
        """
        payloads, self._waiting, self._bytes = self._waiting, [], 0
        if self.failed is not None or not payloads:
            return
        try:
            if self._descriptor is None:
                self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
                self._size = os.fstat(self._descriptor).st_size
                if self._first is not None and not self._size:
                    payloads.insert(0, self._first())
            self._write(frames(payloads))
        except OSError as error:
            self.failed = error
            log.warning("Recording to %s stops here: %s.", self.path, error.strerror or error)
            self.close()
            raise

    def _write(self, records):
        ends = list(accumulate(map(len, records), initial=self._size))[1:]
        fitting = len(ends) if self._most is None else bisect_right(ends, self._most)
        start, rest = self._size, memoryview(b"".join(records[:fitting]))
        try:
            while rest:  # at once, but on a disk that is about to be full
                written = os.write(self._descriptor, rest)
                rest, self._size = rest[written:], self._size + written
        except OSError:
            whole = ends[: bisect_right(ends, self._size)]
            os.ftruncate(self._descriptor, whole[-1] if whole else start)  # a piece would hide what another appends
            raise
        if fitting < len(records):
            self.failed = "full"
            log.warning("Recording to %s stops here: max_file_size=%d is reached.", self.path, self._most)

    def close(self) -> None:
        """Write what waits, and let go of the file."""
        with contextlib.suppress(OSError):  # it has been said
            self.flush()
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


class SummaryWriter:
    """Does jobs in their order in a thread of its own, which begins with the first one.

    The thread looks every quarter of a second, or when somebody waits: waking it for each step would cost the training
    more than what it does.

    Args:
        name (str): What the thread is called.
        after (Callable): Called in the thread when no job is left, and before somebody who waits goes on.
        on_error (Callable): Called in the thread with the exception of a job. Default: None.
    """

    def __init__(
        self, name: str, after: Callable[[], None], on_error: Callable[[BaseException], None] | None = None
    ) -> None:
        self._name, self._after, self._on_error = name, after, on_error
        self._jobs: deque[Callable[[], None]] = deque()
        self._thread = None
        self._process, self._ended = os.getpid(), False
        self._wanted = threading.Event()

    def submit(self, job: Callable[[], None]) -> None:
        """Have `job()` called after those before."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        self._jobs.append(job)
        if len(self._jobs) > _WAITING:
            self.flush()

    def flush(self) -> None:
        """Return when all jobs so far are done."""
        if self._thread is not None and self._process == os.getpid():
            done = threading.Event()
            self._jobs += [self._after, done.set]
            self._wanted.set()
            while not done.wait(1):  # a thread that the end of the interpreter stopped sets nothing
                if not self._thread.is_alive():
                    return

    def close(self) -> None:
        """Do what is left, and end the thread."""
        if self._thread is not None and self._process == os.getpid() and self._thread.is_alive():
            self._ended = True
            self._wanted.set()
            self._thread.join()
        self._thread = None

    def _work(self):
        while True:
            ended = self._ended  # before the jobs are looked at: none may be left
            self._wanted.clear()
            while self._jobs:
                self._do(self._jobs.popleft())
            self._do(self._after)
            if ended:
                return
            if not self._ended:
                self._wanted.wait(_LOOK)

    def _do(self, job):
        try:
            job()
        except OSError as error:  # the file has said so
            self._tell(error)
        except Exception as error:
            log.warning("Something could not be recorded: %s: %s", type(error).__name__, error)
            self._tell(error)

    def _tell(self, error):
        if self._on_error is not None:
            self._on_error(error)


def on_host(value: Any) -> Any:
    """The numbers of a device's array; anything else as it is. It waits until they are computed."""
    return np.asarray(value) if hasattr(value, "__array__") else value


def in_hosts_memory(array: jax.Array) -> bool:
    """Return whether numpy can read the array of a device where it is."""
    return all(device.platform == "cpu" for device in array.devices())


def now() -> float:
    """UNIX seconds."""
    return time.time()
