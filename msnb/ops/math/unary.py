"""Operators of one Tensor that work element by element."""

import jax
import jax.numpy as jnp

from msnb.core.declare import operator
from msnb.ops._check import ANY, BOOL, FLOAT, INT, NUMBER, dtype_in, tensor_only
from msnb.ops._half import in_float32
from msnb.ops._kinks import magnitude

_DOC = """{summary}

    Inputs:
        - **x** (Tensor) - {given}, of any shape.

    Outputs:
        Tensor of the shape of `x`; {result}.

    Raises:
        TypeError: If `x` is not a Tensor or its element type is not supported.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> output = ops.{name}()(Tensor(np.array({sample}), mindspore.{type_}))
        >>> print(output)
        {shown}
    """


def floating(x):
    """`x` as it is if it is inexact, else in float32: where integers go in functions of real numbers."""
    return x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(jnp.float32)


def _declare(
    name,
    compute,
    summary,
    sample,
    shown,
    *,
    functional=None,
    methods=(),
    aliases=(),
    allowed=FLOAT,
    given="Numbers",
    result="its element type is that of `x`",
    type_="float32",
):
    """Declare operator `name`, whose value is compute(x) for element types in `allowed`."""

    def kernel(x):
        dtype_in(name, "x", x, allowed)
        return compute(x)

    kernel.__name__ = kernel.__qualname__ = functional or name
    kernel.__doc__ = _DOC.format(
        summary=summary, given=given, result=result, name=name, sample=sample, type_=type_, shown=shown
    )
    return operator(name, functional=functional, methods=methods, aliases=aliases)(kernel)


def _real(function):
    """`function` on real numbers."""
    wide = in_float32(function)
    return lambda x: wide(floating(x))


_FLOAT_OUT = "float32 for integers, else the element type of `x`"


def _transcendental(name, function, summary, sample, shown, functional=None, **options):
    """A function of real numbers: integers are taken as float32."""
    options.setdefault("methods", (functional,) if functional else ())
    return _declare(
        name,
        _real(function),
        summary,
        sample,
        shown,
        functional=functional,
        allowed=NUMBER,
        result=_FLOAT_OUT,
        **options,
    )


def _truncated(function):
    """r1.1's rule for quotients of integers: computed as real numbers, then cut to the input's integer type."""
    real = _real(function)
    return lambda x: real(x).astype(x.dtype)


