"""Reader and writer of safetensors files: a header of JSON, followed by arrays.

A file is the length of the header (8 bytes, little-endian), the header, and the bytes of all tensors. For each tensor
the header has the ``dtype``, the ``shape`` and ``data_offsets``, the span of its bytes after the header. The entry
``__metadata__`` maps names to strings. The spans cover all bytes after the header, without gaps or overlaps. MindSpore
(2.4 and newer) adds ``format: ms`` to the metadata and, if a checksum is requested, ``crc_num``: the CRC-32 of each
name and its bytes, in the order of the names.
"""

import json
import math
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from msnb._util.atomic_file import writing
from msnb.formats import arrays
from msnb.formats.text_files import BadFileError, parse_json

_DTYPES = {
    name: np.dtype(kind)
    for name, kind in {
        "BOOL": np.bool_, "U8": np.uint8, "I8": np.int8, "I16": np.int16, "U16": np.uint16, "I32": np.int32,
        "U32": np.uint32, "I64": np.int64, "U64": np.uint64, "F16": np.float16, "F32": np.float32, "F64": np.float64,
        "BF16": ml_dtypes.bfloat16, "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2,
        "C64": np.complex64,
    }.items()
}  # fmt: skip
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_TEXTS, _CHECKSUM = "__metadata__", "crc_num"
_LONGEST = 100_000_000  # bytes of the longest header; other readers have the same limit
_ALIGNED = 8  # alignment of the first tensor, and therefore of all, as they are sorted by element size


