"""ONNX files: models as dicts with the field names of onnx.proto, tensors as arrays that are read on access.

The numbers of fields and types are those of the ONNX specification (onnx/onnx.proto, IR version 10).
`msnb.exchange.onnx` interprets a model.
"""

import math
import mmap
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from msnb._util.atomic_file import writing
from msnb.formats.text_files import BadFileError

from . import encryption, protobuf

_STRING_PAIR = {"key": (1, "str", False), "value": (2, "str", False)}
SCHEMA: dict[str, Any] = {
    "Model": {
        "ir_version": (1, "int", False),
        "producer_name": (2, "str", False),
        "producer_version": (3, "str", False),
        "domain": (4, "str", False),
        "model_version": (5, "int", False),
        "doc_string": (6, "str", False),
        "graph": (7, "Graph", False),
        "opset_import": (8, "OperatorSet", True),
        "metadata_props": (14, "Pair", True),
        "functions": (25, "Function", True),
    },
    "OperatorSet": {"domain": (1, "str", False), "version": (2, "int", False)},
    "Pair": _STRING_PAIR,
    "Graph": {
        "node": (1, "Node", True),
        "name": (2, "str", False),
        "initializer": (5, "Tensor", True),
        "doc_string": (10, "str", False),
        "input": (11, "ValueInfo", True),
        "output": (12, "ValueInfo", True),
        "value_info": (13, "ValueInfo", True),
        "sparse_initializer": (15, "SparseTensor", True),
    },
    "Function": {
        "name": (1, "str", False),
        "input": (4, "str", True),
        "output": (5, "str", True),
        "attribute": (6, "str", True),
        "node": (7, "Node", True),
        "doc_string": (8, "str", False),
        "opset_import": (9, "OperatorSet", True),
        "domain": (10, "str", False),
        "attribute_proto": (11, "Attribute", True),
    },
    "Node": {
        "input": (1, "str", True),
        "output": (2, "str", True),
        "name": (3, "str", False),
        "op_type": (4, "str", False),
        "attribute": (5, "Attribute", True),
        "doc_string": (6, "str", False),
        "domain": (7, "str", False),
    },
    "Attribute": {
        "name": (1, "str", False),
        "f": (2, "float", False),
        "i": (3, "int", False),
        "s": (4, "bytes", False),
        "t": (5, "Tensor", False),
        "g": (6, "Graph", False),
        "floats": (7, "float", True),
        "ints": (8, "int", True),
        "strings": (9, "bytes", True),
        "tensors": (10, "Tensor", True),
        "graphs": (11, "Graph", True),
        "tp": (14, "Type", False),
        "type": (20, "int", False),
        "ref_attr_name": (21, "str", False),
        "sparse_tensor": (22, "SparseTensor", False),
    },
    "Tensor": {
        "dims": (1, "int", True),
        "data_type": (2, "int", False),
        "float_data": (4, "float", True),
        "int32_data": (5, "int", True),
        "string_data": (6, "bytes", True),
        "int64_data": (7, "int", True),
        "name": (8, "str", False),
        "raw_data": (9, "span", False),
        "double_data": (10, "double", True),
        "uint64_data": (11, "int", True),
        "external_data": (13, "Pair", True),
        "data_location": (14, "int", False),
    },
    "SparseTensor": {"values": (1, "Tensor", False), "indices": (2, "Tensor", False), "dims": (3, "int", True)},
    "ValueInfo": {"name": (1, "str", False), "type": (2, "Type", False), "doc_string": (3, "str", False)},
    "Type": {
        "tensor_type": (1, "TensorType", False),
        "sequence_type": (4, "Element", False),
        "map_type": (5, "Element", False),
        "sparse_tensor_type": (8, "TensorType", False),
        "optional_type": (9, "Element", False),
    },
    "TensorType": {"elem_type": (1, "int", False), "shape": (2, "Shape", False)},
    "Element": {},
    "Shape": {"dim": (1, "Dimension", True)},
    "Dimension": {"dim_value": (1, "int", False), "dim_param": (2, "str", False)},
}

DTYPES: dict[int, Any] = {
    1: np.dtype("float32"),
    2: np.dtype("uint8"),
    3: np.dtype("int8"),
    4: np.dtype("uint16"),
    5: np.dtype("int16"),
    6: np.dtype("int32"),
    7: np.dtype("int64"),
    9: np.dtype("bool"),
    10: np.dtype("float16"),
    11: np.dtype("float64"),
    12: np.dtype("uint32"),
    13: np.dtype("uint64"),
    14: np.dtype("complex64"),
    15: np.dtype("complex128"),
    16: np.dtype(ml_dtypes.bfloat16),
}
NUMBERS: dict[str, int] = {dtype.name: number for number, dtype in DTYPES.items()}
_OTHER = {
    8: "string",
    17: "float8e4m3fn",
    18: "float8e4m3fnuz",
    19: "float8e5m2",
    20: "float8e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4e2m1",
}
# Element type -> field that has the values if raw_data is not set.
_FIELDS = {1: "float_data", 14: "float_data", 7: "int64_data", 11: "double_data", 15: "double_data"}
_FIELDS.update({12: "uint64_data", 13: "uint64_data"})
_KINDS = {"f": 1, "i": 2, "s": 3, "t": 4, "g": 5, "floats": 6, "ints": 7, "strings": 8, "tensors": 9, "graphs": 10}

