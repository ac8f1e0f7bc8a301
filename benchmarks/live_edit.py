"""Measure the delay from an edit of an unexecuted cell in JupyterLab to its graph, on an idle kernel.

    python benchmarks/live_edit.py

A key is pressed in the cell of a network of about 300 operators whose graph is open below it; the time ends when the
browser has drawn the new operator. It includes the quarter second for which the extension waits for the next key.
Needs chromium, playwright and JupyterLab, as the tests in a browser do.
"""

import pathlib
import statistics
import sys
import tempfile

TESTS = pathlib.Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "notebook")]

from browsing import CHROMIUM, FLAGS, TOKEN, Jupyter, line, opened  # noqa: E402

ROUNDS = 12
CELL = """%%mindspore -m graph --ir
import numpy as np
import mindspore as ms
from mindspore import nn, ops
class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense, self.act = nn.Dense(16, 16), nn.ReLU()
    def construct(self, x):
        return self.act(self.dense(x))
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks = nn.SequentialCell([Block() for _ in range(100)])
        self.head = nn.Dense(16, 2)
    def construct(self, x):
        return self.head(self.blocks(x))
net = Net()
y = net(ms.Tensor(np.ones((4, 16), np.float32)))"""
EDIT = " + ops.Sigmoid()(x[:, :2])"
WATCH = """() => { window.seen = new Promise(done => {
    const started = performance.now();
    const look = () => document.querySelector('[aria-label^="Sigmoid"]')
        ? requestAnimationFrame(() => done(performance.now() - started)) : requestAnimationFrame(look);
    look(); }) }"""


def main():
    """Print the times in milliseconds."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as play:
        folder = pathlib.Path(temporary)
        (folder / "jupyter").mkdir()
        server = Jupyter(folder / "jupyter")
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            with server.project(folder, "live", {"live.ipynb": ["%load_ext msnb", CELL]}):
                url = f"{server.address}/lab/tree/live/live.ipynb?token={TOKEN}"
                page = opened(browser, url, ".msnb-graph[data-ready]")
                page.wait_for_timeout(3000)
                times = [measure_edit(page) for _ in range(ROUNDS)]
            print("edited to drawn, ms:", *map(round, times))
            print(f"median {statistics.median(times):.0f}, shortest {min(times):.0f}, longest {max(times):.0f}")
        finally:
            browser.close()
            server.close()


def measure_edit(page):
    """Return the milliseconds from the insertion of a text to the picture with its operator; then undo the edit."""
    line(page, "return self.head").click()
    page.keyboard.press("End")
    page.wait_for_timeout(700)  # the cursor has been followed as well
    page.evaluate(WATCH)
    page.keyboard.insert_text(EDIT)
    milliseconds = page.evaluate("() => window.seen")
    page.keyboard.press("Control+z")
    page.wait_for_selector('[aria-label^="Sigmoid"]', state="detached")
    return milliseconds


if __name__ == "__main__":
    main()
