"""Graphs that follow typing, and what the JupyterLab extension asks a kernel."""

import gzip
import json

import numpy as np
import pytest

from msnb import context
from msnb.notebook import lab
from msnb.notebook.graph import live
from msnb.notebook.kernel import cell_names

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
def view_and_file(notebook):
    """Return (view, file of its cell) of a cell that showed the graph of `net`."""
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


def update(notebook, view_and_file, old, new):
    view, file = view_and_file
    return live.update(file, CELL.replace(old, new), notebook.shell.user_ns)


def test_a_changed_construct_is_shown_and_nothing_is_run(notebook, view_and_file):
    view, _ = view_and_file
    before = len(view.graph)
    assert update(notebook, view_and_file, "self.dense(x)", "ops.ReLU()(self.dense(x)) + x") == (1, None)
    assert len(view.graph) == before + 2
    assert notebook["ran"] == 1 and type(notebook["net"].block) is notebook["Block"]
    assert update(notebook, view_and_file, "", "") == (1, None) and len(view.graph) == before


def test_the_lines_are_those_of_the_typed_text_in_the_same_cell(notebook, view_and_file):
    update(notebook, view_and_file, "        return self.block(x)", "\n\n        return self.block(x) * 2")
    from msnb.ir.source import show

    assert any(show(node.source) == "In [2] line 18" for node in view_and_file[0].graph.all_nodes())


def test_a_network_that_failed_is_complete_once_it_is_mended(notebook, monkeypatch):
    live._followed.clear()
    notebook.run(CELL.replace("self.dense(x)", "self.dense(x) @ x"))
    assert notebook.error and len(live._followed) == 1
    view = live._followed[0].view()
    assert view.graph.nodes[-1].problem.startswith("line 10: For 'MatMul'")
    file = notebook["Net"].construct.__code__.co_filename
    assert live.update(file, CELL, notebook.shell.user_ns) == (1, None)
    assert [node.op for node in view.graph.nodes] == ["MatMul", "BiasAdd"] and view.graph.nodes[-1].problem is None
    assert b"problem" not in gzip.decompress(view.payload)


def test_what_is_half_typed_leaves_the_view_alone(notebook, view_and_file):
    view, _ = view_and_file
    before = len(view.graph)
    assert view.widget.stale == ""
    count, said = update(notebook, view_and_file, "self.dense(x)", "self.dense(x) + (")
    assert count == 0 and said.startswith("line 10")
    assert view.widget.stale == "!line 10: '(' was never closed"
    count, said = update(notebook, view_and_file, "self.dense(x)", "self.dense(x) + nothing")
    assert count == 0 and "nothing" in said
    assert len(view.graph) == before
    assert (
        update(notebook, view_and_file, "self.dense(x)", "self.dense(x) + 1") == (1, None) and view.widget.stale == ""
    )


def test_a_changed_constructor_is_followed_and_the_network_that_is_there_stays_as_it_is(notebook, view_and_file):
    view, _ = view_and_file
    net, weights = notebook["net"], notebook["net"].block.dense.weight.asnumpy()
    assert update(notebook, view_and_file, "nn.Dense(3, 3)", "nn.Dense(3, 4)") == (1, None)
    assert view.graph.nodes[0].shape == (4, 4)
    names = [p.name for p in view.graph.parameters if p.is_weight]
    assert names == ["block.dense.weight", "block.dense.bias"]
    assert update(notebook, view_and_file, "self.block = Block()", "self.block = nn.Dense(3, 7)") == (1, None)
    assert view.graph.nodes[0].shape == (4, 7) and view.graph.nodes[0].scope == "Default/block-Dense"
    assert notebook["net"] is net and type(net.block) is notebook["Block"]
    assert (net.block.dense.weight.asnumpy() == weights).all()


MAKER = """%%mindspore -m graph
import numpy as np, random
import mindspore as ms
from mindspore import nn
def layer(inputs, outputs):
    return nn.Dense(inputs, outputs)
class Made(nn.Cell):
    def __init__(self, width, *, act="relu", drop=0.9):
        super().__init__()
        print("made")
        self.first = self.block(width)
        self.act = {"relu": nn.ReLU, "tanh": nn.Tanh}[act]()
        self.drop = nn.Dropout(drop)
        self.noise = ms.Tensor(np.random.rand(width).astype(np.float32) + random.random())
    def block(self, width):
        return layer(3, width)
    def construct(self, x):
        return self.drop(self.act(self.first(x)) + self.noise)
made = Made(5, act="tanh").set_train()"""
USER = """%%mindspore -m graph
class User(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
    def construct(self, x):
        return self.inner(x) * 2
net = User(made)
view = __import__("msnb").view(net, ms.Tensor(np.ones((4, 3), np.float32)))"""


