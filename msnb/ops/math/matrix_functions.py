"""Powers, exponentials, logarithms and pseudo-inverses of matrices, and systems of linear equations."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import Bool, Int, NonNegInt, Number, Optional, check
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import COMPLEX, FLOAT, INT, dtype_in, same_dtype
from msnb.ops._numpy import ArrayLike, as_tensor
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.array.broadcast import BroadcastTo
from msnb.ops.array.eye import Eye
from msnb.ops.math.decompositions import check_matrices
from msnb.ops.math.matmul import _numpy_matmul


def _check_square(op, argument, x, allowed=FLOAT | COMPLEX):
    check_matrices(op, argument, x, allowed)
    if x.shape[-1] != x.shape[-2]:
        raise ValueError(f"For '{op}', '{argument}' should have shape (*, N, N), but got {x.shape}.")


def _check_linear_system(op, matrix, rhs):
    check_matrices(op, "rhs", rhs)
    same_dtype(op, matrix=matrix, rhs=rhs)
    if rhs.shape[-2] != matrix.shape[-2]:
        raise ValueError(
            f"For '{op}', 'rhs' should have one row for each of 'matrix', but got {rhs.shape} and {matrix.shape}."
        )


@operator(functional="matrix_exp", generation=2)
@in_float32
def MatrixExp(input):
    r"""The exponential of square matrices, :math:`\sum_k A^k / k!`.

    Inputs:
        - **input** (Tensor) - Floating point or complex, of shape (*, N, N).

    Outputs:
        Tensor of the shape and element type of `input`.

    Raises:
        TypeError: If `input` is neither floating point nor complex.
        ValueError: If the last two dimensions differ.

    Examples:
        >>> print(ops.matrix_exp(Tensor([[0., 1.], [0., 0.]], mindspore.float32)))
        [[1. 1.]
         [0. 1.]]
    """
    _check_square("MatrixExp", "input", input)
    return jax.scipy.linalg.expm(input)


@operator
@in_float32
def MatrixPower(x, *, n: Int):
    """Raise square matrices to the power `n`, by matrix products. A negative power is a power of the inverse.

    Args:
        n (int): The exponent.

    Inputs:
        - **x** (Tensor) - Numbers, of shape (*, N, N).

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` does not consist of numbers, or `n` is not an int.
        ValueError: If the last two dimensions differ, or `n` is negative and `x` is of integers.
    """
    _check_square("MatrixPower", "x", x, INT | FLOAT | COMPLEX)
    if x.dtype in INT and n < 0:
        raise ValueError(f"For 'MatrixPower', 'n' should not be negative for integers, but got {n}.")
    return jnp.linalg.matrix_power(x, n)


@spelling(MatrixPower, function="matrix_power", method="matrix_power")
def matrix_power(input: Tensor, n: int) -> Tensor:
    """Raise square matrices to the power `n`, by matrix products. A negative power is a power of the inverse.

    Args:
        input (Tensor): Numbers, of shape (*, N, N).
        n (int): The exponent, not negative for integers.

    Returns:
        Tensor of the shape and element type of `input`.
    """
    return MatrixPower.functional(input, n)


@spelling(numpy="matrix_power")
def _numpy_matrix_power(a: ArrayLike, n: NonNegInt) -> Tensor:
    """Raise square matrices to the power `n`, by matrix products.

    Args:
        a (Union[Tensor, list, tuple]): Numbers, of shape (*, N, N).
        n (int): The exponent, not negative.

    Returns:
        Tensor of the shape and element type of `a`.

    Raises:
        TypeError: If `a` has another type, or `n` is not an int.
        ValueError: If the last two dimensions differ, or `n` is negative.

    Examples:
        >>> print(mindspore.numpy.matrix_power([[1, 1], [0, 1]], 5))
        [[1 5]
         [0 1]]
    """
    x, n = as_tensor(a, "matrix_power", "a"), check(NonNegInt, n, "n", "matrix_power")
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"For 'matrix_power', 'a' should have shape (*, N, N), but got {x.shape}.")
    power = None
    for bit in reversed(f"{n:b}"):  # exponentiation by squaring
        if bit == "1":
            power = x if power is None else _numpy_matmul(power, x)
            n -= n & -n
        if n:
            x = _numpy_matmul(x, x)
    if power is None:
        size = x.shape[-1]
        return BroadcastTo.functional(Eye.functional(size, size, x.dtype), x.shape)
    return power


@operator
def MatrixLogarithm(x):
    """Compute the logarithm of square matrices, the inverse of the matrix exponential.

    Inputs:
        - **x** (Tensor) - complex64 or complex128, of shape (*, N, N).

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not complex.
        ValueError: If the last two dimensions differ.

    Supported Platforms:
        ``CPU``
    """
    dtype_in("MatrixLogarithm", "x", x, COMPLEX)
    _check_square("MatrixLogarithm", "x", x)
    logarithm = jnp.vectorize(lambda a: jax.scipy.linalg.funm(a, jnp.log), signature="(n,n)->(n,n)")
    return logarithm(x)


@operator
@in_float32
def LogMatrixDeterminant(input):
    """Return the sign of determinants, and the logarithm of their magnitude.

    Inputs:
        - **input** (Tensor) - Floating point or complex, of shape (*, N, N).

    Outputs:
        Tuple of two Tensors, of shape (*): the signs, and the logarithms.

    Raises:
        TypeError: If `input` is neither floating point nor complex.
        ValueError: If the last two dimensions differ.
    """
    _check_square("LogMatrixDeterminant", "input", input)
    return tuple(jnp.linalg.slogdet(input))


@spelling(
    LogMatrixDeterminant,
    function=("slogdet", "log_matrix_determinant"),
    method=("slogdet", "log_matrix_determinant"),
)
def slogdet(input: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sign of determinants, and the logarithm of their magnitude.

    Args:
        input (Tensor): Floating point or complex, of shape (*, N, N).

    Returns:
        Tuple of two Tensors, of shape (*): the signs, and the logarithms.
    """
    return LogMatrixDeterminant.functional(input)


@operator(functional="matrix_solve", generation=2)
@in_float32
def MatrixSolve(matrix, rhs, *, adjoint: Bool = False):
    """Solve systems of linear equations with square matrices.

    Args:
        adjoint (bool): Use the conjugate transpose of `matrix`. Default: False.

    Inputs:
        - **matrix** (Tensor) - Floating point or complex, of shape (*, M, M).
        - **rhs** (Tensor) - Of the same element type, of shape (*, M, K).

    Outputs:
        Tensor of the shape of `rhs`.

    Raises:
        TypeError: If the inputs are neither floating point nor complex, or their element types differ.
        ValueError: If the shapes do not fit.
    """
    _check_square("MatrixSolve", "matrix", matrix)
    _check_linear_system("MatrixSolve", matrix, rhs)
    return jnp.linalg.solve(jnp.conj(matrix.swapaxes(-1, -2)) if adjoint else matrix, rhs)


@operator
@in_float32
def MatrixTriangularSolve(matrix, rhs, *, lower: Bool = True, adjoint: Bool = False):
    """Solve systems of linear equations with triangular matrices. The other triangle is not read.

    Args:
        lower (bool): True to use the lower triangle of `matrix`, False to use the upper one. Default: True.
        adjoint (bool): Use the conjugate transpose of the triangle. Default: False.

    Inputs:
        - **matrix** (Tensor) - Floating point or complex, of shape (*, M, M).
        - **rhs** (Tensor) - Of the same element type, of shape (*, M, N).

    Outputs:
        Tensor of the shape of `rhs`.

    Raises:
        TypeError: If the inputs are neither floating point nor complex, or their element types differ.
        ValueError: If the shapes do not fit.
    """
    _check_square("MatrixTriangularSolve", "matrix", matrix)
    _check_linear_system("MatrixTriangularSolve", matrix, rhs)
    return jax.scipy.linalg.solve_triangular(matrix, rhs, trans="C" if adjoint else "N", lower=lower)


@spelling(MatrixTriangularSolve, method="triangular_solve")
def _tensor_triangular_solve(
    self: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """Solve A x = b for x, where `A` is triangular and b is this Tensor; return x and `A`."""
    if unitriangular:
        raise NotImplementedError(
            "For 'triangular_solve', a diagonal that counts as 1 is not supported; set it to 1 first."
        )
    return MatrixTriangularSolve.functional(A, self, not upper, transpose), A


@operator
@shapes("l2_regularizer: ()")
@in_float32
def MatrixSolveLs(matrix, rhs, l2_regularizer, *, fast: Bool = True):
    """Solve systems of linear equations by least squares.

    Args:
        fast (bool): True to solve the normal equations with `l2_regularizer`. False to use the singular value
            decomposition: the result is the solution of minimum norm, and `l2_regularizer` has no effect. Default:
            True.

    Inputs:
        - **matrix** (Tensor) - Floating point or complex, of shape (*, M, N).
        - **rhs** (Tensor) - Of the same element type, of shape (*, M, K).
        - **l2_regularizer** (Tensor) - Weight of the squared norm of the solution, a scalar of float64.

    Outputs:
        Tensor of shape (*, N, K).

    Raises:
        TypeError: If the inputs are neither floating point nor complex, or their element types differ.
        ValueError: If the shapes do not fit.
    """
    check_matrices("MatrixSolveLs", "matrix", matrix)
    _check_linear_system("MatrixSolveLs", matrix, rhs)
    if not fast:
        return jnp.linalg.pinv(matrix) @ rhs
    adjoint = jnp.conj(matrix.swapaxes(-1, -2))
    weight = l2_regularizer.astype(jnp.finfo(matrix.dtype).dtype)
    if matrix.shape[-2] < matrix.shape[-1]:
        ridge = weight * jnp.eye(matrix.shape[-2], dtype=matrix.dtype)
        return adjoint @ jnp.linalg.solve(matrix @ adjoint + ridge, rhs)
    ridge = weight * jnp.eye(matrix.shape[-1], dtype=matrix.dtype)
    return jnp.linalg.solve(adjoint @ matrix + ridge, adjoint @ rhs)


@operator
@in_float32
def TridiagonalMatMul(superdiag, maindiag, subdiag, rhs):
    """Multiply tridiagonal matrices by other matrices.

    Inputs:
        - **superdiag** (Tensor) - The diagonal above the main one, of shape (*, 1, M); its last element is not read.
        - **maindiag** (Tensor) - The main diagonal, of shape (*, 1, M).
        - **subdiag** (Tensor) - The diagonal below, of shape (*, 1, M); its first element is not read.
        - **rhs** (Tensor) - Of shape (*, M, N).

    Outputs:
        Tensor of the shape and element type of `rhs`.

    Raises:
        TypeError: If the inputs are not floating point or complex, or differ in their type.
        ValueError: If the shapes do not fit.
    """
    op = "TridiagonalMatMul"
    diagonals = {"superdiag": superdiag, "maindiag": maindiag, "subdiag": subdiag}
    for name, x in (*diagonals.items(), ("rhs", rhs)):
        check_matrices(op, name, x)
    same_dtype(op, **diagonals, rhs=rhs)
    for name, x in diagonals.items():
        if x.shape != (*rhs.shape[:-2], 1, rhs.shape[-2]):
            raise ValueError(f"For '{op}', '{name}' of shape {x.shape} does not fit 'rhs' of shape {rhs.shape}.")
    above, main, below = (x.swapaxes(-1, -2) for x in diagonals.values())
    nothing = jnp.zeros_like(rhs[..., :1, :])
    after = jnp.concatenate([rhs[..., 1:, :], nothing], -2)
    before = jnp.concatenate([nothing, rhs[..., :-1, :]], -2)
    last = jnp.arange(rhs.shape[-2])[:, None] == rhs.shape[-2] - 1
    return jnp.where(last, 0, above) * after + main * rhs + below * before


@operator(functional="pinv", generation=2)
@in_float32
def _PseudoInverse(x, *, atol: Optional(Number) = None, rtol: Optional(Number) = None, hermitian: Bool = False):
    """Compute the pseudo-inverses of matrices from their singular values.

    Args:
        atol (float): Singular values up to `atol` are treated as 0. Default: None, 0.
        rtol (float): Singular values up to `rtol` times the largest one are treated as 0. Default: None, 0 if `atol` is
            given, else the machine epsilon times the longer side of the matrices.
        hermitian (bool): True if each matrix is equal to its conjugate transpose. Only its lower triangle is then read.
            Default: False.

    Inputs:
        - **x** (Tensor) - Floating point or complex, of shape (*, M, N).

    Outputs:
        Tensor of shape (*, N, M).

    Raises:
        TypeError: If `x` is neither floating point nor complex.
        ValueError: If `x` has fewer than 2 dimensions.
    """
    check_matrices("pinv", "x", x)
    if hermitian:  # replace the upper triangle by the conjugate transpose of the lower one
        _check_square("pinv", "x", x)
        lower = jnp.tril(x, -1)
        x = jnp.tril(x) + jnp.conj(lower.swapaxes(-1, -2))
    if rtol is None and atol is None:
        return _pseudo_inverse(x)
    return _truncated_pseudo_inverse(x, 0.0 if atol is None else atol, 0.0 if rtol is None else rtol)


@jax.custom_jvp
def _pseudo_inverse(x):
    return _truncated_pseudo_inverse(x, 0.0, jnp.finfo(x.dtype).eps * max(x.shape[-2:]))


@_pseudo_inverse.defjvp
def _pseudo_inverse_jvp(primals, tangents):
    # This is Golub and Pereyra's formula. It also holds for equal singular values, where the derivatives of the
    # singular vectors do not exist. It requires that the singular values treated as 0 are 0 up to rounding.
    (x,), (change,) = primals, tangents
    p = _pseudo_inverse(x)
    turned, adjoint = jnp.conj(change.swapaxes(-1, -2)), jnp.conj(p.swapaxes(-1, -2))
    left = jnp.eye(x.shape[-2], dtype=x.dtype) - x @ p
    right = jnp.eye(x.shape[-1], dtype=x.dtype) - p @ x
    return p, -p @ change @ p + p @ adjoint @ turned @ left + right @ turned @ adjoint @ p


def _truncated_pseudo_inverse(x, atol, rtol):
    """Return the pseudo-inverse. Singular values up to max(atol, rtol * largest) are treated as 0."""
    u, s, vh = jnp.linalg.svd(x, full_matrices=False)
    counts = s > jnp.maximum(atol, rtol * s[..., :1])
    inverse = jnp.where(counts, 1 / jnp.where(counts, s, 1), 0)
    return jnp.conj((u * inverse[..., None, :]) @ vh).swapaxes(-1, -2)


_SYSTEM = Values([[2.0, 1.0], [1.0, 3.0]])
_LOWER = Values([[2.0, 0.0], [1.0, 3.0]])
_NONE = Values(0.0, "float64")
CASES = [
    case(MatrixExp, F(3, 3)),
    case(MatrixPower, F(2, 3, 3), n=3),
    case(MatrixPower, _SYSTEM, n=-2),
    case(matrix_power, F(3, 3), 0).without("gradient", "MindSpore has none of the identity"),
    case(MatrixLogarithm, Values([[2.0, 1.0], [1.0, 3.0]], "complex64")).within(1e-4),
    case(LogMatrixDeterminant, F(2, 3, 3)),
    case(slogdet, _SYSTEM),
    case(MatrixSolve, _SYSTEM, F(2, 2)).without("gradient", "MindSpore's kernel does not give it on the CPU"),
    case(MatrixSolve, F(3, 3), F(3, 1), adjoint=True).without("gradient", "MindSpore's does not run on the CPU"),
    case(MatrixTriangularSolve, _LOWER, F(2, 2)),
    case(MatrixTriangularSolve, _SYSTEM, F(2, 2), lower=False, adjoint=True),
    case(MatrixSolveLs, F(3, 2), F(3, 1), _NONE).wrt(0, 1).within(1e-4),
    case(MatrixSolveLs, F(2, 3), F(2, 1), Values(0.5, "float64")).wrt(0, 1).within(1e-4),
    case(MatrixSolveLs, F(3, 2), F(3, 1), _NONE, fast=False).wrt(0, 1).within(1e-4),
    case(TridiagonalMatMul, F(1, 3), F(1, 3), F(1, 3), F(3, 2)),
    case(_PseudoInverse, F(2, 3)).within(1e-4),
    case(_PseudoInverse, F(3, 2), atol=1.5).within(1e-4),
    case(_PseudoInverse, _SYSTEM, rtol=0.5, hermitian=True).within(1e-4),
    refused(ValueError, MatrixExp, F(2, 3)),
    refused(ValueError, MatrixSolve, F(3, 3), F(2, 3)),
    refused(TypeError, MatrixLogarithm, F(3, 3)),
]
