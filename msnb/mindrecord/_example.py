"""TFRecord files and the protobuf message ``tf.train.Example`` in them, read without TensorFlow.

A record consists of the payload's length (8 bytes), the checksum of the length (4 bytes), the payload, and the checksum
of the payload (4 bytes). A payload is ``Example {Features features = 1}``. ``Features`` is ``{map<string, Feature>
feature = 1}``. ``Feature`` is one of ``{BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list =
3}``. Each list is ``{repeated value = 1}``.
"""

import io
import os
import struct
import zlib

import numpy as np

from msnb.formats.crc32c import masked_crc32c, matches
from msnb.formats.protobuf import FIXED32, LENGTH, VARINT, WireError, fields, read_varint, signed
from msnb.formats.text_files import BadFileError, gunzip

_HEAD = struct.Struct("<QI")
_CHECKSUM = struct.Struct("<I")
_WINDOW = 1 << 18  # bytes that are read and checked at once
_AROUND = _HEAD.size + _CHECKSUM.size


def _make_truncation_error(path, number, size):
    return BadFileError(
        f"Invalid file, {path!r} ends inside record {number}, of {size}; it is damaged or not a TFRecord file."
    )


def _make_checksum_error(path, number, field):
    return BadFileError(
        f"Invalid file, {path!r} is damaged: the {field} of record {number} does not match its checksum."
    )


def _open_record_file(path, compression):
    """Open a TFRecord file. Return (file object, size); a compressed file is decompressed in memory."""
    if not compression:
        file = open(path, "rb")
        return file, os.fstat(file.fileno()).st_size
    if compression == "GZIP":
        data = gunzip(path)
    else:
        with open(path, "rb") as file:
            try:
                data = zlib.decompress(file.read())
            except zlib.error as error:
                raise BadFileError(f"Invalid file, {path!r} is not compressed with zlib: {error}.") from None
    return io.BytesIO(data), len(data)


def records(path, compression=""):
    """Yield the payload of each record. `compression` is "GZIP", "ZLIB" or "" for none.

    Raises:
        OSError: If the file cannot be opened.
        BadFileError: If it ends inside a record, or a checksum does not match.
    """
    number, rest = 0, b""
    file, size = _open_record_file(path, compression)
    with file:
        while True:
            data = rest + file.read(max(_WINDOW, _count_missing_bytes(path, number, rest, size - file.tell())))
            if not data:
                return
            if len(data) == len(rest):
                raise _make_truncation_error(path, number, "unknown length")
            spans, checksums, at = _find_record_spans(data)
            for i, right in enumerate(matches(data, spans, checksums)):
                if not right:
                    raise _make_checksum_error(path, number, "content" if i % 2 else "length")
                if i % 2:
                    yield data[slice(*spans[i])]
                    number += 1
            rest = data[at:]


def _count_missing_bytes(path, number, rest, left):
    """Return the number of bytes that are missing from the record that begins with `rest`.

    `left` is the number of bytes left in the file. If more are missing, raise an error.
    """
    if len(rest) < _HEAD.size:
        return 0
    length, checksum = _HEAD.unpack_from(rest)
    lacking = _AROUND + length - len(rest)
    if lacking > left:
        right = masked_crc32c(rest[:8]) == checksum
        raise (
            _make_truncation_error(path, number, f"{length} bytes")
            if right
            else _make_checksum_error(path, number, "length")
        )
    return lacking


def _find_record_spans(data):
    """Return (spans, checksums, end) of the complete records in `data`.

    The spans are (start, end) of the length and the payload of each record, in turn. `end` is the position after the
    last record.
    """
    spans, checksums, at, end = [], [], 0, len(data)
    while at + _HEAD.size <= end:
        length, checksum = _HEAD.unpack_from(data, at)
        start = at + _HEAD.size
        if start + length + _CHECKSUM.size > end:
            break
        spans += (at, at + 8), (start, start + length)
        checksums += checksum, _CHECKSUM.unpack_from(data, start + length)[0]
        at = start + length + _CHECKSUM.size
    return spans, checksums, at


