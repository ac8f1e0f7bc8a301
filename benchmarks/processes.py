"""Whether several processes train as one does, and what is left when one of them is killed.

    python benchmarks/processes.py [--kills 20] [--modes semi_auto_parallel]

A LeNet and a Transformer's encoder train with 1, 2 and 4 processes on the same batches: the mean of the processes'
losses is set beside that of one. Then a training of two processes is begun again and again, one of the two is killed at
a chance moment each time, and it goes on from its checkpoint, at last with 4, 2 and 1 processes.
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
        self.parts = nn.SequentialCell(
            nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Flatten(), nn.Dense(400, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10),
        )

    def construct(self, x):
        return self.parts(x)


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


class Tell(Callback):
    def step_end(self, run_context):
        told = run_context.original_args()
        print(f"step {told.cur_step_num} loss {float(told.net_outputs.asnumpy()):.9g}", flush=True)


if cut:
    last = net.parts[-1] if kind == "LeNet" else net.head
    last.matmul.shard(((1, size), (1, size)))
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
model = Model(net, loss, nn.Momentum(net.trainable_params(), 0.01, 0.9))
print("pid", os.getpid(), flush=True)
recorded = {} if name == "-" else {"record": name, "resume": 1}
model.train(epochs, data, callbacks=[Tell()], **recorded)
"""


def launched(script, processes, *arguments, killed=None):
    """What a training has printed, and its status; `killed` is (process, the step after which it is killed)."""
    command = [sys.executable, "-m", "msnb", "launch", "-n", str(processes), script, *map(str, arguments)]
    lines, pids = [], {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        for line in run.stdout:
            lines.append(line)
            if found := re.match(r"\[(\d)\] pid (\d+)", line):
                pids[int(found[1])] = int(found[2])
            if killed and (found := re.match(r"\[0\] step (\d+)", line)) and int(found[1]) >= killed[1]:
                time.sleep(random.random() / 50)
                os.kill(pids[killed[0]], signal.SIGKILL)
                killed = None
    return "".join(lines), run.returncode


def losses(printed, processes):
    """The mean of the processes' losses by step."""
    found = re.findall(r"\[\d\] step (\d+) loss (\S+)", printed)
    by_step: dict[int, list[float]] = {}
    for step, loss in found:
        by_step.setdefault(int(step), []).append(float(loss))
    assert all(len(values) == processes for values in by_step.values()), printed
    return {step: float(np.mean(values)) for step, values in by_step.items()}


MODES = ("data_parallel", "semi_auto_parallel", "auto_parallel")


def alike(script, folder, modes):
    """Print how far the losses of several processes are from those of one."""
    for kind in ("LeNet", "Encoder"):
        expected = losses(launched(script, 1, kind, folder, "-", 2, "data_parallel")[0], 1)
        for mode, processes in itertools.product(modes, (2, 4)):
            found = losses(launched(script, processes, kind, folder, "-", 2, mode)[0], processes)
            assert found.keys() == expected.keys() and found
            far = max(abs(found[step] / expected[step] - 1) for step in expected)
            told = f"losses of {len(found)} steps within {far:.1e} of one's"
            print(f"{kind}, {mode}, {processes} processes: {told}", flush=True)


def kills(script, folder, count, mode):
    """Kill one of two processes again and again; print how often what was kept did not load, or did not go on."""
    chance, wrong, before = random.Random(0), 0, 0
    path = Path(folder) / "runs" / "killed" / "checkpoints" / "last.ckpt"
    for number in range(count):
        victim, steps = chance.randrange(2), chance.randrange(1, 4)
        printed, status = launched(script, 2, "LeNet", folder, "killed", 1000, mode, killed=(victim, before + steps))
        told = f"Process {victim} of 2 was killed (SIGKILL)"
        step = 0  # of a training that was killed before it had kept anything
        if path.exists():
            step = json.loads(ms.load_checkpoint(str(path))["training that can go on"])["step"]
        if status != 137 or told not in printed or step < before + steps - 1:
            wrong += 1
            print(f"kill {number}: status {status}, at step {step} of {before + steps}\n{printed[-2000:]}", flush=True)
        before = step
    print(
        f"{mode}: {count} kills of one of two processes: {wrong} lost a checkpoint or its sentence; {before} steps",
        flush=True,
    )
    epochs = before // 4
    for processes in (4, 2, 1):
        epochs += 2
        printed, status = launched(script, processes, "LeNet", folder, "killed", epochs, mode)
        found = losses(printed, processes)
        print(f"{processes} processes go on with steps {min(found)} to {max(found)}: status {status}", flush=True)


def main(options):
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "trainer.py"
        script.write_text(TRAINER)
        alike(str(script), folder, options.modes)
        for mode in options.modes if options.kills else ():
            kills(str(script), tempfile.mkdtemp(dir=folder), options.kills, mode)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    main(parser.parse_args())
