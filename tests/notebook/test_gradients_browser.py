"""The gradient view in a real browser, with every request to the network blocked."""

import re

import numpy as np
import pytest
from browsing import Window, chromium, frames, picture, until

import msnb as ms
from msnb import Tensor, nn
from msnb.insight.gradients import GradientMonitor
from msnb.notebook.gradients import GradientView, inspect_gradients

browser = pytest.fixture(chromium, scope="module")
STEPS = 12


class Deep(nn.Cell):
    def __init__(self, depth=5):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(8, 8, weight_init="normal") for _ in range(depth)])
        self.act = nn.Sigmoid()
        self.head = nn.Dense(8, 3)

    def construct(self, x):
        for layer in self.layers:
            x = self.act(layer(x))
        return self.head(x)


def recorded(mode, level="all"):
    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    ms.set_seed(2)
    net, rng = Deep(), np.random.default_rng(0)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.5, 0.9)).set_train()
    with GradientMonitor(level, tensors=("layers.1.weight", "weight:layers.1.weight")) as monitor:
        for _ in range(STEPS):
            step(
                Tensor(rng.standard_normal((16, 8)).astype(np.float32)), Tensor(rng.integers(0, 3, 16).astype(np.int32))
            )
    ms.set_context(mode=before)
    return monitor.recording


def record_step(net):
    """Return the record of one step of `inspect_gradients`."""
    rng, before = np.random.default_rng(0), ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    x, y = rng.standard_normal((16, 8)).astype(np.float32), rng.integers(0, 3, 16).astype(np.int32)
    view = inspect_gradients(net, loss, (x, y))
    ms.set_context(mode=before)
    return view.recording


@pytest.fixture(scope="module")
def recording():
    return recorded(ms.GRAPH_MODE)


@pytest.fixture(scope="module")
def window(browser):
    return Window(browser)


@pytest.fixture
def show(window, tmp_path):
    """show(recording, width, height, dark) -> page; nothing may have been asked of the network or gone wrong."""
    path = tmp_path / "view.html"

    def show(recording, width=1200, height=760, dark=False):
        path.write_text(GradientView(recording).html(), encoding="utf-8")
        return window.show(path, ".msnb-grad[data-ready]", width, height, dark)

    yield show
    assert not window.complaints()


def cells(page, name):
    return page.locator(f'tr[data-row]:has(td[title^="{name} "]) td').all_inner_texts()


def shown_number(text):
    return float(text.replace("−", "-"))


def test_it_opens_with_the_findings_and_the_layers(show, recording):
    page = show(recording)
    assert "The gradients vanish toward the input" in page.inner_text(".findings")
    assert page.locator(".main .dot").count() == 6
    assert page.locator(".main svg text").all_text_contents()[-6:] == [*(f"layers.{i}" for i in range(5)), "head"]
    assert "each .weight" in page.inner_text(".main .controls")
    heights = [dot.bounding_box()["y"] for dot in page.locator(".main .dot").all()]
    assert heights == sorted(heights, reverse=True)  # ever smaller toward the input, on the left


def test_the_slider_goes_through_the_steps_with_the_keyboard(show, recording):
    page = show(recording)
    page.click("[data-tab=table]")
    root = page.locator(".msnb-grad")
    last = cells(page, "head.weight")
    page.press(".time input", "Home")
    assert root.get_attribute("data-step") == "1"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert root.get_attribute("data-step") == "3" and page.inner_text(".where").startswith("step 3")
    third = cells(page, "head.weight")
    assert third != last
    row = recording.row("head.weight", "parameter")
    for text, step in ((third, recording.steps[2]), (last, recording.steps[-1])):
        assert shown_number(text[2]) == pytest.approx(recording.values(row, step)[0], rel=0.06)
    assert page.evaluate("document.activeElement.type") == "range"
    page.keyboard.press("End")
    assert root.get_attribute("data-step") == str(STEPS) and cells(page, "head.weight") == last


