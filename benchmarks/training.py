"""Warm steps beside MindSpore, PyTorch and JAX: milliseconds and peak memory of training and inference.

    python benchmarks/training.py [--mindspore PYTHON] [--torch PYTHON] [--rounds 3] [--seconds 2] [ROW...]
    python benchmarks/training.py --check [--mindspore PYTHON] [--torch PYTHON] [ROW...]

The two options name interpreters that have MindSpore 2 or PyTorch; without them these are left out. JAX is what msnb
runs on, with a network written by hand. A row of PYNATIVE mode has MindSpore's and PyTorch's eager mode beside it.

Each round is a fresh process of each framework, by turns, which compiles, warms up and runs a row for two seconds.
Printed are medians over the rounds of the median wall and the mean CPU milliseconds of a step and of the process's
peak memory, and the ratios of msnb to MindSpore and, figure by figure, to the best of all others. CPU time is the
fairer one on a machine that does other work, and counts both cores.

On a GPU, whose work is mostly waiting for it here, wall time is the figure, and --batch gives it enough to do.

With --check nothing is timed: each framework takes msnb's weights and has to come to the same losses or outputs.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from peers import PEERS, Row

ROWS = {
    "mlp train": Row("MLP", (32, 64)),
    "lenet train": Row("LeNet", (32, 1, 32, 32)),
    "lenet train, PYNATIVE": Row("LeNet", (32, 1, 32, 32), mode="PYNATIVE"),
    "encoder train": Row("Encoder", (8, 128, 256)),
    "encoder train, PYNATIVE": Row("Encoder", (8, 128, 256), mode="PYNATIVE"),
    "resnet50 train": Row("ResNet50", (8, 3, 64, 64)),
    "resnet50 predict": Row("ResNet50", (1, 3, 224, 224), trained=False),
    "resnet50 predict, frozen": Row("ResNet50", (1, 3, 224, 224), trained=False, frozen=True),
}
STEPS = 3  # that are compared, or warm up
TOLERANCE = 1e-4  # of float32 through fifty layers, whose sums are of another order in each framework


def timed(peer, seconds):
    """[wall ms, CPU ms, peak MB] of a step, of five steps at least; and how many numbers are trained."""
    for _ in range(STEPS):
        peer.call()
    times, cpu, begun = [], time.process_time(), time.perf_counter()
    while len(times) < 5 or time.perf_counter() - begun < seconds:
        start = time.perf_counter()
        peer.call()
        times.append(time.perf_counter() - start)
    cpu = (time.process_time() - cpu) / len(times)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"figures": [statistics.median(times) * 1e3, cpu * 1e3, peak], "trained": peer.trained}


def results(peer, file):
    """What the first steps give with the weights of a file, whose names and shapes have to be those of the network."""
    with np.load(file) as weights:
        given = dict(weights)
    other = peer.shapes.items() ^ {name: value.shape for name, value in given.items()}.items()
    if other:
        raise SystemExit(f"Not the same in both networks: {sorted(other)}")
    peer.load(given)
    return {"results": [peer.call().tolist() for _ in range(STEPS)], "trained": peer.trained}


def write_weights(shapes, file):
    """Random weights of a network, such that no two layers and no two channels can be mistaken for each other.

    What a bottleneck adds to its shortcut is small. Where it is large, training is chaotic: a step of ResNet-50 in
    float32 is then 7 % off that in float64.
    """
    random, weights = np.random.default_rng(1), {}
    for name, shape in shapes.items():
        if len(shape) > 1:
            value = random.standard_normal(shape) * (2 / np.prod(shape[1:])) ** 0.5
        else:
            middle = 0.2 if name.endswith("bn3.gamma") else name.endswith(("gamma", "moving_variance"))
            value = middle + random.uniform(-0.1, 0.1, shape)
        weights[name] = value.astype(np.float32)
    np.savez(file, **weights)


def child(who, row, device, batch, how, value):
    """Run one row in this process, and print what it gives as JSON."""
    made = ROWS[row]
    peer = PEERS[who](made._replace(device=device, shape=(int(batch) or made.shape[0], *made.shape[1:])))
    if how == "--weights":
        if who == "msnb":
            write_weights(peer.shapes, value)
        print(json.dumps(results(peer, value)))
    else:
        print(json.dumps(timed(peer, float(value))))


def run(python, who, row, where, *how):
    """What a fresh process gives."""
    command = [python, __file__, "--child", who, row, *where, *map(str, how)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{row} failed with {who}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def trains_as_many(row, found):
    """Refuse to compare networks that do not train as many numbers."""
    trained = {who: made["trained"] for who, made in found.items()}
    if len(set(trained.values())) > 1:
        raise SystemExit(f"{row}: the networks are not the same, they train {trained} numbers")


def check(row, pythons, where):
    """Print how far each framework's losses or outputs are from msnb's; an error where that is too far."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "weights.npz"
        found = {who: run(python, who, row, where, "--weights", file) for who, python in pythons.items()}
    trains_as_many(row, found)
    own, differences = np.array(found.pop("msnb")["results"]), {}
    for who, made in found.items():
        other = np.array(made["results"])
        if other.shape != own.shape:
            raise SystemExit(f"{row}: {who} gives {other.shape[1:]}, msnb {own.shape[1:]}")
        differences[who] = np.abs(other - own).max() / np.abs(own).max()
    print(f"{row:24} {', '.join(f'{who} {off:.0e}' for who, off in differences.items())}", flush=True)
    if not all(off < TOLERANCE for off in differences.values()):
        raise SystemExit(f"{row}: the results differ by more than {TOLERANCE}; msnb's are {own.tolist()}")


