"""Shared code of sources: file patterns, shuffling, and shards."""

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
    """Shuffling of a data set of files: ``GLOBAL`` shuffles files and rows, ``FILES`` only the files, and ``INFILE``
    the rows of each file.

    Only `MindDataset` of MindSpore 2 takes ``INFILE``, ``ADAPTIVE`` and ``PARTIAL``. The last two save memory there;
    here they shuffle as ``GLOBAL`` does.
    """

    GLOBAL = "global"
    FILES = "file"
    INFILE = "infile"
    ADAPTIVE = "adaptive"
    PARTIAL = "partial"


def check_sharing(shuffle: Any, sampler: Any, num_shards: int | None, shard_id: int | None) -> None:
    """Check that these arguments do not exclude each other and are complete."""
    if sampler is not None:
        for option, value in {"shuffle": shuffle, "sharding": num_shards}.items():
            if value is not None:
                raise RuntimeError(f"sampler and {option} cannot be specified at the same time.")
    if num_shards is None and shard_id is None:
        return
    if num_shards is None:
        raise RuntimeError("shard_id is specified but num_shards is not.")
    check(PositiveInt32, num_shards, "num_shards", "dataset")
    if shard_id is None:
        raise RuntimeError("num_shards is specified and currently requires shard_id as well.")
    within(0, num_shards - 1)(shard_id, "shard_id")


class SourceDataset(Dataset):
    """Base of the data sets that read samples."""

    num_shards: int | None
    shard_id: int | None

    dataset_size: int | None = None
    _divided = False  # True if the shard was chosen automatically and not by the user

    @staticmethod
    def _find_files(patterns):
        """Return the files that match the patterns. Raise a ValueError if a pattern matches none."""
        patterns = patterns if isinstance(patterns, list) else [patterns]
        matches = [sorted(filter(os.path.isfile, glob.iglob(p, recursive=True))) for p in patterns]
        unmatched = [p for p, files in zip(patterns, matches, strict=True) if not files]
        if unmatched:
            raise ValueError(f"The following patterns did not match any files: {unmatched}.")
        if not patterns:
            raise ValueError("The list of path names matching the patterns is empty.")
        return list(chain.from_iterable(matches))

    def read_all(self) -> None:
        """Read all data in this process, because a later operator does the sharding among processes."""
        if self._divided:
            self._divided = False
            self.num_shards = self.shard_id = self.dataset_size = None

    def is_shuffled(self) -> bool:
        """Return True if the order is random."""
        raise NotImplementedError("SourceDataset must implement is_shuffled.")

    def is_sharded(self) -> bool:
        """Return True if this data set reads only one shard of the data."""
        raise NotImplementedError("SourceDataset must implement is_sharded.")
