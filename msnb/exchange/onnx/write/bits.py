"""Lowerings to ONNX: operators on the bits of numbers. They are written as comparisons and divisions."""

import numpy as np

from msnb.ops import operations as ops
from msnb.ops.math.rounding import _CopySign, _SignBit

from .builder import Builder, Value, lowerings


def _write_sign_bit_test(b: Builder, x: Value) -> Value:
    """Return a Bool array that is True where the sign bit of x is set: x < 0, or 1 / x < 0 for zeros. The sign of a
    NaN is not detected.
    """
    x = b.cast(x, b.computing(x.dtype))
    below = b.op("Less", x, b.like(0, x), dtype="bool")
    if not x.is_float:
        return below
    return b.op("Or", below, b.op("Less", b.op("Reciprocal", x), b.like(0, x), dtype="bool"))


@lowerings.register(_SignBit)
def _lower_sign_bit(b, x):
    return _write_sign_bit_test(b, x)


@lowerings.register(_CopySign)
def _lower_copy_sign(b, x, y):
    size = b.op("Abs", b.cast(x, b.computing(b.dtype)))
    return b.op("Where", _write_sign_bit_test(b, y), b.op("Neg", size), size, dtype=size.dtype)


@lowerings.register(ops.PopulationCount)
def _lower_population_count(b, x):
    """Count the set bits by repeated division. First 2 ** width is added to negative numbers, which makes them
    positive with the same bits.
    """
    width = np.dtype(x.dtype).itemsize * 8
    if width == 64:  # there is no wider type
        return NotImplemented
    x = b.unsqueeze(b.cast(x, "int64"), [x.rank])
    shifted = b.op("Add", x, b.const(np.int64(1 << width)))  # the last `width` bits stay the same
    quotients = b.op("Div", shifted, b.const(1 << np.arange(width, dtype=np.int64)))
    bits = b.op("Mod", quotients, b.const(np.int64(2)))
    return b.op("ReduceSum", bits, b.ints([-1]), keepdims=0)
