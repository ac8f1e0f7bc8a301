"""The graph view at work in JupyterLab 4 and in Notebook 7: what a person does with it, one after the other."""

import json
import re

import nbformat
import pytest
from browsing import (
    DRAWS,
    PYTHON,
    TOKEN,
    behind,
    chromium,
    frames,
    kernels,
    large_page,
    menu,
    needs,
    picture,
    run_all,
    until,
)
from nbformat.v4 import new_code_cell, new_notebook

pytestmark = pytest.mark.first
browser = pytest.fixture(chromium, scope="module")

NETWORK = """%%mindspore -m graph
import numpy as np
import mindspore as ms
from mindspore import nn, ops
class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Dense(16, 32), nn.Dense(32, 16)
        self.act, self.norm = nn.ReLU(), nn.LayerNorm((16,))
    def construct(self, x):
        return self.norm(x + self.down(self.act(self.up(x))))
class Net(nn.Cell):
    def __init__(self, blocks):
        super().__init__()
        self.blocks = nn.CellList([Block() for _ in range(blocks)])
        self.head = nn.Dense(16, 4)
    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)
net, small = Net(42), Net(2)
x = ms.Tensor(np.ones((8, 16), np.float32))
y = net(x)"""
STEP = """loss = nn.WithLossCell(small, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
step = nn.TrainOneStepCell(loss, nn.Momentum(small.trainable_params(), 0.1, 0.9)).set_train()
train = msnb.view(step, x, ms.Tensor(np.zeros(8, np.int32)))
train"""
COLUMN = """number = globals().get("number", 0) + 1
time = [number * 1e-4 * (1 + node.id % 7) for node in train.graph.all_nodes()]
train.set_column("time", {"label": "time", "unit": "s", "values": time})"""
DIFF = """from msnb.notebook import graph
graph.diff(small, Net(3), x, names=('two blocks', 'three blocks'))"""
RECORD = """%load_ext msnb
import pathlib, time
import msnb, numpy as np
record = msnb.SummaryRecord("recorded")
def log(steps):
    for step in steps:
        record.add_value("scalar", "train/loss", msnb.Tensor(np.float32(1 / step)))
        record.record(step)
    record.flush()
log([1])
msnb.dashboard("recorded")"""
FOLLOW = """log(range(2, 51))
while not pathlib.Path("seen").exists():  # the kernel is busy until the curve was seen
    time.sleep(0.05)
log([51])"""
RUNS = "%ms_runs ."
CELLS = ["%load_ext msnb", NETWORK, "import msnb\nmsnb.view(net, x)", "%ms_ir net(x)", DIFF, STEP, COLUMN]
FEW = [CELLS[0], NETWORK.replace("Net(42)", "Net(3)"), *CELLS[2:4]]  # for what a front end does with any view
VIEW = "document.querySelectorAll('.msnb-graph')[3]"
# whether every view of the network shows as many operators
FOLLOWED = """n => [...document.querySelectorAll('.msnb-graph')].slice(0, 2).every(g => g.dataset.nodes === n)"""


class Notebook:
    """One open notebook with its views: of the network, of its trace, of two networks, and of a training step; or the
    first two.
    """

    def __init__(self, page, folder, name, views):
        self.page, self.folder, self.name, self.views = page, folder, name, views

    def view(self, number):
        return self.page.locator(".msnb-graph").nth(number)

    def cell(self, text):
        return self.page.locator(".jp-CodeCell", has=self.page.locator(f'.cm-line:has-text("{text}")')).first

    def picture(self, number, name, docs=True):
        if self.name != "lab" or not DRAWS:  # a picture takes as long as what it shows
            return
        self.view(number).scroll_into_view_if_needed()
        self.page.mouse.move(2, 2)
        self.page.wait_for_timeout(150)
        picture(self.view(number), name, self.folder, docs=docs)


