"""Files of PyTorch in both formats, written opcode by opcode, and their tensors."""

import pickle
import struct
import zipfile

import ml_dtypes
import numpy as np

VALUES = np.arange(12, dtype=np.float32)


class Storage:
    """Stands for a storage in the pickles of `write`."""

    def __init__(self, kind, key, count):
        self.identity = ("storage", Global("torch", kind), key, "cpu", count)


class Global:
    def __init__(self, module, name):
        self.module, self.name = module, name


class Call:
    def __init__(self, function, *args):
        self.function, self.args = function, args


def dump(value):
    """Return the pickle of a value without importing torch: `Global`, `Call` and `Storage` become opcodes."""

    def encode(value):
        if isinstance(value, Storage):
            return encode(value.identity) + b"Q"
        if isinstance(value, Global):
            return f"c{value.module}\n{value.name}\n".encode()
        if isinstance(value, Call):
            return encode(value.function) + encode(value.args) + b"R"
        if isinstance(value, tuple):
            return b"(" + b"".join(map(encode, value)) + b"t"
        if isinstance(value, dict):
            return b"}(" + b"".join(encode(item) for pair in value.items() for item in pair) + b"u"
        return pickle.dumps(value, 2)[2:-1].replace(b"q\x00", b"")

    return b"\x80\x02" + encode(value) + b"."


def tensor(key, count, offset, shape, strides, kind="FloatStorage"):
    rebuild = Global("torch._utils", "_rebuild_tensor_v2")
    return Call(
        rebuild, Storage(kind, key, count), offset, shape, strides, False, Call(Global("collections", "OrderedDict"))
    )


def write_zip(path, value, storages, compression=zipfile.ZIP_STORED, byteorder=b"little"):
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("archive/data.pkl", dump(value) if not isinstance(value, bytes) else value)
        archive.writestr("archive/byteorder", byteorder)
        for key, array in storages.items():
            archive.writestr(f"archive/data/{key}", array.tobytes())


def write_old(path, value, storages):
    with open(path, "wb") as file:
        for item in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}):
            file.write(pickle.dumps(item, 2))
        file.write(dump(value))
        file.write(pickle.dumps(sorted(storages), 2))
        for key in sorted(storages):
            file.write(struct.pack("<q", storages[key].size) + storages[key].tobytes())


STATE = {
    "a": tensor("0", 12, 0, (3, 4), (4, 1)),
    "shared.t": tensor("0", 12, 0, (4, 3), (1, 4)),
    "shared.part": tensor("0", 12, 5, (2, 2), (4, 2)),
    "b": tensor("1", 3, 0, (3,), (1,), "BFloat16Storage"),
    "scalar": tensor("2", 1, 0, (), (), "LongStorage"),
    "expanded": tensor("2", 1, 0, (2, 3), (0, 0), "LongStorage"),
}
STORAGES = {"0": VALUES, "1": np.array([1, 2.5, -3], ml_dtypes.bfloat16), "2": np.array([7])}


def check(read):
    matrix = VALUES.reshape(3, 4)
    assert list(read) == list(STATE)
    np.testing.assert_array_equal(read["a"], matrix)
    np.testing.assert_array_equal(read["shared.t"], matrix.T)
    np.testing.assert_array_equal(read["shared.part"], [[5, 7], [9, 11]])
    assert read["b"].dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(read["b"].astype(np.float32), [1, 2.5, -3])
    assert read["scalar"].shape == () and read["scalar"] == 7
    np.testing.assert_array_equal(read["expanded"], np.full((2, 3), 7))
    assert np.shares_memory(read["a"], read["shared.t"])
