"""The graph view in a real browser, with every request to the network blocked."""

import base64
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from browsing import Window, chromium, frames, until

import msnb
from msnb import Tensor, ir, nn, ops
from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType
from msnb.ir.partial_graph import graph_before
from msnb.notebook import graph as graph_package
from msnb.notebook.graph import GraphView

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "ir"))
import ir_programs as programs

graph_module = pathlib.Path(graph_package.__file__).with_name("widget.js")

COPY = """async form => { let text = null;
    const writeText = async t => { text = t; };
    Object.defineProperty(navigator, 'clipboard', {value: {writeText}, configurable: true});
    const box = document.querySelector('select.copy');
    box.value = form; box.dispatchEvent(new Event('change'));
    await new Promise(r => setTimeout(r, 50)); return text; }"""
browser = pytest.fixture(chromium, scope="module")


@pytest.fixture(scope="module")
def window(browser):
    return Window(browser)


@pytest.fixture
def show(window, tmp_path):
    """show(view, width, height, dark) -> page; at the end nothing may have been asked of the network or gone wrong."""
    path = tmp_path / "view.html"

    def show(view, width=1200, height=800, dark=False):
        path.write_text(view.html(), encoding="utf-8")
        page = window.show(path, ".msnb-graph[data-ready]", width, height, dark)
        frames(page)
        return page

    yield show
    assert not window.complaints()


def make_view(kind="step", layers=3, **settings):
    return GraphView(ir.read(programs.traced(kind, layers), "Net", programs.inputs(kind, layers)), **settings)


def box(page, text, number=0):
    return page.locator(f'.n[aria-label^="{text},"]').nth(number)


def panel(page):
    return page.inner_text(".panel")


def top_of(page, text):
    return box(page, text).bounding_box()["y"]


def test_a_click_on_a_node_shows_what_it_is_and_where_it_comes_from(show):
    page = show(make_view("forward"))
    box(page, "MatMul").click()
    shown = panel(page)
    for expected in (
        "CNode %0, forward",
        "fc0",
        "fc0.weight",
        "Float32[4, 4]",
        "ir_programs.py:",
        "return matmul(x, w)",
        "FLOPs",
        "%1 ReLU",
    ):
        assert expected in shown


def test_scopes_close_and_open(show):
    page = show(make_view("forward"))
    before = page.locator(".n").count()
    page.locator('.open[aria-label^="network,"]').click(position={"x": 20, "y": 8})
    page.wait_for_selector('.n[aria-label^="network,"]')
    assert "network" in panel(page) and page.locator(".n .sub", has_text="Float32 2×4").count() == 1
    box(page, "network").click()
    page.wait_for_selector('.open[aria-label^="network,"]')
    assert page.locator(".n").count() == before


def test_collapse_and_expand_reach_every_scope(show):
    page = show(make_view("step", 12))
    page.click("text=expand")
    page.wait_for_function("document.querySelectorAll('.n[aria-expanded]').length === 0")
    page.click("text=collapse")
    page.wait_for_function("document.querySelectorAll('.open').length === 0")
    assert page.locator(".n").count() <= 6


def test_levels_open_what_stands_beside_each_other_and_something_stays_in_sight(show):
    page = show(make_view("step", 40))
    opened = []
    for level in (1, 2, 3):
        page.click(f"[data-level='{level}']")
        page.wait_for_function("n => document.querySelector('.said').textContent === `open to level ${n}`", arg=level)
        frames(page)
        opened.append(page.locator(".open").count())
    assert 0 < opened[0] < opened[1]
    page.click("text=expand")
    page.wait_for_function("document.querySelector('.said').textContent === 'every scope is open'")
    frames(page)
    seen = page.evaluate("""() => { const at = document.querySelector('.stage').getBoundingClientRect();
        return [...document.querySelectorAll('.n')].filter(n => { const r = n.getBoundingClientRect();
            return r.left > at.left && r.right < at.right && r.top > at.top && r.bottom < at.bottom; }).length; }""")
    assert seen > 3


def test_what_enters_a_scope_is_drawn_on_to_its_reader_and_lights_up_all_the_way(show):
    page = show(make_view("forward"))
    assert page.locator('.e[marker-end$="-port)"]').count() >= 2
    box(page, "x").hover()
    lit = page.locator(".e.out")
    until(page, lambda: lit.count() == 2)  # to the rim, and from there to fc0
    ends = "e => [0, 1e6].map(at => { const p = e.getPointAtLength(at); return [p.x, p.y]; })"
    (_, rim), (start, _) = (lit.nth(number).evaluate(ends) for number in (0, 1))
    assert rim == pytest.approx(start, abs=0.5)


def test_forward_and_backward_stand_on_one_row(show):
    page = show(make_view("step"))
    assert page.locator("text.lane").all_text_contents() == ["forward", "backward", "update"]
    for operator, name in (("MatMul", "fc0"), ("MatMul", "fc1"), ("ReLU", "relu (2nd call)")):
        left, right = (box(page, f"{prefix}{operator}, {name}").bounding_box() for prefix in ("", "grad"))
        assert abs(left["y"] - right["y"]) < 1 and right["x"] > left["x"] + left["width"]


def test_a_folded_block_shows_one_repeat_and_steps_through_all(show):
    page = show(make_view("forward", 30))
    shown = page.locator(".top .sub", has_text=" / 30")
    assert shown.text_content() == "1 / 30"
    page.locator('.btn[data-act="next"]').click()
    until(page, lambda: shown.text_content() == "2 / 30" and box(page, "MatMul, fc1").count() == 1)
    few = page.locator(".n").count()
    page.locator('.btn[data-act="all"]').click()
    until(page, lambda: page.locator(".n").count() > few)


