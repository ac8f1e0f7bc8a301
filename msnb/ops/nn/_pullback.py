"""Differentiable pullbacks and transposes, which implement the Grad operators that custom `bprop` methods call."""

import jax
import jax.numpy as jnp


def pull(fn, *primals):
    """Return the pullback of `fn` at `primals`: a function from a cotangent of the result to a tuple of cotangents, one
    per primal."""
    if all(jnp.issubdtype(p.dtype, jnp.integer) for p in primals):  # JAX has no gradient of integers: use floats
        real = pull(fn, *(p.astype(jnp.float32) for p in primals))
        return lambda c: tuple(g.astype(p.dtype) for g, p in zip(real(c.astype(jnp.float32)), primals, strict=True))
    out, back = jax.vjp(fn, *primals)

    def pulled(cotangent):
        jax.tree.map(_check_gradient_shape, cotangent, out)
        return back(cotangent)

    return pulled


def apply_transpose(fn, shape, dy):
    """Apply the transpose of the linear `fn`, a function of arrays of `shape`, to the cotangent `dy`."""
    x = jax.ShapeDtypeStruct(tuple(shape), dy.dtype)
    _check_gradient_shape(dy, jax.eval_shape(fn, x))
    return jax.linear_transpose(fn, x)(dy)[0]


def _check_gradient_shape(gradient, result):
    if gradient.shape != result.shape:
        raise ValueError(f"a result of shape {result.shape} has no gradient of shape {gradient.shape}.")
