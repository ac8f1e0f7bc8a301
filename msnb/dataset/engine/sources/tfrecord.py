"""TFRecord files: framed protobuf messages ``tf.train.Example``, read without TensorFlow."""

import math
from functools import partial
from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import Worded, check, checked
from msnb.dataset.core.datatypes import numpy_type
from msnb.dataset.core.kinds import File, Flag, Int, NumSamples, Workers, of_type, one_of
from msnb.dataset.core.streams import Mt32
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.schema import Schema, load
from msnb.dataset.engine.sources.base import Shuffle
from msnb.dataset.engine.sources.streamed import RowStream, StreamDataset, StreamShuffled
from msnb.formats.protobuf import WireError
from msnb.formats.text_files import BadFileError
from msnb.mindrecord._example import count_records, examples, is_tfrecord, values_of

_MAX_PADDED_BYTES = 1 << 31  # limit for one column of one row


class _UnfitError(RuntimeError):
    """Error of a feature that does not fit its column. The reader adds the file and the record to the message."""


class _Column:
    """Column of the data set: converts a feature of an Example to an array."""

    def __init__(self, name, dtype, shape, rank):
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.rank = rank

    def array(self, data, features):
        """Return the array of the column's feature in the payload `data`. Raise WireError or _UnfitError."""
        if self.name not in features:
            raise _UnfitError(f"Invalid data, column name: {self.name} does not exist.")
        kind, values = values_of(data, features[self.name])
        if kind is None:
            raise _UnfitError(
                f"Invalid data, column {self.name!r}: tf_file column type must be uint8, int64 or float32."
            )
        if kind == "bytes":
            return self._bytes_to_array(values)
        if kind == "float" and self.dtype.kind != "f":
            raise _UnfitError(
                f"Invalid data, invalid data type for Tensor at column: {self.name}, data type should be float32, but "
                f"got "
                f"{self.dtype}."
            )
        if kind == "int64" and self.dtype.kind not in "iu":
            raise _UnfitError(
                f"Invalid data, invalid datatype for Tensor at column: {self.name}, data type should be uint64, "
                f"int64, uint32, "
                f"int32, uint16, int16, uint8 or int8, but got {self.dtype}."
            )
        return values.astype(self.dtype).reshape(self._compute_array_shape(len(values)))

    def _bytes_to_array(self, values):
        if self.dtype.kind == "S":
            return np.array(values).reshape(self._compute_array_shape(len(values)))
        if self.dtype.itemsize != 1:
            raise _UnfitError(
                f"Invalid data, invalid data type for Tensor at column: {self.name}, data type should be int8, uint8 "
                f"or string, "
                f"but got {self.dtype}."
            )
        longest = max(map(len, values), default=0)
        size = longest
        shape = self.shape
        if shape:
            if len(shape) >= 2 and shape[0] == -1:
                if -1 in shape[1:]:
                    raise _UnfitError(
                        f"Invalid data, more than one unknown dimension in the shape of column: {self.name}"
                    )
                size = math.prod(shape[1:])
                if size * len(values) > _MAX_PADDED_BYTES:
                    raise _UnfitError(
                        f"Invalid data, column {self.name!r}: its shape {shape} would fill {len(values)} values up to "
                        f"{size} bytes each, more than {_MAX_PADDED_BYTES} together."
                    )
            elif -1 not in shape and math.prod(shape) != longest:
                total = math.prod(shape)
                raise _UnfitError(
                    f"Shape in schema's column '{self.name}' is incorrect.\nshape received: {shape}\ntotal elements "
                    f"in shape "
                    f"received: {total}\nexpected total elements in shape: {longest}"
                )
        joined = b"".join(v.ljust(size, b"\0") for v in values)
        return np.frombuffer(joined, self.dtype).reshape(self._compute_array_shape(len(joined)))

    def _compute_array_shape(self, count):
        shape = self.shape
        if shape is None:
            return () if self.rank == 0 and count == 1 else (count,)
        if not shape:
            return () if count == 1 else (count,)
        fixed_size = math.prod(d for d in shape if d != -1)
        if list(shape).count(-1) > 1:
            raise _UnfitError(f"Requested shape has more than one unknown dimension! Column {self.name!r}: {shape}.")
        if fixed_size == 0 or count < fixed_size or count % fixed_size or -1 not in shape and count != fixed_size:
            raise _UnfitError(
                f"Requested shape has an invalid element count! Column {self.name!r}: shape {shape}, but {count} "
                f"elements."
            )
        return tuple(count // fixed_size if d == -1 else d for d in shape)


class _ExampleStream(RowStream):
    """Stream of rows from Examples. Shards consist of files, or of rows if `equal_rows` is set."""

    equal_rows = False

    def pieces(self):
        """Yield (file, rows to skip, rows to read) of the next epoch."""
        if self.equal_rows or self.num_shards == 1:
            yield from super().pieces()
            return
        self.epoch += 1
        if self.shuffle_files:
            Mt32(self.epoch).shuffle(self.order)
        yield from ((self.files[number], 0, None) for number in self.order[self.shard_id :: self.num_shards])

    def size(self):
        """Return the number of rows per epoch."""
        if self.num_samples:
            return min(self.num_samples, self.shard_size())
        return self.shard_size()


def _check_files(files, name):
    if isinstance(files, str | list):
        return files
    raise TypeError(f"{name} should be type str or a list of strings.")


Records = Annotated[str | list[str], Worded("a file or a list of files", _check_files)]


class TFRecordDataset(StreamDataset):
    """The Examples of TFRecord files; a column per feature.

    Args:
        dataset_files (Union[str, list[str]]): Files, or patterns of file names.
        schema (Union[str, Schema], optional): Names, types and shapes of the columns: a JSON file or a Schema. Default:
            None, the features of the first record, where bytes become uint8.
        columns_list (list[str], optional): Columns to read. Default: None, which means all.
        num_samples (int, optional): Maximal number of rows. Default: None, all, or the schema's ``numRows``.
        num_parallel_workers (int, optional): Number of workers. Default: None, the number in ``dataset.config``.
        shuffle (Union[bool, Shuffle], optional): False for the order of the files, ``Shuffle.FILES`` for the files in
            random order, True or ``Shuffle.GLOBAL`` for rows in random order too. Default: ``Shuffle.GLOBAL``.
        num_shards (int, optional): Number of shards that the files are divided into. Default: None.
        shard_id (int, optional): Index of this shard. Default: None.
        shard_equal_rows (bool, optional): True to divide rows instead of files among the shards, so that shards are
            equal. Default: False.
        cache (DatasetCache, optional): Cache of the rows. Default: None.
        compression_type (str, optional): Compression of the files: 'GZIP', 'ZLIB' or '' for none. Default: None, ''.

    Raises:
        ValueError: If no file matches or an argument is out of range.
        RuntimeError: If arguments exclude each other, or a file is not a TFRecord file.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.TFRecordDataset(["train.tfrecord"], shuffle=False)
    """

    @checked
    def __init__(
        self,
        dataset_files: Records,
        schema: str | Schema | None = None,
        columns_list: Annotated[list[str], of_type(list)] | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: StreamShuffled = Shuffle.GLOBAL,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        shard_equal_rows: Flag | None = False,
        cache: Cache | None = None,
        compression_type: Annotated[str, one_of("", "GZIP", "ZLIB")] | None = None,
    ) -> None:
        super().__init__(dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        if schema is not None and not isinstance(schema, Schema | str):
            raise TypeError(
                f"schema should be a path to schema file or a schema object, but got {type(schema).__name__}."
            )
        self.schema = schema
        self.columns_list: list[str] = columns_list or []
        # Processes must have the same number of steps, so their shards are equal.
        self.shard_equal_rows: bool = bool(shard_equal_rows) or self._divided
        self.compression_type: str = compression_type or ""
        content = self._get_schema_content()
        if num_samples is None and content.get("numRows", 0) > 0:
            self.num_samples: Any = content["numRows"]
        bad = [f for f in self.dataset_files if not is_tfrecord(f, self.compression_type)]
        self._bad = bad

    def _get_schema_content(self):
        if isinstance(self.schema, str):
            check(File, self.schema, "schema", "TFRecordDataset")
            return load(self.schema)
        if isinstance(self.schema, Schema):
            return {"columns": self.schema.columns, "numRows": self.schema.num_rows}
        return {}

    def _load_columns(self):
        if "columns" in self._shared:
            return self._shared["columns"]
        content = self._get_schema_content()
        if content:
            described = content["columns"]
            # The columns of a JSON object are sorted by name, as in MindSpore.
            entries = [(c["name"], c) for c in described] if isinstance(described, list) else sorted(described.items())
            columns = [_Column(n, numpy_type(c["type"]), c.get("shape"), c.get("rank", 1)) for n, c in entries]
            if self.columns_list:
                by_name = {c.name: c for c in columns}
                missing = [n for n in self.columns_list if n not in by_name]
                if missing:
                    raise RuntimeError(
                        f"Invalid data, failed to find column name: {missing[0]} in the schema, which has "
                        f"{list(by_name)}."
                    )
                columns = [by_name[n] for n in self.columns_list]
        else:
            columns = self._infer_columns_from_first_record()
        self._shared["columns"] = columns
        return columns

    def _infer_columns_from_first_record(self):
        path = self.dataset_files[0]
        _, data, first = next(examples(path, self.compression_type), (0, b"", {}))
        types = {"bytes": np.uint8, "float": np.float32, "int64": np.int64}
        columns = []
        for name in self.columns_list or sorted(first):
            if name not in first:
                raise RuntimeError(
                    f"Invalid data, failed to find column name: {name}. The first record of {path!r} has "
                    f"{sorted(first)}."
                )
            try:
                kind, _ = values_of(data, first[name])
            except WireError as error:
                raise _make_damaged_record_error(path, 0, error) from None
            if kind is None:
                raise RuntimeError(
                    f"Invalid data, column {name!r} of {path!r}: tf_file column type must be uint8, int64 or float32."
                )
            columns.append(_Column(name, np.dtype(types[kind]), None, 1))
        return columns

    def _get_column_names(self):
        return [c.name for c in self._load_columns()]

    def _make_stream(self):
        if self._bad:
            raise RuntimeError(
                "Invalid file, the following files either cannot be opened, or are not valid tfrecord files:\n"
                + "\n".join(self._bad)
            )
        columns = self._load_columns()

        def read(path):
            for number, data, features in examples(path, self.compression_type):
                try:
                    row = tuple([column.array(data, features) for column in columns])
                except WireError as error:
                    raise _make_damaged_record_error(path, number, error) from None
                except _UnfitError as error:
                    raise RuntimeError(f"{error} (record {number} of {path!r})") from None
                yield row

        stream = _ExampleStream(
            "TFRecordDataset",
            self.dataset_files,
            read,
            partial(count_records, compression=self.compression_type),
            self.shuffle_files,
            self.num_shards,
            self.shard_id,
            self.num_samples,
        )
        stream.equal_rows = self.shard_equal_rows
        return stream


def _make_damaged_record_error(path, number, error):
    return BadFileError(f"Invalid file, failed to parse tfrecord file {path!r}: record {number}: {error}.")
