"""Operators for rounding, fractions, signs and magnitudes."""

from typing import Any

import jax
import jax.numpy as jnp

from msnb.common.kinds import Int, NonNegInt, check
from msnb.core.operator.cases import F, I, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.operator.ufunc import number, real
from msnb.core.support.type_promotion import broadcast_check
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import BOOL, FLOAT, INT, NUMBER, dtype_in
from msnb.ops._in_place import take_over
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensor, as_tensors, floating, in_type
from msnb.ops._shapes import shapes
from msnb.ops._subgradients import magnitude
from msnb.ops.math._elementwise import is_integer, of_one, of_two
from msnb.ops.math.arithmetic import Mul
from msnb.ops.math.maximum import Maximum


@of_one(x="[1.1, -1.5]", output="[ 1. -2.]", functional="floor", methods=("floor",), generation=2, numpy=real("floor"))
def Floor(x):
    """Round each element down."""
    return jnp.floor(x)


@of_one(x="[1.1, -1.5]", output="[ 2. -1.]", functional="ceil", methods=("ceil",), generation=2, numpy=real("ceil"))
def Ceil(x):
    """Round each element up."""
    return jnp.ceil(x)


@of_one(x="[-1.6, 0.5, 1.5]", output="[-2.  0.  2.]", numpy=real("rint"))
def Rint(x):
    """Round each element to the nearest integer; halves are rounded to even."""
    return jnp.rint(x)


@of_one(x="[0.8, 1.5, 2.5]", output="[1. 2. 2.]", allowed=NUMBER)
def Round(x):
    """Round each element to the nearest integer; halves are rounded to even."""
    return jnp.round(x)


@of_one(
    x="[1.7, -1.7]",
    output="[ 1. -1.]",
    functional="trunc",
    methods=("trunc",),
    generation=2,
    allowed=NUMBER,
    numpy=real("trunc"),
)
def Trunc(x):
    """Round each element towards zero."""
    return jnp.trunc(x)


@of_one(
    x="[1.5, -1.25]",
    output="[ 0.5  -0.25]",
    functional="frac",
    called=(),
    methods=("frac",),
    generation=2,
    allowed=INT | FLOAT | BOOL,
    result="its element type is that of `x`, int64 for bool",
)
def Frac(x):
    """The fractional part of each element, with the sign of the element."""
    if x.dtype == bool:
        return jnp.zeros(x.shape, jnp.int64)
    return jnp.zeros_like(x) if is_integer(x) else x - jnp.trunc(x)


@of_one(
    x="[-1., 1., 0.]",
    output="[1. 1. 0.]",
    functional="abs",
    methods=("abs", "absolute"),
    generation=2,
    allowed=NUMBER,
    api2=BOOL,
    numpy=number("abs", "absolute", "fabs").returning_bool(),
)
def Abs(x):
    """Absolute value of each element."""
    return x if x.dtype == bool else magnitude(x)


spelling(Abs, function="absolute")(Abs.functional)
_abs = Abs()


@spelling(Abs, Maximum, method="__abs__")
def _tensor_abs(self: Tensor) -> Tensor:
    """Absolute value of each element. `Abs` rejects Python numbers that are graph inputs; `Maximum` accepts them."""
    return Maximum.functional(self, -self) if self._array.weak_type else _abs(self)


@operator
@shapes("y dy: *s")
def AbsGrad(y, dy):
    """Gradient of Abs from its input `y` and the cotangent `dy`."""
    return dy * jnp.sign(y)


@of_one(
    x="[2., 0., -1.]",
    output="[ 1.  0. -1.]",
    functional="sign",
    methods=("sign",),
    generation=2,
    allowed=NUMBER,
    numpy=real("sign"),
)
def Sign(x):
    """Return -1, 0 or 1 for the sign of each element."""
    return jnp.sign(x)


@of_one(
    x="[1., -2.]",
    output="[-1.  2.]",
    functional="neg",
    methods=("neg", "negative"),
    generation=2,
    allowed=NUMBER,
    numpy=number("negative").taking("a"),
)
def Neg(x):
    """Negate each element."""
    return jnp.negative(x)


