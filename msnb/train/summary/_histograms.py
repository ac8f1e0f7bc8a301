"""Histograms of many arrays. For short ones, such as most Parameters, the calls of numpy dominate the cost, so they
are counted together."""

from collections.abc import Sequence

import numpy as np

from msnb.formats.summary_events import Histogram
from msnb.train.summary._histogram import bin_count_of, histogram

_SHORT = 1 << 12  # elements
_LEAST, _MOST = 1e-18, 1e18  # bounds of the range of an array: within them no product leaves float32's range


def histograms(arrays: Sequence[np.ndarray]) -> list[Histogram]:
    """Return the `histogram` of each of the arrays."""
    short = [n for n, array in enumerate(arrays) if 0 < array.size <= _SHORT and array.dtype == np.float32]
    by_index = (
        dict(zip(short, _compute_short_histograms([arrays[n].ravel() for n in short]), strict=True))
        if len(short) > 1
        else {}
    )
    return [by_index.get(n) or histogram(array) for n, array in enumerate(arrays)]


def _compute_short_histograms(arrays):
    """Return the histogram of each of the arrays, float32 of at least one element.

    It is None for an array with values that are not finite, or whose range is zero or extreme.
    """
    flat, sizes = np.concatenate(arrays), np.array([array.size for array in arrays])
    starts = np.cumsum(sizes) - sizes
    with np.errstate(all="ignore"):  # results for such values are dropped
        least, largest = np.minimum.reduceat(flat, starts), np.maximum.reduceat(flat, starts)
        totals = np.add.reduceat(flat, starts, dtype=np.float64)
        distance = largest.astype(np.float64) - least
        plain = (distance > _LEAST) & (distance < _MOST)
        bin_counts = np.array([bin_count_of(size) for size in sizes.tolist()])
        scale = np.where(plain, bin_counts / distance, 0).astype(np.float32)
        bins = (flat - np.repeat(np.where(plain, least, 0), sizes)) * np.repeat(scale, sizes)
        bins = np.where(np.repeat(plain, sizes), bins, 0).astype(np.intp)
    np.minimum(bins, np.repeat(bin_counts - 1, sizes), out=bins)  # the largest number belongs to the last bin
    ends = np.cumsum(bin_counts)
    counts = np.bincount(bins + np.repeat(ends - bin_counts, sizes), minlength=ends[-1])
    rows = zip(plain, sizes, least, largest, totals, bin_counts, np.split(counts, ends[:-1]), strict=True)
    return [_build_histogram(*row) if fits else None for fits, *row in rows]


def _build_histogram(size, least, largest, total, parts, counts):
    first, last = float(least), float(largest)
    edges = np.append(first + np.arange(parts) * ((last - first) / parts), last)
    return Histogram(edges, counts, first, last, float(total), int(size))
