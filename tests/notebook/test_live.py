"""Graphs that follow typing, and what the JupyterLab extension asks a kernel."""

import json

import pytest

from msnb import context
from msnb.notebook import cell_names, lab
from msnb.notebook.graph import live

CELL = """%%mindspore --ir
import numpy as np
import mindspore as ms
from mindspore import nn, ops
class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 3)
    def construct(self, x):
        return self.dense(x)
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.block = Block()
    def construct(self, x):
        return self.block(x)
net = Net()
y = net(ms.Tensor(np.ones((4, 3), np.float32)))
ran = globals().get("ran", 0) + 1"""


@pytest.fixture
def shown(notebook):
    """(view, file of its cell) of a cell that showed the graph of `net`."""
    live._followed.clear()
    views = []
    notebook.shell.user_ns["keep"] = views
    from msnb.notebook.graph import calls

    keep, calls.display = calls.display, views.append
    try:
        notebook.ok(CELL)
    finally:
        calls.display = keep
    (view,) = views
    return view, notebook["Net"].construct.__code__.co_filename


def update(notebook, shown, old, new):
    view, file = shown
    return live.update(file, CELL.replace(old, new), notebook.shell.user_ns)


def test_a_changed_construct_is_shown_and_nothing_is_run(notebook, shown):
    view, _ = shown
    before = len(view.graph)
    assert update(notebook, shown, "self.dense(x)", "ops.ReLU()(self.dense(x)) + x") == (1, None)
    assert len(view.graph) == before + 2
    assert notebook["ran"] == 1 and type(notebook["net"].block) is notebook["Block"]
    assert update(notebook, shown, "", "") == (1, None) and len(view.graph) == before


def test_the_lines_are_those_of_the_typed_text_in_the_same_cell(notebook, shown):
    update(notebook, shown, "        return self.block(x)", "\n\n        return self.block(x) * 2")
    from msnb.ir.source import show

    assert any(show(node.source) == "In [2]:18" for node in shown[0].graph.all_nodes())


def test_what_is_half_typed_leaves_the_view_alone(notebook, shown):
    view, _ = shown
    before = len(view.graph)
    count, said = update(notebook, shown, "self.dense(x)", "self.dense(x) + (")
    assert count == 0 and said.startswith("line 10")
    count, said = update(notebook, shown, "self.dense(x)", "self.dense(x) + nothing")
    assert count == 0 and "nothing" in said
    assert len(view.graph) == before


def test_a_changed_constructor_is_named(notebook, shown):
    _, said = update(notebook, shown, "nn.Dense(3, 3)", "nn.Dense(3, 4)")
    assert said == "Block has a new __init__; run the cell to follow it."


def test_a_network_that_is_slow_to_trace_is_followed_once(notebook, shown, monkeypatch):
    monkeypatch.setattr(live, "_PATIENCE", -1.0)
    count, said = update(notebook, shown, "self.dense(x)", "self.dense(x) + x")
    assert count == 1 and "to trace; from now on its graph follows when the cell is run" in said
    assert update(notebook, shown, "self.dense(x)", "self.dense(x) * x") == (0, None)


def test_every_way_to_show_a_graph_follows(notebook, shown):
    _, file = shown
    notebook.ok("import msnb\nfrom msnb.notebook import graph\nx = ms.Tensor(np.ones((4, 3), np.float32))")
    notebook.ok("first, second = msnb.view(net, x), graph.view(net, x)")
    notebook.ok("%ms_ir net(x)")
    before = [followed.view() for followed in live._followed]
    assert len(before) == 4
    text = CELL.replace("self.dense(x)", "ops.ReLU()(self.dense(x))")
    assert live.update(file, text, notebook.shell.user_ns) == (4, None)
    assert [len(view.graph) for view in before] == [3, 3, 3, 3]


