"""Products and sums of a dense and a sparse Tensor. A sparse Tensor is given as coordinates, values and shape."""

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Bool, Shape
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.core.operator.value_checks import position
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import INDEX, NUMBER, dtype_in, same_dtype, tensor_argument
from msnb.ops._host import HostPrimitive, host_operator
from msnb.ops._shapes import shapes


def _check_sparse_tensor(op, indices, values, shape, dense):
    dtype_in(op, "indices", indices, INDEX)
    dtype_in(op, "values", values, NUMBER)
    same_dtype(op, values=values, dense=dense)
    if indices.shape[1] != len(shape) or any(n < 1 for n in shape):
        raise ValueError(f"For '{op}', 'indices' should have a column for each positive length of {tuple(shape)}.")


@operator(generation=2, checks=[position("x1_indices", "x1_shape", ValueError)])
@shapes("x1_indices: n _, x1_values: n")
def SparseTensorDenseAdd(x1_indices, x1_values, x1_shape: Shape, x2):
    """Add a sparse Tensor and a dense Tensor. Values with the same coordinates are summed.

    Inputs:
        - **x1_indices** (Tensor) - Coordinates, int32 or int64 of shape (N, R).
        - **x1_values** (Tensor) - The values at the coordinates, of shape (N,).
        - **x1_shape** (tuple[int]) - Shape of the sparse Tensor, of R positive int.
        - **x2** (Tensor) - The dense Tensor, of that shape and the element type of `x1_values`.

    Outputs:
        Tensor of the shape and element type of `x2`.

    Raises:
        TypeError: If `x1_indices` are not integers, or the element types differ.
        ValueError: If the shapes do not fit, or a coordinate is out of range. A compiled graph raises this error only
            with ``check_indices``; otherwise it omits the value.

    Examples:
        >>> indices, ones = Tensor([[0, 1], [1, 0]], mindspore.int64), ops.ones((2, 2), mindspore.float32)
        >>> print(ops.SparseTensorDenseAdd()(indices, Tensor([1., 2.], mindspore.float32), (2, 2), ones))
        [[1. 2.]
         [3. 1.]]
    """
    _check_sparse_tensor("SparseTensorDenseAdd", x1_indices, x1_values, x1_shape, x2)
    if tuple(x2.shape) != tuple(x1_shape):
        raise ValueError(f"For 'SparseTensorDenseAdd', 'x2' should have shape {tuple(x1_shape)}, but got {x2.shape}.")
    return x2.at[tuple(x1_indices.T)].add(x1_values, mode="drop", wrap_negative_indices=False)


@operator(generation=2, checks=[position("indices", "sparse_shape", ValueError)])
@shapes("indices: n _, values: n, dense: _ _")
def SparseTensorDenseMatmul(
    indices, values, sparse_shape: Shape, dense, *, adjoint_st: Bool = False, adjoint_dt: Bool = False
):
    """Multiply a sparse matrix by a dense matrix.

    Args:
        adjoint_st (bool): Whether to use the conjugate transpose of the sparse matrix. Default: False.
        adjoint_dt (bool): Whether to use the conjugate transpose of the dense matrix. Default: False.

    Inputs:
        - **indices** (Tensor) - Coordinates, int32 or int64 of shape (N, 2).
        - **values** (Tensor) - The values at the coordinates, of shape (N,).
        - **sparse_shape** (tuple[int]) - Shape of the sparse matrix.
        - **dense** (Tensor) - The dense matrix, of the element type of `values`.

    Outputs:
        Tensor, a matrix of that element type.

    Raises:
        TypeError: If `indices` are not integers, or the element types differ.
        ValueError: If the shapes do not fit, or a coordinate is out of range. A compiled graph raises this error only
            with ``check_indices``; otherwise it omits the value.

    Examples:
        >>> indices, values = Tensor([[0, 1], [1, 2]], mindspore.int32), Tensor([1., 2.], mindspore.float32)
        >>> print(ops.SparseTensorDenseMatmul()(indices, values, (2, 3), Tensor([[1.], [2.], [3.]], mindspore.float32)))
        [[2.]
         [6.]]
    """
    op = "SparseTensorDenseMatmul"
    _check_sparse_tensor(op, indices, values, sparse_shape, dense)
    dense = dense.conj().T if adjoint_dt else dense
    rows, columns = indices.T
    height, width = sparse_shape
    if adjoint_st:
        rows, columns, height, width, values = columns, rows, width, height, values.conj()
    if dense.shape[0] != width:
        raise ValueError(f"For '{op}', the dense matrix should have {width} rows, but got {dense.shape[0]}.")
    inside = (indices >= 0).all(1) & (indices < jnp.asarray(sparse_shape)).all(1)
    terms = jnp.where(inside, values, 0)[:, None] * jnp.take(dense, columns, axis=0, mode="clip")
    return jnp.zeros((height, dense.shape[1]), terms.dtype).at[rows].add(terms, mode="drop")


def _check_ranks(op, indices, values, shape):
    """Raise an error if a component of a sparse Tensor is not a Tensor or has another rank."""
    for name, x, rank in (("indices", indices, 2), ("values", values, 1), ("shape", shape, 1)):
        if tensor_argument(op, name, x).ndim != rank:
            raise ValueError(f"For '{op}', '{name}' should have {rank} dimensions, but got shape {x.shape}.")


