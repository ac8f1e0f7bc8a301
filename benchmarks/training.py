"""First calls and warm steps beside MindSpore, PyTorch and JAX: seconds, milliseconds and peak memory.

    python benchmarks/training.py [--mindspore PYTHON] [--torch PYTHON] [--rounds 3] [--seconds 2] [ROW...]
    python benchmarks/training.py --check [--mindspore PYTHON] [--torch PYTHON] [ROW...]
    python benchmarks/training.py --record docs/speed.json ...   # also writes docs/speed.md

The two options name interpreters that have MindSpore 2 or PyTorch; without them these are left out. JAX runs the same
network, written by hand. A row in PYNATIVE mode is compared with the eager modes of MindSpore and PyTorch.

Each round starts a fresh process for each framework, in turns. The process compiles with an empty cache, warms up and
runs steps for two seconds. The figures of a round are the seconds of the first call, the median wall time and the mean
CPU time of a step, and the peak memory of the process. The table shows medians over rounds, and ratios of msnb to
MindSpore and to the best of all others. CPU time counts both cores, and is fairer than wall time on a busy machine.

On Linux all processes start with the setting of huge pages that `msnb run` uses.

On a GPU wall time is the figure, and --batch enlarges the batch.

With --check nothing is timed: each framework takes msnb's weights and must compute the same losses or outputs.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import speed_page
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
WARM_UP_STEPS = 3  # also the number of steps that --check compares
QUICK_STEPS = 65  # of msnb in GRAPH mode: by then the full executable runs, see docs/faq.md
TOLERANCE = 1e-4  # float32 through fifty layers; each framework sums in another order
FIGURES = ("first s", "wall ms", "CPU ms", "peak MB")


def measure(peer, seconds, n_warm_up):
    """Return the figures of one process, for at least five steps, and the number of trained numbers."""
    start = time.perf_counter()
    peer.call()
    first = time.perf_counter() - start
    for _ in range(n_warm_up):
        peer.call()
    times, cpu, begin = [], time.process_time(), time.perf_counter()
    while len(times) < 5 or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        peer.call()
        times.append(time.perf_counter() - start)
    cpu = (time.process_time() - cpu) / len(times)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"figures": [first, statistics.median(times) * 1e3, cpu * 1e3, peak], "trained": peer.trained}


def compute_results(peer, file):
    """Return the results of the first steps with the weights of a file. Its names and shapes must be the network's."""
    with np.load(file) as weights:
        given = dict(weights)
    other = peer.shapes.items() ^ {name: value.shape for name, value in given.items()}.items()
    if other:
        raise SystemExit(f"Not the same in both networks: {sorted(other)}")
    peer.load(given)
    return {"results": [peer.call().tolist() for _ in range(WARM_UP_STEPS)], "trained": peer.trained}


def write_weights(shapes, file):
    """Write random weights of a network. No two layers and no two channels are alike.

    The last scale of a bottleneck is small. Where it is large, training is chaotic: a step of ResNet-50 in float32
    differs by 7 % from that in float64.
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


def run_child(who, name, device, batch, option, value):
    """Run one row in this process, and print its result as JSON."""
    row = ROWS[name]
    peer = PEERS[who](row._replace(device=device, shape=(int(batch) or row.shape[0], *row.shape[1:])))
    if option == "--weights":
        if who == "msnb":
            write_weights(peer.shapes, value)
        result = compute_results(peer, value)
    else:
        has_quick_start = who == "msnb" and row.mode == "GRAPH"
        result = measure(peer, float(value), QUICK_STEPS if has_quick_start else WARM_UP_STEPS)
    print(json.dumps(result | {"version": speed_page.find_version(who)}))


def run(python, who, name, where, *options):
    """Return the result of a fresh process, whose compilation cache is empty."""
    command = [python, __file__, "--child", who, name, *where, *map(str, options)]
    from msnb._util import huge_pages  # here, because the interpreters of other frameworks run this file without msnb

    environment, setting = os.environ | {"MSNB_COMPILE_CACHE": "0"}, huge_pages.find_setting()
    if setting is not None:
        environment[huge_pages.VARIABLE] = setting
    process = subprocess.run(command, capture_output=True, text=True, env=environment)
    if process.returncode:
        raise SystemExit(f"{name} failed with {who}:\n{process.stderr[-2000:]}")
    return json.loads(process.stdout.splitlines()[-1])


def refuse_other_networks(name, results):
    """Raise SystemExit if the networks do not train the same number of numbers."""
    trained = {who: result["trained"] for who, result in results.items()}
    if len(set(trained.values())) > 1:
        raise SystemExit(f"{name}: the networks are not the same, they train {trained} numbers")


def check(name, pythons, where):
    """Print the largest difference of each framework to msnb. Raise SystemExit if it is too large."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "weights.npz"
        results = {who: run(python, who, name, where, "--weights", file) for who, python in pythons.items()}
    refuse_other_networks(name, results)
    own, differences = np.array(results.pop("msnb")["results"]), {}
    for who, result in results.items():
        other = np.array(result["results"])
        if other.shape != own.shape:
            raise SystemExit(f"{name}: {who} has results of shape {other.shape[1:]}, msnb {own.shape[1:]}")
        differences[who] = np.abs(other - own).max() / np.abs(own).max()
    print(f"{name:24} {', '.join(f'{who} {difference:.0e}' for who, difference in differences.items())}", flush=True)
    if not all(difference < TOLERANCE for difference in differences.values()):
        raise SystemExit(f"{name}: the results differ by more than {TOLERANCE}; msnb's are {own.tolist()}")


