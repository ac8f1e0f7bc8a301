"""A run read back: from files as MindSpore writes them, while they are written, and from files that are broken."""

import json
import os
import platform
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from msnb.formats.crc32c import masked_crc32c
from msnb.formats.protobuf import encode, varint
from msnb.formats.summary_events import Histogram, Image, summary_event
from msnb.formats.summary_tensors import SCHEMA
from msnb.insight.runs import Run
from msnb.notebook.dashboard import payload
from msnb.notebook.graph import GraphView

GOLDEN = Path(__file__).parents[1] / "golden" / "summaries"
FILE = "events.out.events.summary.1700000000.0.here_MS"


def part(number, body):
    return varint(number << 3 | 2) + varint(len(body)) + body


def number(tag, value):
    return part(1, part(1, tag.encode()) + b"\x1d" + struct.pack("<f", value))


def event(step, *values, time=1.7e9, field=5):
    return b"\x09" + struct.pack("<d", time + step) + b"\x10" + varint(step) + part(field, b"".join(values))


def record(body):
    length = struct.pack("<Q", len(body))
    return length + struct.pack("<I", masked_crc32c(length)) + body + struct.pack("<I", masked_crc32c(body))


def write_run(folder, *bodies, name=FILE):
    folder.mkdir(exist_ok=True)
    with open(folder / name, "ab") as file:
        file.write(b"".join(map(record, bodies)))
    return folder


def steps_of(run, tag="loss"):
    return run.scalar(tag).steps.tolist()


def test_scalars_are_those_that_were_written_in_whatever_mixture(tmp_path):
    rng, expected, bodies = np.random.default_rng(3), {}, []
    for step in [*range(1, 40), *range(120, 180), *range(16380, 16390)]:  # steps of one, two and three bytes
        tags = [["loss"], ["loss", "accuracy"], ["a/b"]][rng.integers(3)]
        row = {tag: float(np.float32(rng.normal())) for tag in tags}
        for tag, value in row.items():
            expected.setdefault(tag, []).append((step, 1.7e9 + step, value))
        bodies.append(event(step, *(number(*pair) for pair in row.items())))
    run = Run(write_run(tmp_path / "r", *bodies))
    assert set(run.tags["scalar"]) == set(expected) and not run.problems
    for tag, rows in expected.items():
        assert list(zip(*run.scalar(tag), strict=True)) == rows
    assert run.summary == {tag: rows[-1][2] for tag, rows in expected.items()}


def test_what_is_appended_comes_with_the_next_refresh_and_a_torn_record_when_it_is_complete(tmp_path):
    folder = write_run(tmp_path / "r", event(1, number("loss", 1)))
    run = Run(folder)
    assert steps_of(run) == [1] and run.refresh() is False
    data = record(event(2, number("loss", 0.5)))
    for at in range(len(data) - 1):
        with open(folder / FILE, "ab") as file:
            file.write(data[at : at + 1])
        run.refresh()
        assert steps_of(run) == [1] and not run.problems
    with open(folder / FILE, "ab") as file:
        file.write(data[-1:])
    assert run.refresh() is True and steps_of(run) == [1, 2]


def test_a_broken_record_is_left_out_and_a_broken_length_ends_the_file(tmp_path):
    bodies = [event(step, number("loss", step)) for step in (1, 2, 3)]
    long = len(record(bodies[0]))
    data = bytearray(b"".join(map(record, bodies)))
    for at, left in ((long + 20, [1, 3]), (long + 3, [1]), (2 * long + 9, [1, 2])):
        broken = bytearray(data)
        broken[at] ^= 64
        folder = tmp_path / str(at)
        folder.mkdir()
        (folder / FILE).write_bytes(broken)
        run = Run(folder)
        assert steps_of(run) == left and len(run.problems) == 1 and FILE in run.problems[0]
        assert not run.refresh()


def test_records_that_are_no_events_give_a_sentence(tmp_path):
    hostile = [b"\xff" * 9, b"\x0a\xff\x01", event(1, part(1, part(9, b"\x0a\x7f"))), b"\x10" + b"\xff" * 11]
    run = Run(write_run(tmp_path / "r", *hostile, event(2, number("loss", 2))))
    assert steps_of(run) == [2] and run.problems
    assert all(run.histograms(tag) == [] for tag in run.tags["histogram"])


def test_a_resumed_training_takes_the_place_of_what_it_repeats(tmp_path):
    folder = write_run(tmp_path / "r", *(event(step, number("loss", 1)) for step in range(1, 8)))
    later = FILE.replace("1700000000", "1700000900")
    write_run(folder, *(event(step, number("loss", 2)) for step in range(5, 10)), name=later)
    run = Run(folder)
    assert steps_of(run) == list(range(1, 10)) and run.scalar("loss").values.tolist() == [1] * 4 + [2] * 5


def test_what_another_tag_had_behind_the_step_of_a_resumption_goes_too(tmp_path):
    def both(step, value):
        return event(step, number("loss", value), number("rate", value))

    folder = write_run(tmp_path / "r", *(both(step, 1) for step in range(1, 8)), event(6, number("eval", 1)))
    Run(folder)
    later = FILE.replace("1700000000", "1700000900")
    write_run(
        folder, *(event(step, number("loss", 2)) for step in range(5, 8)), event(9, number("rate", 2)), name=later
    )
    run = Run(folder)
    assert steps_of(run) == list(range(1, 8)) and run.scalar("rate").steps.tolist() == [1, 2, 3, 4, 9]
    assert "eval" not in run.tags["scalar"]
    beside = FILE.replace("1700000000", "1700001000")
    write_run(folder, *(event(step, number("accuracy", 1)) for step in (1, 2)), name=beside)
    assert run.refresh() and steps_of(run) == list(range(1, 8))  # tags that no other has replace nothing


