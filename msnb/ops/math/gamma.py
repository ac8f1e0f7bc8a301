"""Gamma, beta and related functions."""

import jax.numpy as jnp
from jax.scipy import special

from msnb.common import dtype as mstype
from msnb.common.kinds import PositiveInt
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.support.type_promotion import promote
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import FLOAT, INDEX, dtype_in, numpy_dtypes, rank, same_dtype
from msnb.ops._shapes import shapes
from msnb.ops.math._elementwise import floating


def _apply_in_float32(fn, *arrays):
    """Apply `fn`; float16 arrays are computed in float32."""
    dtype = arrays[0].dtype
    if dtype == jnp.float16:
        return fn(*(array.astype(jnp.float32) for array in arrays)).astype(dtype)
    return fn(*arrays)


@operator(functional="lgamma", called=("input",), methods=("lgamma",))
def Lgamma(x):
    """Logarithm of the absolute value of the gamma function.

    Inputs:
        - **x** (Tensor) - Floating point or int32, of any shape.

    Outputs:
        Tensor of the shape of `x`. It is float32 if `x` is int32, else of the element type of `x`. The result is
        infinite at 0 and at the negative integers.

    Raises:
        TypeError: If `x` is neither floating point nor int32.

    Examples:
        >>> print(ops.Lgamma()(Tensor([3.0, 4.0], mindspore.float32)))
        [0.6931472 1.7917595]
    """
    dtype_in("Lgamma", "x", x, FLOAT | numpy_dtypes(mstype.int32))
    return _apply_in_float32(special.gammaln, floating(x))


@operator(functional="digamma", called=("input",), methods=("digamma",))
def Digamma(x):
    """Derivative of the logarithm of the gamma function.

    Inputs:
        - **x** (Tensor) - Floating point, of any shape.

    Outputs:
        Tensor of the shape and element type of `x`; NaN at the negative integers.

    Raises:
        TypeError: If `x` is not floating point.

    Examples:
        >>> output = ops.Digamma()(Tensor([1.5, 0.5, 9], mindspore.float32))
    """
    dtype_in("Digamma", "x", x, FLOAT)
    return _apply_in_float32(special.digamma, x)


@operator(functional="igamma", called=("input", "other"), methods=("igamma",))
@shapes("a x: ~s")
def Igamma(a, x):
    """Regularised lower incomplete gamma function.

    Inputs:
        - **a** (Tensor) - Floating point, of any shape.
        - **x** (Tensor) - Of the element type of `a` and a shape that broadcasts with it.

    Outputs:
        Tensor of the broadcast shape and the element type of `a`; NaN where an input is negative.

    Raises:
        TypeError: If the inputs are not floating point or of different types.

    Examples:
        >>> a, x = Tensor([2.0, 4.0], mindspore.float32), Tensor([2.0, 3.0], mindspore.float32)
        >>> output = ops.Igamma()(a, x)
    """
    dtype_in("Igamma", "a", a, FLOAT)
    dtype_in("Igamma", "x", x, FLOAT)
    same_dtype("Igamma", a=a, x=x)
    return _apply_in_float32(special.gammainc, a, x)


@operator(functional="igammac", called=("input", "other"), methods=("igammac",), generation=2)
@shapes("a x: ~s")
def Igammac(a, x):
    """Regularised upper incomplete gamma function, 1 - Igamma(a, x), accurate also where the result is near 0.

    Inputs:
        - **a** (Tensor) - Floating point, positive.
        - **x** (Tensor) - Of the element type of `a` and a shape that broadcasts with it, not negative.

    Outputs:
        Tensor of the broadcast shape and the element type of `a`.

    Raises:
        TypeError: If the inputs are not floating point or of different types.
    """
    dtype_in("Igammac", "a", a, FLOAT)
    same_dtype("Igammac", a=a, x=x)
    return _apply_in_float32(special.gammaincc, a, x)


@operator
@shapes("x y: ~s")
def _Lbeta(x, y):
    """Logarithm of the beta function, lgamma(x) + lgamma(y) - lgamma(x + y), accurate also for large arguments.

    Inputs:
        - **x** (Tensor) - Floating point, positive.
        - **y** (Tensor) - Of the element type of `x` and a shape that broadcasts with it.

    Outputs:
        Tensor of the broadcast shape and the element type of `x`.

    Raises:
        TypeError: If the inputs are not floating point or of different types.
    """
    dtype_in("Lbeta", "x", x, FLOAT)
    dtype_in("Lbeta", "y", y, FLOAT)
    same_dtype("Lbeta", x=x, y=y)
    return _apply_in_float32(special.betaln, x, y)


