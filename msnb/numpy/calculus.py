"""Functions of sampled data: interpolation, gradients, differences, unwrapping of angles."""

import math
from typing import Any

import jax.numpy as jnp

from msnb.common.kinds import Axis, Float, Int, check
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import axes_in, axis_in, rank
from msnb.ops._numpy import ArrayLike, as_tensor, as_tensors, common_type, floating, in_type
from msnb.ops._upcast import in_float32
from msnb.ops.array.cast import Cast
from msnb.ops.array.join import Concat
from msnb.ops.array.reshape import Reshape
from msnb.ops.math.arithmetic import _Diff


@operator
def _Interp(x, xp, fp, left=None, right=None):
    """Interpolate linearly between the points (xp, fp).

    Inputs:
        - **x** (Tensor) - Coordinates of the results, floating point, of any shape.
        - **xp** (Tensor) - The x coordinates of the points: a vector of increasing numbers.
        - **fp** (Tensor) - The y coordinates of the points, of the length of `xp`.
        - **left** (Tensor) - Result for `x` less than `xp[0]`. Default: None, `fp[0]`.
        - **right** (Tensor) - Result for `x` greater than `xp[-1]`. Default: None, `fp[-1]`.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        ValueError: If `xp` or `fp` is no vector, or their lengths differ.
    """
    rank("interp", "xp", xp, 1)
    rank("interp", "fp", fp, 1)
    if xp.shape != fp.shape:
        raise ValueError(f"For 'interp', 'xp' and 'fp' should have one length, but got {xp.size} and {fp.size}.")
    if not xp.size:
        raise ValueError("For 'interp', there should be at least 1 point, but 'xp' is empty.")
    return jnp.interp(x, xp, fp, left, right)


@spelling(_Interp, numpy="interp")
def interp(
    x: ArrayLike, xp: ArrayLike, fp: ArrayLike, left: ArrayLike | None = None, right: ArrayLike | None = None
) -> Tensor:
    """Interpolate linearly between the points (xp, fp).

    Args:
        x (Union[Tensor, list, tuple, int, float]): The x coordinates at which to interpolate, of any shape.
        xp (Union[Tensor, list, tuple]): The x coordinates of the points: a vector of increasing numbers.
        fp (Union[Tensor, list, tuple]): The y coordinates of the points, of the length of `xp`.
        left (Union[int, float]): Result for `x` less than `xp[0]`. Default: None, `fp[0]`.
        right (Union[int, float]): Result for `x` greater than `xp[-1]`. Default: None, `fp[-1]`.

    Returns:
        Tensor of the shape of `x`. Its element type is float64 if one of `x`, `xp` and `fp` is float64, else float32.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `xp` or `fp` is no vector, or their lengths differ.

    Examples:
        >>> print(mindspore.numpy.interp([0.5, 1.5, 9.0], [0.0, 1.0, 2.0], [0.0, 10.0, 30.0]))
        [ 5. 20. 30.]
    """
    points = [floating(t) for t in as_tensors("interp", x=x, xp=xp, fp=fp)]
    points = common_type(*points, Tensor(0.0))[:3]  # promote to float32 at least: float16 coordinates are too coarse
    ends = [
        None if end is None else in_type(as_tensor(end, "interp", argument), points[0].dtype, "interp")
        for end, argument in ((left, "left"), (right, "right"))
    ]
    return _Interp.functional(*points, *ends)


@operator
@in_float32
def _Slope(f, spacing, *, axis: Int):
    """Return the gradient along an axis, computed by central differences, and by one-sided differences at the ends.

    Args:
        axis (int): The axis.

    Inputs:
        - **f** (Tensor) - Floating point.
        - **spacing** (Tensor) - The distance of neighbours, a scalar.

    Outputs:
        Tensor of the shape and element type of `f`.

    Raises:
        ValueError: If there are fewer than 2 elements along the axis.
    """
    if f.shape[axis] < 2:
        raise ValueError(
            f"For 'gradient', there should be at least 2 elements along axis {axis}, but got shape {f.shape}."
        )
    return jnp.gradient(f, axis=axis) / spacing


