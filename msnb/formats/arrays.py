"""Arrays in files: memory maps, and views of bytes as arrays."""

import math
import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np

from msnb.formats.text_files import BadFileError

_MOST_AXES, _LONGEST_AXIS = 32, 1 << 56


def mapped(path: str | Path) -> memoryview:
    """Return all bytes of a file, read-only and memory-mapped.

    If the file is truncated later, do not read the bytes or an array that is a view of them: the system ends the
    process with SIGBUS. It is safe to replace the file atomically.

    Args:
        path (str): The file.

    Raises:
        OSError: If it cannot be read.
    """
    with open(path, "rb") as file:
        if os.name == "nt" or os.fstat(file.fileno()).st_size == 0:  # a mapped file cannot be replaced on Windows
            return memoryview(file.read())
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def view(data: Any, dtype: Any, shape: tuple[int, ...], label: str) -> np.ndarray:
    """Return bytes as an array of the given dtype and shape, without a copy.

    Args:
        data (Union[bytes, memoryview]): The bytes.
        dtype (dtype): Type of the elements.
        shape (tuple[int]): Shape that is stated in the file. It is checked, and no memory is allocated for it.
        label (str): Name of the array, for error messages.

    Raises:
        BadFileError: If no array can have this shape, or it needs another number of bytes.
    """
    check_shape(shape, label)
    expected = math.prod(shape) * dtype.itemsize
    if len(data) != expected:
        raise BadFileError(
            f"{label} of shape {shape} and type {dtype} should have {expected} bytes, but has {len(data)}."
        )
    return np.frombuffer(data, dtype).reshape(shape)


def check_shape(shape: tuple[int, ...], label: str) -> None:
    """Raise BadFileError for a shape that no array can have."""
    if len(shape) > _MOST_AXES:
        raise BadFileError(f"{label} has a shape of {len(shape)} axes, which no array has.")
    if any(not 0 <= size <= _LONGEST_AXIS for size in shape):
        raise BadFileError(f"{label} has a shape with an axis that is too long, or shorter than nothing.")


def little_endian(value: Any) -> np.ndarray:
    """Convert a value to an array in little-endian byte order."""
    array = np.asarray(value)
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def content(array: np.ndarray) -> memoryview:
    """Return the bytes of an array in C order, without a copy if it is contiguous."""
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8)) if array.nbytes else memoryview(b"")
