"""Reading many rows of a MindRecord file at once equals reading them one by one."""

import numpy as np
import pytest

import msnb.dataset as ds
from msnb.mindrecord import FileWriter
from msnb.mindrecord._batch import UnlikeError, scalars
from msnb.mindrecord._reader import Records

SCHEMA = {
    "ids": {"type": "int32", "shape": [37]},
    "wide": {"type": "int64", "shape": [2, 5]},
    "floats": {"type": "float32", "shape": [3]},
    "data": {"type": "bytes"},
    "label": {"type": "int32"},
    "big": {"type": "int64"},
    "score": {"type": "float64"},
    "name": {"type": "string"},
}


def row(i, rng):
    return {
        "ids": rng.integers(-(10 ** (i % 9 + 1)), 10 ** (i % 9 + 1), 37).astype(np.int32),
        "wide": rng.integers(-(1 << (6 * (i % 10) + 2)), 1 << (6 * (i % 10) + 2), (2, 5)),
        "floats": rng.normal(size=3).astype(np.float32),
        "data": rng.integers(0, 256, i % 50 + 1, np.uint8).tobytes(),
        "label": [0, 127, 128, 255, 256, 70000, -1, -32, -33, -200, -40000, 2**31 - 1][i % 12],
        "big": [5, 2**40, -(2**40), 2**63 - 1, -(2**63)][i % 5],
        "score": i / 7,
        "name": ["", "short", "ä" * 20, "x" * 200, "y" * 70000][i % 5] + str(i),
    }


@pytest.fixture(params=[1, 3], ids=["one file", "three files"])
def records(request, tmp_path):
    rng = np.random.default_rng(request.param)
    path = str(tmp_path / "all.mindrecord")
    writer = FileWriter(path, request.param)
    writer.add_schema(SCHEMA, "everything")
    writer.write_raw_data([row(i, rng) for i in range(120)])
    writer.commit()
    return Records(path if request.param == 1 else path + "0")


@pytest.mark.parametrize("columns", [list(SCHEMA), ["wide"], ["label", "ids"], ["name"], ["data", "big"]])
def test_batch_reader_equals_the_single_row_reader(records, columns):
    numbers = np.random.default_rng(0).permutation(len(records))[:90]
    together = records.columns(numbers, columns)
    for i, number in enumerate(numbers.tolist()):
        for column, expected in zip(together, records.arrays(number, columns), strict=True):
            value = np.asarray(column[i])
            assert np.array_equal(value, expected) and value.dtype.kind == expected.dtype.kind
            assert value.dtype == expected.dtype or value.dtype.kind == "S"


def test_rows_of_one_size_are_writable_arrays(records):
    for column in records.columns(np.arange(20), ["ids", "floats", "label"]):
        assert isinstance(column, np.ndarray)
        column[0] = 0


def test_shape_is_static_only_if_all_rows_have_it(records):
    assert records.row_bytes(["ids", "label"]) == 37 * 4 + 4
    assert records.row_bytes(["ids", "name"]) is None and records.row_bytes(["data"]) is None


def test_batch_reader_raises_for_rows_that_differ_from_the_first():
    rows = [b"\x81\xa1a\x01", b"\x81\xa1b\x01"]
    spans = np.array([[0, 4], [4, 8]])
    with pytest.raises(UnlikeError):
        scalars(memoryview(b"".join(rows)), spans, ["a"], {"a": {"type": "int32"}})
    cut = memoryview(b"\x81\xa1a\x01\x81\xa1a\xcd")
    with pytest.raises(UnlikeError):
        scalars(cut, spans, ["a"], {"a": {"type": "int32"}})


def test_error_in_a_batch_names_the_row_and_its_page(tmp_path):
    path = str(tmp_path / "spoiled.mindrecord")
    writer = FileWriter(path)
    writer.add_schema({"x": {"type": "int32", "shape": [4]}, "label": {"type": "int32"}}, "")
    writer.write_raw_data([{"x": np.arange(4, dtype=np.int32), "label": 7000 + i} for i in range(60)])
    writer.commit()
    with open(path, "r+b") as file:
        content = file.read()
        at = content.find(b"\xcd" + (7041).to_bytes(2, "big"))
        file.seek(at)
        file.write(b"\xc1")
    with pytest.raises(Exception, match="row 41, in page 1"):
        list(ds.MindDataset(path, shuffle=False).batch(20).create_tuple_iterator(num_epochs=1))


def test_second_epoch_has_the_rows_in_another_order(tmp_path):
    path = str(tmp_path / "kept.mindrecord")
    writer = FileWriter(path)
    writer.add_schema({"x": {"type": "int32", "shape": [4]}}, "")
    writer.write_raw_data([{"x": np.full(4, i, np.int32)} for i in range(700)])
    writer.commit()
    iterator = ds.MindDataset(path, shuffle=True).batch(33).create_tuple_iterator(num_epochs=2, output_numpy=True)
    epochs = [np.concatenate([b[0] for b in iterator])[:, 0] for _ in range(2)]
    assert sorted(epochs[0].tolist()) == sorted(epochs[1].tolist()) == list(range(700))
    assert not np.array_equal(epochs[0], epochs[1])
