"""Several processes train together. The launcher ends them together and names the one that failed."""

import json
import os
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path

import as_one
import jax.numpy as jnp
import numpy as np
import pytest
import two_processes

from msnb import context, load_checkpoint, parallel
from msnb.cli import launch
from msnb.communication import (
    _gloo_log,
    _processes,
    create_group,
    get_group_rank_from_world_rank,
    get_group_size,
    get_local_rank,
    get_local_rank_size,
    get_process_group_ranks,
    get_rank,
    get_world_rank_from_group_rank,
    release,
)
from msnb.communication._comm_helper import partition

HERE = Path(__file__).resolve().parent


def launch_training(folder, processes):
    """Return the results of each process of a training in `folder`, and the printed output of all."""
    command = [sys.executable, "-m", "msnb", "launch", "-n", str(processes)]
    command += [str(HERE / "two_processes.py"), str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert not ran.returncode, ran.stdout + ran.stderr
    return [json.loads((folder / f"told{rank}.json").read_text()) for rank in range(processes)], ran.stdout


@pytest.fixture
def alone():
    """Train in this process as a data parallel program with one device."""
    two_processes.begin()
    yield
    release()
    context.reset_auto_parallel_context()


def test_two_processes_train_as_one_and_training_resumes_in_one(tmp_path, monkeypatch, alone):
    (first, second), printed = launch_training(tmp_path, 2)
    assert first["size"] == second["size"] == 2 and (first["local"], second["local"]) == (0, 1)
    assert first["joined"][0] == second["joined"][0] == [10.0, 12.0, 14.0, 16.0]  # of 0, 1, 2, 3 and 10, 11, 12, 13
    assert first["joined"][1] == second["joined"][1] == [0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0]
    assert (first["joined"][2], second["joined"][2]) == ([10.0, 12.0], [14.0, 16.0])
    assert first["joined"][3] == second["joined"][3] == [10.0, 11.0, 12.0, 13.0]
    assert first["trained"] == second["trained"]
    for rank, results in enumerate((first, second)):  # of [1, 5] and [2, 4]
        assert results["called"] == [3.0, 9.0] and results["mean"] == [1.5, 4.5]
        assert (
            results["gradient"] == [[2.0, 5.0 + 9.0], [2.0 + 3.0, 5.0]][rank]
        )  # who has the largest has what all sent
        assert results["backwards"] == [1 - rank, 2.0, 4.0, 1.0, 5.0]
        assert results["exchanged"] == [[1.0, 2.0], [5.0, 4.0]][rank]
        sums, gathered = [3.0, 9.0], [1.0, 5.0, 2.0, 4.0]
        assert results["functions"] == [sums, [2.0, 4.0], sums, gathered, [[2.0], [4.0]][rank]]
        assert results["own"] == [1.0 + rank, 5.0 - rank]
        assert results["refused"] == f"This process is {rank}, which is not in the group 'other' of [{1 - rank}]."
    assert printed.count("[1] epoch: 1 step: 2, loss is") == 1 and "Gloo" not in printed
    check_joint_program(first["as one"], second["as one"], tmp_path)
    monkeypatch.chdir(tmp_path)
    reference, resumed = two_processes.train(2), two_processes.train(2, "together")  # from what the first has kept
    for got, want in zip(resumed, reference, strict=True):
        np.testing.assert_allclose(got, want, 1e-5, 1e-7)


def check_joint_program(first, second, folder):
    """Check the results of a program that two processes ran as one against those of one process with process 0's
    values.
    """
    assert first["refused"].startswith("asnumpy() needs all values of a Tensor of shape (8, 16), of which this")
    assert first["alone"].startswith("save_checkpoint is done by all 2 processes together, and 1 of them did not come")
    context.reset_auto_parallel_context()
    for results in (first, second):
        np.testing.assert_allclose(results["searched"], as_one.losses(as_one.create_step(1)), 1e-6)
        assert results["rows"] == [4, 4] and results["missing"] == []
    step = as_one.create_step(1)
    one = as_one.losses(step)
    assert first["cut"] == second["cut"] and first["goes on"] == second["goes on"]
    np.testing.assert_allclose(first["cut"], one, 1e-6)
    wholes = [load_checkpoint(str(folder / f"whole{rank}.ckpt")) for rank in (0, 1)]
    slices = [load_checkpoint(str(folder / f"part{rank}.ckpt")) for rank in (0, 1)]
    for p in step.get_parameters():
        for full in wholes:
            np.testing.assert_allclose(full[p.name].asnumpy(), p.asnumpy(), 1e-4, 1e-6)
        axis = 1 if p.name.endswith("first") else 0
        halves = [part[p.name].asnumpy() for part in slices]
        joined = halves[0] if halves[0].shape == p.shape else np.concatenate(halves, axis)
        np.testing.assert_array_equal(joined, wholes[0][p.name].asnumpy())
    assert slices[0]["moment1.table"].shape == (6, 8) and slices[1]["first"].shape == (8, 8)
    later = as_one.create_step(1)
    assert parallel.load_sharded(folder / "sharded", later) == []
    for p in later.get_parameters():
        np.testing.assert_array_equal(p.asnumpy(), wholes[0][p.name].asnumpy())
    np.testing.assert_array_equal(later.network._backbone.first.asnumpy(), np.float32(first["first"]))


def test_gloo_lines_are_filtered(tmp_path):
    written = [
        b"[Gloo] Rank 0 is connected to 1 peer ranks.\nfirst\n[Gl",
        b"oo] Rank 1 is\n",
        b"[Glow] second ",
        b"third",
    ]
    with open(tmp_path / "said", "wb") as file:
        descriptor = os.dup(file.fileno())
        _gloo_log.filter_descriptor(descriptor)
        for piece in written:
            os.write(descriptor, piece)
        os.close(descriptor)  # what is held is written
        until = time.monotonic() + 60
        while not (tmp_path / "said").read_bytes().endswith(b"third") and time.monotonic() < until:
            time.sleep(0.01)
    assert (tmp_path / "said").read_bytes() == b"first\n[Glow] second third"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, _processes.ALONE),
        ({"SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"}, _processes.ALONE),
        (
            {
                "SLURM_STEP_NUM_TASKS": "8",
                "SLURM_PROCID": "5",
                "SLURM_STEP_TASKS_PER_NODE": "4(x2)",
                "SLURM_LOCALID": "1",
            },
            (8, 5, 4, 1, None),
        ),
        (
            {
                "OMPI_COMM_WORLD_SIZE": "2",
                "OMPI_COMM_WORLD_RANK": "1",
                "OMPI_COMM_WORLD_LOCAL_SIZE": "1",
                "OMPI_COMM_WORLD_LOCAL_RANK": "0",
            },
            (2, 1, 1, 0, None),
        ),
    ],
)
def test_world_of_environment(monkeypatch, variables, expected):
    for name in (name for names in _processes._LAUNCHER_VARIABLES for name in names):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert _processes.world_of_environment() == expected


