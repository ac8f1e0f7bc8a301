"""Reductions over the segments that a Tensor of segment numbers marks."""

import math

import jax.numpy as jnp

from msnb.common.kinds import PositiveInt
from msnb.core.cases import F, Values, case
from msnb.core.checks import Check, Range
from msnb.core.declare import operator, standing_for
from msnb.ops._check import INDEX, NUMBER, dtype_in
from msnb.ops._half import in_float32
from msnb.ops.array._scatter import multiplied

_DOC = """{summary} of the slices of each segment.

    Inputs:
        - **x** (Tensor) - Numbers, of at least 1 dimension.
        - **segment_ids** (Tensor) - int32 or int64, of the first dimension(s) of `x`; what a negative one numbers is
          left out.
        - **num_segments** (int) - How many segments, positive.

    Outputs:
        Tensor of shape (num_segments, *rest of x.shape) and the element type of `x`; an empty segment holds {empty}.

    Raises:
        TypeError: If `segment_ids` are not integers or `num_segments` is not an int.
        ValueError: If `num_segments` is not positive or the shapes do not fit.
        RuntimeError: If a number is not below `num_segments`; in a compiled graph only with ``check_indices``, else
            it is left out too.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([1., 2., 3., 4.], mindspore.float32)
        >>> print(ops.{name}()(x, Tensor([0, 0, 1, 1], mindspore.int32), 2))
        {shown}
    """


def _limit(dtype, largest):
    info = jnp.finfo(dtype) if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype)
    return info.max if largest else info.min


_BELOW = Check("segment_ids", lambda given: [Range(given["segment_ids"], given["num_segments"], low=None)])


def _segments(empty, shown, start, called=()):
    """Decorator: combine(result, values, ids) enters values in their segments, which begin as start(dtype)."""

    def declare(combine):
        name = combine.__name__

        def kernel(x, segment_ids, num_segments: PositiveInt):
            dtype_in(name, "x", x, NUMBER)
            dtype_in(name, "segment_ids", segment_ids, INDEX)
            depth = segment_ids.ndim
            if not depth or segment_ids.shape != x.shape[:depth]:
                raise ValueError(
                    f"For '{name}', 'segment_ids' should have the shape of the first dimensions of 'x', "
                    f"{x.shape}, but got {segment_ids.shape}."
                )
            rest = x.shape[depth:]
            ids = segment_ids.reshape(-1)
            ids = jnp.where(ids < 0, num_segments, ids)  # jax counts negative indices from the end; these are dropped
            result = jnp.full((num_segments, *rest), start(x.dtype), x.dtype)
            return combine(result, x.reshape(math.prod(segment_ids.shape), *rest), ids)

        doc = _DOC.format(name=name, summary=combine.__doc__, empty=empty, shown=shown)
        functional = "unsorted_segment_" + name.removeprefix("UnsortedSegment").lower()
        return operator(functional=functional, called=called, checks=[_BELOW])(standing_for(combine, kernel, doc))

    return declare


@_segments("0", "[3. 7.]", lambda dtype: 0, called=("input_x",))
@in_float32
def UnsortedSegmentSum(result, values, ids):
    """Sum"""
    return result.at[ids].add(values, mode="drop")


@_segments("1", "[ 2. 12.]", lambda dtype: 1)
@in_float32
def UnsortedSegmentProd(result, values, ids):
    """Product"""
    return multiplied(result, values, (ids,))


@_segments("the largest number of the type", "[1. 3.]", lambda dtype: _limit(dtype, True))
def UnsortedSegmentMin(result, values, ids):
    """Minimum"""
    return result.at[ids].min(values, mode="drop")


@_segments("the smallest number of the type", "[2. 4.]", lambda dtype: _limit(dtype, False))
def UnsortedSegmentMax(result, values, ids):
    """Maximum"""
    return result.at[ids].max(values, mode="drop")


CASES = [
    case(UnsortedSegmentSum, F(4, 2), Values([0, 2, 0, 2]), 3),
    case(UnsortedSegmentSum, F(2, 2, 3), Values([[0, 1], [1, -1]]), 2),
    case(UnsortedSegmentProd, F(4, 2), Values([0, 2, 0, 2]), 3),
    case(UnsortedSegmentMin, F(4, 2), Values([0, 2, 0, 2]), 3),
    case(UnsortedSegmentMax, F(4, 2), Values([0, 2, 0, 2]), 3),
]
