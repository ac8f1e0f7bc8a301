"""Operators that find insertion positions in sorted rows or elements by rank, and set differences."""

import jax.numpy as jnp
import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, NonNegInt
from msnb.core.operator.cases import F, I, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.core.support.type_promotion import np_dtype
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import NUMBER, dtype_in, rank, same_dtype, tensor_argument
from msnb.ops._host import HostPrimitive, host_operator
from msnb.ops.array.sort import IndexType


def _search_rows(op, side, sorted_x, values, out_type):
    dtype_in(op, "sorted_x", sorted_x, NUMBER)
    same_dtype(op, sorted_x=sorted_x, values=values)
    rank(op, "sorted_x", sorted_x, 2)
    if values.ndim != 2 or values.shape[0] != sorted_x.shape[0]:
        raise ValueError(
            f"For '{op}', 'values' should have {sorted_x.shape[0]} rows, as 'sorted_x' has, but got {values.shape}."
        )
    find = jnp.vectorize(lambda a, v: jnp.searchsorted(a, v, side=side), signature="(n),(m)->(m)")
    return find(sorted_x, values).astype(np_dtype(out_type))


@operator
def LowerBound(sorted_x, values, *, out_type: IndexType = mstype.int32):
    """Find the first position in a sorted row at which each value can be inserted: before equal elements.

    Args:
        out_type (mindspore.dtype): int32 or int64. Default: mindspore.int32.

    Inputs:
        - **sorted_x** (Tensor) - A matrix, each row sorted in ascending order.
        - **values** (Tensor) - The values, with as many rows as `sorted_x`, of the same element type.

    Outputs:
        Tensor of the shape of `values`.

    Raises:
        TypeError: If the inputs are not numbers of one type.
        ValueError: If the shapes do not fit.
    """
    return _search_rows("LowerBound", "left", sorted_x, values, out_type)


@operator
def UpperBound(sorted_x, values, *, out_type: IndexType = mstype.int32):
    """Find the last position in a sorted row at which each value can be inserted: after equal elements.

    Args:
        out_type (mindspore.dtype): int32 or int64. Default: mindspore.int32.

    Inputs:
        - **sorted_x** (Tensor) - A matrix, each row sorted in ascending order.
        - **values** (Tensor) - The values, with as many rows as `sorted_x`, of the same element type.

    Outputs:
        Tensor of the shape of `values`.

    Raises:
        TypeError: If the inputs are not numbers of one type.
        ValueError: If the shapes do not fit.
    """
    return _search_rows("UpperBound", "right", sorted_x, values, out_type)


@operator
def NthElement(input, n: NonNegInt, *, reverse: Bool = False):
    """Return the n-th smallest element along the last axis, counted from 0.

    Args:
        reverse (bool): Count from the largest element instead. Default: False.

    Inputs:
        - **input** (Tensor) - Numbers, of at least 1 dimension.
        - **n** (Union[int, Tensor]) - Rank of the element, from 0; a constant.

    Outputs:
        Tensor without the last axis.

    Raises:
        TypeError: If `input` does not consist of numbers.
        ValueError: If `n` is not less than the length of the last axis.
    """
    dtype_in("NthElement", "input", input, NUMBER)
    if not input.ndim or not 0 <= n < input.shape[-1]:
        raise ValueError(f"For 'NthElement', 'n' should be a place of the last axis of {input.shape}, but got {n}.")
    return jnp.sort(input, -1)[..., -1 - n if reverse else n]


@host_operator()
class ListDiff(HostPrimitive):
    """Return the elements of one vector that are not in another, and their indices. This does not run in a compiled
    graph, because the number of elements depends on data.

    Args:
        out_idx (mindspore.dtype): Element type of the indices, int32 or int64. Default: mindspore.int32.

    Inputs:
        - **x** (Tensor) - A vector of numbers.
        - **y** (Tensor) - A vector of the same element type.

    Outputs:
        Tuple of two Tensors: the elements, and their indices in `x`.

    Raises:
        TypeError: If an input is no Tensor.
        ValueError: If an input is no vector.
    """

    def __init__(self, out_idx: mstype.Type = mstype.int32):
        super().__init__()
        self.out_idx = out_idx

    def __call__(self, x, y):
        for name, value in (("x", x), ("y", y)):
            rank("ListDiff", name, tensor_argument("ListDiff", name, value), 1)
        x, y = self.values_of(x, y)
        (indices,) = np.nonzero(~np.isin(x, y))
        return Tensor(x[indices]), Tensor(indices.astype(np_dtype(self.out_idx)))


CASES = [
    case(LowerBound, Values([[1.0, 2.0, 3.0]]), Values([[2.0, 4.0, 0.5]])),
    case(UpperBound, Values([[1.0, 2.0, 3.0]]), Values([[2.0, 4.0, 0.5]]), out_type=mstype.int64),
    case(NthElement, F(2, 4), 1).without("gradient", "MindSpore has none"),
    case(NthElement, F(2, 4), Values(0), reverse=True).without("gradient", "MindSpore has none"),
    case(ListDiff, Values([1, 2, 3, 4]), Values([2, 4])).without("graph", "its shapes depend on values"),
    refused(ValueError, NthElement, F(2, 3), 3),
    refused(ValueError, ListDiff, I(2, 3), I(2)),
]
