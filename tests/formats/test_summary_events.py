"""Event files that MindSpore wrote are read, and what is read is written with the same bytes."""

import random
from pathlib import Path

import numpy as np
import pytest

from msnb.formats import event_records, lineage_events, summary_events
from msnb.formats.summary_graphs import TensorType, graph_from, graph_message
from msnb.formats.text_files import BadFileError

GOLDEN = Path(__file__).parent.parent / "golden" / "summaries"


def of(name):
    """Events of a golden file."""
    return [event for event, _ in summary_events.events(GOLDEN / name)]


def test_the_values_of_a_training_are_read():
    first, graph, *steps = of("collector_MS")
    assert first.version == summary_events.VERSION
    assert first.wall_time > 1.7e9
    assert {tag for event in steps for tag in event.tags} == {"loss/auto", "mean"}
    assert {(value.tag, value.kind) for event in steps for value in event.values} == {
        ("seen", "image"),
        ("out", "tensor"),
        ("out", "histogram"),
        ("input_data/auto", "image"),
        ("fc.weight/auto", "histogram"),
        ("fc.bias/auto", "histogram"),
    }
    network = graph.graph
    product = next(node for node in network.nodes if node.op == "MatMul")
    assert product.scope.endswith("fc-Dense")
    assert product.type == TensorType("float32", (4, 3))
    assert network.parameters["fc.weight"] == TensorType("float32", (3, 8))
    assert set(product.inputs) <= {node.name for node in network.nodes} | set(network.parameters) | set(
        network.constants
    )


def test_numbers_that_are_none_are_counted():
    _, first, second = of("record_MS")
    assert (first.step, second.step) == (1, 2)
    assert dict(zip(second.tags, second.scalars.tolist(), strict=True)) == {"loss": 0.25, "whole": 14.0}
    results = {value.tag: value.content for value in second.values}
    odd = results["odd"]
    assert (odd.nan_count, odd.pos_inf_count, odd.neg_inf_count, odd.count) == (1, 1, 1, 7)
    assert (odd.min, odd.max, odd.sum) == (-3, 4, 4)
    np.testing.assert_array_equal(odd.edges, [-3, 0.5, 4])
    np.testing.assert_array_equal(odd.counts, [1, 3])
    assert results["half"].dtype == np.float16
    np.testing.assert_array_equal(results["half"], [[1.5, -2]])
    assert (results["grey"].width, results["grey"].height, results["grey"].colorspace) == (9, 2, 3)
    assert results["grey"].png.startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["collector_MS", "record_MS"])
def test_what_was_read_is_written_with_the_same_bytes(name):
    """But for histograms, whose widths MindSpore rounds to float32."""
    for payload, _ in event_records.records(GOLDEN / name):
        event = summary_events.EventDecoder(name)(payload)
        if event.version:
            assert summary_events.version_event(event.wall_time) == payload
            continue
        if event.graph_body:
            assert summary_events.graph_event(event.wall_time, event.graph_body) == payload
            continue
        entries = [(tag, "scalar", float(number)) for tag, number in zip(event.tags, event.scalars, strict=True)]
        entries += [(value.tag, value.kind, value.content) for value in event.values]
        written = summary_events.summary_event(event.wall_time, event.step, entries)
        assert len(written) == len(payload)
        again = summary_events.EventDecoder(name)(written)
        assert (again.wall_time, again.step, again.tags) == (event.wall_time, event.step, event.tags)
        for new, old in zip(again.values, event.values, strict=True):
            if old.kind == "histogram":
                np.testing.assert_allclose(new.content.edges, old.content.edges, rtol=1e-6)
                np.testing.assert_array_equal(new.content.counts, old.content.counts)
            else:
                assert (new.tag, new.kind, new.body) == (old.tag, old.kind, old.body)


@pytest.mark.parametrize("name", ["collector_MS", "record_MS", "collector_lineage"])
def test_records_are_framed_as_mindspore_frames_them(name):
    result = b"".join(event_records.frame(payload) for payload, _ in event_records.records(GOLDEN / name))
    assert result == (GOLDEN / name).read_bytes()


