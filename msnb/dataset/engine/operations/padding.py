"""Padding of the rows of a batch to one shape."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from msnb.dataset.engine.execution.chunk import rows_of, stack_if_uniform


def pad_to(array: np.ndarray, shape: Any, value: Any) -> np.ndarray:
    """Pad `array` with `value`, or truncate it, at the end of each dimension, so that it has the given shape."""
    if array.shape == shape:
        return array
    if array.dtype.kind in "SU":
        fill = b"" if value is None else value.encode("utf-8") if isinstance(value, str) else value
        if not isinstance(fill, bytes):
            raise RuntimeError(
                f"Source and pad_value tensors are not of the same type. Strings cannot be padded with {value!r}."
            )
        out = np.full(shape, fill, dtype=f"S{max(array.dtype.itemsize, len(fill), 1)}")
    else:
        if isinstance(value, str | bytes):
            raise RuntimeError(
                f"Source and pad_value tensors are not of the same type. Numbers cannot be padded with {value!r}."
            )
        out = np.full(shape, 0 if value is None else value, dtype=array.dtype)
    overlap = tuple(slice(0, min(a, b)) for a, b in zip(array.shape, shape, strict=True))
    out[overlap] = array[overlap]
    return out


def pad_rows(rows: Any, shape: Any, value: Any, name: str) -> Any:
    """Pad all rows to `shape`. A dimension that is None, or all if `shape` is None, gets the length of the longest
    row."""
    rank = rows[0].ndim
    if shape is not None and len(shape) != rank:
        raise RuntimeError(
            f"Invalid data, rank of pad_shape must be equal to rank of specified column. pad_shapes rank:{len(shape)}, "
            f"column rank: {rank} (column {name!r})."
        )
    if any(r.ndim != rank for r in rows):
        odd = next(r for r in rows if r.ndim != rank)
        raise RuntimeError(
            "Invalid data, data to be padded together need to have the same rank, got shape 1: "
            f"{rank}, shape 2: {odd.ndim} (column {name!r})."
        )
    longest = [max(r.shape[d] for r in rows) for d in range(rank)]
    target = tuple(longest[d] if shape is None or shape[d] is None else shape[d] for d in range(rank))
    return [pad_to(r, target, value) for r in rows]


def make_padder(pad_info: dict[str, Any] | None, names: Sequence[str]) -> Any:
    """Return a function that pads the columns of a batch as the argument ``pad_info`` of ``batch`` describes.

    If `pad_info` is empty, every column is padded with zeros to its longest row.
    """
    for name in pad_info:
        if name not in names:
            raise RuntimeError(f"Invalid parameter, column name: {name} does not exist. The columns are {list(names)}.")
    plan = (
        {name: (info or (None, None)) for name, info in pad_info.items()}
        if pad_info
        else {name: (None, None) for name in names}
    )

    def pad(columns, names_now):
        out = list(columns)
        for i, name in enumerate(names_now):
            if name in plan:
                shape, value = plan[name]
                out[i] = stack_if_uniform(pad_rows(rows_of(out[i]), shape, value, name))
        return out

    return pad
