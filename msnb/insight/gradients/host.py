"""Compute the statistics of `summary` with numpy, for arrays in the memory of this process.

Values are read in place. If float32 is not sufficient, because squares underflow or a mean is far larger than the
deviation from it, they are read again in float64.
"""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from msnb.insight.gradients.summary import BINS, COLUMNS, sample_stride

_PIECE = 1 << 13  # elements of one dot product
_SAFE = 1e-30  # above this mean square, underflow of single squares does not matter


@np.errstate(invalid="ignore", over="ignore", divide="ignore")
def summarised(arrays: Sequence[Any], saturations: Sequence[Any] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return (moments, histograms) of several arrays, float32 (n, columns) and uint16 (n, BINS), as
    `summary.summarised`.
    """
    arrays = [_to_flat_numpy(a) for a in arrays]
    rows = [_compute_moments(a, ends) for a, ends in zip(arrays, saturations or [None] * len(arrays), strict=True)]
    low, high = (np.array([row[COLUMNS.index(name)] for row in rows]) for name in ("min", "max"))
    return np.array(rows, np.float32), _count_histograms(arrays, low, high)


@np.errstate(invalid="ignore", over="ignore")
def changes(before: list[jax.Array], after: list[jax.Array]) -> np.ndarray:
    """Return root mean squares of the change and of the old values of each Parameter, float32 (n, 2)."""
    pairs = [(_to_flat_numpy(old), _to_flat_numpy(new)) for old, new in zip(before, after)]
    return np.array([(_root_mean_square(new - old), _root_mean_square(old)) for old, new in pairs], np.float32)


def _to_flat_numpy(array):
    """Return a one-dimensional numpy view, float32 or float64."""
    array = np.asarray(array).ravel()
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float32)


def _sum_squares(array):
    """Return the sum of squares, by dot products so short that BLAS starts no threads."""
    return sum(float(x.dot(x)) for x in (array[start : start + _PIECE] for start in range(0, array.size, _PIECE)))


def _compute_moments(array, ends):
    """Return the statistics `COLUMNS` of one array. `ends` is the argument `saturation` of `summary.moments`."""
    low, high = np.minimum.reduce(array), np.maximum.reduce(array)
    mean, square = float(np.add.reduce(array)) / array.size, _sum_squares(array) / array.size
    variance = square - mean * mean
    nan = inf = 0
    if not np.isfinite(mean):
        nan, inf = np.isnan(array).sum(), np.isinf(array).sum()
    elif not (square > _SAFE and variance > 0.1 * square) or np.isinf(square):
        exact = array.astype(np.float64)
        mean = exact.mean()
        variance = np.square(exact - mean).mean()
    zeros = np.count_nonzero(array == 0) / array.size
    near = 0 if ends is None else np.count_nonzero((array < ends[0]) | (array > ends[1])) / array.size
    return 1, mean, np.sqrt(variance), low, high, zeros, nan, inf, near


def living(array: jax.Array) -> np.ndarray:
    """Return a bool per unit: True if it is above zero anywhere in the batch; see `summary.living`."""
    array = np.asarray(array)
    axis = 1 if array.ndim > 2 else array.ndim - 1
    return array.max(axis=tuple(i for i in range(array.ndim) if i != axis)) > 0


def _root_mean_square(array):
    square = _sum_squares(array) / array.size
    if not _SAFE < square < np.inf:
        square = np.square(array, dtype=np.float64).mean()
    return np.sqrt(square)


def _count_histograms(arrays, low, high):
    samples = [a[:: sample_stride(a.size)] for a in arrays]
    row = np.repeat(np.arange(len(arrays)), [s.size for s in samples])
    samples = np.concatenate(samples, dtype=np.float64)
    scale = BINS / np.maximum(high.astype(np.float64) - low, 1e-37)
    place = (samples - low[row]) * scale[row]
    is_finite = np.isfinite(place)
    place = np.clip(place[is_finite], 0, BINS - 1).astype(np.int64) + BINS * row[is_finite]
    return np.bincount(place, minlength=BINS * len(arrays)).reshape(-1, BINS).astype(np.uint16)
