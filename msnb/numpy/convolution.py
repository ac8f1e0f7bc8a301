"""Convolution and correlation of two vectors."""

from typing import Any

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import OneOf, check
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import NUMBER, dtype_in, rank
from msnb.ops._numpy import ArrayLike, as_tensors, common_type, floating
from msnb.ops._upcast import in_float32
from msnb.ops.array.cast import Cast
from msnb.ops.array.reshape import Reshape

Overlap: Any = OneOf("full", "same", "valid")


def _check_vectors(op, x, y):
    for argument, value in (("a", x), ("v", y)):
        dtype_in(op, argument, value, NUMBER)
        rank(op, argument, value, 1)
        if not value.size:
            raise ValueError(f"For '{op}', '{argument}' should not be empty.")


@operator
@in_float32
def _Convolve(a, v, *, mode: Overlap = "full"):
    """Return the convolution of two vectors, c[k] = sum of a[n] * v[k - n] over n.

    Args:
        mode (str): "full" returns every overlap, "same" as many as the longer vector has elements, "valid" those of all
            elements of the shorter one. Default: "full".

    Inputs:
        - **a** (Tensor) - Numbers, a vector.
        - **v** (Tensor) - A vector of the element type of `a`.

    Outputs:
        Tensor, a vector of that type.

    Raises:
        TypeError: If an input does not consist of numbers.
        ValueError: If an input is empty or no vector.
    """
    _check_vectors("convolve", a, v)
    if jnp.issubdtype(a.dtype, jnp.inexact):
        return jnp.convolve(a, v, mode)
    return jnp.round(jnp.convolve(a.astype(jnp.float64), v.astype(jnp.float64), mode)).astype(a.dtype)


@operator
@in_float32
def _Correlate(a, v, *, mode: Overlap = "valid"):
    """Return the correlation of two vectors, c[k] = sum of a[n + k] * v[n] over n.

    Args:
        mode (str): See `_Convolve`. Default: "valid".

    Inputs:
        - **a** (Tensor) - Numbers, a vector.
        - **v** (Tensor) - A vector of the element type of `a`.

    Outputs:
        Tensor, a vector of that type.

    Raises:
        TypeError: If an input does not consist of numbers.
        ValueError: If an input is empty or no vector.
    """
    _check_vectors("correlate", a, v)
    return jnp.correlate(a, v, mode)


@spelling(_Convolve, numpy="convolve")
def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> Tensor:
    """Return the convolution of two vectors, c[k] = sum of a[n] * v[k - n] over n.

    Args:
        a (Union[Tensor, list, tuple, int, float]): Numbers, a vector.
        v (Union[Tensor, list, tuple, int, float]): Numbers, a vector.
        mode (str): "full" returns every overlap, "same" as many as the longer vector has elements, "valid" those of all
            elements of the shorter one. Default: "full".

    Returns:
        Tensor, a vector of the promoted element type of `a` and `v`.

    Raises:
        TypeError: If `a` or `v` has another type.
        ValueError: If one of them is empty or has more than 1 dimension, or `mode` is another string.

    Examples:
        >>> print(mindspore.numpy.convolve([1.0, 2.0, 3.0], [0.0, 1.0, 0.5]))
        [0.  1.  2.5 4.  1.5]
    """
    mode = check(Overlap, mode, "mode", "convolve")
    x, y = common_type(*as_tensors("convolve", a=a, v=v))
    x, y = (n if n.ndim else Reshape.functional(n, (1,)) for n in (x, y))
    if x.dtype == mstype.bool_:
        product = _Convolve(mode)(Cast.functional(x, mstype.int32), Cast.functional(y, mstype.int32))
        return Cast.functional(product, mstype.bool_)
    return _Convolve(mode)(x, y)


@spelling(_Correlate, numpy="correlate")
def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid") -> Tensor:
    """Return the correlation of two vectors, c[k] = sum of a[n + k] * v[n] over n. Integers are converted to float32.

    Args:
        a (Union[Tensor, list, tuple]): Numbers, a vector.
        v (Union[Tensor, list, tuple]): Numbers, a vector.
        mode (str): "full" returns every overlap, "same" as many as the longer vector has elements, "valid" those of all
            elements of the shorter one. Default: "valid".

    Returns:
        Tensor, a vector, floating point.

    Raises:
        TypeError: If `a` or `v` has another type.
        ValueError: If one of them is empty or no vector, or `mode` is another string.

    Examples:
        >>> print(mindspore.numpy.correlate([1.0, 2.0, 3.0], [0.0, 1.0, 0.5]))
        [3.5]
    """
    mode = check(Overlap, mode, "mode", "correlate")
    return _Correlate(mode)(*[floating(x) for x in common_type(*as_tensors("correlate", a=a, v=v))])
