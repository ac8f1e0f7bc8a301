"""The size that the header of an encoded image claims, read before a decoder takes memory for it.

The readers cover what OpenCV decodes. They take bytes as a memoryview and may fail on a damaged header: the decoder
then says what is wrong.
"""

import re
import struct

from msnb.dataset.core.config import settings
from msnb.dataset.vision import _jpeg

_ONE_SPACE = rb"(?:\s|#[^\n]*\n)+"  # comments count as space
_PNM = re.compile(rb"P[1-6fF]" + _ONE_SPACE + rb"(\d+)" + _ONE_SPACE + rb"(\d+)")
_HDR = re.compile(rb"\n\n-Y\s+(\d+)\s+\+X\s+(\d+)")


def _fixed(layout, at):
    """A reader of two whole numbers, the width before the height, that stand in one place."""

    def read(raw):
        width, height = struct.unpack_from(layout, raw, at)
        return height, width

    return read


def _bmp(raw):
    (length,) = struct.unpack_from("<I", raw, 14)
    width, height = struct.unpack_from("<HH" if length == 12 else "<ii", raw, 18)
    return abs(height), width  # rows from the top down have a negative height


def _webp(raw):
    kind = bytes(raw[12:16])
    if kind == b"VP8X":
        width, height = (int.from_bytes(raw[at : at + 3], "little") + 1 for at in (24, 27))
    elif kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", raw, 21)
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    else:
        width, height = (side & 0x3FFF for side in struct.unpack_from("<HH", raw, 26))
    return height, width


def _tiff(raw):
    order = "<" if raw[0] == ord("I") else ">"
    large = struct.unpack_from(order + "H", raw, 2)[0] == 43  # BigTIFF has 64 bits where TIFF has 32 or 16
    (at,) = struct.unpack_from(order + ("Q" if large else "I"), raw, 8 if large else 4)
    (entries,) = struct.unpack_from(order + ("Q" if large else "H"), raw, at)
    at, step, value = (at + 8, 20, 12) if large else (at + 2, 12, 8)
    sides = {256: 0, 257: 0}  # ImageWidth and ImageLength
    for place in range(at, min(at + entries * step, len(raw) - step + 1), step):
        tag, kind = struct.unpack_from(order + "HH", raw, place)
        if tag in sides and kind in (3, 4, 16):
            layout = order + {3: "H", 4: "I", 16: "Q"}[kind]
            sides[tag] = max(sides[tag], struct.unpack_from(layout, raw, place + value)[0])
    return sides[257], sides[256]


def _text(pattern, rows_first=False):
    """A reader of two numbers that a pattern finds."""

    def read(raw):
        first, second = map(int, pattern.search(raw).groups())
        return (first, second) if rows_first else (second, first)

    return read


def _pam(raw):
    header = bytes(raw).partition(b"ENDHDR")[0]
    return tuple(max(map(int, re.findall(name + rb"\s+(\d+)", header))) for name in (b"HEIGHT", b"WIDTH"))


def _exr(raw):
    left, top, right, bottom = struct.unpack_from("<4i", raw, bytes(raw).index(b"dataWindow\0box2i\0") + 21)
    return bottom - top + 1, right - left + 1


def _codestream(raw):
    """JPEG 2000."""
    right, bottom, left, top = struct.unpack_from(">4I", raw, bytes(raw).index(b"\xff\x4f\xff\x51") + 8)
    return bottom - top, right - left


def _boxes(raw):
    """JPEG 2000 in boxes, or AVIF, whose image may be a grid of smaller ones."""
    if bytes(raw[4:8]) != b"ftyp":
        return _codestream(raw)
    places = (found.end() + 4 for found in re.finditer(b"ispe", raw))
    return max((_fixed(">II", place)(raw) for place in places), key=lambda side: side[0] * side[1])


_READERS = {
    b"\xff\xd8": _jpeg.size,
    b"\x89P": _fixed(">II", 16),  # PNG
    b"BM": _bmp,
    b"GI": _fixed("<HH", 6),  # GIF
    b"RI": _webp,
    b"II": _tiff,
    b"MM": _tiff,
    **{b"P%c" % kind: _text(_PNM) for kind in b"123456fF"},
    b"P7": _pam,
    b"\x59\xa6": _fixed(">II", 4),  # Sun raster
    b"#?": _text(_HDR, rows_first=True),  # Radiance
    b"\x76\x2f": _exr,
    b"\xff\x4f": _codestream,
    b"\x00\x00": _boxes,
}


def size(data):
    """(height, width) in the header of an encoded image, a uint8 array or bytes; None where it has none."""
    read = _READERS.get(bytes(data[:2]))
    try:
        return None if read is None else read(memoryview(data))
    except (struct.error, IndexError, ValueError, AttributeError):
        return None  # the decoder says what is wrong


def check_pixels(height, width, error=RuntimeError):
    """`error` when an image of this size has more pixels than :func:`set_max_pixels` allows."""
    most = settings.max_pixels
    if height * width > most:
        raise error(
            f"Decode: the image claims {width} x {height} = {width * height} pixels, but at most {most} are decoded. "
            "If that is what it should have, allow more with dataset.config.set_max_pixels."
        )


def check(data, error=RuntimeError):
    """:func:`check_pixels` of an encoded image."""
    claimed = size(data)
    if claimed is not None and claimed[0] * claimed[1] > settings.max_pixels:
        check_pixels(*claimed, error)
