"""Decode only the upper rows of a JPEG, for crops.

The height in the header is changed, so the decoder stops at the last row that is needed.
"""

import functools
import importlib
import re
import struct
import threading

import numpy as np

_FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # SOFn, start of frame
# Markers in a header: frames, tables, comments and application segments.
_HEADER_MARKERS = _FRAME_MARKERS | {0xC4, 0xDB, 0xDD, 0xFE} | set(range(0xE0, 0xF0))
_unpack_sides = struct.Struct(">HH").unpack_from
_SOS = 0xDA
_EXTRA_ROWS = 8  # chroma that is stored for two rows is blended with the next row
_MARKER = re.compile(rb"\xff[^\x00\xff]", re.DOTALL)
_per_thread = threading.local()


@functools.cache
def _import_simplejpeg():
    """Return the optional package `simplejpeg`, which decodes into existing memory, or None."""
    try:
        return importlib.import_module("simplejpeg")
    except ImportError:
        return None


def _iterate_segments(raw):
    """Yield (marker, offset of the segment's length) up to the first scan."""
    offset, last = 2, len(raw) - 8
    while offset <= last - 2:
        marker = raw[offset + 1]
        if raw[offset] != 0xFF or marker == 0xFF or not marker:  # bytes between segments
            match = _MARKER.search(raw, offset, last)
            if match is None:
                return
            offset, marker = match.start(), raw[match.end() - 1]
        offset += 2
        if marker == 0x01 or 0xD0 <= marker < 0xDA:
            continue  # the marker has no length
        yield marker, offset
        if marker == _SOS:
            return
        offset += raw[offset] << 8 | raw[offset + 1]


def read_size(data):
    """Return (height, width) in the header of a JPEG, or None."""
    raw, offset = bytes(data[:1024]), 2
    # This loop runs once per image. It uses no generator, which would be slower.
    while offset + 9 <= len(raw) and raw[offset] == 0xFF and raw[offset + 1] in _HEADER_MARKERS:
        if raw[offset + 1] in _FRAME_MARKERS:
            return _unpack_sides(raw, offset + 5)
        offset += 2 + (raw[offset + 2] << 8 | raw[offset + 3])
    raw = memoryview(data)
    for marker, offset in _iterate_segments(raw):
        if marker in _FRAME_MARKERS:
            return _unpack_sides(raw, offset + 3)
    return None


def decode_upper_rows(data, rows):
    """Decode at least the first `rows` rows of a JPEG to RGB (uint8). Return None if that saves nothing.

    The next call in the same thread overwrites the memory of the result.
    """
    library = _import_simplejpeg()
    if library is None:
        return None
    frame = None
    for marker, offset in _iterate_segments(memoryview(data)):
        if marker in _FRAME_MARKERS:
            # Only sequential Huffman coding with 8 bits and three components is supported here.
            if marker > 0xC1 or data[offset + 2] != 8 or data[offset + 7] != 3:
                return None
            frame = offset
        elif marker == _SOS and (frame is None or data[offset + 2] != 3):
            return None  # With one scan per component, all rows of the first component precede the others.
    if frame is None:
        return None
    height, width = _unpack_sides(data, frame + 3)
    rows = min(rows + _EXTRA_ROWS, height)
    if rows < height:
        data = data.copy()
        data[frame + 3], data[frame + 4] = rows >> 8, rows & 255
    try:
        return library.decode_jpeg(data, buffer=_get_thread_buffer(rows * width * 3), strict=False)
    except ValueError:
        return None  # OpenCV raises the error


def _get_thread_buffer(num_bytes):
    buffer = getattr(_per_thread, "buffer", None)
    if buffer is None or buffer.size < num_bytes:
        buffer = _per_thread.buffer = np.empty(num_bytes, np.uint8)
    return buffer[:num_bytes]
