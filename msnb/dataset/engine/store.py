"""Memory for the deterministic beginning of a pipeline: one array per column, filled as samples are first computed."""

import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.dataset.engine.chunk import stack_if_uniform

_lock = threading.Lock()
_held = 0  # bytes of all stores there are: they share one budget


def held() -> int:
    """Bytes that stores hold."""
    return _held


def _claim(octets, budget):
    """Whether `octets` more fit the budget; then they are taken from it."""
    global _held
    with _lock:
        if octets > 0 and _held + octets > budget:
            return False
        _held += octets
        return True


class Store:
    """The kept results of `rows` samples. Closes itself when results are not uniform or do not fit what is left of
    `budget` bytes.
    """

    def __init__(self, rows: int, budget: int) -> None:
        self.rows: int = rows
        self.budget: int = budget
        self.open: bool = rows > 0 and budget > 0
        self.arrays = None
        self.filled: np.ndarray | None = None
        self.complete: bool = False
        self._missing = rows
        self._give_back = None

    def fetch(self, numbers: np.ndarray, compute: Callable[..., Any]) -> list[Any]:
        """The columns of these samples; `compute(missing numbers)` makes those that are not kept yet."""
        if not self.complete:
            missing = numbers if self.filled is None else numbers[~self.filled[numbers]]
            if len(missing):
                if len(missing) > 1 and len(set(missing.tolist())) < len(missing):
                    missing = np.unique(missing)
                made = [stack_if_uniform(c) for c in compute(missing)]
                if not self._keep(missing, made):
                    return made if missing is numbers else compute(numbers)
        return [a[numbers] for a in self.arrays]

    def _keep(self, numbers, made):
        if any(not isinstance(c, np.ndarray) or c.dtype.kind in "SUO" for c in made):
            return self._close()
        if self.arrays is None:
            size = sum(c.nbytes // len(numbers) for c in made) * self.rows
            if not _claim(size, self.budget):
                return self._close()
            self._give_back = weakref.finalize(self, _claim, -size, 0)
            self.arrays = [np.empty((self.rows, *c.shape[1:]), c.dtype) for c in made]
            self.filled = np.zeros(self.rows, bool)
        if any(a.shape[1:] != c.shape[1:] or a.dtype != c.dtype for a, c in zip(self.arrays, made, strict=True)):
            return self._close()
        for array, column in zip(self.arrays, made, strict=True):
            array[numbers] = column
        self.filled[numbers] = True
        self._missing -= len(numbers)
        self.complete = self._missing == 0
        return True

    def _close(self):
        self.open = False
        self.arrays = self.filled = None
        if self._give_back is not None:
            self._give_back()
        return False

    def describe(self) -> str:
        """What is kept, for plans."""
        if not self.open:
            return "nothing is kept: the results differ in shape, or do not fit"
        if self.arrays is None:
            return "nothing is kept yet"
        size = sum(a.nbytes for a in self.arrays) / 2**20
        return f"{self.rows - self._missing} of {self.rows} samples are kept, {size:.1f} MiB when all are"
