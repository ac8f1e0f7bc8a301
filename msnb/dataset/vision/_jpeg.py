"""The upper rows of a JPEG, for crops: a decoder that is told of a lower picture stops there."""

import functools
import importlib
import struct
import threading

import numpy as np

_WHOLE = range(0xC0, 0xD0)  # SOFn, the start of a frame, but for the three numbers among them that are none
_NO_FRAME = (0xC4, 0xC8, 0xCC)
_SOS = 0xDA
_MORE = 8  # rows below the last that is wanted: colours that are stored for two rows are blended with the next
_own = threading.local()


@functools.cache
def _simplejpeg():
    """The optional package, which decodes into memory that is there; None without it."""
    try:
        return importlib.import_module("simplejpeg")
    except ImportError:
        return None


def _segments(raw):
    """Yield (marker, place of the segment's length) up to the first scan."""
    at, end = 2, len(raw) - 9
    while at < end:
        if raw[at] != 0xFF or raw[at + 1] == 0xFF:
            at += 1
            continue
        marker = raw[at + 1]
        if marker == 0x01 or 0xD0 <= marker < 0xDA:
            at += 2
            continue
        yield marker, at + 2
        if marker == _SOS:
            return
        at += 2 + (raw[at + 2] << 8 | raw[at + 3])


def size(data):
    """(height, width) in the header of a JPEG; None when it has none."""
    for marker, at in _segments(memoryview(data)):
        if marker in _WHOLE and marker not in _NO_FRAME:
            return struct.unpack_from(">HH", data, at + 3)
    return None


def upper_rows(data, rows):
    """RGB image (uint8) with at least the first `rows` rows of a JPEG; None where that saves nothing.

    The image lies in memory that the next call on the same thread uses again.
    """
    library = _simplejpeg()
    if library is None:
        return None
    frame = None
    for marker, at in _segments(memoryview(data)):
        if marker in _WHOLE and marker not in _NO_FRAME:
            # Sequential Huffman coding, 8 bits, three components: anything else is left to OpenCV.
            if marker > 0xC1 or data[at + 2] != 8 or data[at + 7] != 3:
                return None
            frame = at
        elif marker == _SOS and (frame is None or data[at + 2] != 3):
            return None  # one scan per component: the rows of the first one end before the others begin
    if frame is None:
        return None
    height, width = struct.unpack_from(">HH", data, frame + 3)
    rows = min(rows + _MORE, height)
    if rows < height:
        data = data.copy()
        data[frame + 3], data[frame + 4] = rows >> 8, rows & 255
    try:
        return library.decode_jpeg(data, buffer=_buffer(rows * width * 3), strict=False)
    except ValueError:
        return None  # OpenCV says what is wrong


def _buffer(octets):
    kept = getattr(_own, "buffer", None)
    if kept is None or kept.size < octets:
        kept = _own.buffer = np.empty(octets, np.uint8)
    return kept[:octets]
