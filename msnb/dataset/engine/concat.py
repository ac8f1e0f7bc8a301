"""Sharding of concatenated data sets: sample i of the whole goes to share i % num_shards."""

import numpy as np

from msnb.dataset.engine import samplers
from msnb.dataset.engine.sources.base import MappableDataset


class ConcatShard:
    """Keeps every `num_shards`-th row, counted over all parts."""

    def __init__(self, num_shards, shard_id):
        self.num_shards = num_shards
        self.shard_id = shard_id
        self.position = 0

    def keep(self, chunk, number, first):
        """The rows of this share, None when there are none."""
        if number == 0 and chunk.first == 0:
            self.position = 0
        places = np.arange(self.position, self.position + chunk.n)
        self.position += chunk.n
        chosen = np.flatnonzero(places % self.num_shards == self.shard_id).tolist()
        return chunk.pick(chosen) if chosen else None

    def size(self, node):
        """Rows of this share, None when the parts do not tell."""
        sizes = [c.size() for c in node.children]
        if None in sizes:
            return None
        return len(range(self.shard_id, sum(sizes), self.num_shards))


def shard_children(dataset, sampler):
    """Let the parts come in their own order, and keep one share of the whole."""
    for child in dataset.children:
        if isinstance(child, MappableDataset) and child.sampler is not None:
            child.use_sampler(samplers.SequentialSampler())
    return ConcatShard(sampler.num_shards, sampler.shard_id)
