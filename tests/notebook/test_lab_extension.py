"""The JupyterLab extension: built from these sources, and at work in a real JupyterLab."""

import hashlib
import json
import re

import nbformat
import numpy as np
import pytest
from browsing import (
    EXTENSION,
    PYTHON,
    TOKEN,
    behind,
    chromium,
    instead,
    kernels,
    line,
    menu,
    opened,
    palette,
    paper,
    picture,
    run_all,
    until,
)
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from msnb import Tensor, nn
from msnb.notebook import graph

pytestmark = pytest.mark.first
browser = pytest.fixture(chromium, scope="module")

CELLS = [
    "%load_ext msnb",
    """%%mindspore -m graph --ir
import numpy as np
import mindspore as ms
from mindspore import nn, ops
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2)
    def construct(self, x):
        return self.dense(x)
net = Net()
x = ms.Tensor(np.ones((4, 3), np.float32))
y = net(x)""",
]
PROFILE = [
    "%load_ext msnb",
    """%%mindspore
import numpy as np
from mindspore import Tensor, context, nn
context.set_context(mode=context.GRAPH_MODE)
class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid", weight_init="HeNormal")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", weight_init="HeNormal")
        self.fc1, self.fc2, self.fc3 = nn.Dense(400, 120), nn.Dense(120, 84), nn.Dense(84, 10)
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()
    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.flatten(self.pool(self.relu(self.conv2(x))))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))
net, loss = LeNet(), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
train = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.01, 0.9)).set_train()
x = Tensor(np.random.default_rng(0).standard_normal((64, 1, 32, 32)).astype(np.float32))
y = Tensor(np.arange(64, dtype=np.int32) % 10)""",
    "%ms_profile -n 8 train(x, y)",
]


def test_the_bundle_is_built_from_these_sources():
    digest = hashlib.sha256()
    for folder in ("src", "style"):
        for path in sorted((EXTENSION / folder).iterdir()):
            digest.update(path.read_bytes())
    built = (EXTENSION / "labextension" / "sources.sha256").read_text().strip()
    assert built == digest.hexdigest(), "run `npm run build` in extensions/jupyterlab-msnb and commit labextension/"


def test_the_built_extension_is_small_and_asks_for_jupyterlab_4_2():
    files = list((EXTENSION / "labextension" / "static").glob("*.js"))
    assert sum(f.stat().st_size for f in files) < 60_000
    entry = json.loads((EXTENSION / "labextension" / "package.json").read_text())["jupyterlab"]["_build"]["load"]
    text = (EXTENSION / "labextension" / entry).read_text()
    assert "[1,4,2,0]" in text and "http://" not in text and "https://" not in text


def address(server, name):
    return f"{server}/lab/tree/live/{name}?token={TOKEN}"


@pytest.fixture
def page(browser, jupyter, tmp_path):
    """Yield the notebook in JupyterLab; in the end nothing may have been asked of the network."""
    with jupyter.project(tmp_path, "live", {"live.ipynb": CELLS}):
        yield from yield_pages(browser, jupyter.address)


def yield_pages(browser, server):
    asked = []
    page = opened(browser, address(server, "live.ipynb"), ".msnb-graph[data-ready]")
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_function("() => document.querySelector('.msnb-Status select')?.value")
    yield page
    page.close()
    assert not [url for url in asked if not url.startswith((server, "ws", "data:", "blob:"))]


def a_click_on_a_node_shows_its_line(page):
    page.locator('[aria-label^="MatMul"]').first.click()
    page.wait_for_selector(".cm-line.msnb-revealed")
    assert page.locator(".msnb-revealed").inner_text().strip() == "return self.dense(x)"


def the_graph_follows_what_is_typed(page):
    behind(page, "return self.dense(x)")
    page.keyboard.insert_text(" + ops.Sigmoid()(x[:, :2])")
    page.wait_for_selector('[aria-label^="Sigmoid"]', state="attached")
    assert page.locator(".jp-InputPrompt").nth(1).inner_text().strip("[]:• \n") == "2"  # it has not been run


