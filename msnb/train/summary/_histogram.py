"""How the numbers of an array are distributed, as MindSpore's event files have it.

It is counted while the next step is computed, by a thread that shares the cores and the memory with it: what it costs,
the training pays. So a long array is gone through twice, in pieces that stay in the processor's cache.
"""

import math
import threading

import numpy as np

from msnb.formats.summary_events import Histogram

_MOST = 90  # parts
_PIECE = 1 << 16  # numbers
_MANY = 1 << 13  # numbers of a piece, from which on they are counted two at a time


def histogram(array: np.ndarray) -> Histogram:
    """How the finite numbers of an array spread over equal parts of what lies between the least and the largest.

    There are 2 parts for up to 5 numbers, 3 for up to 10, then one more for each 10, at most 90.
    """
    flat = array.ravel()
    if flat.dtype.kind != "f":
        flat = flat.astype(np.float64)
    elif flat.dtype.itemsize < 4:
        flat = flat.astype(np.float32)
    finite, (least, largest), odd = flat, _range(flat), {}
    if not math.isfinite(largest - least):
        finite = flat[np.isfinite(flat)]
        least, largest = _range(finite)
    if finite.size != flat.size:
        odd = {
            "nan_count": int(np.isnan(flat).sum()),
            "pos_inf_count": int(np.isposinf(flat).sum()),
            "neg_inf_count": int(np.isneginf(flat).sum()),
        }
    if not finite.size:
        return Histogram(np.zeros(0), np.zeros(0, np.int64), 0.0, 0.0, 0.0, flat.size, **odd)
    parts = parts_of(finite.size)
    first, last = (least, largest) if least < largest else (least - 0.5, largest + 0.5)
    with np.errstate(over="ignore", invalid="ignore"):  # the sum of large numbers may be none
        counts, total = _counts_and_sum(finite, least, largest, parts)
    halves = first / 2 + np.arange(parts) * ((last / 2 - first / 2) / parts)  # the distance may be no float
    return Histogram(np.append(2 * halves, last), counts, least, largest, total, flat.size, **odd)


def parts_of(count: int) -> int:
    """Into how many parts so many numbers are counted."""
    if count <= 10:
        return 2 if count <= 5 else 3
    return min(count // 10 + 1, _MOST)


def _pieces(flat):
    return (flat[start : start + _PIECE] for start in range(0, flat.size, _PIECE))


def _range(flat):
    """The least and the largest number; NaN if one is."""
    if not flat.size:
        return math.inf, -math.inf
    if flat.size <= _PIECE:
        return float(flat.min()), float(flat.max())
    ends = np.array([(piece.min(), piece.max()) for piece in _pieces(flat)])
    return float(ends[:, 0].min()), float(ends[:, 1].max())


def _counts_and_sum(numbers, least, largest, parts):
    """(how many numbers lie in each part, int64[parts]; their sum)."""
    if least == largest:
        return np.bincount([parts // 2], [numbers.size], parts).astype(np.int64), float(numbers.sum(dtype=np.float64))
    power = _power(largest - least, np.finfo(numbers.dtype).maxexp)
    low = numbers.dtype.type(math.ldexp(least, power))
    scale = numbers.dtype.type(parts / (math.ldexp(largest, power) - math.ldexp(least, power)))
    width, total = parts + 1, 0.0
    ones, pairs = np.zeros(width, np.int64), None
    for piece in _pieces(numbers):
        total += float(piece.sum(dtype=np.float64))
        places = _places(np.ldexp(piece, power) if power else piece, low, scale)
        if piece.size < _MANY or piece.size % 2:
            ones += np.bincount(places.astype(np.intp), minlength=width)
        else:
            found = _pairs(places, width)
            pairs = found if pairs is None else np.add(pairs, found, out=pairs)
    counts = ones + pairs.sum(0) + pairs.sum(1) if pairs is not None else ones
    counts[parts - 1] += counts[parts]  # the largest number lies behind the last part
    return counts[:parts], total


def _power(distance, most):
    """The power of two to multiply by, which changes no digit, where a distance is no float or nearly none."""
    if distance < 2.0**-64:
        return 1 - math.frexp(distance)[1]
    return -1 if math.isinf(distance) or math.frexp(distance)[1] >= most else 0


def _places(numbers, low, scale):
    """The part that each number lies in, with a fraction."""
    places = _room(numbers.dtype)[0][: numbers.size]
    np.subtract(numbers, low, out=places)
    return np.multiply(places, scale, out=places)


def _pairs(places, width):
    """How many pairs of places, one of each half, lie in each pair of parts, int64[width, width].

    Counting is what costs most, and takes as long for a pair as for one number.
    """
    half = places.size // 2
    _, small, both, index = _room(places.dtype)
    small, both, index = small[: places.size], both[:half], index[:half]
    np.copyto(small, places, casting="unsafe")
    np.multiply(small[:half], np.uint16(width), out=both)
    np.add(both, small[half:], out=both)
    np.copyto(index, both)
    return np.bincount(index, minlength=width * width).reshape(width, width)


def _room(dtype):
    """Arrays that the passes write to, kept by the thread: new ones would cost more than what is written to them."""
    kept = vars(_rooms)
    if dtype.char not in kept:
        kept[dtype.char] = (
            np.empty(_PIECE, dtype),
            np.empty(_PIECE, np.uint8),
            np.empty(_PIECE // 2, np.uint16),
            np.empty(_PIECE // 2, np.intp),
        )
    return kept[dtype.char]


_rooms = threading.local()
