"""Map a range of floating point numbers to the integers of `num_bits` bits, and round numbers to the quantised values.

Quantisation writes x as (q - zero point) * scale with an integer q of `num_bits` bits. The range is shifted slightly
first, so that 0 is one of the quantised values: padding and ReLU then stay exact. The forward pass uses the rounded
numbers. The gradient is that of the identity within the range (the straight-through estimator of Bengio et al., 2013),
because the derivative of rounding is 0 almost everywhere.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Between, Int
from msnb.ops import _check
from msnb.ops._upcast import widened

Bits = Between(Int, 2, 16)


class Grid(NamedTuple):
    """The quantised values (q - zero) * scale for the integers q from `first` to `last`.

    Attributes:
        first (int): The smallest integer.
        last (int): The largest integer.
        zero (Array): The zero point: the integer that represents 0.0.
        width (Array): Length of the range of quantised values.
    """

    first: int
    last: int
    zero: jax.Array
    width: jax.Array

    @property
    def scale(self):
        """Difference of two adjacent quantised values."""
        return self.width / (self.last - self.first)

    @property
    def low(self):
        """The smallest quantised value, that of the integer `first`."""
        return (self.first - self.zero) * self.scale

    @property
    def high(self):
        """The largest quantised value, that of the integer `last`."""
        return (self.last - self.zero) * self.scale

    def rounded(self, x):
        """Round each element of `x` to the nearest quantised value; halves are rounded up."""
        steps = _divide_by_width(jnp.clip(x, self.low, self.high), self.width) * (self.last - self.first)
        # The result is one product of an integer and the scale: a sum of two products would give 0.0 a rounding error.
        return jnp.floor(steps + 0.5) * self.scale

    def holds(self, x):
        """Return a mask that is True where `x` is within the range of quantised values."""
        return (self.low <= x) & (x <= self.high)


def _divide_by_width(x, width):
    """Return x / width, or x if `width` is 0. For the ends of a symmetric range the quotient is exactly one half, so
    that rounding a multiple of it always gives the same result. A division by the scale could give a number just above
    or below the half."""
    return x / jnp.where(width == 0, 1.0, width)


def grid_of(low, high, num_bits, symmetric, narrow_range):
    """Return the Grid for the range from `low` to `high`, shifted slightly so that 0.0 is one of its values.

    Args:
        low (Array): The lower end.
        high (Array): The upper end.
        num_bits (int): The grid has 2 ** num_bits integers.
        symmetric (bool): Whether to widen the range so that 0 is its middle.
        narrow_range (bool): Whether to leave out the smallest integer, so that a symmetric range has as many negative
            integers as positive ones.
    """
    first, last = int(narrow_range), 2**num_bits - 1
    low, high = lax.stop_gradient(widened(low)), lax.stop_gradient(widened(high))
    if symmetric:
        high = jnp.maximum(-low, high)
        low = -high
    width = high - low
    zero = jnp.floor(jnp.clip(first - _divide_by_width(low, width) * (last - first), first, last) + 0.5)
    return Grid(first, last, zero, width)


@jax.custom_jvp
def straight_through(x, value, passes):
    """Return `value` with a straight-through gradient: the derivative with respect to `x` is 1 where `passes` is True,
    and 0 elsewhere.
    """
    return value


@straight_through.defjvp
def _straight_through_jvp(primals, tangents):
    _, value, passes = primals
    return value, jnp.where(passes, tangents[0], 0).astype(value.dtype)


def one_value(op, **ends):
    """Raise TypeError or ValueError unless each of `ends` is a float array of one element."""
    for name, end in ends.items():
        _check.dtype_in(op, name, end, _check.FLOAT)
        if end.size != 1:
            raise ValueError(f"For '{op}', '{name}' should have one value for all of 'x', but got shape {end.shape}.")


def columns(op, x, axis, **vectors):
    """Reshape vectors of one value per channel so that they broadcast against `x`. Raise ValueError for another
    length."""
    if x.ndim == 1:
        axis = 0  # as in r1.1: `channel_axis` is ignored
    if not 0 <= axis < x.ndim:
        raise ValueError(f"For '{op}', 'channel_axis' should be an axis of 'x' {x.shape}, but got {axis}.")
    for name, v in vectors.items():
        _check.dtype_in(op, name, v, _check.FLOAT)
        if v.shape != (x.shape[axis],):
            raise ValueError(
                f"For '{op}', '{name}' should have shape ({x.shape[axis]},), one value for each place of axis {axis} "
                f"of 'x' {x.shape}, but got {v.shape}."
            )
    return tuple(jnp.expand_dims(widened(v), [i for i in range(x.ndim) if i != axis]) for v in vectors.values())


def delayed(op, quant_delay, step, quantised, plain):
    """Return `plain` during the first `quant_delay` steps, and `quantised` after them."""
    if not quant_delay:
        return quantised
    if step is None:
        raise ValueError(
            f"For '{op}', a 'quant_delay' of {quant_delay} needs to know the step: give the number of steps that came "
            f"before as the last input."
        )
    return jnp.where(step.reshape(()) < quant_delay, plain, quantised)
