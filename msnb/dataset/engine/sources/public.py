"""What the readers of public data sets share: a folder, a part of it, columns from memory and from files.

The arguments of MindSpore's classes come in four orders, with and without `usage` and `decode`: a base class for each.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from msnb.common.kinds import check, checked
from msnb.dataset.core.kinds import Flag, Folder, Int, NumSamples, Text, Workers, one_of
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.chunk import stack_if_uniform
from msnb.dataset.engine.errors import NoDataError
from msnb.dataset.engine.sources.base import Shuffle
from msnb.dataset.engine.sources.mappable import MappableDataset, Sampling, Shuffled
from msnb.dataset.engine.sources.samples import Samples, decode_image, read_file
from msnb.dataset.engine.sources.streamed import RowStream, StreamDataset, StreamShuffled


class Files:
    """A column whose values are each read from a file when they are asked for.

    Args:
        paths (Sequence): The files, or what else `read` makes an array of, one for each row.
        read (Callable): Path to array. Default: the bytes of the file.
    """

    def __init__(self, paths: Sequence[Any], read: Callable[[Any], np.ndarray] = read_file) -> None:
        self.paths = paths
        self.read: Callable[[Any], np.ndarray] = read

    def __len__(self) -> int:
        return len(self.paths)

    def at(self, numbers: Sequence[int]) -> Any:
        """The values of these rows."""
        return stack_if_uniform([self.read(self.paths[i]) for i in numbers])


def pictures(paths: Sequence[str], decode: bool) -> Files:
    """A column of images: the bytes of the files, or RGB pixels."""
    return Files(paths, _decoded if decode else read_file)


def _decoded(path):
    return decode_image(read_file(path), path)


def texts(values: Sequence[str]) -> np.ndarray:
    """A column of strings."""
    return np.array([v.encode("utf-8") for v in values], "S")


def listing(folder: str, *ends: str) -> list[str]:
    """The paths of the files in a folder, in the order of their names; with one of these endings where any are given.

    Raises:
        RuntimeError: If there is no such folder.
    """
    if not os.path.isdir(folder):
        raise RuntimeError(f"Invalid path, {folder!r} is no folder.")
    found = [e.path for e in os.scandir(folder) if e.is_file() and (not ends or e.name.endswith(ends))]
    return sorted(found)


def folders(folder: str) -> list[str]:
    """The names of the folders in a folder, in order. Raises RuntimeError if there is no such folder."""
    if not os.path.isdir(folder):
        raise RuntimeError(f"Invalid path, {folder!r} is no folder.")
    return sorted(e.name for e in os.scandir(folder) if e.is_dir())


class SetSamples(Samples):
    """Rows whose columns are arrays, lists of arrays of different shapes, and `Files`."""

    def __init__(self, name: str, columns: Sequence[Any], class_ids: Any = None) -> None:
        super().__init__(name, len(columns[0]))
        self.columns = columns
        self.class_ids = class_ids

    def files(self, number: int) -> Sequence[str]:
        """The files of a sample; the folder of all where they are held in memory."""
        own = [c.paths[number] for c in self.columns if isinstance(c, Files)]
        return [path for path in dict.fromkeys(own) if isinstance(path, str)] or self.origin

    def fetch(self, numbers: np.ndarray) -> list[Any]:
        """The columns of these samples."""
        return [self._values(column, numbers) for column in self.columns]

    @staticmethod
    def _values(column, numbers):
        if isinstance(column, np.ndarray):
            return column[numbers]
        if isinstance(column, Files):
            return column.at(numbers.tolist())
        return stack_if_uniform([column[i] for i in numbers.tolist()])


class PublicSet(MappableDataset):
    """Base of the data sets of one folder, whose rows are fetched by number.

    Attributes:
        usages: the parts that there are; none where `usage` is no argument.
        usual: the part that is read when `usage` is None.
        classes: how many classes there are; None where nobody knows.
        class_column: the column that says the class of a row.
        needed: what has to be in the folder when the data set is made.
    """

    usages: tuple[str, ...] = ("train", "test", "all")
    usual = "all"
    classes: int | None = None
    class_column = "label"
    needed: tuple[str, ...] = ()
    dataset_dir: str
    usage: str
    decode: bool

    def _choose(self, dataset_dir, usage=None, decode=False):
        if usage is not None:
            check(one_of(*self.usages), usage, "usage", type(self).__name__)
        self.dataset_dir, self.usage, self.decode = os.fspath(dataset_dir), usage or self.usual, bool(decode)
        for path in map(self._under, self.needed):
            if not os.path.exists(path):
                what = "does not exist" if os.path.splitext(path)[1] else "does not exist or is not a directory"
                raise ValueError(f"{path} {what} or permission denied!")

    def _read(self) -> Sequence[Any]:
        """The columns."""
        raise NotImplementedError

    def _under(self, *parts):
        return os.path.join(self.dataset_dir, *parts)

    def _samples(self):
        try:
            columns = self._read()
        except OSError as error:
            raise RuntimeError(f"Invalid file, failed to open {error.filename}: {error.strerror}.") from None
        if not len(columns[0]):
            raise NoDataError(type(self).__name__, f"{self.dataset_dir!r} has no row for usage {self.usage!r}.")
        labels = [c for name, c in zip(self.columns, columns, strict=True) if name == self.class_column]
        known = labels and isinstance(labels[0], np.ndarray) and labels[0].dtype.kind in "iu" and labels[0].ndim == 1
        samples = SetSamples(type(self).__name__, columns, labels[0] if known else None)
        samples.origin = (self.dataset_dir,)
        return samples

    def _count_classes(self):
        return self.classes


class UsageSet(PublicSet):
    """A folder, and a part of it."""

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
        self._choose(dataset_dir, usage)


class WholeSet(PublicSet):
    """A folder that has no parts."""

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
        self._choose(dataset_dir)


class WholeImageSet(PublicSet):
    """A folder with images that has no parts."""

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
        self._choose(dataset_dir, decode=decode)


class ImageSet(PublicSet):
    """A folder with images, and a part of it."""

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
        self._choose(dataset_dir, usage, decode)


class StreamedSet(StreamDataset):
    """Base of the data sets of one folder whose rows stream from files.

    Attributes:
        usages, usual: as of `PublicSet`.
        files: {usage: names of its files}; "all" is those of all parts where it is not there.
        by_name: whether the files are read in the order of their names, rather than of the parts.
    """

    usages: tuple[str, ...] = ("train", "test", "all")
    usual = "all"
    files: dict[str, tuple[str, ...]] = {}
    by_name = True
    usage: str

    def _open(self, dataset_dir, usage, *sharing):
        if usage is not None:
            check(one_of(*self.usages), usage, "usage", type(self).__name__)
        self.dataset_dir, self.usage = os.fspath(dataset_dir), usage or self.usual
        StreamDataset.__init__(self, [], *sharing)
        self.dataset_files: list[Any] = sorted(self._parts()) if self.by_name else self._parts()

    @staticmethod
    def _find_files(patterns):
        return patterns  # those of the usage are looked for when they are read

    def _parts(self):
        """The files of the usage, which may be tuples of files that are read side by side."""
        names = self.files.get(self.usage) or [name for part in self.files.values() for name in part]
        return [os.path.join(self.dataset_dir, name) for name in names]

    def _rows(self, path) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a file."""
        raise NotImplementedError

    def _count(self, path):
        return sum(1 for _ in self._opened(path))

    def _opened(self, path):
        try:
            yield from self._rows(path)
        except (FileNotFoundError, IsADirectoryError) as error:
            raise RuntimeError(f"Invalid file, {error.filename} does not exist or is a directory.") from None
        except OSError as error:
            raise RuntimeError(f"Invalid file, failed to open {error.filename}: {error.strerror}.") from None

    def _stream(self):
        return RowStream(
            type(self).__name__,
            self.dataset_files,
            self._opened,
            self._count,
            self.shuffle_files,
            self.num_shards,
            self.shard_id,
            self.num_samples or 0,
        )


class TextSet(StreamedSet):
    """A folder of texts, and a part of it; the workers come third, as in most of MindSpore's."""

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
        self._open(dataset_dir, usage, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)


class LateWorkersTextSet(StreamedSet):
    """A folder of texts, and a part of it; the workers come after the shards, as in some of MindSpore's."""

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
        self._open(dataset_dir, usage, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)


def string(value: str) -> np.ndarray:
    """A string scalar."""
    return np.array(value.encode("utf-8"))