@pytest.fixture
def made_view_and_file(notebook):
    """Return (view, file of the class Made) of a network whose inner Cell another notebook cell has made."""
    live._followed.clear()
    notebook.ok(MAKER)
    notebook.ok(USER)
    return notebook["view"], notebook["Made"].construct.__code__.co_filename


def test_a_cell_is_created_again_with_its_own_arguments_and_draws_nothing(notebook, made_view_and_file):
    view, file = made_view_and_file
    ms, np, random = notebook["ms"], notebook["np"], notebook["random"]
    ms.set_seed(3)
    random.seed(3)
    text = MAKER.replace("nn.Dropout(drop)", "nn.SequentialCell(nn.Dropout(drop), nn.Sigmoid())")
    assert live.update(file, text, notebook.shell.user_ns) == (1, None)
    ops = [node.op for node in view.graph.all_nodes()]
    assert "Tanh" in ops and "Sigmoid" in ops and "Dropout" in "".join(ops)  # it is in training, as the one there
    assert view.graph.nodes[0].shape == (4, 5) and view.graph.nodes[0].scope.startswith("Default/inner-Made/first")
    assert view.graph.parameters[0].name.startswith("inner.")
    drawn = np.random.rand(), random.random(), ms.Tensor(np.zeros(3)).shape, notebook["nn"].Dense(2, 2).weight.asnumpy()
    ms.set_seed(3)
    random.seed(3)
    again = np.random.rand(), random.random(), (3,), notebook["nn"].Dense(2, 2).weight.asnumpy()
    assert drawn[:3] == again[:3] and (drawn[3] == again[3]).all()


def test_what_a_constructor_calls_is_part_of_it(notebook, made_view_and_file):
    view, file = made_view_and_file
    text = MAKER.replace("return nn.Dense(inputs, outputs)", "return nn.SequentialCell(nn.Dense(inputs, outputs))")
    assert live.update(file, text, notebook.shell.user_ns) == (1, None)
    assert view.graph.nodes[0].scope == "Default/inner-Made/first-SequentialCell/0-Dense"
    text = MAKER.replace("layer(3, width)", "layer(3, width + 1)")
    count, said = live.update(file, text, notebook.shell.user_ns)
    assert count == 0 and said.startswith("line 18: For 'Add'")


@pytest.mark.parametrize(
    "old, new, why",
    [
        ("self.act = {", "self.act = 1 / 0, {", "Made's new __init__ fails: ZeroDivisionError: division by zero"),
        ("width, *, act", "width, depth, *, act", "Made's new __init__ fails: TypeError: "),
    ],
)
def test_a_constructor_that_cannot_run_is_named_on_the_view(notebook, made_view_and_file, old, new, why):
    view, file = made_view_and_file
    before = len(view.graph)
    assert view.widget.stale == ""
    count, said = live.update(file, MAKER.replace(old, new), notebook.shell.user_ns)
    assert count == 0 and said.startswith(why) and view.widget.stale == f"!{said}" and len(view.graph) == before
    assert live.update(file, MAKER, notebook.shell.user_ns) == (1, None) and view.widget.stale == ""


def test_a_network_that_an_optimizer_trains_is_not_created_again_within_its_step(notebook, made_view_and_file):
    notebook.ok(
        "%%mindspore\nstep = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params()))\n"
        "x, y = ms.Tensor(np.ones((4, 3), np.float32)), ms.Tensor(np.ones((4, 5), np.float32))\n"
        "step = __import__('msnb').view(step, x, y)"
    )
    count, said = live.update(made_view_and_file[1], MAKER.replace("drop=0.9", "drop=0.5"), notebook.shell.user_ns)
    assert (count, said) == (1, "Made has other Parameters than the optimizer knows; run the cell to follow it.")


