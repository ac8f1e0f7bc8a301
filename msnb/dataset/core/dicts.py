"""Dicts in the columns of a pipeline, as MindSpore 2 has them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.dataset.core.tensor_op import as_array, as_str


def map_values(function: Callable[[Any], Any], value: Any) -> Any:
    """Apply `function` to each value in nested dicts, lists and tuples."""
    if isinstance(value, dict):
        return {key: map_values(function, item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([map_values(function, item) for item in value])
    return function(value)


def convert_values(value: Any) -> Any:
    """Return a dict with numbers, strings and Tensors as arrays. Other objects stay as they are."""
    return map_values(_convert_value, value)


def _convert_value(value):
    array = as_array(value)
    return value if array.dtype == object else as_str(array)


def as_batch(rows: np.ndarray, name: str) -> np.ndarray:
    """Return the stacked rows of the column `name` as one value of a batch: dicts become one dict of stacked values.

    A single dict is the value of a batch already.

    Raises:
        RuntimeError: If keys or shapes differ, or values are not numbers, strings or arrays of them.
    """
    if rows.dtype != object or rows.ndim == 0:
        return rows
    try:
        return as_array(_merge_dicts(rows.tolist()))
    except ValueError as error:
        raise RuntimeError(f"Column {name!r} cannot be put into one batch: {error}") from error


def _merge_dicts(rows):
    first = rows[0]
    for row in rows:
        if row.keys() != first.keys():
            raise ValueError(f"the keys of its dicts differ: {list(first)} and {list(row)}.")
    return {key: _merge_values(key, [row[key] for row in rows]) for key in first}


def _merge_values(key, values):
    if all(isinstance(value, dict) for value in values):
        return _merge_dicts(values)
    arrays = [as_array(value) for value in values]
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1 or any(array.dtype == object for array in arrays):
        kinds = shapes if len(shapes) > 1 else {type(value).__name__ for value in values}
        raise ValueError(f"the values of key {key!r} are {' and '.join(map(str, kinds))}.")
    return np.stack(arrays)