def test_the_table_sorts_filters_and_shows_a_row_in_detail(show, recording):
    page = show(recording)
    page.click("[data-tab=table]")
    assert page.locator("tr[data-row]").count() == 12
    page.click("th [data-sort=norm]")
    norms = [shown_number(t) for t in page.locator("tr[data-row] td:nth-child(3)").all_inner_texts()]
    assert norms == sorted(norms, reverse=True)
    page.fill("[data-find]", "layers.2")
    assert page.locator("tr[data-row]").count() == 2
    page.locator("tr[data-row]").first.click()
    shown = page.inner_text(".side")
    assert "layers.2" in shown and "norm over the steps" in shown and "test_gradients_browser.py" in shown
    assert page.locator(".side .bars rect").count() > 3 and page.locator(".side canvas").count() == 1
    page.select_option("[data-pick=kind]", "output")
    page.fill("[data-find]", "Sigmoid")
    assert page.locator("tr[data-row]").count() == 5 and "saturated" in page.inner_text("thead")


def test_a_finding_shows_its_row_and_its_line(show, recording):
    page = show(recording)
    page.evaluate("addEventListener('msnb:reveal', e => { window.seen = e.detail; })")
    page.click(".findings [data-what=line]")
    assert page.evaluate("window.seen.file") == "test_gradients_browser.py"
    assert page.evaluate("window.seen.line") == Deep.construct.__code__.co_firstlineno + 2
    page.click(".findings [data-what=show]")
    assert "layers.0.weight" in page.inner_text(".side h3")


def test_the_graph_is_coloured_by_the_gradient_of_the_step(show, recording):
    page = show(recording, width=1400)
    page.click("[data-tab=graph]")
    page.wait_for_selector(".msnb-grad[data-graph] .msnb-graph[data-ready]")
    node = page.locator('.msnb-graph .n[aria-label^="MatMul,"]').first  # its gradient changes most

    def label():
        return node.text_content()

    before = label()
    page.press(".time input", "Home")
    until(page, lambda: label() != before)
    assert page.locator(".msnb-graph").count() == 1


def test_an_operator_chosen_in_the_graph_is_named_above_the_gradient_that_it_makes(show, recording):
    page = show(recording)
    page.click('[data-tab="graph"]')
    page.wait_for_selector(".msnb-graph[data-ready]")
    page.click(".msnb-graph >> text=expand")
    page.click(".msnb-graph >> text=fit")
    frames(page)
    page.locator('.n[aria-label^="gradSigmoid,"]').first.click()
    head = page.inner_text(".side")
    assert re.search(r"gradSigmoid of act \(\d.. call\) makes the gradient of\nlayers\.\d/BiasAdd\n", head)
    page.click('[data-tab="table"]')
    page.locator(".side [data-do=close]").click()
    page.locator("tbody [role=row], tbody tr").first.click()
    assert "makes the gradient of" not in page.inner_text(".side")


def test_the_keys_are_those_of_the_view_and_go_with_the_next_click(show, recording):
    page = show(recording)
    page.click("[data-do=keys]")
    keys = page.locator(".msnb-keys")
    assert "Layers, Table, Graph, Tensors" in keys.inner_text() and "step by step" in keys.inner_text()
    page.click('[data-tab="table"]')
    assert not keys.is_visible()
    page.click("[data-do=keys]")
    keys.wait_for()
    page.click("[data-do=keys]")
    assert not keys.is_visible()


def test_a_tensor_is_a_slice_an_image_a_histogram_and_a_difference(show, recording):
    page = show(recording)
    page.click("[data-tab=tensors]")
    values = recording.tensor("parameter:layers.1.weight")
    corner = page.locator(".tensors .grid td").first
    assert shown_number(corner.inner_text()) == pytest.approx(values[0, 0], rel=0.06)
    assert page.locator(".tensors canvas").bounding_box()["width"] > 100
    page.fill("[data-t=slice]", "2:5, -1")
    page.press("[data-t=slice]", "Enter")
    assert page.locator(".tensors .grid td").count() == 3
    assert shown_number(corner.inner_text()) == pytest.approx(values[2, -1], rel=0.06)
    page.fill("[data-t=slice]", "9")
    page.press("[data-t=slice]", "Enter")
    assert "out of range for axis 0" in page.inner_text(".main")
    page.fill("[data-t=slice]", "")
    page.press("[data-t=slice]", "Enter")
    page.check("[data-t=difference]")
    steps = recording.numbers
    change = values - recording.tensor("parameter:layers.1.weight", steps[-2])
    assert shown_number(corner.inner_text()) == pytest.approx(change[0, 0], rel=0.06)


