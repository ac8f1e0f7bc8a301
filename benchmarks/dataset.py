"""Data pipelines side by side: msnb, MindSpore, torch's DataLoader and grain, in samples per CPU-second.

    python benchmarks/dataset.py --mindspore PYTHON --torch PYTHON --grain PYTHON [--only WORD] [--rounds 5]

Every side runs in a process of its own, through its public iterator, over the same files of the genuine formats, made
on the spot. The sides take turns, round by round; whoever has no turn is stopped. A figure is the median over the
rounds of samples / CPU-second, where the CPU time is that of all threads and child processes since the end of the round
before: what was prepared ahead is paid for too. `first` is one epoch of a new pipeline, opening included; `later` are
further epochs of one pipeline, part of which msnb keeps in memory. At the end stands the step time of a LeNet-5 that is
fed by the first of these pipelines, beside that on batches which lie in memory.
"""

import argparse
import json
import os
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np

WORDS = "the quick brown fox jumps over lazy dog hello world mind ##spore note ##book kit data engine un ##believ \
##able token ##ization it ' s 2026 x = 3 , !".split()
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
_MARK = "=> "
MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]


# ---- the files


def make_files(folder):
    """MNIST (20000 images), CIFAR-10 (20000), 300 JPEGs, 40000 lines of text, two MindRecords."""
    rng = np.random.default_rng(0)
    os.makedirs(f"{folder}/mnist")
    images = rng.integers(0, 256, (20000, 28, 28), np.uint8)
    with open(f"{folder}/mnist/train-images-idx3-ubyte", "wb") as file:
        file.write(struct.pack(">4i", 2051, *images.shape) + images.tobytes())
    with open(f"{folder}/mnist/train-labels-idx1-ubyte", "wb") as file:
        file.write(struct.pack(">2i", 2049, len(images)) + rng.integers(0, 10, len(images), np.uint8).tobytes())
    os.makedirs(f"{folder}/cifar")
    for i in (1, 2):
        rows = rng.integers(0, 256, (10000, 3073), np.uint8)
        rows[:, 0] %= 10
        rows.tofile(f"{folder}/cifar/data_batch_{i}.bin")
    jpegs = make_jpegs(folder, rng)
    parts = [
        "the quick brown fox jumps over the lazy dog",
        "hello world , mindspore notebook kit",
        "data engine",
        "unbelievable tokenization !",
        "it's 2026 , x = 3",
        "Tokenization of hello World",
    ]
    with open(f"{folder}/text.txt", "w", encoding="utf-8") as file:
        for _ in range(40000):
            file.write(" ".join(parts[i] for i in rng.integers(0, len(parts), 3)) + "\n")
    make_records(folder, jpegs, rng)


def make_jpegs(folder, rng):
    """300 pictures of 500 x 375 with edges, colours and noise; 30 to 110 KB each."""
    from PIL import Image

    out = []
    y, x = np.mgrid[:375, :500].astype(np.float32)
    for i in range(300):
        os.makedirs(f"{folder}/images/{i % 4}", exist_ok=True)
        coarse = Image.fromarray(rng.integers(0, 256, (12, 16, 3), np.uint8)).resize((500, 375), Image.BICUBIC)
        picture = np.asarray(coarse, np.float32)
        for _ in range(12):
            cx, cy, r = rng.uniform(0, 500), rng.uniform(0, 375), rng.uniform(10, 90)
            picture[(x - cx) ** 2 + (y - cy) ** 2 < r * r] = rng.integers(0, 256, 3)
        picture += rng.normal(0, rng.uniform(2, 14), picture.shape)
        path = f"{folder}/images/{i % 4}/{i}.jpg"
        Image.fromarray(np.clip(picture, 0, 255).astype(np.uint8)).save(path, quality=90)
        with open(path, "rb") as file:
            out.append(file.read())
    return out


