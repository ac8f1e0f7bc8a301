"""Reductions over segments: slices with the same segment number are reduced to one slice."""

import math

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import PositiveInt
from msnb.core.operator.cases import F, Values, case
from msnb.core.operator.declare import operator, spelling, with_source_of
from msnb.core.operator.value_checks import Check, Range
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import INDEX, NUMBER, dtype_in, some, tensor_argument
from msnb.ops._host import HostPrimitive, host_operator
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.array._scatter import multiply_slices

_DOC = """{summary}

    Inputs:
        - **x** (Tensor) - Numbers, of at least 1 dimension.
        - **segment_ids** (Tensor) - int32 or int64, of the shape of the first dimension(s) of `x`; slices with a
          negative number are ignored.
        - **num_segments** (int) - Number of segments, positive.

    Outputs:
        Tensor of shape (num_segments, *rest of x.shape) and the element type of `x`; an empty segment holds {empty}.

    Raises:
        TypeError: If `segment_ids` are not integers or `num_segments` is not an int.
        ValueError: If `num_segments` is not positive or the shapes do not fit.
        RuntimeError: If a number is not below `num_segments`; in a compiled graph only with ``check_indices``, else
            it is left out too.

    Examples:
        >>> x = Tensor([1., 2., 3., 4.], mindspore.float32)
        >>> print(ops.{name}()(x, Tensor([0, 0, 1, 1], mindspore.int32), 2))
        {shown}
    """


def _get_dtype_limit(dtype, largest):
    info = jnp.finfo(dtype) if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype)
    return info.max if largest else info.min


_BELOW = Check("segment_ids", lambda inputs: [Range(inputs["segment_ids"], inputs["num_segments"], low=None)])


def _declare_segment_operator(empty, example, start, called=()):
    """Return a decorator that declares an operator from a function `combine(result, values, ids)`. The function reduces
    the values into `result`, whose segments are initialized with `start(dtype)`.
    """

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
            # replace negative numbers, which JAX would count from the end, by one that is out of range
            ids = jnp.where(ids < 0, num_segments, ids)
            result = jnp.full((num_segments, *rest), start(x.dtype), x.dtype)
            return combine(result, x.reshape(math.prod(segment_ids.shape), *rest), ids)

        doc = _DOC.format(name=name, summary=combine.__doc__, empty=empty, shown=example)
        functional = "unsorted_segment_" + name.removeprefix("UnsortedSegment").lower()
        return operator(functional=functional, called=called, checks=[_BELOW])(with_source_of(combine, kernel, doc))

    return declare


@_declare_segment_operator("0", "[3. 7.]", lambda dtype: 0, called=("input_x",))
@in_float32
def UnsortedSegmentSum(result, values, ids):
    """Sum of the slices of each segment."""
    return result.at[ids].add(values, mode="drop")


@_declare_segment_operator("1", "[ 2. 12.]", lambda dtype: 1)
@in_float32
def UnsortedSegmentProd(result, values, ids):
    """Product of the slices of each segment."""
    return multiply_slices(result, values, (ids,))


@_declare_segment_operator("the largest number of the type", "[1. 3.]", lambda dtype: _get_dtype_limit(dtype, True))
def UnsortedSegmentMin(result, values, ids):
    """Minimum of the slices of each segment."""
    return result.at[ids].min(values, mode="drop")


@_declare_segment_operator("the smallest number of the type", "[2. 4.]", lambda dtype: _get_dtype_limit(dtype, False))
def UnsortedSegmentMax(result, values, ids):
    """Maximum of the slices of each segment."""
    return result.at[ids].max(values, mode="drop")


_SORTED = """{summary} of the slices of each segment.

    The number of segments follows from the last segment number. A graph can compute the result only if that number is a
    constant. Otherwise a Cell with this operator runs operator by operator, in GRAPH mode too.

    Inputs:
        - **input_x** (Tensor) - Numbers, of at least 1 dimension.
        - **segment_ids** (Tensor) - int32 or int64, a vector of the first dimension of `input_x`, in rising order.

    Outputs:
        Tensor of shape (segment_ids[-1] + 1, *rest of input_x.shape); an empty segment holds {empty}.

    Raises:
        TypeError: If `segment_ids` are not integers.
        ValueError: If the shapes do not fit.
    """


def _declare_sorted_segment_operator(name, summary, empty, reduce):
    """Declare the operator class `name` for sorted segment numbers; `reduce(x, ids, count)` computes the result."""

    def call(self, input_x, segment_ids):
        tensor_argument(name, "input_x", input_x)
        (ids,) = self.values_of(tensor_argument(name, "segment_ids", segment_ids))
        if ids.ndim != 1 or input_x.shape[:1] != ids.shape or ids.size and (np.diff(ids) < 0).any():
            raise ValueError(
                f"For '{name}', 'segment_ids' should be a vector of {input_x.shape[:1]} numbers in rising order, but "
                f"got shape {ids.shape}."
            )
        return reduce(input_x, segment_ids, int(ids[-1]) + 1 if ids.size else 0)

    doc = _SORTED.format(summary=summary, empty=empty)
    members = {"__call__": call, "__doc__": doc, "__module__": __name__}
    return host_operator()(type(name, (HostPrimitive,), members))