@spelling(_Slope, numpy="gradient")
def gradient(f: ArrayLike, *varargs: Any, axis: Axis = None, edge_order: int = 1) -> Tensor | list[Tensor]:
    """Return the gradient along each axis, computed by central differences, and by one-sided differences at the ends.

    Args:
        f (Union[Tensor, list, tuple]): Numbers, of at least 1 dimension; integers are converted to float32.
        varargs (Union[Tensor, int, float]): The distance of neighbouring samples: one number for all axes, or one
            number for each axis. Default: 1.
        axis (Union[None, int, tuple[int], list[int]]): The axes, None for all. Default: None.
        edge_order (int): Order of accuracy at the ends; only 1 is supported. Default: 1.

    Returns:
        Tensor of the shape of `f`; for several axes a list with a Tensor for each.

    Raises:
        TypeError: If an argument has the wrong type, or the number of distances is neither 1 nor the number of axes.
        ValueError: If `axis` is out of range, or there are fewer than 2 elements along it.
        NotImplementedError: If `edge_order` is not 1, or a distance is no scalar.

    Examples:
        >>> print(mindspore.numpy.gradient([1.0, 2.0, 4.0, 7.0]))
        [1.  1.5 2.5 3. ]
    """
    f = floating(as_tensor(f, "gradient", "f"))
    if check(Int, edge_order, "edge_order", "gradient") != 1:
        raise NotImplementedError(f"For 'gradient', 'edge_order' should be 1, but got {edge_order}.")
    axes = axes_in("gradient", check(Axis, axis, "axis", "gradient"), f.ndim)
    if not axes:
        raise ValueError("For 'gradient', 'f' should have at least 1 dimension, but it is a scalar.")
    spacings = [as_tensor(v, "gradient", "varargs") for v in varargs or (1,)]
    if len(spacings) not in (1, len(axes)):
        raise TypeError(f"For 'gradient', 1 distance or {len(axes)} should be given, but got {len(spacings)}.")
    if any(s.ndim for s in spacings):
        raise NotImplementedError("For 'gradient', the distance of neighbours should be a number along each axis.")
    spacings = [in_type(s, f.dtype, "gradient") for s in spacings] * (len(axes) // len(spacings))
    slopes = [_Slope(a)(f, s) for a, s in zip(axes, spacings, strict=True)]
    return slopes[0] if len(slopes) == 1 else slopes


@spelling(numpy="ediff1d")
def ediff1d(ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> Tensor:
    """Return the differences x[i + 1] - x[i] of neighbouring elements of a flattened Tensor.

    Args:
        ary (Union[Tensor, list, tuple]): Numbers, of any shape.
        to_end (Union[Tensor, list, tuple, int, float]): Values to append. Default: None.
        to_begin (Union[Tensor, list, tuple, int, float]): Values to prepend. Default: None.

    Returns:
        Tensor, a vector of the element type of `ary`.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> print(mindspore.numpy.ediff1d([1, 2, 4, 7, 0], to_begin=-1))
        [-1  1  2  3 -7]
    """
    x = Reshape.functional(as_tensor(ary, "ediff1d", "ary"), (-1,))
    parts = []
    for part, argument in ((to_begin, "to_begin"), (None, "ary"), (to_end, "to_end")):
        if argument == "ary":
            parts.append(_Diff.functional(x))
        elif part is not None:
            part = Reshape.functional(as_tensor(part, "ediff1d", argument), (-1,))
            parts.append(Cast.functional(part, x.dtype))
    return Concat(0)(parts) if len(parts) > 1 else parts[0]


@operator
@in_float32
def _Unwrap(p, *, discont: Float = math.pi, axis: Int = -1):
    """Unwrap angles along an axis: add multiples of 2 pi so that no step is longer than pi.

    Args:
        discont (float): Only steps larger than this are changed; values below pi are treated as pi. Default: pi.
        axis (int): The axis. Default: -1.

    Inputs:
        - **p** (Tensor) - Angles, floating point.

    Outputs:
        Tensor of the shape and element type of `p`.

    Raises:
        ValueError: If `axis` is out of range.
    """
    return jnp.unwrap(p, discont, axis_in("unwrap", axis, p.ndim))


@spelling(_Unwrap, numpy="unwrap")
def unwrap(p: ArrayLike, discont: float = math.pi, axis: int = -1) -> Tensor:
    """Unwrap angles along an axis: add multiples of 2 pi so that no step is longer than pi.

    Args:
        p (Union[Tensor, list, tuple]): Angles, of at least 1 dimension; integers are converted to float32.
        discont (float): Only steps larger than this are changed; values below pi are treated as pi. Default: pi.
        axis (int): The axis. Default: -1.

    Returns:
        Tensor of the shape of `p`, floating point.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `axis` is out of range.
    """
    return _Unwrap(discont, axis)(floating(as_tensor(p, "unwrap", "p")))
