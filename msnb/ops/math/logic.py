"""Logical operators on bool Tensors: and, or, xor, not, and the reductions all and any."""

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Axis, Bool
from msnb.core.operator.api_generations import called_as, differs_in_api2
from msnb.core.operator.cases import F, Flags, I, case, refused
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.operator.ufunc import truth
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import BOOL, axes_in, dtype_in, tensor_argument
from msnb.ops._numpy import ArrayLike, as_tensor
from msnb.ops.array.cast import Cast
from msnb.ops.math._elementwise import logical

_NUMBERS = "numbers are taken, too, of which 0 counts as False"


@logical(output="[ True False False]", functional="logical_and", generation=1, numpy=truth("logical_and"))
def LogicalAnd(x, y):
    """Return True where both operands are True."""
    return jnp.logical_and(x, y)


@logical(output="[ True  True  True]", functional="logical_or", generation=1, numpy=truth("logical_or"))
def LogicalOr(x, y):
    """Return True where at least one operand is True."""
    return jnp.logical_or(x, y)


@logical(output="[False  True  True]", numpy=truth("logical_xor"))
def LogicalXor(x, y):
    """Return True where exactly one operand is True."""
    return jnp.logical_xor(x, y)


@operator(functional="logical_not", called=("input",), generation=1, numpy=truth("logical_not").taking("a"))
def LogicalNot(x):
    """Return True where an element is False.

    Inputs:
        - **x** (Tensor) - Of bool, of any shape.

    Outputs:
        Tensor of bool, of the shape of `x`.

    Raises:
        TypeError: If `x` is not a Tensor of bool.

    Examples:
        >>> print(ops.LogicalNot()(Tensor([True, False], mindspore.bool_)))
        [False  True]
    """
    if x.dtype != bool:
        dtype_in("LogicalNot", "x", x, BOOL)
    return jnp.logical_not(x)


def _as_bool(value):
    """Cast an operand to bool: True where it is not 0.

    A value that is neither Tensor nor number is returned unchanged. The operator then raises an error.
    """
    if isinstance(value, Tensor):
        return value if value.dtype == mstype.bool_ else Cast.functional(value, mstype.bool_)
    return bool(value) if isinstance(value, (int, float)) else value


@spelling(LogicalNot, Cast, method="__invert__")
def _is_zero(self: Tensor) -> Tensor:
    """Return True where an element is False, or 0 for numbers."""
    return LogicalNot.functional(_as_bool(self))


@differs_in_api2(_NUMBERS)
@spelling(LogicalAnd, Cast, function="logical_and", method="logical_and")
def logical_and(input: Tensor, other: Tensor) -> Tensor:
    """Return True where both operands are True; nonzero numbers are treated as True.

    Args:
        input (Union[Tensor, Number, bool]): The first operand.
        other (Union[Tensor, Number, bool]): The second operand, of a shape that broadcasts with the first.

    Returns:
        Tensor of bool.

    Raises:
        TypeError: If neither operand is a Tensor.
        ValueError: If the shapes do not broadcast.

    Examples:
        >>> print(ops.logical_and(Tensor([True, False]), Tensor([True, True])))
        [ True False]
    """
    return LogicalAnd.functional(_as_bool(input), _as_bool(other))


@differs_in_api2(_NUMBERS)
@spelling(LogicalOr, Cast, function="logical_or", method="logical_or")
def logical_or(input: Tensor, other: Tensor) -> Tensor:
    """Return True where at least one operand is True; nonzero numbers are treated as True.

    Args:
        input (Union[Tensor, Number, bool]): The first operand.
        other (Union[Tensor, Number, bool]): The second operand, of a shape that broadcasts with the first.

    Returns:
        Tensor of bool.

    Raises:
        TypeError: If neither operand is a Tensor.
        ValueError: If the shapes do not broadcast.

    Examples:
        >>> print(ops.logical_or(Tensor([True, False]), Tensor([True, True])))
        [ True  True]
    """
    return LogicalOr.functional(_as_bool(input), _as_bool(other))


