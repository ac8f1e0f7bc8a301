"""Functions with kinks (abs, max, min) and the gradients that MindSpore defines at the kinks. Those of JAX differ."""

import jax.numpy as jnp


def magnitude(x):
    """Return |x| with gradient sign(x): 0 at 0, where the gradient of `jnp.abs` is 1."""
    return jnp.abs(x) if jnp.issubdtype(x.dtype, jnp.complexfloating) else x * jnp.sign(x)


def larger(x, y):
    """Return max(x, y). If both are equal, `x` gets the full gradient, as in r1.1.

    `jnp.maximum` halves the gradient of equal ones.
    """
    return jnp.where((x >= y) | (x != x), x, y)


def smaller(x, y):
    """Return min(x, y). If both are equal, `x` gets the full gradient."""
    return jnp.where((x <= y) | (x != x), x, y)


def first_largest(x, axis):
    """Return the largest elements along `axis`. The first of several equal ones gets the full gradient."""
    index = jnp.expand_dims(jnp.argmax(x, axis), axis)
    return jnp.squeeze(jnp.take_along_axis(x, index, axis), axis)