def test_init_after_computation_raises(monkeypatch):
    jnp.ones(1)  # something
    monkeypatch.setenv("MSNB_PROCESSES", "2")
    monkeypatch.setenv("MSNB_PROCESS", "1")
    with pytest.raises(RuntimeError, match="process 1 of 2, and it has computed something before"):
        _processes.join()


def test_launcher_ends_all_processes_when_one_fails(capsys):
    script = [sys.executable, "-c"]
    started = {
        0: subprocess.Popen([*script, "import time; time.sleep(600)"]),
        1: subprocess.Popen([*script, "import sys; sys.exit(1)"]),  # as what waits for one that is gone does
        2: subprocess.Popen([*script, "import os; os.kill(os.getpid(), 9)"]),
    }
    for failed in (1, 2):
        started[failed].wait()
    assert launch._wait_for_processes(started, 3) == 137
    assert capsys.readouterr().err == "Process 2 of 3 was killed (SIGKILL); the others are stopped.\n"
    launch._stop_processes(started.values())
    assert started[0].poll() is not None


def test_ranks_of_group(monkeypatch):
    monkeypatch.setattr(_processes, "_joined", _processes.World(8, 5, 4, 1, None))
    try:
        create_group("odd", [7, 5, 3])
        assert (get_rank("odd"), get_group_size("odd"), get_process_group_ranks("odd")) == (1, 3, [7, 5, 3])
        assert (get_local_rank("odd"), get_local_rank_size("odd")) == (1, 2)  # 4 to 7 run here
        assert get_world_rank_from_group_rank("odd", 2) == 3 and get_group_rank_from_world_rank(7, "odd") == 0
        create_group("others", [0, 1])
        with pytest.raises(ValueError, match=r"This process is 5, which is not in the group 'others' of \[0, 1\]"):
            get_rank("others")
    finally:
        release()
    with pytest.raises(ValueError, match="There is no group 'odd'"):
        get_group_size("odd")


@pytest.mark.parametrize(
    ("ranks", "number", "all_groups"),
    [
        ((1, 5), 8, ((0, 4), (1, 5), (2, 6), (3, 7))),
        ((3, 2), 4, ((1, 0), (3, 2))),
        ((0, 1, 4, 5), 8, ((0, 1, 4, 5), (2, 3, 6, 7))),
        ((1, 2, 3), 5, ((0,), (1, 2, 3), (4,))),
    ],
)
def test_partition_repeats_pattern_of_group(ranks, number, all_groups):
    assert partition(ranks, number) == all_groups


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"script": "none.py"}, "There is no script 'none.py'."),
        ({"first": 1}, "Processes 1 to 2 are not among 2."),
        ({"processes": 0}, "are not among"),
        ({"of": 4}, "--coordinator HOST:PORT"),
    ],
)
def test_invalid_launch_arguments_are_reported(capsys, wrong, sentence):
    options = {"script": __file__, "arguments": [], "processes": 2, "of": None, "first": 0, "coordinator": None}
    assert launch.launch(Namespace(**{**options, "api": None, **wrong})) == 2
    assert sentence in capsys.readouterr().err
