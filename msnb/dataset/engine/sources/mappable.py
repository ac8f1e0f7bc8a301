"""`MappableDataset`: a source whose samples are fetched by number, in the order that a sampler gives."""

import copy
from typing import TYPE_CHECKING, Annotated, Any

from msnb.common.kinds import Worded, checked, readable
from msnb.dataset.core.config import fresh_seed
from msnb.dataset.core.kinds import Flag, Int, NumSamples, Workers, of_type
from msnb.dataset.core.shares import resolve_shard
from msnb.dataset.engine import nodes, samplers
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.dataset import Dataset
from msnb.dataset.engine.sources.base import Shuffle, SourceDataset, check_sharing
from msnb.dataset.engine.splitting import Shares, part_sizes

if TYPE_CHECKING:  # named in annotations alone
    from msnb.dataset.engine.samplers import Sampler


def _shuffled(shuffle, name):
    return shuffle if isinstance(shuffle, str) else of_type(bool)(shuffle, name)  # the enum Shuffle is a str


Shuffled = Annotated[bool | Shuffle, Worded("a bool", _shuffled)]
Sampling = Annotated[
    samplers.BuiltinSampler | samplers.Sampler, of_type(type(None), samplers.BuiltinSampler, samplers.Sampler)
]


class MappableDataset(SourceDataset):
    """Base of the sources whose samples can be fetched by number; a sampler says which and in which order."""

    columns: tuple[str, ...] = ()
    dataset_size: int | None = None
    divisible = True  # whether it can be shared out among processes
    exclusive = True  # whether a sampler excludes shuffling and shares
    of_records = False  # whether samplers draw as MindRecord does

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
        self._shared = {}  # what is read once, for all copies and iterators

    def read_all(self) -> None:
        """Take back the share that this process got without asking for one."""
        if self._divided:
            self.sampler = samplers.select_sampler(self.num_samples, None, self.shuffle_level, None, None)
        super().read_all()

    def get_col_names(self) -> list[str]:
        """Names of the columns, which most know without their files."""
        return list(self.columns)

    def _samples(self):
        """Read what must be read to fetch samples."""
        raise NotImplementedError(f"{type(self).__name__} has to say what it reads.")

    def _loaded(self):
        if "samples" not in self._shared:
            self._shared["samples"] = self._samples()
        return self._shared["samples"]

    def _make_node(self, children):
        samples = self._loaded()
        opened = samplers.open_for_records if self.of_records else type(self.sampler).open
        at_work = opened(self.sampler, samples.rows, samples.class_ids)
        node = nodes.IndexSource(samples, at_work, list(self.columns))
        return self.cache.node(self, node) if self.cache is not None else node

    def add_sampler(self, new_sampler: Any) -> None:
        """Let `new_sampler` choose among what the present sampler gives out."""
        self._place(new_sampler, self.sampler)

    def _place(self, sampler, below):
        """Make `sampler` choose among what the sampler `below` gives out; None for all samples."""
        sampler.add_child(below)
        self.sampler, self.dataset_size = sampler, None

    def use_sampler(self, new_sampler: "Sampler") -> None:
        """Put `new_sampler` in the place of the present sampler.

        Args:
            new_sampler (Sampler): The sampler to use.

        Raises:
            TypeError: If it is no sampler.
        """
        if not isinstance(new_sampler, samplers.BuiltinSampler | samplers.Sampler):
            what = "can not be None" if new_sampler is None else "is not an instance of a sampler"
            raise TypeError(f"Input sampler {what}: got {type(new_sampler).__name__}.")
        self._place(new_sampler, self.sampler.child_sampler)
        self._divided = False

    def is_shuffled(self) -> bool:
        """Whether the order is random."""
        return self.sampler.is_shuffled()

    def is_sharded(self) -> bool:
        """Whether it is a share of the data."""
        return self.sampler.is_sharded() if self.num_shards is None else self.num_shards > 1

    @checked
    def split(self, sizes: Shares, randomize: Flag = True) -> tuple[Dataset, ...]:
        """Split the data set into parts that do not overlap; see :meth:`Dataset.split`."""
        parts, start = [], 0
        own_seed = fresh_seed()
        for count in part_sizes(self, sizes):
            part = copy.deepcopy(self)
            part.dataset_size = None
            # the parts would overlap in later epochs; those of records stay what they were in the first
            if isinstance(part.sampler, samplers.RandomSampler) and not self.of_records:
                part.sampler.own_seed, part.sampler.reshuffle_each_epoch = own_seed, False
            above = [samplers.SequentialSampler(start, count), samplers.SequentialSampler()]
            if randomize:
                above.insert(0, samplers.RandomSampler())
                above[0].own_seed, above[0].reshuffle_each_epoch = own_seed, False  # all parts divide the same order
            for sampler in above:
                part.add_sampler(sampler)
            parts.append(part)
            start += count
        return tuple(parts)
