"""A data set tells what it is, and neither runs the user's functions nor waits for a slow source to do so."""

import random
import threading

import numpy as np
import pytest

import msnb.dataset as ds
import msnb.dataset.transforms.c_transforms as C
import msnb.dataset.vision.c_transforms as CV
from msnb.dataset.engine.preview import preview

IMAGES = np.arange(20 * 8 * 8 * 3).reshape(20, 8, 8, 3).astype(np.uint8)


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Time enough for a machine with other work to do; returns what sets it to so many seconds."""

    def be(seconds):
        monkeypatch.setattr("msnb.dataset.engine.preview._TIME_LIMIT", seconds)

    be(20)
    return be


def images():
    return ds.NumpySlicesDataset({"image": IMAGES, "label": np.arange(20)}, shuffle=False)


class Squares:
    """Samples by number, which draw random numbers, and wait until they may."""

    def __init__(self, rows=10, may=None):
        self.rows, self.may, self.asked = rows, may, 0

    def __len__(self):
        return self.rows

    def __getitem__(self, i):
        self.asked += 1
        random.random(), np.random.rand()
        assert self.may is None or self.may.wait(60)
        return (np.array([i * i]),)


def test_the_text_has_class_size_columns_and_steps():
    data = images().map([CV.Resize((4, 4)), CV.HWC2CHW()], "image").batch(8)
    assert repr(data).splitlines() == [
        "BatchDataset, 3 batches",
        "  image  uint8 (8, 3, 4, 4)",
        "  label  int64 (8,)",
        "  NumpySlicesDataset (20 samples) by SequentialSampler > map Resize on image, HWC2CHW on image > batch 8",
    ]


def test_lengths_that_differ_are_unknown_in_the_shape():
    class Words:
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return np.zeros((2, i + 1), np.float32), np.array("word" * i)

    shown = preview(ds.GeneratorDataset(Words(), ["x", "text"], shuffle=False), 3)
    assert shown.types == [("float32", (2, None)), ("string", ())]
    assert [shown.described(number) for number in (0, 1)] == [("float32", "(2, ?)"), ("string", "")]
    assert [row[1].item().decode() for row in shown.rows] == ["", "word", "wordword"]


def test_counts_of_one_are_singular():
    assert preview(images().take(1)).count() == "1 row" and preview(images().batch(20)).count() == "1 batch"


def test_rows_of_a_batch_are_the_first_samples():
    shown = preview(images().batch(8), 3)
    assert shown.batched and [int(row[1]) for row in shown.rows] == [0, 1, 2]
    assert np.array_equal(shown.rows[2][0], IMAGES[2])


def test_shuffled_rows_are_shown_in_source_order_with_a_note():
    data = ds.GeneratorDataset(source := Squares(10_000), ["x"]).shuffle(5000)
    shown = preview(data, 3)
    assert [int(row[0][0]) for row in shown.rows] == [0, 1, 4] and "order is random" in shown.note
    assert source.asked <= 3


def test_skipped_samples_are_not_read():
    data = ds.GeneratorDataset(source := Squares(10_000), ["x"], shuffle=False).skip(9000)
    assert int(preview(data).rows[0][0][0]) == 9000**2 and source.asked == 1


def refuse(*values):
    raise AssertionError("a display ran the user's function")


def generate():
    refuse()
    yield


class Order(ds.Sampler):
    def __iter__(self):
        refuse()


OWN = {
    "generate()": lambda: ds.GeneratorDataset(generate, ["image"]),
    "refuse() is": lambda: images().map(refuse, "label"),
    "refuse() is Python": lambda: images().map(C.Compose([CV.HWC2CHW(), refuse]), "image"),
    "filter on label is Python": lambda: images().filter(refuse, "label"),
    "batch calls": lambda: images().batch(2, per_batch_map=refuse_batch, input_columns="image"),
    "batch calls Python": lambda: images().batch(lambda info: refuse()),
    "sampler": lambda: ds.NumpySlicesDataset(IMAGES, ["image"], sampler=Order()),
    "sync_wait waits": lambda: images().sync_wait("update", 1),
}


def refuse_batch(column, info):
    refuse()


@pytest.mark.parametrize("words", OWN)
def test_the_users_functions_are_not_run(words):
    shown = preview(OWN[words](), 3)
    assert shown.columns[0] == "image" and not shown.rows and not shown.types
    assert words in shown.note and "create_dict_iterator()) gives the first row" in str(shown)


def test_an_iterator_is_not_consumed():
    data = ds.GeneratorDataset(iter([(np.array([i]),) for i in range(3)]), ["x"])
    assert "GeneratorDataset (list_iterator) is Python code of yours" in repr(data)
    assert len(list(data)) == 3


def test_conditions_of_a_training_are_not_reset():
    data = images().sync_wait("update", 1).batch(2)
    iterator = data.create_tuple_iterator(num_epochs=1)
    next(iterator)
    pair = data.children[0]._pair
    free = pair._free
    repr(data)
    assert pair._free == free
    iterator.stop()


def test_random_states_are_unchanged():
    random.seed(1)
    np.random.seed(1)
    expected = random.random(), np.random.rand()
    random.seed(1)
    np.random.seed(1)
    assert preview(ds.GeneratorDataset(source := Squares(), ["x"]), 3).rows and source.asked
    assert (random.random(), np.random.rand()) == expected


def test_a_slow_source_is_skipped_after_the_time_limit(patience):
    patience(1.5)
    data = ds.GeneratorDataset(source := Squares(100, threading.Event()), ["x"], shuffle=False).batch(50)
    shown = preview(data)
    assert shown.columns == ["x"] and shown.size == 2 and not shown.rows and "longer than 1.5 s" in shown.note
    source.may.set()
    for thread in threading.enumerate():
        if thread.name == "msnb-preview":
            thread.join(60)
    assert source.asked == 1  # and the rest of the batch is not read behind the user's back


def test_no_processes_are_started_for_a_few_rows():
    data = ds.GeneratorDataset(source := Squares(), ["x"], num_parallel_workers=2, shuffle=False)
    assert len(preview(data, 3).rows) == 3 and source.asked == 3  # which is seen in this process only


def test_errors_of_a_pipeline_are_shown_and_not_raised():
    shown = repr(images().map(CV.HWC2CHW(), "picture"))
    assert "RuntimeError: input column name: picture doesn't exist" in shown
    assert "ValueError: no" in repr(ds.GeneratorDataset(Broken(), ["x"]))


class Broken:
    def __len__(self):
        return 2

    def __getitem__(self, i):
        raise ValueError("no")


def test_earlier_queries_are_reused():
    def rows():
        yield (np.zeros((2, 3), np.float32),)

    data = ds.GeneratorDataset(rows, ["x"])
    assert data.output_shapes() == [[2, 3]] and data.get_dataset_size() == 1
    assert repr(data).splitlines()[:2] == ["GeneratorDataset, 1 row", "  x  float32 (2, 3)"]


def test_a_preview_does_not_change_the_data_set():
    data = images().map(CV.Resize((4, 4)), "image")
    before = dict(vars(data))
    repr(data)
    assert vars(data) == before and not data.children[0]._get_samples().stores


def test_a_partly_constructed_data_set_has_a_repr():
    assert "AttributeError" in repr(ds.Dataset.__new__(ds.Dataset))


def test_a_cache_is_not_filled():
    cache = ds.DatasetCache(session_id=1)
    data = images().map(CV.HWC2CHW(), "image", cache=cache)
    assert "cache does more than read" in repr(data) and not cache._kept.rows