exp = _transcendental("Exp", jnp.exp, "e to the power of each element.", "[0., 1.]", "[1.        2.7182817]", "exp")
expm1 = _declare(
    "Expm1",
    in_float32(jnp.expm1),
    "e to the power of each element, minus 1, exact for small elements.",
    "[0., 1.]",
    "[0.        1.7182819]",
    functional="expm1",
    methods=("expm1",),
)
log = _transcendental("Log", jnp.log, "Natural logarithm of each element.", "[1., 4.]", "[0.        1.3862944]", "log")
log1p = _declare(
    "Log1p",
    in_float32(jnp.log1p),
    "Natural logarithm of 1 plus each element, exact for small elements.",
    "[0., 1.]",
    "[0.        0.6931472]",
    functional="log1p",
    methods=("log1p",),
)
sqrt = _transcendental("Sqrt", jnp.sqrt, "Square root of each element.", "[1., 4., 9.]", "[1. 2. 3.]", "sqrt")
rsqrt = _transcendental(
    "Rsqrt", jax.lax.rsqrt, "Reciprocal of the square root of each element.", "[1., 4.]", "[1.  0.5]", "rsqrt"
)
square = _declare(
    "Square",
    jnp.square,
    "Square of each element.",
    "[1., 2., 3.]",
    "[1. 4. 9.]",
    functional="square",
    methods=("square",),
    allowed=NUMBER,
)
neg = _declare(
    "Neg",
    jnp.negative,
    "Each element with its sign changed.",
    "[1., -2.]",
    "[-1.  2.]",
    functional="neg",
    methods=("neg", "negative", "__neg__"),
    allowed=NUMBER,
)
reciprocal = _declare(
    "Reciprocal",
    _truncated(jnp.reciprocal),
    "1 divided by each element.",
    "[1., 2., 4.]",
    "[1.   0.5  0.25]",
    functional="reciprocal",
    methods=("reciprocal",),
    allowed=NUMBER,
)
inv = _declare(
    "Inv",
    _truncated(jnp.reciprocal),
    "1 divided by each element.",
    "[0.25, 4.]",
    "[4.   0.25]",
    functional="inv",
    methods=("inv",),
    allowed=NUMBER,
)
invert = _declare(
    "Invert",
    jnp.invert,
    "Each bit of each element flipped.",
    "[25, 4]",
    "[-26  -5]",
    functional="invert",
    methods=("invert", "__invert__"),
    allowed=INT | BOOL,
    given="Integers",
    type_="int16",
)
sin = _transcendental("Sin", jnp.sin, "Sine of each element, in radians.", "[0., 1.5707964]", "[0. 1.]", "sin")
cos = _transcendental("Cos", jnp.cos, "Cosine of each element, in radians.", "[0.]", "[1.]", "cos")
tan = _transcendental("Tan", jnp.tan, "Tangent of each element, in radians.", "[0.]", "[0.]", "tan")
asin = _transcendental(
    "Asin",
    jnp.arcsin,
    "Arc sine of each element.",
    "[0., 1.]",
    "[0.        1.5707964]",
    "asin",
    methods=("asin", "arcsin"),
)
acos = _transcendental(
    "ACos", jnp.arccos, "Arc cosine of each element.", "[1.]", "[0.]", "acos", methods=("acos", "arccos")
)
atan = _transcendental(
    "Atan", jnp.arctan, "Arc tangent of each element.", "[0.]", "[0.]", "atan", methods=("atan", "arctan")
)
sinh = _transcendental("Sinh", jnp.sinh, "Hyperbolic sine of each element.", "[0.]", "[0.]", "sinh")
cosh = _transcendental("Cosh", jnp.cosh, "Hyperbolic cosine of each element.", "[0.]", "[1.]", "cosh")
asinh = _transcendental(
    "Asinh",
    jnp.arcsinh,
    "Inverse hyperbolic sine of each element.",
    "[0.]",
    "[0.]",
    "asinh",
    methods=("asinh", "arcsinh"),
)
acosh = _transcendental(
    "Acosh",
    jnp.arccosh,
    "Inverse hyperbolic cosine of each element.",
    "[1.]",
    "[0.]",
    "acosh",
    methods=("acosh", "arccosh"),
)
atanh = _transcendental(
    "Atanh",
    jnp.arctanh,
    "Inverse hyperbolic tangent of each element.",
    "[0.]",
    "[0.]",
    "atanh",
    methods=("atanh", "arctanh"),
)
erf = _declare(
    "Erf",
    in_float32(jax.lax.erf),
    "Gauss error function of each element.",
    "[0., 1.]",
    "[0.         0.84270084]",
    functional="erf",
    methods=("erf",),
)
erfc = _declare(
    "Erfc",
    in_float32(jax.lax.erfc),
    "1 minus the Gauss error function of each element.",
    "[0.]",
    "[1.]",
    functional="erfc",
    methods=("erfc",),
)
bessel_i0e = _transcendental(
    "BesselI0e",
    jax.scipy.special.i0e,
    "Modified Bessel function of order 0 of each element, times exp(-|x|).",
    "[0.]",
    "[1.]",
    "bessel_i0e",
    methods=(),
)
bessel_i1e = _transcendental(
    "BesselI1e",
    jax.scipy.special.i1e,
    "Modified Bessel function of order 1 of each element, times exp(-|x|).",
    "[0.]",
    "[0.]",
    "bessel_i1e",
    methods=(),
)
floor = _declare(
    "Floor",
    jnp.floor,
    "The largest whole number not above each element.",
    "[1.1, -1.5]",
    "[ 1. -2.]",
    functional="floor",
    methods=("floor",),
)
ceil = _declare(
    "Ceil",
    jnp.ceil,
    "The smallest whole number not below each element.",
    "[1.1, -1.5]",
    "[ 2. -1.]",
    functional="ceil",
    methods=("ceil",),
)
rint = _declare(
    "Rint",
    jnp.rint,
    "The whole number nearest to each element; halves go to the even one.",
    "[-1.6, 0.5, 1.5]",
    "[-2.  0.  2.]",
    functional="rint",
)
round_ = _declare(
    "Round",
    jnp.round,
    "The whole number nearest to each element; halves go to the even one.",
    "[0.8, 1.5, 2.5]",
    "[1. 2. 2.]",
    allowed=NUMBER,
)
trunc = _declare(
    "Trunc",
    jnp.trunc,
    "Each element without its fraction.",
    "[1.7, -1.7]",
    "[ 1. -1.]",
    functional="trunc",
    methods=("trunc",),
    allowed=NUMBER,
)
abs_ = _declare(
    "Abs",
    magnitude,
    "Absolute value of each element.",
    "[-1., 1., 0.]",
    "[1. 1. 0.]",
    functional="abs",
    methods=("abs", "absolute", "__abs__"),
    allowed=NUMBER,
)
sign = _declare(
    "Sign",
    jnp.sign,
    "-1, 0 or 1 by the sign of each element.",
    "[2., 0., -1.]",
    "[ 1.  0. -1.]",
    functional="sign",
    methods=("sign",),
    allowed=NUMBER,
)
erfinv = _declare(
    "Erfinv",
    in_float32(jax.scipy.special.erfinv),
    "Inverse of the Gauss error function of each element.",
    "[0.]",
    "[0.]",
    functional="erfinv",
    methods=("erfinv",),
)
frac = _declare(
    "Frac",
    lambda x: x - jnp.trunc(x),
    "The fraction of each element, with its sign.",
    "[1.5, -1.25]",
    "[ 0.5  -0.25]",
    functional="frac",
    methods=("frac",),
)
sinc = _transcendental("Sinc", jnp.sinc, "sin(pi x) / (pi x) of each element, 1 at 0.", "[0.]", "[1.]", "sinc")
log2 = _transcendental("Log2", jnp.log2, "Logarithm to base 2 of each element.", "[2., 8.]", "[1. 3.]", "log2")
log10 = _transcendental("Log10", jnp.log10, "Logarithm to base 10 of each element.", "[10.]", "[1.]", "log10")


