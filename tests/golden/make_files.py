"""Writes tests/golden/files/: what MindSpore writes of one Dense layer, encrypted, cut and as safetensors.

    PYTHON_WITH_MINDSPORE tests/golden/make_files.py             writes the files
    PYTHON_WITH_MINDSPORE tests/golden/make_files.py --read FOLDER  reads those that `--ours FOLDER` wrote with msnb

The key of a mode is its first bytes of `KEY`. `values()` and `big()` are what is in them.
"""

import os
import stat
import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "files"
KEY = b"0123456789ABCDEF0123456789abcdef"
MODES = {"AES-GCM": 24, "AES-CBC": 32, "SM4-CBC": 16}
X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)


def values():
    """Return Parameters of the layer."""
    return {
        "weight": np.linspace(-2, 1, 12, dtype=np.float32).reshape(4, 3),
        "bias": np.arange(4, dtype=np.float32) / 8,
    }


def several():
    """Arrays of several types."""
    return {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "b.c": np.array(2.5, np.float32),
        "whole": np.arange(3),
        "truth": np.array([True, False]),
        "double": np.array([0.1, 1e300]),
        "bytes": np.arange(5, dtype=np.uint8),
    }


def big():
    """More than a slice, when a slice is of a kibibyte."""
    return np.arange(333, dtype=np.int64).reshape(9, 37)


def layer(ms):
    """Return the layer."""
    net = ms.nn.Dense(3, 4)
    for p in net.get_parameters():
        p.set_data(ms.Tensor(values()[p.name.rpartition(".")[2]]))
    return net


def write(ms, folder):
    """All files."""
    net, x = layer(ms), ms.Tensor(X)
    path = lambda name: str(Path(folder, name))
    for mode, length in MODES.items():
        key = KEY[:length]
        ms.export(net, x, file_name=path(mode), file_format="MINDIR", enc_key=key, enc_mode=mode)
        ms.save_checkpoint(net, path(f"{mode}.ckpt"), enc_key=key, enc_mode=mode)
    items = [{"name": name, "data": ms.Tensor(value)} for name, value in several().items()]
    ms.save_checkpoint(items, path("sum.safetensors"), format="safetensors", crc_check=True)
    narrow = ms.Tensor(several()["a"]).astype(ms.bfloat16)
    ms.save_checkpoint([*items, {"name": "narrow", "data": narrow}], path("all.safetensors"), format="safetensors")
    if ms.__name__ == "mindspore" and "msnb" not in ms.__file__:
        ms.train.serialization.SLICE_SIZE = 1
    else:
        ms.formats.checkpoint._SLICE = 1024
    ms.save_checkpoint([{"name": "big", "data": ms.Tensor(big())}], path("slices.ckpt"), crc_check=True)
    for file in Path(folder).iterdir():
        os.chmod(file, stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH)


def read(ms, folder):
    """Read all files and compare."""
    expected = X @ values()["weight"].T + values()["bias"]
    path = lambda name: str(Path(folder, name))
    for mode, length in MODES.items():
        key = {"dec_key": KEY[:length], "dec_mode": mode}
        result = ms.nn.GraphCell(ms.load(path(f"{mode}.mindir"), **key))(ms.Tensor(X)).asnumpy()
        parameters = ms.load_checkpoint(path(f"{mode}.ckpt"), **key)
        same = all((parameters[n].asnumpy() == v).all() for n, v in values().items())
        print(mode, np.abs(result - expected).max(), "equal" if same else "DIFFERENT", flush=True)
    parameters = ms.load_checkpoint(path("sum.safetensors"), format="safetensors", crc_check=True)
    parameters.update(ms.load_checkpoint(path("all.safetensors"), format="safetensors"))
    for name, value in several().items():
        own = parameters[name].asnumpy()
        assert own.dtype == value.dtype and own.shape == value.shape and (own == value).all(), name
    assert parameters["narrow"].dtype == ms.bfloat16
    assert (ms.load_checkpoint(path("slices.ckpt"), crc_check=True)["big"].asnumpy() == big()).all()
    print("safetensors and slices equal")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ours"]:
        import msnb

        os.makedirs(sys.argv[2], exist_ok=True)
        write(msnb, sys.argv[2])
    else:
        import mindspore

        if sys.argv[1:2] == ["--read"]:
            read(mindspore, sys.argv[2])
        else:
            FOLDER.mkdir(exist_ok=True)
            write(mindspore, FOLDER)
