"""Access to the samples of the user's Python objects: by index, or one after the other."""

import time
from itertools import chain, islice, repeat

import numpy as np

from msnb.dataset.core.tensor_op import as_array, holds_dict
from msnb.dataset.engine.execution import nodes
from msnb.dataset.engine.execution.chunk import group_rows, stack_if_uniform, try_stack
from msnb.dataset.engine.execution.errors import locate_error
from msnb.dataset.engine.execution.processes import ProcessPool
from msnb.dataset.engine.execution.workers import parallel_map
from msnb.dataset.engine.sources.samples import Samples

_NUMBERS = {bool, int, float, *np.sctypeDict.values()} - {np.bytes_, np.str_, np.void, np.object_}


class RowMaker:
    """Converts a sample of the user's object to a tuple of arrays."""

    def __init__(self, columns, types):
        self.columns = columns
        self.types = types

    def __call__(self, value):
        names = self.columns
        if isinstance(value, tuple):
            items = value
        elif isinstance(value, dict) and not holds_dict(value):
            raise TypeError(
                f"Invalid parameter, Generator should return a tuple of numpy arrays, but returned a dict with keys "
                f"{list(value)}."
            )
        elif isinstance(value, list) or isinstance(value, np.ndarray) and value.ndim > 0 and len(value) == len(names):
            items = tuple(value) if len(value) == len(names) else (value,)
        elif hasattr(value, "__next__"):
            items = tuple(value)
        else:
            items = (value,)
        if len(items) != len(names):
            raise TypeError(
                "Invalid parameter, Generator should return same number of numpy arrays as specified in column names: "
                f"it returned {len(items)} for {names}."
            )
        row = tuple(
            x if isinstance(x, np.ndarray) and x.dtype.kind not in "UO" else self._to_array(x, n)
            for x, n in zip(items, names, strict=True)
        )
        if self.types:
            for array, dtype, name in zip(row, self.types, names, strict=True):
                if dtype is not None and array.dtype != dtype and not (array.dtype.kind == "S" and dtype.kind == "S"):
                    raise TypeError(
                        f"Invalid parameter, input column type is not same with output tensor type: column {name!r} is "
                        f"declared {dtype}, but the generator gives {array.dtype}."
                    )
        return row

    def columns_of(self, values):
        """Return the columns of several samples."""
        columns = self._stack_uniform_rows(values)
        if columns is None:
            columns = [stack_if_uniform(list(c)) for c in zip(*self._convert_samples_to_rows(values), strict=True)]
        return columns

    def _convert_samples_to_rows(self, values):
        """Convert each sample to a tuple of arrays. If a sample cannot be converted, the error's attribute
        ``msnb_results`` contains the tuples of the samples before it."""
        rows = []
        try:
            for value in values:
                rows.append(self(value))
        except Exception as error:
            error.msnb_results = rows
            raise
        return rows

    def before(self, error, values):
        """Return (error, columns, count) for the samples before the one that failed.

        `values` are the samples as the user's object returned them. If one of them is invalid, its error is returned
        instead.
        """
        rows = getattr(error, "msnb_results", None)
        if rows is None:
            try:
                rows = self._convert_samples_to_rows(values)
            except Exception as earlier:
                error, rows = earlier, earlier.msnb_results
        return error, [stack_if_uniform(list(c)) for c in zip(*rows, strict=True)], len(rows)

    def _stack_uniform_rows(self, values):
        """Return the columns of samples that are tuples of uniform arrays and numbers, or None for other samples.

        Numbers are converted by column, without an array per number.
        """
        if set(map(type, values)) != {tuple} or set(map(len, values)) != {len(self.columns)}:
            return None
        out = []
        for number, cells in enumerate(zip(*values, strict=True)):
            kinds = set(map(type, cells))
            kind = kinds.pop()
            if kinds:
                return None
            column = (
                stack_if_uniform(list(cells)) if kind is np.ndarray else np.array(cells) if kind in _NUMBERS else None
            )
            if column is None or isinstance(column, list) or column.dtype.kind not in "biufS":
                return None
            if kind is int and column.dtype != np.int64:  # too large for int64
                return None
            if self.types and self.types[number] not in (None, column.dtype):
                return None
            out.append(column)
        return out

    @staticmethod
    def _to_array(value, name):
        try:
            array = as_array(value)
        except ValueError as error:
            raise TypeError(f"Invalid data type: column {name!r} cannot be made an array: {error}") from None
        if array.dtype == object and not holds_dict(value):
            raise TypeError(
                f"Invalid data type: Generator should return a tuple of numpy arrays, but column {name!r} is "
                f"{type(value).__name__} of Python objects."
            )
        return array


