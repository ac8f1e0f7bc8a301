"""A network in many inference engines: size of the file, time per image, difference to msnb.

    python benchmarks/engines.py [--python /path/of/another/python ...] [--networks resnet18 ...] [--rounds 15]

msnb exports networks of the model zoo with random weights to ONNX and StableHLO. Each engine runs in a process of its
own, in the first Python that has its package: this one, or one of `--python` (MindSpore Lite 2.0 needs Python 3.7). The
engines that no Python has are named. In each round every engine, and msnb in this process, computes one image; times
are medians. All have the same number of threads. "difference" is the largest difference to msnb's result, divided by
the largest absolute value of that result.

The last table is the network of notebook 10, which reads digits, in float32 and quantised to 8 bits. "accuracy" is that
of the test images. The training images give the ranges for onnxruntime.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from engine_process import ENGINES

import msnb as ms
import msnb.alias
from msnb import Model, Tensor, model_zoo, nn

msnb.alias.install()

import mindspore.dataset as ds  # noqa: E402
import mindspore.dataset.vision.c_transforms as CV  # noqa: E402
from mindspore.compression.common import QuantDtype  # noqa: E402
from mindspore.compression.export.quant_export import ExportToQuantInferNetwork  # noqa: E402
from mindspore.compression.quant import QuantizationAwareTraining  # noqa: E402
from mindspore.dataset.transforms.c_transforms import TypeCast  # noqa: E402

PROCESS = str(Path(__file__).with_name("engine_process.py"))
INSTALLS = {"mindspore_lite": "mindspore-lite==2.0.0 (Python 3.7)", "pnnx": "ncnn pnnx"}
PAUSE = 0.02  # seconds between two engines, in which idle threads go to sleep


class LeNet(nn.Cell):
    """The network of notebook 10."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2dBnAct(1, 6, 5, pad_mode="valid", has_bn=True, momentum=0.9, activation="relu")
        self.conv2 = nn.Conv2dBnAct(6, 16, 5, pad_mode="valid", has_bn=True, momentum=0.9, activation="relu")
        self.fc1 = nn.DenseBnAct(256, 84, activation="relu")
        self.fc2 = nn.DenseBnAct(84, 10)
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()

    def construct(self, x):
        x = self.pool(self.conv2(self.pool(self.conv1(x))))
        return self.fc2(self.fc1(self.flatten(x)))


def read_digits(subset):
    """Return the pipeline of the digits of notebook 10."""
    data = ds.MnistDataset(f"{msnb.samples.digits()}/{subset}", shuffle=subset == "train")
    data = data.map([CV.Rescale(1 / 127.5, -1), CV.HWC2CHW()], "image", num_parallel_workers=1)
    return data.map(TypeCast(ms.int32), "label", num_parallel_workers=1).batch(50 if subset == "train" else 297)


def train(net, rate, epochs):
    """Train on the digits."""
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    Model(net, loss, nn.Momentum(net.trainable_params(), rate, momentum=0.9)).train(epochs, read_digits("train"))
    return net.set_train(False)


def quantise(net, images):
    """Return msnb's network of integers, as in notebook 10."""
    quantizer = QuantizationAwareTraining(
        quant_dtype=QuantDtype.INT8, per_channel=(True, False), symmetric=(True, False)
    )
    copy = LeNet()
    ms.load_param_into_net(copy, net.parameters_dict())
    return ExportToQuantInferNetwork(train(quantizer.quantize(copy), 0.01, 2), 0, 127.0, images).run()


