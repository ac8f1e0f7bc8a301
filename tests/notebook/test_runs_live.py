"""The table of runs while trainings are under way: what the reader does stays as it is when the kernel tells more."""

import base64
import json

import pytest
from browsing import Window, chromium, frames, until

import msnb
from msnb.notebook.runs import RunsView
from msnb.notebook.runs.view import _MODULE

browser = pytest.fixture(chromium, scope="module")

# A view whose kernel is this test: `live.sent` is what it asked, `live.hear` answers, `live.renew` brings other runs.
LIVE = """async ({source, payload}) => {
    const bytes = text => new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
    const state = {payload: bytes(payload), kept: {}, chosen: []}, heard = {}, sent = [];
    const model = {get: name => state[name], set: (name, value) => { state[name] = value; }, save_changes() {},
        on: (name, act) => { heard[name] = act; }, off: name => { delete heard[name]; }, send: m => sent.push(m)};
    const {default: widget} = await import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
    document.body.innerHTML = '<div id="here"></div>';
    const el = document.getElementById("here"), draw = () => widget.render({model, el});
    let close = await draw();
    window.live = {sent, state, again: async () => { close(); close = await draw(); },
        hear: ([message, buffers]) => heard["msg:custom"](message, buffers.map(bytes)),
        renew: text => { state.payload = bytes(text); return heard["change:payload"](); }};
}"""


def text(runs_view):
    return base64.b64encode(runs_view).decode()


class Live:
    """A live view of a folder on a page."""

    def __init__(self, page, folder, **options):
        self.page, self.view = page, RunsView(msnb.insight.runs.Runs(folder), **options)
        page.evaluate(LIVE, {"source": _MODULE.read_text(encoding="utf-8"), "payload": text(self.view.payload)})

    def answer(self):
        """Answer what the page has asked; returns the questions."""
        frames(self.page)
        questions = self.page.evaluate("live.sent.splice(0)")
        for question in questions:
            reply, result = self.view._answer_question({key: value for key, value in question.items() if key != "ask"})
            self.page.evaluate("live.hear", [{**reply, "answer": question["ask"]}, [text(one) for one in result]])
        frames(self.page)
        return questions

    def renew(self):
        """Look at the folder, as the thread of a view does."""
        self.view.runs.refresh()
        self.page.evaluate("live.renew", text(self.view.payload))
        frames(self.page)


def write_run(folder, name, started, state="finished", config=None, **summary):
    (folder / name).mkdir(exist_ok=True)
    about = {"format": 1, "name": name, "started": started, "state": state, "host": "elsewhere", "pid": 1}
    about |= {"config": config or {"lr": 0.1, "optimizer": "sgd"}, "summary": summary}
    (folder / name / "run.json").write_text(json.dumps(about), encoding="utf-8")


@pytest.fixture(scope="module")
def window(browser):
    return Window(browser)


@pytest.fixture
def page(window):
    window.page.goto("about:blank")
    window.page.set_viewport_size({"width": 900, "height": 900})
    yield window.page
    assert not window.complaints()


def names(page):
    return page.locator(".body .row .name").all_text_contents()


def test_an_empty_folder_says_what_it_waits_for_and_the_first_run_shows_its_settings_and_metrics(page, tmp_path):
    live = Live(page, tmp_path)
    assert "msnb.record" in page.inner_text(".nothing") and not page.locator(".lower").is_visible()
    write_run(tmp_path, "first", 100, loss=0.5)
    live.renew()
    assert not page.locator(".nothing").is_visible() and names(page) == ["first"]
    heads = page.locator(".runs .head button").all_text_contents()
    assert {"loss", "lr", "optimizer"} <= set(heads)
    assert page.locator(".heads button").count() >= 3 and page.locator("[data-set=target]").input_value()
    page.click('[data-tab="scatter"]')
    assert page.locator("[data-axis=y]").input_value() == "metric:loss"


def test_a_brush_on_words_and_one_without_an_end_keep_their_selection_when_runs_bring_more(page, tmp_path):
    for number, optimizer in enumerate(("momentum", "sgd", "sgd")):
        write_run(
            tmp_path, f"r{number}", 100 + number, config={"lr": 10.0**-number, "optimizer": optimizer}, loss=number + 1
        )
    live = Live(page, tmp_path)
    page.click('.heads [data-key="setting:optimizer"]')
    page.uncheck('.form label:has-text("momentum") input')
    page.click('.form button:has-text("apply")')
    until(page, lambda: page.inner_text(".hits") == "2 of 3 runs")
    write_run(
        tmp_path, "r3", 103, config={"lr": 1e-4, "optimizer": "adam"}, loss=4
    )  # its word stands before the others
    live.renew()
    assert page.inner_text(".hits") == "2 of 4 runs" and names(page) == ["r2", "r1"]
    page.click("[data-do=clear]")
    page.click('.heads [data-key="setting:lr"]')  # a logarithmic axis, on which nothing stands at 0
    page.fill("[data-high]", "0.5")
    page.keyboard.press("Enter")
    until(page, lambda: page.inner_text(".hits") == "3 of 4 runs")
    assert "lr up to 0.5" in page.get_attribute(".parallel .over", "aria-label")
    write_run(tmp_path, "r4", 104, config={"lr": 1e-9, "optimizer": "adam"}, loss=5)
    live.renew()
    assert page.inner_text(".hits") == "4 of 5 runs"
    page.click('.heads [data-key="setting:lr"]')
    assert page.input_value("[data-low]") == "" and page.input_value("[data-high]") == "0.5"


