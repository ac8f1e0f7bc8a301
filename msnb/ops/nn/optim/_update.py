"""Shared code of update rules: scalar Tensors, checks of slots, and rows of a sparse gradient."""

import jax.numpy as jnp

from msnb.core.operator.value_checks import index
from msnb.ops import _check


def scalar(x):
    """A learning rate and the like, which may come as a Tensor of one element, as a scalar."""
    x = jnp.asarray(x)
    return x.reshape(()) if x.size == 1 else x


def like(var, *values):
    """`values` in the type of the variable: slots and variable keep their types."""
    return tuple(v.astype(var.dtype) for v in values)


def same_shapes(op, **arrays):
    """Raise unless a variable, its slots and its gradient have one shape and a float type."""
    _check.same_shape(op, **arrays)
    for name, x in arrays.items():
        _check.dtype_in(op, name, x, _check.FLOAT)


ROWS_EXIST = [index("indices", of="var", negative=False)]


def named_rows(op, grad, indices, **slots):
    """The named rows, each once (the spare places point behind the last row), and their summed gradients."""
    same_shapes(op, **slots)
    var = next(iter(slots.values()))
    _check.dtype_in(op, "grad", grad, _check.FLOAT)
    _check.dtype_in(op, "indices", indices, _check.INDEX)
    _check.rank(op, "indices", indices, 1)
    if tuple(grad.shape) != (indices.shape[0], *var.shape[1:]):
        raise ValueError(
            f"For '{op}', 'grad' should have shape {(indices.shape[0], *var.shape[1:])}, a row for each "
            f"of the 'indices', but got {grad.shape}."
        )
    indices = jnp.where(indices < 0, var.shape[0], indices)  # a negative index is out of range, too
    rows, inverse = jnp.unique(indices, return_inverse=True, size=indices.shape[0], fill_value=var.shape[0])
    summed = jnp.zeros_like(grad).at[inverse.reshape(-1)].add(grad)
    return rows, summed


def put(slot, rows, values):
    """`slot` with `values` in the rows; a place behind the last row is none."""
    return slot.at[rows].set(values.astype(slot.dtype), mode="drop")


def take(slot, rows):
    """The rows of `slot`."""
    return jnp.take(slot, rows, axis=0, mode="clip")
