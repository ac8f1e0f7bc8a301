"""The labelling page in a real browser: keys, batches, faults, boxes; the kernel's side runs in this process."""

import base64
import json

import numpy as np
import pytest
from browsing import Window, chromium, frames, picture, unreadable, until
from PIL import Image

import msnb
from msnb.notebook.display.page import text_of
from msnb.notebook.labels.view import _MODULE

browser = pytest.fixture(chromium, scope="module")
CLASSES = ["left", "right", "both"]
# A widget's model whose messages go to Python; what comes back is sent to the page as the kernel's message.
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>labels</title><style>body{margin:8px}
@media(prefers-color-scheme:dark){body{background:#111}}</style><div id="view"></div><script type="module">
const made = await import(URL.createObjectURL(new Blob([CODE], {type: "text/javascript"})));
const heard = [];
window.hear = (message, pictures = []) => {
    const views = pictures.map(text => new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer));
    for (const act of heard) act(message, views); };
made.default.render({el: document.getElementById("view"), model: {
    get: name => name === "live" || STATE, on: (name, act) => heard.push(act), off: () => 0,
    send: async message => {
        for (const [m, p] of JSON.parse(await window.toKernel(JSON.stringify(message)))) hear(m, p); },
}});</script>"""


class Sent:
    """What a session sends to its widget, collected."""

    def __init__(self):
        self.messages = []

    def send(self, message, buffers=()):
        self.messages.append([message, [base64.b64encode(data).decode() for data in buffers]])

    def take(self):
        taken, self.messages = self.messages, []
        return taken


@pytest.fixture
def truth():
    return np.random.default_rng(0).integers(0, 3, 80)


@pytest.fixture
def images(truth):
    images = np.random.default_rng(1).integers(0, 60, (80, 16, 16), dtype=np.uint8)
    for image, kind in zip(images, truth, strict=True):
        if kind != 1:
            image[4:12, 1:6] += 150
        if kind != 0:
            image[4:12, 10:15] += 150
    return images


@pytest.fixture
def show(browser, tmp_path):
    """show(session) -> page; nothing may have been asked of the network or gone wrong."""
    windows, sessions = [], []

    def show(session, width=1000, dark=False):
        sessions.append(session)
        window, sent = Window(browser), Sent()
        windows.append(window)

        def answer(message):
            session._on_message(sent, json.loads(message), [])
            session.wait(60)
            return json.dumps(sent.take())

        window.page.expose_function("toKernel", answer)
        code = PAGE.replace("CODE", json.dumps(text_of(_MODULE)).replace("</", "<\\/"))
        path = tmp_path / "page.html"
        path.write_text(code.replace("STATE", json.dumps(session._build_widget_state()["state"])), encoding="utf-8")
        return window.show(path, ".msnb-label[data-ready] .choices", width, 800, dark)

    yield show
    for session in sessions:
        session.close()
    for window in windows:
        faults = window.complaints()
        window.page.close()
        assert not faults


def label_by_keys(page, session, truth, count):
    """Answer with the keys 1 to 3."""
    for _ in range(count):
        before = len(session.answers)
        page.keyboard.press(str(truth[session.next().index] + 1))
        until(page, lambda: len(session.answers) > before)  # noqa: B023 (called in this round)
        page.wait_for_selector(f'.name:text-is("{session.next().name}")')


def test_keys_label_take_the_suggestion_skip_and_go_back(show, images, truth, tmp_path):
    session = msnb.label(images, CLASSES, keep=tmp_path / "labels.csv")
    page = show(session)
    page.focus(".msnb-label")
    label_by_keys(page, session, truth, 20)
    right = sum(CLASSES[truth[index]] == name for index, name in session.answers.items())
    assert right == 20 and page.inner_text("header").startswith("20 of 80 items labelled")
    while session.next().suggestion is None:
        label_by_keys(page, session, truth, 1)
    asked, count = session.next(), len(session.answers)
    assert f"Enter {asked.suggestion}" in page.inner_text(".hint")
    page.keyboard.press("Enter")
    until(page, lambda: session.answers.get(asked.index) == asked.suggestion)
    page.keyboard.press("z")
    until(page, lambda: len(session.answers) == count and session.next().index == asked.index)
    page.wait_for_selector(f'.name:text-is("{asked.name}")')
    page.keyboard.press("s")
    until(page, lambda: session.next().index != asked.index)
    page.keyboard.press("?")
    assert "take the suggestion" in page.inner_text(".msnb-keys")
    assert page.evaluate("document.activeElement.className") == "msnb-view msnb-label"
    assert len(session.keep.read_text().splitlines()) == 1 + len(session.answers) + 3


@pytest.mark.parametrize(("width", "dark"), [(1000, False), (900, True), (390, False)])
def test_the_page_is_readable_in_each_width_and_theme(show, images, truth, tmp_path, width, dark):
    session = msnb.label(images, CLASSES, keep=tmp_path / "labels.csv")
    for _ in range(40):
        item = session.next()
        session.answer(item, int(truth[item.index]))
    session.curve()
    page = show(session, width, dark)
    view = page.locator(".msnb-label")
    for tab in ("one", "batch", "faults"):
        page.click(f"[data-tab={tab}]")
        page.wait_for_selector(f"[data-tab={tab}][aria-selected=true]")
        frames(page)
        page.wait_for_timeout(300)
        assert view.evaluate("view => view.scrollWidth - view.clientWidth") <= 1
        if tab != "batch":  # pictures that are not picked are faint on purpose
            assert unreadable(view) == []
        picture(page, f"label_{tab}_{width}_{'dark' if dark else 'light'}", tmp_path, docs=False, full_page=True)


def test_a_batch_is_labelled_at_once_but_for_what_was_clicked(show, images, truth, tmp_path):
    session = msnb.label(images, CLASSES, keep=tmp_path / "labels.csv")
    for _ in range(24):
        item = session.next()
        session.answer(item, int(truth[item.index]))
    session.wait()
    expected = [item.index for item in session.batch("right")]
    page = show(session)
    page.click("[data-tab=batch]")
    page.click("[data-choose='1']")
    page.wait_for_selector(".grid")
    until(page, lambda: page.locator("[data-pick]").first.get_attribute("data-pick") == str(expected[0]))
    page.locator("[data-pick]").first.click()
    page.focus(".msnb-label")
    page.keyboard.press("Enter")
    until(page, lambda: len(session.answers) == 24 + len(expected) - 1)
    assert expected[0] not in session.answers and session.answers[expected[1]] == "right"


def test_a_tab_that_is_opened_before_an_answer_arrives_is_filled(show, images, truth, tmp_path):
    session = msnb.label(images, CLASSES, keep=tmp_path / "labels.csv")
    page = show(session)
    page.evaluate("""() => {
        const view = document.querySelector(".msnb-label");
        view.dispatchEvent(new KeyboardEvent("keydown", {key: "1", bubbles: true}));
        view.querySelector("[data-tab=faults]").click();
    }""")
    page.wait_for_selector(".stage :text('No label is suspected')")
    assert len(session.answers) == 1


@pytest.mark.parametrize(
    ("held_out", "words"), [(0, "No advice: no item is held out"), (0.2, "(20 are needed; 16 items can be held out)")]
)
def test_the_advice_says_if_too_few_items_can_be_held_out(show, images, tmp_path, held_out, words):
    session = msnb.label(images, CLASSES, keep=tmp_path / "labels.csv", held_out=held_out)
    session.answer(session.next(), "left")
    session.wait()
    page = show(session)
    until(page, lambda: words in page.inner_text(".advice"))
    assert "1 labels" not in page.inner_text("aside")


def test_a_suspected_fault_is_corrected(show, images, truth, tmp_path):
    session = msnb.label(images, CLASSES, keep=tmp_path / "labels.csv", held_out=0)
    for number in range(50):
        item = session.next()
        session.answer(item, int(truth[item.index] + (number == 25)) % 3)
    wrong = list(session.answers)[25]
    page = show(session)
    page.click("[data-tab=faults]")
    page.click(f'[data-fault="{wrong}"]:has-text("change to")')
    until(page, lambda: session.answers[wrong] == CLASSES[truth[wrong]])


def test_several_classes_are_switched_and_taken(show, images, truth, tmp_path):
    session = msnb.label(images, CLASSES, keep=tmp_path / "labels.csv", kind="classes")
    page = show(session)
    page.focus(".msnb-label")
    first = session.next().index
    for key in ("1", "2", "3", "2", "Enter"):
        page.keyboard.press(key)
    until(page, lambda: session.answers.get(first) == ["left", "both"])
    page.wait_for_selector(f'.name:text-is("{session.next().name}")')
    second = session.next().index
    page.keyboard.press("0")
    until(page, lambda: session.answers.get(second) == [])


def test_boxes_are_drawn_moved_and_removed(show, tmp_path):
    session = msnb.label(np.zeros((5, 100, 200), np.uint8), ["cat", "dog"], keep=tmp_path / "boxes.csv", kind="boxes")
    page = show(session)
    page.wait_for_selector(".layer")
    frames(page)
    area = page.locator(".layer").bounding_box()
    page.focus(".msnb-label")
    page.keyboard.press("2")
    page.mouse.move(area["x"] + area["width"] * 0.1, area["y"] + area["height"] * 0.2)
    page.mouse.down()
    page.mouse.move(area["x"] + area["width"] * 0.5, area["y"] + area["height"] * 0.6, steps=4)
    page.mouse.up()
    for key in ("b", "ArrowLeft", "Shift+ArrowDown", "b", "Backspace"):
        page.keyboard.press(key)
    first = session.next().index
    page.keyboard.press("Enter")
    until(page, lambda: first in session.answers)
    drawn, added = session.answers[first]
    assert drawn[0] == "dog" and np.allclose(drawn[1:], [20, 20, 80, 40], atol=2)
    assert added == ["dog", 48, 25, 100, 52]


def test_a_text_is_shown_as_text(show, tmp_path):
    session = msnb.label(["<img src=x onerror=hit=1>", "b"], ["plus", "minus"], keep=tmp_path / "t.csv", kind="text")
    page = show(session)
    assert page.inner_text("blockquote") in ("<img src=x onerror=hit=1>", "b")


def test_a_saved_page_shows_the_accuracy_and_asks_to_run_the_cell(browser, images, truth, tmp_path):
    with msnb.label(images, CLASSES, keep=tmp_path / "labels.csv") as session:
        for _ in range(20):
            item = session.next()
            session.answer(item, int(truth[item.index]))
        session.curve()
        for suffix, begin in {".html": "<!doctype", ".svg": "<svg", ".txt": "20 of 80 items"}.items():
            session.save(tmp_path / f"page{suffix}")
            assert (tmp_path / f"page{suffix}").read_text(encoding="utf-8").startswith(begin)
    window = Window(browser)
    page = window.show(tmp_path / "page.html", ".msnb-label[data-ready]", 1000, 700, False)
    assert "Run the cell" in page.inner_text(".stage") and "held-out" in page.inner_text(".advice")
    assert not window.complaints()
    page.close()


def test_a_cell_that_runs_again_goes_on_with_its_file(notebook, tmp_path):
    keep = str(tmp_path / "labels.csv")
    cell = f"import numpy as np, msnb\nsession = msnb.label(np.zeros((9, 8, 8)), ['a', 'b'], keep={keep!r})"
    notebook.shell.parent_header = {"metadata": {"cellId": "one"}}
    notebook.ok(cell, "one")
    notebook.ok("session.answer(session.next(), 'a')")
    notebook.ok(cell, "one")
    session = notebook["session"]
    assert len(session.answers) == 1
    notebook.ok("session", "one")
    assert any('<div class="msnb-view"' in output.data.get("text/html", "") for output in notebook.rich)
    message = {"do": "answer", "items": [session.next().index], "drawn": "random", "label": "b", "number": 1}
    session.widget._handle_custom_msg(message, [])  # as ipywidgets does for a message of the page
    assert list(session.answers.values()) == ["a", "b"]
    notebook.shell.parent_header = {"metadata": {"cellId": "two"}}
    notebook.run(cell, "two")
    assert "is open in another session of this process" in notebook.shown
    notebook["session"].close()


def test_the_magic_takes_a_folder_or_names_of_the_session(notebook, images, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook.shell.user_ns.update(images=images, names=CLASSES)
    session = notebook.ok("session = %ms_label images names --keep answers.csv --strategy entropy")
    session = notebook["session"]
    assert session.kind.classes == CLASSES and len(session.pool) == 80 and session.strategy.name == "entropy"
    session.answer(session.next(), "left")
    session.close()
    assert len((tmp_path / "answers.csv").read_text().splitlines()) == 2
    (tmp_path / "photos").mkdir()
    for index in range(3):
        Image.fromarray(images[index]).save(tmp_path / "photos" / f"{index}.png")
    shown = notebook.ok("%ms_label photos left right")
    assert shown.kind.classes == ["left", "right"] and shown.keep.name == "labels.csv" and len(shown.pool) == 3
    assert any('<div class="msnb-view"' in output.data.get("text/html", "") for output in notebook.rich)
    shown.close()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("absent cat dog", "UsageError: %ms_label: "),
        ("images", "UsageError: the following arguments are required: class"),
        ("images cat dog --kid text", "UsageError: unrecognized arguments: --kid text. Did you mean --kind?"),
        ("images cat dog --kind text", "UsageError: %ms_label: "),
        ("images cat dog --strategy marge", "UsageError: %ms_label: "),
        ("images cat dog --net net(", "UsageError: %ms_label: '(' was never closed: net("),
    ],
)
def test_mistakes_of_the_magic_are_one_sentence(notebook, images, tmp_path, monkeypatch, line, words):
    monkeypatch.chdir(tmp_path)
    notebook.shell.user_ns["images"] = images
    notebook.run(f"%ms_label {line}")
    (sentence,) = notebook.shown.splitlines()
    assert sentence.startswith(words)