def test_search_finds_selects_and_opens_what_hides_it(show):
    page = show(make_view("step", 12))
    page.click("text=collapse")
    page.wait_for_function("document.querySelectorAll('.open').length === 0")
    page.fill(".find input", "op:matmul scope:fc7")
    until(page, lambda: page.inner_text(".hits") == "2")
    page.press(".find input", "Enter")
    until(page, lambda: "MatMul" in panel(page) and "fc7" in panel(page) and page.locator(".n.sel").count() == 1)
    for query, count in (("op:matmul scope:fc7 lane:forward", "1"), ("node:0", "1")):
        page.fill(".find input", query)
        until(page, lambda count=count: page.inner_text(".hits").endswith(count))
    page.fill(".find input", "no such thing")
    until(page, lambda: "nothing found" in page.inner_text(".results"))
    page.press(".find input", "Escape")
    until(page, lambda: page.locator(".dim").count() == 0)


def test_the_keyboard_reaches_everything(show):
    page = show(make_view("forward"))
    page.press(".stage > svg", "Enter")
    until(page, lambda: page.locator(".sel").count() == 1)
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    frames(page)
    name = page.locator(".sel").get_attribute("aria-label")
    assert name and page.inner_text(".said") in name + ", forward" or page.inner_text(".said")
    before = page.locator(".world").get_attribute("transform")
    page.keyboard.press("+")
    until(page, lambda: page.locator(".world").get_attribute("transform") != before)
    page.keyboard.press("0")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.type") == "search"
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    until(page, lambda: page.locator(".sel").count() == 0)


def test_arrows_cross_to_the_gradient_a_screen_reader_follows_and_the_keys_are_shown(show):
    page = show(make_view("step"))
    box(page, "MatMul, fc0").click()
    page.keyboard.press("ArrowRight")
    frames(page)
    selected = page.locator(".n.sel")
    assert selected.get_attribute("aria-label").startswith("gradMatMul, fc0")
    assert page.get_attribute(".stage > svg", "aria-activedescendant") == selected.get_attribute("id")
    page.keyboard.press("?")
    assert "Page Down" in page.inner_text(".help")
    page.keyboard.press("Escape")
    until(page, lambda: page.locator(".help").count() == 0 and selected.count() == 1)
    assert page.evaluate("document.activeElement.tagName") == "svg"


def test_the_wheel_belongs_to_the_page_until_the_graph_is_clicked(show):
    page = show(make_view("forward"))
    before = page.locator(".world").get_attribute("transform")
    page.mouse.move(300, 400)
    page.mouse.wheel(0, 200)
    until(page, lambda: "click the graph" in page.inner_text(".hint"))  # the wheel has come to it
    frames(page)
    assert page.locator(".world").get_attribute("transform") == before
    page.mouse.click(20, 700)
    page.mouse.wheel(0, 200)
    until(page, lambda: page.locator(".world").get_attribute("transform") != before)


def test_dragging_pans_and_selects_nothing(show):
    page = show(make_view("forward"))
    before = box(page, "MatMul").bounding_box()
    page.mouse.move(before["x"] + 5, before["y"] + 5)
    page.mouse.down()
    page.mouse.move(before["x"] + 65, before["y"] + 45, steps=4)
    page.mouse.up()
    frames(page)
    after = box(page, "MatMul").bounding_box()
    assert abs(after["x"] - before["x"] - 60) < 6 and page.locator(".sel").count() == 0


def test_values_given_from_outside_can_be_coloured_by(show):
    graph = ir.read(programs.traced("forward"), "Net", programs.inputs())
    values = [float(number + 1) for number in range(len(graph))]
    page = show(GraphView(graph, columns={"time": {"label": "time", "unit": "s", "values": values}}, colour="time"))
    assert "COLOUR: TIME" in panel(page).upper()
    box(page, "MatMul").click()
    assert "time\t1 s" in panel(page)
    fills = page.locator(".n rect:last-of-type").evaluate_all("list => list.map(r => r.style.fill)")
    assert len(set(fills)) > 3


def test_columns_are_summed_up_and_coloured_on_closed_scopes_and_written_with_their_units(show):
    view = make_view("step")
    count = len(view.graph)
    view.set_column("time", {"unit": "s", "values": [1e-3] * count, "note": ["measured"] * count})
    view.set_column(
        "norm", {"values": [None] + [10.0**-k for k in range(1, count)], "fold": "max", "scale": "log"}, colour=False
    )
    page = show(view)
    box(page, "MatMul").click()
    assert f"time\t1 ms, {round(100 / count)} % of all\nmeasured" in panel(page) and "norm\t–" in panel(page)
    page.click("text=collapse")
    page.wait_for_function("document.querySelectorAll('.open').length === 0")
    forward = sum(node.direction == "forward" for node in view.graph.all_nodes())
    assert page.locator(".n[aria-expanded]").first.get_attribute("aria-label").endswith(f"{forward} ms, forward")
    assert page.inner_text(".legend").split() == ["time", "0", "s", f"{forward}", "ms"]
    page.select_option("select.colour", "norm")
    page.wait_for_selector('.n[aria-expanded][aria-label$="0.1, forward"]')
    assert "log" in page.inner_text(".legend")


def test_values_below_and_above_zero_get_two_hues_and_what_is_not_finite_stands_out(show):
    view = make_view("forward")
    view.set_column("mean", {"values": [-2.0, 0.0, 2.0, float("nan"), float("inf"), None], "fold": "max"})
    page = show(view)
    fills = [
        box.evaluate("g => g.querySelector('rect:last-of-type').style.fill")
        for box in (page.locator(f'.n[data-id="{number}"]') for number in range(6))
    ]
    assert fills[3] == fills[4] == "rgb(200, 30, 120)" and len(set(fills)) == 5
    blue, orange = ([int(part) for part in fills[at][4:-1].split(",")] for at in (0, 2))
    assert blue[2] > blue[0] and orange[0] > orange[2]
    assert page.locator('.n[data-id="3"]').get_attribute("aria-label") == "ReLU, relu (2nd call), NaN, forward"


def test_nodes_are_filtered_by_type(show):
    page = show(make_view("step"))
    options = page.locator("select.types option").all_text_contents()
    assert "MatMul (6)" in options and options[0] == "all types"
    page.select_option("select.types", "op:MatMul")
    page.wait_for_selector(".n.dim")
    assert page.locator(".n.hit").count() == 6 == int(page.inner_text(".hits"))
    assert {
        label.split(",")[0]
        for label in page.locator(".n.hit").evaluate_all("list => list.map(g => g.getAttribute('aria-label'))")
    } == {"MatMul", "gradMatMul"}
    page.fill(".find input", "scope:fc1")
    until(page, lambda: page.inner_text(".hits") == "2")
    page.press(".find input", "Escape")
    page.select_option("select.types", "")
    page.wait_for_function("document.querySelectorAll('.n.dim').length === 0")