def what_cannot_be_followed_is_said_above_the_graph_in_the_status_bar_and_at_its_line(page, folder):
    behind(page, "return self.dense(x)")
    page.keyboard.insert_text(" + (")
    page.wait_for_function("() => /line 10/.test(document.querySelector('.msnb-said').textContent)")
    strip = page.locator('.strip[role="status"]')
    assert strip.inner_text() == "Shows the last version that worked; line 10: '(' was never closed"
    assert page.locator(".msnb-graph.stale").count() == 1 and page.locator(".msnb-mistake").inner_text().endswith("+ (")
    picture(page, "stale", folder, docs=False)
    for _ in " + (":
        page.keyboard.press("Backspace")
    page.wait_for_function("() => document.querySelector('.msnb-said').textContent === ''")
    page.wait_for_selector(".msnb-graph:not(.stale)")
    assert not strip.is_visible() and page.locator(".msnb-mistake").count() == 0


def a_changed_constructor_is_followed(page):
    behind(page, "self.dense = nn.Dense(3, 2)")
    page.keyboard.press("Backspace")
    page.keyboard.insert_text(", has_bias=False)")
    page.wait_for_selector('[aria-label^="BiasAdd"]', state="detached")
    for _ in ", has_bias=False)":
        page.keyboard.press("Backspace")
    page.keyboard.insert_text(")")
    page.wait_for_selector('[aria-label^="BiasAdd"]', state="attached")


def the_cursor_selects_the_nodes_of_its_line(page):
    line(page, "import numpy").click()
    page.wait_for_timeout(400)
    line(page, "return self.dense(x)").click()
    page.wait_for_function("() => /return self.dense/.test(document.querySelector('.msnb-graph').innerText)")


def a_graph_follows_its_name_when_its_class_has_run_again(page, folder):
    cells = [new_code_cell(text) for text in (CELLS[0], CELLS[1].replace(" --ir", ""), "%ms_ir net(x)")]
    nbformat.write(new_notebook(cells=cells, metadata=PYTHON), folder / "work" / "again.ipynb")
    instead(page, "live/again.ipynb")
    page.locator(".jp-Notebook .jp-CodeCell").first.click()
    run_all(page)
    graph, strip = page.locator(".msnb-graph[data-ready]"), page.locator('.strip[role="status"]')
    graph.wait_for()

    def is_drawn(operator, state="attached"):
        page.wait_for_selector(f'.msnb-graph [aria-label^="{operator}"]', state=state)

    def has_run(count):
        page.wait_for_function(f"() => /{count}/.test(document.querySelectorAll('.jp-InputPrompt')[1].textContent)")

    behind(page, "return self.dense(x)")
    page.keyboard.insert_text(" + ops.Sigmoid()(x[:, :2])")
    is_drawn("Sigmoid")
    page.keyboard.press("Control+Enter")
    has_run(4)
    behind(page, "return self.dense(x)")
    page.keyboard.insert_text(" * ops.Tanh()(x[:, :2])")
    is_drawn("Tanh")
    page.keyboard.insert_text(" + (")
    page.wait_for_function("() => /never closed/.test(document.querySelector('.strip[role=status]').textContent)")
    for _ in " + (":
        page.keyboard.press("Backspace")
    page.keyboard.press("Control+Enter")  # before what is mended was sent
    has_run(5)
    page.wait_for_selector(".msnb-graph:not(.stale)")
    is_drawn("Tanh")
    assert not strip.is_visible()
    behind(page, "return self.dense(x)")
    page.keyboard.insert_text(" + ops.Sin()(x[:, :2])")
    is_drawn("Sin")
    picture(page, "run-again", folder, docs=False)


def options_are_coloured_and_completed(page):
    first = line(page, "%%mindspore")
    assert first.locator(".msnb-magic").count() == 1 and first.locator(".msnb-value").inner_text() == "graph"
    behind(page, "%%mindspore")
    page.keyboard.insert_text(" --wrong")
    page.wait_for_selector(".msnb-wrong")
    for _ in "wrong":
        page.keyboard.press("Backspace")
    page.keyboard.press("Tab")
    page.wait_for_selector(".jp-Completer-item")
    labels = page.locator(".jp-Completer-item .jp-Completer-match").all_inner_texts()
    assert set(labels) - {"--mode"} == {"--api", "--check", "--device", "--time"}
    page.keyboard.press("Escape")
    page.keyboard.press("Control+z")


