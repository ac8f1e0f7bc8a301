"""Checkpoint files: what MindSpore wrote is read, what is written is read back, what is damaged is refused."""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from msnb.formats import checkpoint
from msnb.formats.protobuf import LENGTH, VARINT, key, varint

GOLDEN = Path(__file__).parent.parent / "golden"
sys.path.insert(0, str(GOLDEN))
from checkpoints import arrays, strings  # noqa: E402

BFLOAT16 = np.arange(6).reshape(2, 3).astype(ml_dtypes.bfloat16)


def assert_same(read, written):
    assert list(read) == list(written)
    for name, value in written.items():
        if isinstance(value, str):
            assert read[name] == value
        else:
            value = np.asarray(value)
            assert (read[name].dtype, read[name].shape) == (value.dtype, value.shape), name
            np.testing.assert_array_equal(read[name], value, err_msg=name)


@pytest.mark.parametrize(("name", "crc"), [("types.ckpt", False), ("types_crc.ckpt", True)])
def test_what_mindspore_wrote_is_read(name, crc):
    extra = {"epoch_num": np.array(3, np.int64), "lr": np.array(0.25, np.float32), "done": np.array(True), **strings()}
    assert_same(checkpoint.read(GOLDEN / name, crc_check=crc), {**arrays(), "of.bfloat16": BFLOAT16, **extra})


@pytest.mark.parametrize("crc", [False, True])
def test_what_is_written_is_read_back(tmp_path, crc):
    empty = {
        "none": np.zeros(0, np.int32),
        "empty": np.zeros((2, 0, 3), np.float16),
        "no text": "",
        "c": np.ones(2, np.complex64),
    }
    written = {**arrays(), "of.bfloat16": BFLOAT16, **strings(), **empty}
    checkpoint.write(tmp_path / "a.ckpt", written, crc_check=crc)
    assert_same(checkpoint.read(tmp_path / "a.ckpt", crc_check=crc), written)
    assert [path.name for path in tmp_path.iterdir()] == ["a.ckpt"]


def test_strided_and_big_endian_arrays_are_written_by_value(tmp_path):
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    checkpoint.write(tmp_path / "a.ckpt", {"t": array.T, "s": array[:, ::2], "b": array.astype(">f4")})
    assert_same(checkpoint.read(tmp_path / "a.ckpt"), {"t": array.T, "s": array[:, ::2], "b": array})


def test_a_large_array_is_split_and_put_together_again(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "_SLICE", 100)
    written = {"small": np.ones(3, np.float32), "large": np.arange(333, dtype=np.int64).reshape(9, 37)}
    checkpoint.write(tmp_path / "a.ckpt", written, crc_check=True)
    assert (tmp_path / "a.ckpt").read_bytes().count(b"large") == -(-333 * 8 // 96)
    assert_same(checkpoint.read(tmp_path / "a.ckpt", crc_check=True), written)


def test_arrays_are_views_of_the_file(tmp_path):
    checkpoint.write(tmp_path / "a.ckpt", {"w": np.ones(1000, np.float32)})
    array = checkpoint.read(tmp_path / "a.ckpt")["w"]
    assert not array.flags.writeable and not array.flags.owndata


def test_dims_may_come_packed_or_not_at_all(tmp_path):
    def field(number, body):
        return key(number, LENGTH) + varint(len(body)) + body

    content = np.array([1, 2], np.int16).tobytes()
    packed = field(1, varint(2) + varint(1)) + field(2, b"Int16") + field(3, content)
    scalar = field(2, b"Int16") + field(3, content[:2])
    r11 = key(1, VARINT) + varint(0) + field(2, b"Uint8") + field(3, b"\7")
    values = [field(1, name) + field(2, tensor) for name, tensor in ((b"p", packed), (b"s", scalar), (b"u", r11))]
    (tmp_path / "a.ckpt").write_bytes(b"".join(field(1, value) for value in values))
    expected = {"p": np.array([[1], [2]], np.int16), "s": np.array(1, np.int16), "u": np.array(7, np.uint8)}
    assert_same(checkpoint.read(tmp_path / "a.ckpt"), expected)


def test_an_empty_file_has_no_entries(tmp_path):
    (tmp_path / "a.ckpt").touch()
    assert checkpoint.read(tmp_path / "a.ckpt") == {}


def test_a_missing_file_is_named():
    with pytest.raises(FileNotFoundError, match="nowhere.ckpt"):
        checkpoint.read("nowhere.ckpt")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda b: b[:-20], "damaged|should have"),
        (lambda b: b[: len(b) // 2], "damaged|should have"),
        (lambda b: b"PK\3\4" + b, "no MindSpore checkpoint"),
        (lambda b: b"hello, this is some text, not a checkpoint", "no MindSpore checkpoint"),
        (lambda b: b.replace(b"Float32", b"Float33"), "Float33"),
        (lambda b: bytes.fromhex("d85e3a7f") + b, "encrypted"),
    ],
)
def test_a_damaged_file_is_refused_with_its_name(tmp_path, damage, message):
    path = tmp_path / "a.ckpt"
    checkpoint.write(path, {"w": np.arange(64, dtype=np.float32)})
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(checkpoint.CheckpointError, match=message) as error:
        checkpoint.read(path)
    assert "a.ckpt" in str(error.value)


def test_a_flipped_bit_is_detected_by_the_checksum(tmp_path):
    path = tmp_path / "a.ckpt"
    checkpoint.write(path, {"w": np.arange(64, dtype=np.float32)}, crc_check=True)
    damaged = bytearray(path.read_bytes())
    damaged[100] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(checkpoint.CheckpointError, match="checksum"):
        checkpoint.read(path, crc_check=True)
    assert "w" in checkpoint.read(path)  # not asked for, not checked


def test_a_checksum_that_is_asked_for_has_to_be_there(tmp_path):
    checkpoint.write(tmp_path / "a.ckpt", {"w": np.ones(3, np.float32)})
    with pytest.raises(checkpoint.CheckpointError, match="no checksum"):
        checkpoint.read(tmp_path / "a.ckpt", crc_check=True)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.ckpt"
    checkpoint.write(path, {"w": np.ones(3, np.float32)})
    with pytest.raises(TypeError, match="'bad'.*datetime64"):
        checkpoint.write(path, {"w": np.zeros(3, np.float32), "bad": np.zeros(2, "datetime64[s]")})
    np.testing.assert_array_equal(checkpoint.read(path)["w"], 1)
    assert [p.name for p in tmp_path.iterdir()] == ["a.ckpt"]
