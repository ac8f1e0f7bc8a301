"""Operators that solve systems of linear equations from matrix factors, and compute eigenvalues."""

import jax
import jax.numpy as jnp
from jax.scipy import linalg

from msnb.common.kinds import Bool, Kind, OneOf
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import COMPLEX, FLOAT, INT, dtype_in, rank, same_dtype, some
from msnb.ops._upcast import in_float32

_MATRIX = Values([[4.0, 1.0], [1.0, 3.0]])
_ALL_THREE = "all three results are there, as on MindSpore's CPU"


def _check_square(op, argument, x, allowed=FLOAT):
    dtype_in(op, argument, x, allowed)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"For '{op}', '{argument}' should have shape (*, N, N), but got {x.shape}.")


@operator(functional="eigvals", methods=("eigvals",), generation=2)
def _EigVals(A):
    """Compute the eigenvalues of square matrices; it runs on the CPU only.

    Inputs:
        - **A** (Tensor) - float32, float64 or complex, of shape (*, N, N).

    Outputs:
        Tensor of complex numbers, of shape (*, N).

    Raises:
        TypeError: If `A` is of another type.
        ValueError: If the last two dimensions differ.

    Supported Platforms:
        ``CPU``
    """
    _check_square("eigvals", "A", A, FLOAT | COMPLEX)
    return jnp.linalg.eigvals(A)


@operator(generation=2)
def Eig(A, *, compute_v: Bool = False):
    """Compute the eigenvalues and eigenvectors of square matrices; it runs on the CPU only.

    Args:
        compute_v (bool): Compute the eigenvectors; if False, the second result is a single 0. Default: False.

    Inputs:
        - **A** (Tensor) - float32, float64 or complex, of shape (*, N, N).

    Outputs:
        A tuple of two Tensors of complex numbers: eigenvalues of shape (*, N), and eigenvectors, the columns of
        matrices of shape (*, N, N).

    Raises:
        TypeError: If `A` is of another type.
        ValueError: If the last two dimensions differ.

    Supported Platforms:
        ``CPU``
    """
    _check_square("eig", "A", A, FLOAT | COMPLEX)
    if not compute_v:
        values = jnp.linalg.eigvals(A)
        return values, jnp.zeros((), values.dtype)
    values, vectors = jnp.linalg.eig(A)
    return values, vectors


@spelling(Eig)
def eig(A: Tensor) -> tuple[Tensor, Tensor]:
    """Compute the eigenvalues and eigenvectors of square matrices; it runs on the CPU only.

    Args:
        A (Tensor): float32, float64 or complex, of shape (*, N, N).

    Returns:
        A tuple of two Tensors of complex numbers: eigenvalues of shape (*, N), and eigenvectors, the columns of
        matrices of shape (*, N, N).

    Raises:
        TypeError: If `A` is of another type.
        ValueError: If the last two dimensions differ.

    Supported Platforms:
        ``CPU``
    """
    return Eig(True)(A)


@operator(functional="logdet", methods=("logdet",), generation=2)
@in_float32
def _LogDet(input):
    """Logarithm of the determinants of square matrices; NaN where a determinant is negative.

    Inputs:
        - **input** (Tensor) - Floating point, of shape (*, N, N).

    Outputs:
        Tensor of shape (*).

    Raises:
        TypeError: If `input` is not floating point.
        ValueError: If the last two dimensions differ.
    """
    _check_square("logdet", "input", input)
    sign, size = jnp.linalg.slogdet(input)
    return jnp.where(sign < 0, jnp.nan, size)


def _check_condition_order(value):
    if value in (None, "fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf")) and not isinstance(value, bool):
        return value
    raise ValueError


ConditionOrder = Kind("None, 'fro', 'nuc', 1, -1, 2, -2, inf or -inf", _check_condition_order)


