"""Operators that divide two Tensors: quotients and remainders."""

from typing import Any

import jax
import jax.numpy as jnp

from msnb.core.operator.api_generations import called_as
from msnb.core.operator.cases import F, I, Values, case
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.operator.ufunc import number, real
from msnb.core.support.type_promotion import promote
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import COMPLEX, FLOAT, INT
from msnb.ops._in_place import take_over
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensors, common_type, in_type
from msnb.ops._upcast import in_float32
from msnb.ops.math._elementwise import floating, is_integer, of_two


@in_float32
def _divide_like_r1_1(x, y):
    """Divide as MindSpore r1.1 does: integers are divided as float64, and the quotient is cast to their type."""
    if is_integer(x):
        return (x.astype(jnp.float64) / y.astype(jnp.float64)).astype(x.dtype)
    return x / y


@in_float32
def _divide_no_nan(x, y):
    zero = y == 0
    safe = _divide_like_r1_1(x, jnp.where(zero, jnp.ones_like(y), y))
    return jnp.where(zero, jnp.zeros_like(safe), safe)


def _divide_integers_by_zero(x):
    """Return the result of x / 0 for integers: the type's largest number for x > 0, its smallest number for x < 0, and
    0 for x = 0.
    """
    info = jnp.iinfo(x.dtype)
    largest, smallest, none = (jnp.asarray(v, x.dtype) for v in (info.max, info.min, 0))
    return jnp.where(x > 0, largest, jnp.where(x < 0, smallest, none))


def _get_integer_nan(x):
    """Return the integer to which MindSpore converts NaN: the smallest number for int32 and int64, 0 for other
    types.
    """
    return jnp.iinfo(x.dtype).min if x.dtype in (jnp.int32, jnp.int64) else 0


def _guard_zero_divisor(divide, at_zero):
    """Return `divide`, changed to return at_zero(x) for an integer x divided by 0, whose result in XLA depends on the
    device."""

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
def _xdivy(x, y):
    zero = x == 0
    return jnp.where(zero, 0, x / jnp.where(zero, 1, y))


@of_two(
    x="[1., 2., 3.]",
    y="[4., 5., 6.]",
    output="[0.25 0.4  0.5 ]",
)
def RealDiv(x, y):
    """Return x / y. For integers, the quotient is truncated to an integer."""
    return _divide_like_r1_1(x, y)


@of_two(
    x="[-4., 5., 6.]",
    y="[3., 2., 3.]",
    output="[-1.3333334  2.5        2.       ]",
)
def Div(x, y):
    """Return x / y. For integers, the quotient is truncated to an integer."""
    return _divide_like_r1_1(x, y)


def _divide_like_mindspore_2(x: Tensor, y: Tensor) -> Tensor:
    """Return the quotient as MindSpore 2's class Div does: the quotient of integers is float32."""
    return _TrueDiv.functional(x, y)


called_as(Div, _divide_like_mindspore_2, "the quotient of whole numbers is a float32, and bool Tensors are numbers")


@of_two(x="[1., 0., 2.]", y="[0., 1., 4.]", output="[0.  0.  0.5]")
def DivNoNan(x, y):
    """Return x / y, and 0 where `y` is 0."""
    return _divide_no_nan(x, y)


@of_two(
    x="[2., 0.]",
    y="[4., 0.]",
    output="[0.5 0. ]",
    functional="xdivy",
    called=(),
    methods=("xdivy",),
    generation=2,
    allowed=FLOAT,
    api2=COMPLEX,
)
def Xdivy(x, y):
    """Return x / y, and 0 where `x` is 0, even if `y` is 0 too."""
    return _xdivy(x, y)


@of_two(
    x="[2, 4, -1]",
    y="[3, 3, 3]",
    output="[ 0  1 -1]",
    functional="floor_div",
    methods=("floor_divide", "__floordiv__", "__rfloordiv__", "__ifloordiv__"),
    generation=2,
    type_="int32",
    numpy=number("floor_divide"),
)
def FloorDiv(x, y):
    """Return x / y, rounded down."""
    return _guard_zero_divisor(_floor_divide, _divide_integers_by_zero)(x, y)


