"""Sphinx settings of the site: `make docs` builds it from docs/ and notebooks/, without network.

The source folder is the repository, so that links work on the site as they do in the files.
"""

import re
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS.parent), str(DOCS)]

import latex2mathml.converter  # noqa: E402
import make_api  # noqa: E402 - its folder joins the path above
import stored_views  # noqa: E402
import translations  # noqa: E402
from docutils import nodes  # noqa: E402

from msnb._version import __version__  # noqa: E402

make_api.write_pages(DOCS / "api")

project, author, version, release = "msnb", "The msnb authors", __version__, __version__
copyright = "the msnb authors"
root_doc = "docs/index"
include_patterns = ["docs/*.md", "docs/zh/*.md", "docs/api/*.rst", "notebooks/*.ipynb", "notebooks/zh/*.ipynb"]
include_patterns += ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "README_CN.md"]
exclude_patterns = [".*", "build", "node_modules", "tests", "msnb", "extensions", "benchmarks", "**/README.md"]
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]

# Notebooks are shown as they are stored; nbval runs them. Formulas of pages are MathML, which needs no script.
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["colon_fence", "dollarmath", "html_image", "attrs_block", "attrs_inline"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header", "mystnb.unknown_mime_type"]

autodoc_typehints = "none"
autodoc_member_order = "alphabetical"
napoleon_numpy_docstring = False
napoleon_custom_sections = [("Inputs", "params_style"), ("Outputs", "returns_style"), "Supported Platforms"]
add_module_names = False

html_theme = "sphinx_book_theme"
html_title = "msnb"
html_static_path = ["site"]
html_favicon = "site/icon.svg"
html_context = {"default_mode": "auto"}
html_math_renderer = "mathml"
html_css_files, html_js_files = ["site.css"], ["site.js"]
html_search_scorer = str(DOCS / "site" / "search_scores.js")
html_copy_source = html_show_sourcelink = html_show_sphinx = False
html_theme_options = {"show_toc_level": 2, "home_page_in_toc": True}
html_theme_options |= {"use_download_button": False, "use_fullscreen_button": False}
html_theme_options |= dict.fromkeys(("navbar_start", "navbar_center", "navbar_end", "navbar_persistent"), [])


def read_source(app, docname, source):
    """Rebuild the stored views of a notebook, and put the gallery on the home page."""
    if docname.startswith("notebooks/"):
        source[0] = stored_views.rebuild_notebook(source[0])
    elif docname == root_doc:
        source[0] = source[0].replace("<!-- gallery -->\n", stored_views.build_gallery())
    elif docname == "docs/tutorials":
        source[0] = add_thumbnails(source[0])
    elif docname == "README_CN":
        source[0] = source[0].replace("(README.md)", "(docs/index.md)")
    elif docname == "docs/zh/gallery":
        source[0] = stored_views.translate_gallery(source[0])
    path = Path(app.env.doc2path(docname))
    if path in translations.list_translations():
        source[0] = translations.write_banner(path, source[0])


def add_thumbnails(text):
    """Put the small picture of each tutorial before its row."""

    def add(match):
        picture = f"msnb/_data/thumbnails/{match[2]}.webp"
        image = f"![](../{picture}){{width=160px}}<br>" if (DOCS.parent / picture).is_file() else ""
        return f"| {image}{match[1]}"

    return re.sub(r"^\| (\[(\d\d) .*)", add, text, flags=re.M)


def write_math(writer, node):
    display, tag = ("inline", "span") if isinstance(node, nodes.math) else ("block", "div")
    formula = latex2mathml.converter.convert(node.astext(), display=display)
    writer.body.append(f'<{tag} class="formula">{formula}</{tag}>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (write_math, None), (write_math, None))
    app.connect("autodoc-process-docstring", make_api.escape_docstring, priority=400)  # before napoleon
    app.connect("source-read", read_source)
