"""Padding the rows of a batch to one shape."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from msnb.dataset.engine.chunk import rows_of, settle


def pad_to(array: np.ndarray, shape: Any, value: Any) -> np.ndarray:
    """`array` filled up with `value` (cut, where it is larger) at the end of each dimension to `shape`."""
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
    part = tuple(slice(0, min(a, b)) for a, b in zip(array.shape, shape, strict=True))
    out[part] = array[part]
    return out


def pad_rows(rows: Any, shape: Any, value: Any, name: str) -> Any:
    """All rows padded to `shape`, in which None stands for the longest; shape None is all None."""
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


def padder(pad_info: dict[str, Any] | None, names: Sequence[str]) -> Any:
    """The function that pads the columns of a batch by a ``pad_info`` (empty: every column, to the longest, with
    zeros).
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
                out[i] = settle(pad_rows(rows_of(out[i]), shape, value, name))
        return out

    return pad