@pytest.fixture(params=[("lab", CELLS), ("notebook", FEW)], ids=["lab", "notebook"])
def notebook(request, browser, jupyter, tmp_path):
    """Yield a notebook whose cells have run. At the end no request to the network and no error in a view is allowed."""
    (name, cells), address = request.param, jupyter.address
    if name == "notebook":
        needs("notebook")
    path, views = "lab/tree" if name == "lab" else "notebooks", 2 if cells is FEW else 4
    asked, faults = [], []
    page = large_page(browser, 1100)
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    with jupyter.project(tmp_path, name, {"views.ipynb": cells}):
        page.goto(f"{address}/{path}/{name}/views.ipynb?token={TOKEN}&reset")
        page.locator(".jp-Notebook .jp-CodeCell").first.click()
        run_all(page)
        try:
            page.wait_for_function(
                "n => document.querySelectorAll('.msnb-graph[data-ready]').length === n", arg=views, timeout=90000
            )
        except Exception:  # a view that is not there is explained by what its cell has printed
            page.screenshot(path=tmp_path / "failed.png", full_page=True)
            pytest.fail(page.locator(".jp-Notebook").inner_text()[-3000:])
        if cells is CELLS:
            page.wait_for_function(f"() => {VIEW}?.querySelector('select.colour').value === 'time'")
        page.wait_for_function(
            "() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]"
            ".every(prompt => /[0-9]/.test(prompt.innerText))"
        )
        page.wait_for_timeout(1000)  # the last cell is done, and its view has been replaced by a newer one
        yield Notebook(page, tmp_path, name, views)
        page.close()
    assert not [url for url in asked if not url.startswith((address, "ws", "data:", "blob:"))]
    assert not [fault for fault in faults if "msnb" in fault]


def find(view, query):
    """Select the first node that a search finds, which also brings it into sight."""
    view.locator(".find input").fill(query)
    view.locator(".find input").press("Enter")
    view.locator(".n.sel").wait_for()
    view.locator(".find input").press("Escape")


def scopes_open_and_close(notebook):
    view = notebook.view(3)
    view.scroll_into_view_if_needed()
    view.locator('.n[aria-expanded="false"]').first.click()
    name = view.locator(".panel h3").inner_text()
    view.locator(f'.open[aria-label^="{name}"]').first.wait_for()
    view.locator('[data-do="close"]').click()
    notebook.page.wait_for_function(f"() => !{VIEW}.querySelector('.open')")
    view.locator('[data-do="open"]').click()
    notebook.page.wait_for_function(f"() => {VIEW}.querySelectorAll('.open').length > 9")
    assert view.locator("text.lane").all_text_contents() == ["forward", "backward", "update"]


def search_and_filter_find_nodes(notebook):
    view = notebook.view(3)
    view.locator(".find input").fill("op:relu scope:act")
    until(notebook.page, lambda: view.locator(".hits").inner_text() == "4")
    view.locator(".find input").press("Enter")
    assert view.locator(".n.sel").count() == 1 and "ReLU" in view.locator(".panel h3").inner_text()
    view.locator(".find input").press("Escape")
    view.locator("select.types").select_option("op:ApplyMomentum")
    view.locator(".n.dim").first.wait_for(state="attached")
    assert view.locator(".hits").inner_text() == "14"
    view.locator("select.types").select_option("")


def a_click_leads_to_the_line(notebook):
    page, view = notebook.page, notebook.view(0)
    view.scroll_into_view_if_needed()
    find(view, "op:layernorm")
    view.locator(".n.sel").click()
    page.wait_for_selector(".cm-line.msnb-revealed", state="attached")
    assert "self.norm(x + self.down" in page.locator(".msnb-revealed").inner_text()
    assert "In [2] line 11" in view.locator(".panel").inner_text()


def every_view_follows_what_is_typed(notebook):
    page = notebook.page
    before = int(notebook.view(0).get_attribute("data-nodes"))
    blocks = 42 if notebook.views == 4 else 3
    assert before > 6 * blocks and notebook.view(1).get_attribute("data-nodes") == str(before)
    behind(page, "return self.norm(x + self.down")
    page.keyboard.insert_text(" * 2")
    page.wait_for_function(FOLLOWED, arg=str(before + blocks))
    assert notebook.cell("class Block").locator(".jp-InputPrompt").inner_text().strip("[]:• \n") == "2"  # not run
    for _ in " * 2":
        page.keyboard.press("Backspace")
    page.wait_for_function(FOLLOWED, arg=str(before))


