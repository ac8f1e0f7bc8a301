"""Links of README, docs and notebooks: each leads to a file, and each notebook and page can be reached by one."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
DOCS = sorted((ROOT / "docs").glob("*.md"))
READMES = [ROOT / "README.md", ROOT / "README_CN.md"]
CHINESE = [*sorted((ROOT / "docs" / "zh").glob("*.md")), *sorted((ROOT / "notebooks" / "zh").glob("*.ipynb"))]
PAGES = [*READMES, ROOT / "CONTRIBUTING.md", *DOCS, *NOTEBOOKS, *CHINESE]
FOLDERS = sorted((ROOT / "msnb").rglob("README.md"))
CORE = sorted(path.parent for path in (ROOT / "msnb" / "core").glob("*/README.md"))
LINK = re.compile(r"\[[^\[\]]*\]\(([^()\s]+)\)")


def read_links(path):
    """Return the addresses that a page links to, in order. Code blocks have none."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return LINK.findall(re.sub(r"```.*?```|`[^`\n]*`(?!\])", "", text, flags=re.S))


# The table of tutorials is their order, not the number in their names.
TUTORIALS = ROOT / "docs" / "tutorials.md"
PATH = [(TUTORIALS.parent / link).resolve() for link in read_links(TUTORIALS) if link.endswith(".ipynb")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page):
    own = [link.partition("#")[0] for link in read_links(page) if not re.match(r"\w+:|#", link)]
    assert [link for link in own if not (page.parent / link).exists()] == []


def read_slugs(path):
    """Return the anchors that GitHub and the site give to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S), re.M)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_anchor_is_a_heading(page):
    own = [link.partition("#") for link in read_links(page) if "#" in link and not re.match(r"\w+:", link)]
    targets = [(page.parent / file if file else page, anchor) for file, _, anchor in own]
    assert [(file.name, anchor) for file, anchor in targets if anchor not in read_slugs(file)] == []


@pytest.mark.parametrize("readme", FOLDERS, ids=lambda path: path.parent.name)
def test_the_readme_of_a_folder_names_existing_files(readme):
    bases = [readme.parent, readme.parent / "src", ROOT / "msnb", ROOT / "msnb" / "core", ROOT]
    names = re.findall(r"`([\w./]+\.(?:py|js|css))`", readme.read_text(encoding="utf-8"))
    missing = [name for name in names if not any((base / name).exists() for base in bases)]
    assert [name for name in missing if name != "net.py"] == []  # net.py is a file of the user


@pytest.mark.parametrize("folder", CORE, ids=lambda path: path.name)
def test_the_readme_of_a_package_of_core_lists_its_modules(folder):
    rows = re.findall(r"^\| (`[^|]+`) \|", (folder / "README.md").read_text(encoding="utf-8"), re.M)
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == listed


def test_every_notebook_is_linked():
    page = ROOT / "docs" / "tutorials.md"
    links = {(page.parent / link).resolve() for link in read_links(page)}
    assert [path.name for path in NOTEBOOKS if path not in links] == []


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_a_readme_lists_tutorials_and_links_the_page_with_all(page):
    links = [(page.parent / link.replace("/zh/", "/")).resolve() for link in read_links(page)]
    assert ROOT / "docs" / "tutorials.md" in links
    assert len([path for path in NOTEBOOKS if path in links]) == 10


def test_each_tutorial_with_a_picture_has_a_small_one():
    """After a change of notebooks run `python docs/make_thumbnails.py`."""
    texts = {path.name[:2]: path.read_text(encoding="utf-8") for path in NOTEBOOKS}
    expected = {number for number, text in texts.items() if '"image/png"' in text or "data:image" in text}
    small = {path.stem: path.stat().st_size for path in (ROOT / "msnb" / "_data" / "thumbnails").iterdir()}
    assert {*small} == expected and sum(small.values()) < 300_000


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_every_page_of_the_docs_is_linked(page):
    """By README, or by a page that README links to."""
    own = [link.partition("#")[0].replace("/zh/", "/") for link in read_links(page) if ":" not in link]
    links = {(page.parent / link).resolve() for link in own}
    for linked in [path for path in links if path.suffix == ".md"]:
        links |= {(linked.parent / link.partition("#")[0]).resolve() for link in read_links(linked) if ":" not in link}
    assert [path.name for path in DOCS if path not in links and path.name != "index.md"] == []


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_what_the_readme_calls_a_page_is_a_link(page):
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"(?<!\[)`(?:docs|notebooks)/[^`]*\.(?:md|ipynb)`", text) == []


@pytest.mark.parametrize("page, following", [*zip(PATH, PATH[1:])], ids=lambda page: page.stem[:2])
def test_a_notebook_ends_with_a_link_to_the_next(page, following):
    assert read_links(page)[-1] == following.name


@pytest.mark.parametrize("page", NOTEBOOKS, ids=lambda page: page.stem[:2])
def test_a_notebook_has_something_to_try_at_its_end(page):
    cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
    assert re.search(r"Exercises|Try|to try", "".join("".join(cell["source"]) for cell in cells[-2:]))
