"""Functions with kinks and MindSpore's gradients at them. JAX's gradients differ there."""

import jax.numpy as jnp


def magnitude(x):
    """Return |x| with gradient sign(x): 0 at 0, where the gradient of `jnp.abs` is 1."""
    return jnp.abs(x) if jnp.issubdtype(x.dtype, jnp.complexfloating) else x * jnp.sign(x)


def larger(x, y):
    """Return the larger of two. The first of two equal ones gets the full gradient, as in r1.1.

    `jnp.maximum` halves the gradient of equal ones.
    """
    return jnp.where((x >= y) | (x != x), x, y)


def smaller(x, y):
    """Return the smaller of two. Of equal ones the first gets the full gradient."""
    return jnp.where((x <= y) | (x != x), x, y)
