"""What MindSpore computes of shapes, on plain numbers and tuples of them: it is done while a file is read."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.exchange.mindir.operators import Unsayable, dtype_numbered
from msnb.exchange.mindir.values import Ref, leaves

_MOST = 1 << 16  # items of a tuple: shapes have fewer


def _cast(value, kind):
    return dtype_numbered(kind).type(value).item()


def _tensor(value, kind=None):
    found = np.asarray(value)
    return found if kind is None else found.astype(dtype_numbered(kind))


def _slice(sequence, start, stop, step):
    return tuple(sequence[start:stop:step])


def _power(base, exponent):
    if abs(exponent) > 64:
        raise Unsayable(f"a power of {exponent}")
    return base**exponent


def _repeated(sequence, times):
    if len(sequence) * max(times, 0) > _MOST:
        raise Unsayable(f"a tuple of {len(sequence)} items, {times} times")
    return tuple(sequence) * times


_FOLDED: dict[str, Callable[..., Any]] = {
    "ScalarAdd": operator.add,
    "ScalarSub": operator.sub,
    "ScalarMul": operator.mul,
    "ScalarDiv": operator.truediv,
    "ScalarFloorDiv": operator.floordiv,
    "ScalarMod": operator.mod,
    "ScalarPow": _power,
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
    "ScalarCast": _cast,
    "BoolNot": operator.not_,
    "BoolAnd": lambda a, b: a and b,
    "BoolOr": lambda a, b: a or b,
    "BoolEq": operator.eq,
    "sequence_len": len,
    "SequenceSlice": _slice,
    "SequenceAdd": lambda a, b: (*a, *b),
    "SequenceMul": _repeated,
    "SequenceMax": max,
    "SequenceMin": min,
    "InSequence": lambda item, sequence: item in sequence,
    "RealTupleGetItem": operator.getitem,
    "ScalarToTensor": _tensor,
    "TupleToTensor": _tensor,
    "ListToTensor": _tensor,
    "TensorToScalar": lambda value: value.item(),
    "TensorToTuple": lambda value: tuple(value.tolist()),
}


SHAPES = ("Shape", "DynamicShape", "TensorShape")


def is_of_shapes(op: str) -> bool:
    """Whether an operator is one of these, or what gives a shape."""
    return op in _FOLDED or op in SHAPES


def is_folded(op: str, values: list[Any]) -> bool:
    """Whether an operator is computed at once: all that it is given is known."""
    return op in _FOLDED and not any(isinstance(leaf, Ref) for value in values for leaf in leaves(value))


def folded(op: str, values: list[Any]) -> Any:
    """What such an operator gives.

    Raises:
        Unsayable: If it gives nothing that a shape has to do with.
    """
    try:
        result = _FOLDED[op](*values)
    except ZeroDivisionError:
        raise Unsayable("a division by 0") from None
    if isinstance(result, int) and not -(1 << 63) <= result < 1 << 63:
        raise Unsayable("a number of more than 64 bits")
    if isinstance(result, tuple) and len(result) > _MOST:
        raise Unsayable(f"a tuple of {len(result)} items")
    return result


def shape_of(value: Any) -> tuple[int, ...] | None:
    """The shape of a value, None where it is not all known."""
    shape = value.node.types[value.slot].shape if isinstance(value, Ref) else np.shape(value)
    return None if any(size < 0 for size in shape) else tuple(shape)
