"""`MappableDataset`: a source whose samples are fetched by index, in the order of a sampler."""

import copy
from typing import TYPE_CHECKING, Annotated, Any

from msnb.common.kinds import checked, readable
from msnb.dataset.core.config import fresh_seed
from msnb.dataset.core.kinds import Flag, Int, NumSamples, Workers, of_type
from msnb.dataset.core.shares import resolve_shard
from msnb.dataset.engine import samplers
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.dataset import Dataset
from msnb.dataset.engine.execution import nodes
from msnb.dataset.engine.operations.splitting import Shares, part_sizes
from msnb.dataset.engine.sources.base import SourceDataset, check_sharing

if TYPE_CHECKING:  # used only in annotations
    from msnb.dataset.engine.samplers import Sampler


Shuffled = Annotated[bool, of_type(bool)]
Sampling = Annotated[
    samplers.BuiltinSampler | samplers.Sampler, of_type(type(None), samplers.BuiltinSampler, samplers.Sampler)
]


class MappableDataset(SourceDataset):
    """Base of the sources whose samples can be fetched by index, in the order of a sampler."""

    columns: tuple[str, ...] = ()
    dataset_size: int | None = None
    divisible = True  # it can be divided among processes
    exclusive = True  # a sampler cannot be combined with `shuffle` or shards
    of_records = False  # samplers draw as MindRecord does

    @readable
    def __init__(
        self,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ):
        super().__init__(num_parallel_workers=num_parallel_workers, cache=cache)
        if self.exclusive:
            check_sharing(shuffle, sampler, num_shards, shard_id)
        self._divided = num_shards is None
        if self.divisible:
            num_shards, shard_id = resolve_shard(num_shards, shard_id, sampler)
        self._divided &= num_shards is not None
        self.num_samples = num_samples
        self.shuffle_level = shuffle
        self.num_shards = num_shards
        self.shard_id = shard_id
        self.sampler: Any = samplers.select_sampler(num_samples, sampler, shuffle, num_shards, shard_id)
        self._shared = {}  # data that is read once, for all copies and iterators

    def read_all(self) -> None:
        """Read all data in this process, without the automatic sharding among processes."""
        if self._divided:
            self.sampler = samplers.select_sampler(self.num_samples, None, self.shuffle_level, None, None)
        super().read_all()

    def get_col_names(self) -> list[str]:
        """Return the names of the columns. Most sources do not open their files for that."""
        return list(self.columns)

    def _load_samples(self):
        """Read the files that are needed to fetch samples, and return the `Samples` of this source."""
        raise NotImplementedError(f"{type(self).__name__} has to say what it reads.")

    def _get_samples(self):
        if "samples" not in self._shared:
            self._shared["samples"] = self._load_samples()
        return self._shared["samples"]

    def _open_sampler(self, samples):
        open_sampler = samplers.open_for_records if self.of_records else type(self.sampler).open
        return open_sampler(self.sampler, samples.rows, samples.class_ids)

    def _make_plan_node(self, children):
        samples = self._get_samples()
        node = nodes.IndexSource(samples, self._open_sampler(samples), list(self.columns))
        return self.cache.node(self, node) if self.cache is not None else node

    def add_sampler(self, new_sampler: Any) -> None:
        """Let `new_sampler` select among the samples that the present sampler draws."""
        self._chain_sampler(new_sampler, self.sampler)

    def _chain_sampler(self, sampler, child):
        """Let `sampler` select among the samples of `child`, or among all samples if that is None."""
        sampler.add_child(child)
        self.sampler, self.dataset_size = sampler, None

    def use_sampler(self, new_sampler: "Sampler") -> None:
        """Replace the present sampler by `new_sampler`.

        Args:
            new_sampler (Sampler): The sampler to use.

        Raises:
            TypeError: If it is not a sampler.
        """
        if not isinstance(new_sampler, samplers.BuiltinSampler | samplers.Sampler):
            problem = "can not be None" if new_sampler is None else "is not an instance of a sampler"
            raise TypeError(f"Input sampler {problem}: got {type(new_sampler).__name__}.")
        self._chain_sampler(new_sampler, self.sampler.child_sampler)
        self._divided = False

    def is_shuffled(self) -> bool:
        """Return True if the order is random."""
        return self.sampler.is_shuffled()

    def is_sharded(self) -> bool:
        """Return True if this data set reads only one shard of the data."""
        return self.sampler.is_sharded() if self.num_shards is None else self.num_shards > 1

    @checked
    def split(self, sizes: Shares, randomize: Flag = True) -> tuple[Dataset, ...]:
        """Split the data set into parts that do not overlap; see :meth:`Dataset.split`."""
        subsets, start = [], 0
        seed = fresh_seed()
        for count in part_sizes(self, sizes):
            subset = copy.deepcopy(self)
            subset.dataset_size = None
            # If the subsets were shuffled again in each epoch, they would overlap. Subsets of MindRecord files cannot
            # overlap, because they keep the order of the first epoch.
            if isinstance(subset.sampler, samplers.RandomSampler) and not self.of_records:
                subset.sampler.own_seed, subset.sampler.reshuffle_each_epoch = seed, False
            added_samplers = [samplers.SequentialSampler(start, count), samplers.SequentialSampler()]
            if randomize:
                added_samplers.insert(0, samplers.RandomSampler())
                # all subsets divide the same order
                added_samplers[0].own_seed, added_samplers[0].reshuffle_each_epoch = (seed, False)
            for sampler in added_samplers:
                subset.add_sampler(sampler)
            subsets.append(subset)
            start += count
        return tuple(subsets)