def the_status_bar_switches_the_mode(page):
    page.locator(".msnb-Status select").first.select_option("GRAPH")
    page.locator('li[data-id="msnb-panel"]').click()
    page.wait_for_selector(".msnb-Panel .msnb-row")
    assert page.locator(".msnb-Status select").first.input_value() == "GRAPH"


def the_panel_lists_networks_programs_and_memory_and_leads_to_the_source(page):
    text = page.locator(".msnb-Panel").inner_text()
    for said in ("Networks (1)", "8 numbers · 32 B", "Compiled programs (1)", "Memory"):
        assert said in text
    page.locator(".msnb-Panel .msnb-link").first.click()
    page.wait_for_function("() => /def construct/.test(document.querySelector('.msnb-revealed')?.innerText ?? '')")


def the_panel_opens_a_graph_beside_the_notebook(page):
    page.locator(".msnb-Panel .msnb-small").click()
    page.wait_for_selector(".msnb-Tab .msnb-graph[data-ready]")
    assert page.locator(".msnb-Tab .msnb-graph").bounding_box()["height"] > 400


def commands_are_in_the_palette(page):
    palette(page, "msnb", "Graphs follow typing").press("Escape")


def the_dark_theme_reaches_panel_and_graph(page):
    menu(page, "Settings", "Theme", "JupyterLab Dark")
    page.wait_for_selector('.msnb-graph[data-theme="dark"]', state="attached")
    colour = page.evaluate("() => getComputedStyle(document.querySelector('.msnb-Panel')).backgroundColor")
    assert max(map(int, colour.removeprefix("rgb(").rstrip(")").split(","))) < 80


def after_a_restart_the_view_says_what_to_do(page, folder):
    page.locator('.lm-TabBar-tab:has-text("live.ipynb")').first.click()
    gone = page.locator(".jp-Notebook .strip.gone")
    assert not gone.is_visible()
    menu(page, "Kernel", "Restart Kernel…")
    page.locator(".jp-Dialog .jp-mod-accept").click()
    gone.wait_for()
    assert gone.inner_text() == "The kernel has restarted: run this cell again."
    page.select_option(".jp-Notebook select.which", "StableHLO")
    assert page.locator(".jp-Notebook select.which").input_value() == "traced"
    picture(page, "restarted", folder, docs=False)


def a_notebook_that_is_opened_again_shows_its_graph_without_a_kernel(page, folder):
    page.locator('.lm-TabBar-tab:has-text("live.ipynb")').first.click()
    page.locator(".jp-Notebook .jp-InputPrompt").first.click()
    menu(page, "File", "Save Notebook")
    path = folder / "work" / "live.ipynb"
    until(page, lambda: "data-page" in (text := path.read_text()) and text.rstrip().endswith("}"))  # saved, and whole
    until(page, lambda: "Idle" in page.inner_text("#jp-main-statusbar"))  # it was restarted, and takes no other order
    menu(page, "Kernel", "Shut Down Kernel")
    until(page, lambda: kernels(page) == [])
    page.goto(address(page.url.partition("/lab")[0], "live.ipynb") + "&reset")
    frame = page.frame_locator(".jp-OutputArea iframe[srcdoc]").first
    frame.locator(".msnb-graph[data-ready]").wait_for()
    assert "model not found" not in page.locator(".jp-Notebook").inner_text()