class Tensors(Mapping[str, np.ndarray]):
    """Mapping of the arrays of a file by name. Each is a read-only view that is created on access.

    Args:
        data (memoryview): Bytes after the header.
        entries (dict): Name -> (dtype, shape, start, end), already checked.
        texts (dict): Content of ``__metadata__``.
        path (str): The file, for error messages.
    """

    def __init__(self, data: memoryview, entries: dict[str, Any], texts: dict[str, str], path: str) -> None:
        self._data, self._entries, self._path = data, entries, path
        self.texts = texts

    def __getitem__(self, name: str) -> np.ndarray:
        dtype, shape, start, end = self._entries[name]
        return arrays.view(self._data[start:end], dtype, shape, f"{self._path!r}: {name!r}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def write(
    path: str | Path,
    items: dict[str, Any],
    crc_check: bool = False,
    permissions: int = 0o666,
    further: dict[str, str] | None = None,
) -> None:
    """Write a safetensors file. It appears under its name only when it is complete.

    Args:
        path (str): File to write; its folder has to exist.
        items (dict): Maps names to arrays.
        crc_check (bool): Whether to add a checksum. Default: False.
        permissions (int): Permissions of the file before the umask. Default: 0o666.
        further (dict): Additional strings for the metadata, by name. Default: None.

    Raises:
        TypeError: If an array has a type that the format cannot store, or a value is a str.
        OSError: If the file cannot be written.
    """
    stored = {name: _check_array(name, value) for name, value in items.items()}
    texts = {"format": "ms", **(further or {})}
    if crc_check:
        texts[_CHECKSUM] = str(_compute_checksum(stored))
    header: dict[str, Any] = {_TEXTS: texts}
    # Arrays with wider elements come first, so every array is aligned to its element size.
    order = sorted(stored, key=lambda name: (-stored[name].dtype.itemsize, name))
    at = 0
    for name in order:
        array = stored[name]
        span = [at, at + array.nbytes]
        header[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": span}
        at += array.nbytes
    header_bytes = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    header_bytes += b" " * (-len(header_bytes) % _ALIGNED)
    with writing(path, permissions=permissions) as file:
        file.write(len(header_bytes).to_bytes(8, "little"))
        file.write(header_bytes)
        for name in order:
            file.write(arrays.content(stored[name]))


def _check_array(name, value):
    array = arrays.little_endian(value)
    if array.dtype not in _NAMES:
        kind = "a text" if isinstance(value, str) else f"elements of type {array.dtype}"
        raise TypeError(f"A safetensors file cannot hold {name!r}: {kind} has no place in the format.")
    if name == _TEXTS:
        raise TypeError(f"A safetensors file cannot hold an array that is called {name!r}.")
    return array


def _compute_checksum(items):
    value = 0
    for name in sorted(items):
        value = zlib.crc32(arrays.content(items[name]), zlib.crc32(name.encode(), value))
    return value


def read(path: str | Path, crc_check: bool = False) -> Tensors:
    """Read a safetensors file. The arrays are views of the mapped file, so unused arrays are not read.

    Args:
        path (str): File to read.
        crc_check (bool): Whether to compare the checksum of the file. Default: False.

    Raises:
        FileNotFoundError: If there is no such file.
        BadFileError: If the file is not a safetensors file, is truncated or damaged, or lacks a requested checksum.
    """
    data, path = arrays.mapped(path), str(path)
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or not 2 <= length <= min(len(data) - 8, _LONGEST):
        raise BadFileError(f"{path!r} is no safetensors file, or it is cut off: its header cannot have {length} bytes.")
    try:
        header = parse_json(bytes(data[8 : 8 + length]).decode(), path)
    except UnicodeDecodeError:
        raise BadFileError(f"{path!r} is no safetensors file, or it is damaged: its header is not UTF-8.") from None
    if not isinstance(header, dict):
        raise BadFileError(f"{path!r} is no safetensors file: its header is no JSON object.")
    texts = header.pop(_TEXTS, None) or {}
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise BadFileError(f"{path!r} is damaged: its metadata are not texts.")
    body = data[8 + length :]
    entries = {name: _parse_entry(path, name, entry, len(body)) for name, entry in header.items()}
    tensors = Tensors(body, entries, texts, path)
    _check_contiguous(path, entries, len(body))
    if crc_check:
        if _CHECKSUM not in texts:
            raise BadFileError(f"{path!r} has no checksum; read it with crc_check=False.")
        if texts[_CHECKSUM] != str(_compute_checksum(tensors)):
            raise BadFileError(f"{path!r}: the checksum does not match; the file was damaged after it was written.")
    return tensors


def _parse_entry(path, name, entry, size):
    """Return (dtype, shape, start, end) of one entry of the header."""
    if not isinstance(entry, dict):
        raise BadFileError(f"{path!r} is damaged: the entry of {name!r} is no object.")
    shape, span = entry.get("shape"), entry.get("data_offsets")
    if not (_is_size_list(shape) and _is_size_list(span) and len(span) == 2):
        raise BadFileError(f"{path!r} is damaged: shape or place of {name!r} are no whole numbers.")
    arrays.check_shape(shape, f"{path!r} is damaged: {name!r}")
    if span[1] > size:
        raise BadFileError(f"{path!r} is cut off or damaged: {name!r} reaches beyond its end.")
    kind = entry.get("dtype")
    if not isinstance(kind, str) or kind not in _DTYPES:
        raise BadFileError(f"{path!r} holds {name!r} of the element type {kind!r:.40}, which msnb does not have.")
    return _DTYPES[kind], tuple(shape), *span


def _is_size_list(values):
    return isinstance(values, list) and all(type(value) is int and value >= 0 for value in values)


def _check_contiguous(path, entries, size):
    """Raise an error unless the (start, end) of `entries` are contiguous up to `size` and match the shapes."""
    at = 0
    for name, (dtype, shape, start, end) in sorted(entries.items(), key=lambda item: item[1][2:]):
        count = math.prod(shape) * dtype.itemsize
        if start != at or end - start != count:
            raise BadFileError(
                f"{path!r} is damaged: {name!r} of shape {shape} should have {count} bytes from byte {at} on, and "
                f"is said to have {end - start} from byte {start} on."
            )
        at = end
    if at != size:
        raise BadFileError(f"{path!r} is cut off or damaged: {size} bytes follow its header, which tells of {at}.")
