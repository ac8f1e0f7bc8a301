"""Reductions over the segments that a Tensor of segment numbers marks."""

import math

import jax.numpy as jnp

from msnb.common.kinds import PositiveInt
from msnb.core.checks import Check, Range
from msnb.core.declare import operator
from msnb.ops._check import INDEX, NUMBER, dtype_in
from msnb.ops._half import in_float32
from msnb.ops.array.scatter import multiplied

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


_EMPTY = {"sum": lambda d: 0, "prod": lambda d: 1, "min": lambda d: _limit(d, True), "max": lambda d: _limit(d, False)}
_REDUCE = {
    "sum": lambda x, v, i: x.at[i].add(v, mode="drop"),
    "prod": lambda x, v, i: multiplied(x, v, (i,)),
    "min": lambda x, v, i: x.at[i].min(v, mode="drop"),
    "max": lambda x, v, i: x.at[i].max(v, mode="drop"),
}


_BELOW = Check("segment_ids", lambda given: [Range(given["segment_ids"], given["num_segments"], low=None)])


def _declare(name, mode, summary, empty, shown):
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
        start = jnp.full((num_segments, *rest), _EMPTY[mode](x.dtype), x.dtype)
        reduce = in_float32(_REDUCE[mode]) if mode in ("sum", "prod") else _REDUCE[mode]
        return reduce(start, x.reshape(math.prod(segment_ids.shape), *rest), ids)

    kernel.__name__ = kernel.__qualname__ = f"unsorted_segment_{mode}"
    kernel.__doc__ = _DOC.format(name=name, summary=summary, empty=empty, shown=shown)
    return operator(name, functional=f"unsorted_segment_{mode}", checks=[_BELOW])(kernel)


_declare("UnsortedSegmentSum", "sum", "Sum", "0", "[3. 7.]")
_declare("UnsortedSegmentProd", "prod", "Product", "1", "[ 2. 12.]")
_declare("UnsortedSegmentMin", "min", "Minimum", "the largest number of the type", "[1. 3.]")
_declare("UnsortedSegmentMax", "max", "Maximum", "the smallest number of the type", "[2. 4.]")
