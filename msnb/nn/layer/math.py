"""Mathematical layers: special functions, matrix products, moments, ranges."""

import math

import numpy as np

from msnb._checkparam import Validator
from msnb.common import dtype as mstype
from msnb.core.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.nn.layer._matrix import MatrixDiagPart
from msnb.ops import functional as F
from msnb.ops import operations as P

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

_FLOATS = [mstype.float16, mstype.float32]


def _check_dtypes(cls_name, allowed, **tensors):
    """The Tensors' types are in `allowed` and equal."""
    first = None
    for name, x in tensors.items():
        Validator.check_type_name(name, x.dtype, allowed if first is None else [first], cls_name)
        first = x.dtype


class ReduceLogSumExp(Cell):
    r"""
    :math:`\log \sum \exp(x)` over axes.

    Args:
        axis (Union[int, tuple(int), list(int)]): The axes, () for all.
        keep_dims (bool): Whether the axes stay, with size 1. Default: False.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor without the axes, or with them at size 1.

    Raises:
        TypeError: If `axis` is not one of the above, or `keep_dims` not a bool.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> op = nn.ReduceLogSumExp(1, keep_dims=True)
        >>> output = op(Tensor(np.random.randn(3, 4, 5, 6).astype(np.float32)))
        >>> print(output.shape)
        (3, 1, 5, 6)
    """

    def __init__(self, axis, keep_dims=False):
        super().__init__()
        Validator.check_value_type("axis", axis, [int, list, tuple], self.cls_name)
        Validator.check_value_type("keep_dims", keep_dims, [bool], self.cls_name)
        self.axis = tuple(axis) if isinstance(axis, list) else axis
        self.exp = P.Exp()
        self.sum = P.ReduceSum(keep_dims)
        self.log = P.Log()
        self.max = P.ReduceMax(True)
        self.max_of_output = P.ReduceMax(keep_dims)
        self.stop_gradient = P.StopGradient()

    def construct(self, x):
        # Less the maximum, exp does not overflow.
        largest = self.stop_gradient(x)
        sum_exp = self.sum(self.exp(x - self.max(largest, self.axis)), self.axis)
        return self.log(sum_exp) + self.max_of_output(largest, self.axis)


class Range(Cell):
    """
    Numbers at equal steps: start, start + delta, ... as long as they are before limit.

    Args:
        start (Union[int, float]): The first number; if `limit` is None, the limit, and the first number is 0.
        limit (Union[int, float]): The end, not included. Default: None.
        delta (Union[int, float]): The step, not 0. Default: 1.

    Outputs:
        Tensor, 1-D, int32 if all arguments are ints, else float32.

    Raises:
        TypeError: If an argument is neither an int nor a float.
        ValueError: If `delta` is 0.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.Range(1, 8, 2)
        >>> print(net())
        [1 3 5 7]
    """

    def __init__(self, start, limit=None, delta=1):
        super().__init__()
        Validator.check_value_type("start", start, [int, float], self.cls_name)
        Validator.check_value_type("delta", delta, [int, float], self.cls_name)
        if limit is None:
            start, limit = 0, start
        Validator.check_value_type("limit", limit, [int, float], self.cls_name)
        if delta == 0:
            raise ValueError("For 'Range', 'delta' can not be equal to zero.")
        length = max(math.ceil((limit - start) / delta), 0)
        ints = all(isinstance(value, int) for value in (start, limit, delta))
        self.dtype = mstype.int32 if ints else mstype.float32
        self.numbers = Tensor(start + np.arange(length) * delta, self.dtype)

    def construct(self):
        return self.numbers


class LGamma(Cell):
    r"""
    The logarithm of the absolute value of the gamma function; infinite at 0 and negative integers.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `x` is neither float16 nor float32.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> op = nn.LGamma()
        >>> output = op(Tensor(np.array([2, 3, 4]).astype(np.float32)))
    """

    def __init__(self):
        super().__init__()
        self.lgamma = P.Lgamma()

    def construct(self, x):
        _check_dtypes(self.cls_name, _FLOATS, x=x)
        return self.lgamma(x)


