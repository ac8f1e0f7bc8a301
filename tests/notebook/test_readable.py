"""Accessibility of the dashboard and the table of runs: texts, names and focus."""

import numpy as np
import pytest
from browsing import Window, chromium, frames, unreadable

import msnb
from msnb.insight.runs import Runs

browser = pytest.fixture(chromium, scope="module")
VIEWS = {"dash": msnb.dashboard, "runs": msnb.runs}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return {view: its saved page}, of three runs, one of which failed and one of which is hidden."""
    place = tmp_path_factory.mktemp("pages")
    for number in range(3):
        run = msnb.record(f"run {number}", place / "runs", config={"rate": 0.1**number, "kind": "abc"[number]})
        for step in range(40):
            run.log({"train/loss": 1 / (step + 1) if number else float("nan"), "accuracy": step / 40})
        run.histogram("weight", np.full(9, float("nan")))
        run.image("picture", np.ones((1, 1, 8, 8)))
        run.tensor("tensor", np.array([1.0, float("inf")]))
        run.finish("finished" if number else "failed")
    Runs(place / "runs").marks.change({"run 2": {"hidden": True, "note": "of old"}})
    for name, make in VIEWS.items():
        make(place / "runs").save(place / f"{name}.html")
    return {name: place / f"{name}.html" for name in VIEWS}


@pytest.fixture(scope="module")
def window(browser):
    return Window(browser)


def tabs(page):
    shown = page.locator("[data-tab]:visible")
    return shown.evaluate_all("all => all.map(one => one.dataset.tab)")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("view", VIEWS)
def test_every_text_stands_out_and_everything_to_press_has_a_name(window, pages, view, dark):
    page = window.show(pages[view], f".msnb-{view}[data-ready]", 900, 2500, dark)
    if view == "dash":
        page.locator(".runs button").first.click()  # one run is hidden
        page.mouse.move(2, 2)
    else:
        page.click("[data-do=hidden]")
        for row in (0, 1):
            page.locator(".body .row").nth(row).click()
    for tab in tabs(page):
        page.click(f'[data-tab="{tab}"]')
        frames(page)
        frames(page)
        assert unreadable(page.locator(f".msnb-{view}")) == [], tab
    assert not window.complaints()


@pytest.mark.parametrize("view", VIEWS)
def test_tab_goes_through_everything_and_shows_where_it_is(window, pages, view):
    page = window.show(pages[view], f".msnb-{view}[data-ready]", 900, 1200, False)
    seen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        one = page.evaluate(
            """() => { const one = document.activeElement, own = getComputedStyle(one),
            inner = getComputedStyle(one.querySelector('.row.current') ?? one);
            return one === document.body ? null : {what: one.outerHTML.slice(0, 60),
            ring: Math.max(parseFloat(own.outlineWidth) * (own.outlineStyle !== 'none'),
                parseFloat(inner.outlineWidth) * (inner.outlineStyle !== 'none'))}; }"""
        )
        if one is None:
            break
        seen.append(one)
    assert 4 < len(seen) < 40, "a list of things is one stop"
    assert not [one["what"] for one in seen if one["ring"] < 2]
    assert not window.complaints()


@pytest.mark.parametrize("view", VIEWS)
def test_paper_is_white_and_the_screen_stays_dark(window, pages, view, tmp_path):
    page = window.show(pages[view], f".msnb-{view}[data-ready]", 900, 900, True)
    page.evaluate(
        """() => addEventListener('beforeprint', () => {
        window.printed = [...document.querySelectorAll('.msnb-view')].map(
            one => [one.dataset.theme, getComputedStyle(one, '::before').backgroundColor]); })"""
    )
    page.pdf(path=tmp_path / "page.pdf")
    assert page.evaluate("printed") == [["light", "rgb(255, 255, 255)"]]
    page.wait_for_selector(f'.msnb-{view}[data-theme="dark"]')
    assert not window.complaints()
