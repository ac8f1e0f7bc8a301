"""Arithmetic of two Tensors, element by element, with broadcasting and MindSpore's implicit conversion."""

import operator as operators

import jax
import jax.numpy as jnp

from msnb.core.declare import operator
from msnb.core.dtype import promote
from msnb.ops._check import BOOL, FLOAT, INT, NUMBER, dtype_in, same_shape
from msnb.ops._half import in_float32
from msnb.ops._kinks import larger, smaller
from msnb.ops.math.unary import floating

_DOC = """{summary}

    The inputs are brought to one element type and broadcast against each other; a Python number takes the type of
    the Tensor it meets.

    Inputs:
        - **x** (Union[Tensor, Number]) - The first operand{which}.
        - **y** (Union[Tensor, Number]) - The second operand.

    Outputs:
        Tensor of the broadcast shape; {result}.

    Raises:
        TypeError: If the element types are not supported or do not convert implicitly.
        ValueError: If the shapes do not broadcast.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor(np.array({x}), mindspore.{type_})
        >>> y = Tensor(np.array({y}), mindspore.{type_})
        >>> print(ops.{name}()(x, y))
        {shown}
    """


def _declare(
    name,
    compute,
    summary,
    x,
    y,
    shown,
    *,
    functional=None,
    methods=(),
    aliases=(),
    allowed=NUMBER,
    which="",
    result="its element type is the common one",
    type_="float32",
):
    """Declare operator `name`, whose value is compute(x, y) on operands of one type in `allowed`."""

    def kernel(x, y):
        x, y = promote(x, y, op=name)
        dtype_in(name, "x", x, allowed)
        return compute(x, y)

    kernel.__name__ = kernel.__qualname__ = functional or name
    kernel.__doc__ = _DOC.format(
        summary=summary, which=which, result=result, name=name, x=x, y=y, type_=type_, shown=shown
    )
    return operator(name, functional=functional, methods=methods, aliases=aliases)(kernel)


def is_integer(x):
    """Whether array `x` holds integers or bool."""
    return not jnp.issubdtype(x.dtype, jnp.inexact)


@in_float32
def _quotient(x, y):
    """r1.1's division: integers are divided as real numbers and the result is cut to their type."""
    if is_integer(x):
        return (x.astype(jnp.float64) / y.astype(jnp.float64)).astype(x.dtype)
    return x / y


@in_float32
def _divide_no_nan(x, y):
    zero = y == 0
    safe = _quotient(x, jnp.where(zero, jnp.ones_like(y), y))
    return jnp.where(zero, jnp.zeros_like(safe), safe)


def _limit(x):
    """What integers divided by 0 give: the largest number of the type, its smallest for negative ones, 0 for 0."""
    info = jnp.iinfo(x.dtype)
    largest, smallest, none = (jnp.asarray(v, x.dtype) for v in (info.max, info.min, 0))
    return jnp.where(x > 0, largest, jnp.where(x < 0, smallest, none))


def _no_number(x):
    """What not-a-number is as an integer: the smallest of 32 and 64 bits, 0 of narrower and unsigned types."""
    return jnp.iinfo(x.dtype).min if x.dtype in (jnp.int32, jnp.int64) else 0


def _guarded(divide, at_zero):
    """divide(x, y) with at_zero(x) where integers are divided by 0, which the hardware leaves open."""

    def compute(x, y):
        if not is_integer(x):
            return divide(x, y)
        x, y = jnp.broadcast_arrays(x, y)
        zero = y == 0
        return jnp.where(zero, at_zero(x), divide(x, jnp.where(zero, jnp.ones_like(y), y)))

    return compute


@in_float32
def _floor_divide(x, y):
    return jnp.floor_divide(x, y) if is_integer(x) else jnp.floor(x / y)


@in_float32
def _truncate_divide(x, y):
    return jax.lax.div(x, y) if is_integer(x) else jnp.trunc(x / y)


@in_float32
def _power(x, y):
    if not is_integer(x):
        return jnp.power(x, y)
    if x.dtype == bool:
        x, y = x.astype(jnp.int64), y.astype(jnp.int64)
    # Integers: a negative exponent gives the truncated reciprocal, which is 0 unless the base is 1 or -1.
    result = jnp.power(x, jnp.maximum(y, 0))
    of_unit = jnp.where(y % 2 == 0, 1, x)
    return jnp.where(y < 0, jnp.where(jnp.abs(x) == 1, of_unit, 0), result).astype(x.dtype)


