"""Columns of dicts, and `per_batch_map` without columns, as MindSpore 2.7.1 has them."""

import numpy as np
import pytest

import msnb.dataset as ds
from msnb import Tensor
from msnb.core.operator import api_generations


@pytest.fixture(autouse=True)
def meanings_of_mindspore_2():
    api_generations.share(2)
    yield
    api_generations.share(1)


def source(rows, names=("c", "d")):
    return ds.GeneratorDataset(lambda: iter(rows), list(names), shuffle=False)


def rows_of(data, **options):
    return list(data.create_dict_iterator(num_epochs=1, **{"output_numpy": True, **options}))


ROWS = [({"a": i, "s": f"x{i}", "n": {"m": np.ones(2) * i}, "l": [i, (2,)]}, i) for i in range(4)]
FLAT = [({"a": i, "s": f"x{i}", "n": {"m": np.ones(2) * i}}, i) for i in range(4)]


def test_values_of_a_dict_are_arrays_or_tensors():
    row = rows_of(source(ROWS))[1]["c"]
    assert row["a"] == 1 and row["a"].shape == () and row["s"] == "x1" and row["n"]["m"].tolist() == [1, 1]
    assert isinstance(row["l"], list) and row["l"][0] == 1 and isinstance(row["l"][1], tuple)
    row = rows_of(source(ROWS), output_numpy=False)[2]["c"]
    assert isinstance(row["n"]["m"], Tensor) and row["a"] == 2 and isinstance(row["l"][1][0], Tensor)


def test_functions_take_and_return_dicts_of_python_values():
    def describe(c):
        return {"kinds": [type(c["a"]).__name__, type(c["l"]).__name__], "twice": c["a"] * 2}

    assert [r["c"]["twice"] for r in rows_of(source(ROWS).map(describe, "c"))] == [0, 2, 4, 6]
    assert rows_of(source(ROWS).map(describe, "c"))[0]["c"]["kinds"] == ["int", "list"]
    chained = source(ROWS).map([describe, lambda c: c["twice"] + 1], "c")
    assert [int(r["c"]) for r in rows_of(chained)] == [1, 3, 5, 7]
    pipeline = source(ROWS).map(lambda c: (c["a"], c["s"]), ["c"], ["a", "s"])
    assert [(int(r["a"]), str(r["s"])) for r in rows_of(pipeline)][3] == (3, "x3")
    assert [int(r["d"]) for r in rows_of(source(ROWS).filter(lambda c: c["a"] > 1, "c"))] == [2, 3]


@pytest.mark.parametrize("workers", [1, 2])
def test_dicts_come_from_an_object_with_an_index(workers):
    class Numbers:
        def __len__(self):
            return 3

        def __getitem__(self, i):
            return {"a": i}

    data = ds.GeneratorDataset(Numbers(), ["c"], shuffle=False, num_parallel_workers=workers)
    assert [int(r["c"]["a"]) for r in rows_of(data)] == [0, 1, 2]


def test_a_batch_of_dicts_is_a_dict_of_batches():
    first, second = rows_of(source(FLAT).batch(2))
    assert first["c"]["a"].tolist() == [0, 1] and second["c"]["s"].tolist() == ["x2", "x3"]
    assert second["c"]["n"]["m"].tolist() == [[2, 2], [3, 3]]
    assert rows_of(source([({}, 1), ({}, 1)]).batch(2))[0]["c"] == {}
    buckets = source(FLAT).bucket_batch_by_length(["d"], [2], [2, 2], element_length_function=int)
    assert rows_of(buckets)[1]["c"]["a"].tolist() == [2, 3]


@pytest.mark.parametrize(
    "pair, words",
    [
        (({"a": 1}, {"b": 1}), "keys of its dicts differ"),
        (({"a": np.ones(1)}, {"a": np.ones(2)}), r"values of key 'a' are \(1,\) and \(2,\)|\(2,\) and \(1,\)"),
        (({"a": None}, {"a": None}), "NoneType"),
    ],
)
def test_dicts_that_do_not_fit_into_a_batch_are_named(pair, words):
    with pytest.raises(RuntimeError, match=words):
        rows_of(source([(pair[0], 1), (pair[1], 1)]).batch(2))


def test_rows_with_dicts_are_shuffled_repeated_and_joined():
    data = source(ROWS).shuffle(4).repeat(2).skip(1).take(5)
    assert len(rows_of(data)) == 5 and len(rows_of(source(ROWS) + source(ROWS))) == 8
    assert list(rows_of(source(ROWS).zip(source(ROWS, "ef")))[0]) == list("cdef")


def test_other_objects_and_transforms_of_dicts_are_refused():
    with pytest.raises(RuntimeError, match="list of Python objects"):
        rows_of(source([([{"a": 1}], 1)]))
    with pytest.raises(RuntimeError, match="takes arrays, but column 'c' holds dicts"):
        rows_of(source(ROWS).map(ds.transforms.Fill(1), "c"))
    api_generations.share(1)
    with pytest.raises(RuntimeError, match="dict"):
        rows_of(source(ROWS))


def test_a_function_of_batches_takes_all_columns():
    data = ds.NumpySlicesDataset(np.arange(4), ["c"], shuffle=False).batch(2, per_batch_map=lambda c, info: (c,))
    assert [r["c"].tolist() for r in rows_of(data)] == [[0, 1], [2, 3]]
    data = source(ROWS).batch(
        2, per_batch_map=lambda c, d, info: ([x["a"] for x in c], d, d), output_columns=list("xyz")
    )
    assert [(r["x"].tolist(), r["z"].tolist()) for r in rows_of(data)] == [([0, 1], [0, 1]), ([2, 3], [2, 3])]
    with pytest.raises(ValueError, match="per_batch_map, which is missing"):
        source(ROWS).batch(2, input_columns="c")
    api_generations.share(1)
    with pytest.raises(ValueError, match="together"):
        source(ROWS).batch(2, per_batch_map=lambda c, d, info: (c, d))


