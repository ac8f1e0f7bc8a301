"""What watchpoints cost a LeNet step of 32 samples: with and without, in turns; and how long the first step takes.

python benchmarks/watch.py              # both modes
python benchmarks/watch.py --pynative   # PYNATIVE alone
python benchmarks/watch.py --graph      # GRAPH alone
"""

import contextlib
import statistics
import sys

from gradients import seconds, step_and_batch

import msnb as ms

WATCHES = {
    "recommended, record": ((), "record"),
    "TO, record": (("TO",), "record"),
    # a function is called at once, as a pause would be
    "TO, at once": (("TO",), lambda hit: None),
    "GV and WCL": ((("GV", {"abs_mean_lt": 1e-9}), ("WCL", {"abs_mean_update_ratio_gt": 1.0})), "record"),
}


def graph(rounds=25, repeat=20):
    """Seconds per step in turns, {name: [..]}, and of each first step. Each watch has a network of its own."""
    ms.set_context(mode=ms.GRAPH_MODE)
    runs = {name: step_and_batch() for name in ("off", *WATCHES, "off again")}
    with contextlib.ExitStack() as stack:
        for name, (conditions, at) in WATCHES.items():
            stack.enter_context(ms.watch(runs[name][0], *conditions, at=at))
        first = {name: seconds(*run, 1) for name, run in runs.items()}
        for run in runs.values():
            seconds(*run, 20)
        times = {name: [] for name in runs}
        for _ in range(rounds):
            for name, run in runs.items():
                times[name].append(seconds(*run, repeat))
    return times, first


def pynative(rounds=6, repeat=10):
    """The same operator by operator; the watches are put on and taken off, and a few steps warm up after it."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    run = step_and_batch()
    first = {"off": seconds(*run, 1)}
    times = {"off": []}
    for name in WATCHES:
        times[name] = []
    for number in range(rounds + 1):
        for name in ("off", *WATCHES):
            conditions, at = WATCHES.get(name, ((), "record"))
            with contextlib.nullcontext() if name == "off" else ms.watch(run[0], *conditions, at=at):
                seconds(*run, 5 if number else 12)
                time = seconds(*run, repeat)
            if number:
                times[name].append(time)
    return times, first


def report(mode, times, first):
    """Print the ratios to a step without a watch."""
    print(f"{mode}: {min(times['off']) * 1e3:.2f} ms per step without a watch, best of {len(times['off'])}")
    for name, values in times.items():
        best = min(values) / min(times["off"])
        ratios = [a / b for a, b in zip(values, times["off"], strict=True)]
        compiled = f"  first step {first[name] / first['off']:.2f}" if name in first else ""
        print(f"  {name:<22} best {best:.3f}  median of ratios {statistics.median(ratios):.3f}{compiled}", flush=True)


if __name__ == "__main__":
    if "--pynative" not in sys.argv:
        report("GRAPH", *graph())
    if "--graph" not in sys.argv:
        report("PYNATIVE", *pynative())
