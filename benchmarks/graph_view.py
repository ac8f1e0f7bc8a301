"""Measure the graph view of a train step in a headless chromium: first paint, expansion, panning, sizes.

    python benchmarks/graph_view.py

Headless chromium draws without a GPU, so frame rates are a lower bound. Needs playwright and chromium.
"""

import importlib.util
import json
import pathlib
import shutil
import sys
import tempfile
import time

import numpy as np

import msnb as ms
from msnb import Tensor, nn, ops
from msnb.core.program.program_cache import program_of
from msnb.ir.stages import Stages
from msnb.notebook import graph as graph_view
from msnb.notebook.graph import GraphView

ROUNDS = 3


class Attention(nn.Cell):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value = (nn.Dense(width, width) for _ in range(3))
        self.project = nn.Dense(width, width)
        self.product, self.transposed = ops.BatchMatMul(), ops.BatchMatMul(transpose_b=True)
        self.softmax = ops.Softmax()

    def split(self, x, batch, length):
        return ops.transpose(ops.reshape(x, (batch, length, self.heads, self.size)), (0, 2, 1, 3))

    def construct(self, x):
        batch, length, width = x.shape
        query, key, value = (self.split(layer(x), batch, length) for layer in (self.query, self.key, self.value))
        weights = self.softmax(self.transposed(query, key) / self.size**0.5)
        mixed = ops.transpose(self.product(weights, value), (0, 2, 1, 3))
        return self.project(ops.reshape(mixed, (batch, length, width)))


class Block(nn.Cell):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = Attention(width, heads)
        self.first, self.second = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.up, self.down, self.act = nn.Dense(width, 4 * width), nn.Dense(4 * width, width), nn.GELU()

    def construct(self, x):
        x = x + self.attention(self.first(x))
        return x + self.down(self.act(self.up(self.second(x))))


class Transformer(nn.Cell):
    def __init__(self, blocks, width=32, heads=4):
        super().__init__()
        self.blocks = nn.SequentialCell([Block(width, heads) for _ in range(blocks)])
        self.head = nn.Dense(width, 10)

    def construct(self, x):
        return self.head(self.blocks(x).mean(1))


def make_step(blocks):
    """Return a train step of a transformer."""
    net = Transformer(blocks)
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    return nn.TrainOneStepCell(loss, nn.SGD(net.trainable_params(), 0.1)).set_train()


def trace_step(blocks):
    return program_of(make_step(blocks), Tensor(np.ones((2, 8, 32), np.float32)), Tensor(np.zeros(2, np.int32)))


OPEN_ONE = """() => new Promise(done => {
    const group = document.querySelector('.n[aria-expanded="false"]'), at = group.getBoundingClientRect();
    const where = {bubbles: true, clientX: at.x + at.width / 2, clientY: at.y + at.height / 2, pointerId: 1};
    const started = performance.now();
    for (const type of ['pointerdown', 'pointerup']) group.dispatchEvent(new PointerEvent(type, where));
    group.dispatchEvent(new MouseEvent('click', where));
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - started))); })"""
PAN = """() => new Promise(done => {
    const svg = document.querySelector('.stage > svg'), box = svg.getBoundingClientRect(), times = [];
    const at = (x, y) => ({bubbles: true, pointerId: 1, clientX: box.x + x, clientY: box.y + y});
    svg.dispatchEvent(new PointerEvent('pointerdown', at(300, 300)));
    const start = performance.now(); let last = start, n = 0;
    const frame = now => { times.push(now - last); last = now; n++;
        svg.dispatchEvent(new PointerEvent('pointermove', at(300 - 6 * n % 280, 300 - 4 * n % 280)));
        if (now - start < 1500) requestAnimationFrame(frame);
        else { svg.dispatchEvent(new PointerEvent('pointerup', at(0, 0))); done(1000 * n / (now - start)); } };
    requestAnimationFrame(frame); })"""
READY = """window.tasks = []; window.readyAt = null;
    new PerformanceObserver(l => { for (const e of l.getEntries()) tasks.push(e.duration); })
        .observe({entryTypes: ['longtask']});
    new MutationObserver((_, o) => { if (document.querySelector('.msnb-graph[data-ready]')) { o.disconnect();
        requestAnimationFrame(() => requestAnimationFrame(() => { window.readyAt = performance.now(); })); } })
        .observe(document, {subtree: true, childList: true, attributes: true});"""


