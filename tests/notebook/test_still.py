"""Saved views where no kernel runs: what a notebook file keeps, with and without scripts, on paper and as Markdown."""

import contextlib
import html
import pathlib
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from browsing import chromium, paper
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from nbformat.v4 import new_code_cell, new_notebook, new_output

import msnb as ms
from msnb import Tensor, ir, nn
from msnb.insight.profile import profile
from msnb.notebook.display import static_output
from msnb.notebook.gradients import inspect_gradients
from msnb.notebook.graph import GraphView
from msnb.notebook.kernel import front_end
from msnb.notebook.profile import view as profile_view

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "ir"))
import ir_programs as programs

browser = pytest.fixture(chromium, scope="module")
HEIGHTS = [300, 620, 400]  # of the views of the notebook, as `views` makes them
SENTENCE = "Run this cell, or trust the notebook"


def graph(**settings):
    return GraphView(ir.read(programs.traced("step", 3), "Net", programs.inputs("step", 3)), **settings)


class Front:
    """Asks for cells as a front end does, of a shell in this process."""

    def __init__(self, shell):
        self.shell = shell
        self.begins("none yet")

    def begins(self, cell, store=True, stdin=True):
        """A cell starts to run; None for one whose front end has no names for cells."""
        metadata = {} if cell is None else {"cellId": cell}
        self.shell.parent_header = {"content": {"store_history": store, "allow_stdin": stdin}, "metadata": metadata}
        self.shell.events.trigger("pre_run_cell", SimpleNamespace(raw_cell="", cell_id=cell))

    def shows(self, view):
        """Return the names of the files that the view's output brings along."""
        return set(re.findall('data-msnb-name="([^"]*)"', view._repr_mimebundle_()[0]["text/html"]))


def connected(patch):
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    patch.setattr(front_end, "_file_owners", {})
    return Front(shell)


@pytest.fixture
def front(monkeypatch):
    yield connected(monkeypatch)
    InteractiveShell.clear_instance()


@pytest.fixture(scope="module")
def views():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    net, x = nn.Dense(8, 3), Tensor(np.ones((4, 8), np.float32))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    views_of_all = [
        graph(height=HEIGHTS[0]),
        inspect_gradients(net, loss, (x, Tensor(np.zeros(4, np.int32))), height=HEIGHTS[1]),
        profile_view(profile(net, x, steps=3), height=HEIGHTS[2]),
    ]
    ms.set_context(mode=before)
    return views_of_all


@pytest.fixture(scope="module")
def book(views):
    """Return a notebook with one view in each cell, as a program leaves it that runs notebooks."""
    cells = []
    with pytest.MonkeyPatch.context() as patch:
        front = connected(patch)
        for number, view in enumerate(views, 1):
            front.begins(None, stdin=False)
            front.shell.execution_count = number
            output = new_output("execute_result", view._repr_mimebundle_()[0], execution_count=number)
            cells.append(new_code_cell("view", outputs=[output], execution_count=number))
    InteractiveShell.clear_instance()
    return new_notebook(cells=cells)


def html_of_output(book, number):
    return book.cells[number].outputs[0].data["text/html"]


# ---------------------------------------------------------------------- what the file keeps
def test_what_sanitisers_leave_is_the_picture_and_a_sentence(book, views):
    for number, view in enumerate(views):
        text = html_of_output(book, number)
        assert not re.search(r"<(?!/?(?:div|style|p|i|img)\b)", text), "another element than these"
        assert static_output.picture_in(text)[0] == view.svg()
        said = re.sub("<[^>]*>", "", re.sub("<style>.*?</style>", "", text))
        assert said.startswith("A still picture. Run this cell") and said.count(".") == 2


def test_the_page_in_the_notebook_is_the_one_that_is_saved(front):
    output = graph()
    text = output._repr_mimebundle_()[0]["text/html"]
    brought = dict(re.findall('data-msnb-name="([^"]*)" data-msnb-code="([^"]*)"', text))
    page = html.unescape(re.search('data-page="([^"]*)"', text).group(1))
    assert brought and re.sub(r"@msnb:([\w-]+)", lambda result: brought[result.group(1)], page) == output.html()


def test_a_notebook_carries_each_file_once(book):
    names = [re.findall('data-msnb-name="([^"]*)"', html_of_output(book, number)) for number in range(3)]
    needed = [re.search('data-needs="([^"]*)"', html_of_output(book, number)).group(1).split() for number in range(3)]
    assert [len(each) for each in needed] == [1, 3, 2]  # the graph's module stands in the two others as well
    assert sorted(sum(names, [])) == sorted(set(sum(needed, [])))
    assert not any("image/svg+xml" in cell.outputs[0].data for cell in book.cells)


