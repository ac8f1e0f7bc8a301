"""Reader and writer of the file of MindSpore's Print operators: consecutive texts and arrays.

The file is one message ``Print {repeated Value value = 1}`` with ``Value {string desc = 1 or TensorProto tensor = 2}``.
Each value is appended as another ``Print``, because a protocol buffer that follows another one extends it. Element
types have the names of r1.1. A scalar has no dims.
"""

from pathlib import Path
from typing import Any

import numpy as np

from msnb.formats import protobuf
from msnb.formats.text_files import BadFileError

_SCHEMA = {
    "Print": {"value": (1, "Value", True)},
    "Value": {"desc": (1, "str", False), "tensor": (2, "TensorProto", False)},
    "TensorProto": {
        "dims": (1, "int", True),
        "tensor_type": (2, "str", False),
        "tensor_content": (3, "bytes", False),
    },
}
_NAMES = {
    np.dtype(name.lower()): name
    for name in "Int8 Uint8 Int16 Uint16 Int32 Uint32 Int64 Uint64 Float16 Float32 Float64 Bool".split()
}
_DTYPES = {name.lower(): dtype for dtype, name in _NAMES.items()}  # later versions write UInt8


class PrintFileError(BadFileError):
    """Error of a file that no Print operator wrote, or that is damaged."""


def record(value: Any) -> bytes:
    """Encode one printed value as bytes.

    Args:
        value (Union[str, numpy.ndarray]): A text or an array. An array whose element type the format does not have is
            written as text.
    """
    if not isinstance(value, str):
        array = np.asarray(value)
        name = _NAMES.get(array.dtype)
        if name is not None:
            content = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
            tensor = {"dims": array.shape, "tensor_type": name, "tensor_content": content}
            return protobuf.encode(_SCHEMA, "Print", {"value": [{"tensor": tensor}]})
    return protobuf.encode(_SCHEMA, "Print", {"value": [{"desc": str(value)}]})


def read(path: str | Path) -> list[Any]:
    """Read the texts (str) and arrays of a file, in the order in which they were printed.

    Raises:
        OSError: If the file cannot be read.
        PrintFileError: If the file is empty or damaged, or no Print operator wrote it.
    """
    data = Path(path).read_bytes()
    if not data:
        raise PrintFileError(f"{path} is empty: nothing was printed to it, or it is another file that is meant.")
    try:
        values = protobuf.decode(_SCHEMA, "Print", data).get("value", [])
        return [_decode_value(value) for value in values]
    except (protobuf.WireError, IndexError, KeyError, ValueError) as error:
        raise PrintFileError(f"{path} is no file of printed values, or a damaged one: {error}.") from None


def _decode_value(value):
    if "tensor" not in value:
        return value["desc"]
    tensor = value["tensor"]
    dtype = _DTYPES[tensor["tensor_type"].lower()].newbyteorder("<")
    array = np.frombuffer(tensor["tensor_content"], dtype).astype(dtype.newbyteorder("="))
    return array.reshape(tensor.get("dims", ()))
