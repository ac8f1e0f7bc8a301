"""`CSVDataset`: the rows of CSV files."""

import re
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from msnb.common.kinds import Worded, checked
from msnb.dataset.core.kinds import Int, NumSamples, Workers, of_type
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.sources.base import Shuffle
from msnb.dataset.engine.sources.streamed import Files, RowStream, StreamDataset, StreamShuffled
from msnb.formats import text_files

_LINE_END = re.compile("\r\n?|\n")


class _BadRow(Exception):
    """Error of an invalid row. `fields` are the fields before the error."""

    def __init__(self, message, fields=()):
        super().__init__(message)
        self.fields = fields


def rows_of_text(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the rows of CSV text as lists of fields.

    Empty lines are skipped. Quotes may enclose delimiters and line ends.
    """
    fields, start, at, n = [], 0, 0, len(text)
    while at <= n:
        if at < n and text[at] == '"':
            if at != start:
                raise _BadRow("Invalid quote in unquote field.", fields)
            pieces, at = [], at + 1
            while True:
                end = text.find('"', at)
                if end < 0:
                    raise _BadRow("Reach the end of file in quote field.", fields)
                pieces.append(text[at:end])
                at = end + 1
                if at < n and text[at] == '"':
                    pieces.append('"')
                    at += 1
                    continue
                break
            if at < n and text[at] != delimiter and text[at] not in "\r\n":
                raise _BadRow("Receive unquote char in quote field.", fields)
            field, quoted = "".join(pieces), True
        else:
            end = at
            while end < n and text[end] != delimiter and text[end] not in '\r\n"':
                end += 1
            if end < n and text[end] == '"' and end > at:
                raise _BadRow("Invalid quote in unquote field.", fields)
            field, quoted, at = text[at:end], False, end
        if at < n and text[at] == delimiter:
            fields.append(field)
            at += 1
            start = at
            if at == n:
                fields.append("")
                yield fields
                return
            continue
        if fields or field or quoted:
            fields.append(field)
            yield fields
        fields = []
        at += 1
        start = at


def _check_delimiter(delimiter, name):
    of_type(str)(delimiter, "field delim")
    if delimiter in ('"', "\r", "\n") or len(delimiter) != 1:
        raise ValueError(f"{name} is invalid: one character is needed, no quote or line end, but got {delimiter!r}.")
    return delimiter


def _check_column_defaults(values, name):
    if not isinstance(values, list):
        raise TypeError(f"{name} should be type of list.")
    for invalid in (v for v in values if not isinstance(v, str | int | float)):
        raise TypeError(f"column type in {name} is invalid: {invalid!r}.")
    return values


def _check_name_list(names, name):
    if isinstance(names, list) and all(isinstance(n, str) for n in names):
        return names
    raise TypeError(f"{name} should be a list of str.")


Names = Annotated[list[str], Worded("a list of str", _check_name_list)]
Delimiter = Annotated[str, Worded("one character", _check_delimiter)]
Defaults = Annotated[list[str | int | float], Worded("a list of values", _check_column_defaults)]


class CSVDataset(StreamDataset):
    """The rows of CSV files, with a column for each field.

    Args:
        dataset_files (Union[str, list[str]]): Files, or patterns of file names.
        field_delim (str, optional): The separator of fields. Default: ','.
        column_defaults (list, optional): One value per column; its type (int, float or str) is the type of the column.
            Default: None, all str.
        column_names (list[str], optional): Names of the columns. Default: None, the first line of the file.
        num_samples (int, optional): Maximal number of rows. Default: None, which means all.
        num_parallel_workers (int, optional): Number of workers. Default: None, the number in ``dataset.config``.
        shuffle (Union[bool, Shuffle], optional): False for the order of the files, ``Shuffle.FILES`` for the files in
            random order, True or ``Shuffle.GLOBAL`` for rows in random order too. Default: ``Shuffle.GLOBAL``.
        num_shards (int, optional): Number of shards that the rows are divided into. Default: None.
        shard_id (int, optional): Index of this shard. Default: None.
        cache (DatasetCache, optional): Cache of the rows. Default: None.
        encoding (str, optional): Encoding of the files, such as 'gbk'; rows are UTF-8 in any case. Default: 'utf-8'.

    Raises:
        TypeError, ValueError: If an argument is wrong.
        RuntimeError: If a file is not a CSV file or not in this encoding, or its columns do not fit.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.CSVDataset("data.csv", column_names=["x", "y"], column_defaults=[0.0, 0])
    """

    @checked
    def __init__(
        self,
        dataset_files: Files,
        field_delim: Delimiter | None = ",",
        column_defaults: Defaults | None = None,
        column_names: Names | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: StreamShuffled = Shuffle.GLOBAL,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
        *,
        encoding: str = "utf-8",
    ) -> None:
        super().__init__(dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        self.encoding: str = text_files.check_encoding(encoding)
        self.field_delim: Delimiter = field_delim or ","
        self.column_defaults = column_defaults
        self.column_names = column_names
        if column_names is not None and "" in column_names:
            raise RuntimeError(f"CSVNode: column_names[{column_names.index('')}] should not be empty.")

    def _get_column_names(self):
        if self.column_names:
            for i, name in enumerate(self.column_names):
                if self.column_names.index(name) != i:
                    raise RuntimeError(
                        f"Invalid parameter, duplicate column names are not allowed: {name} (in column_names)."
                    )
            return list(self.column_names)
        if "names" not in self._shared:
            heads = [self._read_header_names(f) for f in self.dataset_files]
            for path, head in zip(self.dataset_files, heads, strict=True):
                if head != heads[0]:
                    raise RuntimeError(
                        "Invalid file, every csv file should have the same column names, but "
                        f"{self.dataset_files[0]} has {heads[0]} and {path} has {head}."
                    )
                if len(set(head)) != len(head):
                    raise RuntimeError(
                        "Invalid parameter, duplicate column names are not allowed: "
                        f"{next(n for n in head if head.count(n) > 1)} (in {path})."
                    )
            self._shared["names"] = heads[0]
        return self._shared["names"]

    def _read_header_names(self, path):
        first = next(text_files.lines(path, self.encoding, newline="", choosable=True), "")
        return [n.strip() for n in first.strip("\r\n").split(self.field_delim)]

    def _read_text_without_header(self, path):
        try:
            text = text_files.text(path, self.encoding, newline="", choosable=True)
        except OSError as error:
            raise RuntimeError(f"Error opening file: {path} ({error.strerror}).") from None
        if self.column_names:
            return text
        head = _LINE_END.search(text)
        return text[head.end() :] if head else ""

    def _make_stream(self):
        names = self._get_column_names()
        defaults = self.column_defaults
        if defaults is None:
            defaults = [""] * len(names)
        elif len(defaults) != len(names):
            raise RuntimeError(
                f"CSVNode: column_defaults has {len(defaults)} values, but {self.dataset_files[0]!r} has "
                f"{len(names)} columns {names}."
            )
        kinds = [str if isinstance(d, str) else np.int32 if isinstance(d, int) else np.float32 for d in defaults]

        first = 1 if self.column_names else 2

        def values(fields, path, line):
            return tuple(
                np.array(f.encode("utf-8")) if k is str else _parse_number(f, k, path, line)
                for f, k in zip(fields, kinds, strict=False)
            )

        def read(path):
            line = first
            try:
                for line, fields in enumerate(
                    rows_of_text(self._read_text_without_header(path), self.field_delim), first
                ):
                    if len(fields) > len(kinds):
                        raise _BadRow("Number of file columns does not match the default records")
                    if len(fields) < len(kinds):
                        raise _BadRow("The number of columns does not match the definition.")
                    yield values(fields, path, line)
                    line += 1
            except _BadRow as bad:
                values(bad.fields, path, line)  # raises the error of an earlier field, if one is invalid
                raise RuntimeError(
                    f"Invalid file, failed to parse file: {path}: line {line}. Error message: {bad}"
                ) from None

        def count(path):
            try:
                return sum(1 for _ in rows_of_text(self._read_text_without_header(path), self.field_delim))
            except _BadRow as bad:
                raise RuntimeError(f"Invalid file, failed to parse file: {path}. Error message: {bad}") from None

        return RowStream(
            "CSVDataset",
            self.dataset_files,
            read,
            count,
            self.shuffle_files,
            self.num_shards,
            self.shard_id,
            self.num_samples,
        )


def _parse_number(field, kind, path, line):
    try:
        return np.array(int(float(field)) if kind is np.int32 and "." in field else kind(field), kind)
    except ValueError:
        raise RuntimeError(
            f"Invalid data, {path}: line {line}, type does not match: {field[:80]!r} is no {np.dtype(kind)}."
        ) from None
    except OverflowError:
        raise RuntimeError(f"Invalid data, {path}: line {line}, out of range: {field[:80]!r}.") from None
