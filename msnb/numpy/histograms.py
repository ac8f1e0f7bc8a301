"""Histograms: bin edges, the bin of each number, and counts."""

from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, PositiveInt, check
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._numpy import ArrayLike, as_tensor, as_tensors, common_type, in_type
from msnb.ops.array.bincount import _BinCount
from msnb.ops.array.cast import Cast
from msnb.ops.array.join import Stack
from msnb.ops.array.reshape import Reshape
from msnb.ops.array.sequence import LinSpace
from msnb.ops.array.sort import SearchSorted
from msnb.ops.array.where import _Where
from msnb.ops.math.arithmetic import _Diff
from msnb.ops.math.compare import Equal, GreaterEqual
from msnb.ops.math.extremes import ReduceMax, ReduceMin
from msnb.ops.math.sum import ReduceSum


@spelling(numpy="digitize")
def digitize(x: ArrayLike, bins: ArrayLike, right: Bool = False) -> Tensor:
    """Return the index of the bin of each number: i where ``bins[i - 1] <= x < bins[i]``, or
    ``bins[i - 1] > x >= bins[i]`` for decreasing bins.

    Args:
        x (Union[Tensor, list, tuple, int, float]): Numbers, of any shape.
        bins (Union[Tensor, list, tuple]): The edges of the bins, increasing or decreasing.
        right (bool): True if a bin includes its right edge, False if it includes its left edge. Default: False.

    Returns:
        Tensor of int32, of the shape of `x`; 0 before the first edge, the number of edges after the last one.

    Raises:
        TypeError: If `x` or `bins` has another type, or `right` is not a bool.
        ValueError: If `bins` is no vector.

    Examples:
        >>> print(mindspore.numpy.digitize([1.2, 10.0, 12.4], [0, 5, 10, 15]))
        [1 3 3]
    """
    x, bins = common_type(*as_tensors("digitize", x=x, bins=bins))
    if bins.ndim != 1:
        raise ValueError(f"For 'digitize', 'bins' should be a vector, but got shape {bins.shape}.")
    right = check(Bool, right, "right", "digitize")
    if not bins.size:
        return Tensor(np.zeros(x.shape, np.int32))
    rising = SearchSorted(right=not right)(bins, x)
    falling = bins.size - SearchSorted(right=not right)(bins[::-1], x)
    bin_numbers = _Where.functional(GreaterEqual.functional(bins[-1], bins[0]), rising, falling)
    return Cast.functional(bin_numbers, mstype.int32)


@spelling(numpy="histogram_bin_edges")
def histogram_bin_edges(
    a: ArrayLike, bins: Any = 10, range: tuple[float, float] | None = None, weights: ArrayLike | None = None
) -> Tensor:
    """Return the edges of the bins of a histogram.

    Args:
        a (Union[Tensor, list, tuple]): Numbers, of any shape.
        bins (Union[int, Tensor, list, tuple]): Number of bins of equal width, or the edges of the bins. Default: 10.
        range (tuple): Lower and upper end of the bins. Default: None, smallest and largest number of `a`.
        weights (Union[Tensor, list, tuple]): No effect: the edges do not depend on weights. Default: None.

    Returns:
        Tensor, a vector. If `bins` is a number, the result is float32; otherwise the edges in `bins` are returned.

    Raises:
        TypeError: If `a` has another type, or `bins` is neither an int nor edges.
        ValueError: If `bins` is neither a positive int nor a vector, `range` is not an increasing pair, or `weights`
            has another shape.

    Examples:
        >>> print(mindspore.numpy.histogram_bin_edges([0.0, 1.0, 4.0], bins=2))
        [0. 2. 4.]
    """
    return _make_bin_edges("histogram_bin_edges", _flatten_inputs("histogram_bin_edges", a, weights)[0], bins, range)