def test_the_keyboard_stays_with_its_run_and_an_open_list_stays_open_when_a_run_comes(page, tmp_path):
    for number in range(3):
        write_run(tmp_path, f"r{number}", 100 + number, loss=number)
    live = Live(page, tmp_path)
    page.focus(".body")
    page.keyboard.press("ArrowDown")
    assert "r1" in page.locator(".row.current").inner_text()
    page.evaluate("window.option = document.querySelector('[data-set=target] option')")
    write_run(tmp_path, "r3", 103, loss=3)  # the newest stands first
    live.renew()
    assert names(page)[0] == "r3" and "r1" in page.locator(".row.current").inner_text()
    assert page.evaluate("option.isConnected")
    page.keyboard.press("Space")
    until(page, lambda: "1 ticked" in page.inner_text(".acts"))
    page.click(".acts [data-do=none]")
    until(page, lambda: page.evaluate("live.state.chosen.length") == 0)


def test_a_comparison_stays_on_screen_and_asks_for_the_curves_of_what_still_runs(page, tmp_path):
    write_run(tmp_path, "done", 100, config={"lr": 0.1, "seed": 1}, loss=1.0)
    write_run(tmp_path, "going", 101, "running", config={"lr": 0.2, "seed": 1}, loss=2.0)
    write_run(tmp_path, "other", 102, config={"lr": 0.3, "seed": 1}, loss=2.0)
    live = Live(page, tmp_path)

    def tick(*expected):
        page.click('[data-tab="table"]')
        for name in expected:
            page.locator(".body .row").filter(has_text=name).click()
        page.click(".acts [data-do=compare]")

    tick("done", "other")
    assert "The kernel reads" in page.inner_text(".compare")
    assert [question["compare"] for question in live.answer()] == [["done", "other"]]
    page.click(".compare summary")
    write_run(tmp_path, "going", 101, "running", config={"lr": 0.2, "seed": 1}, loss=1.5)
    live.renew()
    assert live.answer() == [] and "The kernel reads" not in page.inner_text(".compare")
    assert page.locator(".compare details[open]").count() == 1
    tick("going")
    live.answer()
    write_run(tmp_path, "going", 101, "running", config={"lr": 0.2, "seed": 1}, loss=1.25)
    live.renew()
    assert "1.25" in page.inner_text(".compare") and "The kernel reads" not in page.inner_text(".compare")
    assert [question["compare"] for question in live.answer()] == [["done", "other", "going"]]


def test_a_view_that_is_drawn_anew_keeps_its_selection(page, tmp_path):
    for number in range(4):
        write_run(tmp_path, f"r{number}", 100 + number, config={"lr": 0.1, "seed": number}, loss=number)
    Live(page, tmp_path)
    page.fill(".filter", "seed<3")
    page.click('.heads [data-key="metric:loss"]')
    page.fill("[data-low]", "1")
    page.keyboard.press("Enter")
    until(page, lambda: page.inner_text(".hits") == "2 of 4 runs")
    page.evaluate("live.again()")  # as when the cell of the output is done
    until(page, lambda: page.inner_text(".hits") == "2 of 4 runs" and page.locator(".msnb-runs").count() == 1)
    assert page.input_value(".filter") == "seed<3" and names(page) == ["r2", "r1"]


def test_a_tuning_shows_its_runs_before_one_has_the_metric_and_writes_its_output_once(notebook, tmp_path):
    code = f"""import msnb
from msnb.insight.runs import Runs, live_views
runs = Runs({str(tmp_path)!r})
after = live_views.begin(runs, "loss", "minimize")
with msnb.record("r", {str(tmp_path)!r}) as run: run.log({{"loss": 0.25}})
runs.refresh()  # as the tuning does, which reads the same runs
after()"""
    notebook.ok(code)
    assert "Traceback" not in notebook.shown
    text = notebook.rich[-1].data["text/plain"]
    assert "1 run in" in text and "loss" in text and "0.25" in text


def test_dashboards_of_the_page_get_the_selection(page, tmp_path):
    for number in range(3):
        write_run(tmp_path, f"r{number}", 100 + number, config={"lr": 10.0**-number}, loss=number)
    live = Live(page, tmp_path)
    ids = {run.folder.name: run.id for run in live.view.runs}
    page.evaluate("window.told = []; addEventListener('msnb:runs', ({detail}) => told.push(detail.ids))")
    for act, expected in (
        (lambda: page.fill(".filter", "lr<0.5"), ["r1", "r2"]),
        (lambda: page.locator(".body .row").filter(has_text="r2").click(), ["r2"]),
        (lambda: page.click(".acts [data-do=none]"), ["r1", "r2"]),
        (lambda: page.click("[data-do=clear]"), []),
    ):
        act()
        until(page, lambda expected=expected: page.evaluate("told.at(-1)") == [ids[name] for name in expected])
