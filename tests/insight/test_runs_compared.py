"""Many runs: found, tabled, marked, deleted; what matters, and how two of them differ."""

import json
import math
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from msnb.insight.runs import Difference, Runs, Table
from msnb.insight.runs.difference import thinned
from msnb.insight.runs.importance import importance
from msnb.notebook.runs.payload import of_runs

GOLDEN = Path(__file__).parents[1] / "golden" / "summaries"  # what MindSpore's SummaryCollector wrote


def run(folder, name, config=(), summary=(), **more):
    """Return a run's folder as the recorder leaves it."""
    path = folder / name
    path.mkdir(parents=True)
    description = {"format": 1, "name": name, "id": name, "started": 1.0, "ended": 9.0, "state": "finished"}
    description |= {"config": dict(config), "summary": dict(summary), **more}
    (path / "run.json").write_text(json.dumps(description), encoding="utf-8")
    return path


def mindspore(folder, name="mindspore"):
    path = folder / name
    path.mkdir(parents=True)
    for suffix, called in (
        ("_MS", "10.host_MS"),
        ("_lineage", "10.host_MS_lineage"),
        ("_eval_lineage", "11.host_MS_lineage"),
    ):
        shutil.copy(GOLDEN / f"collector{suffix}", path / f"events.summary.{called}")
    return path


@pytest.fixture
def folder(tmp_path):
    run(tmp_path, "a", {"lr": 0.1, "optimizer": {"name": "sgd"}}, {"loss": 2.0}, started=3.0)
    run(tmp_path, "study/b", {"lr": 0.001}, {"loss": math.nan, "accuracy": 0.5}, started=2.0)
    (tmp_path / "a" / "checkpoints" / "inner").mkdir(parents=True)
    (tmp_path / "notes").mkdir()
    return tmp_path


# ---------------------------------------------------------------------- found and read
def test_runs_are_listed_at_any_depth_in_the_order_in_which_they_began(folder):
    runs = Runs(folder)
    assert runs.names == ["study/b", "a"] and "2 finished" in repr(runs)
    assert runs["a"].config["lr"] == 0.1
    with pytest.raises(KeyError, match="no run 'c'"):
        runs["c"]


def test_what_comes_grows_and_goes_is_seen(folder):
    runs = Runs(folder)
    assert not runs.refresh()
    run(folder, "c", {"lr": 0.2})
    assert runs.refresh() and len(runs) == 3
    run_json = folder / "c" / "run.json"
    run_json.write_text(json.dumps({"format": 1, "config": {"lr": 0.25, "seed": 7}}))
    assert runs.refresh() and runs.table()["seed"].values[runs.names.index("c")] == 7
    shutil.rmtree(folder / "c")
    assert runs.refresh() and len(runs) == 2 and not runs.refresh()


def test_settings_within_settings_have_dotted_names_and_what_a_run_lacks_is_none(folder):
    table = Runs(folder).table()
    assert table["optimizer.name"].values == [None, "sgd"] and table["lr"].values == [0.001, 0.1]
    assert math.isnan(table["loss"].values[0]) and table["accuracy"].values == [0.5, None]
    assert table["lr"].varies and table["lr"].number and not table["optimizer.name"].number
    with pytest.raises(KeyError, match="they have lr"):
        table["rate"]


def test_what_mindspore_recorded_is_a_run_with_its_lineage(tmp_path):
    mindspore(tmp_path)
    table = Runs(tmp_path).table()
    row = table.rows()[0]
    assert row["run"] == "mindspore" and row["optimizer"] == "Momentum" and row["learning_rate"] == 0.1
    assert row["acc"] == 0.375 and row["Batch.batch_size"] == 4
    assert table["acc"].group == "metric" and table["Batch.batch_size"].group == "data"
    assert table["loss"].group == "metric"


def test_a_run_that_cannot_be_read_spoils_no_other(folder):
    broken = folder / "broken"
    broken.mkdir()
    (broken / "run.json").write_text("{")
    (broken / "events.summary.1.host_MS_lineage").write_bytes(b"\xff" * 40)
    table = Runs(folder).table()
    assert len(table) == 3 and table["lr"].values[table.names.index("broken")] is None


def test_where_no_runs_are_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        Runs(tmp_path / "nothing")
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="is a file"):
        Runs(tmp_path / "file")


