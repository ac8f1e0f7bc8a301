"""Measure the export, the view and the load of ResNet-50, and its speed after a load from ONNX.

    python benchmarks/exchange.py [--rounds 15] [--batch 4]

Each export, view and load is the first in a process of its own. The modules that it imports count, `import msnb` does
not. The Cell of the file and the Cell by hand run in GRAPH mode by turns on the same batch. The ratios, of seconds and
of CPU seconds, are medians over rounds of one call of each.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import msnb as ms
import msnb.alias
from msnb import Tensor, nn

msnb.alias.install()

from networks import ResNet50  # noqa: E402

FORMATS = ("ONNX", "MINDIR", "STABLEHLO")
PROCESSES = 3


def make_resnet(batch):
    """Return ResNet-50 in evaluation, and images."""
    net = ResNet50().set_train(False)
    return net, Tensor(np.random.default_rng(0).standard_normal((batch, 3, 224, 224)).astype(np.float32))


def measure_time(call):
    """Return the seconds and the CPU seconds of a call."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu


def export(folder, kind):
    """Export ResNet-50 with a batch of one, and return its times. Its Parameters are initialised before."""
    net, x = make_resnet(1)
    return measure_time(lambda: ms.export(net, x, file_name=str(folder / "resnet"), file_format=kind))


def view(folder, ending):
    """Save the page of a file's graph, and return the times."""
    return measure_time(lambda: ms.view(str(folder / f"resnet.{ending}")).save(str(folder / "page.html")))


def load(folder, ending):
    """Load a file as a Cell, and return the times."""
    path = str(folder / f"resnet.{ending}")
    return measure_time(lambda: ms.load_onnx(path) if ending == "onnx" else nn.GraphCell(ms.load(path)))


def measure_in_processes(folder, name, argument):
    """Return the median seconds and CPU seconds of a function of this file in fresh processes, as text."""
    command = [sys.executable, __file__, "--folder", str(folder), "--only", name, argument]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(PROCESSES)]
    rows = [[float(number) for number in run.split()[-2:]] for run in runs]
    wall, cpu = (statistics.median(column) for column in zip(*rows, strict=True))
    return f"{wall:7.2f} s   {cpu:6.2f} s of CPU"


def measure_calls(folder, batch, rounds):
    """Return (seconds by hand, seconds of the Cell of the file, their ratio, the ratio of CPU seconds)."""
    ms.set_context(mode=ms.GRAPH_MODE)
    net, x = make_resnet(batch)
    ms.export(net, x, file_name=str(folder / "batch"), file_format="ONNX")
    cells = [net, ms.load_onnx(str(folder / "batch.onnx")).set_train(False)]
    for cell in cells * 2:
        cell(x).asnumpy()
    times = []
    for number in range(rounds):
        order = (0, 1) if number % 2 else (1, 0)
        seconds = {i: measure_time(lambda i=i: cells[i](x).asnumpy()) for i in order}
        times.append((*seconds[0], *seconds[1]))
    by_hand, _, from_file, _ = (statistics.median(column) for column in zip(*times, strict=True))
    wall, cpu = (statistics.median(row[2 + i] / row[i] for row in times) for i in (0, 1))
    return by_hand, from_file, wall, cpu


def main(options):
    """Print the rows."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind in FORMATS:
            seconds = measure_in_processes(folder, "export", kind)
            print(f"export to {kind:22} {seconds}   {os.path.getsize(folder / f'resnet.{kind.lower()}') / 1e6:6.1f} MB")
        for ending in ("onnx", "mindir"):
            print(f"view of the {ending:20} {measure_in_processes(folder, 'view', ending)}")
            print(f"Cell of the {ending:20} {measure_in_processes(folder, 'load', ending)}")
        by_hand, from_file, wall, cpu = measure_calls(folder, options.batch, options.rounds)
        print(f"one call by hand, batch {options.batch:8} {by_hand * 1e3:7.1f} ms")
        print(f"one call of the ONNX file        {from_file * 1e3:7.1f} ms   {wall:.3f}x, of CPU {cpu:.3f}x")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.only:
        function = {"export": export, "view": view, "load": load}[chosen.only[0]]
        print(*function(chosen.folder, chosen.only[1]))
    else:
        main(chosen)
