"""The thread pool that the engine's C code (decoding, resizing) runs in, and the thread that prepares batches ahead."""

import os
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor

_pool = None
_pool_size = 0
_lock = threading.Lock()


def processors():
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def pool(size):
    """The pool that all pipelines share, with at least `size` threads."""
    global _pool, _pool_size
    with _lock:
        if _pool is None or _pool_size < size:
            _pool, _pool_size = ThreadPoolExecutor(size, thread_name_prefix="msnb-data"), size
        return _pool


def _forget_pool():
    global _pool, _pool_size
    _pool, _pool_size = None, 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)  # threads do not survive a fork


def parallel_map(function, items, workers):
    """``[function(*item) for item in items]`` on `workers` threads, in order; the first error stops it, and has the
    number of its item as ``msnb_item``.
    """
    n = len(items)
    share = -(-n // workers)
    executor = pool(workers)

    def run(start):
        out = []
        try:
            for item in items[start : start + share]:
                out.append(function(*item))
        except Exception as error:
            error.msnb_item = start + len(out)
            raise
        return out

    futures = [executor.submit(run, start) for start in range(share, n, share)]
    out = run(0)
    for future in futures:
        out += future.result()
    return out


_END = object()


class Prefetcher:
    """Runs an iterator ahead of its consumer, once that is worth a thread.

    The first items are made in the consumer's own thread, and both sides are timed: with a consumer that does nothing
    in between,
    or a producer that costs nothing, a second thread would only cost. With `always` the thread starts after the first
    item, for transfers to a device that go on meanwhile. Nothing needs to be stopped before the program ends.
    """

    TRIAL = 4
    WORTH = 0.0004  # seconds of producing per item

    def __init__(self, iterator, ahead, always=False):
        self._iterator = iterator
        self.ahead = ahead
        self._always = always
        self._count = 0
        self._making = self._using = 0.0
        self._left = None
        self._queue = None
        self._stopped = False

    def __iter__(self):
        return self

    def __next__(self):
        if self._queue is not None:
            item, error = self._queue.get()
            if error is not None:
                self._queue = None
                self._iterator = iter(())
                raise error
            if item is _END:
                self._queue = None
                self._iterator = iter(())
                raise StopIteration
            return item
        start = time.perf_counter()
        if self._left is not None:
            self._using += start - self._left
        item = next(self._iterator)
        self._left = time.perf_counter()
        self._making += self._left - start
        self._count += 1
        if self._always:
            self._start()
        elif self._count % self.TRIAL == 0:
            making, using = self._making / self.TRIAL, self._using / self.TRIAL
            self._making = self._using = 0.0
            if making > self.WORTH and using > 0.2 * making:
                self._start()
        return item

    def _start(self):
        self._queue = queue.Queue(self.ahead)
        threading.Thread(target=self._produce, name="msnb-prefetch", daemon=True).start()

    def _put(self, item, error):
        while not self._stopped:
            try:
                self._queue.put((item, error), timeout=0.2)
                return
            except queue.Full:
                continue

    def _produce(self):
        error = None
        try:
            for item in self._iterator:
                self._put(item, None)
                if self._stopped:
                    return
        except BaseException as caught:  # the consumer must see it, whatever it is
            error = caught
        self._put(_END, error)

    def fill(self):
        """(items that are ready, places for them); (0, 0) without a thread."""
        waiting = self._queue
        return (0, 0) if waiting is None else (waiting.qsize(), self.ahead)

    def stop(self):
        """Let the producing thread end; what it has prepared is dropped."""
        self._stopped = True
