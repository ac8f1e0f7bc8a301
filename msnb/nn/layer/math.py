"""Mathematical layers: special functions, sums and moments, ranges. Matrix layers are re-exported."""

import math
from typing import Annotated

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Axis, Bool, Kind, Optional, accept_value, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import FLOATS, check_dtypes
from msnb.nn._kinds import Axes, Real
from msnb.nn.cell import Cell
from msnb.nn.layer._matrix_product import MatDet, MatInverse, MatMul
from msnb.ops import functional as F
from msnb.ops import operations as P
from msnb.ops.math.gamma import _Lbeta

__all__ = [
    "ReduceLogSumExp",
    "Range",
    "LGamma",
    "DiGamma",
    "IGamma",
    "LBeta",
    "MatMul",
    "Moments",
    "MatInverse",
    "MatDet",
]


def _accept_axes(value):
    if value is None:
        raise TypeError
    return accept_value(Axis, value)


class ReduceLogSumExp(Cell):
    r"""
    :math:`\log \sum \exp(x)`, a smooth maximum.

    Args:
        axis (Union[int, tuple(int), list(int)]): The axes of the sum, () for all.
        keep_dims (bool): Whether to keep the reduced axes with length 1. Default: False.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor without the reduced axes, or with length 1 in them.

    Raises:
        TypeError: If `axis` has the wrong type, or `keep_dims` is no bool.

    Examples:
        >>> print(nn.ReduceLogSumExp(1)(Tensor([[0.0, 0.0]], mindspore.float32)))
        [0.6931472]
    """

    @checked
    def __init__(
        self,
        axis: Annotated[int | tuple[int, ...] | list[int], Kind("an int, or a tuple or list of int", _accept_axes)],
        keep_dims: Bool = False,
    ) -> None:
        super().__init__()
        self.axis = axis
        self.keep_dims: bool = keep_dims

    def construct(self, x: Tensor) -> Tensor:
        """Return the logarithms."""
        return F.logsumexp(x, self.axis, self.keep_dims)


class Range(Cell):
    """
    The numbers start, start + delta, start + 2 delta, ... below a limit.

    Args:
        start (Union[int, float]): The first number; if `limit` is None, `start` is the limit and 0 the first number.
        limit (Union[int, float]): The limit, which is not included. Default: None.
        delta (Union[int, float]): The step, not 0. Default: 1.

    Outputs:
        Tensor, 1-D: of int32 if `start`, `limit` and `delta` are ints, and of float32 otherwise.

    Raises:
        TypeError: If an argument is neither an int nor a float.
        ValueError: If `delta` is 0.

    Examples:
        >>> print(nn.Range(1, 8, 2)())
        [1 3 5 7]
    """

    @checked
    def __init__(self, start: Real, limit: Real | None = None, delta: Real = 1) -> None:
        super().__init__()
        if delta == 0:
            raise ValueError(f"For '{self.cls_name}', 'delta' should not be 0.")
        first, limit = (0, start) if limit is None else (start, limit)
        count = max(math.ceil((limit - first) / delta), 0)
        are_ints = {type(first), type(limit), type(delta)} == {int}
        end = limit if count else first + delta  # without numbers, the limit may be in the direction opposite to delta
        self.range_x: P.Range = P.Range(float(first), float(end), float(delta))
        self.input_tensor: Tensor = Tensor(np.arange(count), mstype.int32 if are_ints else mstype.float32)

    def construct(self) -> Tensor:
        """Return the numbers."""
        return self.range_x(self.input_tensor)


class LGamma(Cell):
    r"""
    :math:`\log |\Gamma(x)|`; infinity at 0, -1, -2, ...

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `x` is neither float16 nor float32.

    Examples:
        >>> print(nn.LGamma()(Tensor([1.5, 3.0], mindspore.float32)).asnumpy().round(4))
        [-0.1208  0.6931]
    """

    def construct(self, x: Tensor) -> Tensor:
        """Return the logarithms."""
        check_dtypes(self.cls_name, FLOATS, x=x)
        return F.lgamma(x)


class DiGamma(Cell):
    r"""
    The derivative of :math:`\log \Gamma(x)`; NaN at -1, -2, ...

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `x` is neither float16 nor float32.

    Examples:
        >>> print(nn.DiGamma()(Tensor([1.0], mindspore.float32)).asnumpy().round(4))
        [-0.5772]
    """

    def construct(self, x: Tensor) -> Tensor:
        """Return the derivatives."""
        check_dtypes(self.cls_name, FLOATS, x=x)
        return F.digamma(x)


class IGamma(Cell):
    r"""
    Regularized lower incomplete gamma function, the gamma integral up to x: :math:`\int_0^x t^{a-1} e^{-t} dt /
    \Gamma(a)`.

    Inputs:
        - **a** (Tensor) - float32.
        - **x** (Tensor) - float32, of a shape that broadcasts with `a`.

    Outputs:
        Tensor, float32; NaN where `a` or `x` is negative.

    Raises:
        TypeError: If `a` or `x` is not float32.

    Examples:
        >>> a, x = Tensor([1.0], mindspore.float32), Tensor([100.0], mindspore.float32)
        >>> print(nn.IGamma()(a, x))
        [1.]
    """

    def construct(self, a: Tensor, x: Tensor) -> Tensor:
        """Return the regularised lower incomplete gamma function P(a, x)."""
        check_dtypes(self.cls_name, (mstype.float32,), a=a, x=x)
        return F.igamma(a, x)


class LBeta(Cell):
    r"""
    The logarithm of the beta function: :math:`\log \Gamma(x) + \log \Gamma(y) - \log \Gamma(x + y)`.

    Inputs:
        - **x** (Tensor) - float16 or float32, positive.
        - **y** (Tensor) - of the type of `x` and a shape that broadcasts with it.

    Outputs:
        Tensor of the type of `x`.

    Raises:
        TypeError: If `x` is neither float16 nor float32, or `y` has another type than `x`.

    Examples:
        >>> x = Tensor([2.0], mindspore.float32)
        >>> print(nn.LBeta()(x, x).asnumpy().round(4))
        [-1.7918]
    """

    def construct(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the logarithms."""
        check_dtypes(self.cls_name, FLOATS, x=x, y=y)
        return _Lbeta.functional(x, y)


class Moments(Cell):
    """
    Compute mean and variance over axes.

    Args:
        axis (Union[int, tuple(int)]): The axes to reduce, None for all. Default: None.
        keep_dims (bool): Whether to keep the reduced axes with length 1; None means False. Default: None.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        - **mean** (Tensor) - of the type of `x`.
        - **variance** (Tensor) - of the type of `x`.

    Raises:
        TypeError: If `axis` has the wrong type, `keep_dims` is no bool, or `x` is neither float16 nor float32.

    Examples:
        >>> print(nn.Moments()(Tensor([1.0, 3.0], mindspore.float32)))
        (Tensor(shape=[], dtype=Float32, value= 2), Tensor(shape=[], dtype=Float32, value= 1))
    """

    @checked
    def __init__(
        self,
        axis: Annotated[int | tuple[int, ...] | None, Optional(Axes)] = None,
        keep_dims: Bool | None = None,
    ) -> None:
        super().__init__()
        self.axis = () if axis is None else axis
        self.keep_dims: bool = bool(keep_dims)
        self.reduce_mean: P.ReduceMean = P.ReduceMean(self.keep_dims)

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return (mean, variance)."""
        check_dtypes(self.cls_name, FLOATS, x=x)
        return self.reduce_mean(x, self.axis), F.var(x, self.axis, 0, self.keep_dims)
