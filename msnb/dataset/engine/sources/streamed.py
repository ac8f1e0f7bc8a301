"""`StreamDataset`: a source that reads rows from files one after the other, with a `RowStream`."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from msnb.common.kinds import Worded, readable
from msnb.dataset.core.config import fresh_seed, settings
from msnb.dataset.core.kinds import Int, NumSamples, Workers, of_type
from msnb.dataset.core.shares import resolve_shard
from msnb.dataset.core.streams import Mt32
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.execution import nodes, shuffle_repeat
from msnb.dataset.engine.execution.chunk import group_rows, stack_if_uniform
from msnb.dataset.engine.execution.errors import NoDataError
from msnb.dataset.engine.sources.base import Shuffle, SourceDataset, check_sharing

if TYPE_CHECKING:  # used only in annotations
    from msnb.dataset.engine.execution.chunk import Chunk, Hint


def _check_stream_shuffle(shuffle, name):
    if isinstance(shuffle, bool | Shuffle):
        return shuffle
    raise TypeError(
        f"{name} must be of boolean or enum of 'Shuffle' values like 'Shuffle.GLOBAL' or 'Shuffle.FILES', but got "
        f"{shuffle!r}."
    )


StreamShuffled = Annotated[bool | Shuffle, Worded("a bool or a Shuffle", _check_stream_shuffle)]


def _check_files(files, name):
    return of_type(str, list)(files, name.replace("_", " "))


Files = Annotated[str | list[str], Worded("a file or a list of files", _check_files)]


class RowStream:
    """Reads the rows of files, one file after the other.

    Args:
        name (str): Name of the data set.
        files (list[str]): The files.
        read (Callable): Function of a path that returns an iterator over rows (tuples of arrays).
        count (Callable): Function of a path that returns the number of rows.
        shuffle_files (bool): True if the order of the files changes in each epoch.
        num_shards, shard_id (int): Shard of the rows.
        num_samples (int): Maximal number of rows; 0 for all.
    """

    workers = 1  # number of files that are read alternately

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
        self.name: str = name
        self.files = files
        self.read = read
        self.counter = count
        self.shuffle_files: bool = shuffle_files
        self.num_shards: int = num_shards or 1
        self.shard_id: int = shard_id or 0
        self.num_samples: int = num_samples or 0
        self.order: list[int] = list(range(len(files)))
        self.epoch: int = 0
        self._counts = None

    @property
    def counts(self) -> list[int]:
        """Number of rows of each file."""
        if self._counts is None:
            self._counts = [self.counter(f) for f in self.files]
            if not sum(self._counts):
                raise NoDataError(self.name, f"there is no row in {', '.join(map(repr, self.files[:3]))}.")
        return self._counts

    def shard_size(self) -> int:
        """Return the number of rows of each shard, rounded up."""
        return -(-sum(self.counts) // self.num_shards)

    def size(self) -> int:
        """Return the number of rows per epoch."""
        rows = self.shard_size()
        return min(rows, self.num_samples) if self.num_samples else rows

    def pieces(self) -> Iterator[Any]:
        """Yield (file, rows to skip, rows to read) for each file of the next epoch; None means all rows."""
        self.epoch += 1
        if self.shuffle_files:
            Mt32(fresh_seed() if self.num_shards == 1 else self.epoch).shuffle(self.order)
        if self.num_shards == 1:
            yield from ((self.files[number], 0, None) for number in self.order)
            return
        remaining, skip = self.shard_size(), self.shard_id * self.shard_size()
        while remaining:  # the first rows are used again to make shards equal
            for number in self.order:
                row_count = self.counts[number]
                if skip >= row_count:
                    skip -= row_count
                    continue
                take = min(row_count - skip, remaining)
                yield self.files[number], skip, take
                remaining -= take
                skip = 0
                if not remaining:
                    return

    def skip_epoch(self) -> None:
        """Draw the order of the next epoch's files without reading them."""
        next(self.pieces(), None)

    def rows(self) -> Iterator[Any]:
        """Yield the rows of the next epoch. With n workers, rows of n files alternate."""
        pieces = list(self.pieces())
        turns = min(self.workers, len(pieces))
        if turns <= 1:
            yield from self._read_file_ranges(pieces)
            return
        readers = [self._read_file_ranges(pieces[i::turns]) for i in range(turns)]
        while readers:
            active = []
            for reader in readers:
                for row in reader:
                    yield row
                    active.append(reader)
                    break
            readers = active

    def _read_file_ranges(self, pieces):
        for file, skip, take in pieces:
            reader = iter(self.read(file))
            if take is not None:
                reader = islice(reader, skip, skip + take)
            yield from reader

    def stream(self, hint: "Hint") -> "Iterator[Chunk]":
        """Yield (columns, number of rows)."""
        for group in group_rows(islice(self.rows(), self.num_samples or None), hint):
            yield [stack_if_uniform(list(c)) for c in zip(*group, strict=True)], len(group)

    def describe(self) -> str:
        """Return the line that describes this source in a printed plan."""
        return f"{self.name} ({len(self.files)} file(s))"


