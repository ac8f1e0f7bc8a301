"""A changed value in a view: results before and after, and how far later values move."""

import numpy as np
import pytest
from browsing import Window, chromium, frames
from test_node_values import Live

import msnb
from msnb import Tensor, nn, ops
from msnb.insight.debugger import select_nodes
from msnb.interventions import scale
from msnb.notebook.graph import view

browser = pytest.fixture(chromium, scope="module")
X = np.random.default_rng(0).standard_normal((2, 3, 12, 12)).astype(np.float32)


class Convolutional(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.dense = nn.Conv2d(3, 4, 3), nn.Dense(4, 2)

    def construct(self, x):
        return self.dense(ops.relu(self.conv(x)).mean((2, 3)))


@pytest.fixture(scope="module")
def net():
    return Convolutional()


@pytest.fixture
def graph_view(net):
    return view(net, Tensor(X), values=True)


class LiveEdits(Live):
    def hear(self):
        """Answer all requests; returns those to change a value."""
        requests = self.page.evaluate("live.sent.slice()")
        self.answer()
        return [request for request in requests if request["kind"] == "change"]

    def answer_edits(self):
        """Answer the requests to change a value; returns them."""
        requests = [m for m in self.page.evaluate("live.sent.splice(0)") if m["kind"] == "change"]
        for request in requests:
            self.page.evaluate("live.hear", self.view._answer_edit_request(request))
        frames(self.page)
        return requests


def test_a_change_in_the_view_equals_an_intervention(net, graph_view):
    node = select_nodes(graph_view.graph, "op:ReLU")[0]
    outcome = graph_view.change("op:ReLU", 2.5, channel=1)
    np.testing.assert_allclose(outcome.before[0], net(Tensor(X)).asnumpy(), rtol=1e-5, atol=1e-7)
    expected = msnb.intervene(net, {"op:ReLU": scale(2.5, channel=1)})(Tensor(X)).asnumpy()
    np.testing.assert_allclose(outcome.after[0], expected, rtol=1e-5, atol=1e-7)
    value = graph_view.value("op:ReLU").asnumpy()
    moved = np.linalg.norm(1.5 * value[:, 1]) / np.linalg.norm(value)
    np.testing.assert_allclose(outcome.differences[node.id], moved, rtol=1e-4)
    column = graph_view.columns["change"]
    nodes = list(graph_view.graph.all_nodes())
    assert column["note"][nodes.index(node)] == "changed here: times 2.5 in channel 1"
    assert [v for v, n in zip(column["values"], nodes, strict=True) if n.id < node.id] == [0] * node.id
    assert column["values"][-1] > 0
    removed = graph_view.change(node).after[0]
    np.testing.assert_allclose(removed, np.zeros((2, 2)) + net.dense.bias.asnumpy(), atol=1e-6)
    graph_view.change(None)
    assert "change" not in graph_view.columns
    graph_view.change(node)
    graph_view.run(Tensor(X * 2))  # other values: the differences belonged to the earlier ones
    assert "change" not in graph_view.columns


def test_a_value_that_can_not_be_changed_is_named(graph_view):
    with pytest.raises(ValueError, match="has 4 channels, but 'channel' is 4"):
        graph_view.change("op:ReLU", channel=4)
    with pytest.raises(ValueError, match="No node of the graph matches"):
        graph_view.change("op:Relw")
    assert "no node 99" in graph_view._answer_edit_request({"node": 99, "factor": 0})["problem"]
    with pytest.raises(ValueError, match=r"call its run\(...\) first"):
        view(nn.ReLU(), Tensor(X)).change("op:ReLU")


def test_the_loss_of_a_training_step_follows_a_change_and_its_gradients_do_not():
    network = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))
    loss_net = nn.WithLossCell(network, nn.MSELoss())
    step = nn.TrainOneStepCell(loss_net, nn.Momentum(network.trainable_params(), 0.1, 0.9)).set_train()
    x, y = Tensor(X[0, :, 0, :3]), Tensor(np.ones((3, 2), np.float32))
    trained = view(step, x, y, values=True)
    node = select_nodes(trained.graph, "op:ReLU lane:forward")[0]
    outcome = trained.change(node, 2.5)
    with msnb.intervene(network, {"op:ReLU": scale(2.5)}):
        expected = loss_net(x, y).asnumpy()
    np.testing.assert_allclose(outcome.before[0], loss_net(x, y).asnumpy(), rtol=1e-5)
    np.testing.assert_allclose(outcome.after[0], expected, rtol=1e-5)
    assert not np.allclose(outcome.before[0], expected, rtol=1e-4)
    directions = {each.id: each.direction for each in trained.graph.all_nodes()}
    assert {directions[ident] for ident in outcome.differences} == {"forward"}
    answer = trained._answer_edit_request({"node": node.id, "factor": 0})
    assert "Gradients and updates do not follow" in answer["note"] and len(answer["results"]) == 1
    for other in {each.direction: each for each in trained.graph.all_nodes() if each.direction != "forward"}.values():
        with pytest.raises(ValueError, match="depends on a gradient, .* or use msnb.intervene on the network around"):
            trained.change(other)