spelling(FloorDiv, function="tensor_floordiv", generation=1)(FloorDiv.functional)
spelling(FloorDiv, function="floordiv")(FloorDiv.functional)
spelling(FloorDiv, function="floor_divide")(FloorDiv.functional)


@of_two(
    x="[2, 4, -1]",
    y="[3, 3, 3]",
    output="[2 1 2]",
    functional="floor_mod",
    methods=("__mod__", "__rmod__", "__imod__"),
    generation=2,
    type_="int32",
    numpy=number("remainder", "mod"),
)
def FloorMod(x, y):
    """Return the remainder x - y * floor(x / y). It has the sign of the divisor."""
    return _guard_zero_divisor(jnp.mod, _get_integer_nan)(x, y)


spelling(FloorMod, function="tensor_mod", generation=1)(FloorMod.functional)
spelling(FloorMod, function="floormod")(FloorMod.functional)
spelling(FloorMod, function="remainder")(FloorMod.functional)


@spelling(FloorMod, method="remainder")
@keyword_aliases(divisor="other")
def _tensor_remainder(self: Tensor, other: Tensor | float) -> Tensor:
    """Return the remainder self - other * floor(self / other). It has the sign of the divisor."""
    return FloorMod.functional(self, other)


@of_two(x="[-4., 5., 6.]", y="[3., 2., 3.]", output="[-1.  1.  0.]", numpy=number("fmod"))
def Mod(x, y):
    """Return the remainder x - y * trunc(x / y). It has the sign of the dividend."""
    return _guard_zero_divisor(jnp.fmod, lambda x: jnp.where(x == 0, 0, _get_integer_nan(x)))(x, y)


spelling(Mod, function="fmod", method="fmod")(Mod.functional)


@of_two(
    x="[2, 4, -1]", y="[3, 3, 3]", output="[0 1 0]", functional="truncate_div", called=(), generation=2, type_="int32"
)
def TruncateDiv(x, y):
    """Return x / y, rounded towards zero."""
    return _guard_zero_divisor(_truncate_divide, _divide_integers_by_zero)(x, y)


@of_two(
    x="[2, 4, -1]",
    y="[3, 3, 3]",
    output="[ 2  1 -1]",
    functional="truncate_mod",
    called=(),
    generation=2,
    type_="int32",
)
def TruncateMod(x, y):
    """Return the remainder x - y * trunc(x / y). It has the sign of the dividend."""
    return _guard_zero_divisor(jnp.fmod, jnp.zeros_like)(x, y)


spelling(RealDiv, function="tensor_div", generation=1)(RealDiv())


@operator(
    functional="true_divide",
    called=(("input", "dividend"), ("other", "divisor")),
    generation=2,
    methods=("true_divide", "__truediv__", "__rtruediv__"),
    numpy=real("divide", "true_divide"),
)
def _TrueDiv(x, y):
    """Return x / y; for integers the result is float32. It is the operator behind ``/``.

    Inputs:
        - **x** (Union[Tensor, Number]) - Dividend.
        - **y** (Union[Tensor, Number]) - Divisor.

    Outputs:
        Tensor of the broadcast shape: float32 if both operands are integers, else of their common type.

    Raises:
        TypeError: If the element types do not convert implicitly.
        ValueError: If the shapes do not broadcast.

    Examples:
        >>> print(Tensor([1, 2, 3]) / 2)
        [0.5 1.  1.5]
    """
    x, y = promote(x, y, op="RealDiv")
    return _divide_like_r1_1(floating(x), floating(y))


@of_two(
    x="[12, 18]",
    y="[8, 27]",
    output="[4 9]",
    allowed=INT,
    type_="int32",
    functional="gcd",
    methods=("gcd",),
    generation=2,
    numpy="gcd",
)
def Gcd(x, y):
    """Greatest common divisor of the operands."""
    return jnp.gcd(x, y)


@of_two(
    x="[12, 18]",
    y="[8, 27]",
    output="[24 54]",
    allowed=INT,
    type_="int32",
    functional="lcm",
    methods=("lcm",),
    generation=2,
    numpy="lcm",
)
def Lcm(x, y):
    """Least common multiple of the operands."""
    return jnp.lcm(x, y)


