"""Views that notebooks store, for the site: rebuilt with this version's code, each shared file once on a page."""

import json
import re
from pathlib import Path

from msnb.notebook.display.static_output import Rebuilding

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
VIEW = '<div class="msnb-view"'
FILE = re.compile(r'<i hidden data-msnb-name="([\w-]+)" data-msnb-code="([^"]*)"></i>')
# (title, sentence, notebook, text in the cell that shows the view)
GALLERY = [
    ("A network", "LeNet-5 as the compiler sees it. Click a node to see its line.", "01", "%ms_ir net(images)"),
    ("A training step", "Forward, backward and update in three lanes, on matching rows.", "02", "train"),
    ("Two stages", "The traced operators beside XLA's kernels: matched, added, fused.", "02", "stages"),
    ("Two networks", "The differences of two networks.", "02", "changed"),
    ("A loop", "Control flow over Tensors, as data flow.", "04", "%ms_ir compiled_root"),
    ("Gradients", "A deep network of sigmoids: where the gradient vanishes.", "05", "sigmoid"),
    ("Time", "A slow step by operator, Cell and line, with advice.", "06", "%ms_profile -n 12 step"),
    ("Dashboard", "Curves, images and histograms of a recorded training.", "12", "msnb.dashboard(folder)"),
    ("Runs", "Many trainings: settings, results, importance.", "12", "msnb.runs(folder, target"),
    ("Watchpoints", "Conditions that were checked in every step, with the hits.", "13", "watch.view()"),
    ("An ONNX file", "A file that is opened without running it.", "14", "msnb.view(path + "),
    ("A plan", "A Transformer on 64 accelerators that need not exist.", "17", "plans"),
]


def list_outputs(notebook):
    """Return (last line of the cell, data) of each stored view, in order."""
    outputs = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "".join(data.get("text/html", "")).startswith(VIEW):
                outputs.append(("".join(cell["source"]).strip().splitlines()[-1], data))
    return outputs


def rebuild_notebook(text, share=lambda page: page):
    """Return the JSON of a notebook whose views have this version's code. `share` moves their files out of a page."""
    notebook, rebuilding = json.loads(text), Rebuilding()
    for _, data in list_outputs(notebook):
        data["text/html"] = share(rebuilding.rebuild("".join(data["text/html"])))
    return json.dumps(notebook)


def share_files(page, folder, address):
    """Replace the files of views in some HTML by scripts, so that all pages of the site share them.

    Args:
        page (str): HTML of views.
        folder (Path): The scripts are written here.
        address (str): The folder, as the page reaches it.
    """

    def write(match):
        folder.mkdir(parents=True, exist_ok=True)
        code = f'(window.msnbKept ??= {{}})["{match[1]}"] = "{match[2]}";\n'
        (folder / f"{match[1]}.js").write_text(code, encoding="utf-8")
        return f'<script src="{address}/{match[1]}.js"></script>'

    return FILE.sub(write, page)


def read_titles(text):
    """Return [(title, sentence)] of a page that lists the views in another language."""
    return re.findall(r"^- \*\*(.+?)\*\*：(.+)$", text, re.M)


def translate_gallery(text):
    """Replace the list of a translated page by the live views."""
    beginning = text[: text.index("\n- **")]
    return f"{beginning}\n{build_gallery(read_titles(text), '../../notebooks', '教程')}"


def build_gallery(titles=None, folder="../notebooks", tutorial="Tutorial"):
    """Return the gallery as MyST. Each view starts when it is scrolled to.

    Args:
        titles (list): Title and sentence of each view in another language; GALLERY's by default.
        folder (str): The notebooks, as links of the page reach them.
        tutorial (str): The word for a notebook.
    """
    rebuilding, pages, files = Rebuilding(), [], []
    titles = titles or [entry[:2] for entry in GALLERY]
    for (title, sentence), (_, _, number, code) in zip(titles, GALLERY, strict=True):
        (path,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
        outputs = list_outputs(json.loads(path.read_text(encoding="utf-8")))
        stored = next(data["text/html"] for line, data in outputs if line.startswith(code))
        view = rebuilding.rebuild("".join(stored))
        files += re.findall(r"<i hidden data-msnb-name=.*?></i>", view)
        view = re.sub(r"<i hidden data-msnb-name=.*?></i>", "", view)
        pages.append(f"### {title}\n\n{sentence} [{tutorial} {number}]({folder}/{path.name})\n\n" + raw(lazy(view)))
    return raw(f"<div hidden>{''.join(files)}</div>") + "".join(pages)


def lazy(view):
    height = re.search(r"--msnb-height:\d+px", view)[0]
    return f'<div class="lazy-view" style="{height}"><template>{view}</template></div>'


def raw(text):
    return f"```{{raw}} html\n{text}\n```\n\n"