def test_the_target_is_the_metric_of_most_runs_and_its_name_says_which_way_is_better():
    table = Table.of(["a", "b"], [{}, {}], [{}, {}], [{"loss": 1.0, "val_acc": 0.5}, {"loss": 2.0, "val_acc": 0.7}])
    assert table.target() == "val_acc" and table.best("val_acc") == "b" and table.best("loss") == "a"
    assert table.best("loss", "maximize") == "b"


def test_an_axis_is_logarithmic_where_values_crowd_at_the_lower_end():
    def column(values):
        return Table.of(list(map(str, values)), [{"x": v} for v in values], [{}] * len(values), [{}] * len(values))["x"]

    assert column([1e-4, 1e-3, 1e-2, 1e-1]).logarithmic
    assert not column([1, 50, 60, 100]).logarithmic and not column([-1e-4, 1e-3, 1.0]).logarithmic


# ---------------------------------------------------------------------- marked and deleted
def test_marks_stand_beside_the_runs_and_two_readers_keep_each_others(folder):
    first, second = Runs(folder), Runs(folder)
    before = (folder / "a" / "run.json").read_text()
    first.marks.set("a", star=True, note="<b>best</b>")
    second.marks.set("study/b", hidden=True)
    first.refresh()
    assert first.marks.of("a") == {"star": True, "hidden": False, "note": "<b>best</b>"}
    assert first.marks.of("study/b")["hidden"] and (folder / "a" / "run.json").read_text() == before
    first.marks.set("a", star=False, note="")
    assert "a" not in json.loads((folder / ".msnb_runs.json").read_text())["runs"]
    with pytest.raises(TypeError, match="star"):
        first.marks.set("a", star="yes")


def test_marks_that_cannot_be_read_are_left_alone(folder):
    (folder / ".msnb_runs.json").write_text('{"format": 9}')
    runs = Runs(folder)
    assert "cannot" in runs.marks.problem or "can read" in runs.marks.problem
    with pytest.raises(OSError, match="Rename it"):
        runs.marks.set("a", star=True)
    assert (folder / ".msnb_runs.json").read_text() == '{"format": 9}'


def test_deleted_runs_are_gone_with_their_marks_and_nothing_else_is(folder):
    runs = Runs(folder)
    runs.marks.set("a", star=True)
    runs.delete("a")
    assert not (folder / "a").exists() and runs.names == ["study/b"] and (folder / "notes").exists()
    assert json.loads((folder / ".msnb_runs.json").read_text())["runs"] == {}


@pytest.mark.parametrize("name, why", [("running", "still running"), ("outer", "another run"), (".", "another run")])
def test_what_must_not_be_deleted_stays_and_so_do_the_others(folder, name, why):
    run(folder, "running", state="running", pid=1, host="elsewhere")
    run(folder, "outer")
    run(folder, "outer/inner")
    run(folder, ".kept" if name == "." else "more")
    if name == ".":
        (folder / "run.json").write_text("{}")
    runs = Runs(folder)
    with pytest.raises(ValueError, match=why):
        runs.delete("a", name)
    assert (folder / "a").exists() and "a" in runs


def test_a_link_to_a_run_is_not_followed_by_deleting(folder, tmp_path_factory):
    other = run(tmp_path_factory.mktemp("other"), "far")
    (folder / "link").symlink_to(other)
    runs = Runs(folder)
    assert "link" in runs
    with pytest.raises(ValueError, match="by hand"):
        runs.delete("link")
    assert (other / "run.json").exists()


# ---------------------------------------------------------------------- what matters
def trials(many, seed=0):
    """Runs whose accuracy has its optimum in the middle of lr, another one for each optimizer, and no use for width."""
    random = np.random.default_rng(seed)
    settings, metrics = [], []
    for _ in range(many):
        optimizer = ("adam", "sgd")[random.integers(2)]
        rate = random.uniform(-5, 0)
        settings.append({"lr": 10**rate, "optimizer": optimizer, "width": int(random.integers(1, 9)), "epochs": 3})
        if optimizer == "sgd":
            settings[-1]["momentum"] = random.uniform(0, 1)
        best = {"adam": -4, "sgd": -1.5}[optimizer]
        metrics.append({"accuracy": 1 - 0.05 * (rate - best) ** 2 + 0.01 * random.normal()})
    return Table.of([f"t{i}" for i in range(many)], settings, [{}] * many, metrics)


