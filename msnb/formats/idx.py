"""IDX files, the format of MNIST: one array with a header, optionally compressed with gzip.

A file has two zero bytes, a type code, the number of axes, the shape as big-endian 32-bit integers, and the elements in
big-endian order.
"""

import gzip
import math
import os
import struct
from pathlib import Path

import numpy as np

from msnb._util.atomic_file import writing
from msnb.formats.text_files import BadFileError, gunzip

_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_CODES = {np.dtype(t).newbyteorder("="): code for code, t in _TYPES.items()}


class IdxError(BadFileError):
    """Error of a file that is not an IDX file, or is damaged. The message names the file and the fault."""


def read(path: str | Path) -> np.ndarray:
    """Read the array of an IDX file, in the machine's byte order.

    Args:
        path (str): File to read; may be compressed with gzip.

    Raises:
        FileNotFoundError: If there is no such file.
        IdxError: If the file is not an IDX file, is truncated, or is longer than its header states.
    """
    path = os.fspath(path)
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    try:
        data = memoryview(bytearray(gunzip(path)) if packed else np.fromfile(path, np.uint8))
    except BadFileError as error:
        raise IdxError(str(error)) from None
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in _TYPES:
        raise IdxError(
            f"{path!r} is no IDX file: it should begin with bytes 00 00, a type code and the number of axes, "
            f"but begins with {data[:4].hex(' ') or 'nothing'}."
        )
    axes = data[3]
    start = 4 + 4 * axes
    if len(data) < start:
        raise IdxError(f"{path!r} ends inside its header: {axes} axes take {start} bytes, but there are {len(data)}.")
    shape = struct.unpack(f">{axes}I", data[4:start])
    dtype = np.dtype(_TYPES[data[2]])
    expected = math.prod(shape) * dtype.itemsize
    if len(data) - start != expected:
        raise IdxError(
            f"{path!r} is damaged: its header says shape {shape} of {dtype.newbyteorder('=').name}, "
            f"{expected} bytes, but {len(data) - start} follow."
        )
    return np.frombuffer(data, dtype, offset=start).reshape(shape).astype(dtype.newbyteorder("="), copy=False)


def write(path: str | Path, array: np.ndarray) -> None:
    """Write an array as an IDX file, compressed when `path` ends in ".gz". The file appears only when it is complete.

    Args:
        path (str): File to write.
        array (numpy.ndarray): Array of uint8, int8, int16, int32, float32 or float64, with at most 255 axes.

    Raises:
        TypeError: If IDX has no code for the element type.
        OSError: If the file cannot be written.
    """
    path = os.fspath(path)
    array = np.asarray(array)
    code = _CODES.get(array.dtype.newbyteorder("="))
    if code is None:
        names = ", ".join(dtype.name for dtype in _CODES)
        raise TypeError(f"An IDX file holds elements of type {names}, but got {array.dtype}.")
    data = (
        struct.pack(f">BBBB{array.ndim}I", 0, 0, code, array.ndim, *array.shape) + array.astype(_TYPES[code]).tobytes()
    )
    with writing(path) as file:
        file.write(gzip.compress(data, mtime=0) if path.endswith(".gz") else data)
