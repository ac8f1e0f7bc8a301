"""Exponentials, logarithms, roots and powers of each element."""

from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy import special

from msnb.common import dtype as mstype
from msnb.core.operator.cases import F16, F, I, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.operator.ufunc import number, real
from msnb.core.support.type_promotion import promote
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import ANY, BOOL, COMPLEX, FLOAT, NUMBER, tensor_argument
from msnb.ops._in_place import take_over
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensors, in_type
from msnb.ops._numpy import floating as floating_tensor
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.array.cast import Cast
from msnb.ops.math._elementwise import floating, is_integer, of_one, of_real, of_two


@in_float32
def _power(x, y):
    if not is_integer(x):
        return jnp.power(x, y)
    if x.dtype == bool:
        x, y = x.astype(jnp.int64), y.astype(jnp.int64)
    # For integers, a power with a negative exponent is truncated to 0, unless the base is 1 or -1.
    result = jnp.power(x, jnp.maximum(y, 0))
    of_unit = jnp.where(y % 2 == 0, 1, x)
    return jnp.where(y < 0, jnp.where(jnp.abs(x) == 1, of_unit, 0), result).astype(x.dtype)


@in_float32
def _xlogy(x, y):
    zero = (x == 0) & (y == y)  # y == y is False for NaN, for which the result is NaN
    return jnp.where(zero, 0, x * jnp.log(jnp.where(zero, 1, y)))


_LOGS = FLOAT | COMPLEX


def _apply_and_cast_back(function, x):
    """Apply `function`, and cast the result to the type of `x`. This includes integers, as in MindSpore r1.1."""
    return in_float32(function)(floating(x)).astype(x.dtype)


@of_real(
    x="[0., 1.]", output="[1.        2.7182817]", functional="exp", methods=("exp",), generation=2, numpy=real("exp")
)
def Exp(x):
    """Return exp(x) of each element."""
    return jnp.exp(x)


@of_one(
    x="[0., 1.]",
    output="[0.        1.7182819]",
    functional="expm1",
    methods=("expm1",),
    generation=2,
    api2=COMPLEX,
    numpy=real("expm1"),
)
@in_float32
def Expm1(x):
    """Return exp(x) - 1 of each element, accurate near 0."""
    return jnp.expm1(x)


@of_real(
    x="[1., 4.]", output="[0.        1.3862944]", functional="log", methods=("log",), generation=2, numpy=real("log")
)
def Log(x):
    """Natural logarithm of each element."""
    return jnp.log(x)


@of_one(
    x="[0., 1.]",
    output="[0.        0.6931472]",
    allowed=_LOGS,
    functional="log1p",
    methods=("log1p",),
    generation=2,
    numpy=real("log1p"),
)
@in_float32
def Log1p(x):
    """Natural logarithm of 1 plus each element, accurate near 0."""
    return jnp.log1p(x)


@of_real(x="[2., 8.]", output="[1. 3.]", functional="log2", methods=("log2",), generation=2, numpy=real("log2"))
def Log2(x):
    """Logarithm to base 2 of each element."""
    return jnp.log2(x)


@of_real(x="[10.]", output="[1.]", functional="log10", methods=("log10",), generation=2, numpy=real("log10"))
def Log10(x):
    """Logarithm to base 10 of each element."""
    return jnp.log10(x)


@of_real(
    x="[1., 4., 9.]",
    output="[1. 2. 3.]",
    functional="sqrt",
    called=(),
    methods=("sqrt",),
    api2=BOOL,
    numpy=real("sqrt"),
)
def Sqrt(x):
    """Square root of each element."""
    return jnp.sqrt(x)


@of_real(x="[1., 8., 27.]", output="[1. 2. 3.]", numpy=real("cbrt"))
def _Cbrt(x):
    """Cube root of each element."""
    return jnp.cbrt(x)


