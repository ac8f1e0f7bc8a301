"""``FileWriter``: writes MindRecord files."""

import os
import re
from typing import Any

import numpy as np

from msnb import log
from msnb.common.arguments import answered
from msnb.mindrecord._codec import Fields
from msnb.mindrecord._reader import Records
from msnb.mindrecord._writer import ShardFile, to_python
from msnb.mindrecord.common.exceptions import (
    MRMAddIndexError,
    MRMDefineIndexError,
    MRMGenerateIndexError,
    MRMGetMetaError,
    MRMInvalidHeaderSizeError,
    MRMInvalidPageSizeError,
    MRMInvalidSchemaError,
    MRMOpenError,
    MRMWriteDatasetError,
    ParamTypeError,
    ParamValueError,
)
from msnb.mindrecord.shardutils import (
    MAX_HEADER_SIZE,
    MAX_PAGE_SIZE,
    MAX_SHARD_COUNT,
    MIN_HEADER_SIZE,
    MIN_PAGE_SIZE,
    MIN_SHARD_COUNT,
    SUCCESS,
    VALID_ARRAY_ATTRIBUTES,
    VALID_ATTRIBUTES,
    VALUE_TYPE_MAP,
    check_filename,
)

__all__ = ["FileWriter"]


class FileWriter:
    """Writes rows to MindRecord files, each with an index file (``.db``).

    Args:
        file_name (str): Path of the file; with several shards a number is appended.
        shard_num (int, optional): Number of files, 1 to 1000. Default: 1.
        overwrite (bool, optional): Whether to remove existing files with these names before writing. Default: False.

    Raises:
        ParamValueError: If the file name or the number of files is invalid.
        ParamTypeError: If `overwrite` is not a bool.

    Examples:
        >>> from mindspore.mindrecord import FileWriter
        >>> writer = FileWriter("rows.mindrecord", 1)
        >>> writer.add_schema({"label": {"type": "int32"}, "data": {"type": "bytes"}}, "a schema")
        >>> writer.add_index(["label"])
        >>> writer.write_raw_data([{"label": 1, "data": b"..."}])
        >>> writer.commit()
    """

    @answered
    def __init__(self, file_name: str, shard_num: int = 1, overwrite: bool = False) -> None:
        check_filename(file_name)
        if not isinstance(shard_num, int) or isinstance(shard_num, bool):
            raise ParamValueError(f"Shard num is illegal: {shard_num!r}.")
        if not MIN_SHARD_COUNT <= shard_num <= MAX_SHARD_COUNT:
            raise ParamValueError(
                f"Shard number should between {MIN_SHARD_COUNT} and {MAX_SHARD_COUNT}, but got {shard_num}."
            )
        if not isinstance(overwrite, bool):
            raise ParamTypeError("overwrite", "bool")
        self._overwrite = overwrite
        self._shard_num = shard_num
        width = len(str(shard_num - 1))
        self._paths = [file_name] if shard_num == 1 else [f"{file_name}{i:0{width}d}" for i in range(shard_num)]
        self._header_size, self._page_size = 1 << 24, 1 << 25
        self._fields = None
        self._desc = ""
        self._index = []
        self._files = None
        self._old = None

    @classmethod
    def open_for_append(cls, file_name: str) -> "FileWriter":
        """Return a writer that adds rows to existing files.

        Args:
            file_name (str): One of the existing files.

        Returns:
            FileWriter.

        Raises:
            ParamValueError: If the name is invalid.
            MRMOpenError: If there is no such MindRecord file.
        """
        check_filename(file_name)
        writer = cls("append")
        writer.init_append(file_name, Records(file_name))
        return writer

    def init_append(self, file_name: str, header: Any) -> None:
        """Prepare to append rows to the existing files that `header` (a `Records`) describes.

        Raises:
            ParamValueError: If `file_name` is not one of them.
        """
        self._paths = [f.path for f in header.files]
        if os.path.realpath(file_name) not in map(os.path.realpath, self._paths):
            raise ParamValueError(f"File {file_name!r} is none of those that were opened: {self._paths}.")
        self._shard_num = len(self._paths)
        self._header_size, self._page_size = header.header["header_size"], header.header["page_size"]
        self._desc = header.header["schema"][0].get("desc", "")
        self._fields = Fields(header.schema)
        self._index = header.index_fields
        self._old = header

    def add_schema(self, content: dict[Any, Any], desc: str | None = None) -> int:
        """Set the fields of rows.

        Args:
            content (dict): Maps each field to {"type": ...} or {"type": ..., "shape": [...]}. Types: int32, int64,
                float32, float64, string, bytes.
            desc (str, optional): A description. Default: None.

        Returns:
            int, 0: the number of the schema.

        Raises:
            MRMInvalidSchemaError: If it is not a valid schema.
        """
        error = self._find_schema_error(content)
        if error:
            raise MRMInvalidSchemaError(error)
        self._fields = Fields({k: dict(v) for k, v in content.items()})
        self._desc = desc or ""
        return 0

    @staticmethod
    def _find_schema_error(content):
        if not content:
            return "Schema content is empty."
        if not isinstance(content, dict):
            return f"Schema content should be dict, but got {type(content).__name__}."
        for name, kind in content.items():
            if not isinstance(name, str) or not re.match(r"^[0-9a-zA-Z_]+$", name):
                return f"Field '{name}' should be composed of '0-9' or 'a-z' or 'A-Z' or '_'."
            if not kind or not isinstance(kind, dict):
                return f"Field '{name}' should be dict."
            if "type" not in kind or set(kind) - {"type", "shape"}:
                return f"Field '{name}' contains illegal attributes: {kind}."
            if kind["type"] not in (VALID_ARRAY_ATTRIBUTES if "shape" in kind else VALID_ATTRIBUTES):
                return f"Field '{name}' contain illegal attribute '{kind['type']}'."
            if "shape" in kind and not isinstance(kind["shape"], list):
                return f"Field '{name}' contain illegal attribute '{kind['shape']}'."
        return ""

    def add_index(self, index_fields: list[str]) -> int:
        """Set the fields by which rows can be searched.

        Args:
            index_fields (list[str]): Scalar or string fields.

        Returns:
            int, 0.

        Raises:
            ParamTypeError: If it is not a list of str.
            MRMDefineIndexError: If a field is a blob.
            MRMAddIndexError: If a field is not in the schema.
            MRMGetMetaError: If there is no schema yet.
        """
        _check_list(index_fields or None, "index_fields", str, "index field")
        if self._fields is None:
            raise MRMGetMetaError("Call add_schema before add_index.")
        for field in index_fields:
            if field in self._fields.blobs:
                raise MRMDefineIndexError(f"Failed to set field {field} since it's not primitive type.")
            if field not in self._fields.schema:
                raise MRMAddIndexError(f"The schema has no field {field!r}; it has {list(self._fields.schema)}.")
        self._index = sorted(set(index_fields))
        return SUCCESS

    def set_header_size(self, header_size: int) -> int:
        """Set the size of the header.

        Args:
            header_size (int): Bytes, 16 KiB to 128 MiB, a multiple of 4.

        Returns:
            int, 0.

        Raises:
            MRMInvalidHeaderSizeError: If it is out of range.
        """
        if not isinstance(header_size, int) or header_size % 4 or not MIN_HEADER_SIZE <= header_size <= MAX_HEADER_SIZE:
            raise MRMInvalidHeaderSizeError(
                f"A multiple of 4 from {MIN_HEADER_SIZE} to {MAX_HEADER_SIZE} is expected, but got {header_size!r}."
            )
        self._header_size = header_size
        return SUCCESS

    def set_page_size(self, page_size: int) -> int:
        """Set the size of pages; a row must fit one.

        Args:
            page_size (int): Bytes, 32 KiB to 256 MiB, a multiple of 4.

        Returns:
            int, 0.

        Raises:
            MRMInvalidPageSizeError: If it is out of range.
        """
        if not isinstance(page_size, int) or page_size % 4 or not MIN_PAGE_SIZE <= page_size <= MAX_PAGE_SIZE:
            raise MRMInvalidPageSizeError(
                f"A multiple of 4 from {MIN_PAGE_SIZE} to {MAX_PAGE_SIZE} is expected, but got {page_size!r}."
            )
        self._page_size = page_size
        return SUCCESS

    def open_and_set_header(self) -> None:
        """Open the files. :meth:`write_raw_data` and :meth:`commit` call it if needed."""
        if self._files is not None:
            return
        if self._fields is None:
            raise MRMGetMetaError("There is no schema; call add_schema first.")
        if self._old is None and self._overwrite:
            for old in (p + end for p in self._paths for end in ("", ".db") if os.path.exists(p + end)):
                os.remove(old)
        if self._old is None:
            existing = [p for p in self._paths if os.path.exists(p)]
            if existing:
                raise MRMOpenError(
                    f"The file {existing[0]!r} exists already; remove it and its .db file, or use open_for_append."
                )
            existing = [p + ".db" for p in self._paths if os.path.exists(p + ".db")]
            if existing:
                raise MRMGenerateIndexError(f"The index {existing[0]!r} exists already; remove it.")
        try:
            self._files = [ShardFile(p, i, self._header_size, self._page_size) for i, p in enumerate(self._paths)]
        except OSError as error:
            raise MRMOpenError(f"{self._paths[0]!r} cannot be written: {error.strerror}.") from None
        if self._old is not None:
            self._copy_old_rows()

    def _copy_old_rows(self):
        names = list(self._old.schema)
        start = 0
        for file, end in zip(self._files, self._old.ends.tolist(), strict=True):
            for number in range(start, end):
                self._add_row(file, self._old.row(number, names))
            start = end

    def _add_row(self, file, row):
        raw, blob = self._fields.pack(row)
        file.add(raw, blob, [to_python(row[k]) for k in self._get_index_names()])

    def _get_index_names(self):
        return self._index or self._fields.scalars

    def write_raw_data(self, raw_data: list[dict[Any, Any]], parallel_writer: bool = False) -> int:
        """Write rows, distributed evenly over the files. A row that does not fit the schema is skipped with a warning.

        Args:
            raw_data (list[dict]): The rows.
            parallel_writer (bool, optional): No effect: one thread writes. Default: False.

        Returns:
            int, 0.

        Raises:
            ParamTypeError: If it is not a list of dicts.
            MRMWriteDatasetError: If a row is larger than a page.
        """
        _check_list(raw_data, "raw_data", dict, "raw_data item")
        log.unused("FileWriter.write_raw_data", "one thread writes", parallel_writer=parallel_writer)
        self.open_and_set_header()
        rows = []
        for number, row in enumerate(raw_data):
            error = self._find_row_error(row)
            if error:
                log.warning(f"for schema, {number} th data is wrong, {error}")
            else:
                rows.append(row)
        if raw_data and not rows:
            raise MRMWriteDatasetError("None of the rows fits the schema; the warnings above say why.")
        share, rest = divmod(len(rows), len(self._files))
        start = 0
        for i, file in enumerate(self._files):
            count = share + (i < rest)
            for row in rows[start : start + count]:
                self._add_row(file, row)
            start += count
        return SUCCESS

    def write_to(self, shard: int, rows: Any) -> None:
        """Write rows, which must fit the schema, to the file with the index `shard` (msnb only)."""
        self.open_and_set_header()
        for row in rows:
            self._add_row(self._files[shard], row)

    def _find_row_error(self, row):
        for name, kind in self._fields.schema.items():
            if name not in row:
                return f"there is not '{name}' object in the raw data."
            value = row[name]
            if kind["type"] not in VALUE_TYPE_MAP.get(type(value).__name__, ()):
                return f"data type for '{name}' is not matched: {type(value).__name__} for {kind['type']}."
            if isinstance(value, np.ndarray):
                if "shape" not in kind:
                    return f"data type for '{name}' is not matched: an array for a scalar."
                try:
                    np.reshape(value, kind["shape"])
                except ValueError:
                    return f"data type for '{name}' is not matched: shape {value.shape} for {kind['shape']}."
            elif "shape" in kind:
                return f"data type for '{name}' is not matched: {type(value).__name__} for an array."
        return ""

    def commit(self) -> int:
        """Write headers and indexes, which completes the files.

        Returns:
            int, 0.

        Raises:
            MRMCommitError: If a header does not fit its size.
        """
        self.open_and_set_header()
        names = [os.path.basename(p) for p in self._paths]
        for file in self._files:
            file.commit(self._fields, self._desc, self._get_index_names(), names)
        if self._old is not None:  # replace the old files only after all new ones are written
            for file in self._files:
                file.write_index()
            self._old = None
        for file in self._files:
            file.publish()
        return SUCCESS


def _check_list(values, name, kind, item):
    """Raise ParamTypeError unless `values` is a list of items of type `kind`."""
    if not isinstance(values, list):
        raise ParamTypeError(name, "list")
    if not all(isinstance(value, kind) for value in values):
        raise ParamTypeError(item, kind.__name__)