def make_records(folder, jpegs, rng):
    """A MindRecord of BERT's pre-training features and one of JPEGs with labels."""
    from msnb.mindrecord import FileWriter

    writer = FileWriter(f"{folder}/bert.mindrecord")
    lengths = {"input_ids": 128, "input_mask": 128, "segment_ids": 128, "masked_lm_positions": 20, "masked_lm_ids": 20}
    schema = {name: {"type": "int32", "shape": [n]} for name, n in lengths.items()}
    writer.add_schema({**schema, "next_sentence_labels": {"type": "int32"}}, "features")
    writer.write_raw_data(
        [
            {
                "input_ids": rng.integers(0, 30000, 128, np.int32),
                "input_mask": (np.arange(128) < rng.integers(20, 128)).astype(np.int32),
                "segment_ids": (np.arange(128) > 60).astype(np.int32),
                "masked_lm_positions": np.sort(rng.integers(0, 128, 20, np.int32)),
                "masked_lm_ids": rng.integers(0, 30000, 20, np.int32),
                "next_sentence_labels": int(rng.integers(0, 2)),
            }
            for _ in range(8000)
        ]
    )
    writer.commit()
    writer = FileWriter(f"{folder}/images.mindrecord")
    writer.add_schema({"data": {"type": "bytes"}, "label": {"type": "int32"}, "name": {"type": "string"}}, "images")
    writer.write_raw_data(
        [{"data": jpegs[i % 300][: 3000 + i], "label": i % 10, "name": f"{i}.jpg"} for i in range(6000)]
    )
    writer.commit()


# ---- the pipelines: name -> function that returns (iterable over an epoch, samples per epoch)


def facade(base, folder):
    """The pipelines as MindSpore programs, with `base` mindspore or msnb."""
    from importlib import import_module

    ms = import_module(base)
    ds = import_module(f"{base}.dataset")
    V, C, T = (import_module(f"{base}.dataset.{m}") for m in ("vision", "transforms", "text"))

    def lenet():
        d = ds.MnistDataset(f"{folder}/mnist", usage="train", shuffle=True)
        d = d.map(C.TypeCast(ms.int32), "label", num_parallel_workers=2)
        for op in [V.Resize((32, 32)), V.Rescale(1 / 255, 0), V.Rescale(1 / 0.3081, -0.4242), V.HWC2CHW()]:
            d = d.map(op, "image", num_parallel_workers=2)
        return d.shuffle(10000).batch(32, drop_remainder=True), 20000

    def cifar():
        d = ds.Cifar10Dataset(f"{folder}/cifar", usage="train", shuffle=True)
        ops = [
            V.RandomCrop((32, 32), (4, 4, 4, 4)),
            V.RandomHorizontalFlip(0.5),
            V.Rescale(1 / 255, 0),
            V.Normalize([0.4914, 0.4822, 0.4465], [0.2023, 0.1994, 0.2010]),
            V.HWC2CHW(),
        ]
        d = d.map(ops, "image", num_parallel_workers=2).map(C.TypeCast(ms.int32), "label", num_parallel_workers=2)
        return d.batch(32, drop_remainder=True), 20000

    def jpeg_train():
        d = ds.ImageFolderDataset(f"{folder}/images", shuffle=True)
        ops = [V.RandomCropDecodeResize(224), V.RandomHorizontalFlip(0.5), V.Normalize(MEAN, STD), V.HWC2CHW()]
        return d.map(ops, "image", num_parallel_workers=2).batch(32), 300

    def jpeg_eval():
        d = ds.ImageFolderDataset(f"{folder}/images", shuffle=False)
        ops = [V.Decode(), V.Resize(256), V.CenterCrop(224), V.Normalize(MEAN, STD), V.HWC2CHW()]
        return d.map(ops, "image", num_parallel_workers=2).batch(32), 300

    def generator():
        data = np.random.default_rng(0).normal(size=(20000, 16)).astype(np.float32)

        def rows():
            for i in range(len(data)):
                yield data[i], np.int32(i)

        return ds.GeneratorDataset(rows, ["x", "y"], shuffle=False).batch(32), 20000

    def random_access():
        d = ds.GeneratorDataset(Rows(), ["x", "y"], shuffle=True)
        return d.map(lambda x: x * 2 + 1, ["x"]).batch(32), 20000

    def slices():
        data = np.random.default_rng(0).normal(size=(20000, 16)).astype(np.float32)
        return ds.NumpySlicesDataset({"x": data, "y": np.arange(20000, dtype=np.int32)}, shuffle=True).batch(32), 20000

    def whitespace():
        d = ds.TextFileDataset(f"{folder}/text.txt", shuffle=False)
        return d.map(T.WhitespaceTokenizer(), "text", num_parallel_workers=2), 40000

    def bert():
        d = ds.TextFileDataset(f"{folder}/text.txt", shuffle=False)
        vocabulary = T.Vocab.from_list(VOCABULARY)
        d = d.map(T.BertTokenizer(vocabulary, lower_case=True), "text", num_parallel_workers=2)
        return d.map(T.Lookup(vocabulary, "[UNK]"), "text", num_parallel_workers=2), 40000

    def records():
        return ds.MindDataset(f"{folder}/bert.mindrecord", shuffle=True).batch(32), 8000

    def record_images():
        return ds.MindDataset(f"{folder}/images.mindrecord", ["data", "label"], shuffle=True), 6000

    made = {
        "MNIST, LeNet's": lenet,
        "CIFAR-10, crop flip norm": cifar,
        "JPEG train, ResNet-50's": jpeg_train,
        "JPEG eval, ResNet-50's": jpeg_eval,
        "GeneratorDataset": generator,
        "random access, function": random_access,
        "NumpySlicesDataset": slices,
        "text, white space": whitespace,
        "text, BERT and Lookup": bert,
        "MindRecord, BERT features": records,
        "MindRecord, JPEG bytes": record_images,
    }

    def opened(make):
        def start():
            pipeline, samples = make()
            iterator = pipeline.create_tuple_iterator(num_epochs=-1, output_numpy=True)
            return iterator, samples

        start.pipeline = make
        return start

    return {name: opened(make) for name, make in made.items()}


