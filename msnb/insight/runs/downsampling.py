"""Downsampling for views: extremes of each pixel column, common steps, common histogram bins."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from msnb.insight.runs.values import Histogram, Series

_MAX_EDGE = 1e300


class Columns(NamedTuple):
    """A series, reduced to columns that each summarise consecutive values. A short series has a column for each value.

    Attributes:
        steps (numpy.ndarray): float64, of the first value in each column.
        times (numpy.ndarray): float64, UNIX seconds of the first value in each column.
        low, high, mean (numpy.ndarray): float32 of the finite values in each column, NaN if there are none.
        counts (numpy.ndarray): uint32, number of values in each column.
        bad (numpy.ndarray): uint32, number of values in each column that are NaN or infinite.
    """

    steps: np.ndarray
    times: np.ndarray
    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    counts: np.ndarray
    bad: np.ndarray


def thinned(series: Series, columns: int) -> Columns:
    """Downsample a series to at most `columns` columns of about equally many values.

    Args:
        series (Series): the recorded series.
        columns (int): maximum number of columns.

    Returns:
        Columns.
    """
    n, values = len(series.values), series.values
    finite = np.isfinite(values)
    all_finite = bool(finite.all())
    if n <= columns:
        floats = values.astype(np.float32) if all_finite else np.where(finite, values, np.nan).astype(np.float32)
        bad = (~finite).astype(np.uint32)
        return Columns(
            series.steps.astype(np.float64), series.times, floats, floats, floats, np.ones(n, np.uint32), bad
        )
    starts = np.linspace(0, n - 1, columns).astype(np.int64)  # the last column has only the last value
    counts = np.diff(starts, append=n)
    if all_finite:
        good, mean = counts, np.add.reduceat(values, starts) / counts
        low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    else:
        good = np.add.reduceat(finite.astype(np.int64), starts)
        total = np.add.reduceat(np.where(finite, values, 0.0), starts)
        mean = np.where(good > 0, total / np.maximum(good, 1), np.nan)
        values = np.where(finite, values, np.nan)
        low, high = np.fmin.reduceat(values, starts), np.fmax.reduceat(values, starts)
    steps, times = series.steps[starts].astype(np.float64), series.times[starts]
    counted = counts.astype(np.uint32), (counts - good).astype(np.uint32)
    return Columns(steps, times, low.astype(np.float32), high.astype(np.float32), mean.astype(np.float32), *counted)


def between(series: Series, first: float, last: float) -> Series:
    """Return a series from step `first` to step `last`, with one more value on either side."""
    indices = np.flatnonzero((series.steps >= first) & (series.steps <= last))
    if not len(indices):
        return Series(*(selection[:0] for selection in series))
    selection = slice(max(0, int(indices[0]) - 1), int(indices[-1]) + 2)
    return Series(*(array[selection] for array in series))


def evenly(things: Sequence[Any], most: int) -> list[Any]:
    """Return at most `most` items, evenly spaced, including the first and the last."""
    if len(things) <= most:
        return list(things)
    return [things[round(i * (len(things) - 1) / (most - 1))] for i in range(most)] if most > 1 else [things[-1]]


def in_common_bins(histograms: list[Histogram], bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Rebin histograms to common edges. Counts of a divided bin are distributed evenly.

    Args:
        histograms (list[Histogram]): the histograms of one tag.
        bins (int): number of bins.

    Returns:
        (edges, float64[bins + 1]; counts, float32[histograms, bins]).
    """
    # their differences are finite, too
    finite_edges = [histogram.edges[np.abs(histogram.edges) < _MAX_EDGE] for histogram in histograms]
    low = min((float(edges[0]) for edges in finite_edges if len(edges)), default=0.0)
    high = max((float(edges[-1]) for edges in finite_edges if len(edges)), default=1.0)
    if not high > low:
        low, high = low - (abs(low) or 1.0) * 0.5, low + (abs(low) or 1.0) * 0.5
    edges = np.linspace(low, high, bins + 1)
    counts = np.zeros((len(histograms), bins), np.float32)
    for row, histogram in zip(counts, histograms, strict=True):
        if len(histogram.counts) and (np.abs(histogram.edges) < _MAX_EDGE).all():
            old_edges = np.maximum.accumulate(histogram.edges)
            if old_edges[-1] > old_edges[0]:
                row[:] = np.diff(np.interp(edges, old_edges, np.concatenate([[0], np.cumsum(histogram.counts)])))
            else:  # all values are equal
                row[min(int((old_edges[0] - low) / (high - low) * bins), bins - 1)] = histogram.counts.sum()
    return edges, counts
