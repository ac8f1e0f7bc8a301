"""The files have the records of a training, in both modes, and without a record there is no cost."""

import io
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb import dataset as ds
from msnb.formats import lineage_events, summary_events
from msnb.formats.event_records import records
from msnb.insight.runs import Run
from msnb.ops import debug
from msnb.train import Model, SummaryCollector
from msnb.train.summary import SummaryRecord
from msnb.train.summary._histogram import histogram
from msnb.train.summary._histograms import histograms
from msnb.train.summary._values import image
from msnb.train.summary._writer import EventFile

MODES = [context.GRAPH_MODE, context.PYNATIVE_MODE]


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc, self.flat = nn.Dense(8, 3), nn.Flatten()
        self.scalar, self.histogram = ops.ScalarSummary(), ops.HistogramSummary()

    def construct(self, x):
        y = self.fc(self.flat(x))
        self.scalar("mean", y.mean())
        self.histogram("out", y)
        return y


def values(folder):
    """Return {tag: {step: content}} of the event files of a folder, and the events."""
    results, events_ = {}, []
    for path in sorted(Path(folder).glob("*_MS")):
        for event, _ in summary_events.events(path):
            events_.append(event)
            for tag, number in zip(event.tags, event.scalars.tolist(), strict=True):
                results.setdefault(tag, {})[event.step] = number
            for value in event.values:
                results.setdefault(value.tag, {})[event.step] = value.content
    return results, events_


def lineage(folder):
    """Return {kind: content} of the lineage files of a folder."""
    return {
        e.kind: e.content for p in sorted(Path(folder).glob("*_lineage")) for e, _ in lineage_events.lineage_events(p)
    }


@pytest.mark.parametrize("mode", MODES)
def test_a_collector_records_a_training_and_its_evaluation(mode, tmp_path):
    context.set_context(mode=mode)
    random = np.random.RandomState(0)
    data = ds.NumpySlicesDataset(
        (random.rand(10, 1, 2, 4).astype(np.float32), random.randint(0, 3, 10).astype(np.int32)), shuffle=False
    ).batch(2)
    net = Net()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(net, loss, nn.Momentum(net.trainable_params(), 0.1, 0.9), metrics={"acc": nn.Accuracy()})
    collector = SummaryCollector(str(tmp_path), collect_freq=2, custom_lineage_data={"rate": 0.1, "name": "first"})
    model.train(1, data, callbacks=[collector], dataset_sink_mode=False)
    model.eval(data, callbacks=[collector], dataset_sink_mode=False)
    result, all_events = values(tmp_path)
    assert {tag: sorted(steps) for tag, steps in result.items()} == dict.fromkeys(
        ("loss/auto", "mean", "input_data/auto", "fc.weight/auto", "fc.bias/auto", "out"), [1, 2, 4]
    )
    assert result["fc.weight/auto"][4].count == 24
    assert result["out"][2].counts.sum() == 6
    assert (result["input_data/auto"][1].height, result["input_data/auto"][1].width) == (2, 8)
    graphs = [event.graph for event in all_events if event.graph]
    assert bool(graphs) == (mode == context.GRAPH_MODE)
    for graph in graphs:
        assert any(node.op == "MatMul" and node.scope.endswith("fc-Dense") for node in graph.nodes)
    lineage_data = lineage(tmp_path)
    assert lineage_data["custom_lineage_data"] == {"rate": 0.1, "name": "first"}
    assert lineage_data["train_lineage"]["optimizer"] == "Momentum"
    assert lineage_data["train_lineage"]["train_dataset_size"] == 10
    assert "acc" in lineage_data["eval_lineage"]["metric"]
    assert lineage_data["dataset_graph"]["children"][0]["parameter"]["op_type"] == "NumpySlicesDataset"


def test_without_a_record_nothing_of_a_summary_is_in_the_graph(tmp_path, monkeypatch):
    monkeypatch.setattr(debug, "_listeners", [])  # who imported `_get_summary_tensor_data` listens from then on
    context.set_context(mode=context.GRAPH_MODE)
    net = Net()
    x = Tensor(np.ones((2, 1, 2, 4), np.float32))
    net(x)
    quiet = net.get_func_graph_proto()
    with SummaryRecord(str(tmp_path)) as record:
        net(x)
        record.record(1)
    net(x)
    assert "callback" not in quiet
    result, _ = values(tmp_path)
    assert set(result) == {"mean", "out"}


