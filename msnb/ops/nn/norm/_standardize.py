"""Standardization, the common computation of normalization operators, in at least float32."""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_derivatives import SymbolicZero

from msnb.ops._upcast import widened


def moments(x, axes):
    """Return the mean and the biased variance of `x` over `axes`, which keep length 1."""
    x = widened(x)
    mean = jnp.mean(x, axes, keepdims=True)
    centred = x - mean
    return mean, jnp.mean(centred * centred, axes, keepdims=True)


def scale_and_shift(x, mean, variance, epsilon, scale=None, shift=None):
    """Return (x - mean) / sqrt(variance + epsilon) * scale + shift. `scale` and `shift` may be None."""
    factor = lax.rsqrt(variance + epsilon)
    if scale is not None:
        factor = factor * widened(scale)
    y = (widened(x) - mean) * factor
    return y if shift is None else y + widened(shift)


def standardise(x, axes, epsilon, scale=None, shift=None):
    """Return (result, mean, variance): `x` standardised to mean 0 and variance 1 over `axes`, scaled and shifted, and
    its moments."""
    axes = tuple(range(x.ndim)[axis] for axis in (axes if isinstance(axes, tuple) else (axes,)))
    if all(_is_constant_along_axes(axes, x.ndim, values) for values in (scale, shift)):
        return _standardize(x, scale, shift, epsilon, axes)
    y, mean, variance = _standardize(x, None, None, epsilon, axes)
    y = y if scale is None else y * widened(scale)
    return (y if shift is None else y + widened(shift)), mean, variance


def _is_constant_along_axes(axes, ndim, values):
    return values is None or all(values.shape[axis - ndim] == 1 for axis in axes if ndim - axis <= values.ndim)


@functools.partial(jax.custom_jvp, nondiff_argnums=(4,))
def _standardize(x, scale, shift, epsilon, axes):
    mean, variance = moments(x, axes)
    return scale_and_shift(x, mean, variance, epsilon, scale, shift), mean, variance


def _standardize_jvp(axes, primals, tangents):
    """Return the values and the tangents of `_standardize`, with dy = factor * dx + slope * (standardised x) + offset.

    Its transpose needs two sums over `axes`: of the cotangent, and of its product with the standardized `x`. JAX's
    derivative of the definition needs four, and XLA compiles and runs each separately.
    """
    x, scale, shift, epsilon = primals
    dx, dscale, dshift, depsilon = (None if isinstance(t, SymbolicZero) else t for t in tangents)
    mean, variance = moments(x, axes)
    y = scale_and_shift(x, mean, variance, epsilon, scale, shift)
    inverse = lax.rsqrt(variance + epsilon)
    standard = (widened(x) - mean) * inverse
    factor = inverse if scale is None else inverse * widened(scale)
    dy, slope, offset, dmean, dvariance = 0, 0, 0, jnp.zeros_like(mean), jnp.zeros_like(variance)
    if dx is not None:
        dx = widened(dx)
        dmean, along = (jnp.mean(d, axes, keepdims=True) for d in (dx, dx * standard))
        dvariance = 2 * along / inverse
        dy, slope, offset = factor * dx, -factor * along, -factor * dmean
    if dscale is not None:
        slope = slope + widened(dscale)
    if depsilon is not None:
        slope = slope - 0.5 * factor * inverse * depsilon
    if dshift is not None:
        offset = offset + widened(dshift)
    dy = jnp.broadcast_to(dy + standard * slope + offset, y.shape)
    return (y, mean, variance), (dy, dmean, dvariance)


_standardize.defjvp(_standardize_jvp, symbolic_zeros=True)
