"""The thread pool that the engine's C code (decoding, resizing) runs in, and the thread that prepares batches ahead."""

import collections
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

_pool = None
_pool_size = 0
_lock = threading.Lock()


def processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def pool(size: int) -> Any:
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


def parallel_map(function: Callable[..., Any], items: Any, workers: int) -> list[Any]:
    """``[function(*item) for item in items]`` on `workers` threads, in order; the first error stops it, and has the
    results of the items before its own as ``msnb_made``.
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
            error.msnb_results = out
            raise
        return out

    futures = [executor.submit(run, start) for start in range(share, n, share)]
    out = run(0)
    try:
        for future in futures:
            out += future.result()
    except Exception as error:
        error.msnb_results = out + getattr(error, "msnb_results", [])
        raise
    return out


_END = object()


class Belt:
    """A short queue between a thread that makes items and one that takes them. Closing it wakes both."""

    def __init__(self, places: int) -> None:
        self.places: int = places
        self._items = collections.deque()
        self._changed = threading.Condition()
        self._closed = False

    def __len__(self) -> int:
        return len(self._items)

    def put(self, item: Any) -> bool:
        """Wait for a place; False when the belt was closed, and the item is dropped."""
        with self._changed:
            while len(self._items) >= self.places and not self._closed:
                self._changed.wait()
            if self._closed:
                return False
            self._items.append(item)
            self._changed.notify()
            return True

    def get(self) -> Any:
        """Wait for an item; (end, None) when the belt was closed."""
        with self._changed:
            while not self._items:
                if self._closed:
                    return _END, None
                self._changed.wait()
            item = self._items.popleft()
            self._changed.notify()
            return item

    def close(self) -> None:
        """Drop what is on the belt, and let nobody wait for it any more."""
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()


def _produce(iterator, belt):
    """Lay items on the belt until it is closed.

    This runs in a thread, and a thread is never garbage: it must not hold the Prefetcher, nor the iterator over the
    data set, since their end is what closes the belt.
    """
    try:
        for item in iterator:
            if not belt.put((item, None)):
                return
            item = None  # or the last one would be kept while the next is made
    except BaseException as error:  # the consumer must see it, whatever it is
        belt.put((_END, error))
    else:
        belt.put((_END, None))


class Prefetcher:
    """Runs an iterator ahead of its consumer, once that is worth a thread.

    The first items are made in the consumer's own thread, and both sides are timed: with a consumer that does nothing
    in between, or a producer that costs nothing, a second thread would only cost. With `always` the thread starts after
    the first item, for transfers to a device that go on meanwhile. The thread ends with the items, with :meth:`stop`,
    and when nobody holds the Prefetcher any more; so `iterator` must not refer to who holds it.
    """

    TRIAL = 4
    WORTH = 0.0004  # seconds of producing per item

    def __init__(self, iterator: Iterator[Any], ahead: int, always: bool = False) -> None:
        self._iterator = iterator
        self.ahead: int = ahead
        self._always = always
        self._count = 0
        self._making = self._using = 0.0
        self._left = None
        self._belt = None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        if self._belt is not None:
            item, error = self._belt.get()
            if item is not _END:
                return item
            self.stop()
            if error is not None:
                raise error
            raise StopIteration
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
        self._belt = belt = Belt(self.ahead)
        weakref.finalize(self, belt.close)
        args = self._iterator, belt
        self._iterator = iter(())  # it is the thread's from here on
        threading.Thread(target=_produce, args=args, name="msnb-prefetch", daemon=True).start()

    def fill(self) -> tuple[int, int]:
        """(items that are ready, places for them); (0, 0) without a thread."""
        belt = self._belt
        return (0, 0) if belt is None else (len(belt), self.ahead)

    def stop(self) -> None:
        """Let the producing thread end, as soon as the item that it is making is made; what is ready is dropped."""
        belt, self._belt = self._belt, None
        self._iterator = iter(())
        if belt is not None:
            belt.close()
