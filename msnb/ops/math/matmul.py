"""Products of matrices, vectors and tensors."""

import jax.numpy as jnp

from msnb.common.kinds import Bool, Kind, Str, Tensors
from msnb.core.cases import F, I, case, refused
from msnb.core.declare import operator, spelling
from msnb.core.dtype import promote
from msnb.core.tensor import Tensor
from msnb.ops._check import COMPLEX, FLOAT, SIGNED, dtype_in, rank, same_dtype, tensor_argument, tensor_only

_FACTORS = FLOAT | SIGNED | COMPLEX


def _product(op, x1, x2, transpose_a, transpose_b):
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
        transpose_a (bool): Whether the first matrix is transposed first. Default: False.
        transpose_b (bool): Whether the second matrix is transposed first. Default: False.

    Inputs:
        - **x1** (Tensor) - Of shape (N, C), or (C, N) if `transpose_a`.
        - **x2** (Tensor) - Of shape (C, M), or (M, C) if `transpose_b`, and the element type of `x1`.

    Outputs:
        Tensor of shape (N, M) and the element type of the inputs; int32 for int8.

    Raises:
        TypeError: If an argument is not a bool, or the element types differ or are not supported.
        ValueError: If an input is not a matrix or the inner dimensions differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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
    return _product("MatMul", x1, x2, transpose_a, transpose_b)


@operator
def BatchMatMul(x1, x2, *, transpose_a: Bool = False, transpose_b: Bool = False):
    """Products of two batches of matrices.

    Args:
        transpose_a (bool): Whether the matrices of the first input are transposed first. Default: False.
        transpose_b (bool): Whether the matrices of the second input are transposed first. Default: False.

    Inputs:
        - **x1** (Tensor) - Of shape (*B, N, C), or (*B, C, N) if `transpose_a`.
        - **x2** (Tensor) - Of shape (*B, C, M), or (*B, M, C) if `transpose_b`, and the element type of `x1`.

    Outputs:
        Tensor of shape (*B, N, M) and the element type of the inputs; int32 for int8.

    Raises:
        TypeError: If an argument is not a bool, or the element types differ or are not supported.
        ValueError: If an input has fewer than 3 dimensions, or the shapes do not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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
    return _product("BatchMatMul", x1, x2, transpose_a, transpose_b)


@operator
def _MatMulBroadcast(x1, x2):
    """Matrix product in which vectors are rows or columns and batch dimensions broadcast, as numpy's matmul.

    Inputs:
        - **x1** (Tensor) - Of at least 1 dimension.
        - **x2** (Tensor) - Of at least 1 dimension and the element type of `x1`.

    Outputs:
        Tensor of the element type of the inputs.

    Raises:
        TypeError: If the element types differ or are not supported.
        ValueError: If an input is a scalar or the shapes do not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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


@spelling(MatMul, BatchMatMul, _MatMulBroadcast, function="matmul", method=("matmul", "__matmul__"))
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

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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


@spelling(MatMul, method="__rmatmul__")
def _rmatmul(self: Tensor, other: object) -> Tensor:
    """Matrix product with the operands exchanged."""
    return matmul(Tensor(other), self)


@spelling(MatMul, function="mm", method="mm")
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Product of two matrices.

    Args:
        input (Tensor): Of shape (N, C).
        mat2 (Tensor): Of shape (C, M).

    Returns:
        Tensor of shape (N, M).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _mat_mul(input, mat2)


