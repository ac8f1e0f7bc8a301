"""Explanations that are watched while their kernel computes them, and a region that this kernel answers."""

import pytest
from browsing import TOKEN, chromium, frames, large_page, picture, run_all, strangers, until

pytestmark = pytest.mark.slow
browser = pytest.fixture(chromium, scope="module")

CELLS = [
    """%load_ext msnb
import os, numpy as np, msnb
from msnb import Tensor, context, nn
from msnb import dataset as ds
from msnb.explainer import ImageClassificationRunner
from msnb.explainer.explanation import RISE, GradCAM, Gradient
from msnb.explainer.benchmark import Faithfulness
context.set_context(mode=context.GRAPH_MODE)
msnb.set_seed(1)
os.makedirs("explained", exist_ok=True)
y, x = np.mgrid[0:32, 0:32] / 32
images = np.stack([np.sin(9 * (x * np.cos(k) + y * np.sin(k)))[None] for k in range(8)]).astype(np.float32)
data = ds.NumpySlicesDataset((images, np.arange(8, dtype=np.int32) % 4), shuffle=False).batch(4)
net = nn.SequentialCell(nn.Conv2d(1, 4, 5), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(4, 16, 5), nn.ReLU(), nn.Flatten(),
                        nn.Dense(4096, 4))""",
    "%ms_explain explained --net net --inputs images",
    """runner = ImageClassificationRunner("explained", (data, ["a", "b", "c", "d"]), net, nn.Softmax())
runner.register_saliency([Gradient(net), GradCAM(net, "3"), RISE(net, nn.Softmax(), perturbation_per_eval=20)],
                         [Faithfulness(4, nn.Softmax(), "NaiveFaithfulness")])
runner.run()""",
]


def test_maps_appear_while_rise_runs_and_a_region_leads_to_the_graph(browser, jupyter, tmp_path):
    faults = []
    page = large_page(browser, 1600)
    page.on("pageerror", lambda error: faults.append(str(error)))
    asked = strangers(page, jupyter.address)
    with jupyter.project(tmp_path, "lab", {"live.ipynb": CELLS}):
        page.goto(f"{jupyter.address}/lab/tree/lab/live.ipynb?token={TOKEN}&reset")
        cells = page.locator(".jp-Notebook .jp-CodeCell")
        cells.first.click()
        run_all(page)
        view = page.locator(".msnb-explain[data-ready]").first
        view.locator(".grid [role=option]").first.wait_for()
        done = set()

        def sharpens():
            canvas = view.locator(".running canvas").first
            done.add(canvas.get_attribute("data-done") if canvas.count() else None)
            return len(done - {None}) > 2

        until(page, sharpens)
        assert "[*]" in cells.nth(2).locator(".jp-InputPrompt").inner_text()  # it does not wait for the view
        picture(view, "running", tmp_path, docs=False)
        until(page, lambda: "[*]" not in cells.nth(2).locator(".jp-InputPrompt").inner_text())
        until(page, lambda: view.locator(".grid [role=option]").count() == 8)
        view.locator("figure[data-method=RISE] canvas:not([hidden])").wait_for()
        view.locator("figure[data-method=GradCAM] .stack").click()
        view.locator(".region .channels tbody tr").first.wait_for()
        view.locator("[data-do=graph]").click()
        view.locator(".region .graph[data-ready]").wait_for()
        frames(page)
        picture(view, "region", tmp_path, docs=False)
        view.locator("[data-tab=scores]").click()
        assert view.locator(".totals tbody tr").count() == 3
        page.close()
    assert not [fault for fault in faults if "msnb" in fault] and not asked
