"""A monitored pipeline gives the same rows, and says what they cost."""

import time

import numpy as np
import pytest

import msnb.dataset as ds
import msnb.dataset.vision.c_transforms as CV
from msnb.dataset.engine.monitor import Monitor

IMAGES = np.random.default_rng(0).integers(0, 256, (60, 8, 8, 3), np.uint8)


def slow(label):
    time.sleep(0.0005)
    return label


def pipeline():
    data = ds.NumpySlicesDataset({"image": IMAGES, "label": np.arange(60)}, shuffle=False)
    data = data.map([CV.Resize((4, 4)), CV.Rescale(1 / 255, 0), CV.HWC2CHW()], "image")
    return data.map(slow, "label").batch(10)


def rows(data, epochs=1):
    iterator = data.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    return [[b.tolist() for b in batch] for _ in range(epochs) for batch in iterator]


def test_watching_changes_nothing():
    data = pipeline()
    plain = rows(data, 2)
    with data.monitor():
        watched = rows(data, 2)
    assert plain == watched


def test_every_operator_counts_its_rows_and_its_time():
    data = pipeline()
    with data.monitor() as monitor:
        rows(data, 2)
    shown = monitor.snapshot()
    counts = {o["label"]: o["rows"] for o in shown["operators"]}
    assert counts["batch 10"] == 12 and counts["slow() on label"] == 120
    assert counts["Rescale + HWC2CHW on image"] == 120
    assert counts["Resize on image"] == 60  # kept after the first epoch
    assert shown["rows"] == 12 and shown["unit"] == "batches" and not shown["running"]
    assert sum(o["share"] for o in shown["operators"]) == pytest.approx(1)
    assert {o["kind"] for o in shown["operators"]} == {"batch", "map", "function", "cache", "source"}
    assert sum(o["seconds"] for o in shown["operators"]) <= monitor.waited + monitor.used + 1e-3


def test_making_tensors_is_a_line_of_its_own():
    data = pipeline()
    with data.monitor() as monitor:
        iterator = data.create_tuple_iterator(num_epochs=2)
        assert [len(list(iterator)) for _ in range(2)] == [6, 6]
    first, second, *_ = monitor.snapshot()["operators"]
    assert first["label"] == "to Tensors" and first["rows"] == 12 and first["seconds"] > 0
    assert second["kind"] == "batch"


def test_the_bottleneck_is_named():
    data = pipeline()
    with data.monitor() as monitor:
        rows(data)
    assert [o["label"] for o in monitor.snapshot()["operators"] if o["worst"]] == ["slow() on label"]
    assert "Bottleneck: slow() on label" in monitor.verdict() and "python_multiprocessing" in monitor.verdict()
    assert "slow() on label" in repr(monitor) and "<" in repr(monitor)


def test_a_consumer_that_is_slower_than_its_pipeline_is_told_so():
    data = ds.NumpySlicesDataset({"x": np.zeros((40, 2))}).batch(4)
    with data.monitor() as monitor:
        for _ in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
            time.sleep(0.02)
    assert monitor.verdict().startswith("The consumer is the bottleneck")


def test_nothing_is_wrapped_when_nobody_looks():
    data = pipeline()
    with data.monitor():
        pass
    plan = data.create_tuple_iterator(num_epochs=1)._plan
    assert "chunks" not in vars(plan) and all("run" not in vars(s) for s in getattr(plan.children[0], "steps", ()))


def test_before_anything_ran_there_is_nothing_to_tell():
    monitor = Monitor(pipeline())
    assert monitor.verdict() == "Nothing has come out yet." and monitor.seconds == 0.0


def test_an_iterator_over_some_columns_is_watched_too():
    data = pipeline()
    with data.monitor() as monitor:
        list(data.create_tuple_iterator(columns=["label"], num_epochs=1, output_numpy=True))
    assert monitor.rows == 6 and monitor.snapshot()["operators"][0]["label"] == "project label"


def test_an_error_goes_through_a_monitor():
    def broken(x):
        raise ValueError("no")

    data = ds.NumpySlicesDataset({"x": np.zeros(4)}).map(broken, "x")
    with pytest.raises(RuntimeError, match="no"), data.monitor():
        rows(data)


def test_branches_are_all_measured():
    left = ds.NumpySlicesDataset({"a": np.arange(12)}, shuffle=False)
    right = ds.NumpySlicesDataset({"b": np.arange(12)}, shuffle=False).map(slow, "b")
    data = ds.zip((left, right)).filter(lambda a, b: bool(a % 2), ["a", "b"])
    with data.monitor() as monitor:
        assert len(rows(data)) == 6
    labels = [o["label"] for o in monitor.snapshot()["operators"]]
    assert sum("NumpySlicesDataset" in label for label in labels) == 2 and "zip" in labels
