"""The dashboard in a notebook: the magic, what is stored, and the view in a browser with the network blocked."""

import base64
import json
import os
import pathlib
import shutil
import struct
import threading
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from browsing import Window, chromium, frames, until

import msnb
from msnb.formats.event_records import frame
from msnb.formats.summary_events import Histogram, Image, summary_event
from msnb.insight.runs import Run
from msnb.insight.runs.downsampling import in_common_bins, thinned
from msnb.insight.runs.export import to_csv
from msnb.insight.runs.values import Series
from msnb.notebook.dashboard import DashboardView, dashboard, payload
from msnb.notebook.display.png import to_png

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "summaries"
HOSTILE = "eval/<img src=x onerror=hit=1>"
FILE = "events.out.events.summary.1700000000.0.here_MS"
DOT = to_png('<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"><rect width="4" height="3"/></svg>')

WRITTEN = """window.written = [];
const fill = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function(text, ...at) {
    written.push(text);
    fill.call(this, text, ...at); };"""


def record(folder, rate, steps=range(1, 301), state="finished", file=FILE):
    folder.mkdir(exist_ok=True)
    about = {"name": folder.name, "id": f"id-{folder.name}", "started": 1.7e9 + 1000 * rate, "state": state}
    (folder / "run.json").write_text(json.dumps({**about, "pid": os.getpid(), "config": {"rate": rate}}))
    with open(folder / file, "ab") as events:
        for step in steps:
            loss = float("nan") if step == 40 else float(np.exp(-rate * step))
            values = [("train/loss", "scalar", loss), ("train/rate", "scalar", rate)]
            if step % 50 == 0:
                edges, counts = np.linspace(-1, step, 11), np.arange(10)
                values += [
                    (HOSTILE, "scalar", step),
                    ("system/memory", "scalar", 100.0 + step),
                    ("input", "image", Image(6, 8, 3, DOT)),
                    ("weight", "histogram", Histogram(edges, counts, -1.0, float(step), 9.0, 45)),
                    ("kernel", "tensor", np.arange(24, dtype=np.float32).reshape(2, 3, 4) + step),
                ]
            events.write(frame(summary_event(1.7e9 + 1000 * rate + step, step, values)))
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for rate in (0.01, 0.02):
        record(root / f"rate {rate}", rate)
    return root


@pytest.fixture(scope="module")
def board(runs):
    return msnb.dashboard(runs)


def header(message):
    (long,) = struct.unpack_from("<I", message)
    return json.loads(message[4 : 4 + long])


# ---------------------------------------------------------------------- what is shown
def test_a_column_keeps_the_least_and_the_largest_and_counts_what_is_no_number():
    rng = np.random.default_rng(5)
    values = rng.normal(size=1000)
    values[[100, 500]] = np.nan, np.inf
    result = thinned(Series(np.arange(1000), np.arange(1000.0), values), 64)
    good = values[np.isfinite(values)]
    assert len(result.steps) == 64 and result.steps[-1] == 999 and result.counts.sum() == 1000 and result.bad.sum() == 2
    assert np.nanmin(result.low) == np.float32(good.min()) and np.nanmax(result.high) == np.float32(good.max())
    weights = result.counts - result.bad
    assert (result.mean * weights).sum() / weights.sum() == pytest.approx(good.mean(), rel=1e-5)


def test_common_bins_keep_every_count(runs):
    result = Run(runs / "rate 0.01").histograms("weight")
    edges, counts = in_common_bins(result, 60)
    assert (edges[0], edges[-1]) == (-1, 300) and counts.sum(axis=1) == pytest.approx([45] * len(result))


def test_what_came_is_sent_alone_and_nothing_where_nothing_came(tmp_path):
    run = Run(record(tmp_path / "r", 0.01, range(1, 45), state="running"))
    counts, other = payload.counted([run])
    assert payload.news([run], counts, other) is None
    record(tmp_path / "r", 0.01, range(45, 51), state="running")
    assert run.refresh()
    head = header(payload.news([run], counts, other))
    assert [row[1:4] for row in head["more"]["rows"]] == [["train/loss", 44, 6], ["train/rate", 44, 6]]
    assert {row[1] for row in head["scalars"]["rows"]} == {HOSTILE, "system/memory"}
    assert [one["tag"] for one in (*head["images"], *head["histograms"], *head["tensors"])] == [
        "input",
        "weight",
        "kernel",
    ]
    assert payload.news([run], counts, other) is None
    record(tmp_path / "r", 0.02, range(41, 51), state="running", file=FILE.replace("1700000000", "1700000900"))
    assert run.refresh()  # resumed: as many values as before, and others
    head = header(payload.news([run], counts, other))
    assert (
        dict(row[1:3] for row in head["scalars"]["rows"])["train/loss"] == 50 and "more" not in head and head["images"]
    )


