"""`mindspore.scipy.linalg`: scipy's functions of matrices over Tensors, differentiable and compiled.

As MindSpore's they take Tensors and no lists, of float32, float64, int32 and int64, which count as float64;
`solve_triangular` also shorter ones, whose results are of float32, it and `eigh` complex ones. `overwrite_a` and the
like have no effect: a Tensor is never overwritten. Values are not checked either: what is infinite or no number goes
into the result.
"""

from typing import Any

from msnb import log
from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, check
from msnb.core.array_like import ArrayLike, as_tensor, common_type
from msnb.core.errors import describe
from msnb.core.tensor import Tensor
from msnb.ops.math.decompositions import (
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
_NUMBERS = (mstype.int32, mstype.int64, mstype.float32, mstype.float64)
_MORE = {
    "eigh": (mstype.complex64, mstype.complex128),
    "solve_triangular": (mstype.float16, mstype.int8, mstype.int16, mstype.complex64, mstype.complex128),
}
_TRANSPOSED = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}


def _number(function, argument, value, *ranks):
    """A Tensor of numbers that a function takes, integers as float64, of one of `ranks` dimensions."""
    if not isinstance(value, Tensor):
        raise TypeError(f"For '{function}', '{argument}' should be a Tensor, but got {describe(value)}.")
    x, taken = value, (*_NUMBERS, *_MORE.get(function, ()))
    if x.dtype not in taken:
        wanted = ", ".join(map(str, taken))
        raise TypeError(f"For '{function}', '{argument}' should be a Tensor of {wanted}, but got {describe(x)}.")
    if x.ndim not in ranks:
        wanted = " or ".join(map(str, ranks))
        raise ValueError(f"For '{function}', '{argument}' should have {wanted} dimensions, but got shape {x.shape}.")
    if x._array.dtype.kind != "i":
        return x
    return x.astype(mstype.float32 if function == "solve_triangular" and x.itemsize < 8 else mstype.float64)


def _square(function, argument, value):
    x = _number(function, argument, value, 2)
    if x.shape[0] != x.shape[1]:
        raise ValueError(f"For '{function}', '{argument}' should be a square matrix, but got shape {x.shape}.")
    return x


def _unused(function, check_finite, **overwritten):
    for name, value in overwritten.items():
        check(Bool, value, name, function)
    log.unused(function, _NOT_OVERWRITTEN, **overwritten)
    finite = check(Bool, check_finite, "check_finite", function)
    log.unused(function, "values are never checked", check_finite=not finite)


def _transposition(function, trans):
    if not isinstance(trans, int | str) or isinstance(trans, bool):
        raise TypeError(f"For '{function}', 'trans' should be an int or a str, but got {describe(trans)}.")
    if trans not in _TRANSPOSED:
        raise ValueError(f"For '{function}', 'trans' should be 0, 1, 2, 'N', 'T' or 'C', but got {trans!r}.")
    return _TRANSPOSED[trans]


def block_diag(*arrs: ArrayLike) -> Tensor:
    """A matrix with others along its diagonal, and zeros elsewhere.

    Args:
        arrs (Union[Tensor, list, tuple, Number]): Matrices; a vector is a row.

    Returns:
        Tensor.

    Raises:
        ValueError: If one has more than 2 dimensions.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    blocks = [as_tensor(a, "block_diag", f"arrs[{i}]") for i, a in enumerate(arrs or ([[]],))]
    for block in blocks:
        if block.ndim > 2:
            raise ValueError(f"For 'block_diag', each should have at most 2 dimensions, but got shape {block.shape}.")
    return _BlockDiagonal.functional(common_type(*blocks) if len(blocks) > 1 else blocks)


def inv(a: Tensor, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """The inverse of a matrix.

    Args:
        a (Tensor): A square matrix.
        overwrite_a (bool): No effect. Default: False.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        Tensor of the shape of `a`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `a` is no square matrix.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _unused("inv", check_finite, overwrite_a=overwrite_a)
    return MatrixInverse.functional(_square("inv", "a", a))


