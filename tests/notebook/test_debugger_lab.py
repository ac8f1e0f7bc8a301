"""`%%ms_debug` in a real JupyterLab: buttons and keys move the cursor while the cell runs."""

import pytest
from browsing import TOKEN, chromium, menu, opened, unreadable, until

pytestmark = pytest.mark.first
browser = pytest.fixture(chromium, scope="module")

NETWORK = """import numpy as np
import msnb
from msnb import Tensor, nn, ops
msnb.set_context(mode=msnb.GRAPH_MODE)
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.dense = nn.Dense(4, 2)
    def construct(self, x):
        x = ops.relu(self.conv(x))
        x = x.mean((2, 3))
        return self.dense(x)
net = Net()
train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)).set_train()
x, y = Tensor(np.ones((2, 1, 8, 8), np.float32)), Tensor(np.ones((2, 2), np.float32))
end = False"""
CELLS = [
    "%load_ext msnb",
    NETWORK,
    """%%ms_debug
steps = 0
while steps < 100000 and not end:
    loss = train(x, y)
    steps += 1""",
    "print('steps', steps, msnb.debugger.n_steps)",
]


@pytest.fixture
def page(browser, jupyter, tmp_path):
    with jupyter.project(tmp_path, "debug", {"debug.ipynb": CELLS}):
        page = opened(
            browser,
            f"{jupyter.address}/lab/tree/debug/debug.ipynb?token={TOKEN}",
            '.msnb-graph .stepper[data-status="paused"]',
        )
        yield page
        page.screenshot(path="/tmp/step/last.png")
        page.close()


def test_a_running_cell_is_paused_stepped_through_and_stopped(page, tmp_path):
    bar = page.locator(".msnb-graph .stepper")

    def is_at(*words):
        until(page, lambda: all(word in bar.locator(".where").inner_text() for word in words), 300)

    def press(word):
        bar.locator(f'[data-word="{word}"]').click()

    is_at("step 1", "node 1 of", "Conv2D")
    press("n")
    is_at("node 2 of", "ReLU")
    page.wait_for_selector(".msnb-graph .values .maps img")
    page.screenshot(path="/tmp/step/light.png")
    press("p")
    is_at("node 1 of", "Conv2D")
    page.keyboard.press("N")
    is_at("ReduceMean")
    page.keyboard.press("m")
    is_at("backward", "gradReduceMean")
    press("s")
    is_at("step 2,")
    press("c")
    until(page, lambda: bar.get_attribute("data-status") == "running")
    press("pause")
    until(page, lambda: bar.get_attribute("data-status") == "paused")
    page.keyboard.press("r")
    page.keyboard.insert_text("op:MatMul")
    page.keyboard.press("Enter")
    is_at("MatMul")
    menu(page, "Settings", "Theme", "JupyterLab Dark")
    page.wait_for_selector('.msnb-graph[data-theme="dark"]')
    page.screenshot(path="/tmp/step/dark.png")
    assert not unreadable(bar)
    press("q")
    page.wait_for_selector(".jp-OutputArea >> text=KeyboardInterrupt")
    until(page, lambda: bar.get_attribute("data-status") == "ended")
    press("n")
    is_at("node")