def test_results_are_boxes_and_new_values_of_parameters_are_not(show):
    graph = ir.read(programs.traced("forward"), "Net", programs.inputs())
    page = show(GraphView(graph))
    box(page, "result").click()
    assert "what the program returns" in panel(page) and "ReLU" in panel(page)
    graph.written = 1
    assert box(show(GraphView(graph)), "result").count() == 0


def test_results_have_their_keys_and_a_check_of_labels_says_who_wrote_it(show):
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True)
    labels = Tensor(np.array([0, 1], np.int32))
    x = Tensor(np.ones((2, 3), np.float32))
    page = show(graph_package.view(lambda x, y: {"loss": loss(x, y), "twice": x * 2}, x, labels))
    assert box(page, "loss").count() == box(page, "twice").count() == 1
    assert "checks of values" in panel(page)
    box(page, "CheckLabels").click()
    assert "msnb adds this check" in panel(page)


def test_memory_alive_is_a_colour(show):
    page = show(make_view("forward"))
    page.select_option("select.colour", "memory")
    frames(page)
    assert box(page, "MatMul").get_attribute("aria-label") == "MatMul, fc0, 32 B, forward"  # 2x4 values of 4 bytes
    assert box(page, "ReLU").get_attribute("aria-label") == "ReLU, relu, 64 B, forward"  # with the one that it reads


def test_every_control_has_a_name_and_every_box_says_what_it_is(show):
    page = show(make_view("step"))
    unnamed = page.evaluate("""() => [...document.querySelectorAll('button, select, input')].filter(e =>
        !e.offsetParent ? false : !(e.getAttribute('aria-label') || e.textContent.trim())).length""")
    assert unnamed == 0
    for role in ("tree", "treeitem", "group"):
        names = page.locator(f'[role="{role}"]').evaluate_all("list => list.map(e => e.getAttribute('aria-label'))")
        assert names and all(names)
    reached = []
    for _ in range(16):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("document.activeElement.getAttribute('aria-label') || document.activeElement.textContent")
        )
    for name in ("search nodes", "colour by", "filter by operator type", "fit", "collapse", "source"):
        assert name in reached
    assert any(name.startswith("graph of Net") for name in reached)


STOPS = "[...document.querySelectorAll(WHERE)].filter(one => one.getClientRects().length && one.tabIndex === 0).length"


def stops(page, where):
    """Return the number of elements of a selector that Tab stops at."""
    return page.evaluate(STOPS.replace("WHERE", json.dumps(where)))


def test_buttons_of_a_group_links_of_the_panel_and_lines_of_the_source_are_one_tab_stop_each(show):
    page = show(make_view("step"), width=1400)
    page.click("[data-do=code]")
    page.wait_for_selector(".code tr[data-line]")
    box(page, "ReLU").click()
    groups = page.locator(".bar .group").count()
    assert groups == 3 and stops(page, ".bar .group button") == groups
    assert stops(page, ".panel button") == 1 == stops(page, ".code [data-line]")
    assert page.locator(".panel button").count() > 3 < page.locator(".code [data-line]").count()
    for first, key, then in (
        (".levels [data-do=close]", "ArrowRight", "this.dataset.level === '1'"),
        (".levels [data-do=close]", "End", "this.dataset.do === 'open'"),
        (".panel button[tabindex='0']", "ArrowDown", "this === document.querySelectorAll('.panel button')[1]"),
        (".code [data-line][tabindex='0']", "Home", "this === document.querySelector('[data-line]')"),
    ):
        page.press(first, key)
        assert page.evaluate(f"(function () {{ return !!({then}) }}).call(document.activeElement)"), then
        assert stops(page, ".bar .group button") == groups and stops(page, ".panel button") == 1
    page.set_viewport_size({"width": 500, "height": 700})  # where some buttons are not drawn
    page.wait_for_selector(".msnb-graph.narrow")
    assert stops(page, ".bar .group button") == groups


@pytest.mark.parametrize("dark", [False, True])
def test_in_forced_colours_the_drawing_keeps_its_own_on_a_ground_of_its_own(show, dark):
    page = show(make_view("step"), width=1100, dark=dark)
    page.emulate_media(forced_colors="active", color_scheme="dark" if dark else "light")
    try:
        colour = "one => getComputedStyle(one).backgroundColor"
        keys = page.locator(".panel .key").evaluate_all("all => all.map(one => getComputedStyle(one).backgroundColor)")
        assert len(set(keys)) > 2, "the legend tells its colours apart"
        assert page.locator(".stage").evaluate(colour) == ("rgb(22, 25, 29)" if dark else "rgb(255, 255, 255)")
        pressed, other = (page.locator(f"[data-do={name}]").evaluate(colour) for name in ("panel", "full"))
        assert pressed != other
    finally:
        page.emulate_media(forced_colors="none")


def test_without_a_kernel_a_parameter_is_no_link(show):
    page = show(make_view("forward"))
    box(page, "MatMul").click()
    assert "fc0.weight" in panel(page) and page.locator("[data-weight]").count() == 0


@pytest.mark.parametrize("dark", [False, True])
def test_matches_stand_in_the_middle_as_far_as_the_graph_fills_the_pane(show, dark):
    page = show(make_view("step", layers=6), width=700, height=420, dark=dark)
    page.click("[data-do=open]")
    around = page.locator(".stage > svg").bounding_box()
    for name in ("fc0", "fc3", "fc5"):
        page.fill("input[type=search]", f"scope:{name} MatMul")
        page.press("input[type=search]", "Enter")
        page.wait_for_selector(".n.sel")
        page.wait_for_timeout(60)
        box = page.locator(".n.sel").bounding_box()
        assert around["y"] <= box["y"] and box["y"] + box["height"] <= around["y"] + around["height"]
        world = page.locator(".world").bounding_box()
        above, below = world["y"] - around["y"], around["y"] + around["height"] - world["y"] - world["height"]
        assert world["height"] > around["height"] and above < 40 and below < 40, name


