"""Measure data pipelines of msnb, MindSpore, torch's DataLoader and grain, in samples per CPU-second.

    python benchmarks/dataset.py --mindspore PYTHON --torch PYTHON --grain PYTHON [--only WORD] [--rounds 5]

Every side runs in a process of its own, through its public iterator, and reads the same generated files. The sides
take turns; a side without a turn is stopped. A figure is the median of samples / CPU-second over the rounds. CPU time
is that of all threads and child processes since the end of the round before, so prefetched work counts too. `first` is
one epoch of a new pipeline, its opening included. `later` are further epochs of one pipeline; msnb caches a part of it
in memory. The last line is the step time of a LeNet-5 that reads the first of these pipelines, beside batches in
memory.
"""

import argparse
import atexit
import functools
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from pipelines.files import make_files, make_mnist, make_text
from pipelines.others import make_grain_pipelines, make_torch_pipelines
from pipelines.programs import make_pipelines
from pipelines.training import measure_training

_MARK = "=> "

SIDES = {
    "msnb": lambda folder: make_pipelines("msnb", folder),
    "mindspore": lambda folder: make_pipelines("mindspore", folder),
    "torch": make_torch_pipelines,
    "grain": make_grain_pipelines,
}


def measure_cpu():
    """Return the CPU seconds of this process and of its descendants so far."""
    own = os.times()
    total, tick = time.process_time() + own.children_user + own.children_system, os.sysconf("SC_CLK_TCK")
    visited, todo = set(), [os.getpid()]
    while todo:
        pid = todo.pop()
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as file:
                    todo += [int(p) for p in file.read().split()]
            if pid != os.getpid() and pid not in visited:
                with open(f"/proc/{pid}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
                total += sum(map(int, fields[11:15])) / tick
            visited.add(pid)
        except OSError:
            continue
    return total


def serve(side, folder):
    """Print the names of the pipelines, then run the epochs that the parent asks for and print their figures."""
    pipelines = SIDES[side](folder)
    print(_MARK + json.dumps(sorted(pipelines)), flush=True)
    current = None  # (name, iterator, samples)
    for line in sys.stdin:
        name, kind, seconds = json.loads(line)
        try:
            answer = None
            if kind == "first":
                current = None
                before, wall = measure_cpu(), time.perf_counter()
                iterator, samples = pipelines[name]()
                for _ in iterator:
                    pass
                answer = [samples, measure_cpu() - before, time.perf_counter() - wall]
                current = (iterator, samples)
                cpu_at_end = measure_cpu()
            elif kind == "later":
                wall, epochs = time.perf_counter(), 0
                while time.perf_counter() - wall < seconds:
                    for _ in current[0]:
                        pass
                    epochs += 1
                now = measure_cpu()
                answer = [epochs * current[1], now - cpu_at_end, time.perf_counter() - wall]
                cpu_at_end = now
            print(_MARK + json.dumps(answer), flush=True)
        except Exception as error:
            print(_MARK + json.dumps(f"{type(error).__name__}: {error}"), flush=True)


class Side:
    """A process that runs the pipelines of one library. It is stopped while it has no turn."""

    def __init__(self, name, python, folder, log):
        environment = dict(os.environ)
        if name != "msnb":
            environment.pop("PYTHONPATH", None)
        self.name = name
        self.process = subprocess.Popen(
            [python, os.path.abspath(__file__), "--serve", name, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment,
        )
        self.pipelines = self._answer() or []
        if not self.pipelines:
            print(f"{name}: {python} cannot run it (see --log)", file=sys.stderr)

    def _answer(self):
        for line in self.process.stdout:
            if line.startswith(_MARK):  # the libraries print too
                return json.loads(line[len(_MARK) :])
        return None

    def ask(self, *question):
        """Send a question to the process and return its answer."""
        os.kill(self.process.pid, signal.SIGCONT)
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = self._answer()
        os.kill(self.process.pid, signal.SIGSTOP)
        return answer

    def end(self):
        os.kill(self.process.pid, signal.SIGCONT)
        self.process.kill()
        self.process.wait()


def compare(sides, name, rounds, seconds):
    """Return {side: (first, later) samples per CPU-second}, medians over interleaved rounds. Print failures."""
    available = [s for s in sides if name in s.pipelines]
    rates = {s.name: {"first": [], "later": []} for s in available}
    failed = {}
    for kind in ("first", "later"):
        for _ in range(rounds):
            for side in available:
                if side.name in failed:
                    continue
                answer = side.ask(name, kind, seconds)
                if not isinstance(answer, list):
                    failed[side.name] = str(answer or "the process ended")
                    continue
                rates[side.name][kind].append(answer[0] / max(answer[1], 1e-9))
    for side, sentence in failed.items():
        print(f"{name}: {side} failed: {sentence.splitlines()[0]}", file=sys.stderr)
    return {s: tuple(statistics.median(r[k]) for k in ("first", "later")) for s, r in rates.items() if s not in failed}


def format_rate(rate):
    return f"{rate / 1000:.1f}k" if rate < 1e5 else f"{rate / 1000:.0f}k"


def main():
    """Measure every pipeline with every Python of the options, and print rates and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in list(SIDES)[1:]:
        parser.add_argument(f"--{name}", metavar="PYTHON", help=f"a Python that has {name}")
    parser.add_argument("--only", default="", help="pipelines whose name contains this")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.7, help="wall time of a round of later epochs")
    parser.add_argument("--log", default=os.devnull, help="file for what the libraries print")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--training", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(*options.serve)
        return
    if options.training:
        print(_MARK + json.dumps(measure_training(options.training, options.rounds)), flush=True)
        return
    with tempfile.TemporaryDirectory() as folder, open(options.log, "w") as log:
        make_files(folder)
        pythons = {"msnb": sys.executable, **{n: getattr(options, n) for n in list(SIDES)[1:]}}
        sides = [Side(name, python, folder, log) for name, python in pythons.items() if python]
        try:
            head = "".join(f"{s.name:>11}{'later':>9}" for s in sides)
            head += "".join(f"{'/ ' + s.name:>13}{'later':>8}" for s in sides[1:])
            print(f"{'samples per CPU-second':26}{head}", flush=True)
            for name in list_pipelines():
                if options.only.lower() not in name.lower():
                    continue
                rates = compare(sides, name, options.rounds, options.seconds)
                line = f"{name:26}"
                for s in sides:
                    pair = rates.get(s.name)
                    line += f"{format_rate(pair[0]):>11}{format_rate(pair[1]):>9}" if pair else f"{'-':>20}"
                for s in sides[1:]:
                    ours, pair = rates.get("msnb"), rates.get(s.name)
                    line += f"{ours[0] / pair[0]:12.1f}x{ours[1] / pair[1]:7.1f}x" if ours and pair else f"{'-':>21}"
                print(line, flush=True)
        finally:
            for side in sides:
                side.end()
        if options.only.lower() in "training":
            print_training(folder, options.rounds)


def print_training(folder, rounds):
    """Measure the step times of a training in a fresh process, and print them."""
    command = [sys.executable, os.path.abspath(__file__), "--training", folder, "--rounds", str(rounds)]
    process = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in process.stdout.splitlines() if line.startswith(_MARK)]
    if not lines:
        print(f"training: failed: {process.stderr.splitlines()[-1:]}", file=sys.stderr)
        return
    times = json.loads(lines[-1][len(_MARK) :])
    base = times["in memory"]
    print("LeNet-5, ms per step:     " + ", ".join(f"{n} {t:.2f} ({t / base:.2f}x)" for n, t in times.items()))


def list_pipelines():
    """Return the names of the pipelines, in the order of the table."""
    return list(make_pipelines("msnb", ""))


@functools.cache
def make_quick_files():
    """Return a folder with the files that take little time to write: MNIST and text."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    make_mnist(folder, np.random.default_rng(0))
    make_text(folder, np.random.default_rng(0))
    return folder


def make_epoch(name):
    """Return a function that runs one further epoch of a pipeline of msnb."""
    iterable, _ = make_pipelines("msnb", make_quick_files())[name]()

    def epoch():
        for _ in iterable:
            pass

    return epoch


# Rows of `compare.py`: one further epoch, in wall seconds.
_QUICK = ("MNIST, LeNet's", "GeneratorDataset", "random access, function", "NumpySlicesDataset", "text, white space")
TIMED = {name: functools.partial(make_epoch, name) for name in _QUICK}


if __name__ == "__main__":
    main()