def compare(row, pythons, where, rounds, seconds):
    """Print the figures of a row, and msnb's ratios."""
    found = {who: [] for who in pythons}
    turns = list(pythons.items())
    for _ in range(rounds):
        made = {who: run(python, who, row, where, "--seconds", seconds) for who, python in turns}
        trains_as_many(row, made)
        for who in made:
            found[who].append(made[who]["figures"])
        turns.append(turns.pop(0))  # another one is the first in each round
    medians = {who: [statistics.median(v) for v in zip(*runs, strict=True)] for who, runs in found.items()}
    for who, figures in medians.items():
        print(f"{row:24} {who:16} {' '.join(f'{figure:9.2f}' for figure in figures)}", flush=True)
    own = medians.pop("msnb")
    if not medians:
        return
    best = [min(figures) for figures in zip(*medians.values(), strict=True)]
    beside = {who: figures for who, figures in medians.items() if who == "MindSpore"} | {"best peer": best}
    for who, figures in beside.items():
        ratios = " ".join(f"{mine / other:8.2f}x" for mine, other in zip(own, figures, strict=True))
        print(f"{'':24} {'msnb / ' + who:16} {ratios}", flush=True)


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row", nargs="*", default=list(ROWS), help=f"of {', '.join(ROWS)}")
    parser.add_argument("--mindspore")
    parser.add_argument("--torch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--device", choices=("CPU", "GPU"), default="CPU")
    parser.add_argument("--batch", type=int, default=0, help="of all rows, in place of their own")
    options = parser.parse_args()
    where = options.device, str(options.batch)
    pythons = {"msnb": sys.executable, "MindSpore": options.mindspore, "PyTorch": options.torch, "JAX": sys.executable}
    for row in options.row:
        if row not in ROWS:
            parser.error(f"there is no row {row!r}; choose of {', '.join(ROWS)}")
    if options.check:
        print(f"{'the same weights':24} largest difference to msnb's results, as a part of the largest result")
    else:
        print(f"{'a step':24} {'':16} {'wall ms':>9} {'CPU ms':>9} {'peak MB':>9}")
    for row in options.row:
        there = {who: python for who, python in pythons.items() if python}
        if ROWS[row].mode == "PYNATIVE":
            del there["JAX"]  # which compiles whole steps
        if options.check:
            check(row, there, where)
        else:
            compare(row, there, where, options.rounds, options.seconds)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main()