def test_what_is_selected_stays_in_sight_when_the_window_gets_narrow(show):
    page = show(make_view("step", layers=6), width=1400, height=500)
    page.click("[data-do=open]")
    page.fill("input[type=search]", "scope:fc0 MatMul")
    page.press("input[type=search]", "Enter")
    page.wait_for_selector(".n.sel")
    page.set_viewport_size({"width": 420, "height": 600})
    page.wait_for_selector(".msnb-graph.narrow")
    page.wait_for_timeout(200)
    around, box = page.locator(".stage > svg").bounding_box(), page.locator(".n.sel").bounding_box()
    assert around["x"] <= box["x"] and box["x"] + box["width"] <= around["x"] + around["width"]
    assert around["y"] <= box["y"] and box["y"] + box["height"] <= around["y"] + around["height"]


def test_the_panel_of_a_smaller_window_does_not_cover_what_is_selected(show):
    page = show(make_view("step", layers=6), width=1100, height=500)
    page.click("[data-do=open]")
    page.fill("input[type=search]", "scope:fc0 gradMatMul")
    page.press("input[type=search]", "Enter")
    page.wait_for_selector(".n.sel")
    box = page.locator(".n.sel").bounding_box()
    page.mouse.move(20, 460)  # drag the graph until the node is beside the panel
    page.mouse.down()
    page.mouse.move(20 + page.locator(".panel").bounding_box()["x"] - box["x"] - box["width"] - 40, 460, steps=4)
    page.mouse.up()
    page.set_viewport_size({"width": 820, "height": 500})
    page.wait_for_selector(".msnb-graph.compact")
    page.wait_for_timeout(200)
    result, panel = page.locator(".n.sel").bounding_box(), page.locator(".panel").bounding_box()
    assert result["x"] + result["width"] <= panel["x"]


def test_full_screen_fills_the_window(show):
    page = show(make_view("step"))
    page.click("[data-do=full]")
    page.wait_for_function("document.fullscreenElement?.className.includes('msnb-graph')")
    page.click("[data-do=full]")
    page.wait_for_function("!document.fullscreenElement")


MOUNT = """<!doctype html><div id="here" style="width:800px"></div><script type="module">
const {mount} = await import(URL.createObjectURL(new Blob([MODULE], {type: "text/javascript"})));
window.heard = [];
const bytes = Uint8Array.from(atob("PAYLOAD"), c => c.charCodeAt(0));
window.handle = mount(document.getElementById("here"), bytes,
                      {height: 400, toolbar: false, panel: false, onSelect: id => heard.push(id)});
await handle.app.ready;
window.made = true;
</script>"""


def test_another_widget_can_hold_a_graph_and_lets_go_of_all_of_it(browser, tmp_path):
    view, module = make_view("step"), graph_module.read_text(encoding="utf-8")
    path = tmp_path / "mount.html"
    path.write_text(
        MOUNT.replace("MODULE", json.dumps(module)).replace("PAYLOAD", base64.b64encode(view.payload).decode()),
        encoding="utf-8",
    )
    page = browser.new_page()
    page.set_default_timeout(60000)
    page.goto(path.as_uri())
    page.wait_for_function("window.made")
    assert page.locator(".bar").is_hidden() and page.locator(".panel").is_hidden()
    page.evaluate(
        "n => handle.setColumn('norm', {label: 'norm', values: Array.from({length: n}, (_, i) => i)})", len(view.graph)
    )
    until(page, lambda: "norm" in page.inner_text(".legend"))
    page.evaluate("handle.select(3)")
    page.wait_for_selector(".n.sel")
    assert page.evaluate("[handle.selected(), heard.length]") == [3, 0]
    page.locator(".stage > svg").press("ArrowDown")
    assert page.evaluate("heard.length === 1 && heard[0] === handle.selected()")
    with pytest.raises(Exception, match="one value per node"):
        page.evaluate("handle.setColumn('wrong', {values: [1]})")

    session = page.context.new_cdp_session(page)
    kinds = {}
    for kind, expression in (("app", "handle.app"), ("graph", "handle.app.data.stages[0]")):
        result = session.send("Runtime.evaluate", {"expression": f"Object.getPrototypeOf({expression})"})
        kinds[kind] = result["result"]["objectId"]

    def alive(kind):
        session.send("HeapProfiler.collectGarbage")
        result = session.send("Runtime.queryObjects", {"prototypeObjectId": kinds[kind]})["objects"]["objectId"]
        message = session.send(
            "Runtime.callFunctionOn",
            {"objectId": result, "returnByValue": True, "functionDeclaration": "function() { return this.length; }"},
        )
        session.send("Runtime.releaseObject", {"objectId": result})
        return message["result"]["value"]

    assert alive("app") == alive("graph") == 1
    page.evaluate("() => { handle.destroy(); window.handle = null; }")
    until(page, lambda: alive("app") == alive("graph") == 0)
    page.close()


def test_dark_theme_and_narrow_window(show):
    page = show(make_view("step"), width=420, height=700, dark=True)
    assert page.get_attribute(".msnb-graph", "data-theme") == "dark"
    assert "narrow" in page.get_attribute(".msnb-graph", "class")
    graph, details = page.locator(".stage").bounding_box(), page.locator(".panel").bounding_box()
    assert details["y"] >= graph["y"] + graph["height"] - 1 and graph["height"] > 150
    page.emulate_media(color_scheme="light")
    page.wait_for_selector('.msnb-graph[data-theme="light"]')


@pytest.mark.parametrize("width", [520, 700, 900])
def test_a_narrow_window_shows_every_control_of_the_toolbar(show, width):
    shown = make_view("step")
    two = GraphView({"first": shown.graph, "second": shown.graph, "third": shown.graph})  # with all its lists
    page = show(two, width=width, height=700)
    right = max(
        one.bounding_box()["x"] + one.bounding_box()["width"]
        for one in page.locator(".bar button, .bar select").all()
        if one.is_visible()
    )
    assert right <= width


