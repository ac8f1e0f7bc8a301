"""`inspect_gradients`, `%ms_grad` and the forms of the gradient view that need no browser."""

import gzip
import json
import warnings
import xml.etree.ElementTree as ElementTree

import jax
import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, nn
from msnb.notebook.gradients import GradientMonitor, GradientView, inspect_gradients
from msnb.notebook.gradients.text import sparkline

LOSS = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
MODES = pytest.mark.parametrize("mode", (ms.GRAPH_MODE, ms.PYNATIVE_MODE), ids=("graph", "pynative"))


@pytest.fixture(autouse=True)
def _mode():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(1)
    yield
    ms.set_context(mode=before)


class Net(nn.Cell):
    def __init__(self, act=None, depth=2):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(8, 8, weight_init="HeNormal") for _ in range(depth)])
        self.act = act or nn.ReLU()
        self.norm = nn.BatchNorm1d(8)
        self.head = nn.Dense(8, 3)

    def construct(self, x):
        for layer in self.layers:
            x = self.act(layer(x))
        return self.head(self.norm(x))


def batch(rows=16, seed=0):
    rng = np.random.default_rng(seed)
    return Tensor(rng.standard_normal((rows, 8)).astype(np.float32)), Tensor(rng.integers(0, 3, rows).astype(np.int32))


def unpacked(view):
    return json.loads(gzip.decompress(view.payload))


# ---------------------------------------------------------------------- inspect_gradients
@MODES
def test_inspecting_leaves_the_network_as_it_was(mode):
    ms.set_context(mode=mode)
    net = Net()
    net.set_train(False)
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    before = {p.name: p.asnumpy().copy() for p in [*net.get_parameters(), *optimizer.get_parameters()]}
    view = inspect_gradients(net, LOSS, batch(), steps=3, optimizer=optimizer)
    after = {p.name: p.asnumpy() for p in [*net.get_parameters(), *optimizer.get_parameters()]}
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value, err_msg=name)
    assert not any(cell.training for _, cell in net.cells_and_names())
    losses = [step.loss for step in view.recording.steps]
    assert view.recording.numbers == [1, 2, 3] and losses[2] < losses[0]


@MODES
def test_without_an_optimizer_every_step_sees_the_same_parameters(mode):
    ms.set_context(mode=mode)
    recording = inspect_gradients(Net(), LOSS, batch(), steps=2, level="parameters").recording
    norms = recording.table("norm")
    np.testing.assert_array_equal(norms[:, 0], norms[:, 1])
    assert np.isnan(recording.table("update")).all()


def test_in_pynative_mode_the_rows_find_their_nodes_in_the_graph():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    recording = inspect_gradients(Net(), LOSS, batch()).recording
    assert recording.mode == "PYNATIVE"
    nodes = list(recording.graph.all_nodes())
    rows = [r for r in recording.rows() if r.kind in ("parameter", "gradient")]
    assert sum(r.node >= 0 for r in rows) >= 0.8 * len(rows)
    assert all(nodes[r.node].op == r.op for r in rows if r.node >= 0)


def test_a_network_that_returns_its_loss_and_one_that_trains_are_taken_as_they_are():
    x, y = batch()
    with_loss = nn.WithLossCell(Net(), LOSS)
    assert inspect_gradients(with_loss, None, (x, y)).recording.numbers == [1]
    net = Net()
    train = nn.TrainOneStepCell(nn.WithLossCell(net, LOSS), nn.SGD(net.trainable_params(), 0.1))
    assert inspect_gradients(train, data=(x, y), steps=2).recording.numbers == [1, 2]


def test_a_loss_may_be_a_function_and_the_data_numpy():
    x, y = (t.asnumpy() for t in batch())
    recording = inspect_gradients(Net(), lambda out, label: LOSS(out, label), (x, y), level="parameters").recording
    assert np.isfinite(recording.steps[0].loss) and len(recording.rows("parameter")) == 8


