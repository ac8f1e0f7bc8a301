"""The front door: length of README, its pictures, code blocks that run, and the package's metadata."""

import ast
import json
import operator
import re
import sys
import tomllib
from pathlib import Path

import pytest
from IPython.core.inputtransformer2 import TransformerManager
from PIL import Image

import msnb
from msnb._util.command_line import _make_parser
from msnb.common import unsupported

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "docs"))
import make_api  # noqa: E402 - its folder joins the path above
import stored_views  # noqa: E402

README, CHINESE = ROOT / "README.md", ROOT / "README_CN.md"
PAGES = [README, CHINESE, *sorted((ROOT / "docs").glob("**/*.md"))]
RUNNING = ("quick_start", "faq", "files", "devices", "data", "own_operators")
RUN = [README, CHINESE, *(ROOT / "docs" / f"{name}.md" for name in RUNNING)]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def read(path):
    return path.read_text(encoding="utf-8")


def pictures(path):
    return [path.parent / link for link in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", read(path))]


def test_the_readme_is_short():
    assert len(read(README).split()) <= 750 and len(read(README).splitlines()) <= 120
    assert len(read(CHINESE).splitlines()) <= 120


def test_the_readme_shows_a_moving_picture_and_an_install_line_on_the_first_screen():
    first, *_ = pictures(README)
    with Image.open(first) as film:
        assert film.n_frames > 10
    start = read(README).split()[:120]
    assert {"uvx", "pip", '"msnb[lab]"'} <= {*start}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pictures_exist_and_are_small(page):
    assert [path for path in pictures(page) if not path.is_file() or path.stat().st_size > 2_000_000] == []


def test_both_readmes_have_the_same_code_links_and_minutes():
    def skeleton(path):
        text = re.sub(r"#.*", "", read(path))
        links = re.findall(r"\]\(([^)]+)\)", text)
        return (
            BLOCK.findall(text),
            [
                link.replace("/zh/", "/")
                for link in links
                if not link.startswith("README") and link != "docs/zh/index.md"
            ],
            re.findall(r"\d+ \|", text),
        )

    assert skeleton(README) == skeleton(CHINESE)


RUN_CELLS = """
import json, os, sys

os.chdir(sys.argv[1])
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.history_manager.enabled = False
for cell in json.load(open("cells.json")):
    shell.run_cell(cell, store_history=True).raise_error()
"""


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_the_code_blocks_of_a_page_run(page, fresh, tmp_path):
    cells = [code for language, code in BLOCK.findall(read(page)) if language == "python"]
    if not cells[0].startswith("%load_ext"):
        cells = ["%load_ext msnb", *("%%mindspore\n" + code for code in cells)]
    (tmp_path / "cells.json").write_text(json.dumps(cells))
    done = fresh.run(RUN_CELLS, tmp_path, str(tmp_path), environment={"IPYTHONDIR": str(tmp_path / "ipython")})
    assert done.status == 0, done.out + done.err


def test_the_page_of_questions_has_those_that_readers_ask_of_the_search():
    """A heading that has the words of a query is the first result; `docs/site/search_scores.js`."""
    asked = ["export ONNX", "see a gradient", "find a NaN", "read a MindRecord", "run on a GPU", "label images"]
    asked = [f"How do I {task}?" for task in asked]
    asked += ["Why is the first step slow?", "Which operators are missing?", "What does `--api 2` change?"]
    assert {*asked} <= {*re.findall(r"^## (.+)$", read(ROOT / "docs" / "faq.md"), re.M)}


def test_the_commands_of_a_page_exist():
    _, commands = _make_parser()
    used = {name for page in PAGES for name in re.findall(r"`(?:python -m )?msnb ([a-z]+)", read(page))}
    assert used <= {*commands} and {"run", "check", "lab"} <= used


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_of_a_page_are_python(page):
    for language, code in BLOCK.findall(read(page)):
        if language == "python":
            body = re.sub(r"^%%.*\n", "", code)
            compile(TransformerManager().transform_cell(body), page.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_functions_of_msnb_that_a_page_calls_exist(page):
    for path in {*re.findall(r"\bmsnb\.([A-Za-z_][\w.]*)\(", read(page))}:
        operator.attrgetter(path)(msnb)


def test_the_metadata_has_what_an_index_shows():
    assert {"name", "description", "license", "license-files", "keywords", "classifiers", "authors"} <= {*PROJECT}
    assert "<" not in PROJECT["requires-python"] and len(PROJECT["description"]) < 120
    assert {"all", "docs", "zoo", "lab"} <= {*PROJECT["optional-dependencies"]}
    assert all((ROOT / name).is_file() for name in PROJECT["license-files"])


def test_the_install_page_names_every_extra():
    text = read(ROOT / "docs" / "install.md")
    assert [extra for extra in PROJECT["optional-dependencies"] if f"msnb[{extra}]" not in text] == []


def test_the_package_page_has_no_relative_link():
    pytest.importorskip("hatchling")
    from hatch_build import drop_relative_links

    text = drop_relative_links(read(README))
    assert not re.findall(r"\]\((?!\w+:)", text) and "See the graph" in text


def test_no_page_names_a_path_of_this_machine():
    assert [page.name for page in PAGES if re.search(r"/(root|work)/", read(page))] == []


def test_the_gallery_has_twelve_stored_views_and_each_file_once():
    page = stored_views.build_gallery()
    names = re.findall(r'data-msnb-name="([^"]*)"', page)
    assert page.count('class="lazy-view"') == 12 and len({*names}) == len(names)
    assert {name for needs in re.findall(r'data-needs="([^"]*)"', page) for name in needs.split()} == {*names}


def test_the_pages_of_the_site_share_the_code_of_views(tmp_path):
    page = stored_views.build_gallery()
    needed = {name for needs in re.findall(r'data-needs="([^"]*)"', page) for name in needs.split()}
    shared = stored_views.share_files(page, tmp_path, "../_static/views")
    assert "data-msnb-code" not in shared and {path.stem for path in tmp_path.iterdir()} == needed
    assert {*re.findall(r'<script src="../_static/views/([^"]*)\.js">', shared)} == needed


def test_the_page_of_missing_names_has_all_of_them_with_a_reason():
    text = make_api.describe_missing().replace("\\_", "_")
    names = {path.rpartition(".")[2] for path in [*unsupported.RAISES, *unsupported.REASONS]}
    assert {name for name in names if not re.search(rf"[ ,]{name}(,|$)", text, re.M)} == set()
    assert "{name}" not in text


def test_every_public_name_has_an_entry_in_the_reference(tmp_path):
    make_api.write_pages(tmp_path)
    text = "".join(path.read_text() for path in tmp_path.glob("*.rst"))
    entries = re.findall(r"^\.\. [\w:]+:: (msnb\.\S+)$", text, re.M)
    assert len({*entries}) == len(entries) > 2500
    assert {"msnb.view", "msnb.nn.Conv2d", "msnb.ops.relu", "msnb.Tensor.sum", "msnb.train.Model"} <= {*entries}
    assert {f"msnb.mint.{name}" for name in make_api.list_names("msnb.mint")} <= {*entries}


def test_a_docstring_has_no_emphasis_but_code_and_examples():
    lines = [
        "A shape (*, N) or |x| of ``a * b``, with `from_` and from_.",
        "",
        ">>> 2 * 3",
        "6",
        "",
        "Code::",
        "",
        "    a * b",
    ]
    make_api.escape_docstring(None, None, None, None, None, lines)
    assert lines[0] == r"A shape (\*, N) or \|x\| of ``a * b``, with `from_` and from\_."
    assert lines[2] == ">>> 2 * 3" and lines[-1] == "    a * b"
