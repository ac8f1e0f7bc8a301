"""Decoder and encoder of the TensorProto in MindSpore's event files, which contains an array."""

from typing import Any

import numpy as np

SCHEMA = {
    "TensorProto": {
        "dims": (1, "int", True),
        "data_type": (2, "int", False),
        "float_data": (3, "float", True),
        "int32_data": (4, "int", True),
        "int64_data": (5, "int", True),
        "double_data": (6, "double", True),
        "uint64_data": (7, "int", True),
        "raw_data": (8, "bytes", False),
    }
}
PACKED = {
    "TensorProto": {"dims": (1, "int", True), "data_type": (2, "int", False), "float_data": (3, "bytes", False)},
}
# Code of an element type -> its name, as in MindSpore's anf_ir.proto.
NAMES = {
    **dict(enumerate("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split(), 1)),
    43: "complex64",
    44: "complex128",
    46: "bfloat16",
}
CODES = {name: code for code, name in NAMES.items()}
_FIELDS = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data")


def dtype_of(code: int) -> np.dtype:
    """Return the dtype of a MindSpore type code; float32 for bfloat16, which numpy does not have."""
    name = NAMES[code]
    return np.dtype("float32" if name == "bfloat16" else name)


def array_from(message: dict[str, Any]) -> np.ndarray:
    """Convert a decoded TensorProto to an array, from `raw_data` or from the first field that has numbers.

    Raises:
        KeyError: If its type is not numeric.
        ValueError: If the number of elements does not match its shape.
    """
    dtype = dtype_of(message["data_type"])
    shape = tuple(message.get("dims", ()))
    if any(size < 0 for size in shape):
        raise ValueError(f"a tensor has the shape {shape}")
    if "raw_data" in message:
        return np.frombuffer(message["raw_data"], dtype.newbyteorder("<")).astype(dtype).reshape(shape)
    numbers: Any = next((message[name] for name in _FIELDS if message.get(name)), [])
    if dtype == np.uint64:
        numbers = [number % (1 << 64) if isinstance(number, int) else number for number in numbers]
    return np.array(numbers).astype(dtype).reshape(shape)


def tensor_message(array: np.ndarray) -> dict[str, Any]:
    """Return a TensorProto in the form of MindSpore's summaries: the numbers as float32, with the code of their
    original type.

    Encode it with the schema `PACKED`, because the numbers are already the bytes of a packed field.

    Raises:
        TypeError: If event files do not support the element type.
    """
    code = CODES.get(array.dtype.name)
    if code is None or array.dtype.kind == "c":
        raise TypeError(f"a summary cannot hold an array of {array.dtype}; convert it to float32 first")
    return {"dims": array.shape, "data_type": code, "float_data": array.astype("<f4").tobytes()}
