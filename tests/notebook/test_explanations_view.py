"""The view of explanations: its data, its forms, the answers of the kernel, and the page in a browser."""

import base64
import contextlib
import gzip
import io
import json
import math
import random
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from browsing import Window, chromium, unreadable, until
from PIL import Image

import msnb
from msnb import Tensor, nn
from msnb import dataset as ds
from msnb.explainer._data_order import fixed_order
from msnb.explainer._progress import Reporter
from msnb.formats.explanation_records import BenchmarkScore, Explain, ExplanationWriter, Inference, read_explanations
from msnb.notebook.display.page import text_of as page_text
from msnb.notebook.explainer import ExplanationsView, explanations
from msnb.notebook.explainer.payload import Thumbnails, predict_kind, reduce_picture
from msnb.notebook.explainer.view import _MODULE as MODULE

HOSTILE = "w<img src=x onerror=hit=1>"
LABELS = ["cat", "dog", HOSTILE]
METHODS = ["Gradient", "GradCAM", "RISE"]
BENCHMARKS = ["Faithfulness", "Robustness", "ClassSensitivity"]
# truth, probabilities
SAMPLES = [((1,), (0.1, 0.8, 0.1)), ((0,), (0.3, 0.6, 0.1)), ((2,), (0.2, 0.2, 0.3)), ((), (0.9, 0.05, 0.05))]
SCORES = [(0.5, 0.25, 0.0), (1.0, 0.5, 0.25), (0.25, math.nan, 1.0)]


def write(folder, samples=SAMPLES, size=16, methods=METHODS, scores=SCORES):
    """Write explanations as an ImageClassificationRunner does. Return the inputs."""
    random = np.random.default_rng(0)
    inputs = random.normal(size=(len(samples), 1, size, size)).astype(np.float32)
    with ExplanationWriter(folder) as writer:
        writer.write_metadata(LABELS, methods, BENCHMARKS)
        for number, (truth, probabilities) in enumerate(samples):
            predicted = tuple(label for label, one in enumerate(probabilities) if one > 0.5)
            writer.write_image(number, inputs[number])
            inference = Inference(
                tuple(probabilities[label] for label in truth), predicted, tuple(probabilities[p] for p in predicted)
            )
            writer.write_inference(number, truth, inference)
            labels = dict.fromkeys([*truth, *predicted])
            writer.write_explanations(
                number, {(method, label): random.random((size, size)) for method in methods for label in labels}
            )
        for method, row in zip(methods, scores):
            writer.write_scores(
                BenchmarkScore(bench, method, total, (0.5, math.nan, 0.25) if bench == "Faithfulness" else ())
                for bench, total in zip(BENCHMARKS, row, strict=True)
            )
    return inputs


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "explained")
    return tmp_path / "explained"


def unpack(data):
    return json.loads(gzip.decompress(data))


# ------------------------------------------------------------------ data
def test_predictions_are_classified_at_one_half():
    assert [predict_kind(p, 1, (1, 2)) for p in (0.5, 0.49)] == ["TP", "FN"]
    assert [predict_kind(p, 0, (1, 2)) for p in (0.5, 0.49)] == ["FP", "TN"]
    assert predict_kind(0.9, 0, ()) is None
    assert predict_kind(math.nan, 1, (1,)) is None


def test_the_data_has_labels_kinds_maps_and_scores(folder):
    content = unpack(explanations(folder).payload)
    assert (content["labels"], content["methods"], content["benchmarks"]) == (LABELS, METHODS, BENCHMARKS)
    first, second, third, last = content["samples"]
    assert [(row["label"], row["kind"]) for row in first["labels"]] == [(1, "TP")]
    assert [(row["label"], row["kind"]) for row in second["labels"]] == [(1, "FP"), (0, "FN")]  # the surest first
    assert [(row["label"], row["kind"]) for row in third["labels"]] == [(2, "FN")]
    assert [(row["label"], row["kind"]) for row in last["labels"]] == [(0, None)]
    assert second["labels"][0]["probability"] == 0.6
    assert second["maps"]["RISE"].keys() == {"0", "1"}
    assert content["images"].keys() == {first["image"], *content["images"]} and not content["problems"]
    scores = {(one["method"], one["benchmark"]): one for one in content["scores"]}
    assert scores["RISE", "Robustness"]["total"] is None  # JSON has no NaN
    assert scores["GradCAM", "Faithfulness"]["labels"] == [0.5, None, 0.25]