def test_the_magic_shows_a_folder_of_runs_and_a_run_shows_itself(notebook, runs, tmp_path_factory):
    empty = tmp_path_factory.mktemp("empty")
    notebook.ok(f"%ms_dashboard '{runs}'")
    shown = notebook.rich[-1].data
    assert "data:image/svg+xml" in shown["text/html"] and "rate 0.01 (finished): train/loss" in shown["text/plain"]
    notebook.ok(f"from msnb.insight.runs import Run\nrun = Run({str(runs / 'rate 0.01')!r})")
    bundle, _ = notebook.shell.display_formatter.format(notebook["run"])
    assert "data:image/svg+xml" in bundle["text/html"]
    notebook.run("%ms_dashboard nowhere")
    assert "there is no folder" in notebook.shown
    notebook.ok(f"%ms_dashboard '{empty}'")
    assert "No run in" in notebook.rich[-1].data["text/plain"] and "no run yet" in notebook.rich[-1].data["text/html"]


def test_it_is_saved_in_the_form_that_the_name_asks_for(board, tmp_path):
    begins = {".html": "<!doctype html", ".svg": "<svg", ".txt": "rate", ".json": '{"id-rate', ".csv": "run,tag"}
    for suffix, begin in begins.items():
        board.save(tmp_path / f"dashboard{suffix}")
        assert (tmp_path / f"dashboard{suffix}").read_text(encoding="utf-8").startswith(begin)
    text = " ".join(ElementTree.fromstring(board.svg()).itertext())
    assert "train/loss" in text and HOSTILE in text and "1 image" in text


def test_a_row_of_the_csv_file_is_a_value_as_it_was_recorded(tmp_path):
    run = Run(record(tmp_path / "r", 0.1, range(1, 3)))
    rows = to_csv([run], ["train/rate"]).splitlines()
    assert rows == ["run,tag,step,time,value", *(f"r,train/rate,{n},{1.7e9 + 100 + n:.3f},0.1" for n in (1, 2))]


def test_a_run_that_begins_later_and_a_graph_that_is_recorded_later_are_announced(tmp_path):
    record(tmp_path / "first", 0.01, range(1, 3), state="running")
    view = dashboard(tmp_path)
    counts = payload.counted(view.runs)
    assert not view.refresh()
    (tmp_path / "second").mkdir()
    assert not view.refresh()  # nothing is written there yet
    record(tmp_path / "second", 0.02, range(1, 3), state="running")
    shutil.copy(GOLDEN / "collector_MS", tmp_path / "first" / FILE.replace("1700000000", "1700000009"))
    assert view.refresh() and [run.name for run in view.runs] == ["first", "second"]
    head = header(payload.news(view.runs, *counts))
    assert [one["name"] for one in head["runs"]] == ["first", "second"]
    assert [1, "train/loss", 2, 2] in [row[:4] for row in head["scalars"]["rows"]] and [
        one["run"] for one in head["graphs"]
    ] == [0]
    assert payload.news(view.runs, *counts) is None


@pytest.mark.parametrize("inner", [".", "first"])  # the folder becomes a run, or gets one
def test_an_empty_folder_says_what_it_waits_for_and_is_filled(tmp_path, inner):
    view = dashboard(tmp_path)
    counts = payload.counted(view.runs)
    assert "No run in" in header(view.payload)["waiting"] and "by itself" in repr(view) and "No run in" in view.svg()
    assert not view.refresh()
    record(tmp_path / inner, 0.01, range(1, 3))
    assert view.refresh() and not view.refresh() and len(view.runs) == 1
    assert {row[1] for row in header(payload.news(view.runs, *counts))["scalars"]["rows"]} == {
        "train/loss",
        "train/rate",
    }
    assert not header(view.payload)["waiting"]


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(TypeError, match="should be a folder"):
        dashboard(3)
    with pytest.raises(ValueError, match="empty list"):
        dashboard([])
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        dashboard(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="height"):
        DashboardView([], height=0)


# ---------------------------------------------------------------------- in a browser
browser = pytest.fixture(chromium, scope="module")


