"""Whether a change made something slower: two checkouts in fresh processes, in turns, and what the difference is worth.

    python benchmarks/compare.py OLD NEW [BENCHMARK...] [--pairs 20] [--limit 1.02]

OLD and NEW are folders or git revisions; a BENCHMARK is the name of a file beside this one that has a table `TIMED`
(row -> function that makes the call to time); `dispatch` and `eager` where none is given. The benchmarks are those of
this checkout, msnb is that of OLD or NEW. A pair is one process of each, the first one by turns; within it, a row's
time is the median over rounds in which all rows take turns. What is printed is the median of NEW/OLD over the pairs
and its 95 % bootstrap interval. A row is slower when the interval's lower end is above the limit; then the exit status
is 1. Rows that only time JAX are controls: they are the same code on both sides.
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
LONGEST = 10  # seconds that the rounds of one process may take; three there are in any case


def measure(name):
    """{row: median seconds} of one benchmark in this process."""
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
    begun = time.perf_counter()
    while len(times[row]) < 40 and (len(times[row]) < 3 or time.perf_counter() - begun < LONGEST):
        for row, call in calls.items():
            start = time.perf_counter()
            for _ in range(repeats[row]):
                out = call()
            jax.block_until_ready(out)
            times[row].append((time.perf_counter() - start) / repeats[row])
    return {row: statistics.median(seconds) for row, seconds in times.items()}


def run(checkout, name):
    """What `measure` gives in a fresh process on a checkout."""
    done = subprocess.run(
        [sys.executable, __file__, "--measure", name],
        text=True,
        capture_output=True,
        cwd=HERE,
        env={**os.environ, "PYTHONPATH": f"{checkout}{os.pathsep}{HERE}"},
    )
    if done.returncode:
        raise SystemExit(f"{name} failed on {checkout}:\n{done.stderr[-2000:]}")
    answer = json.loads(done.stdout.splitlines()[-1])
    if not Path(answer["msnb"]).is_relative_to(checkout):
        raise SystemExit(f"{checkout} was asked for, but {answer['msnb']} was measured.")
    return answer["times"]


def interval(ratios, draws=10_000):
    """(median, lower end, upper end) of ratios, with the 95 % bootstrap interval of the median."""
    import numpy as np

    ratios = np.asarray(ratios)
    picks = np.random.default_rng(0).integers(0, len(ratios), (draws, len(ratios)))
    low, high = np.percentile(np.median(ratios[picks], axis=1), [2.5, 97.5])
    return float(np.median(ratios)), float(low), float(high)


@contextlib.contextmanager
def checkout(given):
    """The folder of a checkout; a git revision is checked out into a temporary one."""
    if Path(given, "msnb").is_dir():
        yield Path(given).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "checkout")
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", path, given], cwd=HERE, check=True)
        try:
            yield path.resolve()
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", path], cwd=HERE, check=True)


def main():
    """Print a table; the exit status is 1 where something became slower."""
    from tqdm import tqdm

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("benchmark", nargs="*", default=["dispatch", "eager"])
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--limit", type=float, default=1.02)
    options = parser.parse_args()
    slower = 0
    with checkout(options.old) as old, checkout(options.new) as new:
        for name in options.benchmark:
            found = {old: [], new: []}
            for pair in tqdm(range(options.pairs), desc=name, leave=False):
                for side in (old, new) if pair % 2 == 0 else (new, old):
                    found[side].append(run(side, name))
            for row in found[new][0]:
                before, after = ([times[row] for times in found[side]] for side in (old, new))
                middle, low, high = interval([b / a for a, b in zip(before, after)])
                worse = low > options.limit
                slower += worse
                print(
                    f"{name:10} {row:28} {statistics.median(before) * 1e6:9.1f} -> "
                    f"{statistics.median(after) * 1e6:9.1f} us   {middle:5.3f}x  [{low:5.3f}, {high:5.3f}]  "
                    f"{'SLOWER' if worse else 'ok'}",
                    flush=True,
                )
    return int(slower > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        import msnb

        print(json.dumps({"times": measure(sys.argv[2]), "msnb": msnb.__file__}))
        sys.exit(0)
    sys.exit(main())
