"""Edit distance between sequences."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Bool, Ints
from msnb.core.operator.cases import Values, case
from msnb.core.operator.declare import operator
from msnb.core.operator.value_checks import Check, Range
from msnb.ops._check import NUMBER, SIGNED, dtype_in, rank, same_dtype

_UNBOUNDED = np.iinfo(np.int32).max


def _convert_to_dense_rows(indices, values, shape, out_shape):
    """Convert sparse sequences to a dense matrix with a row for each, and count the symbols of each sequence."""
    groups, length = math.prod(out_shape), max(int(shape[-1]), 1)
    row = jnp.zeros(indices.shape[0], jnp.int64)
    for d, n in enumerate(out_shape):
        row = row * n + indices[:, d]
    number = jnp.arange(row.shape[0])
    first = jnp.full(groups, row.shape[0]).at[row].min(number)
    rows = jnp.zeros((groups, length), values.dtype).at[row, number - first[row]].set(values)
    return rows, jnp.zeros(groups, jnp.int64).at[row].add(1)


def _compute_edit_distance(a, length_a, b, length_b):
    """Return the number of edits that turn a[:length_a] into b[:length_b], by dynamic programming over table rows."""
    start = jnp.arange(b.shape[0] + 1, dtype=jnp.float32)

    def next_row(row, item):
        i, symbol = item

        def next_cell(left, cell):
            above_left, above, other = cell
            value = jnp.minimum(jnp.minimum(left, above) + 1, above_left + (symbol != other))
            return value, value

        _, rest = jax.lax.scan(next_cell, i + 1, (row[:-1], row[1:], b))
        return jnp.where(i < length_a, jnp.concatenate([(i + 1)[None], rest]), row), None

    row, _ = jax.lax.scan(next_row, start, (jnp.arange(a.shape[0], dtype=jnp.float32), a))
    return row[length_b]


def _make_index_check(name):
    """Return a check of the index input `name`. All indices of a symbol except the last must be in range for the
    elementwise maximum of the two dense shapes. The last index is not checked: it only orders the symbols of a
    sequence.
    """

    def ranges(inputs):
        shapes = inputs["hypothesis_shape"], inputs["truth_shape"]
        fits = len({len(s) for s in shapes}) == 1 and np.shape(inputs[name])[1:] == np.shape(shapes[0])
        room = tuple(map(max, *[s[:-1] for s in shapes]))
        return [Range(inputs[name], (*room, _UNBOUNDED))] if fits and room else ()

    return Check(name, ranges)


@operator(checks=[_make_index_check("hypothesis_indices"), _make_index_check("truth_indices")])
def EditDistance(
    hypothesis_indices,
    hypothesis_values,
    hypothesis_shape: Ints,
    truth_indices,
    truth_values,
    truth_shape: Ints,
    *,
    normalize: Bool = True,
):
    """Compute the Levenshtein distances between the sequences of two sparse Tensors.

    Args:
        normalize (bool): Divide each distance by the length of the true sequence. Default: True.

    Inputs:
        - **hypothesis_indices** (Tensor) - int64 of shape (N, R): indices of the symbols; the last index is the
          position in a sequence.
        - **hypothesis_values** (Tensor) - The symbols, of shape (N,).
        - **hypothesis_shape** (Tensor) - Dense shape of the hypotheses: a constant, int64 of shape (R,).
        - **truth_indices** (Tensor) - int64 of shape (M, R).
        - **truth_values** (Tensor) - The true symbols, of shape (M,).
        - **truth_shape** (Tensor) - Dense shape of the true sequences: a constant, int64 of shape (R,).

    Outputs:
        Tensor of float32 with R - 1 dimensions. The length of each is the larger one of the two dense shapes.

    Raises:
        TypeError: If `normalize` is not a bool or the element types do not fit.
        ValueError: If the shapes do not fit.

    References:
        V. I. Levenshtein, Binary codes capable of correcting deletions, insertions, and reversals, 1966.

    Examples:
        >>> h = Tensor(np.array([[0, 0, 0], [1, 0, 1], [1, 1, 1]]), mindspore.int64)
        >>> t = Tensor(np.array([[0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1]]), mindspore.int64)
        >>> shape = Tensor(np.array([2, 2, 2]), mindspore.int64)
        >>> print(ops.EditDistance(False)(h, Tensor([1, 2, 3], mindspore.float32), shape, t,
        ...                               Tensor([1, 3, 2, 1], mindspore.float32), shape))
        [[1. 1.]
         [1. 1.]]
    """
    op = "EditDistance"
    for name, indices, values, shape in (
        ("hypothesis", hypothesis_indices, hypothesis_values, hypothesis_shape),
        ("truth", truth_indices, truth_values, truth_shape),
    ):
        dtype_in(op, f"{name}_indices", indices, SIGNED)
        dtype_in(op, f"{name}_values", values, NUMBER)
        rank(op, f"{name}_indices", indices, 2)
        rank(op, f"{name}_values", values, 1)
        if indices.shape != (values.shape[0], len(shape)):
            raise ValueError(
                f"For '{op}', '{name}_indices' should have shape {(values.shape[0], len(shape))}, "
                f"but got {indices.shape}."
            )
    same_dtype(op, hypothesis_values=hypothesis_values, truth_values=truth_values)
    if len(hypothesis_shape) != len(truth_shape):
        raise ValueError(
            f"For '{op}', the two shapes should have one length, but got {hypothesis_shape} and {truth_shape}."
        )
    out_shape = tuple(map(max, hypothesis_shape[:-1], truth_shape[:-1]))
    a, length_a = _convert_to_dense_rows(hypothesis_indices, hypothesis_values, hypothesis_shape, out_shape)
    b, length_b = _convert_to_dense_rows(truth_indices, truth_values, truth_shape, out_shape)
    distance = jax.vmap(_compute_edit_distance)(a, length_a, b, length_b)
    if normalize:
        distance = jnp.where(
            length_b == 0, jnp.where(length_a == 0, 0.0, jnp.inf), distance / jnp.maximum(length_b, 1)
        ).astype(jnp.float32)
    return distance.reshape(out_shape)


CASES = [
    case(
        EditDistance,
        Values([[0, 0, 0], [1, 0, 1], [1, 1, 1]], "int64"),
        Values([1.0, 2.0, 3.0]),
        Values([1, 1, 2], "int64"),
        Values([[0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1]], "int64"),
        Values([1.0, 3.0, 2.0, 1.0]),
        Values([2, 2, 2], "int64"),
    ),
]
