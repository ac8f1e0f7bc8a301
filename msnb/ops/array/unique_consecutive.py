"""Removal of repeated neighbours, and the distinct elements or slices of a Tensor in ascending order."""

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, check
from msnb.core.operator.cases import I, Values, case, refused
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import axis_in, tensor_argument
from msnb.ops._host import HostPrimitive, host_operator


def _flatten_slices(x, axis):
    """Return a matrix with a row for each slice of `x` along `axis`."""
    count = x.shape[axis]
    return np.moveaxis(x, axis, 0).reshape(count, x.size // max(count, 1))


@host_operator()
class UniqueConsecutive(HostPrimitive):
    """Keep one element of each run of equal neighbours, or one slice of each run of equal slices along an axis.

    The length of the results depends on data. A Cell with this operator therefore is not compiled: in GRAPH mode, too,
    it runs operator by operator.

    Args:
        return_inverse (bool): Also return for each element the index of its run. Default: False.
        return_counts (bool): Also return the length of each run. Default: False.
        dim (int): The axis. Default: None, the Tensor is flattened.

    Inputs:
        - **input** (Tensor) - Numbers.

    Outputs:
        Tuple of three Tensors: the elements, the index of the run of each element (int64), and the length of each run
        (int64). An output that is not requested is 0.

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If `dim` is out of range.

    Examples:
        >>> print(ops.UniqueConsecutive()(Tensor([1, 1, 2, 1], mindspore.int32))[0])
        [1 2 1]
    """

    def __init__(self, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None):
        super().__init__()
        self.return_inverse, self.return_counts, self.dim = return_inverse, return_counts, dim

    def __call__(self, input):
        tensor_argument("UniqueConsecutive", "input", input)
        (x,) = self.values_of(input)
        axis = 0 if self.dim is None else axis_in("UniqueConsecutive", self.dim, x.ndim, "dim")
        x = x.reshape(-1) if self.dim is None else x
        rows = _flatten_slices(x, axis)
        new = np.ones(len(rows), bool)
        new[1:] = (rows[1:] != rows[:-1]).any(1)
        run = np.cumsum(new) - 1
        inverse = run if self.dim is not None else run.reshape(input.shape)
        counts = np.bincount(run, minlength=int(new.sum()))
        nothing = np.array(0, np.int64)
        return (
            Tensor(np.compress(new, x, axis)),
            Tensor(inverse.astype(np.int64) if self.return_inverse else nothing),
            Tensor(counts.astype(np.int64) if self.return_counts else nothing),
        )


@spelling(UniqueConsecutive, function="unique_consecutive", method="unique_consecutive")
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Tensor | tuple[Tensor, ...]:
    """Keep one element of each run of equal neighbours, or one slice of each run of equal slices along an axis.

    Args:
        input (Tensor): Numbers.
        return_inverse (bool): Also return for each element the index of its run. Default: False.
        return_counts (bool): Also return the length of each run. Default: False.
        dim (int): The axis. Default: None, the Tensor is flattened.

    Returns:
        Tensor. If more outputs are requested, a tuple of this Tensor, the index of the run of each element (int64), and
        the length of each run (int64).

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If `dim` is out of range.
    """
    results = UniqueConsecutive(return_inverse, return_counts, dim)(input)
    flags = (True, return_inverse, return_counts)
    selected = tuple(x for x, want in zip(results, flags, strict=True) if want)
    return selected if len(selected) > 1 else selected[0]


class _SortedSlices(HostPrimitive):
    """Sort the slices along `dim`, comparing their elements in row-major order; without `dim`, sort the elements.

    Returns the sorted Tensor and the index in `input` of each of its slices or elements.
    """

    def __call__(self, input, dim):
        (x,) = self.values_of(input)
        x, axis = (x.reshape(-1), 0) if dim is None else (x, axis_in("unique", dim, x.ndim, "dim"))
        rows = _flatten_slices(x, axis)
        codes = np.unique(rows, return_inverse=True)[1].reshape(rows.shape)
        order = np.lexsort(codes.T[::-1]) if codes.size else np.arange(len(rows))
        return Tensor(np.take(x, order, axis)), order


def sorted_unique(
    input: Tensor, return_inverse: bool, return_counts: bool, dim: int | None
) -> Tensor | tuple[Tensor, ...]:
    """Return the distinct elements of `input`, or its distinct slices along `dim`, in ascending order.

    Slices are compared by their elements in row-major order. With `return_inverse` or `return_counts`, return a tuple
    that also has the index in the result of each element or slice of `input`, and the number of times that each result
    occurs. Both are int64.
    """
    tensor_argument("unique", "input", input)
    check(Bool, return_inverse, "return_inverse", "unique")
    check(Bool, return_counts, "return_counts", "unique")
    ordered, order = _SortedSlices()(input, dim)
    distinct, run, counts = UniqueConsecutive(True, True, dim)(ordered)
    inverse = np.empty(order.shape, np.int64)
    inverse[order] = run.asnumpy()
    shape = input.shape if dim is None else inverse.shape
    results = distinct, Tensor(inverse.reshape(shape), mstype.int64), counts
    selected = tuple(
        x for x, is_returned in zip(results, (True, return_inverse, return_counts), strict=True) if is_returned
    )
    return selected if len(selected) > 1 else distinct


_BY_VALUES = "its shapes depend on values"
CASES = [
    case(UniqueConsecutive, Values([1, 1, 2, 2, 1])).results(0).without("graph", _BY_VALUES),
    case(unique_consecutive, Values([[1, 1], [1, 3]]), True, True).without("graph", _BY_VALUES),
    case(unique_consecutive, Values([[1, 1], [1, 1], [2, 2]]), return_counts=True, dim=0).without("graph", _BY_VALUES),
    refused(ValueError, UniqueConsecutive, I(2, 3), dim=2),
]
