import base64
import gc
import gzip
import json
import pathlib
import re
import sys
import threading
import weakref
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import msnb as ms
from msnb import ir, nn, ops
from msnb.notebook import graph as graph_view
from msnb.notebook.graph import GraphView

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "ir"))
import ir_programs as programs

MODULE = pathlib.Path(graph_view.__file__).with_name("widget.js")


def make_view(kind="step", layers=3, **settings):
    return GraphView(ir.read(programs.traced(kind, layers), "Net", programs.inputs(kind, layers)), **settings)


def test_a_view_has_a_form_for_every_place():
    data, _ = make_view()._repr_mimebundle_()
    assert {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"} == set(data)
    assert data["text/plain"].startswith("GraphView(Net: ")


def test_the_form_without_a_kernel_is_the_same_in_every_run():
    assert make_view()._repr_mimebundle_()[0]["text/html"] == make_view()._repr_mimebundle_()[0]["text/html"]
    assert make_view().payload == make_view().payload


def test_nothing_in_the_page_comes_from_the_network():
    page = make_view().html()
    stored = MODULE.read_text(encoding="utf-8")
    packed = re.match(r'const text="([^"]+)"', stored)
    code = stored if packed is None else gzip.decompress(base64.b64decode(packed[1])).decode()
    assert "msnb-graph" in code
    outside = re.findall(r"(?:https?:)?//[\w.-]+\.\w+", page + stored + code)
    assert [url for url in outside if "www.w3.org" not in url] == []


def test_the_module_of_every_view_is_small():
    modules = sorted(MODULE.parents[1].glob("*/widget.js"))
    assert MODULE in modules and len(modules) > 6
    assert {path.parent.name: path.stat().st_size for path in modules if path.stat().st_size >= 100_000} == {}


def test_a_notebook_grows_by_less_than_300_kb_for_5000_nodes():
    big = make_view("step", 1010)
    assert len(big.graph) > 5000
    data, _ = big._repr_mimebundle_()
    state = len(MODULE.read_bytes()) + len(big.payload) * 4 // 3
    assert len(json.dumps(data)) + state < 300_000


def test_a_view_is_saved_in_the_form_its_suffix_asks_for(tmp_path):
    for suffix, start in ((".html", "<!doctype html>"), (".svg", "<svg"), (".dot", "digraph"), (".ir", "# FuncGraph")):
        path = tmp_path / f"net{suffix}"
        make_view().save(path)
        assert path.read_text().startswith(start)
    with pytest.raises(ValueError, match="net.pdf"):
        make_view().save(tmp_path / "net.pdf")


def test_a_view_is_a_table_with_its_columns(monkeypatch):
    view = make_view()
    view.set_column("time", {"values": list(range(len(view.graph)))})
    assert [row["time"] for row in view.rows()] == list(range(len(view.graph)))
    assert {"cell", "repeats", "parameters", "flops", "shape"} <= set(view.rows(by="Cell")[0])
    with pytest.raises(ValueError, match="'by' should be None"):
        view.table(by="cell")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="pip install pandas"):
        view.table()


def test_the_table_is_a_dataframe():
    pandas = pytest.importorskip("pandas")
    table = make_view().table()
    assert isinstance(table, pandas.DataFrame) and (table["operator"] == "MatMul").sum() > 0
    assert table["flops"].sum() == sum(node.flops for node in make_view().graph.all_nodes())


@pytest.mark.parametrize("height", [0, -3, 2.5, "tall", True])
def test_a_wrong_height_is_refused(height):
    with pytest.raises(ValueError, match="positive int"):
        make_view(height=height)


def test_values_to_colour_by_must_be_one_per_node():
    with pytest.raises(ValueError, match="one value per node"):
        make_view(columns={"time": {"unit": "s", "values": [1.0]}})
    with pytest.raises(ValueError, match="'heat'"):
        make_view(colour="heat")


def test_a_view_needs_no_widgets(monkeypatch):
    monkeypatch.setattr(sys.modules[GraphView.__module__], "widget_class", lambda: None)
    data, _ = make_view()._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html"}