@of_one(x="[0., 1., 3.]", output="[1. 2. 8.]", allowed=NUMBER, numpy=number("exp2", of_bool=mstype.int64))
def _Exp2(x):
    """Return 2 ** x of each element. For integers, the result is truncated to an integer."""
    return _power(jnp.asarray(2, x.dtype), x) if is_integer(x) else in_float32(jnp.exp2)(x)


@operator
@shapes("y dout: *s")
@in_float32
def SqrtGrad(y, dout):
    """Gradient of Sqrt from its output and the cotangent."""
    return 0.5 * dout / y


@of_real(x="[1., 4.]", output="[1.  0.5]", functional="rsqrt", methods=("rsqrt",), generation=2)
def Rsqrt(x):
    """Reciprocal of the square root of each element."""
    return jax.lax.rsqrt(x)


@operator
@shapes("y dout: *s")
@in_float32
def RsqrtGrad(y, dout):
    """Gradient of Rsqrt from its output and the cotangent."""
    return (-0.5 * dout * y * y * y).astype(dout.dtype)


@of_one(
    x="[1., 2., 3.]",
    output="[1. 4. 9.]",
    functional="square",
    methods=("square",),
    allowed=NUMBER,
    numpy=number("square"),
)
def Square(x):
    """Square of each element."""
    return jnp.square(x)


@of_real(
    x="[1., 2., 4.]",
    output="[1.   0.5  0.25]",
    functional="reciprocal",
    methods=("reciprocal",),
    generation=2,
    allowed=ANY,
)
def Reciprocal(x):
    """1 divided by each element."""
    return jnp.reciprocal(x)


@operator(aliases=("InvGrad",))
@shapes("y dout: *s")
@in_float32
def ReciprocalGrad(y, dout):
    """Gradient of Reciprocal from its output and the cotangent."""
    return -dout * y * y


@of_one(
    x="[0.25, 4.]",
    output="[4.   0.25]",
    functional="inv",
    called=(),
    methods=("inv",),
    generation=2,
    allowed=NUMBER,
    numpy=number("reciprocal", of_bool=mstype.int64),
)
def Inv(x):
    """1 divided by each element."""
    return _apply_and_cast_back(jnp.reciprocal, x)


@of_two(
    x="[1., 2., 4.]",
    y="[3., 3., 3.]",
    output="[ 1.  8. 64.]",
    functional="pow",
    called=("input", "exponent"),
    methods=("pow", "__pow__", "__rpow__"),
    generation=2,
    allowed=NUMBER | BOOL,
    numpy="power",
)
def Pow(x, y):
    """Return x ** y."""
    return _power(x, y)


spelling(Pow, function="tensor_pow", generation=1)(Pow.functional)
spelling(Pow, function="pows")(Pow.functional)


@spelling(Pow, numpy="float_power")
def float_power(x1: ArrayLike, x2: ArrayLike, dtype: Any = None) -> Tensor:
    """Return x1 ** x2, computed in float32.

    Args:
        x1 (Union[Tensor, list, tuple, int, float, bool]): Bases, of any shape.
        x2 (Union[Tensor, list, tuple, int, float, bool]): Exponents, whose shape broadcasts with that of `x1`.
        dtype (mindspore.dtype): Element type of the result. Default: None, float32.

    Returns:
        Tensor of the broadcast shape of the operands.

    Raises:
        TypeError: If an operand has another type.
        ValueError: If the shapes do not broadcast.
    """
    bases, exponents = [x.astype(mstype.float32) for x in as_tensors("float_power", x1=x1, x2=x2)]
    return in_type(Pow.functional(bases, exponents), dtype, "float_power")


@of_two(x="[2., 0.]", y="[1., 0.]", output="[0. 0.]", allowed=_LOGS)
def Xlogy(x, y):
    """Return x * log(y), and 0 where `x` is 0, even if `y` is 0 too."""
    return _xlogy(x, y)


