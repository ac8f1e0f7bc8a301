"""Converter from TFRecord to MindRecord.

Reading needs no TensorFlow. Features are described with its ``FixedLenFeature`` or a similar object.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from msnb.formats.protobuf import WireError
from msnb.formats.text_files import BadFileError
from msnb.mindrecord._example import examples, values_of
from msnb.mindrecord.shardutils import check_filename
from msnb.mindrecord.tools._convert import write

__all__ = ["TFRecordToMR"]
_TYPES = {
    "string": "string",
    "int8": "int32",
    "int16": "int32",
    "int32": "int32",
    "int64": "int64",
    "uint8": "int32",
    "uint16": "int32",
    "uint32": "int64",
    "uint64": "int64",
    "float16": "float32",
    "float32": "float32",
    "float64": "float64",
    "double": "float64",
    "bool": "int32",
}


def _cast_name(key):
    """Replace the characters of `key` that a field name may not have by underscores."""
    if not isinstance(key, str):
        raise ValueError(f"The key {key!r} should be a str.")
    return "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in key)


def _get_dtype_name(dtype):
    name = getattr(dtype, "name", None) or (dtype if isinstance(dtype, str) else np.dtype(dtype).name)
    if name not in _TYPES:
        raise ValueError(f"Type {name} is not supported in MindRecord.")
    return name


class TFRecordToMR:
    """Converts a TFRecord file to MindRecord.

    Args:
        source (str): The TFRecord file.
        destination (str): Path of the MindRecord file.
        feature_dict (dict[str, FixedLenFeature]): Maps each feature to an object with ``shape`` and ``dtype``.
        bytes_fields (list, optional): String features to store as bytes. Default: None.

    Raises:
        ValueError: If an argument is wrong.
    """

    def __init__(
        self, source: str, destination: str, feature_dict: dict[str, Any], bytes_fields: list[Any] | None = None
    ) -> None:
        for name, value in (("source", source), ("destination", destination)):
            if not isinstance(value, str):
                raise ValueError(f"Parameter {name} must be string.")
            check_filename(value)
        if not isinstance(feature_dict, dict):
            raise ValueError("Parameter feature_dict is None or not dict.")
        for value in feature_dict.values():
            if not hasattr(value, "shape") or not hasattr(value, "dtype"):
                raise ValueError(f"Parameter feature_dict: {feature_dict} only support FixedLenFeature.")
        self.source = source
        self.destination = destination
        self.feature_dict = feature_dict
        self.bytes_fields_list = self._parse_bytes_fields(bytes_fields)
        self.mindrecord_schema = {_cast_name(k): self._make_field_schema(k, v) for k, v in feature_dict.items()}

    def _parse_bytes_fields(self, bytes_fields):
        if bytes_fields is None:
            return []
        if not isinstance(bytes_fields, list):
            raise ValueError(f"Parameter bytes_fields: {bytes_fields} must be list(str).")
        for item in bytes_fields:
            if not isinstance(item, str):
                raise ValueError(f"Parameter bytes_fields's item: {item} is not str.")
            if item not in self.feature_dict:
                raise ValueError(f"Parameter bytes_fields's item: {item} is not in feature_dict: {self.feature_dict}.")
            if not isinstance(self.feature_dict[item].shape, list):
                raise ValueError(f"Parameter feature_dict[{item}].shape should be a list.")
            if _get_dtype_name(self.feature_dict[item].dtype) != "string":
                raise ValueError(f"Parameter bytes_field: {item} should be tf.string in feature_dict.")
        return [_cast_name(item) for item in bytes_fields]

    def _make_field_schema(self, key, feature):
        name = _get_dtype_name(feature.dtype)
        if not feature.shape:
            return {"type": "bytes" if _cast_name(key) in self.bytes_fields_list else _TYPES[name]}
        if len(feature.shape) != 1:
            raise ValueError(f"Parameter len(feature_dict[{key}].shape) should be 1.")
        if feature.shape[0] < 1:
            raise ValueError(f"Parameter feature_dict[{key}].shape[0] should > 0")
        if name == "string":
            raise ValueError(
                f"Parameter feature_dict[{key}].dtype is tf.string which shape[0] is not None. It is not supported."
            )
        return {"type": _TYPES[name], "shape": [feature.shape[0]]}

    def tfrecord_iterator(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as dicts."""
        for number, data, features in examples(self.source):
            row = {}
            for key in self.feature_dict:
                name = _cast_name(key)
                kind = self.mindrecord_schema[name]
                if key not in features:
                    raise ValueError(
                        f"TFRecord feature_dict parameter error: record {number} of {self.source!r} has no feature "
                        f"{key!r}."
                    )
                try:
                    _, values = values_of(data, features[key])
                except WireError as error:
                    raise BadFileError(f"{self.source!r} is damaged: record {number}: {error}.") from None
                if "shape" in kind:
                    if len(values) != kind["shape"][0]:
                        raise ValueError(
                            f"TFRecord feature_dict parameter error: {key!r} has {len(values)} values, not "
                            f"{kind['shape'][0]}."
                        )
                    row[name] = np.asarray(values, kind["type"])
                    continue
                if len(values) != 1:
                    raise ValueError(f"The response key: {key}, value: {values} from TFRecord should be a scalar.")
                value = values[0]
                if kind["type"] == "string":
                    value = self._decode_text(value, key, number)
                elif kind["type"].startswith("int"):
                    value = int(value)
                elif kind["type"].startswith("float"):
                    value = float(value)
                row[name] = value
            yield row

    def _decode_text(self, value, key, number):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadFileError(
                f"Record {number} of {self.source!r} has a feature {key!r} that is no UTF-8 text: byte {error.start} "
                f"is {value[error.start]:#x}. Name it in bytes_fields to keep the bytes."
            ) from None

    tfrecord_iterator_oldversion = tfrecord_iterator

    def run(self) -> int:
        """Run the conversion: read the source and write the MindRecord files.

        Returns:
            int, 0.
        """
        return write(self.destination, self.tfrecord_iterator(), self.mindrecord_schema, "TFRecord to MindRecord")

    transform = run