def count_records(path, compression=""):
    """Return the number of records, from their lengths only. Raises OSError and BadFileError as :func:`records`
    does."""
    at = count = 0
    file, size = _open_record_file(path, compression)
    with file:
        while at < size:
            head = file.read(8)
            if len(head) < 8:
                raise _make_truncation_error(path, count, "unknown length")
            length = int.from_bytes(head, "little")
            at += _AROUND + length
            if at > size:
                raise _make_truncation_error(path, count, f"{length} bytes")
            file.seek(at)
            count += 1
    return count


def is_tfrecord(path, compression=""):
    """Return True if the file can be read and the length of its first record matches its checksum."""
    try:
        with _open_record_file(path, compression)[0] as file:
            head = file.read(_HEAD.size)
    except (OSError, BadFileError):
        return False
    return len(head) == _HEAD.size and masked_crc32c(head[:8]) == _HEAD.unpack(head)[1]


def examples(path, compression=""):
    """Yield (number, payload, {feature name: span}) of each record. :func:`values_of` decodes a span of the payload.

    Raises:
        OSError: If the file cannot be opened.
        BadFileError: If it is damaged or a record is not an Example.
    """
    for number, data in enumerate(records(path, compression)):
        yield number, data, _find_feature_spans(data, path, number)


def _find_feature_spans(data, path, number):
    """Return {feature name: (start, end) in `data`} of a serialised Example."""
    spans = {}
    try:
        for features in _iterate_fields(data, (0, len(data)), 1):
            for entry in _iterate_fields(data, features, 1):
                name, feature = "", (0, 0)
                for field, kind, value in fields(data, *entry):
                    if kind != LENGTH:
                        raise WireError(f"field {field} of the feature at byte {entry[0]} is of wire type {kind}")
                    if field == 1:
                        name = data[slice(*value)].decode("utf-8")
                    elif field == 2:
                        feature = value
                spans[name] = feature
    except UnicodeDecodeError:
        raise _make_not_example_error(
            path, number, f"the name of the feature at byte {entry[0]} is not UTF-8"
        ) from None
    except WireError as error:
        raise _make_not_example_error(path, number, error) from None
    return spans


def _make_not_example_error(path, number, why):
    return BadFileError(
        f"Invalid file, failed to parse tfrecord file {path!r}: record {number} is no tf.train.Example: {why}."
    )


def _iterate_fields(data, span, field_number):
    """Yield (start, end) of each field `field_number`, which must be length-delimited, of the message at `span`."""
    for number, kind, value in fields(data, *span):
        if number == field_number:
            if kind != LENGTH:
                raise WireError(f"field {number} of the message at byte {span[0]} is of wire type {kind}")
            yield value


def values_of(data, span):
    """Return (kind, values) of the Feature at `span` of the payload `data`. `kind` is "bytes", "float", "int64" or
    None.

    Raises:
        WireError: If the bytes are not a Feature.
    """
    for number, kind, value in fields(data, *span):
        if number in _LISTS:
            if kind != LENGTH:
                raise WireError(f"the list at byte {span[0]} is of wire type {kind}")
            return _LISTS[number](data, value)
    return None, []


def _decode_bytes_list(data, span):
    return "bytes", [data[start:end] for start, end in _iterate_fields(data, span, 1)]


def _decode_float_list(data, span):
    pieces = []
    for _, kind, value in fields(data, *span):
        if kind not in (LENGTH, FIXED32) or kind == LENGTH and (value[1] - value[0]) % 4:
            raise WireError(f"the list at byte {span[0]} holds no float32 numbers")
        pieces.append(data[slice(*value)] if kind == LENGTH else value)
    return "float", np.frombuffer(b"".join(pieces), "<f4")


def _decode_int64_list(data, span):
    out = []
    for _, kind, value in fields(data, *span):
        if kind == VARINT:
            out.append(signed(value))
        elif kind == LENGTH:
            at, end = value
            if data[at:end].isascii():  # all values are below 128, so each takes one byte
                out.extend(data[at:end])
                continue
            while at < end:
                item, at = read_varint(data, at, end)
                out.append(signed(item))
        else:
            raise WireError(f"the list at byte {span[0]} holds no int64 numbers")
    return "int64", np.array(out, np.int64)


_LISTS = {1: _decode_bytes_list, 2: _decode_float_list, 3: _decode_int64_list}