def test_a_file_that_was_written_anew_is_read_anew(tmp_path):
    folder = write_run(tmp_path / "r", *(event(step, number("loss", 1)) for step in range(1, 8)))
    run = Run(folder)
    assert len(steps_of(run)) == 7
    (folder / FILE).unlink()
    write_run(folder, event(1, number("loss", 3)))
    assert run.refresh() and run.scalar("loss").values.tolist() == [3]


def test_images_histograms_and_tensors_are_read_when_asked_for(tmp_path):
    edges, counts = np.array([-1.0, 0.0, 2.0]), np.array([4, 6])
    values = [
        ("pic", "image", Image(2, 3, 3, b"png")),
        ("w", "histogram", Histogram(edges, counts, -1.0, 2.0, 5.0, 11, 1)),
        ("t", "tensor", np.arange(4, dtype=np.float32).reshape(2, 2)),
        ("loss", "scalar", 1.0),
    ]
    tensor = encode(SCHEMA, "TensorProto", {"dims": [3, 2], "data_type": 11, "raw_data": bytes(16)})
    wrong = event(8, part(1, part(1, b"t") + part(8, tensor)))
    run = Run(write_run(tmp_path / "r", summary_event(1.7e9, 7, values), wrong))
    (picture,), (result,), (array,) = run.images("pic"), run.histograms("w"), run.tensors("t")
    assert (picture.step, picture.png, picture.width, picture.height) == (7, b"png", 3, 2)
    assert (
        result.edges.tolist() == [-1, 0, 2]
        and result.counts.tolist() == [4, 6]
        and (result.nan, result.mean) == (1, 0.5)
    )
    assert array.array.tolist() == [[0, 1], [2, 3]] and steps_of(run) == [7]
    assert "is damaged" in run.problems[0]


def test_what_mindspore_wrote_is_read_with_graphs_and_lineage(tmp_path):
    for number, name in enumerate(("collector_MS", "collector_lineage", "collector_eval_lineage")):
        shutil.copy(GOLDEN / name, tmp_path / f"events.out.events.summary.{1700000000 + number}.0.{name}")
    run = Run(tmp_path)
    assert run.tags["graph"] and not run.problems and run.state == "finished"
    assert run.lineage["train"]["batch_size"] == 4 and run.config["rate"] == 0.1
    assert "acc" in run.lineage["eval"]["metric"]
    graph, data = run.graph(), run.dataset_graph()
    assert {"MatMul", "BiasAdd"} <= {node.op for node in graph.nodes} and graph.parameters
    assert any(node.scope.endswith("fc-Dense") for node in graph.nodes)
    batch, source = data.nodes[-1], data.nodes[0]
    assert batch.op.startswith("Batch") and batch.attrs["batch_size"] == 4 and source in batch.inputs
    for each in (graph, data):
        assert GraphView(each).payload
    for kind, read in (("image", run.images), ("histogram", run.histograms), ("tensor", run.tensors)):
        assert run.tags[kind] and all(read(tag) for tag in run.tags[kind]), kind


def test_run_json_says_what_the_run_is_and_a_dead_process_interrupts_it(tmp_path):
    folder = write_run(tmp_path / "r", event(1, number("loss", 1)))
    said = {"name": "first", "id": "a1", "started": 5.0, "ended": None, "state": "running", "config": {"lr": 0.1}}
    said |= {"host": platform.node(), "pid": os.getpid(), "summary": {"loss": 9.0}}
    (folder / "run.json").write_text(json.dumps(said))
    run = Run(folder)
    assert (run.name, run.id, run.started, run.ended, run.state) == ("first", "a1", 5.0, None, "running")
    assert run.config == {"lr": 0.1} and run.summary == {"loss": 9.0}, "a table of runs reads no event file"
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (folder / "run.json").write_text(json.dumps({**said, "pid": gone.pid}))
    assert run.refresh() and run.state == "interrupted"
    (folder / "run.json").write_text("{")
    assert not run.refresh() and "run.json" in run.problems[0] and run.name == "first"


def test_times_and_edges_that_are_no_numbers_reach_no_view_as_such(tmp_path):
    wide = Histogram(np.array([-1e307, 1e307]), np.array([3]), -1e307, 1e307, 0.0, 3)
    bodies = [summary_event(time, 1, [("w", "histogram", wide)]) for time in (float("nan"), float("inf"))]
    run = Run(write_run(tmp_path / "r", *bodies))
    assert (run.started, run.ended) == (None, None) and len(run.histograms("w")) == 2
    assert b"NaN" not in (state := payload.full_state([run], "r")) and b"Infinity" not in state


def test_what_is_no_folder_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        Run(tmp_path / "nowhere")


def test_a_folder_that_is_gone_is_said_once_and_what_was_read_of_it_stays(tmp_path):
    folder = write_run(tmp_path / "r", *(event(step, number("loss", 1.0)) for step in (1, 2)))
    run = Run(folder)
    assert steps_of(run) == [1, 2]
    folder.rename(tmp_path / "elsewhere")
    assert not run.refresh() and not run.refresh()
    assert run.problems == ["the folder is gone; what was read of it before is shown"] and steps_of(run) == [1, 2]
    (tmp_path / "elsewhere").rename(folder)
    run.refresh()
    assert run.problems == [] and steps_of(run) == [1, 2]
