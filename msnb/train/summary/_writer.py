"""The thread that writes records during the training.

All pending records go to their file in one system call. After a crash all earlier records are complete, and at most the
last one is truncated, which readers treat as not yet written. If a file cannot be written, for example to a full disk,
it is closed with one line in the log, and the training continues without it.
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

_MAX_JOBS = 1024  # maximum number of queued jobs; a further `submit` waits until they are done
_POLL_SECONDS = 0.25  # seconds between polls for jobs
_MAX_PENDING_BYTES = 1 << 20  # records are written when more bytes than this are pending


class EventFile:
    """A file of records, created with the first one.

    Args:
        path (Path): The file.
        first (Callable): Returns the payload at the beginning of the file; None for none. Default: None.
        most (Union[int, None]): Largest size in bytes; the file ends before the record that does not fit. Default:
            None.
    """

    def __init__(self, path: Path, first: Callable[[], bytes] | None = None, most: int | None = None) -> None:
        self.path, self.failed = path, None
        self._first, self._max_size = first, most
        self._descriptor: Any = None
        self._size = 0
        self._waiting: list[bytes] = []
        self._bytes = 0  # size of the pending records

    def append(self, payload: bytes) -> None:
        """Write a record with the next `flush`. Does nothing after a failure.

        Raises:
            OSError: See `flush`, which this calls when many bytes are pending.
        """
        if self.failed is None:
            self._waiting.append(payload)
            self._bytes += len(payload)
            if self._bytes > _MAX_PENDING_BYTES:
                self.flush()

    def flush(self) -> None:
        """Write the pending records.

        Raises:
            OSError: If a record cannot be written. It is raised only once.
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
            self._write_records(frames(payloads))
        except OSError as error:
            self.failed = error
            log.warning("Recording to %s stops here: %s.", self.path, error.strerror or error)
            self.close()
            raise

    def _write_records(self, records):
        ends = list(accumulate(map(len, records), initial=self._size))[1:]
        fit_count = len(ends) if self._max_size is None else bisect_right(ends, self._max_size)
        start, rest = self._size, memoryview(b"".join(records[:fit_count]))
        try:
            while rest:  # one write, unless the disk is nearly full
                written = os.write(self._descriptor, rest)
                rest, self._size = rest[written:], self._size + written
        except OSError:
            complete = ends[: bisect_right(ends, self._size)]
            # an incomplete record would hide the records that another process appends
            os.ftruncate(self._descriptor, complete[-1] if complete else start)
            raise
        if fit_count < len(records):
            self.failed = "full"
            log.warning("Recording to %s stops here: max_file_size=%d is reached.", self.path, self._max_size)

    def close(self) -> None:
        """Write the pending records, and close the file."""
        with contextlib.suppress(OSError):  # logged before
            self.flush()
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


class SummaryWriter:
    """Runs jobs in their order in a thread that starts with the first one.

    The thread polls every quarter of a second, or when a caller waits: waking it for each step would cost the training
    more than the jobs do.

    Args:
        name (str): Name of the thread.
        after (Callable): Called in the thread when no job is left, and before a waiting caller continues.
        on_error (Callable): Called in the thread with the exception of a job. Default: None.
    """

    def __init__(
        self, name: str, after: Callable[[], None], on_error: Callable[[BaseException], None] | None = None
    ) -> None:
        self._name, self._after, self._on_error = name, after, on_error
        self._jobs: deque[Callable[[], None]] = deque()
        self._thread = None
        self._process, self._ended = os.getpid(), False
        self._wake_up = threading.Event()

    def submit(self, job: Callable[[], None]) -> None:
        """Queue a job: the thread calls `job()` after the jobs submitted before."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run_jobs, name=self._name, daemon=True)
            self._thread.start()
        self._jobs.append(job)
        if len(self._jobs) > _MAX_JOBS:
            self.flush()

    def flush(self) -> None:
        """Wait until all jobs submitted so far are done."""
        if self._thread is not None and self._process == os.getpid():
            done = threading.Event()
            self._jobs += [self._after, done.set]
            self._wake_up.set()
            while not done.wait(1):  # the event is never set if the interpreter's exit has stopped the thread
                if not self._thread.is_alive():
                    return

    def close(self) -> None:
        """Run the remaining jobs, and end the thread."""
        if self._thread is not None and self._process == os.getpid() and self._thread.is_alive():
            self._ended = True
            self._wake_up.set()
            self._thread.join()
        self._thread = None

    def _run_jobs(self):
        while True:
            ended = self._ended  # read before the jobs, so that no job is left
            self._wake_up.clear()
            while self._jobs:
                self._run_job(self._jobs.popleft())
            self._run_job(self._after)
            if ended:
                return
            if not self._ended:
                self._wake_up.wait(_POLL_SECONDS)

    def _run_job(self, job):
        try:
            job()
        except OSError as error:  # logged by the file
            self._report_error(error)
        except Exception as error:
            log.warning("Something could not be recorded: %s: %s", type(error).__name__, error)
            self._report_error(error)

    def _report_error(self, error):
        if self._on_error is not None:
            self._on_error(error)


def on_host(value: Any) -> Any:
    """Return a device's array as a numpy array, after waiting for it, and other values unchanged."""
    return np.asarray(value) if hasattr(value, "__array__") else value


def is_in_host_memory(array: jax.Array) -> bool:
    """Return whether numpy can read the array of a device in place."""
    return all(device.platform == "cpu" for device in array.devices())


def now() -> float:
    """Return the current time in seconds since 1970."""
    return time.time()