def _make_zero_filling_reduction(cls):
    """Return the function of the unsorted reduction `cls`, changed to return 0 for empty segments."""

    def reduce(x, ids, count):
        reduced = cls.functional(x, ids, count)
        return _Occupied.functional(reduced, ids)

    return reduce


@operator
@shapes("x: _ ...")
def _Occupied(x, segment_ids):
    """Return `x` with zeros in the rows whose numbers do not occur in `segment_ids`."""
    there = jnp.zeros(x.shape[0], bool).at[segment_ids].set(True)
    return jnp.where(there.reshape(-1, *[1] * (x.ndim - 1)), x, 0)


@operator
@shapes("x: n ..., segment_ids: n")
@in_float32
def _MeanOfSegments(x, segment_ids, num_segments: PositiveInt):
    """Compute the mean of the slices of each segment, 0 for an empty segment."""
    total = jnp.zeros((num_segments, *x.shape[1:]), x.dtype).at[segment_ids].add(x)
    count = jnp.zeros(num_segments, x.dtype).at[segment_ids].add(1)
    return total / jnp.maximum(count, 1).reshape(-1, *[1] * (x.ndim - 1))


SegmentSum = _declare_sorted_segment_operator("SegmentSum", "Sum", "0", UnsortedSegmentSum.functional)
SegmentProd = _declare_sorted_segment_operator("SegmentProd", "Product", "1", UnsortedSegmentProd.functional)
SegmentMax = _declare_sorted_segment_operator(
    "SegmentMax", "Maximum", "0", _make_zero_filling_reduction(UnsortedSegmentMax)
)
SegmentMin = _declare_sorted_segment_operator(
    "SegmentMin", "Minimum", "0", _make_zero_filling_reduction(UnsortedSegmentMin)
)
SegmentMean = _declare_sorted_segment_operator("SegmentMean", "Mean", "0", _MeanOfSegments.functional)


@spelling(_MeanOfSegments)
def sparse_segment_mean(x: Tensor, indices: Tensor, segment_ids: Tensor) -> Tensor:
    """Compute for each segment the mean of rows of `x`: row indices[i] belongs to segment segment_ids[i].

    Args:
        x (Tensor): Floating point, of at least 1 dimension.
        indices (Tensor): int32 or int64, indices of rows of `x`.
        segment_ids (Tensor): Of the shape of `indices`, the segment of each row, in ascending order. The mean of an
            empty segment is 0.

    Returns:
        Tensor of shape (segment_ids[-1] + 1, *x.shape[1:]).

    Raises:
        TypeError: If an input is no Tensor.
        ValueError: If the shapes do not fit.
    """
    op = "sparse_segment_mean"
    if not tensor_argument(op, "x", x).ndim:
        raise ValueError(f"For '{op}', 'x' should have at least 1 dimension, but got shape ().")
    if tensor_argument(op, "indices", indices).size:
        some(op, "x", x, 0)
    return SegmentMean()(x[indices], segment_ids)


def _make_tensor_method(cls):
    def method(self, segment_ids, num_segments):
        return cls.functional(self, segment_ids, num_segments)

    method.__doc__ = f"As `ops.{cls.functional.__name__}`."
    return method


for _cls in (UnsortedSegmentMax, UnsortedSegmentMin, UnsortedSegmentProd):
    spelling(_cls, method=_cls.functional.__name__)(_make_tensor_method(_cls))


CASES = [
    case(UnsortedSegmentSum, F(4, 2), Values([0, 2, 0, 2]), 3),
    case(UnsortedSegmentSum, F(2, 2, 3), Values([[0, 1], [1, -1]]), 2),
    case(UnsortedSegmentProd, F(4, 2), Values([0, 2, 0, 2]), 3),
    case(UnsortedSegmentMin, F(4, 2), Values([0, 2, 0, 2]), 3),
    case(UnsortedSegmentMax, F(4, 2), Values([0, 2, 0, 2]), 3),
    *(
        case(reduction, F(4, 2), Values([0, 0, 2, 2])).without("graph", "its shape depends on values")
        for reduction in (SegmentSum, SegmentProd, SegmentMax, SegmentMin, SegmentMean)
    ),
    case(sparse_segment_mean, F(3, 2), Values([0, 2, 1]), Values([0, 0, 2])).without(
        "graph", "its shape depends on values"
    ),
    case(_MeanOfSegments, F(4, 2), Values([0, 0, 2, 2]), 4).without("mindspore", "its class takes no number"),
    case(_Occupied, F(4, 2), Values([0, 0, 2, 2])).without("mindspore", "it has none"),
]
