"""Damaged files are named: whatever is wrong with one, the error says which file, and where in it."""

import json
import pickle
import random
import re
import shutil
import struct

import numpy as np
import pytest
from PIL import Image

import msnb.dataset as ds
from msnb.dataset import text
from msnb.formats import checkpoint, idx, protobuf
from msnb.formats.crc32c import masked_crc32c
from msnb.formats.text_files import BadFileError
from msnb.mindrecord import CsvToMR, FileReader, FileWriter, MnistToMR
from msnb.mindrecord.common.exceptions import MindRecordException
from msnb.mindrecord.tools.cifar10 import Cifar10

ALIKE = (RuntimeError, ValueError, MindRecordException)  # no UnicodeDecodeError, struct.error, ... of Python's own
NUMBERS = (b"-1", b"1e999", b"NaN", b"9" * 20, b"9" * 5000)
VALUES = (b"null", b"[]", b"{}", b'""', b'{"a": 1}', b"[[1], 2]", b'"\\ud800"', b"../../x")
NESTED = (b"[" * 3000, b'{"a":' * 3000, b"<a>" * 3000)
BYTES = (b"\xff\xfe", b"\xc3\x28", b"\0", b"\r", b'"')


def rows(dataset):
    iterator = dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
    try:
        return list(iterator)
    finally:
        iterator.stop()


def example(n):
    """Return a serialised tf.train.Example with a feature of each kind."""
    schema = {
        "Example": {"features": (1, "Features", False)},
        "Features": {"entry": (1, "Entry", True)},
        "Entry": {"key": (1, "str", False), "value": (2, "Feature", False)},
        "Feature": {"b": (1, "List", False), "f": (2, "List", False), "i": (3, "List", False)},
        "List": {"value": (1, "bytes", True)},
    }
    kinds = {"i": bytes([n, n + 1]), "f": struct.pack("<2f", n, 2), "b": b"text"}
    entries = [{"key": key, "value": {key: {"value": [value]}}} for key, value in kinds.items()]
    return protobuf.encode(schema, "Example", {"features": {"entry": entries}})


def framed(data):
    """Return a TFRecord."""
    size = struct.pack("<Q", len(data))
    return size + struct.pack("<I", masked_crc32c(size)) + data + struct.pack("<I", masked_crc32c(data))


def picture(path):
    path.parent.mkdir(exist_ok=True, parents=True)
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(path)


def mindrecord(path):
    writer = FileWriter(str(path), 1)
    writer.set_header_size(1 << 14)
    writer.set_page_size(1 << 15)
    fields = {"label": {"type": "int32"}, "name": {"type": "string"}, "data": {"type": "bytes"}}
    writer.add_schema(fields | {"v": {"type": "int64", "shape": [-1]}}, "damaged")
    writer.write_raw_data([{"label": i, "name": f"n{i}", "data": b"abc", "v": np.arange(i + 1)} for i in range(4)])
    writer.commit()


def make_tfrecord(folder):
    (folder / "a.tfrecord").write_bytes(b"".join(framed(example(n)) for n in range(3)))
    columns = {"i": {"type": "int64", "shape": [2]}, "f": {"type": "float32", "rank": 1}, "b": {"type": "uint8"}}
    (folder / "schema.json").write_text(json.dumps({"numRows": 3, "columns": columns}))


def make_voc(folder):
    for part in ("ImageSets/Main", "Annotations"):
        (folder / part).mkdir(parents=True)
    (folder / "ImageSets/Main/train.txt").write_text("one\n")
    picture(folder / "JPEGImages/one.jpg")
    box = "<xmin>1</xmin><ymin>1</ymin><xmax>3</xmax><ymax>3</ymax>"
    thing = f"<object><name>cat</name><truncated>0</truncated><difficult>0</difficult><bndbox>{box}</bndbox></object>"
    (folder / "Annotations/one.xml").write_text(f"<annotation>{thing}</annotation>")


def make_coco(folder):
    picture(folder / "one.jpg")
    marks = {"image_id": 1, "bbox": [1, 2, 3, 4], "category_id": 7, "iscrowd": 0, "segmentation": [[1, 2]]}
    marks |= {"keypoints": [1, 2, 2], "num_keypoints": 1}
    content = {"images": [{"id": 1, "file_name": "one.jpg"}], "categories": [{"id": 7, "name": "cat"}]}
    (folder / "a.json").write_text(json.dumps(content | {"annotations": [marks]}))


def make_celeba(folder):
    picture(folder / "1.jpg")
    names = " ".join(f"a{i}" for i in range(40))
    (folder / "list_attr_celeba.txt").write_text(f"1\n{names}\n1.jpg" + " 1 -1" * 20 + "\n")
    (folder / "list_eval_partition.txt").write_text("1.jpg 0\n")