def test_intervals_of_probabilities_are_shown(tmp_path):
    with ExplanationWriter(tmp_path) as writer:
        writer.write_metadata(["cat", "dog"])
        inference = Inference((0.7,), (1,), (0.9,), (0.1,), (0.5,), (0.8,), (0.1,), (0.85,), (0.95,))
        writer.write_inference(0, (0,), inference)
    (sample,) = unpack(explanations(tmp_path).payload)["samples"]
    assert [(row["label"], np.round(row["interval"], 2).tolist()) for row in sample["labels"]] == [
        (1, [0.85, 0.95]),
        (0, [0.5, 0.8]),
    ]


def test_a_saved_page_has_small_pictures(tmp_path, monkeypatch):
    write(tmp_path, samples=SAMPLES * 5, size=224)
    monkeypatch.setattr("msnb.notebook.explainer.payload._BUDGET", 120_000)
    thumbnails = Thumbnails(read_explanations(tmp_path))
    thumbnails.update()
    assert sum(map(len, thumbnails.encoded.values())) <= 120_000
    assert len(thumbnails.encoded) == 20 + 3 * 25


def test_a_small_jpeg_is_not_encoded_again(folder):
    explained = read_explanations(folder)
    data = explained.resolve(explained.samples[0].image_path).read_bytes()
    assert reduce_picture(data, 16) == data
    assert len(reduce_picture(data, 8)) < len(data)


def test_a_reduced_map_has_the_range_of_the_map():
    sparse = np.zeros((64, 64), np.uint8)
    sparse[::16, ::16] = 255
    buffer = io.BytesIO()
    Image.fromarray(sparse).save(buffer, "JPEG", quality=95)
    pixels = [np.asarray(Image.open(io.BytesIO(reduce_picture(buffer.getvalue(), 16, is_map)))) for is_map in (0, 1)]
    assert pixels[0].max() < 60 and pixels[1].max() > 240


# ------------------------------------------------------------------ forms
def test_it_is_saved_in_the_form_that_the_name_asks_for(folder, tmp_path):
    view = explanations(folder)
    for suffix, begin in {".html": "<!doctype", ".svg": "<svg", ".txt": "explained: 4 samples"}.items():
        view.save(tmp_path / f"explained{suffix}")
        assert (tmp_path / f"explained{suffix}").read_text(encoding="utf-8").startswith(begin)
    text = " ".join(ElementTree.fromstring(view.svg()).itertext())
    assert "cat 0.300 FN" in text and "Robustness of GradCAM: 0.5" in text and "w<img" in text
    assert repr(view).splitlines()[0] == "explained: 4 samples, 3 labels; 1 TP, 1 FP, 2 FN"
    assert "ClassSensitivity of RISE: 1" in repr(view)


def test_the_magic_shows_a_view(notebook, folder):
    view = notebook.ok(f"%ms_explain '{folder}'")
    assert isinstance(view, ExplanationsView)
    assert view.widget.hasNet is False
    (shown,) = [one for one in notebook.rich if "text/html" in one.data]
    assert shown.data["text/html"].startswith('<div class="msnb-view"')
    view.close()
    notebook.shell.user_ns["net"] = nn.Dense(3, 4)
    view = notebook.ok(f"%ms_explain {folder} --net net --node op:MatMul")
    assert view.widget.hasNet is True
    view.close()


@pytest.mark.parametrize(
    "line, said",
    [
        ("absent", "UsageError: %ms_explain: There is no folder 'absent'."),
        ("{folder} --inputs 3", "UsageError: %ms_explain: For 'explanations', 'inputs' needs 'net', the network."),
        ("{folder} --net 3", "UsageError: %ms_explain: For 'explanations', 'net' should be a Cell or a function, bu"),
        ("{folder} --net abs --inputs 3", "UsageError: %ms_explain: For 'explanations', 'inputs' should be a Tensor"),
        ("{folder} --net abs(", "UsageError: %ms_explain: '(' was never closed: abs("),
        ("{folder} --nett abs", "UsageError: unrecognized arguments: --nett abs. Did you mean --net?"),
        ("", "UsageError: the following arguments are required: folder"),
    ],
)
def test_bad_input_is_one_sentence(notebook, folder, tmp_path, monkeypatch, line, said):
    monkeypatch.chdir(tmp_path)
    notebook.run(f"%ms_explain {line.format(folder=folder)}")
    (sentence,) = notebook.shown.splitlines()
    assert sentence.startswith(said)


