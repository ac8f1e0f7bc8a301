"""Base classes of the readers of public data sets.

A data set is a folder, and `usage` selects a part of it. Its columns come from memory or from files.

MindSpore's classes have four orders of arguments, with or without `usage` and `decode`. Each order has a base class.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from msnb.common.kinds import check, checked
from msnb.dataset.core.kinds import Flag, Folder, Int, NumSamples, Text, Workers, one_of
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.execution.chunk import stack_if_uniform
from msnb.dataset.engine.execution.errors import NoDataError
from msnb.dataset.engine.sources.base import Shuffle
from msnb.dataset.engine.sources.mappable import MappableDataset, Sampling, Shuffled
from msnb.dataset.engine.sources.samples import Samples, decode_image, read_file
from msnb.dataset.engine.sources.streamed import RowStream, StreamDataset, StreamShuffled


class Files:
    """Column whose values are read from files when they are needed.

    Args:
        paths (Sequence): For each row, the path of a file or another argument of `read`.
        read (Callable): Function of a path that returns an array. Default: reads the bytes of the file.
    """

    def __init__(self, paths: Sequence[Any], read: Callable[[Any], np.ndarray] = read_file) -> None:
        self.paths = paths
        self.read: Callable[[Any], np.ndarray] = read

    def __len__(self) -> int:
        return len(self.paths)

    def at(self, numbers: Sequence[int]) -> Any:
        """Read the values of the rows with the indices `numbers`."""
        return stack_if_uniform([self.read(self.paths[i]) for i in numbers])


def pictures(paths: Sequence[str], decode: bool) -> Files:
    """Return a column of images: the bytes of the files, or RGB pixels."""
    return Files(paths, _read_image if decode else read_file)


def _read_image(path):
    return decode_image(read_file(path), path)


def texts(values: Sequence[str]) -> np.ndarray:
    """Convert a list of str to a column of strings."""
    return np.array([v.encode("utf-8") for v in values], "S")


def listing(folder: str, *ends: str) -> list[str]:
    """Return the sorted paths of the files in a folder, optionally only those whose names end with one of `ends`.

    Raises:
        RuntimeError: If there is no such folder.
    """
    if not os.path.isdir(folder):
        raise RuntimeError(f"Invalid path, {folder!r} is no folder.")
    paths = [e.path for e in os.scandir(folder) if e.is_file() and (not ends or e.name.endswith(ends))]
    return sorted(paths)


def folders(folder: str) -> list[str]:
    """Return the sorted names of the folders in a folder. Raise a RuntimeError if it does not exist."""
    if not os.path.isdir(folder):
        raise RuntimeError(f"Invalid path, {folder!r} is no folder.")
    return sorted(e.name for e in os.scandir(folder) if e.is_dir())


class SetSamples(Samples):
    """Rows whose columns are arrays, lists of arrays of different shapes, or `Files`."""

    def __init__(self, name: str, columns: Sequence[Any], class_ids: Any = None) -> None:
        super().__init__(name, len(columns[0]))
        self.columns = columns
        self.class_ids = class_ids

    def files(self, number: int) -> Sequence[str]:
        """Return the files of a sample, or the folder if all columns are in memory."""
        paths = [c.paths[number] for c in self.columns if isinstance(c, Files)]
        return [path for path in dict.fromkeys(paths) if isinstance(path, str)] or self.origin

    def fetch(self, numbers: np.ndarray) -> list[Any]:
        """Return the columns of the samples with the indices `numbers`."""
        return [self._select_values(column, numbers) for column in self.columns]

    @staticmethod
    def _select_values(column, numbers):
        if isinstance(column, np.ndarray):
            return column[numbers]
        if isinstance(column, Files):
            return column.at(numbers.tolist())
        return stack_if_uniform([column[i] for i in numbers.tolist()])


class PublicSet(MappableDataset):
    """Base of the data sets in one folder whose rows are fetched by index.

    Attributes:
        usages: Valid values of `usage`; empty if `usage` is not an argument.
        usual: The usage if the argument is None.
        classes: Number of classes, or None if it is unknown.
        class_column: Name of the column with the class of a row.
        needed: Files and folders that must exist when the data set is created.
    """

    usages: tuple[str, ...] = ("train", "test", "all")
    usual = "all"
    classes: int | None = None
    class_column = "label"
    needed: tuple[str, ...] = ()
    dataset_dir: str
    usage: str
    decode: bool

    def _set_folder_and_usage(self, dataset_dir, usage=None, decode=False):
        if usage is not None:
            check(one_of(*self.usages), usage, "usage", type(self).__name__)
        self.dataset_dir, self.usage, self.decode = os.fspath(dataset_dir), usage or self.usual, bool(decode)
        for path in map(self._join_path, self.needed):
            if not os.path.exists(path):
                problem = "does not exist" if os.path.splitext(path)[1] else "does not exist or is not a directory"
                raise ValueError(f"{path} {problem} or permission denied!")

    def _read_columns(self) -> Sequence[Any]:
        """Return the columns of all rows, each an array, a list of arrays or `Files`."""
        raise NotImplementedError

    def _join_path(self, *names):
        return os.path.join(self.dataset_dir, *names)

    def _load_samples(self):
        try:
            columns = self._read_columns()
        except OSError as error:
            raise RuntimeError(f"Invalid file, failed to open {error.filename}: {error.strerror}.") from None
        if not len(columns[0]):
            raise NoDataError(type(self).__name__, f"{self.dataset_dir!r} has no row for usage {self.usage!r}.")
        labels = [c for name, c in zip(self.columns, columns, strict=True) if name == self.class_column]
        has_class_ids = (
            labels and isinstance(labels[0], np.ndarray) and labels[0].dtype.kind in "iu" and labels[0].ndim == 1
        )
        samples = SetSamples(type(self).__name__, columns, labels[0] if has_class_ids else None)
        samples.origin = (self.dataset_dir,)
        return samples

    def _count_classes(self):
        return self.classes


class UsageSet(PublicSet):
    """A data set in a folder, with the argument `usage`."""

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        usage: Text | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._set_folder_and_usage(dataset_dir, usage)


class UndividedSet(PublicSet):
    """A data set in a folder, without `usage`."""

    usages: tuple[str, ...] = ()

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._set_folder_and_usage(dataset_dir)


class UndividedImageSet(PublicSet):
    """A data set of images in a folder, without `usage`."""

    usages: tuple[str, ...] = ()

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        decode: Flag | None = False,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._set_folder_and_usage(dataset_dir, decode=decode)


class ImageSet(PublicSet):
    """A data set of images in a folder, with the argument `usage`."""

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        usage: Text | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        decode: Flag | None = False,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._set_folder_and_usage(dataset_dir, usage, decode)


class StreamedSet(StreamDataset):
    """Base of the data sets in one folder whose rows stream from files.

    Attributes:
        usages, usual: See `PublicSet`.
        files: Maps a usage to the names of its files. If there is no entry "all", that usage has all files.
        by_name: True if files are read in the order of their names, False for the order of the usages.
    """

    usages: tuple[str, ...] = ("train", "test", "all")
    usual = "all"
    files: dict[str, tuple[str, ...]] = {}
    by_name = True
    usage: str

    def _init_stream_dataset(self, dataset_dir, usage, *sharing):
        if usage is not None:
            check(one_of(*self.usages), usage, "usage", type(self).__name__)
        self.dataset_dir, self.usage = os.fspath(dataset_dir), usage or self.usual
        StreamDataset.__init__(self, [], *sharing)
        self.dataset_files: list[Any] = sorted(self._list_usage_paths()) if self.by_name else self._list_usage_paths()

    @staticmethod
    def _find_files(patterns):
        return patterns  # the files of the usage must exist only when they are read

    def _list_usage_paths(self):
        """Return the paths for the `usage`. An entry may be a tuple of files whose lines belong together."""
        names = self.files.get(self.usage) or [name for file_names in self.files.values() for name in file_names]
        return [os.path.join(self.dataset_dir, name) for name in names]

    def _read_rows(self, path) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a file."""
        raise NotImplementedError

    def _count_rows_of_file(self, path):
        return sum(1 for _ in self._read_rows_of_file(path))

    def _read_rows_of_file(self, path):
        try:
            yield from self._read_rows(path)
        except (FileNotFoundError, IsADirectoryError) as error:
            raise RuntimeError(f"Invalid file, {error.filename} does not exist or is a directory.") from None
        except OSError as error:
            raise RuntimeError(f"Invalid file, failed to open {error.filename}: {error.strerror}.") from None

    def _make_stream(self):
        return RowStream(
            type(self).__name__,
            self.dataset_files,
            self._read_rows_of_file,
            self._count_rows_of_file,
            self.shuffle_files,
            self.num_shards,
            self.shard_id,
            self.num_samples or 0,
        )


class TextSet(StreamedSet):
    """A data set of texts, with `num_parallel_workers` as the third argument, as in most classes of MindSpore."""

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        usage: Text | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: StreamShuffled = Shuffle.GLOBAL,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        self._init_stream_dataset(
            dataset_dir, usage, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )


class WorkersLastTextSet(StreamedSet):
    """A data set of texts, with `num_parallel_workers` after the shards, as in some classes of MindSpore."""

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        usage: Text | None = None,
        num_samples: NumSamples | None = None,
        shuffle: StreamShuffled = Shuffle.GLOBAL,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        num_parallel_workers: Workers | None = None,
        cache: Cache | None = None,
    ) -> None:
        self._init_stream_dataset(
            dataset_dir, usage, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )


def string(value: str) -> np.ndarray:
    """Return a string scalar."""
    return np.array(value.encode("utf-8"))