class Rows:
    """A random access data set of one's own."""

    def __init__(self):
        self.data = np.random.default_rng(0).normal(size=(20000, 16)).astype(np.float32)

    def __getitem__(self, index):
        return self.data[index], np.int32(index)

    def __len__(self):
        return len(self.data)


class Plain:
    """The counterparts for torch and grain: random access objects whose samples are computed with numpy and OpenCV."""

    def __init__(self, folder):
        import cv2

        cv2.setNumThreads(0)
        self.cv2 = cv2
        self.folder = folder
        self.rng = np.random.default_rng(0)

    def tables(self):
        """name -> (length, sample by number)."""
        return {
            "MNIST, LeNet's": self.mnist,
            "CIFAR-10, crop flip norm": self.cifar,
            "JPEG train, ResNet-50's": self.jpeg_train,
            "JPEG eval, ResNet-50's": self.jpeg_eval,
            "random access, function": self.function,
            "NumpySlicesDataset": self.slices,
        }

    def mnist(self):
        x = np.fromfile(f"{self.folder}/mnist/train-images-idx3-ubyte", np.uint8, offset=16).reshape(-1, 28, 28)
        y = np.fromfile(f"{self.folder}/mnist/train-labels-idx1-ubyte", np.uint8, offset=8).astype(np.int32)
        a, b = np.float32(1 / 0.3081 / 255), np.float32(-0.4242)

        def sample(i):
            return (self.cv2.resize(x[i], (32, 32)).astype(np.float32) * a + b)[None], y[i]

        return len(x), sample

    def cifar(self):
        rows = np.concatenate([np.fromfile(f"{self.folder}/cifar/data_batch_{i}.bin", np.uint8) for i in (1, 2)])
        rows = rows.reshape(-1, 3073)
        x = np.ascontiguousarray(rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
        y = rows[:, 0].astype(np.int32)
        mean, std = np.float32([0.4914, 0.4822, 0.4465]), np.float32([0.2023, 0.1994, 0.2010])

        def sample(i):
            padded = self.cv2.copyMakeBorder(x[i], 4, 4, 4, 4, self.cv2.BORDER_CONSTANT)
            row, column = self.rng.integers(0, 9, 2)
            image = padded[row : row + 32, column : column + 32]
            if self.rng.random() < 0.5:
                image = image[:, ::-1]
            image = (image.astype(np.float32) / np.float32(255) - mean) / std
            return np.ascontiguousarray(image.transpose(2, 0, 1)), y[i]

        return len(x), sample

    def _files(self):
        return [(f"{self.folder}/images/{i % 4}/{i}.jpg", np.int32(i % 4)) for i in range(300)]

    def _read(self, path):
        with open(path, "rb") as file:
            data = np.frombuffer(file.read(), np.uint8)
        return self.cv2.cvtColor(self.cv2.imdecode(data, self.cv2.IMREAD_COLOR), self.cv2.COLOR_BGR2RGB)

    @staticmethod
    def _normal(image):
        image = (image.astype(np.float32) - np.float32(MEAN)) / np.float32(STD)
        return np.ascontiguousarray(image.transpose(2, 0, 1))

    def jpeg_train(self):
        files = self._files()

        def sample(i):
            image = self._read(files[i][0])
            h, w = image.shape[:2]
            for _ in range(10):
                area = h * w * self.rng.uniform(0.08, 1)
                ratio = np.exp(self.rng.uniform(np.log(3 / 4), np.log(4 / 3)))
                wide, high = int(round((area * ratio) ** 0.5)), int(round((area / ratio) ** 0.5))
                if wide <= w and high <= h:
                    break
            else:
                wide, high = w, h
            row, column = self.rng.integers(0, h - high + 1), self.rng.integers(0, w - wide + 1)
            image = self.cv2.resize(image[row : row + high, column : column + wide], (224, 224))
            return self._normal(image[:, ::-1] if self.rng.random() < 0.5 else image), files[i][1]

        return len(files), sample

    def jpeg_eval(self):
        files = self._files()

        def sample(i):
            image = self._read(files[i][0])
            h, w = image.shape[:2]
            size = (int(256 * w / h), 256) if h < w else (256, int(256 * h / w))
            image = self.cv2.resize(image, size)
            row, column = (image.shape[0] - 224) // 2, (image.shape[1] - 224) // 2
            return self._normal(image[row : row + 224, column : column + 224]), files[i][1]

        return len(files), sample

    def function(self):
        rows = Rows()

        def sample(i):
            x, y = rows[i]
            return x * 2 + 1, y

        return len(rows), sample

    def slices(self):
        rows = Rows()
        return len(rows), lambda i: (rows.data[i], np.int32(i))


class Table:
    """What torch and grain call a data set."""

    def __init__(self, length, sample):
        self.length = length
        self.sample = sample

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.sample(int(index))


def torch_side(folder):
    """torch.utils.data.DataLoader in the calling process, its cheapest form per CPU-second."""
    import torch
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)

    def opened(make, name):
        def start():
            table = Table(*make())
            return DataLoader(table, 32, shuffle="eval" not in name, num_workers=0), len(table)

        return start

    return {name: opened(make, name) for name, make in Plain(folder).tables().items()}


