"""TFRecord files and the protobuf message ``tf.train.Example`` in them, read without TensorFlow."""

import os
import struct

import numpy as np


def records(path):
    """Yield the payload of each record."""
    with open(path, "rb") as file:
        while True:
            head = file.read(12)
            if not head:
                return
            if len(head) < 12:
                raise RuntimeError(f"Invalid file, {path} ends inside a record; it is damaged or not a TFRecord file.")
            length = struct.unpack("<Q", head[:8])[0]
            data = file.read(length + 4)
            if len(data) < length + 4:
                raise RuntimeError(
                    f"Invalid file, {path} ends inside a record of {length} bytes; it is damaged or not a TFRecord "
                    f"file."
                )
            yield data[:length]


def count_records(path):
    """Number of records, from their lengths only."""
    size, count = os.path.getsize(path), 0
    with open(path, "rb") as file:
        at = 0
        while at < size:
            head = file.read(8)
            if len(head) < 8:
                raise RuntimeError(f"Invalid file, {path} ends inside a record; it is damaged or not a TFRecord file.")
            at += 16 + struct.unpack("<Q", head)[0]
            file.seek(at)
            count += 1
    if at != size:
        raise RuntimeError(f"Invalid file, {path} ends inside a record; it is damaged or not a TFRecord file.")
    return count


def _crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc_table()


def masked_crc(data):
    """The masked CRC-32C of TFRecord files."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def is_tfrecord(path):
    """Whether the first record's length has the checksum that stands behind it."""
    try:
        with open(path, "rb") as file:
            head = file.read(12)
    except OSError:
        return False
    return len(head) == 12 and masked_crc(head[:8]) == struct.unpack("<I", head[8:])[0]


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _fields(data):
    """(number, wire type, value) of each field of a protobuf message."""
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
        elif kind == 2:
            length, at = _varint(data, at)
            value = data[at : at + length]
            at += length
        elif kind == 5:
            value = data[at : at + 4]
            at += 4
        elif kind == 1:
            value = data[at : at + 8]
            at += 8
        else:
            raise RuntimeError(f"Invalid data, a protobuf message holds the unknown wire type {kind}.")
        yield key >> 3, kind, value


def _signed(value):
    return value - (1 << 64) if value >> 63 else value


def values_of(feature):
    """(kind, values) of a Feature: bytes, float or int64."""
    for number, _, body in _fields(feature):
        if number == 1:
            return "bytes", [bytes(v) for _, _, v in _fields(body)]
        if number == 2:
            packed = b"".join(bytes(v) for _, _, v in _fields(body))
            return "float", np.frombuffer(packed, "<f4")
        if number == 3:
            out = []
            for _, kind, value in _fields(body):
                if kind == 0:
                    out.append(_signed(value))
                else:
                    at = 0
                    while at < len(value):
                        number_, at = _varint(value, at)
                        out.append(_signed(number_))
            return "int64", np.array(out, np.int64)
    return None, []


def parse_example(data):
    """Feature name to (kind, values) of a serialised Example."""
    found = {}
    try:
        for number, _, features in _fields(data):
            if number != 1:
                continue
            for _, _, entry in _fields(features):
                name, feature = "", b""
                for field, _, value in _fields(entry):
                    if field == 1:
                        name = bytes(value).decode("utf-8")
                    elif field == 2:
                        feature = value
                found[name] = feature
    except IndexError:
        raise RuntimeError("Invalid file, failed to parse tfrecord file: a record is no tf.train.Example.") from None
    return found
