"""Files of PyTorch: both formats, written here opcode by opcode, and pickles that try to run code."""

import pickle
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from torch_files import STATE, STORAGES, VALUES, Call, Global, check, dump, tensor, write_old, write_zip

from msnb.formats import torch_file
from msnb.formats.text_files import BadFileError


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_zip_file(tmp_path, compression):
    write_zip(tmp_path / "x.pt", STATE, STORAGES, compression)
    check(torch_file.read(tmp_path / "x.pt"))


def test_file_of_pickles(tmp_path):
    write_old(tmp_path / "x.pth", STATE, STORAGES)
    check(torch_file.read(tmp_path / "x.pth"))


def test_big_endian(tmp_path):
    write_zip(tmp_path / "x.pt", {"a": STATE["a"]}, {"0": VALUES.astype(">f4")}, byteorder=b"big")
    np.testing.assert_array_equal(torch_file.read(tmp_path / "x.pt")["a"], VALUES.reshape(3, 4))


def test_names_of_nested_dicts(tmp_path):
    write_zip(tmp_path / "x.pt", {"state_dict": {"a": STATE["a"]}, "epoch": 3}, STORAGES)
    assert list(torch_file.read(tmp_path / "x.pt")) == ["a"]
    write_zip(tmp_path / "x.pt", {"model": {"a": STATE["a"]}, "ema": {"a": STATE["a"]}}, STORAGES)
    assert list(torch_file.read(tmp_path / "x.pt")) == ["model.a", "ema.a"]


@pytest.mark.parametrize(
    "wrong",
    [
        tensor("0", 12, 0, (13,), (1,)),
        tensor("0", 12, 9, (2, 2), (4, 1)),
        tensor("0", 12, -1, (1,), (1,)),
        tensor("0", 12, 0, (2,), (-1,)),
        tensor("0", 12, 0, (1 << 40, 1 << 40), (0, 0)),
        tensor("0", 13, 0, (1,), (1,)),
        tensor("9", 12, 0, (1,), (1,)),
        tensor("0", 12, 0, (1,), (1,), "NoStorage"),
        tensor("0", 12, 0, (1, 1), (1,)),
        {(1, 2): 3},
        5,
    ],
)
def test_wrong_tensors(tmp_path, wrong):
    write_zip(tmp_path / "x.pt", {"a": wrong}, STORAGES)
    with pytest.raises(BadFileError, match=r"x\.pt"):
        torch_file.read(tmp_path / "x.pt")


RAN = []


def run():
    RAN.append(1)
    return {}


class _Hostile:
    def __reduce__(self):
        return run, ()


