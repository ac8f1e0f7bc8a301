"""Products of matrices and of batches of matrices."""

from typing import Any

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool
from msnb.core.operator.api_generations import replaces_in_api2
from msnb.core.operator.cases import F, I, case, refused
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.operator.primitive import Primitive
from msnb.core.tensor.operands import other_operand
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import NUMBER, dtype_in, same_dtype, tensor_argument, tensor_only
from msnb.ops._in_place import take_over
from msnb.ops._numpy import ArrayLike, as_tensors, common_type, in_type

_FACTORS = NUMBER


def _multiply_matrices(op, x1, x2, transpose_a, transpose_b):
    dtype_in(op, "x1", x1, _FACTORS)
    dtype_in(op, "x2", x2, _FACTORS)
    same_dtype(op, x1=x1, x2=x2)
    inner = x1.shape[-2 if transpose_a else -1], x2.shape[-1 if transpose_b else -2]
    if inner[0] != inner[1]:
        raise ValueError(
            f"For '{op}', the inner dimensions should agree, but got {inner[0]} and {inner[1]} from "
            f"shapes {x1.shape} (transpose_a={transpose_a}) and {x2.shape} (transpose_b={transpose_b})."
        )
    a = jnp.swapaxes(x1, -1, -2) if transpose_a else x1
    b = jnp.swapaxes(x2, -1, -2) if transpose_b else x2
    if x1.dtype == jnp.int8:
        return jnp.matmul(a, b, preferred_element_type=jnp.int32)
    return jnp.matmul(a, b)


@operator
def MatMul(x1, x2, *, transpose_a: Bool = False, transpose_b: Bool = False):
    """Product of two matrices.

    Args:
        transpose_a (bool): Transpose `x1` before the product. Default: False.
        transpose_b (bool): Transpose `x2` before the product. Default: False.

    Inputs:
        - **x1** (Tensor) - Of shape (N, C), or (C, N) if `transpose_a`.
        - **x2** (Tensor) - Of shape (C, M), or (M, C) if `transpose_b`, and the element type of `x1`.

    Outputs:
        Tensor of shape (N, M) and the element type of the inputs; int32 for int8.

    Raises:
        TypeError: If an argument is not a bool, or the element types differ or are not supported.
        ValueError: If an input is not a matrix or the inner dimensions differ.

    Examples:
        >>> x = Tensor(np.ones((1, 3)), mindspore.float32)
        >>> y = Tensor(np.ones((3, 4)), mindspore.float32)
        >>> print(ops.MatMul()(x, y))
        [[3. 3. 3. 3.]]
    """
    tensor_only("MatMul", "x1", x1)
    tensor_only("MatMul", "x2", x2)
    if x1.ndim != 2 or x2.ndim != 2:
        raise ValueError(
            f"For 'MatMul', both inputs should have 2 dimensions, but got shapes {x1.shape} and "
            f"{x2.shape}; use BatchMatMul or ops.matmul for more."
        )
    return _multiply_matrices("MatMul", x1, x2, transpose_a, transpose_b)


@operator
def BatchMatMul(x1, x2, *, transpose_a: Bool = False, transpose_b: Bool = False):
    """Products of two batches of matrices.

    Args:
        transpose_a (bool): Transpose the matrices of the first input before the product. Default: False.
        transpose_b (bool): Transpose the matrices of the second input before the product. Default: False.

    Inputs:
        - **x1** (Tensor) - Of shape (*B, N, C), or (*B, C, N) if `transpose_a`.
        - **x2** (Tensor) - Of shape (*B, C, M), or (*B, M, C) if `transpose_b`, and the element type of `x1`.

    Outputs:
        Tensor of shape (*B, N, M) and the element type of the inputs; int32 for int8.

    Raises:
        TypeError: If an argument is not a bool, or the element types differ or are not supported.
        ValueError: If an input has fewer than 3 dimensions, or the shapes do not fit.

    Examples:
        >>> x = Tensor(np.ones((2, 1, 3)), mindspore.float32)
        >>> y = Tensor(np.ones((2, 3, 2)), mindspore.float32)
        >>> print(ops.BatchMatMul()(x, y))
        [[[3. 3.]]
        <BLANKLINE>
         [[3. 3.]]]
    """
    tensor_only("BatchMatMul", "x1", x1)
    tensor_only("BatchMatMul", "x2", x2)
    if x1.ndim != x2.ndim or x1.ndim < 3:
        raise ValueError(
            f"For 'BatchMatMul', the inputs should have the same number of dimensions, at least 3, but "
            f"got shapes {x1.shape} and {x2.shape}; use MatMul or ops.matmul for matrices."
        )
    for b1, b2 in zip(x1.shape[:-2], x2.shape[:-2], strict=True):
        if b1 != b2 and 1 not in (b1, b2):
            raise ValueError(
                f"For 'BatchMatMul', the batch dimensions should agree, but got shapes {x1.shape} and {x2.shape}."
            )
    return _multiply_matrices("BatchMatMul", x1, x2, transpose_a, transpose_b)


