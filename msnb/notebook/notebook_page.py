"""Convert a stored notebook to one HTML page that needs no network.

A notebook of unknown origin may have scripts in its outputs and in its Markdown. None of them runs in the page:

- bleach, a dependency of nbconvert, sanitises HTML and Markdown;
- an msnb view is rebuilt from its data with the code of this installation, see `static_output.Rebuilding`;
- the page's content security policy forbids all scripts but those of msnb and nbconvert.
"""

import base64
import binascii
import copy
import functools
import hashlib
import itertools
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from msnb.notebook import slides
from msnb.notebook.display import dataset_html, html, static_output, table_css
from msnb.notebook.pipeline import drawing

try:
    import bleach
    from bleach.css_sanitizer import ALLOWED_CSS_PROPERTIES, CSSSanitizer
    from bleach.html5lib_shim import Filter
    from jinja2 import pass_context
    from jupyter_core.paths import jupyter_data_dir
    from nbconvert import HTMLExporter
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
    from nbformat import NotebookNode
    from nbformat.sign import NotebookNotary
except ImportError as missing:
    raise ImportError(f'A page of a notebook needs {missing.name}: pip install "msnb[lab]"') from missing

_NO_ADDRESSES = dict.fromkeys(
    (
        "require_js_url",
        "mathjax_url",
        "jquery_url",
        "jupyter_widgets_base_url",
        "widget_renderer_url",
        "mermaid_js_url",
    ),
    "",
)

# ---------------------------------------------------------------------- allowed HTML
_TEXT_TAGS = frozenset(
    """
    a abbr b blockquote br caption center cite code col colgroup dd del details dfn div dl dt em figcaption figure font
    h1 h2 h3 h4 h5 h6 hr i img ins kbd li main mark ol p picture pre q s samp section small span strike strong sub
    summary sup table tbody td tfoot th thead time tr tt u ul var wbr
    """.split()
)
_SVG_TAGS = frozenset(
    """
    svg g path rect circle ellipse line polyline polygon text tspan desc defs marker clippath lineargradient
    radialgradient stop clipPath linearGradient radialGradient
    """.split()
)
_MATH_TAGS = frozenset(
    """
    math maction menclose merror mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace
    msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover semantics
    """.split()
)
# Tags that are parsed as elements, so that they are removed with their content.
_DROPPED_TAGS = frozenset(("script", "style", "iframe", "object", "embed", "noscript", "template", "xmp", "title"))
_ATTRIBUTES = frozenset(
    """
    class id title alt role lang dir colspan rowspan scope align valign width height border start open datetime href src
    hidden tabindex color size span
    d fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-dasharray stroke-linecap stroke-linejoin
    opacity x y cx cy r rx ry x1 x2 y1 y2 dx dy points transform viewbox viewBox preserveaspectratio preserveAspectRatio
    text-anchor dominant-baseline font-size font-family font-weight font-style letter-spacing offset stop-color
    stop-opacity gradientunits gradientUnits marker-end marker-start markerwidth markerWidth markerheight markerHeight
    refx refX refy refY orient xmlns
    display displaystyle mathvariant stretchy fence form lspace rspace rowspacing columnspacing columnalign rowalign
    columnlines rowlines linethickness accent accentunder minsize maxsize movablelimits separator scriptlevel notation
    depth voffset mathcolor mathbackground symmetric largeop
    """.split()
)
_CSS = [
    *ALLOWED_CSS_PROPERTIES,
    *"""
    align-items border border-bottom border-left border-radius border-right border-top flex flex-wrap gap
    grid-template-columns justify-content margin margin-bottom margin-left margin-right margin-top max-height max-width
    min-height min-width opacity padding padding-bottom padding-left padding-right padding-top vertical-align
    """.split(),
]
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp|svg\+xml)[;,]", re.IGNORECASE)
_INVISIBLE = re.compile(r"[\x00-\x20\x7f-\xa0\s]")


