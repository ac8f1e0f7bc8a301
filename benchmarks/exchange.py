"""Files of others: how long ResNet-50 takes to be exported, looked at and loaded, and how fast it runs when it is back.

    python benchmarks/exchange.py [--rounds 15] [--batch 4]

Exports, views and loads are timed as users meet them, the first in a process, each in a process of its own: what is
loaded for it counts, `import msnb` does not. The Cell of the file and the Cell by hand are run in GRAPH mode by turns;
the ratios, of seconds and of seconds of CPU, are medians over rounds of one call of each. Both see the same batch.
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
TRIES = 3


def resnet(batch):
    """ResNet-50 in evaluation, and images."""
    net = ResNet50().set_train(False)
    return net, Tensor(np.random.default_rng(0).standard_normal((batch, 3, 224, 224)).astype(np.float32))


def timed(call):
    """Seconds of a call, and of CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu


def export(folder, kind):
    """`timed` of exporting ResNet-50, a batch of one; its Parameters are there."""
    net, x = resnet(1)
    return timed(lambda: ms.export(net, x, file_name=str(folder / "resnet"), file_format=kind))


def view(folder, ending):
    """`timed` until the page of a file's graph, which needs nothing else, is saved."""
    return timed(lambda: ms.view(str(folder / f"resnet.{ending}")).save(str(folder / "page.html")))


def load(folder, ending):
    """`timed` until a file is a Cell that could be called."""
    path = str(folder / f"resnet.{ending}")
    return timed(lambda: ms.load_onnx(path) if ending == "onnx" else nn.GraphCell(ms.load(path)))


def alone(folder, name, argument):
    """The median seconds, and those of CPU, of a function of this file that is called in fresh processes, as text."""
    command = [sys.executable, __file__, "--folder", str(folder), "--only", name, argument]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(TRIES)]
    found = [[float(number) for number in run.split()[-2:]] for run in runs]
    wall, cpu = (statistics.median(column) for column in zip(*found, strict=True))
    return f"{wall:7.2f} s   {cpu:6.2f} s of CPU"


def side_by_side(folder, batch, rounds):
    """(seconds by hand, seconds of the Cell of the file, the ratio of these, the ratio of seconds of CPU)."""
    ms.set_context(mode=ms.GRAPH_MODE)
    net, x = resnet(batch)
    ms.export(net, x, file_name=str(folder / "batch"), file_format="ONNX")
    cells = [net, ms.load_onnx(str(folder / "batch.onnx")).set_train(False)]
    for cell in cells * 2:
        cell(x).asnumpy()
    times = []
    for number in range(rounds):
        order = (0, 1) if number % 2 else (1, 0)
        found = {i: timed(lambda i=i: cells[i](x).asnumpy()) for i in order}
        times.append((*found[0], *found[1]))
    hand, _, read, _ = (statistics.median(column) for column in zip(*times, strict=True))
    wall, cpu = (statistics.median(row[2 + i] / row[i] for row in times) for i in (0, 1))
    return hand, read, wall, cpu


def main(options):
    """Print the rows."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind in FORMATS:
            seconds = alone(folder, "export", kind)
            print(f"export to {kind:22} {seconds}   {os.path.getsize(folder / f'resnet.{kind.lower()}') / 1e6:6.1f} MB")
        for ending in ("onnx", "mindir"):
            print(f"view of the {ending:20} {alone(folder, 'view', ending)}")
            print(f"Cell of the {ending:20} {alone(folder, 'load', ending)}")
        hand, read, wall, cpu = side_by_side(folder, options.batch, options.rounds)
        print(f"one call by hand, batch {options.batch:8} {hand * 1e3:7.1f} ms")
        print(f"one call of the ONNX file        {read * 1e3:7.1f} ms   {wall:.3f}x, of CPU {cpu:.3f}x")


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
