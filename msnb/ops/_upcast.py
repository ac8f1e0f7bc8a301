"""Half precision is computed wide: 65504 is the largest number of float16, so the square of 256 is infinite in it.

Whoever multiplies, divides or sums numbers of half precision takes float32 for it and rounds the result once; then the
gradient is computed wide as well. A sum over many numbers in bfloat16 or float16 would lose most of its digits, too.
"""

import functools

import jax.numpy as jnp

_HALVES = (jnp.float16, jnp.bfloat16)


def widened(x):
    """`x`, in float32 if it is in half precision."""
    return x.astype(jnp.float32) if x.dtype in _HALVES else x


def in_float32(function):
    """Decorator for a function of arrays: half precision goes in as float32, and float32 results come out as it was.

    Element types that differ are left alone: the function converts them itself, or refuses them.
    """

    @functools.wraps(function)
    def wide(*args, **settings):
        arrays = [a for arg in args for a in (arg if type(arg) is tuple else (arg,)) if hasattr(a, "dtype")]
        types = {a.dtype for a in arrays if jnp.issubdtype(a.dtype, jnp.inexact) and not getattr(a, "weak_type", False)}
        half = types.pop() if len(types) == 1 else None
        if half not in _HALVES:
            return function(*args, **settings)
        out = function(*[_each(arg, half, jnp.float32) for arg in args], **settings)
        return _each(out, jnp.float32, half)

    return wide


def _each(value, given, wanted):
    """Array or tuple of arrays, those of type `given` as `wanted`."""
    if type(value) is tuple:
        return tuple(_each(v, given, wanted) for v in value)
    return value.astype(wanted) if getattr(value, "dtype", None) == given else value
