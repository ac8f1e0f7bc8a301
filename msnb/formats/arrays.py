"""Arrays in files: all bytes of a file without reading them, and a span of them as the array that a header claims."""

import math
import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np

from msnb.formats.text_files import BadFileError

_MOST_AXES, _LONGEST_AXIS = 32, 1 << 56


def mapped(path: str | Path) -> memoryview:
    """All bytes of a file, read-only; none of them is read before it is looked at.

    Arrays that are views of them must not be used any more once the file has become shorter: the system ends a process
    (SIGBUS) that touches mapped bytes which are gone. A file that is replaced as a whole stays what it was.

    Args:
        path (str): The file.

    Raises:
        OSError: If it cannot be read.
    """
    with open(path, "rb") as file:
        if os.name == "nt" or os.fstat(file.fileno()).st_size == 0:  # what is mapped cannot be replaced on Windows
            return memoryview(file.read())
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def view(data: Any, dtype: Any, shape: tuple[int, ...], what: str) -> np.ndarray:
    """A span of bytes as an array, without a copy.

    Args:
        data (Union[bytes, memoryview]): The bytes.
        dtype (dtype): Of the elements.
        shape (tuple[int]): Shape that is claimed; nothing is made of that size.
        what (str): What the array is called, for messages.

    Raises:
        BadFileError: If no array has this shape, or it takes another number of bytes.
    """
    check_shape(shape, what)
    expected = math.prod(shape) * dtype.itemsize
    if len(data) != expected:
        raise BadFileError(
            f"{what} of shape {shape} and type {dtype} should have {expected} bytes, but has {len(data)}."
        )
    return np.frombuffer(data, dtype).reshape(shape)


def check_shape(shape: tuple[int, ...], what: str) -> None:
    """BadFileError for a shape that no array has."""
    if len(shape) > _MOST_AXES:
        raise BadFileError(f"{what} has a shape of {len(shape)} axes, which no array has.")
    if any(not 0 <= size <= _LONGEST_AXIS for size in shape):
        raise BadFileError(f"{what} has a shape with an axis that is too long, or shorter than nothing.")


def little_endian(value: Any) -> np.ndarray:
    """A value as an array whose elements have their lowest byte first."""
    array = np.asarray(value)
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def content(array: np.ndarray) -> memoryview:
    """The bytes of an array in order; not copied where they lie so already."""
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8)) if array.nbytes else memoryview(b"")
