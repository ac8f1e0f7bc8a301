"""Values of nodes on the page of a graph: in a live view, in a saved one, with hostile names."""

import base64
import json

import numpy as np
import pytest
from browsing import Window, chromium, frames, until

from msnb import Tensor, context, int32, nn, ops
from msnb.insight.debugger import select_nodes
from msnb.notebook.graph import timeline, view
from msnb.notebook.graph.value_data import check_labels, extremes, histogram, parse_slice, statistics, value_data
from msnb.notebook.graph.widget import MODULE

browser = pytest.fixture(chromium, scope="module")
X = np.random.default_rng(0).standard_normal((2, 3, 12, 12)).astype(np.float32)

# A view whose kernel is this test: `live.sent` has its messages, `live.hear` delivers an answer.
LIVE = """async ({source, state}) => {
    const bytes = text => new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
    state.payload = bytes(state.payload);
    const heard = {}, sent = [], live = window.live = {sent, state, set: (name, value) => model.set(name, value)};
    const model = {get: name => state[name], send: m => sent.push(m), save_changes() {},
        set: (name, value) => { state[name] = value; heard[`change:${name}`]?.forEach(act => act()); },
        on: (name, act) => { (heard[name] ??= []).push(act); }, off: () => {}};
    live.hear = (message, texts = []) => heard["msg:custom"].forEach(act => act(message, texts.map(bytes)));
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

    def __init__(self, page, graph_view):
        self.page, self.view = page, graph_view
        state = {**graph_view._build_widget_state(), "columns": {}, "selected": -1, "wanted": "", "stale": ""}
        state["payload"] = base64.b64encode(graph_view.payload).decode()
        page.evaluate(LIVE, {"source": MODULE.read_text(encoding="utf-8"), "state": state})
        page.wait_for_selector(".msnb-graph[data-ready]")

    def select(self, query):
        """Select the first node that the query matches; returns it."""
        node = select_nodes(self.view.graph, query)[0]
        search(self.page, query)
        return node

    def answer(self):
        """Answer the requests of the page; returns those for values."""
        requests = self.page.evaluate("live.sent.splice(0)")
        for request in requests:
            self.view._values.select_step(self.page.evaluate("live.state.step"))
            self.view._on_message(self, request, [])
        frames(self.page)
        return [request for request in requests if request["kind"] == "value"]

    def send(self, message, buffers=()):
        """Deliver a message of the view to the page, as its widget does."""
        texts = [base64.b64encode(data).decode() for data in buffers]
        self.page.evaluate("([message, texts]) => live.hear(message, texts)", [message, texts])


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
def graph_view():
    context.set_context(mode=context.GRAPH_MODE)
    yield view(Convolutional(), Tensor(X), values=True)
    context.set_context(mode=context.PYNATIVE_MODE)


def test_a_click_shows_maps_numbers_and_histogram_and_asks_once(page, graph_view):
    live = Live(page, graph_view)
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


PAUSED = {
    "status": "paused",
    "said": "",
    "ready": True,
    "where": "step 1, node 1 of 5 | forward | conv/Conv2D | net.ipynb cell 2, line 12: x = ops.relu(self.conv(x))",
    "node": 0,
    "round": None,
    "hits": [],
}


@pytest.mark.parametrize("width", [420, 600, 1100])
def test_the_graph_of_a_paused_step_keeps_its_height(page, graph_view, width):
    page.set_viewport_size({"width": width, "height": 1000})
    live = Live(page, graph_view)
    live.select("op:Conv2D")
    live.answer()
    page.evaluate("state => live.set('debug', state)", PAUSED)
    page.wait_for_selector(".stepper[data-status=paused]")
    assert "A cell that you run now begins after this cell" in page.locator(".stepper .status").get_attribute("title")
    frames(page)
    graph, panel = (page.locator(f".msnb-graph {part}").bounding_box()["height"] for part in (".stage", ".panel"))
    assert graph >= 240 and panel >= 150
    page.click("[data-do=panel]")
    frames(page)
    assert page.locator(".msnb-graph .stage").bounding_box()["height"] >= graph
    page.click("[data-do=panel]")


def test_a_channel_shows_the_examples_that_excite_it_and_one_of_them_is_selected(page, graph_view):
    live = Live(page, graph_view)
    live.select("op:ReLU")
    live.answer()
    page.click(".values .choice >> nth=0")
    live.answer()
    assert page.locator(".values .excited img").count() == 2
    chosen = int(page.get_attribute(".values .excited .choice >> nth=1", "data-sample"))
    page.click(".values .excited .choice >> nth=1")
    live.answer()
    assert page.input_value(".values .sample input") == str(chosen)
    names = page.locator(".values [data-channel] figcaption").all_inner_texts()
    page.click(".values [data-order=index]")
    live.answer()
    assert page.locator(".values [data-channel] figcaption").all_inner_texts() == sorted(names)


def test_another_run_is_asked_for_its_values(page, graph_view):
    live = Live(page, graph_view)
    live.select("op:Conv2D")
    live.answer()
    before = page.inner_text(".values")
    graph_view.run(Tensor(3 * X))
    page.evaluate("runs => live.set('runs', runs)", graph_view._get_state_of_all_values()["runs"])
    assert len(live.answer()) == 1 and page.inner_text(".values") != before
    graph_view.run(Tensor(X))


def test_a_slice_shows_other_numbers_and_a_wrong_one_says_why(page, graph_view):
    live = Live(page, graph_view)
    live.select("op:Conv2D")
    live.answer()
    page.click(".values summary")
    page.fill(".values .part", "1, 3, 2:4")
    page.press(".values .part", "Tab")
    live.answer()
    expected = graph_view.value("op:Conv2D").asnumpy()[1, 3, 2:4]
    cells = page.locator(".values .numbers tr").nth(1).locator("td").all_inner_texts()
    np.testing.assert_allclose([float(cell.replace("−", "-")) for cell in cells], expected[0], rtol=1e-2)
    page.fill(".values .part", "1, three")
    page.press(".values .part", "Tab")
    live.answer()
    assert "is written like" in page.inner_text(".values details .bad")


def test_a_value_is_saved_as_npy_and_its_pictures_as_png(page, graph_view, tmp_path):
    live = Live(page, graph_view)
    live.select("op:Conv2D")
    live.answer()
    with page.expect_download() as download:
        page.click(".values [data-save=npy]")
        live.answer()
    download.value.save_as(tmp_path / "value.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "value.npy"), graph_view.value("op:Conv2D").asnumpy())
    with page.expect_download() as download:
        page.click(".values [data-save=png]")
    download.value.save_as(tmp_path / "value.png")
    assert (tmp_path / "value.png").read_bytes().startswith(b"\x89PNG")


def test_the_pointer_shows_three_numbers_of_a_node(page, graph_view):
    live = Live(page, graph_view)
    live.select("op:ReLU")
    live.answer()
    box = page.locator("g.n").filter(has_text="ReLU").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    live.answer()
    page.mouse.move(box["x"] + box["width"] / 2 + 1, box["y"] + box["height"] / 2)
    frames(page)
    assert page.inner_text(".hovered").startswith("ReLU: mean |x| ")


def test_the_rounds_of_nested_loops_are_chosen_by_number(page):
    class Nested(nn.Cell):
        def construct(self, x, n):
            i = n * 0
            while i < n:
                j = i * 0
                while j < i:
                    x = ops.tanh(x * 2)
                    j = j + 1
                i = i + 1
            return x

    context.set_context(mode=context.GRAPH_MODE)
    looped = view(Nested(), Tensor(X[0, 0]), Tensor(3, int32), values=True)
    live = Live(page, looped)
    live.select("op:Tanh")
    live.answer()
    assert [page.input_value(f".values [data-loop='{i}']") for i in (0, 1)] == ["2", "1"]
    page.fill(".values [data-loop='0']", "1")
    page.press(".values [data-loop='0']", "Tab")
    live.answer()
    assert "'round' is 0 to 2 and 0 to 0, not (1, 1)" in page.inner_text(".values")


def test_tokens_stand_at_attention_and_the_pointer_shows_a_weight(page):
    class Attention(nn.Cell):
        def construct(self, x):
            return ops.Softmax()(ops.BatchMatMul(transpose_b=True)(x, x))

    context.set_context(mode=context.GRAPH_MODE)
    tokens = ["the", "<b>cat", "sat", "down"]
    attending = view(Attention(), Tensor(X[:, :, :4]), values=True, labels=tokens)
    live = Live(page, attending)
    live.select("op:Softmax")
    live.answer()
    assert page.locator(".attended .rows li").all_inner_texts() == tokens
    assert page.locator(".values [data-head]").count() == 3
    page.click(".values [data-head='2']")
    image = page.locator(".attended img")
    box = image.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.6)
    weight = attending.value("op:Softmax").asnumpy()[0, 2, 2, 1]
    text = page.inner_text(".values .pointed")
    assert text.startswith("sat → <b>cat: ") and float(text.split()[-2]) == pytest.approx(100 * weight, abs=0.06)


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
def test_a_saved_page_has_the_values_that_were_looked_at_and_statistics_of_the_others(
    window, graph_view, tmp_path, dark
):
    node = select_nodes(graph_view.graph, "op:Conv2D")[0]
    graph_view._on_message(graph_view.widget, {"kind": "value", "node": node.id}, [])
    graph_view.save(tmp_path / "view.html")
    page = window.show(tmp_path / "view.html", ".msnb-graph[data-ready]", 1100, 800, dark)
    for query, pictures in (("op:Conv2D", 4), ("op:ReduceMean", 0)):
        search(page, query)
        assert page.locator(".values .maps img").count() == pictures
        assert "max" in page.inner_text(".values")
    assert not window.complaints()


def test_a_preview_is_saved_without_a_click(window, graph_view, tmp_path):
    graph_view._values._previews.clear()
    graph_view.preview("op:Conv2D").save(tmp_path / "view.html")
    page = window.show(tmp_path / "view.html", ".msnb-graph[data-ready]", 1100, 800, False)
    search(page, "op:Conv2D")
    assert page.locator(".values .maps img").count() == 4 and not page.locator(".values [data-channel]").count()
    assert not window.complaints()
    graph_view._values._previews.clear()


def test_texts_of_a_saved_value_are_no_html(window, graph_view, tmp_path):
    hostile = '<img src=x onerror="window.hit=1">'
    node = select_nodes(graph_view.graph, "op:Conv2D")[0]
    entry = value_data(hostile, X, 0)
    entry["pictures"]["images"][0] = f'"{hostile}'
    entry["pictures"]["names"][0] = entry["pictures"]["top"] = hostile
    entry["stats"].append([hostile, hostile])
    entry["table"]["cells"][0][0] = hostile
    graph_view._values._previews[node.id, 0] = [entry]
    graph_view._payload = graph_view._saved = None
    graph_view.save(tmp_path / "view.html")
    page = window.show(tmp_path / "view.html", ".msnb-graph[data-ready]", 1100, 800, False)
    search(page, "op:Conv2D")
    assert page.locator(".values").count() == 1 and not page.evaluate("!!window.hit")
    window.complaints()
    graph_view._values._previews.clear()


def test_a_switch_saves_no_values(graph_view):
    graph_view.run(saves=False)
    node = select_nodes(graph_view.graph, "op:Conv2D")[0]
    graph_view._values.answer({"node": node.id})
    assert graph_view._values.saved() == {}
    graph_view.run()


# ---------------------------------------------------------------------- data
def test_statistics_and_histogram_equal_numpy():
    values = np.array([0, 1.5, -2, 1e-40, np.nan, np.inf], np.float64)
    rows = dict(statistics(values))
    assert rows["max"] == "1.5" and rows["min"] == "-2" and rows["zeros"] == rows["subnormal"] == "16.7 %"
    assert rows["NaN"] == rows["Inf"] == "16.7 % (left out above)"
    assert statistics(np.array([np.nan])) == [["NaN", "100 %"]]
    wide = X.astype(np.float64).ravel()
    np.testing.assert_array_equal(histogram(wide)["counts"], np.histogram(wide, 32)[0])


def test_attention_is_shown_by_head_with_tokens():
    weights = np.exp(np.random.default_rng(0).standard_normal((2, 3, 5, 5)))
    weights /= weights.sum(-1, keepdims=True)
    data = value_data("output", weights.astype(np.float32), 1, list("abcde"), "Softmax")
    assert data["pictures"]["kind"] == "attention" and data["pictures"]["names"] == ["head 0", "head 1", "head 2"]
    assert data["pictures"]["tokens"] == [list("abcde"), list("abcde")]
    np.testing.assert_allclose(data["pictures"]["weights"], 100 * weights[1], atol=0.06)
    queries = [list("vwxyz"), list("VWXYZ")]  # per example
    data = value_data("output", weights.astype(np.float32), 1, (queries, list("abcde")), "Softmax")
    assert data["pictures"]["tokens"] == [list("VWXYZ"), list("abcde")]


def test_weights_of_flash_attention_are_drawn_by_head():
    class Attention(nn.Cell):
        def construct(self, x):
            return ops.flash_attention_score(x, x, x, 2, scalar_value=0.5, sparse_mode=2)

    attending = view(Attention(), Tensor(X[:, 0, :5, :8]), values=True)
    node = select_nodes(attending.graph, "op:Softmax")[0]
    pictures = next(entry["pictures"] for entry in attending._values.answer({"node": node.id})["values"])
    assert pictures["kind"] == "attention" and pictures["names"] == ["head 0", "head 1"]
    weights = np.array(pictures["weights"])
    np.testing.assert_allclose(weights.sum(-1), 100, atol=0.5)
    assert np.triu(weights, 1).max() == 0 < weights[:, 1:, 0].min()


@pytest.mark.filterwarnings("error")
def test_maps_near_the_largest_float32_are_ranked_by_energy():
    maps = np.full((4, 8, 8), np.finfo(np.float32).min, np.float32)
    maps[:2] = 0
    maps[2] /= 2
    assert value_data("output", maps, None)["pictures"]["channels"] == [3, 2, 0, 1]


@pytest.mark.parametrize("labels", ["abc", [1, 2], (["a"], 3), [["a"], "b"], []])
def test_labels_of_another_form_are_refused(labels):
    if labels == []:
        return check_labels(labels)
    with pytest.raises(TypeError, match="'labels' should be a list of tokens"):
        check_labels(labels)


def test_a_slice_of_a_table_is_that_of_numpy():
    values = np.arange(120, dtype=np.float32).reshape(2, 3, 4, 5)
    for text, index in (
        ("1, :, 2", np.s_[1, :, 2]),
        ("..., 0", np.s_[..., 0]),
        ("[0,0,1:3, ::-2]", np.s_[0, 0, 1:3, ::-2]),
    ):
        np.testing.assert_array_equal(values[parse_slice(text, values.shape)], values[index])
    assert value_data("output", values, part="1, 2")["table"]["cells"][3][4] == "119"
    assert "is written like" in value_data("output", values, part="import os")["table"]["problem"]
    assert "has 4 axes" in value_data("output", values, part="0,0,0,0,0")["table"]["problem"]
    assert "out of bounds" in value_data("output", values, part="9")["table"]["problem"]


def test_filters_of_three_input_channels_are_in_colour():
    pictures = value_data("conv.weight", np.ones((5, 3, 3, 3), np.float32), None)["pictures"]
    assert pictures["kind"] == "filters" and len(pictures["images"]) == 5


def test_examples_that_excite_a_channel_are_ranked_by_its_mean():
    values = np.zeros((10, 2, 4, 4), np.float32)
    values[:, 1] = np.arange(10)[::-1, None, None]
    ranked = extremes(values, 1, None)
    assert [(e["sample"], e["most"]) for e in ranked[:2]] == [(0, True), (1, True)]
    assert [(e["sample"], e["most"]) for e in ranked[-2:]] == [(8, False), (7, False)] or ranked[4]["sample"] == 9
    assert ranked[0]["value"] == "9" and all(e["image"] for e in ranked)


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