@pytest.fixture(scope="module")
def window(browser):
    return Window(browser)


@pytest.fixture
def show(window, board, tmp_path):
    """show(width, dark) -> page; at the end nothing may have been asked of the network or gone wrong."""
    path = tmp_path / "dashboard.html"

    def show(width=1400, dark=False):
        path.write_text(board.html(), encoding="utf-8")
        return window.show(path, ".msnb-dash[data-ready]", width, 900, dark)

    yield show
    assert not window.complaints()


def card(page, tag):
    return page.locator(".card").filter(has=page.locator(f'b[title="{tag}"]'))


def test_tags_are_grouped_and_filtered_and_a_name_with_html_does_nothing(show):
    page = show()
    assert page.locator(".panel details").evaluate_all("all => all.map(one => one.dataset.group)") == ["train", "eval"]
    assert page.locator(".card b").all_text_contents() == ["loss", "rate", HOSTILE.partition("/")[2]]
    page.fill("[data-set=filter]", "/^train.*s$/")
    assert page.locator(".card b").all_text_contents() == ["loss"]
    page.fill("[data-set=filter]", "/(/")
    assert "no regular expression" in page.inner_text(".count") and page.locator(".card").count() == 3
    assert page.evaluate("window.hit") is None and page.locator(".msnb-dash img").count() == 0


def test_a_rectangle_zooms_and_each_step_back_is_one_zoom(show):
    page = show()
    loss = card(page, "train/loss")
    plot = loss.locator(".plot").bounding_box()

    def picture():
        frames(page)
        return loss.locator("canvas").screenshot()

    seen = [picture()]
    for _ in range(2):
        page.mouse.move(plot["x"] + 120, plot["y"] + 60)
        page.mouse.down()
        page.mouse.move(plot["x"] + 260, plot["y"] + 62, steps=3)
        page.mouse.up()
        page.mouse.move(2, 2)
        seen.append(picture())
    assert len(set(seen)) == 3
    loss.locator("[data-do=back]").click()
    assert picture() == seen[1]
    loss.locator("[data-do=reset]").click()
    assert picture() == seen[0]


def test_what_is_set_changes_the_curves_and_what_is_under_the_cursor_is_read(show):
    page = show()
    loss = card(page, "train/loss")
    seen = set()
    for act in (
        lambda: None,
        lambda: page.locator("[data-set=smoothing]").fill("0.9"),
        lambda: page.check("[data-set=log]"),
        lambda: page.select_option("[data-set=axis]", "relative"),
        lambda: page.select_option("[data-set=axis]", "wall"),
        lambda: page.locator(".runs button").first.click(),
    ):
        act()
        page.mouse.move(2, 2)
        frames(page)
        seen.add(loss.locator("canvas").screenshot())
    assert len(seen) == 6
    page.select_option("[data-set=axis]", "step")
    page.locator("[data-set=smoothing]").fill("0")
    loss.locator(".plot").hover(position={"x": 52, "y": 60})
    read = loss.locator(".read").inner_text()
    assert "step 1\n" in read + "\n" and "0.9802" in read and "rate 0.02" in read and "rate 0.01" not in read


def test_the_keyboard_reads_zooms_enlarges_and_marks(show):
    page = show()
    loss = card(page, "train/loss")
    loss.focus()
    page.keyboard.press(".")
    assert "step 1: " in page.inner_text(".heard")
    for key in ("+", "Enter"):
        page.keyboard.press(key)
    loss.locator("[data-do=back]").wait_for()
    assert "large" in loss.get_attribute("class")
    page.keyboard.press("t")
    page.keyboard.type("0.5")
    page.keyboard.press("Enter")
    loss.locator("[data-do=limits][aria-pressed=true]").wait_for()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.tag") == "train/rate"
    assert page.locator(".card[tabindex='0']").count() == 1
    for key in ("c", "ArrowLeft", "c"):
        page.keyboard.press(key)
    assert page.locator(".panel details").first.get_attribute("data-group") == "together"
    with page.expect_download() as waiting:
        page.keyboard.press("e")
    assert waiting.value.suggested_filename == "train_loss.csv"
    rows = pathlib.Path(waiting.value.path()).read_text().splitlines()
    assert rows[:2] == ["run,tag,step,time,value", "rate 0.01,train/loss,1,1700000011.000,0.990049839"]
    assert len(rows) == 601 and rows[40].endswith(",NaN")
    page.keyboard.press("?")
    assert "value by value" in page.inner_text(".msnb-keys")