def grain_side(folder):
    """grain.MapDataset: shuffle, map, batch, read by its own threads."""
    import grain

    def opened(make, name):
        def start():
            length, sample = make()
            d = grain.MapDataset.source(Table(length, sample))
            if "eval" not in name:
                d = d.shuffle(seed=0)
            return d.batch(32).to_iter_dataset(), length

        return start

    return {name: opened(make, name) for name, make in Plain(folder).tables().items()}


SIDES = {
    "msnb": lambda folder: facade("msnb", folder),
    "mindspore": lambda folder: facade("mindspore", folder),
    "torch": torch_side,
    "grain": grain_side,
}


# ---- training


def training(folder, rounds, steps=625):
    """Milliseconds per step of LeNet-5 over an epoch: of batches in memory, a new pipeline, one in later epochs."""
    import msnb as ms
    from msnb import nn

    ms.set_seed(1)
    ms.context.set_context(mode=ms.context.GRAPH_MODE)
    layers = []
    for channels, width in ((1, 6), (6, 16)):
        layers += [nn.Conv2d(channels, width, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2)]
    layers.append(nn.Flatten())
    for inputs, outputs in ((400, 120), (120, 84)):
        layers += [nn.Dense(inputs, outputs), nn.ReLU()]
    net = nn.SequentialCell([*layers, nn.Dense(84, 10)])
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()
    lenet = facade("msnb", folder)["MNIST, LeNet's"].pipeline

    def run(batches):
        begin = time.perf_counter()
        for _, batch in zip(range(steps), batches, strict=False):
            out = step(*batch)
        out.asnumpy()
        return (time.perf_counter() - begin) / steps * 1e3

    kept = lenet()[0].create_tuple_iterator()
    held = [batch for _, batch in zip(range(steps), kept, strict=False)]
    for _ in kept:
        pass
    run(held)
    times = {"in memory": [], "new pipeline": [], "later epochs": []}
    for _ in range(rounds):
        times["in memory"].append(run(held))
        times["new pipeline"].append(run(lenet()[0].create_tuple_iterator()))
        times["later epochs"].append(run(kept))
        for _ in kept:
            pass
    print(_MARK + json.dumps({name: statistics.median(values) for name, values in times.items()}), flush=True)


