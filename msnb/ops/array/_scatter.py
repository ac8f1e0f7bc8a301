"""Helpers shared by the scatter operators, which write at indices."""

import jax
import jax.numpy as jnp

from msnb.core.support.type_promotion import result_type
from msnb.ops._check import same_dtype
from msnb.ops._upcast import in_float32

DROP = {"mode": "drop", "wrap_negative_indices": False}  # skip indices out of range, which include negative ones


def _multiply_at(x, factors, index):
    return x.at[index].multiply(factors, **DROP)


@jax.custom_vjp
def multiply_slices(x, factors, index):
    """Multiply the slices of `x` at `index` (a tuple of arrays) by `factors`.

    A repeated index multiplies its slice repeatedly. JAX's own gradient of this requires distinct indices, so this
    function defines its gradient.
    """
    return _multiply_at(x, factors, index)


def _multiply_forward(x, factors, index):
    return multiply_slices(x, factors, index), (x, factors, index)


def _multiply_backward(saved, cotangent):
    x, factors, index = saved
    # The gradient of a factor needs the product of the other factors of its element. Zeros are counted separately,
    # because the product of all factors can't be divided by a factor 0.
    zero = factors == 0
    zeros = jnp.zeros(x.shape, jnp.int32).at[index].add(zero.astype(jnp.int32), **DROP)
    others = multiply_slices(jnp.ones_like(x), jnp.where(zero, jnp.ones_like(factors), factors), index)

    def at(array):
        return array.at[index].get(mode="fill", fill_value=0, wrap_negative_indices=False)

    share = jnp.where(zero, at(others) * (at(zeros) == 1), at(others) / jnp.where(zero, 1, factors) * (at(zeros) == 0))
    return cotangent * others * (zeros == 0), at(cotangent * x) * share, None


multiply_slices.defvjp(_multiply_forward, _multiply_backward)


@in_float32
def divide_slices(x, divisors, index):
    if jnp.issubdtype(x.dtype, jnp.inexact):
        return multiply_slices(x, 1 / divisors, index)
    return x.at[index].divide(divisors, **DROP)


def position_of(op, x, indices, updates):
    """Split the last dimension of `indices` into a tuple of index arrays, one per indexed axis; check the shapes."""
    depth = indices.shape[-1] if indices.ndim else 0
    if not indices.ndim or depth > x.ndim:
        raise ValueError(
            f"For '{op}', the last dimension of 'indices' should be at most {x.ndim}, the number of "
            f"dimensions of the Tensor, but the shape is {indices.shape}."
        )
    expected = indices.shape[:-1] + x.shape[depth:]
    if updates.shape != expected:
        raise ValueError(
            f"For '{op}', 'updates' should have shape {expected}, from indices of shape {indices.shape} and "
            f"a Tensor of shape {x.shape}, but got {updates.shape}."
        )
    return tuple(jnp.moveaxis(indices, -1, 0))


def cast_updates(op, x, updates):
    """Cast `updates` to the element type of `x`; raise an error if the two types promote to a wider one."""
    if result_type(x, updates, op) != x.dtype:
        same_dtype(op, input_x=x, updates=updates)
    return updates.astype(x.dtype)
