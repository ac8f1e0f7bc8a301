"""Conditions of `msnb.watch` as queries of recorded runs."""

import numpy as np
import pytest

import msnb
from msnb import Tensor
from msnb.insight.runs import Runs

LOSSES = {"falls": [3.0, 2.0, 1.0], "explodes": [3.0, 30.0, float("inf")], "ends": [1.0, float("nan"), float("nan")]}


@pytest.fixture
def runs(tmp_path):
    for name, losses in LOSSES.items():
        with msnb.record(name, tmp_path) as run:
            for step, loss in enumerate(losses):
                run.log({"loss": loss}, step)
                weight = np.arange(-4.0, 4.0, dtype=np.float32) * (step + 1)
                if name == "ends" and step == 2:
                    weight[0] = np.nan
                run.histogram("net/conv.weight", Tensor(weight), step)
    return Runs(tmp_path)


def where(runs, *args, **kwargs):
    return {match.run: (match.step, match.tag, match.actual) for match in runs.where(*args, **kwargs)}


def test_the_first_step_of_each_run_that_meets_a_condition(runs):
    assert where(runs, "TO") == {"explodes": (2, "loss", 1), "ends": (1, "loss", 1)}
    assert where(runs, ("TL", {"max_gt": 2.5}), nodes="loss") == {
        "falls": (0, "loss", 3.0),
        "explodes": (0, "loss", 3.0),
    }
    assert where(runs, ("TL", {"max_gt": 20}), nodes="loss") == {"explodes": (1, "loss", 30.0)}
    assert where(runs, ("TL", {"max_gt": 99}), nodes="loss") == {}


def test_the_view_of_runs_answers_too(runs):
    assert msnb.runs(runs.folder).where("TO", nodes="loss") == runs.where("TO", nodes="loss")


def test_histograms_have_extremes_means_and_counts_of_nan(runs):
    assert where(runs, ("WL", {"max_gt": 5}), nodes="*weight") == {name: (1, "net/conv.weight", 6.0) for name in LOSSES}
    assert where(runs, "WO", nodes="net/*") == {"ends": (2, "net/conv.weight", 1)}
    with pytest.raises(ValueError, match="histogram.*TensorSummary"):
        runs.where(("GV", {"abs_mean_lt": 1e-3}), nodes="*weight")


def test_a_change_is_compared_with_the_value_before(runs):
    assert where(runs, ("WCL", {"abs_mean_update_ratio_gt": 5}), nodes="loss") == {
        "explodes": (1, "loss", pytest.approx(9.0))
    }


def test_a_function_is_a_condition(runs):
    assert where(runs, lambda x: (x > 1.5) and (x < 2.5), nodes=["loss"]) == {"falls": (1, "loss", 1.0)}


def test_questions_that_have_no_answer_are_errors(runs):
    with pytest.raises(ValueError, match="no run .* named 'lss'"):
        runs.where("TO", nodes="lss")
    with pytest.raises(ValueError, match="There is no condition 'T0'"):
        runs.where("T0")
    with pytest.raises(ValueError, match="dead.*every step"):
        runs.where("DU")
