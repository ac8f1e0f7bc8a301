"""What all sources have in common: files found by patterns, shuffling, and being one share of the data."""

import glob
import os
from enum import Enum
from itertools import chain
from typing import Any

from msnb.common.kinds import check
from msnb.dataset.core.kinds import PositiveInt32, within
from msnb.dataset.engine.dataset import Dataset
from msnb.dataset.engine.sources.samples import ArraySamples, FileSamples  # noqa: F401 - stored pickles name them here


class Shuffle(str, Enum):
    """How much of a data set of files is shuffled: ``GLOBAL`` files and rows, ``FILES`` the files only."""

    GLOBAL = "global"
    FILES = "file"


def check_sharing(shuffle: Any, sampler: Any, num_shards: int | None, shard_id: int | None) -> None:
    """Which of these arguments exclude each other, and which need each other."""
    if sampler is not None:
        for what, value in {"shuffle": shuffle, "sharding": num_shards}.items():
            if value is not None:
                raise RuntimeError(f"sampler and {what} cannot be specified at the same time.")
    if num_shards is None and shard_id is None:
        return
    if num_shards is None:
        raise RuntimeError("shard_id is specified but num_shards is not.")
    check(PositiveInt32, num_shards, "num_shards", "dataset")
    if shard_id is None:
        raise RuntimeError("num_shards is specified and currently requires shard_id as well.")
    within(0, num_shards - 1)(shard_id, "shard_id")


class SourceDataset(Dataset):
    """Base of the data sets that read something."""

    num_shards: int | None
    shard_id: int | None

    dataset_size: int | None = None
    _divided = False  # whether the share is that of the process, and not the user's

    @staticmethod
    def _find_files(patterns):
        """The files that the patterns match. ValueError when one matches none."""
        patterns = patterns if isinstance(patterns, list) else [patterns]
        found = [sorted(filter(os.path.isfile, glob.iglob(p, recursive=True))) for p in patterns]
        unmatched = [p for p, files in zip(patterns, found, strict=True) if not files]
        if unmatched:
            raise ValueError(f"The following patterns did not match any files: {unmatched}.")
        if not patterns:
            raise ValueError("The list of path names matching the patterns is empty.")
        return list(chain.from_iterable(found))

    def read_all(self) -> None:
        """Take back the share that this process got without asking for one: somebody above divides the data."""
        if self._divided:
            self._divided = False
            self.num_shards = self.shard_id = self.dataset_size = None

    def is_shuffled(self) -> bool:
        """Whether the order is random."""
        raise NotImplementedError("SourceDataset must implement is_shuffled.")

    def is_sharded(self) -> bool:
        """Whether it is a share of the data."""
        raise NotImplementedError("SourceDataset must implement is_sharded.")
