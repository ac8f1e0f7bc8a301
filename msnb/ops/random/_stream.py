"""Selection of random streams by seeds, and shared checks of random operators.

Every call takes the next key of the stream that `set_seed` starts. The attributes `seed` and `seed2` select a separate
stream, so two operators with different seeds draw different numbers. A program draws the same numbers again after the
same `set_seed`.
"""

import jax
import jax.numpy as jnp

from msnb.common.kinds import Kind, NonNegInt, Shape, accept_value, check
from msnb.ops._check import tensor_argument
from msnb.ops._numpy import element_type


def stream(key, *seeds):
    """Return `key` with each nonzero seed folded in: a separate random stream for each choice of `seeds`."""
    for seed in seeds:
        if seed:
            key = jax.random.fold_in(key, seed & 0xFFFFFFFF)
    return key


def _accept_positive_shape(value):
    value = accept_value(Shape, value)
    if any(n < 1 for n in value):
        raise ValueError
    return value


PositiveShape = Kind("a tuple of positive int", _accept_positive_shape)


def seed_of(op, seed):
    """Return a checked `seed`, or 0 for None."""
    return 0 if seed is None else check(NonNegInt, seed, "seed", op)


def common_shape(op, shape, *parameters):
    """Return `shape` broadcast with the shapes of the parameters of a distribution."""
    try:
        return jnp.broadcast_shapes(shape, *(p.shape for p in parameters))
    except ValueError:
        raise ValueError(
            f"For '{op}', the parameters of shapes {', '.join(str(p.shape) for p in parameters)} should "
            f"broadcast with 'shape' {shape}."
        ) from None


def check_numbers(op, name, value, allowed):
    """Raise TypeError unless `value` is a Tensor of one of the `allowed` types."""
    tensor_argument(op, name, value)
    if value.dtype not in allowed:
        raise TypeError(f"For '{op}', '{name}' should be {' or '.join(map(str, allowed))}, but got {value.dtype}.")


def size_of(op, size):
    """Return a shape that is given as one tuple or as several ints."""
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = size[0]
    return check(Shape, tuple(size), "size", op)


def number_type(op, dtype, allowed):
    """Return the element type for the argument `dtype` of a function of `mindspore.numpy`. Raise ValueError unless it
    is in `allowed`."""
    found = element_type(dtype, op)
    if found not in allowed:
        raise ValueError(f"For '{op}', 'dtype' should be {' or '.join(map(str, allowed))}, but got {found}.")
    return found
