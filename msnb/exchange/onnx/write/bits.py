"""Lowerings of what looks at the bits of numbers: by comparing and dividing."""

import numpy as np

from msnb.ops import operations as ops
from msnb.ops.math.rounding import _CopySign, _SignBit

from .builder import Builder, Value, lowerings


def _negative(b: Builder, x: Value) -> Value:
    """Where the sign is set; 1 / -0 tells it of a zero, and nothing tells it of a NaN."""
    x = b.cast(x, b.computing(x.dtype))
    below = b.op("Less", x, b.like(0, x), dtype="bool")
    if not x.is_float:
        return below
    return b.op("Or", below, b.op("Less", b.op("Reciprocal", x), b.like(0, x), dtype="bool"))


@lowerings.register(_SignBit)
def _sign_bit(b, x):
    return _negative(b, x)


@lowerings.register(_CopySign)
def _copy_sign(b, x, y):
    size = b.op("Abs", b.cast(x, b.computing(b.dtype)))
    return b.op("Where", _negative(b, y), b.op("Neg", size), size, dtype=size.dtype)


@lowerings.register(ops.PopulationCount)
def _population_count(b, x):
    """A number that is negative has the bits of itself and the next power of two."""
    width = np.dtype(x.dtype).itemsize * 8
    if width == 64:  # there is no wider type to count in
        return NotImplemented
    x = b.unsqueeze(b.cast(x, "int64"), [x.rank])
    moved = b.op("Add", x, b.const(np.int64(1 << width)))  # the last `width` bits are the same
    by_place = b.op("Div", moved, b.const(1 << np.arange(width, dtype=np.int64)))
    bits = b.op("Mod", by_place, b.const(np.int64(2)))
    return b.op("ReduceSum", bits, b.ints([-1]), keepdims=0)
