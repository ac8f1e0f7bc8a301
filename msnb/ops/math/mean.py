"""Weighted averages, covariances and correlations."""

from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Axis, Bool, Int, check
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import tensor_argument
from msnb.ops._numpy import ArrayLike, as_tensor, common_type, in_type
from msnb.ops.array.broadcast import BroadcastTo
from msnb.ops.array.cast import Cast
from msnb.ops.array.join import Concat
from msnb.ops.array.reshape import Reshape, Squeeze
from msnb.ops.array.transpose import Transpose
from msnb.ops.array.triangle import DiagPart
from msnb.ops.math.exponential import Sqrt
from msnb.ops.math.matmul import MatMul
from msnb.ops.math.maximum import Maximum, Minimum
from msnb.ops.math.sum import ReduceSum, _numpy_mean


@spelling(numpy="average")
def average(
    x: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, returned: Bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """Weighted average over axes. Without weights, the average of integers is an integer.

    Args:
        x (Union[Tensor, list, tuple]): Numbers.
        axis (Union[None, int, tuple[int], list[int]]): Axes to reduce. Default: None, all axes.
        weights (Union[Tensor, list, tuple]): Weights of the elements, of the shape of `x`, or a vector along one axis.
            Default: None, equal weights.
        returned (bool): Also return the sum of the weights. Default: False.

    Returns:
        Tensor. With `returned`, a tuple of two Tensors of the same shape: the average and the sum of the weights.

    Raises:
        TypeError: If `x` or `weights` has another type, or `weights` has another shape and `axis` is not an int.
        ValueError: If `axis` is out of range, or the vector of weights does not have the length of the axis.

    Examples:
        >>> print(mindspore.numpy.average([[1.0, 2.0], [3.0, 4.0]], axis=1, weights=[3.0, 1.0]))
        [1.25 3.25]
    """
    x = as_tensor(x, "average", "x")
    if weights is None:
        mean = _numpy_mean(x, axis)
        total = Tensor(np.float32(x.size / max(mean.size, 1)))
    else:
        x, weights = common_type(x, as_tensor(weights, "average", "weights"))
        if weights.shape != x.shape:
            weights = _broadcast_weights(x, axis, weights)
        total = ReduceSum.functional(weights, axis)
        mean = ReduceSum.functional(x * weights, axis) / total
    if not check(Bool, returned, "returned", "average"):
        return mean
    return mean, BroadcastTo.functional(Cast.functional(total, mean.dtype), mean.shape)


def _broadcast_weights(x, axis, weights):
    """Broadcast a vector of weights along an axis to the shape of `x`."""
    if weights.ndim != 1 or not isinstance(axis, int):
        raise TypeError(
            f"For 'average', 'weights' should have the shape of 'x', {x.shape}, or be a vector along an 'axis', but "
            f"got shape {weights.shape} and axis {axis}."
        )
    if not -x.ndim <= axis < x.ndim or weights.shape[0] != x.shape[axis]:
        raise ValueError(
            f"For 'average', 'weights' of length {weights.shape[0]} do not fit axis {axis} of shape {x.shape}."
        )
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    return BroadcastTo.functional(Reshape.functional(weights, tuple(shape)), x.shape)


def _convert_to_variable_rows(function, argument, value, rowvar):
    """Convert `value` to a matrix with variables as rows and observations as columns, in floating point of at least 32
    bits.
    """
    x = as_tensor(value, function, argument)
    if x.ndim > 2:
        raise ValueError(f"For '{function}', '{argument}' should have at most 2 dimensions, but got shape {x.shape}.")
    x = x if x.dtype == mstype.float64 else Cast.functional(x, mstype.float32)
    if x.ndim < 2:
        return Reshape.functional(x, (1, -1))
    return x if check(Bool, rowvar, "rowvar", function) or x.shape[0] == 1 else Transpose.functional(x, (1, 0))


def _convert_weights(argument, value, count, dtype):
    """Check the weights of `count` observations, and return them as a vector of `dtype`."""
    weights = Cast.functional(as_tensor(value, "cov", argument), dtype)
    if weights.ndim != 1:
        raise RuntimeError(f"For 'cov', '{argument}' should have 1 dimension, but got shape {weights.shape}.")
    if weights.shape[0] != count:
        raise RuntimeError(
            f"For 'cov', '{argument}' should have one number for each of the {count} observations, but got "
            f"{weights.shape[0]}."
        )
    return weights


@spelling(numpy="cov")
def _numpy_cov(
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: Bool = True,
    bias: Bool = False,
    ddof: Int | None = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
    dtype: Any = None,
) -> Tensor:
    """Estimate the covariance matrix of variables from observations.

    Args:
        m (Union[Tensor, list, tuple]): Variables in rows, observations in columns; a vector is one variable.
        y (Union[Tensor, list, tuple]): Additional variables of the same observations. Default: None.
        rowvar (bool): False if variables are columns. Default: True.
        bias (bool): Divide by the number of observations N rather than by N - 1. Default: False.
        ddof (int): If it is not None, the divisor is N - ddof, and `bias` has no effect. Default: None.
        fweights (Union[Tensor, list, tuple]): Number of times that each observation occurs, integers. Default: None,
            once.
        aweights (Union[Tensor, list, tuple]): Weight of each observation. Default: None, equal weights.
        dtype (mindspore.dtype): Element type of the result. Default: None, float64 for float64, else float32.

    Returns:
        Tensor, a square matrix; a scalar for one variable.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `m` or `y` has more than 2 dimensions, or they differ in the number of observations.
        RuntimeError: If weights do not match the observations.

    Examples:
        >>> print(mindspore.numpy.cov([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
        [[ 1. -1.]
         [-1.  1.]]
    """
    x = _convert_to_variable_rows("cov", "m", m, rowvar)
    if y is not None:
        x = Concat(0)(common_type(x, _convert_to_variable_rows("cov", "y", y, rowvar)))
    ddof = int(not check(Bool, bias, "bias", "cov")) if ddof is None else check(Int, ddof, "ddof", "cov")
    count, kind = x.shape[1], x.dtype
    w = None if fweights is None else _convert_weights("fweights", fweights, count, kind)
    analytic = None if aweights is None else _convert_weights("aweights", aweights, count, kind)
    if analytic is not None:
        w = analytic if w is None else w * analytic
    if w is None:
        deviations = x - ReduceSum(True)(x, 1) / count
        weighted, factor = deviations, max(count - ddof, 0)
    else:
        total = ReduceSum.functional(w)
        deviations = x - ReduceSum(True)(x * w, 1) / total
        spent = ddof if analytic is None or not ddof else ddof * ReduceSum.functional(w * analytic) / total
        weighted, factor = deviations * w, Maximum.functional(total - spent, 0)
    covariance = MatMul(False, True)(deviations, weighted) / factor
    return in_type(Squeeze.functional(covariance), dtype, "cov")


@spelling(numpy="corrcoef")
def corrcoef(x: ArrayLike, y: ArrayLike | None = None, rowvar: Bool = True, dtype: Any = None) -> Tensor:
    """Estimate the matrix of Pearson's correlation coefficients of variables from observations.

    Args:
        x (Union[Tensor, list, tuple]): Variables in rows, observations in columns; a vector is one variable.
        y (Union[Tensor, list, tuple]): Additional variables of the same observations. Default: None.
        rowvar (bool): False if variables are columns. Default: True.
        dtype (mindspore.dtype): Element type of the result. Default: None, float64 for float64, else float32.

    Returns:
        Tensor, a square matrix; a scalar for one variable.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `x` or `y` has more than 2 dimensions, or they differ in the number of observations.
    """
    c = _numpy_cov(x, y, rowvar)
    if not c.ndim:
        return in_type(c / c, dtype, "corrcoef")
    deviation = Sqrt.functional(DiagPart.functional(c))
    c = c / Reshape.functional(deviation, (-1, 1)) / deviation
    return in_type(Minimum.functional(Maximum.functional(c, -1), 1), dtype, "corrcoef")


@spelling(function="cov", method="cov")
def cov(
    input: Tensor, *, correction: Int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """Estimate the covariance matrix of variables from observations.

    Args:
        input (Tensor): Variables in rows, observations in columns; a vector is one variable.
        correction (int): The number subtracted from the number of observations in the divisor. Default: 1.
        fweights (Tensor): Number of times that each observation occurs, integers. Default: None, once.
        aweights (Tensor): Weight of each observation. Default: None, equal weights.

    Returns:
        Tensor, a square matrix; a scalar for one variable.

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If `input` has more than 2 dimensions.
        RuntimeError: If weights do not match the observations.
    """
    x = tensor_argument("cov", "input", input)
    return _numpy_cov(x, ddof=correction, fweights=fweights, aweights=aweights)


CASES = [
    case(cov, F(3, 4)),
    case(cov, F(5)),
    case(cov, F(2, 3), correction=0, fweights=Values([1, 2, 1]), aweights=Values([0.5, 0.2, 0.3])),
    refused(ValueError, cov, F(1, 2, 3)),
]
