"""Reading MindRecord files: the header, the index, and rows."""

import contextlib
import math
import mmap
import os
import reprlib
import sqlite3
import struct
import urllib.parse

import numpy as np

from msnb.formats.text_files import BadFileError, decoded, parse_json
from msnb.mindrecord import _batch
from msnb.mindrecord._codec import NUMPY, U64, DamagedError, Fields, unpack_map
from msnb.mindrecord.common.exceptions import MRMOpenError


def read_header(path):
    """Return the header of a file, a dict whose entries have the expected types.

    Raises:
        MRMOpenError: If the file cannot be opened or is not a MindRecord file.
    """
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            first = file.read(8)
            (n,) = U64.unpack(first) if len(first) == 8 else (size,)
            if n > size - len(first) or len(first) < 8:
                raise BadFileError(f"the header would have {n} bytes, but the file has {size}")
            header = parse_json(decoded(file.read(n), path), path)
    except (OSError, BadFileError) as error:
        raise MRMOpenError(f"{path!r} is no MindRecord file, or damaged: {error}.") from None
    if not isinstance(header, dict):
        raise MRMOpenError(f"{path!r} is no MindRecord file: its header is no JSON object.")
    for key, fits in _HEADER.items():
        if key not in header:
            raise MRMOpenError(f"{path!r} is no MindRecord file: its header has no {key!r}.")
        if not fits(header[key]):
            raise MRMOpenError(f"{path!r} is damaged: its header says {reprlib.repr(header[key])} for {key!r}.")
    fields = header.get("index_fields") or []
    if not _is_list_of(fields, dict) or not all(isinstance(f.get("index_field"), str) for f in fields):
        raise MRMOpenError(f"{path!r} is damaged: its header says {reprlib.repr(fields)} for 'index_fields'.")
    return header


def _is_list_of(value, kind):
    return isinstance(value, list) and all(type(v) is kind for v in value)


def _is_positive_size(value):
    return type(value) is int and 0 < value < 1 << 62


def _is_valid_schema(value):
    """Return True if the value is a valid schema entry: the type of each field and the list of blob fields."""
    if not _is_list_of(value, dict) or not value:
        return False
    fields, blobs = value[0].get("schema"), value[0].get("blob_fields")
    if not isinstance(fields, dict) or not _is_list_of(blobs, str) or not fields.keys() >= set(blobs):
        return False
    for kind in fields.values():
        if not isinstance(kind, dict) or kind.get("type") not in _TYPES or not _is_list_of(kind.get("shape", []), int):
            return False
    return True


_TYPES = (*NUMPY, "string")
_NUMBERS = (int, float, bool)
# {type in the schema: Python types of its stored values}
_PYTHON_TYPES = {kind: _NUMBERS for kind in NUMPY} | {"string": (str, bytes)}
_HEADER = {
    "schema": _is_valid_schema,
    "page": lambda value: isinstance(value, list),
    "page_size": _is_positive_size,
    "header_size": _is_positive_size,
    "shard_addresses": lambda value: _is_list_of(value, str) and value != [],
}


