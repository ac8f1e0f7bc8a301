"""Histograms of arrays, with the bins of MindSpore's event files.

A thread computes them during the next step, and shares cores and memory with it, so their cost slows the training. A
long array is therefore read twice, in chunks that fit the processor's cache.
"""

import math
import threading

import numpy as np

from msnb.formats.summary_events import Histogram

_MAX_BINS = 90
_CHUNK = 1 << 16  # elements
_MIN_PAIRED = 1 << 13  # least number of elements of a chunk for which pairs are counted


def histogram(array: np.ndarray) -> Histogram:
    """Return the histogram of the finite numbers of an array, in equal bins from the smallest to the largest.

    There are 2 bins for up to 5 numbers, 3 for up to 10, then one more for each 10, at most 90.
    """
    flat = array.ravel()
    if flat.dtype.kind != "f":
        flat = flat.astype(np.float64)
    elif flat.dtype.itemsize < 4:
        flat = flat.astype(np.float32)
    finite, (least, largest), special_counts = flat, _find_range(flat), {}
    if not math.isfinite(largest - least):
        finite = flat[np.isfinite(flat)]
        least, largest = _find_range(finite)
    if finite.size != flat.size:
        special_counts = {
            "nan_count": int(np.isnan(flat).sum()),
            "pos_inf_count": int(np.isposinf(flat).sum()),
            "neg_inf_count": int(np.isneginf(flat).sum()),
        }
    if not finite.size:
        return Histogram(np.zeros(0), np.zeros(0, np.int64), 0.0, 0.0, 0.0, flat.size, **special_counts)
    bin_count = bin_count_of(finite.size)
    first, last = (least, largest) if least < largest else (least - 0.5, largest + 0.5)
    with np.errstate(over="ignore", invalid="ignore"):  # the sum of large numbers may overflow
        counts, total = _count_bins_and_sum(finite, least, largest, bin_count)
    halves = first / 2 + np.arange(bin_count) * ((last / 2 - first / 2) / bin_count)  # the difference may overflow
    return Histogram(np.append(2 * halves, last), counts, least, largest, total, flat.size, **special_counts)


def bin_count_of(count: int) -> int:
    """Return the number of bins for `count` numbers."""
    if count <= 10:
        return 2 if count <= 5 else 3
    return min(count // 10 + 1, _MAX_BINS)


def _split_chunks(flat):
    return (flat[start : start + _CHUNK] for start in range(0, flat.size, _CHUNK))


def _find_range(flat):
    """Return the smallest and the largest number; NaN if one is NaN."""
    if not flat.size:
        return math.inf, -math.inf
    if flat.size <= _CHUNK:
        return float(flat.min()), float(flat.max())
    ends = np.array([(piece.min(), piece.max()) for piece in _split_chunks(flat)])
    return float(ends[:, 0].min()), float(ends[:, 1].max())


def _count_bins_and_sum(numbers, least, largest, bin_count):
    """Return (number of elements in each bin, int64[bin_count]; sum of the elements)."""
    if least == largest:
        return np.bincount([bin_count // 2], [numbers.size], bin_count).astype(np.int64), float(
            numbers.sum(dtype=np.float64)
        )
    power = _choose_scale_exponent(largest - least, np.finfo(numbers.dtype).maxexp)
    low = numbers.dtype.type(math.ldexp(least, power))
    scale = numbers.dtype.type(bin_count / (math.ldexp(largest, power) - math.ldexp(least, power)))
    width, total = bin_count + 1, 0.0
    ones, pairs = np.zeros(width, np.int64), None
    for piece in _split_chunks(numbers):
        total += float(piece.sum(dtype=np.float64))
        bins = _compute_bin_positions(np.ldexp(piece, power) if power else piece, low, scale)
        if piece.size < _MIN_PAIRED or piece.size % 2:
            ones += np.bincount(bins.astype(np.intp), minlength=width)
        else:
            chunk_pairs = _count_bin_pairs(bins, width)
            pairs = chunk_pairs if pairs is None else np.add(pairs, chunk_pairs, out=pairs)
    counts = ones + pairs.sum(0) + pairs.sum(1) if pairs is not None else ones
    counts[bin_count - 1] += counts[bin_count]  # the largest number is at the end of the last bin
    return counts[:bin_count], total


def _choose_scale_exponent(distance, most):
    """Return n for which the distance of the smallest and the largest number, scaled by 2**n, neither overflows nor is
    tiny.

    n is 0 for usual distances. `most` is the exponent at which the dtype overflows.
    """
    if distance < 2.0**-64:
        return 1 - math.frexp(distance)[1]
    return -1 if math.isinf(distance) or math.frexp(distance)[1] >= most else 0


def _compute_bin_positions(numbers, low, scale):
    """Return ``(numbers - low) * scale``: the bin of each number, before it is rounded down."""
    bins = _get_scratch_arrays(numbers.dtype)[0][: numbers.size]
    np.subtract(numbers, low, out=bins)
    return np.multiply(bins, scale, out=bins)


def _count_bin_pairs(bins, width):
    """Pair each bin number of the first half of `bins` with one of the second half; count equal pairs.

    Return int64[width, width], the count of each pair.

    Counting dominates the cost, and takes as long for a pair as for one number.
    """
    half = bins.size // 2
    _, codes, pair_codes, index = _get_scratch_arrays(bins.dtype)
    codes, pair_codes, index = codes[: bins.size], pair_codes[:half], index[:half]
    np.copyto(codes, bins, casting="unsafe")
    np.multiply(codes[:half], np.uint16(width), out=pair_codes)
    np.add(pair_codes, codes[half:], out=pair_codes)
    np.copyto(index, pair_codes)
    return np.bincount(index, minlength=width * width).reshape(width, width)


def _get_scratch_arrays(dtype):
    """Return scratch arrays of this thread: allocating new ones would cost more than filling them."""
    cache = vars(_scratch)
    if dtype.char not in cache:
        cache[dtype.char] = (
            np.empty(_CHUNK, dtype),
            np.empty(_CHUNK, np.uint8),
            np.empty(_CHUNK // 2, np.uint16),
            np.empty(_CHUNK // 2, np.intp),
        )
    return cache[dtype.char]


_scratch = threading.local()