def a_mistake_is_said_on_each_view(notebook):
    page = notebook.page
    behind(page, "self.norm(x + self.down")
    page.keyboard.insert_text(" + (")
    strip = notebook.view(0).locator(
        ".strip", has_text="Shows the last version that worked; line 11: '(' was never closed"
    )
    strip.wait_for()
    assert page.locator(".msnb-graph.stale").count() == 3  # all but the difference of two networks
    notebook.picture(0, f"stale_{notebook.name}", docs=False)
    behind(page, "self.norm(x + self.down")
    for _ in " + (":
        page.keyboard.press("Backspace")
    page.wait_for_selector(".msnb-graph.stale", state="detached")
    frames(page)


def a_column_comes_to_a_view_that_is_open(notebook):
    page, view = notebook.page, notebook.view(3)
    view.scroll_into_view_if_needed()
    find(view, "op:relu")
    assert view.locator("select.colour").input_value() == "time"
    before, camera = view.locator(".n.sel").get_attribute("aria-label"), view.locator(".world")
    looked = camera.get_attribute("transform")
    page.evaluate(f"{VIEW}.dataset.before = 'true'")
    behind(page, "number = globals()")
    page.keyboard.press("Control+Enter")
    # the message comes at once; when the cell is done its output is replaced, with what was open and selected
    page.wait_for_function(
        f"before => (now => now && now !== before)({VIEW}?.querySelector('.n.sel')?.getAttribute('aria-label'))",
        arg=before,
    )
    page.wait_for_function(f"() => {VIEW}?.matches('[data-ready]:not([data-before])')")
    until(page, lambda: view.locator(".n.sel").count() == 1)
    frames(page)
    assert camera.get_attribute("transform") == looked
    assert "of all" in view.locator(".panel").inner_text()


def stages_are_made_when_they_are_asked_for(notebook):
    page, view = notebook.page, notebook.view(3)
    options = view.locator("select.which option").all_text_contents()
    assert re.fullmatch(r"optimised … compiles first, about \d+ (s|min)", options[-1])
    assert [option.partition(" …")[0] for option in options] == [
        "traced",
        "differentiated",
        "primitives",
        "StableHLO",
        "optimised",
    ]
    view.locator("select.beside").select_option("optimised")
    view.locator(".strip.calm", has_text="cells can be run meanwhile").wait_for(state="attached")
    page.wait_for_function(f"() => {VIEW}.querySelectorAll('.stage').length === 2")
    assert view.locator("select.colour").input_value() == "difference" and not view.locator(".strip.calm").count()
    assert "fusion:BiasAdd+ReLU" in view.locator(".panel").inner_text(), "what the selected node was fused into"
    view.locator(".stage > svg").first.press("Escape")
    assert "fused with others" in view.locator(".panel").inner_text()
    notebook.picture(3, "graph_stages")
    view.locator("select.beside").select_option("")


def the_text_is_copied_as_the_kernel_prints_it(notebook):
    view = notebook.view(3)
    notebook.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    view.locator("select.copy").select_option("text")
    view.locator(".hint.on", has_text="copied").wait_for()
    copied = notebook.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("# FuncGraph TrainOneStepCell") and "ApplyMomentum(" in copied


def a_weight_opens_to_what_it_holds(notebook):
    page, view = notebook.page, notebook.view(3)
    find(view, "MatMul")
    link = view.locator(".panel [data-weight]").first
    name = link.inner_text()
    link.click()
    content = view.locator(".panel .held")
    content.wait_for()
    assert name in content.inner_text() and "mean" in content.inner_text() and "trained" not in content.inner_text()
    assert content.locator('svg[aria-label="histogram of the values"] rect').count() > 5
    around = view.locator(".panel").bounding_box()
    seen = content.locator("svg").bounding_box()
    assert content.bounding_box()["width"] <= around["width"]
    assert seen["y"] + seen["height"] <= around["y"] + around["height"] + 1, "it is scrolled into sight"
    picture(view, f"weight_{notebook.name}", notebook.folder, docs=False)
    link.press("Enter")
    content.wait_for(state="detached")
    assert page.evaluate("document.activeElement.dataset.weight") == name


