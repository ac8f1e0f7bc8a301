"""Elementwise comparisons of two Tensors."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Bool, Float, check
from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.messages import describe
from msnb.core.operator.api_generations import differs_in_api2
from msnb.core.operator.cases import F, I, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.support.type_promotion import promote
from msnb.core.tensor.operands import other_operand
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import ANY, FLOAT, dtype_in, same_dtype, same_shape, tensor_argument, tensor_only
from msnb.ops._numpy import ArrayLike, as_tensors, common_type
from msnb.ops.math._elementwise import comparison
from msnb.ops.math.logic import ReduceAll, ReduceAny, any_


@comparison(output="[ True False False]", functional="equal", methods=("equal", "eq"), numpy="equal")
def Equal(x, y):
    """Return True where the operands are equal."""
    return jnp.equal(x, y)


spelling(Equal, function="eq")(Equal.functional)


@comparison(output="[False  True  True]", functional="not_equal", methods=("not_equal", "ne"), numpy="not_equal")
def NotEqual(x, y):
    """Return True where the operands differ."""
    return jnp.not_equal(x, y)


spelling(NotEqual, function="ne")(NotEqual.functional)


@comparison(
    output="[False  True False]",
    functional="greater",
    methods=("greater", "gt", "__gt__"),
    generation=2,
    numpy="greater",
)
def Greater(x, y):
    """Return x > y for each pair of elements."""
    return jnp.greater(x, y)


spelling(Greater, function="tensor_gt", generation=1)(Greater.functional)
spelling(Greater, function="gt")(Greater.functional)


@comparison(
    output="[ True  True False]",
    functional="greater_equal",
    methods=("greater_equal", "ge", "__ge__"),
    generation=2,
    numpy="greater_equal",
)
def GreaterEqual(x, y):
    """Return x >= y for each pair of elements."""
    return jnp.greater_equal(x, y)


spelling(GreaterEqual, function="tensor_ge", generation=1)(GreaterEqual.functional)
spelling(GreaterEqual, function="ge")(GreaterEqual.functional)


@comparison(
    output="[False False  True]", functional="less", methods=("less", "lt", "__lt__"), generation=2, numpy="less"
)
def Less(x, y):
    """Return x < y for each pair of elements."""
    return jnp.less(x, y)


spelling(Less, function="tensor_lt", generation=1)(Less.functional)
spelling(Less, function="lt")(Less.functional)


@comparison(
    output="[ True False  True]",
    functional="less_equal",
    methods=("less_equal", "le", "__le__"),
    generation=2,
    numpy="less_equal",
)
def LessEqual(x, y):
    """Return x <= y for each pair of elements."""
    return jnp.less_equal(x, y)


spelling(LessEqual, function="tensor_le", generation=1)(LessEqual.functional)
spelling(LessEqual, function="le")(LessEqual.functional)


@operator(functional="approximate_equal")
def ApproximateEqual(x, y, *, tolerance: Float = 1e-05):
    """Return True where the operands differ by less than `tolerance`.

    Args:
        tolerance (float): Elements with a smaller difference are equal. Default: 1e-05.

    Inputs:
        - **x** (Tensor) - Numbers. The common element type of `x` and `y` must be floating point.
        - **y** (Tensor) - Numbers, of the shape of `x`.

    Outputs:
        Tensor of bool, of the shape of `x`.

    Raises:
        TypeError: If the common type of the inputs is not floating point.
        ValueError: If the shapes differ.

    Examples:
        >>> x, y = Tensor([1., 2.], mindspore.float32), Tensor([1.5, 3.5], mindspore.float32)
        >>> print(ops.ApproximateEqual(tolerance=1.)(x, y))
        [ True False]
    """
    x, y = promote(x, y, "ApproximateEqual")
    dtype_in("ApproximateEqual", "x", x, FLOAT)
    same_shape("ApproximateEqual", x=x, y=y)
    return jnp.abs(x - y) < jnp.asarray(tolerance, x.dtype)


@operator
def EqualCount(x, y):
    """Count the positions at which two Tensors are equal.

    Inputs:
        - **x** (Tensor) - Numbers or bool, of any shape.
        - **y** (Tensor) - Of the shape and element type of `x`.

    Outputs:
        Tensor of shape (1,) and the element type of `x`.

    Raises:
        TypeError: If an input is not a Tensor or the element types differ.
        ValueError: If the shapes differ.

    Examples:
        >>> x, y = Tensor([1, 2, 3], mindspore.int32), Tensor([1, 2, 4], mindspore.int32)
        >>> print(ops.EqualCount()(x, y))
        [2]
    """
    tensor_only("EqualCount", "x", x)
    dtype_in("EqualCount", "y", y, ANY)
    same_dtype("EqualCount", x=x, y=y)
    same_shape("EqualCount", x=x, y=y)
    return jnp.sum(x == y).astype(x.dtype).reshape(1)


_equal, _not_equal = Equal(), NotEqual()


def _convert_comparison_operand(other):
    """Convert `other` to an operand of a comparison, or return NotImplemented. The result for a list is NotImplemented,
    too, because in MindSpore no list is equal to a Tensor.
    """
    return NotImplemented if isinstance(other, (list, tuple)) else other_operand(other)


@spelling(Equal, method="__eq__", generation=1)
def _eq(self: Tensor, other: object) -> Tensor | bool:
    """Compare elementwise for equality; return the Python bool False if `other` is no Tensor, number or numpy array."""
    other = _convert_comparison_operand(other)
    return False if other is NotImplemented else _equal(self, other)


@spelling(NotEqual, method="__ne__", generation=1)
def _ne(self: Tensor, other: object) -> Tensor | bool:
    """Compare elementwise for inequality. Return the Python bool True if `other` is no Tensor, number or numpy
    array.
    """
    other = _convert_comparison_operand(other)
    return True if other is NotImplemented else _not_equal(self, other)


@operator(functional="isclose", called=("input", ("other", "x2")), methods=("isclose",))
def IsClose(input, other, *, rtol: Float = 1e-05, atol: Float = 1e-08, equal_nan: Bool = False):
    """Return True where two Tensors are equal up to a tolerance, abs(input - other) <= atol + rtol * abs(other).

    Args:
        input (Tensor): Numbers.
        other (Tensor): Numbers.
        rtol (float): Relative tolerance. Default: 1e-05.
        atol (float): Absolute tolerance. Default: 1e-08.
        equal_nan (bool): Treat two nan as equal. Default: False.

    Returns:
        Tensor of bool.
    """
    input, other = promote(input, other, op="isclose")
    return jnp.isclose(input, other, rtol, atol, equal_nan)


@spelling(IsClose, numpy="isclose")
def _numpy_isclose(
    a: ArrayLike, b: ArrayLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: Bool = False
) -> Tensor:
    """Return True where two Tensors are equal up to a tolerance, abs(a - b) <= atol + rtol * abs(b).

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Of any shape.
        b (Union[Tensor, list, tuple, int, float, bool]): Of a shape that broadcasts with that of `a`.
        rtol (float): Relative tolerance. Default: 1e-05.
        atol (float): Absolute tolerance. Default: 1e-08.
        equal_nan (bool): Treat two nan as equal. Default: False.

    Returns:
        Tensor of bool, of the broadcast shape of the operands.

    Raises:
        TypeError: If `a` or `b` has another type, or an argument has the wrong type.
        ValueError: If the shapes do not broadcast.
    """
    x, y = common_type(*as_tensors("isclose", a=a, b=b))
    return IsClose.functional(x, y, rtol, atol, equal_nan)


@spelling(Equal, ReduceAll, numpy="array_equal")
def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: Bool = False) -> Tensor:
    """Return True if two Tensors have the same shape and equal elements.

    Args:
        a1 (Union[Tensor, list, tuple, int, float, bool]): Of any shape.
        a2 (Union[Tensor, list, tuple, int, float, bool]): Of any shape.
        equal_nan (bool): Treat two nan as equal. Default: False.

    Returns:
        Tensor of bool, a scalar.

    Raises:
        TypeError: If `a1` or `a2` has another type, or `equal_nan` is no bool.
    """
    x, y = common_type(*as_tensors("array_equal", a1=a1, a2=a2))
    equal_nan = check(Bool, equal_nan, "equal_nan", "array_equal")
    if x.shape != y.shape:
        return Tensor(False)
    return ReduceAll.functional(IsClose.functional(x, y, 0.0, 0.0, True) if equal_nan else _equal(x, y))


@spelling(Equal, ReduceAll, numpy="array_equiv")
def array_equiv(a1: ArrayLike, a2: ArrayLike) -> Tensor:
    """Return True if two Tensors have equal elements after broadcasting.

    Args:
        a1 (Union[Tensor, list, tuple, int, float, bool]): Of any shape.
        a2 (Union[Tensor, list, tuple, int, float, bool]): Of any shape.

    Returns:
        Tensor of bool, a scalar; False if the shapes do not broadcast.

    Raises:
        TypeError: If `a1` or `a2` has another type.
    """
    x, y = common_type(*as_tensors("array_equiv", a1=a1, a2=a2))
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return Tensor(False)
    return ReduceAll.functional(_equal(x, y))


@spelling(IsClose, ReduceAll, method="allclose")
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: Bool = False) -> bool:
    """Return True if all elements of two Tensors are equal up to a tolerance.

    Args:
        input (Tensor): Numbers.
        other (Tensor): Numbers.
        rtol (float): Relative tolerance. Default: 1e-05.
        atol (float): Absolute tolerance. Default: 1e-08.
        equal_nan (bool): Treat two nan as equal. Default: False.

    Returns:
        bool; in a compiled graph a Tensor of bool, whose value is known when it runs.
    """
    answer = ReduceAll.functional(IsClose.functional(input, other, rtol, atol, equal_nan))
    return answer if is_tracer(answer._array) else bool(answer)


@spelling(Equal, ReduceAny, method="__contains__", generation=1)
def _tensor_contains(self: Tensor, item: Any) -> bool:
    """Return True if any element equals `item`."""
    operand = _convert_comparison_operand(item)
    if operand is NotImplemented:
        raise TypeError(f"`in` looks for a number in a Tensor, but got {describe(item)}.")
    return bool(any_(_equal(self, operand)))


@differs_in_api2("the element types of the inputs may differ, and one of them may be of whole numbers")
@spelling(ApproximateEqual, function="approximate_equal")
def approximate_equal(x: Tensor, y: Tensor, tolerance: float = 1e-05) -> Tensor:
    """Return True where two Tensors differ by less than a tolerance.

    Args:
        x (Tensor): Numbers.
        y (Tensor): Numbers, of the shape of `x`. The common element type of `x` and `y` must be floating point.
        tolerance (float): Elements with a smaller difference are equal. Default: 1e-05.

    Returns:
        Tensor of bool, of the shape of `x`.

    Raises:
        TypeError: If an input is not a Tensor, or both have integers.
        ValueError: If the shapes differ.
    """
    x, y = tensor_argument("approximate_equal", "x", x), tensor_argument("approximate_equal", "y", y)
    return ApproximateEqual(tolerance)(*common_type(x, y))


@spelling(ApproximateEqual, method="approximate_equal")
def _tensor_approximate_equal(self: Tensor, other: Tensor, tolerance: float = 1e-05) -> Tensor:
    """Return True where the elements of two Tensors differ by less than a tolerance."""
    return ApproximateEqual(tolerance)(self, other)


CASES = [
    *(
        case(compare, x, y)
        for compare in (Equal, NotEqual, Greater, GreaterEqual, Less, LessEqual)
        for x, y in ((I(2, 3, low=0, high=3), I(3, low=0, high=3)), (I(3), F(3)), (F(3), 0.5))
    ),
    case(ApproximateEqual, F(4), F(4), tolerance=1.0),
    case(EqualCount, I(4, low=0, high=2), I(4, low=0, high=2)),
]