class Batches:
    """The user's object with ``__getitem__``, indexed with lists of sample numbers. Each item is a batch."""

    def __init__(self, source, make, collate=None):
        self.source = source
        self.make = make
        self.collate = collate

    def __len__(self):
        return len(self.source)

    def __getitem__(self, numbers):
        rows = [self.make(self.source[number]) for number in numbers]
        columns = [list(column) for column in zip(*rows, strict=True)]
        collated = tuple(columns) if self.collate is None else self.collate(*columns)
        if not isinstance(collated, tuple) and len(columns) == 1:
            collated = (collated,)
        if not isinstance(collated, tuple) or len(collated) != len(columns):
            actual = f"{len(collated)} of them" if isinstance(collated, tuple) else type(collated).__name__
            raise RuntimeError(
                f"Invalid collate_fn, it should return a tuple of {len(columns)} columns, but returned {actual}."
            )
        return tuple(map(self._stack_column, collated, self.make.columns, [len(rows)] * len(collated)))

    @staticmethod
    def _stack_column(column, name, count):
        if isinstance(column, np.ndarray):
            return column
        if len(column) != count:
            raise RuntimeError(
                f"Invalid collate_fn, column {name!r} expects {count} rows in its list, but gets {len(column)}."
            )
        stacked = try_stack([np.asarray(row) for row in column]) if count else None
        if stacked is None:
            shapes = sorted({np.shape(row) for row in column})
            raise RuntimeError(
                f"Invalid data, expect same shape for each data row, but column {name!r} of the batch has {shapes}. "
                "Make them equal, or pass a collate_fn that does."
            )
        return stacked


class Sequence(Samples):
    """Samples of the user's object with ``__getitem__``."""

    random_access = False
    is_cacheable = False
    advice = "More num_parallel_workers of GeneratorDataset help where there are processors left."

    def __init__(self, source, make, workers, processes):
        super().__init__("GeneratorDataset", len(source))
        self.source = source
        self.make = make
        self.workers = workers
        self._pool = ProcessPool([self.one], workers) if processes and workers > 1 else None

    def one(self, number):
        """Return the sample with the index `number`."""
        return self.make(self.source[number])

    def fetch(self, numbers):
        """Return the columns of the samples with the indices `numbers`."""
        values = []
        numbers = numbers.tolist() if numbers.ndim == 1 else list(numbers)
        try:
            if self.workers > 1 and len(numbers) > 1:
                values = self._fetch_in_parallel(numbers)
                return [stack_if_uniform(list(c)) for c in zip(*values, strict=True)]
            source = self.source
            for number in numbers:
                values.append(source[number])
            return self.make.columns_of(values)
        except Exception as raised:
            error, columns, n = self.make.before(raised, values)
            at = numbers[n] if n < len(numbers) else ""
            location = f"{type(self.source).__name__}[{at}] of GeneratorDataset"
            failure = locate_error(error, location, self.make.columns)
            failure.before = columns, n
            raise failure from error

    def _fetch_in_parallel(self, numbers):
        if self._pool is not None:
            return self._pool.map([(n,) for n in numbers])
        return parallel_map(self.one, [(n,) for n in numbers], min(self.workers, len(numbers)))

    def close(self):
        """End the worker processes."""
        if self._pool is not None:
            self._pool.close()


class SequenceSource(nodes.IndexSource):
    """Plan node that reads a `Sequence`. It owns the worker processes."""

    def close(self):
        self.source.close()


def _raise_when_iterated(error):
    raise error
    yield


def read_ahead(iterator, rows=16, seconds=0.001):
    """Read up to `rows` items for up to `seconds`, and return an iterator over these and the remaining items.

    In MindSpore a generator runs ahead of the loop over its rows, and programs rely on it unknowingly: for example, if
    the loop variable has the name of a variable that the generator reads.
    """
    ready, deadline = [], time.perf_counter() + seconds
    remaining = map(next, repeat(iterator))  # does not call its __iter__ again, which may restart a user's iterator
    try:
        for value in remaining:
            ready.append(value)
            if len(ready) >= rows or time.perf_counter() > deadline:
                return chain(ready, remaining)
    except Exception as error:  # the rows before it are returned first
        return chain(ready, _raise_when_iterated(error))
    return iter(ready)


class Stream:
    """The user's iterable or generator function."""

    advice = (
        "One thread runs it, whatever num_parallel_workers says; several workers can fetch the samples of an object "
        "with __getitem__ and __len__."
    )

    def __init__(self, source, make, limit, length):
        self.source = source
        self.make = make
        self.limit = limit
        self.length = length

    def _open_iterator(self):
        try:
            return iter(self.source)
        except TypeError:
            return iter(self.source())

    def skip_epoch(self):
        """Do nothing: the user's rows use no random numbers of the pipeline."""

    def stream(self, hint):
        """Yield (columns, number of rows)."""
        done = 0
        limit = -1 if self.limit is None else self.limit
        if limit == 0:
            return
        try:
            values = read_ahead(self._open_iterator(), 16 if limit < 0 else min(16, limit))
            for group in group_rows(values if limit < 0 else islice(values, limit), hint):
                columns = self.make.columns_of(group)
                done += len(group)
                yield columns, len(group)
        except Exception as raised:
            error, columns, n = self.make.before(raised, [])
            if n:
                yield columns, n
            raise locate_error(error, "GeneratorDataset", self.make.columns, done + n) from error
        if self.length is not None and done != self.length:
            raise RuntimeError(
                f"The actual amount of data read from generator {done} is different from generator.len {self.length}, "
                "you should adjust generator.len to make them match."
            )

    def size(self):
        """Return the rows per epoch, if the user's object has a length."""
        return self.length

    def describe(self):
        """Return the line that describes this source in a printed plan."""
        return f"GeneratorDataset ({_describe_source(self.source)})"


def _describe_source(source):
    """Return the name and line of a function, or the class of another object."""
    code = getattr(source, "__code__", None)
    if code is None:
        return type(source).__name__
    return f"{source.__name__}(), line {code.co_firstlineno}"