_neg = Neg()


@spelling(Neg, Mul, method="__neg__")
def _tensor_neg(self: Tensor) -> Tensor:
    """Negate each element. `Neg` rejects Python numbers that are graph inputs; `Mul` accepts them."""
    return Mul.functional(self, -1) if self._array.weak_type else _neg(self)


@operator
def _CopySign(x, y):
    """Combine the magnitude of `x` with the sign of `y`, in the element type of `x`.

    Inputs:
        - **x** (Tensor) - Numbers.
        - **y** (Tensor) - Numbers, of a shape that broadcasts with that of `x`.

    Outputs:
        Tensor of the broadcast shape and the element type of `x`.

    Raises:
        TypeError: If an input does not consist of numbers.
        ValueError: If the shapes do not broadcast.
    """
    broadcast_check(x, y, "copysign")
    for argument, value in (("x1", x), ("x2", y)):
        dtype_in("copysign", argument, value, NUMBER)
    negative = jnp.signbit(y) if jnp.issubdtype(y.dtype, jnp.inexact) else y < 0
    return jnp.where(negative, -magnitude(x), magnitude(x))


@of_one(
    x="[1., -0.]",
    output="[False  True]",
    allowed=NUMBER | BOOL,
    functional="signbit",
    methods=("signbit",),
    generation=2,
    numpy=number("signbit"),
)
def _SignBit(x):
    """Return True where the sign bit is set: for numbers below 0, and for -0."""
    if x.dtype == bool:
        return jnp.zeros_like(x)
    return jnp.signbit(x) if jnp.issubdtype(x.dtype, jnp.inexact) else x < 0


@of_two(
    x="[-1., 0., 2.]",
    y="[0.5, 0.5, 0.5]",
    output="[0.  0.5 1. ]",
    functional="heaviside",
    called=("input", "values"),
    methods=("heaviside",),
    generation=2,
    numpy=number("heaviside").returning_bool(),
)
def Heaviside(x, y):
    """Heaviside step function: 0 where x < 0, 1 where x > 0, and `y` where `x` is 0."""
    return jnp.where(x == 0, y, jnp.where(jnp.isnan(x), x, x > 0).astype(x.dtype))


spelling(Neg, function="neg_tensor", generation=1)(Neg.functional)
spelling(Neg, function="negative")(Neg.functional)