def test_a_folder_without_explanations_says_how_to_write_some_and_fills(tmp_path):
    view = explanations(tmp_path)
    assert repr(view).startswith(f"The folder '{tmp_path}' has no explanations yet. mindspore.explainer.ImageClassif")
    assert "has no explanations yet" in " ".join(ElementTree.fromstring(view.svg()).itertext())
    assert unpack(view.payload)["waiting"] == repr(view)
    write(tmp_path)
    assert view.refresh()
    assert not unpack(view.payload)["waiting"] and len(unpack(view.payload)["samples"]) == 4


def test_a_height_is_checked(folder):
    with pytest.raises(ValueError, match="height"):
        msnb.explanations(folder, height=0)


def test_pictures_that_are_missing_on_disk_are_named(folder):
    explained = read_explanations(folder)
    explained.resolve(explained.samples[0].image_path).unlink()
    explained.resolve(explained.samples[1].heatmap_paths["RISE", 1]).write_bytes(b"no picture")
    content = unpack(explanations(folder).payload)
    assert content["problems"] == {
        explained.samples[0].image_path: "the file is missing",
        explained.samples[1].heatmap_paths["RISE", 1]: "the file is damaged",
    }


def test_a_picture_outside_the_folder_is_not_read(tmp_path):
    write(tmp_path / "other")
    stranger = read_explanations(tmp_path / "other").samples[0].image_path
    with ExplanationWriter(tmp_path / "explained") as writer:
        writer.write_metadata(["cat"])
        writer.write(Explain(0, f"../other/{stranger}"))
    view = explanations(tmp_path / "explained")
    assert unpack(view.payload)["problems"] == {f"../other/{stranger}": "the file is outside the folder"}
    answer, buffers = view.answer({"files": [f"../other/{stranger}"]})
    assert answer == {"files": []} and not buffers


def test_damage_at_the_end_is_a_note(folder):
    path = next(folder.glob("*_explain"))
    data = bytearray(path.read_bytes())
    data[-8] ^= 1
    path.write_bytes(data)
    content = unpack(explanations(folder).payload)
    assert len(content["samples"]) == 4
    assert "is damaged" in content["note"]


# ------------------------------------------------------------------ following
class Widget:
    """Stands for the widget of a view: it remembers what is sent."""

    def __init__(self):
        self.sent = []

    def send(self, message, buffers=()):
        self.sent.append((message, list(buffers)))


class RISE:
    """Stands for the explainer: the view shows the name of the class."""


def test_a_view_follows_a_runner(tmp_path):
    with ExplanationWriter(tmp_path) as writer:
        writer.write_metadata(LABELS, METHODS)
        view = explanations(tmp_path)
        view._widget = widget = Widget()
        assert not view.refresh()
        writer.write_image(0, np.zeros((3, 8, 8)))
        assert view.refresh()
        writer.write_explanations(0, {("RISE", 1): np.eye(8)})
        assert view.refresh()
    first, second = (unpack(buffers[0]) for message, buffers in widget.sent)
    assert len(first["images"]) == 1
    assert len(second["images"]) == 1  # the new one only
    assert second["samples"][0]["maps"] == {"RISE": {"1": next(iter(second["images"]))}}
    write(tmp_path)  # a newer run
    assert view.refresh()
    assert len(unpack(widget.sent[-1][1][0])["images"]) == len(unpack(view.payload)["images"]) == 19
    view._widget = None


def test_a_page_that_was_opened_again_gets_what_it_missed(tmp_path):
    with ExplanationWriter(tmp_path) as writer:
        writer.write_metadata(LABELS, METHODS)
        view = explanations(tmp_path)
        shown = unpack(view.payload)["version"]
        assert view.answer({"since": shown}) == ({}, [])
        writer.write_image(0, np.zeros((3, 8, 8)))
        view.refresh()
    _, (missed,) = view.answer({"since": shown})
    assert len(unpack(missed)["samples"]) == 1


