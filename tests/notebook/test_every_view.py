"""Each view in JupyterLab and in Notebook 7, light and dark, in a narrow and in a wide window: it is there, it follows
the theme, nothing of it is cut off, faint or without a name. With MSNB_DOCS=1 pictures of all of them are left in the
test's folder."""

import pytest
from browsing import TOKEN, chromium, frames, large_page, menu, needs, picture, run_all, strangers, unreadable

pytestmark = pytest.mark.slow
browser = pytest.fixture(chromium, scope="module")

CELLS = [
    """%load_ext msnb
%mindspore on
import numpy as np, msnb
import mindspore as ms
from mindspore import Tensor, context, nn
context.set_context(mode=context.GRAPH_MODE)
net = nn.SequentialCell(nn.Dense(16, 32), nn.ReLU(), nn.Dense(32, 4))
loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
step = nn.TrainOneStepCell(loss, nn.Adam(net.trainable_params(), 0.1)).set_train()
x, y = Tensor(np.random.rand(64, 16).astype(np.float32)), Tensor(np.zeros(64, np.int32))
for rate in (0.1, 0.01):
    with msnb.record(f"rate {rate}", config={"rate": rate}) as run:
        for number in range(30):
            run.log({"loss": rate / (number + 1), "accuracy": number / 30})""",
    "msnb.view(step, x, y)",
    "%ms_grad step(x, y)",
    "%ms_profile step(x, y)",
    "msnb.dashboard('runs/rate 0.1')",
    "%ms_runs runs",
    "msnb.parallel.plan(step, (x, y), devices=4, check=0, progress=False)",
    """from mindspore import dataset as ds
data = ds.NumpySlicesDataset({"x": np.zeros((64, 16))}, shuffle=True).map(lambda x: x + 1, "x").batch(8)""",
    "%ms_pipeline data",
    """from msnb.formats.explanation_records import BenchmarkScore, ExplanationWriter, Inference
with ExplanationWriter("explained") as writer:
    writer.write_metadata(["cat", "dog"], ["Gradient", "GradCAM"], ["Faithfulness"])
    for number in range(6):
        writer.write_image(number, np.random.rand(3, 16, 16))
        writer.write_inference(number, [number % 2], Inference([0.3], [1 - number % 2], [0.7]))
        maps = {(name, label): np.random.rand(16, 16) for name in ("Gradient", "GradCAM") for label in (0, 1)}
        writer.write_explanations(number, maps)
    writer.write_scores([BenchmarkScore("Faithfulness", "GradCAM", 0.5, [0.25, 0.75])])""",
    "%ms_explain explained",
]
DRAWN = ("graph", "grad", "profile", "dash", "runs", "plan", "explain")  # by a script; a pipeline is a page of its own
VIEWS = {**{name: f".msnb-{name}[data-ready]" for name in DRAWN}, "pipe": ".msnb-pipe"}


def missing(page):
    """Return the views that are not there, or not ready."""
    return [name for name, view in VIEWS.items() if not page.locator(view).count()]


@pytest.mark.parametrize("front_end", ["lab", "notebook"])
def test_every_view_is_complete(front_end, browser, jupyter, tmp_path):
    if front_end == "notebook":
        needs("notebook")
    faults, path = [], "lab/tree" if front_end == "lab" else "notebooks"
    page = large_page(browser, 1100)
    page.on("pageerror", lambda error: faults.append(str(error)))
    asked = strangers(page, jupyter.address)
    with jupyter.project(tmp_path, front_end, {"views.ipynb": CELLS}):
        page.goto(f"{jupyter.address}/{path}/{front_end}/views.ipynb?token={TOKEN}&reset")
        page.locator(".jp-Notebook .jp-CodeCell").first.click()
        run_all(page)
        for _ in range(60):
            page.wait_for_timeout(500)
            if not missing(page):
                break
            for cell in page.locator(".jp-CodeCell").all():  # what was never in sight need not be drawn
                cell.scroll_into_view_if_needed()
        assert not missing(page), page.locator(".jp-Notebook").inner_text()[-3000:]
        for theme in ("Light", "Dark"):
            menu(page, "Settings", "Theme", f"JupyterLab {theme}")
            for width in (900, 1600):
                page.set_viewport_size({"width": width, "height": 1100})
                frames(page)
                for name, selector in VIEWS.items():
                    view = page.locator(selector).first
                    view.scroll_into_view_if_needed()
                    if name in DRAWN:
                        page.wait_for_selector(f'{selector}[data-theme="{theme.lower()}"]')
                    frames(page)
                    cut = view.evaluate("view => view.scrollWidth - view.clientWidth")
                    assert cut <= 1, f"{name} is {cut} px wider than its place, {theme}, {width} px"
                    assert unreadable(view) == [], f"{name}, {theme}, {width} px"
                    picture(view, f"{front_end}_{name}_{theme}_{width}", tmp_path, docs=False)
        page.close()
    assert not [fault for fault in faults if "msnb" in fault] and not asked
