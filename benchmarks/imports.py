"""What `import msnb` adds to `import jax`, and which modules take most of it.

    python benchmarks/imports.py [--rounds 9] [--modules 15]
    python benchmarks/compare.py OLD NEW imports

Each figure is the median over fresh processes, by turns, with all bytecode there: the first of them, which is not
counted, writes it to a folder that goes afterwards. The modules are those that `python -X importtime` names, with
their own time and that of what they were the first to import.
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

_TIMED = """
import json, time
wall, cpu = time.perf_counter(), time.process_time()
import {0}
print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu]))
"""
_LINE = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \|\s*(\S+)")


def run(environment, *arguments):
    """The finished process of this Python."""
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True, env=environment)


def largest(environment, count):
    """[(own seconds, with what it imports, module)] of the modules of msnb that take longest."""
    lines = map(_LINE.match, run(environment, "-X", "importtime", "-c", "import jax, msnb").stderr.splitlines())
    rows = [(int(line[1]) / 1e6, int(line[2]) / 1e6, line[3]) for line in lines if line]
    return sorted([row for row in rows if row[2].split(".")[0] == "msnb"], reverse=True)[:count]


@functools.cache
def compiled():
    """The environment in which all bytecode is there, in a folder that goes when this process ends."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
    run(environment, "-c", "import msnb")
    return environment


TIMED = {
    "import msnb": lambda: lambda: run(compiled(), "-c", "import msnb").stdout,
    "import jax (control)": lambda: lambda: run(compiled(), "-c", "import jax").stdout,
}


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--modules", type=int, default=15)
    options = parser.parse_args()
    times = {"jax": [], "msnb": []}
    environment = compiled()
    for _ in range(options.rounds):
        for name, found in times.items():
            found.append(json.loads(run(environment, "-c", _TIMED.format(name)).stdout))
    rows = largest(environment, options.modules)
    middle = {name: [statistics.median(column) for column in zip(*found)] for name, found in times.items()}
    for name, (wall, cpu) in middle.items():
        print(f"import {name:12} {wall:6.3f} s   {cpu:6.3f} s of CPU")
    added = [after - before for before, after in zip(*middle.values(), strict=True)]
    print(f"msnb adds {'':9} {added[0]:6.3f} s   {added[1]:6.3f} s of CPU\n")
    for own, whole, name in rows:
        print(f"{own * 1e3:7.1f} ms   {whole * 1e3:7.1f} ms   {name}")


if __name__ == "__main__":
    main()