def test_the_settings_that_matter_come_first_and_those_that_do_not_weigh_nothing():
    importances = importance(trials(120))
    assert (
        [row.name for row in importances.rows[:2]] == ["lr", "optimizer"]
        and importances.explained > 0.6
        and not importances.note
    )
    shares = {row.name: row.share for row in importances.rows}
    assert shares["width"] < 0.05 and "epochs" not in shares and math.isclose(sum(shares.values()), 1)
    assert (
        repr(importances).startswith("What matters for accuracy, by 120 runs")
        and importances.as_dict()["rows"][0]["name"] == "lr"
    )


def test_a_logarithm_of_a_setting_changes_nothing_and_the_same_seed_gives_the_same():
    table = trials(60)
    other = Table.of(
        table.names,
        [{**row, "lr": math.log10(row["lr"])} for row in _settings(table)],
        [{}] * 60,
        [{"accuracy": v} for v in table["accuracy"].values],
    )
    assert importance(table).as_dict()["rows"] == importance(other).as_dict()["rows"]


def _settings(table):
    return [
        {c.name: c.values[at] for c in table.of_group("setting") if c.values[at] is not None}
        for at in range(len(table))
    ]


@pytest.mark.parametrize(
    "table, said",
    [
        (trials(5), "12 are needed"),
        (Table.of(["a"] * 20, [{"lr": 1}] * 20, [{}] * 20, [{"loss": float(i)} for i in range(20)]), "do not differ"),
        (Table.of(["a"] * 20, [{"lr": i} for i in range(20)], [{}] * 20, [{"loss": 1.0}] * 20), "in all of these runs"),
    ],
)
def test_where_nothing_can_be_said_of_what_matters_that_is_said(table, said):
    importances = importance(table)
    assert not importances.rows and said in importances.note and said in repr(importances)


def test_what_is_learned_from_noise_says_that_it_is():
    random = np.random.default_rng(1)
    table = Table.of(
        [str(i) for i in range(80)],
        [{"x": float(random.random()), "y": float(random.random())} for _ in range(80)],
        [{}] * 80,
        [{"loss": float(random.random())} for _ in range(80)],
    )
    assert "do not believe" in importance(table).note


def test_what_is_no_metric_or_run_is_refused():
    with pytest.raises(KeyError, match="no 'speed'"):
        importance(trials(20), "speed")
    with pytest.raises(KeyError, match="no run 'x'"):
        importance(trials(20), among=["x"])
    with pytest.raises(ValueError, match="is no number"):
        importance(trials(20), "optimizer")


# ---------------------------------------------------------------------- two runs
def test_two_runs_differ_in_settings_code_and_graph(tmp_path):
    first = mindspore(tmp_path, "first")
    run(tmp_path, "second", {"learning_rate": 0.2}, {"loss": 1.0}, code={"In [1]": "a = 1\nb = 2"})
    run(tmp_path, "third", {"learning_rate": 0.2}, {"loss": 3.0}, code={"In [1]": "a = 1\nb = 3"})
    runs = Runs(tmp_path)
    difference = runs.difference("second", "third")
    assert [(c.name, c.first, c.second) for c in difference.changes] == [("loss", 1.0, 3.0)] and difference.same == 1
    assert "-b = 2" in difference.code and "+b = 3" in difference.code and difference.graph is None
    assert "metric loss: 1.0, 3.0" in repr(difference)
    alike = Difference(runs["first"], runs["first"], ("x", "y"))
    assert not alike.changes and alike.code is None
    assert alike.graph.counts()["same"] == len(alike.graphs["x"]) > 5 and first.exists()


def test_a_thinned_curve_keeps_its_least_and_its_largest():
    steps = np.arange(10_000)
    values = np.sin(steps / 500)
    values[1234], values[4321], values[7777] = 9.0, -9.0, np.nan
    at, extremes = thinned(steps, values, 200)
    assert len(at) <= 210 and np.nanmax(extremes) == 9 and np.nanmin(extremes) == -9 and (np.diff(at) > 0).all()


def test_two_threads_that_look_at_a_folder_see_complete_tables(tmp_path):
    runs, ended, faults = Runs(tmp_path), threading.Event(), []

    def look():
        while not ended.is_set():
            runs.refresh()
            try:
                tables = of_runs(runs)
                faults.extend(c["key"] for c in tables["columns"] if len(c["values"]) != len(tables["names"]))
            except Exception as error:
                faults.append(repr(error))

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(120):
        run(tmp_path, f"r{number}", {"lr": number}, {"loss": 1})
        if number % 3 == 2:
            shutil.rmtree(tmp_path / f"r{number - 1}")
    ended.set()
    for thread in threads:
        thread.join()
    assert not faults and (runs.refresh(), len(runs))[1] == 80
