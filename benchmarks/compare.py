"""Measure whether a change makes something slower: two checkouts, in fresh processes, by turns.

    python benchmarks/compare.py OLD NEW [BENCHMARK...] [--pairs 20] [--limit 1.02]

OLD and NEW are folders or git revisions; a BENCHMARK is the name of a file beside this one that has a table `TIMED`
(row -> function that makes the call to time); `dispatch` and `eager` where none is given. The benchmarks are those of
this checkout, msnb is that of OLD or NEW. A pair is one process of each, and the order alternates. In a process
the rows take turns, and a row's time is the median over the rounds. The table shows the median of NEW/OLD over the
pairs and its 95 % bootstrap interval. A row is slower if the lower end of the interval is above the limit; then the
exit status is 1. Rows that only time JAX are controls: both sides run the same code.
"""

import argparse
import contextlib
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
MAX_SECONDS = 10  # limit of the rounds of one process; three rounds run in any case


def measure(name):
    """Return {row: median seconds} of one benchmark in this process."""
    import jax

    calls = {row: make() for row, make in importlib.import_module(name).TIMED.items()}
    repeats = {}
    for row, call in calls.items():
        jax.block_until_ready(call())
        start = time.perf_counter()
        jax.block_until_ready(call())
        warm = 5 if time.perf_counter() - start < 0.1 else 0
        for _ in range(warm):
            jax.block_until_ready(call())
        start = time.perf_counter()
        for _ in range(warm or 1):
            jax.block_until_ready(call())
        repeats[row] = max(1, int(0.004 / max((time.perf_counter() - start) / (warm or 1), 1e-7)))
    times = {row: [] for row in calls}
    start_of_rounds = time.perf_counter()
    while len(times[row]) < 40 and (len(times[row]) < 3 or time.perf_counter() - start_of_rounds < MAX_SECONDS):
        for row, call in calls.items():
            start = time.perf_counter()
            for _ in range(repeats[row]):
                out = call()
            jax.block_until_ready(out)
            times[row].append((time.perf_counter() - start) / repeats[row])
    return {row: statistics.median(seconds) for row, seconds in times.items()}


def run_in_process(checkout, name):
    """Return the result of `measure` in a fresh process on a checkout."""
    process = subprocess.run(
        [sys.executable, __file__, "--measure", name],
        text=True,
        capture_output=True,
        cwd=HERE,
        env={**os.environ, "PYTHONPATH": f"{checkout}{os.pathsep}{HERE}"},
    )
    if process.returncode:
        raise SystemExit(f"{name} failed on {checkout}:\n{process.stderr[-2000:]}")
    answer = json.loads(process.stdout.splitlines()[-1])
    if not Path(answer["msnb"]).is_relative_to(checkout):
        raise SystemExit(f"The benchmark of {checkout} imported {answer['msnb']}.")
    return answer["times"]


def interval(ratios, draws=10_000):
    """Return (median, lower end, upper end) of ratios, with the 95 % bootstrap interval of the median."""
    import numpy as np

    ratios = np.asarray(ratios)
    samples = np.random.default_rng(0).integers(0, len(ratios), (draws, len(ratios)))
    low, high = np.percentile(np.median(ratios[samples], axis=1), [2.5, 97.5])
    return float(np.median(ratios)), float(low), float(high)


@contextlib.contextmanager
def checkout(source):
    """Yield the folder of a checkout. A git revision is checked out into a temporary folder."""
    if Path(source, "msnb").is_dir():
        yield Path(source).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "checkout")
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", path, source], cwd=HERE, check=True)
        try:
            yield path.resolve()
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", path], cwd=HERE, check=True)


def main():
    """Print a table. Return 1 if a row is slower, else 0."""
    from tqdm import tqdm

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("benchmark", nargs="*", default=["dispatch", "eager"])
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--limit", type=float, default=1.02)
    options = parser.parse_args()
    slower_rows = 0
    with checkout(options.old) as old, checkout(options.new) as new:
        for name in options.benchmark:
            times_by_side = {old: [], new: []}
            for pair in tqdm(range(options.pairs), desc=name, leave=False):
                for side in (old, new) if pair % 2 == 0 else (new, old):
                    times_by_side[side].append(run_in_process(side, name))
            for row in times_by_side[new][0]:
                before, after = ([times[row] for times in times_by_side[side]] for side in (old, new))
                middle, low, high = interval([b / a for a, b in zip(before, after)])
                is_slower = low > options.limit
                slower_rows += is_slower
                print(
                    f"{name:10} {row:28} {statistics.median(before) * 1e6:9.1f} -> "
                    f"{statistics.median(after) * 1e6:9.1f} us   {middle:5.3f}x  [{low:5.3f}, {high:5.3f}]  "
                    f"{'SLOWER' if is_slower else 'ok'}",
                    flush=True,
                )
    return int(slower_rows > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        import msnb

        print(json.dumps({"times": measure(sys.argv[2]), "msnb": msnb.__file__}))
        sys.exit(0)
    sys.exit(main())
