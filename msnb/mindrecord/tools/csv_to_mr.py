"""Converter from CSV to MindRecord."""

import os
from importlib import import_module
from types import ModuleType

from msnb.formats import text_files
from msnb.mindrecord.shardutils import check_filename
from msnb.mindrecord.tools._convert import check_partitions, write

__all__ = ["CsvToMR"]
_TYPES = {"int64": "int64", "float64": "float64", "bool": "int32"}


class CsvToMR:
    """Converts a CSV file to MindRecord. Each column is a field of int64, float64, int32 (for bool) or string.

    Args:
        source (str): The CSV file, with column names in the first line.
        destination (str): Path of the MindRecord file.
        columns_list (list[str], optional): Columns to use. Default: None, all columns.
        partition_number (int, optional): Number of files. Default: 1.
        encoding (str, optional): Encoding of the CSV file, such as 'gbk'. Default: 'utf-8'.

    Raises:
        ValueError: If an argument has the wrong type.
        RuntimeError: If a column does not exist, or the file is no CSV file or not in this encoding.
        IOError: If the file does not exist.
    """

    def __init__(
        self,
        source: str,
        destination: str,
        columns_list: list[str] | None = None,
        partition_number: int = 1,
        *,
        encoding: str = "utf-8",
    ) -> None:
        try:
            self.pd: ModuleType = import_module("pandas")
        except ImportError:
            raise Exception("Module pandas is not found, please use pip install it.") from None
        for name, value in (("source", source), ("destination", destination)):
            if not isinstance(value, str):
                raise ValueError(f"The parameter {name} must be str.")
            check_filename(value)
        if columns_list and not (isinstance(columns_list, list) and all(isinstance(c, str) for c in columns_list)):
            raise ValueError("The parameter columns_list must be list of str.")
        check_partitions(partition_number)
        self.encoding: str = text_files.check_encoding(encoding)
        self.source = source
        self.destination = destination
        self.columns_list = columns_list
        self.partition_number = partition_number

    def run(self) -> int:
        """Run the conversion: read the source and write the MindRecord files.

        Returns:
            int, 0.
        """
        if not os.path.exists(self.source):
            raise OSError(f"Csv file {self.source} do not exist.")
        table = self._read_table()
        columns = self.columns_list or list(table.columns)
        for column in columns:
            if column not in table.columns:
                raise RuntimeError(f"The parameter columns_list is illegal, column {column} does not exist.")
        if not columns:
            raise RuntimeError("Failed to generate schema from csv file.")
        schema = {c: {"type": _TYPES.get(str(table[c].dtype), "string")} for c in columns}
        casts = {"int64": int, "float64": float, "int32": int, "string": str}
        rows = (
            {c: casts[schema[c]["type"]](v) for c, v in zip(columns, values, strict=True)}
            for values in table[columns].itertuples(index=False, name=None)
        )
        return write(self.destination, rows, schema, "csv_schema", list(columns), self.partition_number)

    transform = run

    def _read_table(self):
        try:
            return self.pd.read_csv(self.source, encoding=self.encoding)
        except UnicodeError:
            text_files.text(self.source, self.encoding, choosable=True)  # raises an error with the position
            raise
        except (self.pd.errors.ParserError, self.pd.errors.EmptyDataError) as error:
            raise text_files.BadFileError(f"Invalid file, {self.source!r} is no CSV file: {error}.") from None
