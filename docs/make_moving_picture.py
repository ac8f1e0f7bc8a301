"""Record docs/images/typing.webp: a graph in JupyterLab that follows its cell while somebody types.

    python docs/make_moving_picture.py

This needs the extra `test` and a Chromium. Chromium draws the frames, and Pillow writes them.
"""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "notebook")]

from browsing import TOKEN, Jupyter, behind, chromium, frames, opened  # noqa: E402 - its folder joins the path above

CELL = """%%mindspore --ir
import numpy as np
from mindspore import Tensor, nn, ops

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Dense(16, 32), nn.Dense(32, 4)

    def construct(self, x):
        h = self.fc1(x)
        return self.fc2(h)

net, x = Net(), Tensor(np.ones((8, 16), np.float32))
y = net(x)"""
TARGET = ROOT / "docs" / "images" / "typing.webp"
WIDTH, HEIGHT = 1000, 840


class Film:
    """Frames of a page, each with the time for which it is shown."""

    def __init__(self, page, box):
        self.page, self.box, self.images, self.milliseconds = page, box, [], []

    def shoot(self, milliseconds):
        frames(self.page)
        self.images.append(Image.open(io.BytesIO(self.page.screenshot(clip=self.box))).convert("RGB"))
        self.milliseconds.append(milliseconds)

    def type(self, text, milliseconds=90):
        for letter in text:
            self.page.keyboard.insert_text(letter)
            self.shoot(milliseconds)

    def press(self, key, times=1, milliseconds=60):
        for _ in range(times):
            self.page.keyboard.press(key)
            self.shoot(milliseconds)

    def wait_for(self, selector, state="attached", milliseconds=1400):
        """Show the page once more when the graph has followed."""
        self.page.wait_for_selector(selector, state=state)
        self.page.wait_for_timeout(700)  # nodes glide to their positions
        self.shoot(milliseconds)

    def write(self, path):
        first, *rest = self.images
        first.save(path, save_all=True, append_images=rest, duration=self.milliseconds, loop=0, quality=72, method=6)


def record(page):
    """Type two operators and a mistake into the cell, mend it, and click a node."""
    page.set_viewport_size({"width": WIDTH + 60, "height": 1100})
    page.evaluate("jupyterapp.commands.execute('application:toggle-left-area')")
    page.evaluate("jupyterapp.commands.execute('notebook:toggle-all-cell-line-numbers')")
    page.wait_for_timeout(1500)
    cell = page.locator(".jp-CodeCell").nth(1)
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    behind(page, "h = self.fc1(x)")
    page.wait_for_timeout(500)
    film = Film(page, {**box, "height": min(box["height"], HEIGHT)})
    film.shoot(1500)
    film.press("Enter")
    film.type("h = h + ops.tanh(h)")
    film.wait_for('[aria-label^="Tanh"]')
    behind(page, "self.fc1, self.fc2 =")
    film.press("Backspace", 2)
    film.type("6)")
    film.wait_for(".msnb-graph:not(.stale)")
    behind(page, "return self.fc2(h)")
    film.type(" @ x")
    film.wait_for('.strip[role="status"]:has-text("line 13")', milliseconds=2200)
    film.press("Backspace", 4)
    film.wait_for(".msnb-graph:not(.stale)", milliseconds=900)
    page.locator('[aria-label^="Tanh"]').first.click()
    page.mouse.move(2, 2)
    film.wait_for(".cm-line.msnb-revealed", milliseconds=2500)
    return film


def main():
    with tempfile.TemporaryDirectory() as home:
        jupyter = Jupyter(Path(home))
        browser = chromium()
        try:
            folder = Path(home, "project")
            folder.mkdir()
            with jupyter.project(folder, "film", {"film.ipynb": ["%load_ext msnb", CELL]}):
                url = f"{jupyter.address}/lab/tree/film/film.ipynb?token={TOKEN}"
                page = opened(next(browser), url, ".msnb-graph[data-ready]", height=1100)
                film = record(page)
                film.write(TARGET)
                page.close()
        finally:
            browser.close()
            jupyter.close()
    print(f"{TARGET.relative_to(ROOT)}: {len(film.images)} frames, {TARGET.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