@spelling(Xlogy, function="xlogy", method="xlogy")
def xlogy(input: Tensor | float, other: Tensor | float) -> Tensor:
    """Return input * log(other), and 0 where `input` is 0, even if `other` is 0 too.

    Args:
        input (Union[Tensor, Number]): The factor, floating point, complex or bool.
        other (Union[Tensor, Number]): Argument of the logarithm.

    Returns:
        Tensor of the broadcast shape and the common element type, float32 for bool.

    Raises:
        TypeError: If the element types are not supported or do not convert implicitly.
        ValueError: If the shapes do not broadcast.
    """
    tensors = [x for x in (input, other) if isinstance(x, Tensor)]
    if all(x.dtype == mstype.bool_ for x in tensors):
        input, other = (Cast.functional(x, mstype.float32) if isinstance(x, Tensor) else x for x in (input, other))
    return Xlogy.functional(input, other)


@operator
def _TimesLog(x, y):
    """Return x * log(y), and 0 where both are 0.

    The gradient for `x` is log(y). The gradient of Xlogy differs: it is 0 where `x` is 0.

    Inputs:
        - **x** (Tensor) - Floating point.
        - **y** (Tensor) - Floating point, of a shape that broadcasts with that of `x`.

    Outputs:
        Tensor of the broadcast shape and the common element type.
    """
    return in_float32(special.xlogy)(*promote(x, y, op="TimesLog"))


@operator
def _TimesLog1p(x, y):
    """Return x * log(1 + y), accurate for small `y`, and 0 where `x` is 0 and `y` is -1. See `_TimesLog`.

    Inputs:
        - **x** (Tensor) - Floating point.
        - **y** (Tensor) - Floating point, of a shape that broadcasts with that of `x`.

    Outputs:
        Tensor of the broadcast shape and the common element type.
    """
    return in_float32(special.xlog1py)(*promote(x, y, op="TimesLog1p"))


@operator
@in_float32
def _LogOneMinusExp(x):
    """Return log(1 - exp(x)) of negative numbers, accurate near 0 and far below 0 (Maechler, 2012).

    Inputs:
        - **x** (Tensor) - Floating point, at most 0.

    Outputs:
        Tensor of the shape and element type of `x`; minus infinity at 0.
    """
    is_near = x > -jnp.log(jnp.asarray(2, x.dtype))
    near, far = jnp.where(is_near, x, -1), jnp.where(is_near, -1, x)  # keeps the unused branch's gradient finite
    return jnp.where(is_near, jnp.log(-jnp.expm1(near)), jnp.log1p(-jnp.exp(far)))


@operator(functional="logaddexp", methods=("logaddexp",), generation=2, numpy=real("logaddexp"))
def _Logaddexp(input, other):
    """Return log(exp(input) + exp(other)), without overflow.

    Inputs:
        - **input** (Tensor) - Numbers.
        - **other** (Tensor) - Numbers.

    Outputs:
        Tensor of the broadcast shape, floating point.
    """
    x, y = promote(input, other, op="logaddexp")
    return in_float32(jnp.logaddexp)(floating(x), floating(y))


@operator(functional="logaddexp2", methods=("logaddexp2",), generation=2, numpy=real("logaddexp2"))
def _Logaddexp2(input, other):
    """Return log2(2 ** input + 2 ** other).

    Inputs:
        - **input** (Tensor) - Numbers.
        - **other** (Tensor) - Numbers.

    Outputs:
        Tensor of the broadcast shape, floating point.
    """
    x, y = promote(input, other, op="logaddexp2")
    return in_float32(jnp.logaddexp2)(floating(x), floating(y))


spelling(Exp, function="tensor_exp")(Exp.functional)


spelling(Expm1, function="tensor_expm1")(Expm1.functional)


@spelling(_Exp2)
def exp2(input: Tensor) -> Tensor:
    """Return 2 ** x of each element; integers are converted to float32.

    Args:
        input (Tensor): Numbers.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        TypeError: If `input` is not a Tensor of numbers.
    """
    return _Exp2.functional(floating_tensor(tensor_argument("exp2", "input", input)))


