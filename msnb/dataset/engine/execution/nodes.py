"""Nodes of a plan that read and transform rows.

Each call of ``chunks(hint)`` yields the chunks of one epoch. The Hint is the chunk size that suits the consumer.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from msnb.dataset.core.dicts import as_batch
from msnb.dataset.engine.execution.chunk import (
    Chunk,
    Hint,
    Origin,
    concatenate,
    concatenate_column,
    rechunk,
    rows_of,
    try_stack,
)
from msnb.dataset.engine.execution.errors import locate_error, rows_before


class Node:
    """An operator of a running plan.

    Attributes:
        children: Nodes of its inputs.
        columns: Names of its output columns.
    """

    def __init__(self, children: "Sequence[Node]", columns: Sequence[str]) -> None:
        self.children = children
        self.columns = columns

    def chunks(self, hint: Hint) -> Iterator[Chunk]:
        """Yield the chunks of the next epoch."""
        raise NotImplementedError

    def size(self) -> int | None:
        """Return the number of rows per epoch, or None if it is unknown before the plan runs."""
        return self.children[0].size()

    def skip_epoch(self) -> None:
        """Draw the random numbers of the next epoch without reading its rows."""
        for child in self.children:
            child.skip_epoch()

    def close(self) -> None:
        """Release resources such as processes and files."""
        for child in self.children:
            child.close()

    def describe(self) -> str:
        """Return one line of text for a printed plan."""
        return type(self).__name__

    def index(self, name: str, operation: str) -> int:
        """Return the index of a column, or raise an error that names the operation."""
        try:
            return self.columns.index(name)
        except ValueError:
            raise RuntimeError(
                f"{operation}: column {name!r} doesn't exist in the dataset columns {self.columns}."
            ) from None


class IndexSource(Node):
    """Source of samples that are fetched by index.

    Attributes:
        source: Fetches samples.
        sampler: Draws the sample numbers of each epoch.
        order: Shuffle, take and skip nodes that rearrange these numbers.
    """

    def __init__(self, source: Any, sampler: Any, columns: Sequence[str]) -> None:
        super().__init__([], columns)
        self.source = source
        self.sampler = sampler
        self.order: list[Any] = []

    def numbers(self) -> np.ndarray:
        """Return the sample indices of the next epoch, in the order in which they are read."""
        numbers = self.sampler.next_epoch()
        for change in self.order:
            numbers = change.numbers(numbers)
        return numbers

    def skip_epoch(self) -> None:
        self.numbers()

    def fetch(self, numbers: np.ndarray) -> Any:
        """Return the columns of the samples with the indices `numbers`."""
        return self.source.fetch(numbers)

    def chunks(self, hint: Hint) -> Iterator[Chunk]:
        return self.fetched(hint, lambda numbers, first: self.fetch(numbers))

    def fetched(self, hint: Hint, fetch: Callable[..., Any]) -> Iterator[Chunk]:
        """Yield the chunks of the next epoch. ``fetch(sample indices, index of the first row)`` returns their
        columns."""
        numbers = self.numbers()
        start = end = 0
        failure = None
        while start < len(numbers):
            size = min(hint.take(), len(numbers) - start)
            if start == end and failure is None:  # all fetched rows have been yielded
                begin, end = start, min(start + max(size, self.source.ahead), len(numbers))
                try:
                    columns = fetch(numbers[begin:end], begin)
                except Exception as error:
                    columns, n, failure = self._fetch_until_error(error, fetch, numbers[begin:end], begin)
                    end = begin + n
            if failure is not None and start == end:
                raise failure
            stop = min(start + size, end)
            origin = Origin(self.source.files, numbers[start:stop])
            if (start, stop) == (begin, end):
                yield Chunk(columns, stop - start, start, origin)
            else:
                yield Chunk([c[start - begin : stop - begin] for c in columns], stop - start, start, origin)
            start = stop

    def _fetch_until_error(self, error, fetch, numbers, first):
        """Fetch the samples one by one. Return (columns, count, error) of those before the first that cannot be
        fetched."""
        columns, n = rows_before(error)
        if n or not self.source.random_access or len(numbers) == 1:
            return columns, n, error
        samples = []  # The failing sample is unknown. Fetching samples again runs no user code.
        try:
            for at in range(len(numbers)):
                samples.append(fetch(numbers[at : at + 1], first + at))
        except Exception as sample_error:
            error = sample_error
        return [concatenate_column(list(c)) for c in zip(*samples, strict=True)], len(samples), error

    def size(self) -> int | None:
        n = self.sampler.size()
        for change in self.order:
            n = change.size_after(n)
        return n

    def describe(self) -> str:
        changes = "".join(f" > {c.describe()}" for c in self.order)
        return f"{self.source.describe()} by {self.sampler.describe()}{changes}"


class StreamSource(Node):
    """Source of samples that are read one after the other.

    ``source.stream(hint)`` yields (columns, number of rows). `files` are the files that the rows come from, if any.
    """

    def __init__(self, source: Any, columns: Sequence[str], files: Sequence[str] = ()) -> None:
        super().__init__([], columns)
        self.source = source
        self.origin: Origin | None = Origin(lambda number: files) if files else None

    def chunks(self, hint: Hint) -> Iterator[Chunk]:
        first = 0
        for columns, n in self.source.stream(hint):
            yield Chunk(columns, n, first, self.origin)
            first += n

    def skip_epoch(self) -> None:
        self.source.skip_epoch()

    def size(self) -> int | None:
        return self.source.size()

    def describe(self) -> str:
        return self.source.describe()


class Map(Node):
    """Plan node that runs the transforms of one or several ``map`` calls."""

    def __init__(self, child: "Node", steps: Sequence[Any], columns: Sequence[str], callbacks: Any = None) -> None:
        super().__init__([child], columns)
        self.steps = steps
        self.callbacks = callbacks

    def chunks(self, hint: Hint) -> Iterator[Chunk]:
        if self.callbacks is not None:
            yield from self.callbacks.watch(self, hint)
            return
        for chunk in self.children[0].chunks(hint):
            try:
                mapped = self.run(chunk)
            except Exception as error:
                columns, n = rows_before(error)
                if n:
                    yield Chunk(columns, n, chunk.first, chunk.origin)
                raise
            yield mapped

    def run(self, chunk: Chunk) -> Chunk:
        """Apply all steps to a chunk.

        If a row fails, the error's attribute ``before`` contains the results of all steps for the rows before it.
        """
        failure = None
        for step in self.steps:
            try:
                chunk = Chunk(step.run(chunk), chunk.n, chunk.first, chunk.origin)
            except Exception as error:
                failure = error
                columns, n = rows_before(error)
                chunk = Chunk(columns, n, chunk.first, chunk.origin)
            if failure is not None and not chunk.n:
                raise failure
        if failure is not None:
            failure.before = chunk.columns, chunk.n
            raise failure
        return chunk

    def close(self) -> None:
        if self.callbacks is not None:
            self.callbacks.close()
        for step in self.steps:
            processes = getattr(step, "processes", None)
            if processes is not None:
                processes.close()
        super().close()

    def describe(self) -> str:
        return "map " + ", ".join(f"{s.label} on {'+'.join(s.names)}" for s in self.steps)


class CachedMap(Node):
    """Runs the first, deterministic transforms of a pipeline, and caches the result of each sample in memory.

    If a sample's result differs in shape from the first one's, caching stops. Later results are computed in each epoch.
    """

    def __init__(
        self, child: "Node", steps: Sequence[Any], columns: Sequence[str], store: Any, budget: int | None
    ) -> None:
        super().__init__([child], columns)
        self.steps = steps
        self.store = store
        self.budget = budget

    def chunks(self, hint: Hint) -> Iterator[Chunk]:
        return self.children[0].fetched(hint, self._fetch_columns)

    def _fetch_columns(self, numbers, first):
        if self.store.open:
            return self.store.fetch(numbers, lambda missing: self.compute(missing, first))
        return self.compute(numbers, first)

    def compute(self, numbers: np.ndarray, first: int) -> Any:
        """Compute the columns of these samples."""
        source = self.children[0]
        chunk = Chunk(source.fetch(numbers), len(numbers), first, Origin(source.source.files, numbers))
        for step in self.steps:
            chunk = Chunk(step.run(chunk), chunk.n, first, chunk.origin)
        return chunk.columns

    def describe(self) -> str:
        cached = "map " + ", ".join(f"{s.label} on {'+'.join(s.names)}" for s in self.steps) if self.steps else "rows"
        return f"cached {cached} (budget {self.budget >> 20} MiB; {self.store.describe()})"


class BatchInfo:
    """Index of a batch and of its epoch, passed to batch-size functions and to ``per_batch_map``."""

    def __init__(self, epoch: int = 0, batch: int = 0) -> None:
        self._epoch = epoch
        self._batch = batch

    def get_batch_num(self) -> int:
        """Return the number of the batch in this epoch, from 0."""
        return self._batch

    def get_epoch_num(self) -> int:
        """Return the number of the epoch, from 0."""
        return self._epoch


class Batch(Node):
    """Combines consecutive rows into one row (a batch)."""

    def __init__(
        self,
        child: "Node",
        columns: Sequence[str],
        size: Any,
        drop_remainder: bool = False,
        size_of: Callable[..., int] | None = None,
        per_batch: Callable[..., Any] | None = None,
        pad: Any = None,
    ) -> None:
        super().__init__([child], columns)
        self.batch_size = size
        self.drop_remainder: bool = drop_remainder
        self.size_of = size_of
        self.per_batch = per_batch
        self.pad = pad
        self.epoch: int = 0

    def _group_rows_into_batches(self):
        child = self.children[0]
        if self.size_of is None:
            for number, chunk in enumerate(rechunk(child.chunks(Hint(self.batch_size)), self.batch_size)):
                yield chunk, number, chunk.n == self.batch_size
            return
        pending, number = [], 0
        size = self._call_batch_size_function(0)
        waiting = 0
        for chunk in child.chunks(Hint(1)):
            pending.append(chunk)
            waiting += chunk.n
            if waiting == size:
                yield concatenate(pending), number, True
                pending, waiting, number = [], 0, number + 1
                size = self._call_batch_size_function(number)
        if pending:
            yield concatenate(pending), number, False

    def _call_batch_size_function(self, number):
        try:
            size = self.size_of(BatchInfo(self.epoch, number))
        except Exception as error:
            raise locate_error(error, "batch_size function") from error
        if not isinstance(size, int | np.integer) or size <= 0:
            raise RuntimeError(
                f"Invalid parameter, batch size function should return an integer greater than 0, but returned "
                f"{size!r}."
            )
        return int(size)

    def chunks(self, hint: Hint) -> Iterator[Chunk]:
        number = 0
        for group, number, full in self._group_rows_into_batches():
            if not full and self.drop_remainder:
                continue
            columns = group.columns
            if self.per_batch is not None:
                columns = self.per_batch(columns, group, self.epoch, number)
            if self.pad is not None:
                columns = self.pad(columns, self.columns)
            batched = Chunk([self._stack_column(c, i)[None] for i, c in enumerate(columns)], 1, number)
            yield batched
        self.epoch += 1

    def _stack_column(self, column, i):
        stacked_rows = column if isinstance(column, np.ndarray) else try_stack(column)
        if stacked_rows is not None:
            return as_batch(stacked_rows, self.columns[i])
        shapes = [r.shape for r in column]
        odd = next((s for s in shapes if s != shapes[0]), None)
        if odd is not None:
            raise RuntimeError(
                f"Invalid data, expect same shape for each data row, but got inconsistent data shapes in column {i} "
                f"({self.columns[i]!r}): {shapes[0]} and {odd}. Make them equal before batch, or pad with pad_info."
            )
        kinds = {r.dtype.kind for r in column}
        if kinds <= {"S", "U"}:
            return np.array(column)
        raise RuntimeError(
            f"Invalid data, expect same type for each data row, but column {i} ({self.columns[i]!r}) has "
            f"{sorted({str(r.dtype) for r in column})}."
        )

    def size(self) -> int | None:
        n = self.children[0].size()
        if n is None or self.size_of is not None:
            return None
        return n // self.batch_size if self.drop_remainder else -(-n // self.batch_size)

    def close(self) -> None:
        pool = getattr(self.per_batch, "pool", None)
        if pool is not None:
            pool.close()
        super().close()

    def describe(self) -> str:
        return f"batch {'by function' if self.size_of else self.batch_size}" + (
            ", drop_remainder" if self.drop_remainder else ""
        )


class Filter(Node):
    """Keeps the rows for which the user's function returns True."""

    def __init__(self, child: "Node", predicate: Callable[..., Any], names: Sequence[str]) -> None:
        super().__init__([child], child.columns)
        self.predicate = predicate
        self.names: Sequence[str] = names or child.columns
        self.inputs: list[int] = [child.index(name, "filter") for name in self.names]

    def chunks(self, hint: Hint) -> Iterator[Chunk]:
        first = 0
        for chunk in self.children[0].chunks(hint):
            indices, number, failure = [], 0, None
            try:
                for number, row in enumerate(zip(*[rows_of(chunk.columns[i]) for i in self.inputs], strict=True)):
                    if self.predicate(*row):
                        indices.append(number)
            except Exception as error:
                failure = locate_error(error, "filter predicate", self.names, chunk.first + number)
                failure.__cause__ = error
            if indices:
                selected = chunk if len(indices) == chunk.n else chunk.pick(indices)
                yield selected.moved(first)
                first += selected.n
            if failure is not None:
                raise failure

    def size(self) -> None:
        return None

    def describe(self) -> str:
        return f"filter on {'+'.join(self.names)}"


class Project(Node):
    """Selects columns, in the order of `names`."""

    def __init__(self, child: "Node", names: Sequence[str]) -> None:
        super().__init__([child], list(names))
        self.pick: list[int] = [child.index(name, "project") for name in names]

    def chunks(self, hint: Hint) -> Iterator[Chunk]:
        for chunk in self.children[0].chunks(hint):
            yield Chunk([chunk.columns[i] for i in self.pick], chunk.n, chunk.first, chunk.origin)

    def describe(self) -> str:
        return f"project {'+'.join(self.columns)}"


class Rename(Node):
    """Renames columns."""

    def __init__(self, child: "Node", old: Sequence[str], new: Sequence[str]) -> None:
        names = list(child.columns)
        indices = [child.index(name, "rename") for name in old]
        for index, name in zip(indices, new, strict=True):
            names[index] = name
        if len(set(names)) != len(names):
            repeated = next(n for n in names if names.count(n) > 1)
            raise RuntimeError(f"Invalid parameter, rename operation would make two columns named {repeated!r}.")
        super().__init__([child], names)

    def chunks(self, hint: Hint) -> Iterator[Chunk]:
        return self.children[0].chunks(hint)

    def describe(self) -> str:
        return f"rename to {'+'.join(self.columns)}"