LARGEST = 2**31 - 2**20  # bytes of the largest message; protocol buffers are limited to 2 GiB
_SMALL = 1024  # a tensor with fewer bytes stays in the file of the model


def load(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a model as a dict. The bytes of its tensors stay in the file until `array` reads them.

    Raises:
        BadFileError: If the file is not an ONNX model.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)) if size else memoryview(b"")
    try:
        return parse(data)
    except protobuf.WireError as error:
        raise BadFileError(f"Invalid file, {os.fspath(path)!r} is no ONNX model: {error}.") from None


def parse(data: bytes | memoryview) -> dict[str, Any]:
    """Decode the bytes of a model to a dict.

    Raises:
        WireError: If the bytes are not a model.
    """
    try:
        model = protobuf.decode(SCHEMA, "Model", data)
    except (IndexError, ValueError) as error:
        raise error if isinstance(error, protobuf.WireError) else protobuf.WireError(str(error)) from None
    if "graph" not in model:
        raise protobuf.WireError("it holds no graph")
    return model


def array(tensor: dict[str, Any], folder: str | os.PathLike[str] | None = None) -> np.ndarray:
    """Return the array of a Tensor message.

    Args:
        tensor (dict): The message.
        folder (str): Folder of the model, for tensors in separate files. Default: None, there are none.

    Raises:
        ValueError: If numpy has no such element type, the number of bytes does not match the shape, or a separate file
            is missing, too short or outside of the folder.
    """
    name, number = tensor.get("name", ""), tensor.get("data_type", 0)
    if number not in DTYPES:
        raise ValueError(f"The ONNX tensor {name!r} has the element type {_OTHER.get(number, number)}; msnb has none.")
    dtype, shape = DTYPES[number], tuple(tensor.get("dims", ()))
    if any(n < 0 for n in shape):
        raise ValueError(f"The ONNX tensor {name!r} has the shape {shape}.")
    count = math.prod(shape)
    if tensor.get("data_location") == 1:
        raw = _read_external_data(tensor, count * dtype.itemsize, folder)
    else:
        raw = tensor.get("raw_data")
    if raw is not None:
        if len(raw) != count * dtype.itemsize:
            raise ValueError(
                f"The ONNX tensor {name!r} of shape {shape} and type {dtype.name} needs "
                f"{count * dtype.itemsize} bytes, but has {len(raw)}."
            )
        return np.frombuffer(raw, dtype.newbyteorder("<") if dtype.isbuiltin else dtype).astype(dtype).reshape(shape)
    values = tensor.get(_FIELDS.get(number, "int32_data"), [])
    if dtype.kind == "c":
        values = [complex(*pair) for pair in zip(values[::2], values[1::2], strict=False)]
    if len(values) != count:
        raise ValueError(f"The ONNX tensor {name!r} of shape {shape} needs {count} values, but has {len(values)}.")
    if number in (10, 16):  # int32_data has the bits of float16 and bfloat16
        return np.array(values, np.int64).astype(np.uint16).view(dtype).reshape(shape)
    if dtype.kind in "iu":
        return np.array([v & 0xFFFFFFFFFFFFFFFF for v in values], np.uint64).astype(dtype).reshape(shape)
    return np.array(values, dtype).reshape(shape)


def _read_external_data(tensor, size, folder):
    """Read the bytes of a tensor that are in a separate file in the model's folder."""
    location_of = {pair.get("key"): pair.get("value", "") for pair in tensor.get("external_data", [])}
    name, location = tensor.get("name", ""), location_of.get("location", "")
    if folder is None:
        raise ValueError(f"The ONNX tensor {name!r} is kept in the file {location!r}; load the model by its path.")
    root = Path(folder).resolve()
    try:
        path = (root / location).resolve()  # follows links
    except (OSError, RuntimeError, ValueError):  # circular links, or a name with a zero byte
        path = root
    if root not in path.parents:
        raise ValueError(f"The ONNX tensor {name!r} is kept in {location!r}, which is not below the model's folder.")
    try:
        offset, length = int(location_of.get("offset") or 0), int(location_of.get("length") or size)
    except ValueError:
        raise ValueError(f"The ONNX tensor {name!r} has an offset or a length that is no number.") from None
    available = os.path.getsize(path) if os.path.isfile(path) else -1  # opening a pipe would block
    if available < 0 or not os.access(path, os.R_OK):
        raise ValueError(f"The ONNX tensor {name!r} is kept in {location!r}, which is no file that can be read.")
    if length != size or offset < 0 or offset + size > available:
        raise ValueError(f"The ONNX tensor {name!r} needs {size} bytes, which {location!r} does not have at {offset}.")
    return memoryview(np.memmap(path, np.uint8, "r", offset, (size,)) if size else b"")