@operator(functional="cond", generation=2)
@in_float32
def _Cond(A, p: ConditionOrder = None):
    """Condition numbers of matrices: the product of the norms of a matrix and of its inverse.

    Inputs:
        - **A** (Tensor) - Floating point, of shape (*, M, N); square unless `p` is None, 2 or -2.
        - **p** (Union[None, str, int, float]) - The norm: "fro", "nuc", 1, -1, 2, -2 or an infinity. Default: None.

    Outputs:
        Tensor of shape (*).

    Raises:
        TypeError: If `A` is not floating point.
        ValueError: If the shape does not fit, or `p` has another value.
    """
    dtype_in("cond", "A", A, FLOAT)
    if A.ndim < 2:
        raise ValueError(f"For 'cond', 'A' should have at least 2 dimensions, but got shape {A.shape}.")
    some("cond", "A", A, -2, -1)
    if p in (None, 2, -2):
        return jnp.linalg.cond(A, p)
    _check_square("cond", "A", A)
    norm = lambda x: jnp.linalg.norm(x, p, (-2, -1))
    return norm(A) * norm(jnp.linalg.inv(A))


@operator(functional="cholesky_inverse", methods=("cholesky_inverse",), generation=2)
@in_float32
def CholeskyInverse(input_x, *, upper: Bool = False):
    """Invert a matrix, given its Cholesky factor.

    Args:
        upper (bool): If True, the factor is upper triangular; if False, it is lower triangular. Default: False.

    Inputs:
        - **input_x** (Tensor) - Floating point, of shape (N, N); the other triangle is ignored.

    Outputs:
        Tensor of the shape and element type of `input_x`.

    Raises:
        TypeError: If `input_x` is not floating point.
        ValueError: If it is not square.
    """
    _check_square("cholesky_inverse", "input_x", input_x)
    return linalg.cho_solve((input_x, not upper), jnp.eye(input_x.shape[-1], dtype=input_x.dtype))


@operator
@in_float32
def CholeskySolve(x1, x2, *, upper: Bool = False):
    """Solve systems of linear equations, given the Cholesky factor of the matrix.

    Args:
        upper (bool): If True, the factor is upper triangular; if False, it is lower triangular. Default: False.

    Inputs:
        - **x1** (Tensor) - Right sides, floating point of shape (*, N, M).
        - **x2** (Tensor) - Factors, of shape (*, N, N); the other triangle is ignored.

    Outputs:
        Tensor of the shape and element type of `x1`.

    Raises:
        TypeError: If the element types are not floating point, or differ.
        ValueError: If the shapes do not fit.
    """
    dtype_in("cholesky_solve", "input", x1, FLOAT)
    _check_square("cholesky_solve", "input2", x2)
    same_dtype("cholesky_solve", input=x1, input2=x2)
    if x1.ndim != x2.ndim or x1.shape[:-1] != x2.shape[:-1]:
        raise ValueError(f"For 'cholesky_solve', the shapes do not fit: {x1.shape} and {x2.shape}.")
    return linalg.cho_solve((x2, not upper), x1)


@spelling(CholeskySolve, function="cholesky_solve", method="cholesky_solve")
def cholesky_solve(input: Tensor, input2: Tensor, upper: Bool = False) -> Tensor:
    """Solve systems of linear equations, given the Cholesky factor of the matrix.

    Args:
        input (Tensor): Right sides, floating point of shape (*, N, M).
        input2 (Tensor): Factors, of shape (*, N, N).
        upper (bool): If True, the factors are upper triangular; if False, they are lower triangular. Default: False.

    Returns:
        Tensor of the shape and element type of `input`.

    Raises:
        TypeError: If the element types are not floating point, or differ.
        ValueError: If the shapes do not fit.
    """
    return CholeskySolve(upper)(input, input2)


