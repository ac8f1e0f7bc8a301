"""``DatasetCache``: caches rows in memory, and on disk beyond a size.

MindSpore uses a cache server. Here the cache is in the process.
"""

import os
import pickle
import tempfile
from collections import namedtuple
from typing import Annotated, Any, Self

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import Flag, Int, Text, UInt32, of_type, positive, within
from msnb.dataset.engine.execution import nodes, shuffle_repeat
from msnb.dataset.engine.execution.chunk import Chunk, Origin, rows_of, stack_if_uniform

CacheStat = namedtuple("CacheStat", "avg_cache_sz num_mem_cached num_disk_cached")


class _RowCache:
    """Cache of rows by index: in memory up to `size` bytes (0 for no limit), then in a file if `spilling` is True."""

    def __init__(self, size, spilling):
        self.size = size
        self.spilling = spilling
        self.rows = {}
        self.bytes: int = 0
        self.total: int = 0
        self.file_offsets = {}
        self.file = None

    def put(self, number, row):
        """Store the row with the index `number`. Return False if there is no space."""
        cost = sum(a.nbytes for a in row)
        if not self.size or self.bytes + cost <= self.size:
            self.rows[number] = row
            self.bytes += cost
        elif self.spilling:
            if self.file is None:
                self.file = tempfile.TemporaryFile(prefix="msnb-cache-")  # noqa: SIM115 (open as long as the cache exists)
            start = self.file.seek(0, os.SEEK_END)
            pickle.dump([np.asarray(a) for a in row], self.file, protocol=5)
            self.file_offsets[number] = start
        else:
            return False
        self.total += cost
        return True

    def get(self, number):
        """Return the row with the index `number`, or None if it is not cached."""
        row = self.rows.get(number)
        if row is None and number in self.file_offsets:
            self.file.seek(self.file_offsets[number])
            row = pickle.load(self.file)
        return row


_Kept = _RowCache  # pickles of earlier versions use this name


