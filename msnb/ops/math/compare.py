"""Comparisons of two Tensors, element by element."""

from typing import Any

import jax.numpy as jnp

from msnb.common.kinds import Bool, Float
from msnb.core.cases import F, I, case
from msnb.core.declare import operator, spelling
from msnb.core.dtype import promote
from msnb.core.errors import describe
from msnb.core.tensor import Tensor
from msnb.ops._check import ANY, FLOAT, dtype_in, same_dtype, same_shape, tensor_only
from msnb.ops.math._elementwise import comparison
from msnb.ops.math.logic import ReduceAll, ReduceAny, any_


@comparison(shown="[ True False False]", functional="equal", methods=("equal", "eq"))
def Equal(x, y):
    """True where the operands are equal."""
    return jnp.equal(x, y)


spelling(Equal, function="eq")(Equal.functional)


@comparison(shown="[False  True  True]", functional="not_equal", methods=("not_equal", "ne"))
def NotEqual(x, y):
    """True where the operands differ."""
    return jnp.not_equal(x, y)


spelling(NotEqual, function="ne")(NotEqual.functional)


@comparison(shown="[False  True False]", functional="greater", methods=("greater", "gt", "__gt__"), generation=2)
def Greater(x, y):
    """True where the first operand is larger."""
    return jnp.greater(x, y)


spelling(Greater, function="tensor_gt", generation=1)(Greater.functional)
spelling(Greater, function="gt")(Greater.functional)


@comparison(
    shown="[ True  True False]", functional="greater_equal", methods=("greater_equal", "ge", "__ge__"), generation=2
)
def GreaterEqual(x, y):
    """True where the first operand is not smaller."""
    return jnp.greater_equal(x, y)


spelling(GreaterEqual, function="tensor_ge", generation=1)(GreaterEqual.functional)
spelling(GreaterEqual, function="ge")(GreaterEqual.functional)


@comparison(shown="[False False  True]", functional="less", methods=("less", "lt", "__lt__"), generation=2)
def Less(x, y):
    """True where the first operand is smaller."""
    return jnp.less(x, y)


spelling(Less, function="tensor_lt", generation=1)(Less.functional)
spelling(Less, function="lt")(Less.functional)


@comparison(shown="[ True False  True]", functional="less_equal", methods=("less_equal", "le", "__le__"), generation=2)
def LessEqual(x, y):
    """True where the first operand is not larger."""
    return jnp.less_equal(x, y)


spelling(LessEqual, function="tensor_le", generation=1)(LessEqual.functional)
spelling(LessEqual, function="le")(LessEqual.functional)


@operator(functional="approximate_equal")
def ApproximateEqual(x, y, *, tolerance: Float = 1e-05):
    """True where the operands differ by less than `tolerance`.

    Args:
        tolerance (float): Largest difference that still counts as equal. Default: 1e-05.

    Inputs:
        - **x** (Tensor) - Floating point numbers.
        - **y** (Tensor) - Of the shape and element type of `x`.

    Outputs:
        Tensor of bool, of the shape of `x`.

    Raises:
        TypeError: If the inputs are not floating point of one type.
        ValueError: If the shapes differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x, y = Tensor([1., 2.], mindspore.float32), Tensor([1.5, 3.5], mindspore.float32)
        >>> print(ops.ApproximateEqual(tolerance=1.)(x, y))
        [ True False]
    """
    dtype_in("ApproximateEqual", "x", x, FLOAT)
    same_dtype("ApproximateEqual", x=x, y=y)
    same_shape("ApproximateEqual", x=x, y=y)
    return jnp.abs(x - y) < jnp.asarray(tolerance, x.dtype)


@operator
def EqualCount(x, y):
    """Number of places in which two Tensors agree.

    Inputs:
        - **x** (Tensor) - Numbers or bool, of any shape.
        - **y** (Tensor) - Of the shape and element type of `x`.

    Outputs:
        Tensor of shape (1,) and the element type of `x`.

    Raises:
        TypeError: If an input is not a Tensor or the element types differ.
        ValueError: If the shapes differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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
_COMPARABLE = (Tensor, bool, int, float, complex)


@spelling(Equal, method="__eq__", generation=1)
def _eq(self: Tensor, other: object) -> Tensor | bool:
    """Element-wise equality; plain False if `other` is neither a Tensor nor a number."""
    return _equal(self, other) if isinstance(other, _COMPARABLE) else False


@spelling(NotEqual, method="__ne__", generation=1)
def _ne(self: Tensor, other: object) -> Tensor | bool:
    """Element-wise difference; plain True if `other` is neither a Tensor nor a number."""
    return _not_equal(self, other) if isinstance(other, _COMPARABLE) else True


@operator(functional="isclose", methods=("isclose",))
def IsClose(input, other, *, rtol: Float = 1e-05, atol: Float = 1e-08, equal_nan: Bool = False):
    """True where two Tensors are equal up to a tolerance, abs(input - other) <= atol + rtol * abs(other).

    Args:
        input (Tensor): Numbers.
        other (Tensor): Numbers.
        rtol (float): Relative tolerance. Default: 1e-05.
        atol (float): Absolute tolerance. Default: 1e-08.
        equal_nan (bool): Whether two nan are equal. Default: False.

    Returns:
        Tensor of bool.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    input, other = promote(input, other, op="isclose")
    return jnp.isclose(input, other, rtol, atol, equal_nan)


@spelling(IsClose, ReduceAll, method="allclose")
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: Bool = False) -> bool:
    """Whether all elements of two Tensors are equal up to a tolerance.

    Args:
        input (Tensor): Numbers.
        other (Tensor): Numbers.
        rtol (float): Relative tolerance. Default: 1e-05.
        atol (float): Absolute tolerance. Default: 1e-08.
        equal_nan (bool): Whether two nan are equal. Default: False.

    Returns:
        bool.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return bool(ReduceAll.functional(IsClose.functional(input, other, rtol, atol, equal_nan)))


@spelling(Equal, ReduceAny, method="__contains__", generation=1)
def _contains_of(self: Tensor, item: Any) -> bool:
    """Whether any element equals `item`."""
    if not isinstance(item, _COMPARABLE):
        raise TypeError(f"`in` looks for a number in a Tensor, but got {describe(item)}.")
    return bool(any_(_equal(self, item)))


CASES = [
    *(
        case(compare, x, y)
        for compare in (Equal, NotEqual, Greater, GreaterEqual, Less, LessEqual)
        for x, y in ((I(2, 3, low=0, high=3), I(3, low=0, high=3)), (I(3), F(3)), (F(3), 0.5))
    ),
    case(ApproximateEqual, F(4), F(4), tolerance=1.0),
    case(EqualCount, I(4, low=0, high=2), I(4, low=0, high=2)),
]
