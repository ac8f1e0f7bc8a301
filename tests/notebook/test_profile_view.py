"""The profile in a notebook: magics, what is stored, and the view in a browser with the network blocked."""

import base64
import copy
import gzip
import json
import pathlib
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from browsing import Window, chromium

from msnb import Tensor, context, nn
from msnb.insight.profile import Machine, profile
from msnb.ir import source
from msnb.notebook.profile import ProfileView, view

SETUP = """import numpy as np
from msnb import Tensor, nn, context
context.set_context(mode=context.GRAPH_MODE)
net, x = nn.SequentialCell([nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 4)]), Tensor(np.ones((4, 8), np.float32))"""


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.relu = nn.Dense(64, 128), nn.Dense(128, 4), nn.ReLU()

    def construct(self, x):
        return self.second(self.relu(self.first(x)))


@pytest.fixture(scope="module")
def profile_view():
    context.set_context(mode=context.GRAPH_MODE)
    net = Net()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.SGD(net.trainable_params(), 0.01)).set_train()
    return view(profile(step, Tensor(np.ones((64, 64), np.float32)), Tensor(np.zeros(64, np.int32)), steps=4))


# ---------------------------------------------------------------------- magics
def test_a_line_is_run_several_times_and_shown(notebook):
    notebook.ok(SETUP)
    notebook.ok("%ms_profile -n 3 net(x)")
    shown = notebook.rich[-1].data
    assert {"text/plain", "text/html"} <= set(shown) and "data:image/svg+xml" in shown["text/html"]
    assert "net(x), GRAPH" in shown["text/plain"] and "MatMul" in shown["text/plain"]


def test_quietly_the_profile_is_the_value(notebook):
    notebook.ok(SETUP)
    notebook.ok("made = %ms_profile -n 3 -q net(x)")
    assert len(notebook["made"].steps) >= 3 and not notebook.rich


def test_what_a_line_calls_stands_in_the_cell_of_that_line(notebook):
    notebook.ok(SETUP)
    notebook.ok("context.set_context(mode=context.PYNATIVE_MODE)")
    number = notebook.shell.execution_count
    notebook.ok("# the line is the second\nmade = %ms_profile -n 2 -q net(x) * 2")
    lines = {source.show(row.source) for row in notebook["made"].rows if row.op == "Mul"}
    assert lines == {f"In [{number}] line 2"}
    notebook.ok("%%mindspore\ndef twice(x):\n    return x * 2")
    assert source.show((notebook["twice"].__code__.co_filename, 1, "")) == f"In [{number + 1}] line 1"


def test_a_cell_is_run_once_and_its_names_stay(notebook):
    notebook.ok(SETUP)
    notebook.ok("%%ms_profile\nfor i in range(5):\n    y = net(x)\nkept = i")
    assert notebook["kept"] == 4
    assert "a step" in notebook.rich[-1].data["text/plain"]


def test_an_error_in_the_cell_is_shown_and_leaves_no_profile_open(notebook):
    notebook.ok(SETUP)
    notebook.run("%%ms_profile\n1 / 0")
    assert "ZeroDivisionError" in notebook.shown
    notebook.ok("%ms_profile -n 2 net(x)")


@pytest.mark.parametrize("line, said", [("", "needs a statement"), ("-n 0 net(x)", "at least 1")])
def test_what_cannot_be_profiled_is_said(notebook, line, said):
    notebook.ok(SETUP)
    notebook.run(f"%ms_profile {line}")
    assert said in notebook.shown


def test_a_profile_as_the_last_value_of_a_cell_is_a_view(notebook):
    notebook.ok(SETUP)
    notebook.ok("from msnb.insight.profile import profile\nmade = profile(net, x, steps=3)")
    shown, _ = notebook.shell.display_formatter.format(notebook["made"])
    assert "data:image/svg+xml" in shown["text/html"]


# ---------------------------------------------------------------------- what is stored
def test_the_payload_holds_every_row_and_asks_for_nothing(profile_view):
    data = json.loads(gzip.decompress(profile_view.payload))
    assert len(data["rows"]) == len(profile_view.profile.rows) and data["timeline"]["spans"]
    assert "http" not in profile_view.html().split("<script", 1)[1].replace("http://www.w3.org", "")


def test_the_picture_is_svg_with_the_headline_and_operators(profile_view):
    tree = ElementTree.fromstring(profile_view.svg())
    text = " ".join(tree.itertext())
    assert "TrainOneStepCell" in text
    assert "MatMul" in text
    assert ".py:" in text  # a long file name is shortened in the middle


def test_it_is_saved_in_the_form_that_the_name_asks_for(profile_view, tmp_path):
    for suffix, begin in (
        (".html", "<!doctype html"),
        (".svg", "<svg"),
        (".md", "**"),
        (".txt", "TrainOneStepCell"),
        (".json", '{"traceEvents"'),
    ):
        path = tmp_path / f"profile{suffix}"
        profile_view.save(path)
        assert path.read_text(encoding="utf-8").startswith(begin)
    with pytest.raises(ValueError, match=r"should end in one of"):
        profile_view.save("profile.pdf")