@operator(functional="isnan", methods=("isnan",))
def IsNan(x):
    """True where an element is not a number.

    Inputs:
        - **x** (Tensor) - Numbers, of any shape.

    Outputs:
        Tensor of bool, of the shape of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.IsNan()(Tensor(np.array([np.nan, 1.]), mindspore.float32)))
        [ True False]
    """
    tensor_only("IsNan", "x", x)
    return jnp.isnan(x)


@operator(functional="isinf", methods=("isinf",))
def IsInf(x):
    """True where an element is infinite.

    Inputs:
        - **x** (Tensor) - Numbers, of any shape.

    Outputs:
        Tensor of bool, of the shape of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.IsInf()(Tensor(np.array([np.inf, 1.]), mindspore.float32)))
        [ True False]
    """
    tensor_only("IsInf", "x", x)
    return jnp.isinf(x)


@operator(functional="isfinite", methods=("isfinite",))
def IsFinite(x):
    """True where an element is neither infinite nor not-a-number.

    Inputs:
        - **x** (Tensor) - Numbers or bool, of any shape.

    Outputs:
        Tensor of bool, of the shape of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.IsFinite()(Tensor(np.array([np.inf, 1.]), mindspore.float32)))
        [False  True]
    """
    dtype_in("IsFinite", "x", x, ANY)
    return jnp.isfinite(x)


@operator
def FloatStatus(x):
    """1 if any element is infinite or not a number, else 0.

    Inputs:
        - **x** (Tensor) - Floating point numbers, of any shape.

    Outputs:
        Tensor of shape (1,) and the element type of `x`.

    Raises:
        TypeError: If `x` is not floating point.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.FloatStatus()(Tensor(np.array([np.inf, 1.]), mindspore.float32)))
        [1.]
    """
    dtype_in("FloatStatus", "x", x, FLOAT)
    return (~jnp.isfinite(x)).any().astype(x.dtype).reshape(1)


@operator
def Eps(x):
    """A small positive number in every place, 2**-14 for float16 and 2**-16 otherwise.

    Inputs:
        - **x** (Tensor) - Floating point numbers, of any shape; only shape and element type are used.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not floating point.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Eps()(Tensor([4., 1.], mindspore.float32)))
        [1.5258789e-05 1.5258789e-05]
    """
    dtype_in("Eps", "x", x, FLOAT)
    return jnp.full_like(x, 2.0 ** (-14 if x.dtype == jnp.float16 else -16))


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