@in_float32
def _xlogy(x, y):
    zero = x == 0
    return jnp.where(zero, 0, x * jnp.log(jnp.where(zero, 1, y)))


@in_float32
def _xdivy(x, y):
    zero = x == 0
    return jnp.where(zero, 0, x / jnp.where(zero, 1, y))


def _broadcasting(function):
    """`function`; where it broadcasts, its gradient is a sum, which half precision does not hold."""
    wide = in_float32(function)
    return lambda x, y: function(x, y) if x.shape == y.shape else wide(x, y)


add = _declare(
    "Add",
    _broadcasting(operators.add),
    "Sum of the operands.",
    "[1., 2., 3.]",
    "[4., 5., 6.]",
    "[5. 7. 9.]",
    functional="add",
    methods=("add", "__add__", "__radd__"),
    aliases=("TensorAdd",),
    allowed=NUMBER | BOOL,
)
sub = _declare(
    "Sub",
    _broadcasting(operators.sub),
    "Difference of the operands, x - y.",
    "[1., 2., 3.]",
    "[4., 5., 6.]",
    "[-3. -3. -3.]",
    functional="sub",
    methods=("sub", "subtract", "__sub__", "__rsub__"),
)
mul = _declare(
    "Mul",
    _broadcasting(operators.mul),
    "Product of the operands.",
    "[1., 2., 3.]",
    "[4., 5., 6.]",
    "[ 4. 10. 18.]",
    functional="mul",
    methods=("mul", "multiply", "__mul__", "__rmul__"),
    allowed=NUMBER | BOOL,
)
real_div = _declare(
    "RealDiv",
    _quotient,
    "Quotient of the operands; integers give an integer.",
    "[1., 2., 3.]",
    "[4., 5., 6.]",
    "[0.25 0.4  0.5 ]",
)
div = _declare(
    "Div",
    _quotient,
    "Quotient of the operands; integers give an integer.",
    "[-4., 5., 6.]",
    "[3., 2., 3.]",
    "[-1.3333334  2.5        2.       ]",
)
div_no_nan = _declare(
    "DivNoNan",
    _divide_no_nan,
    "Quotient of the operands, 0 where the divisor is 0.",
    "[1., 0., 2.]",
    "[0., 1., 4.]",
    "[0.  0.  0.5]",
    functional="div_no_nan",
)
floor_div = _declare(
    "FloorDiv",
    _guarded(_floor_divide, _limit),
    "Quotient of the operands, rounded down.",
    "[2, 4, -1]",
    "[3, 3, 3]",
    "[ 0  1 -1]",
    functional="floor_div",
    type_="int32",
    methods=("floor_divide", "__floordiv__", "__rfloordiv__"),
)
floor_mod = _declare(
    "FloorMod",
    _guarded(jnp.mod, _no_number),
    "Remainder of the floored quotient; it has the sign of the divisor.",
    "[2, 4, -1]",
    "[3, 3, 3]",
    "[2 1 2]",
    functional="floor_mod",
    type_="int32",
    methods=("floor_mod", "__mod__", "__rmod__"),
)
mod = _declare(
    "Mod",
    _guarded(jnp.fmod, lambda x: jnp.where(x == 0, 0, _no_number(x))),
    "Remainder of the truncated quotient; it has the sign of the dividend.",
    "[-4., 5., 6.]",
    "[3., 2., 3.]",
    "[-1.  1.  0.]",
    functional="mod",
)
truncate_div = _declare(
    "TruncateDiv",
    _guarded(_truncate_divide, _limit),
    "Quotient of the operands, rounded towards zero.",
    "[2, 4, -1]",
    "[3, 3, 3]",
    "[0 1 0]",
    functional="truncate_div",
    type_="int32",
)
truncate_mod = _declare(
    "TruncateMod",
    _guarded(jnp.fmod, jnp.zeros_like),
    "Remainder of the quotient that is rounded towards zero.",
    "[2, 4, -1]",
    "[3, 3, 3]",
    "[ 2  1 -1]",
    functional="truncate_mod",
    type_="int32",
)
pow_ = _declare(
    "Pow",
    _power,
    "The first operand to the power of the second.",
    "[1., 2., 4.]",
    "[3., 3., 3.]",
    "[ 1.  8. 64.]",
    functional="pow",
    methods=("pow", "__pow__", "__rpow__"),
    allowed=NUMBER | BOOL,
)
maximum = _declare(
    "Maximum",
    larger,
    "The larger of the operands.",
    "[1., 5., 3.]",
    "[4., 2., 6.]",
    "[4. 5. 6.]",
    functional="maximum",
    methods=("maximum",),
    allowed=NUMBER | BOOL,
)
minimum = _declare(
    "Minimum",
    smaller,
    "The smaller of the operands.",
    "[1., 5., 3.]",
    "[4., 2., 6.]",
    "[1. 2. 3.]",
    functional="minimum",
    methods=("minimum",),
    allowed=NUMBER | BOOL,
)
squared_difference = _declare(
    "SquaredDifference",
    in_float32(lambda x, y: jnp.square(x - y)),
    "Square of the difference of the operands.",
    "[1., 2., 3.]",
    "[2., 4., 6.]",
    "[1. 4. 9.]",
    functional="squared_difference",
)
xdivy = _declare(
    "Xdivy",
    _xdivy,
    "x / y, and 0 where x is 0 even if y is 0 too.",
    "[2., 0.]",
    "[4., 0.]",
    "[0.5 0. ]",
    functional="xdivy",
    methods=("xdivy",),
    allowed=FLOAT,
)
xlogy = _declare(
    "Xlogy",
    _xlogy,
    "x * log(y), and 0 where x is 0 even if y is 0 too.",
    "[2., 0.]",
    "[1., 0.]",
    "[0. 0.]",
    functional="xlogy",
    methods=("xlogy",),
    allowed=FLOAT,
)
atan2 = _declare(
    "Atan2",
    in_float32(lambda x, y: jnp.arctan2(floating(x), floating(y))),
    "Angle of the point (y, x) with the first axis, in radians: the arc tangent of x / y with the sign of both.",
    "[0., 1.]",
    "[1., 1.]",
    "[0.        0.7853982]",
    functional="atan2",
    methods=("atan2", "arctan2"),
)
bitwise_and = _declare(
    "BitwiseAnd",
    jnp.bitwise_and,
    "Bits that are set in both operands.",
    "[0, 1, 3]",
    "[1, 1, 2]",
    "[0 1 2]",
    functional="bitwise_and",
    allowed=INT | BOOL,
    type_="int16",
    methods=("bitwise_and", "__and__", "__rand__"),
)
bitwise_or = _declare(
    "BitwiseOr",
    jnp.bitwise_or,
    "Bits that are set in one operand or both.",
    "[0, 1, 3]",
    "[1, 1, 2]",
    "[1 1 3]",
    functional="bitwise_or",
    allowed=INT | BOOL,
    type_="int16",
    methods=("bitwise_or", "__or__", "__ror__"),
)
bitwise_xor = _declare(
    "BitwiseXor",
    jnp.bitwise_xor,
    "Bits that are set in exactly one operand.",
    "[0, 1, 3]",
    "[1, 1, 2]",
    "[1 0 1]",
    functional="bitwise_xor",
    allowed=INT | BOOL,
    type_="int16",
    methods=("bitwise_xor", "__xor__", "__rxor__"),
)


