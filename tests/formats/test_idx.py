"""IDX files: written and read back in every type; what is damaged is refused with its name and what is wrong."""

import gzip

import numpy as np
import pytest

from msnb.formats import idx


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 4), (0, 28, 28)])
@pytest.mark.parametrize("name", ["a", "a.gz"])
def test_what_is_written_is_read_back(tmp_path, dtype, shape, name):
    array = (np.arange(np.prod(shape, dtype=int)) % 100).reshape(shape).astype(dtype)
    idx.write(tmp_path / name, array)
    read = idx.read(tmp_path / name)
    assert read.dtype == array.dtype and read.flags.writeable
    np.testing.assert_array_equal(read, array)


def test_the_bytes_are_those_of_mnist(tmp_path):
    idx.write(tmp_path / "labels", np.array([7, 2], np.uint8))
    assert (tmp_path / "labels").read_bytes() == bytes.fromhex("00000801 00000002 0702")
    idx.write(tmp_path / "numbers", np.array([[1, -2]], np.int32))
    assert (tmp_path / "numbers").read_bytes() == bytes.fromhex("00000c02 00000001 00000002 00000001 fffffffe")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda b: b[:-1], "2 bytes, but 1 follow"),
        (lambda b: b + b"x", "2 bytes, but 3 follow"),
        (lambda b: b[:6], "inside its header"),
        (lambda b: b[:2] + b"\7" + b[3:], "no IDX file"),
        (lambda b: b"\x89PNG", "no IDX file.*89 50 4e 47"),
        (lambda b: b"", "nothing"),
        (lambda b: gzip.compress(b)[:-5], "damaged gzip"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, damage, message):
    path = tmp_path / "labels"
    idx.write(path, np.array([7, 2], np.uint8))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(idx.IdxError, match=message) as error:
        idx.read(path)
    assert "labels" in str(error.value)


def test_a_missing_file_is_named():
    with pytest.raises(FileNotFoundError, match="no-labels"):
        idx.read("no-labels")


def test_a_type_without_code_is_refused(tmp_path):
    with pytest.raises(TypeError, match="int64"):
        idx.write(tmp_path / "a", np.zeros(3, np.int64))
    assert not list(tmp_path.iterdir())