def test_below_a_thousand_pixels_the_panel_comes_with_a_selection_and_the_map_covers_no_box(show):
    page = show(make_view("step", 12), width=900, height=500)
    assert page.locator(".panel").is_hidden()
    page.click("text=expand")
    page.wait_for_function("document.querySelector('.busy').textContent === ''")
    frames(page)
    covered = """() => { const map = document.querySelector('.map'), at = map.getBoundingClientRect();
        return !map.hidden && [...document.querySelectorAll('.n')].some(n => { const r = n.getBoundingClientRect();
            return r.left < at.right && r.right > at.left && r.top < at.bottom && r.bottom > at.top; }); }"""
    assert not page.evaluate(covered)
    page.locator(".stage > svg").press("Enter")
    until(page, page.locator(".panel").is_visible)
    frames(page)
    assert not page.evaluate(covered)
    chosen, panel_at = page.locator(".sel").bounding_box(), page.locator(".panel").bounding_box()
    assert chosen["x"] + chosen["width"] <= panel_at["x"]
    page.keyboard.press("Escape")
    until(page, page.locator(".panel").is_hidden)


def test_two_networks_are_compared_side_by_side(show):
    old = ir.read(programs.traced("forward", 3), "Net", programs.inputs("forward", 3))
    new = ir.read(programs.traced("forward", 4), "Net", programs.inputs("forward", 4))
    page = show(GraphView({"old": old, "new": new}), width=1400)
    assert page.locator(".stage").count() == 2 and page.locator(".heading").all_inner_texts() == ["old", "new"]
    assert page.locator(".stage >> nth=1 >> .n text", has_text="+ fc3").count() == 1
    page.locator('.stage >> nth=0 >> .n[aria-label^="MatMul"] >> nth=1').click()
    mate = page.locator(".stage >> nth=1 >> .mate")
    until(page, lambda: mate.count() == 1 and "new: matched" in panel(page).lower())
    assert "+ added" in page.inner_text(".legend")


def test_the_source_selects_nodes_and_nodes_select_the_source(show):
    page = show(make_view("forward"), width=1400)
    page.click("[data-do=code]")
    page.wait_for_selector(".code tr[data-line]")
    box(page, "ReLU").click()
    until(page, lambda: "x = relu(x)" in page.inner_text(".code .here"))
    page.locator(".code tr[data-line]", has_text="return matmul(x, w)").click()
    until(page, lambda: page.locator(".n.hit").count() == 3 and page.locator(".n.dim").count() == 0)
    assert "CNode %1" in panel(page)  # what was selected stays


def test_the_source_is_the_first_of_the_stages(show):
    page = show(make_view("step"), width=1400)
    page.select_option("select.beside", label="beside: source")
    page.wait_for_selector(".code tr[data-line]")
    assert page.get_attribute("[data-do=code]", "aria-pressed") == "true"
    assert page.input_value("select.beside") == "" and "return matmul(x, w)" in page.inner_text(".code")


def test_the_text_copied_from_the_view_is_the_text_that_python_prints(show):
    for kind in ("forward", "step"):
        view = make_view(kind)
        page = show(view)
        assert page.evaluate(COPY, "text") == view.text()
        assert page.inner_text(".said").startswith("copied ")


def test_a_picture_can_be_copied(show):
    page = show(make_view("step"))
    assert ElementTree.fromstring(page.evaluate(COPY, "svg")).tag.endswith("svg")


def synthetic(blocks, per_block=50):
    """Return a graph of `blocks` blocks, all of them different so that nothing is folded away."""
    kind = (TensorType("Float32", (8, 8), 4),)
    x = ParameterNode("x", kind)
    nodes, last = [], x
    for block in range(blocks):
        for place in range(per_block):
            other = nodes[-(block % 5 + 2)] if len(nodes) > 8 else x
            node = CNode(
                ("MatMul", "Add", "ReLU", "Mul")[(place * place + block) % 4],
                (last, other),
                (0, 0),
                kind,
                scope=f"Default/net-Net/stage{block // 20}-Stage/block{block}-Block",
                id=len(nodes),
                source=("net.py", place, "construct"),
                flops=place * 1000 + block,
                nbytes=256,
            )
            nodes.append(node)
            last = node
    return FuncGraph("Synthetic", [x], nodes, [(last, 0)])


def count_elements(page):
    """Return the number of elements in a view. benchmarks/graph_view.py measures their time."""
    return page.evaluate("document.querySelectorAll('.msnb-graph *').length")


def test_what_is_drawn_of_five_thousand_nodes_is_what_there_is_to_see(show):
    page = show(GraphView(synthetic(100)))
    folded = count_elements(page)
    assert page.get_attribute(".msnb-graph", "data-nodes") == "5000" and folded < 1000
    page.click("text=expand")
    page.wait_for_function("document.querySelector('.busy').textContent === ''")
    frames(page)
    assert folded < count_elements(page) < 5000


@pytest.mark.slow  # of five thousand as few are drawn
def test_fifty_thousand_nodes_open(show):
    page = show(GraphView(synthetic(1000)))
    assert page.get_attribute(".msnb-graph", "data-nodes") == "50000" and count_elements(page) < 1500
    page.fill(".find input", "op:MatMul")
    until(page, lambda: int(page.inner_text(".hits") or 0) > 5000)


def test_an_empty_graph_is_shown(show):
    page = show(GraphView(FuncGraph("Empty", [], [], [])))
    assert "Empty" in panel(page)


def test_names_that_look_like_markup_are_shown_as_they_are(show):
    kind = (TensorType("Float32", (2,), 4),)
    x = ParameterNode("<img src=x onerror=alert(1)>", kind)
    node = CNode(
        "</script><b>Op</b>",
        (x,),
        (0,),
        kind,
        scope='Default/"quoted" & <i>-Cell',
        attrs={"a": "</script>"},
        source=("<file>.py", 3, "<lambda>"),
    )
    page = show(GraphView(FuncGraph("</script><h1>", [x], [node], [(node, 0)])))
    page.locator(".n").first.click()
    assert "</script><b>Op</b>" in panel(page)
    assert page.locator("b:not(.strip *):not(.legend *), h1:not(main > h1), img").count() == 0


