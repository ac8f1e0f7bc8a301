"""The wire format of protocol buffers, as far as MindSpore's files use it, without the protobuf runtime.

A message is described by a table ``{field name: (number, kind, repeated)}`` where kind is ``"int"``, ``"float"``,
``"double"``, ``"bytes"``, ``"span"``, ``"str"`` or the name of another message; a *schema* maps names of messages to
such tables. The kind ``"span"`` means bytes that are not copied: a memoryview when decoding, any buffer when encoding.
"""

import struct
from collections.abc import Iterator
from typing import Any

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_MASK64 = (1 << 64) - 1
_SHORT = [bytes((n,)) for n in range(0x80)]


class WireError(ValueError):
    """Error of bytes that are not a protocol buffer, or are truncated."""


def varint(n: int) -> bytes:
    """Encode an integer as a varint. A negative one is encoded as its 64-bit two's complement."""
    if 0 <= n < 0x80:
        return _SHORT[n]
    if 0 <= n < 0x4000:  # the second most common case
        return bytes((n & 0x7F | 0x80, n >> 7))
    n &= _MASK64
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def read_varint(data: bytes | memoryview, start: int, end: int | None) -> tuple[int, int]:
    """Decode the varint at `start`. Return (value, position after it)."""
    value = shift = 0
    for at in range(start, min(end, start + 10)):
        byte = data[at]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _MASK64, at + 1
        shift += 7
    raise WireError(f"the integer at byte {start} does not end")


def key(number: int, wire_type: int) -> bytes:
    """Encode the key of a field: its number and wire type."""
    return varint(number << 3 | wire_type)


def fields(data: bytes | memoryview, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int, Any]]:
    """Yield (field number, wire type, value) for each field of the message in ``data[start:end]``.

    The value of a length-delimited field is its (start, end) in `data`: no bytes are copied, so a memory-mapped file is
    read only where it is accessed.
    """
    at, end = start, len(data) if end is None else end
    while at < end:
        tag = data[at]
        if tag < 0x80:  # the most common case
            at += 1
        else:
            tag, at = read_varint(data, at, end)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == VARINT:
            value, at = read_varint(data, at, end)
        elif wire_type == LENGTH:
            if at < end and data[at] < 0x80:
                length = data[at]
                at += 1
            else:
                length, at = read_varint(data, at, end)
            value = (at, at + length)
            at += length
        elif wire_type in (FIXED32, FIXED64):
            width = 4 if wire_type == FIXED32 else 8
            value = bytes(data[at : at + width])
            at += width
        else:
            raise WireError(f"byte {at} opens a field of unknown wire type {wire_type}")
        if number == 0 or at > end:
            raise WireError(f"the field at byte {at} reaches beyond the end" if number else f"byte {at} opens no field")
        yield number, wire_type, value


def signed(value: int) -> int:
    """Return the 64-bit integer whose two's complement is `value`."""
    return value - (1 << 64) if value >> 63 else value


def encode(schema: dict[str, Any], message: str, values: dict[str, Any]) -> bytes:
    """Encode a message of type `message`, with the fields in the dict `values`."""
    out = []
    table = schema[message]
    for name, value in values.items():
        number, kind, repeated = table[name]
        for item in value if repeated else (value,):
            out.append(_encode_field(schema, number, kind, item))
    return b"".join(out)


def _encode_field(schema, number, kind, item):
    if kind == "int":
        return key(number, VARINT) + varint(int(item))
    if kind == "float":
        return key(number, FIXED32) + struct.pack("<f", item)
    if kind == "double":
        return key(number, FIXED64) + struct.pack("<d", item)
    if kind in ("bytes", "span"):
        body = item
    elif kind == "str":
        body = item.encode()
    else:
        body = encode(schema, kind, item)
    return key(number, LENGTH) + varint(len(body)) + body


def decode(
    schema: dict[str, Any], message: str, data: bytes | memoryview, start: int = 0, end: int | None = None
) -> dict[str, Any]:
    """Decode a message of type `message` in ``data[start:end]`` to a dict. Repeated fields become lists, unknown fields
    are dropped.

    Raises:
        WireError: If the bytes are not such a message, or messages are nested more than 100 deep.
    """
    return _decode_message(schema, message, data, start, end, 100)


def _decode_message(schema, message, data, start, end, levels):
    if not levels:
        raise WireError(f"the {message} at byte {start} is nested more than 100 deep")
    by_number = {number: (name, kind, repeated) for name, (number, kind, repeated) in schema[message].items()}
    out = {}
    for number, wire_type, value in fields(data, start, end):
        if number not in by_number:
            continue
        name, kind, repeated = by_number[number]
        if wire_type == LENGTH:
            items = _decode_length_delimited(schema, kind, data, *value, levels)
        elif _UNPACKED.get(kind) == wire_type:
            items = [signed(value)] if wire_type == VARINT else list(struct.unpack(_LETTERS[kind], value))
        else:
            raise WireError(f"field {name!r} of the {message} at byte {start} has the wire type {wire_type}")
        if repeated:
            out.setdefault(name, []).extend(items)
        elif items:
            out[name] = items[-1]
    return out


_UNPACKED = {"int": VARINT, "float": FIXED32, "double": FIXED64}
_LETTERS = {"float": "<f", "double": "<d"}


def _decode_length_delimited(schema, kind, data, start, end, levels):
    """Decode the length-delimited field ``data[start:end]``.

    Return a list: the value, or all values of a packed field.
    """
    if kind == "bytes":
        return [bytes(data[start:end])]
    if kind == "span":
        return [memoryview(data)[start:end]]
    if kind == "str":
        return [bytes(data[start:end]).decode("utf-8", "replace")]
    if kind == "int":
        items = []
        while start < end:
            item, start = read_varint(data, start, end)
            items.append(signed(item))
        return items
    if kind in _LETTERS:
        try:
            return [item for (item,) in struct.iter_unpack(_LETTERS[kind], bytes(data[start:end]))]
        except struct.error:
            raise WireError(f"the {end - start} bytes at byte {start} are no whole number of {kind}s") from None
    return [_decode_message(schema, kind, data, start, end, levels - 1)]