def test_a_large_argument_is_not_kept_alive(notebook, made_view_and_file):
    notebook.ok(
        "import gc, weakref\nclass Big(ms.nn.Cell):\n    def __init__(self, table):\n        super().__init__()\n"
        "table = np.zeros(1 << 20)\nbig, seen = Big(table), weakref.ref(table)\ndel table"
    )
    assert notebook["seen"]() is None


def test_a_network_that_is_slow_to_trace_is_followed_once(notebook, view_and_file, monkeypatch):
    monkeypatch.setattr(live, "_PATIENCE", -1.0)
    count, said = update(notebook, view_and_file, "self.dense(x)", "self.dense(x) + x")
    assert count == 1 and "to trace; from now on its graph follows when the cell is run" in said
    assert update(notebook, view_and_file, "self.dense(x)", "self.dense(x) * x") == (0, None)


def test_every_way_to_show_a_graph_follows(notebook, view_and_file):
    _, file = view_and_file
    notebook.ok("import msnb\nfrom msnb.notebook import graph\nx = ms.Tensor(np.ones((4, 3), np.float32))")
    notebook.ok("first, second = msnb.view(net, x), graph.view(net, x)")
    notebook.ok("%ms_ir net(x)")
    before = [followed.view() for followed in live._followed]
    assert len(before) == 4
    text = CELL.replace("self.dense(x)", "ops.ReLU()(self.dense(x))")
    assert live.update(file, text, notebook.shell.user_ns) == (4, None)
    assert [len(view.graph) for view in before] == [3, 3, 3, 3]


def test_the_other_stages_are_those_of_the_typed_text(notebook, view_and_file):
    view, _ = view_and_file
    update(notebook, view_and_file, "self.dense(x)", "ops.Sin()(self.dense(x))")
    view.widget.wanted = "primitives"
    assert any(node.op == "sin" for node in view.graphs["primitives"].all_nodes())


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


def ask(notebook, **question):
    notebook.shell.user_ns["_question"] = json.dumps(question)
    answer = notebook.shell.user_expressions({"r": "__import__('msnb.notebook.lab').notebook.lab.ask(_question)"})["r"]
    return answer["data"]["application/json"]


def test_the_state_names_cells_programs_and_memory(notebook, view_and_file):
    state = ask(notebook, what="state")
    assert state["mode"] == "PYNATIVE" and state["device"] == "CPU" and "CPU" in state["devices"]
    (cell,) = [c for c in state["cells"] if c["name"] == "net"]
    assert cell["kind"] == "Net" and cell["numbers"] == 12 and cell["bytes"] == 48 and cell["line"] == 15
    assert state["memory"]["parameters"] == 48 and state["memory"]["bytes"] >= 48
    json.dumps(state)


def test_mode_and_device_can_be_changed(notebook):
    assert ask(notebook, what="change", mode="GRAPH")["mode"] == "GRAPH"
    assert context.get_context("mode") == context.GRAPH_MODE
    assert "TPU" in ask(notebook, what="change", device="TPU")["error"]


def test_typing_and_pointing_go_by_the_id_of_the_cell(notebook, view_and_file):
    view, file = view_and_file
    cell_names._ids[file] = "abc"
    answer = ask(notebook, what="typed", cell="abc", text=CELL.replace("self.dense(x)", "self.dense(x) + x"))
    assert answer == {"shown": 1, "said": None, "line": None}
    answer = ask(notebook, what="typed", cell="abc", text=CELL.replace("self.dense(x)", "self.dense(x"))
    assert answer == {"shown": 0, "said": "line 10: '(' was never closed", "line": 10}
    assert view.widget is not None
    assert ask(notebook, what="pointed", cell="abc", line=10) == {"selected": 1}
    node = next(n for n in view.graph.all_nodes() if n.id == view.widget.selected)
    assert node.source[1] == 10
    assert ask(notebook, what="typed", cell="unknown", text="") == {"shown": 0, "said": None, "line": None}
    del cell_names._ids[file]


def test_a_question_that_is_none_is_answered_with_an_error(notebook):
    assert "KeyError" in ask(notebook, what="weather")["error"]
    assert lab.ask('{"what": "state"}').value["mode"] in ("GRAPH", "PYNATIVE")


def test_a_cell_that_runs_anew_closes_the_views_it_had_shown(monkeypatch):
    from types import SimpleNamespace

    from msnb.notebook.kernel import cell_views

    closed = []

    def view(name):
        return SimpleNamespace(close=lambda: closed.append(name))

    shell = SimpleNamespace(parent_header={"metadata": {"cellId": "here"}}, execution_count=1)
    monkeypatch.setattr(cell_views, "_views_of_cells", {})
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


