"""Reader and writer of MINDIR files: messages as dicts, tensors as arrays, and separate files of weights.

A message is a dict of the fields that are set, as `protobuf.decode` returns it; `Message` gives attribute access to
one. A tensor's bytes are a view of the memory-mapped file, so they are read from the file when they are used.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

import ml_dtypes
import numpy as np

from msnb._util.atomic_file import writing
from msnb.formats import arrays, encryption, protobuf
from msnb.formats.encryption import Cipher, CustomCipher
from msnb.formats.text_files import BadFileError

SCHEMA: dict[str, Any] = {
    "Model": {
        "ir_version": (1, "str", False), "producer_name": (2, "str", False), "producer_version": (3, "str", False),
        "domain": (4, "str", False), "model_version": (5, "str", False), "doc_string": (6, "str", False),
        "graph": (7, "Graph", False), "functions": (8, "Graph", True), "little_endian": (10, "int", False),
        "primitives": (12, "Primitive", True), "mind_ir_version": (13, "int", False),
        "user_info": (14, "Entry", True),
    },
    "Entry": {"key": (1, "str", False), "value": (2, "str", False)},
    "Graph": {
        "node": (1, "Node", True), "name": (2, "str", False), "parameter": (3, "Tensor", True),
        "doc_string": (4, "str", False), "input": (5, "Value", True), "output": (6, "Value", True),
        "bprop_hash": (7, "str", False), "attribute": (8, "Attribute", True), "bprop_filepath": (9, "str", False),
        "map_parameter": (10, "MapTensor", True),
    },
    "MapTensor": {"name": (1, "str", False)},
    "Node": {
        "input": (1, "str", True), "output": (2, "str", True), "name": (3, "str", False), "op_type": (4, "str", False),
        "attribute": (5, "Attribute", True), "doc_string": (6, "str", False), "domain": (7, "str", False),
        "node_attr": (8, "Attribute", True), "primal_attr": (9, "Attribute", True),
    },
    "Primitive": {
        "name": (1, "str", False), "op_type": (2, "str", False), "attribute": (3, "Attribute", True),
        "instance_name": (4, "str", False), "prim_type": (5, "int", False),
    },
    "Value": {
        "name": (1, "str", False), "tensor": (2, "Tensor", True), "doc_string": (3, "str", False),
        "denotation": (4, "str", False), "attr_info": (5, "Attribute", False),
    },
    "Attribute": {
        "name": (1, "str", False), "f": (2, "float", False), "i": (3, "int", False), "d": (4, "double", False),
        "s": (5, "bytes", False), "t": (6, "Tensor", False), "g": (7, "Graph", False), "floats": (8, "float", True),
        "doubles": (9, "double", True), "ints": (10, "int", True), "strings": (11, "bytes", True),
        "tensors": (12, "Tensor", True), "graphs": (13, "Graph", True), "doc_string": (14, "str", False),
        "ref_attr_name": (15, "str", False), "type": (16, "int", False), "values": (17, "Attribute", True),
    },
    "Tensor": {
        "dims": (1, "int", True), "data_type": (2, "int", False), "float_data": (3, "float", True),
        "int32_data": (4, "int", True), "string_data": (5, "bytes", True), "int64_data": (6, "int", True),
        "name": (7, "str", False), "doc_string": (8, "str", False), "raw_data": (9, "span", False),
        "double_data": (10, "double", True), "uint64_data": (11, "int", True),
        "external_data": (12, "External", False), "ref_key": (13, "str", False), "min_dims": (14, "int", True),
        "max_dims": (15, "int", True), "compression_type": (16, "int", False),
    },
    "External": {"location": (1, "str", False), "offset": (2, "int", False), "length": (3, "int", False)},
}  # fmt: skip

ENDING = ".mindir"
FLOAT, INT64, STRING, BOOL, DOUBLE, TENSOR, TENSORS = 1, 7, 8, 9, 11, 17, 19  # kinds of attributes
TUPLE, LIST, UMONAD, IOMONAD, NONE = 20, 21, 23, 24, 25
GRAPH_CLOSURE, PARTIAL_CLOSURE, ANY_CLOSURE, SCALAR = 27, 28, 29, 39
_INTEGERS = frozenset((2, 3, 4, 5, 6, INT64, 12, 13))
TYPES: dict[int, Any] = {  # code of an element type -> its dtype
    code: np.dtype(kind)
    for code, kind in {
        1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32, 7: np.int64, 9: np.bool_,
        10: np.float16, 11: np.float64, 12: np.uint32, 13: np.uint64, 14: np.complex64, 15: np.complex128,
        16: ml_dtypes.bfloat16,
    }.items()
}  # fmt: skip
CODES: dict[Any, int] = {kind: code for code, kind in TYPES.items()}
SPLIT = 1 << 30  # weights of more bytes than this are written to a separate file, as in MindSpore
_ALIGNED = 64  # alignment of the weights in such a file, and length of its header


# ---------------------------------------------------------------------- files
def load_model(path: str, cipher: Cipher | CustomCipher | None = None) -> dict[str, Any]:
    """Read a model. Its tensors are views of the memory-mapped file.

    Args:
        path (str): The file.
        cipher (Cipher): Cipher that decrypts. Default: None, for files that are not encrypted.

    Raises:
        BadFileError: If the file is not a MINDIR file, does not match `cipher`, or is damaged.
        OSError: If it cannot be read.
    """
    data = arrays.mapped(path)
    if not len(data):
        raise BadFileError(f"The MINDIR file {path!r} is empty.")
    other = "damaged, or encrypted in a way of its own" if cipher is None else "damaged, or the key is another one"
    try:
        model = protobuf.decode(SCHEMA, "Model", encryption.decrypt_if_encrypted(data, cipher, path))
    except protobuf.WireError as error:
        raise BadFileError(f"{path!r} is no MINDIR file, or it is {other}: {error}. Export it once more.") from None
    if "graph" not in model:
        raise BadFileError(f"{path!r} holds no graph: it is no MINDIR file, or it is {other}.")
    if model.get("little_endian", 1) != 1:
        raise BadFileError(f"{path!r} was written on a big-endian machine; export it on a little-endian one.")
    return model


def save(path: str, model: dict[str, Any], cipher: Cipher | CustomCipher | None = None) -> None:
    """Write a model. If its weights have more than 1 GiB, they are written to a separate folder next to it.

    Args:
        path (str): The file.
        model (dict): The Model message.
        cipher (Cipher): Encrypts the files. Default: None.
    """
    weights = model["graph"].get("parameter", ())
    if sum(len(weight["raw_data"]) for weight in weights) > SPLIT:
        path, model = _write_weights(path, model, cipher)
    with writing(path) as target, encryption.encrypting(target, cipher) as file:
        file.write(protobuf.encode(SCHEMA, "Model", model))


def _write_weights(path, model, cipher):
    """Write the weights to NAME_variables/data_0. Return (path for the graph, model that refers to these weights)."""
    name = path.removesuffix(ENDING)
    location = os.path.join(os.path.basename(name) + "_variables", "data_0")
    target = os.path.join(os.path.dirname(path), location)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    references, offset = [], _ALIGNED
    with writing(target) as plain, encryption.encrypting(plain, cipher) as file:
        file.write(b"\x01".ljust(_ALIGNED, b"\0"))  # 1 means little-endian
        for weight in sorted(model["graph"]["parameter"], key=lambda w: w["name"]):
            data = weight["raw_data"]
            padding = -len(data) % _ALIGNED
            file.write(data)
            file.write(bytes(padding))
            location_message = {"location": location, "offset": offset, "length": len(data)}
            references.append(
                {**{k: v for k, v in weight.items() if k != "raw_data"}, "external_data": location_message}
            )
            offset += len(data) + padding
    return f"{name}_graph{ENDING}", {**model, "graph": {**model["graph"], "parameter": references}}


class WeightFiles:
    """Separate files with the weights of a model, each mapped or decrypted on first access.

    Args:
        folder (str): Folder of the model. A path outside of it raises BadFileError.
        cipher (Cipher): Cipher that decrypts. Default: None, for files that are not encrypted.
    """

    def __init__(self, folder: str, cipher: Cipher | CustomCipher | None = None) -> None:
        self._root, self._cipher = os.path.realpath(folder), cipher
        self._files: dict[str, Any] = {}

    def bytes_at(self, place: dict[str, Any]) -> Any:
        """Return the bytes that a message of the kind External refers to.

        Raises:
            BadFileError: If there is no such file in the folder, or it is too short.
        """
        location, offset, length = place.get("location", ""), place.get("offset", 0), place.get("length", 0)
        data = self._open_weight_file(location)
        if offset < 0 or length < 0 or offset + length > len(data):
            raise BadFileError(
                f"The file is damaged: {location!r} has {len(data)} bytes, and a weight reaches beyond them."
            )
        return data[offset : offset + length]

    def _open_weight_file(self, location):
        if location not in self._files:
            path = os.path.realpath(os.path.join(self._root, location.replace("\0", "")))
            if (
                not location
                or "\0" in location
                or os.path.commonpath((self._root, path)) != self._root
                or path == self._root
            ):
                raise BadFileError(
                    f"The weights are said to be in {location!r}, which is not in the folder of the file."
                )
            if not os.path.isfile(path):
                raise BadFileError(f"The weights are said to be in {location!r}, which is missing beside the file.")
            self._files[location] = encryption.decrypt_if_encrypted(arrays.mapped(path), self._cipher, path)
        return self._files[location]


# ---------------------------------------------------------------------- tensors
def type_of(tensor: dict[str, Any]) -> tuple[Any, tuple[int, ...]]:
    """Return (dtype, shape) of a tensor message.

    Raises:
        BadFileError: If its type or shape is invalid.
    """
    code = tensor.get("data_type", 0)
    if code not in TYPES:
        raise BadFileError(f"The file is damaged: a tensor has the unknown element type {code}.")
    shape = tuple(tensor.get("dims", ()))
    if any(size < -2 for size in shape):
        raise BadFileError(f"The file is damaged: a tensor has the shape {shape}.")
    return TYPES[code], shape


def array(tensor: dict[str, Any], weight_files: WeightFiles | None = None) -> np.ndarray:
    """Return the array of a tensor message, as a view of its file.

    Args:
        tensor (dict): The message.
        weight_files (WeightFiles): Separate files with weights of the model. Default: None, there are none.

    Raises:
        BadFileError: If the number of bytes is wrong, the tensor is compressed, or its file is outside of the folder.
    """
    kind, shape = type_of(tensor)
    name = f"The file is damaged: the tensor {tensor.get('name', '')!r}"
    if tensor.get("compression_type"):
        raise BadFileError("A weight of the file is compressed, which msnb does not read; export it uncompressed.")
    data = tensor.get("raw_data", b"")
    if "external_data" in tensor:
        if weight_files is None:
            raise BadFileError(f"{name} is said to be in another file, where none can be.")
        data = weight_files.bytes_at(tensor["external_data"])
    return arrays.view(data, kind, shape, name)


def tensor(value: Any, name: str | None = None) -> dict[str, Any]:
    """Return the tensor message of an array. Raise ValueError if MINDIR has no such element type."""
    value = np.asarray(value)
    if value.dtype not in CODES:
        raise ValueError(f"MINDIR has no element type for {value.dtype}.")
    message = {"dims": list(value.shape), "data_type": CODES[value.dtype]}
    message["raw_data"] = arrays.content(value)
    return message if name is None else {**message, "name": name}


# ---------------------------------------------------------------------- attributes
def attribute(name: str, value: Any, inside: bool = False) -> dict[str, Any]:
    """Return the attribute message of a number, text, array, None, or a tuple or list of them.

    `inside` is True for an element of a sequence. Its value is in a repeated field, such as "ints" instead of "i".
    """
    if value is None:
        return {"name": name, "type": NONE}
    if isinstance(value, (tuple, list)):
        kind = TUPLE if isinstance(value, tuple) else LIST
        return {"name": name, "type": kind, "values": [attribute("", item, True) for item in value]}
    if isinstance(value, (np.ndarray, np.generic)) and not isinstance(value, (bool, int, float)):
        return {"name": name, "type": TENSORS, "tensors": [tensor(value)]}
    one, many, kind, item = {
        bool: ("i", "ints", BOOL, value),
        int: ("i", "ints", INT64, value),
        float: ("f", "floats", FLOAT, value),
        str: ("s", "strings", STRING, value.encode() if isinstance(value, str) else value),
    }[type(value)]
    return {"name": name, "type": kind, many: [item]} if inside else {"name": name, "type": kind, one: item}


def value_of(message: dict[str, Any]) -> Any:
    """Return the value of an attribute message: a number, text, array, None, or a tuple or list of them.

    Raises:
        BadFileError: If the kind of the attribute has no value.
    """
    kind = message.get("type", 0)
    if kind in (TUPLE, LIST):
        items = [value_of(item) for item in message.get("values", ())]
        return tuple(items) if kind == TUPLE else items
    if kind in _INTEGERS or kind == BOOL:
        value = (message.get("ints") or [message.get("i", 0)])[0]
        return bool(value) if kind == BOOL else value
    if kind == FLOAT:
        single = (message.get("floats") or [message.get("f", 0.0)])[0]
        return float(str(np.float32(single)))  # the decimal number that was written: 1e-05, not 9.99999974e-06
    if kind == DOUBLE:
        return (message.get("doubles") or [message.get("d", 0.0)])[0]
    if kind == STRING:
        return (message.get("strings") or [message.get("s", b"")])[0].decode("utf-8", "replace")
    if kind in (TENSOR, TENSORS):
        tensors = [message["t"]] if "t" in message else message.get("tensors", [])
        if len(tensors) != 1:
            raise BadFileError(f"The file is damaged: an attribute should be one tensor, and is {len(tensors)}.")
        return array(tensors[0])
    if kind == NONE:
        return None
    raise BadFileError(f"The attribute {message.get('name', '')!r} is of the kind {kind}, which stands for no value.")


# ---------------------------------------------------------------------- inspection
class Message(Mapping[str, Any]):
    """Message whose fields are read as attributes; unset fields are empty, as in protocol buffers."""

    __slots__ = ("_kind", "_fields")

    def __init__(self, kind: str, fields: dict[str, Any]) -> None:
        self._kind, self._fields = kind, fields

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in SCHEMA[self._kind]:
            raise AttributeError(f"A {self._kind} of MINDIR has no field {name!r}; it has {', '.join(self)}.")
        return self[name]

    def __getitem__(self, name: str) -> Any:
        _, kind, repeated = SCHEMA[self._kind][name]
        value = self._fields.get(name)
        if kind not in SCHEMA:
            empty = {"int": 0, "float": 0.0, "double": 0.0, "str": ""}.get(kind, b"")
            return list(value or ()) if repeated else empty if value is None else value
        return [Message(kind, item) for item in value or ()] if repeated else Message(kind, value or {})

    def __iter__(self) -> Iterator[str]:
        return iter(SCHEMA[self._kind])

    def __len__(self) -> int:
        return len(SCHEMA[self._kind])

    def __repr__(self) -> str:
        return f"{self._kind}({', '.join(self._fields)})"


def read(path: str) -> Message:
    """Return the model in a file, for inspection; see `load_model`."""
    return Message("Model", load_model(path))
