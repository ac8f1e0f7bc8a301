"""Pullbacks and transposes, for the Grad operators, which custom `bprop` methods call: each is differentiable again."""

import jax


def pull(fn, *primals):
    """Pullback of `fn` at `primals`: takes a cotangent of the result, returns a tuple, one for each primal."""
    return jax.vjp(fn, *primals)[1]


def transposed(fn, shape, dy):
    """Of the linear `fn` over arrays of `shape`: its gradient from the cotangent `dy`."""
    return jax.linear_transpose(fn, jax.ShapeDtypeStruct(tuple(shape), dy.dtype))(dy)[0]
