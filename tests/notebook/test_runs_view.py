"""The table of runs in a notebook: the magic, what is stored, and the view in a browser with the network blocked."""

import base64
import json
import math
import pathlib
import xml.etree.ElementTree as ElementTree

import pytest
from browsing import Window, chromium, until

import msnb
from msnb.insight.runs import Runs
from msnb.notebook.runs import RunsView
from msnb.notebook.runs.view import _on_message

EVIL = "<img src=x onerror=window.hit=1>"
MODULE = pathlib.Path(msnb.notebook.runs.__file__).with_name("widget.js")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """40 runs: the accuracy has its optimum at lr 1e-3; one diverged, one still runs, one has a hostile name."""
    place = tmp_path_factory.mktemp("runs")
    for i in range(40):
        name = f"run-{i:02d}"
        rate, optimizer = 10 ** (-5 + (i * 7 % 40) / 10), ("adam", "sgd")[i % 2]
        config = {"lr": rate, "optimizer": {"name": optimizer}, "epochs": 3, EVIL: i % 3}
        if optimizer == "sgd":
            config["optimizer"]["momentum"] = i / 40
        summary = {"accuracy": 1 - 0.1 * (math.log10(rate) + 3) ** 2, "loss": math.nan if i == 9 else i / 7}
        state = "failed" if i == 9 else "running" if i == 39 else "finished"
        description = {
            "format": 1,
            "name": name,
            "started": 1e9 + i,
            "ended": 1e9 + 90 + i,
            "host": "elsewhere",
            "pid": 1,
        }
        (place / name).mkdir()
        (place / name / "run.json").write_text(
            json.dumps({**description, "state": state, "config": config, "summary": summary}), encoding="utf-8"
        )
    Runs(place).marks.change({"run-03": {"star": True, "note": EVIL}, "run-04": {"hidden": True}})
    return place


@pytest.fixture(scope="module")
def runs_view(folder):
    return RunsView(Runs(folder), "accuracy")


# ---------------------------------------------------------------------- what is stored
def test_the_magic_shows_the_runs_of_a_folder(notebook, folder):
    view = notebook.ok(f"%ms_runs -t accuracy {folder}")
    shown = notebook.rich[-1].data
    assert "data:image/svg+xml" in shown["text/html"] and "run-20" in shown["text/plain"]
    view.close()


@pytest.mark.parametrize(
    "line, said", [("nowhere", "no folder"), ("-t speed {}", "no run has the metric"), ("-g up {}", "goal")]
)
def test_what_cannot_be_shown_is_said(notebook, folder, line, said):
    notebook.run("%ms_runs " + line.format(folder))
    assert said in notebook.shown


def test_the_picture_and_the_text_name_the_best_and_nothing_in_them_is_markup(runs_view):
    text = " ".join(ElementTree.fromstring(runs_view.svg()).itertext())
    assert "40 runs" in text and "best accuracy 1 in run-20" in text and "1 hidden" in text
    assert repr(runs_view).splitlines()[2].startswith("run-20")


def test_it_is_saved_in_the_form_that_the_name_asks_for_and_asks_for_nothing(runs_view, tmp_path):
    for suffix, begin in ((".html", "<!doctype html"), (".svg", "<svg"), (".txt", "40 runs")):
        runs_view.save(tmp_path / f"runs{suffix}")
        assert (tmp_path / f"runs{suffix}").read_text(encoding="utf-8").startswith(begin)
    assert "http" not in runs_view.html().split("<script", 1)[1]
    assert MODULE.stat().st_size < 100_000
    with pytest.raises(ValueError, match="should end in one of"):
        runs_view.save("runs.pdf")


def test_an_empty_folder_is_a_view_too(tmp_path):
    view = msnb.runs(tmp_path)
    assert repr(view) == f"0 runs in {tmp_path}" and "0 runs" in view.svg() and "<!doctype" in view.html()


def test_the_code_of_a_cell_is_stored_only_when_asked_for_and_with_a_word(notebook, tmp_path, monkeypatch):
    said, kept = [], {}
    monkeypatch.setattr("msnb.log.once", lambda text, *_: said.append(text))
    for name, more in (("plain", ""), ("coded", ", code=True")):
        cell = f"import msnb\nwith msnb.record({name!r}, {str(tmp_path)!r}{more}) as run:\n    run.log({{'loss': 1.0}})"
        notebook.ok(cell)
        kept[name] = cell, json.loads((tmp_path / name / "run.json").read_text(encoding="utf-8"))
    assert "code" not in kept["plain"][1] and kept["coded"][1]["code"] == kept["coded"][0]
    assert sum("passwords" in text for text in said) == 1
    assert Runs(tmp_path).difference("plain", "coded").code is None