def make_manifest(folder):
    picture(folder / "a.png")
    line = {"source": str(folder / "a.png"), "usage": "TRAIN", "annotation": [{"name": "cat"}]}
    (folder / "a.manifest").write_text(json.dumps(line) + "\n")


def make_pickles(folder):
    for name in ("data_batch_1", "test_batch"):
        batch = {b"data": np.zeros((2, 3072), np.uint8), b"labels": [1, 2]}
        (folder / name).write_bytes(pickle.dumps(batch, 2))


def clue(folder, **more):
    return ds.CLUEDataset(str(folder / "a.json"), task="AFQMC", usage="train", shuffle=False, **more)


def coco(folder, task):
    return ds.CocoDataset(str(folder), str(folder / "a.json"), task=task, shuffle=False)


READERS = {
    "csv": (
        lambda f: (f / "a.csv").write_text('x,y,z\n1,2.5,"a, b"\n2,3.5,c\n'),
        lambda f: rows(ds.CSVDataset(str(f / "a.csv"), column_defaults=[1, 2.5, "s"], shuffle=False)),
    ),
    "clue": (
        lambda f: (f / "a.json").write_text('{"label": "1", "sentence1": "one", "sentence2": ["two", 2]}\n' * 2),
        lambda f: rows(clue(f)),
    ),
    "manifest": (make_manifest, lambda f: rows(ds.ManifestDataset(str(f / "a.manifest"), shuffle=False))),
    "voc": (make_voc, lambda f: rows(ds.VOCDataset(str(f), task="Detection", usage="train", shuffle=False))),
    "coco": (make_coco, lambda f: [rows(coco(f, task)) for task in ("Detection", "Stuff", "Keypoint")]),
    "celeba": (make_celeba, lambda f: rows(ds.CelebADataset(str(f), usage="train", shuffle=False))),
    "tfrecord": (
        make_tfrecord,
        lambda f: rows(ds.TFRecordDataset(str(f / "a.tfrecord"), str(f / "schema.json"), shuffle=False)),
    ),
    "vocab": (
        lambda f: (f / "a.txt").write_text("one\ntwo\nthree\n"),
        lambda f: text.Vocab.from_file(str(f / "a.txt")),
    ),
    "idx": (
        lambda f: idx.write(f / "a.gz", np.arange(60, dtype=np.uint8).reshape(3, 20)),
        lambda f: idx.read(str(f / "a.gz")),
    ),
    "checkpoint": (
        lambda f: checkpoint.write(f / "a.ckpt", {"w": np.ones((2, 3), np.float32), "n": np.int32(3), "s": "text"}),
        lambda f: checkpoint.read(str(f / "a.ckpt")),
    ),
    "mindrecord": (
        lambda f: mindrecord(f / "a.mindrecord"),
        lambda f: [rows(ds.MindDataset(str(f / "a.mindrecord"), shuffle=False)),
                   list(FileReader(str(f / "a.mindrecord")).get_next())],
    ),
    "cifar": (make_pickles, lambda f: Cifar10(str(f), False).load_data()),
}  # fmt: skip


def damage(data, rng):
    """Return a copy of `data` with one thing wrong."""
    at = rng.randrange(len(data))
    kind = rng.randrange(5)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
    if kind == 2:
        return data[:at] + data[at + rng.randint(1, 20) :]
    tokens = [m.span() for m in re.finditer(rb'"[^"]*"|-?\d+|\[[^\[\]]*\]|<[^<>]*>', data)] or [(at, at + 1)]
    start, end = rng.choice(tokens) if kind == 3 else (at, at)
    return data[:start] + rng.choice(NUMBERS + VALUES + NESTED + BYTES) + data[end:]


@pytest.mark.parametrize("name", READERS)
def test_whatever_is_wrong_with_a_file_the_error_says_in_which_and_where(name, tmp_path):
    make, read = READERS[name]
    folder = tmp_path / "whole"
    folder.mkdir()
    make(folder)
    read(folder)
    kinds = {".jpg", ".png"} | ({".db"} if name == "mindrecord" else set())
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.suffix not in kinds]
    for seed in range(60):
        rng = random.Random(f"{name} {seed}")
        path = rng.choice(files)
        data = path.read_bytes()
        path.write_bytes(damage(data, rng))
        try:
            read(folder)
        except ALIKE as error:
            said = str(error)
            ours = type(error) in ALIKE or type(error).__module__.startswith("msnb")
            assert ours, f"seed {seed}: {error!r}"
            assert any(p.name in said for p in files) or str(folder) in said, f"seed {seed}: {error!r}"
        finally:
            path.write_bytes(data)


