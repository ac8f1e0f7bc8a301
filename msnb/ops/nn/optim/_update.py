"""Shared code of update rules: scalar Tensors, checks of slots, and rows of a sparse gradient."""

import jax.numpy as jnp

from msnb.core.operator.value_checks import index
from msnb.ops import _check


def as_scalar(x):
    """Return a hyperparameter, a number or an array of one element, as a scalar."""
    x = jnp.asarray(x)
    return x.reshape(()) if x.size == 1 else x


def cast_like(var, *values):
    """Cast `values` to the element type of the variable, so that variable and slots keep their types."""
    return tuple(v.astype(var.dtype) for v in values)


_GRADIENTS = ("grad", "gradient", "delta")


def check_slots(op, api2=frozenset(), **arrays):
    """Check a variable, its slots and its gradient, and return the gradient, or None if there is none.

    An error is raised unless all have the same shape and a float type. A gradient of integers or bool is cast to the
    variable's element type. `arrays` begins with the variable. `api2` are additional element types that the API
    generation 2 allows.
    """
    _check.same_shape(op, **arrays)
    variable, gradient = next(iter(arrays.values())), None
    for name, x in arrays.items():
        if name in _GRADIENTS:
            gradient = x = _cast_integer_gradient(op, name, x, variable)
        _check.dtype_in(op, name, x, _check.FLOAT, api2)
    return gradient


def _cast_integer_gradient(op, name, gradient, variable):
    """Cast a gradient of integers or bool to the element type of a variable of floats, as MindSpore's signatures do."""
    _check.tensor_only(op, name, gradient)
    has_integers = gradient.dtype in _check.INT | _check.BOOL
    return gradient.astype(variable.dtype) if has_integers and variable.dtype in _check.FLOAT else gradient


ROWS_EXIST = [index("indices", of="var", negative=False)]


def sum_duplicate_rows(op, grad, indices, **slots):
    """Return the distinct row indices of a sparse gradient and, for each, the sum of its gradients.

    Both have the length of `indices`. Unused row indices are set to the number of rows, which is out of range.
    """
    check_slots(op, **slots)
    var = next(iter(slots.values()))
    grad = _cast_integer_gradient(op, "grad", grad, var)
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


def write_rows(slot, rows, values):
    """Write `values` to the rows of `slot` with indices `rows`. Indices beyond the last row are ignored."""
    return slot.at[rows].set(values.astype(slot.dtype), mode="drop")


def read_rows(slot, rows):
    """Return the rows of `slot` with indices `rows`."""
    return jnp.take(slot, rows, axis=0, mode="clip")