class InLoop(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scalar = ops.ScalarSummary()

    def construct(self, x, n):
        i = Tensor(0)
        while i < n:
            x = x * 2
            self.scalar("x", x)
            i = i + 1
        if x > 100:
            self.scalar("large", x)
        return x


@pytest.mark.parametrize("mode", MODES)
def test_of_a_loop_the_last_round_is_stored_and_of_branches_the_one_that_runs(mode, tmp_path):
    context.set_context(mode=mode)
    net = InLoop()
    with SummaryRecord(str(tmp_path)) as record:
        for step, start in ((1, 1.0), (2, 50.0)):
            net(Tensor(start), Tensor(3)).asnumpy()
            record.record(step)
    assert values(tmp_path)[0] == {"x": {1: 8.0, 2: 400.0}, "large": {2: 400.0}}


def test_values_by_hand_filters_modes_and_what_comes_after_the_end(tmp_path):
    with SummaryRecord(str(tmp_path), export_options={"tensor_format": "npy"}) as record:
        record.add_value("scalar", "a", Tensor([2], ms.int32))
        record.add_value("tensor", "t/x", Tensor([[1.5, 2]], ms.float16))
        record.add_value("eval_lineage", "eval_lineage", {"metric": "{}"})
        assert record.record(1)
        record.add_value("scalar", "a", Tensor(3.0))
        record.add_value("histogram", "h", Tensor([1.0]))
        record.record(2, plugin_filter=lambda plugin: plugin != "scalar")
        record.flush()
        assert os.path.basename(record.log_dir).startswith("events.out.events.summary.")
        for wrong in ("1", 1.0, True):
            with pytest.raises(ValueError, match="step"):
                record.record(wrong)
        with pytest.raises(ValueError, match="No such plugin"):
            record.add_value("film", "a", Tensor(1))
        with pytest.raises(TypeError, match="TrainLineage"):
            record.add_value("train_lineage", "a", 3)
        with pytest.raises(ValueError, match="recognized"):
            record.set_mode("predict")
    assert record.record(3) is False
    result, _ = values(tmp_path)
    assert result["a"] == {1: 2.0}
    np.testing.assert_array_equal(result["t/x"][1], np.float16([[1.5, 2]]))
    assert set(result) == {"a", "t/x", "h"}
    assert lineage(tmp_path) == {"eval_lineage": {"metric": "{}"}}
    assert [p.name for p in tmp_path.glob("export_*/tensor/*.npy")] == ["t%2Fx_1.npy"]


def test_histograms_and_images_of_odd_numbers():
    odd = histogram(np.array([1, 2, 4, np.nan, np.inf, -np.inf, -3], np.float32))
    assert (odd.count, odd.nan_count, odd.pos_inf_count, odd.neg_inf_count, odd.min, odd.max) == (7, 1, 1, 1, -3, 4)
    assert odd.counts.tolist() == [1, 3]
    same = histogram(np.full(6, 3))
    assert same.edges.tolist() == [2.5, 2.5 + 1 / 3, 2.5 + 2 / 3, 3.5] and same.counts.sum() == 6
    assert histogram(np.full(3, np.nan)).counts.size == 0
    many = histogram(np.arange(5000.0))
    assert len(many.counts) == 90 and many.counts.sum() == 5000 and many.counts.min() >= 55
    for hard in (np.float32([1, np.nextafter(np.float32(1), 2)]), np.float32([-3e38, 3e38]), np.array([0, 5e-324])):
        result = histogram(np.repeat(hard, 50))
        assert result.counts.sum() == 100 and result.counts[0] >= 50 and (np.diff(result.edges) >= 0).all()
    assert image("x", np.zeros((2, 4, 3, 3))) is None
    assert image("x", np.full((9, 1, 2, 3), np.nan)).width == 24


@pytest.mark.parametrize("number", (1e10, -2.5e18, 1e-40, 0.0))
def test_numbers_that_are_all_alike_lie_in_the_middle_part(number):
    assert histogram(np.full(100, number, np.float32)).counts.tolist() == [0] * 5 + [100] + [0] * 5


@pytest.mark.parametrize("size", (70_000, 200_001))  # several pieces, and one that has no pairs
@pytest.mark.parametrize("power", (0, -140, 127, -1060, 1023))  # the least and the largest that the types have, too
def test_a_long_array_is_counted_as_number_by_number(size, power):
    dtype = np.float32 if abs(power) < 150 else np.float64
    numbers = np.random.RandomState(size).randint(-900, 901, size)
    numbers[:2] = -900, 900
    result = histogram(np.ldexp(numbers.astype(dtype) / 1024, power).astype(dtype))
    if power == 0:  # smaller ones have fewer digits, and lie elsewhere
        assert result.counts.tolist() == np.histogram(numbers, 90, (-900, 900))[0].tolist()
        assert result.sum == pytest.approx(numbers.sum() / 1024)
    assert result.counts.sum() == size and result.edges[0] == result.min and result.edges[-1] == result.max
    assert np.isfinite(result.edges).all() and (np.diff(result.edges) >= 0).all()


@given(st.lists(arrays(np.float32, st.integers(0, 300), elements=st.floats(width=32)), min_size=2, max_size=5))
def test_short_arrays_are_counted_together_as_each_by_itself(some):
    for array, together in zip(some, histograms(some), strict=True):
        alone = histogram(array)
        assert together.counts.tolist() == alone.counts.tolist()
        assert (together.min, together.max, together.count) == (alone.min, alone.max, alone.count)
        assert together.nan_count + together.pos_inf_count == alone.nan_count + alone.pos_inf_count
        largest = max(abs(alone.min), abs(alone.max))
        assert np.isclose(together.sum, alone.sum, rtol=0, atol=1e-12 * largest * array.size)
        np.testing.assert_allclose(together.edges, alone.edges, rtol=0, atol=1e-15 * largest)


@pytest.mark.parametrize("colours", (1, 3))
def test_a_picture_is_stored_pixel_by_pixel(colours):
    pictures = np.random.RandomState(0).randint(0, 256, (9, colours, 4, 5)).astype(np.uint8)
    picture = image("x", pictures)
    opened = Image.open(io.BytesIO(picture.png))
    pixels = np.asarray(opened).reshape(8, 40, colours)
    assert (opened.mode, picture.height, picture.width, picture.colorspace) == (
        "L" if colours == 1 else "RGB",
        8,
        40,
        colours,
    )
    for n, one in enumerate(pictures):
        there = pixels[n // 8 * 4 :, n % 8 * 5 :][:4, :5]
        np.testing.assert_array_equal(there, one.transpose(1, 2, 0))
    assert not pixels[4:, 5:].any()


def test_a_disk_that_is_full_ends_the_recording_with_one_line(tmp_path, monkeypatch, caplog):
    file = EventFile(tmp_path / "a")
    file.append(b"first")
    file.flush()
    write, room = os.write, [40]

    def full(descriptor, data):
        if not room[0]:
            raise OSError(28, "No space left on device")
        written = write(descriptor, bytes(data)[: min(room[0], 7)])
        room[0] -= written
        return written

    monkeypatch.setattr(os, "write", full)
    for text in (b"second", b"third", b"fourth"):  # the disk has room for one record and a half
        file.append(text)
    with pytest.raises(OSError, match="No space"):
        file.flush()
    file.append(b"nothing comes of this")
    file.close()
    assert [bytes(payload) for payload, _ in records(tmp_path / "a")] == [b"first", b"second"]
    assert (tmp_path / "a").stat().st_size == 2 * 16 + 11


def test_a_record_of_a_folder_that_has_one_writes_a_file_of_its_own(tmp_path):
    for value in (1, 2):
        with SummaryRecord(str(tmp_path)) as record:
            for step in (1, 2):
                record.add_value("scalar", "loss", Tensor(value, ms.float32))
                record.record(step)
    assert len(list(tmp_path.glob("*_MS"))) == 2
    assert Run(tmp_path).scalar("loss").values.tolist() == [2, 2]  # what is resumed replaces, at whatever pace


def test_a_file_keeps_to_its_largest_size(tmp_path):
    with SummaryRecord(str(tmp_path), max_file_size=300) as record:
        for step in range(50):
            record.add_value("scalar", "a", Tensor(float(step)))
            record.record(step)
    assert 0 < os.path.getsize(record.log_dir) <= 300
    assert 0 < len(values(tmp_path)[0]["a"]) < 10