def test_a_notebook_cell_is_called_by_its_number_and_identified_by_its_id(shell):
    from msnb.ir import source
    from msnb.notebook.kernel import cell_names

    cell_names.install()
    number = shell.execution_count
    shell.run_cell("def made_in_a_cell(x):\n    return x * x\n", store_history=True, cell_id="abc")
    file = shell.user_ns["made_in_a_cell"].__code__.co_filename
    assert source.label(file) == f"In [{number}]"
    assert cell_names.ids()[f"In [{number}]"] == "abc"
    assert source.label("/home/somebody/net.py") == "net.py"


def test_a_kernel_file_is_never_called_by_its_process_number():
    from msnb.ir import source

    assert source.label("/tmp/ipykernel_4711/123456789.py") == "cell"


def test_two_graphs_are_compared_and_names_must_differ():
    old = ir.read(programs.traced("forward", 3), "Net", programs.inputs("forward", 3))
    new = ir.read(programs.traced("forward", 4), "Net", programs.inputs("forward", 4))
    view = graph_view.diff(old, new)
    assert view.comparison.counts() == {"same": 6, "changed": 0, "fused": 0, "removed": 0, "added": 2}
    with pytest.raises(ValueError, match="two different words"):
        graph_view.diff(old, new, names=("net", "net"))


def test_a_file_is_compared_with_a_file_and_with_a_network(tmp_path):
    class Net(nn.Cell):
        def __init__(self, *more):
            super().__init__()
            self.first, self.drop, self.more = nn.Dense(3, 4), nn.Dropout(0.5), nn.SequentialCell(list(more))

        def construct(self, x):
            return self.more(ops.tanh(self.drop(self.first(x))))

    x = ms.Tensor(np.ones((2, 3), np.float32))
    same, longer = Net(nn.ReLU()).set_train(), Net(nn.ReLU(), nn.Sigmoid())
    paths = {form: str(tmp_path / f"net.{form.lower()}") for form in ("ONNX", "MINDIR")}
    for form, path in paths.items():
        ms.export(same, x, file_name=path, file_format=form)
    result = graph_view.diff(paths["MINDIR"], same, x, names=("file", "network")).comparison.counts()
    assert result == {"same": 4, "changed": 0, "fused": 0, "removed": 0, "added": 0}
    result = graph_view.diff(paths["ONNX"], same, x).comparison.counts()
    assert result == {"same": 4, "changed": 0, "fused": 0, "removed": 0, "added": 0}
    assert same.training  # it was looked at in evaluation
    assert graph_view.diff(longer, paths["MINDIR"], x).comparison.counts()["removed"] == 1
    assert graph_view.diff(pathlib.Path(paths["MINDIR"]), paths["MINDIR"]).comparison.counts()["removed"] == 0
    with pytest.raises(FileNotFoundError):
        graph_view.diff(same, str(tmp_path / "no.mindir"), x)


def test_a_stage_that_is_requested_is_computed_and_added():
    graph = ir.read(programs.traced("forward"), "Net", programs.inputs())
    asked = []
    view = GraphView({"traced": graph}, make=lambda stage: asked.append(stage) or graph, offered=("traced", "other"))
    before = view.payload
    view.widget.wanted = "other"
    assert asked == ["other"] and list(view.graphs) == ["traced", "other"]
    assert view.widget.payload == view.payload != before
    view.widget.wanted = "nonsense"
    assert asked == ["other"]


class Slow:
    """Makes the stage "optimised" when it is let."""

    def __init__(self, graph):
        self.graph, self.let, self.made = graph, threading.Event(), 0

    def __call__(self, stage):
        assert self.let.wait(20)
        self.made += 1
        if self.made == 2:
            raise RuntimeError("out of memory")
        return self.graph

    def view(self):
        waits = {"optimised": 9.4}
        return GraphView({"traced": self.graph}, make=self, offered=("traced", "optimised"), wait=waits.get)


def wait_for_threads(view):
    for thread in list(view._stage_builder.threads.values()):
        thread.join(20)


