"""Data sets of Python objects: generators, sequences, arrays."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated

import numpy as np

from msnb import log
from msnb.common.kinds import Worded, check, checked
from msnb.dataset.core.datatypes import numpy_type
from msnb.dataset.core.kinds import (
    Columns,
    Flag,
    Int,
    NoEnd,
    NumSamples,
    PositiveInt32,
    Workers,
    as_list,
    list_of,
    of_type,
)
from msnb.dataset.core.shares import warn_undivided
from msnb.dataset.core.tensor_op import as_array
from msnb.dataset.engine import samplers
from msnb.dataset.engine.dataset import Dataset
from msnb.dataset.engine.execution import nodes
from msnb.dataset.engine.operations.splitting import Shares
from msnb.dataset.engine.schema import Schema
from msnb.dataset.engine.sources.mappable import MappableDataset, Shuffled
from msnb.dataset.engine.sources.python_rows import Batches, RowMaker, Sequence, SequenceSource, Stream
from msnb.dataset.engine.sources.samples import ArraySamples

if TYPE_CHECKING:  # used only in annotations
    from msnb.dataset.engine.samplers import RandomSampler, SequentialSampler


def _check_source(source, name):
    if not callable(source):
        try:
            iter(source)
        except TypeError:
            raise TypeError(
                f"{name} should be callable, iterable or random accessible, but got {type(source).__name__}."
            ) from None
    return source


def _check_schema(schema, name):
    if isinstance(schema, Schema | str):
        return schema
    raise ValueError(f"{name} should be a path to schema file or a schema object.")


def _check_sampler(sampler, name):
    if isinstance(sampler, samplers.PKSampler):
        raise ValueError("GeneratorDataset doesn't support PKSampler.")
    is_sampler = isinstance(sampler, samplers.BuiltinSampler | samplers.Sampler)
    if not is_sampler and not hasattr(sampler, "__iter__") and not hasattr(sampler, "__getitem__"):
        raise TypeError(f"{name} should be either iterable or from mindspore.dataset.samplers.")
    return sampler


def _check_shards(num_shards, shard_id):
    """Check that both arguments or none are set, and that `shard_id` is in range."""
    if (num_shards is None) != (shard_id is None):
        raise ValueError("num_shards and shard_id need to be passed in together.")
    if num_shards is not None:
        check(PositiveInt32, num_shards, "num_shards", "GeneratorDataset")
        if not 0 <= shard_id < num_shards:
            raise ValueError(f"shard_id should be less than num_shards, but got {shard_id} of {num_shards}.")


def _check_batch_sampler(batches, name):
    if isinstance(batches, samplers.BuiltinSampler) or not hasattr(batches, "__iter__"):
        raise TypeError(f"{name} should be an iterable over lists of sample numbers, but got {type(batches).__name__}.")
    return batches


def _check_collate_function(function, name):
    if not callable(function):
        raise TypeError(f"{name} should be callable.")
    return function


def _check_batching_arguments(source, batch_sampler, collate_fn, excluded):
    if batch_sampler is None:
        if collate_fn is not None:
            raise ValueError("collate_fn can be specified only when batch_sampler is set.")
        return
    if any(value is not None for value in excluded):
        raise ValueError(
            "batch_sampler is mutually exclusive with num_samples, shuffle, num_shards, shard_id and sampler."
        )
    if not hasattr(source, "__getitem__"):
        raise ValueError("batch_sampler is not supported if source does not have attribute '__getitem__'.")


Batching = Annotated[Iterable, Worded("an iterable over lists of sample numbers", _check_batch_sampler)]
Source = Annotated[Callable | Iterable, Worded("a function, an iterable or a sequence", _check_source)]
SchemaOrPath = Annotated[str | Schema, Worded("a schema or its file", _check_schema)]
AnySampling = Annotated[samplers.BuiltinSampler | samplers.Sampler | Iterable, Worded("a sampler", _check_sampler)]


class GeneratorDataset(MappableDataset):
    """Data set of the samples that a Python object of the user yields.

    Args:
        source (Union[Callable, Iterable, Random Accessible]): A function that returns an iterator, an iterable object,
            or an object with ``__getitem__`` and ``__len__``. Each sample is a tuple of numpy arrays.
        column_names (Union[str, list[str]], optional): Names of the columns. Default: None, from `schema`.
        column_types (list[mindspore.dtype], optional): Types the columns must have. Default: None, any.
        schema (Union[Schema, str], optional): Replaces `column_names` and `column_types`. Default: None.
        num_samples (int, optional): Maximal number of samples. Default: None, all.
        num_parallel_workers (int, optional): Workers that fetch samples of an object with ``__getitem__``. Default: 1.
        shuffle (bool, optional): Whether the order is random; needs ``__getitem__``. Default: None, True where
            possible.
        sampler (Union[Sampler, Iterable], optional): Selects and orders the samples; needs ``__getitem__``. Default:
            None.
        num_shards (int, optional): Number of shards; needs ``__getitem__``. Default: None.
        shard_id (int, optional): Index of this shard. Default: None.
        python_multiprocessing (bool, optional): Whether several workers are processes rather than threads. Default:
            True.
        max_rowsize (int, optional): No effect: processes pass rows of any size. Default: 6.
        batch_sampler (Iterable, optional): Lists of sample numbers, each of which becomes a batch; needs
            ``__getitem__`` and excludes `num_samples`, `shuffle`, `sampler` and shards. Default: None.
        collate_fn (Callable, optional): Takes a list of arrays for each column and returns the columns of the batch. A
            returned array is the batch; a returned list contains its rows. Default: None, the rows are stacked.

    Raises:
        TypeError: If `source` is no function, iterable or sequence.
        ValueError: If arguments exclude each other.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset as ds
        >>> def squares():
        ...     for i in range(64):
        ...         yield (np.array([i * i]),)
        >>> dataset = ds.GeneratorDataset(squares, ["square"])
    """

    exclusive = False

    @checked
    def __init__(
        self,
        source: Source,
        column_names: Columns | None = None,
        column_types: Annotated[list, of_type(list)] | None = None,
        schema: SchemaOrPath | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = 1,
        shuffle: Shuffled | None = None,
        sampler: AnySampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        python_multiprocessing: bool = True,
        max_rowsize: NoEnd | None = 6,
        batch_sampler: Batching | None = None,
        collate_fn: Annotated[Callable, Worded("a function", _check_collate_function)] | None = None,
    ):
        _check_batching_arguments(
            source, batch_sampler, collate_fn, (num_samples, shuffle, num_shards, shard_id, sampler)
        )
        indexed = hasattr(source, "__getitem__") and hasattr(source, "__len__")
        if column_names is None and schema is None:
            raise ValueError("Neither columns_names nor schema are provided.")
        _check_shards(num_shards, shard_id)
        for name, value in (("sampler", sampler), ("num_shards", num_shards)):
            if value is not None and not hasattr(source, "__getitem__"):
                raise ValueError(f"{name} is not supported if source does not have attribute '__getitem__'.")
        if batch_sampler is not None:
            sampler, sampler_num_samples, shuffle = samplers.BatchesSampler(batch_sampler), None, None
        elif sampler is not None and not isinstance(sampler, samplers.BuiltinSampler | samplers.Sampler):
            sampler, sampler_num_samples, shuffle = samplers.IterSampler(sampler, num_samples), None, None
        else:
            sampler_num_samples = num_samples
        self.divisible: bool = self.divisible and indexed
        super().__init__(
            sampler_num_samples if indexed else None, num_parallel_workers, shuffle, sampler, num_shards, shard_id
        )
        if not indexed:
            self.num_samples = num_samples
            warn_undivided()
            self.sampler: RandomSampler | SequentialSampler = (
                samplers.RandomSampler() if shuffle is not False else samplers.SequentialSampler()
            )
        self.source = source
        self.column_names: list[str] = as_list(column_names) or []
        self.column_types: list[np.dtype | None] = (
            [None if t is None else numpy_type(t) for t in column_types] if column_types else []
        )
        self.schema = schema
        if schema is not None:
            self.schema = schema if isinstance(schema, Schema) else Schema(schema)
            self.column_names: list[str] = self.schema.names()
        self.python_multiprocessing: bool = python_multiprocessing
        log.unused("GeneratorDataset", "processes pass rows of any size", max_rowsize=max_rowsize not in (6, None))
        self._indexed = indexed
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn
        if hasattr(source, "__len__") and not indexed:
            self.dataset_size: int = len(source) if num_samples is None else min(len(source), num_samples)

    def get_col_names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self.column_names)

    @checked
    def split(self, sizes: Shares, randomize: Flag = True) -> tuple[Dataset, ...]:
        """Split the data set into parts that do not overlap; see :meth:`Dataset.split`."""
        if self._indexed:
            return super().split(sizes, randomize)
        if self._is_single_pass():
            raise RuntimeError(
                "dataset_size is unknown, unable to split: the source is an iterator, which can be read only once. "
                "Give GeneratorDataset the function that makes it."
            )
        return Dataset.split(self, sizes, randomize)  # samplers cannot select rows of an iterable

    def _compute_batch_size(self):
        return 1 if self.batch_sampler is None else -1  # the batches of a sampler may differ in size

    def _is_single_pass(self):
        return not hasattr(self.source, "__len__") and hasattr(self.source, "__next__")

    def _make_plan_node(self, children):
        make = RowMaker(self.column_names, self.column_types)
        if self._indexed:
            source = self.source
            if self.batch_sampler is not None:
                source = Batches(source, make, self.collate_fn)
            samples = Sequence(source, make, self.num_parallel_workers or 1, self.python_multiprocessing)
            return SequenceSource(samples, self.sampler.open(samples.rows), self.column_names)
        length = None
        if hasattr(self.source, "__len__"):
            length = len(self.source) if self.num_samples is None else min(len(self.source), self.num_samples)
        return nodes.StreamSource(Stream(self.source, make, self.num_samples, length), self.column_names)


class NumpySlicesDataset(MappableDataset):
    """Data set whose samples are the slices of arrays along their first axis.

    Args:
        data (Union[list, tuple, dict, np.ndarray]): One array (or list), a tuple of them, or a dict of column name to
            array.
        column_names (Union[str, list[str]], optional): Names of the columns. Default: None, the dict's keys, or
            column_0, column_1, ...
        num_samples (int, optional): Maximal number of samples. Default: None, all.
        num_parallel_workers (int, optional): Accepted; slicing needs none. Default: 1.
        shuffle (bool, optional): Whether the order is random. Default: None, True.
        sampler (Union[Sampler, Iterable], optional): Selects and orders the samples. Default: None.
        num_shards (int, optional): Number of shards that the samples are divided into. Default: None.
        shard_id (int, optional): Index of this shard. Default: None.

    Raises:
        ValueError: If `data` is empty, its columns differ in length, or names do not fit.
        TypeError: If an argument has the wrong type.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.NumpySlicesDataset({"a": [1, 2], "b": [3, 4]}, shuffle=False)
    """

    exclusive = False

    @checked
    def __init__(
        self,
        data: Annotated[list | tuple | dict | np.ndarray, of_type(list, tuple, dict, np.ndarray)],
        column_names: Columns | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = 1,
        shuffle: Shuffled | None = None,
        sampler: AnySampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
    ):
        width = len(data) if isinstance(data, tuple | dict) else min(len(data), 1)
        if width == 0:
            raise ValueError("Argument data cannot be empty")
        first = data[0] if isinstance(data, tuple) else []
        of_type(list, np.ndarray)(first, "data[0]")
        if column_names is not None and (name_count := len(as_list(column_names))) != width:
            raise ValueError(f"Num of input column names is {name_count}, but required is {width}.")
        _check_shards(num_shards, shard_id)
        if sampler is not None and not isinstance(sampler, samplers.BuiltinSampler | samplers.Sampler):
            sampler, num_samples = samplers.IterSampler(sampler, num_samples), None
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id)
        names = as_list(column_names)
        if isinstance(data, dict):
            names = names or list(data)
            data = tuple(data.values())
        elif not isinstance(data, tuple):
            data = (data,)
        self.columns: list[str] = names or [f"column_{i}" for i in range(len(data))]
        arrays = [self._to_column_array(d, n) for d, n in zip(data, self.columns, strict=True)]
        if len({len(a) for a in arrays}) > 1:
            raise ValueError(
                f"Data length in each column is not equal: {dict(zip(self.columns, map(len, arrays), strict=True))}."
            )
        self.column_names: list[str] = list(self.columns)
        self._arrays = arrays

    @staticmethod
    def _to_column_array(data, name):
        values = (
            data
            if isinstance(data, np.ndarray)
            else data.values
            if hasattr(data, "values") and not callable(data.values)
            else list(data)
        )
        try:
            array = as_array(values)
        except ValueError:  # the rows differ in shape
            array = [NumpySlicesDataset._to_row_array(row, name) for row in values]
        if isinstance(array, np.ndarray) and array.dtype == object:
            raise TypeError(
                f"Invalid data type: column {name!r} holds Python objects, not numbers or strings of one shape."
            )
        return array

    @staticmethod
    def _to_row_array(row, name):
        try:
            return as_array(row)
        except ValueError as error:
            raise ValueError(f"A row of the column {name!r} cannot be made an array: {error}") from None

    def _load_samples(self):
        return ArraySamples("NumpySlicesDataset", self._arrays)


class PaddedDataset(GeneratorDataset):
    """Data set of samples that are appended to another one, so that it divides into equal shards.

    Args:
        padded_samples (list(dict)): The samples, column name to array.

    Raises:
        ValueError: If there is none.
        TypeError: If `padded_samples` is no list of dicts.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset as ds
        >>> dataset = ds.PaddedDataset([{"image": np.zeros(1, np.uint8)}, {"image": np.zeros(2, np.uint8)}])
    """

    divisible = False

    @checked
    def __init__(self, padded_samples: Annotated[list[dict], list_of(dict, containers=(list,))]):
        if not padded_samples:
            raise ValueError("padded_samples cannot be empty.")
        names = list(padded_samples[0])
        super().__init__([tuple(s[n] for n in names) for s in padded_samples], column_names=names, shuffle=False)
        self.padded_samples = padded_samples
        self.dataset_size: int = len(padded_samples)