@spelling(LogicalXor, Cast, function="logical_xor", method="logical_xor")
def logical_xor(input: Tensor, other: Tensor) -> Tensor:
    """Return True where exactly one operand is True; nonzero numbers are treated as True.

    Args:
        input (Union[Tensor, Number, bool]): The first operand.
        other (Union[Tensor, Number, bool]): The second operand, of a shape that broadcasts with the first.

    Returns:
        Tensor of bool.

    Raises:
        TypeError: If neither operand is a Tensor.
        ValueError: If the shapes do not broadcast.

    Examples:
        >>> print(ops.logical_xor(Tensor([True, False]), Tensor([True, True])))
        [False  True]
    """
    return LogicalXor.functional(_as_bool(input), _as_bool(other))


@differs_in_api2(_NUMBERS)
@spelling(LogicalNot, Cast, function="logical_not", method="logical_not")
def logical_not(input: Tensor) -> Tensor:
    """Return True where an element is False, or 0 for numbers.

    Args:
        input (Tensor): Of bool or numbers, of any shape.

    Returns:
        Tensor of bool, of the shape of `input`.

    Raises:
        TypeError: If `input` is no Tensor.

    Examples:
        >>> print(ops.logical_not(Tensor([True, False])))
        [False  True]
    """
    return LogicalNot.functional(_cast_to_bool("logical_not", input))


def _wrap_with_bool_operands(connective):
    """Return the logical operator `connective`, changed to cast its operands to bool, as in MindSpore 2."""

    def function(x: Tensor | float, y: Tensor | float) -> Tensor:
        return connective.functional(_as_bool(x), _as_bool(y))

    return function


for _connective in (LogicalAnd, LogicalOr, LogicalXor):
    called_as(_connective, _wrap_with_bool_operands(_connective), _NUMBERS)
called_as(LogicalNot, logical_not, _NUMBERS)


@operator
def ReduceAll(x, axis: Axis = (), *, keep_dims: Bool = False):
    """Return True if all elements along the reduced axes are True.

    Args:
        keep_dims (bool): Keep the reduced axes with length 1. Default: False.

    Inputs:
        - **x** (Tensor) - Of bool.
        - **axis** (Union[int, tuple, list]) - Axes to reduce; () stands for all. Default: ().

    Outputs:
        Tensor of the element type of `x`, without the reduced axes; with `keep_dims` they have length 1.

    Raises:
        TypeError: If `keep_dims` is not a bool, `axis` does not consist of int, or the element type is not supported.
        ValueError: If `axis` is out of range.

    Examples:
        >>> x = Tensor([[True, False], [True, True]], mindspore.bool_)
        >>> print(ops.ReduceAll(keep_dims=False)(x, 1))
        [False  True]
    """
    dtype_in("ReduceAll", "x", x, BOOL)
    return jnp.all(x, axes_in("ReduceAll", axis, x.ndim), keepdims=keep_dims)


@operator
def ReduceAny(x, axis: Axis = (), *, keep_dims: Bool = False):
    """Return True if any element along the reduced axes is True.

    Args:
        keep_dims (bool): Keep the reduced axes with length 1. Default: False.

    Inputs:
        - **x** (Tensor) - Of bool.
        - **axis** (Union[int, tuple, list]) - Axes to reduce; () stands for all. Default: ().

    Outputs:
        Tensor of the element type of `x`, without the reduced axes; with `keep_dims` they have length 1.

    Raises:
        TypeError: If `keep_dims` is not a bool, `axis` does not consist of int, or the element type is not supported.
        ValueError: If `axis` is out of range.

    Examples:
        >>> x = Tensor([[True, False], [True, True]], mindspore.bool_)
        >>> print(ops.ReduceAny(keep_dims=False)(x, 1))
        [ True  True]
    """
    dtype_in("ReduceAny", "x", x, BOOL)
    return jnp.any(x, axes_in("ReduceAny", axis, x.ndim), keepdims=keep_dims)


def _wrap_with_bool_input(reduction):
    """Return `reduction`, changed to cast numbers to bool, as the class of MindSpore 2 does."""

    def function(x: Tensor, axis: Axis = (), *, keep_dims: Bool = False) -> Tensor:
        return reduction.functional(_as_bool(tensor_argument(reduction.__name__, "x", x)), axis, keep_dims)

    return function