@replaces_in_api2(BatchMatMul, "it takes matrices, too")
class _BatchMatMul(Primitive):
    """Products of two batches of matrices, or of two matrices; see `BatchMatMul`."""

    def __init__(self, transpose_a: Any = False, transpose_b: Any = False) -> None:
        super().__init__("BatchMatMul")
        self._batches, self._matrices = BatchMatMul(transpose_a, transpose_b), MatMul(transpose_a, transpose_b)

    def __call__(self, x: Tensor, y: Tensor) -> Tensor:
        tensor_argument("BatchMatMul", "x", x)
        tensor_argument("BatchMatMul", "y", y)
        return (self._matrices if x.ndim == y.ndim == 2 else self._batches)(x, y)


@operator
def _MatMulBroadcast(x1, x2):
    """Matrix product as in `numpy.matmul`: a vector is a row or column, and batch dimensions broadcast.

    Inputs:
        - **x1** (Tensor) - Of at least 1 dimension.
        - **x2** (Tensor) - Of at least 1 dimension and the element type of `x1`.

    Outputs:
        Tensor of the element type of the inputs.

    Raises:
        TypeError: If the element types differ or are not supported.
        ValueError: If an input is a scalar or the shapes do not fit.

    Examples:
        >>> print(ops.matmul(Tensor(np.ones((2, 3)), mindspore.float32), Tensor(np.ones(3), mindspore.float32)))
        [3. 3.]
    """
    dtype_in("MatMul", "x1", x1, _FACTORS)
    dtype_in("MatMul", "x2", x2, _FACTORS)
    same_dtype("MatMul", x1=x1, x2=x2)
    if not x1.ndim or not x2.ndim:
        raise ValueError(f"For 'MatMul', the inputs should not be scalars, but got shapes {x1.shape} and {x2.shape}.")
    try:
        return jnp.matmul(x1, x2)
    except (TypeError, ValueError):
        raise ValueError(f"For 'MatMul', the shapes do not fit: {x1.shape} and {x2.shape}.") from None


_mat_mul, _batch_mat_mul, _broadcast_mat_mul = MatMul(), BatchMatMul(), _MatMulBroadcast()


@spelling(MatMul, BatchMatMul, _MatMulBroadcast, function="matmul")
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Matrix product in which vectors are rows or columns and batch dimensions broadcast.

    Args:
        input (Tensor): Of at least 1 dimension.
        other (Tensor): Of at least 1 dimension and the element type of `input`.

    Returns:
        Tensor.

    Raises:
        TypeError: If the element types differ or are not supported.
        ValueError: If the shapes do not fit.

    Examples:
        >>> x = Tensor(np.ones((2, 3)), mindspore.float32)
        >>> print(ops.matmul(x, Tensor(np.ones((3, 1)), mindspore.float32)))
        [[3.]
         [3.]]
    """
    for name, value in (("input", input), ("other", other)):
        tensor_argument("matmul", name, value)
    if input.ndim == 2 and other.ndim == 2:
        return _mat_mul(input, other)
    if input.ndim == other.ndim > 2 and input.shape[:-2] == other.shape[:-2]:
        return _batch_mat_mul(input, other)
    return _broadcast_mat_mul(input, other)


spelling(MatMul, BatchMatMul, _MatMulBroadcast, method="matmul")(keyword_aliases(tensor2="other")(matmul))


@spelling(MatMul, method="__matmul__")
def _tensor_matmul(self: Tensor, other: object) -> Tensor:
    """Return self @ other."""
    other = other_operand(other)
    return other if other is NotImplemented else matmul(self, other)


@spelling(MatMul, BatchMatMul, _MatMulBroadcast, numpy="matmul")
def _numpy_matmul(x1: ArrayLike, x2: ArrayLike, dtype: Any = None) -> Tensor:
    """Matrix product in which vectors are rows or columns and batch dimensions broadcast.

    Args:
        x1 (Union[Tensor, list, tuple]): Numbers, of at least 1 dimension.
        x2 (Union[Tensor, list, tuple]): Numbers, of at least 1 dimension.
        dtype (mindspore.dtype): Element type of the result. Default: None, the common type of the inputs.

    Returns:
        Tensor.

    Raises:
        TypeError: If `x1` or `x2` has another type.
        ValueError: If one of them is a scalar, or the shapes do not fit.
    """
    x1, x2 = common_type(*as_tensors("matmul", x1=x1, x2=x2))
    if x1._array.dtype.kind in "bu" or x1.dtype == mstype.int8:  # unsupported, or int32 for int8
        wide = matmul(x1.astype(mstype.int64), x2.astype(mstype.int64))
        return in_type(wide, x1.dtype if dtype is None else dtype, "matmul")
    return in_type(matmul(x1, x2), dtype, "matmul")


@spelling(MatMul, method="__rmatmul__")
def _reflected_matmul(self: Tensor, other: object) -> Tensor:
    """Return other @ self."""
    other = other_operand(other)
    return other if other is NotImplemented else matmul(other, self)


@spelling(MatMul, function="mm", method="mm")
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Product of two matrices.

    Args:
        input (Tensor): Of shape (N, C).
        mat2 (Tensor): Of shape (C, M).

    Returns:
        Tensor of shape (N, M).
    """
    return _mat_mul(input, mat2)


