"""The upper rows of a JPEG, for crops: a decoder that is told of a lower picture stops there."""

import functools
import importlib
import re
import struct
import threading

import numpy as np

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # SOFn, the start of a frame
_USUAL = _FRAMES | {0xC4, 0xDB, 0xDD, 0xFE} | set(range(0xE0, 0xF0))  # and tables, comments, applications' segments
_SIDES = struct.Struct(">HH").unpack_from
_SOS = 0xDA
_MORE = 8  # rows below the last that is wanted: colours that are stored for two rows are blended with the next
_MARKER = re.compile(rb"\xff[^\x00\xff]", re.DOTALL)
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
    at, last = 2, len(raw) - 8
    while at <= last - 2:
        marker = raw[at + 1]
        if raw[at] != 0xFF or marker == 0xFF or not marker:  # something between segments
            found = _MARKER.search(raw, at, last)
            if found is None:
                return
            at, marker = found.start(), raw[found.end() - 1]
        at += 2
        if marker == 0x01 or 0xD0 <= marker < 0xDA:
            continue  # has no length
        yield marker, at
        if marker == _SOS:
            return
        at += raw[at] << 8 | raw[at + 1]


def size(data):
    """(height, width) in the header of a JPEG; None when it has none."""
    raw, at = bytes(data[:1024]), 2
    while at + 9 <= len(raw) and raw[at] == 0xFF and raw[at + 1] in _USUAL:  # each image asks: without a generator
        if raw[at + 1] in _FRAMES:
            return _SIDES(raw, at + 5)
        at += 2 + (raw[at + 2] << 8 | raw[at + 3])
    raw = memoryview(data)
    for marker, at in _segments(raw):
        if marker in _FRAMES:
            return _SIDES(raw, at + 3)
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
        if marker in _FRAMES:
            # Sequential Huffman coding, 8 bits, three components: anything else is left to OpenCV.
            if marker > 0xC1 or data[at + 2] != 8 or data[at + 7] != 3:
                return None
            frame = at
        elif marker == _SOS and (frame is None or data[at + 2] != 3):
            return None  # one scan per component: the rows of the first one end before the others begin
    if frame is None:
        return None
    height, width = _SIDES(data, frame + 3)
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
