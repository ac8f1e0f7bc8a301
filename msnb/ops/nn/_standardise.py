"""Standardisation: what every normalisation computes, in float32 at least."""

import jax.numpy as jnp
from jax import lax

from msnb.ops._half import widened


def moments(x, axes):
    """Mean and biased variance of `x` over `axes`, which stay with length 1."""
    x = widened(x)
    mean = jnp.mean(x, axes, keepdims=True)
    centred = x - mean
    return mean, jnp.mean(centred * centred, axes, keepdims=True)


def scaled(x, mean, variance, epsilon, scale=None, shift=None):
    """(x - mean) / sqrt(variance + epsilon) * scale + shift; without `scale` or `shift` where that is None."""
    factor = lax.rsqrt(variance + epsilon)
    if scale is not None:
        factor = factor * widened(scale)
    y = (widened(x) - mean) * factor
    return y if shift is None else y + widened(shift)


def standardise(x, axes, epsilon, scale=None, shift=None):
    """`x` with mean 0 and variance 1 over `axes`, scaled and shifted, and the two moments that were taken away."""
    mean, variance = moments(x, axes)
    return scaled(x, mean, variance, epsilon, scale, shift), mean, variance
