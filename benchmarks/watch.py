"""What watchpoints cost a step of a training: with and without, in turns; and how long the first steps take.

python benchmarks/watch.py              # all
python benchmarks/watch.py --pynative   # LeNet in PYNATIVE mode alone; --graph, --resnet50 and --first likewise

A LeNet step has 32 samples, a ResNet-50 step 8 of 224 pixels. CPU time is that of all threads of the process. A first
step runs in a fresh process with nothing on disk; the second step is the first one without the conditions that are
checked in each tenth step, and compiles again.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from gradients import step_and_batch

import msnb as ms
from msnb import Tensor

WATCHES = {
    "recommended, record": ((), "record"),
    "TO, record": (("TO",), "record"),
    # a function is called at once, as a pause would be
    "TO, at once": (("TO",), lambda hit: None),
    "GV and WCL": ((("GV", {"abs_mean_lt": 1e-9}), ("WCL", {"abs_mean_update_ratio_gt": 1.0})), "record"),
}
LARGE_NETWORK = ("recommended, record", "TO, record")  # watches of ResNet-50 and of first steps


def resnet50():
    """A train step of ResNet-50 and its inputs."""
    import msnb.alias

    msnb.alias.install()
    from networks import ResNet50, training_step  # which says mindspore

    rng = np.random.default_rng(0)
    x = Tensor(rng.standard_normal((8, 3, 224, 224)).astype(np.float32))
    return training_step(ResNet50()), x, Tensor(rng.integers(0, 10, 8).astype(np.int32))


def seconds(step, x, y, repeat):
    """(wall, CPU) seconds per step of a loop that waits for its last loss only, as a training does."""
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(repeat):
        loss = step(x, y)
    loss.asnumpy()
    return (time.perf_counter() - wall) / repeat, (time.process_time() - cpu) / repeat


def graph(make=step_and_batch, watches=tuple(WATCHES), rounds=25, repeat=20):
    """Seconds per step in turns, {name: [..]}. Each watch has a network of its own."""
    ms.set_context(mode=ms.GRAPH_MODE)
    runs = {name: make() for name in ("off", *watches, "off again")}
    with contextlib.ExitStack() as stack:
        for name in watches:
            conditions, at = WATCHES[name]
            stack.enter_context(ms.watch(runs[name][0], *conditions, at=at))
        for run in runs.values():
            seconds(*run, repeat)
        times = {name: [] for name in runs}
        for _ in range(rounds):
            for name, run in runs.items():
                times[name].append(seconds(*run, repeat))
    return times


def pynative(rounds=6, repeat=10):
    """The same operator by operator; the watches are put on and taken off, and a few steps warm up after it."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    run = step_and_batch()
    seconds(*run, 1)
    names = ("off", *WATCHES, "off again")
    times = {name: [] for name in names}
    for number in range(rounds + 1):
        for name in names:
            conditions, at = WATCHES.get(name, ((), "record"))
            with contextlib.nullcontext() if name not in WATCHES else ms.watch(run[0], *conditions, at=at):
                seconds(*run, 5 if number else 12)
                pair = seconds(*run, repeat)
            if number:
                times[name].append(pair)
    return times


def first_steps(network, name):
    """[wall of the first step, CPU, wall of the first three steps, CPU], in this process."""
    ms.set_context(mode=ms.GRAPH_MODE)
    run = step_and_batch() if network == "lenet" else resnet50()
    with contextlib.nullcontext() if name not in WATCHES else ms.watch(run[0], *WATCHES[name][0], at=WATCHES[name][1]):
        first = seconds(*run, 1)
        others = seconds(*run, 2)
    return [*first, *(a + 2 * b for a, b in zip(first, others))]


def report_first_steps(network, rounds):
    """Print how long first steps take, in turns, each in a process of its own."""
    times = {name: [] for name in ("off", *LARGE_NETWORK)}
    for _ in range(rounds):
        for name, rows in times.items():
            with tempfile.TemporaryDirectory() as cache:
                command = [sys.executable, __file__, "--first-steps", network, name]
                done = subprocess.run(command, check=True, stdout=-1, env={**os.environ, "MSNB_CACHE": cache})
            rows.append(json.loads(done.stdout.splitlines()[-1]))
    print(f"{network}: first step {min(row[0] for row in times['off']):.2f} s without a watch, best of {rounds}")
    for name, rows in times.items():
        ratios = [[a / b for a, b in zip(row, off)] for row, off in zip(rows, times["off"])]
        one, one_cpu, three, three_cpu = (statistics.median(column) for column in zip(*ratios))
        print(
            f"  {name:<22} first step {one:.2f}, CPU {one_cpu:.2f}   three steps {three:.2f}, CPU {three_cpu:.2f}",
            flush=True,
        )


def report(title, times):
    """Print the ratios to a step without a watch."""
    wall = {name: [pair[0] for pair in pairs] for name, pairs in times.items()}
    cpu = {name: [pair[1] for pair in pairs] for name, pairs in times.items()}
    print(f"{title}: {min(wall['off']) * 1e3:.2f} ms per step without a watch, best of {len(wall['off'])}")
    for name in times:
        best = min(wall[name]) / min(wall["off"])
        ratio, ratio_cpu = (
            statistics.median(a / b for a, b in zip(kind[name], kind["off"], strict=True)) for kind in (wall, cpu)
        )
        print(f"  {name:<22} best {best:.3f}  median of ratios {ratio:.3f}  of CPU time {ratio_cpu:.3f}", flush=True)


def main(chosen):
    """Print the tables."""
    if not chosen or "--graph" in chosen:
        report("GRAPH", graph())
    if not chosen or "--pynative" in chosen:
        report("PYNATIVE", pynative())
    if not chosen or "--resnet50" in chosen:
        report("ResNet-50", graph(resnet50, LARGE_NETWORK, 2, 10))
    if not chosen or "--first" in chosen:
        report_first_steps("lenet", 5)
        report_first_steps("resnet50", 2)


if __name__ == "__main__":
    if "--first-steps" in sys.argv:
        print(json.dumps(first_steps(*sys.argv[2:])))
    else:
        main(sys.argv[1:])