class Engine:
    """An engine in a process of its own.

    Attributes:
        outputs (ndarray): Results of all examples.
        version (str): Version of the engine.
        size (int): Bytes of its files.
    """

    def __init__(self, name, python, model, threads):
        command = [python, PROCESS, name, str(model.parent), model.name, str(threads)]
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "JAX_PLATFORMS": "cpu"}
        with open(f"{model}.{name}.log", "w") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
            )
        answer = self.process.stdout.readline()
        if not answer:
            lines = Path(log.name).read_text(errors="replace").strip().splitlines()
            raise RuntimeError(lines[-1] if lines else "no output")
        properties = json.loads(answer)
        self.version, self.size = properties["version"], properties["bytes"]
        self.outputs = np.load(f"{model}.{name}.npy")

    def measure(self):
        """Return the seconds of one call."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        """End the process."""
        self.process.stdin.close()
        self.process.wait()


def select_python(module, pythons):
    """Return the first Python that has a module, or None."""
    script = f"import importlib.util as u, sys; sys.exit(u.find_spec({module!r}) is None)"
    for python in pythons:
        if subprocess.run([python, "-c", script], capture_output=True).returncode == 0:
            return python
    return None


def start_engines(names, model, options):
    """Return the engines that are installed, by name. Print a line for each of the others."""
    engines = {}
    for name in names:
        module = ENGINES[name][0]
        python = select_python(module, [sys.executable, *options.python])
        if python is None:
            print(f"{name} is not installed: pip install {INSTALLS.get(module, module)}")
            continue
        try:
            engines[name] = Engine(name, python, model, options.threads)
        except RuntimeError as error:
            print(f"{name} does not run this network: {error}")
    return engines


def measure(calls, rounds):
    """Return the median seconds of each function in `calls`, which are called by turns."""
    seconds = {name: [] for name in calls}
    for index in range(rounds):
        for name in list(calls) if index % 2 else reversed(calls):
            time.sleep(PAUSE)
            seconds[name].append(calls[name]())
    return {name: statistics.median(times) for name, times in seconds.items()}


def compare(net, examples, names, folder, title, options, labels=None, integers=None):
    """Print the table of a network: msnb, then the engines."""
    model = Path(folder) / title
    first = Tensor(examples[:1])
    for kind in ("ONNX", "STABLEHLO"):
        ms.export(net, first, file_name=str(model), file_format=kind)
    np.save(f"{model}.npy", examples)
    engines = start_engines(names, model, options)
    cells = {"msnb": net} | ({"msnb, 8 bits": integers} if integers is not None else {})
    outputs = {
        name: np.concatenate([cell(Tensor(x[None])).asnumpy() for x in examples]) for name, cell in cells.items()
    }
    calls = {name: lambda cell=cell: time_call(cell, first) for name, cell in cells.items()}
    calls |= {name: engine.measure for name, engine in engines.items()}
    times = measure(calls, options.rounds)
    outputs |= {name: engine.outputs for name, engine in engines.items()}
    print(
        f"\n{title}\n\n| engine | file, MB | ms per image | difference |{' accuracy |' if labels is not None else ''}"
    )
    print("|---|---|---|---|" + ("---|" if labels is not None else ""))
    for name, out in outputs.items():
        engine, scale = engines.get(name), np.abs(outputs["msnb"]).max()
        row = [name if engine is None else f"{name} {engine.version}", f"{engine.size / 1e6:.2f}" if engine else ""]
        row += [f"{times[name] * 1e3:.3g}", f"{np.abs(out - outputs['msnb']).max() / scale:.1e}"]
        row += [] if labels is None else [f"{(out.argmax(1) == labels).mean():.1%}"]
        print("|", " | ".join(row), "|")
        if engine:
            engine.close()


def time_call(cell, x):
    """Return the seconds of one call of msnb."""
    start = time.perf_counter()
    cell(x).asnumpy()
    return time.perf_counter() - start


def main(options):
    """Print the tables."""
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(1)
    exact = [name for name in ENGINES if not name.endswith("8 bits")]
    with tempfile.TemporaryDirectory() as folder:
        image = np.random.default_rng(0).standard_normal((1, 3, 224, 224)).astype(np.float32)
        for name in options.networks:
            compare(getattr(model_zoo, name)().set_train(False), image, exact, folder, name, options)
        images, labels = (x.asnumpy() for x in next(read_digits("test").create_tuple_iterator()))
        ranges = [batch.asnumpy() for batch, _ in read_digits("train").create_tuple_iterator()]
        np.save(f"{folder}/lenet.ranges.npy", np.concatenate(ranges)[:500])
        lenet = train(LeNet(), 0.05, 4)
        integers = quantise(lenet, Tensor(images[:1]))
        compare(lenet, images, list(ENGINES), folder, "lenet", options, labels, integers)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", default=[], help="another Python that has engines")
    parser.add_argument("--networks", nargs="*", default=["mobilenet_v2", "resnet18"])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    main(parser.parse_args())
