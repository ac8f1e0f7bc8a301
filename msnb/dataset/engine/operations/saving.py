"""``save``: write the rows of a pipeline to MindRecord files."""

import re
from typing import Annotated

import numpy as np

from msnb.common.kinds import Worded, checked
from msnb.dataset.core.kinds import Text, of_type
from msnb.dataset.engine.dataset import Dataset, fluent

_FIELD_TYPES = {
    "bool": "int32",
    "int8": "int32",
    "uint8": "bytes",
    "int16": "int32",
    "uint16": "int32",
    "int32": "int32",
    "uint32": "int64",
    "int64": "int64",
    "float16": "float32",
    "float32": "float32",
    "float64": "float64",
}
_ROWS_PER_WRITE = 256


def _check_num_files(number, name):
    if 1 <= of_type(int)(number, name) <= 1000:
        return number
    raise ValueError(f"{name} should between 1 and 1000.")


NumFiles = Annotated[int, Worded("an int from 1 to 1000", _check_num_files)]


def _make_schema_entry(name, array):
    """Return the schema entry of a column, according to its first row."""
    if array.dtype.kind in "SU":
        if array.ndim:
            raise RuntimeError(
                f"MindRecord cannot hold column {name!r}: strings with a shape {array.shape} are not supported."
            )
        return {"type": "string"}
    kind = _FIELD_TYPES.get(array.dtype.name)
    if kind is None:
        raise RuntimeError(f"MindRecord cannot hold column {name!r}: type {array.dtype.name} is not supported.")
    if array.ndim == 0:
        return {"type": "int32" if kind == "bytes" else kind}
    return {"type": kind} if kind == "bytes" else {"type": kind, "shape": [-1, *array.shape[1:]]}


def _sanitize_column_name(name):
    """Replace the characters of a column name that MindRecord does not allow."""
    return re.sub(r"[^0-9a-zA-Z_]", "_", name)


def _convert_to_field_type(name, array, field):
    if field["type"] == "string":
        value = array.item()
        return value.decode("utf-8") if isinstance(value, bytes) else value
    if field["type"] == "bytes":
        return array.tobytes()
    if "shape" in field:
        if list(array.shape[1:]) != field["shape"][1:]:
            raise RuntimeError(
                f"MindRecord cannot hold column {name!r}: rows may differ in the length of their first dimension "
                f"alone, but the first one leaves {tuple(field['shape'][1:])} behind it, and another has shape "
                f"{array.shape}."
            )
        return array.astype(field["type"], copy=False)
    return (float if field["type"].startswith("float") else int)(array)


def _write_rows(dataset, file_name, num_files):
    """Write the rows of `dataset` to `num_files` MindRecord files, in order."""
    from msnb.mindrecord.filewriter import FileWriter  # imported here, because it loads sqlite3

    total = dataset.get_dataset_size()
    writer, fields, number = None, {}, 0
    pending, shard = [], 0
    for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
        if writer is None:
            fields = {
                _sanitize_column_name(name): _make_schema_entry(name, np.asarray(array)) for name, array in row.items()
            }
            writer = FileWriter(file_name, num_files)
            writer.add_schema(fields, "made by Dataset.save")
            scalars = [name for name, field in fields.items() if "shape" not in field and field["type"] != "bytes"]
            if scalars:
                writer.add_index(scalars)
        current_shard = min(number * num_files // max(total, 1), num_files - 1)
        if current_shard != shard or len(pending) == _ROWS_PER_WRITE:
            writer.write_to(shard, pending)
            pending, shard = [], current_shard
        pending.append(
            {
                _sanitize_column_name(name): _convert_to_field_type(
                    name, np.asarray(array), fields[_sanitize_column_name(name)]
                )
                for name, array in row.items()
            }
        )
        number += 1
    if writer is None:
        raise RuntimeError("There is no row to save.")
    writer.write_to(shard, pending)
    writer.commit()


@fluent
@checked
def save(self: Dataset, file_name: Text, num_files: NumFiles = 1, file_type: Text = "mindrecord") -> None:
    """Write the rows to MindRecord files.

    Args:
        file_name (str): Path of the (first) file.
        num_files (int, optional): Number of files, 1 to 1000. Default: 1.
        file_type (str, optional): 'mindrecord' is the only one. Default: 'mindrecord'.

    Raises:
        ValueError: If `num_files` or `file_type` is not supported.
    """
    if file_type != "mindrecord":
        raise ValueError(f"{file_type} dataset format is not supported.")
    _write_rows(self, file_name, num_files)
