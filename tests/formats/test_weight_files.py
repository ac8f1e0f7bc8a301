"""Files of weights are recognised by their content; those of other frameworks are refused with advice."""

import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from torch_files import STATE, STORAGES, check, write_old, write_zip

import msnb
from msnb import nn
from msnb.exchange.open_file import weights_in
from msnb.formats import safetensors
from msnb.formats.text_files import BadFileError

ARRAYS = {"weight": np.arange(6, dtype=np.float32).reshape(2, 3), "bias": np.ones(2, np.float32)}


@pytest.mark.parametrize("ending", ["ckpt", "safetensors", "npz", "tar", "weights"])
@pytest.mark.parametrize("write", [write_zip, write_old])
def test_a_file_of_pytorch_with_any_ending(tmp_path, write, ending):
    write(tmp_path / f"x.{ending}", STATE, STORAGES)
    check(weights_in(tmp_path / f"x.{ending}"))


def test_arrays_of_numpy_and_safetensors_with_another_ending(tmp_path):
    with open(tmp_path / "x.bin", "wb") as file:
        np.savez(file, **ARRAYS)
    safetensors.write(tmp_path / "x.pt", ARRAYS)
    for name in ("x.bin", "x.pt"):
        read = weights_in(tmp_path / name)
        assert set(read) == set(ARRAYS)
        np.testing.assert_array_equal(read["weight"], ARRAYS["weight"])


def write_shards(folder, ending="safetensors", files=None):
    """Write an array in each file, and the index."""
    names = {name: f"model-{number}.{ending}" for number, name in enumerate(ARRAYS)}
    for name, file in names.items():
        safetensors.write(folder / file, {name: ARRAYS[name]})
    index = folder / f"model.{ending}.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": names if files is None else files}))
    return index


@pytest.mark.parametrize("ending", ["safetensors", "bin"])
def test_an_index_loads_several_files(tmp_path, ending):
    net = nn.Dense(3, 2)
    table = msnb.load_weights(net, write_shards(tmp_path, ending))
    assert table.is_complete and len(table) == 2
    np.testing.assert_array_equal(net.weight.asnumpy(), ARRAYS["weight"])


WRONG_INDEXES = {
    "outside": ({"weight": "../x.safetensors"}, "not in its folder"),
    "absolute": ({"weight": "/etc/passwd"}, "not in its folder"),
    "the folder": ({"weight": ".."}, "not in its folder"),
    "no text": ({"weight": 3}, "no 'weight_map'"),
    "no mapping": ([], "no 'weight_map'"),
    "another file": ({"weight": "model-1.safetensors"}, "which does not have it"),
}


@pytest.mark.parametrize("name", WRONG_INDEXES)
def test_wrong_indexes(tmp_path, name):
    files, message = WRONG_INDEXES[name]
    with pytest.raises(BadFileError, match=message):
        weights_in(write_shards(tmp_path, files=files))


def test_an_index_without_its_files(tmp_path):
    index = write_shards(tmp_path)
    (tmp_path / "model-1.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"model-1\.safetensors"):
        weights_in(index)
    with pytest.raises(ValueError, match=r"is a folder\. .* in it: model-0\.safetensors, model\.safetensors\.index"):
        weights_in(tmp_path)


FOREIGN = {
    "x.h5": (b"\x89HDF\r\n\x1a\n", r"numpy\.savez"),
    "x.gguf": (b"GGUF\x03\0\0\0", "llama.cpp"),
    "x.tflite": (b"\x1c\0\0\0TFL3", "tf2onnx"),
    "x.npy": (b"\x93NUMPY\x01\0", "without a name"),
    "x.pth": (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    "y.pth": (b"<!DOCTYPE html>", "page of the web"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_files_of_others_are_refused_with_advice(tmp_path, name):
    start, message = FOREIGN[name]
    (tmp_path / name).write_bytes(start + bytes(40))
    with pytest.raises(BadFileError, match=message):
        msnb.load_weights(nn.Dense(3, 2), tmp_path / name)
    with pytest.raises(BadFileError, match=message):
        msnb.view(tmp_path / name)


@pytest.mark.parametrize(
    ("member", "message"), [("model.weights.h5", "Keras"), ("net/archive_format", r"torch\.export")]
)
def test_archives_of_others_are_refused_with_advice(tmp_path, member, message):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(member, b"x")
    with pytest.raises(BadFileError, match=message):
        weights_in(tmp_path / "x.zip")


def test_an_unknown_ending_is_refused(tmp_path):
    (tmp_path / "x.msgpack").write_bytes(b"\x81\xa6params\xc0")
    with pytest.raises(ValueError, match=r"msnb opens files whose names end in .*\.index\.json, but got"):
        weights_in(tmp_path / "x.msgpack")
