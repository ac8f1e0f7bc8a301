"""``FileReader``: iterates over the rows of MindRecord files."""

from collections.abc import Iterator
from typing import Any, Self

from msnb import log
from msnb.common.arguments import answered
from msnb.mindrecord._reader import Records
from msnb.mindrecord.common.exceptions import ParamTypeError
from msnb.mindrecord.shardutils import ONE_THREAD, check_consumers, check_filenames

__all__ = ["FileReader"]


class FileReader:
    """Reads the rows of MindRecord files.

    Args:
        file_name (Union[str, list[str]]): A file, whose other shards are read too, or a list of files.
        num_consumer (int, optional): No effect: one thread reads. Default: 4.
        columns (list[str], optional): Fields to read. Default: None, all fields.
        operator (int, optional): No effect, as in MindSpore. Default: None.

    Raises:
        ParamValueError: If a file name or `num_consumer` is invalid.
        ParamTypeError: If `columns` is not a list.
        MRMOpenError: If a file is not a MindRecord file.

    Examples:
        >>> from mindspore.mindrecord import FileReader
        >>> reader = FileReader("test.mindrecord")
        >>> for row in reader.get_next():
        ...     print(row)
        >>> reader.close()
    """

    @answered
    def __init__(
        self,
        file_name: str | list[str],
        num_consumer: int = 4,
        columns: list[str] | None = None,
        operator: int | None = None,
    ) -> None:
        check_filenames(file_name)
        check_consumers(num_consumer)
        log.unused("FileReader", ONE_THREAD, num_consumer=num_consumer != 4)
        log.unused("FileReader", "MindSpore keeps it for later, too", operator=operator is not None)
        if columns and not isinstance(columns, list):
            raise ParamTypeError("columns", "list")
        self._columns = columns or None
        self._records = Records(file_name)
        self._records.check_columns(self._columns)

    def get_next(self) -> Iterator[dict[str, Any]]:
        """Yield each row as a dict of numbers, str, bytes and arrays."""
        records = self._records
        if records is None:
            return
        for number in range(len(records)):
            yield records.row(number, self._columns)

    def schema(self) -> dict[str, Any]:
        """Return the type and shape of each field."""
        return dict(self._records.schema)

    def len(self) -> int:
        """Return the number of rows."""
        return len(self._records)

    def close(self) -> None:
        """Close the files."""
        self._records = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()