def test_a_stage_that_takes_long_is_computed_aside_and_can_be_given_up():
    slow = Slow(make_view().graph)
    view = slow.view()
    widget, said = view.widget, []
    widget.send = lambda content, buffers=None: said.append(content["text"])
    assert widget.waits == {"optimised": 9.4}
    widget.wanted = "optimised"
    assert list(view.graphs) == ["traced"]  # the kernel goes on
    view._on_message(widget, {"kind": "cancel"}, [])
    slow.let.set()
    wait_for_threads(view)
    assert slow.made == 1 and list(view.graphs) == ["traced"] and not said
    widget.wanted = ""
    widget.wanted = "optimised"
    wait_for_threads(view)
    assert said == ["optimised: RuntimeError: out of memory"]
    widget.wanted = ""
    widget.wanted = "optimised"
    wait_for_threads(view)
    assert list(view.graphs) == ["traced", "optimised"] and widget.payload == view.payload


def test_a_stage_of_a_graph_that_was_replaced_meanwhile_is_not_shown():
    slow = Slow(make_view().graph)
    view = slow.view()
    view.widget.wanted = "optimised"
    threads = list(view._stage_builder.threads.values())
    view.update(make_view("forward").graph)
    slow.let.set()
    threads[0].join(20)
    assert list(view.graphs) == ["traced"] and slow.made == 1


def test_a_view_can_be_given_another_graph():
    view = make_view("forward")
    assert view.widget.payload == view.payload
    view.update(ir.read(programs.traced("forward", 5), "Net", programs.inputs("forward", 5)))
    assert view.widget.payload == view.payload and len(view.graph) == 10


def column(view, value=1.0, **more):
    return {"values": [value] * len(view.graph), **more}


def test_a_column_crosses_as_a_message_of_its_own_and_is_part_of_what_is_saved():
    view = make_view("forward")
    payload, still = view.widget.payload, view.html()
    view.set_column("time", column(view, 0.002, unit="s"))
    assert view.widget.payload == payload and view.widget.colour == view.colour == "time"
    (packed,) = view.widget.columns.values()
    assert json.loads(gzip.decompress(packed))["values"] == [0.002] * 6 and len(packed) < 200
    assert view.html() != still and "time" in view.svg() and "2 ms" in view.svg()
    view.set_column("time", None)
    assert view.widget.columns == {} == view.columns and view.html() != still  # the colour is the reader's


def test_a_column_that_is_replaced_leaves_the_colour_to_the_reader():
    view = make_view("forward")
    view.set_column("time", column(view))
    view.widget.colour = "flops"
    view.set_column("time", column(view, 2.0))
    assert view.colour == "flops"
    view.set_column("norm", column(view), colour=False)
    assert view.colour == "flops"


def test_a_column_that_is_wrong_is_refused():
    view = make_view("forward")
    for wrong, match in (
        ({"values": [1.0]}, "one value per node"),
        ({}, "should have 'values'"),
        (column(view, fold="mean"), "sum, max"),
        (column(view, scale="ln"), "linear, log"),
        (column(view, colour="red"), "should have 'values'"),
        (column(view, note=["a"]), "'note'"),
    ):
        with pytest.raises(ValueError, match=match):
            view.set_column("time", wrong)
    with pytest.raises(TypeError, match="'much'"):
        view.set_column("time", column(view, "much"))
    with pytest.raises(ValueError, match="'flops'"):
        view.set_column("flops", column(view))
    with pytest.raises(ValueError, match="'nowhere'"):
        view.set_column("time", column(view), stage="nowhere")


