"""Arithmetic of mint that `mindspore.ops` has otherwise: with a factor, of bits, and comparisons of whole Tensors."""

from msnb.core.compat.jax_private import is_tracer
from msnb.core.operator.array_like import common_type
from msnb.core.tensor.tensor import Tensor
from msnb.mint._rows import floating
from msnb.ops import functional as F
from msnb.ops import operations as P
from msnb.ops.math.logic import logical_and, logical_not, logical_or, logical_xor  # of numbers, too, as MindSpore 2's

__all__ = [
    "add",
    "allclose",
    "atan2",
    "bitwise_not",
    "clamp",
    "clone",
    "einsum",
    "equal",
    "item",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "sub",
    "xlogy",
]

_copy = P.Identity()


def _scaled(other, alpha):
    return other if alpha == 1 else other * alpha


def add(input: Tensor | float, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """`input` and `alpha` times `other`, added.

    Args:
        input (Union[Tensor, Number]): The first summand.
        other (Union[Tensor, Number]): The second one.
        alpha (Number): What it is multiplied with. Default: 1.

    Returns:
        Tensor of the common shape and element type.
    """
    return F.add(input, _scaled(other, alpha))


def sub(input: Tensor | float, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """`alpha` times `other`, taken from `input`.

    Args:
        input (Union[Tensor, Number]): What is taken from.
        other (Union[Tensor, Number]): What is taken.
        alpha (Number): What it is multiplied with. Default: 1.

    Returns:
        Tensor of the common shape and element type.
    """
    return F.sub(input, _scaled(other, alpha))


def atan2(input: Tensor, other: Tensor) -> Tensor:
    """The angle of the point (`other`, `input`).

    Args:
        input (Tensor): The ordinates; whole numbers count as float32.
        other (Tensor): The abscissas.

    Returns:
        Tensor of the common shape.
    """
    return F.atan2(floating(input), floating(other))


def xlogy(input: Tensor | float, other: Tensor | float) -> Tensor:
    """`input` times the logarithm of `other`; 0 where `input` is 0.

    Args:
        input (Union[Tensor, Number]): The factor.
        other (Union[Tensor, Number]): What the logarithm is taken of.

    Returns:
        Tensor of the common shape; whole numbers count as float32.
    """
    return F.xlogy(floating(input), floating(other))


def bitwise_not(input: Tensor) -> Tensor:
    """Each bit the other way round; of bool the opposite.

    Args:
        input (Tensor): Whole numbers or bool.

    Returns:
        Tensor of the same shape and element type.
    """
    return F.logical_not(input) if input._array.dtype.kind == "b" else F.invert(input)


def _meeting(operands):
    return common_type(*operands) if operands and all(isinstance(x, Tensor) for x in operands) else operands


def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Sums of products by Einstein's convention.

    Args:
        equation (str): Subscripts, as in numpy's einsum.
        operands (Tensor): As many as the equation has terms; element types that differ meet.

    Returns:
        Tensor.
    """
    return F.einsum(equation, *_meeting(operands))


def clamp(input: Tensor, min: Tensor | float | None = None, max: Tensor | float | None = None) -> Tensor:
    """Every element brought between two bounds.

    Args:
        input (Tensor): Numbers.
        min (Union[Tensor, Number]): The lower bound. Default: None, there is none.
        max (Union[Tensor, Number]): The upper bound. Default: None, there is none.

    Returns:
        Tensor.

    Raises:
        TypeError: If one bound is a Tensor and the other a number.
        ValueError: If there is no bound, or one is a bool.
    """
    given = [bound for bound in (min, max) if bound is not None]
    if any(isinstance(bound, bool) for bound in given):
        raise ValueError("For 'clamp', 'min' and 'max' should be numbers or Tensors of numbers, but one is a bool.")
    if len({isinstance(bound, Tensor) for bound in given}) > 1:
        raise TypeError("For 'clamp', 'min' and 'max' should both be Tensors or both numbers.")
    return F.clamp(input, min, max)


def clone(input: Tensor) -> Tensor:
    """A copy, through which gradients flow.

    Args:
        input (Tensor): What is copied.

    Returns:
        Tensor.
    """
    return _copy(input)


def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor | bool:
    """Return whether all elements are as near to each other as `isclose` wants them.

    Args:
        input (Tensor): The first Tensor.
        other (Tensor): The second one.
        rtol (float): How far they may be apart in relation to `other`. Default: 1e-5.
        atol (float): How far beyond that. Default: 1e-8.
        equal_nan (bool): Whether nan equals nan. Default: False.

    Returns:
        bool; a Tensor inside a graph.
    """
    return _flag(F.isclose(input, other, rtol, atol, equal_nan).all())


def equal(input: Tensor, other: Tensor) -> Tensor | bool:
    """Return whether two Tensors have the same shape and elements.

    Args:
        input (Tensor): The first Tensor.
        other (Tensor): The second one.

    Returns:
        bool; a Tensor inside a graph.
    """
    return input.shape == other.shape and _flag(F.equal(input, other).all())


def _flag(answer):
    return answer if is_tracer(answer._array) else bool(answer)


def item(input: Tensor) -> float | int | bool:
    """The number that a Tensor of one element holds.

    Args:
        input (Tensor): Of one element.

    Returns:
        Number.
    """
    return input.item()
