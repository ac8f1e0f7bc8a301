"""MindRecord's encodings: msgpack of a row's scalars, compressed integers, and the parts of a blob."""

import struct

import numpy as np

U64 = struct.Struct("<Q")
BIG64 = struct.Struct(">Q")
_BIG32 = struct.Struct(">I")
NUMPY = {
    "int32": np.dtype("<i4"),
    "int64": np.dtype("<i8"),
    "float32": np.dtype("<f4"),
    "float64": np.dtype("<f8"),
    "bytes": np.dtype("u1"),
}
_WIDTH = np.array([1, 2, 4, 8])


class DamagedError(ValueError):
    """Error of bytes that are not in MindRecord's format."""


def pack_map(fields):
    """Encode a dict of str to int, float, str, bool or None as msgpack bytes."""
    if len(fields) < 16:
        out = [bytes([0x80 | len(fields)])]
    else:
        out = [b"\xde" + struct.pack(">H", len(fields))]
    for key, value in fields.items():
        out += [_pack_value(key), _pack_value(value)]
    return b"".join(out)


def _pack_value(value):
    if isinstance(value, str):
        raw = value.encode("utf-8")
        n = len(raw)
        if n < 32:
            return bytes([0xA0 | n]) + raw
        if n < 256:
            return b"\xd9" + bytes([n]) + raw
        if n < 65536:
            return b"\xda" + struct.pack(">H", n) + raw
        return b"\xdb" + struct.pack(">I", n) + raw
    if value is None:
        return b"\xc0"
    if isinstance(value, bool | np.bool_):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int | np.integer):
        return _pack_int(int(value))
    if isinstance(value, float | np.floating):
        return b"\xcb" + struct.pack(">d", float(value))
    raise TypeError(f"A value of type {type(value).__name__} cannot be stored in a MindRecord.")


def _pack_int(v):
    if 0 <= v < 128:
        return bytes([v])
    if -32 <= v < 0:
        return struct.pack(">b", v)
    for code, kind, low, high in (
        (0xCC, ">B", 0, 1 << 8),
        (0xCD, ">H", 0, 1 << 16),
        (0xCE, ">I", 0, 1 << 32),
        (0xCF, ">Q", 0, 1 << 64),
        (0xD0, ">b", -(1 << 7), 0),
        (0xD1, ">h", -(1 << 15), 0),
        (0xD2, ">i", -(1 << 31), 0),
        (0xD3, ">q", -(1 << 63), 0),
    ):
        if low <= v < high:
            return bytes([code]) + struct.pack(kind, v)
    raise ValueError(f"{v} does not fit 64 bits.")


_FIXED = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_FIXED = {code: struct.Struct(kind) for code, kind in _FIXED.items()}
_LENGTH = {
    0xD9: ">B",
    0xDA: ">H",
    0xDB: ">I",
    0xC4: ">B",
    0xC5: ">H",
    0xC6: ">I",
    0xDC: ">H",
    0xDD: ">I",
    0xDE: ">H",
    0xDF: ">I",
}
_LENGTH = {code: struct.Struct(kind) for code, kind in _LENGTH.items()}
_CONSTANT = {0xC0: None, 0xC2: False, 0xC3: True}