class Told:
    """Record the answers to the questions of a page."""

    def __init__(self):
        self.messages = []

    def send(self, message, buffers=None):
        self.messages.append(message)

    def __call__(self, view, **question):
        _on_message(lambda: view, self, {**question, "ask": 7}, [])
        return self.messages[-1]


def test_the_kernel_answers_what_a_page_asks_and_says_what_it_cannot(tmp_path):
    for name, rate in (("a", 0.1), ("b", 0.2)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(
            json.dumps({"format": 1, "config": {"lr": rate}, "summary": {"loss": 1}})
        )
    view, ask = msnb.runs(tmp_path), Told()
    assert ask(view, mark=["a"], **{"as": {"star": True}}) == {"answer": 7} and view.runs.marks.of("a")["star"]
    assert "12 are needed" in ask(view, importance={"target": "loss", "among": None})["note"]
    compared = ask(view, compare=["a", "b"])
    assert compared["names"] == ["a", "b"] and compared["curves"] == [] and compared["code"] is None
    assert "no graph" in ask(view, graph=["a", "b"])["problem"]
    assert "no run 'c'" in ask(view, delete=["c"])["problem"]
    assert ask(view, delete=["b"]) == {"answer": 7} and not (tmp_path / "b").exists()
    assert "does not know" in ask(view, fly=1)["problem"]


# ---------------------------------------------------------------------- in a browser
browser = pytest.fixture(chromium, scope="module")


@pytest.fixture(scope="module")
def window(browser):
    return Window(browser)


@pytest.fixture
def show(window, runs_view, tmp_path):
    """show(width, dark) -> page; at the end nothing may have been asked of the network or gone wrong."""
    path = tmp_path / "runs.html"
    path.write_text(runs_view.html(), encoding="utf-8")

    def show(width=1400, dark=False):
        return window.show(path, ".msnb-runs[data-ready]", width, 900, dark)

    yield show
    assert not window.complaints() and window.page.evaluate("window.hit") is None


def rows(page):
    return page.locator(".body .row .name").all_text_contents()


def hits(page, text):
    until(page, lambda: page.inner_text(".hits") == text)


def test_the_filter_a_brush_and_the_scatter_are_one_selection(show):
    page = show()
    hits(page, "39 of 40 runs")
    page.fill(".filter", "name=adam lr>1e-4")
    hits(page, "13 of 40 runs")
    page.fill(".filter", "lrr>1")
    until(page, lambda: "did you mean lr?" in page.inner_text(".hits"))
    page.fill(".filter", "")
    hits(page, "39 of 40 runs")
    box = page.locator(".plot .over").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.99, box["y"] + box["height"] * 0.5, steps=4)
    page.mouse.up()
    until(page, lambda: ", lr " in page.get_attribute(".parallel .over", "aria-label"))
    left = page.inner_text(".hits").split(" ")[0]
    assert 0 < int(left) < 39 and f"{left} of 40 runs" in page.get_attribute(".parallel .over", "aria-label")
    page.click("[data-do=clear]")
    hits(page, "39 of 40 runs")


def test_an_axis_is_brushed_by_the_pointer_and_by_the_keyboard(show):
    page = show()
    head = page.locator('.heads [data-key="setting:lr"]').bounding_box()
    x, box = head["x"] + head["width"] / 2, page.locator(".parallel .over").bounding_box()
    page.mouse.move(x, box["y"] + 45)
    page.mouse.down()
    page.mouse.move(x, box["y"] + 130, steps=4)
    page.mouse.up()
    until(page, lambda: page.locator("[data-do=clear]").is_visible())
    page.mouse.dblclick(x, box["y"] + 200)
    hits(page, "39 of 40 runs")
    page.focus('.heads [data-key="setting:lr"]')
    page.keyboard.press("Enter")
    page.fill("[data-low]", "0.001")
    page.keyboard.press("Enter")
    hits(page, "19 of 40 runs")
    page.click('.heads [data-key="setting:optimizer.name"]')
    page.uncheck('.form label:has-text("sgd") input')
    page.click('.form button:has-text("apply")')
    hits(page, "9 of 40 runs")


