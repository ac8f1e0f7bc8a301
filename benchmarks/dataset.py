"""How many samples per second data pipelines give, beside MindSpore's where there is one.

    python benchmarks/dataset.py [--mindspore /path/to/python/with/mindspore] [--seconds 3]

Each pipeline runs in its own process and through the public interface: epochs over synthetic files of the real formats.
"""

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np


def make_files(folder):
    """MNIST (12000 images), CIFAR-10 (10000) and a folder of 200 JPEG images of 500 x 375."""
    from PIL import Image

    rng = np.random.default_rng(0)
    os.makedirs(f"{folder}/mnist")
    images = rng.integers(0, 256, (12000, 28, 28), np.uint8)
    with open(f"{folder}/mnist/train-images-idx3-ubyte", "wb") as file:
        file.write(struct.pack(">4i", 2051, *images.shape) + images.tobytes())
    with open(f"{folder}/mnist/train-labels-idx1-ubyte", "wb") as file:
        file.write(struct.pack(">2i", 2049, len(images)) + rng.integers(0, 10, len(images), np.uint8).tobytes())
    os.makedirs(f"{folder}/cifar")
    for i in range(1, 6):
        with open(f"{folder}/cifar/data_batch_{i}.bin", "wb") as file:
            rows = rng.integers(0, 256, (2000, 3073), np.uint8)
            rows[:, 0] %= 10
            file.write(rows.tobytes())
    for i in range(200):
        os.makedirs(f"{folder}/images/{i % 4}", exist_ok=True)
        small = Image.fromarray(rng.integers(0, 256, (24, 32, 3), np.uint8))
        small.resize((500, 375), Image.BICUBIC).save(f"{folder}/images/{i % 4}/{i}.jpg", quality=90)


def pipelines(ds, CV, C, int32, folder):
    """Name to a function that makes the pipeline."""

    def lenet():
        d = ds.MnistDataset(f"{folder}/mnist", usage="train")
        d = d.map(C.TypeCast(int32), "label", num_parallel_workers=2)
        operations = [CV.Resize((32, 32)), CV.Rescale(1 / 255, 0), CV.Rescale(1 / 0.3081, -0.4242), CV.HWC2CHW()]
        for operation in operations:
            d = d.map(operation, "image", num_parallel_workers=2)
        return d.shuffle(10000).batch(32, drop_remainder=True)

    def cifar():
        d = ds.Cifar10Dataset(f"{folder}/cifar", usage="train", shuffle=True)
        operations = [
            CV.RandomCrop((32, 32), (4, 4, 4, 4)),
            CV.RandomHorizontalFlip(0.5),
            CV.Rescale(1 / 255, 0),
            CV.Normalize([0.4914, 0.4822, 0.4465], [0.2023, 0.1994, 0.2010]),
            CV.HWC2CHW(),
        ]
        d = d.map(operations, "image", num_parallel_workers=2).map(C.TypeCast(int32), "label")
        return d.batch(32, drop_remainder=True)

    def imagenet():
        d = ds.ImageFolderDataset(f"{folder}/images", shuffle=True)
        operations = [
            CV.RandomCropDecodeResize(224),
            CV.RandomHorizontalFlip(0.5),
            CV.Normalize([123.7, 116.3, 103.5], [58.4, 57.1, 57.4]),
            CV.HWC2CHW(),
        ]
        return d.map(operations, "image", num_parallel_workers=2).batch(32)

    def python():
        data = np.random.default_rng(0).normal(size=(5000, 16)).astype(np.float32)
        d = ds.NumpySlicesDataset({"x": data}, shuffle=True)
        return d.map(lambda x: x * 2 + 1, ["x"]).batch(50)

    return {
        "MNIST, LeNet's": (lenet, 32),
        "CIFAR-10, ResNet's": (cifar, 32),
        "JPEG, ResNet-50's": (imagenet, 32),
        "a Python function": (python, 50),
    }


def measure(folder, seconds, name):
    """Samples per second of one pipeline: the first epoch, and all later ones within the time."""
    try:
        import mindspore
        import mindspore.dataset as ds
        from mindspore.dataset import transforms as C
        from mindspore.dataset import vision as CV
    except ImportError:
        import msnb as mindspore
        import msnb.dataset as ds
        import msnb.dataset.transforms.c_transforms as C
        import msnb.dataset.vision.c_transforms as CV
    make, batch = pipelines(ds, CV, C, mindspore.int32, folder)[name]
    iterator = make().create_tuple_iterator(output_numpy=True)
    begin = time.perf_counter()
    n = sum(1 for _ in iterator)
    first = n * batch / (time.perf_counter() - begin)
    begin, total = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        total += sum(1 for _ in iterator)
    print(json.dumps([first, total * batch / (time.perf_counter() - begin)]))


def main():
    """Measure every pipeline with every Python given."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mindspore", help="a Python that has MindSpore, to compare with")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        measure(options.one[0], options.seconds, options.one[1])
        return
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder)
        print(
            f"{'samples per second':24}{'msnb, epoch 1':>16}{'later epochs':>16}"
            + (f"{'MindSpore, 1':>16}{'later epochs':>16}" if options.mindspore else "")
        )
        for name in pipelines(None, None, None, None, folder):
            line = f"{name:24}"
            for python in filter(None, (sys.executable, options.mindspore)):
                command = [python, os.path.abspath(__file__), "--seconds", str(options.seconds), "--one", folder, name]
                done = subprocess.run(command, capture_output=True, text=True)
                try:
                    line += "".join(f"{rate:16.0f}" for rate in json.loads(done.stdout.splitlines()[-1]))
                except (IndexError, ValueError):
                    line += f"{'failed':>32}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
