"""The protobuf codec: known bytes, round trips, and input that is none."""

import pytest

from msnb.formats import protobuf

SCHEMA = {
    "Point": {"x": (1, "int", False), "label": (2, "str", False)},
    "Path": {
        "points": (1, "Point", True),
        "weights": (2, "float", True),
        "length": (3, "double", False),
        "raw": (4, "bytes", False),
        "ids": (5, "int", True),
    },
}
PATH = {
    "points": [{"x": 1, "label": "ä"}, {"x": -1, "label": ""}],
    "weights": [0.5, -2.0],
    "length": 1e100,
    "raw": b"\0\xff",
    "ids": [0, 127, 128, 2**62, -(2**63)],
}


def test_known_bytes_come_out():
    # The example of the protobuf documentation: field 1 = 150.
    assert protobuf.encode(SCHEMA, "Point", {"x": 150}) == bytes.fromhex("089601")
    assert protobuf.encode(SCHEMA, "Point", {"label": "testing"}) == bytes.fromhex("120774657374696e67")


def test_a_message_comes_back():
    assert protobuf.decode(SCHEMA, "Path", protobuf.encode(SCHEMA, "Path", PATH)) == PATH


def test_packed_numbers_are_read():
    packed_ids = protobuf.key(5, protobuf.LENGTH) + b"\3" + protobuf.varint(3) + protobuf.varint(300)
    packed_weights = protobuf.key(2, protobuf.LENGTH) + b"\4" + bytes.fromhex("0000003f")
    assert protobuf.decode(SCHEMA, "Path", packed_ids + packed_weights) == {"ids": [3, 300], "weights": [0.5]}


def test_unknown_fields_are_passed_over():
    data = protobuf.key(9, protobuf.FIXED32) + b"abcd" + protobuf.encode(SCHEMA, "Point", {"x": 1})
    assert protobuf.decode(SCHEMA, "Point", data) == {"x": 1}


@pytest.mark.parametrize("data", [b"\x08", b"\x08" + b"\xff" * 11, b"\x12\x09abc", b"\x0b", b"\x0d\x00", b"\x00\x00"])
def test_what_is_no_message_is_refused(data):
    with pytest.raises(protobuf.WireError):
        protobuf.decode(SCHEMA, "Point", data)
