"""What a person waits for: the first call of a network, cold, with programs on disk, and with real MindSpore.

    python benchmarks/first_call.py [--mindspore PYTHON] [--rounds 3] [ROW...]

Each figure is that of a fresh process, by turns; importing and making the network are not part of it. PYTHON is an
interpreter with MindSpore 2; the networks are written once and run on both. Cold: nothing is on disk; warm: what the
cold run compiled is there; quick: nothing is, with `compile_effort="quick"`. Printed are medians of wall and CPU
seconds, and their ratios to MindSpore's.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROWS = ("lenet train", "resnet50 train", "lenet forward, PYNATIVE")


def child(row):
    """Run one row in this process, by whatever `import mindspore` gives."""
    if "--msnb" in sys.argv:
        import msnb.alias

        msnb.alias.install()
    import numpy as np
    from networks import LeNet, ResNet50, training_step

    import mindspore as ms
    from mindspore import Tensor

    if "--quick" in sys.argv:
        ms.set_context(compile_effort="quick")
    random = np.random.default_rng(0)
    if "PYNATIVE" in row:
        ms.set_context(mode=ms.PYNATIVE_MODE)
        net, x = LeNet(), Tensor(random.random((32, 1, 32, 32), np.float32))
        call = lambda: net(x)  # noqa: E731
    else:
        ms.set_context(mode=ms.GRAPH_MODE)
        lenet = row.startswith("lenet")
        net = LeNet() if lenet else ResNet50()
        x = Tensor(random.random((32, 1, 32, 32) if lenet else (8, 3, 64, 64), np.float32))
        y = Tensor(random.integers(0, 10, x.shape[0]).astype(np.int32))
        step = training_step(net)
        call = lambda: step(x, y)  # noqa: E731
    wall, cpu = time.perf_counter(), time.process_time()
    call().asnumpy()
    print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu]))


def run(python, row, *options, **environment):
    """[wall, CPU seconds] of a fresh process."""
    command = [python, __file__, "--child", row, *options]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        raise SystemExit(f"{row} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row", nargs="*", default=ROWS)
    parser.add_argument("--mindspore")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(f"{'seconds, wall (CPU)':28} {'cold':>20} {'warm':>20} {'quick':>20} {'MindSpore':>16}")
    for row in options.row:
        times = {"cold": [], "warm": [], "quick": [], "MindSpore": []}
        for _ in range(options.rounds):
            with tempfile.TemporaryDirectory() as cache:
                for name in ("cold", "warm"):
                    times[name].append(run(sys.executable, row, "--msnb", MSNB_CACHE=cache, MSNB_COMPILE_CACHE=""))
            times["quick"].append(run(sys.executable, row, "--msnb", "--quick", MSNB_COMPILE_CACHE="0"))
            if options.mindspore:
                times["MindSpore"].append(run(options.mindspore, row))
        found = {k: [statistics.median(t) for t in zip(*v, strict=True)] for k, v in times.items() if v}
        shown = []
        for name, (wall, cpu) in found.items():
            ratio = f" {wall / found['MindSpore'][0]:.2f}x" if name != "MindSpore" and "MindSpore" in found else ""
            shown.append(f"{f'{wall:.2f} ({cpu:.2f}){ratio}':>20}")
        print(f"{row:28} {' '.join(shown)}", flush=True)


if __name__ == "__main__":
    if "--child" in sys.argv:
        child(sys.argv[sys.argv.index("--child") + 1])
    else:
        main()
