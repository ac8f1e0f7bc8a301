"""Vectorised reader of MindRecord files: decodes many rows at once with numpy.

Rows whose fields have another layout than the first row's are left to the reader of single rows, which also reports
errors.
"""

import math

import numpy as np

from msnb.mindrecord._codec import NUMPY, _pack_value, unpack_map

_SLACK = bytes(16)  # padding, since reads may go past the last row
# code of a msgpack number -> number of bytes that follow it; -1 for other codes
_NUMBER_BYTES = np.full(256, -1, np.int64)
_NUMBER_BYTES[:0x80] = _NUMBER_BYTES[0xE0:] = 0
_NUMBER_DTYPES = {0xCA: ">f4", 0xCB: ">f8", 0xCC: ">u1", 0xCD: ">u2", 0xCE: ">u4", 0xCF: ">u8", 0xD0: ">i1",
                  0xD1: ">i2", 0xD2: ">i4", 0xD3: ">i8"}  # fmt: skip
for _code, _kind in _NUMBER_DTYPES.items():
    _NUMBER_BYTES[_code] = np.dtype(_kind).itemsize
_WIDTH = np.array([1, 2, 4, 8])
# byte -> the four 2-bit codes in it
_CODES = (np.arange(256)[:, None] >> np.array([6, 4, 2, 0]) & 3).astype(np.uint8)


class UnlikeError(Exception):
    """Raised for rows of different layouts, which cannot be decoded together."""


class _Bytes:
    """Concatenated bytes of several rows, with a read position in each row."""

    def __init__(self, data, spans):
        self.data = b"".join([data[a:b] for a, b in spans.tolist()])
        self.buffer = np.frombuffer(self.data + _SLACK, np.uint8)
        self.ends = np.cumsum(spans[:, 1] - spans[:, 0])
        self.at = np.concatenate([[0], self.ends[:-1]])

    def take_slices(self, sizes):
        """Return a `_Bytes` of the next ``sizes[i]`` bytes of each row i, and advance the positions past them."""
        new = object.__new__(_Bytes)
        new.data, new.buffer = self.data, self.buffer
        new.at, new.ends = self.at.copy(), self.at + sizes
        if (sizes < 0).any() or (new.ends > self.ends).any():
            raise UnlikeError
        self.at = new.ends
        return new

    def take(self, n, kind=None):
        """Read the next `n` bytes of each row: a uint8 array (rows, n), or one number of dtype `kind` per row."""
        result = self.buffer[self.at[:, None] + np.arange(n)]
        self.at = self.at + n
        return result if kind is None else result.view(kind)[:, 0]

    def check(self):
        """Raise an error if a row was read past its end."""
        if (self.at > self.ends).any():
            raise UnlikeError


def scalars(data, spans, requested, schema):
    """Decode msgpack maps. Return {field: column} for the fields `requested`. ``data[start:end]`` with (start, end) in
    `spans` is the map of a row."""
    first = unpack_map(data[spans[0, 0] : spans[0, 1]])
    if any(name not in first for name in requested):
        raise UnlikeError
    rows, out = _Bytes(data, spans), {}
    head = bytes([0x80 | len(first)]) if len(first) < 16 else b"\xde" + len(first).to_bytes(2, "big")
    _expect_bytes(rows, head)
    for name in first:
        _expect_bytes(rows, _pack_value(name))
        code = rows.take(1)[:, 0]
        text = ((code >= 0xA0) & (code < 0xC0)) | ((code >= 0xD9) & (code <= 0xDB))
        if text.all():
            column = _read_texts(rows, code)
        elif not text.any() and (_NUMBER_BYTES[code] >= 0).all():
            column = _read_numbers(
                rows, code, NUMPY.get(schema.get(name, {}).get("type")) if name in requested else None
            )
        else:
            raise UnlikeError
        if name in requested:
            if text.all() != (schema[name]["type"] == "string"):
                raise UnlikeError
            out[name] = column
    rows.check()
    return out


def _expect_bytes(rows, expected):
    if not (rows.take(len(expected)) == np.frombuffer(expected, np.uint8)).all():
        raise UnlikeError


def _read_texts(rows, code):
    sizes = (code & 0x1F).astype(np.int64)
    at = rows.at
    for kind, extra in ((0xD9, ">u1"), (0xDA, ">u2"), (0xDB, ">u4")):
        selected = np.flatnonzero(code == kind)
        if len(selected):
            width = np.dtype(extra).itemsize
            sizes[selected] = rows.buffer[at[selected][:, None] + np.arange(width)].view(extra)[:, 0]
            at = at.copy()
            at[selected] += width
    rows.at = at + sizes
    rows.check()
    data = rows.data
    return [data[a:b] for a, b in zip(at.tolist(), rows.at.tolist(), strict=True)]


