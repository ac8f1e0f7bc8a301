"""`mindspore.scipy.linalg`: scipy's matrix functions for Tensors. They are differentiable and can be compiled.

Like MindSpore's functions, they take Tensors, not lists. The element types are float32, float64, int32 and int64, and
integers are converted to float64. `solve_triangular` also takes narrower types and then returns float32.
`solve_triangular` and `eigh` also take complex types. `overwrite_a` and similar arguments have no effect: a Tensor is
never overwritten. Values are not checked: NaN and infinity propagate to the result.
"""

from typing import Any

from msnb import log
from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, check
from msnb.core.errors.messages import describe
from msnb.core.operator.array_like import ArrayLike, as_tensor, common_type
from msnb.core.tensor.tensor import Tensor
from msnb.ops.math.decompositions_grad import (
    _BlockDiagonal,
    _Eigh,
    _LeastSquares,
    _LuFactor,
    _LuFactors,
    _LuSolveBy,
    _SolveTriangular,
)
from msnb.ops.math.linalg import Cholesky, MatrixDeterminant, MatrixInverse

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "det",
    "eigh",
    "inv",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "solve_triangular",
]
_NOT_OVERWRITTEN = "a Tensor is never overwritten"
_SUPPORTED_TYPES = (mstype.int32, mstype.int64, mstype.float32, mstype.float64)
_FURTHER_TYPES = {
    "eigh": (mstype.complex64, mstype.complex128),
    "solve_triangular": (mstype.float16, mstype.int8, mstype.int16, mstype.complex64, mstype.complex128),
}
_TRANSPOSED = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}


def _check_numeric_tensor(function, argument, value, *ranks):
    """Check that an argument is a Tensor of a supported type whose number of dimensions is in `ranks`, and return it.
    Integers are converted to float."""
    if not isinstance(value, Tensor):
        raise TypeError(f"For '{function}', '{argument}' should be a Tensor, but got {describe(value)}.")
    x, supported = value, (*_SUPPORTED_TYPES, *_FURTHER_TYPES.get(function, ()))
    if x.dtype not in supported:
        expected = ", ".join(map(str, supported))
        raise TypeError(f"For '{function}', '{argument}' should be a Tensor of {expected}, but got {describe(x)}.")
    if x.ndim not in ranks:
        expected = " or ".join(map(str, ranks))
        raise ValueError(f"For '{function}', '{argument}' should have {expected} dimensions, but got shape {x.shape}.")
    if x._array.dtype.kind != "i":
        return x
    return x.astype(mstype.float32 if function == "solve_triangular" and x.itemsize < 8 else mstype.float64)


def _check_square_matrix(function, argument, value):
    x = _check_numeric_tensor(function, argument, value, 2)
    if x.shape[0] != x.shape[1]:
        raise ValueError(f"For '{function}', '{argument}' should be a square matrix, but got shape {x.shape}.")
    return x


def _report_unused_options(function, check_finite, **overwritten):
    for name, value in overwritten.items():
        check(Bool, value, name, function)
    log.unused(function, _NOT_OVERWRITTEN, **overwritten)
    finite = check(Bool, check_finite, "check_finite", function)
    log.unused(function, "values are never checked", check_finite=not finite)


def _get_transpose_code(function, trans):
    if not isinstance(trans, int | str) or isinstance(trans, bool):
        raise TypeError(f"For '{function}', 'trans' should be an int or a str, but got {describe(trans)}.")
    if trans not in _TRANSPOSED:
        raise ValueError(f"For '{function}', 'trans' should be 0, 1, 2, 'N', 'T' or 'C', but got {trans!r}.")
    return _TRANSPOSED[trans]


def block_diag(*arrs: ArrayLike) -> Tensor:
    """Return a block diagonal matrix.

    Args:
        arrs (Union[Tensor, list, tuple, Number]): The matrices; a vector counts as a row.

    Returns:
        Tensor.

    Raises:
        ValueError: If one has more than 2 dimensions.
    """
    blocks = [as_tensor(a, "block_diag", f"arrs[{i}]") for i, a in enumerate(arrs or ([[]],))]
    for block in blocks:
        if block.ndim > 2:
            raise ValueError(f"For 'block_diag', each should have at most 2 dimensions, but got shape {block.shape}.")
    return _BlockDiagonal.functional(common_type(*blocks) if len(blocks) > 1 else blocks)


