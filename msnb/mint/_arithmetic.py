"""Arithmetic of mint that differs from `mindspore.ops`: scaled sums, bit operations, and comparisons of Tensors."""

from msnb.core.compat.jax_private import is_tracer
from msnb.core.operator.array_like import common_type
from msnb.core.tensor.tensor import Tensor
from msnb.mint._rows import as_floating
from msnb.ops import functional as F
from msnb.ops import operations as P
from msnb.ops._in_place import take_over
from msnb.ops.math.arithmetic import scaled_operands
from msnb.ops.math.logic import logical_and, logical_not, logical_or, logical_xor  # these accept numbers

__all__ = [
    "add",
    "addr_",
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
    "vdot",
    "xlogy",
]

_copy = P.Identity()


def add(input: Tensor | float, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """Return input + alpha * other.

    Args:
        input (Union[Tensor, Number]): The first summand.
        other (Union[Tensor, Number]): The second summand.
        alpha (Number): Factor of `other`. Default: 1.

    Returns:
        Tensor of the common shape and element type.
    """
    return F.add(*scaled_operands(input, other, alpha))


def addr_(input: Tensor, vec1: Tensor, vec2: Tensor, beta: float = 1, alpha: float = 1) -> Tensor:
    """Add the outer product of two vectors in place: input = beta * input + alpha * outer(vec1, vec2).

    Args:
        input (Tensor): A matrix, of shape (M, N).
        vec1 (Tensor): A vector, of shape (M,).
        vec2 (Tensor): A vector, of shape (N,).
        beta (Number): Factor of `input`. Default: 1.
        alpha (Number): Factor of the outer product. Default: 1.

    Returns:
        Tensor, `input` itself.
    """
    return take_over("addr_", input, F.addr(input, vec1, vec2, beta=beta, alpha=alpha))


def sub(input: Tensor | float, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """Return input - alpha * other.

    Args:
        input (Union[Tensor, Number]): The minuend.
        other (Union[Tensor, Number]): The subtrahend.
        alpha (Number): Factor of `other`. Default: 1.

    Returns:
        Tensor of the common shape and element type.
    """
    return F.sub(*scaled_operands(input, other, alpha))


def atan2(input: Tensor, other: Tensor) -> Tensor:
    """Return the angle of the point (x, y) = (other, input), in (-pi, pi].

    Args:
        input (Tensor): The y coordinates; integers are converted to float32.
        other (Tensor): The x coordinates.

    Returns:
        Tensor of the common shape.
    """
    return F.atan2(as_floating(input), as_floating(other))


def xlogy(input: Tensor | float, other: Tensor | float) -> Tensor:
    """Return input * log(other); 0 where `input` is 0.

    Args:
        input (Union[Tensor, Number]): The factor.
        other (Union[Tensor, Number]): Argument of the logarithm.

    Returns:
        Tensor of the common shape; integers are converted to float32.
    """
    return F.xlogy(as_floating(input), as_floating(other))


def bitwise_not(input: Tensor) -> Tensor:
    """Invert each bit of integers, and negate bool values.

    Args:
        input (Tensor): Integers or bool.

    Returns:
        Tensor of the same shape and element type.
    """
    return F.logical_not(input) if input._array.dtype.kind == "b" else F.invert(input)


def _promote_if_all_tensors(operands):
    return common_type(*operands) if operands and all(isinstance(x, Tensor) for x in operands) else operands


def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Return sums of products of elements, given in Einstein notation.

    Args:
        equation (str): Subscripts, as in numpy's einsum.
        operands (Tensor): As many as the equation has terms; different element types are promoted.

    Returns:
        Tensor.
    """
    return F.einsum(equation, *_promote_if_all_tensors(operands))


def clamp(input: Tensor, min: Tensor | float | None = None, max: Tensor | float | None = None) -> Tensor:
    """Limit every element to the range [min, max].

    Args:
        input (Tensor): Numbers.
        min (Union[Tensor, Number]): The lower bound. Default: None, no bound.
        max (Union[Tensor, Number]): The upper bound. Default: None, no bound.

    Returns:
        Tensor.

    Raises:
        TypeError: If one bound is a Tensor and the other a number.
        ValueError: If there is no bound, or one is a bool.
    """
    bounds = [bound for bound in (min, max) if bound is not None]
    if any(isinstance(bound, bool) for bound in bounds):
        raise ValueError("For 'clamp', 'min' and 'max' should be numbers or Tensors of numbers, but one is a bool.")
    if len({isinstance(bound, Tensor) for bound in bounds}) > 1:
        raise TypeError("For 'clamp', 'min' and 'max' should both be Tensors or both numbers.")
    return F.clamp(input, min, max)


def clone(input: Tensor) -> Tensor:
    """Return a copy of a Tensor. It is differentiable.

    Args:
        input (Tensor): The Tensor to copy.

    Returns:
        Tensor.
    """
    return _copy(input)


def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor | bool:
    """Return whether all elements of two Tensors are close, see `isclose`.

    Args:
        input (Tensor): The first Tensor.
        other (Tensor): The second Tensor.
        rtol (float): Relative tolerance. Default: 1e-5.
        atol (float): Absolute tolerance. Default: 1e-8.
        equal_nan (bool): Whether NaN equals NaN. Default: False.

    Returns:
        bool; a Tensor inside a graph.
    """
    return _to_bool_unless_traced(F.isclose(input, other, rtol, atol, equal_nan).all())


def equal(input: Tensor, other: Tensor) -> Tensor | bool:
    """Return whether two Tensors have the same shape and elements.

    Args:
        input (Tensor): The first Tensor.
        other (Tensor): The second Tensor.

    Returns:
        bool; a Tensor inside a graph.
    """
    return input.shape == other.shape and _to_bool_unless_traced(F.equal(input, other).all())


def _to_bool_unless_traced(answer):
    return answer if is_tracer(answer._array) else bool(answer)


def item(input: Tensor) -> float | int | bool:
    """Return the number in a Tensor of one element.

    Args:
        input (Tensor): A Tensor with one element.

    Returns:
        Number.
    """
    return input.item()


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """Return the dot product of two vectors, with the conjugate of the first.

    Args:
        input (Tensor): A vector.
        other (Tensor): A vector of the same length and type.

    Returns:
        Tensor, a scalar.
    """
    return F.dot(F.conj(input) if input.is_complex() else input, other)
