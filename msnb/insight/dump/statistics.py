"""Compute the statistics of tensors in ``statistic.csv``, by numpy or inside a compiled program. Sums are computed in
64 bits, because a float32 sum of many values loses digits.
"""

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.jaxpr.instrument import Measure

COLUMNS = {
    "max": "Max Value",
    "min": "Min Value",
    "avg": "Avg Value",
    "count": "Count",
    "negative zero count": "Negative Zero Count",
    "positive zero count": "Positive Zero Count",
    "nan count": "NaN Count",
    "negative inf count": "Negative Inf Count",
    "positive inf count": "Positive Inf Count",
    "zero count": "Zero Count",
    "l2norm": "L2Norm Value",
}
_EXTREMES = ("max", "min", "avg")  # an empty tensor has none
_FLOATS = (*_EXTREMES, "l2norm")  # the others are counts
_OF_SPECIAL = ("nan count", "negative inf count", "positive inf count")
_OF_ZEROS = frozenset(("zero count", "positive zero count", "negative zero count"))
# a finite sum of squares shows that there is no NaN and no infinity
_FROM_SQUARES = frozenset(("l2norm", *_OF_SPECIAL))
_PIECE = 1 << 13  # elements of one dot product
_SAFE = 1e-30  # above this mean square, underflow of single squares does not matter


@np.errstate(all="ignore")
def compute_statistics(array: np.ndarray, names: Sequence[str]) -> list[Any]:
    """Return the statistics of an array.

    Args:
        array (numpy.ndarray): the numbers, bools or complex numbers.
        names (Sequence[str]): the statistics, of `COLUMNS`.
    """
    if not array.size:
        return _make_empty_statistics(names)
    if array.dtype == np.bool_:
        return _compute_bool_statistics(array.size, int(np.count_nonzero(array)), names)
    if array.dtype in (np.float32, np.float64):
        return _compute_float_statistics(array.reshape(-1), names)
    wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64).reshape(-1)
    return [_to_python_number(name, _compute_statistic(np, name, wide, wide)) for name in names]


def format_statistics(values: Sequence[Any]) -> str:
    """Return statistics as the end of a line of ``statistic.csv``."""
    return ",".join(map(str, values))


def _make_empty_statistics(names):
    return ["nan" if name in _EXTREMES else 0.0 if name == "l2norm" else 0 for name in names]


def _compute_bool_statistics(size, n_true, names):
    """Return the statistics of an array of bools, from its size and its number of True elements."""
    statistics = {
        "max": float(n_true > 0),
        "min": float(n_true == size),
        "avg": n_true / size,
        "count": size,
        "positive zero count": size - n_true,
        "zero count": size - n_true,
        "l2norm": math.sqrt(n_true),
    }
    return [statistics.get(name, 0) for name in names]


def _compute_float_statistics(flat, names):
    """Return the statistics of a flat array of float32 or float64 without a copy in 64 bits."""
    square_sum = _sum_squares(flat) if _FROM_SQUARES.intersection(names) else 0.0
    n_positive, n_negative = _count_signed_zeros(flat) if _OF_ZEROS.intersection(names) else (0, 0)
    row: list[Any] = []
    for name in names:
        if name == "max":
            row.append(np.maximum.reduce(flat).item())
        elif name == "min":
            row.append(np.minimum.reduce(flat).item())
        elif name == "avg":
            row.append((np.add.reduce(flat, dtype=np.float64) / flat.size).item())
        elif name == "l2norm":
            row.append(math.sqrt(square_sum))
        elif name == "zero count":
            row.append(n_positive + n_negative)
        elif name == "positive zero count":
            row.append(n_positive)
        elif name == "negative zero count":
            row.append(n_negative)
        elif name in _OF_SPECIAL and math.isfinite(square_sum):
            row.append(0)
        else:
            row.append(_to_python_number(name, np.asarray(_compute_statistic(np, name, flat, flat))))
    return row


def _count_signed_zeros(flat):
    """Return the numbers of positive and of negative zeros. Their bits are those of the integers 0 and -2**(n-1)."""
    bits = flat.view(f"i{flat.itemsize}")
    return int(np.count_nonzero(bits == 0)), int(np.count_nonzero(bits == -(1 << (8 * flat.itemsize - 1))))


def _sum_squares(flat):
    """Return the sum of squares. The dot products are short, so BLAS starts no threads that slow down the training.

    The relative error of a dot product of float32 is about 1e-7. If squares overflow or underflow in 32 bits, the
    numbers are squared in 64 bits.
    """
    pieces = [flat[start : start + _PIECE] for start in range(0, flat.size, _PIECE)]
    total = sum(float(piece.dot(piece)) for piece in pieces)
    if flat.itemsize == 4 and not _SAFE * flat.size < total < np.inf:
        total = float(np.square(flat, dtype=np.float64).sum())
    return total


