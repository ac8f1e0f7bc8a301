"""The Stop button of a notebook, while a compiled loop without end runs in the kernel."""

import os
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

ROOT = Path(__file__).parents[2]

SETUP = """
import threading
import numpy as np
import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops
context.set_context(mode=context.GRAPH_MODE)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(np.float32([1, 2]), name="w")

    def construct(self, x, n):
        while n > 0:
            x = ops.tanh(x * self.w)
            n = n - (n < 1000).astype(ms.int32)
        self.w += 1
        return x

net, x = Net(), Tensor(np.float32([0.5, 0.25]))
net(x, Tensor(np.int32(3)))

@ms.ms_function
def repeat(x, n):
    while n > 0:
        x = ops.tanh(ops.matmul(x, x) + x)
        n = n - (n < 1000).astype(ms.int32)
    return x

square = Tensor(np.full((160, 160), 1e-3, np.float32))
repeat(square, Tensor(np.int32(3)))
"""

ENDLESS = [
    "net(x, Tensor(np.int32(5000)))",
    "repeat(square, Tensor(np.int32(5000)))",  # returns at once; to show its value takes for ever
]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Yield (kernel manager, client) of a kernel in which a network has run."""
    folder = tmp_path_factory.mktemp("stop")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(folder)}
    manager, client = start_new_kernel(kernel_name="python3", env=environment, cwd=str(folder), startup_timeout=120)
    try:
        reply = client.execute_interactive(SETUP, timeout=120, output_hook=lambda message: None)
        assert reply["content"]["status"] == "ok", reply["content"]
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("endless", ENDLESS)
def test_stop_ends_the_cell_and_the_next_one_goes_on(client, endless):
    manager, client = client

    def interrupt(message):
        if "runs" in message["content"].get("text", ""):
            manager.interrupt_kernel()

    cell = f"threading.Timer(0.2, print, ('runs',)).start()\n{endless}"
    reply = client.execute_interactive(cell, timeout=120, output_hook=interrupt)["content"]
    assert (reply["status"], reply.get("ename")) == ("error", "KeyboardInterrupt")
    shown = []
    before = "w = net.w.asnumpy()\nnet(x, Tensor(np.int32(3)))\nprint(net.w.asnumpy() - w)"
    reply = client.execute_interactive(
        before, timeout=120, output_hook=lambda message: shown.append(message["content"].get("text", ""))
    )
    assert reply["content"]["status"] == "ok" and "".join(shown) == "[1. 1.]\n"


def test_saved_outputs_of_views_are_written_behind_the_end_of_a_stopped_cell(client):
    """The kernel refuses cells that arrive between the KeyboardInterrupt on the page and the end of the cell."""
    _, client = client
    shown = "view = ms.view(net, x, Tensor(np.int32(3)))\nview"
    assert client.execute_interactive(shown, timeout=120, output_hook=lambda _: None)["content"]["status"] == "ok"
    kinds = []
    stopped = "from msnb.notebook.kernel import cell_views\ncell_views.changed(view)\nraise KeyboardInterrupt"
    client.execute_interactive(stopped, timeout=120, output_hook=lambda message: kinds.append(message["msg_type"]))
    assert "error" in kinds and "update_display_data" not in kinds
    while "update_display_data" not in kinds:
        kinds.append(client.get_iopub_msg(timeout=60)["msg_type"])