@pytest.mark.parametrize("encoding", ["gbk", "utf-16"])
def test_users_files_in_another_encoding_are_read_when_it_is_named(tmp_path, encoding):
    (tmp_path / "a.csv").write_text("名,x\n中文,1\n", encoding=encoding)
    (tmp_path / "a.txt").write_text("中文\n文\n", encoding=encoding)
    line = {"label": "1", "sentence1": "中文", "sentence2": "文"}
    (tmp_path / "a.json").write_text(json.dumps(line, ensure_ascii=False) + "\n", encoding=encoding)

    def csv(**more):
        return ds.CSVDataset(str(tmp_path / "a.csv"), column_defaults=["", 1], shuffle=False, **more)

    def vocab(**more):
        return text.Vocab.from_file(str(tmp_path / "a.txt"), **more)

    for read in (lambda: rows(csv()), lambda: rows(clue(tmp_path)), vocab):
        with pytest.raises(BadFileError, match=r"no UTF-8 text: line 1, byte \d+ .* encoding='gbk'"):
            read()
    assert rows(csv(encoding=encoding))[0]["名"].item().decode() == "中文"
    data = clue(tmp_path, encoding=encoding)
    assert data.get_dataset_size() == 1 and rows(data)[0]["sentence1"].item().decode() == "中文"
    assert vocab(encoding=encoding).vocab() == {"中文": 0, "文": 1}
    lines = ds.TextFileDataset(str(tmp_path / "a.txt"), shuffle=False, encoding=encoding)
    assert [r["text"].item().decode() for r in rows(lines)] == ["中文", "文"]
    with pytest.raises(ValueError, match="text encoding"):
        csv(encoding="nothing")


def test_a_csv_file_that_cannot_be_read_is_named_by_its_converter(tmp_path):
    pytest.importorskip("pandas")
    (tmp_path / "a.csv").write_text("名\n中文\n", encoding="gbk")
    source, target = str(tmp_path / "a.csv"), str(tmp_path / "a.mindrecord")
    with pytest.raises(BadFileError, match="a.csv.*line 1, byte 0 .* encoding='gbk'"):
        CsvToMR(source, target).run()
    assert CsvToMR(source, target, encoding="gbk").encoding == "gbk"
    (tmp_path / "a.csv").write_text("")
    with pytest.raises(BadFileError, match="a.csv"):
        CsvToMR(source, target).run()


def test_a_damaged_mnist_file_is_named_by_its_converter(tmp_path):
    idx.write(tmp_path / "train-images-idx3-ubyte.gz", np.zeros((2, 4, 4), np.uint8))
    cut = tmp_path / "train-images-idx3-ubyte.gz"
    cut.write_bytes(cut.read_bytes()[:-9])
    with pytest.raises(BadFileError, match="train-images-idx3-ubyte.gz' is a damaged gzip file"):
        MnistToMR(str(tmp_path), str(tmp_path / "m")).run()


@pytest.mark.parametrize("name", ["a?b", "a#b", "a%20b", "a?mode=memory"])
def test_mindrecords_open_in_folders_of_any_name(tmp_path, name):
    (tmp_path / name).mkdir()
    path = tmp_path / name / "x.mindrecord"
    mindrecord(path)
    assert [int(r["label"]) for r in rows(ds.MindDataset(str(path), shuffle=False))] == [0, 1, 2, 3]


def test_every_changed_byte_of_a_tfrecord_is_an_error_that_names_the_record(tmp_path):
    path = tmp_path / "a.tfrecord"
    data = framed(example(1)) + framed(example(2))
    half = len(data) // 2
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        with pytest.raises(RuntimeError, match=f"record {at // half}|not valid tfrecord files"):
            list(ds.TFRecordDataset(str(path), shuffle=False)._make_stream().rows())


def test_a_length_is_not_believed_before_its_checksum(tmp_path):
    path = tmp_path / "a.tfrecord"
    size = struct.pack("<Q", 1 << 62)
    path.write_bytes(size + struct.pack("<I", masked_crc32c(size)) + b"abc")
    with pytest.raises(BadFileError, match="ends inside record 0"):
        rows(ds.TFRecordDataset(str(path), columns_list=["x"], shuffle=False))


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/hostname", "a/../../secret.txt"])
def test_a_list_of_images_names_no_file_outside_of_its_folder(tmp_path, name):
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "data"
    folder.mkdir()
    make_coco(folder)
    content = (folder / "a.json").read_text()
    (folder / "a.json").write_text(content.replace("one.jpg", name))
    with pytest.raises(BadFileError, match="outside of the data set's folder"):
        rows(coco(folder, "Detection"))
    (folder / "a.json").write_text(content.replace("one.jpg", str(folder / "one.jpg")))
    assert len(rows(coco(folder, "Detection"))) == 1
    shutil.rmtree(folder)
    folder.mkdir()
    make_celeba(folder)
    listed = (folder / "list_attr_celeba.txt").read_text()
    (folder / "list_attr_celeba.txt").write_text(listed.replace("1.jpg", name))
    with pytest.raises(BadFileError, match="line 3 .* outside of the data set's folder"):
        rows(ds.CelebADataset(str(folder), usage="all", shuffle=False))


