"""A monitored pipeline gives the same rows, and says what they cost."""

import itertools
import re
import time

import numpy as np
import pytest

import msnb.dataset as ds
import msnb.dataset.vision.c_transforms as CV
from msnb.dataset.engine.execution import monitor as monitoring
from msnb.dataset.engine.execution.monitor import Monitor
from msnb.dataset.engine.execution.monitor_text import duration

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


def test_a_monitored_pipeline_yields_the_same_rows():
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


def test_conversion_to_tensors_has_its_own_line():
    data = pipeline()
    with data.monitor() as monitor:
        iterator = data.create_tuple_iterator(num_epochs=2)
        assert [len(list(iterator)) for _ in range(2)] == [6, 6]
    first, second, *_ = monitor.snapshot()["operators"]
    assert first["label"] == "to Tensors" and first["rows"] == 12 and first["seconds"] > 0
    assert second["kind"] == "batch"


def test_verdict_names_the_bottleneck():
    data = pipeline()
    with data.monitor() as monitor:
        rows(data)
    assert [o["label"] for o in monitor.snapshot()["operators"] if o["worst"]] == ["slow() on label"]
    assert "slow() on label takes" in monitor.verdict() and "python_multiprocessing" in monitor.verdict()
    assert "slow() on label" in repr(monitor) and "<" in repr(monitor)


def test_verdict_for_an_empty_loop_gives_the_shortest_training_step():
    data = pipeline()
    with data.monitor() as monitor:
        rows(data)
    match, unit = re.match(r"Fast enough for training steps of ([\d.]+) (ms) and more", monitor.verdict()).groups()
    assert float(match) >= 5 and "Bottleneck" not in monitor.verdict()  # ten labels of half a millisecond each


def test_a_fast_pipeline_has_no_bottleneck():
    data = ds.NumpySlicesDataset({"x": np.zeros((40, 2))}).batch(4)
    with data.monitor() as monitor:
        rows(data)
    monitor.waited, monitor.used = 0.9e-3, 0.1e-3  # what ten batches and an empty loop take
    assert monitor.verdict().startswith("Fast enough for training steps of") and "Bottleneck" not in monitor.verdict()


def test_verdict_for_a_waiting_consumer_names_the_operator():
    data = pipeline()
    with data.monitor() as monitor:
        for _ in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
            time.sleep(0.001)
    assert "The consumer waits" in monitor.verdict() and "Bottleneck: slow() on label" in monitor.verdict()


def slow_rows():
    for i in range(40):
        time.sleep(0.0005)
        yield (np.array([i]),)


def test_a_generator_function_is_labelled_by_name_and_line_without_advice_on_workers():
    data = ds.GeneratorDataset(slow_rows, ["x"], num_parallel_workers=4)
    with data.monitor() as monitor:
        rows(data)
    line = slow_rows.__code__.co_firstlineno
    assert f"GeneratorDataset (slow_rows(), line {line}) takes" in monitor.verdict()
    assert "One thread runs it, whatever num_parallel_workers says" in monitor.verdict()


def test_an_indexed_source_has_advice_on_workers():
    class Squares:
        def __len__(self):
            return 20

        def __getitem__(self, i):
            time.sleep(0.0005)
            return (np.array([i * i]),)

    data = ds.GeneratorDataset(Squares(), ["x"], shuffle=False)
    with data.monitor() as monitor:
        rows(data)
    assert "More num_parallel_workers of GeneratorDataset help" in monitor.verdict()


def test_durations_have_a_suitable_unit():
    shown = [duration(x) for x in (2.5, 0.0137, 20e-6, 3e-9, 0)]
    assert shown == ["2.5 s", "13.7 ms", "20 µs", "3 ns", "-"]


def test_verdict_for_a_slow_consumer_says_that_the_pipeline_keeps_up(monkeypatch):
    looks, steps = itertools.count(), itertools.count(1)
    spent = [0.0]
    monkeypatch.setattr(monitoring, "_clock", lambda: spent[0] + next(looks) * 1e-6)
    data = ds.NumpySlicesDataset({"x": np.zeros((40, 2))}).batch(4)
    with data.monitor() as monitor:
        for _ in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
            spent[0] = next(steps) * 0.02
    assert monitor.verdict().startswith("The pipeline keeps up: its consumer waits")


def test_an_unmonitored_plan_is_not_wrapped():
    data = pipeline()
    with data.monitor():
        pass
    plan = data.create_tuple_iterator(num_epochs=1)._plan
    assert "chunks" not in vars(plan) and all("run" not in vars(s) for s in getattr(plan.children[0], "steps", ()))


def test_verdict_before_the_first_row():
    monitor = Monitor(pipeline())
    assert monitor.verdict() == "Nothing has come out yet." and monitor.seconds == 0.0


def test_an_iterator_over_some_columns_is_measured():
    data = pipeline()
    with data.monitor() as monitor:
        list(data.create_tuple_iterator(columns=["label"], num_epochs=1, output_numpy=True))
    assert monitor.rows == 6 and monitor.snapshot()["operators"][0]["label"] == "project label"


def test_errors_pass_through_a_monitor():
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