def test_the_partial_maps_of_a_running_explainer_are_sent(folder):
    view = explanations(folder)
    sent = []
    view.widget.send = lambda message, buffers=(): sent.append((message, list(buffers)))
    maps = np.linspace(0, 1, 2 * 3 * 8 * 8, dtype=np.float32).reshape(2, 3, 8, 8)

    with Reporter(RISE(), 6000, "masks") as reporter:
        reporter.report(0, 0, lambda: maps * 0)
        reporter.report(100, 100, lambda: maps)
        assert [message["done"] for message, _ in sent] == [0, 100]
        message, (data,) = sent[-1]
        assert message == {"running": "RISE", "done": 100, "total": 6000, "count": 4, "height": 8, "width": 8}
        assert len(data) == 4 * 8 * 8 and data[0] == 0 and data[63] == 255
        view.close()
        reporter.report(200, 100, lambda: maps)
        assert len(sent) == 2


def test_an_interrupt_reaches_the_view_and_its_text(folder):
    view, sent = explanations(folder), []
    view.widget.send = lambda message, buffers=(): sent.append(message)
    with pytest.raises(KeyboardInterrupt), Reporter(RISE(), 6000, "masks"):
        raise KeyboardInterrupt
    assert sent == [{"stopped": "RISE"}]
    view.close()
    assert "interrupted" not in repr(view)
    with ExplanationWriter(folder) as writer:
        writer.write_metadata(LABELS, METHODS)
        writer.write_status("interrupted")
    assert unpack(explanations(folder).payload)["status"] == "interrupted"
    assert "The run was interrupted." in repr(explanations(folder))


def test_a_run_of_rise_reaches_the_view(folder):
    from msnb.explainer.explanation import RISE

    msnb.set_seed(0)
    net = nn.SequentialCell(nn.Flatten(), nn.Dense(256, 3))
    view, sent = explanations(folder), []
    view.widget.send = lambda message, buffers=(): sent.append(message)
    RISE(net, nn.Softmax(), perturbation_per_eval=500)(Tensor(np.ones((1, 1, 16, 16), np.float32)), 1)
    done = [message["done"] for message in sent if message.get("running") == "RISE"]
    assert done[0] == 0 and done[-1] == 6000 and done == sorted(done) and len(done) > 4
    view.close()


# ------------------------------------------------------------------ regions
@pytest.fixture(scope="module")
def net():
    msnb.set_seed(3)
    return nn.SequentialCell(
        nn.Conv2d(1, 4, 3, weight_init="normal"),
        nn.ReLU(),
        nn.Conv2d(4, 20, 3, stride=2),
        nn.Flatten(),
        nn.Dense(1280, 3),
    )


def test_a_region_leads_to_channels_and_nodes(tmp_path, net):
    inputs = write(tmp_path)
    view = explanations(tmp_path, net, inputs)
    answer, (maps,) = view.answer({"region": {"sample": 1, "label": 2, "box": [0, 0, 0.5, 0.5]}})
    assert answer["node"].startswith("2/Conv2D") and answer["size"] == [20, 8, 8] and answer["cells"] == (0, 0, 4, 4)
    assert len(answer["channels"]) == 12 and len(maps) == 12 * 64
    sizes = [abs(one["relevance"]) for one in answer["channels"]]
    assert sizes == sorted(sizes, reverse=True)
    assert answer["score"] == pytest.approx(float(net(Tensor(inputs[1:2]))[0, 2]), abs=1e-4)
    assert {one["node"].split("/")[0] for one in answer["nodes"]} == {"0", "2"} and answer["is_exact"]
    relu = explanations(tmp_path, net, Tensor(inputs), node="op:ReLU")
    answer, _ = relu.answer({"region": {"sample": 1, "label": 2, "box": [0, 0, 1, 1]}})
    assert answer["size"] == [4, 16, 16] and answer["share"] == pytest.approx(1)
    data = ds.NumpySlicesDataset(inputs, shuffle=False).batch(3)
    same, _ = explanations(tmp_path, net, data, node="op:ReLU").answer(
        {"region": {"sample": 1, "label": 2, "box": [0, 0, 1, 1]}}
    )
    assert same["channels"] == answer["channels"]


def test_a_shuffled_data_set_is_read_in_the_order_of_the_runner_and_random_states_stay(tmp_path, net):
    inputs = write(tmp_path)
    with fixed_order():
        shuffled = ds.NumpySlicesDataset(inputs, shuffle=True).batch(3)
        in_order = np.concatenate([row[0] for row in shuffled.create_tuple_iterator(num_epochs=1, output_numpy=True)])
    question = {"region": {"sample": 1, "label": 2, "box": [0, 0, 1, 1]}}
    np.random.seed(3)
    random.seed(3)
    expected = np.random.random(), random.random()
    np.random.seed(3)
    random.seed(3)
    answer, _ = explanations(tmp_path, net, ds.NumpySlicesDataset(inputs, shuffle=True).batch(3)).answer(question)
    assert (np.random.random(), random.random()) == expected
    same, _ = explanations(tmp_path, net, in_order).answer(question)
    assert answer["channels"] == same["channels"]


