"""``Schema``: names, types and shapes of columns, in MindSpore's JSON form."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.arguments import answered
from msnb.common.kinds import check, checked
from msnb.dataset.core.datatypes import numpy_type
from msnb.dataset.core.kinds import File, Text, list_of, of_type
from msnb.formats import text_files

_TYPES = (
    *(
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
    ),
    "string",
)


def _check_type_name(name):
    if name not in _TYPES:
        raise TypeError(f"Unknown column type: {name!r}; expected one of {', '.join(_TYPES)}.")


class Schema:
    """Columns of a data set.

    Args:
        schema_file (str, optional): JSON file with ``columns`` (and ``numRows``, ``datasetType``). Default: None, no
            columns.

    Raises:
        TypeError: If `schema_file` is not a str.
        ValueError: If there is no such file.
        RuntimeError: If it is not a schema.

    Examples:
        >>> import mindspore
        >>> import mindspore.dataset as ds
        >>> schema = ds.Schema()
        >>> schema.add_column("col1", de_type=mindspore.int64, shape=[2])
    """

    @answered
    def __init__(self, schema_file: str | None = None) -> None:
        self.schema_file: str = schema_file or ""
        self.columns: list[Any] = []
        self.num_rows: Any = 0
        self.dataset_type: Any = ""
        if schema_file is not None:
            of_type(str)(schema_file, "schema_file")
            check(File, schema_file, "schema_file", "Schema")
            self.from_json(load(schema_file))

    @checked
    def add_column(
        self,
        name: Text,
        de_type: mstype.Type | str,
        shape: Annotated[Sequence[int], list_of(int, containers=(list,))] | None = None,
    ) -> None:
        """Add a column.

        Args:
            name (str): Its name.
            de_type (Union[mindspore.dtype, str]): Its type.
            shape (list[int], optional): Its shape; -1 for a dimension of variable length. Default: None, one dimension
                of variable length.

        Raises:
            TypeError: If an argument has the wrong type or the type is unknown.
        """
        if not name:
            raise TypeError("Expected non-empty string for column name.")
        if de_type is None:
            raise TypeError("Expected non-empty string for de_type.")
        if not isinstance(de_type, mstype.Type):
            _check_type_name(de_type)
        self._append_column(name, _to_type_name(de_type), shape)

    def _append_column(self, name, type_name, shape):
        column = {"name": name, "type": type_name, "rank": 1 if shape is None else len(shape)}
        if shape is not None:
            column["shape"] = list(shape)
        self.columns.append(column)

    def parse_columns(self, columns: dict[Any, Any] | list[dict[Any, Any]]) -> None:
        """Set the columns from a list of dicts or a dict of dicts.

        Args:
            columns (Union[dict, list[dict]]): A list of dicts with ``name``, ``type`` and ``shape``, or a dict of names
                to dicts with ``type`` and ``shape``.

        Raises:
            RuntimeError: If a name or type is missing, or `columns` is something else.
        """
        self.columns = []
        if isinstance(columns, list):
            for column in columns:
                if "name" not in column:
                    raise RuntimeError(f"Column's name is missing: {column}.")
                self._parse_column(column["name"], column)
        elif isinstance(columns, dict):
            for name, column in columns.items():
                self._parse_column(name, column)
        else:
            raise RuntimeError("columns must be dict or list, columns contain name, type, shape(optional).")

    def _parse_column(self, name, column):
        if "type" not in column:
            raise RuntimeError(f"Column's type is missing: {name!r}.")
        try:
            _check_type_name(column["type"])
        except TypeError as error:
            raise RuntimeError(str(error)) from None
        self._append_column(name, column["type"], column.get("shape", []))

    def to_json(self) -> str:
        """Return the schema as JSON text."""
        content = {"columns": self.columns}
        if self.dataset_type:
            content["datasetType"] = self.dataset_type
        if self.num_rows > 0:
            content["numRows"] = self.num_rows
        return json.dumps(content, indent=2, sort_keys=True)

    def from_json(self, json_obj: dict[Any, Any]) -> None:
        """Set the schema from a dict.

        Args:
            json_obj (dict): ``columns``, and maybe ``numRows`` and ``datasetType``.

        Raises:
            RuntimeError: If a field is unknown or missing.
        """
        self.columns = []
        for key, value in json_obj.items():
            if key == "datasetType":
                self.dataset_type = value
            elif key == "numRows":
                self.num_rows = value
            elif key == "columns":
                self.parse_columns(value)
            else:
                raise RuntimeError(f"Unknown field {key} in the schema.")
        if not self.columns:
            raise RuntimeError("Columns are missing.")
        if self.num_rows < 0:
            raise RuntimeError("numRows must be greater than or equal to 0.")

    def names(self) -> list[str]:
        """Return the names of the columns."""
        return [c["name"] for c in self.columns]

    def details(self) -> Any:
        """Return (name, numpy dtype, shape or None) of each column."""
        return [(c["name"], numpy_type(c["type"]), c.get("shape")) for c in self.columns]

    def __str__(self) -> str:
        return self.to_json()


def _to_type_name(type_):
    if not isinstance(type_, mstype.Type):
        return type_
    numpy = numpy_type(type_)
    return {"S": "string", "b": "bool"}.get(numpy.kind, np.dtype(numpy).name)


def load(path: str) -> Any:
    """Return the content of a schema file as a dict. Every column has a supported type and a shape of integers.

    Raises:
        BadFileError: If it is not a schema.
    """
    content = text_files.json_file(path)

    def require(is_valid, requirement):
        if not is_valid:
            raise text_files.BadFileError(f"Schema file failed to load: {path!r}: {requirement}.")

    require(isinstance(content, dict) and "columns" in content, '"columns" node is required in the schema json file')
    rows, columns = content.get("numRows", 0), content["columns"]
    require(type(rows) is int and rows >= 0, "numRows should be a whole number, 0 or more")
    require(isinstance(columns, dict | list), "columns should be an object, or a list of objects")
    for i, entry in enumerate(columns.items() if isinstance(columns, dict) else columns):
        if isinstance(columns, list):
            require(isinstance(entry, dict) and isinstance(entry.get("name"), str), f"column {i} has no name")
            entry = entry["name"], entry
        name, column = entry
        column_text = f"column {name[:80]!r}"
        require(isinstance(column, dict), f"{column_text} should be an object with a type, and a shape or rank")
        require(column.get("type") in _TYPES, f"{column_text} should have one of the types {', '.join(_TYPES)}")
        shape = column.get("shape", [])
        require(
            isinstance(shape, list) and all(type(n) is int and -1 <= n < 1 << 31 for n in shape),
            f"{column_text} should have a list of whole numbers as shape, -1 for a dimension that varies",
        )
        require(type(column.get("rank", 1)) is int, f"{column_text} should have a whole number as rank")
    return content
