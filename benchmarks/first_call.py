"""Time of the first call of a network and of its first ten: cold, with programs on disk, and with MindSpore.

    python benchmarks/first_call.py [--mindspore PYTHON] [--mindcv FOLDER] [--rounds 3] [ROW...]

Each figure is that of a fresh process, by turns; importing and making the network are not part of it. PYTHON is an
interpreter with MindSpore 2, FOLDER contains the package mindcv, whose networks are rows then. The networks are written
once and run on both. Cold: nothing is on disk; warm: what the cold run compiled is there; full and quick: nothing is,
with `compile_effort`. Printed are medians of wall seconds.
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
OF_MINDCV = ["resnet18", "mobilenet_v2_100", "mobilenet_v3_small_100"]
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


def child(row):
    """Run one row in this process, by whatever `import mindspore` gives."""
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


def run(python, row, *options, **environment):
    """Return [seconds of the first step, seconds of the first ten] of a fresh process."""
    command = [python, __file__, "--child", row, *options]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        raise SystemExit(f"{row} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


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
    for row in options.row or ROWS + OF_MINDCV * bool(options.mindcv):
        times = {name: [] for name in names}
        for _ in range(options.rounds):
            with tempfile.TemporaryDirectory() as cache:
                for name in ("cold", "warm"):
                    times[name].append(run(sys.executable, row, "--msnb", MSNB_CACHE=cache, MSNB_COMPILE_CACHE=""))
            for name in ("full", "quick"):
                times[name].append(run(sys.executable, row, "--msnb", f"--{name}", MSNB_COMPILE_CACHE="0"))
            if options.mindspore:
                times["MindSpore"].append(run(options.mindspore, row))
        cells = [
            [statistics.median(column) for column in zip(*times[name], strict=True)] for name in names if times[name]
        ]
        print(f"{row:34}" + "".join(f"{f'{first:.2f} ({ten:.2f})':>16}" for first, ten in cells), flush=True)


if __name__ == "__main__":
    child(sys.argv[2]) if "--child" in sys.argv else main()