def test_the_cursor_in_a_cell_lights_up_its_nodes_and_a_node_tells_its_line(show):
    page = show(make_view("forward"))
    page.evaluate("window.addEventListener('msnb:reveal', e => { window.told = e.detail; })")
    box(page, "MatMul").click()
    detail = page.evaluate("window.told")
    assert detail["file"] == "ir_programs.py" and detail["line"] > 0
    page.evaluate(
        "line => window.dispatchEvent(new CustomEvent('msnb:cursor',{detail: {file: 'ir_programs.py', line}}))",
        detail["line"],
    )
    until(page, lambda: page.locator(".n.hit").count() == 3)
    page.evaluate("window.dispatchEvent(new CustomEvent('msnb:cursor', {detail: {file: 'ir_programs.py', line: 1}}))")
    until(page, lambda: page.locator(".n.hit, .n.dim").count() == 0)


def test_a_large_graph_is_saved_without_its_repeats_and_still_counts_them(show, monkeypatch):
    large = make_view("step", 1010)
    assert len(large.graph) > 5000 and len(large.saved_payload) < len(large.payload) / 4
    monkeypatch.setattr(type(large), "html", lambda self: self._build_page().html())
    page = show(large)
    assert page.get_attribute(".msnb-graph", "data-nodes") == str(len(large.graph))
    assert int(page.get_attribute(".msnb-graph", "data-drawn")) < 100
    assert "left out of this saved copy" in panel(page)
    assert page.locator("text.sub", has_text="× 1010").count() >= 1


def test_a_png_can_be_saved(show, tmp_path):
    page = show(make_view("forward"))
    with page.expect_download() as waiting:
        page.select_option("select.copy", "png")
    path = tmp_path / "net.png"
    waiting.value.save_as(path)
    assert path.read_bytes()[:4] == b"\x89PNG" and waiting.value.suggested_filename == "Net.png"


