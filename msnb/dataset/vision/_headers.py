"""Read the size of an image from the header of its encoded bytes, to check it before a decoder allocates memory.

The readers cover the formats that OpenCV decodes. They take bytes as a memoryview and may fail on a damaged header;
the decoder then raises the error.
"""

import re
import struct

from msnb.dataset.core.config import settings
from msnb.dataset.vision import _jpeg

_ONE_SPACE = rb"(?:\s|#[^\n]*\n)+"  # comments count as space
_PNM = re.compile(rb"P[1-6fF]" + _ONE_SPACE + rb"(\d+)" + _ONE_SPACE + rb"(\d+)")
_HDR = re.compile(rb"\n\n-Y\s+(\d+)\s+\+X\s+(\d+)")


def _make_binary_size_reader(layout, offset):
    """Return a function that reads (height, width) from two integers at `offset`, where width comes first."""

    def read(raw):
        width, height = struct.unpack_from(layout, raw, offset)
        return height, width

    return read


def _read_bmp_size(raw):
    (length,) = struct.unpack_from("<I", raw, 14)
    width, height = struct.unpack_from("<HH" if length == 12 else "<ii", raw, 18)
    return abs(height), width  # the height is negative if rows are stored top to bottom


def _read_webp_size(raw):
    kind = bytes(raw[12:16])
    if kind == b"VP8X":
        width, height = (int.from_bytes(raw[at : at + 3], "little") + 1 for at in (24, 27))
    elif kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", raw, 21)
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    else:
        width, height = (side & 0x3FFF for side in struct.unpack_from("<HH", raw, 26))
    return height, width


def _read_tiff_size(raw):
    order = "<" if raw[0] == ord("I") else ">"
    is_bigtiff = struct.unpack_from(order + "H", raw, 2)[0] == 43  # BigTIFF has 64 bits where TIFF has 32 or 16
    (offset,) = struct.unpack_from(order + ("Q" if is_bigtiff else "I"), raw, 8 if is_bigtiff else 4)
    (entries,) = struct.unpack_from(order + ("Q" if is_bigtiff else "H"), raw, offset)
    offset, step, value = (offset + 8, 20, 12) if is_bigtiff else (offset + 2, 12, 8)
    sides = {256: 0, 257: 0}  # ImageWidth and ImageLength
    for entry in range(offset, min(offset + entries * step, len(raw) - step + 1), step):
        tag, kind = struct.unpack_from(order + "HH", raw, entry)
        if tag in sides and kind in (3, 4, 16):
            layout = order + {3: "H", 4: "I", 16: "Q"}[kind]
            sides[tag] = max(sides[tag], struct.unpack_from(layout, raw, entry + value)[0])
    return sides[257], sides[256]


def _make_text_size_reader(pattern, rows_first=False):
    """Return a function that reads (height, width) from the two numbers that the regex `pattern` captures."""

    def read(raw):
        first, second = map(int, pattern.search(raw).groups())
        return (first, second) if rows_first else (second, first)

    return read


def _read_pam_size(raw):
    header = bytes(raw).partition(b"ENDHDR")[0]
    return tuple(max(map(int, re.findall(name + rb"\s+(\d+)", header))) for name in (b"HEIGHT", b"WIDTH"))


def _read_exr_size(raw):
    left, top, right, bottom = struct.unpack_from("<4i", raw, bytes(raw).index(b"dataWindow\0box2i\0") + 21)
    return bottom - top + 1, right - left + 1


def _read_jpeg2000_size(raw):
    """Read the size of a JPEG 2000 codestream."""
    right, bottom, left, top = struct.unpack_from(">4I", raw, bytes(raw).index(b"\xff\x4f\xff\x51") + 8)
    return bottom - top, right - left


def _read_isobmff_size(raw):
    """Read the size of a JPEG 2000 or AVIF file with boxes.

    An AVIF image may be a grid of smaller images whose sizes are also stored, so the largest size is returned.
    """
    if bytes(raw[4:8]) != b"ftyp":
        return _read_jpeg2000_size(raw)
    offsets = (match.end() + 4 for match in re.finditer(b"ispe", raw))
    return max((_make_binary_size_reader(">II", offset)(raw) for offset in offsets), key=lambda side: side[0] * side[1])


_READERS = {
    b"\xff\xd8": _jpeg.read_size,
    b"\x89P": _make_binary_size_reader(">II", 16),  # PNG
    b"BM": _read_bmp_size,
    b"GI": _make_binary_size_reader("<HH", 6),  # GIF
    b"RI": _read_webp_size,
    b"II": _read_tiff_size,
    b"MM": _read_tiff_size,
    **{b"P%c" % kind: _make_text_size_reader(_PNM) for kind in b"123456fF"},
    b"P7": _read_pam_size,
    b"\x59\xa6": _make_binary_size_reader(">II", 4),  # Sun raster
    b"#?": _make_text_size_reader(_HDR, rows_first=True),  # Radiance
    b"\x76\x2f": _read_exr_size,
    b"\xff\x4f": _read_jpeg2000_size,
    b"\x00\x00": _read_isobmff_size,
}


def read_size(data):
    """Return (height, width) from the header of an encoded image (a uint8 array or bytes), or None if it has none."""
    read = _READERS.get(bytes(data[:2]))
    try:
        return None if read is None else read(memoryview(data))
    except (struct.error, IndexError, ValueError, AttributeError):
        return None  # the decoder raises the error


def check_pixels(height, width, error=RuntimeError):
    """Raise `error` if an image of this size has more pixels than :func:`set_max_pixels` allows."""
    limit = settings.max_pixels
    if height * width > limit:
        raise error(
            f"Decode: the image claims {width} x {height} = {width * height} pixels, but at most {limit} are decoded. "
            "If that is what it should have, allow more with dataset.config.set_max_pixels."
        )


def check_encoded(data, error=RuntimeError):
    """Run :func:`check_pixels` on an encoded image."""
    sides = read_size(data)
    if sides is not None and sides[0] * sides[1] > settings.max_pixels:
        check_pixels(*sides, error)
