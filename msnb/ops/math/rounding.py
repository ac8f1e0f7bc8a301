"""Rounding, fractions, signs and magnitudes."""

import jax.numpy as jnp

from msnb.core.cases import F, I, Values, case, refused
from msnb.core.declare import operator, spelling
from msnb.core.tensor import Tensor
from msnb.ops._check import NUMBER
from msnb.ops._kinks import magnitude
from msnb.ops.math._elementwise import of_one


@of_one(x="[1.1, -1.5]", shown="[ 1. -2.]", functional="floor", methods=("floor",), generation=2)
def Floor(x):
    """The largest whole number not above each element."""
    return jnp.floor(x)


@of_one(x="[1.1, -1.5]", shown="[ 2. -1.]", functional="ceil", methods=("ceil",), generation=2)
def Ceil(x):
    """The smallest whole number not below each element."""
    return jnp.ceil(x)


@of_one(x="[-1.6, 0.5, 1.5]", shown="[-2.  0.  2.]")
def Rint(x):
    """The whole number nearest to each element; halves go to the even one."""
    return jnp.rint(x)


@of_one(x="[0.8, 1.5, 2.5]", shown="[1. 2. 2.]", allowed=NUMBER)
def Round(x):
    """The whole number nearest to each element; halves go to the even one."""
    return jnp.round(x)


@of_one(x="[1.7, -1.7]", shown="[ 1. -1.]", functional="trunc", methods=("trunc",), generation=2, allowed=NUMBER)
def Trunc(x):
    """Each element without its fraction."""
    return jnp.trunc(x)


@of_one(x="[1.5, -1.25]", shown="[ 0.5  -0.25]", functional="frac", methods=("frac",), generation=2)
def Frac(x):
    """The fraction of each element, with its sign."""
    return x - jnp.trunc(x)


@of_one(
    x="[-1., 1., 0.]",
    shown="[1. 1. 0.]",
    functional="abs",
    methods=("abs", "absolute", "__abs__"),
    generation=2,
    allowed=NUMBER,
)
def Abs(x):
    """Absolute value of each element."""
    return magnitude(x)


spelling(Abs, function="absolute")(Abs.functional)


@operator
def AbsGrad(y, dy):
    """Gradient of Abs from its input `y` and the cotangent `dy`."""
    return dy * jnp.sign(y)


@of_one(x="[2., 0., -1.]", shown="[ 1.  0. -1.]", functional="sign", methods=("sign",), generation=2, allowed=NUMBER)
def Sign(x):
    """-1, 0 or 1 by the sign of each element."""
    return jnp.sign(x)


@of_one(
    x="[1., -2.]",
    shown="[-1.  2.]",
    functional="neg",
    methods=("neg", "negative", "__neg__"),
    generation=2,
    allowed=NUMBER,
)
def Neg(x):
    """Each element with its sign changed."""
    return jnp.negative(x)


spelling(Neg, function="neg_tensor", generation=1)(Neg.functional)
spelling(Neg, function="negative")(Neg.functional)


@spelling(Round, function="round", method="round")
def round_(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Numbers rounded to a number of decimals; halves go to the even one.

    Args:
        input (Tensor): Numbers.
        decimals (int): How many decimals. Default: 0.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    if not decimals:
        return Round.functional(input)
    scale = 10.0**decimals
    return Round.functional(input * scale) / scale


CASES = [
    case(Round, F(2, 3)),
    case(Round, Values([0.5, 1.5, 2.5, -0.5, -1.5])),
    *(case(op, x) for op in (Abs, Sign, Neg) for x in (F(2, 3), I(2, 3))),
    refused(TypeError, Floor, I(2, 3)),
]
