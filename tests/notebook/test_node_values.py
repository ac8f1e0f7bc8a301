"""Values of nodes on the page of a graph: in a live view, in a saved one, with hostile names."""

import base64
import json

import numpy as np
import pytest
from browsing import Window, chromium, frames, until

from msnb import Tensor, context, nn, ops
from msnb.insight.debugger import select_nodes
from msnb.notebook.graph import timeline, view
from msnb.notebook.graph.value_data import histogram, statistics, value_data
from msnb.notebook.graph.widget import MODULE

browser = pytest.fixture(chromium, scope="module")
X = np.random.default_rng(0).standard_normal((2, 3, 12, 12)).astype(np.float32)

# A view whose kernel is this test: `live.sent` has its messages, `live.hear` delivers an answer.
LIVE = """async ({source, state}) => {
    const bytes = text => new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
    state.payload = bytes(state.payload);
    const heard = {}, sent = [], live = window.live = {sent, state};
    const model = {get: name => state[name], send: m => sent.push(m), save_changes() {},
        set: (name, value) => { state[name] = value; heard[`change:${name}`]?.forEach(act => act()); },
        on: (name, act) => { (heard[name] ??= []).push(act); }, off: () => {}};
    live.hear = message => heard["msg:custom"].forEach(act => act(message, []));
    const {default: widget} = await import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
    document.body.innerHTML = '<div id="here"></div>';
    await widget.render({model, el: document.getElementById("here")});
}"""


def search(page, query):
    """Select the first node that a search finds."""
    page.fill(".find input", query)
    page.press(".find input", "Enter")
    until(page, lambda: page.inner_text(".panel h3") == query.removeprefix("op:"))
    frames(page)


class Live:
    """A live view of a graph on a page."""

    def __init__(self, page, shown):
        self.page, self.view = page, shown
        state = {**shown._initial_state(), "columns": {}, "selected": -1, "wanted": "", "stale": ""}
        state["payload"] = base64.b64encode(shown.payload).decode()
        page.evaluate(LIVE, {"source": MODULE.read_text(encoding="utf-8"), "state": state})
        page.wait_for_selector(".msnb-graph[data-ready]")

    def select(self, query):
        """Select the first node that the query matches; returns it."""
        node = select_nodes(self.view.graph, query)[0]
        search(self.page, query)
        return node

    def answer(self):
        """Answer the requests of the page; returns them."""
        requests = [m for m in self.page.evaluate("live.sent.splice(0)") if m["kind"] == "value"]
        for request in requests:
            self.view._values.select_step(self.page.evaluate("live.state.step"))
            self.page.evaluate("live.hear", self.view._values.answer(request))
        frames(self.page)
        return requests


@pytest.fixture(scope="module")
def window(browser):
    return Window(browser)


@pytest.fixture
def page(window):
    window.page.goto("about:blank")
    window.page.set_viewport_size({"width": 1100, "height": 800})
    yield window.page
    assert not window.complaints()


class Convolutional(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.dense = nn.Dense(4, 2)

    def construct(self, x):
        return self.dense(ops.relu(self.conv(x)).mean((2, 3)))


@pytest.fixture(scope="module")
def shown():
    context.set_context(mode=context.GRAPH_MODE)
    yield view(Convolutional(), Tensor(X), values=True)
    context.set_context(mode=context.PYNATIVE_MODE)


def test_a_click_shows_maps_numbers_and_histogram_and_asks_once(page, shown):
    live = Live(page, shown)
    live.select("op:Conv2D")
    assert page.inner_text(".values") == "VALUES\ncomputing…" or "computing" in page.inner_text(".values")
    (request,) = live.answer()
    assert request["sample"] == 0
    assert page.locator(".values .maps img").count() == 4
    assert page.evaluate("[...document.querySelectorAll('.maps img')].every(image => image.naturalWidth > 0)")
    assert "Float32[2, 4, 12, 12]" in page.inner_text(".values")
    page.fill(".values .sample input", "1")
    page.press(".values .sample input", "Tab")
    assert [request["sample"] for request in live.answer()] == [1]
    page.click(".values .tab >> text=conv.weight")
    assert "Float32[4, 3, 3, 3]" in page.inner_text(".values") and not live.answer()
    live.select("op:ReLU")
    live.answer()
    live.select("op:Conv2D")
    assert not live.answer()


def test_a_slider_selects_the_step_of_a_timeline(page):
    context.set_context(mode=context.GRAPH_MODE)
    net = Convolutional()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)).set_train()
    with timeline(net) as recorded:
        for _ in range(4):
            step(Tensor(X), Tensor(np.ones((2, 2), np.float32)))
    live = Live(page, recorded.view())
    live.select("op:Conv2D")
    live.answer()
    assert page.inner_text(".steps output") == "4 of 1 to 4"
    last = page.inner_text(".values")
    page.locator(".steps input").fill("0")
    live.answer()
    assert page.inner_text(".steps output") == "1 of 1 to 4" and page.inner_text(".values") != last