class Wrong(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.act, self.second = nn.Dense(4, 8), nn.ReLU(), nn.Dense(9, 3)

    def construct(self, x):
        return self.second(self.act(self.first(x)))


@pytest.mark.parametrize("dark", [False, True])
def test_where_a_network_fails_is_red_in_sight_and_said_above(show, dark):
    with pytest.raises(ValueError) as caught:
        ir.graph(Wrong(), Tensor(np.ones((2, 4), np.float32)))
    page = show(GraphView(graph_before(caught.value)), dark=dark)
    sentence = "For 'MatMul', the inner dimensions should agree, but got 8 and 9"
    assert page.inner_text('.strip[role="status"]').startswith("Stops at MatMul ValueError: " + sentence)
    assert sentence in panel(page) and "COST" not in panel(page).upper()
    red = page.locator('.n[aria-selected="true"]')
    assert red.locator("text").first.text_content() == "✗ second" and red.bounding_box()["y"] > 0
    fill = red.locator("rect").evaluate("r => getComputedStyle(r).fill")
    red, green, blue = map(int, re.findall(r"\d+", fill)[:3])
    assert red > 20 + max(green, blue)
    assert not page.locator(".strip.gone").is_visible()


def test_a_graph_without_a_problem_has_no_strip(show):
    assert not show(make_view("forward")).locator(".strip").first.is_visible()


class Twice(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.act, self.second = nn.Dense(4, 4), nn.ReLU(), nn.Dense(4, 4)

    def construct(self, x):
        return self.second(self.act(self.first(x)))


def test_another_stage_keeps_the_node_selected_that_the_selected_one_became(show):
    view = graph_package.view(Twice(), Tensor(np.ones((2, 4), np.float32)), stages=("traced", "primitives"))
    page = show(view)
    page.select_option("select.beside", "")
    matmul = next(n.id for n in view.graph.all_nodes() if n.op == "MatMul" and "second" in n.scope)
    box(page, "MatMul", 1).click()
    page.select_option("select.which", "primitives")
    until(page, lambda: panel(page).startswith("dot_general") and "second" in panel(page))
    page.select_option("select.which", "traced")
    until(page, lambda: panel(page).startswith(f"MatMul\n\nCNode %{matmul},"))


class Convolutions(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 2, 3), nn.Conv2d(2, 2, 3)
        self.flatten, self.dense = nn.Flatten(), nn.Dense(2 * 64, 3)

    def construct(self, x):
        return self.dense(self.flatten(ops.relu(self.conv2(ops.relu(self.conv1(x))))))


# a model as a notebook has it, which tells at once of what is set, also by the view itself
LIVE = """async ({module, payload}) => {
    const {default: {render}} = await import(URL.createObjectURL(new Blob([module], {type: 'text/javascript'})));
    const heard = [], held = {payload: Uint8Array.from(atob(payload), c => c.charCodeAt(0)), selected: -1, height: 600};
    const tell = name => { for (const [what, act] of heard) if (what === `change:${name}`) act(); };
    window.model = {
        get: name => held[name], send: () => {}, save_changes: () => {}, on: (what, act) => heard.push([what, act]),
        off: () => {}, set: (name, value) => { held[name] = value; tell(name); } };
    const el = document.createElement('div');
    document.body.replaceChildren(el);
    render({model, el}); }"""
# selects everything in each stage, then chooses each other one
WALK = """() => {
    const which = document.querySelector('select.which'), faults = [];
    const choose = name => { which.value = name; which.dispatchEvent(new Event('change')); };
    let choices = 0;
    window.addEventListener('error', event => faults.push(event.message));
    const here = [...which.options].filter(o => !o.text.includes('…')), names = here.map(o => o.value);
    const ends = Object.fromEntries(names.map(n => [n, count(n)]));
    function count(name) {
        choose(name);
        return +document.querySelector('.msnb-graph').dataset.nodes;
    }
    for (const from of names)
        for (let id = 0; id < ends[from]; id++)
            for (const to of names) {
                if (from === to) continue;
                choose(from);
                model.set('selected', id);
                choose(to);
                choices++;
                if (document.querySelector('.msnb-graph .fault')) faults.push(`${from} ${id} ${to}`);
                const ids = document.querySelectorAll('.stage').length;
                if (ids !== 1 || model.get('selected') >= ends[to]) faults.push(`${from} ${id} ${to}: ${ids}`);
            }
    return [faults, choices]; }"""


@pytest.mark.parametrize("net", [Convolutions, Twice])
def test_another_stage_can_be_chosen_whatever_is_selected(window, tmp_path, net):
    x = Tensor(np.ones((2, 1, 8, 8) if net is Convolutions else (2, 4), np.float32))
    view = graph_package.view(net(), x, stages=("traced", "primitives", "StableHLO"))
    path = tmp_path / "empty.html"
    path.write_text("<!doctype html><title>a notebook</title><p>a cell</p>")
    page = window.show(path, "body", 1200, 800, False)
    payload = base64.b64encode(view.payload).decode()
    page.evaluate(LIVE, {"module": graph_module.read_text(encoding="utf-8"), "payload": payload})
    page.wait_for_selector(".msnb-graph[data-ready]")
    page.select_option("select.beside", "")
    faults, choices = page.evaluate(WALK)
    assert not faults and choices == 2 * sum(map(len, view.graphs.values()))
    assert not window.complaints()


@pytest.mark.parametrize("old, new", [(2, 3), (12, 14), (14, 12)])
def test_what_differs_is_on_screen_and_both_sides_are_folded_alike(show, old, new):
    graphs = [ir.read(programs.traced("forward", n), "Net", programs.inputs("forward", n)) for n in (old, new)]
    page = show(GraphView({"old": graphs[0], "new": graphs[1]}, is_difference=True))
    longer = page.locator(".stage").nth(int(new > old))
    sign = "+" if new > old else "−"
    assert longer.locator(f'.n text:has-text("{sign}")').first.is_visible()
    folds = [stage.locator('[data-act="all"]').count() for stage in page.locator(".stage").all()]
    assert folds[0] == folds[1]


class Stack(nn.Cell):
    def __init__(self, depth):
        super().__init__()
        block = [[nn.LayerNorm((4,)), nn.Dense(4, 4), nn.GELU(), nn.Dense(4, 4), nn.ReLU()] for _ in range(depth)]
        self.blocks = nn.CellList([nn.SequentialCell(layers) for layers in block])

    def construct(self, x):
        for block in self.blocks:
            x = x + block(x)
        return x


@pytest.mark.parametrize("old, new", [(2, 3), (3, 2)])
def test_two_networks_open_the_scopes_that_both_have_alike(show, old, new):
    x = Tensor(np.ones((2, 4), np.float32))
    page = show(msnb.diff(Stack(old), Stack(new), x), height=560)
    opened, closed = (
        [
            {label.split(",")[0] for label in stage.locator(boxes).evaluate_all("all => all.map(e => e.ariaLabel)")}
            for stage in page.locator(".stage").all()
        ]
        for boxes in (".open", ".n[aria-expanded=false]")
    )
    assert opened[0] & closed[1] == opened[1] & closed[0] == set()
    assert closed[0] and "blocks.2" in closed[int(new > old)], "this network is too small to say anything"


def test_without_a_selection_expand_shows_the_heads_of_the_lanes(show):
    page = show(make_view("step", 40))
    page.click("text=expand")
    page.wait_for_function("document.querySelector('.said').textContent === 'every scope is open'")
    frames(page)
    top, head = page.locator(".stage").bounding_box(), page.locator(".open").first.bounding_box()
    assert top["y"] <= head["y"] < top["y"] + 120


def test_a_selection_by_keyboard_comes_closer_where_all_of_a_large_graph_is_seen(show):
    page = show(make_view("step", 40))
    page.click("text=expand")
    page.wait_for_function("document.querySelector('.said').textContent === 'every scope is open'")
    page.click("text=fit")
    page.locator(".stage > svg").press("Enter")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    frames(page)
    assert page.locator(".n.sel, .open.sel").first.bounding_box()["height"] > 12


@pytest.mark.parametrize("width", [1200, 1100, 1000, 900])
def test_the_toolbar_is_one_row_and_what_is_searched_can_be_read(show, width):
    page = show(
        graph_package.view(Twice(), Tensor(np.ones((2, 4), np.float32)), stages=("traced", "primitives")), width
    )
    field = page.locator('input[type="search"]')
    field.fill("blocks.7")
    assert page.locator(".bar").bounding_box()["height"] < 45
    room = "e => e.clientWidth - parseFloat(getComputedStyle(e).paddingRight)"
    assert field.evaluate(room) > 90


@pytest.mark.parametrize("width", [700, 870, 900])
def test_the_lists_of_the_toolbar_are_wide_enough_to_be_read(show, width):
    page = show(
        graph_package.view(Twice(), Tensor(np.ones((2, 4), np.float32)), stages=("traced", "primitives")), width
    )
    widths = [one.bounding_box()["width"] for one in page.locator(".bar select:not(.copy)").all() if one.is_visible()]
    assert len(widths) == 4 and min(widths) > 75


def test_a_link_leads_to_its_box_in_a_page(browser, tmp_path):
    path = tmp_path / "net.html"
    graph_package.view(Twice(), Tensor(np.ones((2, 4), np.float32))).save(path)
    page = browser.new_page()
    page.set_default_timeout(60000)
    page.goto(f"{path.as_uri()}#second/BiasAdd")
    page.wait_for_selector(".n.sel")
    assert panel(page).startswith("BiasAdd") and "second" in panel(page)
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async t => { window.text = t; }}})"
    )
    page.locator(".panel [data-go]", has_text="second").first.click()
    page.get_by_role("button", name="copy link").click()
    page.wait_for_function("window.text")
    assert page.evaluate("text") == f"{path.as_uri()}#second"
    page.evaluate("location.hash = '#first/MatMul'")
    page.wait_for_function("document.querySelector('.panel h3').textContent === 'MatMul'")
    assert "first" in panel(page)
    page.evaluate("location.hash = '#third'")
    page.wait_for_function("/no third in this graph/.test(document.querySelector('.msnb-graph').innerText)")
    page.close()


