"""A run that is recorded: what it holds, how it ends, and what a crash leaves of it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, nn
from msnb import dataset as ds
from msnb.formats import run_file, summary_events
from msnb.insight.runs import Run
from msnb.train import Model
from msnb.train.summary import _system


def read_description(folder):
    return json.loads((Path(folder) / "run.json").read_text())


def scalars(folder):
    """Return {tag: [(step, value)]} of the event files of a folder."""
    results = {}
    for path in sorted(Path(folder).glob("*_MS")):
        for event, _ in summary_events.events(path):
            for tag, number in zip(event.tags, event.scalars.tolist(), strict=True):
                if not tag.startswith("system/"):  # a slow machine is looked at
                    results.setdefault(tag, []).append((event.step, number))
    return results


def test_a_loop_is_recorded(tmp_path):
    with ms.record("first", tmp_path, config={"lr": 0.5}) as run:
        assert read_description(run.folder)["state"] == "running"
        for step in range(3):
            run.log({"loss": 1 / (step + 1), "train": {"acc": Tensor(step * 1.0)}})
        run.log({"late": np.float32(2)}, step=10)
        run.config["batch"] = 4
        run.histogram("w", np.arange(10.0))
        run.image("x", np.zeros((1, 3, 2, 2), np.uint8), step=11)
        with pytest.raises(TypeError, match="'text' should be a number"):
            run.log({"text": "a"})
    assert scalars(run.folder) == {
        "loss": [(0, 1.0), (1, 0.5), (2, pytest.approx(1 / 3))],
        "train/acc": [(0, 0.0), (1, 1.0), (2, 2.0)],
        "late": [(10, 2.0)],
    }
    end = read_description(run.folder)
    assert end["state"] == "finished" and end["ended"] >= end["started"]
    assert end["config"] == {"lr": 0.5, "batch": 4}
    assert end["summary"]["late"] == 2.0
    assert end["pid"] == os.getpid() and end["versions"]["msnb"]
    with pytest.raises(RuntimeError, match="has ended"):
        run.log({"loss": 1})


def test_how_it_ends_and_names(tmp_path):
    for error, state in ((ValueError, "failed"), (KeyboardInterrupt, "interrupted")):
        with pytest.raises(error), ms.record("same", tmp_path) as run:
            raise error
        assert read_description(run.folder)["state"] == run.state == state
    assert run.name == "same-2"
    with ms.record("same", tmp_path, resume=True) as again:
        again.config["deep"] = {"list": [1.5, float("-inf")]}
        again.log({"x": float("nan"), "y": 1.0}, 3)
    assert again.name == "same" and read_description(again.folder)["summary"] == {"x": None, "y": 1.0}
    unmarked = read_description(again.folder)
    result = run_file.read(json.dumps(unmarked))
    unmarked.pop("not_finite")
    assert "not_finite" not in result and np.isnan(result["summary"]["x"]) and result["summary"]["y"] == 1.0
    assert result["config"]["deep"] == {"list": [1.5, float("-inf")]} and np.isnan(Run(again.folder).summary["x"])
    for mark in (
        3,
        [],
        ["NaN"],
        ["name", "x", "NaN"],
        ["summary", "y", "NaN"],
        ["no", 3, "NaN"],
        ["summary", "x", "7"],
    ):
        assert run_file.read(json.dumps({**unmarked, "not_finite": [mark]})) == unmarked
    for wrong in ("", "..", "a/b", 3):
        with pytest.raises(ValueError, match="name of a folder"):
            ms.record(wrong, tmp_path)


def test_model_train_and_fit_record_themselves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.RandomState(0)
    columns = random.rand(8, 1, 2, 4).astype(np.float32), random.randint(0, 3, 8).astype(np.int32)
    data = ds.NumpySlicesDataset(columns, shuffle=False).batch(2)
    net = nn.SequentialCell(nn.Flatten(), nn.Dense(8, 3))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(net, loss, nn.Momentum(net.trainable_params(), 0.1, 0.9), metrics={"acc": nn.Accuracy()})
    model.train(1, data, record="plain", display=False)
    model.fit(2, data, data, record="fitted", display=False)
    assert [step for step, _ in scalars("runs/plain")["loss"]] == [0, 1, 2, 3]
    assert [step for step, _ in scalars("runs/fitted")["eval/acc"]] == [3, 7]
    assert read_description("runs/plain")["state"] == read_description("runs/fitted")["state"] == "finished"
    with ms.record("mine") as run:
        model.train(1, data, record=run, display=False)
        assert run.state == "running"
        model.train(1, data, record=run, display=False)
    assert [step for step, _ in scalars("runs/mine")["loss"]] == list(range(8))
    with pytest.raises(TypeError, match="'record' should be True"):
        model.train(1, data, record=3, display=False)


def test_a_disk_that_fills_up_does_not_end_the_training(tmp_path, monkeypatch):
    with ms.record("full", tmp_path) as run:
        run.log({"a": 1.0})
        run.flush()

        def full(*_, **__):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            patch.setattr("msnb.train.recording.writing", full)
            for _ in range(3):
                run.log({"a": 2.0})
                run.config["b"] = 1
            run.flush()
            run.finish()
    assert scalars(run.folder) == {"a": [(0, 1.0)]}
    assert read_description(run.folder)["state"] == "running"


def test_tensorboards_form_says_the_same(tmp_path):
    with ms.record("board", tmp_path, tensorboard=True) as run:
        run.log({"loss": 0.5})
        run.histogram("w", np.arange(10.0))
    (path,) = run.folder.glob("events.out.tfevents.*")
    data = path.read_bytes()
    assert b"brain.Event:2" in data and b"loss" in data


WRITER = """
import sys
import msnb
run = msnb.record("killed", sys.argv[1])
step = 0
while True:
    run.log({"a": float(step), "b": -float(step)}, step)
    if step % 50 == 0:
        run.histogram("h", [float(step), 1.0], step)
        run.flush()
        print(step, flush=True)
    step += 1
"""


def test_a_run_that_was_killed_opens_with_all_that_was_flushed(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    try:
        for flushed in process.stdout:
            if int(flushed) >= 200:
                break
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    result = scalars(tmp_path / "killed")["a"]
    assert len(result) > 200 and result == [(step, float(step)) for step in range(len(result))]
    assert read_description(tmp_path / "killed")["state"] == "running"


def test_memory_and_busy_cores_are_looked_at_now_and_then(monkeypatch):
    clock = iter([0.0, 1.0, 3.0, 4.0])
    monkeypatch.setattr(_system.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(_system.time, "process_time", iter([0.0, 1.5]).__next__)
    system = _system.System()
    assert system.look() == {}
    result = system.look()
    assert result["system/CPU cores"] == 0.5 and result.get("system/memory MB", 1) > 0
    assert system.look() == {}
