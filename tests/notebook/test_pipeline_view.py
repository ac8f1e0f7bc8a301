"""The view of a data pipeline: what it draws, the magics, the widget in a browser."""

import json
import time

import numpy as np
import pytest
from browsing import Window, chromium, until

import msnb.dataset as ds
from msnb.notebook.pipeline import PipelineView, drawing, watch
from msnb.notebook.pipeline.view import monitor_html

ROOM = "<!doctype html><meta charset='utf-8'><body style='margin:8px'><div id='room'></div>"


browser = pytest.fixture(chromium, scope="module")


@pytest.fixture(scope="module")
def window(browser):
    return Window(browser)


def doubled(x):
    time.sleep(0.001)
    return x * 2


def data(rows=64):
    return ds.NumpySlicesDataset({"x": np.arange(float(rows))}, shuffle=False).map(doubled, "x").batch(8)


def run_dataset(dataset):
    view = PipelineView(dataset)
    with view:
        for _ in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
            pass
    return view


def test_operators_stand_in_the_order_of_the_data():
    page = run_dataset(data()).html()
    positions = [page.index(words) for words in (">NumpySlicesDataset", ">doubled()", ">batch 8<")]
    assert positions == sorted(positions)
    assert "doubled() on x takes" in page and "finished" in page


def test_good_news_has_not_the_colour_of_an_alarm():
    good, bad = (
        drawing.picture(snapshot(0.5, f"{words}: it is so.")) for words in ("The pipeline keeps up", "Bottleneck")
    )
    assert '<b class="good">The pipeline keeps up</b>' in good and '<b class="bad">Bottleneck</b>' in bad


def test_what_is_over_needs_no_widget_and_what_runs_has_one():
    pytest.importorskip("anywidget")
    view = PipelineView(data())
    with view:
        running, _ = view._repr_mimebundle_()
        assert "application/vnd.jupyter.widget-view+json" in running
        list(data().create_dict_iterator(num_epochs=1))
    over, _ = view._repr_mimebundle_()
    assert set(over) == {"text/plain", "text/html"}
    assert over["text/plain"] == repr(view.monitor)


def test_names_of_the_users_cannot_break_the_page():
    def f(x):
        return x

    f.__name__ = "<script>alert(1)</script>"
    view = run_dataset(ds.NumpySlicesDataset({"a&b": np.arange(4)}, shuffle=False).map(f, "a&b"))
    assert "<script>" not in view.html() and "a&amp;b" in view.html()


def test_a_monitor_alone_has_a_picture_and_no_data_set_is_refused():
    dataset = data()
    with dataset.monitor() as monitor:
        list(dataset.create_dict_iterator(num_epochs=1))
    assert "msnb-pipe" in monitor_html(monitor)
    with pytest.raises(TypeError, match="should be a mindspore.dataset Dataset, but got list"):
        watch([1, 2])


def test_the_sparkline_follows_the_rate():
    history = [(0.0, 0, 0.0), (1.0, 10, 0.5), (2.0, 30, 0.5), (3.0, 30, 1.0), (4.0, 35, 1.0)]
    picture = drawing._draw_sparkline(history)
    heights = [float(point.split(",")[1]) for point in picture.split('points="')[1].split('"')[0].split()]
    assert heights[1] == min(heights) and heights[2] == max(heights) and len(heights) == 4
    assert drawing._draw_sparkline(history[:3]) == ""


def test_the_magics_run_and_watch(notebook):
    notebook.shell.user_ns["dataset"] = data()
    notebook.ok("%ms_pipeline --epochs 2 dataset")
    notebook.ok("%%ms_pipeline dataset\nseen = sum(1 for _ in dataset.create_dict_iterator(num_epochs=1))")
    assert notebook.shell.user_ns["seen"] == 8
    assert notebook.shell.user_ns["dataset"]._monitor is None


def test_the_magic_says_what_is_wrong(notebook):
    from IPython.core.error import UsageError

    notebook.shell.user_ns["number"] = 3
    with pytest.raises(UsageError, match="takes a data set, but got int 3"):
        notebook.shell.run_line_magic("ms_pipeline", "number")
    with pytest.raises(UsageError, match="positive"):
        notebook.shell.run_line_magic("ms_pipeline", "--seconds 0 number")


def module_page(first, second, dark):
    """Return a page that draws one picture with the widget's module, and another over it when asked."""
    from msnb.notebook.pipeline.view import _MODULE

    code = _MODULE.read_text(encoding="utf-8").replace("export default { render };", "window.render = render;")
    colours = "body{background:#111;color:#ddd}" if dark else ""
    return (
        f"{ROOM}<style>{drawing.style()}{colours}</style><script type='module'>{code}\n"
        f"const pictures = {json.dumps([first, second])}; let told; let now = 0;\n"
        "const model = {get: () => pictures[now], on: (_, f) => { told = f; }, off: () => {}};\n"
        "render({model, el: document.getElementById('room')}); window.next = () => { now = 1; told(); };</script>"
    )


def snapshot(share, verdict="Bottleneck: read takes its time."):
    names = ("label", "kind", "depth", "rows", "seconds", "share", "worst")
    lines = [("batch 8", "batch", 0, 9, 0.1, 1 - share, False), ("read on x", "source", 1, 72, 1, share, True)]
    lines = [dict(zip(names, line, strict=True)) for line in lines]
    return {"running": True, "seconds": 2.0, "rows": 9, "unit": "batches", "waited": 1.0, "used": 1.0, "queue": [3, 8],
            "operators": lines, "verdict": verdict}  # fmt: skip


@pytest.mark.parametrize("width", [480, 1400])
@pytest.mark.parametrize("dark", [False, True])
def test_a_new_picture_moves_the_bars_that_are_there(window, width, dark):
    page = window.page
    page.set_viewport_size({"width": width, "height": 500})
    first, second = (drawing.picture(snapshot(share, words)) for share, words in ((0.5, "First."), (0.9, "Second.")))
    page.set_content(module_page(first, second, dark))
    bar = page.locator(".worst .bar > span")
    handle = bar.element_handle()
    before = bar.bounding_box()["width"]
    page.evaluate("next()")
    until(page, lambda: bar.bounding_box()["width"] == pytest.approx(before * 0.9 / 0.5, rel=0.05))
    assert page.locator(".verdict").inner_text() == "Second." and handle.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not window.complaints()
