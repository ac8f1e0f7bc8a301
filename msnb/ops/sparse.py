"""Operators on sparse Tensors and on rows of Tensors."""

import jax.numpy as jnp

from msnb.common.kinds import Shape
from msnb.core.errors.messages import describe
from msnb.core.operator.cases import F, Values, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.operator.value_checks import position
from msnb.core.tensor.sparse import RowTensor, SparseTensor
from msnb.ops._check import ANY, INDEX, dtype_in, rank


@operator(checks=[position("indices", "dense_shape", ValueError)])
def SparseToDense(indices, values, dense_shape: Shape):
    """Create a dense Tensor with values at given coordinates and zeros elsewhere.

    Inputs:
        - **indices** (Tensor) - Coordinates, int32 or int64 of shape (N, R), each at most once.
        - **values** (Tensor) - The values at the coordinates, of shape (N,).
        - **dense_shape** (tuple[int]) - Shape of the result, of R positive int.

    Outputs:
        Tensor of shape `dense_shape` and the element type of `values`.

    Raises:
        TypeError: If `indices` are not integers or `dense_shape` does not consist of int.
        ValueError: If the shapes do not fit, or a coordinate is out of range. A compiled graph raises this error only
            with ``check_indices``; otherwise it omits the value.

    Examples:
        >>> indices = Tensor([[0, 1], [1, 2]], mindspore.int32)
        >>> print(ops.SparseToDense()(indices, Tensor([1, 2], mindspore.float32), (3, 4)))
        [[0. 1. 0. 0.]
         [0. 0. 2. 0.]
         [0. 0. 0. 0.]]
    """
    dtype_in("SparseToDense", "indices", indices, INDEX)
    dtype_in("SparseToDense", "values", values, ANY)
    rank("SparseToDense", "indices", indices, 2)
    rank("SparseToDense", "values", values, 1)
    if indices.shape != (values.shape[0], len(dense_shape)) or any(n < 1 for n in dense_shape):
        raise ValueError(
            f"For 'SparseToDense', 'indices' should have shape {(values.shape[0], len(dense_shape))} for "
            f"{values.shape[0]} values and the positive shape {dense_shape}, but got {indices.shape}."
        )
    zeros = jnp.zeros(dense_shape, values.dtype)
    return zeros.at[tuple(indices.T)].set(values, mode="drop", wrap_negative_indices=False)


def _declare_getter(kind, name, part):
    def get(tensor):
        if not isinstance(tensor, kind):
            raise TypeError(f"For '{name}', the input should be a {kind.__name__}, but got {describe(tensor)}.")
        return getattr(tensor, part)

    get.__name__ = get.__qualname__ = name
    get.__doc__ = f"Return the {part.replace('_', ' ')} of a {kind.__name__}."
    spelling(function=name, generation=1)(get)


def _declare_constructor(kind, name):
    def make(indices, values, dense_shape):
        return kind(indices, values, dense_shape)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"Create a {kind.__name__} from indices, values and the shape of the dense Tensor."
    spelling(function=name, generation=1)(make)


for _kind, _prefix in ((RowTensor, "row_tensor"), (SparseTensor, "sparse_tensor")):
    _declare_constructor(_kind, f"make_{_prefix}")
    for _name in ("values", "indices", "dense_shape"):
        _declare_getter(_kind, f"{_prefix}_get_{_name}", _name)


CASES = [
    case(SparseToDense, Values([[0], [2]]), F(2), (4,)),
]
