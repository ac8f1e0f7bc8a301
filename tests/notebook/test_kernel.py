"""A complete notebook, run by nbclient in a kernel of its own."""

import os
import re
import sys
from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).parents[2]

CELLS = {
    "load": "%load_ext msnb",
    "define": """%%mindspore -m graph --ir --time
import numpy as np
import mindspore as ms
from mindspore import nn, ops
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2)
    def construct(self, x):
        if x.shape[1] != 3:
            raise ValueError("three columns are needed")
        return self.dense(x)
net = Net()
net(ms.Tensor(np.ones((4, 3), np.float32)))""",
    "graph": "%ms_ir net(ms.Tensor(np.ones((2, 3), np.float32)))",
    "mode": "%ms_mode",
    "await": "%%mindspore\nimport asyncio\nimport mindspore\nawait asyncio.sleep(0)\nmindspore.__version__",
    "error": "\nnet(ms.Tensor(np.ones((4, 5), np.float32)))",
    "option": "%%mindspore -m quick\n1",
    "late": """import jax, jax.numpy as jnp
def check(a):
    raise ValueError("found late")
work = jax.jit(lambda a: jax.lax.fori_loop(0, 200, lambda i, b: jnp.sin(b @ b), a))
slow = jax.jit(lambda a: jax.pure_callback(check, jax.ShapeDtypeStruct((3,), a.dtype), a))
y = slow(work(jnp.ones((300, 300)))[0, :3])""",
    "after": "1 + 1",
    "capture": "%%capture seen\n%%mindspore\nimport mindspore as again\nprint(again.__version__)",
    "captured": "seen.stdout",
    "command": "!echo hello",
    "display": "net",
    "train": """%%mindspore
import mindspore.dataset as ds
rows = ds.NumpySlicesDataset((np.ones((8, 3), np.float32), np.ones((8, 2), np.float32)), ["x", "y"]).batch(2)
model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
model.train(3, rows)
print("below")""",
    "wait": """import time
from msnb.common import progress
progress._DELAY = 0.05
with progress.Wait("compiling"):
    time.sleep(0.3)""",
    "on": "%mindspore on\nimport mindspore\nfrom mindspore.nn import Cell\nCell is nn.Cell",
}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Return the notebook with its outputs."""
    from jupyter_client.manager import AsyncKernelManager

    folder = tmp_path_factory.mktemp("kernel")
    manager = AsyncKernelManager(kernel_name="python3")
    manager.kernel_spec.argv[:] = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    book = new_notebook(cells=[new_code_cell(text, id=name) for name, text in CELLS.items()])
    where = {"metadata": {"path": str(folder)}}
    client = NotebookClient(book, km=manager, timeout=120, allow_errors=True, resources=where)
    client.execute(env={**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(folder)})
    return book


@pytest.fixture(scope="module")
def outputs(book):
    """Outputs of each cell by its name."""
    return {cell.id: cell.outputs for cell in book.cells}


def text(outputs):
    texts = [
        o.get("text", "") or o.get("data", {}).get("text/plain", "") or "\n".join(o.get("traceback", []))
        for o in outputs
    ]
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(texts))


def test_the_cell_shows_its_value_its_seconds_and_its_graph(outputs):
    shown = outputs["define"]
    assert "text/html" in shown[0].data and shown[0].data["text/plain"].startswith("Tensor(shape=[4, 2]")
    assert shown[1].text.startswith("wall ")
    graph = shown[2].data
    assert graph["text/plain"].startswith("GraphView(Net: ") and graph["text/html"].startswith('<div class="msnb-view"')


def test_what_a_program_runs_keeps_the_module_once_and_no_state_of_widgets(outputs, book):
    first, second = outputs["define"][2].data, outputs["graph"][0].data
    assert 'data-msnb-name="' in first["text/html"] and 'data-msnb-name="' not in second["text/html"]
    assert set(first) == set(second) == {"text/html", "text/plain"} and "widgets" not in book.metadata


def test_the_mode_of_one_cell_is_not_that_of_the_next(outputs):
    assert text(outputs["mode"]) == "PYNATIVE mode on CPU\n"


def test_await_and_the_version_of_mindspore(outputs):
    assert text(outputs["await"]) == "'1.1.1'"


def test_an_error_shows_the_users_lines_and_its_sentence(outputs):
    shown = text(outputs["error"])
    assert "ValueError: three columns are needed" in shown and "line 11, in Net.construct(self, x)" in shown
    assert "msnb/nn" not in shown and "site-packages" not in shown


def test_a_wrong_option_is_one_line(outputs):
    assert len(text(outputs["option"]).strip().splitlines()) == 1


def test_a_late_error_is_that_of_the_cell_that_caused_it(outputs):
    assert outputs["late"][-1].output_type == "error" and "found late" in outputs["late"][-1].evalue
    assert text(outputs["after"]) == "2"


def test_what_is_captured_is_not_shown(outputs):
    assert outputs["capture"] == [] and text(outputs["captured"]) == "'1.1.1\\n'"


def test_a_shell_command_warns_of_nothing(outputs):
    assert text(outputs["command"]).strip() == "hello"


def test_a_cell_is_a_tree(outputs):
    assert "<details" in outputs["display"][0].data["text/html"]


def test_a_training_leaves_its_last_line_above_what_comes_after_it(outputs):
    line, below = outputs["train"]
    assert re.fullmatch(r"3 epochs, 12 steps in [\d.]+ s, loss [\d.e-]+", line.data["text/plain"])
    assert line.output_type == "display_data" and "<polyline" in line.data["text/html"] and below.text == "below\n"


def test_a_wait_is_drawn_from_its_own_thread_into_the_cell(outputs):
    (line,) = outputs["wait"]
    assert re.fullmatch(r"compiling: [\d.]+ s", line.data["text/plain"])


def test_the_session_alias_serves_the_same_objects(outputs):
    assert text(outputs["on"]).splitlines()[-1] == "True"