@spelling(Round, function="round", method="round")
def round_(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Round each element to a number of decimals; halves are rounded to even.

    Args:
        input (Tensor): Numbers.
        decimals (int): Number of decimals. Default: 0.

    Returns:
        Tensor.
    """
    if not decimals:
        return Round.functional(input)
    scale = 10.0**decimals
    return Round.functional(input * scale) / scale


@spelling(Round, method="__round__")
def _tensor_round(self: Tensor) -> Tensor:
    """Round each element to the nearest integer, in the element type of the Tensor; it implements Python's `round`."""
    return Round.functional(self)


@spelling(Round, numpy=("around", "round"))
def around(a: ArrayLike, decimals: Int = 0) -> Tensor:
    """Round each element to a number of decimals; halves are rounded to even.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Of any shape.
        decimals (int): Number of decimals, not negative. Default: 0.

    Returns:
        Tensor of the shape of `a`.

    Raises:
        TypeError: If `decimals` is not an int.
        ValueError: If `decimals` is negative.
    """
    (a,) = as_tensors("around", a=a)
    return round_(a, decimals=check(NonNegInt, decimals, "decimals", "around"))


@spelling(_CopySign, numpy="copysign")
def copysign(x1: ArrayLike, x2: ArrayLike, dtype: Any = None) -> Tensor:
    """Combine the magnitude of the first operand with the sign of the second.

    Args:
        x1 (Union[Tensor, list, tuple, int, float]): Numbers that give the magnitude.
        x2 (Union[Tensor, list, tuple, int, float]): Numbers whose sign is taken; its shape broadcasts.
        dtype (mindspore.dtype): Element type of the result. Default: None, that of `x1`.

    Returns:
        Tensor of the broadcast shape of the operands.

    Raises:
        TypeError: If an operand has another type.
        ValueError: If the shapes do not broadcast.
    """
    return in_type(_CopySign.functional(*as_tensors("copysign", x1=x1, x2=x2)), dtype, "copysign")


@spelling(Trunc, numpy="fix")
def fix(x: ArrayLike) -> Tensor:
    """Round each element towards zero; integers become float32.

    Args:
        x (Union[Tensor, list, tuple, int, float, bool]): Of any shape.

    Returns:
        Tensor of the shape of `x`.

    Raises:
        TypeError: If `x` has another type.
    """
    return Trunc.functional(floating(as_tensor(x, "fix", "x")))


@spelling(Sign, method="sign_")
def _sign_inplace(self: Tensor) -> Tensor:
    """Replace each element by its sign in place, and return the Tensor."""
    return take_over("sign_", self, Sign.functional(self))


@of_two(
    x="[1.]",
    y="[2.]",
    output="[1.0000001]",
    allowed=frozenset(t for t in FLOAT if t.itemsize > 2),
    functional="nextafter",
    methods=("nextafter",),
    generation=2,
)
def NextAfter(x, y):
    """Return the next number after `x` towards `y` that the element type can represent."""
    return _next_after(x, y)


@jax.custom_jvp
def _next_after(x, y):
    return jnp.nextafter(x, y)


@_next_after.defjvp
def _next_after_jvp(operands, tangents):
    result = jnp.nextafter(*operands)
    return result, jnp.broadcast_to(tangents[0], result.shape)


@spelling(Sign, function="sgn", method="sgn")
def sgn(input: Tensor) -> Tensor:
    """The sign of each element; for a complex number, input / abs(input).

    Args:
        input (Tensor): Numbers.

    Returns:
        Tensor of the shape and element type of `input`.
    """
    return Sign.functional(input)


@spelling(_CopySign, function="copysign", method="copysign")
def _ops_copysign(x: Tensor | float, other: Tensor | float) -> Tensor:
    """Combine the magnitude of the first operand with the sign of the second.

    Args:
        x (Union[Tensor, int, float]): Numbers whose magnitude is taken; integers are converted to float32.
        other (Union[Tensor, int, float]): Numbers whose sign is taken; its shape broadcasts.

    Returns:
        Tensor of the broadcast shape of the operands.

    Raises:
        TypeError: If an operand has another type.
        ValueError: If the shapes do not broadcast.
    """
    x, other = as_tensors("copysign", x=x, other=other)
    return _CopySign.functional(floating(x), other)


@spelling(Floor, method="floor_")
def _floor_inplace(self: Tensor) -> Tensor:
    """Round down in place, and return the Tensor."""
    return take_over("floor_", self, Floor.functional(self))


CASES = [
    case(Round, F(2, 3)),
    case(Round, Values([0.5, 1.5, 2.5, -0.5, -1.5])),
    *(case(op, x) for op in (Abs, Sign, Neg) for x in (F(2, 3), I(2, 3))),
    case(_CopySign, F(2, 3), F(3)).without("mindspore", NUMPYS),
    case(_SignBit, F(2, 3)).without("mindspore", "its function does not run with numpy 2"),
    case(Heaviside, Values([-1.0, 0.0, 2.0]), F(3)).without("mindspore", NUMPYS).without("differences", "a jump at 0"),
    refused(TypeError, Floor, I(2, 3)),
    case(NextAfter, F(2, 3), F(2, 3))
    .within(0)
    .without("gradient", "MindSpore has none")
    .without("differences", "its steps are of one bit")
    .without("half", "MindSpore has it in float32 and float64"),
    case(sgn, F(2, 3)),
    case(sgn, Values([1 + 2j, 0j, -2.0 + 0.5j], "complex64")),
]