def test_without_inputs_the_saved_picture_is_used(tmp_path, net):
    write(tmp_path)
    answer, _ = explanations(tmp_path, net).answer({"region": {"sample": 0, "label": 0, "box": [0, 0, 1, 1]}})
    assert not answer["is_exact"] and answer["size"] == [20, 8, 8]


def test_the_region_is_marked_on_the_graph(tmp_path, net):
    view = explanations(tmp_path, net, write(tmp_path))
    answer, buffers = view.answer({"region": {"sample": 0, "label": 0, "box": [0, 0, 0.5, 0.5], "graph": True}})
    assert answer == {} and len(buffers) == 2


def test_an_error_of_the_network_is_an_answer(folder, net):
    view, sent = explanations(folder, net, np.zeros((1, 3, 16, 16), np.float32)), []
    view.widget.send = lambda message, buffers=(): sent.append(message)
    ask = {"sample": 0, "label": 0, "box": [0, 0, 1, 1]}
    view.widget._handle_custom_msg({"region": ask, "ask": 1}, [])
    view.widget._handle_custom_msg({"region": {**ask, "sample": 2}, "ask": 2}, [])
    view.widget._handle_custom_msg({"unknown": 1, "ask": 3}, [])
    assert [message["answer"] for message in sent] == [1, 2, 3]
    assert "Error" in sent[0]["problem"]
    assert sent[1]["problem"] == "ValueError: 'inputs' has 1 pictures, but sample 2 is asked for."
    view.close()


# ------------------------------------------------------------------ in a browser
browser = pytest.fixture(chromium, scope="module")
READY = ".msnb-explain[data-ready]"


def show(window, folder, tmp_path, width=900, height=900, dark=False):
    path = tmp_path / "page.html"
    explanations(folder).save(path)
    page = window.show(path, READY, width, height, dark)
    page.wait_for_selector(".grid [role=option][data-filled]")
    return page


def test_pictures_are_filtered_sorted_and_chosen_by_keys(browser, folder, tmp_path):
    window = Window(browser)
    page = show(window, folder, tmp_path)
    cells = page.locator(".grid [role=option]")
    assert cells.count() == 4
    names = [cells.nth(i).get_attribute("aria-label") for i in range(4)]
    assert names[0] == "sample 0: dog 0.800 TP" and names[3] == "sample 3: cat 0.900 "
    assert page.locator(".detail figure").count() == 4
    cells.first.focus()
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".detail h3") == "sample 1"
    assert page.evaluate("document.activeElement.dataset.id") == "1"
    for method in ("GradCAM", "RISE", "Gradient"):
        page.keyboard.press("m")
        assert page.get_attribute("figure.on", "data-method") == method
    assert page.evaluate("document.activeElement.dataset.id") == "1"  # the keys go on
    assert page.inner_text(".labels [aria-checked=true]").split() == ["FP", "dog", "0.600"]
    path = page.locator("figure[data-method=RISE] canvas").get_attribute("data-path")
    page.click("[role=radio][aria-checked=false]")  # the other label has maps of its own
    assert page.inner_text(".labels [aria-checked=true]").split() == ["FN", "cat", "0.300"]
    assert page.locator("figure[data-method=RISE] canvas").get_attribute("data-path") != path
    page.keyboard.press("ArrowDown")
    assert page.inner_text(".labels [aria-checked=true]").split() == ["FP", "dog", "0.600"]
    page.keyboard.press("m")
    assert page.get_attribute("figure.on", "data-method") == "GradCAM"
    assert page.input_value("[data-set=method]") == "GradCAM"
    page.keyboard.press("-")
    page.keyboard.press("-")
    assert page.input_value("[data-set=opacity]") == "0.5"
    opacity = "getComputedStyle(document.querySelector('figure.on canvas')).opacity"
    assert float(page.evaluate(opacity)) == 0.5
    page.keyboard.press("+")
    assert float(page.evaluate(opacity)) == 0.6
    page.keyboard.press("f")
    assert page.evaluate("document.activeElement.dataset.set") == "label"
    page.select_option("[data-set=label]", "1")
    assert cells.count() == 2 and page.inner_text(".hits").startswith("2 of 4 samples")
    page.click("[data-kind=FP]")
    assert [cells.nth(i).get_attribute("data-id") for i in range(cells.count())] == ["1"]
    page.click("[data-do=clear]")
    page.select_option("[data-set=sort]", "high")
    assert [cells.nth(i).get_attribute("data-id") for i in range(4)] == ["3", "0", "1", "2"]
    page.select_option("[data-set=sort]", "low")
    assert [cells.nth(i).get_attribute("data-id") for i in range(4)] == ["2", "1", "0", "3"]
    cells.first.focus()
    page.keyboard.press("?")
    assert "previous, next picture" in page.inner_text(".msnb-keys")
    page.keyboard.press("Escape")
    page.click("[data-kind=TP]")
    page.select_option("[data-set=label]", "0")
    assert page.inner_text(".detail") == "No sample is left: show all labels and kinds."
    assert not window.complaints() and page.evaluate("!window.hit")