def test_the_widget_is_small(profile_view):
    widget = pathlib.Path(view.__code__.co_filename).with_name("widget.js")
    assert widget.stat().st_size < 50_000 and len(profile_view.html()) < 150_000


def test_what_is_no_profile_is_refused():
    with pytest.raises(TypeError, match="Profile"):
        view(3)
    with pytest.raises(ValueError, match="height"):
        ProfileView(None, height=0)


# ---------------------------------------------------------------------- in a browser
browser = pytest.fixture(chromium, scope="module")


@pytest.fixture(scope="module")
def window(browser):
    return Window(browser)


@pytest.fixture
def show(window, profile_view, tmp_path):
    """show(width, dark) -> page; at the end nothing may have been asked of the network or gone wrong."""
    path = tmp_path / "profile.html"

    def show(width=1400, dark=False, profile_view=profile_view):
        path.write_text(profile_view.html(), encoding="utf-8")
        return window.show(path, ".msnb-profile[data-ready]", width, 900, dark)

    yield show
    assert not window.complaints()


def names(page):
    return page.locator(".panel tbody b").all_text_contents()


def test_the_headline_the_bar_and_the_advice_are_there(show, profile_view):
    page = show()
    head = page.inner_text("header")
    assert "a step of TrainOneStepCell" in head and "compute" in head and "measured on operators" in head
    assert page.locator(".advice li").count() == len(profile_view.profile.advice)


def test_the_table_sorts_searches_and_groups(show):
    page = show()
    times = page.locator(".panel tbody tr").count()
    page.click('th button[data-by="n"]')
    assert names(page) == sorted(names(page))
    page.fill(".panel input", "matmul first")
    page.wait_for_function("n => document.querySelectorAll('.panel tbody tr').length < n", arg=times)
    assert set(names(page)) <= {"MatMul", "gradMatMul"}
    page.fill(".panel input", "")
    page.select_option(".panel select", "operator")
    shown = names(page)
    assert len(shown) == len(set(shown))


def test_a_line_of_source_is_sent_to_the_notebook(show):
    page = show()
    page.evaluate("window.addEventListener('msnb:reveal', e => { window.told = e.detail; })")
    page.locator(".panel .at").first.click()
    detail = page.evaluate("window.told")
    assert detail["file"] == "test_profile_view.py" and detail["line"] > 1 and detail["asked"]


def test_every_tab_draws(show):
    page = show()
    for tab, needed in (
        ("cells", ".bar3"),
        ("roofline", "svg .roof"),
        ("memory", "svg .area"),
        ("timeline", "canvas"),
        ("graph", ".msnb-graph[data-ready]"),
    ):
        page.click(f'[data-tab="{tab}"]')
        page.wait_for_selector(f".panel {needed}")
        assert page.get_attribute(f'[data-tab="{tab}"]', "aria-selected") == "true"


def test_the_keyboard_goes_through_the_tabs(show):
    page = show()
    page.press('[data-tab="operators"]', "ArrowRight")
    assert page.evaluate("document.activeElement.dataset.tab") == "cells"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.dataset.tab") == "graph"


def test_a_point_of_the_roofline_leads_to_its_row(show):
    page = show()
    page.click('[data-tab="roofline"]')
    page.locator(".panel .point").last.focus()
    page.keyboard.press("Enter")
    assert page.locator("tr.lit").count() == 1


def test_the_roofline_is_one_tab_stop_and_the_arrows_go_from_left_to_right(show):
    page = show()
    page.click('[data-tab="roofline"]')
    points = page.locator(".panel .point")
    assert points.count() > 2 and page.locator(".panel .point[tabindex='0']").count() == 1
    page.focus(".panel .point[tabindex='0']")
    here = "+document.activeElement.dataset.x"
    page.keyboard.press("Home")
    seen = [page.evaluate(here)]
    for _ in range(points.count() - 1):
        page.keyboard.press("ArrowRight")
        seen.append(page.evaluate(here))
    assert seen == sorted(points.evaluate_all("all => all.map(one => +one.dataset.x)"))
    assert page.locator(".panel .point[tabindex='0']").count() == 1


@pytest.mark.parametrize("dark", [False, True])
def test_in_forced_colours_the_sections_of_a_step_are_distinguished(show, dark):
    page = show(dark=dark)
    page.emulate_media(forced_colors="active", color_scheme="dark" if dark else "light")
    try:
        colours = page.locator("header .split i").evaluate_all(
            "all => all.map(one => getComputedStyle(one).background)"
        )
        ground = page.locator(".msnb-profile").evaluate("one => getComputedStyle(one).background")
        assert len(set(colours)) == len(colours) > 1 and ground not in colours
    finally:
        page.emulate_media(forced_colors="none")


def test_the_tabs_are_all_that_the_list_of_tabs_holds(show):
    roles = show().locator('[role="tablist"] > *').evaluate_all("all => all.map(one => one.getAttribute('role'))")
    assert len(roles) == 6 and set(roles) == {"tab"}