class _File:
    """One memory-mapped file, with (start, end) of each of its rows.

    The file must not become shorter while it is read. The system ends a process that reads mapped bytes which no longer
    exist.
    """

    def __init__(self, path):
        self.path = path
        self.header = read_header(path)
        self._start = self.header["header_size"]
        self._page = self.header["page_size"]
        with open(path, "rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.data = memoryview(self._map)
        self.raw, self.blob = self._read_index(bool(self.header["schema"][0]["blob_fields"]))

    def _read_index(self, blobs):
        """Read the index file. Return [(start, end) of the fields of each row, (start, end) of the blob of each row].

        The second is None unless `blobs` is True.
        """
        database = self.path + ".db"
        if not os.path.exists(database):
            raise MRMOpenError(f"{self.path!r} has no index {database!r} beside it; keep the two files together.")
        # "?" and "#" would otherwise end the path, and "%" would begin an escape
        name = urllib.parse.quote(os.fsencode(os.path.abspath(database)))
        try:
            with contextlib.closing(sqlite3.connect(f"file:{name}?mode=ro&immutable=1", uri=True)) as connection:
                connection.text_factory = bytes  # damaged text should not raise an error here
                rows = connection.execute(
                    "SELECT PAGE_ID_RAW, PAGE_OFFSET_RAW, PAGE_OFFSET_RAW_END, PAGE_ID_BLOB, PAGE_OFFSET_BLOB, "
                    "PAGE_OFFSET_BLOB_END FROM INDEXES ORDER BY ROW_ID"
                ).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:  # UnicodeDecodeError: SQLite quotes damaged names
            raise MRMOpenError(f"{database!r} is no index of a MindRecord file: {error}.") from None
        table = np.array(rows) if rows else np.zeros((0, 6), np.int64)
        if table.dtype != np.int64:
            wrong = next(i for i, row in enumerate(rows) if any(type(v) is not int for v in row))
            raise MRMOpenError(f"{database!r} is damaged: row {wrong} of the index holds something else than numbers.")
        used = table if blobs else table[:, :3]
        size = len(self.data)
        if (used < 0).any() or (used > size).any() or (used[:, ::3] > size // self._page).any():
            raise self._make_out_of_range_error(database)
        raw = self._start + table[:, 0] * self._page
        ends = raw + table[:, 2]
        positions = [np.stack([raw + table[:, 1] + 8, ends], 1), None]
        if blobs:
            blob = self._start + table[:, 3] * self._page
            positions[1] = np.stack([blob + table[:, 4] + 8, blob + table[:, 5]], 1)
        if any(len(table) and position is not None and position[:, 1].max() > size for position in positions):
            raise self._make_out_of_range_error(database)
        return positions

    def _make_out_of_range_error(self, database):
        return MRMOpenError(f"{self.path!r} is damaged: its index {database!r} names rows after the end of the file.")


def _make_string_column(texts):
    """Return a column of bytes objects as one array, or as a list if one long string would widen all others."""
    widest = max(map(len, texts))
    if widest > 4096 and widest * len(texts) > 4 * sum(map(len, texts)):
        return [np.array(t) for t in texts]
    return np.array(texts)


class Records:
    """The rows of one or several MindRecord files.

    Args:
        file_name (Union[str, list[str]]): A file, whose other shards are read too, or a list of files.
    """

    def __init__(self, file_name):
        if isinstance(file_name, list):
            paths = file_name
        else:
            header = read_header(file_name)
            folder = os.path.dirname(os.path.abspath(file_name))
            names = header["shard_addresses"]
            paths = [file_name] if len(names) == 1 else [os.path.join(folder, os.path.basename(n)) for n in names]
        for path in paths:
            if not os.path.isfile(path):
                raise MRMOpenError(f"There is no file {path!r}, which the header of {file_name!r} names.")
        self.files = [_File(p) for p in paths]
        self.header = self.files[0].header
        kind = self.header["schema"][0]
        for file in self.files[1:]:
            if file.header["schema"][0]["schema"] != kind["schema"]:
                raise MRMOpenError(f"{file.path!r} has another schema than {self.files[0].path!r}.")
        version = str(self.header.get("version", "3.0"))
        self.fields = Fields(kind["schema"], compressed=version != "2.0")
        self.fields.blobs = list(kind["blob_fields"])
        self.fields.scalars = [k for k in self.fields.schema if k not in self.fields.blobs]
        self.schema = self.fields.schema
        self.index_fields = [f["index_field"] for f in self.header.get("index_fields") or []]
        self.ends = np.cumsum([len(f.raw) for f in self.files])

    def __len__(self):
        return int(self.ends[-1]) if len(self.ends) else 0

    def check_columns(self, columns):
        """Raise an error unless the schema has all of `columns`."""
        missing = [c for c in columns or () if c not in self.schema]
        if missing:
            raise MRMOpenError(f"The columns {missing} are not in the schema, which has {list(self.schema)}.")

    def row(self, number, columns=None):
        """Return a row as {field: value}; values are scalars, str, bytes or arrays."""
        file_number = int(np.searchsorted(self.ends, number, side="right"))
        file = self.files[file_number]
        at = number - (int(self.ends[file_number - 1]) if file_number else 0)
        requested = self.schema if columns is None else columns
        fields, out = self.fields, {}
        try:
            if any(c not in fields.blobs for c in requested):
                start, end = file.raw[at].tolist()
                stored = unpack_map(file.data[start:end])
                for c in requested:
                    if c not in fields.blobs:
                        out[c] = stored[c]
            if any(c in fields.blobs for c in requested):
                start, end = file.blob[at].tolist()
                stored_blobs = fields.split_blob(file.data[start:end])
                for c in requested:
                    if c in stored_blobs:
                        out[c] = fields.array(c, stored_blobs[c])
        except (DamagedError, ValueError, KeyError, IndexError, struct.error) as error:
            page = (start - file.header["header_size"]) // file.header["page_size"]
            raise MRMOpenError(
                f"{file.path!r} is damaged: row {at}, in page {page}, cannot be read: {error}."
            ) from None
        for c in requested:
            if c not in fields.blobs and type(out[c]) not in _PYTHON_TYPES[fields.schema[c]["type"]]:
                raise MRMOpenError(
                    f"{file.path!r} is damaged: row {at} has a {type(out[c]).__name__} in the field {c!r} of type "
                    f"{fields.schema[c]['type']}."
                )
        return {c: out[c] for c in requested}

    def arrays(self, number, columns):
        """Return the columns of a row as numpy arrays; bytes are uint8, strings are S."""
        row = self.row(number, columns)
        out = []
        for c in columns:
            kind, value = self.schema[c], row[c]
            if isinstance(value, np.ndarray):
                out.append(value)
            elif kind["type"] == "bytes":
                out.append(np.frombuffer(value, np.uint8))
            elif kind["type"] == "string":
                out.append(np.array(value.encode("utf-8") if isinstance(value, str) else value))
            else:
                out.append(np.array(value, NUMPY[kind["type"]]))
        return out

    def columns(self, numbers, columns):
        """Return the columns of several rows (an int64 array of numbers): arrays with an axis of rows, or lists of
        arrays."""
        file_numbers = np.searchsorted(self.ends, numbers, side="right")
        if len(self.files) > 1 and (file_numbers != file_numbers[0]).any():
            return self._read_several_files(numbers, columns, file_numbers)
        number = int(file_numbers[0])
        file = self.files[number]
        at = numbers - (int(self.ends[number - 1]) if number else 0)
        fields = self.fields
        blobs = [c for c in columns if c in fields.blobs]
        others = [c for c in columns if c not in fields.blobs]
        try:
            values = _batch.scalars(file.data, file.raw[at], others, self.schema) if others else {}
            if blobs:
                values.update(_batch.blobs(file.data, file.blob[at], blobs, fields))
        except (_batch.UnlikeError, DamagedError, ValueError, IndexError, KeyError, OverflowError, struct.error):
            return self._read_rows_one_by_one(numbers, columns)
        return [_make_string_column(values[c]) if self.schema[c]["type"] == "string" else values[c] for c in columns]

    def _read_rows_one_by_one(self, numbers, columns):
        return [list(c) for c in zip(*[self.arrays(n, columns) for n in numbers.tolist()], strict=True)]

    def _read_several_files(self, numbers, columns, file_numbers):
        """Read rows of several files, file by file. Return the columns in the requested order."""
        out = None
        for number in np.unique(file_numbers).tolist():
            selected = np.flatnonzero(file_numbers == number)
            values = self.columns(numbers[selected], columns)
            if out is None:
                out = [
                    np.empty((len(numbers), *c.shape[1:]), c.dtype)
                    if isinstance(c, np.ndarray) and c.dtype.kind != "S"
                    else [None] * len(numbers)
                    for c in values
                ]
            for column, part in zip(out, values, strict=True):
                if isinstance(column, np.ndarray) and isinstance(part, np.ndarray):
                    column[selected] = part
                elif isinstance(column, np.ndarray):
                    return self._read_rows_one_by_one(numbers, columns)
                else:
                    for i, value in zip(selected.tolist(), part, strict=True):
                        column[i] = np.asarray(value)
        return out

    def row_bytes(self, columns):
        """Return the size of a row's columns in bytes; None if rows differ."""
        total = 0
        for c in columns:
            kind = self.schema[c]
            if kind["type"] in ("bytes", "string") or any(n < 0 for n in kind.get("shape", ())):
                return None
            total += NUMPY[kind["type"]].itemsize * math.prod(kind.get("shape", ()))
        return total

    def values(self, field):
        """Return the values of a scalar field in all rows."""
        return [self.row(i, [field])[field] for i in range(len(self))]