def test_a_cell_that_runs_anew_brings_what_it_loses(front):
    name = set(graph()._build_page().shared())
    front.begins("one")
    assert front.shows(graph()) == name and front.shows(graph()) == name, "the output before it may be cleared"
    front.begins("two")
    assert front.shows(graph()) == set()
    front.begins("one")
    assert front.shows(graph()) == name
    front.begins("one")  # edited: it shows no view any more
    front.begins("two")
    assert front.shows(graph()) == name


def test_an_output_that_is_brought_up_to_date_brings_what_it_brought(front, monkeypatch):
    published = []
    monkeypatch.setattr("IPython.display.publish_display_data", lambda data, *_, **more: published.append(data))
    first, second = graph(), graph()
    front.begins("one")
    first._ipython_display_()
    front.begins("two")
    second._ipython_display_()
    first.show_again()
    second.show_again()
    assert ['data-msnb-name="' in data["text/html"] for data in published] == [True, False, True, False]


@pytest.mark.parametrize("place", ["no kernel", "side panel", "captured", "Colab"])
def test_an_output_of_its_own_brings_everything(front, monkeypatch, place):
    front.begins("one", store=place != "side panel")
    if place == "no kernel":
        front.shell.parent_header = {}
    if place == "Colab":
        monkeypatch.setitem(sys.modules, "google.colab", SimpleNamespace())
    with capture_output() if place == "captured" else contextlib.nullcontext():
        assert len(front.shows(graph())) == len(front.shows(graph())) == 1
    assert not front_end._file_owners


def test_nothing_is_remembered_after_the_session(front):
    front.begins("one")
    front.shows(graph())
    front_end.forget(front.shell)
    assert (
        not front_end._file_owners
        and front_end._forget_files_of_rerun_cell not in front.shell.events.callbacks["pre_run_cell"]
    )


def test_a_program_that_runs_notebooks_gets_no_widget(front):
    pytest.importorskip("anywidget")
    front.begins("one")
    assert "application/vnd.jupyter.widget-view+json" in graph()._repr_mimebundle_()[0]
    front.begins("one", stdin=False)
    assert set(graph()._repr_mimebundle_()[0]) == {"text/plain", "text/html"}


def test_markdown_has_one_block_of_html_for_each_view(book):
    from nbconvert import MarkdownExporter

    text, _ = MarkdownExporter().from_notebook_node(book)
    lines = [line for line in text.splitlines() if "<" in line]
    assert len(lines) == 3 and all(line.startswith("<div ") and line.endswith("</div>") for line in lines)
    assert text.count('<img src="data:image/svg+xml;base64,') == 3 and "iframe src" not in text


def test_markdown_can_link_the_pictures_as_files(book, views):
    from nbconvert import MarkdownExporter

    exporter = MarkdownExporter(preprocessors=["msnb.notebook.markdown.LinkedPictures"])
    other = new_code_cell("1", outputs=[new_output("execute_result", {"text/html": "<b>no view</b>"})])
    settings = {"unique_key": "net", "output_files_dir": "net files"}
    text, resources = exporter.from_notebook_node(new_notebook(cells=[*book.cells, other]), settings)
    assert re.findall(r"!\[(.*)\]\((.*)\)", text) == [
        ("Graph of Net: 17 nodes", "net%20files/net_view_0_0.svg"),
        ("gradients of a training", "net%20files/net_view_1_0.svg"),
        ("Profile of Dense", "net%20files/net_view_2_0.svg"),
    ]
    assert list(resources["outputs"].values()) == [view.svg().encode() for view in views]
    assert "msnb-view" not in text and "<b>no view</b>" in text


# ---------------------------------------------------------------------- in a browser
@pytest.fixture(scope="module")
def exported(book, tmp_path_factory):
    """exported(theme) -> address of the notebook as nbconvert's HTML."""
    from nbconvert import HTMLExporter

    def exported(theme):
        path = tmp_path_factory.mktemp("html") / f"{theme}.html"
        urls = dict.fromkeys(("require_js_url", "mathjax_url", "jquery_url", "mermaid_js_url"), "")
        path.write_text(HTMLExporter(theme=theme, **urls).from_notebook_node(book)[0], encoding="utf-8")
        return path.as_uri()

    return exported


@pytest.fixture
def open_page(browser):
    """open_page(address, **options) -> page that follows the notebook's colours, not the system's."""
    contexts = []

    def open_page(address, **options):
        contexts.append(browser.new_context(color_scheme="null", viewport={"width": 900, "height": 700}, **options))
        page = contexts[-1].new_page()
        page.set_default_timeout(20000)
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()