def test_the_other_stages_are_those_of_the_typed_text(notebook, shown):
    view, _ = shown
    update(notebook, shown, "self.dense(x)", "ops.Sin()(self.dense(x))")
    assert any("sin" in node.op.lower() for node in view._make("primitives").all_nodes() if hasattr(node, "op"))


def test_a_function_is_followed_too(notebook):
    live._followed.clear()
    text = "%%mindspore --ir\nimport mindspore as ms\n@ms.ms_function\ndef f(x):\n    return x * x\nf(ms.Tensor([1.0]))"
    from msnb.notebook.graph import calls

    views, keep = [], calls.display
    calls.display = views.append
    try:
        notebook.ok(text)
    finally:
        calls.display = keep
    file = notebook["f"].fn.__code__.co_filename
    assert live.update(file, text.replace("x * x", "x * x * x"), notebook.shell.user_ns) == (1, None)
    assert len(views[0].graph) == 2


def asked(notebook, **question):
    notebook.shell.user_ns["_question"] = json.dumps(question)
    answer = notebook.shell.user_expressions({"r": "__import__('msnb.notebook.lab').notebook.lab.ask(_question)"})["r"]
    return answer["data"]["application/json"]


def test_the_state_names_cells_programs_and_memory(notebook, shown):
    state = asked(notebook, what="state")
    assert state["mode"] == "PYNATIVE" and state["device"] == "CPU" and "CPU" in state["devices"]
    (cell,) = [c for c in state["cells"] if c["name"] == "net"]
    assert cell["kind"] == "Net" and cell["numbers"] == 12 and cell["bytes"] == 48 and cell["line"] == 15
    assert state["memory"]["parameters"] == 48 and state["memory"]["bytes"] >= 48
    json.dumps(state)


def test_mode_and_device_can_be_changed(notebook):
    assert asked(notebook, what="change", mode="GRAPH")["mode"] == "GRAPH"
    assert context.get_context("mode") == context.GRAPH_MODE
    assert "TPU" in asked(notebook, what="change", device="TPU")["error"]


def test_typing_and_pointing_go_by_the_id_of_the_cell(notebook, shown):
    view, file = shown
    cell_names._ids[file] = "abc"
    answer = asked(notebook, what="typed", cell="abc", text=CELL.replace("self.dense(x)", "self.dense(x) + x"))
    assert answer == {"shown": 1, "said": None}
    assert view.widget is not None
    assert asked(notebook, what="pointed", cell="abc", line=10) == {"selected": 1}
    node = next(n for n in view.graph.all_nodes() if n.id == view.widget.selected)
    assert node.source[1] == 10
    assert asked(notebook, what="typed", cell="unknown", text="") == {"shown": 0, "said": None}
    del cell_names._ids[file]


def test_a_question_that_is_none_is_answered_with_an_error(notebook):
    assert "KeyError" in asked(notebook, what="weather")["error"]
    assert lab.ask('{"what": "state"}').value["mode"] in ("GRAPH", "PYNATIVE")


def test_a_cell_that_runs_anew_closes_the_views_it_had_shown(monkeypatch):
    from types import SimpleNamespace

    from msnb.notebook import cell_views

    closed = []

    def view(name):
        return SimpleNamespace(close=lambda: closed.append(name))

    shell = SimpleNamespace(parent_header={"metadata": {"cellId": "here"}}, execution_count=1)
    monkeypatch.setattr(cell_views, "_shown", {})
    monkeypatch.setattr(cell_views, "shell", lambda: shell)
    again = view("b")
    cell_views.remember(view("a"))
    cell_views.remember(again)
    assert closed == []
    shell.parent_header = {"metadata": {"cellId": "there"}}
    cell_views.remember(again)
    shell.parent_header, shell.execution_count = {"metadata": {"cellId": "here"}}, 2
    cell_views.remember(view("c"))
    assert closed == ["a"], "another cell still shows b"
    shell.parent_header = {}
    cell_views.remember(view("d"))
    assert closed == ["a"]