@spelling(Pow, function=("float_power", "float_power_ext"))
def _float_power(input: Tensor | float, exponent: Tensor | float) -> Tensor:
    """Return input ** exponent, computed in float64, or in complex128 if an operand is complex.

    Args:
        input (Union[Tensor, Number]): Bases, of any shape.
        exponent (Union[Tensor, Number]): Exponents, whose shape broadcasts with that of `input`.

    Returns:
        Tensor of float64 or complex128, of the broadcast shape of the operands.

    Raises:
        TypeError: If neither operand is a Tensor, or an operand is no number.
    """
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        raise TypeError("For 'float_power', 'input' or 'exponent' should be a Tensor, but both are numbers.")
    operands = as_tensors("float_power", input=input, exponent=exponent)
    wide = mstype.complex128 if any(mstype.np_dtype(x.dtype) in COMPLEX for x in operands) else mstype.float64
    bases, exponents = [x.astype(wide) for x in operands]
    return Pow.functional(bases, exponents)


@spelling(Pow, method="float_power")
def _tensor_float_power(self: Tensor, other: Tensor | float) -> Tensor:
    """Return self ** other, computed in float64, or in complex128 if an operand is complex."""
    return _float_power(self, other)


@operator(functional="ldexp", methods=("ldexp",), generation=2)
@shapes("x other: ~s")
def _Ldexp(x, other):
    """Return x * 2 ** other.

    Inputs:
        - **x** (Union[Tensor, Number]) - Numbers; integers are converted to float32.
        - **other** (Union[Tensor, Number]) - Exponents, whose shape broadcasts.

    Outputs:
        Tensor of the broadcast shape, floating point.

    Raises:
        TypeError: If an element type is not supported.
        ValueError: If the shapes do not broadcast.
    """
    x, other = promote(floating(x), floating(other), "ldexp")  # integers are converted to float32
    return in_float32(lambda x, y: x * jnp.exp2(y))(x, other)


@spelling(Exp, method="exp_")
def _exp_inplace(self: Tensor) -> Tensor:
    """Apply the exponential function in place, and return the Tensor."""
    return take_over("exp_", self, Exp.functional(self))


@spelling(Log, method="log_")
def _log_inplace(self: Tensor) -> Tensor:
    """Apply the natural logarithm in place, and return the Tensor."""
    return take_over("log_", self, Log.functional(self))


CASES = [
    case(exp2, F(2, 3)),
    case(exp2, I(2, 3)),
    case(_float_power, F(2, 3, low=0.5), 2),
    case(_float_power, I(3, low=1), F(2, 3)),
    case(_Ldexp, F(2, 3), I(3)),
    refused(TypeError, _float_power, 2, 3),
    case(Exp, F(2, 3)),
    case(Exp, F16(4)),
    *(case(op, F(2, 3, low=0.2)) for op in (Log, Log1p, Log2, Log10, Rsqrt, Reciprocal)),
    case(Sqrt, F(2, 3, low=0.2)),
    case(Sqrt, I(2, 3, low=1)),
    case(Sqrt, F(4, low=0.2, dtype="float64")),
    case(_Cbrt, F(2, 3, low=0.2)).without("mindspore", NUMPYS),
    case(_Exp2, F(2, 3)).without("mindspore", NUMPYS),
    case(SqrtGrad, F(3, low=0.5), F(3)),
    case(RsqrtGrad, F(3, low=0.5), F(3)),
    case(Square, F(2, 3)),
    case(Square, I(2, 3)),
    case(Inv, F(2, 3, low=0.2)),
    case(Inv, I(2, 3, low=1)),
    case(Pow, F(2, 3, low=0.3), F(2, 3)),
    case(Pow, F(2, 3), 2),
    case(Pow, F(2, 3), 3.0),
    case(Pow, I(2, 3, low=1), 2),
    case(Xlogy, F(2, 3), F(2, 3, low=0.3)),
    case(_TimesLog, F(2, 3), F(3, low=0.3)),
    case(_TimesLog1p, F(2, 3), F(3, low=-0.7)),
    case(_LogOneMinusExp, F(2, 3, low=-3, high=-0.1)),
    refused(TypeError, Exp, 5.0),
]