def _flatten_inputs(function, a, weights):
    """Return `a` and `weights` as vectors."""
    x = as_tensor(a, function, "a")
    if weights is not None:
        weights = as_tensor(weights, function, "weights")
        if weights.shape != x.shape:
            raise ValueError(
                f"For '{function}', 'weights' should have the shape of 'a', {x.shape}, but got {weights.shape}."
            )
        weights = Reshape.functional(weights, (-1,))
    return Reshape.functional(x, (-1,)), weights


def _make_bin_edges(function, x, bins, range):
    if isinstance(bins, (Tensor, list, tuple)):
        bins = as_tensor(bins, function, "bins")
        if bins.ndim != 1:
            raise ValueError(f"For '{function}', 'bins' should be a vector, but got shape {bins.shape}.")
        return bins
    if isinstance(bins, str):
        raise NotImplementedError(f"For '{function}', 'bins' should be a number or edges; rules by name are not there.")
    bins = check(PositiveInt, bins, "bins", function)
    if range is None:
        x = Cast.functional(x, mstype.float32)
        low, high = (ReduceMin.functional(x), ReduceMax.functional(x)) if x.size else (Tensor(0.0), Tensor(1.0))
    else:
        if not isinstance(range, (list, tuple)) or len(range) != 2 or range[0] > range[1]:
            raise ValueError(f"For '{function}', 'range' should be a pair (low, high), but got {range!r}.")
        low, high = (Tensor(float(end), mstype.float32) for end in range)
    half = _Where.functional(Equal.functional(low, high), 0.5, 0.0)  # a range of width 0 is widened to 1
    return LinSpace.functional(low - half, high + half, bins + 1)


def _find_bins(x, edges):
    """Return 1 + the index of the bin of each number, 0 below the first edge. The last edge belongs to the last bin."""
    count = edges.shape[0] - 1
    x, edges = common_type(x, edges)
    place = SearchSorted(right=True)(edges, x)
    return _Where.functional(Equal.functional(x, edges[-1]), count, place)


@spelling(numpy="histogram")
def histogram(
    a: ArrayLike,
    bins: Any = 10,
    range: tuple[float, float] | None = None,
    weights: ArrayLike | None = None,
    density: Bool = False,
) -> tuple[Tensor, Tensor]:
    """Count the numbers in each bin.

    Args:
        a (Union[Tensor, list, tuple]): Numbers, of any shape.
        bins (Union[int, Tensor, list, tuple]): Number of bins of equal width, or the edges of the bins. Default: 10.
        range (tuple): Lower and upper end of the bins. Default: None, smallest and largest number of `a`.
        weights (Union[Tensor, list, tuple]): Weight of each number, of the shape of `a`. Default: None, 1.
        density (bool): Whether the result is a density, whose integral is 1. Default: False.

    Returns:
        A tuple of two Tensors: the counts, of float32, and the edges of the bins. There is one more edge than counts.

    Raises:
        TypeError: If `a` has another type, or an argument has the wrong type.
        ValueError: If `bins` is neither a positive int nor a vector, `range` is not an increasing pair, or `weights`
            has another shape.

    Examples:
        >>> counts, edges = mindspore.numpy.histogram([1, 2, 1], bins=[0, 1, 2, 3])
        >>> print(counts, edges)
        [0. 2. 1.] [0 1 2 3]
    """
    x, weights = _flatten_inputs("histogram", a, weights)
    edges = _make_bin_edges("histogram", x, bins, range)
    counts = _BinCount(edges.shape[0])(_find_bins(x, edges), weights)[1:]
    if check(Bool, density, "density", "histogram"):
        counts = counts / in_type(_Diff.functional(edges), mstype.float32, "histogram") / ReduceSum.functional(counts)
    return counts, edges