def test_a_graph_survives_writing():
    graph = of("collector_MS")[1].graph
    again = summary_events.EventDecoder()(summary_events.graph_event(1.0, graph)).graph
    assert again.nodes == graph.nodes
    assert again.parameters == graph.parameters
    assert again.constants.keys() == graph.constants.keys()
    assert graph_from(graph_message(graph)) == graph


def test_lineage_is_read_and_written_again():
    results = {}
    for name in ("collector_lineage", "collector_eval_lineage"):
        for event, _ in lineage_events.lineage_events(GOLDEN / name):
            results[event.kind] = event.content
    assert results["custom_lineage_data"] == {"batch": 4, "rate": 0.1, "name": "first"}
    assert results["train_lineage"].items() >= {"optimizer": "Momentum", "epoch": 2, "batch_size": 4}.items()
    assert results["eval_lineage"].keys() == {"metric", "valid_dataset_size"}
    assert results["dataset_graph"]["parameter"]["op_type"] == "Batch"
    assert results["dataset_graph"]["children"][0]["parameter"]["op_type"] == "GeneratorDataset"
    for kind, content in results.items():
        payload = lineage_events.lineage_event(2.0, kind, content)
        assert lineage_events.decoded(payload) == lineage_events.LineageEvent(2.0, kind, content)


def test_a_step_like_the_last_one_is_read_the_same(tmp_path):
    decoder, numbers = summary_events.EventDecoder(), np.random.default_rng(0).normal(size=(5, 40)).astype(np.float32)
    for step, row in enumerate(numbers):
        named = [(f"group/{i}", "scalar", float(x)) for i, x in enumerate(row)]
        payload = summary_events.summary_event(1.0, step, named)
        for reader in (decoder, summary_events.EventDecoder()):
            event = reader(payload)
            np.testing.assert_array_equal(event.scalars, row)
            assert event.tags == tuple(name for name, _, _ in named)


@pytest.mark.parametrize("name", ["record_MS", "collector_lineage"])
def test_of_a_file_that_is_still_written_the_complete_records_are_read(name, tmp_path):
    data, path = (GOLDEN / name).read_bytes(), tmp_path / "part"
    ends = [end for _, end in event_records.records(GOLDEN / name)]
    for size in {*range(0, len(data), 97), *ends, *(end - 1 for end in ends), *(end + 13 for end in ends[:-1])}:
        path.write_bytes(data[:size])
        assert [end for _, end in event_records.records(path)] == [end for end in ends if end <= size]
    assert [end for _, end in event_records.records(GOLDEN / name, ends[0])] == ends[1:]


def test_each_changed_byte_is_detected(tmp_path):
    data, path = bytearray((GOLDEN / "collector_lineage").read_bytes()), tmp_path / "changed"
    for at in range(0, len(data), 5):
        data[at] ^= 16
        path.write_bytes(data)
        with pytest.raises(BadFileError, match="damaged"):
            list(event_records.records(path))
        data[at] ^= 16


@pytest.mark.parametrize("name", ["record_MS", "collector_MS", "collector_lineage"])
def test_hostile_bytes_are_read_or_refused(name):
    for number, (payload, _) in enumerate(event_records.records(GOLDEN / name)):
        for attempt in range(40):
            chance = random.Random(f"{name} {number} {attempt}")
            changed = bytearray(payload)
            for _ in range(chance.choice((1, 2, 8))):
                changed[chance.randrange(len(changed))] = chance.randrange(256)
            try:
                read_all(name, bytes(changed))
            except BadFileError as error:
                assert len(str(error)) > 10


def read_all(name, payload):
    """Decode all that a payload says."""
    if name.endswith("lineage"):
        lineage_events.decoded(payload)
        return
    event = summary_events.EventDecoder(name)(payload)
    _ = event.graph, [value.content for value in event.values]
