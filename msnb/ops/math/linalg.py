"""Matrix products, and sums of several Tensors."""

import functools
import operator as py_operator

import jax
import jax.numpy as jnp

from msnb.common.kinds import Bool, Tensors
from msnb.core.declare import operator
from msnb.ops._check import ANY, COMPLEX, FLOAT, SIGNED, dtype_in, same_dtype, same_shape, tensor_only

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
def MatMulBroadcast(x1, x2):
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


def _sum_of(op, xs):
    if not xs:
        raise ValueError(f"For '{op}', there should be at least 1 Tensor, but got none.")
    for i, x in enumerate(xs):
        dtype_in(op, f"inputs[{i}]", x, ANY)
    named = {f"inputs[{i}]": x for i, x in enumerate(xs)}
    same_dtype(op, **named)
    same_shape(op, **named)
    return functools.reduce(py_operator.add, xs)


@operator(functional="addn")
def AddN(inputs: Tensors):
    """Sum of several Tensors.

    Inputs:
        - **inputs** (Union[tuple[Tensor], list[Tensor]]) - Tensors of one shape and element type.

    Outputs:
        Tensor of that shape and element type.

    Raises:
        TypeError: If `inputs` is not a tuple or list, or the element types differ.
        ValueError: If there is no Tensor, or the shapes differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x, y = Tensor([1., 2.], mindspore.float32), Tensor([4., 5.], mindspore.float32)
        >>> print(ops.AddN()([x, y, x]))
        [6. 9.]
    """
    return _sum_of("AddN", inputs)


@operator(functional="accumulate_n")
def AccumulateNV2(inputs: Tensors):
    """Sum of several Tensors.

    Inputs:
        - **inputs** (Union[tuple[Tensor], list[Tensor]]) - Tensors of one shape and element type.

    Outputs:
        Tensor of that shape and element type.

    Raises:
        TypeError: If `inputs` is not a tuple or list, or the element types differ.
        ValueError: If there is no Tensor, or the shapes differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x, y = Tensor([1., 2.], mindspore.float32), Tensor([4., 5.], mindspore.float32)
        >>> print(ops.AccumulateNV2()([x, y]))
        [5. 7.]
    """
    return _sum_of("AccumulateNV2", inputs)


@operator(functional="inverse", methods=("inverse",), aliases=("MatrixInverse",))
def Inverse(x):
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