# ---------------------------------------------------------------------- writing
def tensor(value: Any, name: str = "") -> dict[str, Any]:
    """Return the Tensor message of an array."""
    value = np.asarray(value)
    if value.dtype.name not in NUMBERS:
        raise ValueError(f"ONNX has no tensors of {value.dtype.name}.")
    little = np.ascontiguousarray(value).reshape(value.shape)
    raw = little.view(np.uint8).reshape(-1).data if little.size and little.ndim else little.tobytes()
    message = {"dims": list(value.shape), "data_type": NUMBERS[value.dtype.name], "raw_data": raw}
    return {**message, "name": name} if name else message


def attribute(name: str, value: Any) -> dict[str, Any]:
    """Return the Attribute message of a Python value: a number, a text, an array, a Graph message, or a list of values
    of one of these kinds.

    Raises:
        TypeError: If ONNX has no attribute for it.
    """
    many = isinstance(value, (list, tuple))
    first = (value[0] if value else 0) if many else value
    if isinstance(first, (bool, int, np.integer)) and (
        not many or all(isinstance(v, (bool, int, np.integer)) for v in value)
    ):
        kind, value = "i", [int(v) for v in value] if many else int(value)
    elif isinstance(first, (int, float, np.floating)):
        kind, value = "f", [float(v) for v in value] if many else float(value)
    elif isinstance(first, str):
        kind, value = "s", [v.encode() for v in value] if many else value.encode()
    elif isinstance(first, np.ndarray):
        kind, value = "t", [tensor(v) for v in value] if many else tensor(value)
    elif isinstance(first, dict):
        kind = "g"
    else:
        raise TypeError(f"ONNX has no attribute of {type(first).__name__}.")
    field = {"i": "ints", "f": "floats", "s": "strings", "t": "tensors", "g": "graphs"}[kind] if many else kind
    return {"name": name, field: value, "type": _KINDS[field]}


def attributes(node: dict[str, Any]) -> dict[str, Any]:
    """Return {name: value} of a Node's attributes: numbers, texts, Tensor and Graph messages, and lists of them.

    A float is returned as the shortest decimal that has the same float32 value: 1e-05, not 9.999999747378752e-06.
    """
    values = {}
    for message in node.get("attribute", []):
        field = next((f for f, number in _KINDS.items() if number == message.get("type")), None)
        if field is None:  # old writers omit the type
            field = next((f for f in _KINDS if f in message), None)
        if field is None:
            continue
        value = message.get(field, {"f": 0.0, "i": 0, "s": b""}.get(field, []))
        if field == "f":
            value = float(str(np.float32(value)))
        elif field == "floats":
            value = [float(str(np.float32(v))) for v in value]
        elif field == "s":
            value = value.decode("utf-8", "replace")
        elif field == "strings":
            value = [v.decode("utf-8", "replace") for v in value]
        values[message.get("name", "")] = value
    return values


def value_info(name: str, dtype: str, shape: Iterable[Any] | None) -> dict[str, Any]:
    """Return the ValueInfo message of a value; a dimension that is a str is symbolic."""
    tensor_type: dict[str, Any] = {"elem_type": NUMBERS[dtype]}
    if shape is not None:
        dims = [{"dim_param": n} if isinstance(n, str) else {"dim_value": int(n)} for n in shape]
        tensor_type["shape"] = {"dim": dims}
    return {"name": name, "type": {"tensor_type": tensor_type}}


def save(model: dict[str, Any], path: str | os.PathLike[str], cipher: Any = None) -> list[str]:
    """Write a model; more than 2 GB of weights go to a separate file, ``NAME.data``.

    Args:
        model (dict): The Model message.
        path (str): The file.
        cipher (CustomCipher): Encrypts the file of the model. A separate file of weights would not be encrypted, so a
            model that needs one raises ValueError. Default: None.

    Returns:
        list[str], the paths of the written files.
    """
    path = Path(path)
    weights = model["graph"].get("initializer", [])
    written = [str(path)]
    if sum(len(w.get("raw_data", b"")) for w in weights) > LARGEST:
        if cipher is not None:
            raise ValueError(f"{str(path)!r} has its weights in a file of their own, which would not be encrypted.")
        weights_path = path.with_name(path.name + ".data")
        model = {**model, "graph": {**model["graph"], "initializer": _write_weights(weights, weights_path)}}
        written.append(str(weights_path))
    data = protobuf.encode(SCHEMA, "Model", model)
    with writing(path) as target, encryption.encrypting(target, cipher) as file:
        file.write(data)
    return written


def _write_weights(weights, path):
    """Write the bytes of tensors to a file. Return Tensor messages that refer to them."""
    messages, at = [], 0
    with writing(path) as file:
        for weight in weights:
            raw = weight.get("raw_data", b"")
            if len(raw) < _SMALL:
                messages.append(weight)
                continue
            at += file.write(bytes(-at % 4096))
            place = {"location": path.name, "offset": str(at), "length": str(len(raw))}
            at += file.write(raw)
            other_fields = {key: value for key, value in weight.items() if key != "raw_data"}
            pairs = [{"key": key, "value": value} for key, value in place.items()]
            messages.append({**other_fields, "external_data": pairs, "data_location": 1})
    return messages
