"""What sources have in common: samples fetched by number, and samples that stream from files."""

import copy
import glob
import os
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from msnb.common.kinds import Worded, check, checked
from msnb.dataset.core.config import fresh_seed, settings
from msnb.dataset.core.kinds import Flag, NumSamples, PositiveInt32, Whole, Workers, of_type, within
from msnb.dataset.core.shares import share
from msnb.dataset.core.streams import Mt32
from msnb.dataset.engine import nodes, ordering, samplers
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.chunk import gathered, settle
from msnb.dataset.engine.dataset import Dataset
from msnb.dataset.engine.errors import NoDataError
from msnb.dataset.engine.splitting import Shares, part_sizes
from msnb.dataset.vision.kernels import decode
from msnb.formats.reading import BadFileError

if TYPE_CHECKING:  # named in annotations alone
    from msnb.dataset.engine.chunk import Chunk, Hint
    from msnb.dataset.engine.samplers import Sampler


class Shuffle(str, Enum):
    """How much of a data set of files is shuffled: ``GLOBAL`` files and rows, ``FILES`` the files only."""

    GLOBAL = "global"
    FILES = "file"


def _shuffled(shuffle, name):
    return shuffle if isinstance(shuffle, str) else of_type(bool)(shuffle, name)  # the enum Shuffle is a str


def _stream_shuffled(shuffle, name):
    if isinstance(shuffle, bool | Shuffle):
        return shuffle
    raise TypeError(
        f"{name} must be of boolean or enum of 'Shuffle' values like 'Shuffle.GLOBAL' or 'Shuffle.FILES', but got "
        f"{shuffle!r}."
    )


def _files(files, name):
    return of_type(str, list)(files, name.replace("_", " "))


Shuffled = Annotated[bool | Shuffle, Worded("a bool", _shuffled)]
StreamShuffled = Annotated[bool | Shuffle, Worded("a bool or a Shuffle", _stream_shuffled)]
Files = Annotated[str | list[str], Worded("a file or a list of files", _files)]
Sampling = Annotated[
    samplers.BuiltinSampler | samplers.Sampler, of_type(type(None), samplers.BuiltinSampler, samplers.Sampler)
]


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


class Samples:
    """Samples that can be fetched by number.

    Attributes:
        rows: how many there are.
        random_access: whether the order of fetching is free (no user's code sees it).
        keepable: whether results may be kept in memory between epochs.
        costly: whether the samples as they are fetched are worth being kept.
        ahead: how many are best fetched together, though fewer are asked for.
    """

    random_access = True
    keepable = True
    costly = False
    ahead = 1
    class_ids = None

    def __init__(self, name: str, rows: Any) -> None:
        self.name = name
        self.rows = rows
        self.stores: dict[Any, Any] = {}

    def fetch(self, numbers: np.ndarray) -> list[Any]:
        """The columns of the samples with these numbers (an int64 array)."""
        raise NotImplementedError

    def describe(self) -> str:
        """One line for plans."""
        return f"{self.name} ({self.rows} samples)"


class ArraySamples(Samples):
    """Samples held in one array per column."""

    def __init__(self, name: str, arrays: Sequence[np.ndarray], class_ids: Any = None) -> None:
        super().__init__(name, len(arrays[0]))
        self.arrays = arrays
        self.class_ids = class_ids

    def fetch(self, numbers: np.ndarray) -> Any:
        """The columns of these samples."""
        return [a[numbers] for a in self.arrays]


class FileSamples(Samples):
    """One file per sample and further columns from memory.

    Args:
        name (str): Of the data set.
        paths (list[str]): The files.
        others (list[np.ndarray]): Further columns, one entry per file.
        decode (bool): Whether files are decoded to RGB images.
    """

    def __init__(
        self, name: str, paths: list[str], others: list[np.ndarray] = (), decode: bool = False, class_ids: Any = None
    ) -> None:
        super().__init__(name, len(paths))
        self.paths = paths
        self.others = list(others)
        self.decode = decode
        self.class_ids = class_ids

    def fetch(self, numbers: np.ndarray) -> Any:
        """The columns of these samples."""
        images = [read_file(self.paths[i]) for i in numbers.tolist()]
        if self.decode:
            images = [decode_image(image, self.paths[i]) for image, i in zip(images, numbers.tolist(), strict=True)]
        return [
            settle(images) if self.decode else images,
            *[o[numbers] if isinstance(o, np.ndarray) else [o[i] for i in numbers.tolist()] for o in self.others],
        ]


