"""Names, element types and constants as a MINDIR file spells them."""

import jax.numpy as jnp
import numpy as np

from msnb.formats import mindir


class Name(str):
    """The name of a value in a file, as against a text that is a constant."""


TYPE_ID = {
    "Bool": 30, "Int8": 32, "Int16": 33, "Int32": 34, "Int64": 35, "UInt8": 37, "UInt16": 38, "UInt32": 39,
    "UInt64": 40, "Float16": 42, "Float32": 43, "Float64": 44, "BFloat16": 45,
}  # fmt: skip
_SPELLED = {"Bool": "bool", "UInt8": "uint8", "UInt16": "uint16", "UInt32": "uint32", "UInt64": "uint64"}


def dtype_of(name):
    """The dtype of an element type as MindSpore spells it."""
    return jnp.dtype(_SPELLED.get(name, name.lower()))


def spelled(dtype):
    """The element type of a dtype as MindSpore spells it."""
    name = jnp.dtype(dtype).name
    return {v: k for k, v in _SPELLED.items()}.get(name, {"bfloat16": "BFloat16"}.get(name, name.capitalize()))


def common_type(values, types, node):
    """The element type that the operands of an operator come to: that of the result, where it is not a truth value."""
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
    return spelled(common)


def plain(value):
    """Numbers of numpy as Python's."""
    if isinstance(value, (tuple, list)):
        return tuple(plain(v) for v in value)
    if isinstance(value, np.generic):
        return value.item()
    return value


def marks_in(node, op):
    """What a call was given beyond its operator's attributes (`msnb.core.marks`), as far as a file can say it."""
    own = {*op.attributes, *(declared.name for declared in op.inputs)}
    given = {name: plain(value) for name, value in node.attrs.items() if name not in own and name[:1] != "_"}
    return {name: value for name, value in given.items() if _is_sayable(value)}


def _is_sayable(value):
    if isinstance(value, tuple):
        return all(map(_is_sayable, value))
    return isinstance(value, (bool, int, float, str)) or (isinstance(value, np.ndarray) and value.dtype in mindir.CODES)


def is_length(value):
    """Whether a dimension is known when the network runs, and not before."""
    return not isinstance(value, (int, np.integer))


def described(kind):
    """A Tensor without its value; a dimension that is not known is -1."""
    dims = [-1 if is_length(size) else size for size in kind.shape]
    return {"dims": dims, "data_type": mindir.CODES[dtype_of(kind.dtype)]}


def numbers(count):
    """What a node gives that gives `count` whole numbers as a tuple, or one where it is None."""
    one = {"type": mindir.SCALAR, "tensors": [{"dims": [0], "data_type": mindir.CODES[np.dtype(np.int64)]}]}
    if count is None:
        return {"name": "shape", **one}
    return {"name": "shape", "type": mindir.TUPLE, "values": [{"name": "", **one} for _ in range(count)]}


def abstract(name, types):
    """What a node gives, as an attribute."""
    if len(types) == 1 and types[0] is None:
        return {"name": name, "type": mindir.NONE}
    if len(types) == 1:
        return {"name": name, "type": mindir.TENSORS, "tensors": [described(types[0])]}
    return {"name": name, "type": mindir.TUPLE, "values": [abstract("", (kind,)) for kind in types]}