SENT = """HloModule step, num_partitions=4

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

ENTRY %main (x: f32[64,64]) -> f32[64,64] {
  %x = f32[64,64]{1,0} parameter(0)
  %ag = f32[256,64]{1,0} all-gather(%x), replica_groups={{0,1,2,3}}, dimensions={0}
  %n = f32[256,64]{1,0} negate(%ag)
  %d = f32[64,64]{1,0} slice(%n), slice={[0:64], [0:64]}
  ROOT %ar = f32[64,64]{1,0} all-reduce(%d), replica_groups={{0,1},{2,3}}, to_apply=%add
}
"""
# of each line that has a colour of its own: its colour, what is behind it, its width
COLOURED = """() => [...document.querySelectorAll('path.e')].filter(one => one.style.stroke).map(one =>
    [one.style.stroke, getComputedStyle(one.closest('.msnb-graph')).getPropertyValue('--bg'), one.style.strokeWidth])"""


@pytest.mark.parametrize("dark", [False, True])
def test_what_is_sent_is_a_kind_and_colours_nodes_and_lines_by_bytes(show, dark):
    page = show(GraphView(ir.read_hlo(SENT, "step"), colour="sent"), dark=dark)
    assert "49.2 kB" in box(page, "all-gather").text_content()
    assert "bytes sent" in panel(page).lower() and "lines lead to and from what sends" in panel(page)
    lines = page.evaluate(COLOURED)
    assert len(lines) == 4  # into and out of both
    for colour, behind, _ in lines:
        ink, paper = (_lightness(_rgb(text)) for text in (colour, behind))
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) > 3  # as WCAG asks of what is no text
    assert len({width for *_, width in lines}) == 2  # who sees no colours sees how wide they are
    box(page, "all-reduce").click()
    assert "2 of 4" in panel(page) and "16.4 kB" in panel(page)
    page = show(GraphView(ir.read_hlo(SENT, "step")), dark=dark)
    assert "communication" in panel(page)  # by default operators are coloured by kind


def _rgb(text):
    if text.strip().startswith("#"):
        digits = text.strip()[1:]
        digits = digits if len(digits) == 6 else "".join(2 * d for d in digits)
        return [int(digits[i : i + 2], 16) for i in (0, 2, 4)]
    return [int(v) for v in re.findall(r"\d+", text)[:3]]


def _lightness(rgb):
    linear = [v / 3295 if v <= 10 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in rgb]
    return sum(share * v for share, v in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_a_graph_that_was_replaced_before_it_had_a_size_opens_as_one_that_is_shown_at_once(window):
    page = window.page
    page.goto("about:blank")
    page.set_viewport_size({"width": 1200, "height": 800})
    payloads = [base64.b64encode(make_view(layers=layers).payload).decode() for layers in (2, 3)]
    page.evaluate(
        """async ({source, payloads}) => {
            const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
            const {mount} = await import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
            document.body.innerHTML = '<div id="hidden" style="display: none"></div><div id="shown"></div>';
            const at = (id, payload) => mount(document.getElementById(id), bytes(payload), {height: 700});
            window.views = [at("hidden", payloads[0]), at("shown", payloads[1])];
            await Promise.all(views.map(one => one.app.ready));
            views[0].setPayload(bytes(payloads[1]));
        }""",
        {"source": graph_module.read_text(encoding="utf-8"), "payloads": payloads},
    )
    until(page, lambda: page.evaluate("views[0].app.panes[0]?.stage.total === views[1].app.panes[0].stage.total"))
    page.evaluate("document.getElementById('hidden').style.display = 'block'")
    until(page, lambda: page.evaluate("views[0].app.panes[0].w > 0"))
    opened, at_once = page.evaluate("views.map(one => one.app.panes[0].layout.open.reduce((a, b) => a + b, 0))")
    assert opened == at_once
    assert not window.complaints()


def test_a_scope_that_an_edit_adds_is_opened_and_one_that_the_reader_closed_stays_closed(window):
    page = window.page
    page.goto("about:blank")
    page.set_viewport_size({"width": 1200, "height": 800})

    class Net(nn.Cell):
        def __init__(self, has_activation, has_tail=False):
            super().__init__()
            self.dense = nn.Dense(3, 4)
            self.sigmoid = nn.Sigmoid() if has_activation else None
            self.tail = nn.SequentialCell(nn.Dense(4, 4), nn.ReLU()) if has_tail else None

        def construct(self, x):
            x = self.dense(x)
            x = x if self.sigmoid is None else self.sigmoid(x)
            return x if self.tail is None else self.tail(x)

    x = Tensor(np.ones((2, 3), np.float32))
    nets = [Net(False), Net(True), Net(True, True)]
    payloads = [base64.b64encode(msnb.view(net, x).payload).decode() for net in nets]
    page.evaluate(
        """async ({source, payloads}) => {
            const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
            const {mount} = await import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
            document.body.innerHTML = '<div id="graph"></div>';
            window.show = async n => { graph.setPayload(bytes(payloads[n])); };
            window.graph = mount(document.getElementById("graph"), bytes(payloads[0]), {height: 700});
            window.titles = () => graph.app.pane.scene.boxes.filter(b => !b.open).map(b => graph.app.stage.title(b.id));
            await graph.app.ready;
        }""",
        {"source": graph_module.read_text(encoding="utf-8"), "payloads": payloads},
    )
    page.evaluate("show(1)")
    until(page, lambda: "sigmoid" in page.evaluate("titles()"))
    page.evaluate(
        """() => {
            const {pane, stage} = graph.app, scope = stage.scopes.find(s => s.name.includes("dense"));
            if (pane.layout.isOpen(scope.id)) pane.toggle(scope.id);
        }"""
    )
    closed = page.evaluate("graph.app.stage.scopes.filter(s => !graph.app.pane.layout.open[s.i]).map(s => s.name)")
    page.evaluate("show(2)")
    until(page, lambda: page.evaluate("graph.app.stage.scopes.some(s => s.name.startsWith('tail'))"))
    assert page.evaluate(
        "graph.app.stage.scopes.some(s => s.name.startsWith('tail') && graph.app.pane.layout.open[s.i])"
    )
    still = page.evaluate("graph.app.stage.scopes.filter(s => !graph.app.pane.layout.open[s.i]).map(s => s.name)")
    assert closed
    assert set(closed) <= set(still)
    assert not window.complaints()