class DiGamma(Cell):
    """
    The derivative of the logarithm of the gamma function; not a number at negative integers.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: If `x` is neither float16 nor float32.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> op = nn.DiGamma()
        >>> output = op(Tensor(np.array([2, 3, 4]).astype(np.float32)))
    """

    def __init__(self):
        super().__init__()
        self.digamma = P.Digamma()

    def construct(self, x):
        _check_dtypes(self.cls_name, _FLOATS, x=x)
        return self.digamma(x)


class IGamma(Cell):
    r"""
    The regularised lower incomplete gamma function :math:`\int_0^x t^{a-1} e^{-t} dt / \Gamma(a)`.

    Inputs:
        - **a** (Tensor) - float32.
        - **x** (Tensor) - float32, of a shape that broadcasts with that of `a`.

    Outputs:
        Tensor, float32; not a number where `a` or `x` is negative.

    Raises:
        TypeError: If `a` or `x` is not float32.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> op = nn.IGamma()
        >>> a = Tensor(np.array([2.0, 4.0, 6.0, 8.0]).astype(np.float32))
        >>> output = op(a, Tensor(np.array([2.0, 3.0, 4.0, 5.0]).astype(np.float32)))
    """

    def __init__(self):
        super().__init__()
        self.igamma = P.Igamma()

    def construct(self, a, x):
        _check_dtypes(self.cls_name, [mstype.float32], a=a, x=x)
        return self.igamma(a, x)


class LBeta(Cell):
    r"""
    The logarithm of the beta function: :math:`\log \Gamma(x) + \log \Gamma(y) - \log \Gamma(x + y)`.

    Inputs:
        - **x** (Tensor) - float16 or float32, positive.
        - **y** (Tensor) - of the type of `x` and a shape that broadcasts with it.

    Outputs:
        Tensor of the type of `x`.

    Raises:
        TypeError: If `x` is neither float16 nor float32, or `y` of another type.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> op = nn.LBeta()
        >>> x = Tensor(np.array([2.0, 4.0, 6.0, 8.0]).astype(np.float32))
        >>> output = op(x, Tensor(np.array([2.0, 3.0, 14.0, 15.0]).astype(np.float32)))
    """

    def __init__(self):
        super().__init__()
        self.lbeta = F.lbeta

    def construct(self, x, y):
        _check_dtypes(self.cls_name, _FLOATS, x=x, y=y)
        return self.lbeta(x, y)


class MatMul(Cell):
    """
    Matrix product, as numpy.matmul: leading axes broadcast, vectors count as a row on the left, a column on the right.

    Args:
        transpose_x1 (bool): Whether the last two axes of x1 are swapped first. Default: False.
        transpose_x2 (bool): Whether the last two axes of x2 are swapped first. Default: False.

    Inputs:
        - **x1** (Tensor) - the left factor.
        - **x2** (Tensor) - the right factor, of the same type.

    Outputs:
        Tensor, the product.

    Raises:
        TypeError: If `transpose_x1` or `transpose_x2` is not a bool.
        ValueError: If the columns of x1 are not as many as the rows of x2, or the leading axes do not broadcast.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.MatMul()
        >>> x1 = Tensor(np.ones((3, 2, 3)), mindspore.float32)
        >>> print(net(x1, Tensor(np.ones((3, 4)), mindspore.float32)).shape)
        (3, 2, 4)
    """

    def __init__(self, transpose_x1=False, transpose_x2=False):
        super().__init__()
        self.transpose_x1 = Validator.check_value_type("transpose_x1", transpose_x1, [bool], self.cls_name)
        self.transpose_x2 = Validator.check_value_type("transpose_x2", transpose_x2, [bool], self.cls_name)
        self.transpose = P.Transpose()
        self.matmul = F.matmul

    def _swapped(self, x):
        if x.ndim < 2:
            return x
        axes = list(range(x.ndim))
        axes[-2:] = axes[-1], axes[-2]
        return self.transpose(x, tuple(axes))

    def construct(self, x1, x2):
        if self.transpose_x1:
            x1 = self._swapped(x1)
        if self.transpose_x2:
            x2 = self._swapped(x2)
        return self.matmul(x1, x2)


