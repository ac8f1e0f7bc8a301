"""Compute shapes on Python numbers and tuples while a file is read (constant folding)."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.exchange.mindir.operators import NotExpressible, dtype_of_id
from msnb.exchange.mindir.read.values import Ref, leaves

_MAX_ITEMS = 1 << 16  # length of a tuple; shapes are shorter


def _cast_scalar(value, kind):
    return dtype_of_id(kind).type(value).item()


def _to_array(value, kind=None):
    array = np.asarray(value)
    return array if kind is None else array.astype(dtype_of_id(kind))


def _slice_sequence(sequence, start, stop, step):
    return tuple(sequence[start:stop:step])


def _raise_to_power(base, exponent):
    if abs(exponent) > 64:
        raise NotExpressible(f"a power of {exponent}")
    return base**exponent


def _repeat_sequence(sequence, times):
    if len(sequence) * max(times, 0) > _MAX_ITEMS:
        raise NotExpressible(f"a tuple of {len(sequence)} items, {times} times")
    return tuple(sequence) * times


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ScalarAdd": operator.add,
    "ScalarSub": operator.sub,
    "ScalarMul": operator.mul,
    "ScalarDiv": operator.truediv,
    "ScalarFloorDiv": operator.floordiv,
    "ScalarMod": operator.mod,
    "ScalarPow": _raise_to_power,
    "ScalarUsub": operator.neg,
    "ScalarUadd": operator.pos,
    "ScalarMax": max,
    "ScalarMin": min,
    "ScalarEq": operator.eq,
    "ScalarLt": operator.lt,
    "ScalarLe": operator.le,
    "ScalarGt": operator.gt,
    "ScalarGe": operator.ge,
    "ScalarBool": bool,
    "ScalarCast": _cast_scalar,
    "BoolNot": operator.not_,
    "BoolAnd": lambda a, b: a and b,
    "BoolOr": lambda a, b: a or b,
    "BoolEq": operator.eq,
    "sequence_len": len,
    "SequenceSlice": _slice_sequence,
    "SequenceAdd": lambda a, b: (*a, *b),
    "SequenceMul": _repeat_sequence,
    "SequenceMax": max,
    "SequenceMin": min,
    "InSequence": lambda item, sequence: item in sequence,
    "RealTupleGetItem": operator.getitem,
    "ScalarToTensor": _to_array,
    "TupleToTensor": _to_array,
    "ListToTensor": _to_array,
    "TensorToScalar": lambda value: value.item(),
    "TensorToTuple": lambda value: tuple(value.tolist()),
}


SHAPES = ("Shape", "DynamicShape", "TensorShape")


def is_of_shapes(op: str) -> bool:
    """Return True if an operator computes with shapes or returns one."""
    return op in _FUNCTIONS or op in SHAPES


def is_folded(op: str, values: list[Any]) -> bool:
    """Return True if an operator can be computed while the file is read: all its inputs are constants."""
    return op in _FUNCTIONS and not any(isinstance(leaf, Ref) for value in values for leaf in leaves(value))


def fold(op: str, values: list[Any]) -> Any:
    """Compute an operator, all of whose inputs are constants.

    Raises:
        NotExpressible: If the result cannot be part of a shape.
    """
    try:
        result = _FUNCTIONS[op](*values)
    except ZeroDivisionError:
        raise NotExpressible("a division by 0") from None
    if isinstance(result, int) and not -(1 << 63) <= result < 1 << 63:
        raise NotExpressible("a number of more than 64 bits")
    if isinstance(result, tuple) and len(result) > _MAX_ITEMS:
        raise NotExpressible(f"a tuple of {len(result)} items")
    return result


def shape_of(value: Any) -> tuple[int, ...] | None:
    """Return the shape of a value, or None if a length is unknown."""
    shape = value.node.types[value.slot].shape if isinstance(value, Ref) else np.shape(value)
    return None if any(size < 0 for size in shape) else tuple(shape)