for _reduction in (ReduceAll, ReduceAny):
    called_as(_reduction, _wrap_with_bool_input(_reduction), _NUMBERS)


def _cast_to_bool(op, x):
    """Cast `x` to bool: True where it is not 0."""
    tensor_argument(op, "input", x)
    return x if x.dtype == mstype.bool_ else Cast.functional(x, mstype.bool_)


@spelling(ReduceAll, function="all")
def all_(input: Tensor, axis: Axis = None, keep_dims: Bool = False) -> Tensor:
    """Return True if all elements along the reduced axes are nonzero.

    Args:
        input (Tensor): Numbers or bool.
        axis (Union[None, int, tuple[int], list[int]]): Axes to reduce. Default: None, all axes.
        keep_dims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor of bool.
    """
    return ReduceAll.functional(_cast_to_bool("all", input), axis, keep_dims)


@spelling(ReduceAll, method="all", generation=1)
@keyword_aliases(dim="axis", keepdim="keep_dims")
def _tensor_all(self: Tensor, axis: Axis = (), keep_dims: Bool = False) -> Tensor:
    """Return True if all elements along the reduced axes are True.

    Args:
        axis (Union[None, int, tuple[int], list[int]]): Axes to reduce; () stands for all. Default: ().
        keep_dims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor of bool.
    """
    return all_(self, axis, keep_dims)


@spelling(ReduceAny, function="any")
def any_(input: Tensor, axis: Axis = None, keep_dims: Bool = False) -> Tensor:
    """Return True if any element along the reduced axes is nonzero.

    Args:
        input (Tensor): Numbers or bool.
        axis (Union[None, int, tuple[int], list[int]]): Axes to reduce. Default: None, all axes.
        keep_dims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor of bool.
    """
    return ReduceAny.functional(_cast_to_bool("any", input), axis, keep_dims)


@spelling(ReduceAny, method="any", generation=1)
@keyword_aliases(dim="axis", keepdim="keep_dims")
def _tensor_any(self: Tensor, axis: Axis = (), keep_dims: Bool = False) -> Tensor:
    """Return True if any element along the reduced axes is True.

    Args:
        axis (Union[None, int, tuple[int], list[int]]): Axes to reduce; () stands for all. Default: ().
        keep_dims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor of bool.
    """
    return any_(self, axis, keep_dims)


@spelling(ReduceAny, numpy="sometrue")
def sometrue(a: ArrayLike, axis: Axis = None, keepdims: Bool = False) -> Tensor:
    """Return True if any element along the reduced axes is nonzero.

    Args:
        a (Union[Tensor, list, tuple, int, float, bool]): Of any shape.
        axis (Union[None, int, tuple[int], list[int]]): Axes to reduce. Default: None, all axes.
        keepdims (bool): Keep the axes with length 1. Default: False.

    Returns:
        Tensor of bool.

    Raises:
        TypeError: If `a` has another type, or `axis` does not consist of int.
        ValueError: If `axis` is out of range.
    """
    return any_(as_tensor(a, "sometrue", "a"), axis, keepdims)


CASES = [
    case(LogicalAnd, Flags(2, 3), Flags(3)),
    case(LogicalOr, Flags(2, 3), Flags(3)),
    case(LogicalXor, Flags(2, 3), Flags(3)),
    case(LogicalNot, Flags(4)),
    case(ReduceAll, Flags(2, 3)),
    case(ReduceAll, Flags(2, 3), 1, keep_dims=True),
    case(ReduceAny, Flags(2, 3)),
    case(ReduceAny, Flags(2, 3), 1, keep_dims=True),
    refused(TypeError, LogicalAnd, F(2, 3), F(2, 3)),
    case(logical_and, I(2, 3), I(3)),
    case(logical_or, Flags(2, 3), I(3)),
    case(logical_xor, F(2, 3), F(2, 3)).without("gradient", "truth has none"),
    case(logical_not, I(4)),
]