def test_every_tab_draws_what_was_recorded(show):
    page = show()
    page.click('[data-tab="images"]')
    page.wait_for_function("document.querySelector('.picture img').naturalWidth === 8")
    page.locator(".picture input").first.fill("0")
    assert "step 50" in page.locator(".picture output").first.inner_text()
    page.click('[data-tab="histograms"]')
    seen = set()
    for form, axis in (("ridges", "step"), ("overlaid", "step"), ("distribution", "step"), ("ridges", "wall")):
        page.select_option("[data-set=form]", form)
        page.select_option("[data-set=axis]", axis)
        frames(page)
        seen.add(page.locator(".card canvas").first.screenshot())
    assert len(seen) == 4
    page.click('[data-tab="tensors"]')
    tensor = page.locator(".tensor").first
    part = tensor.locator("input[type=text]")
    assert part.input_value() == "0, :, :"
    part.fill("1, 0:2, -1")
    assert (
        tensor.locator("td").all_inner_texts() == ["315", "319"] and "mean 317" in tensor.locator(".about").inner_text()
    )
    part.fill("2, :, :")
    assert "axis 0 has 2 places" in tensor.locator(".about").inner_text()
    part.fill(":")
    assert "a table has two axes" in tensor.locator(".about").inner_text()
    page.select_option("[data-set=form]", "ridges")
    until(page, lambda: tensor.locator("canvas").get_attribute("aria-label") == "histograms of kernel in 6 steps")
    assert "24 values" in tensor.locator(".about").inner_text()
    page.click('[data-tab="resources"]')
    assert page.locator(".card b").all_text_contents() == ["memory"]


