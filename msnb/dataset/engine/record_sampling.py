"""The samplers of MindDataset at work: MindRecord draws with an engine of its own, and goes on from the order of the
last epoch.
"""

from typing import Any

import numpy as np

from msnb.dataset.core.config import UNSEEDED, fresh_seed, settings
from msnb.dataset.core.streams import Minstd, first_draws
from msnb.dataset.engine.sampling import Distributed, Random, Sequential, Subset


class RecordOrder:
    """A sampler and those below it, the lowest first, over the rows of a MindDataset.

    In the first epoch each chooses among what the one below it gave. In later ones the shuffles among them change the
    order that is left. Where one of them divides the rows anew each epoch, it and those above it start again from the
    order that was below it at first.
    """

    def __init__(self, top: Any) -> None:
        self.top: Any = top
        self.steps: list[Any] = []
        while top is not None:
            self.steps.insert(0, top)
            top = top.child
        self._order = np.arange(self.steps[0].rows, dtype=np.int64)

    def next_epoch(self) -> np.ndarray:
        """The sample numbers of the next epoch, an int64 array."""
        first = self.steps[0].epoch == 0
        anew = next((s for s in reversed(self.steps) if not isinstance(s, Sequential | Subset | Random)), None)
        active = first or anew is None
        for step in self.steps:
            if step is anew:
                if first:
                    self._below = self._order
                self._order, active = self._below, True
            if active and (first or anew is not None or isinstance(step, Random)):
                self._order = self._order[step.draw_of(len(self._order))]
            step.epoch += 1
        return self._order

    def size(self) -> int | None:
        """Samples per epoch."""
        return self.top.size()

    def describe(self) -> str:
        """One word for plans."""
        return self.top.describe()


class RecordRandom(Random):
    def draw_of(self, rows: Any) -> np.ndarray:
        """Places among `rows`."""
        seed = self.seed + (self.epoch + 1 if self.sampler.reshuffle_each_epoch else 0)
        if self.sampler.replacement:  # one engine per sample
            return first_draws(np.arange(seed, seed + self.count, dtype=np.int64), rows)
        return np.array(Minstd(seed).shuffle(list(range(rows)))[: self.count], np.int64)


class RecordDistributed(Distributed):
    def begin(self, sampler: Any, class_ids: Any) -> None:
        super().begin(sampler, class_ids)
        if settings.seed == UNSEEDED:
            self.seed = 1

    def _shuffle(self):
        self.order = Minstd(self.seed + self.epoch).shuffle(list(range(self.rows)))


class RecordSubset(Subset):
    def _shuffle(self):
        if self.epoch == 0:
            Minstd(fresh_seed() + 1).shuffle(self.order)


RECORDS = {Random: RecordRandom, Distributed: RecordDistributed, Subset: RecordSubset}