def compare(name, pythons, where, rounds, seconds):
    """Print the figures of a row and the ratios of msnb.

    Returns:
        dict, {framework: {"figures": medians over the rounds, "version": text}}.
    """
    figures, versions = {who: [] for who in pythons}, {}
    turns = list(pythons.items())
    for _ in range(rounds):
        results = {who: run(python, who, name, where, "--seconds", seconds) for who, python in turns}
        refuse_other_networks(name, results)
        for who, result in results.items():
            figures[who].append(result["figures"])
            versions[who] = result["version"]
        turns.append(turns.pop(0))  # another framework begins the next round
    medians = {who: [statistics.median(v) for v in zip(*runs, strict=True)] for who, runs in figures.items()}
    for who, values in medians.items():
        print(f"{name:24} {who:16} {' '.join(f'{value:9.2f}' for value in values)}", flush=True)
    own, others = medians["msnb"], {who: values for who, values in medians.items() if who != "msnb"}
    if others:
        best = [min(values) for values in zip(*others.values(), strict=True)]
        beside = {who: values for who, values in others.items() if who == "MindSpore"} | {"best peer": best}
        for who, values in beside.items():
            ratios = " ".join(f"{mine / other:8.2f}x" for mine, other in zip(own, values, strict=True))
            print(f"{'':24} {'msnb / ' + who:16} {ratios}", flush=True)
    return {who: {"figures": values, "version": versions[who]} for who, values in medians.items()}


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row", nargs="*", default=list(ROWS), help=f"of {', '.join(ROWS)}")
    parser.add_argument("--mindspore")
    parser.add_argument("--torch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--record", type=Path, help="JSON file of earlier rows; the page beside it is written anew")
    parser.add_argument("--device", choices=("CPU", "GPU"), default="CPU")
    parser.add_argument("--batch", type=int, default=0, help="of all rows, in place of their own")
    options = parser.parse_args()
    where = options.device, str(options.batch)
    pythons = {"msnb": sys.executable, "MindSpore": options.mindspore, "PyTorch": options.torch, "JAX": sys.executable}
    for name in options.row:
        if name not in ROWS:
            parser.error(f"there is no row {name!r}; choose of {', '.join(ROWS)}")
    if options.check:
        print(f"{'the same weights':24} largest difference to msnb, as a share of the largest result")
    else:
        print(f"{'':41} {' '.join(f'{figure:>9}' for figure in FIGURES)}")
    for name in options.row:
        present = {who: python for who, python in pythons.items() if python}
        if ROWS[name].mode == "PYNATIVE":
            del present["JAX"]  # its networks here are compiled as one program
        if options.check:
            check(name, present, where)
            continue
        results = compare(name, present, where, options.rounds, options.seconds)
        if options.record:
            row = ROWS[name]
            setting = {"input": [options.batch or row.shape[0], *row.shape[1:]], "rounds": options.rounds}
            speed_page.record(options.record, name, setting | {"device": options.device, "frameworks": results})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        run_child(*sys.argv[2:])
    else:
        main()
