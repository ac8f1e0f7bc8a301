"""Functions of polynomials, given as vectors of coefficients with the highest power first."""

from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import NonNegInt, check
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.numpy.convolution import _Convolve
from msnb.ops._numpy import ArrayLike, as_tensor, common_type, floating
from msnb.ops.array.broadcast import BroadcastTo
from msnb.ops.array.cast import Cast
from msnb.ops.array.create import Zeros, ZerosLike
from msnb.ops.array.join import Concat
from msnb.ops.array.reshape import Reshape
from msnb.ops.math.arithmetic import Add, Sub


def _to_coefficients(function, argument, value):
    p = as_tensor(value, function, argument)
    if p.ndim > 1:
        raise ValueError(f"For '{function}', '{argument}' should be a vector or a number, but got shape {p.shape}.")
    p = p if p.ndim else Reshape.functional(p, (1,))
    return Cast.functional(p, mstype.int32) if p.dtype == mstype.bool_ else p


def _align_lengths(function, a1, a2):
    """Return the coefficients of two polynomials with equal length: the shorter vector is padded with leading zeros."""
    polynomials = common_type(_to_coefficients(function, "a1", a1), _to_coefficients(function, "a2", a2))
    length = max(p.shape[0] for p in polynomials)
    return [
        p if p.shape[0] == length else Concat(0)((Zeros.functional((length - p.shape[0],), p.dtype), p))
        for p in polynomials
    ]


@spelling(numpy="polyadd")
def polyadd(a1: ArrayLike, a2: ArrayLike) -> Tensor:
    """Return the sum of two polynomials.

    Args:
        a1 (Union[Tensor, list, tuple, int, float]): Coefficients, the highest power first.
        a2 (Union[Tensor, list, tuple, int, float]): Coefficients, the highest power first.

    Returns:
        Tensor, as long as the longer vector.

    Raises:
        TypeError: If `a1` or `a2` has another type.
        ValueError: If one of them has more than 1 dimension.

    Examples:
        >>> print(mindspore.numpy.polyadd([1, 2], [9, 5, 4]))
        [9 6 6]
    """
    return Add.functional(*_align_lengths("polyadd", a1, a2))


@spelling(numpy="polysub")
def polysub(a1: ArrayLike, a2: ArrayLike) -> Tensor:
    """Return the difference of two polynomials, a1 - a2.

    Args:
        a1 (Union[Tensor, list, tuple, int, float]): Coefficients, the highest power first.
        a2 (Union[Tensor, list, tuple, int, float]): Coefficients, the highest power first.

    Returns:
        Tensor, as long as the longer vector.

    Raises:
        TypeError: If `a1` or `a2` has another type.
        ValueError: If one of them has more than 1 dimension.
    """
    return Sub.functional(*_align_lengths("polysub", a1, a2))


@spelling(numpy="polymul")
def polymul(a1: ArrayLike, a2: ArrayLike) -> Tensor:
    """Return the product of two polynomials.

    Args:
        a1 (Union[Tensor, list, tuple, int, float]): Coefficients, the highest power first.
        a2 (Union[Tensor, list, tuple, int, float]): Coefficients, the highest power first.

    Returns:
        Tensor of length len(a1) + len(a2) - 1.

    Raises:
        TypeError: If `a1` or `a2` has another type.
        ValueError: If one of them has more than 1 dimension, or is empty.
    """
    x, y = common_type(_to_coefficients("polymul", "a1", a1), _to_coefficients("polymul", "a2", a2))
    return _Convolve()(x, y)


@spelling(numpy="polyval")
def polyval(p: ArrayLike, x: ArrayLike) -> Tensor:
    """Evaluate a polynomial at `x`.

    Args:
        p (Union[Tensor, list, tuple, int, float]): Coefficients, the highest power first.
        x (Union[Tensor, list, tuple, int, float]): Points at which to evaluate, of any shape.

    Returns:
        Tensor of the shape of `x`. Its element type is float64 if `p` or `x` is float64, else float32.

    Raises:
        TypeError: If `p` or `x` has another type.
        ValueError: If `p` has more than 1 dimension.

    Examples:
        >>> print(mindspore.numpy.polyval([3.0, 0.0, 1.0], 5.0))
        76.0
    """
    p, x = common_type(_to_coefficients("polyval", "p", p), as_tensor(x, "polyval", "x"))
    if p.dtype != mstype.float64:
        p, x = Cast.functional(p, mstype.float32), Cast.functional(x, mstype.float32)
    value = ZerosLike.functional(x)
    for power in range(p.shape[0]):
        value = value * x + p[power]
    return value


@spelling(numpy="polyder")
def polyder(p: ArrayLike, m: NonNegInt = 1) -> Tensor:
    """Return the derivative of a polynomial.

    Args:
        p (Union[Tensor, list, tuple, int, float]): Coefficients, the highest power first.
        m (int): Order of the derivative. Default: 1.

    Returns:
        Tensor, a vector that is `m` elements shorter than `p`; empty if `m` exceeds the degree.

    Raises:
        TypeError: If `p` has another type, or `m` is not an int.
        ValueError: If `p` has more than 1 dimension, or `m` is negative.

    Examples:
        >>> print(mindspore.numpy.polyder([1, 1, 1, 1]))
        [3 2 1]
    """
    p = _to_coefficients("polyder", "p", p)
    for _ in range(check(NonNegInt, m, "m", "polyder")):
        if p.shape[0] < 2:
            return Tensor(np.zeros(0, np.float32))
        powers = Tensor(np.arange(p.shape[0] - 1, 0, -1, dtype=np.int32))
        p = common_type(p[:-1], powers)
        p = p[0] * p[1]
    return p


@spelling(numpy="polyint")
def polyint(p: ArrayLike, m: NonNegInt = 1, k: Any = None) -> Tensor:
    """Return the antiderivative of a polynomial.

    Args:
        p (Union[Tensor, list, tuple, int, float]): Coefficients, the highest power first.
        m (int): Number of integrations. Default: 1.
        k (Union[Tensor, list, tuple, int, float]): The integration constants: one number for all integrations, or a
            vector with one for each. Default: None, 0.

    Returns:
        Tensor, a floating point vector that is `m` elements longer than `p`.

    Raises:
        TypeError: If `p` or `k` has another type, or `m` is not an int.
        ValueError: If `p` has more than 1 dimension, `m` is negative, or `k` has another length.

    Examples:
        >>> print(mindspore.numpy.polyint([6.0, 6.0, 6.0]))
        [2. 3. 6. 0.]
    """
    p, m = _to_coefficients("polyint", "p", p), check(NonNegInt, m, "m", "polyint")
    if not m:
        return p
    p, constants = common_type(floating(p), _to_coefficients("polyint", "k", 0 if k is None else k))
    if constants.shape[0] not in (1, m):
        raise ValueError(f"For 'polyint', 'k' should be 1 number or {m}, but got {constants.shape[0]}.")
    constants = BroadcastTo.functional(constants, (m,))
    for time in range(m):
        powers = Tensor(np.arange(p.shape[0], 0, -1), p.dtype)
        p = Concat(0)((p / powers, constants[time : time + 1]))
    return p
