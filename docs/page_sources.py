"""Changes of pages while the site is built: stored views, the gallery, small pictures, banners and formulas."""

import functools
import re
import shutil
from pathlib import Path

import latex2mathml.converter
import stored_views
import translations
from docutils import nodes

ROOT = Path(__file__).parents[1]
# Icons come from the theme's fonts. Its script has the same icons and 1.5 MB.
ICONS = re.compile(r"\s*<script defer src=\"[^\"]*/fontawesome\.js[^\"]*\"></script>")


def read_source(app, docname, source):
    """Rebuild the stored views of a notebook, and put the gallery on the home page."""
    folder, address = Path(app.outdir) / "_static" / "views", "../" * docname.count("/") + "_static/views"
    share = functools.partial(stored_views.share_files, folder=folder, address=address)
    if docname.startswith("notebooks/"):
        source[0] = stored_views.rebuild_notebook(source[0], share)
    elif docname == app.config.root_doc:
        source[0] = source[0].replace("<!-- gallery -->\n", share(stored_views.build_gallery()))
    elif docname == "docs/tutorials":
        source[0] = add_thumbnails(source[0])
    elif docname == "README_CN":
        source[0] = source[0].replace("(README.md)", "(docs/index.md)")
    elif docname == "docs/zh/gallery":
        source[0] = share(stored_views.translate_gallery(source[0]))
    path = Path(app.env.doc2path(docname))
    if path in translations.list_translations():
        source[0] = translations.write_banner(path, source[0])


def add_thumbnails(text):
    """Put the small picture of each tutorial before its row."""

    def add(match):
        picture = f"msnb/_data/thumbnails/{match[2]}.webp"
        image = f"![](../{picture}){{width=160px}}<br>" if (ROOT / picture).is_file() else ""
        return f"| {image}{match[1]}"

    return re.sub(r"^\| (\[(\d\d) .*)", add, text, flags=re.M)


def write_math(writer, node):
    """Write a formula as MathML, which needs no script."""
    display, tag = ("inline", "span") if isinstance(node, nodes.math) else ("block", "div")
    formula = latex2mathml.converter.convert(node.astext(), display=display)
    writer.body.append(f'<{tag} class="formula">{formula}</{tag}>')
    raise nodes.SkipNode


def remove_unused_files(app, exception):
    """Remove files of the theme that no page uses."""
    site = Path(app.outdir)
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if ICONS.search(text):
            page.write_text(ICONS.sub("", text), encoding="utf-8")
    shutil.rmtree(site / "_static" / "locales", ignore_errors=True)
    for path in [*site.rglob("*.map"), *site.rglob("fontawesome.js*")]:
        path.unlink(missing_ok=True)
