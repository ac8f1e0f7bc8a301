"""Norms of vectors and matrices, scaling of slices to a maximum norm, and distances between rows."""

import math

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Axis, Bool, DType, Float, Int, Ints, Number, Optional, Static
from msnb.core.eager.kernel import Kernel
from msnb.core.operator import value_checks
from msnb.core.operator.cases import F, I, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.support.type_promotion import np_dtype
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import COMPLEX, FLOAT, NUMBER, axes_in, axis_in, dtype_in, some
from msnb.ops._subgradients import magnitude
from msnb.ops._upcast import in_float32
from msnb.ops.math._elementwise import floating
from msnb.ops.math.statistics import NormOrder

Order = Static(Number)  # static, because the formula of a norm depends on its order


def _take_root(total, order):
    """Return `total` to the power 1 / order, with gradient 0 at 0."""
    nothing = total == 0
    return jnp.where(nothing, 0, jnp.where(nothing, 1, total) ** (1 / order))


def length(x, order, axes, keepdims=False):
    """Return the norm of the vectors in `x` along `axes`."""
    x = magnitude(x)
    if order == 0:
        return jnp.sum(x != 0, axes, keepdims=keepdims).astype(x.dtype)
    if math.isinf(order):
        find, of_none = (jnp.max, 0) if order > 0 else (jnp.min, jnp.inf)
        return find(x, axes, keepdims=keepdims, initial=of_none)
    if order == 2:
        powers = jnp.square(x)
    elif 0 < order < 1:  # x**order has no finite gradient at 0
        none = x == 0
        powers = jnp.where(none, 0, jnp.where(none, 1, x) ** order)
    else:
        powers = x**order
    return _take_root(jnp.sum(powers, axes, keepdims=keepdims), order)


def _check_and_cast(op, argument, x, dtype):
    dtype_in(op, argument, x, NUMBER)
    return floating(x) if dtype is None else x.astype(np_dtype(dtype))


def _find_not_finite(inputs):
    """Return the range check that `x` has no element that is infinite or NaN."""
    return [value_checks.Range(_count_not_finite.call(inputs["x"]), 1)]


def _count_elements_not_finite(x):
    return jnp.sum(~jnp.isfinite(x), dtype=jnp.int32)


_count_not_finite = Kernel("CheckFinite", _count_elements_not_finite)
_FINITE = value_checks.Check(
    "x", _find_not_finite, always=True, sentence="have a finite norm, but got infinity or NaN."
)


@operator(checks=[_FINITE])
def _ClipByNormCheck(x):
    """Return the norm `x`, and raise RuntimeError if it is not finite: in a graph, after it has run."""
    return x


check_finite = _ClipByNormCheck.functional


@operator(functional="vector_norm", generation=2)
@in_float32
def _VectorNorm(
    x, ord: Order = 2, axis: Optional(Axis) = None, keepdims: Bool = False, *, dtype: Optional(DType) = None
):
    """Norm of vectors.

    Args:
        x (Tensor): Floating point or complex.
        ord (Union[int, float]): Order of the norm; it may be infinite, 0 or negative. Default: 2.
        axis (Union[None, int, tuple[int]]): Axes that make up a vector. Default: None, all axes.
        keepdims (bool): Keep the axes with length 1. Default: False.
        dtype (mindspore.dtype): Element type to compute in. Default: None, that of `x`.

    Returns:
        Tensor.

    Raises:
        TypeError: If `x` is neither floating point nor complex.
        ValueError: If an axis is out of range.
    """
    x = _check_and_cast("vector_norm", "x", x, dtype)
    return length(x, ord, axes_in("vector_norm", () if axis is None else axis, x.ndim), keepdims)