@operator(generation=2)
@in_float32
def Lstsq(
    x,
    a,
    *,
    fast: OneOf(True, otherwise="the result is that of the precise way") = True,
    l2_regularizer: OneOf(0.0, otherwise="as in MindSpore, where it has none with `fast`") = 0.0,
):
    """Solve linear systems: the least-squares solution if overdetermined, otherwise the minimum-norm solution.

    Args:
        fast (bool): No effect: the pseudo-inverse is always used. Default: True.
        l2_regularizer (float): No effect, as in MindSpore. Default: 0.0.

    Inputs:
        - **x** (Tensor) - The matrix, floating point of shape (M, N).
        - **a** (Tensor) - Right sides, of shape (M,) or (M, K).

    Outputs:
        Tensor of shape (N, K); K is 1 for a vector.

    Raises:
        TypeError: If the element types are not floating point, or differ.
        ValueError: If the shapes do not fit.
    """
    dtype_in("lstsq", "input", x, FLOAT)
    same_dtype("lstsq", input=x, A=a)
    rank("lstsq", "input", x, 2)
    rank("lstsq", "A", a, 1, 2)
    if x.shape[0] != a.shape[0]:
        raise ValueError(f"For 'lstsq', 'input' and 'A' should have as many rows, but got {x.shape} and {a.shape}.")
    return jnp.linalg.pinv(x) @ (a if a.ndim > 1 else a[:, None])


@spelling(Lstsq, function="lstsq", method="lstsq")
def lstsq(input: Tensor, A: Tensor) -> Tensor:
    """Solve linear systems: the least-squares solution if overdetermined, otherwise the minimum-norm solution.

    Args:
        input (Tensor): The matrix, floating point of shape (M, N).
        A (Tensor): Right sides, of shape (M,) or (M, K).

    Returns:
        Tensor of shape (N, K); K is 1 for a vector.

    Raises:
        TypeError: If the element types are not floating point, or differ.
        ValueError: If the shapes do not fit.
    """
    return Lstsq()(input, A)


def _convert_pivots_to_permutation(pivots, rows):
    """Convert LAPACK's 1-based row exchanges to a permutation of the rows."""

    def exchange(step, order):
        other = pivots[step] - 1
        return order.at[step].set(order[other]).at[other].set(order[step])

    return jax.lax.fori_loop(0, len(pivots), exchange, jnp.arange(rows))


@operator(functional="lu_solve", called=("b", "LU_data", "LU_pivots"), methods=("lu_solve",), generation=2)
@in_float32
def LuSolve(x, lu_data, lu_pivots):
    """Solve systems of linear equations, given the LU factors of the matrix.

    Inputs:
        - **x** (Tensor) - Right sides, floating point of shape (*, N, K).
        - **lu_data** (Tensor) - Both factors in one matrix, of shape (*, N, N).
        - **lu_pivots** (Tensor) - 1-based index of the row that each row was exchanged with; int32 of shape (*,
          N).

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If the element types are not floating point, or differ.
        ValueError: If the shapes do not fit.
    """
    dtype_in("lu_solve", "b", x, FLOAT)
    _check_square("lu_solve", "LU_data", lu_data)
    same_dtype("lu_solve", b=x, LU_data=lu_data)
    if x.ndim < 2 or x.shape[-2] != lu_data.shape[-1] or lu_pivots.shape != lu_data.shape[:-1]:
        raise ValueError(f"For 'lu_solve', the shapes do not fit: {x.shape}, {lu_data.shape} and {lu_pivots.shape}.")

    def solve(b, lu, pivots):
        lower = linalg.solve_triangular(
            lu, b[_convert_pivots_to_permutation(pivots, len(b))], lower=True, unit_diagonal=True
        )
        return linalg.solve_triangular(lu, lower)

    for _ in range(lu_data.ndim - 2):
        solve = jax.vmap(solve)
    return solve(x, lu_data, lu_pivots)


