"""A stranger's first hour in JupyterLab, as seen in the browser: training, waiting, stopping, mistakes, coming back."""

import re

import pytest
from browsing import TOKEN, behind, chromium, frames, large_page, menu, until

pytestmark = pytest.mark.first
browser = pytest.fixture(chromium, scope="module")

BEGIN = """%load_ext msnb
%mindspore on
import numpy as np
import mindspore as ms
from mindspore import nn, ops, Model, Tensor
import mindspore.dataset as ds
ms.set_context(mode=ms.GRAPH_MODE)
images = np.random.default_rng(0).normal(size=(64, 1, 8, 8)).astype(np.float32)
labels = (np.arange(64) % 4).astype(np.int32)
def data(x=images, y=labels):
    return ds.NumpySlicesDataset({"image": x, "label": y}, shuffle=False).batch(16)"""

NET = """class Block(nn.Cell):
    def __init__(self, n, m):
        super().__init__()
        self.conv, self.act = nn.Conv2d(n, m, 3), nn.ReLU()
    def construct(self, x):
        return self.act(self.conv(x))
class Net(nn.Cell):
    def __init__(self, middle=4):
        super().__init__()
        self.body = nn.SequentialCell(Block(1, 4), Block(middle, 4))
        self.head = nn.Dense(4 * 64, 4)
    def construct(self, image):
        return self.head(self.body(image).reshape(image.shape[0], -1))
net = Net()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
opt = nn.Momentum(net.trainable_params(), 0.05, 0.9)"""

# Mistakes of beginners: (cell, words that the output must have, in any order).
MISTAKES = [
    ("Net(8)(Tensor(images))", ["'x' has 4 channels", "body.1.conv", "Conv2d(8, 4, kernel_size=3"]),
    (
        "class NoConstruct(nn.Cell):\n    def forward(self, x):\n        return x\nNoConstruct()(Tensor(1.0))",
        ["'forward'", "'construct'"],
    ),
    ("net(Tensor(images.astype(np.float64)))", ["Float64", ".astype(np.float32)"]),
    ("loss(net(Tensor(images)), Tensor(np.eye(4, dtype=np.float32)[labels]))", ["these look one-hot", "sparse=False"]),
    (
        "ms.set_context(mode=ms.PYNATIVE_MODE)\nloss(net(Tensor(images)), Tensor(labels + 70))",
        ["labels of 4 classes", "got 70"],
    ),
    ("ms.set_context(mode=ms.GRAPH_MODE)\nnn.Conv2d(3, 8, 3, pad='same')", ["'pad'", "pad_mode"]),
    ("nn.Momentum(net.trainable_params(), lr=0.1, momentum=0.9)", ["'lr'", "learning_rate"]),
    ("Model(net, loss=loss)", ["'loss'", "loss_fn"]),
    ("nn.Dense(4)", ["out_channels"]),
    ("nn.ModuleList([nn.Dense(4, 4)])", ["CellList"]),
    ("Model(net).train(1, data())", ["2 columns", "loss_fn"]),
    ("net(data())", ["iterate", "create_tuple_iterator"]),
    ("nn.SequentialCell(nn.Dense(4, 4), nn.ReLU)", ["the class ReLU", "ReLU(...) makes an object"]),
    ("Model(Net(), loss, opt).train(1, data())", ["another", "trainable_params()"]),
    ("Model(net, loss).train(1, data())", ["no optimizer"]),
    (
        "class Listed(nn.Cell):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layers = [nn.Dense(3, 3) for _ in range(3)]\n    def construct(self, x):\n        return x\n"
        "Listed().trainable_params();",
        ["3 Cells are not seen", "nn.CellList"],
    ),
    ("%ms_ir undefined(x)", ["undefined"]),
]


class Lab:
    """A notebook in a JupyterLab page, whose cells are run one by one.

    Attributes:
        knows (bool): True if its kernel has run the cells that make the network.
    """

    def __init__(self, page):
        self.page, self.knows = page, False

    def cell(self, number):
        return self.page.locator(".jp-CodeCell").nth(number)

    def start(self, number):
        self.cell(number).locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")

    def run(self, number, *words):
        """Run a cell to its end; returns the text that its output shows."""
        self.start(number)
        return self.ended(number, *words)

    def ended(self, number, *words):
        """Return the output of a cell once it has run; what it is to say may be drawn after its number."""
        self.page.wait_for_function(
            r"""n => /\[\d+\]/.test(document.querySelectorAll('.jp-CodeCell')[n]
                    .querySelector('.jp-InputPrompt').innerText)""",
            arg=number,
        )
        for _ in range(400):
            if all(word in self.shown(number) for word in words):
                break
            self.page.wait_for_timeout(50)
        frames(self.page)
        return self.shown(number)

    def shown(self, number):
        result = self.cell(number).locator(".jp-OutputArea-output")
        return "\n".join(result.nth(i).inner_text() for i in range(result.count()))

    def view(self, number):
        """Return the graph that a cell shows; it is run if it has not shown one."""
        view = self.cell(number).locator(".msnb-graph").first
        if not view.count():
            self.start(number)
        view.wait_for()
        return view

    def waits_for(self, number, words):
        """Until the output of a cell shows some words."""
        self.page.wait_for_function(
            """([n, words]) => document.querySelectorAll('.jp-CodeCell')[n].innerText.includes(words)""",
            arg=[number, words],
        )

    def interrupt(self):
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("i")
        self.page.keyboard.press("i")