class Moments(Cell):
    """
    Mean and variance over axes.

    Args:
        axis (Union[int, tuple(int)]): The axes, None for all. Default: None.
        keep_dims (bool): Whether the axes stay, with size 1. Default: None, which is False.

    Inputs:
        - **x** (Tensor) - float16 or float32, of any shape.

    Outputs:
        - **mean** (Tensor) - of the type of `x`.
        - **variance** (Tensor) - of the type of `x`.

    Raises:
        TypeError: If `axis` is not one of the above, `keep_dims` not a bool, or `x` neither float16 nor float32.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> net = nn.Moments(axis=3, keep_dims=True)
        >>> mean, variance = net(Tensor(np.array([[[[1, 2, 3, 4], [3, 4, 5, 6]]]]), mindspore.float32))
    """

    def __init__(self, axis=None, keep_dims=None):
        super().__init__()
        axis = () if axis is None else axis
        Validator.check_value_type("axis", axis, [int, tuple], self.cls_name)
        for i, item in enumerate(axis if isinstance(axis, tuple) else ()):
            Validator.check_value_type(f"axis[{i}]", item, [int], self.cls_name)
        self.axis = axis
        self.keep_dims = False if keep_dims is None else keep_dims
        Validator.check_value_type("keep_dims", self.keep_dims, [bool], self.cls_name)
        self.cast = P.Cast()
        self.reduce_mean_keeping = P.ReduceMean(keep_dims=True)
        self.reduce_mean = P.ReduceMean(keep_dims=self.keep_dims)
        self.square_diff = P.SquaredDifference()
        self.stop_gradient = P.StopGradient()

    def construct(self, x):
        _check_dtypes(self.cls_name, _FLOATS, x=x)
        dtype = x.dtype
        x = self.cast(x, mstype.float32)
        mean = self.reduce_mean(x, self.axis)
        centre = self.stop_gradient(self.reduce_mean_keeping(x, self.axis))
        variance = self.reduce_mean(self.square_diff(x, centre), self.axis)
        return self.cast(mean, dtype), self.cast(variance, dtype)


class MatInverse(Cell):
    """
    The inverse of a symmetric, positive definite matrix.

    Inputs:
        - **a** (Tensor) - float16 or float32, of shape (..., N, N).

    Outputs:
        Tensor, float32, of the shape of `a`.

    Raises:
        TypeError: If `a` is neither float16 nor float32.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> op = nn.MatInverse()
        >>> a = Tensor(np.array([[4, 12, -16], [12, 37, -43], [-16, -43, 98]]).astype(np.float32))
        >>> output = op(a)
    """

    def __init__(self):
        super().__init__()
        self.cast = P.Cast()
        self.inverse = P.MatrixInverse()

    def construct(self, a):
        _check_dtypes(self.cls_name, _FLOATS, a=a)
        return self.inverse(self.cast(a, mstype.float32))


class MatDet(Cell):
    """
    The determinant of a symmetric, positive definite matrix.

    Inputs:
        - **a** (Tensor) - float16 or float32, of shape (..., N, N).

    Outputs:
        Tensor, float32, of shape (...).

    Raises:
        TypeError: If `a` is neither float16 nor float32.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> op = nn.MatDet()
        >>> output = op(Tensor(np.array([[4, 12, -16], [12, 37, -43], [-16, -43, 98]]).astype(np.float32)))
        >>> print(output)
        36.0
    """

    def __init__(self):
        super().__init__()
        self.cast = P.Cast()
        self.cholesky = P.Cholesky()
        self.diagonal = MatrixDiagPart()
        self.product = P.ReduceProd()
        self.square = P.Square()

    def construct(self, a):
        _check_dtypes(self.cls_name, _FLOATS, a=a)
        # a = L L^T, and the determinant of a triangle is the product of its diagonal.
        lower = self.cholesky(self.cast(a, mstype.float32))
        return self.square(self.product(self.diagonal(lower), -1))