def test_the_weights_of_scores_sum_to_one(browser, folder, tmp_path):
    window = Window(browser)
    page = show(window, folder, tmp_path)
    page.focus("[data-tab=images]")
    page.keyboard.press("ArrowRight")
    rows = page.locator(".totals tbody tr")
    assert [rows.nth(i).inner_text().split() for i in range(3)] == [
        ["GradCAM", "0.583", "1.000", "0.500", "0.250"],
        ["Gradient", "0.250", "0.500", "0.250", "0.000"],
        ["RISE", "–", "0.250", "–", "1.000"],  # Robustness has no score
    ]
    page.fill("[data-weight=Robustness]", "0")
    page.keyboard.press("Tab")
    weights = "[...document.querySelectorAll('[data-weight]')].map(one => +one.value)"
    assert page.evaluate(weights) == [0.5, 0, 0.5]
    assert rows.nth(1).inner_text().split()[:2] == ["RISE", "0.625"]  # which now does not matter
    page.fill("[data-weight=ClassSensitivity]", "0.9")
    page.keyboard.press("Tab")
    assert page.evaluate(weights) == pytest.approx([0.1, 0, 0.9])
    assert rows.first.inner_text().split()[:2] == ["RISE", "0.925"]
    page.click("[data-do=equal]")
    assert page.evaluate(weights) == pytest.approx([1 / 3] * 3, abs=1e-4)
    assert page.locator(".radar polygon:not(.ring)").count() == 3
    page.click("button[data-method=RISE]")
    assert page.locator(".radar polygon:not(.ring)").count() == 2
    assert "GradCAM: Faithfulness 1.000" in page.get_attribute(".radar svg", "aria-label")
    table = page.locator(".classes tbody tr")
    assert table.nth(1).inner_text().split() == ["dog", "–", "–", "–"]
    assert table.nth(2).locator("th").inner_text() == HOSTILE
    assert not window.complaints()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [900, 390])
def test_everything_can_be_read(browser, folder, tmp_path, width, dark):
    window = Window(browser)
    explained = read_explanations(folder)
    explained.resolve(explained.samples[0].image_path).unlink()
    page = show(window, folder, tmp_path, width=width, dark=dark)
    assert "the file is missing" in page.inner_text(".notes")
    for tab in ("images", "scores"):
        page.click(f"[data-tab={tab}]")
        assert unreadable(page.locator(".msnb-explain")) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.get_attribute(READY, "data-theme") == ("dark" if dark else "light")
    assert not window.complaints()


# A page that stands for the front end of a running notebook: the test answers what is asked.
LIVE = """<!doctype html><body><script type="module">
const code = %s, module = await import(URL.createObjectURL(new Blob([code], {type: 'text/javascript'})));
const heard = [], decode = text => Uint8Array.from(atob(text), one => one.charCodeAt(0)), data = decode('%s');
window.asked = [];
window.hear = (message, buffers) => heard.forEach(act => act(message, buffers.map(one => new DataView(
    decode(one).buffer))));
const model = {get: key => key === 'payload' ? new DataView(data.buffer) : true, on: (_, act) => heard.push(act),
    off: () => {}, send: message => window.asked.push(message)};
module.default.render({model, el: document.body});
</script></body>"""