def unpack_map(data):
    """Decode msgpack bytes to a dict."""
    try:
        value, at = _unpack_value(data, 0)
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise DamagedError(f"a row's fields cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise DamagedError("a row's fields are no map")
    return value


def _unpack_value(data, at):
    code = data[at]
    at += 1
    if code < 0x80:
        return code, at
    if code >= 0xE0:
        return code - 256, at
    if 0xA0 <= code < 0xC0:
        end = at + (code & 0x1F)
        return str(data[at:end], "utf-8"), end
    if code < 0x90:
        return _unpack_dict(data, at, code & 0x0F)
    if code < 0xA0:
        return _unpack_list(data, at, code & 0x0F)
    kind = _FIXED.get(code)
    if kind is not None:
        return kind.unpack_from(data, at)[0], at + kind.size
    if code in _CONSTANT:
        return _CONSTANT[code], at
    kind = _LENGTH.get(code)
    if kind is None:
        raise DamagedError(f"unknown msgpack code {code:#x}")
    n = kind.unpack_from(data, at)[0]
    at += kind.size
    if code in (0xD9, 0xDA, 0xDB):
        return str(data[at : at + n], "utf-8"), at + n
    if code in (0xC4, 0xC5, 0xC6):
        return bytes(data[at : at + n]), at + n
    return (_unpack_list if code in (0xDC, 0xDD) else _unpack_dict)(data, at, n)


def _unpack_list(data, at, n):
    out = []
    for _ in range(n):
        value, at = _unpack_value(data, at)
        out.append(value)
    return out, at


def _unpack_dict(data, at, n):
    out = {}
    for _ in range(n):
        key, at = _unpack_value(data, at)
        out[key], at = _unpack_value(data, at)
    return out, at


def pack_ints(values):
    """Compress integers: count, a 2-bit width code per integer, then each integer in 1, 2, 4 or 8 bytes."""
    values = np.ascontiguousarray(values, np.int64).ravel()
    n = values.size
    code = np.full(n, 3, np.uint8)
    for width in (2, 1, 0):
        bits = 8 << width
        code[(values >= -(1 << (bits - 1))) & (values < 1 << (bits - 1))] = width
    codes = np.zeros(-(-n // 4) * 4, np.uint8)
    codes[:n] = code
    codes = codes.reshape(-1, 4)
    packed = codes[:, 0] << 6 | codes[:, 1] << 4 | codes[:, 2] << 2 | codes[:, 3]
    raw = values.view(np.uint8).reshape(n, 8)
    return (
        _BIG32.pack(n) + packed.astype(np.uint8).tobytes() + raw[np.arange(8)[None] < _WIDTH[code][:, None]].tobytes()
    )


def unpack_ints(data, dtype):
    """Decode integers that :func:`pack_ints` encoded."""
    (n,) = _BIG32.unpack_from(data, 0)
    coded = -(-n // 4)
    if not n:
        return np.zeros(0, dtype)
    packed = np.frombuffer(data, np.uint8, coded, 4)
    code = np.stack([packed >> 6, packed >> 4 & 3, packed >> 2 & 3, packed & 3], 1).reshape(-1)[:n]
    if (code == code[0]).all():
        return np.frombuffer(data, f"<i{_WIDTH[code[0]]}", n, 4 + coded).astype(dtype)
    size = _WIDTH[code]
    offsets = 4 + coded + np.concatenate([[0], np.cumsum(size)[:-1]])
    out, raw = np.empty(n, dtype), np.frombuffer(data, np.uint8)
    for width in range(4):
        chosen = code == width
        if chosen.any():
            s = int(_WIDTH[width])
            out[chosen] = raw[offsets[chosen][:, None] + np.arange(s)].copy().view(f"<i{s}")[:, 0]
    return out


class Fields:
    """Encoding of a row by its schema: scalars and strings as one msgpack map, all other fields as one blob."""

    def __init__(self, schema, compressed=True):
        self.schema = dict(sorted(schema.items()))
        self.blobs = [k for k, v in self.schema.items() if v["type"] == "bytes" or "shape" in v]
        self.scalars = [k for k in self.schema if k not in self.blobs]
        self.compressed = compressed

    def pack(self, row):
        """Encode a row as (map, blob), both bytes."""
        scalars = pack_map({k: row[k] for k in self.scalars})
        blobs = [self._pack_blob(row[k], self.schema[k]) for k in self.blobs]
        if len(blobs) == 1:
            return scalars, blobs[0]
        return scalars, b"".join(BIG64.pack(len(p)) + p for p in blobs)

    def _pack_blob(self, value, kind):
        if kind["type"] == "bytes":
            return value.tobytes() if isinstance(value, np.ndarray) else bytes(value)
        array = np.ascontiguousarray(value, NUMPY[kind["type"]])
        if self.compressed and kind["type"] in ("int32", "int64"):
            return pack_ints(array)
        return array.tobytes()

    def split_blob(self, blob):
        """Return the stored bytes of each blob field."""
        if len(self.blobs) == 1:
            return {self.blobs[0]: blob}
        out, at = {}, 0
        for name in self.blobs:
            n = BIG64.unpack_from(blob, at)[0] if at + 8 <= len(blob) else len(blob)
            if at + 8 + n > len(blob):
                raise DamagedError(f"field {name!r} would end after the row")
            out[name] = blob[at + 8 : at + 8 + n]
            at += 8 + n
        return out

    def array(self, name, stored):
        """Decode the stored bytes of the blob field `name`. Return an array if the field has a shape, and bytes
        otherwise."""
        kind = self.schema[name]
        if kind["type"] == "bytes" and "shape" not in kind:
            return bytes(stored)
        dtype = NUMPY[kind["type"]]
        flat = (
            unpack_ints(stored, dtype)
            if self.compressed and kind["type"] in ("int32", "int64")
            else np.frombuffer(stored, dtype)
        )
        return flat.reshape(kind["shape"])