def test_without_scripts_there_are_pictures_in_the_colours_of_the_page(exported, open_page):
    for theme in ("light", "dark"):
        page = open_page(exported(theme), java_script_enabled=False)
        assert page.locator("iframe").count() == 0
        for picture in page.locator(".msnb-view > img").all():
            box = picture.bounding_box()
            assert box["width"] > 200 and box["height"] > 100
            assert paper(picture) > 240 if theme == "light" else paper(picture) < 40
        assert page.locator(".msnb-view > p").first.is_visible() and SENTENCE in page.inner_text("body")
        page.emulate_media(media="print")
        assert [paper(picture) > 240 for picture in page.locator(".msnb-view > img").all()] == [True] * 3


def test_with_scripts_the_live_views_cover_their_pictures(exported, open_page):
    page = open_page(exported("dark"))
    outputs, frames = page.locator(".msnb-view"), page.locator(".msnb-view > iframe")
    assert [round(output.bounding_box()["height"]) for output in outputs.all()] == HEIGHTS, "before they have drawn"
    for number, drawn in enumerate((".msnb-graph", ".msnb-grad", ".msnb-profile")):
        output, picture = outputs.nth(number), outputs.nth(number).locator("> img")
        output.scroll_into_view_if_needed()  # what is out of sight is not drawn
        page.wait_for_function("n => document.querySelectorAll('.msnb-view')[n].matches('.live')", arg=number)
        assert output.bounding_box() == frames.nth(number).bounding_box()
        assert output.bounding_box()["height"] == HEIGHTS[number]
        assert not picture.is_visible() and not output.locator("> p").is_visible()
        frame = output.frame_locator("iframe")
        assert frame.locator(f"{drawn}[data-ready]").get_attribute("data-theme") == "dark"
        assert frame.locator("body").evaluate("body => getComputedStyle(body).backgroundColor") == "rgba(0, 0, 0, 0)"

    page.emulate_media(media="print")
    pictures = page.locator(".msnb-view > img")
    assert frames.count() == 3 and not any(frame.is_visible() for frame in frames.all())
    assert [paper(picture) > 240 for picture in pictures.all()] == [True] * 3, "paper is light"
    assert not page.locator(".msnb-view > p").first.is_visible()
    printed = page.pdf(tagged=True)
    assert printed.count(b"/Alt") == 3


def test_a_live_view_follows_the_switch_of_a_page(book, open_page, tmp_path):
    path = tmp_path / "switched.html"
    path.write_text(f'<!doctype html><html data-theme="dark"><meta charset="utf-8">{html_of_output(book, 0)}')
    page = open_page(path.as_uri())
    page.wait_for_selector(".msnb-view.live")
    frame = page.frame_locator(".msnb-view > iframe")
    for theme, brightness in (("dark", range(40)), ("light", range(230, 256)), ("dark", range(40))):
        page.evaluate("theme => (document.documentElement.dataset.theme = theme)", theme)
        frame.locator(f".msnb-graph[data-theme={theme}]").wait_for()
        assert paper(frame.locator(".msnb-graph")) in brightness


def test_a_view_that_was_copied_alone_stays_a_picture_until_its_files_come(book, open_page, tmp_path):
    alone = tmp_path / "alone.html"
    alone.write_text(f'<!doctype html><meta charset="utf-8">{html_of_output(book, 2)}')
    page = open_page(alone.as_uri())
    view = page.locator(".msnb-view")
    page.wait_for_selector(".msnb-view.still")
    assert SENTENCE in view.inner_text() and page.locator("iframe").count() == 0
    picture = view.locator("> img").bounding_box()
    assert view.bounding_box()["height"] > picture["height"] > 100, "as high as it is"
    page.evaluate(
        "html => document.body.insertAdjacentHTML('beforeend', html)", html_of_output(book, 0) + html_of_output(book, 1)
    )
    page.wait_for_function("() => document.querySelector('.msnb-view').matches('.live')")
    assert view.first.bounding_box()["height"] == HEIGHTS[2]


def test_the_sentence_says_what_there_is_to_see():
    assert "to explore the graph.</p>" in graph()._repr_mimebundle_()[0]["text/html"]
    page = graph()._build_page()
    page_text = static_output.standing(page, "<svg/>", 'a "title"', 10, "see more", set())
    assert (
        "to see more.</p>" in page_text
        and 'alt="a &quot;title&quot;"' in page_text
        and 'data-msnb-name="' not in page_text
    )


def test_names_of_a_still_profile_end_before_the_next_column_begins():
    """Of every kind of letter, measured with a face that is as wide as sans-serif faces are."""
    from msnb.notebook.profile import picture

    for column, (start, room) in picture._COLUMNS.items():
        for name in (
            "gradSparseSoftmaxCrossEntropyWithLogits (fused)",
            "W" * 60,
            "blocks.0.attention.query.dense",
            "ill" * 30,
        ):
            (shown,) = re.findall(r">([^<]*)</text>", picture._fit_text(column, name, 20))
            assert picture._estimate_width(shown) <= room and shown[0] == name[0]
        later = [x for x, _ in picture._COLUMNS.values() if x > start]
        assert start + room < min(later, default=860)
