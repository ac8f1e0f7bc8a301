"""Casts for computing half precision inputs in float32. The largest float16 is 65504, so 256 ** 2 overflows.

Products, quotients and sums of half precision are computed in float32 and rounded once, gradients too. A sum over many
numbers in bfloat16 or float16 would lose most of its digits.
"""

import functools

import jax.numpy as jnp

_HALVES = (jnp.float16, jnp.bfloat16)


def widened(x):
    """Cast `x` to float32 if it has half precision."""
    return x.astype(jnp.float32) if x.dtype in _HALVES else x


def in_float32(function):
    """Decorator for a function of arrays: half precision inputs are cast to float32, and float32 results back.

    If the floating point inputs have different element types, nothing is cast: the function converts or rejects them.
    """

    @functools.wraps(function)
    def wide(*args, **settings):
        arrays = [a for arg in args for a in (arg if type(arg) is tuple else (arg,)) if hasattr(a, "dtype")]
        types = {a.dtype for a in arrays if jnp.issubdtype(a.dtype, jnp.inexact) and not getattr(a, "weak_type", False)}
        half = types.pop() if len(types) == 1 else None
        if half not in _HALVES:
            return function(*args, **settings)
        out = function(*[_cast_if_dtype_matches(arg, half, jnp.float32) for arg in args], **settings)
        return _cast_if_dtype_matches(out, jnp.float32, half)

    return wide


def _cast_if_dtype_matches(value, source, target):
    """Cast an array, or each array of a tuple, from `source` to `target`. Others are returned unchanged."""
    if type(value) is tuple:
        return tuple(_cast_if_dtype_matches(v, source, target) for v in value)
    return value.astype(target) if getattr(value, "dtype", None) == source else value