class _Touch:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


@pytest.mark.parametrize("protocol", range(5))
def test_a_pickled_batch_is_numbers_and_runs_nothing(tmp_path, protocol):
    from msnb.mindrecord.tools._pickle import load

    values = {b"data": np.arange(6, dtype=np.uint8).reshape(2, 3)}
    values |= {b"labels": [1, -2, 70_000, 2**40], "t": (None, True, 1.5)}
    path = tmp_path / "batch"
    path.write_bytes(pickle.dumps(values, protocol))
    got = load(str(path))
    assert np.array_equal(got.pop(b"data"), values.pop(b"data")) and got == values
    path.write_bytes(pickle.dumps({b"data": _Touch(str(tmp_path / "touched"))}, protocol))
    with pytest.raises(BadFileError, match=r"batch.*byte \d+: global .* is forbidden"):
        load(str(path))
    assert not (tmp_path / "touched").exists()


def _doubled_tuple():
    return b"}" + b"".join([b")q\0"] + [b"h%ch%c\x86q%c" % (n, n, n + 1) for n in range(60)]) + b"K\1s."


HOSTILE_PICKLES = {
    "call of the function": b"cnumpy\nndarray\n(J\xff\xff\xff\x7ftR.",
    "a global": b"cos\nsystem\n(S'true'\ntR.",
    "an instance": b"(S'true'\nios\nsystem\n.",
    "an extension": b"\x82\1.",
    "a persistent id": b"Pid\n.",
    "objects": b"cnumpy\ndtype\n(S'O8'\nK\0K\1tR.",
    "another attribute": b"cnumpy\ncore\n.",
    "an attribute of an attribute": b"\x80\4\x8c\5numpy\x8c\x0fndarray.tofile.\x93.",
    "state of a function": b"c_codecs\nencode\n}S'_call'\nK\1sb.",
    "slots of a function": b"c_codecs\nencode\n(N}S'_call'\nK\1stb.",
    "state of a list": b"]}S'a'\nK\1sb.",
    "a huge memo": b"Nr\xff\xff\xff\x7f.",
    "a huge text": b"\x8e" + b"\xff" * 7 + b"\0.",
    "a huge buffer": b"\x96\xff\xff\xff\xff\3\0\0\0.",
    "deep tuples": b"})" + b"\x85" * 300_000 + b"K\1s.",
    "doubled tuples": _doubled_tuple(),
    "doubled tuples behind nothing": _doubled_tuple().replace(b"\x86q", b"\x86(eq"),
    "a list as a key": b"}]K\1s.",
    "a mark that is missing": b"t.",
    "a value that is missing": b"s.",
    "nothing": b"",
    "no end": b"K\1",
    "text that is no text": b"X\2\0\0\0\xff\xff.",
}


@pytest.mark.parametrize("name", HOSTILE_PICKLES)
def test_hostile_pickle_is_refused(tmp_path, name):
    from msnb.mindrecord.tools import _pickle

    (tmp_path / "batch").write_bytes(HOSTILE_PICKLES[name])
    with pytest.raises(BadFileError, match="batch' is no pickle of numbers and arrays"):
        _pickle.load(str(tmp_path / "batch"))
    (tmp_path / "batch").write_bytes(pickle.dumps({b"data": np.ones(3, ">i2"), "text": b"\xff"}, 2))
    values = _pickle.load(str(tmp_path / "batch"))
    assert values["text"] == b"\xff" and values[b"data"].tolist() == [1, 1, 1]


def test_messages_nested_deeper_than_a_hundred_are_refused():
    schema = {"Node": {"child": (1, "Node", False)}}
    data = b""
    for _ in range(99):
        data = protobuf.encode({"Node": {"child": (1, "bytes", False)}}, "Node", {"child": data})
    assert protobuf.decode(schema, "Node", data)
    for _ in range(2000):
        data = protobuf.encode({"Node": {"child": (1, "bytes", False)}}, "Node", {"child": data})
    with pytest.raises(protobuf.WireError, match="more than 100 deep"):
        protobuf.decode(schema, "Node", data)