def two_networks_are_compared(notebook):
    view = notebook.view(2)
    view.scroll_into_view_if_needed()
    assert view.locator(".heading").all_inner_texts() == ["two blocks", "three blocks"]
    assert "+ added" in view.locator(".panel").inner_text()
    notebook.picture(2, "graph_diff")


def dark_theme_and_narrow_window(notebook):
    page = notebook.page
    menu(page, "Settings", "Theme", "JupyterLab Dark")
    page.wait_for_selector('.msnb-graph[data-theme="dark"]', state="attached")
    notebook.picture(3, "graph_dark")
    page.set_viewport_size({"width": 620, "height": 900})
    page.wait_for_selector(".msnb-graph.narrow", state="attached")
    view = notebook.view(notebook.views - 1)
    view.scroll_into_view_if_needed()
    assert view.locator(".stage").first.bounding_box()["height"] > 150
    notebook.picture(3, "graph_narrow")
    page.set_viewport_size({"width": 1500, "height": 1100})
    menu(page, "Settings", "Theme", "JupyterLab Light")


def the_mode_can_be_switched(notebook):
    page = notebook.page
    mode = page.locator('select[aria-label="msnb mode"]:visible')
    assert mode.count() == 1, "in the status bar, or in the toolbar where there is none"
    assert bool(page.locator(".jp-Toolbar .msnb-Status").count()) == (notebook.name == "notebook")
    before = mode.input_value()
    for wish in ("PYNATIVE" if before == "GRAPH" else "GRAPH", before):
        mode.select_option(wish)
        page.wait_for_function(
            "wish => [...document.querySelectorAll('select[aria-label=\"msnb mode\"]')].every(s => s.value === wish)",
            arg=wish,
        )
    picture(page, f"mode_{notebook.name}", notebook.folder, docs=False)


def read_saved_notebook(notebook):
    """Return the notebook's file, once it holds its four views."""
    page = notebook.page
    page.locator(".jp-Notebook .jp-InputPrompt").first.click()
    menu(page, "File", "Save Notebook")
    path = notebook.folder / "work" / "views.ipynb"

    def outputs():
        text = path.read_text(encoding="utf-8")
        cells = json.loads(text)["cells"] if text.rstrip().endswith("}") else []  # else it is being written
        return [output for cell in cells for output in cell["outputs"] if "data" in output]

    until(page, lambda: sum('class="msnb-view"' in str(output["data"].get("text/html")) for output in outputs()) == 4)
    return nbformat.read(path, 4)


def an_exported_page_needs_no_network(book, notebook, browser):
    assert json.dumps(book).count("data-msnb-name=") == 1, "one output brings the module along"
    from nbconvert import HTMLExporter

    exported = notebook.folder / "views.html"
    exported.write_text(HTMLExporter().from_notebook_node(book)[0])
    still = browser.new_page()
    still.set_default_timeout(60000)
    still.route("http*://**", lambda route: route.abort())
    still.goto(exported.as_uri(), wait_until="domcontentloaded")
    still.locator("iframe[srcdoc]").last.scroll_into_view_if_needed()  # what is out of sight is not drawn
    frame = still.frame_locator("iframe[srcdoc]").last
    frame.locator(".msnb-graph[data-ready]").wait_for()
    assert frame.locator("select.colour").input_value() == "time"
    frame.locator(".stage > svg").press("Enter")
    frame.locator(".n.sel, .open.sel").wait_for()
    frame.locator('[data-do="close"]').click()
    frame.locator('.n[aria-expanded="false"]').first.wait_for()
    still.close()


