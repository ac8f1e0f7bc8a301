"""The gradient that msnb stores in a StableHLO file.

`jax.export` writes a function and its gradient as two programs, each with the weights. Here the gradient takes the
weights as arguments, and a table says where their bytes are in the function's program.

A file of `jax.export` is a FlatBuffer: it begins with the position of its root (4 bytes, little-endian), and all
further positions are relative. So other bytes can follow the first 4, and `jax.export` reads the function as before.
They are a mark of 8 bytes, the length of the table (4 bytes), the table as JSON, the gradient, and weights that the
function's program has in another form (bools, and constants of one repeated value).
"""

import json
import math
from collections.abc import Sequence

import ml_dtypes  # noqa: F401 - numpy knows its types by name
import numpy as np

from msnb.formats import arrays
from msnb.formats.text_files import BadFileError, parse_json

_MARK = b"MSNBGRAD"
_ROOT, _TABLE = 4, 16  # bytes of the root's position, and the position of the table
_ALIGNED = 16
_SHORTEST = 64  # bytes of an array that is worth a search
_LABEL = "the table of the gradient"


def add_gradient(function: bytes, gradient: bytes, weights: Sequence[np.ndarray]) -> bytes:
    """Return the bytes of a file with a function and its gradient.

    Args:
        function (bytes): Artefact of `jax.export`, with the weights as constants.
        gradient (bytes): Artefact of the gradient. Its first arguments are the weights.
        weights (Sequence[ndarray]): The weights.
    """
    contents = [bytes(arrays.content(arrays.little_endian(weight))) for weight in weights]
    positions = [function.find(content) if len(content) >= _SHORTEST else -1 for content in contents]
    separate = b"".join(content for content, position in zip(contents, positions, strict=True) if position < 0)
    inserted = _pad(gradient + separate)
    end, rows = len(gradient), []
    for weight, content, position in zip(weights, contents, positions, strict=True):
        start = len(inserted) + position - _ROOT if position >= 0 else end
        end += len(content) if position < 0 else 0
        rows.append([weight.dtype.name, list(weight.shape), start])
    size = len(inserted) + len(function) - _ROOT
    table = _pad(json.dumps({"size": size, "gradient": len(gradient), "weights": rows}).encode())
    root = int.from_bytes(function[:_ROOT], "little") + _TABLE - _ROOT + len(table) + len(inserted)
    head = root.to_bytes(_ROOT, "little") + _MARK + len(table).to_bytes(4, "little")
    return b"".join([head, table, inserted, memoryview(function)[_ROOT:]])


def _pad(data):
    return data + b" " * (-len(data) % _ALIGNED)


def read_gradient(data: bytes) -> tuple[bytes, list[np.ndarray]] | None:
    """Return the gradient's artefact and the weights, or None for a file of `jax.export`.

    Raises:
        BadFileError: If the table is damaged, or the file is shorter than the table says.
    """
    if data[_ROOT : _ROOT + len(_MARK)] != _MARK:
        return None
    base = _TABLE + int.from_bytes(data[_TABLE - 4 : _TABLE], "little")
    body = memoryview(data)[base:]
    try:
        table = parse_json(data[_TABLE:base].decode(), _LABEL)
        if table["size"] != len(body):
            raise BadFileError(f"The file should have {table['size']} bytes after the table, but has {len(body)}.")
        return bytes(body[: table["gradient"]]), [_read_array(body, *row) for row in table["weights"]]
    except (KeyError, TypeError, UnicodeDecodeError) as e:
        raise BadFileError(f"{_LABEL} is damaged: {e!r}.") from None


def _read_array(body, name, shape, start):
    dtype = np.dtype(name)
    return arrays.view(body[start : start + math.prod(shape) * dtype.itemsize], dtype, tuple(shape), "A weight")
