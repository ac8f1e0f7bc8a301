"""ONNX files: a written file can be read, weights stay in the file until their first use, and damage is an error."""

import os

import ml_dtypes
import numpy as np
import pytest

from msnb.formats import onnx, protobuf
from msnb.formats.text_files import BadFileError

TYPES = [*sorted(onnx.NUMBERS)]


def model(*weights):
    return {
        "ir_version": 8,
        "graph": {
            "name": "g",
            "node": [{"op_type": "Relu", "input": ["x"], "output": ["y"], "attribute": [onnx.attribute("k", [1, 2])]}],
            "initializer": list(weights),
            "input": [onnx.value_info("x", "float32", ("N", 3))],
            "output": [onnx.value_info("y", "float32", None)],
        },
        "opset_import": [{"domain": "", "version": 18}],
    }


@pytest.mark.parametrize("name", TYPES)
def test_an_array_of_each_type_is_written_and_read(name):
    dtype = ml_dtypes.bfloat16 if name == "bfloat16" else name
    value = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    for each in (value, value[:0], value[0, 1]):
        result = onnx.array(onnx.tensor(each, "w"))
        assert result.dtype == each.dtype and result.shape == each.shape
        np.testing.assert_array_equal(result, each)


def test_numbers_that_are_no_raw_bytes_are_read_from_the_field_of_their_type():
    half = np.array([1.5, -2], np.float16)
    fields = {"dims": [2], "data_type": 10, "int32_data": [int(b) for b in half.view(np.uint16)]}
    np.testing.assert_array_equal(onnx.array(fields), half)
    np.testing.assert_array_equal(onnx.array({"dims": [2], "data_type": 3, "int32_data": [-3, 4]}), [-3, 4])
    np.testing.assert_array_equal(onnx.array({"dims": [1], "data_type": 14, "float_data": [1.0, 2.0]}), [1 + 2j])


def test_a_model_that_is_written_is_the_same_when_read(tmp_path):
    output = model(onnx.tensor(np.arange(6, dtype=np.float32).reshape(2, 3), "w"))
    assert onnx.save(output, tmp_path / "m.onnx") == [str(tmp_path / "m.onnx")]
    result = onnx.load(tmp_path / "m.onnx")
    (weight,) = result["graph"]["initializer"]
    assert isinstance(weight["raw_data"], memoryview)  # a part of the map of the file, nothing is copied
    np.testing.assert_array_equal(onnx.array(weight), np.arange(6).reshape(2, 3))
    assert onnx.attributes(result["graph"]["node"][0]) == {"k": [1, 2]}
    assert result["graph"]["input"] == output["graph"]["input"]


def test_weights_of_more_than_a_message_holds_stand_beside_the_model(tmp_path, monkeypatch):
    monkeypatch.setattr(onnx, "LARGEST", 4000)
    large, small = np.arange(2000, dtype=np.float32), np.arange(3, dtype=np.float32)
    files = onnx.save(model(onnx.tensor(large, "large"), onnx.tensor(small, "small")), tmp_path / "m.onnx")
    assert files == [str(tmp_path / "m.onnx"), str(tmp_path / "m.onnx.data")]
    results = {t["name"]: t for t in onnx.load(tmp_path / "m.onnx")["graph"]["initializer"]}
    assert "raw_data" not in results["large"] and "raw_data" in results["small"]
    np.testing.assert_array_equal(onnx.array(results["large"], tmp_path), large)
    with pytest.raises(ValueError, match=r"'large' is kept in the file 'm.onnx.data'"):
        onnx.array(results["large"])


@pytest.mark.parametrize("location", ["../w.bin", "/etc/hostname", "", "missing.bin", "short.bin"])
def test_weights_are_read_from_files_below_the_model_only(tmp_path, location):
    (tmp_path / "w.bin").write_bytes(bytes(100))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "short.bin").write_bytes(bytes(3))
    fields = {"dims": [4], "data_type": 1, "name": "w", "data_location": 1}
    with pytest.raises(ValueError, match="'w'"):
        onnx.array({**fields, "external_data": [{"key": "location", "value": location}]}, folder)


@pytest.mark.parametrize("target", ["../w.bin", "{folder}/../w.bin", "itself", ".", "pipe"])
def test_a_link_leads_to_no_other_folder_and_to_nothing_but_a_file(tmp_path, target):
    """The target of a link counts, and a read from a pipe would block."""
    (tmp_path / "w.bin").write_bytes(bytes(100))
    folder = tmp_path / "model"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "itself").symlink_to(target.format(folder=folder))
    fields = {"dims": [4], "data_type": 1, "name": "w", "data_location": 1}
    with pytest.raises(ValueError, match="'w'"):
        onnx.array({**fields, "external_data": [{"key": "location", "value": "itself"}]}, folder)


@pytest.mark.parametrize(
    "told", [{"offset": "9" * 5000}, {"offset": "-4"}, {"length": "x"}, {"location": "a\0b"}, {"location": "a" * 300}]
)
def test_a_wrong_position_in_a_file_is_reported(tmp_path, told):
    (tmp_path / "w.bin").write_bytes(bytes(100))
    pairs = [{"key": key, "value": value} for key, value in {"location": "w.bin", **told}.items()]
    with pytest.raises(ValueError, match="'w'"):
        onnx.array({"dims": [4], "data_type": 1, "name": "w", "data_location": 1, "external_data": pairs}, tmp_path)


def test_a_link_within_the_folder_is_followed(tmp_path):
    (tmp_path / "real.bin").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    (tmp_path / "w.bin").symlink_to("real.bin")
    pairs = [{"key": "location", "value": "w.bin"}]
    tensor = {"dims": [4], "data_type": 1, "name": "w", "data_location": 1, "external_data": pairs}
    np.testing.assert_array_equal(onnx.array(tensor, tmp_path), np.arange(4))


@pytest.mark.parametrize(
    "kept",
    [
        {"dims": [2], "data_type": 1, "raw_data": bytes(7)},
        {"dims": [2**40], "data_type": 1, "raw_data": bytes(8)},
        {"dims": [-1], "data_type": 1, "raw_data": b""},
        {"dims": [2], "data_type": 1, "float_data": [1.0]},
        {"dims": [2], "data_type": 8},
        {"dims": [2], "data_type": 17, "raw_data": bytes(2)},
    ],
)
def test_a_tensor_whose_bytes_do_not_fit_is_refused_before_it_is_parsed(kept):
    with pytest.raises(ValueError, match="ONNX tensor"):
        onnx.array(kept)


def test_a_damaged_file_is_reported_as_one(tmp_path):
    """Cut anywhere, and with bytes changed: either it is read, or there is the one error."""
    data = protobuf.encode(onnx.SCHEMA, "Model", model(onnx.tensor(np.ones(4, np.float32), "w")))
    random, refusals, path = np.random.default_rng(0), 0, tmp_path / "m.onnx"
    spoilt = [data[:n] for n in range(0, len(data), 3)]
    for _ in range(100):
        changed = bytearray(data)
        changed[random.integers(len(data))] = random.integers(256)
        spoilt.append(bytes(changed))
    for each in (*spoilt, b"", b"PK\x03\x04", bytes(50)):
        path.write_bytes(each)
        try:
            onnx.load(path)
        except BadFileError as error:
            refusals += 1
            assert "m.onnx" in str(error)
    assert refusals > 50
