"""The Gauss error function, its complement and inverse, the normal distribution function, and Bessel functions."""

import jax
from jax.scipy import special

from msnb.core.operator.cases import F, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._in_place import take_over
from msnb.ops._upcast import in_float32
from msnb.ops.math._elementwise import of_one, of_real


@of_one(x="[0., 1.]", output="[0.         0.84270084]", functional="erf", methods=("erf",), generation=2)
@in_float32
def Erf(x):
    """Gauss error function of each element."""
    return jax.lax.erf(x)


@of_one(x="[0.]", output="[1.]", functional="erfc", methods=("erfc",), generation=2)
@in_float32
def Erfc(x):
    """1 minus the Gauss error function of each element."""
    return jax.lax.erfc(x)


@of_one(x="[0.]", output="[0.]", functional="erfinv", methods=("erfinv",), generation=2)
@in_float32
def Erfinv(x):
    """Inverse of the Gauss error function of each element."""
    return jax.scipy.special.erfinv(x)


@operator
@in_float32
def _LogNdtr(x):
    """Logarithm of the standard normal distribution function, accurate also for elements far below 0.

    Inputs:
        - **x** (Tensor) - Floating point.

    Outputs:
        Tensor of the shape and element type of `x`.
    """
    return jax.scipy.special.log_ndtr(x)


@of_real(x="[0.]", output="[1.]", functional="bessel_i0e", called=(), generation=2)
def BesselI0e(x):
    """Modified Bessel function of the first kind, of order 0, times exp(-|x|)."""
    return jax.scipy.special.i0e(x)


@of_real(x="[0.]", output="[0.]", functional="bessel_i1e", called=(), generation=2)
def BesselI1e(x):
    """Modified Bessel function of the first kind, of order 1, times exp(-|x|)."""
    return jax.scipy.special.i1e(x)


@of_real(x="[0.]", output="[1.]", functional="bessel_i0", called=(), generation=2)
def BesselI0(x):
    """Modified Bessel function of the first kind, of order 0."""
    return special.i0(x)


@of_real(x="[0.]", output="[0.]", functional="bessel_i1", called=(), generation=2)
def BesselI1(x):
    """Modified Bessel function of the first kind, of order 1."""
    return special.i1(x)


@spelling(BesselI0, function="i0", method="i0")
def i0(input: Tensor) -> Tensor:
    """Modified Bessel function of the first kind, of order 0.

    Args:
        input (Tensor): Numbers.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        TypeError: If `input` is not a Tensor of numbers.
    """
    return BesselI0.functional(input)


@spelling(Erfinv, function="erfinv_", method="erfinv_")
def _erfinv_inplace(input: Tensor) -> Tensor:
    """Apply the inverse error function in place, and return the Tensor.

    Args:
        input (Tensor): Tensor to update, numbers in (-1, 1).

    Returns:
        Tensor, `input` itself.
    """
    return take_over("erfinv_", input, Erfinv.functional(input))


CASES = [
    case(Erfinv, F(4, low=-0.9, high=0.9)),
    case(_LogNdtr, F(2, 3)),
]
