"""Views as PNG: what matplotlib makes of msnb's still pictures is what a browser makes of them."""

import base64
import io
import warnings

import numpy as np
import pytest
from browsing import chromium
from PIL import Image

import msnb
from msnb import Tensor, context, nn
from msnb.insight.profile import profile
from msnb.notebook.display.png import to_png
from msnb.notebook.gradients import inspect_gradients
from msnb.notebook.graph import GraphView
from msnb.notebook.profile import view as profile_view

browser = pytest.fixture(chromium, scope="module")


@pytest.fixture(scope="module")
def views():
    """One of each kind, by name."""
    context.set_context(mode=context.GRAPH_MODE)
    net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 4))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.SGD(net.trainable_params(), 0.1)).set_train()
    x, y = Tensor(np.random.default_rng(0).normal(size=(4, 8)).astype(np.float32)), Tensor(np.arange(4, dtype=np.int32))
    heat = msnb.view(step, x, y)
    heat.set_column("time", {"unit": "s", "values": [1e-4 * node.id for node in heat.graph.all_nodes()]})
    return {
        "graph": msnb.view(step, x, y),
        "heat": heat,
        "gradients": inspect_gradients(net, loss, (x, y), steps=3),
        "profile": profile_view(profile(step, x, y, steps=3)),
    }


@pytest.mark.parametrize("name", ["graph", pytest.param("heat", marks=pytest.mark.slow), "gradients", "profile"])
def test_the_png_is_what_a_browser_draws_of_the_svg(views, browser, tmp_path, name):
    view, path = views[name], tmp_path / f"{name}.PNG"
    view.save(path)
    png = Image.open(path).convert("L")
    page = browser.new_page(device_scale_factor=2, color_scheme="light")
    page.set_content(f'<body style="margin:0">{view.svg()}</body>')
    drawn = Image.open(io.BytesIO(page.locator("svg").screenshot())).convert("L")
    page.close()
    assert max(abs(a - b) for a, b in zip(png.size, drawn.size, strict=True)) <= 2
    small = (png.width // 24, png.height // 24)  # letters have another form, and stand where they do
    ours, theirs = (np.asarray(image.resize(small, Image.Resampling.BOX), float) for image in (png, drawn))
    assert np.abs(ours - theirs).mean() < 2.5 and np.corrcoef(ours.ravel(), theirs.ravel())[0, 1] > 0.85
    assert theirs.std() > 4, "something is drawn"


def test_the_same_view_gives_the_same_bytes(views):
    assert to_png(views["graph"].svg()) == to_png(views["graph"].svg())


def test_a_large_graph_is_drawn_as_far_as_its_picture_goes(tmp_path):
    net = nn.SequentialCell([nn.Dense(4, 4) for _ in range(40)])
    view = msnb.view(net, Tensor(np.ones((2, 4), np.float32)))
    view.save(tmp_path / "net.png")
    assert isinstance(view, GraphView) and Image.open(tmp_path / "net.png").height > 200


@pytest.mark.parametrize(
    "body, said", [("<ellipse/>", "the element 'ellipse'"), ('<path d="M0,0A1,1 0 0 1 2,2"/>', "the step 'A'")]
)
def test_what_would_be_missing_from_the_picture_is_an_error(body, said):
    with pytest.raises(ValueError, match=said):
        to_png(f'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">{body}</svg>')


def test_a_picture_keeps_its_proportions_in_the_middle_of_its_box():
    buffer = io.BytesIO()
    Image.new("RGB", (40, 20), (255, 0, 0)).save(buffer, "PNG")
    source = base64.b64encode(buffer.getvalue()).decode()
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60"><image x="10" y="10" width="40" height="40" '
        f'href="data:image/png;base64,{source}"/></svg>'
    )
    pixels = np.asarray(Image.open(io.BytesIO(to_png(svg))).convert("RGB"))
    is_red = (pixels[..., 0] > 200) & (pixels[..., 1] < 60)
    rows, columns = np.flatnonzero(is_red.any(1)), np.flatnonzero(is_red.any(0))
    assert abs(rows - [[40], [79]]).min(1).max() <= 1 and len(rows) in (39, 40, 41)
    assert len(columns) in (79, 80, 81) and abs(columns[0] - 20) <= 1


def test_matplotlib_is_loaded_by_who_saves_a_png_alone(fresh, tmp_path):
    code = "import sys\nimport msnb.notebook.graph\nassert 'matplotlib' not in sys.modules"
    done = fresh.run(code, tmp_path)
    assert done.status == 0, done.err


def test_letters_of_any_language_are_drawn_without_a_complaint():
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20"><text x="2" y="14">größer 训练 🚀</text></svg>'
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert to_png(svg).startswith(b"\x89PNG")
