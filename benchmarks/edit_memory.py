"""Measure memory and time of a notebook session that edits one network again and again.

    python benchmarks/edit_memory.py [--edits N] [--without-views] [--with-cell-ids] [--holders]

Each edit runs the cell of a network of another width: a new class, three training steps in GRAPH mode, gradients, and
a view as the value of the cell, which IPython stores in `Out`. The output is the resident memory of both halves of the
session, after a garbage collection and after freed memory has gone back to the system, and the time of the first and
the last edits. `--holders` prints the objects whose number grows with each edit.
"""

import argparse
import collections
import contextlib
import ctypes
import gc
import io
import os
import statistics
import tempfile
import time

CELL = """%%mindspore -m graph
import numpy as np
import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Tensor
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.act, self.second = nn.Dense(16, {width}), nn.ReLU(), nn.Dense({width}, 1)
    def construct(self, x):
        return self.second(self.act(self.first(x)))
net = Net()
loss_net = nn.WithLossCell(net, nn.MSELoss())
step = nn.TrainOneStepCell(loss_net, nn.Momentum(net.trainable_params(), 0.01, 0.9)).set_train()
x, y = Tensor(np.ones((8, 16), np.float32)), Tensor(np.ones((8, 1), np.float32))
for _ in range(3):
    loss = step(x, y)
gradients = ops.GradOperation(get_by_list=True)(loss_net, net.trainable_params())(x, y)
"""
VIEW = "import msnb\nmsnb.view(net, x)"


def main():
    """Edit the network, and print memory and times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edits", type=int, default=150)
    parser.add_argument("--without-views", action="store_true")
    parser.add_argument("--with-cell-ids", action="store_true", help="the front end sends the id of the cell")
    parser.add_argument("--holders", action="store_true")
    options = parser.parse_args()
    from IPython.core.interactiveshell import InteractiveShell

    folder = tempfile.TemporaryDirectory()  # programs of earlier sessions would not be compiled again
    os.environ["MSNB_CACHE"] = folder.name
    shell = InteractiveShell.instance()
    if options.with_cell_ids:
        shell.parent_header = {"metadata": {"cellId": "view"}, "content": {"store_history": True}}
    shell.run_line_magic("load_ext", "msnb")
    memory, seconds, counts = [], [], []
    for edit in range(options.edits):
        start = time.perf_counter()
        run_cell(shell, CELL.format(width=32 + edit * 67 % 151))  # small and large ones throughout the session
        if not options.without_views:
            run_cell(shell, VIEW)
        seconds.append(time.perf_counter() - start)
        memory.append(measure_memory())
        if options.holders:
            counts.append(count_objects())
    half, window = options.edits // 2, max(1, options.edits // 15)
    print(f"start {memory[0]:.1f} MB, end {memory[-1]:.1f} MB")
    print(
        f"growth per edit: first half {(memory[half] - memory[0]) / half:.2f} MB, "
        f"second half {(memory[-1] - memory[half]) / (options.edits - 1 - half):.2f} MB"
    )
    first, last = seconds[1 : 1 + window], seconds[-window:]
    print(f"an edit takes {statistics.median(first):.3f} s at first, {statistics.median(last):.3f} s at the end")
    if options.holders:
        print_growth(counts[half], counts[-1], options.edits - 1 - half)


def run_cell(shell, text):
    """Run a cell as a notebook does, with its history and without its output."""
    with contextlib.redirect_stdout(io.StringIO()):
        cell = "view" if hasattr(shell, "parent_header") else None
        result = shell.run_cell(text, store_history=True, cell_id=cell)
    result.raise_error()


def measure_memory():
    """Return the resident memory in MB after garbage collection, without freed memory that the allocator retains."""
    gc.collect()
    if hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def count_objects():
    """Return the number of live objects of each type."""
    return collections.Counter(f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.get_objects())


def print_growth(before, after, edits):
    """Print the types whose number of objects grows the most."""
    growth = {kind: (after[kind] - before[kind]) / edits for kind in after}
    for kind, number in sorted(growth.items(), key=lambda item: -item[1])[:60]:
        if number >= 0.2:
            print(f"{number:10.1f} {kind}")


if __name__ == "__main__":
    main()
