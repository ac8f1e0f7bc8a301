"""Write JAX primitives that occur in a graph among MindSpore's operators as nodes of a MINDIR file.

Loops and branches introduce them: a loop with `break` has a bool state for its condition.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.exchange.mindir.encoding import is_length
from msnb.exchange.mindir.operators import NotExpressible

_EQUIVALENTS = {
    "not": "LogicalNot", "and": "LogicalAnd", "or": "LogicalOr", "eq": "Equal", "ne": "NotEqual", "lt": "Less",
    "le": "LessEqual", "gt": "Greater", "ge": "GreaterEqual", "add": "Add", "sub": "Sub", "mul": "Mul",
    "max": "Maximum", "min": "Minimum", "neg": "Neg", "abs": "Abs",
}  # fmt: skip
_LOGICAL = frozenset(("not", "and", "or"))


def _write_equivalent_operator(writer, node, values, op):
    if op in _LOGICAL and node.types[0].dtype != "Bool":
        raise NotExpressible("bits of whole numbers")
    return writer.call(_EQUIVALENTS[op], values, node)


def _write_broadcast(writer, node, values, op):
    """Insert axes of length 1, then broadcast to the shape of the result."""
    shape, dimensions = node.types[0].shape, node.attrs["broadcast_dimensions"]
    if any(map(is_length, shape)):
        raise NotExpressible("a length that is not known")
    (value,) = values
    source = node.inputs[0].types[node.slots[0]].shape
    expanded_shape = tuple(source[dimensions.index(axis)] if axis in dimensions else 1 for axis in range(len(shape)))
    if isinstance(value, np.ndarray):
        return writer.constant(np.broadcast_to(value.reshape(expanded_shape), shape).copy())
    if expanded_shape != source:
        value = writer.emit_function("Reshape", [value, expanded_shape], node.types[0].dtype, expanded_shape)
    return writer.call("BroadcastTo", [value, shape], node) if expanded_shape != shape else value


def _write_select(writer, node, values, op):
    """Write a choice between two values: the last input is selected where the predicate is true."""
    predicate, no, yes = values
    return writer.call("Select", [predicate, yes, no], node)


def _write_cast(writer, node, values, op):
    return writer.cast(values[0], node.types[0].dtype, node.inputs[0].types[node.slots[0]])


def _write_reshape(writer, node, values, op):
    return writer.call("Reshape", [values[0], node.types[0].shape], node)


def _write_transpose(writer, node, values, op):
    return writer.call("Transpose", [values[0], tuple(node.attrs["permutation"])], node)


def _write_slice(writer, node, values, op):
    begin, end = node.attrs["start_indices"], node.attrs["limit_indices"]
    steps = node.attrs.get("strides") or (1,) * len(begin)
    return writer.call("StridedSlice", [values[0], *map(tuple, (begin, end, steps)), 0, 0, 0, 0, 0], node)


primitives: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(_EQUIVALENTS, _write_equivalent_operator),
    "broadcast_in_dim": _write_broadcast,
    **dict.fromkeys(("reshape", "squeeze", "expand_dims"), _write_reshape),
    "transpose": _write_transpose,
    "slice": _write_slice,
    "select_n": _write_select,
    "convert_element_type": _write_cast,
    "copy": lambda writer, node, values, op: values[0],
    "stop_gradient": lambda writer, node, values, op: values[0],
}