@host_operator(functional="coalesce")
class Coalesce(HostPrimitive):
    """Sorts the coordinates of a sparse Tensor and adds the values of equal coordinates. It cannot be compiled: the
    number of coordinates depends on values.

    Inputs:
        - **x_indices** (Tensor) - Coordinates, int64 of shape (R, N): a column for each value.
        - **x_values** (Tensor) - The values at the coordinates, of shape (N,).
        - **x_shape** (Tensor) - Shape of the Tensor, int64 of shape (R,).

    Outputs:
        A tuple of the coordinates, int64 of shape (R, M), their values and `x_shape`.

    Raises:
        TypeError: If an input is not a Tensor.
        ValueError: If the shapes do not fit, or a coordinate is outside.

    Examples:
        >>> indices, shape = Tensor([[0, 0, 1], [1, 1, 2]], mindspore.int64), Tensor([3, 3], mindspore.int64)
        >>> print(ops.Coalesce()(indices, Tensor([1., 5., 4.], mindspore.float32), shape)[1])
        [6. 4.]
    """

    def __call__(self, x_indices: Tensor, x_values: Tensor, x_shape: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        _check_ranks("Coalesce", x_indices, x_values, x_shape)
        columns, values, shape = self.values_of(x_indices, x_values, x_shape)
        if columns.shape != (len(shape), len(values)):
            raise ValueError(
                f"For 'Coalesce', 'x_indices' should have shape {(len(shape), len(values))}, but got {columns.shape}."
            )
        if columns.size and ((columns < 0) | (columns >= shape[:, None])).any():
            raise ValueError(f"For 'Coalesce', 'x_indices' should lie within the shape {tuple(shape.tolist())}.")
        once, back = np.unique(columns, axis=1, return_inverse=True)
        summed = np.zeros(once.shape[1], values.dtype)
        np.add.at(summed, back.reshape(-1), values)
        return Tensor(once), Tensor(summed), Tensor(shape)


@host_operator()
class SparseSlice(HostPrimitive):
    """Return a slice of a sparse Tensor. It cannot be compiled: the number of values in the slice depends on the
    coordinates.

    Inputs:
        - **indices** (Tensor) - Coordinates, int64 of shape (N, R).
        - **values** (Tensor) - The values at the coordinates, of shape (N,).
        - **shape** (Tensor) - Shape of the Tensor, int64 of shape (R,).
        - **start** (Tensor) - Start of the slice along each axis, int64 of shape (R,).
        - **size** (Tensor) - Length of the slice along each axis, int64 of shape (R,); limited to the end of the
          Tensor.

    Outputs:
        A tuple of the coordinates, the values and the shape of the slice.

    Raises:
        TypeError: If an input is not a Tensor.
        ValueError: If the shapes do not fit.

    Examples:
        >>> indices, values = Tensor([[0, 1], [1, 2], [2, 2]], mindspore.int64), Tensor([1, 2, 3], mindspore.int64)
        >>> shape, start, size = (Tensor(n, mindspore.int64) for n in ([3, 4], [0, 1], [2, 3]))
        >>> print(ops.SparseSlice()(indices, values, shape, start, size)[0])
        [[0 0]
         [1 1]]
    """

    def __call__(
        self, indices: Tensor, values: Tensor, shape: Tensor, start: Tensor, size: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        _check_ranks("SparseSlice", indices, values, shape)
        coordinates, full_shape, begin, long = self.values_of(indices, shape, start, size)
        if coordinates.shape != (values.shape[0], len(full_shape)) or not len(full_shape) == len(begin) == len(long):
            raise ValueError(
                f"For 'SparseSlice', 'indices', 'shape', 'start' and 'size' should be of {values.shape[0]} values and "
                f"{len(full_shape)} dimensions, but got shapes {coordinates.shape}, {full_shape.shape}, "
                f"{begin.shape}, {long.shape}."
            )
        long = np.clip(np.minimum(begin + long, full_shape) - begin, 0, None)
        selected = ((coordinates >= begin) & (coordinates < begin + long)).all(1)
        return Tensor(coordinates[selected] - begin), values[Tensor(np.flatnonzero(selected))], Tensor(long)


_INDICES, _SHAPE = Values([[0, 1], [2, 0], [0, 1], [1, 3]], "int64"), Values([3, 4], "int64")
_BY_VALUES = "its shapes depend on values"
CASES = [
    case(SparseTensorDenseAdd, _INDICES, F(4), (3, 4), F(3, 4)).without(
        "mindspore", "it takes the shape as a Tensor alone"
    ),
    case(SparseTensorDenseMatmul, _INDICES, F(4), (3, 4), F(4, 2)),
    case(SparseTensorDenseMatmul, _INDICES, F(4), (3, 4), F(2, 3), adjoint_st=True, adjoint_dt=True),
    case(Coalesce, Values([[0, 2, 0, 1], [1, 0, 1, 3]], "int64"), F(4), _SHAPE)
    .without("graph", _BY_VALUES)
    .without("gradient", "it is left out of what is compiled"),
    case(
        SparseSlice,
        Values([[0, 1], [1, 2], [1, 3], [2, 2]], "int64"),
        F(4),
        _SHAPE,
        *(Values(n, "int64") for n in ([0, 1], [2, 5])),
    )
    .without("graph", _BY_VALUES)
    .without("gradient", "2.7.1 has none"),
    refused(ValueError, SparseTensorDenseAdd, _INDICES, F(4), (3, 4), F(3, 3)),
    refused(ValueError, SparseTensorDenseMatmul, _INDICES, F(4), (3, 4), F(3, 3)),
    refused(ValueError, Coalesce, Values([[0, 5]], "int64"), F(2), Values([3], "int64")),
]
