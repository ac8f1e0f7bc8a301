"""Matrix decompositions: singular values, QR, LU, Householder reflections."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import Bool
from msnb.core.operator.cases import F, I, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import COMPLEX, FLOAT, dtype_in, same_dtype
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32

_ENTRIES = FLOAT | COMPLEX


def check_matrices(op, argument, x, allowed=_ENTRIES):
    """Raise an error unless `x` holds matrices of the `allowed` element types: real or complex numbers."""
    dtype_in(op, argument, x, allowed)
    if x.ndim < 2:
        raise ValueError(f"For '{op}', '{argument}' should have at least 2 dimensions, but got shape {x.shape}.")


@operator
@in_float32
def Svd(input, *, full_matrices: Bool = False, compute_uv: Bool = True):
    r"""Singular value decomposition of matrices, :math:`A = U \cdot diag(S) \cdot V^H`.

    Args:
        full_matrices (bool): Return square matrices `u` and `v`. Default: False.
        compute_uv (bool): Compute `u` and `v`. If False, each of them is a Tensor with a single zero. Default: True.

    Inputs:
        - **input** (Tensor) - Floating point or complex, of shape (*, M, N).

    Outputs:
        Tuple of three Tensors.

        - **s** - Singular values in descending order, of shape (*, min(M, N)).
        - **u** - Of shape (*, M, min(M, N)), or (*, M, M).
        - **v** - Of shape (*, N, min(M, N)), or (*, N, N).

    Raises:
        TypeError: If `input` is neither floating point nor complex.
        ValueError: If `input` has fewer than 2 dimensions.

    Examples:
        >>> s, u, v = ops.Svd()(Tensor([[3., 0.], [0., 2.]], mindspore.float32))
        >>> print(s)
        [3. 2.]
    """
    check_matrices("Svd", "input", input)
    if not compute_uv:
        nothing = jnp.zeros(1, input.dtype)
        return jnp.linalg.svd(input, compute_uv=False), nothing, nothing
    u, s, vh = jnp.linalg.svd(input, full_matrices=full_matrices)
    return s, u, jnp.conj(vh.swapaxes(-1, -2))


@spelling(Svd, function="svd", method="svd")
def svd(input: Tensor, full_matrices: bool = False, compute_uv: bool = True) -> Tensor | tuple[Tensor, Tensor, Tensor]:
    r"""Singular value decomposition of matrices, :math:`A = U \cdot diag(S) \cdot V^H`.

    Args:
        input (Tensor): Floating point or complex, of shape (*, M, N).
        full_matrices (bool): Return square matrices `u` and `v`. Default: False.
        compute_uv (bool): Compute `u` and `v`, too. Default: True.

    Returns:
        Tensor, the singular values. With `compute_uv`, a tuple of the singular values, `u` and `v`.

    Raises:
        TypeError: If `input` is neither floating point nor complex, or an argument is not a bool.
        ValueError: If `input` has fewer than 2 dimensions.
    """
    factors = Svd.functional(input, full_matrices, compute_uv)
    return factors if compute_uv else factors[0]


@operator
@in_float32
def Qr(x, *, full_matrices: Bool = False):
    """QR decomposition of matrices: the product of an orthogonal matrix and an upper triangular one.

    Args:
        full_matrices (bool): Return a square orthogonal matrix. Default: False.

    Inputs:
        - **x** (Tensor) - Floating point or complex, of shape (*, M, N).

    Outputs:
        Tuple of two Tensors: of shape (*, M, K) and (*, K, N), where K is min(M, N), or M with `full_matrices`.

    Raises:
        TypeError: If `x` is neither floating point nor complex.
        ValueError: If `x` has fewer than 2 dimensions.
    """
    check_matrices("Qr", "x", x)
    return tuple(jnp.linalg.qr(x, "complete" if full_matrices else "reduced"))


@spelling(Qr)
def qr(input: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """QR decomposition of matrices: the product of an orthogonal matrix and an upper triangular one.

    Args:
        input (Tensor): Floating point or complex, of shape (*, M, N).
        mode (str): "complete" for a square orthogonal matrix, "reduced" for one of shape (*, M, min(M, N)). Default:
            "reduced".

    Returns:
        Tuple of two Tensors.

    Raises:
        TypeError: If `input` is neither floating point nor complex, or `mode` is another string.
        ValueError: If `input` has fewer than 2 dimensions.
    """
    if mode not in ("reduced", "complete"):
        raise TypeError(f"For 'qr', 'mode' should be 'reduced' or 'complete', but got {mode!r}.")
    return Qr.functional(input, mode == "complete")


@spelling(Qr, method="qr")
def _tensor_qr(self: Tensor, some: bool = True) -> tuple[Tensor, Tensor]:
    """Return the QR decomposition: the reduced one if `some` is True, else the complete one. See `ops.qr`."""
    return Qr.functional(self, not some)


@operator(functional="geqrf", methods=("geqrf",), generation=2)
@in_float32
def Geqrf(input):
    """QR decomposition in LAPACK's form: R on and above the diagonal, the Householder reflections below it.

    Inputs:
        - **input** (Tensor) - Floating point or complex, of shape (*, M, N).

    Outputs:
        Tuple of two Tensors: R and the reflections, of the shape of `input`, and the scales of the reflections, of
        shape (*, min(M, N)).

    Raises:
        TypeError: If `input` is neither floating point nor complex.
        ValueError: If `input` has fewer than 2 dimensions.
    """
    check_matrices("Geqrf", "input", input)
    h, tau = jnp.linalg.qr(input, "raw")
    return h.swapaxes(-1, -2), tau


def _apply_reflections(x, tau, other, adjoint=False):
    """Return Q @ other, where Q is the product of the reflections below the diagonal of `x`. It is differentiable,
    unlike JAX's function.
    """
    count = tau.shape[-1]
    row, column = jnp.arange(x.shape[-2])[:, None], jnp.arange(count)
    vectors = jnp.where(row > column, x[..., :count], (row == column).astype(x.dtype))

    def reflect(other, step):
        vector, scale = step
        along = jnp.einsum("...i,...ij->...j", jnp.conj(vector), other)
        return other - scale[..., None, None] * vector[..., :, None] * along[..., None, :], None

    steps = jnp.moveaxis(vectors, -1, 0), jnp.moveaxis(jnp.conj(tau) if adjoint else tau, -1, 0)
    return jax.lax.scan(reflect, other, steps, reverse=not adjoint)[0]


@operator
@shapes("x: *s _ _, tau: *s _")
@in_float32
def Orgqr(x, tau):
    """Return the first columns of the product of Householder reflections.

    Inputs:
        - **x** (Tensor) - The reflections below the diagonal, of shape (*, M, N) with N <= M.
        - **tau** (Tensor) - The scales of the reflections, of shape (*, K) with K <= N.

    Outputs:
        Tensor of the shape of `x`.

    Raises:
        TypeError: If the inputs are not floating point or complex, or differ in their type.
        ValueError: If the shapes do not fit.
    """
    dtype_in("Orgqr", "x", x, _ENTRIES)
    same_dtype("Orgqr", x=x, tau=tau)
    if not x.shape[-2] >= x.shape[-1] >= tau.shape[-1]:
        raise ValueError(
            f"For 'Orgqr', 'x' should have no more columns than rows and 'tau' no more elements than these, but got "
            f"shapes {x.shape} and {tau.shape}."
        )
    return _apply_reflections(x, tau, jnp.broadcast_to(jnp.eye(*x.shape[-2:], dtype=x.dtype), x.shape))


@spelling(Orgqr, function="orgqr", method="orgqr")
def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """Return the first columns of the product of Householder reflections.

    Args:
        input (Tensor): The reflections below the diagonal, of shape (*, M, N) with N <= M.
        input2 (Tensor): The scales of the reflections, of shape (*, K) with K <= N.

    Returns:
        Tensor of the shape of `input`.
    """
    return Orgqr.functional(input, input2)


@operator
@shapes("x: *s _ _, tau: *s _, other: *s _ _")
@in_float32
def Ormqr(x, tau, other, *, left: Bool = True, transpose: Bool = False):
    """Multiply matrices by Q, the product of Householder reflections, a square matrix.

    Args:
        left (bool): True for Q @ other, False for other @ Q. Default: True.
        transpose (bool): Use the conjugate transpose of Q. Default: False.

    Inputs:
        - **x** (Tensor) - The reflections below the diagonal, of shape (*, MN, K).
        - **tau** (Tensor) - The scales of the reflections, of shape (*, min(MN, K)).
        - **other** (Tensor) - Of shape (*, M, N). MN stands for M if `left` is True, else for N.

    Outputs:
        Tensor of the shape of `other`.

    Raises:
        TypeError: If the inputs are not floating point or complex, or differ in their type.
        ValueError: If the shapes do not fit.
    """
    dtype_in("Ormqr", "x", x, _ENTRIES)
    same_dtype("Ormqr", x=x, tau=tau, other=other)
    length = x.shape[-2]
    if other.shape[-2 if left else -1] != length:
        raise ValueError(f"For 'Ormqr', 'other' of shape {other.shape} does not fit 'x' of shape {x.shape}.")
    if tau.shape[-1] > min(x.shape[-2:]):
        raise ValueError(f"For 'Ormqr', 'tau' of shape {tau.shape} does not fit 'x' of shape {x.shape}.")
    if left:
        return _apply_reflections(x, tau, other, transpose)
    # B Q is computed as the conjugate transpose of Q* B*, because `_apply_reflections` multiplies from the left.
    return jnp.conj(_apply_reflections(x, tau, jnp.conj(other.swapaxes(-1, -2)), not transpose).swapaxes(-1, -2))


@spelling(Ormqr)
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """Multiply matrices by Q, the product of Householder reflections, a square matrix.

    Args:
        input (Tensor): The reflections below the diagonal, of shape (*, MN, K).
        tau (Tensor): The scales of the reflections, of shape (*, min(MN, K)).
        other (Tensor): Of shape (*, M, N). MN stands for M if `left` is True, else for N.
        left (bool): True for Q @ other, False for other @ Q. Default: True.
        transpose (bool): Use the conjugate transpose of Q. Default: False.

    Returns:
        Tensor of the shape of `other`.
    """
    return Ormqr.functional(input, tau, other, left, transpose)


@spelling(Ormqr, method="ormqr")
def _tensor_ormqr(self: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """Multiply matrices by the product of Householder reflections; see `ops.ormqr`."""
    return Ormqr.functional(self, input2, input3, left, transpose)


def _skip_derivative_tests(row):
    why = "JAX has no derivative of it"
    return row.without("gradient", why).without("differences", why).without("half", why)


_TALL = Values([[1.0, 4.0], [2.0, 5.0], [3.0, 7.0]])
_REFLECTIONS = Values([[-3.7416575, -9.354144], [0.4217955, 1.5811388], [0.6326932, 0.6545]])
_SCALES = Values([1.2672612, 1.4002801])
CASES = [
    case(Svd, F(2, 3)).results(0),
    _skip_derivative_tests(case(Svd, F(3, 2), full_matrices=True).results(0)),
    case(Svd, F(2, 3, 3), compute_uv=False).without("gradient", "MindSpore has none without vectors"),
    case(svd, F(3, 2), compute_uv=False).without("gradient", "MindSpore has none without vectors"),
    case(Qr, _TALL),
    _skip_derivative_tests(case(Qr, _TALL, full_matrices=True)),
    case(qr, F(3, 3)),
    _skip_derivative_tests(case(Geqrf, _TALL)),
    case(Orgqr, _REFLECTIONS, _SCALES).without("gradient", "MindSpore has none"),
    case(orgqr, _REFLECTIONS, _SCALES).without("gradient", "MindSpore has none"),
    case(Ormqr, _REFLECTIONS, _SCALES, F(3, 2)).without("gradient", "MindSpore has none"),
    case(Ormqr, _REFLECTIONS, _SCALES, F(2, 3), left=False, transpose=True).without("gradient", "MindSpore has none"),
    case(ormqr, _REFLECTIONS, _SCALES, F(3, 2), transpose=True).without("gradient", "MindSpore has none"),
    refused(ValueError, Svd, F(3)),
    refused(TypeError, Svd, I(3, 3)),
    refused(TypeError, qr, F(3, 3), "r"),
    refused(ValueError, Ormqr, _REFLECTIONS, _SCALES, F(2, 3)),
]
