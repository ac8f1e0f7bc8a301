"""``msnb graph``, ``profile`` and ``html``: a script or a notebook as a page."""

import sys

import pytest

from msnb import __main__ as command
from msnb import alias, context

SCRIPT = """import sys
import numpy as np
import mindspore as ms
from mindspore import nn, dataset as ds
ms.set_context(mode=getattr(ms, sys.argv[1] + "_MODE"))
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 1))
    def construct(self, x):
        return self.fc(x)
def main():
    x = np.ones((32, 3), np.float32)
    data = ds.NumpySlicesDataset({"x": x, "y": x[:, :1]}).batch(4)
    net = Net()
    model = ms.Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9), metrics={"mse"})
    model.train(1, data, display=False)
    model.eval(data, display=False)
main()  # its networks are gone afterwards
sys.exit(int(sys.argv[2]))
"""


@pytest.fixture
def msnb(tmp_path, monkeypatch, capsys):
    """Run a command on the script: (exit status, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["msnb"])
    monkeypatch.setattr(sys, "path", sys.path[:])
    (tmp_path / "train.py").write_text(SCRIPT)
    mode = context.get_context("mode")

    def call(*arguments):
        status = command.main([*arguments])
        return status, *capsys.readouterr()

    yield call
    alias.uninstall()
    context.set_context(mode=mode)


@pytest.mark.parametrize("mode", ["GRAPH", "PYNATIVE"])
def test_the_graph_of_the_largest_program_is_written_and_the_others_are_named(msnb, tmp_path, mode):
    status, out, _ = msnb("graph", "train.py", "--", mode, "0")
    assert status == 0
    first, second = out.splitlines()
    assert first.startswith("Wrote train-graph.html: train step of Net, ") and "evaluation of Net (" in second
    assert "<title>train step of Net</title>" in (tmp_path / "train-graph.html").read_text()


def test_a_program_can_be_named_by_a_part_of_its_name(msnb, tmp_path):
    status, out, _ = msnb("graph", "train.py", "-o", "net.ir", "--name", "EVAL", "--", "GRAPH", "0")
    assert status == 0 and out.startswith("Wrote net.ir: evaluation of Net, ")
    text = (tmp_path / "net.ir").read_text()
    assert "MatMul" in text and "ApplyMomentum" not in text
    status, out, error = msnb("graph", "train.py", "--name", "Conv", "--", "GRAPH", "0")
    assert status == 1 and not out and error.startswith("Nothing that ran in train.py is called 'Conv': there is ")


@pytest.mark.parametrize("mode", ["GRAPH", "PYNATIVE"])
def test_the_profile_follows_the_mode_that_the_script_chooses(msnb, tmp_path, mode):
    context.set_context(mode=context.GRAPH_MODE if mode == "PYNATIVE" else context.PYNATIVE_MODE)
    status, out, _ = msnb("profile", "train.py", "-o", "page.md", "--", mode, "0")
    assert status == 0 and out.startswith(f"train.py, {mode}: ") and out.endswith("Wrote page.md.\n")
    assert "| MatMul |" in (tmp_path / "page.md").read_text()


def test_a_script_that_fails_leaves_no_page(msnb, tmp_path):
    status, out, error = msnb("graph", "train.py", "--", "GRAPH", "3")
    assert status == 3 and not out and error.endswith("the script has to run to its end.\n")
    assert not (tmp_path / "train-graph.html").exists()


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["graph", "nowhere.py"], "There is no script 'nowhere.py'.\n"),
        (
            ["graph", "train.py", "-o", "page.png"],
            ".html, .svg, .dot, .ir, .txt, but got 'page.png'",
        ),
        (["profile", "train.py", "-o", "nowhere/page.html"], "There is no folder 'nowhere' to write to.\n"),
        (["graph", "empty.py"], "No network has run in empty.py that can be drawn.\n"),
        (["profile", "empty.py"], "No network has run in empty.py, so that there is nothing to profile.\n"),
        (["html", "nowhere.ipynb"], "There is no notebook 'nowhere.ipynb'.\n"),
        (["html", "train.py"], "train.py is not a notebook.\n"),
        (
            ["html", "book.ipynb", "-o", "nowhere/page.html"],
            "page.html cannot be written: No such file",
        ),
    ],
)
def test_what_cannot_be_is_one_sentence(msnb, tmp_path, arguments, said):
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "book.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    status, _, error = msnb(*arguments)
    assert status == 1 and said in error and len(error.splitlines()) == 1


def test_a_notebook_is_written_as_it_is_stored(msnb, tmp_path):
    nbformat = pytest.importorskip("nbformat.v4")
    pytest.importorskip("nbconvert")
    output = nbformat.new_output("stream", text="of a run long ago")
    cell = nbformat.new_code_cell("1 / 0", outputs=[output])
    (tmp_path / "a.ipynb").write_text(nbformat.writes(nbformat.new_notebook(cells=[cell])))
    assert msnb("html", "a.ipynb")[:2] == (0, "Wrote a.html.\n")
    assert "of a run long ago" in (tmp_path / "a.html").read_text()
