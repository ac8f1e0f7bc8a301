"""Histograms of many arrays: of short ones, which most Parameters of a network are, the calls of numpy cost more than
the numbers do, so that these are counted together."""

from collections.abc import Sequence

import numpy as np

from msnb.formats.summary_events import Histogram
from msnb.train.summary._histogram import histogram, parts_of

_SHORT = 1 << 12  # numbers
_LEAST, _MOST = 1e-18, 1e18  # distances at which nothing that is multiplied leaves float32


def histograms(arrays: Sequence[np.ndarray]) -> list[Histogram]:
    """What `histogram` gives for each of the arrays."""
    short = [n for n, array in enumerate(arrays) if 0 < array.size <= _SHORT and array.dtype == np.float32]
    found = dict(zip(short, _together([arrays[n].ravel() for n in short]), strict=True)) if len(short) > 1 else {}
    return [found.get(n) or histogram(array) for n, array in enumerate(arrays)]


def _together(arrays):
    """The histogram of each float32[n], n from 1 on; None for numbers that want more care."""
    flat, sizes = np.concatenate(arrays), np.array([array.size for array in arrays])
    starts = np.cumsum(sizes) - sizes
    with np.errstate(all="ignore"):  # what comes of numbers that want more care is dropped
        least, largest = np.minimum.reduceat(flat, starts), np.maximum.reduceat(flat, starts)
        totals = np.add.reduceat(flat, starts, dtype=np.float64)
        distance = largest.astype(np.float64) - least
        plain = (distance > _LEAST) & (distance < _MOST)
        parts = np.array([parts_of(size) for size in sizes.tolist()])
        scale = np.where(plain, parts / distance, 0).astype(np.float32)
        places = (flat - np.repeat(np.where(plain, least, 0), sizes)) * np.repeat(scale, sizes)
        places = np.where(np.repeat(plain, sizes), places, 0).astype(np.intp)
    np.minimum(places, np.repeat(parts - 1, sizes), out=places)  # the largest number lies in the last part
    behind = np.cumsum(parts)
    counts = np.bincount(places + np.repeat(behind - parts, sizes), minlength=behind[-1])
    rows = zip(plain, sizes, least, largest, totals, parts, np.split(counts, behind[:-1]), strict=True)
    return [_one(*row) if fits else None for fits, *row in rows]


def _one(size, least, largest, total, parts, counts):
    first, last = float(least), float(largest)
    edges = np.append(first + np.arange(parts) * ((last - first) / parts), last)
    return Histogram(edges, counts, first, last, float(total), int(size))
