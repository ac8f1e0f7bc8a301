"""Measure comparisons by value and an explanation of a gradient, for networks that have not run before.

    python benchmarks/value_diff.py             # LeNet
    python benchmarks/value_diff.py --resnet50  # and ResNet-50 on images of 224

Each row is the first call: it traces and compiles. LeNet should take at most 2 s, ResNet-50 at most 30 s.
"""

import sys
import time

import numpy as np
from gradients import LeNet5

import msnb as ms
from msnb import Tensor, alias, nn

LIMITS = {"LeNet": 2.0, "ResNet-50": 30.0}


def measure_time(call):
    """Return (seconds, result) of a call."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def measure_comparisons(make, x, y):
    """Yield (name, seconds, first difference) of the comparisons of one network."""
    net = make()
    cases = {
        "equal": lambda: ms.diff(net, net, x, values=True),
        "other weights": lambda: ms.diff(net, make(), x, values=True, weights="as they are"),
        "float16": lambda: ms.diff(net, ms.in_dtype("float16", net), x, values=True),
        "PYNATIVE": lambda: ms.diff(net, ms.in_mode("PYNATIVE", net), x, values=True),
    }
    for name, call in cases.items():
        taken, result = measure_time(call)
        yield name, taken, result.first.name if result.first else "none"
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    taken, answer = measure_time(lambda: ms.why(net.trainable_params()[0], loss, x, y))
    yield "why", taken, f"norm {answer.norm:.3g}"


def main():
    """Print the seconds of each comparison."""
    ms.set_context(mode=ms.GRAPH_MODE)
    rng = np.random.default_rng(0)
    networks = {"LeNet": (LeNet5, (32, 1, 32, 32), 10)}
    if "--resnet50" in sys.argv:
        alias.install()
        from networks import ResNet50

        networks["ResNet-50"] = (ResNet50, (1, 3, 224, 224), 1000)
    for name, (make, shape, classes) in networks.items():
        x = Tensor(rng.standard_normal(shape).astype(np.float32))
        y = Tensor(rng.integers(0, classes, shape[0]).astype(np.int32))
        for case, taken, result in measure_comparisons(make, x, y):
            print(f"{name:10} {case:14} {taken:6.2f} s  (limit {LIMITS[name]:g} s)  {result}", flush=True)


if __name__ == "__main__":
    main()
