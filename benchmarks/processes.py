"""Compare trainings of several processes with that of one, and resume trainings after a process is killed.

    python benchmarks/processes.py [--kills 20] [--modes semi_auto_parallel]

A LeNet and a Transformer's encoder train with 1, 2 and 4 processes on the same batches. The mean of the processes'
losses is compared with the loss of one process. Then a training of two processes starts --kills times from its
checkpoint, and one of the two is killed at a random moment. It ends with 4, 2 and 1 processes.
"""

import argparse
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import msnb as ms

TRAINER = """
import os, sys, time
import numpy as np
import msnb as ms
from msnb import context, dataset as ds, nn
from msnb.communication import get_group_size, get_rank, init
from msnb.train import Model
from msnb.train.callback import Callback
kind, folder, name, epochs, mode = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5]
os.chdir(folder)
init()
rank, size = get_rank(), get_group_size()
context.set_context(mode=context.GRAPH_MODE)
cut = mode == "semi_auto_parallel" and size > 1
context.set_auto_parallel_context(parallel_mode=mode, gradients_mean=True, enable_parallel_optimizer=cut)
ms.set_seed(1)
rng = np.random.RandomState(0)


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Flatten(), nn.Dense(400, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10),
        )

    def construct(self, x):
        return self.layers(x)


class Encoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(100, 32)
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True), 2)
        self.head = nn.Dense(32, 10)

    def construct(self, x):
        return self.head(self.layers(self.table(x)).mean(1))


if kind == "LeNet":
    x, net = rng.rand(64, 1, 32, 32).astype("f"), LeNet()
else:
    x, net = rng.randint(0, 100, (64, 12)).astype("i"), Encoder()
rows = x, rng.randint(0, 10, 64).astype("i")
data = ds.NumpySlicesDataset(rows, shuffle=False, num_shards=size, shard_id=rank).batch(16 // size)


class PrintLoss(Callback):
    def step_end(self, run_context):
        args = run_context.original_args()
        print(f"step {args.cur_step_num} loss {float(args.net_outputs.asnumpy()):.9g}", flush=True)


if cut:
    last = net.layers[-1] if kind == "LeNet" else net.head
    last.matmul.shard(((1, size), (1, size)))
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
model = Model(net, loss, nn.Momentum(net.trainable_params(), 0.01, 0.9))
print("pid", os.getpid(), flush=True)
recorded = {} if name == "-" else {"record": name, "resume": 1}
model.train(epochs, data, callbacks=[PrintLoss()], **recorded)
"""


def launch_training(script, processes, *arguments, killed=None):
    """Run a training. Return its output and status. `killed` is (process, the step after which it is killed)."""
    command = [sys.executable, "-m", "msnb", "launch", "-n", str(processes), script, *map(str, arguments)]
    lines, pids = [], {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        for line in run.stdout:
            lines.append(line)
            if match := re.match(r"\[(\d)\] pid (\d+)", line):
                pids[int(match[1])] = int(match[2])
            if killed and (match := re.match(r"\[0\] step (\d+)", line)) and int(match[1]) >= killed[1]:
                time.sleep(random.random() / 50)
                os.kill(pids[killed[0]], signal.SIGKILL)
                killed = None
    return "".join(lines), run.returncode


def average_losses(output, processes):
    """Return {step: mean of the processes' losses}."""
    rows = re.findall(r"\[\d\] step (\d+) loss (\S+)", output)
    by_step: dict[int, list[float]] = {}
    for step, loss in rows:
        by_step.setdefault(int(step), []).append(float(loss))
    assert all(len(values) == processes for values in by_step.values()), output
    return {step: float(np.mean(values)) for step, values in by_step.items()}


MODES = ("data_parallel", "semi_auto_parallel", "auto_parallel")


def compare_losses(script, folder, modes):
    """Print the deviations of the losses of several processes from those of one."""
    for kind in ("LeNet", "Encoder"):
        expected = average_losses(launch_training(script, 1, kind, folder, "-", 2, "data_parallel")[0], 1)
        for mode, processes in itertools.product(modes, (2, 4)):
            results = average_losses(launch_training(script, processes, kind, folder, "-", 2, mode)[0], processes)
            assert results.keys() == expected.keys() and results
            deviation = max(abs(results[step] / expected[step] - 1) for step in expected)
            message = f"losses of {len(results)} steps within {deviation:.1e} of those of one process"
            print(f"{kind}, {mode}, {processes} processes: {message}", flush=True)


def kill_processes(script, folder, count, mode):
    """Kill one of two processes `count` times. Print the number of lost checkpoints and messages, then resume."""
    rng, failures, before = random.Random(0), 0, 0
    path = Path(folder) / "runs" / "killed" / "checkpoints" / "last.ckpt"
    for number in range(count):
        victim, steps = rng.randrange(2), rng.randrange(1, 4)
        output, status = launch_training(
            script, 2, "LeNet", folder, "killed", 1000, mode, killed=(victim, before + steps)
        )
        message = f"Process {victim} of 2 was killed (SIGKILL)"
        step = 0  # of a training that was killed before its first checkpoint
        if path.exists():
            step = json.loads(ms.load_checkpoint(str(path))["training that can go on"])["step"]
        if status != 137 or message not in output or step < before + steps - 1:
            failures += 1
            print(f"kill {number}: status {status}, at step {step} of {before + steps}\n{output[-2000:]}", flush=True)
        before = step
    print(
        f"{mode}: {count} kills of one of two processes: {failures} lost a checkpoint or the message; {before} steps",
        flush=True,
    )
    epochs = before // 4
    for processes in (4, 2, 1):
        epochs += 2
        output, status = launch_training(script, processes, "LeNet", folder, "killed", epochs, mode)
        losses_by_step = average_losses(output, processes)
        print(
            f"{processes} processes go on with steps {min(losses_by_step)} to {max(losses_by_step)}: status {status}",
            flush=True,
        )


def main(options):
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "trainer.py"
        script.write_text(TRAINER)
        compare_losses(str(script), folder, options.modes)
        for mode in options.modes if options.kills else ():
            kill_processes(str(script), tempfile.mkdtemp(dir=folder), options.kills, mode)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    main(parser.parse_args())
