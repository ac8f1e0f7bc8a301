"""Linear algebra: determinants, inverses, factors, traces and vector products."""

import jax
import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Axis, Bool, DType, Int
from msnb.core.eager.kernel import Kernel
from msnb.core.operator import value_checks
from msnb.core.operator.cases import F, Values, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.support.type_promotion import promote
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import COMPLEX, FLOAT, NUMBER, axis_in, dtype_in, rank
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensor, as_tensors, common_type, in_type
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.array.cast import Cast
from msnb.ops.array.triangle import Diagonal
from msnb.ops.math.sum import ReduceSum, sum_


@operator(functional="inverse", called=("input",), methods=("inverse",), generation=2)
@in_float32
def MatrixInverse(x, *, adjoint: Bool = False):
    """Invert square matrices.

    Args:
        adjoint (bool): Return the conjugate transpose of the inverse. Default: False.

    Inputs:
        - **x** (Tensor) - Floating point, of shape (*, N, N).

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not floating point.
        ValueError: If the last two dimensions differ.

    Examples:
        >>> print(ops.inverse(Tensor([[2., 0.], [0., 4.]], mindspore.float32)))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    dtype_in("Inverse", "x", x, FLOAT | COMPLEX)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"For 'Inverse', 'x' should have shape (*, N, N), but got {x.shape}.")
    inverse = jnp.linalg.inv(x)
    return inverse.conj().swapaxes(-1, -2) if adjoint else inverse


def _make_definiteness_check(inputs):
    """Return a check that the number of matrices without a Cholesky factor is 0."""
    return [value_checks.Range(_count_indefinite.call(inputs["result"]), 1)]


def _count_indefinite_matrices(factors):
    diagonals = jnp.diagonal(jax.lax.stop_gradient(factors), axis1=-2, axis2=-1)  # NaN if not positive definite
    return jnp.sum(jnp.any(jnp.isnan(diagonals), -1), dtype=jnp.int32)


_count_indefinite = Kernel("CheckDefinite", _count_indefinite_matrices)
_DEFINITE = value_checks.Check(
    "x",
    _make_definiteness_check,
    always=True,
    sentence="be symmetric positive definite matrices, but {value} of them are not.",
    of_result=True,
)


@operator(functional="cholesky", called=("input_x",), methods=("cholesky",), checks=[_DEFINITE])
@in_float32
def Cholesky(x, *, upper: Bool = False):
    """Cholesky decomposition: the triangular factor of positive definite matrices.

    Args:
        upper (bool): Return the upper factor, the transpose of the lower one. Default: False.

    Inputs:
        - **x** (Tensor) - Floating point, of shape (*, N, N).

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not floating point.
        ValueError: If the last two dimensions differ.
        RuntimeError: If a matrix is not positive definite. A compiled graph raises it when it runs.

    Examples:
        >>> print(ops.cholesky(Tensor([[4., 0.], [0., 9.]], mindspore.float32)))
        [[2. 0.]
         [0. 3.]]
    """
    dtype_in("Cholesky", "x", x, FLOAT)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"For 'Cholesky', 'x' should have shape (*, N, N), but got {x.shape}.")
    lower = jax.lax.linalg.cholesky(x)
    return jnp.swapaxes(lower, -1, -2) if upper else lower


@operator(functional="det", methods=("det",), generation=2)
@shapes("input: ... n n")
@in_float32
def MatrixDeterminant(input):
    """Determinants of square matrices.

    Inputs:
        - **input** (Tensor) - Floating point or complex, of shape (*, N, N).

    Outputs:
        Tensor.
    """
    dtype_in("det", "input", input, FLOAT | COMPLEX)
    return jnp.linalg.det(input)


@operator(functional="trace")
def Trace(input):
    """Sum of the diagonal of a matrix.

    Inputs:
        - **input** (Tensor) - Numbers, of 2 dimensions.

    Outputs:
        Tensor, a scalar of the element type of `input`.
    """
    dtype_in("trace", "input", input, NUMBER)
    rank("trace", "input", input, 2)
    return jnp.trace(input, dtype=input.dtype)


@operator(functional="cross", methods=("cross",))
@in_float32
def Cross(input, other, *, dim: Axis = ()):
    """Cross product of vectors along a dimension of length 3.

    Args:
        dim (int): The dimension; () selects the first dimension of length 3. Default: ().

    Inputs:
        - **input** (Tensor) - Numbers.
        - **other** (Tensor) - Numbers.

    Outputs:
        Tensor.
    """
    x, y = promote(input, other, op="cross")
    if dim == ():
        if 3 not in x.shape:
            raise ValueError(f"For 'cross', a dimension should have length 3, but the shape is {x.shape}.")
        dim = x.shape.index(3)
    for name, value in (("input", x), ("other", y)):
        axis = axis_in("cross", dim, value.ndim, "dim")
        if value.shape[axis] != 3:
            raise ValueError(
                f"For 'cross', '{name}' should have length 3 along axis {dim}, but its shape is {value.shape}."
            )
    return jnp.cross(x, y, axis=dim)


@operator
@in_float32
def _CrossOfAxes(x, y, axisa: Int, axisb: Int, axisc: Int):
    """Cross product of vectors of length 2 or 3, along an axis of each operand.

    Inputs:
        - **x** (Tensor) - Numbers.
        - **y** (Tensor) - Of the element type of `x`.
        - **axisa** (int) - The axis of the vectors in `x`.
        - **axisb** (int) - The axis of the vectors in `y`.
        - **axisc** (int) - The axis of the vectors in the result.

    Outputs:
        Tensor. If all vectors have length 2, it has only the third component, without a dimension for it.

    Raises:
        ValueError: If an axis is out of range, a length is not 2 or 3, or the shapes do not broadcast.
    """
    vector_axes = axis_in("cross", axisa, x.ndim, "axisa"), axis_in("cross", axisb, y.ndim, "axisb")
    lengths = x.shape[vector_axes[0]], y.shape[vector_axes[1]]
    if set(lengths) - {2, 3}:
        raise ValueError(f"For 'cross', the vectors should have length 2 or 3, but got {lengths[0]} and {lengths[1]}.")
    # Pad vectors of length 2 with 0: numpy 2.5, and JAX with it, only supports vectors of length 3.
    padded = [
        jnp.pad(v, [(0, 3 - v.shape[i]) if i == axis else (0, 0) for i in range(v.ndim)])
        for v, axis in zip((x, y), vector_axes, strict=True)
    ]
    try:
        if lengths == (2, 2):
            return jnp.cross(*padded, axisa, axisb)[..., 2]
        return jnp.cross(*padded, axisa, axisb, axisc)
    except (TypeError, ValueError):
        raise ValueError(
            f"For 'cross', the shapes do not fit: {x.shape} along axis {axisa}, {y.shape} along axis {axisb}, into "
            f"axis {axisc}."
        ) from None


@spelling(_CrossOfAxes, numpy="cross")
def _numpy_cross(
    a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Tensor:
    """Cross product of vectors of length 2 or 3; a missing third component is 0.

    Args:
        a (Union[Tensor, list, tuple]): Numbers.
        b (Union[Tensor, list, tuple]): Numbers. Without the axes of the vectors, the shapes of `a` and `b` broadcast.
        axisa (int): The axis of the vectors in `a`. Default: -1.
        axisb (int): The axis of the vectors in `b`. Default: -1.
        axisc (int): The axis of the vectors in the result. Default: -1.
        axis (int): Sets `axisa`, `axisb` and `axisc` if it is not None. Default: None.

    Returns:
        Tensor. If all vectors have length 2, it has only the third component, without a dimension for it.

    Raises:
        TypeError: If `a` or `b` has another type, or an axis is not an int.
        ValueError: If an axis is out of range, a length is not 2 or 3, or the shapes do not broadcast.

    Examples:
        >>> print(mindspore.numpy.cross([1, 0, 0], [0, 1, 0]))
        [0 0 1]
    """
    x, y = common_type(*as_tensors("cross", a=a, b=b))
    axes = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    return _CrossOfAxes.functional(x, y, *axes)


@spelling(Trace, ReduceSum, method="trace", generation=1)
def _tensor_trace(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DType | None = None) -> Tensor:
    """Trace: the sum of a diagonal along two dimensions."""
    trace = sum_(Diagonal.functional(self, offset, axis1, axis2), -1)
    return trace if self.dtype != mstype.int32 and dtype is None else Cast.functional(trace, dtype or self.dtype)


@spelling(Trace, ReduceSum, numpy="trace")
def _numpy_trace(
    a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DType | str | None = None
) -> Tensor:
    """Trace: the sum of a diagonal along two dimensions.

    Args:
        a (Union[Tensor, list, tuple]): Numbers, of at least 2 dimensions.
        offset (int): The diagonal: 0 is the main diagonal, positive numbers are above it. Default: 0.
        axis1 (int): The dimension of the rows. Default: 0.
        axis2 (int): The dimension of the columns. Default: 1.
        dtype (Union[mindspore.dtype, str]): Element type of the result. Default: None, int64 for integers, else the
            type of `a`.

    Returns:
        Tensor without the two dimensions.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `a` has fewer than 2 dimensions, or an axis is out of range.
    """
    a = as_tensor(a, "trace", "a")
    trace = sum_(Diagonal.functional(a, offset, axis1, axis2), -1)
    return in_type(trace, mstype.bool_ if dtype is None and a.dtype == mstype.bool_ else dtype, "trace")


@spelling(MatrixDeterminant, function="matrix_determinant", method="matrix_determinant")
def matrix_determinant(input: Tensor) -> Tensor:
    """Determinants of square matrices. `det` is the newer name of this function.

    Args:
        input (Tensor): Floating point, of shape (*, N, N).

    Returns:
        Tensor of shape (*).

    Raises:
        TypeError: If `input` is not floating point.
        ValueError: If the last two dimensions differ.
    """
    return MatrixDeterminant()(input)


CASES = [
    case(matrix_determinant, F(3, 3)),
    case(MatrixInverse, F(3, 3)),
    case(MatrixInverse, F(2, 3, 3), adjoint=True).without("gradient", "2.7.1 forgets to turn it"),
    case(Cholesky, Values([[4.0, 1.0], [1.0, 3.0]])),
    case(Cholesky.functional, Values([[4.0, 1.0], [1.0, 3.0]]), upper=True),
    case(MatrixDeterminant, F(3, 3)),
    case(Trace, F(3, 3)),
    case(Cross, F(3), F(3), dim=0),
    case(_CrossOfAxes, F(3, 2), F(2, 3), 0, -1, 0).without("mindspore", NUMPYS),
]
