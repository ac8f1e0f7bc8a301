"""Measure PYNATIVE mode: a LeNet gradient through the tape beside the compiled one, and one binary operator.

    python benchmarks/eager.py [--mindspore PYTHON] [--torch PYTHON]

The two options name interpreters that have MindSpore or PyTorch. Without an option its row is absent.
"""

import argparse
import json
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
from dispatch import measure_in_turns

from msnb import Tensor, context, nn, ops

_RIVAL = """
import json, statistics, time, numpy as np
def median(fn, rounds=30, repeat=200):
    for _ in range(50): fn()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(repeat): out = fn()
        times.append((time.perf_counter() - start) / repeat)
    return statistics.median(times)
"""
_MINDSPORE = (
    _RIVAL
    + """
import mindspore as ms
ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU", pynative_synchronize=True)
x = ms.Tensor(np.ones(16, np.float32))
print(json.dumps(median(lambda: x + x)))
"""
)
_TORCH = (
    _RIVAL
    + """
import torch
x = torch.ones(16)
print(json.dumps(median(lambda: x + x)))
"""
)


class LeNet5(nn.Cell):
    """LeNet-5 for 28x28 images."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.fc1 = nn.Dense(16 * 4 * 4, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, 10)
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.flatten(x)
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


def make_gradients(batch=4):
    """Return {name: call} of the gradient of a LeNet loss, by the tape and compiled."""
    rng = np.random.default_rng(0)
    net = nn.WithLossCell(LeNet5(), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    weights = net.trainable_params()
    x = Tensor(rng.normal(size=(batch, 1, 28, 28)).astype(np.float32))
    y = Tensor(rng.integers(0, 10, batch).astype(np.int32))
    grad = ops.GradOperation(get_by_list=True)(net, weights)

    def make_call(mode):
        def call():
            context.set_context(mode=mode)
            return [g._array for g in grad(x, y)]

        return call

    return {"compiled (GRAPH)": make_call(context.GRAPH_MODE), "tape (PYNATIVE)": make_call(context.PYNATIVE_MODE)}


def make_additions():
    """Return {side: call} of x + x on 16 floats."""
    context.set_context(mode=context.PYNATIVE_MODE)
    x = Tensor(np.ones(16, np.float32))
    j = jnp.ones(16, jnp.float32)
    return {"msnb": lambda: (x + x)._array, "jnp": lambda: j + j}


# Rows of `compare.py`.
TIMED = {
    "LeNet gradient, compiled": lambda: make_gradients()["compiled (GRAPH)"],
    "LeNet gradient, tape": lambda: make_gradients()["tape (PYNATIVE)"],
    "x + x": lambda: make_additions()["msnb"],
    "x + x, JAX (control)": lambda: make_additions()["jnp"],
}


def measure_rival(python, code):
    """Return the median seconds that another interpreter measures."""
    process = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(process.stdout.strip().splitlines()[-1])


def main():
    """Print two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mindspore")
    parser.add_argument("--torch")
    options = parser.parse_args()
    result = measure_in_turns(make_gradients(), rounds=15, repeat=10)
    base = result["compiled (GRAPH)"]
    for name, seconds in result.items():
        print(f"LeNet gradient, batch 4   {name:18} {seconds * 1e6:9.1f} us   {seconds / base:5.2f}x")
    result = measure_in_turns(make_additions(), rounds=30, repeat=500)
    for name, python, code in (
        ("MindSpore, synchronous", options.mindspore, _MINDSPORE),
        ("PyTorch", options.torch, _TORCH),
    ):
        if python:
            result[name] = measure_rival(python, code)
    for name, seconds in result.items():
        print(f"x + x, 16 floats          {name:22} {seconds * 1e6:6.2f} us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
