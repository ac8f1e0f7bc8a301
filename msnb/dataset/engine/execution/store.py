"""In-memory cache of transformed samples: one array per column, filled as samples are computed."""

import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.dataset.engine.execution.chunk import stack_if_uniform

_lock = threading.Lock()
_stored_bytes = 0  # total of all stores, which share one budget


def stored_bytes() -> int:
    """Return the number of bytes that all stores occupy together."""
    return _stored_bytes


def _reserve_bytes(octets, budget):
    """Reserve `octets` bytes and return True, or return False if they exceed the budget."""
    global _stored_bytes
    with _lock:
        if octets > 0 and _stored_bytes + octets > budget:
            return False
        _stored_bytes += octets
        return True


class Store:
    """Cache of the transformed columns of `rows` samples.

    Caching stops if the results differ in shape or dtype, or if all stores together would exceed `budget` bytes.
    """

    def __init__(self, rows: int, budget: int) -> None:
        self.rows: int = rows
        self.budget: int = budget
        self.open: bool = rows > 0 and budget > 0
        self.arrays = None
        self.filled: np.ndarray | None = None
        self.complete: bool = False
        self._missing = rows
        self._release_bytes = None

    def fetch(self, numbers: np.ndarray, compute: Callable[..., Any]) -> list[Any]:
        """Return the columns of the samples with the indices `numbers`. `compute(missing numbers)` computes those that
        are not cached yet."""
        if not self.complete:
            missing = numbers if self.filled is None else numbers[~self.filled[numbers]]
            if len(missing):
                if len(missing) > 1 and len(set(missing.tolist())) < len(missing):
                    missing = np.unique(missing)
                columns = [stack_if_uniform(c) for c in compute(missing)]
                if not self._store_columns(missing, columns):
                    return columns if missing is numbers else compute(numbers)
        return [a[numbers] for a in self.arrays]

    def _store_columns(self, numbers, columns):
        if any(not isinstance(c, np.ndarray) or c.dtype.kind in "SUO" for c in columns):
            return self._close_store()
        if self.arrays is None:
            size = sum(c.nbytes // len(numbers) for c in columns) * self.rows
            if not _reserve_bytes(size, self.budget):
                return self._close_store()
            self._release_bytes = weakref.finalize(self, _reserve_bytes, -size, 0)
            self.arrays = [np.empty((self.rows, *c.shape[1:]), c.dtype) for c in columns]
            self.filled = np.zeros(self.rows, bool)
        if any(a.shape[1:] != c.shape[1:] or a.dtype != c.dtype for a, c in zip(self.arrays, columns, strict=True)):
            return self._close_store()
        for array, column in zip(self.arrays, columns, strict=True):
            array[numbers] = column
        self.filled[numbers] = True
        self._missing -= len(numbers)
        self.complete = self._missing == 0
        return True

    def _close_store(self):
        self.open = False
        self.arrays = self.filled = None
        if self._release_bytes is not None:
            self._release_bytes()
        return False

    def describe(self) -> str:
        """Return the state of the cache, for a printed plan."""
        if not self.open:
            return "nothing is kept: the results differ in shape, or do not fit"
        if self.arrays is None:
            return "nothing is kept yet"
        size = sum(a.nbytes for a in self.arrays) / 2**20
        return f"{self.rows - self._missing} of {self.rows} samples are kept, {size:.1f} MiB when all are"
