"""Graphs that follow a name: the cell of the class is edited, run, edited again."""

import gc
import weakref

import pytest

from msnb.notebook import bindings, lab
from msnb.notebook.graph import live
from msnb.notebook.kernel import cell_names

CLASS = """%%mindspore -m graph
import numpy as np
import mindspore as ms
from mindspore import nn, ops
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(10, 20)
    def construct(self, x):
        return self.dense(x)
"""
MAKE = "net = Net()\n"
INPUT = "x = ms.Tensor(np.ones((4, 10), np.float32))\n"
WAYS = ["net(x)", "model.body(x)", "nets[0](x)", "Net()(x)"]


@pytest.fixture
def session(notebook):
    live._followed.clear()
    bindings._bound.clear()
    yield notebook
    cell_names._ids.clear()


def shapes(view):
    return [node.shape for node in view.graph.nodes if node.op == "MatMul"]


def type_in(notebook, cell, text):
    """Send the request of the extension while the user types in a cell."""
    return lab.typed(cell, text)


def view_of(notebook, call="net(x)", cell="view"):
    notebook.ok(f"view = __import__('msnb').view({call.replace('(x)', '')}, x)", cell)
    return notebook["view"]


def test_a_view_follows_its_name_as_often_as_the_cell_is_run_and_edited(session):
    session.ok(CLASS + MAKE + INPUT, "class")
    view = view_of(session)
    text = CLASS + MAKE + INPUT
    for width in (21, 22, 21, 20, 23):  # also back to a text that has run before
        text = text[: text.index("Dense(10, ")] + f"Dense(10, {width})" + text[text.index("\n    def construct") :]
        assert type_in(session, "class", text)["shown"] == 1 and shapes(view) == [(4, width)]
        session.ok(text, "class")
        assert view.widget.stale == "" and shapes(view) == [(4, width)]
        answer = type_in(session, "class", text.replace("self.dense(x)", "ops.tanh(self.dense(x))"))
        assert answer == {"shown": 1, "said": None, "line": None} and "Tanh" in str(view.graph.nodes[-1].op)


def test_a_mistake_on_screen_goes_once_the_mended_cell_has_run(session):
    text = CLASS + MAKE + INPUT
    session.ok(text, "class")
    view = view_of(session)
    view.widget
    type_in(session, "class", text.replace("self.dense(x)", "self.dense(x"))
    assert view.widget.stale.startswith("!line 10")
    session.ok(text.replace("Dense(10, 20)", "Dense(10, 21)"), "class")
    assert view.widget.stale == "" and shapes(view) == [(4, 21)]


def test_the_inputs_are_those_that_their_names_stand_for(session):
    session.ok(CLASS + MAKE + INPUT, "class")
    view = view_of(session)
    session.ok((CLASS + MAKE + INPUT).replace("10", "12"), "class")
    assert view.widget.stale == "" and view.graph.nodes[0].inputs[0].types[0].shape == (4, 12)
    session.ok("x = ms.Tensor(np.ones((3, 3), np.float32))", "other")
    session.ok((CLASS + MAKE).replace("10, 20", "12, 30"), "class")
    assert shapes(view) == [(4, 30)], "where the name of the input has another meaning, the input stays"


def test_a_network_that_another_cell_makes_is_followed_while_typing_and_the_strip_says_which_cell_to_run(session):
    session.ok(CLASS, "class")
    session.ok(MAKE + INPUT, "make")
    view = view_of(session)
    view.widget
    text = CLASS.replace("10, 20", "10, 21")
    session.ok(text, "class")
    said = "In [5] was run: run In [3], which makes net, to see the new net."
    assert view.widget.stale == said
    assert type_in(session, "class", text.replace("10, 21", "10, 22"))["shown"] == 1
    assert shapes(view) == [(4, 22)] and view.widget.stale == said
    session.ok(MAKE, "make")
    assert shapes(view) == [(4, 21)] and view.widget.stale == ""


@pytest.mark.parametrize("call", WAYS)
def test_every_way_to_name_a_network_follows_or_says_what_to_run(session, call):
    source = "net = Net()\nmodel = ms.nn.Cell()\nmodel.body, nets = Net(), [Net()]\n" + INPUT
    session.ok(CLASS + source, "class")
    view = view_of(session, call)
    view.widget
    text = (CLASS + source).replace("10, 20", "10, 21")
    assert type_in(session, "class", text)["shown"] == 1 and shapes(view) == [(4, 21)]
    session.ok(text, "class")
    assert shapes(view) == [(4, 21)]
    assert view.widget.stale == ("In [4] was run: run this cell to see the new net." if call == "Net()(x)" else "")
    assert type_in(session, "class", text.replace("10, 21", "10, 22"))["shown"] == 1 and shapes(view) == [(4, 22)]