@spelling(numpy="histogramdd")
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None, density: Bool = False
) -> tuple[Tensor, list[Tensor]]:
    """Count points in D dimensions in a grid of boxes, which are formed by the bins along each dimension.

    Args:
        sample (Union[Tensor, list, tuple]): Points, of shape (N, D), or a list of the D coordinates of all N points.
        bins (Union[int, list, tuple]): Number of bins for all dimensions, or a list with the number or the edges of the
            bins along each dimension. Default: 10.
        range (Union[list, tuple]): A pair (low, high) or None for each dimension. Default: None, smallest and largest
            coordinates of `sample`.
        weights (Union[Tensor, list, tuple]): Weight of each point, of shape (N,). Default: None, 1.
        density (bool): Whether the result is a density, whose integral is 1. Default: False.

    Returns:
        A tuple: the counts, a Tensor of float32 with D dimensions, and a list of the edges along each dimension.

    Raises:
        TypeError: If `sample` has another type, or an argument has the wrong type.
        ValueError: If `sample` does not have 2 dimensions, or `bins`, `range` or `weights` do not fit it.
    """
    return _count_points_in_boxes("histogramdd", sample, bins, range, weights, density)


def _count_points_in_boxes(function, sample, bins, range, weights, density):
    if isinstance(sample, (list, tuple)):
        sample = Stack(-1)(common_type(*[as_tensor(s, function, "sample") for s in sample]))
    sample = as_tensor(sample, function, "sample")
    if sample.ndim != 2:
        raise ValueError(f"For '{function}', 'sample' should have shape (N, D), but got {sample.shape}.")
    dimensions = sample.shape[1]
    bins = [bins] * dimensions if isinstance(bins, int) else list(bins)
    ranges = [None] * dimensions if range is None else list(range)
    for argument, entries in (("bins", bins), ("range", ranges)):
        if len(entries) != dimensions:
            raise ValueError(
                f"For '{function}', '{argument}' should have one entry for each of {dimensions} dimensions, but got "
                f"{len(entries)}."
            )
    columns = [sample[:, i] for i, _ in enumerate(bins)]
    edges = [_make_bin_edges(function, *of_one) for of_one in zip(columns, bins, ranges, strict=True)]
    shape = tuple(e.shape[0] + 1 for e in edges)  # each axis has an additional bin at both ends, for outliers
    flat = 0
    for column, edge, length in zip(columns, edges, shape, strict=True):
        flat = flat * length + _find_bins(column, edge)
    if weights is not None:
        weights = as_tensor(weights, function, "weights")
    counts = Reshape.functional(_BinCount(int(np.prod(shape)))(flat, weights), shape)
    counts = counts[(slice(1, -1),) * dimensions]
    if check(Bool, density, "density", function):
        total = ReduceSum.functional(counts)
        for i, edge in enumerate(edges):
            width = in_type(_Diff.functional(edge), mstype.float32, function)
            counts = counts / Reshape.functional(width, (-1,) + (1,) * (dimensions - 1 - i))
        counts = counts / total
    return counts, edges


@spelling(numpy="histogram2d")
def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: Any = 10,
    range: Any = None,
    weights: ArrayLike | None = None,
    density: Bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Count points of the plane in a grid of boxes, which are formed by the bins along the two axes.

    Args:
        x (Union[Tensor, list, tuple]): The x coordinates, a vector.
        y (Union[Tensor, list, tuple]): The y coordinates, a vector of the same length.
        bins (Union[int, Tensor, list, tuple]): Number of bins or edges of the bins for both axes, or a pair with one
            entry for each axis. Default: 10.
        range (Union[list, tuple]): A pair (low, high) or None for each axis. Default: None, smallest and largest
            coordinates.
        weights (Union[Tensor, list, tuple]): Weight of each point. Default: None, 1.
        density (bool): Whether the result is a density, whose integral is 1. Default: False.

    Returns:
        A tuple of three Tensors: the counts, of float32, the edges along the first axis, and the edges along the second
        axis.

    Raises:
        TypeError: If `x` or `y` has another type, or an argument has the wrong type.
        ValueError: If `bins`, `range` or `weights` do not match the axes or the number of points.
    """
    if not isinstance(bins, int) and len(bins) != 2:  # any other length means edges, which both axes share
        bins = [bins, bins]
    counts, edges = _count_points_in_boxes("histogram2d", [x, y], bins, range, weights, density)
    return counts, *edges
