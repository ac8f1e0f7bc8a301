"""Linear algebra: determinants, inverses, factors, traces and vector products."""

import jax
import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Axis, DType
from msnb.core.cases import F, Values, case
from msnb.core.declare import operator, spelling
from msnb.core.dtype import promote
from msnb.core.tensor import Tensor
from msnb.ops._check import COMPLEX, FLOAT, NUMBER, dtype_in, rank
from msnb.ops._half import in_float32
from msnb.ops.array.cast import Cast
from msnb.ops.array.triangle import Diagonal
from msnb.ops.math.sum import ReduceSum, sum_


@operator(functional="inverse", methods=("inverse",), generation=2)
@in_float32
def MatrixInverse(x):
    """Inverse of square matrices.

    Inputs:
        - **x** (Tensor) - Floating point, of shape (*, N, N).

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not floating point.
        ValueError: If the last two dimensions differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.inverse(Tensor([[2., 0.], [0., 4.]], mindspore.float32)))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    dtype_in("Inverse", "x", x, FLOAT | COMPLEX)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"For 'Inverse', 'x' should have shape (*, N, N), but got {x.shape}.")
    return jnp.linalg.inv(x)


@operator(functional="cholesky", methods=("cholesky",))
@in_float32
def Cholesky(x):
    """Lower triangular factor of positive definite matrices.

    Inputs:
        - **x** (Tensor) - Floating point, of shape (*, N, N).

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not floating point.
        ValueError: If the last two dimensions differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.cholesky(Tensor([[4., 0.], [0., 9.]], mindspore.float32)))
        [[2. 0.]
         [0. 3.]]
    """
    dtype_in("Cholesky", "x", x, FLOAT)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"For 'Cholesky', 'x' should have shape (*, N, N), but got {x.shape}.")
    return jax.lax.linalg.cholesky(x)


@operator(functional="det", methods=("det",), generation=2)
@in_float32
def MatrixDeterminant(input):
    """Determinants of square matrices.

    Inputs:
        - **input** (Tensor) - Floating point, of shape (*, N, N).

    Outputs:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("det", "input", input, FLOAT)
    return jnp.linalg.det(input)


@operator(functional="trace")
def Trace(input):
    """Sum of the diagonal of a matrix.

    Inputs:
        - **input** (Tensor) - Numbers, of 2 dimensions.

    Outputs:
        Tensor, a scalar of the element type of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("trace", "input", input, NUMBER)
    rank("trace", "input", input, 2)
    return jnp.trace(input, dtype=input.dtype)


@operator(functional="cross", methods=("cross",))
@in_float32
def Cross(input, other, dim: Axis = ()):
    """Vector product along a dimension of length 3.

    Inputs:
        - **input** (Tensor) - Numbers.
        - **other** (Tensor) - Numbers.
        - **dim** (int) - The dimension; the first of length 3 for (). Default: ().

    Outputs:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    x, y = promote(input, other, op="cross")
    if dim == ():
        if 3 not in x.shape:
            raise ValueError(f"For 'cross', a dimension should have length 3, but the shape is {x.shape}.")
        dim = x.shape.index(3)
    return jnp.cross(x, y, axis=dim)


@spelling(Trace, ReduceSum, method="trace", generation=1)
def _trace_of(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DType | None = None) -> Tensor:
    """Sum of a diagonal of two dimensions."""
    found = sum_(Diagonal.functional(self, offset, axis1, axis2), -1)
    return found if self.dtype != mstype.int32 and dtype is None else Cast.functional(found, dtype or self.dtype)


CASES = [
    case(MatrixInverse, F(3, 3)),
    case(Cholesky, Values([[4.0, 1.0], [1.0, 3.0]])),
    case(MatrixDeterminant, F(3, 3)),
    case(Trace, F(3, 3)),
    case(Cross, F(3), F(3), 0),
]
