"""Kinds (checked argument types, see `msnb.common.kinds`) that several layers share."""

import math
from collections.abc import Callable
from typing import Annotated, Any

from msnb.common import dtype as mstype
from msnb.common.initializer import HeUniform, Initializer, Uniform
from msnb.common.kinds import (
    Between,
    DType,
    Float,
    Instance,
    Int,
    Kind,
    OneOf,
    Optional,
    PositiveInt,
    StrictFloat,
    accept_value,
)
from msnb.core.tensor.tensor import Tensor

# Initial value of a Parameter. `initializer` checks it, since it knows the shape as well.
Initial = Tensor | str | Initializer | float

FIRST_WEIGHTS = "the first weights are drawn from HeUniform(sqrt(5)), the bias from Uniform(1 / sqrt(n)) for sums of n"


def first_weight(initial: Any) -> Any:
    """Return the initializer of a weight. None means the default of MindSpore 2."""
    return HeUniform(math.sqrt(5)) if initial is None else initial


def first_bias(initial: Any, fan_in: int) -> Any:
    """Return the initializer of a bias. None means the default of MindSpore 2.

    Args:
        initial (Any): The argument of the layer.
        fan_in (int): Number of terms in the sum for each result.
    """
    return Uniform(1 / math.sqrt(fan_in)) if initial is None else initial


def _check_real(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError
    return value


def _make_kind_without_nan(kind, expects):
    """Return a kind that accepts the values of `kind` except NaN. Infinity is allowed: it still defines a function."""

    def accept(value):
        value = accept_value(kind, value)
        if math.isnan(value):
            raise ValueError
        return value

    return Kind(expects, accept)


def _check_axes(value):
    return tuple(accept_value(Int, axis) for axis in value) if isinstance(value, tuple) else accept_value(Int, value)


def _accept_number_type(value):
    dtype = accept_value(DType, value)
    if dtype not in mstype.number_type:
        raise TypeError
    return dtype


def _make_sizes_kind(count, word, least=1):
    """Return the kind of a tuple of `count` sizes. A wrong length is a TypeError, a bool a ValueError, as in
    MindSpore."""
    kind = "positive" if least else "non-negative"

    def accept(value):
        sizes = value if isinstance(value, tuple) else (value,) * count
        if len(sizes) != count or not all(isinstance(size, int) for size in sizes):
            raise TypeError
        if any(isinstance(size, bool) or size < least for size in sizes):
            raise ValueError
        return sizes

    return Kind(f"a {kind} int or a tuple of {word}", accept)


def _check_reduction(value):
    if value not in (None, "mean", "sum", "none"):
        raise ValueError
    return value or "none"


def _check_callable(value):
    if not callable(value):
        raise TypeError
    return value


CallableKind = Annotated[Callable[..., Any], Kind("a function or a Cell", _check_callable)]
Real = Annotated[float, Kind("an int or a float", _check_real)]  # not converted
NumberNotNan = Annotated[float, _make_kind_without_nan(Float, "a number other than NaN")]
FloatNotNan = Annotated[float, _make_kind_without_nan(StrictFloat, "a float other than NaN")]
AboveZero = Annotated[float, Between(StrictFloat, 0, None, low_in=False)]
Share = Annotated[float, Between(Float, 0, 1)]
Epsilon = Annotated[float, Between(Float, 0, 1, low_in=False)]
Axes = Annotated[int | tuple[int, ...], Kind("an int or a tuple of int", _check_axes)]
NumberType = Annotated[Any, Kind("a number type", _accept_number_type)]
TwoSizes = Annotated[int | tuple[int, int], _make_sizes_kind(2, "two")]
ThreeSizes = Annotated[int | tuple[int, int, int], _make_sizes_kind(3, "three")]
TwoOffsets = Annotated[int | tuple[int, int], _make_sizes_kind(2, "two", least=0)]
ThreeOffsets = Annotated[int | tuple[int, int, int], _make_sizes_kind(3, "three", least=0)]
PoolMode = Annotated[str, OneOf("VALID", "SAME", "PAD", fold=True)]
Divisor = Annotated[int | None, Optional(PositiveInt)]
Layout = Annotated[str, OneOf("NCHW", "NHWC")]
Reduction = Annotated[str | None, Kind("'mean', 'sum', 'none' or None", _check_reduction)]
OptionalTensor = Annotated[Tensor | None, Optional(Instance(Tensor))]