@pytest.mark.parametrize("width, dark", [(480, True), (1600, False)])
def test_it_fits_narrow_and_wide_pages_in_both_themes_and_in_forced_colours(show, width, dark):
    page = show(width, dark)
    page.emulate_media(forced_colors="active", color_scheme="dark" if dark else "light")
    try:
        until(
            page, lambda: page.evaluate("document.querySelectorAll('.runs line')[1].getAttribute('stroke-dasharray')")
        )
    finally:
        page.emulate_media(forced_colors="none")
    for tab in page.locator("[data-tab]").evaluate_all("all => all.map(one => one.dataset.tab)"):
        page.click(f'[data-tab="{tab}"]')
        frames(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab
    assert page.get_attribute(".msnb-dash", "data-theme") == ("dark" if dark else "light")


LIVE = """async ({source, payload, news}) => {
    const bytes = text => new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
    const heard = {}, asked = [], state = {payload: bytes(payload), cells: {}, live: true};
    const model = {get: name => state[name], send: message => asked.push(message),
        on: (name, act) => { heard[name] = act; }, off: name => { delete heard[name]; }};
    const {default: widget} = await import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
    document.body.innerHTML = '<div id="here"></div>';
    const el = document.getElementById("here"), close = await widget.render({model, el});
    const said = () => el.querySelector('[data-tag="train/loss"]').getAttribute("aria-label");
    const drawn = async text => {
        for (let i = 0; i < 3600 && !said().includes(text); i++) await new Promise(requestAnimationFrame);
    };
    await drawn("step 44;");
    const before = said(), tabs = el.querySelectorAll("[data-tab]").length;
    heard["msg:custom"]({news: true}, [bytes(news)]);
    await drawn("step 50;");
    const after = said(), more = el.querySelectorAll("[data-tab]").length;
    close();
    return {before, after, tabs, more, asked, left: el.children.length, listening: Object.keys(heard).length};
}"""


def test_a_live_curve_goes_on_and_nothing_is_left_when_it_is_closed(show, tmp_path):
    run = Run(record(tmp_path / "live", 0.01, range(1, 45), state="running"))
    first, counts = payload.full_state([run], "live"), payload.counted([run])
    record(tmp_path / "live", 0.01, range(45, 51), state="running")
    run.refresh()
    parts = {"payload": first, "news": payload.news([run], *counts)}
    source = pathlib.Path(dashboard.__code__.co_filename).with_name("widget.js").read_text(encoding="utf-8")
    result = show().evaluate(
        LIVE, {"source": source, **{key: base64.b64encode(v).decode() for key, v in parts.items()}}
    )
    assert "step 44; last 0.644" in result["before"] and "step 50; last 0.6065" in result["after"]
    assert (result["tabs"], result["more"], result["left"], result["listening"]) == (1, 5, 0, 0)
    assert result["asked"] == [{"whole": True, "number": 1}]


def test_a_view_follows_a_writer_by_itself_until_it_is_closed(tmp_path):
    view = dashboard(record(tmp_path / "r", 0.01, range(1, 45), state="running"))
    widget, sent, came = view.widget, [], threading.Event()
    widget.send = lambda message, buffers: (sent.append(header(buffers[0])), came.set())
    looking = view._looking
    record(tmp_path / "r", 0.01, range(45, 50), state="running")
    assert came.wait(60) and {row[1] for row in sent[0]["more"]["rows"]} == {"train/loss", "train/rate"}
    view.close()
    looking.join(60)
    assert not looking.is_alive()


def test_the_saved_form_is_no_higher_than_its_charts(browser, tmp_path, monkeypatch):
    with msnb.record("few", tmp_path / "runs") as run:
        run.log({"loss": 1.0}, 1)
    few = msnb.dashboard(tmp_path / "runs")
    monkeypatch.setattr(type(few), "widget", None)
    path = tmp_path / "stored.html"
    path.write_text(few._repr_mimebundle_()[0]["text/html"], encoding="utf-8")
    page = browser.new_page(viewport={"width": 900, "height": 1000})
    page.goto(path.as_uri())
    page.wait_for_selector(".msnb-view.live", timeout=60000)
    view, inner = page.locator(".msnb-view"), page.frames[1]
    inner.wait_for_selector(".card canvas", timeout=60000)

    def empty():
        return view.bounding_box()["height"] - inner.evaluate("document.body.getBoundingClientRect().height")

    until(page, lambda: 0 <= empty() < 2)
    low = view.bounding_box()["height"]
    assert 150 < low < 500
    inner.evaluate("document.querySelector('.card').classList.add('large')")
    until(page, lambda: view.bounding_box()["height"] > low + 100 and 0 <= empty() < 2)
    page.close()


def test_one_chart_has_the_room_of_all_and_a_loss_that_is_no_number_is_red(browser, tmp_path):
    folder = tmp_path / "alone"
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({"name": "alone", "id": "alone", "state": "finished"}))
    with open(folder / FILE, "ab") as events:
        for step in range(1, 30):
            loss = float("nan") if step > 20 else 1 / step
            events.write(frame(summary_event(1.7e9 + step, step, [("loss", "scalar", loss)])))
    view = dashboard(folder)
    assert view.runs[0].outcome == "finished, loss is NaN" and "finished, loss is NaN" in view.svg()
    (chart,) = [r for r in ElementTree.fromstring(view.svg()).iter() if r.get("class") == "box"]
    assert float(chart.get("width")) > 800
    view.save(tmp_path / "alone.html")
    page = Window(browser).show(tmp_path / "alone.html", ".msnb-dash[data-ready]", 1100, 700, False)
    frames(page)
    box = page.locator(".card").bounding_box()
    assert box["width"] > 1000 and box["height"] > 300
    assert page.inner_text(".state") == "finished, loss is NaN"
    red, green, blue = map(int, page.locator(".state").evaluate("e => getComputedStyle(e).color")[4:-1].split(", "))
    assert red > 60 + max(green, blue)


def test_one_value_of_each_run_is_a_number_and_no_dot(browser, tmp_path):
    for number in range(2):
        folder = tmp_path / "runs" / f"run {number}"
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(json.dumps({"name": folder.name, "id": folder.name, "state": "finished"}))
        with open(folder / FILE, "ab") as events:
            values = [("accuracy", "scalar", 0.25 + number), ("loss", "scalar", 0.5)]
            events.write(frame(summary_event(1.7e9, 7, values)))
            events.write(frame(summary_event(1.7e9 + 1, 8, values[1:])))
    view = dashboard(tmp_path / "runs")
    svg = ElementTree.fromstring(view.svg())
    texts = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert {"0.25", "1.25", "step 7"} <= set(texts) and "0.5 to 0.5, step 7 to 8" in texts
    view.save(tmp_path / "numbers.html")
    window = Window(browser, WRITTEN)
    page = window.show(tmp_path / "numbers.html", ".msnb-dash[data-ready]", 1100, 700, False)
    until(page, lambda: {"0.25", "1.25"} <= set(page.evaluate("written")))
    assert not window.complaints()
    page.close()