@contextlib.contextmanager
def live(window, view, tmp_path):
    """A live page of a view, and a function that lets the view answer what was asked."""
    path = tmp_path / "live.html"
    code = json.dumps(page_text(MODULE)).replace("</", "<\\/")
    path.write_text(LIVE % (code, base64.b64encode(view.payload).decode()), encoding="utf-8")
    page, done = window.show(path, READY, 900, 1000, False), []

    def answer():
        for question in page.evaluate("window.asked")[len(done) :]:
            done.append(question)
            content = {name: value for name, value in question.items() if name != "ask"}
            reply, buffers = view.answer(content)
            hear({**json.loads(json.dumps(reply)), "answer": question["ask"]}, buffers)
        return done

    def hear(message, buffers):
        page.evaluate("([message, buffers]) => hear(message, buffers)", [message, [*map(encode, buffers)]])

    yield page, answer, hear


def encode(data):
    return base64.b64encode(data).decode()


def test_a_region_is_clicked_drawn_and_moved(browser, tmp_path, net):
    window = Window(browser)
    view = explanations(tmp_path / "explained", net, write(tmp_path / "explained"))
    with live(window, view, tmp_path) as (page, answer, hear):
        answer()
        page.wait_for_function("document.querySelector('figure[data-method=RISE] canvas').dataset.full === 'true'")
        stack = page.locator("figure[data-method=RISE] .stack")
        place = stack.bounding_box()
        page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
        region = answer()[-1]["region"]
        assert (region["sample"], region["label"]) == (0, 1)
        np.testing.assert_allclose(region["box"], [0.4, 0.4, 0.6, 0.6], atol=0.01)
        page.wait_for_selector(".region .channels tbody tr")
        assert page.locator(".region .channels tbody tr").count() == 12
        assert "2/Conv2D" in page.inner_text(".region p") and page.locator(".figures .box").count() == 4
        page.mouse.move(place["x"] + 2, place["y"] + 2)
        page.mouse.down()
        page.mouse.move(place["x"] + place["width"] * 0.5, place["y"] + place["height"] * 0.25)
        page.mouse.up()
        np.testing.assert_allclose(answer()[-1]["region"]["box"], [0, 0, 0.25, 0.5], atol=0.03)
        stack.focus()
        page.keyboard.press("Shift+ArrowDown")
        page.keyboard.press("Enter")
        np.testing.assert_allclose(answer()[-1]["region"]["box"], [0.1, 0, 0.35, 0.5], atol=0.03)
        page.wait_for_selector("[data-do=graph]")
        assert unreadable(page.locator(".msnb-explain")) == []
        page.click("[data-do=graph]")
        answer()
        page.wait_for_selector(".region .graph[data-ready]")
        assert page.evaluate("document.querySelector('.region .graph').shadowRoot.querySelector('canvas') !== null")
        page.keyboard.press("Escape")
    assert not window.complaints()


def test_a_region_of_a_wide_picture_is_a_share_of_its_sides(browser, tmp_path, net):
    with ExplanationWriter(tmp_path / "explained") as writer:
        writer.write_metadata(LABELS, METHODS[:1])
        writer.write_image(0, np.random.default_rng(0).random((1, 8, 32)))
        writer.write_inference(0, (1,), Inference((0.75,), (1,), (0.75,)))
        writer.write_explanations(0, {("Gradient", 1): np.random.default_rng(0).random((8, 32))})
    window, view = Window(browser), explanations(tmp_path / "explained", net)
    with live(window, view, tmp_path) as (page, answer, hear):
        page.wait_for_function("document.querySelector('.detail').style.getPropertyValue('--ratio') === '4'")
        place = page.locator("figure[data-method=Gradient] .stack").bounding_box()
        assert place["width"] / place["height"] == pytest.approx(4, rel=0.1)
        page.mouse.click(place["x"] + place["width"] * 0.75, place["y"] + place["height"] / 4)
        (question,) = [one for one in page.evaluate("asked") if "region" in one]
        np.testing.assert_allclose(question["region"]["box"], [0.15, 0.65, 0.35, 0.85], atol=0.03)
    assert not window.complaints()


def test_a_kernel_that_is_busy_is_named(browser, tmp_path, net):
    window = Window(browser)
    view = explanations(tmp_path / "explained", net, write(tmp_path / "explained"))
    with live(window, view, tmp_path) as (page, answer, hear):
        page.locator("figure .stack").first.click()
        page.wait_for_function("document.querySelector('.region').innerText.startsWith('No answer yet: the kernel is')")
        number = page.evaluate("asked.find(one => one.region).ask")
        hear({"answer": number, "problem": "ValueError: no"}, [])
        page.wait_for_function("document.querySelector('.region').innerText === 'ValueError: no'")
    assert not window.complaints()


