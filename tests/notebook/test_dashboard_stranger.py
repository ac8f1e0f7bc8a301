"""The dashboard of a user's own runs: names of every kind, several runs of one tag, values that spoil a scale, values
that are not finite, a printed page, a folder that is removed."""

import base64
import pathlib
import shutil
import threading

import numpy as np
import pytest
from browsing import Window, chromium, frames, until

import msnb
from msnb.notebook.dashboard import dashboard
from msnb.notebook.dashboard import view as view_module

browser = pytest.fixture(chromium, scope="module")
LONG = "encoder/" + "/".join(f"layer_{i}" for i in range(12)) + "/gamma"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return three runs with the same tags; the third has a loss that explodes and ends in NaN."""
    place, random = tmp_path_factory.mktemp("runs"), np.random.default_rng(0)
    for number, name in enumerate(("first", "größer λ=0.5 训练", "x" * 120)):
        with msnb.record(name, place, config={"rate": 0.1**number}) as run:
            for step in range(200):
                loss = 1.0 / (step + 1)
                if number == 2 and step >= 190:
                    loss = 1e30 if step < 195 else float("nan")
                run.log({"train/loss": loss, "sine": float(np.sin(step / 10)), "below": -1.0, LONG: step, "a b/c": 0})
                if step % 50 == 0:
                    run.histogram("weight", random.normal(size=100), step)
                    run.histogram("broken", np.full(7, np.nan), step)
                    run.image("picture", random.random((1, 3, 8, 8)), step)
                    run.tensor("one", np.array([2.0]), step)
                    run.tensor("none", np.zeros((0, 3)), step)
    return place


@pytest.fixture(scope="module")
def window(browser):
    return Window(browser)


@pytest.fixture
def show(window, folder, tmp_path):
    """show(width, dark) -> page; at the end nothing may have been asked of the network or gone wrong."""

    def show(width=1000, dark=False, height=900):
        path = tmp_path / "dashboard.html"
        path.write_text(dashboard(folder).html(), encoding="utf-8")
        return window.show(path, ".msnb-dash[data-ready]", width, height, dark)

    yield show
    assert not window.complaints()


def card(page, tag):
    return page.locator(f'.card[data-tag="{tag}"]')


def take_picture(page, tag):
    page.mouse.move(2, 2)
    card(page, tag).scroll_into_view_if_needed()
    frames(page)
    frames(page)
    return card(page, tag).locator("canvas").screenshot()


def test_a_scale_can_leave_outliers_out(show):
    page = show()
    before = take_picture(page, "train/loss")
    page.check("[data-set=outliers]")
    after = take_picture(page, "train/loss")
    assert before != after
    page.uncheck("[data-set=outliers]")
    assert take_picture(page, "train/loss") == before
    sine = take_picture(page, "sine")
    page.check("[data-set=outliers]")
    assert take_picture(page, "sine") == sine  # where there are none nothing changes


def test_a_logarithmic_axis_says_what_it_has_no_place_for(show):
    page = show()
    plain = take_picture(page, "below")
    page.evaluate(
        """() => { window.texts = []; const write = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
            texts.push(text); write.call(this, text, ...at); }; }"""
    )
    page.check("[data-set=log]")
    assert take_picture(page, "below") != plain
    assert "600 values ≤ 0 not shown" in page.evaluate("texts")


def test_figures_of_one_tag_stand_beside_each_other_and_are_filtered_by_name(show):
    page = show()
    for tab, item in (("histograms", ".card"), ("images", ".picture"), ("tensors", ".tensor")):
        page.click(f'[data-tab="{tab}"]')
        tags = page.locator(f"{item} figcaption b").all_text_contents()
        assert tags == sorted(tags, key=tags.index) and len(tags) % 3 == 0
        assert all(tags[i] == tags[i + 1] == tags[i + 2] for i in range(0, len(tags), 3)), tags
        page.fill("[data-set=filter]", tags[-1])
        assert page.locator(item).count() == 3
        page.fill("[data-set=filter]", "nowhere")
        assert page.locator(item).count() == 0 and page.inner_text(".count") == f"0 of {len(tags)}"
        page.fill("[data-set=filter]", "")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.locator(item).first.scroll_into_view_if_needed()
        frames(page)
        heights = {round(box.bounding_box()["height"]) for box in page.locator(f"{item} figcaption").all()}
        assert len(heights) == 1, f"a long name makes the head of a figure higher: {tab} {heights}"


def test_what_is_no_number_and_what_is_not_there_is_said(show):
    page = show()
    page.click('[data-tab="histograms"]')
    broken = page.locator(".card").filter(has=page.locator('b[title="broken"]')).first
    broken.scroll_into_view_if_needed()
    until(page, lambda: broken.locator(".bad").inner_text() == "7 NaN or ∞")
    assert "in the last 7 NaN or infinite" in broken.get_attribute("aria-label")
    page.click('[data-tab="tensors"]')
    about = page.locator(".tensor .about").all_inner_texts()
    assert sum("1 value from 2 to 2" in text for text in about) == 3 and sum("no values" in text for text in about) == 3


def test_on_paper_every_chart_is_drawn_and_the_paper_is_white(show, tmp_path):
    page = show(dark=True, height=300)
    assert page.locator(".card canvas").count() < page.locator(".card").count()
    page.evaluate(
        """() => { window.printed = null; addEventListener('beforeprint', () => { const all = (what) =>
        document.querySelectorAll(what).length; printed = [all('.card canvas'), all('.card'),
        document.querySelector('.msnb-dash').dataset.theme]; }); }"""
    )
    page.pdf(path=tmp_path / "page.pdf")
    canvases, cards, theme = page.evaluate("printed")
    assert canvases == cards > 4 and theme == "light"
    until(page, lambda: page.get_attribute(".msnb-dash", "data-theme") == "dark")


def test_the_selection_of_a_table_and_a_double_click_choose_the_runs_that_are_drawn(show):
    page = show()
    chips = page.locator(".runs button")

    def shown():
        return chips.evaluate_all("all => all.map(one => one.ariaPressed === 'true')")

    chips.nth(1).dblclick()
    assert shown() == [False, True, False]
    chips.nth(1).dblclick()
    assert shown() == [True, True, True]
    chips.nth(2).focus()
    page.keyboard.press("o")
    assert shown() == [False, False, True]
    first = chips.first.get_attribute("data-run")
    for ids, expected in (([first], [True, False, False]), (["of another folder"], [True] * 3), ([], [True] * 3)):
        page.evaluate("ids => window.dispatchEvent(new CustomEvent('msnb:runs', {detail: {ids}}))", ids)
        assert shown() == expected


def test_of_many_curves_those_beside_the_pointer_are_read(window, tmp_path):
    for number in range(15):
        with msnb.record(f"level {number:02d}", tmp_path / "runs") as run:
            for step in range(3):
                run.log({"loss": float(number)}, step)
    (tmp_path / "page.html").write_text(dashboard(tmp_path / "runs").html(), encoding="utf-8")
    page = window.show(tmp_path / "page.html", ".msnb-dash[data-ready]", 900, 900, False)
    plot = card(page, "loss").locator(".plot")
    top, bottom = 18, plot.bounding_box()["height"] - 20
    for y, near, far in ((top, "level 14", "level 00"), (bottom, "level 00", "level 14")):
        plot.hover(position={"x": 150, "y": y})
        read = card(page, "loss").locator(".read").inner_text()
        assert near in read and far not in read and "and 3 more" in read
    assert not window.complaints()


def test_the_only_group_has_no_head_where_its_tags_have_no_prefix(window, tmp_path):
    with msnb.record("r", tmp_path / "runs") as run:
        run.log({"loss": 1.0})
    (tmp_path / "page.html").write_text(dashboard(tmp_path / "runs").html(), encoding="utf-8")
    page = window.show(tmp_path / "page.html", ".msnb-dash[data-ready]", 900, 700, False)
    assert not page.locator("summary").is_visible() and page.locator(".card").is_visible()
    assert not window.complaints()


def test_a_folder_that_goes_away_while_it_is_looked_at_is_reported_and_the_curves_stay(tmp_path):
    with msnb.record("r", tmp_path) as run:
        run.log({"loss": 1.0})
        run.flush()
        view, event = msnb.dashboard(tmp_path), threading.Event()
        view.widget.send = lambda *_, **__: event.set()
        shutil.move(run.folder, tmp_path.parent / f"{tmp_path.name}-moved")
        assert event.wait(60)
    assert "the folder is gone" in view.runs[0].problems[0] and view.runs[0].scalar("loss").values.tolist() == [1.0]
    assert b"the folder is gone" in view.payload and "loss 1" in repr(view)
    view.close()


# A view that is drawn, taken away and drawn anew before it stands in the page, as front ends do when a cell is done:
# black pixels of its first chart, which has none of its own
ANEW = """async ({source, payload}) => {
    const bytes = Uint8Array.from(atob(payload), c => c.charCodeAt(0));
    const state = {payload: new DataView(bytes.buffer), cells: {}, live: false};
    const model = {get: name => state[name], send() {}, on() {}, off() {}};
    const {default: widget} = await import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
    const draw = () => { const el = document.createElement("div"); widget.render({model, el}); return el; };
    document.body.replaceChildren(draw());
    await new Promise(requestAnimationFrame);
    const el = draw();
    await new Promise(requestAnimationFrame);
    document.body.replaceChildren(el);
    const frame = () => new Promise(requestAnimationFrame);
    while (!el.querySelector(".msnb-dash[data-ready] canvas")) await frame();
    for (let i = 0; i < 5; i++) await frame();
    const canvas = el.querySelector("canvas"), {width, height} = canvas,
        {data} = canvas.getContext("2d").getImageData(0, 0, width, height);
    let black = 0;
    for (let i = 0; i < data.length; i += 4) black += data[i + 3] > 250 && data[i] + data[i + 1] + data[i + 2] < 15;
    return {black, drawn: data.some(v => v)};
}"""


def test_a_view_that_is_drawn_anew_apart_from_the_page_has_its_colours(show, folder):
    page, view = show(), dashboard(folder)
    source = pathlib.Path(view_module.__file__).with_name("widget.js").read_text(encoding="utf-8")
    result = page.evaluate(ANEW, {"source": source, "payload": base64.b64encode(view.payload).decode()})
    assert result == {"black": 0, "drawn": True}
