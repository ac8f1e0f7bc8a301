"""Golden checkpoints, and the check that MindSpore reads ours. Run with a Python that has MindSpore 2.x:

    python tests/golden/checkpoints.py write            # writes tests/golden/*.ckpt with MindSpore
    python tests/golden/checkpoints.py check FILE...    # reads msnb's files with MindSpore and compares

The tests import ``arrays`` and ``strings`` from here, which need numpy alone.
"""

import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
TYPES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
)


def arrays():
    """One array per element type that both sides have, scalars, several axes, and a name outside ASCII."""
    out = {f"of.{name}": (np.arange(6).reshape(2, 3) * 3 % 5).astype(name) for name in TYPES}
    out["scalar"] = np.array(2.5, np.float32)
    out["int scalar"] = np.array(-7, np.int64)
    out["one.element"] = np.array([4.0], np.float32)
    out["Gewicht.größe"] = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 3, 2, 2)
    return out


def strings():
    """Return the texts that MindSpore appends."""
    return {"note": "epoch 3, naïve"}


def write():
    import mindspore as ms

    items = [{"name": name, "data": ms.Tensor(value)} for name, value in arrays().items()]
    items.append(
        {"name": "of.bfloat16", "data": ms.Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)).astype(ms.bfloat16)}
    )
    for name, crc in (("types.ckpt", False), ("types_crc.ckpt", True)):
        path = FOLDER / name
        path.unlink(missing_ok=True)
        ms.save_checkpoint(
            items, str(path), append_dict={"epoch_num": 3, "lr": 0.25, "done": True, **strings()}, crc_check=crc
        )
        path.chmod(0o644)
        print("wrote", path)


def check(path):
    import mindspore as ms

    read = ms.load_checkpoint(str(path), crc_check="crc" in path)
    for name, expected in arrays().items():
        got = read[name].asnumpy()
        assert got.dtype == expected.dtype and got.shape == expected.shape, (name, got.dtype, got.shape)
        np.testing.assert_array_equal(got, expected, err_msg=name)
    for name, expected in strings().items():
        assert str(read[name]) == expected, (name, read[name])
    bfloat16 = read["of.bfloat16"]
    assert bfloat16.dtype == ms.bfloat16
    np.testing.assert_array_equal(bfloat16.astype(ms.float32).asnumpy(), np.arange(6).reshape(2, 3))
    print(f"{path}: {len(read)} entries, all equal")


if __name__ == "__main__":
    if sys.argv[1:] == ["write"]:
        write()
    elif sys.argv[1:2] == ["check"] and sys.argv[2:]:
        for file in sys.argv[2:]:
            check(file)
    else:
        sys.exit(__doc__)
