"""Chunks of rows, the unit in which rows pass through a plan.

A column of a chunk is one array with a leading axis of rows, or a list of arrays if their shapes differ.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np


class Hint:
    """Number of rows per chunk that a consumer requests.

    The number is fixed, or doubles from `size` up to `limit`, so that the first row arrives early.
    """

    __slots__ = ("size", "limit")

    def __init__(self, limit: int, size: int | None = None) -> None:
        self.limit: int = limit
        self.size: int = limit if size is None else size

    def take(self) -> int:
        """Return the size of the next chunk."""
        size = self.size
        if size < self.limit:
            self.size = min(2 * size, self.limit)
        return size


class Origin:
    """Files from which the rows of a chunk were read, for error messages.

    Args:
        files (Callable): Maps the number of a sample to the paths of its files.
        numbers (np.ndarray): Sample numbers of the rows; None if all come from the same files.
    """

    __slots__ = ("files", "numbers")

    def __init__(self, files: Callable[[int], Sequence[str]], numbers: np.ndarray | None = None) -> None:
        self.files: Callable[[int], Sequence[str]] = files
        self.numbers: np.ndarray | None = numbers

    def of(self, row: int) -> Sequence[str]:
        """Return the paths of the files from which a row was read."""
        return self.files(0 if self.numbers is None else int(self.numbers[row]))

    def of_rows(self, selection: Any) -> "Origin":
        """Return the origin of the rows that the slice or list `selection` selects."""
        return self if self.numbers is None else Origin(self.files, self.numbers[selection])


class Chunk:
    """Some consecutive rows (`n` of them), stored as a list of columns.

    `first` is the number of the first row in the epoch. `origin` has the files of the rows, if they are known.
    """

    __slots__ = ("columns", "n", "first", "origin")

    def __init__(self, columns: Any, n: int, first: int = 0, origin: Origin | None = None) -> None:
        self.columns: Any = columns
        self.n: int = n
        self.first: int = first
        self.origin: Origin | None = origin

    def moved(self, first: int) -> "Chunk":
        """Return a chunk of the same rows, with `first` as the index of its first row in the epoch."""
        return Chunk(self.columns, self.n, first, self.origin)

    def rows(self) -> Iterator[Any]:
        """Yield each row as a list of arrays."""
        yield from map(list, zip(*[rows_of(c) for c in self.columns], strict=True)) if self.columns else ()

    def part(self, start: int, stop: int) -> "Chunk":
        """Return the rows from `start` to `stop`."""
        origin = self.origin and self.origin.of_rows(slice(start, stop))
        return Chunk([c[start:stop] for c in self.columns], stop - start, self.first + start, origin)

    def pick(self, keep: Any) -> "Chunk":
        """Return the rows at the indices in the list `keep`."""
        return Chunk(
            [c[keep] if isinstance(c, np.ndarray) else [c[i] for i in keep] for c in self.columns],
            len(keep),
            self.first,
            self.origin and self.origin.of_rows(keep),
        )


def rows_of(column: Any) -> Any:
    """Return a column as a list of one array per row. The dtype of each string is as wide as that string."""
    if isinstance(column, list):
        return column
    if column.dtype.kind == "S" and column.ndim == 1:
        return [np.array(x) for x in column.tolist()]
    if column.ndim > 1:
        return list(column)
    return [column[i, ...] for i in range(len(column))]


def try_stack(rows: Any) -> Any:
    """Return the rows as one array, or None if their shapes or dtypes differ."""
    first = rows[0]
    shape, dtype = first.shape, first.dtype
    if dtype.kind in "SU":
        if any(r.shape != shape or r.dtype.kind != dtype.kind for r in rows):
            return None
        widest = max(r.dtype.itemsize for r in rows)
        if widest * len(rows) > 1 << 20 and widest > 4 * sum(r.dtype.itemsize for r in rows) // len(rows):
            return None  # one long string would widen all others
        return np.array(rows)
    for r in rows:
        if r.shape != shape or r.dtype != dtype:
            return None
    if dtype.kind == "O":  # np.array would put the arrays, and not their objects, into a new one
        return np.stack(rows)
    if first.size > 512:
        out = np.empty((len(rows), *shape), dtype)
        for i, r in enumerate(rows):
            out[i] = r
        return out
    return np.array(rows, dtype)


def stack_if_uniform(column: Any) -> Any:
    """Return a list column as one array if its rows agree in shape and dtype."""
    if isinstance(column, list) and column:
        array = try_stack(column)
        return column if array is None else array
    return column


def concatenate_column(columns: Any) -> Any:
    """Concatenate pieces of one column."""
    if len(columns) == 1:
        return columns[0]
    if all(isinstance(c, np.ndarray) for c in columns):
        first = columns[0]
        if all(
            c.shape[1:] == first.shape[1:]
            and c.dtype.kind == first.dtype.kind
            and (c.dtype == first.dtype or c.dtype.kind == "S")
            for c in columns
        ):
            return np.concatenate(columns)
    return [row for c in columns for row in rows_of(c)]


def concatenate(chunks: list[Chunk]) -> Chunk:
    """Combine several chunks into one."""
    if len(chunks) == 1:
        return chunks[0]
    columns = [concatenate_column([c.columns[i] for c in chunks]) for i in range(len(chunks[0].columns))]
    return Chunk(columns, sum(c.n for c in chunks), chunks[0].first)


def group_rows(rows: Iterable[Any], hint: Hint) -> Iterator[list[Any]]:
    """Group `rows` into lists of the size that `hint` requests. After an error, yield the rows before it, then raise
    it."""
    group, size, failure = [], hint.take(), None
    try:
        for row in rows:
            group.append(row)
            if len(group) == size:
                yield group
                group, size = [], hint.take()
    except Exception as error:
        failure = error
    if group:
        yield group
    if failure is not None:
        raise failure


def rechunk(chunks: Iterable[Chunk], size: int, keep_incomplete: bool = False) -> Iterator[Chunk]:
    """Yield chunks of exactly `size` rows out of chunks of any size. The last one may be shorter.

    On an error, an incomplete chunk is dropped, as an incomplete batch is. With `keep_incomplete` it is yielded first.
    """
    pending, failure = [], None
    try:
        yield from _regroup_chunks(chunks, size, pending)
    except Exception as error:
        if not keep_incomplete:
            raise
        failure = error
    if pending:
        yield concatenate(pending)
    if failure is not None:
        raise failure


def _regroup_chunks(chunks, size, pending):
    waiting = 0
    for chunk in chunks:
        if not waiting and chunk.n == size:
            yield chunk
            continue
        start = 0
        while waiting + chunk.n - start >= size:
            stop = start + size - waiting
            pending.append(chunk if (start, stop) == (0, chunk.n) else chunk.part(start, stop))
            full = concatenate(pending)
            pending.clear()
            yield full
            waiting, start = 0, stop
        if start < chunk.n:
            pending.append(chunk.part(start, chunk.n) if start else chunk)
            waiting += chunk.n - start