def _read_numbers(rows, code, dtype):
    """Read one msgpack number per row as `dtype`. If that is None, only skip the numbers."""
    at, rows.at = rows.at, rows.at + _NUMBER_BYTES[code]
    if dtype is None:
        return None
    out = code.view(np.int8).astype(dtype)  # small numbers are encoded by their code
    for kind in np.unique(code[(code >= 0x80) & (code < 0xE0)]).tolist():
        chosen = np.flatnonzero(code == kind)
        width = np.dtype(_NUMBER_DTYPES[kind]).itemsize
        out[chosen] = rows.buffer[at[chosen][:, None] + np.arange(width)].view(_NUMBER_DTYPES[kind])[:, 0]
    return out


def blobs(data, spans, requested, fields):
    """Decode blobs. Return {field: column} for the fields `requested`. ``data[start:end]`` with (start, end) in `spans`
    is the blob of a row."""
    if len(fields.blobs) == 1:
        name = fields.blobs[0]
        if _is_raw_bytes(fields.schema[name]):
            return {name: _copy_byte_spans(data, spans)}
        return {name: _read_blob_column(_Bytes(data, spans), name, fields)}
    out = {}
    if len(requested) == len(fields.blobs):  # all fields are requested
        rows = _Bytes(data, spans)
        for name in fields.blobs:
            out[name] = _read_blob_column(rows.take_slices(rows.take(8, ">u8").astype(np.int64)), name, fields)
        return out
    view, start = np.frombuffer(data, np.uint8), spans[:, 0]
    last = max(fields.blobs.index(name) for name in requested)
    for name in fields.blobs[: last + 1]:
        size = view[start[:, None] + np.arange(8)].view(">u8")[:, 0].astype(np.int64)
        field_spans = np.stack([start + 8, start + 8 + size], 1)
        if (size < 0).any() or (field_spans[:, 1] > spans[:, 1]).any():
            raise UnlikeError
        if name in requested and _is_raw_bytes(fields.schema[name]):
            out[name] = _copy_byte_spans(data, field_spans)
        elif name in requested:
            out[name] = _read_blob_column(_Bytes(data, field_spans), name, fields)
        start = field_spans[:, 1]
    return out


def _is_raw_bytes(kind):
    return kind["type"] == "bytes" and "shape" not in kind


def _copy_byte_spans(data, spans):
    """Return a list with a uint8 array, in its own memory, for each (start, end) in `spans`."""
    return [np.frombuffer(bytearray(data[a:b]), np.uint8) for a, b in spans.tolist()]


def _read_blob_column(rows, name, fields):
    kind = fields.schema[name]
    size = rows.ends - rows.at
    if _is_raw_bytes(kind):
        return _copy_byte_spans(memoryview(rows.data), np.stack([rows.at, rows.ends], 1))
    dtype, shape = NUMPY[kind["type"]], kind["shape"]
    if fields.compressed and kind["type"] in ("int32", "int64"):
        if any(n < 0 for n in shape):
            raise UnlikeError
        values = _read_packed_integers(rows, math.prod(shape), dtype)
    else:
        if (size != size[0]).any() or size[0] % dtype.itemsize:
            raise UnlikeError
        values = rows.take(int(size[0])).view(dtype)
    return values.reshape(len(size), *shape)


def _read_packed_integers(rows, n, dtype):
    """Decode integers that ``_codec.pack_ints`` encoded, `n` per row. Return an array of shape (rows, n)."""
    if not (rows.take(4, ">u4") == n).all():
        raise UnlikeError
    if not n:
        return np.zeros((len(rows.at), 0), dtype)
    packed = rows.take(-(-n // 4))
    code = _CODES[packed].reshape(len(packed), -1)[:, :n]
    out = np.empty(code.shape, dtype)
    narrow, wide = code.min(1), code.max(1)
    for width in range(4):  # rows whose integers all have this width are decoded together
        selected = np.flatnonzero((narrow == width) & (wide == width))
        if len(selected):
            num_bytes = _WIDTH[width]
            positions = rows.at[selected][:, None] + np.arange(n * num_bytes)
            out[selected] = rows.buffer[positions].view(f"<i{num_bytes}")
            rows.at[selected] += n * num_bytes
    mixed = np.flatnonzero(narrow != wide)
    if len(mixed):
        out[mixed] = _read_mixed_width_integers(rows, mixed, code[mixed])
    rows.check()
    return out


def _read_mixed_width_integers(rows, chosen, code):
    """Decode integers in the rows `chosen`, each of which has integers of several widths."""
    size = _WIDTH.astype(np.int32)[code]
    positions = np.cumsum(size, 1, dtype=np.int32)
    total = positions[:, -1].astype(np.int64)
    positions += rows.at[chosen].astype(np.int32)[:, None] - size
    rows.at[chosen] += total
    if (rows.at > rows.ends).any() or rows.ends[-1] > np.iinfo(np.int32).max:
        raise UnlikeError
    buffer, flat, positions = rows.buffer, code.ravel(), positions.ravel()
    values = buffer[positions].view(np.int8).astype(np.int64)
    for width in range(1, 4):
        at = np.flatnonzero(flat == width)
        if len(at):
            num_bytes = int(_WIDTH[width])
            values[at] = buffer[positions[at][:, None] + np.arange(num_bytes, dtype=np.int32)].view(f"<i{num_bytes}")[
                :, 0
            ]
    return values.reshape(code.shape)
