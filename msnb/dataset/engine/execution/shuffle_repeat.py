"""Plan nodes that select, reorder or combine rows without looking at their values."""

from collections.abc import Iterator, Sequence
from itertools import islice, repeat
from typing import Any

import numpy as np

from msnb.dataset.core.config import fresh_seed
from msnb.dataset.core.streams import Mt64, ShuffleBuffer
from msnb.dataset.engine.execution.chunk import Chunk, Hint, group_rows, rechunk, rows_of, stack_if_uniform
from msnb.dataset.engine.execution.nodes import Node


class Shuffle(Node):
    """Shuffles rows with a buffer."""

    def __init__(self, child: Node, size: Any, reshuffle: bool = True, seed: int | None = None) -> None:
        super().__init__([child], child.columns)
        self.buffer_size = size
        self.reshuffle: bool = reshuffle
        self.seed: int = fresh_seed() if seed is None else seed
        self.stream: Mt64 = Mt64(self.seed)
        self.cut_short: bool = False

    def _make_shuffle_buffer(self):
        if not self.reshuffle:
            self.stream = Mt64(self.seed)
        return ShuffleBuffer(self.buffer_size, self.stream)

    def numbers(self, numbers: Any) -> Any:
        """Return the sample indices `numbers` in shuffled order, which replaces shuffling the rows."""
        return numbers[self._make_shuffle_buffer().permuted(list(range(len(numbers))))]

    def size_after(self, n: Any) -> Any:
        """Return the number of rows that this node yields for `n` input rows."""
        return n

    def skip_epoch(self) -> None:
        size = self.children[0].size()
        if size is None:  # only reading the rows shows how many random numbers are drawn
            for _ in self.chunks(Hint(256)):
                pass
            return
        self.children[0].skip_epoch()
        self._make_shuffle_buffer().permuted(list(range(size)))

    def chunks(self, hint: Hint) -> Iterator[Chunk]:
        child, row_count, ended, origin = self.children[0], 0, False, None
        self.cut_short = False

        def rows():
            nonlocal row_count, origin
            for chunk in child.chunks(Hint(max(hint.limit, 16))):
                if chunk.origin is not None and chunk.origin.numbers is None:  # the files are those of all rows
                    origin = chunk.origin
                for row in zip(*map(rows_of, chunk.columns), strict=True):
                    if ended:
                        break
                    row_count += 1
                    yield row
                if ended:
                    break
            if ended:
                yield from repeat(None, (child.size() or row_count) - row_count)

        pending, first, size = [], 0, hint.take()
        order = self._make_shuffle_buffer().order(rows())
        try:
            for row in order:
                pending.append(row)
                if len(pending) == size:
                    yield self._make_chunk(pending, first, origin)
                    first += size
                    pending, size = [], hint.take()
            if pending:
                yield self._make_chunk(pending, first, origin)
        finally:
            if self.cut_short:
                # A later Take has stopped this epoch early. Draw its remaining random numbers, because the next epoch
                # depends on them.
                self.cut_short, ended = False, True
                for _ in order:
                    pass

    def _make_chunk(self, rows, first, origin):
        return Chunk([stack_if_uniform(list(c)) for c in zip(*rows, strict=True)], len(rows), first, origin)

    def describe(self) -> str:
        return f"shuffle {self.buffer_size}"


class Repeat(Node):
    """Repeats the rows of its child `count` times within an epoch."""

    def __init__(self, child: Node, count: int) -> None:
        super().__init__([child], child.columns)
        self.count: int = count
        self.cut_short: bool = False

    def chunks(self, hint: Hint) -> Iterator[Chunk]:
        done = first = 0
        self.cut_short = False
        try:
            while self.count < 0 or done < self.count:
                start = first
                for chunk in self.children[0].chunks(hint):
                    yield chunk.moved(start + chunk.first)
                    first += chunk.n
                done += 1
                if first == start:
                    return  # the child is empty, so the repetition is too
        finally:
            if self.cut_short:
                # Draw the random numbers of the remaining passes, as MindSpore does: the next epoch's order depends
                # on them.
                self.cut_short = False
                for _ in range(done + 1, self.count):
                    self.children[0].skip_epoch()

    def skip_epoch(self) -> None:
        for _ in range(self.count):
            self.children[0].skip_epoch()

    def size(self) -> int | None:
        n = self.children[0].size()
        if n is None or self.count < 0:
            return n
        return n * self.count

    def describe(self) -> str:
        return f"repeat {'for ever' if self.count < 0 else self.count}"