def inv(a: Tensor, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """Return the inverse of a matrix.

    Args:
        a (Tensor): A square matrix.
        overwrite_a (bool): No effect. Default: False.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        Tensor of the shape of `a`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `a` is not a square matrix.
    """
    _report_unused_options("inv", check_finite, overwrite_a=overwrite_a)
    return MatrixInverse.functional(_check_square_matrix("inv", "a", a))


def det(a: Tensor, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """Return the determinant of a matrix.

    Args:
        a (Tensor): A square matrix.
        overwrite_a (bool): No effect. Default: False.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        Tensor, a scalar.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `a` is not a square matrix.
    """
    _report_unused_options("det", check_finite, overwrite_a=overwrite_a)
    return MatrixDeterminant.functional(_check_square_matrix("det", "a", a))


def cholesky(a: Tensor, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """Return the Cholesky factor of a positive definite matrix: L with L L^H = a, or U with U^H U = a.

    Args:
        a (Tensor): The matrix.
        lower (bool): Whether to return L instead of U. Default: False.
        overwrite_a (bool): No effect. Default: False.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        Tensor of the shape of `a`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `a` is not a square matrix.
    """
    _report_unused_options("cholesky", check_finite, overwrite_a=overwrite_a)
    factor = Cholesky.functional(_check_square_matrix("cholesky", "a", a))
    return factor if check(Bool, lower, "lower", "cholesky") else factor.T


def cho_factor(
    a: Tensor, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Tensor, bool]:
    """Return (Cholesky factor, `lower`), for `cho_solve`.

    Args:
        a (Tensor): The matrix.
        lower (bool): Whether to compute the lower factor instead of the upper one. Default: False.
        overwrite_a (bool): No effect. Default: False.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        A tuple of the factor and `lower`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `a` is not a square matrix.
    """
    return cholesky(a, lower, overwrite_a, check_finite), lower


def cho_solve(
    c_and_lower: tuple[Tensor, bool], b: Tensor, overwrite_b: bool = False, check_finite: bool = True
) -> Tensor:
    """Solve A x = b with the Cholesky factor of A from `cho_factor`.

    Args:
        c_and_lower (tuple): The result of `cho_factor`.
        b (Tensor): A vector, or a matrix whose columns are right-hand sides.
        overwrite_b (bool): No effect. Default: False.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        Tensor of the shape of `b`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes do not fit.
    """
    _report_unused_options("cho_solve", check_finite, overwrite_b=overwrite_b)
    c, lower = c_and_lower
    c, b = common_type(_check_square_matrix("cho_solve", "c", c), _check_numeric_tensor("cho_solve", "b", b, 1, 2))
    half = _SolveTriangular.functional(c, b, 0 if lower else 2, lower)
    return _SolveTriangular.functional(c, half, 2 if lower else 0, lower)


def eigh(
    a: Tensor,
    b: None = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return the eigenvalues of a symmetric or Hermitian matrix in ascending order, and a matrix whose columns are the
    eigenvectors.

    Args:
        a (Tensor): The matrix.
        b (None): Only None: generalised problems are not supported. Default: None.
        lower (bool): Whether to read the lower triangle of `a` instead of the upper one. Default: True.
        eigvals_only (bool): Whether to return only the eigenvalues. Default: False.
        overwrite_a (bool): No effect. Default: False.
        overwrite_b (bool): No effect. Default: False.
        turbo (bool): No effect: there is one algorithm. Default: True.
        eigvals (None): Only None is supported: all eigenvalues are computed. Default: None.
        type (int): Type of a generalised problem; only 1 is supported. Default: 1.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        Tensor of the eigenvalues, or a tuple (eigenvalues, eigenvectors).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `a` is not a square matrix, or `b`, `eigvals` or another `type` is given.
    """
    _report_unused_options("eigh", check_finite, overwrite_a=overwrite_a, overwrite_b=overwrite_b)
    log.unused("eigh", "there is one algorithm", turbo=not check(Bool, turbo, "turbo", "eigh"))
    only_values = check(Bool, eigvals_only, "eigvals_only", "eigh")
    lower, a = check(Bool, lower, "lower", "eigh"), _check_square_matrix("eigh", "a", a)
    if b is not None or type != 1:
        raise ValueError("For 'eigh', 'b' should be None and 'type' 1: generalised problems are not supported.")
    if eigvals is not None:
        raise ValueError("For 'eigh', 'eigvals' should be None: all are found; take those you want.")
    return _Eigh.functional(a, lower, not only_values)


def lu_factor(a: Tensor, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Tensor, Tensor]:
    """LU decomposition: return both triangular factors in one matrix, and the index of the row that each row was
    exchanged with.

    Args:
        a (Tensor): A square matrix.
        overwrite_a (bool): No effect. Default: False.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        A tuple of two Tensors, the second of int32.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `a` is not a square matrix.
    """
    _report_unused_options("lu_factor", check_finite, overwrite_a=overwrite_a)
    return _LuFactor.functional(_check_square_matrix("lu_factor", "a", a))


def lu_solve(
    lu_and_piv: tuple[Tensor, Tensor],
    b: Tensor,
    trans: int | str = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Tensor:
    """Solve A x = b with the factors of A from `lu_factor`.

    Args:
        lu_and_piv (tuple[Tensor]): The result of `lu_factor`.
        b (Tensor): A vector, or a matrix whose columns are right-hand sides.
        trans (Union[int, str]): 0 or "N" solves A x = b, 1 or "T" A^T x = b, 2 or "C" A^H x = b. Default: 0.
        overwrite_b (bool): No effect. Default: False.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        Tensor of the shape of `b`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes do not fit, or `trans` has another value.
    """
    _report_unused_options("lu_solve", check_finite, overwrite_b=overwrite_b)
    factors, pivots = lu_and_piv
    factors, b = common_type(
        _check_square_matrix("lu_solve", "lu", factors), _check_numeric_tensor("lu_solve", "b", b, 1, 2)
    )
    return _LuSolveBy.functional(factors, pivots, b, _get_transpose_code("lu_solve", trans))


def lu(a: Tensor, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Tensor, ...]:
    """LU decomposition: return (P, L, U) with P L U = a, where P is a permutation matrix.

    Args:
        a (Tensor): A matrix.
        permute_l (bool): Whether to return (P L, U) instead. Default: False.
        overwrite_a (bool): No effect. Default: False.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        A tuple of three Tensors, the first of int32; or of two.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `a` is not a matrix.
    """
    _report_unused_options("lu", check_finite, overwrite_a=overwrite_a)
    p, lower, upper = _LuFactors.functional(_check_numeric_tensor("lu", "a", a, 2))
    return (p @ lower, upper) if check(Bool, permute_l, "permute_l", "lu") else (p.astype(mstype.int32), lower, upper)


def solve_triangular(
    a: Tensor,
    b: Tensor,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: None = None,
    check_finite: bool = True,
) -> Tensor:
    """Solve a x = b for a triangular matrix `a`.

    Args:
        a (Tensor): A square matrix, of which one triangle is read.
        b (Tensor): A vector, or a matrix whose columns are right-hand sides.
        trans (Union[int, str]): 0 or "N" solves A x = b, 1 or "T" A^T x = b, 2 or "C" A^H x = b. Default: 0.
        lower (bool): Whether to read the lower triangle instead of the upper one. Default: False.
        unit_diagonal (bool): Whether to treat the diagonal as ones. Default: False.
        overwrite_b (bool): No effect. Default: False.
        debug (None): No effect. Default: None.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        Tensor of the shape of `b`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes do not fit, or `trans` has another value.
    """
    _report_unused_options("solve_triangular", check_finite, overwrite_b=overwrite_b)
    log.unused("solve_triangular", "there is nothing to tell", debug=debug is not None)
    name = "solve_triangular"
    a, b = common_type(_check_square_matrix(name, "a", a), _check_numeric_tensor(name, "b", b, 1, 2))
    return _SolveTriangular.functional(
        a,
        b,
        _get_transpose_code(name, trans),
        check(Bool, lower, "lower", name),
        check(Bool, unit_diagonal, "unit_diagonal", name),
    )


def lstsq(A: Tensor, B: Tensor, rcond: Any = None, driver: Any = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the least-squares solution x of A x = B with the smallest norm.

    Args:
        A (Tensor): A matrix.
        B (Tensor): A vector, or a matrix whose columns are right-hand sides.
        rcond (None): Only None: singular values are treated as 0 if they are 0 within the accuracy of the element type.
            Default: None.
        driver (None): Only None: there is one algorithm. Default: None.

    Returns:
        A tuple (solution, residues, rank of `A` as int64, singular values of `A`).

    Raises:
        NotImplementedError: If `rcond` or `driver` is given.
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes do not fit.
    """
    if rcond is not None:
        raise NotImplementedError("For 'lstsq', 'rcond' should be None: singular values count unless they are 0.")
    if driver is not None:
        raise NotImplementedError("For 'lstsq', 'driver' should be None: there is one algorithm.")
    return _LeastSquares.functional(
        *common_type(_check_numeric_tensor("lstsq", "A", A, 2), _check_numeric_tensor("lstsq", "B", B, 1, 2))
    )
