"""Operators on the bits of integers."""

import jax
import jax.numpy as jnp

from msnb.core.operator.cases import I, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.operator.ufunc import as_given
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import BOOL, INT, dtype_in
from msnb.ops.math._elementwise import of_one, of_two


@of_one(
    x="[25, 4]",
    output="[-26  -5]",
    functional="invert",
    called=(),
    methods=("invert",),
    generation=2,
    allowed=INT | BOOL,
    input_description="Integers",
    type_="int16",
    numpy=as_given("invert", "bitwise_not"),
)
def Invert(x):
    """Flip each bit of each element."""
    return jnp.invert(x)


@of_two(
    x="[0, 1, 3]",
    y="[1, 1, 2]",
    output="[0 1 2]",
    functional="bitwise_and",
    methods=("bitwise_and", "__and__", "__rand__"),
    generation=2,
    allowed=INT | BOOL,
    type_="int16",
    numpy="bitwise_and",
)
def BitwiseAnd(x, y):
    """Bitwise and of the operands."""
    return jnp.bitwise_and(x, y)


@of_two(
    x="[0, 1, 3]",
    y="[1, 1, 2]",
    output="[1 1 3]",
    functional="bitwise_or",
    methods=("bitwise_or", "__or__", "__ror__"),
    generation=2,
    allowed=INT | BOOL,
    type_="int16",
    numpy="bitwise_or",
)
def BitwiseOr(x, y):
    """Bitwise or of the operands."""
    return jnp.bitwise_or(x, y)


@of_two(
    x="[0, 1, 3]",
    y="[1, 1, 2]",
    output="[1 0 1]",
    functional="bitwise_xor",
    methods=("bitwise_xor", "__xor__", "__rxor__"),
    generation=2,
    allowed=INT | BOOL,
    type_="int16",
    numpy="bitwise_xor",
)
def BitwiseXor(x, y):
    """Bitwise exclusive or of the operands."""
    return jnp.bitwise_xor(x, y)


@operator
def PopulationCount(x):
    """Number of 1 bits of each element.

    Inputs:
        - **x** (Tensor) - Integers, of any shape.

    Outputs:
        Tensor of uint8, of the shape of `x`.

    Raises:
        TypeError: If `x` is not a Tensor of integers.

    Examples:
        >>> print(ops.PopulationCount()(Tensor([0, 1, 3], mindspore.int16)))
        [0 1 2]
    """
    dtype_in("PopulationCount", "x", x, INT)
    return jax.lax.population_count(x).astype(jnp.uint8)


@spelling(PopulationCount)
def population_count(input_x: Tensor) -> Tensor:
    """Number of 1 bits of each element.

    Args:
        input_x (Tensor): int16 or uint16.

    Returns:
        Tensor of uint8, of the shape of `input_x`.
    """
    return PopulationCount.functional(input_x)


@of_two(
    x="[1, 2, 4]",
    y="[1, 1, 2]",
    output="[ 2  4 16]",
    allowed=INT,
    type_="int32",
)
def LeftShift(x, y):
    """Shift the bits of `x` to the left by `y` bits."""
    return jnp.left_shift(x, y)


@of_two(
    x="[4, 2, 16]",
    y="[1, 1, 2]",
    output="[2 1 4]",
    allowed=INT,
    type_="int32",
)
def RightShift(x, y):
    """Shift the bits of `x` to the right by `y` bits. The shift is arithmetic: it preserves the sign."""
    return jnp.right_shift(x, y)


def _declare_shift(cls, name, side):
    def shift(input: Tensor | int, other: Tensor | int) -> Tensor:
        return cls.functional(input, other)

    shift.__name__ = shift.__qualname__ = name
    shift.__doc__ = f"""Integers with their bits shifted to the {side}.

    Args:
        input (Union[Tensor, int]): Integers.
        other (Union[Tensor, int]): Number of bits, of a shape that broadcasts.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: If they are not made of integers.
    """
    return spelling(cls, function=name, method=name)(shift)


bitwise_left_shift = _declare_shift(LeftShift, "bitwise_left_shift", "left")
bitwise_right_shift = _declare_shift(RightShift, "bitwise_right_shift", "right")


spelling(Invert, method="bitwise_not")(Invert.functional)


CASES = [
    case(Invert, I(4, dtype="int16")),
    case(BitwiseAnd, I(4), I(4)),
    case(BitwiseOr, I(4), I(4)),
    case(BitwiseXor, I(4), I(4)),
    case(PopulationCount, I(4, dtype="int16")),
    case(population_count, I(2, 3, dtype="int16")),
    *(case(shift, I(2, 3), I(2, 3, low=0, high=4)) for shift in (LeftShift, RightShift, bitwise_left_shift)),
    case(bitwise_right_shift, I(2, 3), 2),
]
