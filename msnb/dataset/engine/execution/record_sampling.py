"""Samplers of a running pipeline over a MindDataset.

MindRecord uses a different random number engine. Its samplers shuffle the order of the previous epoch again.
"""

from typing import Any

import numpy as np

from msnb.dataset.core.config import UNSEEDED, fresh_seed, settings
from msnb.dataset.core.streams import Minstd, first_draws
from msnb.dataset.engine.execution.sampling import Distributed, Random, Sequential, Subset


class RecordOrder:
    """Order in which a sampler and its children read the rows of a MindDataset.

    In the first epoch each sampler selects among the indices of its child. In later epochs the random samplers shuffle
    the order of the previous epoch again. A sampler that divides the rows, such as a distributed one, is an exception:
    it and its parents select again from the order that its child had in the first epoch.
    """

    def __init__(self, top: Any) -> None:
        self.top: Any = top
        self.steps: list[Any] = []
        while top is not None:
            self.steps.insert(0, top)
            top = top.child
        self._order = np.arange(self.steps[0].rows, dtype=np.int64)

    def next_epoch(self) -> np.ndarray:
        """Return the sample indices of the next epoch as an int64 array."""
        first = self.steps[0].epoch == 0
        restart = next((s for s in reversed(self.steps) if not isinstance(s, Sequential | Subset | Random)), None)
        active = first or restart is None
        for step in self.steps:
            if step is restart:
                if first:
                    self._below = self._order
                self._order, active = self._below, True
            if active and (first or restart is not None or isinstance(step, Random)):
                self._order = self._order[step.draw_of(len(self._order))]
            step.epoch += 1
        return self._order

    def size(self) -> int | None:
        """Return the number of samples per epoch."""
        return self.top.size()

    def describe(self) -> str:
        """Return the name of the sampler in a printed plan."""
        return self.top.describe()


class FileOrder(RecordOrder):
    """Order of rows in which files stay together: the files are shuffled, or the rows of each file.

    Each epoch shuffles the order of the previous one again. The sampler selects positions of this order.
    """

    def __init__(self, top: Any, ends: np.ndarray, shuffles_files: bool) -> None:
        super().__init__(top)
        self.files: list[np.ndarray] = np.split(np.arange(ends[-1]), ends[:-1])
        self.shuffles_files = shuffles_files
        self.seed = fresh_seed()
        self.epoch: int = 0

    def next_epoch(self) -> np.ndarray:
        """Return the sample indices of the next epoch as an int64 array."""
        positions = super().next_epoch()
        self.epoch += 1
        seed = self.seed + self.epoch
        if self.shuffles_files:
            self.files = [self.files[n] for n in Minstd(seed).shuffle(list(range(len(self.files))))]
        else:  # each file by the same random numbers
            self.files = [np.array(Minstd(seed).shuffle(rows.tolist()), np.int64) for rows in self.files]
        rows = np.concatenate(self.files)
        added = np.arange(len(rows), self.steps[0].rows)  # rows of `padded_sample`
        return np.concatenate([rows, added])[positions]


class RecordRandom(Random):
    def draw_of(self, rows: Any) -> np.ndarray:
        """Draw positions from 0 to `rows` - 1."""
        seed = self.seed + (self.epoch + 1 if self.sampler.reshuffle_each_epoch else 0)
        if self.sampler.replacement:  # one engine per sample
            return first_draws(np.arange(seed, seed + self.count, dtype=np.int64), rows)
        return np.array(Minstd(seed).shuffle(list(range(rows)))[: self.count], np.int64)


class RecordDistributed(Distributed):
    def begin(self, sampler: Any, class_ids: Any) -> None:
        super().begin(sampler, class_ids)
        if settings.seed == UNSEEDED:
            self.seed = 1

    def _shuffle_order(self):
        self.order = Minstd(self.seed + self.epoch).shuffle(list(range(self.rows)))


class RecordSubset(Subset):
    def _shuffle_order(self):
        if self.epoch == 0:
            Minstd(fresh_seed() + 1).shuffle(self.order)


RECORDS = {Random: RecordRandom, Distributed: RecordDistributed, Subset: RecordSubset}
