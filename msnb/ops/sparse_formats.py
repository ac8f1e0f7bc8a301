"""Functions of sparse matrices with MindSpore 2's names: ``coo_``, ``csr_`` and elementwise functions of the values."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from msnb.core.errors.messages import describe
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._sparse_formats import COOTensor, CSRTensor, dense_to_coo, dense_to_csr, rows_of, starts_of
from msnb.ops.array.gather import Gather
from msnb.ops.array.join import Concat
from msnb.ops.array.segment import UnsortedSegmentMax, UnsortedSegmentSum
from msnb.ops.array.sort import argsort
from msnb.ops.math.exponential import Exp, Expm1, Log, Log1p, Reciprocal, Sqrt, Square
from msnb.ops.math.isfinite import IsFinite, IsInf, IsNan
from msnb.ops.math.matmul import MatMul
from msnb.ops.math.rounding import Abs, Ceil, Floor, Neg, Round
from msnb.ops.math.sum import ReduceSum
from msnb.ops.math.trigonometric import ACos, Acosh, Asin, Asinh, Atan, Atanh, Cos, Cosh, Sin, Sinh, Tan
from msnb.ops.nn.activation.relu import ReLU, ReLU6
from msnb.ops.nn.activation.sigmoid import Sigmoid
from msnb.ops.nn.activation.tanh import Softsign, Tanh

# elementwise functions of the stored values, including some that do not map 0 to 0
_VALUE_OPERATORS = (
    *(Abs, ACos, Acosh, Asin, Asinh, Atan, Atanh, Ceil, Cos, Cosh, Exp, Expm1, Floor, IsFinite, IsInf, IsNan, Log),
    *(Log1p, Neg, ReLU, ReLU6, Reciprocal, Round, Sigmoid, Sin, Sinh, Softsign, Sqrt, Square, Tan, Tanh),
)
_COMPONENTS = {"coo": ("indices", "values", "dense_shape"), "csr": ("indptr", "indices", "values", "dense_shape")}


def _check_format(name, kind, value):
    if not isinstance(value, kind):
        raise TypeError(f"For '{name}', the input should be a {kind.__name__}, but got {describe(value)}.")
    return value


def _declare_value_function(prefix, kind, operator):
    what = "inv" if operator is Reciprocal else operator.__name__.lower()
    name, compute = f"{prefix}_{what}", operator.functional

    def change(x):
        return _check_format(name, kind, x)._with_values(compute(x.values))

    change.__name__ = change.__qualname__ = name
    change.__doc__ = f"`{operator.__name__}` of the values of a {kind.__name__}; its zeros stay zeros."
    spelling(function=name)(change)


def _declare_getter(prefix, kind, part):
    name = f"{prefix}_tensor_get_{part}"

    def get(tensor):
        return getattr(_check_format(name, kind, tensor), part)

    get.__name__ = get.__qualname__ = name
    get.__doc__ = f"The {part.replace('_', ' ')} of a {kind.__name__}."
    spelling(function=name)(get)


for _prefix, _kind in (("coo", COOTensor), ("csr", CSRTensor)):
    for _operator in _VALUE_OPERATORS:
        _declare_value_function(_prefix, _kind, _operator)
    for _name in _COMPONENTS[_prefix]:
        _declare_getter(_prefix, _kind, _name)


@spelling()
def coo_add(x1: COOTensor, x2: COOTensor, thresh: Tensor) -> COOTensor:
    """Return the sum of two COOTensors without values below `thresh`; see `COOTensor.add`."""
    return _check_format("coo_add", COOTensor, x1).add(x2, thresh)


@spelling()
def coo_concat(sp_input: Sequence[COOTensor], concat_dim: int = 0) -> COOTensor:
    """Concatenate COOTensors along an axis. The result has its elements in the order of their indices."""
    first = _check_format("coo_concat", COOTensor, sp_input[0])
    axis = range(first.ndim)[concat_dim]
    rest = [tuple(np.delete(_check_format("coo_concat", COOTensor, t).shape, axis)) for t in sp_input]
    if len(set(rest)) > 1:
        raise ValueError(f"For 'coo_concat', shapes may differ along axis {axis} alone: {[t.shape for t in sp_input]}.")
    begins = np.cumsum([0, *(t.shape[axis] for t in sp_input)]).tolist()
    step = np.eye(first.ndim, dtype=np.int64)[axis]
    moved = [t.indices + Tensor(begin * step, t.indices.dtype) for t, begin in zip(sp_input, begins)]
    shape = (*first.shape[:axis], begins[-1], *first.shape[axis + 1 :])
    indices, values = Concat(0)(moved), Concat(0)([t.values for t in sp_input])
    order = argsort(_number_elements(indices, shape))
    return COOTensor._from_components(Gather()(indices, order, 0), Gather()(values, order, 0), shape)


def _number_elements(indices, shape):
    """Return the row-major number of each element of a Tensor of `shape`, from a row of indices for each."""
    strides = np.cumprod([1, *shape[:0:-1]])[::-1]
    return ReduceSum()(indices * Tensor(strides, indices.dtype), 1)


@spelling()
def dense_to_sparse_coo(tensor: Tensor) -> COOTensor:
    """Convert the nonzero elements of a Tensor to a COOTensor. It cannot run in a graph: their number depends on
    values.
    """
    return dense_to_coo(_check_format("dense_to_sparse_coo", Tensor, tensor))


@spelling()
def dense_to_sparse_csr(tensor: Tensor) -> CSRTensor:
    """Convert the nonzero elements of a matrix to a CSRTensor. It cannot run in a graph: their number depends on
    values.
    """
    return dense_to_csr(_check_format("dense_to_sparse_csr", Tensor, tensor))


@spelling()
def csr_to_coo(tensor: CSRTensor) -> COOTensor:
    """Convert a CSRTensor to a COOTensor."""
    return _check_format("csr_to_coo", CSRTensor, tensor).to_coo()


@spelling()
def csr_to_dense(csr_tensor: CSRTensor) -> Tensor:
    """Convert a CSRTensor to a dense matrix."""
    return _check_format("csr_to_dense", CSRTensor, csr_tensor).to_dense()


@spelling()
def csr2coo(indptr: Tensor, nnz: int) -> Tensor:
    """Return the row index of each of `nnz` values, from the row pointer `indptr`."""
    return rows_of(indptr, nnz)


@spelling()
def coo2csr(row_indices: Tensor, height: int) -> Tensor:
    """Return the row pointer of `height` rows, from the ascending row indices of the values."""
    return starts_of(row_indices, height)


@spelling()
def csr_add(a: CSRTensor, b: CSRTensor, alpha: Tensor, beta: Tensor) -> CSRTensor:
    """``alpha * a + beta * b``; see `CSRTensor.add`."""
    return _check_format("csr_add", CSRTensor, a).add(b, alpha, beta)


@spelling()
def csr_mul(x: CSRTensor, y: Tensor) -> Tensor:
    """Multiply each value of a CSRTensor by the element of a dense Tensor at the same coordinates."""
    return (_check_format("csr_mul", CSRTensor, x) * y).values


@spelling()
def csr_div(x: CSRTensor, y: Tensor) -> Tensor:
    """Divide each value of a CSRTensor by the element of a dense Tensor at the same coordinates."""
    return (_check_format("csr_div", CSRTensor, x) / y).values


@spelling()
def csr_mv(csr_tensor: CSRTensor, dense: Tensor) -> Tensor:
    """Multiply a CSRTensor by a column vector."""
    return _check_format("csr_mv", CSRTensor, csr_tensor).mv(dense)


@spelling()
def csr_mm(
    a: CSRTensor,
    b: CSRTensor,
    trans_a: bool = False,
    trans_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> CSRTensor:
    """Return the product of two CSRTensors. It cannot run in a graph: the number of nonzero elements depends on values.

    Args:
        a (CSRTensor): Left factor.
        b (CSRTensor): Right factor.
        trans_a (bool): Whether `a` is transposed. Default: False.
        trans_b (bool): Whether `b` is transposed. Default: False.
        adjoint_a (bool): As `trans_a`, since no values are complex. Default: False.
        adjoint_b (bool): As `trans_b`, since no values are complex. Default: False.

    Returns:
        CSRTensor.

    Raises:
        TypeError: If one of them is not a CSRTensor.
    """

    def turned(matrix, trans, adjoint):
        dense = _check_format("csr_mm", CSRTensor, matrix).to_dense()
        return dense.T if trans or adjoint else dense

    return dense_to_csr(MatMul()(turned(a, trans_a, adjoint_a), turned(b, trans_b, adjoint_b)))


@spelling()
def csr_reduce_sum(csr_tensor: CSRTensor, axis: int) -> Tensor:
    """Sum the rows (axis 1) or columns (axis 0) of a CSRTensor."""
    return _check_format("csr_reduce_sum", CSRTensor, csr_tensor).sum(axis)


@spelling()
def csr_gather(indptr: Tensor, indices: Tensor, dense: Tensor, sparse_shape: tuple[int, ...]) -> Tensor:
    """Gather the elements of a dense Tensor at the coordinates of a CSRTensor of `indptr`, `indices` and
    `sparse_shape`."""
    return CSRTensor._from_components(indptr, indices, indices, tuple(sparse_shape))._gather_elements(dense, "read")


@spelling()
def csr_softmax(logits: CSRTensor, dtype: Any) -> CSRTensor:
    """Apply softmax to the stored values of each row of a CSRTensor, and return values of type `dtype`."""
    values, rows = _check_format("csr_softmax", CSRTensor, logits).values.astype(dtype), logits._compute_row_indices()
    most = UnsortedSegmentMax.functional(values, rows, logits.shape[0])
    risen = Exp.functional(values - Gather.functional(most, rows, 0))
    return logits._with_values(
        risen / Gather.functional(UnsortedSegmentSum.functional(risen, rows, logits.shape[0]), rows, 0)
    )


@spelling(method="to_coo")
def _tensor_to_coo(self: Tensor) -> COOTensor:
    """Return the nonzero elements as a COOTensor. It cannot run in a graph: their number depends on values."""
    return dense_to_coo(self)


@spelling(method="to_csr")
def _tensor_to_csr(self: Tensor) -> CSRTensor:
    """Return the nonzero elements as a CSRTensor. It cannot run in a graph: their number depends on values."""
    return dense_to_csr(self)