def read_file(path: str) -> np.ndarray:
    """The bytes of a file as a uint8 array."""
    try:
        with open(path, "rb") as file:
            return np.frombuffer(file.read(), np.uint8)
    except OSError as error:
        raise RuntimeError(f"Invalid file, failed to open file: {path} ({error.strerror}).") from None
    except ValueError as error:  # a name with a NUL or half a character, which no file can have
        raise RuntimeError(f"Invalid file, failed to open file: {path!r} ({error}).") from None


def below(folder: str, name: str, where: str) -> Any:
    """Path of the file `name` that a list inside a data set names, which must not lead out of `folder`.

    Args:
        folder (str): Folder of the data set.
        name (str): Name of the file, relative to the folder.
        where (str): What names it, for messages.

    Raises:
        BadFileError: If the file would lie outside.
    """
    path = os.path.join(folder, name)
    if os.path.isabs(name) or ".." in name:
        root = os.path.abspath(folder)
        if os.path.commonpath([root, os.path.abspath(path)]) != root:
            raise BadFileError(
                f"Invalid data, {where} names the file {name!r}, which is outside of the data set's folder {folder!r}."
            )
    return path


def decode_image(data: Any, path: str) -> np.ndarray:
    """RGB image in encoded bytes."""
    try:
        return decode(data)
    except (RuntimeError, ValueError) as error:
        raise RuntimeError(f"Invalid data, failed to decode image: {path} ({error}).") from None


class SourceDataset(Dataset):
    """Base of the data sets that read something."""

    num_shards: int | None
    shard_id: int | None

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


class MappableDataset(SourceDataset):
    """Base of the sources whose samples can be fetched by number; a sampler says which and in which order."""

    columns: tuple[str, ...] = ()
    divisible = True  # whether it can be shared out among processes
    exclusive = True  # whether a sampler excludes shuffling and shares
    of_records = False  # whether samplers draw as MindRecord does

    def __init__(
        self,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        sampler: Sampling | None = None,
        num_shards: Whole | None = None,
        shard_id: Whole | None = None,
        cache: Cache | None = None,
    ):
        super().__init__(num_parallel_workers=num_parallel_workers, cache=cache)
        if self.exclusive:
            check_sharing(shuffle, sampler, num_shards, shard_id)
        self._divided = num_shards is None
        if self.divisible:
            num_shards, shard_id = share(num_shards, shard_id, sampler)
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

    def _samples(self):
        """Read what must be read to fetch samples."""
        raise NotImplementedError(f"{type(self).__name__} has to say what it reads.")

    def _loaded(self):
        if "samples" not in self._shared:
            self._shared["samples"] = self._samples()
        return self._shared["samples"]

    def _node(self, children):
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


