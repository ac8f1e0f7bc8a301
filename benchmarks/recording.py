"""Measure the cost of recording for a training step, and kill writers and trainings with SIGKILL.

    python benchmarks/recording.py [--steps 200] [--rounds 7] [--kills 1000] [--resumes 50]

A LeNet and a Transformer train by ``Model.train``: without a record, and with scalars in each step, histograms of all
Parameters and 8 images in each tenth step. The two take turns, and the medians are compared. With --kills a writer is
killed at a random moment, and its run must open with all flushed values; nothing else is measured. With --resumes each
of these trainings is killed three times, and must end with the bits of one that was not killed.
"""

import argparse
import contextlib
import json
import os
import random
import selectors
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from tqdm import tqdm

import msnb as ms
from msnb import dataset as ds
from msnb import nn
from msnb.formats import summary_events
from msnb.train import Model
from msnb.train.callback import Callback

WRITER = """
import sys
import msnb
run = msnb.record(sys.argv[2], sys.argv[1])
step = 0
while True:
    run.log({"a": float(step), "b": -float(step)}, step)
    if step % 20 == 0:
        run.histogram("h", [float(step), 1.0], step)
        run.flush()
        print(step, flush=True)
    step += 1
"""

# Reads names of runs. Prints for each the id of the process that trains, and its bits or the word "killed".
TRAINER = """
import hashlib, os, sys, threading
import numpy as np
import msnb as ms
from msnb import dataset as ds, nn
from msnb.train import Model

def bits(name):
    ms.set_seed(1)
    rng = np.random.RandomState(0)
    rows = rng.rand(400, 8).astype("f"), rng.rand(400, 1).astype("f")
    data = ds.NumpySlicesDataset(rows, shuffle=True).batch(4)
    net = nn.SequentialCell(nn.Dense(8, 64), nn.Dropout(0.5), nn.Dense(64, 1)).set_train()
    model = Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.01, 0.9))
    model.train(20, data, record=name, resume=17, display=False)
    data = b"".join(p.asnumpy().tobytes() for p in model.train_network.get_parameters())
    return hashlib.sha256(data).hexdigest()

os.chdir(sys.argv[1])
while name := sys.stdin.readline().strip():
    assert threading.active_count() == 1
    answer, into = os.pipe()
    child = os.fork()
    if not child:
        os.close(answer)
        os.write(into, bits(name).encode())
        os._exit(0)
    os.close(into)
    print(child, flush=True)
    with os.fdopen(answer) as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == 9
    print(text or ("killed" if killed else "failed"), flush=True)
"""


class LeNet(nn.Cell):
    """Two convolutions and three dense layers."""

    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Conv2d(1, 6, 5, pad_mode="valid"),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Conv2d(6, 16, 5, pad_mode="valid"),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Flatten(),
            nn.Dense(400, 120),
            nn.ReLU(),
            nn.Dense(120, 84),
            nn.ReLU(),
            nn.Dense(84, 10),
        )

    def construct(self, x):
        return self.layers(x)


class Transformer(nn.Cell):
    """Two layers of attention over the rows of an image."""

    def __init__(self, width=256, heads=4, layers=2):
        super().__init__()
        self.heads, self.width = heads, width
        self.into = nn.Dense(32, width)
        self.layers = nn.CellList([Layer(width, heads) for _ in range(layers)])
        self.out = nn.Dense(width, 10)

    def construct(self, x):
        x = self.into(x.reshape(x.shape[0], 32, 32))
        for layer in self.layers:
            x = layer(x)
        return self.out(x.mean(1))


