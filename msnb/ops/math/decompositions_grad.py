"""Operators of `mindspore.scipy.linalg` that `mindspore.ops` lacks."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import Bool, OneOf, Tensors
from msnb.core.operator.cases import F, Values, case
from msnb.core.operator.declare import operator
from msnb.ops._check import same_dtype
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32


@operator
@shapes("a: n n")
@in_float32
def _Eigh(a, *, lower: Bool = True, vectors: Bool = True):
    """Return the eigenvalues of a symmetric or Hermitian matrix in ascending order, and the eigenvectors as columns.

    Args:
        lower (bool): True to read the lower triangle of `a`, False to read the upper one. Default: True.
        vectors (bool): Compute the eigenvectors. Default: True.
    """
    a = a if lower else jnp.conj(a.T)
    values_and_vectors = jnp.linalg.eigh(jnp.tril(a) + jnp.conj(jnp.tril(a, -1).T), symmetrize_input=False)
    return tuple(values_and_vectors) if vectors else values_and_vectors[0]


@operator
@shapes("a: ... _ _")
@in_float32
def _LuFactor(a):
    """LU decomposition: return one matrix with both triangular factors, and the pivots. Row i was exchanged with row
    pivots[i].
    """
    factors, pivots = jax.scipy.linalg.lu_factor(a)
    return factors, pivots.astype(jnp.int32)


@operator
@shapes("a: _ _")
@in_float32
def _LuFactors(a):
    """LU decomposition: a permutation matrix, a lower and an upper triangular matrix, whose product is `a`."""
    return tuple(jax.scipy.linalg.lu(a))


@operator
@shapes("lu: n n, pivots: n, b: n | n _")
@in_float32
def _LuSolveBy(lu, pivots, b, *, trans: OneOf(0, 1, 2) = 0):
    """Solve A x = b for x, given the factors of A from `_LuFactor`."""
    same_dtype("lu_solve", lu=lu, b=b)
    return jax.scipy.linalg.lu_solve((lu, pivots), b, trans)


@operator
@shapes("a: n n, b: n | n _")
@in_float32
def _SolveTriangular(a, b, *, trans: OneOf(0, 1, 2) = 0, lower: Bool = False, unit_diagonal: Bool = False):
    """Solve a x = b for x, where `a` is a triangular matrix."""
    same_dtype("solve_triangular", a=a, b=b)
    return jax.scipy.linalg.solve_triangular(a, b, trans, lower, unit_diagonal)


@operator
@shapes("a: m _, b: m | m _")
@in_float32
def _LeastSquares(a, b):
    """Solve a x = b by least squares. Return the solution of minimum norm, the sums of squared residuals, the rank
    (int64), and the singular values.
    """
    x, residues, rank, values = jnp.linalg.lstsq(a, b)
    return x, residues, rank.astype(jnp.int64), values


@operator
@shapes("blocks: () | _ | _ _")
@in_float32
def _BlockDiagonal(blocks: Tensors):
    """Build a block diagonal matrix from matrices."""
    return jax.scipy.linalg.block_diag(*blocks)


_ALONE = "MindSpore has it in scipy.linalg alone"
_SYSTEM = Values([[4.0, 1.0], [1.0, 3.0]])
CASES = [
    case(_Eigh, _SYSTEM).without("mindspore", _ALONE),
    case(_Eigh, F(3, 3), lower=False, vectors=False).without("mindspore", _ALONE),
    case(_LuFactor, F(3, 3)).without("mindspore", _ALONE),
    case(_LuFactors, F(3, 3)).without("mindspore", _ALONE),
    case(_LuSolveBy, Values([[3.0, 4.0], [0.5, 2.0]]), Values([1, 1]), F(2), trans=1).without("mindspore", _ALONE),
    case(_SolveTriangular, _SYSTEM, F(2), lower=True, unit_diagonal=True).without("mindspore", _ALONE),
    case(_LeastSquares, F(3, 2), F(3)).without("mindspore", _ALONE),
    case(_BlockDiagonal, (F(2, 1), F(1, 2))).without("mindspore", _ALONE),
]