HERE = __name__.encode()
HOSTILE = {
    "reduce, protocol 0": pickle.dumps(_Hostile(), 0),
    "reduce, protocol 2": pickle.dumps(_Hostile(), 2),
    "reduce, protocol 4": pickle.dumps(_Hostile(), 4),
    "in a dict": pickle.dumps({"a": _Hostile()}, 4),
    "as a key": b"\x80\x02}c" + HERE + b"\nrun\n)RK\x01s.",
    "inst": b"(i" + HERE + b"\nrun\n.",
    "obj": b"(c" + HERE + b"\nrun\no.",
    "newobj": b"\x80\x02c" + HERE + b"\nrun\n)\x81.",
    "newobj_ex": b"\x80\x04c" + HERE + b"\nrun\n)}\x92.",
    "system": b"cos\nsystem\n(S'touch hostile'\ntR.",
    "eval": b"cbuiltins\neval\n(S'run()'\ntR.",
    "exec": b"c__builtin__\nexec\n(S'run()'\ntR.",
    "getattr": b"cbuiltins\ngetattr\n(cos\npath\nS'join'\ntR.",
    "dotted name": b"\x80\x04\x8c\x05torch\x8c\x0cSize.__new__\x93)R.",
    "stack global of a number": b"\x80\x04K\x01K\x02\x93)R.",
    "state of a name": b"ctorch\nSize\n}S'__code__'\nK\x01sb.",
    "slot state": b"ctorch._utils\n_rebuild_tensor_v2\n(N}S'__defaults__'\n)stb.",
    "call of a type": b"ctorch\nTensor\n)R.",
    "call of a call": b"ccollections\nOrderedDict\n)R)R.",
    "rebuild by another function": b"ctorch._tensor\n_rebuild_from_type_v2\n(cos\nsystem\nNS'x'\nNtR.",
    "extension": b"\x80\x02\x82\x01.",
    "persistent text": b"Prun\n.",
    "persistent call": b"c" + HERE + b"\nrun\n)RQ.",
    "loads": b"cpickle\nloads\n(S'x'\ntR.",
    "torch.load": b"ctorch\nload\n(S'x'\ntR.",
    "list that contains itself": b"\x80\x02]q\x00h\x00a.",
    "self-referring dict": b"\x80\x02}q\x00K\x01h\x00s.",
    "deep": b"\x80\x02" + b"]" * 5000 + b"a" * 4999 + b".",
    "no end": b"\x80\x02}",
    "nothing on the stack": b"0.",
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("is_old", [False, True])
def test_hostile_pickles_run_no_code(tmp_path, monkeypatch, kind, is_old):
    monkeypatch.chdir(tmp_path)
    RAN.clear()
    if is_old:
        start = b"".join(pickle.dumps(item, 2) for item in (0x1950A86A20F9469CFC6C, 1001, {}))
        (tmp_path / "x.pt").write_bytes(start + HOSTILE[kind] + pickle.dumps([], 2))
    else:
        write_zip(tmp_path / "x.pt", HOSTILE[kind], {})
    with pytest.raises(BadFileError, match=r"x\.pt"):
        torch_file.read("x.pt")
    assert not RAN and {path.name for path in tmp_path.iterdir()} == {"x.pt"}


GOOD = dump(STATE)
CALLS = st.sampled_from([value.rstrip(b".") for value in HOSTILE.values() if len(value) < 200])


@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(GOOD)), st.one_of(CALLS, st.binary(max_size=12)), st.integers(0, 20))
def test_changed_pickles_run_no_code(tmp_path_factory, at, inserted, removed):
    RAN.clear()
    path = tmp_path_factory.getbasetemp() / "changed.pt"
    write_zip(path, GOOD[:at] + inserted + GOOD[at + removed :], STORAGES)
    try:
        torch_file.read(path)
    except BadFileError:
        pass
    assert not RAN


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 1500), st.binary(max_size=8))
def test_changed_files_of_pickles(tmp_path_factory, at, inserted):
    path = tmp_path_factory.getbasetemp() / "changed.pth"
    write_old(path, STATE, STORAGES)
    data = path.read_bytes()
    path.write_bytes(data[:at] + inserted + data[at + len(inserted) :])
    try:
        torch_file.read(path)
    except BadFileError:
        pass


NUMPY = Call(Global("numpy._core.multiarray", "_reconstruct"), Global("numpy", "ndarray"), (0,), b"b")
UNUSED = {
    "set": Call(Global("__builtin__", "set"), [1, 2]),
    "counter": Call(Global("collections", "Counter"), {3: 1}),
    "path": Call(Global("pathlib", "PosixPath"), ("a", "b")),
    "numpy array": NUMPY,
    "options": Call(Global("argparse", "Namespace")),
    "device": Call(Global("torch", "device"), "cpu"),
}


@pytest.mark.parametrize("name", UNUSED)
def test_values_of_a_training_are_no_weights(tmp_path, name):
    write_zip(tmp_path / "x.pt", {"state_dict": {"a": STATE["a"]}, "epoch": 3, name: UNUSED[name]}, STORAGES)
    assert list(torch_file.read(tmp_path / "x.pt")) == ["a"]


def test_a_module_and_a_program_are_refused_with_advice(tmp_path):
    write_zip(tmp_path / "x.pt", b"ctorch.nn.modules.linear\nLinear\n)\x81.", {})
    with pytest.raises(BadFileError, match=r"torch\.save\(net\.state_dict\(\)"):
        torch_file.read(tmp_path / "x.pt")
    with zipfile.ZipFile(tmp_path / "x.pt", "a") as archive:
        archive.writestr("archive/constants.pkl", b".")
    with pytest.raises(BadFileError, match="TorchScript"):
        torch_file.read(tmp_path / "x.pt")