def a_reopened_notebook_shows_the_still_form(notebook):
    page = notebook.page
    menu(page, "Kernel", "Restart Kernel…")
    page.locator(".jp-Dialog .jp-mod-accept").click()
    notebook.view(0).locator(".strip.gone", has_text="run this cell again").wait_for()
    until(page, lambda: kernels(page) == ["idle"])
    page.reload()
    frame = page.frame_locator(".jp-OutputArea iframe[srcdoc]").first
    frame.locator(".msnb-graph[data-ready]").wait_for()
    assert "model not found" not in page.locator(".jp-Notebook").inner_text()


def a_curve_is_followed_while_its_kernel_is_busy(notebook):
    page = notebook.page
    place = notebook.folder / "work" / "recorded.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(text) for text in (RECORD, FOLLOW, RUNS)], metadata=PYTHON), place)
    page.goto(re.sub(r"\w+\.ipynb.*", f"recorded.ipynb?token={TOKEN}&reset", page.url))
    page.locator(".jp-Notebook .jp-CodeCell").first.click()
    run_all(page)
    page.locator('.msnb-dash [data-tag="train/loss"][aria-label*="step 50;"]').wait_for()
    page.fill(".msnb-dash [data-set=filter]", "loss")
    (notebook.folder / "work" / "seen").touch()
    page.locator('.msnb-dash [data-tag="train/loss"][aria-label*="step 51;"]').wait_for()
    page.wait_for_function("() => /[0-9]/.test([...document.querySelectorAll('.jp-InputPrompt')].at(-1).innerText)")
    assert page.locator(".msnb-dash [data-set=filter]").input_value() == "loss", "though its output was drawn anew"
    page.locator(".msnb-runs[data-ready] .title", has_text="1 run").wait_for()
    page.locator(".msnb-runs .row", has_text="recorded").click()
    page.locator('.msnb-runs .row[aria-selected="true"]').wait_for()
    page.click(".msnb-runs .acts [data-do=star]")
    marks = notebook.folder / "work" / ".msnb_runs.json"
    until(page, lambda: marks.exists() and "recorded" in marks.read_text(encoding="utf-8"))
    picture(page.locator(".msnb-dash"), f"dashboard_{notebook.name}", notebook.folder, docs=False)

    def kept():  # what a cell has changed may come behind the news that it is done
        menu(page, "File", "Save Notebook")
        return "train/loss 0.01961" in place.read_text(encoding="utf-8")

    until(page, kept)
    assert page.locator(".msnb-dash").count() == 1


def test_a_session_with_graphs(notebook, browser):
    """In JupyterLab what is done with a view; in Notebook 7 that cells, messages and themes go through it."""
    whole = notebook.name == "lab"
    if whole:
        scopes_open_and_close(notebook)
        search_and_filter_find_nodes(notebook)
        notebook.picture(3, "graph_time")
    a_click_leads_to_the_line(notebook)
    every_view_follows_what_is_typed(notebook)
    notebook.picture(0, "graph_view")
    if whole:
        a_mistake_is_said_on_each_view(notebook)
        a_column_comes_to_a_view_that_is_open(notebook)
        stages_are_made_when_they_are_asked_for(notebook)
        the_text_is_copied_as_the_kernel_prints_it(notebook)
        a_weight_opens_to_what_it_holds(notebook)
        two_networks_are_compared(notebook)
    the_mode_can_be_switched(notebook)
    dark_theme_and_narrow_window(notebook)
    if whole:
        an_exported_page_needs_no_network(read_saved_notebook(notebook), notebook, browser)
        a_curve_is_followed_while_its_kernel_is_busy(notebook)


@pytest.mark.slow
@pytest.mark.parametrize("notebook", [("notebook", CELLS)], ids=["notebook"], indirect=True)
def test_a_long_session_in_notebook_7(notebook):
    """Run in Notebook 7 the session of JupyterLab, and that of test_lab_extension.py for a reopened notebook."""
    a_mistake_is_said_on_each_view(notebook)
    a_column_comes_to_a_view_that_is_open(notebook)
    read_saved_notebook(notebook)
    a_reopened_notebook_shows_the_still_form(notebook)
    a_curve_is_followed_while_its_kernel_is_busy(notebook)
