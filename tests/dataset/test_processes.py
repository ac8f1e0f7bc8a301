"""Worker processes and threads: the same rows for any number of them, and none left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import msnb.dataset as ds
import msnb.dataset.vision.c_transforms as CV
from msnb.dataset.engine.execution.processes import ProcessPool

ROOT = Path(__file__).parent.parent.parent


def pictures(workers, processes):
    ds.config.set_seed(3)
    images = np.random.RandomState(0).randint(0, 256, (50, 20, 20, 3)).astype(np.uint8)
    data = ds.NumpySlicesDataset({"image": images, "label": np.arange(50)}, shuffle=True, num_parallel_workers=workers)
    data = data.map([CV.RandomCrop(16), CV.RandomHorizontalFlip()], "image", num_parallel_workers=workers)
    data = data.map(lambda x: x + np.uint8(1), "image", num_parallel_workers=workers, python_multiprocessing=processes)
    data = data.shuffle(20).batch(8, num_parallel_workers=workers)
    rows = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    return [np.concatenate([column.ravel() for column in row]) for _ in range(2) for row in rows]


@pytest.mark.parametrize("workers, processes", [(1, False), (2, False), (7, False), (2, True), (3, True)])
def test_the_rows_do_not_depend_on_the_number_of_workers(workers, processes):
    expected, got = pictures(None, False), pictures(workers, processes)
    assert len(expected) == len(got) == 14
    assert all(np.array_equal(a, b) for a, b in zip(expected, got, strict=True))


def test_a_generator_gives_its_rows_in_order_from_any_number_of_processes():
    for workers in (1, 3):
        data = ds.GeneratorDataset(
            [(np.array(i),) for i in range(23)],
            ["x"],
            shuffle=False,
            num_parallel_workers=workers,
            python_multiprocessing=True,
        )
        got = [int(row[0]) for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        assert got == list(range(23))


PROGRAM = """
import os, sys, time
import numpy as np
import msnb.dataset as ds

def slow(x):
    with open(sys.argv[1], "a") as file:
        file.write(f"{os.getpid()}\\n")
    time.sleep(0.1)
    return x

class Items:
    def __len__(self):
        return 10000

    def __getitem__(self, number):
        return (slow(np.array(number)),)

data = ds.GeneratorDataset(Items(), ["x"], num_parallel_workers=2, python_multiprocessing=True)
data = data.map(slow, "x", num_parallel_workers=2, python_multiprocessing=True)
rows = data.create_tuple_iterator(output_numpy=True)
try:
    for number, row in enumerate(rows):
        if number == 8:
            print("running", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
sys.stdin.readline()  # as a notebook does: the program goes on, and the iterator is still there
"""


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_processes_ended_by_an_interrupt_are_restarted():
    pool = ProcessPool([lambda x: (x, os.getpid())], 2)
    before = pool.map([(1,), (2,)])
    for _, pid in before:
        os.kill(pid, signal.SIGINT)
    for worker in pool._workers:
        worker.process.join(60)
    after = pool.map([(1,), (2,)])
    pool.close()
    assert [x for x, _ in after] == [1, 2] and not {p for _, p in before} & {p for _, p in after}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals and process groups of POSIX")
@pytest.mark.parametrize("send", [os.killpg, os.kill], ids=["to the group", "to the program alone"])
def test_an_interrupt_ends_all_processes(tmp_path, send):
    seen = tmp_path / "pids"
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(seen)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"},
        start_new_session=True,
        # a test run in the background of a shell ignores interrupts, and so would its children
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    watchdog = threading.Timer(300, lambda: os.killpg(program.pid, signal.SIGKILL))
    watchdog.start()
    try:
        assert program.stdout.readline() == "running\n"
        pids = {int(line) for line in seen.read_text().split()} - {program.pid}
        assert len(pids) == 4 and all(map(alive, pids))
        time.sleep(0.1)  # rows come in chunks: now it waits for the next one
        send(program.pid, signal.SIGINT)
        assert program.stdout.readline() == "interrupted\n"
        until = time.monotonic() + 120
        while any(map(alive, pids)) and time.monotonic() < until:
            time.sleep(0.02)
        assert not [pid for pid in pids if alive(pid)]
        program.communicate("end\n", timeout=120)
        assert program.returncode == 0
    finally:
        watchdog.cancel()
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