VALUES = CELL.replace("%%mindspore --ir", "%%mindspore -m graph").replace(
    "y = net(ms.Tensor(np.ones((4, 3), np.float32)))",
    "import msnb\nviewed = msnb.view(net, ms.Tensor(np.ones((4, 3), np.float32)), values=True)",
)


@pytest.fixture
def valued(notebook):
    """Return (view with values, file of its cell)."""
    live._followed.clear()
    notebook.ok(VALUES)
    view = notebook["viewed"]
    assert view.widget.stale == ""
    return view, notebook["Net"].construct.__code__.co_filename


def test_values_follow_an_edit_and_the_change_is_reported(notebook, valued):
    view, file = valued
    output = view.value("op:BiasAdd").asnumpy()
    edited = VALUES.replace("self.dense(x)", "ops.tanh(self.dense(x) * 2)")
    assert live.update(file, edited, notebook.shell.user_ns) == (1, None)
    np.testing.assert_allclose(view.value("op:Tanh").asnumpy(), np.tanh(2 * output), rtol=1e-6)
    assert view.widget.stale.startswith("output changes by ")
    (dense,) = [node for node in view.graph.all_nodes() if node.op == "BiasAdd"]
    assert view.columns["change"]["values"][dense.id] == 0
    assert live.update(file, VALUES, notebook.shell.user_ns) == (1, None)
    np.testing.assert_array_equal(view.value("op:BiasAdd").asnumpy(), output)


def test_values_come_back_after_a_text_that_fails(notebook, valued):
    view, file = valued
    output = view.value("op:BiasAdd").asnumpy()
    live.update(file, VALUES.replace("self.dense(x)", "self.dense(x) @ x"), notebook.shell.user_ns)
    assert view._values is None
    assert live.update(file, VALUES, notebook.shell.user_ns) == (1, None)
    np.testing.assert_array_equal(view.value("op:BiasAdd").asnumpy(), output)
    assert view.widget.stale == "output is the same"


def test_values_of_a_layer_that_does_not_exist_yet_wait_for_the_cell(notebook, valued):
    view, file = valued
    edited = VALUES.replace("nn.Dense(3, 3)", "nn.Dense(3, 5)")
    assert live.update(file, edited, notebook.shell.user_ns) == (1, None)
    assert view._values is None and view.widget.stale.startswith("The values wait for the cell to run")
    assert "dense.weight [5, 3] is new and has no values yet" in view.widget.stale


def test_a_layer_that_keeps_the_shapes_of_its_parameters_keeps_their_values(notebook, valued):
    view, file = valued
    output = view.value("op:BiasAdd").asnumpy()
    edited = VALUES.replace("nn.Dense(3, 3)", "nn.Dense(3, 3, activation='tanh')")
    assert live.update(file, edited, notebook.shell.user_ns) == (1, None)
    np.testing.assert_allclose(view.value("op:Tanh").asnumpy(), np.tanh(output), rtol=1e-6)


def test_the_loss_of_a_step_follows_an_edit(notebook):
    live._followed.clear()
    step = VALUES.replace(
        "viewed = msnb.view(net, ms.Tensor(np.ones((4, 3), np.float32)), values=True)",
        "loss = nn.WithLossCell(net, nn.MSELoss())\n"
        "step = nn.TrainOneStepCell(loss, nn.SGD(net.trainable_params(), 0.1)).set_train()\n"
        "x = ms.Tensor(np.ones((4, 3), np.float32))\nviewed = msnb.view(step, x, x, values=True)",
    )
    notebook.ok(step)
    view, file = notebook["viewed"], notebook["Net"].construct.__code__.co_filename
    assert view.widget.stale == ""
    edited = step.replace("return self.dense(x)", "return self.dense(x) * 3")
    assert live.update(file, edited, notebook.shell.user_ns) == (1, None)
    assert view.widget.stale.startswith("output: ") and " → " in view.widget.stale
    assert live.update(file, edited.replace("* 3", "* 3.00001"), notebook.shell.user_ns) == (1, None)
    before, after = view.widget.stale.removeprefix("output: ").split(" → ")
    assert float(before) != float(after), "a small change needs more digits"