def test_the_table_sorts_and_is_gone_through_by_keys(show):
    page = show()
    page.click('.head [data-by="metric:accuracy"]')
    until(page, lambda: rows(page)[0] == "run-20")
    assert page.locator('.head [aria-sort="descending"]').count() == 1
    page.click('.head [data-by="metric:loss"]')
    page.focus(".body")
    page.keyboard.press("End")
    until(page, lambda: "run-09" in page.locator(".row.current").inner_text())  # what is no number stands last
    assert "NaN" in page.locator(".row.current .bad").inner_text()
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    until(page, lambda: page.locator('.row[aria-selected="true"]').count() == 1)
    assert page.get_attribute(".body", "aria-activedescendant") == page.get_attribute(".row.current", "id")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.closest('.head') !== null")
    page.keyboard.press("?")
    assert "tick the run" in page.inner_text(".keys")


def test_what_matters_leads_to_the_scatter_and_ticked_runs_are_compared(show):
    page = show(900)
    page.click('[data-tab="importance"]')
    names = page.locator(".importance li .name").all_text_contents()
    assert names[0] == "lr" and EVIL in names and page.locator(".spread .some").count() > 5
    page.click('.importance [data-key="setting:optimizer.momentum"]')
    assert page.locator("[data-axis=x]").input_value() == "setting:optimizer.momentum"
    page.click('[data-tab="table"]')
    for row in (0, 1):
        page.locator(".body .row").nth(row).click()
    page.click(".acts [data-do=compare]")
    until(page, lambda: page.locator(".compare thead bdi").count() == 2)
    compared = page.inner_text(".compare")
    assert "optimizer.name" in compared and "epochs" in page.locator(".compare .same").text_content()


@pytest.mark.parametrize("width, dark", [(480, True), (1600, False)])
def test_it_fits_narrow_and_wide_pages_in_both_themes_and_in_forced_colours(show, width, dark):
    page = show(width, dark)
    for forced in ("none", "active"):
        page.emulate_media(forced_colors=forced)
        for tab in ("scatter", "importance", "compare"):
            page.click(f'[data-tab="{tab}"]')
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab
    page.emulate_media(forced_colors="none")
    assert page.get_attribute(".msnb-runs", "data-theme") == ("dark" if dark else "light")


LIVE = """async ({source, payload, after}) => {
    const bytes = text => new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
    const state = {payload: bytes(payload), kept: {}, chosen: ["run-07", "gone"]}, heard = {}, sent = [];
    const model = {get: name => state[name], set: (name, value) => { state[name] = value; }, save_changes() {},
        on: (name, act) => { heard[name] = act; }, off: name => { delete heard[name]; },
        send: message => { sent.push(message); heard["msg:custom"]({answer: message.ask}, []); }};
    const {default: widget} = await import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
    document.body.innerHTML = '<div id="here"></div>';
    const el = document.getElementById("here"), close = await widget.render({model, el});
    const frame = () => new Promise(requestAnimationFrame), find = what => el.querySelector(what);
    find('[data-do=star]').click();
    find('[data-do=delete]').click();
    const question = find('.acts form').innerText, focused = document.activeElement.textContent;
    find('.acts form .danger').click();
    state.payload = bytes(after);
    await heard["change:payload"]();
    await frame(); await frame();
    const left = find(".title").innerText, ticked = find(".acts").innerText;
    close();
    return {sent: sent.map(({ask, ...rest}) => rest), question, focused, left, ticked, after: el.children.length,
        listening: Object.keys(heard).length};
}"""


def test_the_live_view_marks_deletes_after_a_question_and_follows_the_folder(show, runs_view, tmp_path):
    source = MODULE.read_text(encoding="utf-8")
    after = base64.b64encode(msnb.runs(tmp_path).payload).decode()
    result = show().evaluate(
        LIVE, {"source": source, "payload": base64.b64encode(runs_view.payload).decode(), "after": after}
    )
    assert {"mark": ["run-07"], "as": {"star": True}} in result["sent"] and {"delete": ["run-07"]} in result["sent"]
    assert "Delete run-07" in result["question"] and result["focused"] == "leave"
    assert result["left"].startswith("0 runs") and result["ticked"].startswith("Tick runs")
    assert result["after"] == result["listening"] == 0