_ROUNDED = {None: _TrueDiv.functional, "floor": FloorDiv.functional, "trunc": TruncateDiv.functional}


@spelling(_TrueDiv, FloorDiv, TruncateDiv, function=("div", "divide"))
def div(input: Tensor | float, other: Tensor | float, *, rounding_mode: str | None = None) -> Tensor:
    """Quotient of two Tensors.

    Args:
        input (Union[Tensor, Number]): Dividend.
        other (Union[Tensor, Number]): Divisor.
        rounding_mode (str): "floor" rounds down, "trunc" rounds towards zero. Default: None, no rounding.

    Returns:
        Tensor. For integers without `rounding_mode` it is float32.

    Raises:
        ValueError: If `rounding_mode` is another string.
    """
    if rounding_mode not in (None, "floor", "trunc"):
        raise ValueError(f"For 'div', 'rounding_mode' should be None, 'floor' or 'trunc', but got {rounding_mode!r}.")
    return _ROUNDED[rounding_mode](input, other)


spelling(_TrueDiv, FloorDiv, TruncateDiv, method=("div", "divide"))(keyword_aliases(value="other")(div))


@spelling(FloorDiv, FloorMod, numpy="divmod")
def divmod_(x1: ArrayLike, x2: ArrayLike, dtype: Any = None) -> tuple[Tensor, Tensor]:
    """Return the quotient x1 / x2, rounded down, and the remainder.

    Args:
        x1 (Union[Tensor, list, tuple, int, float, bool]): Dividends, of any shape.
        x2 (Union[Tensor, list, tuple, int, float, bool]): Divisors, whose shape broadcasts with that of `x1`.
        dtype (mindspore.dtype): Element type of the results. Default: None, the common type of the operands.

    Returns:
        A tuple of two Tensors of the broadcast shape of the operands.

    Raises:
        TypeError: If an operand has another type.
        ValueError: If the shapes do not broadcast.
    """
    x1, x2 = common_type(*as_tensors("divmod", x1=x1, x2=x2))
    return tuple(in_type(f(x1, x2), dtype, "divmod") for f in (FloorDiv.functional, FloorMod.functional))


@spelling(FloorMod, method="remainder_")
def _remainder_inplace(self: Tensor, other: Tensor | float) -> Tensor:
    """Replace the elements by self - other * floor(self / other) in place, and return the Tensor."""
    return take_over("remainder_", self, FloorMod.functional(self, other))


@spelling(_TrueDiv, FloorDiv, TruncateDiv, method="div_")
def _div_inplace(self: Tensor, other: Tensor | float, *, rounding_mode: str | None = None) -> Tensor:
    """Divide in place, and return the Tensor."""
    return take_over("div_", self, div(self, other, rounding_mode=rounding_mode))


@spelling(FloorDiv, method="floor_divide_")
def _floor_divide_inplace(self: Tensor, other: Tensor | float) -> Tensor:
    """Divide in place, round down, and return the Tensor."""
    return take_over("floor_divide_", self, FloorDiv.functional(self, other))


CASES = [
    *(
        case(divide, x, y)
        for divide in (RealDiv, FloorDiv, FloorMod)
        for x, y in ((F(2, 3), F(3, low=0.3)), (I(2, 3), I(2, 3, low=1)), (I(2, 3, high=-1), Values(3)))
    ),
    *(case(divide, F(2, 3), F(3, low=0.3)) for divide in (Div, DivNoNan, Xdivy, TruncateDiv, TruncateMod, _TrueDiv)),
    case(DivNoNan, Values([1.0, 0.0, 2.0]), Values([0.0, 0.0, 4.0])),
    case(FloorDiv, Values([1.0, -1.0, 0.0]), Values([0.0, 0.0, 2.0])),
    case(FloorMod, F(5), F(5)),
    case(Gcd, I(2, 3), I(3)).without("mindspore", NUMPYS),
    case(Lcm, I(2, 3), I(3)).without("mindspore", NUMPYS),
    case(Mod, F(2, 3, low=0.1), F(3, low=0.3)),
    case(Mod, F(5), F(5)).without("gradient", "MindSpore takes the slope of FloorMod"),
]