def test_results_that_are_gradients_are_left_out():
    network = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU())
    gradient = ops.GradOperation(get_all=True)(network)
    shown = view(lambda x: (network(x), gradient(x)[0]), Tensor(X[0, :, 0, :3]), values=True)
    outcome = shown.change("op:ReLU lane:forward", 2.0)
    assert [result is None for result in outcome.after] == [False, True]
    np.testing.assert_allclose(outcome.after[0], 2 * np.asarray(outcome.before[0]), rtol=1e-6)


class Rounds(nn.Cell):
    def construct(self, x, n):
        i = Tensor(0, msnb.int32)
        while i < n:
            x = ops.tanh(x) + 1.0
            i = i + 1
        return ops.exp(x)


def test_a_value_in_a_loop_changes_in_each_round():
    net, inputs = Rounds(), (Tensor(X[0, 0]), Tensor(3, msnb.int32))
    shown = view(net, *inputs, values=True)
    outcome = shown.change("op:Tanh", 0.5)
    expected = msnb.intervene(net, {"op:Tanh": scale(0.5)})(*inputs).asnumpy()
    np.testing.assert_allclose(outcome.after[0], expected, rtol=1e-5)
    assert not np.allclose(outcome.before[0], expected)
    tanh, exp = (select_nodes(shown.graph, query)[0].id for query in ("op:Tanh", "op:Exp"))
    assert tanh not in outcome.differences and outcome.differences[exp] > 0
    with pytest.raises(ValueError, match="it is not a real number"):
        shown.change("op:Less")


def test_the_effects_of_patching_are_a_column_of_a_graph(net, capsys):
    result = msnb.patch(net, Tensor(X), Tensor(-X), lambda y: y[0, 0], nodes="op:ReLU")
    shown = result.view()
    column = shown.columns["effect"]
    assert shown.colour == "effect" and column["fold"] == "largest"
    relu = select_nodes(shown.graph, "op:ReLU")[0].id
    assert column["values"][relu] == pytest.approx(result.effects[relu]) and column["values"].count(None) > 0
    assert column["note"][relu] == "100.0% of the difference between the two inputs"
    result._ipython_display_()
    assert "Effect of each node on the metric" in capsys.readouterr().out


def select_on_page(browser, graph_view, query, dark):
    """Open a view on a page and select a node; return (window, view on the page, node)."""
    window = Window(browser)
    window.page.emulate_media(color_scheme="dark" if dark else "light")
    window.page.set_viewport_size({"width": 1100, "height": 800})
    live = LiveEdits(window.page, graph_view)
    node = live.select(query)
    live.answer()
    return window, live, node


@pytest.mark.parametrize("dark", [False, True])
def test_a_node_is_removed_and_restored_on_the_page(browser, graph_view, dark):
    window, live, node = select_on_page(browser, graph_view, "op:ReLU", dark)
    page = window.page
    page.click("[data-change=remove]")
    assert "computing" in page.inner_text(".change .outcome")
    page.locator(".change [name=factor]").fill("0.5")  # two moves of the slider before the first answer
    page.locator(".change [name=factor]").fill("2")
    (request,) = live.answer_edits()
    assert request["node"] == node.id and request["factor"] == 0
    (request,) = live.answer_edits()  # only the last move
    assert request["factor"] == 2 and not live.answer_edits()
    assert page.locator(".changed[data-id]").count() == 1
    text = page.inner_text(".change .outcome")
    assert "times 2" in text and "before" in text and graph_view.columns["change"]["values"][-1] > 0
    page.fill(".change [name=channel]", "7")
    live.answer_edits()
    assert "has 4 channels, but 'channel' is 7" in page.inner_text(".change .outcome")
    live.select("op:Conv2D")
    assert f"changed: node %{node.id}" in page.inner_text(".change .outcome")
    page.click("[data-change=undo]")
    (request,) = live.answer_edits()
    assert request["factor"] is None and "change" not in graph_view.columns
    assert page.locator(".changed[data-id]").count() == 0
    assert page.inner_text(".change .outcome") == "" and page.locator("[data-change=undo]").is_disabled()
    assert not window.complaints()