@spelling(BatchMatMul, function="bmm", method="bmm")
def bmm(input_x: Tensor, mat2: Tensor) -> Tensor:
    """Products of two batches of matrices.

    Args:
        input_x (Tensor): Of shape (B, N, C), or a matrix.
        mat2 (Tensor): Of shape (B, C, M), or a matrix.

    Returns:
        Tensor of shape (B, N, M), or a matrix.
    """
    return (_mat_mul if input_x.ndim == mat2.ndim == 2 else _batch_mat_mul)(input_x, mat2)


@spelling(MatMul, function="addmm", method="addmm")
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return beta * input + alpha * (mat1 @ mat2).

    Args:
        input (Tensor): The addend; it broadcasts to the shape of the product.
        mat1 (Tensor): A matrix.
        mat2 (Tensor): A matrix.
        beta (Number): Factor of `input`. Default: 1.
        alpha (Number): Factor of the product. Default: 1.

    Returns:
        Tensor.
    """
    return input * beta + _mat_mul(mat1, mat2) * alpha


@spelling(BatchMatMul, function="baddbmm", method="baddbmm")
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return beta * input + alpha * (batch1 @ batch2), for batches of matrices.

    Args:
        input (Tensor): The addend; it broadcasts to the shape of the products.
        batch1 (Tensor): Matrices.
        batch2 (Tensor): Matrices.
        beta (Number): Factor of `input`. Default: 1.
        alpha (Number): Factor of the products. Default: 1.

    Returns:
        Tensor.
    """
    return input * beta + bmm(batch1, batch2) * alpha


@spelling(MatMul)
def mv(mat: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix and a vector.

    Args:
        mat (Tensor): Of shape (N, M).
        vec (Tensor): Of shape (M,).

    Returns:
        Tensor of shape (N,).

    Raises:
        ValueError: If the shapes do not fit.
    """
    for name, x, ndim in (("mat", mat, 2), ("vec", vec, 1)):
        if tensor_argument("mv", name, x).ndim != ndim:
            raise ValueError(f"For 'mv', '{name}' should have {ndim} dimensions, but got shape {x.shape}.")
    return matmul(mat, vec)


spelling(BatchMatMul, function="baddbmm_ext")(baddbmm)


@spelling(MatMul, method="addmm_")
def _addmm_inplace(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Replace this Tensor by beta * self + alpha * (mat1 @ mat2) in place, and return it."""
    return take_over("addmm_", self, addmm(self, mat1, mat2, beta=beta, alpha=alpha))


CASES = [
    case(MatMul, F(2, 3), F(3, 4)),
    case(MatMul, F(3, 2), F(4, 3), transpose_a=True, transpose_b=True),
    case(MatMul, I(2, 3), I(3, 2)),
    case(BatchMatMul, F(2, 2, 3), F(2, 3, 4)),
    case(BatchMatMul, F(2, 3, 2), F(2, 4, 3), transpose_a=True, transpose_b=True),
    case(BatchMatMul, F(2, 1, 2, 3), F(2, 1, 4, 3), transpose_b=True),
    case(_MatMulBroadcast, F(2, 3), F(2, 3, 2)),
    refused(ValueError, MatMul, F(2, 3), F(2, 3)),
    refused(TypeError, MatMul, F(2, 3), I(3, 2)),
    refused(ValueError, BatchMatMul, F(2, 3), F(2, 3)),
    case(mv, F(2, 3), F(3)),
]