@operator(functional="matrix_norm", generation=2)
@in_float32
def _MatrixNorm(
    A, ord: NormOrder = "fro", axis: Ints = (-2, -1), keepdims: Bool = False, *, dtype: Optional(DType) = None
):
    """Norm of matrices.

    Args:
        A (Tensor): Floating point or complex, of at least 2 dimensions.
        ord (Union[int, float, "fro", "nuc"]): Order of the norm, as in `numpy.linalg.norm`: "fro", "nuc", 1, -1, 2, -2,
            infinity or minus infinity. Default: "fro".
        axis (tuple[int]): The two axes of the matrices. Default: (-2, -1).
        keepdims (bool): Keep the axes with length 1. Default: False.
        dtype (mindspore.dtype): Element type to compute in. Default: None, that of `A`.

    Returns:
        Tensor.

    Raises:
        TypeError: If `A` is neither floating point nor complex.
        ValueError: If `axis` is not two axes of `A`, or `ord` is no norm of matrices.
    """
    A = _check_and_cast("matrix_norm", "A", A, dtype)
    axes = axes_in("matrix_norm", axis, A.ndim)
    if len(axes) != 2:
        raise ValueError(f"For 'matrix_norm', 'axis' should name two axes, but got {axis}.")
    if ord == "fro":
        return length(A, 2, axes, keepdims)
    if ord not in ("nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise ValueError(f"For 'matrix_norm', 'ord' should be 'fro', 'nuc', 1, 2, inf or a negative, but got {ord!r}.")
    if ord != "nuc":  # these norms are a maximum or minimum, which needs at least one element
        some("matrix_norm", "A", A, *{1: axes[1:], math.inf: axes[:1]}.get(abs(ord), axes))
    return jnp.linalg.norm(A if ord in ("nuc", 2, -2) else magnitude(A), ord, axes, keepdims)


@operator
@in_float32
def NuclearNorm(x, *, dim: Optional(Axis) = None, keepdim: Bool = False):
    """The sum of the singular values of matrices.

    Args:
        dim (Union[list[int], tuple[int]]): The two axes of the matrices. Default: None, both axes of the matrix `x`.
        keepdim (bool): Keep the axes with length 1. Default: False.

    Inputs:
        - **x** (Tensor) - Floating point, of at least 2 dimensions.

    Outputs:
        Tensor of the element type of `x`.

    Raises:
        TypeError: If `x` is not floating point.
        ValueError: If `dim` is not two axes of `x`.
    """
    dtype_in("NuclearNorm", "x", x, FLOAT)
    axes = axes_in("NuclearNorm", () if dim is None else dim, x.ndim)
    if len(axes) != 2:
        raise ValueError(f"For 'NuclearNorm', there should be two axes, but got {axes} for shape {x.shape}.")
    return jnp.linalg.norm(x, "nuc", axes, keepdim)


@operator
def EuclideanNorm(x, axes: Axis, *, keep_dims: Bool = False):
    """The square root of the sum of squares over axes.

    Args:
        keep_dims (bool): Keep the axes with length 1. Default: False.

    Inputs:
        - **x** (Tensor) - Numbers.
        - **axes** (Union[Tensor, int, tuple[int]]) - The axes, a constant.

    Outputs:
        Tensor of the element type of `x`.

    Raises:
        TypeError: If `x` does not consist of numbers.
        ValueError: If an axis is out of range.
    """
    dtype_in("EuclideanNorm", "x", x, NUMBER)
    norm = in_float32(length)(floating(x), 2, axes_in("EuclideanNorm", axes, x.ndim, "axes"), keep_dims)
    return norm.astype(x.dtype)


@operator
@in_float32
def Renorm(x, *, p: Order, dim: Int, maxnorm: Float):
    """Scale the slices along an axis so that the norm of each is at most `maxnorm`.

    Args:
        p (float): Order of the norm.
        dim (int): The axis that indexes the slices.
        maxnorm (float): The largest norm of a slice.

    Inputs:
        - **x** (Tensor) - Floating point or complex, of at least 2 dimensions.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is neither floating point nor complex.
        ValueError: If `dim` is out of range.
    """
    dtype_in("Renorm", "x", x, FLOAT | COMPLEX)
    dim = axis_in("Renorm", dim, x.ndim, "dim")
    norm = length(x, p, tuple(i for i in range(x.ndim) if i != dim), True)
    return jnp.where(norm > maxnorm, x * (maxnorm / (norm + 1e-7)).astype(x.dtype), x)


@spelling(Renorm, function="renorm", method="renorm")
def renorm(input: Tensor, p: float, axis: int, maxnorm: float) -> Tensor:
    """Scale the slices along an axis so that the norm of each is at most `maxnorm`.

    Args:
        input (Tensor): Floating point or complex, of at least 2 dimensions.
        p (float): Order of the norm.
        axis (int): The axis that indexes the slices.
        maxnorm (float): The largest norm of a slice.

    Returns:
        Tensor of the shape and element type of `input`.
    """
    return Renorm.functional(input, p, axis, maxnorm)


@operator
@in_float32
def Pdist(x, *, p: Order = 2.0):
    """Compute the distances between all pairs of rows.

    Args:
        p (float): Order of the norm of the difference of two rows. Default: 2.0.

    Inputs:
        - **x** (Tensor) - Floating point, of shape (*, N, M).

    Outputs:
        Tensor of shape (*, N * (N - 1) / 2), for the pairs of rows (0, 1), (0, 2), and so on.

    Raises:
        TypeError: If `x` is not floating point.
        ValueError: If `x` has fewer than 2 dimensions, or `p` is negative.
    """
    dtype_in("Pdist", "x", x, FLOAT)
    if x.ndim < 2:
        raise ValueError(f"For 'Pdist', 'x' should have at least 2 dimensions, but got shape {x.shape}.")
    if p < 0:
        raise ValueError(f"For 'Pdist', 'p' should not be negative, but got {p}.")
    first, second = np.triu_indices(x.shape[-2], 1)  # constants, unlike those of newer JAX
    return length(x[..., first, :] - x[..., second, :], p, -1)


@spelling(Pdist)
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """Compute the distances between all pairs of rows.

    Args:
        input (Tensor): Floating point, of shape (*, N, M).
        p (float): Order of the norm of the difference of two rows. Default: 2.0.

    Returns:
        Tensor of shape (*, N * (N - 1) / 2), for the pairs of rows (0, 1), (0, 2), and so on.
    """
    return Pdist.functional(input, p)


CASES = [
    *(case(_VectorNorm, F(2, 3), order, 1) for order in (2, 1, 3.5, 0, math.inf, -1)),
    case(_VectorNorm, F(2, 3), 2, None, True),
    *(case(_MatrixNorm, F(2, 3), order) for order in ("fro", "nuc", 1, -math.inf, 2)),
    case(_MatrixNorm, F(2, 3, 3), "fro", (0, 2), True),
    case(NuclearNorm, F(3, 2)),
    case(NuclearNorm, F(2, 3, 2), dim=(0, 1), keepdim=True),
    case(EuclideanNorm, F(2, 3), (1,), keep_dims=True),
    case(EuclideanNorm, I(2, 3), (0, 1)),
    case(Renorm, F(2, 3), p=2, dim=0, maxnorm=1.5),
    case(renorm, F(2, 3), 1, 1, 2.0),
    *(case(Pdist, F(4, 3), p=p) for p in (2.0, 1.0, 3.0, math.inf, 0.0)),
    case(pdist, F(3, 2)),
    refused(ValueError, Pdist, F(3)),
    refused(ValueError, _MatrixNorm, F(2, 3), 3),
    refused(ValueError, _VectorNorm, F(2), 2, 4),
]
