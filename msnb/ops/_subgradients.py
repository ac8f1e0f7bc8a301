"""abs, max and min with MindSpore's gradients at points where they are not differentiable. JAX's gradients differ
there."""

import jax.numpy as jnp


def magnitude(x):
    """Return |x|. Its gradient at 0 is 0; the gradient of `jnp.abs` at 0 is 1."""
    return jnp.abs(x) if jnp.issubdtype(x.dtype, jnp.complexfloating) else x * jnp.sign(x)


def larger(x, y):
    """Return max(x, y). If both are equal, `x` gets the full gradient, as in r1.1.

    `jnp.maximum` would give each of them half of the gradient.
    """
    return jnp.where((x >= y) | (x != x), x, y)


def smaller(x, y):
    """Return min(x, y). If both are equal, `x` gets the full gradient."""
    return jnp.where((x <= y) | (x != x), x, y)


def first_largest(x, axis):
    """Return the largest elements along `axis`. The first of several equal ones gets the full gradient."""
    index = jnp.expand_dims(jnp.argmax(x, axis), axis)
    return jnp.squeeze(jnp.take_along_axis(x, index, axis), axis)
