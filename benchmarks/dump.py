"""Measure the cost of a dump for a LeNet step of 32 samples: with and without, in turns, until all is written.

python benchmarks/dump.py                # statistics, and tensors beside the time of the disk alone
python benchmarks/dump.py --statistics   # statistics alone
"""

import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from gradients import make_step_and_batch, measure_step

import msnb as ms
from msnb.insight.dump import Recorder, read_config
from msnb.insight.dump.statistics import COLUMNS

FOLDER = Path(tempfile.mkdtemp())
DUMPS = {
    "statistic": {"saved_data": "statistic"},
    "statistic, all columns": {"saved_data": "statistic", "statistic_category": [*COLUMNS]},
    "statistic, outputs": {"saved_data": "statistic", "input_output": 2},
}


class SingleNetworkRecorder(Recorder):
    """A Recorder of one network. It changes no program of another network."""

    def __init__(self, name, settings, net):
        common = {"dump_mode": 0, "path": str(FOLDER / name), "net_name": "LeNet", "iteration": "all", **settings}
        path = FOLDER / f"{name}.json"
        path.write_text(json.dumps({"common_dump_settings": common, "e2e_dump_settings": {"enable": True}}))
        super().__init__(read_config(path))
        self._net = net

    def rewrite(self, program):
        return super().rewrite(program) if program.root() is self._net else None


def measure_dumps(dumps, rounds, repeat):
    """Return {name: seconds per step in turns} and {name: seconds of the first step}.

    Each dump has a network of its own.
    """
    ms.set_context(mode=ms.GRAPH_MODE)
    runs = {name: make_step_and_batch() for name in ("off", *dumps, "off again")}
    recorders = {name: SingleNetworkRecorder(name, settings, runs[name][0]).start() for name, settings in dumps.items()}

    def time_steps(name, count):
        start = time.perf_counter()
        measure_step(*runs[name], count)
        if name in recorders:
            recorders[name].flush()
        return (time.perf_counter() - start) / count

    first = {name: time_steps(name, 1) for name in runs}
    for name in runs:
        time_steps(name, min(repeat, 20))
    times = {name: [] for name in runs}
    for _ in range(rounds):
        for name in runs:
            times[name].append(time_steps(name, repeat))
    for recorder in recorders.values():
        recorder.close()
        if recorder.problem:
            raise RuntimeError(recorder.problem)
    return times, first


def measure_disk(folder, rounds=5):
    """Return the seconds in which `numpy.save` alone writes the files of one step, their number and their bytes."""
    files = {path.name: np.load(path) for path in folder.glob("*.npy")}
    times = []
    for number in range(rounds):
        target = FOLDER / f"disk{number}"
        target.mkdir()
        start = time.perf_counter()
        for name, array in files.items():
            np.save(target / name, array)
        times.append(time.perf_counter() - start)
    return times, len(files), sum(array.nbytes for array in files.values())


def print_ratios(times, first):
    """Print the ratios to a step without a dump."""
    print(f"{min(times['off']) * 1e3:.2f} ms per step without a dump, best of {len(times['off'])}")
    for name, values in times.items():
        best = min(values) / min(times["off"])
        ratios = [a / b for a, b in zip(values, times["off"], strict=True)]
        print(
            f"  {name:<22} best {best:.3f}  median of ratios {statistics.median(ratios):.3f}"
            f"  first step {first[name] / first['off']:.2f}",
            flush=True,
        )


def main():
    """Print both tables."""
    print_ratios(*measure_dumps(DUMPS, 25, 20))
    if "--statistics" not in sys.argv:
        times, _ = measure_dumps({"tensor": {"saved_data": "tensor"}}, 5, 5)
        disk, count, nbytes = measure_disk(next((FOLDER / "tensor").glob("rank_0/LeNet/*/5")))
        own, alone = statistics.median(times["tensor"]), statistics.median(disk)
        print(
            f"{count} tensors, {nbytes / 2**20:.1f} MiB: {own * 1e3:.0f} ms per step, {alone * 1e3:.0f} ms by the disk"
        )


if __name__ == "__main__":
    try:
        main()
    finally:
        shutil.rmtree(FOLDER)