def _mark_epoch_cut_short(node):
    """Set ``cut_short`` of all Shuffle and Repeat nodes from `node` to the sources.

    When closed, they then draw the remaining random numbers of the epoch.
    """
    if isinstance(node, Shuffle | Repeat):
        node.cut_short = True
    for child in node.children:
        _mark_epoch_cut_short(child)


class Take(Node):
    """Keeps the first rows only."""

    def __init__(self, child: Node, count: int) -> None:
        super().__init__([child], child.columns)
        self.count: int = count

    def numbers(self, numbers: Any) -> Any:
        """Return the first of the sample indices `numbers`, so that other rows are not read."""
        return numbers if self.count < 0 else numbers[: self.count]

    def size_after(self, n: int) -> Any:
        """Return the number of rows that this node yields for `n` input rows."""
        return n if n is None or self.count < 0 else min(n, self.count)

    def chunks(self, hint: Hint) -> Iterator[Chunk]:
        if self.count < 0:
            yield from self.children[0].chunks(hint)
            return
        left = self.count
        for chunk in self.children[0].chunks(Hint(min(hint.limit, self.count), min(hint.size, self.count))):
            if chunk.n >= left:
                yield chunk.part(0, left) if chunk.n > left else chunk
                _mark_epoch_cut_short(self.children[0])
                return
            left -= chunk.n
            yield chunk

    def size(self) -> int | None:
        return self.size_after(self.children[0].size())

    def describe(self) -> str:
        return f"take {self.count}"


class Skip(Node):
    """Omits the first rows."""

    def __init__(self, child: Node, count: int) -> None:
        super().__init__([child], child.columns)
        self.count: int = count

    def numbers(self, numbers: Any) -> Any:
        """Return the sample indices `numbers` without the first ones, so that omitted rows are not read."""
        return numbers[self.count :]

    def size_after(self, n: int) -> Any:
        """Return the number of rows that this node yields for `n` input rows."""
        return n if n is None else max(0, n - self.count)

    def chunks(self, hint: Hint) -> Iterator[Chunk]:
        left, first = self.count, 0
        for chunk in self.children[0].chunks(hint):
            if left >= chunk.n:
                left -= chunk.n
                continue
            if left:
                chunk, left = chunk.part(left, chunk.n), 0
            yield chunk.moved(first)
            first += chunk.n

    def size(self) -> int | None:
        return self.size_after(self.children[0].size())

    def describe(self) -> str:
        return f"skip {self.count}"


class Zip(Node):
    """Joins the columns of several data sets, row by row, and ends with the shortest data set."""

    def __init__(self, children: Sequence[Node]) -> None:
        columns = [c for child in children for c in child.columns]
        repeated = next((c for c in columns if columns.count(c) > 1), None)
        if repeated is not None:
            raise RuntimeError(
                f"Invalid parameter, duplicate column names are not allowed: {repeated}. Rename one of them before zip."
            )
        super().__init__(children, columns)

    def chunks(self, hint: Hint) -> Iterator[Chunk]:
        size = min(hint.limit, 32)
        streams = [rechunk(child.chunks(Hint(size)), size, keep_incomplete=True) for child in self.children]
        first = 0
        while True:
            group = []
            for stream in streams:
                chunk = next(stream, None)
                if chunk is None:
                    self._close_children(streams)
                    return
                group.append(chunk)
            n = min(c.n for c in group)
            unsliced = group
            group = [c if c.n == n else c.part(0, n) for c in group]
            yield Chunk([column for c in group for column in c.columns], n, first)
            first += n
            if n < size:
                for stream, chunk in zip(streams, unsliced, strict=True):
                    if chunk.n == n:  # the child ends or fails at this row
                        next(stream, None)
                self._close_children(streams)
                return

    def _close_children(self, streams):
        """Close the iterators of the children. A longer child draws its remaining random numbers."""
        for child in self.children:
            _mark_epoch_cut_short(child)
        for stream in streams:
            stream.close()

    def size(self) -> int | None:
        sizes = [c.size() for c in self.children]
        return None if None in sizes else min(sizes)

    def describe(self) -> str:
        return "zip"


