"""MindRecord files: writing, and reading by the reader, by pages and as a data set."""

import gzip
import importlib
import struct

import cv2
import numpy as np
import pytest

import msnb.dataset as ds
from msnb.mindrecord import FileReader, FileWriter, ImageNetToMR, MindPage, MnistToMR
from msnb.mindrecord.common.exceptions import (
    MRMGenerateIndexError,
    MRMInvalidSchemaError,
    MRMOpenError,
    MRMWriteDatasetError,
    ParamValueError,
)

SCHEMA = {
    "name": {"type": "string"},
    "label": {"type": "int32"},
    "score": {"type": "float64"},
    "mask": {"type": "int64", "shape": [-1]},
    "box": {"type": "float32", "shape": [2, 2]},
    "data": {"type": "bytes"},
}


def row(i):
    return {
        "name": f"n{i}",
        "label": i,
        "score": i / 8,
        "mask": np.arange(i + 1),
        "box": np.full((2, 2), i, np.float32),
        "data": bytes([i, 255]),
    }


def write(path, rows=10, shards=1, index=("label",)):
    writer = FileWriter(str(path), shards)
    writer.add_schema(SCHEMA, "rows")
    if index:
        writer.add_index(list(index))
    writer.write_raw_data([row(i) for i in range(rows)])
    writer.commit()
    return str(path) + ("0" if shards > 1 else "")


def check(got, i):
    assert got["name"] in (f"n{i}", f"n{i}".encode()) and got["label"] == i and got["score"] == i / 8
    assert np.array_equal(got["mask"], np.arange(i + 1)) and got["mask"].dtype == np.int64
    assert np.array_equal(got["box"], np.full((2, 2), i)) and bytes(got["data"]) == bytes([i, 255])


@pytest.mark.parametrize("shards", [1, 3])
def test_rows_survive_writing_and_reading(tmp_path, shards):
    path = write(tmp_path / "a.mindrecord", shards=shards)
    reader = FileReader(path)
    rows = list(reader.get_next())
    reader.close()
    assert len(rows) == 10
    for i, got in enumerate(rows):
        check(got, i)


def test_reader_selects_columns(tmp_path):
    reader = FileReader(write(tmp_path / "a.mindrecord"), columns=["label", "data"])
    assert list(next(reader.get_next())) == ["label", "data"]
    reader.close()


def test_rows_can_be_appended(tmp_path):
    path = write(tmp_path / "a.mindrecord", rows=3)
    writer = FileWriter.open_for_append(path)
    writer.write_raw_data([row(3), row(4)])
    writer.commit()
    labels = [
        int(r["label"])
        for r in ds.MindDataset(path, ["label"], shuffle=False).create_dict_iterator(output_numpy=True, num_epochs=1)
    ]
    assert labels == [0, 1, 2, 3, 4]


def test_dataset_has_a_column_per_field(tmp_path):
    path = write(tmp_path / "a.mindrecord", shards=2)
    d = ds.MindDataset(path, shuffle=False)
    assert d.get_dataset_size() == 10 and set(d.get_col_names()) == set(SCHEMA)
    for i, got in enumerate(d.create_dict_iterator(num_epochs=1, output_numpy=True)):
        check({**got, "name": got["name"].item(), "data": got["data"].tobytes()}, i)


def test_shards_and_shuffling_keep_every_row(tmp_path):
    path = write(tmp_path / "a.mindrecord")
    rows = []
    for shard in range(2):
        d = ds.MindDataset(path, ["label"], num_shards=2, shard_id=shard)
        rows += [int(r["label"]) for r in d.create_dict_iterator(num_epochs=1, output_numpy=True)]
    assert sorted(rows) == list(range(10)) and rows != list(range(10))


def test_padded_samples_fill_shards_up(tmp_path):
    path = write(tmp_path / "a.mindrecord")
    pad = {**row(0), "label": -1}
    labels = []
    for shard in range(4):
        d = ds.MindDataset(path, ["label", "data"], num_shards=4, shard_id=shard, padded_sample=pad, num_padded=2)
        assert d.get_dataset_size() == 3
        labels += [int(r["label"]) for r in d.create_dict_iterator(num_epochs=1, output_numpy=True)]
    assert sorted(labels) == [-1, -1, *range(10)]
    with pytest.raises(RuntimeError, match="num_padded"):
        d = ds.MindDataset(path, ["label", "data"], num_shards=4, shard_id=0, padded_sample=pad, num_padded=1)
        next(d.create_dict_iterator(output_numpy=True))