def test_nodes_that_stay_keep_their_values_when_the_graph_changes():
    view = make_view("forward", 3)
    view.set_column("time", {"values": [float(n) for n in range(6)]})
    view.update(ir.read(programs.traced("forward", 5), "Net", programs.inputs("forward", 5)))
    assert view.columns["time"]["values"][:6] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert view.columns["time"]["values"][6:] == [None] * 4
    view.update(ir.read(programs.traced("forward", 3), "Net", programs.inputs("forward", 3)))
    assert view.columns["time"]["values"] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_a_closed_view_is_freed():
    view = GraphView(ir.read(programs.traced("step", 20), "freed", programs.inputs("step", 20)))
    view.set_column("time", column(view))
    reference, shown = weakref.ref(view), view.widget
    widget = weakref.ref(shown)
    view.close()
    assert shown.comm is None, "the front end has been told"
    del view, shown
    gc.collect()
    assert reference() is None and widget() is None
    assert not [each for each in gc.get_objects() if isinstance(each, ir.FuncGraph) and each.name == "freed"]


def test_a_view_that_was_closed_can_be_shown_again():
    view = make_view("forward")
    view.set_column("time", column(view))
    before = view.widget
    view.close()
    assert view.widget is not before and view.widget.colour == "time" and len(view.widget.columns) == 1


def test_a_changed_view_is_written_into_the_notebook_when_the_cell_is_done(monkeypatch):
    from msnb.notebook.kernel import cell_views

    published = []
    monkeypatch.setattr("IPython.display.publish_display_data", lambda *data, **more: published.append((data, more)))
    view = make_view("forward")
    view.set_column("time", column(view))
    cell_views.write()
    assert published == [], "it was never shown"
    view._ipython_display_()
    view.set_column("time", column(view, 3.0))
    view.set_column("norm", column(view))
    cell_views.write()
    cell_views.write()
    shown, again = published
    assert shown[1]["transient"] == again[1]["transient"] and again[1]["update"] and not shown[1].get("update")
    assert again[0][0]["text/html"] != shown[0][0]["text/html"]


def test_the_still_picture_of_a_comparison_has_both_networks_and_what_differs():
    def net(layers):
        return nn.SequentialCell([nn.SequentialCell(nn.Dense(4, 4), nn.ReLU()) for _ in range(layers)])

    shown = graph_view.diff(net(2), net(3), ms.Tensor(np.ones((2, 4), np.float32)), names=("before", "after")).svg()
    words = [text.text for text in ElementTree.fromstring(shown).iter("{http://www.w3.org/2000/svg}text")]
    assert {"before", "after", "same 12", "only here 3"} - set(words) == set() or "only here 3" in words
    assert words.count("input 0") <= 2 and 'class="n"' in shown


@pytest.mark.parametrize("heads, is_column", [(1, False), (9, True)])
def test_the_still_picture_of_two_stages_has_both_and_stacks_wide_ones(heads, is_column):
    class Heads(nn.Cell):
        def __init__(self):
            super().__init__()
            self.heads = nn.CellList([nn.Dense(4, wide + 1) for wide in range(heads)])

        def construct(self, x):
            return tuple(head(x) for head in self.heads)

    stages = ("traced", "primitives")
    shown = graph_view.view(Heads(), ms.Tensor(np.ones((2, 4), np.float32)), stages=stages).svg()
    document = ElementTree.fromstring(shown)
    headings = [text for text in document.iter("{http://www.w3.org/2000/svg}text") if text.text in stages]
    assert [text.text for text in headings] == list(stages)
    assert (headings[0].get("x") == headings[1].get("x")) == is_column
    assert float(document.get("width")) <= 1300


@pytest.mark.parametrize("layers", [2, 20])
def test_a_still_picture_opens_no_more_than_can_be_read(layers):
    class Wide(nn.Cell):
        def __init__(self):
            super().__init__()
            widths = range(2, 2 + layers)  # of different ones, which are not folded
            heads = [nn.SequentialCell(nn.Dense(4, wide), nn.ReLU(), nn.Dense(wide, 4)) for wide in widths]
            self.heads = nn.CellList(heads)

        def construct(self, x):
            return sum(head(x) for head in self.heads)

    shown = graph_view.view(Wide(), ms.Tensor(np.ones((2, 4), np.float32)))
    size = ElementTree.fromstring(shown.svg())
    assert float(size.get("width")) <= 2600 and ("ReLU" in shown.svg()) == (layers == 2)