def test_only_the_latest_look_holds_complete_tensors():
    first, second = (inspect_gradients(Net(), LOSS, batch()) for _ in range(2))
    assert not first.recording.latest and second.recording.tensor("head.weight").shape == (3, 8)
    sent = []
    first.widget.send = sent.append
    first._on_message(first.widget, {"fetch": ["parameter", "head.weight"]}, [])
    assert "Run this cell again" in sent[0]["problem"]


def test_the_log_says_nothing_that_the_view_says(caplog):
    net = Net()
    net.head.weight.set_data(Tensor(np.full((3, 8), np.nan, np.float32)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        view = inspect_gradients(net, LOSS, batch())
    assert "holds NaN" in view.findings[0].text and not caplog.records


def test_a_dataset_gives_one_batch_for_each_step_and_begins_anew():
    from msnb import dataset

    x, y = (t.asnumpy() for t in batch(32))
    data = dataset.NumpySlicesDataset((x, y), shuffle=False).batch(16)
    recording = inspect_gradients(Net(), LOSS, data, steps=4, level="parameters").recording
    losses = [s.loss for s in recording.steps]
    assert losses[0] == losses[2] != losses[1] == losses[3]


def test_data_that_runs_out_says_how_many_batches_there_were():
    with pytest.raises(ValueError, match="has 2 batches, but 3 steps"):
        inspect_gradients(Net(), LOSS, iter([batch(), batch()]), steps=3, level="parameters")


def test_wrong_arguments_say_what_is_expected():
    with pytest.raises(TypeError, match="'net' should be a Cell"):
        inspect_gradients(3, LOSS, batch())
    with pytest.raises(ValueError, match="'steps' should be a positive int"):
        inspect_gradients(Net(), LOSS, batch(), steps=0)
    with pytest.raises(ValueError, match="'data' should be a batch"):
        inspect_gradients(Net(), LOSS)
    with pytest.raises(TypeError, match="a batch should hold Tensors"):
        inspect_gradients(Net(), LOSS, [("a", "b")], level="parameters")


def test_importing_msnb_does_not_load_the_inspector(fresh, tmp_path):
    code = (
        "import sys, msnb;"
        "assert not [m for m in sys.modules if m.startswith(('msnb.insight.gradients', 'msnb.notebook.gradients'))];"
        "msnb.inspect_gradients; msnb.GradientMonitor; assert 'msnb.notebook.gradients.view' in sys.modules"
    )
    done = fresh.run(code, tmp_path)
    assert done.status == 0, done.err


# ---------------------------------------------------------------------- the magic
def test_the_magic_takes_arguments_or_a_call(notebook):
    notebook.shell.user_ns.update(net=Net(), loss=LOSS, loss_net=nn.WithLossCell(Net(), LOSS))
    notebook.shell.user_ns["x"], notebook.shell.user_ns["y"] = batch()
    for line in ("net, loss, (x, y), level='parameters'", "loss_net(x, y), level='parameters', steps=2"):
        view = notebook.ok(f"%ms_grad {line}")
        assert isinstance(view, GradientView) and len(view.recording.rows("parameter")) == 8
    assert view.recording.numbers == [1, 2]


@pytest.mark.parametrize(
    "line, message", (("", "needs something to look at"), ("3", "begins with a Cell"), ("net(", "%ms_grad net, loss"))
)
def test_the_magic_says_how_it_is_written(notebook, line, message):
    notebook.run(f"%ms_grad {line}")
    assert message in notebook.shown


# ---------------------------------------------------------------------- forms
@pytest.fixture(scope="module")
def view():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(1)
    net = Net(nn.Sigmoid(), depth=6)
    for layer in net.layers:
        layer.weight.set_data(Tensor(np.random.default_rng(0).normal(0, 0.02, (8, 8)).astype(np.float32)))
    gradient_view = inspect_gradients(
        net,
        LOSS,
        batch(),
        steps=4,
        optimizer=nn.SGD(net.trainable_params(), 0.1),
        tensors=("layers.0.weight", "weight:layers.0.weight"),
    )
    ms.set_context(mode=before)
    return gradient_view


def test_the_text_says_what_is_wrong_and_has_a_line_for_each_parameter(view):
    text = repr(view)
    assert "steps 1 to 4, GRAPH mode" in text and "✖ The gradients vanish toward the input" in text
    assert sum(line.startswith("layers.") for line in text.splitlines()) == 12
    assert "test_gradients.py:" in text


def test_the_picture_is_valid_and_has_the_findings(view):
    root = ElementTree.fromstring(view.svg())
    words = " ".join(e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}text"))
    assert "The gradients vanish" in words and "layers.0.weight" in words
    assert "script" not in view.svg()


def test_the_payload_is_deterministic_and_holds_the_numbers(view):
    again = GradientView(view.recording)
    assert again.payload == view.payload
    data = unpacked(view)
    row = next(r for r in data["rows"] if (r["kind"], r["name"]) == ("parameter", "head.weight"))
    expected = view.recording.table("norm")[[r.name for r in view.recording.rows("parameter")].index("head.weight")]
    np.testing.assert_allclose(row["values"]["norm"], expected, rtol=1e-3)
    assert data["steps"] == [1, 2, 3, 4] and data["nodes"] == len(view.recording.graph)
    assert [t["steps"] for t in data["tensors"]] == [[1, 2, 3, 4]] * 2


def test_a_saved_view_stays_small(view):
    assert len(view.html()) < 200_000
    steps = 300
    net = Net(depth=4)
    train = nn.TrainOneStepCell(nn.WithLossCell(net, LOSS), nn.SGD(net.trainable_params(), 0.1)).set_train()
    x, y = batch()
    with GradientMonitor("all", tensors="*") as monitor:
        for _ in range(steps):
            train(x, y)
    view = monitor.view()
    assert len(view.payload) < 300_000
    assert any("recorded steps" in note for note in unpacked(view)["notes"])


def test_what_is_not_a_number_crosses_as_text():
    from msnb.notebook.gradients.payload import _round_for_json

    assert [_round_for_json(v) for v in (float("inf"), -float("inf"), float("nan"), None, 0.123456)] == [
        "inf",
        "-inf",
        None,
        None,
        0.1235,
    ]


def test_a_view_is_saved_by_the_suffix_of_the_file(view, tmp_path):
    for suffix, begin in ((".html", "<!doctype html>"), (".svg", "<svg"), (".txt", "Gradients of steps")):
        view.save(tmp_path / f"view{suffix}")
        assert (tmp_path / f"view{suffix}").read_text(encoding="utf-8").startswith(begin)
    with pytest.raises(ValueError, match="should end in one of"):
        view.save(tmp_path / "view.gif")


def test_the_notebook_gets_a_widget_a_page_and_a_picture(view):
    data, _ = view._repr_mimebundle_()
    assert {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"} == data.keys()
    assert "http" not in data["text/html"].replace("http://www.w3.org", "")
    view.close()


def test_an_empty_recording_says_so():
    monitor = GradientMonitor()
    assert "No gradients recorded yet" in repr(monitor.view()) and "No gradients recorded" in monitor.view().svg()


def test_a_sparkline_is_logarithmic_and_marks_what_is_no_number():
    assert sparkline([1e-6, 1e-3, 1]) == "▁▅█" or sparkline([1e-6, 1e-3, 1]) == "▁▄█"
    assert sparkline([0, 1, float("nan"), 1]) == "·▁✖▁"
    assert sparkline([1, 1.01]) == "▁▁"


@MODES
def test_inspecting_the_same_again_compiles_nothing(mode):
    ms.set_context(mode=mode)
    net, loss = nn.SequentialCell([nn.Dense(4, 3), nn.Sigmoid(), nn.Dense(3, 2)]), nn.MSELoss()
    data = Tensor(np.ones((2, 4), np.float32)), Tensor(np.ones((2, 2), np.float32))
    compiled = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda name, *_, **__: compiled.append(name) if "backend_compile" in name else None
    )
    counts = []
    for _ in range(2):
        for optimizer in (None, nn.Momentum(net.trainable_params(), 0.1, 0.9)) if not counts else (None,):
            inspect_gradients(net, loss, data, optimizer=optimizer)
        counts.append(len(compiled))
    assert counts[0] > 0 and counts[1] == counts[0]