def a_fresh_clone_shows_pictures_and_trust_wakes_them(page, folder):
    clone = nbformat.read(folder / "work" / "live.ipynb", 4)
    height = int(re.search(r"--msnb-height:(\d+)px", nbformat.writes(clone))[1])
    clone.cells.append(new_markdown_cell("another text, which nobody here has signed"))
    nbformat.write(clone, folder / "work" / "clone.ipynb")
    instead(page, "live/clone.ipynb")
    still = page.locator(".msnb-view > img")
    still.wait_for()
    assert still.bounding_box()["height"] > 150 and page.locator(".jp-OutputArea iframe").count() == 0
    assert "Run this cell, or trust the notebook" in page.locator(".msnb-view").inner_text()
    assert paper(still) < 40, "dark, as JupyterLab is"
    page.locator(".jp-Notebook .jp-InputPrompt").first.click()
    palette(page, "trust notebook", "Trust Notebook").press("Enter")
    page.locator(".jp-Dialog .jp-mod-accept").click()
    page.wait_for_selector(".msnb-view.live")
    assert not still.is_visible() and page.locator(".msnb-view > iframe").bounding_box()["height"] == height > 150


def a_notebook_whose_kernel_never_starts_shows_its_graph(page, folder):
    data = dict(graph.view(nn.Dense(3, 4), Tensor(np.ones((2, 3), np.float32)))._repr_mimebundle_()[0])
    data["application/vnd.jupyter.widget-view+json"] = {"version_major": 2, "version_minor": 0, "model_id": "0" * 32}
    cell = new_code_cell("view", outputs=[new_output("display_data", data)])
    kernel = {"kernelspec": {"name": "of-another-machine", "display_name": "Elsewhere", "language": "python"}}
    nbformat.write(new_notebook(cells=[cell], metadata=kernel), folder / "work" / "elsewhere.ipynb")
    instead(page, "live/elsewhere.ipynb")
    page.locator(".jp-Dialog .jp-mod-reject").click()  # no kernel
    page.locator(".jp-OutputArea .msnb-view > img").wait_for(state="attached")
    assert "Loading widget" not in page.locator(".jp-Notebook").inner_text()


def a_profile_is_live_and_leads_to_the_line_of_a_row(page, folder):
    menu(page, "Settings", "Theme", "JupyterLab Light")
    cells = [new_code_cell(text) for text in PROFILE]
    nbformat.write(new_notebook(cells=cells, metadata=PYTHON), folder / "work" / "profile.ipynb")
    page.set_viewport_size({"width": 1500, "height": 1250})
    instead(page, "live/profile.ipynb")
    page.locator(".jp-Notebook .jp-CodeCell").first.click()
    run_all(page)
    page.wait_for_selector(".msnb-profile[data-ready]")
    picture(page.locator(".msnb-profile"), "profile", folder)
    page.locator(".msnb-profile .at").first.click()
    page.wait_for_selector(".cm-line.msnb-revealed")
    assert "self.pool(self.relu(self.conv" in page.locator(".msnb-revealed").inner_text()
    page.click('.msnb-profile [data-tab="graph"]')
    page.wait_for_selector(".msnb-profile .msnb-graph[data-ready]")


def test_a_graph_in_jupyterlab_follows_its_name(page, tmp_path):
    a_graph_follows_its_name_when_its_class_has_run_again(page, tmp_path)


def test_a_session_in_jupyterlab(page, tmp_path):
    # One after the other in one page, as a person does; each builds on what is open.
    a_click_on_a_node_shows_its_line(page)
    the_graph_follows_what_is_typed(page)
    what_cannot_be_followed_is_said_above_the_graph_in_the_status_bar_and_at_its_line(page, tmp_path)
    a_changed_constructor_is_followed(page)
    the_cursor_selects_the_nodes_of_its_line(page)
    options_are_coloured_and_completed(page)
    the_status_bar_switches_the_mode(page)
    the_panel_lists_networks_programs_and_memory_and_leads_to_the_source(page)
    the_panel_opens_a_graph_beside_the_notebook(page)
    picture(page, "jupyterlab", tmp_path)
    commands_are_in_the_palette(page)
    the_dark_theme_reaches_panel_and_graph(page)
    after_a_restart_the_view_says_what_to_do(page, tmp_path)
    a_notebook_that_is_opened_again_shows_its_graph_without_a_kernel(page, tmp_path)
    a_fresh_clone_shows_pictures_and_trust_wakes_them(page, tmp_path)
    a_notebook_whose_kernel_never_starts_shows_its_graph(page, tmp_path)
    a_profile_is_live_and_leads_to_the_line_of_a_row(page, tmp_path)
