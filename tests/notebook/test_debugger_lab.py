"""`%%ms_debug` in a real JupyterLab: buttons and keys move the cursor while the cell runs."""

import pytest
from browsing import TOKEN, chromium, large_page, line, menu, opened, picture, run_all, unreadable, until

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
        page.close()


def test_a_running_cell_is_paused_stepped_through_and_stopped(page, tmp_path):
    bar = page.locator(".msnb-graph .stepper")

    def is_at(*words):
        until(page, lambda: all(word in bar.locator(".where").inner_text() for word in words))

    def press(word):
        bar.locator(f'[data-word="{word}"]').click()

    is_at("step 1", "node 1 of", "Conv2D")
    press("n")
    is_at("node 2 of", "ReLU")
    page.wait_for_selector(".msnb-graph .values .maps img")
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
    picture(page, "paused-dark", tmp_path, docs=False)
    assert not unreadable(bar)
    press("q")
    page.wait_for_selector(".jp-OutputArea >> text=KeyboardInterrupt")
    until(page, lambda: bar.get_attribute("data-status") == "ended")
    press("n")
    is_at("node")


def test_a_line_that_is_edited_during_a_pause_is_marked(page, tmp_path):
    bar, cell = page.locator(".msnb-graph .stepper"), page.locator(".jp-CodeCell").nth(1)
    until(page, lambda: bar.locator('[data-word="n"]').is_enabled())
    bar.locator('[data-word="n"]').click()
    page.wait_for_selector(".cm-line.msnb-revealed", state="attached")
    assert page.locator(".msnb-revealed[data-note]").count() == 0

    line(cell, "import numpy").click()  # a new line above moves the others
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    bar.locator('[data-word="p"]').click()
    until(page, lambda: "ops.relu(self.conv(x))" in page.locator(".msnb-revealed").inner_text())
    assert page.locator(".msnb-revealed[data-note]").count() == 0

    line(cell, "x = ops.relu").click()
    page.keyboard.press("End")
    page.keyboard.insert_text(" * 2")
    bar.locator('[data-word="n"]').click()
    page.wait_for_selector(".cm-line.msnb-revealed[data-note]", state="attached")
    note = page.locator(".msnb-revealed").get_attribute("data-note")
    assert note == "Edited: the graph shows the line that ran"
    assert "x = ops.relu(self.conv(x))" in bar.locator(".where").inner_text()
    page.locator(".msnb-revealed").scroll_into_view_if_needed()
    picture(page, "edited-line", tmp_path, docs=False)
    menu(page, "Settings", "Theme", "JupyterLab Dark")
    page.wait_for_selector('.msnb-graph[data-theme="dark"]')
    picture(page, "edited-line-dark", tmp_path, docs=False)


def test_a_restart_during_a_pause_disables_the_buttons(page):
    bar = page.locator(".msnb-graph .stepper")
    until(page, lambda: bar.locator('[data-word="n"]').is_enabled())
    menu(page, "Kernel", "Restart Kernel…")
    page.locator(".jp-Dialog button.jp-mod-warn").click()
    until(page, lambda: bar.locator('[data-word="n"]').is_disabled())
    assert "no kernel" in bar.inner_text()
    training = page.locator(".jp-CodeCell").nth(3)
    training.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".jp-OutputArea >> text=NameError")  # the new kernel answers


def test_a_pynative_training_is_stepped_through_in_notebook_7(browser, jupyter, tmp_path):
    network = NETWORK.replace("GRAPH_MODE", "PYNATIVE_MODE")
    with jupyter.project(tmp_path, "debug", {"pynative.ipynb": [CELLS[0], network, *CELLS[2:]]}):
        page = large_page(browser)
        page.goto(f"{jupyter.address}/notebooks/debug/pynative.ipynb?token={TOKEN}")
        page.locator(".jp-Notebook .jp-CodeCell").first.click()
        run_all(page)
        page.wait_for_selector('.msnb-graph .stepper[data-status="paused"]')
        bar = page.locator(".msnb-graph .stepper")

        def is_at(*words):
            until(page, lambda: all(word in bar.locator(".where").inner_text() for word in words))

        def press(word):
            until(page, lambda: bar.locator(f'[data-word="{word}"]').is_enabled())
            bar.locator(f'[data-word="{word}"]').click()

        is_at("step 1", "node 1 of", "Conv2D")
        press("n")
        is_at("ReLU")
        page.wait_for_selector(".msnb-graph .values .maps img")
        press("p")
        is_at("node 1 of", "Conv2D")
        press("m")
        is_at("backward")
        press("s")
        is_at("step 2,")
        picture(page, "paused-pynative", tmp_path, docs=False)
        press("c")
        until(page, lambda: bar.get_attribute("data-status") == "running")
        press("pause")
        until(page, lambda: bar.get_attribute("data-status") == "paused")
        press("q")
        page.wait_for_selector(".jp-OutputArea >> text=KeyboardInterrupt")
        page.close()