class RowStream:
    """Rows from files.

    Args:
        name (str): Of the data set.
        files (list[str]): The files.
        read (Callable): Path to an iterator over rows (tuples of arrays).
        count (Callable): Path to number of rows.
        shuffle_files (bool): Whether each epoch takes the files in another order.
        num_shards, shard_id (int): Which share of the rows.
        num_samples (int): At most so many rows; 0 for all.
    """

    workers = 1  # how many files are read by turns

    def __init__(
        self,
        name: str,
        files: list[str],
        read: Callable[..., Any],
        count: Callable[..., Any],
        shuffle_files: bool = False,
        num_shards: int | None = None,
        shard_id: int | None = None,
        num_samples: int = 0,
    ) -> None:
        self.name = name
        self.files = files
        self.read = read
        self.counter = count
        self.shuffle_files = shuffle_files
        self.num_shards: int = num_shards or 1
        self.shard_id: int = shard_id or 0
        self.num_samples: int = num_samples or 0
        self.order: list[int] = list(range(len(files)))
        self.epoch: int = 0
        self._counts = None

    @property
    def counts(self) -> list[int]:
        """Rows of each file."""
        if self._counts is None:
            self._counts = [self.counter(f) for f in self.files]
            if not sum(self._counts):
                raise NoDataError(self.name, f"there is no row in {', '.join(map(repr, self.files[:3]))}.")
        return self._counts

    def share(self) -> int:
        """Rows of this shard."""
        return -(-sum(self.counts) // self.num_shards)

    def size(self) -> int:
        """Rows per epoch."""
        rows = self.share()
        return min(rows, self.num_samples) if self.num_samples else rows

    def pieces(self) -> Iterator[Any]:
        """Yield (file, rows to skip, rows to read) of the next epoch; None for all rows."""
        self.epoch += 1
        if self.shuffle_files:
            Mt32(fresh_seed() if self.num_shards == 1 else self.epoch).shuffle(self.order)
        if self.num_shards == 1:
            yield from ((self.files[number], 0, None) for number in self.order)
            return
        want, skip = self.share(), self.shard_id * self.share()
        while want:  # the first rows are used again where shares would not be equal
            for number in self.order:
                here = self.counts[number]
                if skip >= here:
                    skip -= here
                    continue
                take = min(here - skip, want)
                yield self.files[number], skip, take
                want -= take
                skip = 0
                if not want:
                    return

    def rows(self) -> Iterator[Any]:
        """Yield the rows of the next epoch: several files take turns, row by row, as many as there are workers."""
        pieces = list(self.pieces())
        turns = min(self.workers, len(pieces))
        if turns <= 1:
            yield from self._chain(pieces)
            return
        readers = [self._chain(pieces[i::turns]) for i in range(turns)]
        while readers:
            left = []
            for reader in readers:
                for row in reader:
                    yield row
                    left.append(reader)
                    break
            readers = left

    def _chain(self, pieces):
        for file, skip, take in pieces:
            reader = iter(self.read(file))
            if take is not None:
                reader = islice(reader, skip, skip + take)
            yield from reader

    def stream(self, hint: "Hint") -> "Iterator[Chunk]":
        """Yield (columns, number of rows)."""
        for group in gathered(islice(self.rows(), self.num_samples or None), hint):
            yield [settle(list(c)) for c in zip(*group, strict=True)], len(group)

    def describe(self) -> str:
        """One line for plans."""
        return f"{self.name} ({len(self.files)} file(s))"


class StreamDataset(SourceDataset):
    """Base of the sources that stream rows from files."""

    columns: tuple[str, ...] = ()

    def __init__(
        self,
        dataset_files: Files,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: StreamShuffled = Shuffle.GLOBAL,
        num_shards: Whole | None = None,
        shard_id: Whole | None = None,
        cache: Cache | None = None,
    ):
        super().__init__(num_parallel_workers=num_parallel_workers, cache=cache)
        check_sharing(None, None, num_shards, shard_id)
        self.dataset_files: list[Any] = sorted(self._find_files(dataset_files))
        self.num_samples = num_samples
        self.num_shards, self.shard_id = share(num_shards, shard_id)
        self._divided = num_shards is None and self.num_shards is not None
        self.shuffle_level: Shuffle | None = (
            shuffle if isinstance(shuffle, Shuffle) else Shuffle.GLOBAL if shuffle else None
        )
        self.shuffle_files: bool = self.shuffle_level is not None
        self._shared = {}

    def _stream(self):
        """The RowStream of these files."""
        raise NotImplementedError

    def _names(self):
        return list(self.columns)

    def _node(self, children):
        stream = self._stream()
        stream.workers = self.num_parallel_workers or settings.workers
        if "counts" in self._shared:
            stream._counts = self._shared["counts"]
        node = nodes.StreamSource(stream, self._names())
        if self.cache is not None:
            node = self.cache.node(self, node)
        if self.shuffle_level == Shuffle.GLOBAL:
            self._shared["counts"] = stream.counts
            node = ordering.Shuffle(node, self._buffer_size(sum(stream.counts)))
        return node

    def _buffer_size(self, rows):
        """Four average files, at least 10000 rows, as MindSpore has it."""
        rows = -(-rows // (self.num_shards or 1))
        if self.num_samples:
            rows = min(rows, self.num_samples)
        return max(4 * -(-rows // len(self.dataset_files)), 10000)

    def is_shuffled(self) -> bool:
        """Whether the order is random."""
        return self.shuffle_files

    def is_sharded(self) -> bool:
        """Whether it is a share of the data."""
        return self.num_shards is not None and self.num_shards > 1
