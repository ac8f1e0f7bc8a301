"""Safetensors files: what MindSpore wrote is read, what is written is read back, and a header claims nothing."""

import json
import random
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from msnb.formats import safetensors
from msnb.formats.text_files import BadFileError

GOLDEN = Path(__file__).parents[1] / "golden"
sys.path.insert(0, str(GOLDEN))
from make_files import several  # noqa: E402

TYPES = (
    "bool uint8 int8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 bfloat16 float8_e5m2 "
    "float8_e4m3fn"
).split()


def check_equal(result, expected):
    assert result.keys() == expected.keys()
    for name, value in expected.items():
        assert (result[name].dtype, result[name].shape) == (value.dtype, value.shape), name
        np.testing.assert_array_equal(result[name], value)


@pytest.mark.parametrize("crc", [True, False])
def test_what_mindspore_wrote_is_read(crc):
    tensors = safetensors.read(GOLDEN / "files" / "sum.safetensors", crc_check=crc)
    check_equal(tensors, several())
    assert tensors.texts["format"] == "ms"
    narrow = several()["a"].astype(ml_dtypes.bfloat16)
    check_equal(safetensors.read(GOLDEN / "files" / "all.safetensors"), {**several(), "narrow": narrow})


def test_every_type_and_every_rank_is_read_back(tmp_path):
    written = {name: (np.arange(6).reshape(2, 3) % 2).astype(name) for name in TYPES}
    written |= {"scalar": np.array(3.5), "none": np.zeros((2, 0, 3), np.int8), "Gewicht.größe": np.ones(1, np.int16)}
    safetensors.write(tmp_path / "a.safetensors", written, crc_check=True)
    check_equal(safetensors.read(tmp_path / "a.safetensors", crc_check=True), written)
    assert [path.name for path in tmp_path.iterdir()] == ["a.safetensors"]


def test_arrays_are_aligned_views_of_the_file(tmp_path):
    written = {"odd": np.ones(3, np.int8), "wide": np.ones(5), "middle": np.ones(3, np.float32)}
    safetensors.write(tmp_path / "a.safetensors", written)
    for array in safetensors.read(tmp_path / "a.safetensors").values():
        assert not array.flags.owndata and not array.flags.writeable and array.flags.aligned


def test_what_has_no_place_in_the_format_is_refused(tmp_path):
    for value, message in (("text", "a text"), (np.zeros(2, "datetime64[s]"), "datetime64")):
        with pytest.raises(TypeError, match=f"'x': .*{message}"):
            safetensors.write(tmp_path / "a.safetensors", {"x": value})
    with pytest.raises(TypeError, match="is called '__metadata__'"):
        safetensors.write(tmp_path / "a.safetensors", {"__metadata__": np.ones(2)})
    assert not list(tmp_path.iterdir())


def make_file(header, body=b"", length=None):
    data = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(data) if length is None else length).to_bytes(8, "little") + data + body


def entry(dtype="F32", shape=(2,), span=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(span)}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "header cannot have"),
        (b"\x00" * 7, "header cannot have"),
        (make_file({}, length=1 << 62), "header cannot have"),
        (make_file(b"\xff\xff"), "not UTF-8"),
        (make_file(b"[1,2]"), "no JSON object"),
        (make_file(b"{not json"), "not JSON"),
        (make_file(b"[" * 90000), "nested"),
        (make_file({"a": 3}), "is no object"),
        (make_file({"a": entry()}, b"\0" * 7), "reaches beyond its end"),
        (make_file({"a": entry()}, b"\0" * 9), "9 bytes follow its header, which tells of 8"),
        (make_file({"a": entry(shape=(3,))}, b"\0" * 8), "should have 12 bytes"),
        (make_file({"a": entry(shape=(1 << 60, 0))}, b"\0" * 8), "axis that is too long"),
        (make_file({"a": entry(shape=(1,) * 50)}, b"\0" * 8), "50 axes"),
        (make_file({"a": entry(shape=(-2,))}, b"\0" * 8), "no whole numbers"),
        (make_file({"a": entry(shape=(True, 2))}, b"\0" * 8), "no whole numbers"),
        (make_file({"a": entry(span=(4, 12))}, b"\0" * 12), "from byte 0 on"),
        (make_file({"a": entry(), "b": entry()}, b"\0" * 8), "from byte 8 on"),
        (make_file({"a": entry("F31")}, b"\0" * 8), "element type 'F31'"),
        (make_file({"__metadata__": {"a": 1}}), "metadata are not texts"),
        (make_file({"a": entry(shape=(int("9" * 4000),))}, b"\0" * 8), "axis that is too long"),
    ],
)
def test_a_damaged_file_is_refused_with_its_name(data, message, tmp_path):
    (tmp_path / "a.safetensors").write_bytes(data)
    with pytest.raises(BadFileError, match=message) as error:
        safetensors.read(tmp_path / "a.safetensors")
    assert "a.safetensors" in str(error.value) and len(str(error.value)) < 600


def test_a_changed_byte_is_detected_by_the_checksum(tmp_path):
    path = tmp_path / "a.safetensors"
    safetensors.write(path, {"w": np.ones(3)}, crc_check=True)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    safetensors.read(path)
    with pytest.raises(BadFileError, match="the checksum does not match"):
        safetensors.read(path, crc_check=True)
    safetensors.write(path, {"w": np.ones(3)})
    with pytest.raises(BadFileError, match="no checksum"):
        safetensors.read(path, crc_check=True)


@pytest.mark.parametrize("seed", range(3))
def test_mutated_files_are_read_or_refused_and_nothing_else(seed, tmp_path):
    rng = random.Random(seed)
    path = tmp_path / "a.safetensors"
    source = (GOLDEN / "files" / "all.safetensors").read_bytes()
    for _ in range(200):
        data = bytearray(source)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(min(len(data), 500))
            choice = rng.random()
            if choice < 0.5:
                data[at] = rng.choice(b'0123456789{}[]",:abcF\0\xff')
            elif choice < 0.8:
                del data[at : at + rng.randint(1, 20)]
            else:
                data[at:at] = rng.choice((b"9" * 30, b"[[[", b'"', b"-", b"1e9"))
        path.write_bytes(bytes(data))
        try:
            for array in safetensors.read(path, crc_check=False).values():
                assert array.nbytes <= len(data)
        except BadFileError as error:
            assert "a.safetensors" in str(error)