def test_without_a_graph_the_page_says_why(show):
    page = show(recorded(ms.PYNATIVE_MODE, "parameters"))
    page.click("[data-tab=graph]")
    assert "In PYNATIVE mode operators run one by one" in page.inner_text(".main")
    page.click("[data-tab=table]")
    assert page.locator("tr[data-row]").count() == 12


@pytest.mark.parametrize("width, dark", ((480, False), (480, True), (1400, True)))
def test_it_fits_narrow_and_wide_windows_light_and_dark(show, recording, tmp_path, width, dark):
    page = show(recording, width=width, dark=dark)
    assert page.locator(".msnb-grad").get_attribute("data-theme") == ("dark" if dark else "light")
    for tab in ("layers", "table", "tensors"):
        page.click(f"[data-tab={tab}]")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        box = page.locator(".main").bounding_box()
        assert box["height"] > 150 and box["width"] <= width
    background, ink = (
        page.evaluate(f"getComputedStyle(document.querySelector('.msnb-grad')).{name}")
        for name in ("backgroundColor", "color")
    )
    assert (background == "rgb(22, 25, 29)") == dark and background != ink


def live(page, view):
    """Draw a view as a live notebook does; what the page sends to the kernel is in `window.sent`."""
    page.evaluate(
        """async ({code, values}) => {
        document.body.innerHTML = '<div id="live" style="width:900px"></div>';
        const heard = {}; window.saved = {}; window.sent = [];
        const state = {...Object.fromEntries(Object.entries(values).map(([k, v]) =>
            [k, new DataView(Uint8Array.from(v).buffer)])),
            module: new DataView(new ArrayBuffer(0)), height: 500, step: -1};
        const model = {get: k => state[k], set: (k, v) => { state[k] = v; window.saved[k] = v; }, save_changes() {},
            on: (n, f) => { heard[n] = f; }, off: n => { delete heard[n]; }, send: m => window.sent.push(m)};
        const made = await import(URL.createObjectURL(new Blob([code], {type: 'text/javascript'})));
        window.away = made.default.render({model, el: document.getElementById('live')}); window.heard = heard;
    }""",
        {
            "code": str(view.widget._esm),
            "values": {"payload": list(view.payload), "graph": list(view.graph_payload)},
        },
    )
    page.wait_for_selector("#live .msnb-grad[data-ready]")


def test_a_live_widget_draws_tells_the_step_and_goes_away(show, recording):
    page, view = show(recording), GradientView(recording)
    live(page, view)
    assert page.evaluate("saved.step") == STEPS
    page.press("#live .time input", "Home")
    assert page.evaluate("saved.step") == 1
    page.evaluate("away()")
    assert page.locator(".msnb-grad").count() == 0 and page.evaluate("Object.keys(heard).length") == 0
    view.close()


def test_a_live_view_fetches_any_tensor_of_the_last_step(show, recording):
    page, view = show(recording), GradientView(recording)
    live(page, view)
    page.click("[data-tab=table]")
    page.locator('tr[data-row]:has(td[title^="head.weight "])').click()
    page.click("[data-do=values]")
    assert "Asking the kernel for head.weight" in page.inner_text(".main")
    assert page.evaluate("sent") == [{"fetch": ["parameter", "head.weight"]}]
    answers = []
    view.widget.send = answers.append
    view._on_message(view.widget, page.evaluate("sent[0]"), [])
    page.evaluate("answer => heard['msg:custom'](answer)", answers[0])
    values = recording.tensor("parameter:head.weight")
    corner = page.locator(".tensors .grid td").first
    assert shown_number(corner.inner_text()) == pytest.approx(values[0, 0], rel=0.06)
    view._on_message(view.widget, {"fetch": ["parameter", "gone"]}, [])
    page.evaluate("answer => heard['msg:custom'](answer)", answers[1])
    assert "tensors=['parameter:gone']" in answers[1]["problem"]
    view.close()


