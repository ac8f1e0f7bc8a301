"""The Gauss error function, its complement and inverse, the normal distribution function, and Bessel functions."""

import jax

from msnb.core.cases import F, case
from msnb.core.declare import operator
from msnb.ops._half import in_float32
from msnb.ops.math._elementwise import of_one, of_real


@of_one(x="[0., 1.]", shown="[0.         0.84270084]", functional="erf", methods=("erf",), generation=2)
@in_float32
def Erf(x):
    """Gauss error function of each element."""
    return jax.lax.erf(x)


@of_one(x="[0.]", shown="[1.]", functional="erfc", methods=("erfc",), generation=2)
@in_float32
def Erfc(x):
    """1 minus the Gauss error function of each element."""
    return jax.lax.erfc(x)


@of_one(x="[0.]", shown="[0.]", functional="erfinv", methods=("erfinv",), generation=2)
@in_float32
def Erfinv(x):
    """Inverse of the Gauss error function of each element."""
    return jax.scipy.special.erfinv(x)


@operator
@in_float32
def _LogNdtr(x):
    """Logarithm of the standard normal distribution function, exact far below 0 as well.

    Inputs:
        - **x** (Tensor) - Floating point.

    Outputs:
        Tensor of the shape and element type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return jax.scipy.special.log_ndtr(x)


@of_real(x="[0.]", shown="[1.]", functional="bessel_i0e", generation=2)
def BesselI0e(x):
    """Modified Bessel function of order 0 of each element, times exp(-|x|)."""
    return jax.scipy.special.i0e(x)


@of_real(x="[0.]", shown="[0.]", functional="bessel_i1e", generation=2)
def BesselI1e(x):
    """Modified Bessel function of order 1 of each element, times exp(-|x|)."""
    return jax.scipy.special.i1e(x)


CASES = [
    case(Erfinv, F(4, low=-0.9, high=0.9)),
    case(_LogNdtr, F(2, 3)),
]
