"""Argument types (`Kind`) of neural-network operators: windows, paddings, fractions."""

from msnb.common.kinds import (
    Between,
    ConstantAt,
    Float,
    Kind,
    NonNegInt,
    OneOf,
    PositiveInt,
    StrictFloat,
    accept_value,
)

PadMode = OneOf("valid", "same", "pad", fold=True)
PoolMode = OneOf("valid", "same", fold=True)
Reduction = OneOf("none", "mean", "sum")
Layout = OneOf("NCHW", "NHWC")


def _make_window_kind(dims):
    """Return a Kind that accepts an int, or `dims` or `dims + 2` ints (N and C first, both 1), and converts it to a
    tuple of `dims` positive ints.
    """

    def accept(value):
        if not isinstance(value, (tuple, list)):
            return (accept_value(PositiveInt, value),) * dims
        if len(value) == dims + 2:
            if tuple(value[:2]) != (1, 1):
                raise ValueError("the first two, for N and C, should be 1")
            value = value[2:]
        if len(value) != dims:
            raise ValueError
        return tuple(accept_value(PositiveInt, v) for v in value)

    return Kind(f"a positive int or a tuple of {dims} positive ints", accept)


def _make_padding_kind(dims):
    """Return a Kind that accepts an int or two ints (before, after) for each dimension, and converts it to a tuple of
    2 * dims ints.
    """

    def accept(value):
        if not isinstance(value, (tuple, list)):
            return (accept_value(NonNegInt, value),) * (2 * dims)
        if len(value) != 2 * dims:
            raise ValueError
        return tuple(accept_value(NonNegInt, v) for v in value)

    return Kind(f"a non-negative int or a tuple of {2 * dims} non-negative ints", accept)


def _make_ints_per_dimension_kind(dims):
    def accept(value):
        if not isinstance(value, (tuple, list)):
            return (accept_value(NonNegInt, value),) * dims
        if len(value) == dims + 2:
            value = value[2:]
        if len(value) != dims:
            raise ValueError
        return tuple(accept_value(NonNegInt, v) for v in value)

    return Kind(f"a non-negative int or a tuple of {dims} non-negative ints", accept)


def _make_optional_padding_kind(dims):
    of = _make_padding_kind(dims)

    def accept(value):
        if value is not None and not isinstance(value, (tuple, list)):
            raise TypeError
        return None if value is None else accept_value(of, value)

    return Kind(f"None or a tuple of {2 * dims} non-negative ints", accept, examples=((1,) * (2 * dims),))


Window2 = _make_window_kind(2)
GivenSides2 = _make_optional_padding_kind(2)
Window3 = _make_window_kind(3)
Sides2 = _make_padding_kind(2)
Sides3 = _make_padding_kind(3)
Offsets3 = _make_ints_per_dimension_kind(3)


def _accept_nonzero(value):
    value = accept_value(Float, value)
    if value == 0:
        raise ValueError
    return value


Momentum = Between(Float, 0, 1)
Epsilon = Between(Float, 0, 1, low_in=False)
KeepProb = ConstantAt(Between(Float, 0, 1, low_in=False), 1.0)  # at 1, no element is dropped
Probability = Between(Float, 0, 1)
NotZero = Kind("a number other than 0", _accept_nonzero, traced=True)
NonNegFloat = Between(StrictFloat, 0.0, float("inf"))
AboveZero = Between(StrictFloat, 0.0, float("inf"), low_in=False)
LrPower = ConstantAt(Between(StrictFloat, float("-inf"), 0.0), -0.5)  # -0.5 is the power that is cheap to compute


def _make_symmetric_padding_kind(dims):
    """Return a Kind that accepts an int, `dims` ints (equal sides) or two ints (before, after) for each dimension, and
    converts it to a tuple of 2 * dims ints.
    """
    sides = _make_padding_kind(dims).accept

    def accept(value):
        if isinstance(value, (tuple, list)) and len(value) == dims:
            return tuple(accept_value(NonNegInt, v) for v in value for _ in range(2))
        return sides(value)

    return Kind(f"a non-negative int or a tuple of {dims} or {2 * dims} non-negative ints", accept)


Pads1, Pads2 = _make_symmetric_padding_kind(1), _make_symmetric_padding_kind(2)
Window1 = _make_window_kind(1)
Offsets2 = _make_ints_per_dimension_kind(2)
