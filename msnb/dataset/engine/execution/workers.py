"""Thread pool for decoding and resizing, and prefetching of batches in a background thread."""

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
    """Return the number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def pool(size: int) -> Any:
    """Return the thread pool that all pipelines share, with at least `size` threads."""
    global _pool, _pool_size
    with _lock:
        if _pool is None or _pool_size < size:
            _pool, _pool_size = ThreadPoolExecutor(size, thread_name_prefix="msnb-data"), size
        return _pool


def _reset_pool_after_fork():
    global _pool, _pool_size
    _pool, _pool_size = None, 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_pool_after_fork)  # threads do not survive a fork


def parallel_map(function: Callable[..., Any], items: Any, workers: int) -> list[Any]:
    """Return ``[function(*item) for item in items]``, computed on `workers` threads.

    The first error stops the computation. Its attribute ``msnb_results`` contains the results of the items before it.
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


class ClosableQueue:
    """A bounded queue between a producer thread and its consumer. Closing it wakes both."""

    def __init__(self, capacity: int) -> None:
        self.capacity: int = capacity
        self._items = collections.deque()
        self._changed = threading.Condition()
        self._closed = False

    def __len__(self) -> int:
        return len(self._items)

    def put(self, item: Any) -> bool:
        """Wait for space and append the item. If the queue was closed, drop the item and return False."""
        with self._changed:
            while len(self._items) >= self.capacity and not self._closed:
                self._changed.wait()
            if self._closed:
                return False
            self._items.append(item)
            self._changed.notify()
            return True

    def get(self) -> Any:
        """Wait for an item. Return (end, None) if the queue was closed."""
        with self._changed:
            while not self._items:
                if self._closed:
                    return _END, None
                self._changed.wait()
            item = self._items.popleft()
            self._changed.notify()
            return item

    def close(self) -> None:
        """Drop all items, and wake both sides."""
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()


def _put_items_in_queue(iterator, queue):
    """Put the items of `iterator` into the queue, until the queue is closed.

    This runs in a thread, which is never garbage-collected. It must not refer to the Prefetcher or to the iterator over
    the data set, because their deletion closes the queue.
    """
    try:
        for item in iterator:
            if not queue.put((item, None)):
                return
            item = None  # frees the last item while the next one is produced
    except BaseException as error:  # the consumer must see any error
        queue.put((_END, error))
    else:
        queue.put((_END, None))


class Prefetcher:
    """Prefetches the items of an iterator in a background thread, if that saves time.

    The first items are produced in the consumer's own thread, and the producer and the consumer are timed. A thread
    does not pay off for a consumer that does nothing between items, or for a cheap producer. With `always`, the thread
    starts after the first item, so that transfers to a device overlap. The thread ends after the last item, with
    :meth:`stop`, or when the Prefetcher is deleted. Therefore `iterator` must not refer to the owner of the Prefetcher.
    """

    TRIAL = 4
    WORTH = 0.0004  # a thread pays off if producing an item takes more seconds than this

    def __init__(self, iterator: Iterator[Any], ahead: int, always: bool = False) -> None:
        self._iterator = iterator
        self.ahead: int = ahead
        self._always = always
        self._count = 0
        self._produce_seconds = self._consume_seconds = 0.0
        self._returned_at = None
        self._queue = None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        if self._queue is not None:
            item, error = self._queue.get()
            if item is not _END:
                return item
            self.stop()
            if error is not None:
                raise error
            raise StopIteration
        start = time.perf_counter()
        if self._returned_at is not None:
            self._consume_seconds += start - self._returned_at
        item = next(self._iterator)
        self._returned_at = time.perf_counter()
        self._produce_seconds += self._returned_at - start
        self._count += 1
        if self._always:
            self._start_prefetching()
        elif self._count % self.TRIAL == 0:
            making, using = self._produce_seconds / self.TRIAL, self._consume_seconds / self.TRIAL
            self._produce_seconds = self._consume_seconds = 0.0
            if making > self.WORTH and using > 0.2 * making:
                self._start_prefetching()
        return item

    def _start_prefetching(self):
        self._queue = queue = ClosableQueue(self.ahead)
        weakref.finalize(self, queue.close)
        args = self._iterator, queue
        self._iterator = iter(())  # the thread owns the iterator from here on
        threading.Thread(target=_put_items_in_queue, args=args, name="msnb-prefetch", daemon=True).start()

    def fill(self) -> tuple[int, int]:
        """Return (items that are ready, capacity), or (0, 0) without a thread."""
        queue = self._queue
        return (0, 0) if queue is None else (len(queue), self.ahead)

    def stop(self) -> None:
        """Drop the items that are ready, and let the producer thread end after its current item."""
        queue, self._queue = self._queue, None
        self._iterator = iter(())
        if queue is not None:
            queue.close()
