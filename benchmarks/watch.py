"""Measure the cost of watchpoints for a training step: with and without, in turns; and the first steps.

python benchmarks/watch.py              # all
python benchmarks/watch.py --pynative   # LeNet in PYNATIVE mode alone; --graph, --resnet50 and --first likewise

A LeNet step has 32 samples, a ResNet-50 step 8 of 224 pixels. CPU time is that of all threads of the process. A first
step runs in a fresh process with nothing on disk. The second step compiles again: it is the first one without the
conditions that are checked in each tenth step.
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
from gradients import make_step_and_batch

import msnb as ms
from msnb import Tensor

WATCHES = {
    "recommended, record": ((), "record"),
    "TO, record": (("TO",), "record"),
    # a function is called at once, like a pause
    "TO, at once": (("TO",), lambda hit: None),
    "GV and WCL": ((("GV", {"abs_mean_lt": 1e-9}), ("WCL", {"abs_mean_update_ratio_gt": 1.0})), "record"),
}
LARGE_NETWORK = ("recommended, record", "TO, record")  # watches of ResNet-50 and of first steps


def make_resnet50_step():
    """Return a train step of ResNet-50 and its inputs."""
    import msnb.alias

    msnb.alias.install()
    from networks import ResNet50, training_step  # imports mindspore

    rng = np.random.default_rng(0)
    x = Tensor(rng.standard_normal((8, 3, 224, 224)).astype(np.float32))
    return training_step(ResNet50()), x, Tensor(rng.integers(0, 10, 8).astype(np.int32))


def measure_step(step, x, y, repeat):
    """Return the wall and CPU seconds per step of a loop that waits for its last loss only, as a training does."""
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(repeat):
        loss = step(x, y)
    loss.asnumpy()
    return (time.perf_counter() - wall) / repeat, (time.process_time() - cpu) / repeat


def measure_graph(make=make_step_and_batch, watches=tuple(WATCHES), rounds=25, repeat=20):
    """Return {name: seconds per step in turns}. Each watch has a network of its own."""
    ms.set_context(mode=ms.GRAPH_MODE)
    runs = {name: make() for name in ("off", *watches, "off again")}
    with contextlib.ExitStack() as stack:
        for name in watches:
            conditions, at = WATCHES[name]
            stack.enter_context(ms.watch(runs[name][0], *conditions, at=at))
        for run in runs.values():
            measure_step(*run, repeat)
        times = {name: [] for name in runs}
        for _ in range(rounds):
            for name, run in runs.items():
                times[name].append(measure_step(*run, repeat))
    return times


def measure_pynative(rounds=6, repeat=10):
    """Return the figures of `graph` in PYNATIVE mode. A few steps warm up after each change of the watch."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    run = make_step_and_batch()
    measure_step(*run, 1)
    names = ("off", *WATCHES, "off again")
    times = {name: [] for name in names}
    for number in range(rounds + 1):
        for name in names:
            conditions, at = WATCHES.get(name, ((), "record"))
            with contextlib.nullcontext() if name not in WATCHES else ms.watch(run[0], *conditions, at=at):
                measure_step(*run, 5 if number else 12)
                pair = measure_step(*run, repeat)
            if number:
                times[name].append(pair)
    return times


def measure_first_steps(network, name):
    """Return [wall of the first step, CPU, wall of the first three steps, CPU] in this process."""
    ms.set_context(mode=ms.GRAPH_MODE)
    run = make_step_and_batch() if network == "lenet" else make_resnet50_step()
    with contextlib.nullcontext() if name not in WATCHES else ms.watch(run[0], *WATCHES[name][0], at=WATCHES[name][1]):
        first = measure_step(*run, 1)
        others = measure_step(*run, 2)
    return [*first, *(a + 2 * b for a, b in zip(first, others))]


def print_first_steps(network, rounds):
    """Print the times of first steps, in turns, each in a process of its own."""
    times = {name: [] for name in ("off", *LARGE_NETWORK)}
    for _ in range(rounds):
        for name, rows in times.items():
            with tempfile.TemporaryDirectory() as cache:
                command = [sys.executable, __file__, "--first-steps", network, name]
                process = subprocess.run(command, check=True, stdout=-1, env={**os.environ, "MSNB_CACHE": cache})
            rows.append(json.loads(process.stdout.splitlines()[-1]))
    print(f"{network}: first step {min(row[0] for row in times['off']):.2f} s without a watch, best of {rounds}")
    for name, rows in times.items():
        ratios = [[a / b for a, b in zip(row, off)] for row, off in zip(rows, times["off"])]
        one, one_cpu, three, three_cpu = (statistics.median(column) for column in zip(*ratios))
        print(
            f"  {name:<22} first step {one:.2f}, CPU {one_cpu:.2f}   three steps {three:.2f}, CPU {three_cpu:.2f}",
            flush=True,
        )


def print_ratios(title, times):
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


def main(options):
    """Print the tables."""
    if not options or "--graph" in options:
        print_ratios("GRAPH", measure_graph())
    if not options or "--pynative" in options:
        print_ratios("PYNATIVE", measure_pynative())
    if not options or "--resnet50" in options:
        print_ratios("ResNet-50", measure_graph(make_resnet50_step, LARGE_NETWORK, 2, 10))
    if not options or "--first" in options:
        print_first_steps("lenet", 5)
        print_first_steps("resnet50", 2)


if __name__ == "__main__":
    if "--first-steps" in sys.argv:
        print(json.dumps(measure_first_steps(*sys.argv[2:])))
    else:
        main(sys.argv[1:])
