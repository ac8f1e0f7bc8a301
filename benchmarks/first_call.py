"""Measure the first call of a network and its first ten: cold, with programs on disk, and with MindSpore.

    python benchmarks/first_call.py [--mindspore PYTHON] [--mindcv FOLDER] [--rounds 3] [ROW...]

Each figure comes from a fresh process, by turns, and excludes imports and the construction of the network. PYTHON is an
interpreter with MindSpore 2. FOLDER contains the package mindcv, whose networks then are rows too. Both frameworks run
the same source. Cold: nothing is on disk. Warm: the programs of the cold run are on disk. Full and quick: nothing is on
disk, and `compile_effort` has this value. The table has medians of wall seconds.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROWS = ["lenet", "resnet50", "encoder", "gru", "lenet forward, PYNATIVE", "lenet, PYNATIVE"]
ROWS_OF_MINDCV = ["resnet18", "mobilenet_v2_100", "mobilenet_v3_small_100"]
STEPS = 10


def make_network(name):
    """Return (network, shape of its input)."""
    import networks

    from mindspore import nn

    if name == "lenet":
        return networks.LeNet(), (32, 1, 32, 32)
    if name == "resnet50":
        return networks.ResNet50(), (8, 3, 64, 64)
    if name == "encoder":
        return networks.Encoder(), (8, 128, 256)
    if name == "gru":

        class Recurrent(nn.Cell):
            """A GRU over 20 steps, and ten classes from its last output."""

            def __init__(self):
                super().__init__()
                self.gru, self.head = nn.GRU(32, 64, batch_first=True), nn.Dense(64, 10)

            def construct(self, x):
                return self.head(self.gru(x)[0][:, -1])

        return Recurrent(), (16, 20, 32)
    from mindcv.models import create_model

    return create_model(name, num_classes=10), (2, 3, 64, 64)


def run_row(row):
    """Run one row in this process, with the module that `import mindspore` imports."""
    name, _, mode = row.partition(", ")
    name, _, is_forward = name.partition(" ")
    if "--msnb" in sys.argv:
        import msnb.alias

        msnb.alias.install(api=2, warn=False)
    import numpy as np
    from networks import training_step

    import mindspore as ms
    from mindspore import Tensor

    for effort in ("full", "quick"):
        if f"--{effort}" in sys.argv:
            ms.set_context(compile_effort=effort)
    ms.set_context(mode=ms.PYNATIVE_MODE if mode else ms.GRAPH_MODE)
    random = np.random.default_rng(0)
    net, shape = make_network(name)
    x = Tensor(random.random(shape, np.float32))
    y = Tensor(random.integers(0, 10, shape[0]).astype(np.int32))
    step = net if is_forward else training_step(net)
    inputs = (x,) if is_forward else (x, y)
    start = time.perf_counter()
    step(*inputs).asnumpy()
    first = time.perf_counter() - start
    for _ in range(STEPS - 1):
        step(*inputs).asnumpy()
    print(json.dumps([first, time.perf_counter() - start]))


def run_in_process(python, row, *options, **environment):
    """Return [seconds of the first step, seconds of the first ten] of a fresh process."""
    command = [python, __file__, "--child", row, *options]
    process = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if process.returncode:
        raise SystemExit(f"{row} failed:\n{process.stderr[-2000:]}")
    return json.loads(process.stdout.splitlines()[-1])


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row", nargs="*")
    parser.add_argument("--mindspore")
    parser.add_argument("--mindcv")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.mindcv:
        os.environ["PYTHONPATH"] = os.pathsep.join([os.environ.get("PYTHONPATH", ""), options.mindcv])
    names = ["cold", "warm", "full", "quick", "MindSpore"]
    print(f"{'seconds: first step (ten steps)':34}" + "".join(f"{name:>16}" for name in names))
    for row in options.row or ROWS + ROWS_OF_MINDCV * bool(options.mindcv):
        times = {name: [] for name in names}
        for _ in range(options.rounds):
            with tempfile.TemporaryDirectory() as cache:
                for name in ("cold", "warm"):
                    times[name].append(
                        run_in_process(sys.executable, row, "--msnb", MSNB_CACHE=cache, MSNB_COMPILE_CACHE="")
                    )
            for name in ("full", "quick"):
                times[name].append(run_in_process(sys.executable, row, "--msnb", f"--{name}", MSNB_COMPILE_CACHE="0"))
            if options.mindspore:
                times["MindSpore"].append(run_in_process(options.mindspore, row))
        cells = [
            [statistics.median(column) for column in zip(*times[name], strict=True)] for name in names if times[name]
        ]
        print(f"{row:34}" + "".join(f"{f'{first:.2f} ({ten:.2f})':>16}" for first, ten in cells), flush=True)


if __name__ == "__main__":
    run_row(sys.argv[2]) if "--child" in sys.argv else main()
