"""The graph view in a real browser, with every request to the network blocked."""
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from browsing import chromium, patience

from msnb import ir
from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType
from msnb.notebook.graph import GraphView

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "ir"))
import ir_programs as programs

COPY = """async form => { let text = null;
    const writeText = async t => { text = t; };
    Object.defineProperty(navigator, 'clipboard', {value: {writeText}, configurable: true});
    const box = document.querySelector('select.copy');
    box.value = form; box.dispatchEvent(new Event('change'));
    await new Promise(r => setTimeout(r, 50)); return text; }"""
browser = pytest.fixture(chromium, scope="module")


@pytest.fixture
def show(browser, tmp_path):
    """show(view, width, height, dark) -> page; at the end nothing may have been asked of the network or gone wrong."""
    pages, asked, faults = [], [], []

    def show(view, width=1200, height=800, dark=False):
        path = tmp_path / f"view{len(pages)}.html"
        path.write_text(view.html(), encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light")
        page.route("http*://**", lambda route: (asked.append(route.request.url), route.abort()))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.add_init_script("window.tasks=[];new PerformanceObserver(l=>{for(const e of l.getEntries())"
                             "tasks.push(Math.round(e.duration))}).observe({entryTypes:['longtask']});"
                             "new MutationObserver((_, o) => { if (document.querySelector('.msnb-graph[data-ready]'))"
                             "{ window.readyAt = performance.now(); o.disconnect(); } }).observe(document,"
                             "{subtree: true, childList: true, attributes: true})")
        page.goto(path.as_uri())
        page.wait_for_selector(".msnb-graph[data-ready]", timeout=20000)
        page.wait_for_timeout(60)
        pages.append(page)
        return page

    yield show
    for page in pages:
        page.close()
    assert not asked and not faults


def view(kind="step", layers=3, **settings):
    return GraphView(ir.read(programs.traced(kind, layers), "Net", programs.inputs(kind, layers)), **settings)


def box(page, text, number=0):
    return page.locator(f'.n[aria-label^="{text},"]').nth(number)


def panel(page):
    return page.inner_text(".panel")


def top_of(page, text):
    return box(page, text).bounding_box()["y"]


def test_a_click_on_a_node_shows_what_it_is_and_where_it_comes_from(show):
    page = show(view("forward"))
    box(page, "MatMul").click()
    shown = panel(page)
    for expected in ("CNode %0, forward", "fc0-Dense", "fc0.weight", "Float32[4, 4]", "ir_programs.py, line",
                     "return matmul(x, w)", "FLOPs", "%1 ReLU"):
        assert expected in shown


def test_scopes_close_and_open(show):
    page = show(view("forward"))
    before = page.locator(".n").count()
    page.locator('.open[aria-label^="fc1-Dense"]').click(position={"x": 20, "y": 8})
    page.wait_for_selector('.n[aria-label^="fc1-Dense"]')
    assert "fc1-Dense" in panel(page)
    box(page, "fc1-Dense").click()
    page.wait_for_selector('.open[aria-label^="fc1-Dense"]')
    assert page.locator(".n").count() == before


def test_collapse_and_expand_reach_every_scope(show):
    page = show(view("step", 12))
    page.click("text=expand")
    page.wait_for_function("document.querySelectorAll('.n[aria-expanded]').length === 0")
    page.click("text=collapse")
    page.wait_for_function("document.querySelectorAll('.open').length === 0")
    assert page.locator(".n").count() <= 6


def test_forward_and_backward_stand_on_one_row(show):
    page = show(view("step"))
    assert page.locator("text.lane").all_text_contents() == ["forward", "backward", "update"]
    for name in ("fc0-Dense", "fc1-Dense", "relu-ReLU (2)"):
        boxes = page.locator(f'.open[aria-label^="{name}"]')
        left, right = boxes.nth(0).bounding_box(), boxes.nth(1).bounding_box()
        assert abs(left["y"] - right["y"]) < 1 and right["x"] > left["x"] + left["width"]


def test_a_folded_block_shows_one_repeat_and_steps_through_all(show):
    page = show(view("forward", 30))
    shown = page.locator(".open .sub", has_text=" / 30")
    assert shown.text_content() == "1 / 30"
    page.locator('.btn[data-act="next"]').click()
    page.wait_for_timeout(60)
    assert shown.text_content() == "2 / 30" and page.locator('.open[aria-label^="fc1-Dense"]').count() == 1
    few = page.locator(".n").count()
    page.locator('.btn[data-act="all"]').click()
    page.wait_for_timeout(80)
    assert page.locator(".n").count() > few


def test_search_finds_selects_and_opens_what_hides_it(show):
    page = show(view("step", 12))
    page.click("text=collapse")
    page.wait_for_function("document.querySelectorAll('.open').length === 0")
    page.fill(".find input", "op:matmul scope:fc7")
    page.wait_for_timeout(160)
    assert page.inner_text(".hits") == "2"
    page.keyboard.press("Enter")
    page.wait_for_timeout(80)
    assert "MatMul" in panel(page) and "fc7-Dense" in panel(page)
    assert page.locator(".n.sel").count() == 1
    page.fill(".find input", "no such thing")
    page.wait_for_timeout(160)
    assert "nothing found" in page.inner_text(".results")
    page.keyboard.press("Escape")
    assert page.locator(".dim").count() == 0


def test_the_keyboard_reaches_everything(show):
    page = show(view("forward"))
    page.focus(".stage > svg")
    page.keyboard.press("Enter")
    assert page.locator(".sel").count() == 1
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.wait_for_timeout(40)
    name = page.locator(".sel").get_attribute("aria-label")
    assert name and page.inner_text(".said") in name + ", forward" or page.inner_text(".said")
    before = page.locator(".world").get_attribute("transform")
    page.keyboard.press("+")
    page.wait_for_timeout(40)
    assert page.locator(".world").get_attribute("transform") != before
    page.keyboard.press("0")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.type") == "search"
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert page.locator(".sel").count() == 0


def test_the_wheel_belongs_to_the_page_until_the_graph_is_clicked(show):
    page = show(view("forward"))
    before = page.locator(".world").get_attribute("transform")
    page.mouse.move(300, 400)
    page.mouse.wheel(0, 200)
    page.wait_for_timeout(60)
    assert page.locator(".world").get_attribute("transform") == before
    page.mouse.click(20, 700)
    page.mouse.wheel(0, 200)
    page.wait_for_timeout(60)
    assert page.locator(".world").get_attribute("transform") != before


def test_dragging_pans_and_selects_nothing(show):
    page = show(view("forward"))
    before = box(page, "MatMul").bounding_box()
    page.mouse.move(before["x"] + 5, before["y"] + 5)
    page.mouse.down()
    page.mouse.move(before["x"] + 65, before["y"] + 45, steps=4)
    page.mouse.up()
    page.wait_for_timeout(60)
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


def test_dark_theme_and_narrow_window(show):
    page = show(view("step"), width=420, height=700, dark=True)
    assert page.get_attribute(".msnb-graph", "data-theme") == "dark"
    assert "narrow" in page.get_attribute(".msnb-graph", "class")
    graph, details = page.locator(".stage").bounding_box(), page.locator(".panel").bounding_box()
    assert details["y"] >= graph["y"] + graph["height"] - 1 and graph["height"] > 150
    page.emulate_media(color_scheme="light")
    page.wait_for_selector('.msnb-graph[data-theme="light"]')


def test_two_networks_are_compared_side_by_side(show):
    old = ir.read(programs.traced("forward", 3), "Net", programs.inputs("forward", 3))
    new = ir.read(programs.traced("forward", 4), "Net", programs.inputs("forward", 4))
    page = show(GraphView({"old": old, "new": new}), width=1400)
    assert page.locator(".stage").count() == 2 and page.locator(".heading").all_inner_texts() == ["old", "new"]
    assert page.locator('.stage >> nth=1 >> .n text', has_text="+ MatMul").count() == 1
    page.locator('.stage >> nth=0 >> .n[aria-label^="MatMul"] >> nth=1').click()
    page.wait_for_timeout(60)
    assert page.locator(".stage >> nth=1 >> .mate").count() == 1 and "new: matched" in panel(page).lower()


def test_the_source_selects_nodes_and_nodes_select_the_source(show):
    page = show(view("forward"), width=1400)
    page.click("[data-do=code]")
    page.wait_for_selector(".code tr[data-line]")
    box(page, "ReLU").click()
    assert "x = relu(x)" in page.inner_text(".code .here")
    page.locator(".code tr[data-line]", has_text="return matmul(x, w)").click()
    page.wait_for_timeout(60)
    assert page.locator(".n.hit").count() == 3


def test_the_text_copied_from_the_view_is_the_text_that_python_prints(show):
    for kind in ("forward", "step"):
        made = view(kind)
        page = show(made)
        assert page.evaluate(COPY, "text") == made.text()


def test_a_picture_can_be_copied(show):
    page = show(view("step"))
    assert ElementTree.fromstring(page.evaluate(COPY, "svg")).tag.endswith("svg")


def synthetic(blocks, per_block=50):
    """A graph of `blocks` blocks, all of them different so that nothing is folded away."""
    kind = (TensorType("Float32", (8, 8), 4),)
    x = ParameterNode("x", kind)
    nodes, last = [], x
    for block in range(blocks):
        for place in range(per_block):
            other = nodes[-(block % 5 + 2)] if len(nodes) > 8 else x
            node = CNode(("MatMul", "Add", "ReLU", "Mul")[(place * place + block) % 4], (last, other), (0, 0), kind,
                         scope=f"Default/net-Net/stage{block // 20}-Stage/block{block}-Block", id=len(nodes),
                         source=("net.py", place, "construct"), flops=place * 1000 + block, nbytes=256)
            nodes.append(node)
            last = node
    return FuncGraph("Synthetic", [x], nodes, [(last, 0)])


def test_five_thousand_nodes_appear_within_a_second_and_never_block(show):
    made = GraphView(synthetic(100))
    made.payload
    page = show(made)
    assert page.evaluate("readyAt") < 1000 * patience()
    page.click("text=fit")
    page.wait_for_timeout(100)
    opened = page.evaluate("""() => new Promise(done => {
        const group = document.querySelector('.n[aria-expanded]'), at = group.getBoundingClientRect();
        const t = performance.now();
        const where = {bubbles: true, clientX: at.x + at.width / 2, clientY: at.y + at.height / 2, pointerId: 1};
        for (const type of ['pointerdown', 'pointerup']) group.dispatchEvent(new PointerEvent(type, where));
        group.dispatchEvent(new MouseEvent('click', where));
        requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - t))); })""")
    assert opened < 100 * patience()
    page.evaluate("tasks.length = 0")
    page.click("text=expand")
    page.wait_for_function("document.querySelector('.busy').textContent === ''")
    page.click("text=fit")
    page.wait_for_timeout(400)
    assert page.get_attribute(".msnb-graph", "data-nodes") == "5000"
    assert max(page.evaluate("tasks"), default=0) < 200 * patience()


def test_fifty_thousand_nodes_open_without_freezing(show):
    page = show(GraphView(synthetic(1000)))
    assert page.get_attribute(".msnb-graph", "data-nodes") == "50000"
    assert max(page.evaluate("tasks"), default=0) < 700 * patience()
    page.fill(".find input", "op:MatMul")
    page.wait_for_timeout(300)
    assert int(page.inner_text(".hits")) > 5000


def test_an_empty_graph_is_shown(show):
    page = show(GraphView(FuncGraph("Empty", [], [], [])))
    assert "Empty" in panel(page)


def test_names_that_look_like_markup_are_shown_as_they_are(show):
    kind = (TensorType("Float32", (2,), 4),)
    x = ParameterNode("<img src=x onerror=alert(1)>", kind)
    node = CNode("</script><b>Op</b>", (x,), (0,), kind, scope='Default/"quoted" & <i>-Cell', attrs={"a": "</script>"},
                 source=("<file>.py", 3, "<lambda>"))
    page = show(GraphView(FuncGraph("</script><h1>", [x], [node], [(node, 0)])))
    page.locator(".n").first.click()
    assert "</script><b>Op</b>" in panel(page) and page.locator("b, h1, img").count() == 0


def test_the_cursor_in_a_cell_lights_up_its_nodes_and_a_node_tells_its_line(show):
    page = show(view("forward"))
    page.evaluate("window.addEventListener('msnb:reveal', e => { window.told = e.detail; })")
    box(page, "MatMul").click()
    told = page.evaluate("window.told")
    assert told["file"] == "ir_programs.py" and told["line"] > 0
    page.evaluate("line => window.dispatchEvent(new CustomEvent('msnb:cursor',"
                  "{detail: {file: 'ir_programs.py', line}}))", told["line"])
    page.wait_for_timeout(60)
    assert page.locator(".n.hit").count() == 3
    page.evaluate("window.dispatchEvent(new CustomEvent('msnb:cursor', {detail: {file: 'ir_programs.py', line: 1}}))")
    page.wait_for_timeout(60)
    assert page.locator(".n.hit, .n.dim").count() == 0


def test_a_large_graph_is_saved_without_its_repeats_and_still_counts_them(show, monkeypatch):
    large = view("step", 1010)
    assert len(large.graph) > 5000 and len(large.saved_payload) < len(large.payload) / 4
    monkeypatch.setattr(type(large), "html", lambda self: sys.modules[type(self).__module__]._page(
        self.saved_payload, self.graph.name))
    page = show(large)
    assert page.get_attribute(".msnb-graph", "data-nodes") == str(len(large.graph))
    assert int(page.get_attribute(".msnb-graph", "data-drawn")) < 100
    assert "left out of this saved copy" in panel(page)
    assert page.locator("text.sub", has_text="× 1010").count() >= 1


def test_a_png_can_be_saved(show, tmp_path):
    page = show(view("forward"))
    with page.expect_download() as waiting:
        page.select_option("select.copy", "png")
    path = tmp_path / "net.png"
    waiting.value.save_as(path)
    assert path.read_bytes()[:4] == b"\x89PNG" and waiting.value.suggested_filename == "Net.png"
