"""The Chinese pages: README, install and quick start are current, and code and outputs are the English ones."""

import ast
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "docs"))
import stored_views  # noqa: E402 - its folder joins the path above
import translations  # noqa: E402

CURRENT = ["README_CN.md", "docs/zh/install.md", "docs/zh/quick_start.md"]
PAGES = [path for path in translations.list_translations() if path.suffix == ".md"]
NOTEBOOKS = [path for path in translations.list_translations() if path.suffix == ".ipynb"]


def read_code(cell):
    """Return the syntax tree of a cell without magics, comments and docstrings; its magics."""
    lines = "".join(cell["source"]).splitlines()
    tree = ast.parse("\n".join(line for line in lines if not line.startswith("%")))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            body[:1] = []
    return ast.dump(tree), [line for line in lines if line.startswith("%")]


@pytest.mark.parametrize("name", CURRENT)
def test_the_first_pages_are_as_new_as_their_source(name):
    source, is_current = translations.read_source(ROOT / name)
    assert is_current, f"{source.name} has changed: look at {name}, then python docs/translations.py --renew {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_the_code_of_its_source(page):
    source, is_current = translations.read_source(page)
    if source.suffix != ".md" or source.name == "index.md" or not is_current:
        return
    blocks = [
        re.findall(r"^```\w+\n(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S) for path in (page, source)
    ]
    assert len({str([re.sub(r" *#.*", "", block) for block in side]) for side in blocks}) == 1
    rows = [re.findall(r"^\| `.*", path.read_text(encoding="utf-8"), re.M) for path in (page, source)]
    assert [row.split(" | ")[0].replace("、", ", ") for row in rows[0]] == [row.split(" | ")[0] for row in rows[1]]


def test_the_gallery_has_all_views():
    text = (ROOT / "docs" / "zh" / "gallery.md").read_text(encoding="utf-8")
    assert len(stored_views.read_titles(text)) == len(stored_views.GALLERY)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_the_code_and_outputs_of_its_source(path):
    """So it need not be run."""
    source, _ = translations.read_source(path)
    ours, theirs = (json.loads(p.read_text(encoding="utf-8"))["cells"] for p in (path, source))
    assert [cell["id"] for cell in ours] == [cell["id"] for cell in theirs]
    for cell, other in zip(ours, theirs):
        if cell["cell_type"] == "code":
            assert read_code(cell) == read_code(other) and cell["outputs"] == other["outputs"]
        else:
            assert re.search("[一-鿿]", "".join(cell["source"]))


def test_an_older_page_and_notebook_get_a_banner(monkeypatch):
    monkeypatch.setattr(translations, "hash_text", lambda path: "another")
    page = ROOT / "docs" / "zh" / "faq.md"
    shown = translations.write_banner(page, page.read_text(encoding="utf-8"))
    assert "# 常见问题\n\n:::{warning}\n" in shown and "[英文版](../../docs/faq.md)" in shown
    notebook = translations.write_banner(NOTEBOOKS[0], NOTEBOOKS[0].read_text(encoding="utf-8"))
    assert "(../../notebooks/01_quick_start.ipynb)" in "".join(json.loads(notebook)["cells"][0]["source"])


def test_the_hash_of_a_notebook_is_that_of_its_cells(tmp_path):
    copy = tmp_path / "a.ipynb"
    notebook = json.loads((ROOT / "notebooks" / "01_quick_start.ipynb").read_text(encoding="utf-8"))
    notebook["cells"][2]["outputs"] = []
    copy.write_text(json.dumps(notebook), encoding="utf-8")
    assert translations.hash_text(copy) == translations.hash_text(ROOT / "notebooks" / "01_quick_start.ipynb")