class _WithoutScripts(Filter):
    """Drop scripts and styles with their content. bleach would leave their text on the page."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        depth = 0
        for token in super().__iter__():
            if token.get("name") in _DROPPED_TAGS:
                depth += {"StartTag": 1, "EndTag": -1}.get(token["type"], 0)
            elif not depth:
                yield token


def _is_attribute_allowed(tag, name, value):
    if name == "style" or name.startswith("aria-"):
        return True
    if name not in _ATTRIBUTES:
        return False
    address = _INVISIBLE.sub("", value).lower()
    if name == "href":
        return tag == "a" and not address.startswith("data:")
    if name == "src":
        return tag == "img" and (not address.startswith("data:") or _PICTURE.match(address) is not None)
    return True


_cleaner = bleach.Cleaner(
    tags=_TEXT_TAGS | _SVG_TAGS | _MATH_TAGS | _DROPPED_TAGS,
    attributes=_is_attribute_allowed,
    protocols={"http", "https", "mailto", "data"},
    strip=True,
    strip_comments=True,
    filters=[_WithoutScripts],
    css_sanitizer=CSSSanitizer(allowed_css_properties=_CSS),
)


def clean(text: Any, views: static_output.Rebuilding) -> str:
    """Return sanitised HTML: only allowed elements and attributes remain. A view of msnb is rebuilt instead."""
    text = text.decode() if isinstance(text, bytes) else str(text)
    return views.rebuild(text) or _cleaner.clean(text)


_SCRIPT = re.compile(r"<script\b[^>]*>(.*?)</script>", re.DOTALL)


def _format_security_policy(text, views):
    """Return a content security policy that allows the scripts of nbconvert's page and of msnb's views only."""
    scripts = {static_output.wake_script(), *_SCRIPT.findall(text)}
    scripts.update(script for document in views.documents for script in _SCRIPT.findall(document))
    hashes = sorted(base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    rule = f"script-src 'unsafe-hashes' blob: {allowed}; object-src 'none'; base-uri 'none'; form-action 'none'"
    return f'<meta http-equiv="Content-Security-Policy" content="{rule}">'


# ---------------------------------------------------------------------- formulas
def to_mathml(formula: str, display: str = "inline") -> str | None:
    """Return a LaTeX formula as MathML, which browsers render without a script; None if it can't be parsed.

    Args:
        formula (str): LaTeX, without its dollars.
        display (str): "inline", or "block" for a formula with a line of its own. Default: "inline".
    """
    try:
        from latex2mathml.converter import convert  # part of the extra `lab`; without it formulas remain LaTeX

        text = convert(formula, display=display)
        ElementTree.fromstring(text)
    except Exception:  # latex2mathml raises errors of many classes, IndexError among them
        return None
    return text


class _Renderer(IPythonRenderer):
    """Render Markdown as HTML and formulas as MathML."""

    def inline_math(self, body: str) -> str:
        return to_mathml(body) or super().inline_math(body)

    def block_math(self, body: str) -> str:
        return to_mathml(body, "block") or super().block_math(body)

    def latex_environment(self, name: str, body: str) -> str:
        return to_mathml(f"\\begin{{{name}}}{body}\\end{{{name}}}", "block") or super().latex_environment(name, body)


class _Exporter(HTMLExporter):
    """nbconvert's HTMLExporter, with MathML for formulas instead of a script."""

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        renderer = _Renderer(
            escape=False,
            attachments=context.get("cell", {}).get("attachments", {}),
            embed_images=self.embed_images,
            path=context.get("resources", {}).get("metadata", {}).get("path", ""),
            anchor_link_text=self.anchor_link_text,
            exclude_anchor_links=self.exclude_anchor_links,
            **self.lexer_options,
        )
        return MarkdownWithMath(renderer=renderer).render(source)


# ---------------------------------------------------------------------- the notebook
_DISPLAYED_TYPES = (
    "text/plain",
    "text/html",
    "text/markdown",
    "text/latex",
    "image/png",
    "image/jpeg",
    "image/svg+xml",
)
_WORD = re.compile(r"[\w.+-]+")


def _number_or_none(value):
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _add_mathml(data):
    """Add HTML to outputs that have LaTeX only, such as those of sympy."""
    latex = data.get("text/latex")
    if isinstance(latex, str) and "text/html" not in data:
        formula = latex.strip().strip("$").removeprefix("\\displaystyle").strip()
        mathml = to_mathml(formula, "block")
        if mathml:
            del data["text/latex"]
            data["text/html"] = mathml


def _sanitise_output(output):
    """Return an output reduced to displayable data. Fields that nbconvert does not escape become numbers or words."""
    kind = output.get("output_type")
    if kind == "stream":
        return NotebookNode(output_type=kind, name="stdout", text=str(output.get("text", "")))
    if kind == "error":
        lines = [str(line) for line in output.get("traceback", ())]
        return NotebookNode(output_type=kind, ename="", evalue="", traceback=lines)
    if kind not in ("display_data", "execute_result"):
        return None
    data = {name: value for name, value in output.get("data", {}).items() if name in _DISPLAYED_TYPES}
    for name in ("image/png", "image/jpeg"):
        try:
            base64.b64decode(re.sub(r"\s", "", str(data.get(name, ""))), validate=True)
        except (binascii.Error, ValueError):
            data.pop(name, None)
    metadata = {}
    for name, settings in (output.get("metadata") or {}).items():
        if name in data and isinstance(settings, dict):
            sizes = {key: _number_or_none(settings.get(key)) for key in ("width", "height")}
            metadata[name] = {key: size for key, size in sizes.items() if size is not None}
    if not data:
        return None
    node = NotebookNode(output_type=kind, data=NotebookNode(data), metadata=NotebookNode(metadata))
    if kind == "execute_result":
        node.execution_count = _number_or_none(output.get("execution_count"))
    return node