LOOP = """import numpy as np
import msnb
from msnb import Tensor, nn, ops
msnb.set_context(mode=msnb.GRAPH_MODE)
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4)
    def construct(self, x):
        i = ops.zeros_like(x[0, 0])
        while i < 3:
            x = ops.relu(self.dense(x))
            i = i + 1
        return x
net, x = Net(), Tensor(np.ones((2, 4), np.float32))"""


def test_hits_and_rounds_of_a_loop_are_stepped_through_in_notebook_7(browser, jupyter, tmp_path):
    cells = ["%load_ext msnb", LOOP, "%%ms_debug TL:min_gt=-1\nfor _ in range(3):\n    net(x)"]
    with jupyter.project(tmp_path, "debug", {"loop.ipynb": cells}):
        page = large_page(browser)
        page.goto(f"{jupyter.address}/notebooks/debug/loop.ipynb?token={TOKEN}")
        page.locator(".jp-Notebook .jp-CodeCell").first.click()
        run_all(page)
        bar = page.locator('.msnb-graph .stepper[data-status="paused"]')
        until(page, lambda: bar.locator('[data-word="n"]').is_enabled())
        assert "tensor_too_large: min_gt is -1" in bar.locator(".watch-hits").inner_text()
        bar.locator("[name=query]").fill("op:ReLU")
        page.keyboard.press("Enter")
        until(page, lambda: "ReLU" in bar.locator(".where").inner_text())
        page.keyboard.press("[")
        until(page, lambda: "round 1 of 0 to 2" in bar.locator(".where").inner_text())
        until(page, lambda: page.locator(".values [data-loop]").input_value() == "1")
        page.close()


def test_a_click_beside_a_line_sets_a_breakpoint(browser, jupyter, tmp_path):
    cells = ["%load_ext msnb", NETWORK, "%%ms_debug -r\nfor _ in range(2):\n    loss = train(x, y)"]
    with jupyter.project(tmp_path, "debug", {"gutter.ipynb": cells}):
        address = f"{jupyter.address}/lab/tree/debug/gutter.ipynb?token={TOKEN}"
        page = opened(browser, address, '.msnb-graph .stepper[data-status="ended"]')
        network, training = page.locator(".jp-CodeCell").nth(1), page.locator(".jp-CodeCell").nth(2)

        def click_beside(text):
            line(network, text).scroll_into_view_if_needed()
            strip, row = network.locator(".msnb-Breakpoints").bounding_box(), line(network, text).bounding_box()
            page.mouse.click(strip["x"] + strip["width"] / 2, row["y"] + row["height"] / 2)

        def train():
            training.locator(".cm-content").click()
            page.keyboard.press("Control+Enter")

        page.wait_for_selector(".msnb-isLoaded")
        click_beside("def construct")
        page.wait_for_selector("text=Line 10 has no node: its breakpoint moves to line 11.")
        network.locator(".msnb-Breakpoint").wait_for()
        menu(page, "Settings", "Theme", "JupyterLab Light")
        page.wait_for_selector('body[data-jp-theme-light="true"]', state="attached")
        picture(page, "breakpoint", tmp_path, docs=False)
        menu(page, "Settings", "Theme", "JupyterLab Dark")
        page.wait_for_selector('body[data-jp-theme-light="false"]', state="attached")
        picture(page, "breakpoint-dark", tmp_path, docs=False)
        train()
        bar = page.locator('.msnb-graph .stepper[data-status="paused"]')
        until(page, lambda: bar.count() and "x = ops.relu(self.conv(x))" in bar.locator(".where").inner_text())
        until(page, lambda: bar.locator('[data-word="q"]').is_enabled())
        bar.locator('[data-word="q"]').click()
        page.wait_for_selector(".jp-OutputArea >> text=KeyboardInterrupt")
        click_beside("x = ops.relu")
        until(page, lambda: not network.locator(".msnb-Breakpoint").count())
        # Jupyter cancels a cell that is run before the one that fails has ended
        until(page, lambda: "*" not in training.locator(".jp-InputPrompt").inner_text())
        train()
        page.wait_for_selector(".jp-OutputArea >> text=KeyboardInterrupt", state="detached")
        page.wait_for_selector('.msnb-graph .stepper[data-status="ended"]')
        page.close()
