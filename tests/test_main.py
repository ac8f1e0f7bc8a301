"""``python -m msnb``: every command, short of the whole demo, which is what `make demo` runs."""

import re

import pytest

from msnb import __main__ as command


def test_versions_are_printed(capsys):
    import msnb

    assert command.main(["version"]) == 0
    assert f"msnb       {msnb.__version__}" in capsys.readouterr().out


def test_devices_are_listed_with_the_one_in_use(capsys):
    assert command.main(["devices"]) == 0
    assert re.search(r"^\* CPU  +0", capsys.readouterr().out, re.MULTILINE)


def test_a_missing_script_is_named(capsys):
    assert command.main(["run", "nowhere.py"]) == 1
    assert "nowhere.py" in capsys.readouterr().err


def test_the_quick_start_is_found():
    assert command.quick_start().name == "01_quick_start.ipynb"


def test_the_accuracy_is_read_from_the_tagged_cell():
    nbformat = pytest.importorskip("nbformat.v4")
    output = nbformat.new_output("stream", text="{'Accuracy': 0.9831649}\n")
    cell = nbformat.new_code_cell("model.eval(...)", outputs=[output], metadata={"tags": ["accuracy"]})
    notebook = nbformat.new_notebook(cells=[nbformat.new_code_cell("1 + 1"), cell])
    assert command._accuracy(notebook) == 0.9831649
    assert command._accuracy(nbformat.new_notebook()) is None


def test_the_progress_bar_names_the_section_of_a_cell():
    nbformat = pytest.importorskip("nbformat.v4")
    sources = ("# Title\ntext", "## 1 · Load", "more text")
    cells = [cell for s in sources for cell in (nbformat.new_markdown_cell(s), nbformat.new_code_cell("pass"))]
    headings = command._headings(nbformat.new_notebook(cells=cells))
    assert headings[1::2] == ["Title", "1 · Load", "1 · Load"]


def test_a_notebook_is_executed_and_its_html_loads_nothing(tmp_path):
    nbformat = pytest.importorskip("nbformat.v4")
    pytest.importorskip("ipykernel")
    code = "import sys\nprint('made of', 6 * 7, sys.executable)"
    notebook = nbformat.new_notebook(cells=[nbformat.new_markdown_cell("# Title"), nbformat.new_code_cell(code)])
    command._execute(notebook, tmp_path, timeout=60)
    assert f"made of 42 {command.sys.executable}" in notebook.cells[1].outputs[0].text
    html = command._to_html(notebook)
    assert "made of" in html
    assert not re.findall(r"""<(?:script|link|img|iframe)[^>]+(?:src|href)=["']?(?:https?:)?//""", html)
    assert not re.findall(r"""(?:import|from)\s+["']https?://""", html)