def test_without_a_kernel_the_tensors_say_how_to_be_saved(show):
    page = show(record_step(Deep(1)))
    page.click("[data-tab=tensors]")
    assert "In a live notebook" in page.inner_text(".main") and "tensors=" in page.inner_text(".main")


def test_one_step_has_no_player_and_no_curve_over_the_steps(show):
    page = show(record_step(Deep(2)))
    assert not page.is_visible(".time input") and not page.is_visible("[data-do=play]")
    assert page.inner_text(".where").startswith("step 1")
    page.click("[data-tab=table]")
    assert "over the steps" not in page.inner_text("thead")


def test_where_there_are_nans_they_are_what_is_drawn(show):
    net = Deep(2)
    net.layers[0].weight.set_data(Tensor(np.full((8, 8), np.nan, np.float32)))
    page = show(record_step(net))
    assert page.locator("[data-pick=statistic]").input_value() == "nan"
    assert page.locator(".main .dot").count() == 3


def test_the_layers_are_one_tab_stop_with_arrows(show, recording):
    page = show(recording)
    assert page.locator(".main .dot[tabindex='0']").count() == 1
    page.focus(".main .dot[tabindex='0']")
    for key, layer in (("ArrowRight", "layers.1"), ("End", "head"), ("ArrowLeft", "layers.4"), ("Home", "layers.0")):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.ariaLabel").startswith(f"{layer}.weight: ")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.inner_text(".side h3") == "layers.1.weight"
    assert page.evaluate("document.activeElement.ariaLabel").startswith("layers.1.weight: ")
    assert page.locator(".main .dot[tabindex='0']").count() == 1


def test_the_tabs_are_one_tab_stop_and_the_chart_itself_is_none(show, recording):
    page = show(recording)
    tabs = page.locator('[role="tab"]').evaluate_all("all => all.map(one => one.tabIndex)")
    assert sorted(tabs) == [-1, -1, -1, 0]
    page.press('[role="tab"][tabindex="0"]', "ArrowRight")
    assert page.evaluate("document.activeElement.dataset.tab") == "table"
    page.keyboard.press("ArrowLeft")
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.tagName"))
    assert "circle" in reached and "svg" not in reached


def test_a_table_is_one_tab_stop_with_arrows_and_its_keys_are_listed(show, recording):
    page = show(recording)
    page.click("[data-tab=table]")
    assert page.locator("table.rows [tabindex='0']").count() == 1
    names, here = page.locator("tr[data-row] td:first-child").all_inner_texts(), "document.activeElement"
    page.focus("table.rows [tabindex='0']")
    for key, row in (("ArrowDown", 1), ("End", 11), ("ArrowUp", 10), ("PageUp", 0), ("PageDown", 10), ("Home", 0)):
        page.keyboard.press(key)
        assert page.evaluate(f"{here}.cells[0].innerText") == names[row]
    page.keyboard.press("Enter")
    assert names[0][2:] in page.inner_text(".side h3") and page.evaluate(f"{here}.cells[0].innerText") == names[0]
    page.keyboard.press("ArrowRight")
    assert page.evaluate(f"{here}.dataset.line").startswith("test_gradients_browser.py")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.evaluate(f"{here}.dataset.sort") == "norm"
    assert page.locator("th[aria-sort=descending]").count() == 1
    page.keyboard.press("?")
    assert "first row, last row" in page.inner_text(".keys")
    page.keyboard.press("Escape")
    assert not page.is_visible(".keys")
    assert page.locator("th:empty").count() == 0


def test_the_picture_of_the_documentation_is_written(show, recording, tmp_path):
    page = show(recording, width=1200, height=620)
    page.click("[data-tab=table]")
    page.locator("tr[data-row]").first.click()
    picture(page, "gradients", tmp_path)
    page = show(recording, width=1200, height=620)
    picture(page, "gradients-layers", tmp_path)