def measure_page(browser, page_file):
    """Return {title: number} of one visit to a page."""
    requests = []
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    page.route("http*://**", lambda route: (requests.append(route.request.url), route.abort()))
    page.add_init_script(READY)
    page.goto(page_file.as_uri())
    page.wait_for_function("() => window.readyAt !== null")
    figures = {"browser: open, ms": page.evaluate("readyAt"), "open, longest task, ms": longest_task(page)}
    page.locator(".stage > svg").press("0")
    page.wait_for_timeout(150)
    if page.locator('.n[aria-expanded="false"]').count():
        figures["expand one scope, ms"] = page.evaluate(OPEN_ONE)
    page.click("[data-do=in]")
    figures["pan, frames/s"] = page.evaluate(PAN)
    page.evaluate("tasks.length = 0")
    start = time.perf_counter()
    page.click("text=expand")
    page.wait_for_function("() => document.querySelector('.busy').textContent === ''", timeout=120000)
    page.wait_for_timeout(300)
    figures["expand all, s"] = time.perf_counter() - start - 0.3
    figures["expand all, longest task, ms"] = longest_task(page)
    figures["pan with all open, frames/s"] = page.evaluate(PAN)
    figures["requests to the network"] = len(requests)
    page.close()
    return figures


def longest_task(page):
    return max(page.evaluate("tasks"), default=0.0)


def make_view(blocks):
    """Return (GraphView, {title: number}) of a train step."""
    start = time.perf_counter()
    traced = trace_step(blocks)
    trace_seconds = time.perf_counter() - start
    read_seconds, save_seconds = [], []
    for _ in range(ROUNDS if blocks < 100 else 1):
        start = time.thread_time()
        stages = Stages(traced, "Step")
        view = GraphView({stages.main: stages[stages.main]})
        payload = view.payload
        read_seconds.append(time.thread_time() - start)
        data, _ = view._repr_mimebundle_()
        save_seconds.append(time.thread_time() - start)
    figures = {
        "nodes": len(view.graph),
        "trace, ms": 1000 * trace_seconds,
        "python: read, pack, CPU ms": 1000 * min(read_seconds),
        "python: and all saved forms, CPU ms": 1000 * min(save_seconds),
        "payload, bytes/node": len(payload) / len(view.graph),
    }
    module = pathlib.Path(graph_view.__file__).with_name("widget.js").stat().st_size
    state = len(view.saved_payload) * 4 / 3 + module
    figures["notebook grows by, kB"] = (len(json.dumps(data)) + state) / 1000
    return view, figures


def make_reading(blocks, is_saved):
    """Return a call that reads a traced step and packs it for the browser, and with `saved` for a notebook file too."""
    ms.set_context(mode=ms.GRAPH_MODE)
    traced = trace_step(blocks)

    def call():
        stages = Stages(traced, "Step")
        view = GraphView({stages.main: stages[stages.main]})
        return view._repr_mimebundle_() if is_saved else view.payload

    return call


def make_tracing(blocks):
    """Return a call that makes a network and traces its step."""
    ms.set_context(mode=ms.GRAPH_MODE)
    return lambda: trace_step(blocks)


# Rows of `compare.py`.
TIMED = {
    "trace 3 blocks": lambda: make_tracing(3),
    "read 3 blocks": lambda: make_reading(3, is_saved=False),
    "read and store 3 blocks": lambda: make_reading(3, is_saved=True),
    "read 52 blocks": lambda: make_reading(52, is_saved=False),
}


def main():
    """Print the figures for three sizes of the network, or for those of the command line."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None or importlib.util.find_spec("playwright") is None:
        print("graph view: not measured, chromium or playwright is missing")
        return
    from playwright.sync_api import sync_playwright

    ms.set_context(mode=ms.GRAPH_MODE)
    print(f"best of {ROUNDS}, because other work on the machine can only add time")
    sizes = [int(size) for size in sys.argv[1:]] or [3, 52, 520]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for blocks in sizes:
            view, figures = make_view(blocks)
            file = pathlib.Path(folder) / f"{blocks}.html"
            file.write_text(view.html(), encoding="utf-8")
            rounds = [measure_page(browser, file) for _ in range(ROUNDS if blocks < 100 else 1)]
            figures |= {key: (max if "frames" in key else min)(each[key] for each in rounds) for key in rounds[0]}
            print(f"\nTransformer, {blocks} blocks")
            for key, value in figures.items():
                print(f"  {key:36} {value:10.1f}" if isinstance(value, float) else f"  {key:36} {value:8}")
        browser.close()


if __name__ == "__main__":
    main()
