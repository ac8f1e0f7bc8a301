"""Rows of different lengths, stored one after another."""

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import OneOf, checked
from msnb.core.operator.cases import Values, case, refused
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import tensor_argument
from msnb.ops._host import HostPrimitive, host_operator


@host_operator()
class RaggedRange(HostPrimitive):
    """Concatenate several ranges of numbers. This does not run in a compiled graph, because their lengths depend on
    data.

    Args:
        Tsplits (mindspore.dtype): Element type of the splits, mindspore.int32 or mindspore.int64.

    Inputs:
        - **starts** (Tensor) - Starts of the ranges, of shape () or (N,).
        - **limits** (Tensor) - Ends of the ranges, exclusive, of the shape and element type of `starts`.
        - **deltas** (Tensor) - Steps of the ranges, not 0, of the shape and element type of `starts`.

    Outputs:
        A tuple of the splits, of shape (N + 1,), and the numbers of all ranges. The splits are the index at which each
        range begins, followed by the total number of elements.

    Raises:
        TypeError: If `Tsplits` is another type, or an input is no Tensor.
        ValueError: If the shapes differ, or a step is 0.

    Examples:
        >>> starts, limits, deltas = (Tensor(n, mindspore.int32) for n in ([2, 5, 8], [3, 5, 12], [1, 1, 2]))
        >>> splits, numbers = ops.RaggedRange(mindspore.int64)(starts, limits, deltas)
        >>> print(splits, numbers)
        [0 1 1 3] [ 2  8 10]
    """

    @checked
    def __init__(self, Tsplits: OneOf(mstype.int32, mstype.int64)) -> None:
        super().__init__()
        self.Tsplits = Tsplits

    def __call__(self, starts: Tensor, limits: Tensor, deltas: Tensor) -> tuple[Tensor, Tensor]:
        for name, x in (("starts", starts), ("limits", limits), ("deltas", deltas)):
            tensor_argument("RaggedRange", name, x)
        if not starts.shape == limits.shape == deltas.shape or starts.ndim > 1:
            raise ValueError(
                f"For 'RaggedRange', 'starts', 'limits' and 'deltas' should have one shape, () or (N,), but got "
                f"{starts.shape}, {limits.shape} and {deltas.shape}."
            )
        begin, end, step = (np.atleast_1d(x) for x in self.values_of(starts, limits, deltas))
        if (step == 0).any():
            raise ValueError("For 'RaggedRange', 'deltas' should not be 0.")
        rows = [np.arange(*bounds).astype(begin.dtype) for bounds in zip(begin, end, step, strict=True)]
        splits = np.cumsum([0, *map(len, rows)])
        return Tensor(splits.astype(mstype.dtype_to_nptype(self.Tsplits))), Tensor(np.concatenate([begin[:0], *rows]))


_BY_VALUES = "its shapes depend on values"
CASES = [
    *(
        case(RaggedRange, *(Values(n, dtype) for n in ([2, 5, 8], [3, 5, 12], [1, 1, 2])), Tsplits=mstype.int64)
        .without("graph", _BY_VALUES)
        .without("gradient", "2.7.1 has none")
        for dtype in ("int32", "float32")
    ),
    refused(ValueError, RaggedRange, Values([1]), Values([1]), Values([0]), Tsplits=mstype.int32),
]
