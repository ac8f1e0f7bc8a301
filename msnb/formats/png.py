"""Encoder of grey or RGB images as PNG, fast rather than small, since a training waits for it."""

import struct
import zlib

import numpy as np

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GREY, _RGB = 0, 2
_NONE, _SUB = 0, 1  # filters of a row: plain bytes, or differences to the pixel on the left


def encode(picture: np.ndarray) -> bytes:
    """Return the PNG file of an image.

    Args:
        picture (numpy.ndarray): uint8[height, width, 1 or 3].

    Raises:
        ValueError: If `picture` has another shape or type.
    """
    if picture.ndim != 3 or picture.shape[2] not in (1, 3) or picture.dtype != np.uint8 or 0 in picture.shape:
        actual = f"{picture.dtype}{list(picture.shape)}"
        raise ValueError(f"A picture should be uint8[height, width, 1 or 3], but got {actual}.")
    height, width, colours = picture.shape
    pixels = picture.reshape(height, colours * width)
    rows = np.empty((height, 1 + colours * width), np.uint8)
    rows[:, 0] = _NONE if colours == 1 else _SUB  # bytes of grey images compress best without a filter
    rows[:, 1:] = pixels
    if colours == 3:
        rows[:, 4:] -= pixels[:, :-3]
    header = struct.pack(">IIBBBBB", width, height, 8, _GREY if colours == 1 else _RGB, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b"")
    return _SIGNATURE + b"".join(_make_chunk(name, body) for name, body in chunks)


def _make_chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(body, zlib.crc32(name)))