def det(a: Tensor, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """The determinant of a matrix.

    Args:
        a (Tensor): A square matrix.
        overwrite_a (bool): No effect. Default: False.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        Tensor, a scalar.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `a` is no square matrix.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _unused("det", check_finite, overwrite_a=overwrite_a)
    return MatrixDeterminant.functional(_square("det", "a", a))


def cholesky(a: Tensor, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """A triangular factor of a positive definite matrix.

    Args:
        a (Tensor): The matrix.
        lower (bool): Whether the lower factor L with L L^T = a is meant, or the upper one. Default: False.
        overwrite_a (bool): No effect. Default: False.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        Tensor of the shape of `a`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `a` is no square matrix.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _unused("cholesky", check_finite, overwrite_a=overwrite_a)
    found = Cholesky.functional(_square("cholesky", "a", a))
    return found if check(Bool, lower, "lower", "cholesky") else found.T


def cho_factor(
    a: Tensor, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Tensor, bool]:
    """As `cholesky`, with the word which triangle it is, for `cho_solve`.

    Args:
        a (Tensor): The matrix.
        lower (bool): Whether the lower factor is meant. Default: False.
        overwrite_a (bool): No effect. Default: False.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        A tuple of the factor and `lower`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `a` is no square matrix.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return cholesky(a, lower, overwrite_a, check_finite), lower


def cho_solve(
    c_and_lower: tuple[Tensor, bool], b: Tensor, overwrite_b: bool = False, check_finite: bool = True
) -> Tensor:
    """What a matrix, of which `cho_factor` gave the factor, has to be multiplied with to give `b`.

    Args:
        c_and_lower (tuple): What `cho_factor` returned.
        b (Tensor): A vector, or a matrix of columns.
        overwrite_b (bool): No effect. Default: False.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        Tensor of the shape of `b`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes do not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _unused("cho_solve", check_finite, overwrite_b=overwrite_b)
    c, lower = c_and_lower
    c, b = common_type(_square("cho_solve", "c", c), _number("cho_solve", "b", b, 1, 2))
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
    """Eigenvalues of a symmetric or Hermitian matrix in rising order, and its eigenvectors as columns.

    Args:
        a (Tensor): The matrix.
        b (None): A generalised problem is not supported. Default: None.
        lower (bool): Whether the lower triangle is read, or the upper one. Default: True.
        eigvals_only (bool): Whether the vectors are left out. Default: False.
        overwrite_a (bool): No effect. Default: False.
        overwrite_b (bool): No effect. Default: False.
        turbo (bool): No effect: there is one algorithm. Default: True.
        eigvals (None): All of them are found. Default: None.
        type (int): 1, the type of a generalised problem. Default: 1.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        Tensor of the eigenvalues, or a tuple of them and the vectors.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `a` is no square matrix, or `b`, `eigvals` or another `type` is given.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _unused("eigh", check_finite, overwrite_a=overwrite_a, overwrite_b=overwrite_b)
    log.unused("eigh", "there is one algorithm", turbo=not check(Bool, turbo, "turbo", "eigh"))
    only_values = check(Bool, eigvals_only, "eigvals_only", "eigh")
    lower, a = check(Bool, lower, "lower", "eigh"), _square("eigh", "a", a)
    if b is not None or type != 1:
        raise ValueError("For 'eigh', 'b' should be None and 'type' 1: generalised problems are not supported.")
    if eigvals is not None:
        raise ValueError("For 'eigh', 'eigvals' should be None: all are found; take those you want.")
    return _Eigh.functional(a, lower, not only_values)


def lu_factor(a: Tensor, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Tensor, Tensor]:
    """The triangular factors of a matrix in one, and which row each row was exchanged with.

    Args:
        a (Tensor): A square matrix.
        overwrite_a (bool): No effect. Default: False.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        A tuple of two Tensors, the second of int32.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `a` is no square matrix.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _unused("lu_factor", check_finite, overwrite_a=overwrite_a)
    return _LuFactor.functional(_square("lu_factor", "a", a))


def lu_solve(
    lu_and_piv: tuple[Tensor, Tensor],
    b: Tensor,
    trans: int | str = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Tensor:
    """What a matrix, of which `lu_factor` gave the factors, has to be multiplied with to give `b`.

    Args:
        lu_and_piv (tuple[Tensor]): What `lu_factor` returned.
        b (Tensor): A vector, or a matrix of columns.
        trans (Union[int, str]): 1 or "T" transposes the matrix before, 2 or "C" conjugates it, too. Default: 0.
        overwrite_b (bool): No effect. Default: False.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        Tensor of the shape of `b`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes do not fit, or `trans` is none of these.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _unused("lu_solve", check_finite, overwrite_b=overwrite_b)
    found, pivots = lu_and_piv
    found, b = common_type(_square("lu_solve", "lu", found), _number("lu_solve", "b", b, 1, 2))
    return _LuSolveBy.functional(found, pivots, b, _transposition("lu_solve", trans))


def lu(a: Tensor, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Tensor, ...]:
    """A permutation, a lower and an upper triangular matrix, whose product is `a`.

    Args:
        a (Tensor): A matrix.
        permute_l (bool): Whether the first two are multiplied. Default: False.
        overwrite_a (bool): No effect. Default: False.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        A tuple of three Tensors, the first of int32; or of two.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `a` is no matrix.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _unused("lu", check_finite, overwrite_a=overwrite_a)
    p, lower, upper = _LuFactors.functional(_number("lu", "a", a, 2))
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
    """What a triangular matrix has to be multiplied with to give `b`.

    Args:
        a (Tensor): A square matrix, of which one triangle is read.
        b (Tensor): A vector, or a matrix of columns.
        trans (Union[int, str]): 1 or "T" transposes the matrix before, 2 or "C" conjugates it, too. Default: 0.
        lower (bool): Whether the lower triangle is meant. Default: False.
        unit_diagonal (bool): Whether the diagonal counts as ones. Default: False.
        overwrite_b (bool): No effect. Default: False.
        debug (None): No effect. Default: None.
        check_finite (bool): No effect: nothing is checked. Default: True.

    Returns:
        Tensor of the shape of `b`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes do not fit, or `trans` is none of these.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _unused("solve_triangular", check_finite, overwrite_b=overwrite_b)
    log.unused("solve_triangular", "there is nothing to tell", debug=debug is not None)
    name = "solve_triangular"
    a, b = common_type(_square(name, "a", a), _number(name, "b", b, 1, 2))
    return _SolveTriangular.functional(
        a,
        b,
        _transposition(name, trans),
        check(Bool, lower, "lower", name),
        check(Bool, unit_diagonal, "unit_diagonal", name),
    )


def lstsq(A: Tensor, B: Tensor, rcond: Any = None, driver: Any = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The shortest of the solutions x for which A x comes nearest to B.

    Args:
        A (Tensor): A matrix.
        B (Tensor): A vector, or a matrix of columns.
        rcond (None): Singular values count unless they are 0 within the accuracy of the element type. Default: None.
        driver (None): There is one algorithm. Default: None.

    Returns:
        A tuple of the solution, the residues, the rank of `A` (int64) and its singular values.

    Raises:
        NotImplementedError: If `rcond` or `driver` is given.
        TypeError: If an argument has the wrong type.
        ValueError: If the shapes do not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    if rcond is not None:
        raise NotImplementedError("For 'lstsq', 'rcond' should be None: singular values count unless they are 0.")
    if driver is not None:
        raise NotImplementedError("For 'lstsq', 'driver' should be None: there is one algorithm.")
    return _LeastSquares.functional(*common_type(_number("lstsq", "A", A, 2), _number("lstsq", "B", B, 1, 2)))
