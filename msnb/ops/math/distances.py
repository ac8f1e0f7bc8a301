"""Distances and similarities of vectors."""

import math

import jax.numpy as jnp

from msnb.common.kinds import Float, Int, Static
from msnb.core.operator.cases import F, I, case, refused
from msnb.core.operator.declare import operator
from msnb.core.support.type_promotion import promote
from msnb.ops._check import FLOAT, axis_in, dtype_in, same_dtype
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32


def _compute_p_norm(difference, p):
    """Return the p-norm of the vectors along the last dimension. The gradient at the zero vector is 0."""
    size = jnp.abs(difference)
    if p == 0:
        return jnp.sum(difference != 0, -1).astype(difference.dtype)
    if p == 1:
        return jnp.sum(size, -1)
    if math.isinf(p):
        return jnp.max(size, -1, initial=0)
    equal = size == 0  # not `~(size > 0)`, which is True for NaN
    total = jnp.sum(jnp.where(equal, 0, jnp.where(equal, 1, size) ** p), -1)
    none = total == 0
    return jnp.where(none, 0, jnp.where(none, 1, total) ** (1 / p))


@operator(functional="cdist", called=("x1", "x2"), generation=2)
@shapes("input_x input_y: ~s _ m")
@in_float32
def Cdist(input_x, input_y, *, p: Static(Float) = 2.0):
    """Compute the distance of each row of a matrix to each row of another.

    Args:
        p (float): Order of the norm, not negative; 0 counts the elements that differ. Default: 2.0.

    Inputs:
        - **input_x** (Tensor) - Floating point, of shape (*, P, M).
        - **input_y** (Tensor) - Of the same element type, of shape (*, R, M).

    Outputs:
        Tensor of shape (*, P, R).

    Raises:
        TypeError: If the element types are not floating point, or differ.
        ValueError: If `p` is negative, or the shapes do not fit.

    Examples:
        >>> x = Tensor([[0., 0.], [3., 4.]], mindspore.float32)
        >>> print(ops.cdist(x, x))
        [[0. 5.]
         [5. 0.]]
    """
    dtype_in("cdist", "x1", input_x, FLOAT)
    dtype_in("cdist", "x2", input_y, FLOAT)
    same_dtype("cdist", x1=input_x, x2=input_y)
    if p < 0:
        raise ValueError(f"For 'cdist', 'p' should not be negative, but got {p}.")
    return _compute_p_norm(input_x[..., :, None, :] - input_y[..., None, :, :], p)


@operator(functional="dist", generation=2)
@in_float32
def _Dist(input, other, *, p: Static(Float) = 2.0):
    """The p-norm of the difference of two Tensors.

    Args:
        p (float): Order of the norm. Default: 2.0.

    Inputs:
        - **input** (Tensor) - Floating point.
        - **other** (Tensor) - Floating point, of a shape that broadcasts.

    Outputs:
        Tensor, a scalar.

    Raises:
        TypeError: If an input is not floating point.
        ValueError: If the shapes do not broadcast.
    """
    dtype_in("dist", "input", input, FLOAT)
    dtype_in("dist", "other", other, FLOAT)
    x, y = promote(input, other, op="dist")
    return _compute_p_norm((x - y).reshape(-1), p)


@operator(functional="cosine_similarity", generation=2)
@in_float32
def _CosineSimilarity(x1, x2, *, dim: Int = 1, eps: Float = 1e-08):
    """Cosine of the angle between vectors along a dimension.

    Args:
        dim (int): The dimension. Default: 1.
        eps (float): Lower bound of the norms in the divisor. Default: 1e-08.

    Inputs:
        - **x1** (Tensor) - Floating point.
        - **x2** (Tensor) - Floating point, of a shape that broadcasts.

    Outputs:
        Tensor of the broadcast shape without the dimension.

    Raises:
        TypeError: If an input is not floating point.
        ValueError: If the shapes do not broadcast, or `dim` is out of range.

    Examples:
        >>> x, y = Tensor([[1., 0.]], mindspore.float32), Tensor([[3., 4.]], mindspore.float32)
        >>> print(ops.cosine_similarity(x, y))
        [0.6]
    """
    dtype_in("cosine_similarity", "x1", x1, FLOAT)
    dtype_in("cosine_similarity", "x2", x2, FLOAT)
    x, y = promote(x1, x2, op="cosine_similarity")
    x, y = jnp.broadcast_arrays(x, y)
    dim = axis_in("cosine_similarity", dim, x.ndim, "dim")

    def unit(v):
        squares = jnp.sum(v * v, dim, keepdims=True)
        none = squares == 0
        length = jnp.where(none, 0, jnp.sqrt(jnp.where(none, 1, squares)))
        return v / jnp.maximum(length, eps)

    return jnp.sum(unit(x) * unit(y), dim)


CASES = [
    *(case(Cdist, F(2, 3), F(4, 3), p=p).within(1e-4) for p in (0.0, 1.0, 2.0, 3.0, float("inf"))),
    case(Cdist, F(2, 2, 3), F(2, 4, 3)).within(1e-4),
    case(_Dist, F(2, 3), F(3)).within(1e-4),
    case(_Dist, F(2, 3), F(2, 3), p=1.0).within(1e-4),
    case(_CosineSimilarity, F(2, 3), F(2, 3)).within(1e-4),
    case(_CosineSimilarity, F(2, 3), F(2, 3), dim=0).within(1e-4),
    refused(ValueError, Cdist, F(2, 3), F(2, 4)),
    refused(TypeError, Cdist, F(2, 3), I(2, 3)),
    refused(ValueError, _CosineSimilarity, F(3), F(3), dim=1),
]
