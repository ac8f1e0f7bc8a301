"""Measure the time that `import msnb` adds to `import jax`, and the modules that take most of it.

    python benchmarks/imports.py [--rounds 9] [--modules 15]
    python benchmarks/compare.py OLD NEW imports

Each figure is the median over fresh processes, by turns, with all bytecode on disk. A first process, which does not
count, writes it to a temporary folder. The modules are those that `python -X importtime` names, with their own time and
that of the modules they are the first to import.
"""

import argparse
import atexit
import functools
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

_MEASURE = """
import json, time
wall, cpu = time.perf_counter(), time.process_time()
import {0}
print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu]))
"""
_LINE = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \|\s*(\S+)")


def run_python(environment, *arguments):
    """Run this Python and return the finished process."""
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True, env=environment)


def list_largest_modules(environment, count):
    """Return [(own seconds, seconds with imports, module)] of the modules of msnb that take longest."""
    lines = map(_LINE.match, run_python(environment, "-X", "importtime", "-c", "import jax, msnb").stderr.splitlines())
    rows = [(int(line[1]) / 1e6, int(line[2]) / 1e6, line[3]) for line in lines if line]
    return sorted([row for row in rows if row[2].split(".")[0] == "msnb"], reverse=True)[:count]


@functools.cache
def make_environment():
    """Return an environment with all bytecode in a folder that is removed when this process ends."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
    run_python(environment, "-c", "import msnb")
    return environment


TIMED = {
    "import msnb": lambda: lambda: run_python(make_environment(), "-c", "import msnb").stdout,
    "import jax (control)": lambda: lambda: run_python(make_environment(), "-c", "import jax").stdout,
}


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--modules", type=int, default=15)
    options = parser.parse_args()
    times = {"jax": [], "msnb": []}
    environment = make_environment()
    for _ in range(options.rounds):
        for name, rows_of_name in times.items():
            rows_of_name.append(json.loads(run_python(environment, "-c", _MEASURE.format(name)).stdout))
    rows = list_largest_modules(environment, options.modules)
    medians = {
        name: [statistics.median(column) for column in zip(*rows_of_name)] for name, rows_of_name in times.items()
    }
    for name, (wall, cpu) in medians.items():
        print(f"import {name:12} {wall:6.3f} s   {cpu:6.3f} s of CPU")
    added = [after - before for before, after in zip(*medians.values(), strict=True)]
    print(f"msnb adds {'':9} {added[0]:6.3f} s   {added[1]:6.3f} s of CPU\n")
    for own, with_imports, name in rows:
        print(f"{own * 1e3:7.1f} ms   {with_imports * 1e3:7.1f} ms   {name}")


if __name__ == "__main__":
    main()
