"""Weighted sums of neighbours along an axis, for interpolation and uneven pooling."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def weigh_neighbours(x, axis, weights):
    """Multiply `x` along `axis` by `weights`, a numpy matrix of shape (new length, old length).

    Elements of weight 0 are not read, so NaN and infinity in them do not reach a sum. A custom JVP multiplies tangents
    by the matrix: the transpose of the gathers would be a scatter, which is ten times slower on a CPU.
    """
    weights = weights.astype(x.dtype)
    weighed = jax.custom_jvp(lambda x: _sum_weighted_neighbours(x, axis, weights))
    weighed.defjvp(
        lambda at, change: (_sum_weighted_neighbours(*at, axis, weights), _multiply_along_axis(*change, axis, weights))
    )
    return weighed(x)


def _multiply_along_axis(x, axis, weights):
    return jnp.moveaxis(jnp.tensordot(x, weights, ((axis,), (1,)), precision=lax.Precision.HIGHEST), -1, axis)


def _sum_weighted_neighbours(x, axis, weights):
    counts = np.maximum(np.count_nonzero(weights, 1), 1)
    column = lambda values: values.reshape(-1, *(1,) * (x.ndim - 1 - axis))
    if counts.max() > len(weights):  # few long sums: slices are faster than a gather for each neighbour
        sums = []
        for row in weights:
            read = np.flatnonzero(row)
            first, end = (read[0], read[-1] + 1) if read.size else (0, 0)
            sums.append(jnp.sum(lax.slice_in_dim(x, first, end, axis=axis) * column(row[first:end]), axis))
        return jnp.stack(sums, axis)
    order = np.argsort(weights == 0, 1, kind="stable")
    total = None
    for turn in range(counts.max()):
        # A row without further neighbours reads its first neighbour again, with weight 0.
        read = np.where(turn < counts, order[:, turn], order[:, 0])
        share = np.where(turn < counts, np.take_along_axis(weights, read[:, None], 1)[:, 0], weights.dtype.type(0))
        part = jnp.take(x, read, axis) * column(share)
        if turn:
            part = jnp.where(column(share) == 0, 0, part)
        total = part if total is None else total + part
    return total
