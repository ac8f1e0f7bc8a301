"""Operators on the bits of integers."""

import jax
import jax.numpy as jnp

from msnb.core.cases import I, case
from msnb.core.declare import operator, spelling
from msnb.core.ufunc import as_given
from msnb.ops._check import BOOL, INT, dtype_in
from msnb.ops.math._elementwise import of_one, of_two


@of_one(
    x="[25, 4]",
    shown="[-26  -5]",
    functional="invert",
    called=(),
    methods=("invert", "__invert__"),
    generation=2,
    allowed=INT | BOOL,
    given="Integers",
    type_="int16",
    numpy=as_given("invert", "bitwise_not"),
)
def Invert(x):
    """Each bit of each element flipped."""
    return jnp.invert(x)


@of_two(
    x="[0, 1, 3]",
    y="[1, 1, 2]",
    shown="[0 1 2]",
    functional="bitwise_and",
    methods=("bitwise_and", "__and__", "__rand__"),
    generation=2,
    allowed=INT | BOOL,
    type_="int16",
    numpy="bitwise_and",
)
def BitwiseAnd(x, y):
    """Bits that are set in both operands."""
    return jnp.bitwise_and(x, y)


@of_two(
    x="[0, 1, 3]",
    y="[1, 1, 2]",
    shown="[1 1 3]",
    functional="bitwise_or",
    methods=("bitwise_or", "__or__", "__ror__"),
    generation=2,
    allowed=INT | BOOL,
    type_="int16",
    numpy="bitwise_or",
)
def BitwiseOr(x, y):
    """Bits that are set in one operand or both."""
    return jnp.bitwise_or(x, y)


@of_two(
    x="[0, 1, 3]",
    y="[1, 1, 2]",
    shown="[1 0 1]",
    functional="bitwise_xor",
    methods=("bitwise_xor", "__xor__", "__rxor__"),
    generation=2,
    allowed=INT | BOOL,
    type_="int16",
    numpy="bitwise_xor",
)
def BitwiseXor(x, y):
    """Bits that are set in exactly one operand."""
    return jnp.bitwise_xor(x, y)


@operator
def PopulationCount(x):
    """Number of bits set in each element.

    Inputs:
        - **x** (Tensor) - Integers, of any shape.

    Outputs:
        Tensor of uint8, of the shape of `x`.

    Raises:
        TypeError: If `x` is not a Tensor of integers.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.PopulationCount()(Tensor([0, 1, 3], mindspore.int16)))
        [0 1 2]
    """
    dtype_in("PopulationCount", "x", x, INT)
    return jax.lax.population_count(x).astype(jnp.uint8)


spelling(Invert, method="bitwise_not")(Invert.functional)


CASES = [
    case(Invert, I(4, dtype="int16")),
    case(BitwiseAnd, I(4), I(4)),
    case(BitwiseOr, I(4), I(4)),
    case(BitwiseXor, I(4), I(4)),
    case(PopulationCount, I(4, dtype="int16")),
]