@spelling(BatchMatMul, function="bmm", method="bmm")
def bmm(input_x: Tensor, mat2: Tensor) -> Tensor:
    """Products of two batches of matrices.

    Args:
        input_x (Tensor): Of shape (B, N, C).
        mat2 (Tensor): Of shape (B, C, M).

    Returns:
        Tensor of shape (B, N, M).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _batch_mat_mul(input_x, mat2)


@spelling(MatMul, function="addmm", method="addmm")
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2).

    Args:
        input (Tensor): Broadcasts to the product.
        mat1 (Tensor): A matrix.
        mat2 (Tensor): A matrix.
        beta (Number): Factor of `input`. Default: 1.
        alpha (Number): Factor of the product. Default: 1.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return input * beta + _mat_mul(mat1, mat2) * alpha


@spelling(BatchMatMul, function="baddbmm", method="baddbmm")
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta * input + alpha * (batch1 @ batch2), for batches of matrices.

    Args:
        input (Tensor): Broadcasts to the products.
        batch1 (Tensor): Matrices.
        batch2 (Tensor): Matrices.
        beta (Number): Factor of `input`. Default: 1.
        alpha (Number): Factor of the products. Default: 1.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return input * beta + _batch_mat_mul(batch1, batch2) * alpha


def _matrix_axes(axes):
    if isinstance(axes, int) and not isinstance(axes, bool):
        return axes
    if not isinstance(axes, (tuple, list)):
        raise TypeError
    if len(axes) != 2:
        raise ValueError
    sides = tuple((side,) if isinstance(side, int) else tuple(side) for side in axes)
    if len(sides[0]) != len(sides[1]) or any(len(set(s)) < len(s) for s in sides):
        raise ValueError
    return sides


DotAxes = Kind("an int, or two tuples of as many different axes each", _matrix_axes)


@operator
def _TensorDot(x1, x2, axes: DotAxes):
    """Sum of products over pairs of axes.

    Inputs:
        - **x1** (Tensor) - Floating point.
        - **x2** (Tensor) - Of the element type of `x1`.
        - **axes** (Union[int, tuple]) - How many last axes of `x1` meet first axes of `x2`, or the pairs of axes.

    Outputs:
        Tensor of the element type of the inputs, with the free axes of `x1`, then those of `x2`.

    Raises:
        TypeError: If the element types differ or are not floating point.
        ValueError: If `axes` is out of range, or the paired dimensions differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.tensor_dot(Tensor(np.ones((1, 2, 3)), mindspore.float32),
        ...                      Tensor(np.ones((3, 1, 2)), mindspore.float32), ((0, 1), (1, 2))))
        [[2. 2. 2.]
         [2. 2. 2.]
         [2. 2. 2.]]
    """
    op = "TensorDot"
    dtype_in(op, "x1", x1, FLOAT)
    dtype_in(op, "x2", x2, FLOAT)
    same_dtype(op, x1=x1, x2=x2)
    if isinstance(axes, int):
        if not 0 <= axes <= min(x1.ndim, x2.ndim):
            raise ValueError(f"For '{op}', 'axes' should be in [0, {min(x1.ndim, x2.ndim)}], but got {axes}.")
        axes = tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes))
    for x, side in ((x1, axes[0]), (x2, axes[1])):
        if any(not -x.ndim <= a < x.ndim for a in side):
            raise ValueError(f"For '{op}', 'axes' {side} is out of range for shape {x.shape}.")
    pairs = [(x1.shape[a], x2.shape[b]) for a, b in zip(*axes, strict=True)]
    if any(a != b for a, b in pairs):
        # MindSpore accepts axes that fit when one side is read backwards.
        axes = axes[0], axes[1][::-1]
        if any(x1.shape[a] != x2.shape[b] for a, b in zip(*axes, strict=True)):
            raise ValueError(f"For '{op}', the paired dimensions should agree, but got {pairs}.")
    return jnp.tensordot(x1, x2, axes if axes[0] else 0)


@spelling(_TensorDot, function="tensor_dot")
def tensor_dot(x1: Tensor, x2: Tensor, axes: int | tuple | list) -> Tensor:
    """Sum of products over pairs of axes.

    Args:
        x1 (Tensor): Floating point.
        x2 (Tensor): Of the element type of `x1`.
        axes (Union[int, tuple, list]): How many last axes of `x1` meet first axes of `x2`, or the pairs of axes.

    Returns:
        Tensor.

    Raises:
        TypeError: If the element types differ or are not floating point.
        ValueError: If `axes` is out of range, or the paired dimensions differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _TensorDot.functional(x1, x2, axes)