@operator(generation=2)
def LuUnpack(
    LU_data,
    LU_pivots,
    *,
    unpack_data: OneOf(True, otherwise=_ALL_THREE) = True,
    unpack_pivots: OneOf(True, otherwise=_ALL_THREE) = True,
):
    """Unpack an LU decomposition, stored in one matrix, into its factors.

    Args:
        unpack_data (bool): No effect: there are always three results, as on MindSpore's CPU. Default: True.
        unpack_pivots (bool): No effect, likewise. Default: True.

    Inputs:
        - **LU_data** (Tensor) - Integers or floating point, of shape (*, M, N).
        - **LU_pivots** (Tensor) - 1-based index of the row that each row was exchanged with; int32 of shape (*,
          min(M, N)).

    Outputs:
        A tuple of three Tensors: the permutation (*, M, M), the lower factor (*, M, K) and the upper one (*, K, N).

    Raises:
        TypeError: If `LU_data` is bool or complex.
        ValueError: If the shapes do not fit.
    """
    dtype_in("LuUnpack", "LU_data", LU_data, FLOAT | INT)
    if LU_data.ndim < 2 or LU_pivots.shape != (*LU_data.shape[:-2], min(LU_data.shape[-2:])):
        raise ValueError(f"For 'LuUnpack', the shapes do not fit: {LU_data.shape} and {LU_pivots.shape}.")
    rows, columns = LU_data.shape[-2:]
    count = min(rows, columns)
    lower = jnp.tril(LU_data[..., :, :count], -1) + jnp.eye(rows, count, dtype=LU_data.dtype)
    upper = jnp.triu(LU_data[..., :count, :])

    def permutation(pivots):
        return jnp.eye(rows, dtype=LU_data.dtype)[:, _convert_pivots_to_permutation(pivots, rows)]

    for _ in range(LU_data.ndim - 2):
        permutation = jax.vmap(permutation)
    return permutation(LU_pivots), lower, upper


@spelling(LuUnpack)
def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: Bool = True, unpack_pivots: Bool = True
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Unpack an LU decomposition, stored in one matrix, into its factors.

    Args:
        LU_data (Tensor): Floating point, of shape (*, M, N).
        LU_pivots (Tensor): 1-based index of the row that each row was exchanged with; int32 of shape (*, min(M,
            N)).
        unpack_data (bool): Return the two triangular factors. Default: True.
        unpack_pivots (bool): Return the permutation. Default: True.

    Returns:
        A tuple of the permutation, the lower and the upper factor; None for a factor that is not requested.

    Raises:
        TypeError: If `LU_data` is not floating point.
        ValueError: If the shapes do not fit.
    """
    permutation, lower, upper = LuUnpack()(LU_data, LU_pivots)
    return permutation if unpack_pivots else None, *((lower, upper) if unpack_data else (None, None))


_ORDER = "the order of eigenvalues is free"
_TRIANGLES = "2.7.1 has one for the other triangle, too"

CASES = [
    *(
        case(op, _MATRIX)
        .without("mindspore", _ORDER)
        .without("differences", _ORDER)
        .without("graph", "JAX has no gradient of eigenvectors")
        .without("half", "LAPACK has no half precision")
        for op in (_EigVals, Eig, eig)
    ),
    case(_LogDet, _MATRIX).within(1e-4),
    *(case(_Cond, _MATRIX, p).within(1e-4) for p in (None, 2, -2, 1, -1, float("inf"), "fro", "nuc")),
    case(CholeskyInverse, Values([[2.0, 0.0], [1.0, 3.0]])).without("gradient", _TRIANGLES).within(1e-4),
    case(CholeskyInverse, Values([[2.0, 1.0], [0.0, 3.0]]), upper=True).without("gradient", _TRIANGLES).within(1e-4),
    case(CholeskySolve, F(2, 3), _MATRIX).wrt(0).within(1e-4),
    case(cholesky_solve, F(2, 3), _MATRIX, True).wrt(0).within(1e-4),
    case(Lstsq, Values([[2.0, 1.0], [3.0, 5.0], [1.0, 1.0]]), F(3, 2)).within(1e-4),
    case(lstsq, Values([[2.0, 1.0], [3.0, 5.0], [1.0, 1.0]]), F(3, 2)).within(1e-4),
    case(LuSolve, F(2, 3), _MATRIX, Values([2, 2])).within(1e-4),
    case(lu_unpack, _MATRIX, Values([2, 2])),
    case(LuUnpack, F(3, 2), Values([3, 2])),
    case(lu_unpack, F(3, 2), Values([3, 2])),
    refused(ValueError, _LogDet, F(2, 3)),
    refused(ValueError, LuSolve, F(3, 3), _MATRIX, Values([2, 2])),
    refused(ValueError, _Cond, F(2, 3), "fro"),
]