class Normalized(nn.Cell):
    def __init__(self, epsilon=1e-5, axis=-1):
        super().__init__()
        self.norm, self.softmax = nn.LayerNorm((12,), epsilon=epsilon), nn.Softmax(axis)

    def construct(self, x):
        return self.softmax(self.norm(x * 0.01))


@pytest.fixture
def normalized():
    return view(Normalized(), Tensor(X[:, 0]), values=True)


def test_another_attribute_equals_a_network_that_was_built_with_it(normalized):
    for attribute, other in ((("epsilon", 0.01), Normalized(0.01)), (("axis", 1), Normalized(axis=1))):
        query = "op:LayerNorm" if attribute[0] == "epsilon" else "op:Softmax"
        outcome = normalized.change(query, attribute=attribute)
        np.testing.assert_allclose(outcome.after[0], other(Tensor(X[:, 0])).asnumpy(), rtol=1e-5, atol=1e-6)
        moved = {node.op: outcome.differences[node.id] for node in normalized.graph.all_nodes()}
        assert moved["Softmax"] > 0 and (moved["LayerNorm"] > 0) == (attribute[0] == "epsilon")
        nodes = list(normalized.graph.all_nodes())
        note = normalized.columns["change"]["note"][nodes.index(select_nodes(normalized.graph, query)[0])]
        assert note == f"changed here: {attribute[0]} = {attribute[1]:g}"


def test_the_result_that_is_read_changes_where_an_operator_writes_parameters_first():
    net = nn.SequentialCell(nn.BatchNorm2d(3), nn.ReLU()).set_train()
    shown = view(net, Tensor(X), values=True)
    outcome = shown.change("op:FusedBatchNormEx", 0.0, shift=2.0)
    np.testing.assert_array_equal(outcome.after[0], np.full_like(X, 2))
    patched = msnb.patch(net, Tensor(X), Tensor(X * X), lambda y: y[0, 0, 0, 0], "op:FusedBatchNormEx")
    assert patched.table()[0]["share"] == pytest.approx(1, abs=1e-4)


def test_other_values_of_a_float_need_no_compilation(normalized):
    normalized.change("op:LayerNorm", attribute=("epsilon", 0.01))
    for value in (0.02, 0.03, 1):
        normalized.change("op:LayerNorm", attribute=("epsilon", value))
    (run,) = normalized._edits._what_if._form._attribute_runs.values()
    assert run._cache_size() == 1


@pytest.mark.parametrize(
    "query, attribute, message",
    [
        ("op:LayerNorm", ("eps", 0.1), "LayerNorm has no attribute 'eps'; the nearest is 'epsilon'"),
        ("op:LayerNorm", ("epsilon", "x"), "'epsilon' should be a number, but got str 'x'"),
        ("op:LayerNorm", "epsilon", "'attribute' should be a name and a number"),
        ("op:Softmax", ("axis", 7), r"'axis' should be in \[-3, 3\), but got 7"),
        ("op:Mul", ("axis", 1), "Mul has no attribute 'axis'; it has none"),
    ],
)
def test_a_wrong_attribute_is_named(normalized, query, attribute, message):
    with pytest.raises(ValueError, match=message):
        normalized.change(query, attribute=attribute)


@pytest.mark.parametrize("dark", [False, True])
def test_an_attribute_is_moved_on_the_page(browser, normalized, dark):
    window, live, node = select_on_page(browser, normalized, "op:LayerNorm", dark)
    page = window.page
    slider = page.locator(".change [data-attribute=epsilon]")
    assert page.locator(".change [data-attribute]").count() == 1
    slider.fill("-2")  # the exponent
    (request,) = live.hear()
    assert request == {"kind": "change", "node": node.id, "attribute": "epsilon", "value": 0.01, "factor": None}
    text = page.inner_text(".change .outcome")
    assert "epsilon = 0.01" in text and "before" in text and normalized.columns["change"]["values"][-1] > 0
    assert page.inner_text(".change .attributes output") == "0.01"
    assert page.locator(".changed[data-id]").count() == 1
    live.select("op:Softmax")
    live.answer()
    axis = page.locator(".change [data-attribute=axis]")
    axis.fill("7")
    axis.press("Enter")  # an integer compiles: it is sent when the user has entered it
    assert len(live.hear()) == 1
    assert "'axis' should be in [-3, 3), but got 7" in page.inner_text(".change .outcome")
    page.click("[data-change=undo]")
    live.hear()
    assert "change" not in normalized.columns and axis.input_value() == "-1"
    assert not window.complaints()