LAST = 6 + len(MISTAKES)  # the number of the first cell after the mistakes
DEEP = 60  # Blocks: XLA is to be at work for longer than nothing is said
SOON = "from msnb.core import compiling\ncompiling.SILENT = 0.4\n"  # here; a network for two seconds has 180 Blocks
CELLS = [
    BEGIN,
    NET,
    'model = Model(net, loss, opt, metrics={"acc"})\nmodel.train(2, data())',
    "model.train(40000, data())",
    f"deep = nn.SequentialCell([Block(1, 4), *[Block(4, 4) for i in range({DEEP})]])\n"
    "step = nn.TrainOneStepCell(deep, nn.SGD(deep.trainable_params()))\nstep(Tensor(images)).shape",
    "model.eval(data(), dataset_sink_mode=False)",
    *[text for text, _ in MISTAKES],
    "%%mindspore -m graph --ir\nclass Small(nn.Cell):\n    def __init__(self):\n        super().__init__()\n"
    "        self.dense = nn.Dense(64, 3)\n        self.act = nn.ReLU()\n    def construct(self, x):\n"
    "        return self.act(self.dense(x))\nsmall = Small()\ny = small(Tensor(images[:, 0].reshape(64, 64)))",
]


@pytest.fixture(scope="module")
def server(jupyter, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hour")
    startup = jupyter.home / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    (startup / "soon.py").write_text(SOON)
    with jupyter.project(folder, "hour", {"hour.ipynb": CELLS}):
        yield f"{jupyter.address}/lab/tree/hour", folder
    (startup / "soon.py").unlink()


@pytest.fixture(scope="module")
def lab_page(browser, server):
    page = large_page(browser)
    page.goto(f"{server[0]}/hour.ipynb?token={TOKEN}&reset")
    page.wait_for_function("() => /Idle/.test(document.querySelector('#jp-main-statusbar')?.innerText ?? '')")
    yield Lab(page)
    page.close()


@pytest.fixture
def lab(lab_page):
    """Return the notebook with the network, in whatever order workers take the tests from each other."""
    if not lab_page.knows:
        assert "Error" not in lab_page.run(0) and "Error" not in lab_page.run(1)
        lab_page.knows = True
    return lab_page


def test_a_training_without_callbacks_shows_how_far_it_is(lab):
    assert re.search(r"2 epochs, 8 steps in [\d.]+ s, loss 1\.\d+", lab.run(2, "2 epochs"))


def test_a_stopped_training_says_where_it_is_and_goes_on_later(lab):
    lab.start(3)
    lab.waits_for(3, "of 40,000")
    lab.interrupt()
    said = lab.ended(3, "stopped in", "loss")
    assert re.search(r"stopped in epoch [\d,]+ of 40,000, step [\d,]+, loss", said.replace("\n", ", "))
    assert "acc" in lab.run(5, "acc")


def test_a_long_compile_says_what_it_does_and_can_be_stopped(lab):
    lab.start(4)
    lab.waits_for(4, "compiling")
    lab.interrupt()
    assert "KeyboardInterrupt" in lab.ended(4, "KeyboardInterrupt")
    assert "(64, 4, 8, 8)" in lab.run(4, "(64, 4, 8, 8)")  # what was being compiled is finished and kept


@pytest.mark.parametrize("number", range(len(MISTAKES)), ids=[text.splitlines()[-1] for text, _ in MISTAKES])
def test_a_mistake_gets_its_answer(lab, number):
    said = lab.run(6 + number, *MISTAKES[number][1])
    missing = [word for word in MISTAKES[number][1] if word not in said]
    assert not missing, said
    assert not re.search(r"site-packages|/msnb/\w+/|ipykernel_\d|__msnb|JAX_TRACEBACK", said), said
    assert len(said.splitlines()) < 30, said


def test_the_graph_follows_a_changed_init(lab):
    lab.run(LAST)
    page, cell = lab.page, lab.cell(LAST)
    cell.locator('[aria-label^="ReLU"]').first.wait_for(state="attached")
    behind(page, "self.act = nn.ReLU()", cell)
    for _ in "ReLU()":
        page.keyboard.press("Backspace")
    page.keyboard.insert_text("Sigmoid()")
    cell.locator('[aria-label^="Sigmoid"]').first.wait_for(state="attached")
    page.keyboard.press("Backspace")
    cell.locator('.msnb-graph :text("last version that worked")').first.wait_for()
    page.keyboard.insert_text(")")


def test_exports_of_what_was_saved_hold_each_view(lab, server):
    from nbconvert import HTMLExporter, MarkdownExporter

    lab.view(LAST)
    page, path = lab.page, server[1] / "work" / "hour.ipynb"
    menu(page, "File", "Save Notebook")
    until(page, lambda: "data-page" in (text := path.read_text()) and text.rstrip().endswith("}"))  # saved, and whole
    for exporter in (HTMLExporter, MarkdownExporter):
        text, _ = exporter().from_filename(str(path))
        assert "data:image/svg+xml" in text and (exporter is HTMLExporter or "<iframe" not in text)


def test_after_a_restart_a_view_asks_to_run_its_cell_again(lab):
    view = lab.view(LAST)
    page, lab.knows = lab.page, False
    menu(page, "Kernel", "Restart Kernel…")  # from wherever the focus is
    page.locator(".jp-Dialog .jp-mod-accept").click()
    view.locator(':text("run this cell again")').first.wait_for()