@pytest.mark.parametrize("dark", [False, True])
def test_a_saved_page_has_the_values_that_were_looked_at_and_statistics_of_the_others(window, shown, tmp_path, dark):
    node = select_nodes(shown.graph, "op:Conv2D")[0]
    shown._on_message(shown.widget, {"kind": "value", "node": node.id}, [])
    shown.save(tmp_path / "view.html")
    page = window.show(tmp_path / "view.html", ".msnb-graph[data-ready]", 1100, 800, dark)
    for query, pictures in (("op:Conv2D", 4), ("op:ReduceMean", 0)):
        search(page, query)
        assert page.locator(".values .maps img").count() == pictures
        assert "max" in page.inner_text(".values")
    assert not window.complaints()


def test_texts_of_a_saved_value_are_no_html(window, shown, tmp_path):
    hostile = '<img src=x onerror="window.hit=1">'
    node = select_nodes(shown.graph, "op:Conv2D")[0]
    entry = value_data(hostile, X, 0)
    entry["pictures"]["images"][0] = f'"{hostile}'
    entry["pictures"]["names"][0] = entry["pictures"]["top"] = hostile
    entry["stats"].append([hostile, hostile])
    entry["table"]["cells"][0][0] = hostile
    shown._values._previews[node.id, 0] = [entry]
    shown._payload = shown._saved = None
    shown.save(tmp_path / "view.html")
    page = window.show(tmp_path / "view.html", ".msnb-graph[data-ready]", 1100, 800, False)
    search(page, "op:Conv2D")
    assert page.locator(".values").count() == 1 and not page.evaluate("!!window.hit")
    window.complaints()
    shown._values._previews.clear()


def test_a_switch_saves_no_values(shown):
    shown.run(saves=False)
    node = select_nodes(shown.graph, "op:Conv2D")[0]
    shown._values.answer({"node": node.id})
    assert shown._values.saved() == {}
    shown.run()


# ---------------------------------------------------------------------- data
def test_statistics_and_histogram_equal_numpy():
    values = np.array([0, 1.5, -2, 1e-40, np.nan, np.inf], np.float64)
    rows = dict(statistics(values))
    assert rows["max"] == "1.5" and rows["min"] == "-2" and rows["zeros"] == "16.7 %" and rows["NaN"] == "16.7 %"
    assert rows["subnormal"] == "16.7 %" and rows["Inf"] == "16.7 %"
    wide = X.astype(np.float64).ravel()
    np.testing.assert_array_equal(histogram(wide)["counts"], np.histogram(wide, 32)[0])


def test_attention_is_shown_by_head_with_tokens():
    weights = np.exp(np.random.default_rng(0).standard_normal((2, 3, 5, 5)))
    weights /= weights.sum(-1, keepdims=True)
    data = value_data("output", weights.astype(np.float32), 1, list("abcde"), "Softmax")
    assert data["pictures"]["kind"] == "attention" and data["pictures"]["names"] == ["head 0", "head 1", "head 2"]
    assert data["pictures"]["tokens"] == list("abcde")


@pytest.mark.parametrize(
    "array",
    [
        np.float32(3),
        np.zeros((0, 3)),
        np.ones(5),
        np.ones((2, 3), bool),
        np.ones((3, 3), complex),
        np.full((2, 2), np.nan),
    ],
)
def test_any_value_is_data_for_json(array):
    json.dumps(value_data("output", array), allow_nan=False)