# ---- measuring


def cpu_seconds():
    """CPU time of this process and of all below it, so far."""
    own = os.times()
    total, tick = time.process_time() + own.children_user + own.children_system, os.sysconf("SC_CLK_TCK")
    seen, todo = set(), [os.getpid()]
    while todo:
        pid = todo.pop()
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as file:
                    todo += [int(p) for p in file.read().split()]
            if pid != os.getpid() and pid not in seen:
                with open(f"/proc/{pid}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
                total += sum(map(int, fields[11:15])) / tick
            seen.add(pid)
        except OSError:
            continue
    return total


def serve(side, folder):
    """Answer the parent's questions: which pipelines there are; one first epoch, or some later ones, of one of them."""
    pipelines = SIDES[side](folder)
    print(_MARK + json.dumps(sorted(pipelines)), flush=True)
    kept = None  # (name, iterator, samples)
    for line in sys.stdin:
        name, kind, seconds = json.loads(line)
        try:
            answer = None
            if kind == "first":
                kept = None
                before, wall = cpu_seconds(), time.perf_counter()
                iterator, samples = pipelines[name]()
                for _ in iterator:
                    pass
                answer = [samples, cpu_seconds() - before, time.perf_counter() - wall]
                kept = (iterator, samples)
                settled = cpu_seconds()
            elif kind == "later":
                wall, epochs = time.perf_counter(), 0
                while time.perf_counter() - wall < seconds:
                    for _ in kept[0]:
                        pass
                    epochs += 1
                now = cpu_seconds()
                answer = [epochs * kept[1], now - settled, time.perf_counter() - wall]
                settled = now
            print(_MARK + json.dumps(answer), flush=True)
        except Exception as error:
            print(_MARK + json.dumps(f"{type(error).__name__}: {error}"), flush=True)


class Side:
    """A process that runs one library's pipelines; stopped while it has no turn."""

    def __init__(self, name, python, folder, log):
        environment = dict(os.environ)
        if name != "msnb":
            environment.pop("PYTHONPATH", None)
        self.name = name
        self.process = subprocess.Popen(
            [python, os.path.abspath(__file__), "--serve", name, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment,
        )
        self.pipelines = self._answer() or []
        if not self.pipelines:
            print(f"{name}: {python} cannot run it (see --log)", file=sys.stderr)

    def _answer(self):
        for line in self.process.stdout:
            if line.startswith(_MARK):  # the libraries print too
                return json.loads(line[len(_MARK) :])
        return None

    def ask(self, *question):
        """What the process says to a question."""
        os.kill(self.process.pid, signal.SIGCONT)
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = self._answer()
        os.kill(self.process.pid, signal.SIGSTOP)
        return answer

    def end(self):
        os.kill(self.process.pid, signal.SIGCONT)
        self.process.kill()
        self.process.wait()


def compare(sides, name, rounds, seconds):
    """Side to (first, later) samples per CPU-second, or a sentence; medians over interleaved rounds."""
    taking = [s for s in sides if name in s.pipelines]
    rates = {s.name: {"first": [], "later": []} for s in taking}
    failed = {}
    for kind in ("first", "later"):
        for _ in range(rounds):
            for side in taking:
                if side.name in failed:
                    continue
                answer = side.ask(name, kind, seconds)
                if not isinstance(answer, list):
                    failed[side.name] = str(answer or "the process ended")
                    continue
                rates[side.name][kind].append(answer[0] / max(answer[1], 1e-9))
    for side, sentence in failed.items():
        print(f"{name}: {side} failed: {sentence.splitlines()[0]}", file=sys.stderr)
    return {s: tuple(statistics.median(r[k]) for k in ("first", "later")) for s, r in rates.items() if s not in failed}


def shown(rate):
    return f"{rate / 1000:.1f}k" if rate < 1e5 else f"{rate / 1000:.0f}k"


def main():
    """Measure every pipeline with every Python given, and print rates and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in list(SIDES)[1:]:
        parser.add_argument(f"--{name}", metavar="PYTHON", help=f"a Python that has {name}, to compare with")
    parser.add_argument("--only", default="", help="pipelines whose name contains this")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.7, help="wall time of a round of later epochs")
    parser.add_argument("--log", default=os.devnull, help="file for what the libraries print")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--training", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(*options.serve)
        return
    if options.training:
        training(options.training, options.rounds)
        return
    with tempfile.TemporaryDirectory() as folder, open(options.log, "w") as log:
        make_files(folder)
        pythons = {"msnb": sys.executable, **{n: getattr(options, n) for n in list(SIDES)[1:]}}
        sides = [Side(name, python, folder, log) for name, python in pythons.items() if python]
        try:
            head = "".join(f"{s.name:>11}{'later':>9}" for s in sides)
            head += "".join(f"{'/ ' + s.name:>13}{'later':>8}" for s in sides[1:])
            print(f"{'samples per CPU-second':26}{head}", flush=True)
            for name in facade_names():
                if options.only.lower() not in name.lower():
                    continue
                rates = compare(sides, name, options.rounds, options.seconds)
                line = f"{name:26}"
                for s in sides:
                    pair = rates.get(s.name)
                    line += f"{shown(pair[0]):>11}{shown(pair[1]):>9}" if pair else f"{'-':>20}"
                for s in sides[1:]:
                    ours, pair = rates.get("msnb"), rates.get(s.name)
                    line += f"{ours[0] / pair[0]:12.1f}x{ours[1] / pair[1]:7.1f}x" if ours and pair else f"{'-':>21}"
                print(line, flush=True)
        finally:
            for side in sides:
                side.end()
        if options.only.lower() in "training":
            show_training(folder, options.rounds)


def show_training(folder, rounds):
    """The step times of a training, from a process of its own."""
    command = [sys.executable, os.path.abspath(__file__), "--training", folder, "--rounds", str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith(_MARK)]
    if not lines:
        print(f"training: failed: {done.stderr.splitlines()[-1:]}", file=sys.stderr)
        return
    times = json.loads(lines[-1][len(_MARK) :])
    base = times["in memory"]
    print("LeNet-5, ms per step:     " + ", ".join(f"{n} {t:.2f} ({t / base:.2f}x)" for n, t in times.items()))


def facade_names():
    """The pipelines, in the order of the table."""
    return list(facade("msnb", ""))


if __name__ == "__main__":
    main()
