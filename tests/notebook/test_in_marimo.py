"""Errors in marimo, which prints what an exception carries: here a stand-in of it, and Python's own printing."""

import os
import re
import subprocess
import sys

import pytest
from fresh import ROOT

MARIMO = "def running_in_notebook():\n    return {running}\n"
NOTEBOOK = """import traceback
import marimo
import numpy as np
from msnb import Tensor, context, nn
class Block(nn.Cell):
    def __init__(self, n):
        super().__init__()
        self.conv = nn.Conv2d(n, 8, 3)
    def construct(self, x):
        return self.conv(x)
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(Block(3), Block(4))
    def construct(self, x):
        return self.body(x)
def wants_a_cause(x):
    try:
        return Net()(x)
    except ValueError as error:
        raise RuntimeError("the user's own") from error
context.set_context(mode=context.GRAPH_MODE)
for act in (Net(), wants_a_cause):
    try:
        act(Tensor(np.ones((2, 3, 8, 8), np.float32)))
    except Exception as error:
        traceback.print_exception(error)
"""


INSTALLED = "import marimo\nfrom msnb.notebook.kernel import marimo_errors\nmarimo_errors.install()\n"


def test_the_frames_are_the_users_and_the_sentence_is_the_last_line(tmp_path):
    (tmp_path / "marimo.py").write_text(MARIMO.format(running=True))
    (tmp_path / "book.py").write_text(NOTEBOOK)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    shown = subprocess.run(
        [sys.executable, tmp_path / "book.py"], env=environment, capture_output=True, text=True
    ).stderr
    first, _, second = shown.partition("Traceback (most recent call last):\n  File")[2].partition("Traceback (most")
    for text in (first, second):
        assert re.findall(r"in (\w+)$", text, re.MULTILINE)[-2:] == ["construct", "construct"] or "wants" in text
        assert "in body.1.conv (Conv2d(4, 8, kernel_size=3))" in text
    assert not re.search(r"/msnb/(nn|core|ops)/|jax/_src|JAX_TRACEBACK", shown), shown
    assert "the user's own" in second and "direct cause" in second


@pytest.mark.parametrize("running, environment", [(False, {}), (True, {"MSNB_TRACEBACK": "full"})])
def test_elsewhere_and_where_it_is_asked_for_all_frames_are_there(fresh, tmp_path, running, environment):
    (tmp_path / "marimo.py").write_text(MARIMO.format(running=running))
    done = fresh.run(INSTALLED + NOTEBOOK, tmp_path, path=[tmp_path], environment=environment)
    assert "/msnb/nn/_cell/call.py" in done.err