class DatasetCache:
    """Caches the rows of a data set or of a ``map`` across epochs and pipelines.

    Args:
        session_id (int): Any number; MindSpore's cache server assigns it.
        size (int, optional): Bytes of memory; 0 for no limit. Default: 0.
        spilling (bool, optional): True to write rows beyond `size` to disk. Default: False.
        hostname (str, optional): Must be this machine. Default: None.
        port (int, optional): Accepted; there is no server. Default: None.
        num_connections (int, optional): Accepted; there is no server. Default: None.
        prefetch_size (int, optional): Accepted; there is no server. Default: None.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a value is out of range.

    Examples:
        >>> import mindspore.dataset as ds
        >>> cache = ds.DatasetCache(session_id=1, size=0)
        >>> dataset = ds.ImageFolderDataset("images", cache=cache)
    """

    @checked
    def __init__(
        self,
        session_id: UInt32,
        size: Int = 0,
        spilling: Flag = False,
        hostname: Text | None = None,
        port: Annotated[int, within(1025, 65535, int)] | None = None,
        num_connections: UInt32 | None = None,
        prefetch_size: UInt32 | None = None,
    ):
        numbers = {"session_id": session_id, "num_connections": num_connections, "prefetch_size": prefetch_size}
        if size < 0:
            positive(size, "size")
        if hostname not in (None, "127.0.0.1", "localhost"):
            raise RuntimeError(
                f"DatasetCache: now cache client has to be on the same host with cache server; got hostname "
                f"{hostname!r}."
            )
        vars(self).update(numbers, size=size, spilling=spilling, hostname=hostname, port=port)
        self._kept = _RowCache(size, spilling)
        self._owner = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def GetStat(self) -> Any:  # noqa: N802 (MindSpore's name)
        """Return (average bytes per row, rows in memory, rows on disk)."""
        cache = self._kept
        n = len(cache.rows) + len(cache.file_offsets)
        return CacheStat(cache.total // n if n else 0, len(cache.rows), len(cache.file_offsets))

    def node(self, dataset: Any, child: Any) -> Any:
        """Return a node that caches the rows of `child`."""
        signature = _compute_pipeline_signature(dataset)
        if self._owner is None:
            self._owner = signature
        elif self._owner != signature:
            raise RuntimeError("Cannot re-use a cache for a different tree! Make another DatasetCache for it.")
        _check_supported_below_cache(child)
        return _CacheNode(child, self._kept)


Cache = Annotated[DatasetCache, of_type(DatasetCache, type(None))]


def _compute_pipeline_signature(dataset):
    """Return a tuple that identifies a pipeline: the classes of its operators and the paths of its sources."""
    operator = (
        type(dataset).__name__,
        str(getattr(dataset, "dataset_dir", getattr(dataset, "dataset_files", ""))),
        tuple(type(o).__name__ for o in getattr(dataset, "operations", ())),
    )
    return operator + tuple(_compute_pipeline_signature(c) for c in dataset.children)


_UNSUPPORTED = {
    shuffle_repeat.Zip: "ZipNode",
    nodes.Filter: "FilterNode",
    nodes.Batch: "BatchNode",
    shuffle_repeat.Skip: "SkipNode",
    shuffle_repeat.Take: "TakeNode (possibly from Split)",
    shuffle_repeat.Concat: "ConcatNode",
}


def _check_supported_below_cache(node):
    if type(node) in _UNSUPPORTED:
        raise RuntimeError(f"{_UNSUPPORTED[type(node)]} is not supported as a descendant operator under a cache.")
    if isinstance(node, _CacheNode):
        raise RuntimeError("Nested cache operations is not supported!")
    if isinstance(node, shuffle_repeat.Repeat):
        raise RuntimeError("A cache over a RepeatNode of a mappable dataset is not supported.")
    if isinstance(node, nodes.Map) and not all(s.deterministic or not hasattr(s, "op") for s in node.steps):
        raise RuntimeError(
            "MapOp with non-deterministic TensorOps is currently not supported as a descendant of cache. Put the "
            "random "
            "transforms into a map after it."
        )
    if isinstance(node, nodes.IndexSource) and not node.source.random_access:
        raise RuntimeError("There is currently no support for GeneratorOp under cache.")
    for child in node.children:
        _check_supported_below_cache(child)


class _CacheNode(nodes.Node):
    """Plan node that yields the cached rows, and computes and caches the others."""

    def __init__(self, child, cache):
        super().__init__([child], child.columns)
        self.cache = cache
        self.complete: bool = False
        bottom = child
        self.maps = []
        while type(bottom) is nodes.Map:
            self.maps.insert(0, bottom)
            bottom = bottom.children[0]
        self.source = bottom if type(bottom) is nodes.IndexSource else None

    def chunks(self, hint):
        yield from self._yield_chunks_by_index(hint) if self.source is not None else self._yield_chunks_in_order(hint)

    def _yield_chunks_by_index(self, hint):
        numbers = self.source.numbers()
        start = 0
        while start < len(numbers):
            chunk_numbers = numbers[start : start + hint.take()].tolist()
            rows = [self.cache.get(n) for n in chunk_numbers]
            missing = sorted({n for n, row in zip(chunk_numbers, rows, strict=True) if row is None})
            if missing:
                missing_numbers, source = np.array(missing, np.int64), self.source.source
                chunk = Chunk(source.fetch(missing_numbers), len(missing), start, Origin(source.files, missing_numbers))
                for node in self.maps:
                    chunk = node.run(chunk)
                computed = dict(zip(missing, zip(*map(rows_of, chunk.columns), strict=True), strict=True))
                for n, row in computed.items():
                    self.cache.put(n, list(row))
                rows = [computed[n] if row is None else row for n, row in zip(chunk_numbers, rows, strict=True)]
            yield Chunk([stack_if_uniform(list(c)) for c in zip(*rows, strict=True)], len(chunk_numbers), start)
            start += len(chunk_numbers)

    def _yield_chunks_in_order(self, hint):
        number, cache = 0, self.cache
        if getattr(cache, "complete", False):
            total = len(cache.rows) + len(cache.file_offsets)
            while number < total:
                size = min(hint.take(), total - number)
                rows = [cache.get(n) for n in range(number, number + size)]
                yield Chunk([stack_if_uniform(list(c)) for c in zip(*rows, strict=True)], size, number)
                number += size
            return
        has_space = True
        for chunk in self.children[0].chunks(hint):
            for row in zip(*map(rows_of, chunk.columns), strict=True):
                has_space = has_space and cache.put(number, list(row))
                number += 1
            yield chunk
        cache.complete = has_space

    def describe(self):
        return "cache"
