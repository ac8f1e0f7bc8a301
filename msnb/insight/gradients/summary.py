"""Statistics of one tensor of one step: moments, extremes, counts and a histogram, computed on its device.

The reductions are written for XLA's CPU backend, where two passes over the values are cheap and a scatter is slow. A
histogram therefore compares an evenly spaced sample with the bins. NaN and Inf are counted only if there are any.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

COLUMNS = ("rounds", "mean", "std", "min", "max", "zeros", "nan", "inf", "saturated")
BINS = 32
SAMPLE = 1024  # elements that a histogram samples
_SMALL = 1 << 16  # arrays of at most this many elements are stacked

_NAN, _INF = COLUMNS.index("nan"), COLUMNS.index("inf")
_TINY = 1e-37


def moments(array: jax.Array, saturation: tuple[Any, ...] | None = None, exact: bool = True) -> jax.Array:
    """Return a float32 vector of `COLUMNS` for one array of real numbers.

    Args:
        array (jax.Array): any shape, real, not empty.
        saturation (Union[tuple, None]): (low, high); values outside of this range count as saturated.
        exact (bool): if True, NaN and Inf are counted here; otherwise their counts are zero.

    `std` is the root of the mean squared deviation. Values are divided by the largest magnitude before they are
    squared, because the square of 1e-30 underflows in float32.
    """
    x = _to_float(array).ravel()
    low, high = jnp.min(x), jnp.max(x)
    mean = jnp.sum(x) / x.size
    top = jnp.maximum(jnp.maximum(-low, high), _TINY)
    scaled = (x - mean) / top
    std = top * jnp.sqrt(jnp.sum(scaled * scaled) / x.size)
    near = 0.0
    if saturation is not None:
        near = _compute_true_fraction((x < saturation[0]) | (x > saturation[1]))
    nan, inf = (_count_true(jnp.isnan(x)), _count_true(jnp.isinf(x))) if exact else (0.0, 0.0)
    parts = (1.0, mean, std, low, high, _compute_true_fraction(x == 0), nan, inf, near)
    return jnp.stack([jnp.asarray(p, jnp.float32) for p in parts])


def merged(first: Any, second: Any) -> Any:
    """Return the moments of all elements of two arrays of one shape, from the moments of each."""
    n, m = first[0], second[0]
    total = n + m
    one, two = n / jnp.maximum(total, 1), m / jnp.maximum(total, 1)
    mean = one * first[1] + two * second[1]
    deviations = jnp.stack([first[2], first[1] - mean, second[2], second[1] - mean])
    top = jnp.maximum(jnp.max(jnp.abs(deviations)), _TINY)
    a, b, c, d = deviations / top
    std = top * jnp.sqrt(one * (a * a + b * b) + two * (c * c + d * d))
    both = jnp.stack(
        [
            total,
            mean,
            std,
            jnp.minimum(first[3], second[3]),
            jnp.maximum(first[4], second[4]),
            one * first[5] + two * second[5],
            first[6] + second[6],
            first[7] + second[7],
            one * first[8] + two * second[8],
        ]
    ).astype(jnp.float32)
    return jnp.where(n == 0, second, jnp.where(m == 0, first, both))


def nothing() -> Any:
    """Return the moments of no array, the neutral element of `merged`."""
    return jnp.zeros(len(COLUMNS), jnp.float32)


def histogram(array: jax.Array, low: jax.Array, high: jax.Array) -> jax.Array:
    """Return uint16 counts of `BINS` equal bins from `low` to `high`. At most about `SAMPLE` elements are counted."""
    x = _to_float(array).ravel()
    x = x[:: sample_stride(x.size)]
    width = jnp.maximum((high - low) / BINS, _TINY)
    place = jnp.clip(jnp.floor((x - low) / width), 0, BINS - 1)
    place = jnp.where(jnp.isfinite(x), place, -1.0)
    return jnp.sum(place[:, None] == jnp.arange(BINS, dtype=place.dtype), axis=0, dtype=jnp.int32).astype(jnp.uint16)


def sample_stride(size: int) -> int:
    """Return the step between sampled elements. It is coprime to the size, so every column of a matrix is sampled."""
    stride = max(1, -(-size // SAMPLE))
    while math.gcd(stride, size) != 1:
        stride += 1
    return stride


def summarised(arrays: list[jax.Array], saturations: list[Any]) -> tuple[jax.Array, jax.Array]:
    """Return (moments, histograms) of several arrays, stacked; NaN and Inf are counted only if there are any.

    Args:
        arrays (list): real arrays.
        saturations (list): (low, high) or None for each, see `moments`.
    """

    def one(array, saturation):
        stats = moments(array, saturation, exact=False)
        return stats, histogram(array, stats[3], stats[4])

    stacked_moments = _map_grouped_by_size(one, arrays, saturations)
    stats, bars = (jnp.stack([m[i] for m in stacked_moments]) for i in (0, 1))
    odd = ~jnp.isfinite(stats[:, 1] + stats[:, 2])

    def count():
        return jnp.stack(
            _map_grouped_by_size(lambda a, _: jnp.stack([_count_true(jnp.isnan(a)), _count_true(jnp.isinf(a))]), arrays)
        )

    counts = jax.lax.cond(jnp.any(odd), count, lambda: jnp.zeros((len(arrays), 2), jnp.float32))
    return stats.at[:, _NAN : _INF + 1].set(counts), bars


def finiteness(array: jax.Array) -> jax.Array:
    """Return uint8: 2 if the array has a NaN, else 1 if it has an infinity, else 0."""
    return jnp.max(jnp.where(jnp.isnan(array), 2, jnp.where(jnp.isinf(array), 1, 0)).astype(jnp.uint8))


def _map_grouped_by_size(fn, arrays, tags=None):
    """Return `[fn(array.ravel(), tag)]` for each array and its tag.

    Small arrays of one size share a kernel. A kernel per layer would take longer to compile than to train the network.
    """
    tags = tags or [None] * len(arrays)
    groups = {}
    for place, (array, tag) in enumerate(zip(arrays, tags)):
        key = (array.size, array.dtype, tag) if array.size <= _SMALL else place
        groups.setdefault(key, []).append(place)
    results = [None] * len(arrays)
    for places in groups.values():
        tag = tags[places[0]]
        if len(places) == 1:
            results[places[0]] = fn(arrays[places[0]].ravel(), tag)
            continue
        stacked = jax.vmap(lambda a, tag=tag: fn(a, tag))(jnp.stack([arrays[p].ravel() for p in places]))
        for number, place in enumerate(places):
            results[place] = jax.tree.map(lambda leaf, number=number: leaf[number], stacked)
    return results


def living(array: jax.Array) -> jax.Array:
    """Return a bool per unit, True if the unit is above zero anywhere in the batch. Units are channels, or the last
    axis.
    """
    axis = 1 if array.ndim > 2 else array.ndim - 1
    return jnp.max(array, axis=tuple(i for i in range(array.ndim) if i != axis)) > 0


def change(old: jax.Array, new: jax.Array) -> jax.Array:
    """Return (root mean square of the change, of the old values) of a Parameter, float32."""
    old, new = _to_float(old).ravel(), _to_float(new).ravel()
    return jnp.stack([_root_mean_square(new - old), _root_mean_square(old)]).astype(jnp.float32)


def _root_mean_square(x):
    top = jnp.maximum(jnp.max(jnp.abs(x)), _TINY)
    scaled = x / top
    return top * jnp.sqrt(jnp.sum(scaled * scaled) / x.size)


def _to_float(array):
    return array if array.dtype in (np.float32, np.float64) else array.astype(jnp.float32)


def _count_true(condition):
    return jnp.sum(condition, dtype=jnp.int32).astype(jnp.float32)


def _compute_true_fraction(condition):
    return _count_true(condition) / condition.size