def _sanitise_cell(cell, number):
    kind = cell.get("cell_type")
    if kind not in ("code", "markdown", "raw"):
        return None
    written = cell.get("metadata") or {}
    tags = [tag for tag in written.get("tags", ()) if isinstance(tag, str) and _WORD.fullmatch(tag)]
    metadata = NotebookNode(tags=tags)
    mimetype = written.get("raw_mimetype")
    if isinstance(mimetype, str):
        metadata.raw_mimetype = mimetype
    node = NotebookNode(cell_type=kind, metadata=metadata, source=str(cell.get("source", "")))
    node.id = cell.id if _WORD.fullmatch(str(cell.get("id", ""))) else f"cell-{number}"
    if kind == "code":
        node.execution_count = _number_or_none(cell.get("execution_count"))
        node.outputs = [output for output in map(_sanitise_output, cell.get("outputs", ())) if output is not None]
    elif isinstance(cell.get("attachments"), dict):
        node.attachments = cell.attachments
    return node


def _sanitise_notebook(notebook):
    """Return the notebook without fields that nbconvert writes into a page unescaped."""
    language = (notebook.metadata.get("language_info") or {}).get("pygments_lexer", "ipython3")
    lexer = language if isinstance(language, str) and _WORD.fullmatch(language) else "ipython3"
    return NotebookNode(
        nbformat=4,
        nbformat_minor=5,
        metadata=NotebookNode(language_info=NotebookNode(name="python", pygments_lexer=lexer)),
        cells=[cell for cell in map(_sanitise_cell, notebook.cells, itertools.count()) if cell is not None],
    )


_RUNS = re.compile(r"<(?:script|iframe|object|embed)\b|\bon\w+\s*=|javascript:", re.IGNORECASE)


def has_scripts(notebook: NotebookNode) -> bool:
    """Return True if outputs or Markdown of a notebook have scripts that do not belong to a view of msnb."""
    views = static_output.Rebuilding()
    for cell in notebook.cells:
        outputs = [output.get("data", {}) for output in cell.get("outputs", ())]
        texts = [str(data.get(name, "")) for data in outputs for name in ("text/html", "text/markdown")]
        texts += [str(cell.get("source", ""))] if cell.get("cell_type") != "code" else []
        if any("javascript" in name for data in outputs for name in data):
            return True
        if any(_RUNS.search(text) and views.rebuild(text) is None for text in texts):
            return True
    return views.pictures > 0


def is_signed(notebook: NotebookNode) -> bool:
    """Return True if Jupyter trusts a notebook: this user has run it or has called `jupyter trust`."""
    try:
        # Pass the folder: without it, the notary starts a Jupyter application, which parses sys.argv and configures
        # logging.
        return NotebookNotary(data_dir=jupyter_data_dir()).check_signature(notebook)
    except Exception:  # the notary's database may belong to another user or be locked
        return False


def to_html(notebook: NotebookNode, is_trusted: bool = False, as_slides: bool = False) -> str:
    """Return a stored notebook as one page that needs no network.

    Args:
        notebook (NotebookNode): The notebook. It is not modified.
        is_trusted (bool): If True, scripts in outputs and Markdown may run. If False, only msnb's own views run, with
            the code of this installation. Default: False.
        as_slides (bool): If True, the page shows the cells as slides, see `slides.slide_letters`. Default: False.

    Returns:
        str.
    """
    if as_slides:
        kinds = ("code", "markdown", "raw")
        letters = slides.slide_letters([cell for cell in notebook.cells if cell.get("cell_type") in kinds])
    notebook = copy.deepcopy(notebook) if is_trusted else _sanitise_notebook(copy.deepcopy(notebook))
    notebook.metadata.pop("widgets", None)
    for output in (output for cell in notebook.cells for output in cell.get("outputs", ())):
        data = output.get("data", {})
        if len(data) > 1:
            data.pop("application/vnd.jupyter.widget-view+json", None)
        _add_mathml(data)
    exporter = _Exporter(**_NO_ADDRESSES, sanitize_html=not is_trusted)
    if is_trusted:
        text = exporter.from_notebook_node(notebook)[0]
        return slides.add_slides(text, letters) if as_slides else text
    views = static_output.Rebuilding()
    exporter.register_filter("clean_html", functools.partial(clean, views=views))
    text = exporter.from_notebook_node(notebook)[0]
    if as_slides:
        text = slides.add_slides(text, letters)
    styles = "".join((html.STYLE, table_css.STYLE, dataset_html.STYLE, f"<style>{drawing.style()}</style>"))
    return text.replace("<head>", f"<head>{_format_security_policy(text, views)}{styles}", 1)
