"""JAX's own operations in MINDIR: those that stand in a graph beside MindSpore's operators.

Loops and branches bring them: a loop with `break` has truth values that say whether it goes on.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.exchange.mindir.operators import Unsayable
from msnb.exchange.mindir.spelling import is_length

_SAME = {
    "not": "LogicalNot", "and": "LogicalAnd", "or": "LogicalOr", "eq": "Equal", "ne": "NotEqual", "lt": "Less",
    "le": "LessEqual", "gt": "Greater", "ge": "GreaterEqual", "add": "Add", "sub": "Sub", "mul": "Mul",
    "max": "Maximum", "min": "Minimum", "neg": "Neg", "abs": "Abs",
}  # fmt: skip
_OF_TRUTHS = frozenset(("not", "and", "or"))


def _same(writer, node, values, op):
    if op in _OF_TRUTHS and node.types[0].dtype != "Bool":
        raise Unsayable("bits of whole numbers")
    return writer.call(_SAME[op], values, node)


def _broadcast(writer, node, values, op):
    """Axes of length 1 where there are none yet, then as long as they are to be."""
    shape, places = node.types[0].shape, node.attrs["broadcast_dimensions"]
    if any(map(is_length, shape)):
        raise Unsayable("a length that is not known")
    (value,) = values
    source = node.inputs[0].types[node.slots[0]].shape
    wide = tuple(source[places.index(axis)] if axis in places else 1 for axis in range(len(shape)))
    if isinstance(value, np.ndarray):
        return writer.constant(np.broadcast_to(value.reshape(wide), shape).copy())
    if wide != source:
        value = writer.made("Reshape", [value, wide], node.types[0].dtype, wide)
    return writer.call("BroadcastTo", [value, shape], node) if wide != shape else value


def _select(writer, node, values, op):
    """The second of two where a truth value is true."""
    predicate, no, yes = values
    return writer.call("Select", [predicate, yes, no], node)


def _cast(writer, node, values, op):
    return writer.cast(values[0], node.types[0].dtype, node.inputs[0].types[node.slots[0]])


def _reshape(writer, node, values, op):
    return writer.call("Reshape", [values[0], node.types[0].shape], node)


def _transpose(writer, node, values, op):
    return writer.call("Transpose", [values[0], tuple(node.attrs["permutation"])], node)


def _slice(writer, node, values, op):
    begin, end = node.attrs["start_indices"], node.attrs["limit_indices"]
    steps = node.attrs.get("strides") or (1,) * len(begin)
    return writer.call("StridedSlice", [values[0], *map(tuple, (begin, end, steps)), 0, 0, 0, 0, 0], node)


primitives: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(_SAME, _same),
    "broadcast_in_dim": _broadcast,
    **dict.fromkeys(("reshape", "squeeze", "expand_dims"), _reshape),
    "transpose": _transpose,
    "slice": _slice,
    "select_n": _select,
    "convert_element_type": _cast,
    "copy": lambda writer, node, values, op: values[0],
    "stop_gradient": lambda writer, node, values, op: values[0],
}