@spelling(_TensorDot, function="inner", method="inner")
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sum of products over the last dimensions of two Tensors.

    Args:
        input (Tensor): Floating point.
        other (Tensor): Of the element type of `input`.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return tensor_dot(input, other, ((-1,), (-1,)))


@operator(functional="dot", methods=("dot",))
def Dot(input, other):
    """Sum of products over the last axis of one Tensor and the last but one of the other.

    Inputs:
        - **input** (Tensor) - Floating point.
        - **other** (Tensor) - Of the element type of `input`.

    Outputs:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("dot", "input", input, FLOAT)
    dtype_in("dot", "other", other, FLOAT)
    same_dtype("dot", input=input, other=other)
    try:
        return jnp.dot(input, other)
    except TypeError:
        raise ValueError(f"For 'dot', the shapes do not fit: {input.shape} and {other.shape}.") from None


@operator(functional="outer", methods=("outer",))
def Outer(input, vec2):
    """Products of all pairs of elements of two vectors.

    Inputs:
        - **input** (Tensor) - A vector.
        - **vec2** (Tensor) - A vector.

    Outputs:
        Tensor of shape (len(input), len(vec2)).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    rank("outer", "input", input, 1)
    rank("outer", "vec2", vec2, 1)
    x, y = promote(input[:, None], vec2, op="outer")
    return x * y


@operator(functional="kron")
def _Kron(x, y):
    """Kronecker product.

    Inputs:
        - **x** (Tensor) - Numbers.
        - **y** (Tensor) - Numbers.

    Outputs:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return jnp.kron(x, y)


@operator
def Einsum(operands: Tensors, *, equation: Str):
    """Sums of products by Einstein's convention.

    Args:
        equation (str): Subscripts, as in numpy's einsum.

    Inputs:
        - **operands** (tuple[Tensor]) - As many Tensors as the equation has terms.

    Outputs:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_dtype("einsum", **{f"operands[{i}]": x for i, x in enumerate(operands)})
    try:
        return jnp.einsum(equation, *operands)
    except (TypeError, IndexError) as problem:
        raise ValueError(
            f"For 'einsum', the equation {equation!r} does not fit shapes {[x.shape for x in operands]}: {problem}"
        ) from None


@spelling(Einsum)
def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Sums of products by Einstein's convention.

    Args:
        equation (str): Subscripts, as in numpy's einsum.
        operands (Tensor): As many Tensors as the equation has terms.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.einsum("ij,j->i", Tensor([[1., 2.]]), Tensor([1., 1.])))
        [3.]
    """
    return Einsum.functional(operands, equation=equation)


CASES = [
    case(MatMul, F(2, 3), F(3, 4)),
    case(MatMul, F(3, 2), F(4, 3), transpose_a=True, transpose_b=True),
    case(MatMul, I(2, 3), I(3, 2)),
    case(BatchMatMul, F(2, 2, 3), F(2, 3, 4)),
    case(BatchMatMul, F(2, 3, 2), F(2, 4, 3), transpose_a=True, transpose_b=True),
    case(BatchMatMul, F(2, 1, 2, 3), F(2, 1, 4, 3), transpose_b=True),
    case(_MatMulBroadcast, F(2, 3), F(2, 3, 2)),
    case(_TensorDot, F(2, 3), F(3, 2), 1),
    case(Dot, F(2, 3), F(3)),
    case(Outer, F(2), F(3)),
    case(_Kron, F(2, 2), F(2, 2)),
    case(Einsum, (F(2, 3), F(3, 2)), equation="ij,jk->ik"),
    refused(ValueError, MatMul, F(2, 3), F(2, 3)),
    refused(TypeError, MatMul, F(2, 3), I(3, 2)),
    refused(ValueError, BatchMatMul, F(2, 3), F(2, 3)),
]
