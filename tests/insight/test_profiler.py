"""`Profiler` as MindSpore's users call it."""

import csv
import json

import numpy as np
import pytest

from msnb import Tensor, context, nn, profiler
from msnb.profiler import ProfileOption, Profiler
from msnb.profiler.profiling import INIT_OP_NAME


@pytest.fixture
def run():
    context.set_context(mode=context.GRAPH_MODE)
    net, x = nn.Dense(5, 3), Tensor(np.ones((2, 5), np.float32))

    def run(times=4):
        for _ in range(times):
            net(x).asnumpy()

    return run


def count_steps(report):
    """Return the number of measured steps. A step that a busy machine interrupts for long is a pause."""
    return len(report.steps) + sum(int(note.split()[0]) for note in report.notes if "pauses of more" in note)


def test_constructed_before_and_analysed_after(run):
    profiler = Profiler()
    run()
    report = profiler.analyse()
    assert count_steps(report) == 3 and any(row.op == "MatMul" for row in report.rows)
    assert profiler.analyse() is report


def test_as_a_context_it_analyses_at_the_end(run):
    with Profiler() as profiler:
        run()
    assert count_steps(profiler.result) == 3


def test_start_and_stop_bound_what_is_measured(run):
    profiler = Profiler(start_profile=False)
    run()
    profiler.start()
    run(3)
    profiler.stop()
    run()
    assert count_steps(profiler.analyse()) == 3


def test_what_has_no_effect_here_says_so(run, monkeypatch):
    said = []
    monkeypatch.setattr("msnb.log.once", said.append)
    profiler = Profiler(optypes_not_deal="Variable", ascend_job_id="")
    profiler.analyse()
    assert len(said) == 2 and "optypes_not_deal" in said[0]


def test_wrong_arguments_are_refused_before_anything_is_measured():
    with pytest.raises(TypeError, match="output_path"):
        Profiler(output_path=3)
    with pytest.raises(TypeError, match="steps"):
        Profiler(steps=0)
    Profiler().stop()  # no profile was left open


def test_one_that_never_ran_has_nothing_to_analyse():
    with pytest.raises(RuntimeError, match="measured nothing"):
        Profiler(start_profile=False).analyse()
    with pytest.raises(ValueError, match="offline_path"):
        Profiler(start_profile=False).analyse(offline_path="somewhere")


def test_output_path_gets_the_timeline_and_the_tables(run, tmp_path):
    profiler = Profiler(output_path=str(tmp_path / "out"))
    profiler.add_metadata("commit", "abc")
    run()
    profiler.analyse()
    timeline = json.loads((tmp_path / "out" / "timeline.json").read_text())
    assert timeline["traceEvents"] and timeline["otherData"]["commit"] == "abc"
    with open(tmp_path / "out" / "operators.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {"MatMul", "BiasAdd"} <= {row["op"] for row in rows} and float(rows[0]["seconds"]) > 0


def test_op_analyse_gives_the_rows_of_one_operator(run):
    profiler = Profiler()
    run()
    (row,) = profiler.op_analyse("MatMul")
    assert row["op"] == "MatMul" and row["calls"] == 1


def test_profile_counts_parameters():
    assert Profiler.profile(nn.Dense(3, 4), ProfileOption.trainable_parameters) == {"trainable_parameters": 2}
    with pytest.raises(ValueError, match="network"):
        Profiler.profile(None, ProfileOption.trainable_parameters)
    assert INIT_OP_NAME == "Default/InitDataSetQueue"


def test_a_schedule_says_in_which_steps_a_profile_is_taken(tmp_path):
    plan = profiler.schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2)
    assert [plan(step).value for step in range(11)] == [0, 0, 1, 2, 3, 0, 1, 2, 3, 0, 0]
    net, x, rounds = nn.Dense(3, 4), Tensor(np.ones((2, 3), np.float32)), []
    write = profiler.tensorboard_trace_handler(str(tmp_path))

    def ready(profiler_of_steps):
        rounds.append((profiler_of_steps._at, profiler_of_steps.analyse()))
        write(profiler_of_steps)

    with profiler.profile(schedule=plan, on_trace_ready=ready) as profiler_of_steps:
        for _ in range(12):
            net(x)
            profiler_of_steps.step()
    assert [at for at, _ in rounds] == [4, 8] and rounds[0][1] is not rounds[1][1]
    with pytest.raises(TypeError, match="'schedule'"):
        profiler.profile(schedule=3)
    with pytest.raises(ValueError, match="'active'"):
        profiler.schedule(wait=1, active=0)


def test_a_stretch_of_time_gets_a_name():
    number = profiler.mstx.range_start("loading", domain="data")
    profiler.mstx.mark("a batch")
    profiler.mstx.range_end(number)
    profiler.mstx.range_end(number)
    assert not profiler.mstx._open