@operator(functional="true_divide", methods=("div", "divide", "true_divide", "__truediv__", "__rtruediv__"))
def TrueDiv(x, y):
    """Quotient of the operands; integers give float32. The operator behind ``/``.

    Inputs:
        - **x** (Union[Tensor, Number]) - Dividend.
        - **y** (Union[Tensor, Number]) - Divisor.

    Outputs:
        Tensor of the broadcast shape: float32 if both operands are integers, else of their common type.

    Raises:
        TypeError: If the element types do not convert implicitly.
        ValueError: If the shapes do not broadcast.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(Tensor([1, 2, 3]) / 2)
        [0.5 1.  1.5]
    """
    x, y = promote(x, y, op="RealDiv")
    return _quotient(floating(x), floating(y))


@operator
def SquareSumAll(x1, x2):
    """Sum of the squares of each of two Tensors.

    Inputs:
        - **x1** (Tensor) - Floating point numbers.
        - **x2** (Tensor) - Of the shape and element type of `x1`.

    Outputs:
        Two scalar Tensors, of the element type of the inputs.

    Raises:
        TypeError: If an input is not floating point.
        ValueError: If the shapes differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([1., 2.], mindspore.float32)
        >>> print(ops.SquareSumAll()(x, x)[0])
        5.0
    """
    dtype_in("SquareSumAll", "x1", x1, FLOAT)
    dtype_in("SquareSumAll", "x2", x2, FLOAT)
    same_shape("SquareSumAll", x1=x1, x2=x2)
    return jnp.sum(jnp.square(x1), dtype=x1.dtype), jnp.sum(jnp.square(x2), dtype=x2.dtype)
