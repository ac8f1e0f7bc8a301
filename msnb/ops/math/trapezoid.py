"""Integrals by the trapezoidal rule."""

import jax.numpy as jnp

from msnb.common.kinds import Float, Int
from msnb.core.operator.cases import F, I, Values, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import FLOAT as FLOATS
from msnb.ops._check import axis_in, dtype_in, tensor_argument
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensor, floating, in_type
from msnb.ops._upcast import in_float32


@operator
@in_float32
def _Trapezoid(y, x=None, *, dx: Float = 1.0, axis: Int = -1):
    """Integral along an axis by the trapezoidal rule.

    Args:
        dx (float): Distance between two points if `x` is None. Default: 1.0.
        axis (int): The axis. Default: -1.

    Inputs:
        - **y** (Tensor) - Floating point, of at least 1 dimension.
        - **x** (Tensor) - Positions of the points, of the shape of `y` or a vector along the axis. Default: None.

    Outputs:
        Tensor without the axis, of the element type of `y`.

    Raises:
        ValueError: If `axis` is out of range, or `x` does not fit.
    """
    dtype_in("trapz", "y", y, FLOATS)
    axis = axis_in("trapz", axis, y.ndim)
    if x is not None and x.shape != y.shape and x.shape != (y.shape[axis],):
        raise ValueError(f"For 'trapz', 'x' should have shape {y.shape} or ({y.shape[axis]},), but got {x.shape}.")
    if not y.shape[axis]:
        return jnp.sum(y, axis)  # the integral over no points is 0
    return jnp.trapezoid(y, x, dx, axis)


@spelling(_Trapezoid, numpy="trapz")
def trapz(y: ArrayLike, x: ArrayLike | None = None, dx: float = 1.0, axis: int = -1) -> Tensor:
    """Integral along an axis by the trapezoidal rule.

    Args:
        y (Union[Tensor, list, tuple]): Numbers, of at least 1 dimension; integers are converted to float32.
        x (Union[Tensor, list, tuple]): Positions of the points, of the shape of `y` or a vector along the axis.
            Default: None, at distances of `dx`.
        dx (float): Distance between two points if `x` is None. Default: 1.0.
        axis (int): The axis. Default: -1.

    Returns:
        Tensor without the axis, floating point.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `axis` is out of range, or `x` does not fit.

    Examples:
        >>> print(mindspore.numpy.trapz([1.0, 2.0, 3.0], dx=2.0))
        8.0
    """
    y = floating(as_tensor(y, "trapz", "y"))
    if x is not None:
        x = in_type(as_tensor(x, "trapz", "x"), y.dtype, "trapz")
    return _Trapezoid(dx, axis)(y, x)


@spelling(_Trapezoid, function="trapz")
def _ops_trapz(y: Tensor, x: Tensor | None = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """Integral along an axis by the trapezoidal rule.

    Args:
        y (Tensor): Numbers, of at least 1 dimension; integers are converted to float32.
        x (Tensor): Positions of the points, of the shape of `y` or a vector along the axis. Default: None, at distances
            of `dx`.
        dx (float): Distance between two points if `x` is None. Default: 1.0.
        dim (int): The axis. Default: -1.

    Returns:
        Tensor without the axis, floating point.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, or `x` does not fit.
    """
    tensor_argument("trapz", "y", y)
    return trapz(y, x, dx, dim)


CASES = [
    case(_Trapezoid, F(2, 3), dx=0.5, axis=0).without("mindspore", NUMPYS),
    case(_ops_trapz, F(2, 3), Values([1.0, 2.0, 4.0])),
    case(_ops_trapz, F(2, 3), dx=2.0, dim=0),
    case(_ops_trapz, I(4)),
]