class StreamDataset(SourceDataset):
    """Base of the sources that stream rows from files."""

    columns: tuple[str, ...] = ()

    @readable
    def __init__(
        self,
        dataset_files: Files,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: StreamShuffled = Shuffle.GLOBAL,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ):
        super().__init__(num_parallel_workers=num_parallel_workers, cache=cache)
        if isinstance(shuffle, Shuffle) and shuffle not in (Shuffle.GLOBAL, Shuffle.FILES):
            raise ValueError(
                f"For '{type(self).__name__}', 'shuffle' should be a bool, Shuffle.GLOBAL or Shuffle.FILES, but got "
                f"{shuffle}."
            )
        check_sharing(None, None, num_shards, shard_id)
        self.dataset_files: list[Any] = sorted(self._find_files(dataset_files))
        self.num_samples = num_samples
        self.num_shards, self.shard_id = resolve_shard(num_shards, shard_id)
        self._divided = num_shards is None and self.num_shards is not None
        self.shuffle_level: Shuffle | None = (
            shuffle if isinstance(shuffle, Shuffle) else Shuffle.GLOBAL if shuffle else None
        )
        self.shuffle_files: bool = self.shuffle_level is not None
        self._shared = {}

    def _make_stream(self):
        """Return the `RowStream` that reads the files of this data set."""
        raise NotImplementedError

    def _get_column_names(self):
        return list(self.columns)

    def get_col_names(self) -> list[str]:
        """Return the names of the columns. Most sources do not open their files for that."""
        return self._get_column_names()

    def _make_plan_node(self, children):
        stream = self._make_stream()
        stream.workers = self.num_parallel_workers or settings.workers
        if "counts" in self._shared:
            stream._counts = self._shared["counts"]
        paths = [path for file in stream.files for path in ((file,) if isinstance(file, str) else file)]
        node = nodes.StreamSource(stream, self._get_column_names(), paths)
        if self.cache is not None:
            node = self.cache.node(self, node)
        if self.shuffle_level == Shuffle.GLOBAL:
            self._shared["counts"] = stream.counts
            node = shuffle_repeat.Shuffle(node, self._compute_shuffle_buffer_size(sum(stream.counts)))
        return node

    def _compute_shuffle_buffer_size(self, rows):
        """Return the size of the shuffle buffer: four average files, at least 10000 rows, as in MindSpore."""
        rows = -(-rows // (self.num_shards or 1))
        if self.num_samples:
            rows = min(rows, self.num_samples)
        return max(4 * -(-rows // len(self.dataset_files)), 10000)

    def is_shuffled(self) -> bool:
        """Return True if the order is random."""
        return self.shuffle_files

    def is_sharded(self) -> bool:
        """Return True if this data set reads only one shard of the data."""
        return self.num_shards is not None and self.num_shards > 1
