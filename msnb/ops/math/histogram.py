"""Histograms, and the indices of the bins of elements."""

import jax.numpy as jnp

from msnb.common.kinds import Bool, Float, Kind, PositiveInt, Static
from msnb.core.operator.cases import F, I, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import FLOAT, INT, dtype_in


def _check_numbers(value):
    if not isinstance(value, (tuple, list)) or any(
        isinstance(v, bool) or not isinstance(v, (int, float)) for v in value
    ):
        raise TypeError
    return tuple(map(float, value))


Boundaries = Kind("a list or tuple of numbers", _check_numbers, python=list, examples=((0.0, 1.0),))


@operator
def Bucketize(input, *, boundaries: Boundaries, right: Bool = True):
    """Find for each element the index of the interval, between sorted boundaries, that contains it.

    Args:
        boundaries (list[float]): The boundaries, in ascending order.
        right (bool): If True, an element equal to a boundary is in the interval above the boundary. Default: True. The
            default of the function `bucketize` is False.

    Inputs:
        - **input** (Tensor) - Numbers.

    Outputs:
        Tensor of int32, of the shape of `input`: the number of boundaries below the element.

    Raises:
        TypeError: If `input` does not consist of numbers, or `boundaries` is no list of numbers.
    """
    dtype_in("bucketize", "input", input, INT | FLOAT)
    bins = jnp.searchsorted(jnp.asarray(boundaries, jnp.float32), input, side="right" if right else "left")
    return bins.astype(jnp.int32)


@spelling(Bucketize)
def bucketize(input: Tensor, boundaries: list[float] | tuple[float, ...], *, right: Bool = False) -> Tensor:
    """Find for each element the index of the interval, between sorted boundaries, that contains it.

    Args:
        input (Tensor): Numbers.
        boundaries (Union[list[float], tuple[float]]): The boundaries, in ascending order.
        right (bool): If True, an element equal to a boundary is in the interval above the boundary. Default: False.

    Returns:
        Tensor of int32, of the shape of `input`: the number of boundaries below the element.

    Raises:
        TypeError: If `input` does not consist of numbers, or `boundaries` is no list of numbers.

    Examples:
        >>> print(ops.bucketize(Tensor([0.5, 2.0, 9.0], mindspore.float32), [1.0, 2.0]))
        [0 1 2]
    """
    return Bucketize(boundaries, right)(input)


@operator
def Histogram(x, *, bins: PositiveInt = 100, min: Static(Float) = 0.0, max: Static(Float) = 0.0):
    """Count the elements in each of `bins` bins of equal width.

    Args:
        bins (int): Number of bins. Default: 100.
        min (float): Lower end of the first bin. Default: 0.0.
        max (float): Upper end of the last bin, inclusive. If `min` and `max` are 0, the smallest and the largest
            element are used. Default: 0.0.

    Inputs:
        - **x** (Tensor) - Numbers.

    Outputs:
        Tensor of shape (bins,), of the element type of `x`.

    Raises:
        TypeError: If `x` does not consist of real numbers.
        ValueError: If `bins` is not positive, or `min` is above `max`.
    """
    dtype_in("histc", "input", x, INT | FLOAT)
    if min > max:
        raise ValueError(f"For 'histc', 'min' should not be above 'max', but got {min} and {max}.")
    values = x.reshape(-1).astype(jnp.float64 if x.dtype == jnp.float64 else jnp.float32)
    low, high = (min, max) if min != max else (values.min(), values.max()) if x.size else (0.0, 1.0)
    is_empty_range = jnp.asarray(low == high)
    low, high = jnp.where(is_empty_range, low - 1, low), jnp.where(is_empty_range, high + 1, high)
    bin_index = jnp.floor((values - low) / (high - low) * bins).astype(jnp.int32)
    bin_index = jnp.where(values == high, bins - 1, bin_index)
    in_range = (values >= low) & (values <= high)
    return jnp.zeros(bins, jnp.int32).at[jnp.where(in_range, bin_index, bins)].add(1, mode="drop").astype(x.dtype)


@spelling(Histogram, function="histc", method="histc")
def histc(input: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Tensor:
    """Count the elements in each of `bins` bins of equal width.

    Args:
        input (Tensor): Numbers.
        bins (int): Number of bins. Default: 100.
        min (float): Lower end of the first bin. Default: 0.0.
        max (float): Upper end of the last bin, inclusive. If `min` and `max` are 0, the smallest and the largest
            element are used. Default: 0.0.

    Returns:
        Tensor of shape (bins,), of the element type of `input`.

    Raises:
        TypeError: If `input` does not consist of real numbers.
        ValueError: If `bins` is not positive, or `min` is above `max`.
    """
    return Histogram(bins, float(min), float(max))(input)


CASES = [
    case(bucketize, F(2, 3), (-1.0, 0.0, 1.0)),
    case(bucketize, I(2, 3), (-1, 0, 1)),
    case(bucketize, Values([1.0, 2.0, 3.0]), (1.0, 2.0), right=True),
    case(Bucketize, F(2, 3), boundaries=(-1.0, 0.0, 1.0)),
    case(Histogram, F(4, 5), bins=4),
    case(histc, F(4, 5), 4, -1.0, 1.0),
    case(histc, I(9, dtype="int32"), 5),
    case(histc, Values([2.0, 2.0]), 4),
    refused(TypeError, bucketize, F(3), 2.0, says="boundaries"),
    refused(ValueError, histc, F(3), 4, 2.0, 1.0),
]
