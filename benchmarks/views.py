"""Measure the dashboard, the table of runs and explanations in a headless chromium: first paint, frames of a brush,
live updates.

    python benchmarks/views.py

A run of 300 tags with 10,000 values each, 1,000 runs with six settings, and 100 noisy pictures with the maps of six
explainers for two labels, which JPEG can hardly compress. Headless chromium draws without a GPU, so
frame rates are a lower bound. Needs playwright and chromium.
"""

import importlib.util
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

import msnb
from msnb.formats.event_records import frame
from msnb.formats.explanation_records import ExplanationWriter, Inference
from msnb.formats.summary_events import summary_event
from msnb.notebook.dashboard import dashboard

ROUNDS = 3
WIDTHS = (900, 1600)
TAGS, VALUES, RUNS, PICTURES = 300, 10_000, 1_000, 100
FIRST = 1.7e9  # UNIX seconds

READY = """window.tasks = []; window.readyAt = null;
    new PerformanceObserver(l => { for (const e of l.getEntries()) tasks.push(e.duration); })
        .observe({entryTypes: ['longtask']});
    new MutationObserver((_, o) => { if (document.querySelector('.msnb-view[data-ready]')) { o.disconnect();
        requestAnimationFrame(() => requestAnimationFrame(() => { window.readyAt = performance.now(); })); } })
        .observe(document, {subtree: true, childList: true, attributes: true});"""
# A brush on the first axis, which becomes longer and shorter by a few pixels with each frame
BRUSH = """async frames => {
    const over = document.querySelector('.parallel .over'), box = over.getBoundingClientRect();
    const fire = (type, y) => over.dispatchEvent(new PointerEvent(type, {bubbles: true, button: 0, buttons: 1,
        pointerId: 1, clientX: box.left + 54, clientY: box.top + y}));
    over.setPointerCapture = () => {};
    fire('pointerdown', 60);
    const times = [], next = () => new Promise(requestAnimationFrame);
    let last = await next();
    const begun = last;
    for (let k = 0; k < frames; k++) {
        fire('pointermove', 70 + 130 * Math.abs(Math.sin(k / 20)));
        const now = await next();
        times.push(now - last);
        last = now;
    }
    fire('pointerup', 150);
    times.sort((a, b) => a - b);
    return {'brush, frames/s': 1000 * frames / (last - begun), 'brush, nine of ten frames within, ms':
        times[Math.floor(0.9 * frames)]}; }"""


def write_long_run(folder):
    """Write a run with many long curves."""
    rng = np.random.default_rng(0)
    names = [f"{('train', 'eval', 'layer', 'gradient')[i % 4]}/value_{i:03d}" for i in range(TAGS)]
    falling = np.exp(-np.arange(VALUES)[:, None] / (VALUES * rng.uniform(0.05, 0.5, TAGS)))
    values = (falling + rng.normal(0, 0.03, (VALUES, TAGS))).tolist()
    folder.mkdir()
    with open(folder / "events.out.events.summary.1700000000.0.here_MS", "wb") as file:
        for step, row in enumerate(values, 1):
            scalars = [(name, "scalar", value) for name, value in zip(names, row, strict=True)]
            file.write(frame(summary_event(FIRST + step / 10, step, scalars)))
    return folder


def write_many_runs(folder):
    """Write runs with six settings and two metrics."""
    rng = np.random.default_rng(1)
    for i in range(RUNS):
        rate, decay = 10 ** rng.uniform(-5, -1), 10 ** rng.uniform(-6, -2)
        config = {
            "lr": rate,
            "weight_decay": decay,
            "batch_size": int(2 ** rng.integers(4, 9)),
            "optimizer": ("adam", "sgd", "lamb")[int(rng.integers(3))],
            "layers": int(rng.integers(2, 12)),
            "dropout": float(rng.uniform(0, 0.5)),
        }
        accuracy = 0.95 - 0.05 * (np.log10(rate) + 3) ** 2 + rng.normal(0, 0.02)
        common = {"format": 1, "name": f"run-{i:04d}", "started": FIRST + i, "ended": FIRST + i + 600}
        description = {
            **common,
            "state": "finished",
            "config": config,
            "summary": {"accuracy": accuracy, "loss": 1 - accuracy},
        }
        (folder / f"run-{i:04d}").mkdir(parents=True)
        (folder / f"run-{i:04d}" / "run.json").write_text(json.dumps(description))
    return folder


