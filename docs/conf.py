"""Sphinx settings of the site: `make docs` builds it from docs/ and notebooks/, without network.

The source folder is the repository, so that links work on the site as they do in the files.
"""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS.parent), str(DOCS)]

import make_api  # noqa: E402 - its folder joins the path above
import page_sources  # noqa: E402

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
html_theme_options = {"show_toc_level": 2, "home_page_in_toc": True, "collapse_navbar": True}
html_theme_options |= {"use_download_button": False, "use_fullscreen_button": False}
html_theme_options |= dict.fromkeys(("navbar_start", "navbar_center", "navbar_end", "navbar_persistent"), [])


def setup(app):
    app.add_html_math_renderer("mathml", (page_sources.write_math, None), (page_sources.write_math, None))
    app.connect("autodoc-process-docstring", make_api.escape_docstring, priority=400)  # before napoleon
    app.connect("source-read", page_sources.read_source)
    app.connect("build-finished", page_sources.remove_unused_files)