@operator
def Polygamma(a, x):
    """Derivative of the digamma function, of a given order.

    Inputs:
        - **a** (Tensor) - Order of the derivative, a scalar of int32 or int64; 0 is the digamma function itself.
        - **x** (Tensor) - Floating point, of any shape.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `a` does not consist of integers, or `x` is not floating point.
        ValueError: If `a` is no scalar.
    """
    dtype_in("Polygamma", "a", a, INDEX)
    dtype_in("Polygamma", "x", x, FLOAT)
    rank("Polygamma", "a", a, 0)

    def derivative(x):
        higher = special.polygamma(jnp.maximum(a, 1), x)
        return jnp.where(a == 0, special.digamma(x), higher)

    return _apply_in_float32(derivative, x)


@spelling(Polygamma)
def polygamma(n: Tensor | int, input: Tensor) -> Tensor:
    """Derivative of the digamma function, of a given order.

    Args:
        n (Union[Tensor, int]): Order of the derivative; 0 is the digamma function itself.
        input (Tensor): Floating point, of any shape.

    Returns:
        Tensor of the shape and element type of `input`.

    Raises:
        TypeError: If `n` is not an integer, or `input` is not floating point.
    """
    return Polygamma.functional(Tensor(n, mstype.int64) if isinstance(n, int) else n, input)


@operator
def Zeta(x, q):
    r"""Hurwitz' zeta function, :math:`\sum_k 1 / (k + q)^x`.

    Inputs:
        - **x** (Tensor) - Floating point.
        - **q** (Tensor) - Of the element type of `x` and a shape that broadcasts with it.

    Outputs:
        Tensor of the broadcast shape and the element type of `x`.

    Raises:
        TypeError: If the inputs are not floating point, or differ in their type.
    """
    x, q = promote(x, q, op="Zeta")
    dtype_in("Zeta", "x", x, FLOAT)
    return _apply_in_float32(special.zeta, x, q)


@spelling(Zeta)
def zeta(input: Tensor | float, other: Tensor | float) -> Tensor:
    r"""Hurwitz' zeta function, :math:`\sum_k 1 / (k + other)^{input}`.

    Args:
        input (Union[Tensor, float]): Floating point.
        other (Union[Tensor, float]): Of the same element type and a shape that broadcasts.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: If neither input is a Tensor, or they are not floating point.
    """
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        raise TypeError("For 'zeta', 'input' or 'other' should be a Tensor, but both are numbers.")
    return Zeta.functional(input, other)


@operator
def Mvlgamma(x, *, p: PositiveInt):
    """Logarithm of the multivariate gamma function.

    Args:
        p (int): The dimension, positive.

    Inputs:
        - **x** (Tensor) - Floating point, above (p - 1) / 2.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not floating point, or `p` is not an int.
        ValueError: If `p` is not positive.
    """
    dtype_in("Mvlgamma", "x", x, FLOAT)
    return _apply_in_float32(lambda x: special.multigammaln(x, p), x)


@spelling(Mvlgamma, function="mvlgamma", method="mvlgamma")
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """Logarithm of the multivariate gamma function.

    Args:
        input (Tensor): Floating point, above (p - 1) / 2.
        p (int): The dimension, positive.

    Returns:
        Tensor of the shape and element type of `input`.
    """
    return Mvlgamma.functional(input, p)


CASES = [
    case(Lgamma, F(3, low=0.5)),
    case(Digamma, F(3, low=0.5)),
    case(Igamma, F(3, low=0.5), F(3, low=0.5)),
    case(Igammac, F(3, low=0.5), F(3, low=0.5)),
    case(_Lbeta, F(3, low=0.5), F(3, low=0.5)),
    *(case(Polygamma, Values(n), F(3, low=0.5)).wrt(1).within(1e-4) for n in (0, 1, 3)),
    case(polygamma, Values(2), F(3, low=0.5)).wrt(1).within(1e-4),
    case(Zeta, F(3, low=1.5, high=4), F(3, low=0.5)).wrt(1).within(1e-4),
    case(zeta, 2.0, F(3, low=0.5)).within(1e-4),
    case(Mvlgamma, F(3, low=2.0, high=5.0), p=3).within(1e-4),
    case(mvlgamma, F(3, low=1.0, high=5.0), 2).within(1e-4),
    refused(ValueError, Mvlgamma, F(3), p=0),
    refused(ValueError, Polygamma, Values([1]), F(1)),
]
