import html
import json
import pathlib
import re
import sys

import pytest

from msnb import ir
from msnb.notebook import graph as graph_view
from msnb.notebook.graph import GraphView

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "ir"))
import ir_programs as programs

MODULE = pathlib.Path(graph_view.__file__).with_name("widget.js")


def view(kind="step", layers=3, **settings):
    return GraphView(ir.read(programs.traced(kind, layers), "Net", programs.inputs(kind, layers)), **settings)


def test_a_view_has_a_form_for_every_place():
    data, _ = view()._repr_mimebundle_()
    assert {"text/plain", "text/html", "image/svg+xml", "application/vnd.jupyter.widget-view+json"} <= set(data)
    assert data["text/plain"].startswith("GraphView(Net: ")


def test_the_form_without_a_kernel_is_the_same_in_every_run():
    assert view()._frame() == view()._frame()
    assert view().payload == view().payload


def test_nothing_in_the_page_comes_from_the_network():
    page = view().html()
    outside = re.findall(r"(?:https?:)?//[\w.-]+\.\w+", page + MODULE.read_text(encoding="utf-8"))
    assert [url for url in outside if "www.w3.org" not in url] == []


def test_the_page_survives_being_an_attribute():
    frame = view()._frame()
    inside = re.search(r'srcdoc="([^"]*)"', frame).group(1)
    assert html.unescape(inside) == view().html()


def test_the_module_is_small():
    assert MODULE.stat().st_size < 100_000


def test_a_notebook_grows_by_less_than_300_kb_for_5000_nodes():
    big = view("step", 1010)
    assert len(big.graph) > 5000
    data, _ = big._repr_mimebundle_()
    state = len(MODULE.read_bytes()) + len(big.payload) * 4 // 3
    assert len(json.dumps(data)) + state < 300_000


def test_a_view_is_saved_in_the_form_its_suffix_asks_for(tmp_path):
    for suffix, start in ((".html", "<!doctype html>"), (".svg", "<svg"), (".dot", "digraph"), (".ir", "# FuncGraph")):
        path = tmp_path / f"net{suffix}"
        view().save(path)
        assert path.read_text().startswith(start)
    with pytest.raises(ValueError, match="net.pdf"):
        view().save(tmp_path / "net.pdf")


@pytest.mark.parametrize("height", [0, -3, 2.5, "tall", True])
def test_a_wrong_height_is_refused(height):
    with pytest.raises(ValueError, match="positive int"):
        view(height=height)


def test_values_to_colour_by_must_be_one_per_node():
    with pytest.raises(ValueError, match="one value per node"):
        view(columns={"time": {"unit": "s", "values": [1.0]}})
    with pytest.raises(ValueError, match="'heat'"):
        view(colour="heat")


def test_a_view_needs_no_widgets(monkeypatch):
    monkeypatch.setattr(sys.modules[GraphView.__module__], "_widget_class", lambda: None)
    data, _ = view()._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html", "image/svg+xml"}