def write_explanations(folder, side):
    """Write pictures of side x side pixels with the maps of six explainers for two labels, and return the folder."""
    rng, labels = np.random.default_rng(2), list("abcdefghij")
    methods = ["Gradient", "Deconvolution", "GuidedBackprop", "GradCAM", "Occlusion", "RISE"]
    with ExplanationWriter(folder) as writer:
        writer.write_metadata(labels, methods)
        for number in range(PICTURES):
            truth, predicted = number % 10, (number + 1) % 10
            writer.write_image(number, rng.random((3, side, side)))
            writer.write_inference(number, [truth], Inference((0.4,), (predicted,), (0.6,)))
            pairs = [(method, label) for method in methods for label in (truth, predicted)]
            writer.write_explanations(number, {pair: rng.random((side, side)) for pair in pairs})
    return folder


def measure_page(browser, file, width, has_brush):
    """Return {title: number} of one visit to a page."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.add_init_script(READY)
    page.goto(file.as_uri())
    page.wait_for_function("() => window.readyAt !== null")
    figures = {
        "first paint, ms": page.evaluate("readyAt"),
        "longest task, ms": max(page.evaluate("tasks"), default=0.0),
    }
    if has_brush:
        figures |= page.evaluate(BRUSH, 120)
    page.close()
    return figures


# Logs a value every quarter second, and prints the time of each
WRITER = """import sys, time, msnb
with msnb.record("other", sys.argv[1]) as run:
    for step in range(1, 41):
        run.log({"loss": 1 / step}, step)
        print(time.time(), flush=True)
        time.sleep(0.237)"""


def measure_live_curve(folder):
    """Return {title: number} of a dashboard whose run another process writes."""
    folder.mkdir()
    view, arrivals, lock = dashboard(folder), {}, threading.Lock()

    def send(message, buffers):
        now = time.time()
        with lock:
            for step in range(1, 41):
                curve = [run.scalar("loss").steps for run in view.runs if run.tags["scalar"]]
                if curve and len(curve[0]) >= step:
                    arrivals.setdefault(step, now)

    view.widget.send = send
    output = subprocess.run(
        [sys.executable, "-c", WRITER, str(folder)], capture_output=True, text=True, check=True
    ).stdout
    time.sleep(1)
    view.close()
    times = [float(line) for line in re.findall(r"^\d+\.\d+$", output, re.MULTILINE)]
    delays = [1000 * (arrivals[step] - at) for step, at in enumerate(times, 1) if step in arrivals and step > 3]
    return {
        "update after, median, ms": statistics.median(delays),
        "update after, longest, ms": max(delays),
        "missing updates": len(times) - 3 - len(delays),
    }


def make_view(name, make, folder):
    """Return a view and {title: number} of its work in Python."""
    figures = {}
    for _ in range(ROUNDS):
        start, wall = time.process_time(), time.perf_counter()
        view = make(folder)
        payload = view.payload
        figures["python: read and pack, CPU ms"] = 1000 * (time.process_time() - start)
        figures["python: read and pack, ms"] = 1000 * (time.perf_counter() - wall)
    figures["payload, kB"] = len(payload) / 1000
    figures["output in a notebook, kB"] = len(view._repr_mimebundle_()[0]["text/html"]) / 1000
    print(f"\n{name}")
    return view, figures


def print_figures(figures):
    """Print {title: number}."""
    for key, value in figures.items():
        print(f"  {key:40} {value:10.1f}", flush=True)


def main():
    """Print the figures of both views and of a live curve."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None or importlib.util.find_spec("playwright") is None:
        print("views: not measured, chromium or playwright is missing")
        return
    from playwright.sync_api import sync_playwright

    print(f"best of {ROUNDS}, because other work on the machine can only add time")
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as play:
        root = pathlib.Path(temporary)
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name, make, folder in (
            (f"dashboard, {TAGS} tags x {VALUES:,} values", dashboard, write_long_run(root / "long")),
            (f"runs, {RUNS:,} of them", msnb.runs, write_many_runs(root / "many")),
            *(
                (f"explanations, {PICTURES} of {n} x {n}", msnb.explanations, write_explanations(root / f"{n}", n))
                for n in (32, 224)
            ),
        ):
            view, figures = make_view(name, make, folder)
            print_figures(figures)
            (root / "page.html").write_text(view.html(), encoding="utf-8")
            for width in WIDTHS:
                rounds = [measure_page(browser, root / "page.html", width, make is msnb.runs) for _ in range(ROUNDS)]
                best = {key: (max if "frames/s" in key else min)(each[key] for each in rounds) for key in rounds[0]}
                print_figures({f"{width} px: {key}": value for key, value in best.items()})
            view.close()
        browser.close()
        print("\na live curve of another process")
        print_figures(measure_live_curve(root / "live"))


if __name__ == "__main__":
    main()