def test_new_samples_and_partial_maps_appear(browser, tmp_path):
    window = Window(browser)
    with ExplanationWriter(tmp_path / "explained") as writer:
        writer.write_metadata(LABELS, METHODS)
        writer.write_image(0, np.random.default_rng(0).random((3, 8, 8)))
        view = explanations(tmp_path / "explained")
        view._widget = widget = Widget()
        with live(window, view, tmp_path) as (page, answer, hear):
            answer()
            page.wait_for_selector(".grid [role=option][data-filled]")
            shape = {"running": "RISE", "total": 6000, "count": 1, "height": 4, "width": 4}
            hear({**shape, "done": 100}, [bytes(range(16))])
            assert page.inner_text(".running p") == "RISE: 100 of 6,000 steps"
            assert page.locator(".running img").count() == 1  # the sample that has no map yet
            first = page.evaluate("document.querySelector('.running canvas').toDataURL()")
            hear({**shape, "done": 200}, [bytes(range(0, 160, 10))])
            assert page.evaluate("document.querySelector('.running canvas').toDataURL()") != first
            writer.write_inference(0, (1,), Inference((0.75,), (1,), (0.75,)))
            writer.write_explanations(0, {("RISE", 1): np.eye(8)})
            assert view.refresh()
            message, buffers = widget.sent[-1]
            hear(message, buffers)
            page.wait_for_function("document.querySelector('figure[data-method=RISE] canvas')?.hidden === false")
            hear({**shape, "done": 6000}, [bytes(16)])
            page.wait_for_selector(".running", state="hidden")
        view._widget = None
    assert not window.complaints()


def test_maps_that_an_interrupt_has_prevented_are_not_awaited(browser, tmp_path):
    window = Window(browser)
    with ExplanationWriter(tmp_path / "explained") as writer:
        writer.write_metadata(LABELS, METHODS)
        writer.write_image(0, np.random.default_rng(0).random((3, 8, 8)))
        writer.write_inference(0, (1,), Inference((0.75,), (1,), (0.75,)))
        view = explanations(tmp_path / "explained")
        view._widget = widget = Widget()
        with live(window, view, tmp_path) as (page, answer, hear):
            answer()
            page.wait_for_selector(".grid [role=option][data-filled]")
            lack = page.locator("figure[data-method=RISE] .lack")
            assert lack.inner_text() == "not there yet"
            hear({"running": "RISE", "done": 100, "total": 6000, "count": 1, "height": 4, "width": 4}, [bytes(16)])
            hear({"stopped": "RISE"}, [])
            assert page.inner_text(".running p") == "RISE was stopped after 100 of 6,000 steps"
            assert page.locator(".running canvas").count() == 1 and page.locator(".running progress").is_hidden()
            writer.write_status("interrupted")
            assert view.refresh()
            hear(*widget.sent[-1])
            until(page, lambda: lack.inner_text() == "not computed: the run was interrupted")
            assert page.inner_text(".notes") == "The run was interrupted."
        view._widget = None
    assert not window.complaints()


def test_an_empty_folder_shows_the_sentence(browser, tmp_path):
    (tmp_path / "explained").mkdir()
    window, path = Window(browser), tmp_path / "page.html"
    explanations(tmp_path / "explained").save(path)
    page = window.show(path, READY, 900, 500, False)
    assert "has no explanations yet" in page.inner_text(".notes")
    assert page.locator(".images .tools").is_hidden()
    assert not window.complaints()


def test_many_samples_are_drawn_in_pieces(browser, tmp_path):
    write(tmp_path / "explained", samples=SAMPLES * 100, size=4, methods=["Gradient"], scores=SCORES[:1])
    window = Window(browser)
    page = show(window, tmp_path / "explained", tmp_path)
    assert page.locator(".grid [role=option]").count() == 300
    page.click("[data-do=more]")
    assert page.locator(".grid [role=option]").count() == 400
    page.locator(".grid [role=option]").first.focus()
    page.keyboard.press("End")
    page.wait_for_selector('.grid [data-id="399"][data-filled]')
    assert not window.complaints()
