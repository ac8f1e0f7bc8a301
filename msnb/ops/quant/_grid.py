"""The grid of whole numbers that stands for a range of floating point numbers, and rounding to it.

Quantisation writes x as (q - zero point) * scale with a whole number q of `num_bits` bits. The range is nudged first,
so that the number 0 falls on the grid: padding and ReLU stay exact then. Training sees the rounded numbers going
forward, and backward a function that is the identity within the range (the straight-through estimator of Bengio et
al., 2013): the derivative of a staircase would be 0 everywhere.
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
    """Whole numbers from `first` to `last`, of which `zero` stands for 0.0.

    Attributes:
        first (int): The smallest whole number.
        last (int): The largest.
        zero (Array): The one that stands for 0.0.
        width (Array): How wide the range is.
    """

    first: int
    last: int
    zero: jax.Array
    width: jax.Array

    @property
    def scale(self):
        """What a step of 1 stands for."""
        return self.width / (self.last - self.first)

    @property
    def low(self):
        """The number that `first` stands for."""
        return (self.first - self.zero) * self.scale

    @property
    def high(self):
        """The number that `last` stands for."""
        return (self.last - self.zero) * self.scale

    def rounded(self, x):
        """The numbers of the grid nearest to those of `x`; halves go up."""
        steps = _share(jnp.clip(x, self.low, self.high), self.width) * (self.last - self.first)
        # Whole numbers times the scale: the sum of two products would leave 0.0 with an error of rounding.
        return jnp.floor(steps + 0.5) * self.scale

    def holds(self, x):
        """Where `x` is within the range."""
        return (self.low <= x) & (x <= self.high)


def _share(x, width):
    """x / width, 0 for no width. Of the ends of a symmetric range it is one half exactly, and so are its multiples by
    whole numbers: where a division by the scale would end up next to the half, it is rounded always in the same way."""
    return x / jnp.where(width == 0, 1.0, width)


def grid_of(low, high, num_bits, symmetric, narrow_range):
    """The grid for the range from `low` to `high`, nudged so that 0.0 falls on it.

    Args:
        low (Array): The lower end.
        high (Array): The upper end.
        num_bits (int): There are 2 ** num_bits whole numbers.
        symmetric (bool): Whether the range is widened to have 0 in its middle.
        narrow_range (bool): Whether the smallest whole number is left out, so that a symmetric grid is so to the last.
    """
    first, last = int(narrow_range), 2**num_bits - 1
    low, high = lax.stop_gradient(widened(low)), lax.stop_gradient(widened(high))
    if symmetric:
        high = jnp.maximum(-low, high)
        low = -high
    width = high - low
    zero = jnp.floor(jnp.clip(first - _share(low, width) * (last - first), first, last) + 0.5)
    return Grid(first, last, zero, width)


@jax.custom_jvp
def straight_through(x, value, passes):
    """`value`, which is constant; but its gradient for `x` is 1 where `passes`, and 0 elsewhere."""
    return value


@straight_through.defjvp
def _derivative(primals, tangents):
    _, value, passes = primals
    return value, jnp.where(passes, tangents[0], 0).astype(value.dtype)


def one_value(op, **ends):
    """Raise unless the ends of a range are one float each."""
    for name, end in ends.items():
        _check.dtype_in(op, name, end, _check.FLOAT)
        if end.size != 1:
            raise ValueError(f"For '{op}', '{name}' should have one value for all of 'x', but got shape {end.shape}.")


def columns(op, x, axis, **vectors):
    """`vectors`, one value a channel, as arrays that broadcast against `x`; raises for another number of them."""
    if x.ndim == 1:
        axis = 0  # as in r1.1, whatever `channel_axis` says
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
    """`quantised`, or `plain` during the first `quant_delay` steps."""
    if not quant_delay:
        return quantised
    if step is None:
        raise ValueError(
            f"For '{op}', a 'quant_delay' of {quant_delay} needs to know the step: give the number of steps that came "
            f"before as the last input."
        )
    return jnp.where(step.reshape(()) < quant_delay, plain, quantised)
