"""Python functions of msnb that a call runs. The counts depend on no clock.

    python benchmarks/python_calls.py [--functions ROW]

The network has four layers and is one of twelve in a file of 200 lines. `--functions` lists the functions of one row.
"""

import argparse
import collections
import importlib.util
import os
import sys
import tempfile
from pathlib import Path

LIMITS = {"GRAPH call, cold": 1500, "GRAPH call, warm": 17, "Model.train, one step": 450}

NETWORK = '''
class Net{number}(nn.Cell):
    """Two Dense layers with LayerNorm and ReLU between them."""

    def __init__(self, width=8, classes=3):
        super().__init__()
        self.hidden = nn.Dense(4, width)
        self.norm = nn.LayerNorm((width,))
        self.relu = nn.ReLU()
        self.out = nn.Dense(width, classes)

    def construct(self, x):
        x = self.relu(self.norm(self.hidden(x)))
        return self.out(x)
'''


def load_network(folder):
    """Write the file with the networks, import it, and return the first class."""
    path = Path(folder) / "small_networks.py"
    path.write_text("from msnb import nn\n\n" + "\n".join(NETWORK.format(number=i) for i in range(12)))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Net0


def count_calls(function, *args):
    """Return a Counter of the functions of msnb that `function(*args)` calls on this thread, by file and name."""
    from msnb._util.package_path import PACKAGE

    calls = collections.Counter()

    def record(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            calls[f"{code.co_filename[len(PACKAGE) :]}:{code.co_qualname}"] += 1

    sys.setprofile(record)
    try:
        function(*args)
    finally:
        sys.setprofile(None)
    return calls


def count_all(folder):
    """Return {row: Counter of the functions called}. It must be the first work of a process.

    Args:
        folder (str): An empty folder for the networks.
    """
    import numpy as np

    import msnb as ms
    from msnb import nn
    from msnb.dataset import NumpySlicesDataset

    ms.set_context(mode=ms.GRAPH_MODE)
    rng = np.random.default_rng(0)
    rows, classes = rng.normal(size=(16, 4)).astype(np.float32), np.arange(16, dtype=np.int32) % 3
    net, x = load_network(folder)(), ms.Tensor(rows)
    counts = {"GRAPH call, cold": count_calls(net, x)}
    net(x)
    counts["GRAPH call, warm"] = count_calls(net, x)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = ms.Model(net, loss, nn.Momentum(net.trainable_params(), 0.01, 0.9))
    data = NumpySlicesDataset((rows, classes), shuffle=False).batch(16)
    for _ in range(2):
        model.train(1, data, dataset_sink_mode=False)
    counts["Model.train, one step"] = count_calls(lambda: model.train(1, data, dataset_sink_mode=False))
    return counts


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", choices=LIMITS, help="list the functions of this row")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MSNB_COMPILE_CACHE"] = folder  # a first call is cold: nothing is on disk
        counts = count_all(folder)
    for row, limit in LIMITS.items():
        print(f"{row:24} {counts[row].total():6} calls, limit {limit}")
    if options.functions:
        for name, count in counts[options.functions].most_common():
            print(f"{count:6} {name}")


if __name__ == "__main__":
    main()
