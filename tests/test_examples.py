"""The examples in the documentation print what they say: every ``>>>`` in every docstring of the package."""

import ast
import doctest
import functools
import importlib
import json
import re
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import msnb
from msnb import Model, Parameter, Tensor, alias, amp, context, dataset, mindrecord, mint, nn, ops
from msnb.dataset.core.config import settings

PACKAGE = Path(__file__).parent.parent / "msnb"
# Names that an example may use without an import, beside those of its own module.
NAMES = {
    "np": np,
    "mindspore": msnb,
    "msnb": msnb,
    "ms": msnb,
    "nn": nn,
    "mint": mint,
    "ops": ops,
    "ds": dataset,
    "amp": amp,
    "context": context,
    "Model": Model,
    "Tensor": Tensor,
    "Parameter": Parameter,
}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?")


class Net(nn.Cell):
    """The network that an example means when it says ``Net()``: images of 32 by 32 pixels in, three classes out."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 2, 3)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(2 * 32 * 32, 3)

    def construct(self, x):
        return self.fc1(self.flatten(self.conv1(x)))


def names_of_example(text, module):
    """Return the names that a training example uses: a network, its loss, an optimizer, a Model, images with labels."""
    images, labels = np.ones((8, 1, 32, 32), np.float32), np.arange(8, dtype=np.int32) % 3
    of_data = module.startswith("msnb.dataset")

    def rows():
        data = dataset.NumpySlicesDataset({"image": images, "label": labels}, shuffle=False)
        return data if of_data else data.batch(4)

    def column(name, values):
        return dataset.NumpySlicesDataset({name: values}, shuffle=False) if of_data else Tensor(values)

    net = functools.cache(Net)  # most examples name none, and a network costs a tenth of a second
    loss = functools.cache(lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    optimizer = functools.cache(lambda: nn.Momentum(net().trainable_params(), 0.01, 0.9))
    makers = {
        ("Net", "LeNet5"): lambda: Net,
        ("net", "lenet"): net,
        ("loss", "cross_entropy"): loss,
        ("optim", "optimizer", "momentum"): optimizer,
        ("net_with_loss",): lambda: nn.WithLossCell(net(), loss()),
        ("train_step",): lambda: nn.TrainOneStepCell(nn.WithLossCell(net(), loss()), optimizer()),
        ("model",): lambda: Model(net(), loss(), optimizer(), metrics={"accuracy"}),
        ("dataset", "train_dataset", "valid_dataset", "digits", "unseen_digits"): rows,
        ("images", "data", "x"): lambda: column("image", images),
        ("labels", "label", "y"): lambda: column("label", labels),
    }
    return {name: make() for names, make in makers.items() for name in names if re.search(rf"\b{name}\b", text)}


# Examples that read what is too much to make here; that they construct is what tests/dataset holds.
FILES_MISSING = re.compile(r"cifar-|\.tfrecord|graph\.mindrecord|jieba\.dict|botchan|DatasetCache")


def write_files(folder):
    """The files that examples read, as small as they can be."""
    for name in ("1.txt", "2.txt"):
        (folder / name).write_text("one line\n")
    (folder / "data.csv").write_text("1.5,2\n")
    (folder / "config.json").write_text("{}")
    (folder / "afqmc").mkdir()
    (folder / "afqmc/train.json").write_text('{"sentence1": "a", "sentence2": "b", "label": "0"}\n')
    for kind in ("cat", "dog"):
        (folder / "images" / kind).mkdir(parents=True)
        image = folder / "images" / kind / "1.png"
        Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(image)
    row = {"source": str(image), "usage": "train", "annotation": [{"name": "dog"}]}
    (folder / "images.manifest").write_text(json.dumps(row) + "\n")
    for name in ("mnist", "MNIST_Data/train"):
        (folder / name).mkdir(parents=True)
        (folder / name / "train-images-idx3-ubyte").write_bytes(struct.pack(">4i", 2051, 100, 28, 28) + bytes(78400))
        (folder / name / "train-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 2049, 100) + bytes(100))
    writer = mindrecord.FileWriter("test.mindrecord")
    writer.add_schema({"label": {"type": "int32"}, "data": {"type": "bytes"}}, "")
    writer.write_raw_data([{"label": 1, "data": b"abc"}])
    writer.commit()


class Checker(doctest.OutputChecker):
    """Compares words exactly and numbers up to rounding, which differs between processors."""

    def check_output(self, want, got, optionflags):
        if not want:  # an example that shows nothing says nothing of what is printed
            return True
        same_words = NUMBER.sub("#", want).split() == NUMBER.sub("#", got).split()
        numbers = [np.array(NUMBER.findall(text), float) for text in (want, got)]
        return super().check_output(want, got, optionflags) or (
            same_words and numbers[0].shape == numbers[1].shape and np.allclose(*numbers, rtol=1e-5, atol=1e-6)
        )


def examples_of(path):
    """Yield (name, docstring, line) of what has an example in a file."""

    def visit(node, name):
        for child in getattr(node, "body", ()):
            if isinstance(child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from visit(child, f"{name}.{child.name}")
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text and ">>>" in text:
                yield name, text, getattr(node, "lineno", 1)

    yield from visit(ast.parse(path.read_text(encoding="utf-8")), module_of(path))


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """Yield a folder of its own with the files that examples read; ``import mindspore`` means msnb."""
    monkeypatch.chdir(tmp_path)
    state, before = dict(vars(settings)), alias.installed()
    alias.install(warn=False)
    yield tmp_path
    vars(settings).update(state)
    if not before:
        alias.uninstall()


def module_of(path):
    components = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(components[:-1] if components[-1] == "__init__" else components)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_the_examples_print_what_they_say_in(path, alone):
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(Checker(), verbose=False, optionflags=FLAGS)
    names, output = vars(importlib.import_module(module_of(path))), []
    if path.relative_to(PACKAGE).parts[0] in ("dataset", "mindrecord"):
        write_files(alone)
    for name, text, line in examples_of(path):
        if not FILES_MISSING.search(text):
            scope = {**names, **NAMES, **names_of_example(text, name)}
            context.set_context(mode=context.PYNATIVE_MODE)
            runner.run(parser.get_doctest(text, scope, name, str(path), line), out=output.append)
    assert not runner.failures, "".join(output)