def _to_python_number(name, value):
    value = value.item()
    return value if name in _FLOATS else int(value.real)


def _compute_statistic(xp, name, numbers, wide):
    """Return one statistic. `xp` is numpy or jax.numpy, and `wide` the numbers in 64 bits with one axis."""
    match name:
        case "max":
            return numbers.max()
        case "min":
            return numbers.min()
        case "avg":
            return wide.sum() / wide.size
        case "count":
            return xp.asarray(numbers.size)
        case "nan count":
            return xp.isnan(numbers).sum()
        case "negative inf count":
            return (numbers == -xp.inf).sum()
        case "positive inf count":
            return (numbers == xp.inf).sum()
        case "zero count":
            return (numbers == 0).sum()
        case "negative zero count":
            return ((numbers == 0) & xp.signbit(numbers.real)).sum()
        case "positive zero count":
            return ((numbers == 0) & ~xp.signbit(numbers.real)).sum()
        case "l2norm":
            return xp.sqrt((xp.abs(wide) ** 2).sum())
    raise ValueError(f"There is no statistic {name!r}.")


class Statistics(Measure):
    """A Measure that computes two tables of statistics, for real and for complex values, with a row per value.

    The first column is 1 for a value that was computed, and 0 for one in a branch that did not run. For a value in a
    loop the row is from the last round.

    Args:
        names (Sequence[str]): the statistics, of `COLUMNS`.
        inputs (Sequence[int]), outputs (Sequence[int]): indices of inputs and outputs of the program. Their rows follow
            the rows of the points.
    """

    def __init__(self, names: Sequence[str], inputs: Sequence[int] = (), outputs: Sequence[int] = ()) -> None:
        self._names, self._inputs, self._outputs = tuple(names), tuple(inputs), tuple(outputs)

    def measure(self, point: Any, array: Any) -> Any:
        return self._compute_row(array)

    def empty(self, point: Any) -> Any:
        return jnp.zeros(len(self._names) + 1, _to_64_bit_dtype(point.dtype))

    def merge(self, point: Any, first: Any, second: Any) -> Any:
        return jnp.where(second[0] != 0, second, first)

    def finish(self, points: list[Any], measurements: list[Any], inputs: list[Any], outputs: list[Any]) -> Any:
        rows = [*measurements]
        rows += [self._compute_row(inputs[index]) for index in self._inputs]
        rows += [self._compute_row(outputs[index]) for index in self._outputs]
        tables = []
        for is_complex in (False, True):
            chosen = [row for row in rows if jnp.iscomplexobj(row) == is_complex]
            tables.append(jnp.stack(chosen) if chosen else jnp.zeros((0, len(self._names) + 1)))
        return tables

    def read(self, tables: Sequence[Any], values: Sequence[Any]) -> list[list[Any] | None]:
        """Return the statistics of each value, None for one that was not computed.

        Args:
            tables (Sequence[jax.Array]): the extra outputs of the program.
            values (Sequence): the points, inputs and outputs in the order of the rows; each has a dtype and shape.
        """
        rows = [iter(np.asarray(table).tolist()) for table in tables]
        statistics: list[list[Any] | None] = []
        for value in values:
            row = next(rows[_is_complex(value.dtype)])
            if not row[0]:
                statistics.append(None)
            elif 0 in value.shape:
                statistics.append(_make_empty_statistics(self._names))
            else:
                statistics.append(
                    [_convert_row_item(name, item) for name, item in zip(self._names, row[1:], strict=True)]
                )
        return statistics

    def _compute_row(self, array):
        dtype = _to_64_bit_dtype(array.dtype)
        if 0 in array.shape:
            return jnp.zeros(len(self._names) + 1, dtype).at[0].set(1)
        wide = array.astype(dtype).reshape(-1)
        numbers = array if jnp.issubdtype(array.dtype, jnp.floating) else wide
        row = [
            jnp.ones((), dtype),
            *(_compute_statistic(jnp, name, numbers, wide).astype(dtype) for name in self._names),
        ]
        return jnp.stack(row)


def _convert_row_item(name, item):
    return item if name in _FLOATS else int(item.real)


def _is_complex(dtype):
    return jnp.issubdtype(dtype, jnp.complexfloating)


def _to_64_bit_dtype(dtype):
    return jax.dtypes.canonicalize_dtype(np.complex128 if _is_complex(dtype) else np.float64)
