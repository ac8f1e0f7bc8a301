"""Operators that MindSpore keeps for its own tests and layers, under `mindspore.ops.operations._inner_ops`."""

import jax.numpy as jnp

from msnb.core.cases import F, case, refused
from msnb.core.declare import operator
from msnb.core.tensor import Tensor
from msnb.ops._check import same_dtype, same_shape, tensor_only
from msnb.ops._host import HostPrimitive, host_operator
from msnb.ops._shapes import shapes


@operator
def GpuConvertToDynamicShape(x):
    """Its input. Shapes are always known here, so nothing becomes dynamic.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.

    Outputs:
        Tensor equal to `x`.

    Raises:
        ValueError: If `x` is a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    tensor_only("GpuConvertToDynamicShape", "x", x)
    if not x.ndim:
        raise ValueError("For 'GpuConvertToDynamicShape', 'x' should have at least 1 dimension, but got a scalar.")
    return jnp.array(x, copy=True)


@host_operator()
class ErrorOnDynamicShapeInput(HostPrimitive):
    """Its input. Shapes are always known here, so there is never an error for a Tensor.

    Inputs:
        - **x** (Union[Tensor, list, tuple]) - Any Tensor, or a shape.

    Outputs:
        `x` itself.

    Raises:
        ValueError: If a shape is given that holds -1, which stands for a length that is not known.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __call__(self, x):
        if not isinstance(x, Tensor):
            self.infer_shape(x)
        return x

    def infer_shape(self, shape):
        """`shape`, unless a length in it is not known."""
        if any(length == -1 for length in shape):
            raise ValueError(f"Input is dynamically shaped: {tuple(shape)}.")
        return shape

    def infer_type(self, x_dtype):
        """`x_dtype`."""
        return x_dtype

    def infer_value(self, x):
        """None: the value is not known."""
        return None


def _across(assist):
    """The axis in which a diagonal lies across matrices like `assist`: the longer one, the rows of square ones."""
    return -1 if assist.shape[-2] < assist.shape[-1] else -2


@operator
@shapes("assist: ... n n")
def MatrixDiag(x, assist):
    """Diagonals put into matrices by a Tensor of matrices that are 1 on the diagonal and 0 elsewhere.

    Inputs:
        - **x** (Tensor) - The diagonals, of a shape that broadcasts to that of `assist` without its last but one axis.
        - **assist** (Tensor) - The matrices, of the element type of `x`.

    Outputs:
        Tensor of the shape of `assist`.

    Raises:
        TypeError: If the element types differ.
        ValueError: If the matrices are not square, or the shapes do not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_dtype("MatrixDiag", x=x, assist=assist)
    if x.ndim >= assist.ndim or any(
        n not in (1, m) for n, m in zip(x.shape[::-1], (assist.shape[-1:] + assist.shape[-3::-1]))
    ):
        raise ValueError(f"For 'MatrixDiag', 'x' of shape {x.shape} does not fit 'assist' of shape {assist.shape}.")
    return jnp.expand_dims(x, -2) * assist if x.ndim else x * assist


@operator
@shapes("x: ... _ _")
def MatrixDiagPart(x, assist):
    """The diagonals of matrices, by a Tensor of matrices that are 1 on the diagonal and 0 elsewhere.

    Inputs:
        - **x** (Tensor) - The matrices, of at least 2 dimensions.
        - **assist** (Tensor) - Of the shape and element type of `x`.

    Outputs:
        Tensor of the shape of `x` without the longer one of its last two axes.

    Raises:
        TypeError: If the element types differ.
        ValueError: If the shapes differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_dtype("MatrixDiagPart", x=x, assist=assist)
    same_shape("MatrixDiagPart", x=x, assist=assist)
    return jnp.sum(x * assist, _across(assist), dtype=x.dtype)


@operator
@shapes("x: ... _ _")
def MatrixSetDiag(x, diagonal, assist):
    """Matrices with other diagonals, by a Tensor of matrices that are 1 on the diagonal and 0 elsewhere.

    Inputs:
        - **x** (Tensor) - The matrices, of at least 2 dimensions.
        - **diagonal** (Tensor) - The diagonals, of the shape of `x` without the longer one of its last two axes.
        - **assist** (Tensor) - Of the shape and element type of `x`.

    Outputs:
        Tensor of the shape of `x`.

    Raises:
        TypeError: If the element types differ.
        ValueError: If the shapes do not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    same_dtype("MatrixSetDiag", x=x, diagonal=diagonal, assist=assist)
    same_shape("MatrixSetDiag", x=x, assist=assist)
    spread = jnp.expand_dims(diagonal, _across(assist))
    if spread.ndim != x.ndim or any(n not in (1, m) for n, m in zip(spread.shape, x.shape)):
        raise ValueError(
            f"For 'MatrixSetDiag', 'diagonal' of shape {diagonal.shape} does not fit 'x' of shape {x.shape}."
        )
    return x * (1 - assist) + spread * assist


CASES = [
    case(MatrixDiag, F(2), F(3, 2, 2)).without("mindspore", "r1.1's alone; tests/ops/test_edges.py has its example"),
    case(MatrixDiagPart, F(3, 2, 2), F(3, 2, 2)).without("mindspore", "r1.1's alone"),
    case(MatrixSetDiag, F(2, 3), F(2), F(2, 3)).without("mindspore", "r1.1's alone"),
    refused(ValueError, MatrixDiagPart, F(2, 2), F(2, 3)),
]