def test_a_name_that_another_cell_takes_leaves_the_view_and_is_named(session):
    session.ok(CLASS + MAKE + INPUT, "class")
    view = view_of(session)
    view.widget
    session.ok("net = nn.Dense(10, 7)", "other")
    assert (
        shapes(view) == [(4, 20)]
        and view.widget.stale == "net was made anew in In [4]: run this cell to see the new net."
    )
    session.ok("net = 3", "other")
    assert view.widget.stale == "!net is no network any more: run this cell again."


def test_a_network_that_is_slow_to_trace_says_which_cell_was_run(session, monkeypatch):
    session.ok(CLASS + MAKE + INPUT, "class")
    view = view_of(session)
    view.widget
    monkeypatch.setattr(live, "_PATIENCE", -1.0)
    text = CLASS.replace("10, 20", "10, 21") + MAKE + INPUT
    assert type_in(session, "class", text)["shown"] == 1
    session.ok(text, "class")
    assert view.widget.stale == "!In [4] was run: run this cell to see the new net."


def test_a_function_that_is_defined_anew_is_followed(session):
    text = "%%mindspore\nimport mindspore as ms\n@ms.ms_function\ndef f(x):\n    return x * x\nx = ms.Tensor([1.0])"
    session.ok(text, "class")
    view = view_of(session, "f(x)")
    for more in ("x * x * x", "x * x * x * x"):
        session.ok(text.replace("x * x", more), "class")
        assert len(view.graph) == more.count("*")


def test_a_view_that_its_cell_has_shown_anew_is_followed_no_more(session):
    session.ok(CLASS + MAKE + INPUT, "class")
    view = view_of(session)
    view.widget
    view.close()
    assert type_in(session, "class", CLASS + MAKE + INPUT)["shown"] == 0


def test_a_mismatch_is_reported_in_the_numbers_of_the_layer_and_marked(session):
    two = CLASS.replace("        self.dense", "        self.fc2 = nn.Dense(20, 84)\n        self.dense")
    two = two.replace("self.dense(x)", "self.fc2(self.dense(x))")
    session.ok(two + MAKE + INPUT, "class")
    view = view_of(session)
    view.widget
    answer = type_in(session, "class", two.replace("Dense(20, 84)", "Dense(120, 84)") + MAKE + INPUT)
    said = "line 11: Dense(120, 84) takes a last axis of 120, but got (4, 20). In fc2."
    assert (answer["said"], answer["line"]) == (said, 11)
    assert [node.problem for node in view.graph.nodes] == [None, None, said]
    assert view.graph.nodes[-1].scope == "Default/fc2-Dense" and view.widget.stale == ""
    assert type_in(session, "class", two + MAKE + INPUT)["shown"] == 1 and view.graph.nodes[-1].problem is None


def show(notebook):
    """Run a cell whose value is a view, which IPython stores in `Out`."""
    notebook.shell.run_cell("import msnb\nmsnb.view(net, x)", store_history=True, cell_id="view")
    return next(value for value in reversed(notebook["Out"].values()) if type(value).__name__ == "GraphView")


def test_a_view_in_out_does_not_keep_a_network_that_is_gone(session):
    session.ok(CLASS + MAKE + INPUT, "class")
    view, net = show(session), weakref.ref(session["net"])
    program = weakref.ref(view._caller.program)
    view.close()  # its cell runs again
    session.ok(CLASS.replace("10, 20", "10, 21") + MAKE + INPUT, "class")
    gc.collect()
    assert net() is None and program() is None
    assert shapes(view) == [(4, 20)] and "MatMul" in view.text() and view.widget is not None
    with pytest.raises(ValueError, match="network of this view is gone"):
        view.run()


def test_a_closed_view_of_a_living_network_can_be_run(session):
    session.ok(CLASS + MAKE + INPUT, "class")
    view = show(session)
    view.close()
    with pytest.raises(ValueError, match="Pass them"):
        view.run()
    assert view.run(session["x"]).value("op:BiasAdd").shape == (4, 20)


def test_only_the_last_views_of_a_name_are_followed_and_the_others_let_go(session):
    session.ok(CLASS + MAKE + INPUT, "class")
    session.ok("import msnb\nviews = [msnb.view(net, x) for _ in range(15)]")
    views, net = session["views"], weakref.ref(session["net"])
    session.ok(CLASS.replace("10, 20", "10, 21") + MAKE + INPUT)
    gc.collect()
    assert [shapes(view) for view in views] == [[(4, 20)]] * 3 + [[(4, 21)]] * 12
    assert net() is None


def test_the_history_of_outputs_has_no_pages(session):
    session.ok(CLASS + MAKE + INPUT, "class")
    getattr(session.shell.history_manager, "outputs", {}).clear()  # all shells of a process share them
    show(session)
    recorded = getattr(session.shell.history_manager, "outputs", None)
    if not recorded:
        pytest.skip("this IPython records no outputs")
    bundles = [output.bundle for outputs in recorded.values() for output in outputs]
    assert any("GraphView" in bundle.get("text/plain", "") for bundle in bundles)
    assert not any("text/html" in bundle for bundle in bundles)
