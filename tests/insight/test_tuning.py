"""`msnb.tune`: trials are runs, a study goes on where it was left, and what is not worth going on with ends."""

import importlib.util
import sys

import pytest
import stand_in_optuna

import msnb
from msnb.insight.runs import Runs, live_views

SPACE = {"x": (-2.0, 2.0), "many": range(2, 9, 2), "kind": ["a", "b"], "rate": (1e-4, 1e-1, "log")}


@pytest.fixture(
    params=[
        "stand-in",
        pytest.param(
            "optuna",
            marks=pytest.mark.skipif(importlib.util.find_spec("optuna") is None, reason="optuna is not installed"),
        ),
    ]
)
def optuna(request, monkeypatch):
    if request.param == "stand-in":
        monkeypatch.setitem(sys.modules, "optuna", stand_in_optuna.module())
    return sys.modules.get("optuna") or importlib.import_module("optuna")


def bowl(run):
    return (run.config["x"] - 1) ** 2


def test_each_trial_is_a_run_with_its_settings_and_its_value(optuna, tmp_path):
    tuning = msnb.tune(bowl, SPACE, 6, name="bowl", folder=tmp_path, seed=3)
    runs = Runs(tmp_path / "bowl")
    assert runs.names == [f"{i:04d}" for i in range(6)] and all(run.state == "finished" for run in runs)
    for run in runs:
        assert run.summary["value"] == pytest.approx(bowl(run), rel=1e-6)
        assert run.config["many"] in (2, 4, 6, 8) and run.config["kind"] in "ab" and 1e-4 <= run.config["rate"] <= 0.1
    assert tuning.best.summary["value"] == min(run.summary["value"] for run in runs)
    assert repr(tuning).startswith("6 trials in") and tuning.goal == "minimize" and len(tuning.study.trials) == 6


def test_a_study_goes_on_with_the_results_of_its_runs(optuna, tmp_path):
    first = msnb.tune(bowl, SPACE, 3, folder=tmp_path, seed=1)
    again = msnb.tune(bowl, SPACE, 5, folder=tmp_path, seed=2)
    assert len(again.runs) == 5 and len(again.study.trials) == 5
    assert [t.value for t in again.study.trials[:3]] == pytest.approx([t.value for t in first.study.trials], rel=1e-6)
    assert len(msnb.tune(bowl, SPACE, 5, folder=tmp_path).runs) == 5  # all are there: none is run
    again.runs.delete(again.runs.names[0])
    narrower = msnb.tune(bowl, {**SPACE, "x": (5.0, 6.0)}, 5, folder=tmp_path)
    assert (
        len(narrower.study.trials) == 1 and len(narrower.runs) == 5
    )  # the four that are left have tried what is no longer to be tried
    other = msnb.tune(bowl, {"x": [9.5, 8.5], "kind": (0.0, 1.0)}, 6, folder=tmp_path)
    assert len(other.study.trials) == 1 and len(other.runs) == 6


def test_a_trial_that_is_worse_than_the_others_is_ended(optuna, tmp_path):
    seen = []

    def slow(run):
        for step in range(4):
            seen.append(run.name)
            run.log({"val": {"loss": len(set(seen)) + step}}, step)

    tuning = msnb.tune(slow, {"x": (0.0, 1.0)}, 8, folder=tmp_path, target="val/loss", seed=1)
    states = [run.state for run in tuning.runs]
    assert states[:4] == ["finished"] * 4 and states[-1] == "interrupted" and seen.count("0007") < 4
    assert tuning.runs["0000"].summary["val/loss"] == 4 and tuning.best.name == "0000"
    again = msnb.tune(slow, {"x": (0.0, 1.0)}, 8, folder=tmp_path, target="val/loss")
    assert len(again.runs) == 8 and len(again.study.trials) == 8


def test_what_fails_ends_the_tuning_unless_it_is_to_be_caught_and_is_not_counted(optuna, tmp_path):
    def fails(run):
        if run.config["x"] < 3:
            raise FloatingPointError("diverged")

    with pytest.raises(FloatingPointError, match="diverged"):
        msnb.tune(fails, {"x": (0.0, 1.0)}, 2, folder=tmp_path)
    assert [run.state for run in Runs(tmp_path)] == ["failed"]
    tuning = msnb.tune(fails, {"x": (0.0, 1.0)}, 2, folder=tmp_path, catch=(FloatingPointError,))
    assert [run.state for run in tuning.runs] == ["failed"] * 3 and "none has a value" in repr(tuning)
    with pytest.raises(TypeError, match="did neither"):
        msnb.tune(lambda run: None, {"x": (0.0, 1.0)}, folder=tmp_path, name="other")


def test_views_of_runs_hear_of_each_trial(optuna, tmp_path):
    received = []
    undo = live_views.by(lambda runs, target, goal: lambda: received.append((len(runs), target, goal)))
    try:
        msnb.tune(bowl, SPACE, 2, folder=tmp_path, target="val_acc")
    finally:
        undo()
    assert received == [(1, "val_acc", "maximize"), (2, "val_acc", "maximize"), (2, "val_acc", "maximize")]


@pytest.mark.parametrize(
    "space", [{}, {"x": 3}, {"x": (2.0, 1.0)}, {"x": (0.0, 1.0, "log")}, {"x": (1, 2, "linear")}, {"x": []}, [("x", 1)]]
)
def test_a_space_that_says_nothing_is_refused_before_anything_is_written(optuna, tmp_path, space):
    with pytest.raises(ValueError, match="'space'"):
        msnb.tune(bowl, space, folder=tmp_path)
    assert not list(tmp_path.iterdir())


def test_without_optuna_one_sentence_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"pip install 'msnb\[tune\]'"):
        msnb.tune(bowl, SPACE, folder=tmp_path)
