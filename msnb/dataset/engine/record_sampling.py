"""The samplers of MindDataset: MindRecord draws with an engine of its own, and goes on from the last epoch's order."""

import numpy as np

from msnb.dataset.core.config import UNSEEDED, fresh_seed, settings
from msnb.dataset.core.streams import Minstd, first_draws
from msnb.dataset.engine.sampling import Distributed, Random, Subset


class RecordRandom(Random):
    def __init__(self, sampler, rows, class_ids):
        super().__init__(sampler, rows, class_ids)
        self.seed += 1

    def draw(self):
        if self.epoch and not self.sampler.reshuffle_each_epoch:
            return np.array(self.order, np.int64)
        seed = self.seed + self.epoch
        if self.sampler.replacement:  # one engine per sample
            seeds = np.arange(seed, seed + self.count, dtype=np.int64)
            self.order = np.array(self.order, np.int64)[first_draws(seeds, len(self.order))].tolist()
        else:
            Minstd(seed).shuffle(self.order)
            del self.order[self.count :]  # the next epoch chooses among these
        return np.array(self.order, np.int64)


class RecordDistributed(Distributed):
    def __init__(self, sampler, rows, class_ids):
        super().__init__(sampler, rows, class_ids)
        # without a seed, all shares have to agree on an order nonetheless
        self.seed = (sampler.seed or 0 if settings.seed == UNSEEDED else settings.seed) + 1

    def _shuffle(self):
        self.order = Minstd(self.seed + self.epoch).shuffle(list(range(self.rows)))


class RecordSubset(Subset):
    def _shuffle(self):
        if self.epoch == 0:
            Minstd(fresh_seed() + 1).shuffle(self.order)


RECORDS = {Random: RecordRandom, Distributed: RecordDistributed, Subset: RecordSubset}
