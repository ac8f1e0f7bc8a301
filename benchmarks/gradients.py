"""Measure the cost of a GradientMonitor for a LeNet step of 32 samples, in turns, and the time of a first look.

    python benchmarks/gradients.py          # both
    python benchmarks/gradients.py --looks  # the first looks alone

A look is `inspect_gradients` in a fresh process with nothing on disk, up to the data that a notebook shows.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import msnb as ms
from msnb import Tensor, nn
from msnb.insight.gradients import GradientMonitor


class LeNet5(nn.Cell):
    """LeNet-5: two convolutions, three fully connected layers."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid", weight_init="HeNormal")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", weight_init="HeNormal")
        self.fc1, self.fc2, self.fc3 = (
            nn.Dense(i, o, weight_init="HeNormal") for i, o in ((400, 120), (120, 84), (84, 10))
        )
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.flatten(self.pool(self.relu(self.conv2(x))))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


def make_step_and_batch():
    """Return a train step and its inputs."""
    rng = np.random.default_rng(0)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    net = LeNet5()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.01, 0.9)).set_train()
    x = Tensor(rng.standard_normal((32, 1, 32, 32)).astype(np.float32))
    return step, x, Tensor(rng.integers(0, 10, 32).astype(np.int32))


def measure_step(step, x, y, repeat):
    """Return the seconds per step of a loop that waits for its last loss only, as a training does."""
    start = time.perf_counter()
    for _ in range(repeat):
        loss = step(x, y)
    loss.asnumpy()
    return (time.perf_counter() - start) / repeat


def measure_graph(level, rounds=25, repeat=20):
    """Return {name: seconds per step in turns}, and the seconds of the first step without and with a monitor.

    The monitor observes one of three equal networks. It changes no program of the others.
    """
    ms.set_context(mode=ms.GRAPH_MODE)
    runs = {name: make_step_and_batch() for name in ("off", "on", "off again")}
    with GradientMonitor(level, keep=100, net=runs["on"][0].network):
        first = {name: measure_step(*run, 1) for name, run in runs.items()}
        times = {name: [] for name in runs}
        for _ in range(rounds):
            for name, run in runs.items():
                times[name].append(measure_step(*run, repeat))
    return times, first["off"], first["on"]


def measure_pynative(level, rounds=6, repeat=20):
    """Return the figures of `measure_graph` in PYNATIVE mode. A few steps warm up after each change of the monitor."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    run = make_step_and_batch()
    times = {"off": [], "on": [], "off again": []}
    first = measure_step(*run, 1)
    monitor = GradientMonitor(level, keep=100)
    with monitor:
        first_observed = measure_step(*run, 1)
    for _ in range(rounds):
        for name in times:
            with monitor if name == "on" else contextlib.nullcontext():
                measure_step(*run, 5)
                times[name].append(measure_step(*run, repeat))
    return times, first, first_observed


def make_step_call(level=None):
    """Return a call that runs a LeNet step. With a level, a GradientMonitor observes it and stays open."""
    ms.set_context(mode=ms.GRAPH_MODE)
    step, x, y = make_step_and_batch()
    if level:
        GradientMonitor(level, keep=100, net=step.network).__enter__()
    return lambda: step(x, y)._array


def measure_look(name, mode, level):
    """Return the wall and CPU seconds of a first look, in this process."""
    import msnb.alias

    msnb.alias.install()
    from networks import ResNet50  # imports mindspore

    from msnb.notebook.gradients import inspect_gradients

    ms.set_context(mode=getattr(ms, f"{mode}_MODE"))
    rng, lenet = np.random.default_rng(0), name == "lenet"
    net = LeNet5() if lenet else ResNet50()
    x = Tensor(rng.random((32, 1, 32, 32) if lenet else (8, 3, 64, 64), np.float32))
    y = Tensor(rng.integers(0, 10, x.shape[0]).astype(np.int32))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    wall, cpu = time.perf_counter(), time.process_time()
    inspect_gradients(net, loss, (x, y), level=level)._repr_mimebundle_()
    return time.perf_counter() - wall, time.process_time() - cpu


def print_looks():
    """Print the times of first looks, each in a process of its own."""
    print("first look             level        wall      CPU")
    for name in ("lenet", "resnet50"):
        for mode in ("GRAPH", "PYNATIVE"):
            for level in ("parameters", "all"):
                with tempfile.TemporaryDirectory() as cache:
                    command = [sys.executable, __file__, "--look", name, mode, level]
                    process = subprocess.run(command, check=True, stdout=-1, env={**os.environ, "MSNB_CACHE": cache})
                wall, cpu = json.loads(process.stdout.splitlines()[-1])
                print(f"{name:<10} {mode:<11} {level:<11} {wall:5.1f} s  {cpu:5.1f} s", flush=True)


# Rows of `compare.py`.
TIMED = {
    "LeNet step": make_step_call,
    "observed, Parameters": lambda: make_step_call("parameters"),
    "observed, all": lambda: make_step_call("all"),
}


def main():
    """Print the table."""
    print("mode      level        off       on        off again    cost   of minima   first step, observed")
    for mode, measure in (("GRAPH", measure_graph), ("PYNATIVE", measure_pynative)):
        for level in ("parameters", "all"):
            times, own, observed = measure(level)
            off, on, again = (statistics.median(t) for t in times.values())
            low_off, low_on, low_again = (min(t) for t in times.values())
            print(
                f"{mode:<9} {level:<11} {off * 1e3:6.2f} ms {on * 1e3:6.2f} ms "
                f"{again * 1e3:6.2f} ms {on / min(off, again) - 1:+9.0%} {low_on / min(low_off, low_again) - 1:+9.0%}"
                f"      {own:.1f} s, {observed:.1f} s"
            )


if __name__ == "__main__":
    if "--look" in sys.argv:
        print(json.dumps(measure_look(*sys.argv[2:])))
    elif "--looks" in sys.argv:
        print_looks()
    else:
        main()
        print_looks()
