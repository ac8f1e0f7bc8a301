"""Maximum over windows, differentiable to any order; the first maximum in row order takes the gradient."""

from math import prod

import jax.numpy as jnp
import numpy as np
from jax import lax

_CHAINED_TAPS = 9  # XLA's scatter of the gradient is 1.1 to 6 times slower than the chain up to here, faster beyond


def max_pool(x, kernel, strides, padding):
    """Largest value in each window of `x` (N, C, ...); windows slide over the trailing dimensions."""
    # a numpy scalar: for an array JAX would not see that this is a maximum, and could not differentiate it
    low = x.dtype.type(-np.inf if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo(x.dtype).min)
    if prod(kernel) <= _CHAINED_TAPS:
        return _chain(x, kernel, strides, padding, low)
    return lax.reduce_window(x, low, lax.max, (1, 1, *kernel), (1, 1, *strides), ((0, 0), (0, 0), *padding))


def _chain(x, kernel, strides, padding, low):
    """One comparison a tap: XLA fuses them, and the gradient is a sum of shifted selections."""
    best = None
    for value in window_taps(x, kernel, strides, padding, low):
        # the second condition keeps NaN, which compares false with everything
        best = value if best is None else jnp.where((value > best) | (value != value), value, best)
    return best


def window_taps(x, kernel, strides, padding, fill):
    """For every tap of the window, in row order: the pixels of `x`, padded with `fill`, that it meets."""
    if any(map(any, padding)):
        x = jnp.pad(x, ((0, 0), (0, 0), *padding), constant_values=fill)
    outs = [(n - k) // s + 1 for n, k, s in zip(x.shape[2:], kernel, strides, strict=True)]
    for flat in range(prod(kernel)):
        tap = []
        for k in reversed(kernel):
            flat, place = divmod(flat, k)
            tap.insert(0, place)
        stops = [t + (o - 1) * s + 1 for t, o, s in zip(tap, outs, strides, strict=True)]
        yield lax.slice(x, (0, 0, *tap), (*x.shape[:2], *stops), (1, 1, *strides))
