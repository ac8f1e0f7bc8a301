"""`msnb slides`: a notebook as slides in one page that needs no network."""

import nbformat
import pytest
from browsing import chromium
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from msnb import __main__ as command
from msnb.notebook.slides import slide_letters

browser = pytest.fixture(chromium, scope="module")
WORDS = ("First", "1 + 1", "Second", "fragment", "speaker", "Third")


def planned(text, kind):
    return new_markdown_cell(text, metadata={"slideshow": {"slide_type": kind}})


def test_the_slide_types_of_jupyter_decide():
    kinds = ("slide", "fragment", "-", "subslide", "notes", "skip", "slide")
    assert slide_letters([planned("# Heading", kind) for kind in kinds]) == "sf-snns"


def test_without_slide_types_a_slide_begins_at_each_heading():
    cells = [new_markdown_cell("# One"), new_code_cell("# a comment"), new_markdown_cell("text"), planned("## Two", "")]
    assert slide_letters([*cells, planned("## Not shown", "notes")]) == "s--sn"


@pytest.mark.parametrize("metadata", [{"slideshow": None}, {"slideshow": {"slide_type": 3}}, {"slideshow": "slide"}])
def test_damaged_metadata_are_no_slide_type(metadata):
    assert slide_letters([new_markdown_cell("text", metadata=metadata)]) == "-"


@pytest.mark.parametrize("options", [[], ["--trust"]])
def test_keys_buttons_and_the_address_choose_a_slide(browser, tmp_path, options):
    output = new_output("display_data", data={"text/html": '<input id="field">', "text/plain": "field"})
    cells = [
        new_markdown_cell("# First"),
        new_code_cell("1 + 1", outputs=[output]),
        new_markdown_cell("# Second"),
        planned("a fragment", "fragment"),
        planned("for the speaker", "notes"),
        new_markdown_cell("# Third"),
    ]
    path = tmp_path / "talk.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    assert command.main(["slides", str(path), *options]) == 0
    page = browser.new_page()
    try:
        mistakes, requests = [], []
        page.on("pageerror", lambda error: mistakes.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.with_suffix(".slides.html").as_uri())

        def shown():
            texts = page.locator("main > .jp-Cell:visible").all_inner_texts()
            return page.inner_text(".msnb-slides span"), [word for word in WORDS if any(word in t for t in texts)]

        assert shown() == ("1 / 3", ["First", "1 + 1"])
        page.keyboard.press("ArrowRight")
        assert shown() == ("2 / 3", ["Second"])
        page.keyboard.press(" ")
        assert shown() == ("2 / 3", ["Second", "fragment"])
        page.click('button[aria-label="next slide"]')
        assert shown() == ("3 / 3", ["Third"]) and page.url.endswith("#3")
        page.keyboard.press("Home")
        if options:  # the sanitiser leaves fields out
            page.focus("#field")
            page.keyboard.press("ArrowRight")
        assert shown() == ("1 / 3", ["First", "1 + 1"])
        page.evaluate("location.hash = '#2'")
        page.wait_for_function("document.querySelector('.msnb-slides span').textContent === '2 / 3'")
        page.emulate_media(media="print")
        assert page.locator("main > .jp-Cell:visible").count() == len(cells) - 1  # notes are left out
        assert not page.is_visible(".msnb-slides")
        assert not mistakes and all(address.startswith(("file:", "data:", "blob:")) for address in requests)
    finally:
        page.close()