def test_pages_are_read_by_category(tmp_path):
    page = MindPage(write(tmp_path / "a.mindrecord"))
    assert page.candidate_fields == ["label"]
    page.category_field = "label"
    assert '"key": "label"' in page.read_category_info().replace('":"', '": "')
    assert [r["label"] for r in page.read_at_page_by_name("4", 0, 1)] == [4]
    assert [r["label"] for r in page.read_at_page_by_id(2, 0, 1)] == [2]


def test_pipeline_is_saved_to_mindrecord(tmp_path):
    path = str(tmp_path / "saved.mindrecord")
    source = {"x": np.arange(6, dtype=np.float32).reshape(3, 2), "y": np.arange(3, dtype=np.int32)}
    ds.NumpySlicesDataset(source, shuffle=False).map(lambda x: x * 2, ["x"]).save(path)
    got = list(ds.MindDataset(path, shuffle=False).create_dict_iterator(num_epochs=1, output_numpy=True))
    assert [int(r["y"]) for r in got] == [0, 1, 2]
    assert np.array_equal(np.stack([r["x"] for r in got]), source["x"] * 2)


def test_rows_of_a_saved_pipeline_may_differ_in_their_first_length(tmp_path):
    rows = [np.arange(2 * n, dtype=np.float32).reshape(n, 2) for n in (2, 1, 3)]
    path = str(tmp_path / "saved.mindrecord")
    ds.GeneratorDataset(lambda: ((row,) for row in rows), ["x"], shuffle=False).save(path)
    got = list(ds.MindDataset(path, shuffle=False).create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert [r[0].tolist() for r in got] == [row.tolist() for row in rows]
    with pytest.raises(RuntimeError, match=r"column 'x'.* leaves \(2,\) behind it, and another has shape \(2, 1\)"):
        odd = ds.GeneratorDataset(lambda: ((row,) for row in (rows[0], rows[0].T[:, :1])), ["x"], shuffle=False)
        odd.save(str(tmp_path / "odd.mindrecord"))


def test_missing_and_damaged_files_raise(tmp_path):
    path = write(tmp_path / "a.mindrecord")
    (tmp_path / "a.mindrecord.db").rename(tmp_path / "away")
    with pytest.raises(MRMOpenError, match="a.mindrecord.db"):
        FileReader(path)
    (tmp_path / "b.mindrecord").write_bytes(b"no record at all")
    with pytest.raises(MRMOpenError, match="b.mindrecord"):
        FileReader(str(tmp_path / "b.mindrecord"))
    with pytest.raises(RuntimeError, match="MindRecordOp init failed"):
        next(ds.MindDataset(str(tmp_path / "b.mindrecord")).create_dict_iterator(output_numpy=True))


def test_error_names_the_damaged_row_and_its_page(tmp_path):
    writer = FileWriter(str(tmp_path / "a.mindrecord"))
    writer.set_page_size(1 << 15)
    writer.add_schema({"label": {"type": "int32"}, "a": {"type": "bytes"}, "b": {"type": "bytes"}}, "rows")
    writer.write_raw_data([{"label": i, "a": bytes([i]) * 9000, "b": b"b"} for i in range(10)])
    writer.commit()
    path = str(tmp_path / "a.mindrecord")
    place = open(path, "rb").read().index(b"\7" * 9000)
    with open(path, "r+b") as file:
        file.seek(place - 8)
        file.write(b"\xff" * 8)  # the length of field a
    with FileReader(path) as reader:
        rows = reader.get_next()
        for i in range(7):
            assert next(rows)["label"] == i
        with pytest.raises(MRMOpenError, match=r"a.mindrecord' is damaged: row 7, in page [2-9]"):
            next(rows)
    with pytest.raises(RuntimeError, match=r"a.mindrecord' is damaged: row 7, in page [2-9]"):
        list(ds.MindDataset(path, shuffle=False).create_tuple_iterator(num_epochs=1, output_numpy=True))


def test_mnist_converter_ignores_images_without_label(tmp_path):
    images = np.random.RandomState(0).randint(0, 256, (4, 28, 28)).astype(np.uint8)
    for part in ("train", "t10k"):
        with gzip.open(tmp_path / f"{part}-images-idx3-ubyte.gz", "wb") as file:
            file.write(struct.pack(">4i", 2051, 9, 28, 28) + images.tobytes())  # nine promised, four there
        with gzip.open(tmp_path / f"{part}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(struct.pack(">2i", 2049, 5) + bytes([3, 1, 4, 1, 5]))
    MnistToMR(str(tmp_path), str(tmp_path / "out")).transform()
    rows = list(
        ds.MindDataset(str(tmp_path / "out_test.mindrecord"), shuffle=False).create_dict_iterator(
            num_epochs=1, output_numpy=True
        )
    )
    assert [int(r["label"]) for r in rows] == [3, 1, 4, 1]
    assert np.abs(cv2.imdecode(rows[2]["data"], 0).astype(int) - images[2]).mean() < 20


@pytest.fixture
def progress_lines(monkeypatch):
    """Return a list that gets (progress label, announced rows, actual rows) of each written file."""
    lines = []

    def follow(rows, what, total):
        rows = list(rows)
        lines.append((what, total, len(rows)))
        return iter(rows)

    monkeypatch.setattr("msnb.mindrecord.tools._convert.follow", follow)
    return lines


@pytest.mark.parametrize(("kind", "columns"), [("cifar10", 2), ("cifar100", 3)])
def test_converters_report_the_number_of_rows_of_each_subset(kind, columns, tmp_path, monkeypatch, progress_lines):
    images, numbers = np.zeros((3, 32, 32, 3), np.uint8), np.array([[1], [0], [2]])
    data = [images, *[numbers] * (columns - 1), images[:2], *[numbers[:2]] * (columns - 1)]
    for name in ("data_batch_1", "test_batch", "train", "test"):
        (tmp_path / name).touch()
    module = importlib.import_module(f"msnb.mindrecord.tools.{kind}_to_mr")
    monkeypatch.setattr(getattr(module, kind.title()), "load_data", lambda self: data)
    getattr(module, f"{kind.title()}ToMR")(str(tmp_path), str(tmp_path / "out")).run()
    assert progress_lines == [("writing out", 3, 3), ("writing out_test", 2, 2)]
    assert ds.MindDataset(str(tmp_path / "out_test"), shuffle=False).get_dataset_size() == 2


def test_imagenet_converter_counts_files_before_reading(tmp_path, progress_lines):
    (tmp_path / "map.txt").write_text("cat 0\ndog 1\n")
    for name in ("cat/a.jpg", "cat/b.JPEG", "cat/notes.txt", "dog/c.jpg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"picture")
    (tmp_path / "dog" / "empty.jpg").touch()
    ImageNetToMR(str(tmp_path / "map.txt"), str(tmp_path), str(tmp_path / "out"), 1).run()
    assert progress_lines == [("writing out", 4, 3)]


def test_existing_files_are_not_overwritten(tmp_path):
    write(tmp_path / "a.mindrecord")
    with pytest.raises(MRMOpenError, match="exists"):
        write(tmp_path / "a.mindrecord")
    (tmp_path / "b.mindrecord.db").write_bytes(b"")
    with pytest.raises(MRMGenerateIndexError):
        write(tmp_path / "b.mindrecord")


def test_wrong_schemas_and_rows_raise(tmp_path):
    writer = FileWriter(str(tmp_path / "a.mindrecord"))
    with pytest.raises(MRMInvalidSchemaError):
        writer.add_schema({"a b": {"type": "int32"}})
    with pytest.raises(MRMInvalidSchemaError):
        writer.add_schema({"a": {"type": "complex"}})
    with pytest.raises(ParamValueError):
        FileWriter(str(tmp_path / "c.mindrecord"), 0)
    writer.add_schema(SCHEMA)
    with pytest.raises(MRMWriteDatasetError):
        writer.write_raw_data([{"other": 1}])
