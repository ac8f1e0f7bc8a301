"""Encode names, element types and constants as a MINDIR file does."""

import jax.numpy as jnp
import numpy as np

from msnb.formats import mindir


class Name(str):
    """Name of a value in a MINDIR file. A plain str is a constant."""


TYPE_ID = {
    "Bool": 30, "Int8": 32, "Int16": 33, "Int32": 34, "Int64": 35, "UInt8": 37, "UInt16": 38, "UInt32": 39,
    "UInt64": 40, "Float16": 42, "Float32": 43, "Float64": 44, "BFloat16": 45,
}  # fmt: skip
_DTYPE_NAMES = {"Bool": "bool", "UInt8": "uint8", "UInt16": "uint16", "UInt32": "uint32", "UInt64": "uint64"}


def dtype_of(name):
    """Return the dtype that has this name in MindSpore, such as ``"Float32"``."""
    return jnp.dtype(_DTYPE_NAMES.get(name, name.lower()))


def element_type_name(dtype):
    """Return MindSpore's name of a dtype, such as ``"Float32"``."""
    name = jnp.dtype(dtype).name
    return {v: k for k, v in _DTYPE_NAMES.items()}.get(name, {"bfloat16": "BFloat16"}.get(name, name.capitalize()))


def common_type(values, types, node):
    """Return the element type to which an operator's inputs are converted.

    It is the element type of the result. If the result is Bool, it is the promoted type of the inputs.
    """
    if node.types[0].dtype != "Bool":
        return node.types[0].dtype
    tensors = [
        dtype_of(kind.dtype) if isinstance(value, Name) else value.dtype
        for value, kind in zip(values, types, strict=True)
        if not isinstance(value, (bool, int, float))
    ]
    numbers = [value for value in values if isinstance(value, (bool, int, float))]
    common = jnp.result_type(*tensors) if tensors else jnp.dtype(np.int32)
    if any(type(number) is float for number in numbers) and not jnp.issubdtype(common, jnp.floating):
        common = jnp.dtype(np.float32)
    elif any(type(number) is int for number in numbers) and common == np.bool_:
        common = jnp.dtype(np.int32)
    return element_type_name(common)


def plain(value):
    """Convert numpy's numbers to Python's, also in tuples."""
    if isinstance(value, (tuple, list)):
        return tuple(plain(v) for v in value)
    if isinstance(value, np.generic):
        return value.item()
    return value


def extra_attributes(node, op):
    """Return the annotations of a call (`msnb.core.operator.annotations`) that a file can store."""
    declared_names = {*op.attributes, *(declared.name for declared in op.inputs)}
    annotations = {
        name: plain(value) for name, value in node.attrs.items() if name not in declared_names and name[:1] != "_"
    }
    return {name: value for name, value in annotations.items() if _is_serializable(value)}


def _is_serializable(value):
    if isinstance(value, tuple):
        return all(map(_is_serializable, value))
    return isinstance(value, (bool, int, float, str)) or (isinstance(value, np.ndarray) and value.dtype in mindir.CODES)


def is_length(value):
    """Return True if a dimension is known only when the network runs."""
    return not isinstance(value, (int, np.integer))


def tensor_description(kind):
    """Return the message that describes a Tensor, without its value. An unknown dimension is -1."""
    dims = [-1 if is_length(size) else size for size in kind.shape]
    return {"dims": dims, "data_type": mindir.CODES[dtype_of(kind.dtype)]}


def value_description(name, kind):
    """Return the message that describes an input of a function."""
    return {"name": name, "tensor": [{**tensor_description(kind), "name": name}]}


def integer_description(count):
    """Return the message that describes a node's result: a tuple of `count` integers, or one integer if `count` is
    None.
    """
    integer = {"type": mindir.SCALAR, "tensors": [{"dims": [0], "data_type": mindir.CODES[np.dtype(np.int64)]}]}
    if count is None:
        return {"name": "shape", **integer}
    return {"name": "shape", "type": mindir.TUPLE, "values": [{"name": "", **integer} for _ in range(count)]}


def description(name, types):
    """Return the attribute that describes the results of a node."""
    if len(types) == 1 and types[0] is None:
        return {"name": name, "type": mindir.NONE}
    if len(types) == 1:
        return {"name": name, "type": mindir.TENSORS, "tensors": [tensor_description(types[0])]}
    return {"name": name, "type": mindir.TUPLE, "values": [description("", (kind,)) for kind in types]}
