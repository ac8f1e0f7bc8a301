"""MindRecord files as a data set."""

from typing import Annotated

import numpy as np

from msnb.common.kinds import check, checked
from msnb.core.operator import api_generations
from msnb.dataset.core.kinds import File, Int, NumSamples, Text, Workers, of_type
from msnb.dataset.engine import samplers
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.execution.chunk import stack_if_uniform
from msnb.dataset.engine.execution.record_sampling import FileOrder
from msnb.dataset.engine.sources.base import Shuffle
from msnb.dataset.engine.sources.mappable import MappableDataset, Sampling
from msnb.dataset.engine.sources.samples import Samples
from msnb.dataset.engine.sources.streamed import StreamShuffled
from msnb.mindrecord._reader import Records
from msnb.mindrecord.common.exceptions import MindRecordException

_BYTES_AHEAD = 1 << 20  # size of the rows that are decoded together


class _RecordSamples(Samples):
    def __init__(self, records, columns, padded, num_padded, class_column):
        super().__init__("MindDataset", len(records) + num_padded)
        self.records = records
        self.columns = columns
        self.padded = padded
        size = records.row_bytes(columns)
        # Rows of one size are decoded in batches, and may be cached.
        self.costly = bool(size)
        self.ahead = max(1, min(512, _BYTES_AHEAD // size)) if size else 1
        if class_column is not None:
            self.class_ids = lambda: self._compute_class_ids(class_column)

    def _compute_class_ids(self, column):
        if column not in self.records.schema or column in self.records.fields.blobs:
            raise RuntimeError(
                f"MindRecordOp launch failed: class_column {column!r} is no scalar field; the schema has "
                f"{list(self.records.schema)}."
            )
        return np.unique(np.array(self.records.values(column)), return_inverse=True)[1]

    def fetch(self, numbers):
        """Return the columns of the samples with the indices `numbers`."""
        try:
            return self._read_columns(numbers)
        except MindRecordException as error:
            raise RuntimeError(error.error_msg) from None

    def _read_columns(self, numbers):
        record_count = len(self.records)
        if len(numbers) > 1 and (self.padded is None or (numbers < record_count).all()):
            return [stack_if_uniform(c) for c in self.records.columns(numbers, self.columns)]
        get = self.records.arrays
        rows = [get(n, self.columns) if n < record_count else self.padded for n in numbers.tolist()]
        return [stack_if_uniform(list(c)) for c in zip(*rows, strict=True)]


class MindDataset(MappableDataset):
    """Data set of the rows of MindRecord files, with a column for each field.

    Args:
        dataset_file (Union[str, list[str]]): A file, whose other shards are read too, or a list of files.
        columns_list (list[str], optional): Fields to read. Default: None, all, in the order of their names.
        num_parallel_workers (int, optional): Number of workers. Default: None, the number in ``dataset.config``.
        shuffle (Union[bool, Shuffle], optional): True or ``Shuffle.GLOBAL`` for a random order. In MindSpore 2 also
            ``Shuffle.FILES`` for the files in random order, each in its own order, and ``Shuffle.INFILE`` for the
            files in their order, each shuffled; both exclude `num_samples`. Default: None, which means True.
        num_shards (int, optional): Number of shards that the rows are divided into. Default: None.
        shard_id (int, optional): Index of this shard. Default: None.
        sampler (Sampler, optional): Selects and orders the rows; cannot be combined with `shuffle` or shards. Default:
            None.
        padded_sample (dict, optional): A row to add, a dict of field to value. It needs `columns_list` and
            `num_padded`.
            Default: None.
        num_padded (int, optional): Number of times that `padded_sample` is added. Default: None.
        num_samples (int, optional): Maximal number of rows. Default: None, which means all.
        cache (DatasetCache, optional): Cache of the rows. Default: None.
        dataset_files (Union[str, list[str]], optional): MindSpore 2's name of `dataset_file`.

    Raises:
        ValueError: If a file does not exist or an argument is out of range.
        RuntimeError: If arguments exclude each other, or a file is not a MindRecord file.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.MindDataset("test.mindrecord", columns_list=["data", "label"])
    """

    of_records = True

    @checked
    def __init__(
        self,
        dataset_file: str | list[str] | None = None,
        columns_list: Annotated[list[str], of_type(list)] | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: StreamShuffled | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        sampler: Sampling | None = None,
        padded_sample: Annotated[dict, of_type(dict)] | None = None,
        num_padded: Int | None = None,
        num_samples: NumSamples | None = None,
        cache: Cache | None = None,
        *,
        dataset_files: str | list[str] | None = None,
    ) -> None:
        if (dataset_file is None) == (dataset_files is None):
            raise TypeError("MindDataset needs 'dataset_file', which MindSpore 2 calls 'dataset_files', and not both.")
        if dataset_file is None:
            dataset_file = dataset_files
        files = dataset_file if isinstance(dataset_file, list) else [dataset_file]
        if len(files) > 4096:
            raise ValueError(f"length of dataset_file should less than or equal to 4096, but got {len(files)}.")
        for file in files:
            check(File, file, "dataset_file", "MindDataset")
        self._file_order = shuffle if shuffle in (Shuffle.FILES, Shuffle.INFILE) else None
        if self._file_order is not None:
            if api_generations.shared == 1:
                raise ValueError(
                    "For 'MindDataset', 'shuffle' should be bool: rows are shuffled over all files, or read in their "
                    "order."
                )
            if num_samples is not None:
                raise ValueError(
                    "'Shuffle.FILES' or 'Shuffle.INFILE' and 'num_samples' cannot be specified at the same time."
                )
        self._check_padding_arguments(columns_list, padded_sample, num_padded)
        if sampler is not None and not isinstance(
            sampler,
            samplers.SubsetSampler
            | samplers.PKSampler
            | samplers.DistributedSampler
            | samplers.RandomSampler
            | samplers.SequentialSampler,
        ):
            raise ValueError(f"The sampler is not supported yet: {type(sampler).__name__}.")
        if isinstance(shuffle, Shuffle):
            shuffle = self._file_order is None
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self.dataset_file = dataset_file
        self.load_dataset: bool = not isinstance(dataset_file, list)
        self.columns_list: list[str] = columns_list or []
        self.padded_sample = padded_sample
        self.num_padded: int = num_padded or 0

    @staticmethod
    def _check_padding_arguments(columns_list, padded_sample, num_padded):
        required = {"num_padded": num_padded, "columns_list": columns_list}
        if padded_sample is None:
            if num_padded is not None:
                raise RuntimeError("num_padded is specified but padded_sample is not.")
            return
        for name, value in required.items():
            if value is None:
                raise RuntimeError(f"padded_sample is specified and requires {name} as well.")
        if num_padded < 0:
            raise ValueError(f"num_padded is invalid, num_padded={num_padded}.")
        absent = [column for column in columns_list if column not in padded_sample]
        if absent:
            raise ValueError(f"padded_sample cannot match columns_list: it has no {absent[0]!r}.")

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self.columns_list or list(self._get_samples().records.schema)

    def _load_samples(self):
        try:
            records = Records(self.dataset_file)
            records.check_columns(self.columns_list)
        except MindRecordException as error:
            raise RuntimeError(f"MindRecordOp init failed: {error.error_msg}") from None
        columns = self.columns_list or list(records.schema)
        rows = len(records) + self.num_padded
        if self.num_padded and (self.num_shards or 1) > 1 and rows % self.num_shards:
            raise RuntimeError(
                f"MindRecordOp launch failed: {len(records)} rows and num_padded {self.num_padded} cannot be divided "
                f"by "
                f"num_shards {self.num_shards}."
            )
        column = self.sampler.class_column if isinstance(self.sampler, samplers.PKSampler) else None
        if column is not None:
            check(Text, column, "class_column", "MindDataset")
        return _RecordSamples(records, columns, self._make_padding_row(records, columns), self.num_padded, column)

    def _open_sampler(self, samples):
        running = super()._open_sampler(samples)
        if self._file_order is None:
            return running
        return FileOrder(running.top, samples.records.ends, self._file_order is Shuffle.FILES)

    def use_sampler(self, new_sampler) -> None:
        """Replace the present sampler, and the order of files, by `new_sampler`."""
        super().use_sampler(new_sampler)
        self._file_order = None

    def is_shuffled(self) -> bool:
        """Return True if the order is random."""
        return self._file_order is not None or super().is_shuffled()

    def _make_padding_row(self, records, columns):
        if self.padded_sample is None:
            return None
        row = []
        for name in columns:
            value, kind = self.padded_sample[name], records.schema[name]
            if "shape" in kind:
                array = np.asarray(
                    np.frombuffer(value, kind["type"]) if isinstance(value, bytes) else value, kind["type"]
                )
                row.append(array.reshape(kind["shape"]))
            elif kind["type"] == "bytes":
                row.append(np.frombuffer(value.tobytes() if isinstance(value, np.ndarray) else bytes(value), np.uint8))
            elif kind["type"] == "string":
                row.append(np.array(value if isinstance(value, bytes) else str(value).encode("utf-8")))
            else:
                row.append(np.array(value, kind["type"]))
        return row