class Layer(nn.Cell):
    """Attention and two dense layers, each with a residual connection."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.query, self.key, self.value, self.join = (nn.Dense(width, width) for _ in range(4))
        self.wide, self.narrow, self.act = nn.Dense(width, 4 * width), nn.Dense(4 * width, width), nn.GELU()
        self.soft = nn.Softmax()

    def construct(self, x):
        n, rows, width = x.shape
        y = self.first(x)

        def split(z):
            return z.reshape(n, rows, self.heads, width // self.heads).transpose(0, 2, 1, 3)

        q, k, v = split(self.query(y)), split(self.key(y)), split(self.value(y))
        score = self.soft(ms.ops.matmul(q, k.transpose(0, 1, 3, 2)) / (width // self.heads) ** 0.5)
        x = x + self.join(ms.ops.matmul(score, v).transpose(0, 2, 1, 3).reshape(n, rows, width))
        return x + self.narrow(self.act(self.wide(self.second(x))))


class Clock(Callback):
    """Times of the steps after the first two."""

    def __init__(self):
        self.times = []

    def step_end(self, run_context):
        run_context.original_args().net_outputs.asnumpy()
        self.times.append(time.perf_counter())

    def seconds(self):
        return (self.times[-1] - self.times[1]) / (len(self.times) - 2)


def measure_cost(make, batch, steps, rounds):
    """Return the median seconds of a step without a record, and the median ratio of recorded to plain rounds."""
    rng = np.random.RandomState(0)
    columns = rng.rand(batch * steps, 1, 32, 32).astype(np.float32), rng.randint(0, 10, batch * steps).astype(np.int32)
    data = ds.NumpySlicesDataset(columns, shuffle=False).batch(batch)
    net = make()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(net, loss, nn.Momentum(net.trainable_params(), 0.001, 0.9))
    plain, ratios = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds + 1):
            seconds = {}
            for is_recorded in (False, True) if number % 2 else (True, False):
                clock = Clock()
                run = ms.record("bench", folder) if is_recorded else False
                model.train(1, data, callbacks=clock, record=run, display=False)
                seconds[is_recorded] = clock.seconds()
                if is_recorded:
                    run.finish()
            if number:
                plain.append(seconds[False])
                ratios.append(seconds[True] / seconds[False])
    return statistics.median(plain), statistics.median(ratios)


def read_scalars(folder):
    """Return the steps and values of one tag."""
    return [
        (event.step, float(event.scalars[0]))
        for path in sorted(Path(folder).glob("*_MS"))
        for event, _ in summary_events.events(path)
        if event.tags
    ]


def kill_writers(count):
    """Kill `count` writers. Print the number of runs that did not open with all flushed values."""
    rng, failures = random.Random(0), 0
    with tempfile.TemporaryDirectory() as folder:
        for number in tqdm(range(count), desc="kills", leave=False):
            command = [sys.executable, "-c", WRITER, folder, f"run{number}"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                last_step, flushed = rng.randrange(20, 400), 0
                for line in process.stdout:
                    flushed = int(line)
                    if flushed >= last_step:
                        break
                time.sleep(rng.random() / 100)
                os.kill(process.pid, signal.SIGKILL)
            values = read_scalars(Path(folder) / f"run{number}")
            description = json.loads((Path(folder) / f"run{number}" / "run.json").read_text())
            is_complete = len(values) > flushed and values == [(i, float(i)) for i in range(len(values))]
            if not is_complete or description["state"] != "running":
                failures += 1
                tqdm.write(f"run {number}: {len(values)} steps of {flushed} flushed")
    print(f"{count} kills: {failures} runs lost flushed values")


def kill_trainings(count):
    """Kill `count` trainings three times each. Print the number of those that ended with other bits."""
    rng, kills, failures = random.Random(0), 0, 0
    with tempfile.TemporaryDirectory() as folder, Trainers(folder) as trainers:
        trainers.train("warm", None)  # the others reuse the programs that the first one compiles
        start = time.monotonic()
        expected = trainers.train("complete", None)
        longest = time.monotonic() - start
        for number in range(count):
            for seconds in [rng.uniform(0, longest) for _ in range(3)] + [None]:
                bits = trainers.train(f"run{number}", seconds)
                if bits is not None:
                    break
                kills += 1
            if bits != expected:
                failures += 1
            message = f"run {number + 1} of {count}: {'the same' if bits == expected else 'OTHER'} bits"
            print(f"{message}, {kills} kills, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    print(f"{kills} kills in {count} trainings: {failures} ended with other bits")


class Trainers:
    """Start processes that train. Each is a fork of a process that has imported all modules and computed nothing.

    Imports would be most of the cost of a training that is killed early.
    """

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        command = [sys.executable, "-c", TRAINER, self.folder]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdin and self.process.stdout
        self.questions, self.answers = self.process.stdin, self.process.stdout
        return self

    def __exit__(self, *_):
        self.questions.close()
        self.process.wait()
        self.answers.close()

    def train(self, name, seconds):
        """Train, and return the bits as text; None if the training was killed after `seconds`."""
        print(name, file=self.questions, flush=True)
        pid = int(self._read_answer())
        with selectors.DefaultSelector() as ready:
            ready.register(self.answers, selectors.EVENT_READ)
            if not ready.select(seconds):
                with contextlib.suppress(ProcessLookupError):  # the process has just ended
                    os.kill(pid, signal.SIGKILL)
        bits = self._read_answer()
        return None if bits == "killed" else bits

    def _read_answer(self):
        line = self.answers.readline()
        if not line:
            raise RuntimeError("The process that starts the trainings has ended.")
        return line.strip()


def main(options):
    """Print the figures."""
    if options.resumes:
        kill_trainings(options.resumes)
        return
    if options.kills:
        kill_writers(options.kills)
        return
    for name, make, batch, steps in (("LeNet", LeNet, 32, options.steps), ("Transformer", Transformer, 16, 40)):
        plain, ratio = measure_cost(make, batch, steps, options.rounds)
        print(f"{name}: a step takes {plain * 1e3:.2f} ms; recorded, {100 * (ratio - 1):+.1f} %", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--resumes", type=int, default=0)
    main(parser.parse_args())