class Concat(Node):
    """Concatenates data sets."""

    def __init__(self, children: Sequence[Node], shard: Any = None) -> None:
        super().__init__(children, children[0].columns)
        self.shard = shard
        self._types = None

    def chunks(self, hint: Hint) -> Iterator[Chunk]:
        first = 0
        for number, child in enumerate(self.children):
            for chunk in child.chunks(hint):
                self._check_matching_columns(chunk, child, number)
                if self.shard is not None:
                    chunk = self.shard.keep(chunk, number, first)
                    if chunk is None:
                        continue
                yield chunk.moved(first)
                first += chunk.n

    def _check_matching_columns(self, chunk, child, number):
        if chunk.first:
            return
        if len(child.columns) != len(self.columns):
            raise RuntimeError(
                f"Invalid data, concat needs data sets with the same columns: {self.columns} and {child.columns}."
            )
        if child.columns != self.columns:
            raise RuntimeError(
                f"Invalid data, concat needs columns of the same names: {self.columns} and {child.columns}."
            )
        types = [
            (rows_of(c)[0].dtype.kind if rows_of(c)[0].dtype.kind in "SU" else rows_of(c)[0].dtype, rows_of(c)[0].ndim)
            for c in chunk.columns
        ]
        if self._types is None:
            self._types = types
        elif types != self._types:
            for name, (was, rank), (now, now_rank) in zip(self.columns, self._types, types, strict=True):
                if was != now:
                    raise RuntimeError(
                        f"Invalid data, concat: data types of column {name!r} do not match: {was} and {now} "
                        f"(data set {number})."
                    )
                if rank != now_rank:
                    raise RuntimeError(
                        f"Invalid data, concat: the number of dimensions of column {name!r} does not match: "
                        f"{rank} and {now_rank} (data set {number})."
                    )

    def size(self) -> int | None:
        if self.shard is not None:
            return self.shard.size(self)
        sizes = [c.size() for c in self.children]
        return None if None in sizes else sum(sizes)

    def describe(self) -> str:
        return "concat"


class Interleave(Concat):
    """Interleaves the rows of several data sets in random order. The rows of each data set keep their order."""

    def __init__(self, children: Sequence[Node]) -> None:
        super().__init__(children)
        self.stream: Mt64 = Mt64(fresh_seed())

    def chunks(self, hint: Hint) -> Iterator[Chunk]:
        sizes = [child.size() for child in self.children]
        if None in sizes:
            raise RuntimeError("concat with a RandomSampler needs to know how many rows each of its data sets has.")
        turns = np.repeat(np.arange(len(sizes)), np.array(sizes, np.int64)).tolist()
        turns = ShuffleBuffer(max(len(turns), 1), self.stream).order(turns)
        streams = [self._iterate_rows(child, number) for number, child in enumerate(self.children)]
        first = 0
        for rows in group_rows((row for turn in turns for row in islice(streams[turn], 1)), hint):
            yield Chunk([stack_if_uniform(list(c)) for c in zip(*rows, strict=True)], len(rows), first)
            first += len(rows)
        for stream in streams:  # run each child to the end of its epoch
            next(stream, None)

    def skip_epoch(self) -> None:
        super().skip_epoch()
        size = self.size() or 0
        ShuffleBuffer(max(size, 1), self.stream).permuted(list(range(size)))

    def _iterate_rows(self, child, number):
        for chunk in child.chunks(Hint(32)):
            self._check_matching_columns(chunk, child, number)
            yield from zip(*map(rows_of, chunk.columns), strict=True)

    def describe(self) -> str:
        return "concat in random order"