def test_points_above_the_roof_are_marked(show, profile_view):
    slow = copy.copy(profile_view.profile)
    slow.machine = Machine("cpu", 1e3, 1e3)
    page = show(profile_view=ProfileView(slow))
    page.click('[data-tab="roofline"]')
    assert page.locator(".panel .point.above").count() == page.locator(".panel .point").count() > 0
    assert "above the roof" in page.locator(".panel .point").first.get_attribute("aria-label")
    assert "ringed" in page.inner_text(".panel .key")


def test_the_way_to_the_slow_cells_is_open_however_idle_the_step_was(show, profile_view):
    idle = copy.copy(profile_view.profile)
    idle.parts = {**idle.parts, "host": 100 * sum(idle.parts.values())}
    slow = next(cell.scope for cell in idle.cells if cell.scope.endswith("first-Dense"))
    idle.cells = [copy.copy(cell) for cell in idle.cells]
    for cell in idle.cells:  # what was measured is chance
        cell.forward, cell.backward, cell.update = float(f"{slow}/".startswith(f"{cell.scope}/")), 0.0, 0.0
    page = show(profile_view=ProfileView(idle))
    page.click('[data-tab="cells"]')
    assert page.locator(".panel tbody tr[data-cell$='first-Dense']").count() == 1


@pytest.mark.parametrize("tab", ("operators", "cells"))
def test_a_table_is_one_tab_stop_with_arrows_and_its_keys_are_listed(show, tab):
    page = show()
    page.click(f'[data-tab="{tab}"]')
    stops, here = page.locator(".panel table [tabindex='0']"), "document.activeElement"
    assert stops.count() == 1 and page.locator(".panel th:empty").count() == 0
    rows = page.locator(".panel tbody tr")
    stops.focus()
    last = rows.count() - 1
    for key, row in (("ArrowDown", 1), ("End", last), ("Home", 0)):
        page.keyboard.press(key)
        assert page.evaluate(f"[...{here}.parentElement.rows].indexOf({here})") == row
    if tab == "operators":
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        assert page.evaluate(f"{here}.dataset.by") == "t" and stops.count() == 1
    else:
        page.keyboard.press("Enter")
        assert rows.count() != last + 1 and page.evaluate(f"{here}.tagName") == "TR"
    page.keyboard.press("?")
    assert "first row, last row" in page.inner_text(".keys")


def test_a_row_leads_to_its_node_in_the_graph(show):
    page = show()
    page.locator(".panel tr[data-row]", has_text="MatMul").first.click()
    page.wait_for_selector(".msnb-graph .n.sel")
    assert "MatMul" in page.locator(".msnb-graph .panel").inner_text()


def test_the_timeline_zooms_and_is_saved_for_perfetto(show):
    page = show()
    page.click('[data-tab="timeline"]')
    before = page.locator("canvas").first.screenshot()
    page.click('[data-do="in"]')
    page.click('[data-do="in"]')
    assert page.locator("canvas").first.screenshot() != before
    with page.expect_download() as download:
        page.click('[data-do="save"]')
    events = json.loads(pathlib.Path(download.value.path()).read_text())["traceEvents"]
    assert any(event["name"] == "MatMul" for event in events)


LIVE = """async ({source, payload, graph, code}) => {
    const bytes = text => new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
    const state = {payload: bytes(payload), graph: bytes(graph), code: bytes(code), cells: {"In [3]": "abc"}};
    const heard = {}, on = (name, act) => { heard[name] = act; }, off = name => { delete heard[name]; };
    const model = {get: name => state[name], on, off};
    const {default: widget} = await import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
    document.body.innerHTML = '<div id="here"></div>';
    const el = document.getElementById("here"), close = await widget.render({model, el});
    el.querySelector('[data-tab="cells"]').click();
    await heard["change:payload"]();
    const again = el.querySelector('[aria-selected="true"]').dataset.tab;
    const drawn = el.querySelectorAll(".msnb-profile").length;
    close();
    return {again, drawn, left: el.children.length, listening: Object.keys(heard).length};
}"""


def test_the_live_widget_draws_anew_keeps_its_tab_and_leaves_nothing_when_closed(show, profile_view):
    widget = pathlib.Path(view.__code__.co_filename).with_name("widget.js")
    buffers = {
        name: base64.b64encode(getattr(profile_view.widget, name)).decode() for name in ("payload", "graph", "code")
    }
    result = show().evaluate(LIVE, {"source": widget.read_text(encoding="utf-8"), **buffers})
    assert result == {"again": "cells", "drawn": 1, "left": 0, "listening": 0}


@pytest.mark.parametrize("width, dark", [(480, True), (480, False), (1400, True)])
def test_it_fits_narrow_and_wide_pages_in_both_themes(show, width, dark):
    page = show(width, dark)
    for tab in ("operators", "cells", "roofline", "memory", "timeline"):
        page.click(f'[data-tab="{tab}"]')
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab
    assert page.get_attribute(".msnb-profile", "data-theme") == ("dark" if dark else "light")
