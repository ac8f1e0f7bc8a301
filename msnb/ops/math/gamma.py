"""The gamma function's family."""

import jax.numpy as jnp
from jax.scipy import special

from msnb.core.cases import F, case
from msnb.core.declare import operator
from msnb.ops._check import FLOAT, dtype_in, same_dtype


def _in_float32(fn, *arrays):
    """`fn` of float16 arrays, computed in float32."""
    dtype = arrays[0].dtype
    if dtype == jnp.float16:
        return fn(*(array.astype(jnp.float32) for array in arrays)).astype(dtype)
    return fn(*arrays)


@operator(functional="lgamma", called=("input",), methods=("lgamma",))
def Lgamma(x):
    """Logarithm of the absolute value of the gamma function.

    Inputs:
        - **x** (Tensor) - Floating point, of any shape.

    Outputs:
        Tensor of the shape and element type of `x`; infinite at 0 and the negative integers.

    Raises:
        TypeError: If `x` is not floating point.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Lgamma()(Tensor([3.0, 4.0], mindspore.float32)))
        [0.6931472 1.7917595]
    """
    dtype_in("Lgamma", "x", x, FLOAT)
    return _in_float32(special.gammaln, x)


@operator(functional="digamma", called=("input",), methods=("digamma",))
def Digamma(x):
    """Derivative of the logarithm of the gamma function.

    Inputs:
        - **x** (Tensor) - Floating point, of any shape.

    Outputs:
        Tensor of the shape and element type of `x`; not a number at the negative integers.

    Raises:
        TypeError: If `x` is not floating point.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> output = ops.Digamma()(Tensor([1.5, 0.5, 9], mindspore.float32))
    """
    dtype_in("Digamma", "x", x, FLOAT)
    return _in_float32(special.digamma, x)


@operator(functional="igamma", called=("input", "other"), methods=("igamma",))
def Igamma(a, x):
    """Regularised lower incomplete gamma function.

    Inputs:
        - **a** (Tensor) - Floating point, of any shape.
        - **x** (Tensor) - Of the element type of `a` and a shape that broadcasts with it.

    Outputs:
        Tensor of the broadcast shape and the element type of `a`; not a number where an input is negative.

    Raises:
        TypeError: If the inputs are not floating point or of different types.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> a, x = Tensor([2.0, 4.0], mindspore.float32), Tensor([2.0, 3.0], mindspore.float32)
        >>> output = ops.Igamma()(a, x)
    """
    dtype_in("Igamma", "a", a, FLOAT)
    dtype_in("Igamma", "x", x, FLOAT)
    same_dtype("Igamma", a=a, x=x)
    return _in_float32(special.gammainc, a, x)


@operator(functional="igammac", called=("input", "other"), methods=("igammac",), generation=2)
def Igammac(a, x):
    """Regularised upper incomplete gamma function, 1 - Igamma(a, x), exact where that is near 0.

    Inputs:
        - **a** (Tensor) - Floating point, positive.
        - **x** (Tensor) - Of the element type of `a` and a shape that broadcasts with it, not negative.

    Outputs:
        Tensor of the broadcast shape and the element type of `a`.

    Raises:
        TypeError: If the inputs are not floating point or of different types.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("Igammac", "a", a, FLOAT)
    same_dtype("Igammac", a=a, x=x)
    return _in_float32(special.gammaincc, a, x)


@operator
def _Lbeta(x, y):
    """Logarithm of the beta function, lgamma(x) + lgamma(y) - lgamma(x + y), exact for large arguments as well.

    Inputs:
        - **x** (Tensor) - Floating point, positive.
        - **y** (Tensor) - Of the element type of `x` and a shape that broadcasts with it.

    Outputs:
        Tensor of the broadcast shape and the element type of `x`.

    Raises:
        TypeError: If the inputs are not floating point or of different types.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("Lbeta", "x", x, FLOAT)
    dtype_in("Lbeta", "y", y, FLOAT)
    same_dtype("Lbeta", x=x, y=y)
    return _in_float32(special.betaln, x, y)


CASES = [
    case(Lgamma, F(3, low=0.5)),
    case(Digamma, F(3, low=0.5)),
    case(Igamma, F(3, low=0.5), F(3, low=0.5)),
    case(Igammac, F(3, low=0.5), F(3, low=0.5)),
    case(_Lbeta, F(3, low=0.5), F(3, low=0.5)),
]