def batched(function, columns="c", size=2, **options):
    """Rows of FLAT's column `d` (named `c`), batched with `function`."""
    data = ds.NumpySlicesDataset(np.arange(5), ["c"], shuffle=False)
    return data.batch(size, per_batch_map=function, input_columns=columns, **options)


def test_a_function_of_batches_returns_the_dict_of_a_batch():
    for function in (
        lambda c, info: ({"x": np.stack(c), "n": len(c), "s": "u", "none": None, "l": [1, (2.0, {"k": True})]},),
        lambda c, info: {"x": Tensor(np.stack(c)), "n": len(c), "s": "u", "none": None, "l": [1, (2.0, {"k": True})]},
    ):
        data = batched(function)
        first, *_, last = [r["c"] for r in rows_of(data)]
        assert first["x"].tolist() == [0, 1] and last["x"].tolist() == [4]
        assert first["n"].shape == () and first["n"].dtype == np.int64 and last["n"] == 1 and first["s"] == "u"
        assert first["none"] is None and first["l"][0] == 1 and first["l"][1][1]["k"].dtype == bool
        assert data.output_shapes() == [[0]] and data.output_types() == [np.dtype("O")]
        assert data.get_dataset_size() == 3 and data.get_col_names() == ["c"]
        row = rows_of(data, output_numpy=False)[0]["c"]
        assert isinstance(row["x"], Tensor) and isinstance(row["l"][1][0], Tensor)
        assert next(data.create_tuple_iterator(num_epochs=1, output_numpy=True))[0]["x"].tolist() == [0, 1]


@pytest.mark.parametrize("options", [{"num_parallel_workers": 2}, {"python_multiprocessing": True}])
def test_a_dict_of_a_batch_comes_from_threads_and_processes(options):
    data = batched(lambda c, info: ({"x": np.stack(c) + 10 * info.get_batch_num()},), drop_remainder=True, **options)
    assert [r["c"]["x"].tolist() for r in rows_of(data)] == [[0, 1], [12, 13]]


def test_dicts_and_arrays_of_a_batch_stand_beside_lists_of_rows():
    data = batched(lambda c, info: ({"x": np.stack(c)}, c, np.stack(c) * 2), output_columns=list("def"))
    row = rows_of(data)[1]
    assert list(row) == list("def") and row["d"]["x"].tolist() == [2, 3]
    assert row["e"].tolist() == [2, 3] and row["f"].tolist() == [4, 6]
    data = source(ROWS).batch(2, per_batch_map=lambda c, info: {"a": [x["a"] for x in c]}, input_columns=["c"])
    assert [[x.tolist() for x in r["c"]["a"]] + r["d"].tolist() for r in rows_of(data)] == [[0, 1, 0, 1], [2, 3, 2, 3]]
    chained = batched(lambda c, info: {"x": np.stack(c)}).map(lambda c: {"y": c["x"] * 2}, "c").repeat(2)
    assert [r["c"]["y"].tolist() for r in rows_of(chained)] == [[0, 2], [4, 6], [8]] * 2
    sizes = batched(lambda c, info: {"x": np.stack(c)}, size=lambda info: 1 + info.get_batch_num())
    assert [r["c"]["x"].tolist() for r in rows_of(sizes)] == [[0], [1, 2], [3, 4]]


def test_an_array_is_the_value_of_a_batch_and_a_list_has_its_rows():
    shapes = {
        (2,): lambda c, info: np.stack(c),
        (1,): lambda c, info: (np.stack(c)[:1],),
        (): lambda c, info: (np.array(3),),
        (2, 2): lambda c, info: Tensor(np.stack([c, c])),
    }
    for shape, function in shapes.items():
        assert batched(function).output_shapes() == [list(shape)]
    assert rows_of(batched(lambda c, info: c))[2]["c"].tolist() == [4]
    texts = rows_of(batched(lambda c, info: (np.array([f"_{x}" for x in c]),)))[0]["c"]
    assert texts.tolist() == ["_0", "_1"]
    assert rows_of(batched(lambda c, info: [{"x": r} for r in c]))[0]["c"]["x"].tolist() == [0, 1]


@pytest.mark.parametrize(
    "function, words",
    [
        (lambda c, info: [np.stack(c)], "c expects: 2 rows returned from per_batch_map, gets: 1"),
        (lambda c, info: (c, c), "Incorrect number of columns returned. expects: 1 gets: 2"),
        (lambda c, info: (3,), "a list of 2 rows returned from per_batch_map, gets: int 3"),
        (lambda c, info: 3, "gets: int 3"),
        (lambda c, info: None, "but returned NoneType"),
        (lambda c, info: [{f"x{r}": 1} for r in c], "keys of its dicts differ"),
    ],
)
def test_results_of_a_function_of_batches_that_do_not_fit_are_named(function, words):
    with pytest.raises(RuntimeError, match=words):
        rows_of(batched(function))


def test_a_function_of_batches_returns_lists_in_the_first_generation():
    api_generations.share(1)
    for function in (lambda c, info: {"x": np.stack(c)}, lambda c, info: np.stack(c), lambda c, info: (3,)):
        with pytest.raises(RuntimeError, match="returned from per_batch_map|should return a tuple"):
            rows_of(batched(function))
    assert [r["c"].tolist() for r in rows_of(batched(lambda c, info: [c]))] == [[0, 1], [2, 3], [4]]
