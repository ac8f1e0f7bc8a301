"""`%ms_help`, and the page of JupyterLab that is made of it."""

import json

import pytest
from IPython.core.error import UsageError

import msnb
from msnb.notebook import help_page
from msnb.notebook.magic_help import list_magics


def test_every_magic_is_listed_with_all_its_options(notebook):
    table = notebook.shell.magics_manager.magics
    ours = {name for kind in ("line", "cell") for name, f in table[kind].items() if f.__module__.startswith("msnb.")}
    listed = {magic.name.split("%")[-1]: magic for magic in list_magics(notebook.shell)}
    assert {*listed} == ours >= {"mindspore", "ms_help", "ms_ir", "ms_profile"}
    for kind in ("line", "cell"):
        for name in ours & table[kind].keys():
            options = getattr(getattr(table[kind][name], "parser", None), "_option_string_actions", {})
            magics = [magic for magic in list_magics(notebook.shell) if magic.name.split("%")[-1] == name]
            names = " ".join(option.names for magic in magics for option in magic.options)
            assert all(option in names.replace(",", "").split() for option in options)
    assert all(magic.summary for magic in listed.values())


def test_the_list_is_shown_as_text_and_as_a_table(notebook):
    shown = notebook.ok("%ms_help")
    assert "%ms_profile, %%ms_profile\n    `%ms_profile step(x, y)` runs a statement several times" in repr(shown)
    assert "        -n, --steps STEPS  How often a statement is run" in repr(shown)
    assert "<b>%ms_profile, %%ms_profile</b>" in shown._repr_html_() and "`" not in shown._repr_html_()


@pytest.mark.parametrize("asked", ["ms_profile", "%ms_profile", "%%ms_profile", "profile"])
def test_one_magic_is_explained_in_full(notebook, asked):
    shown = notebook.ok(f"%ms_help {asked}")
    assert [magic.name for magic in shown.magics] == ["%ms_profile, %%ms_profile"]
    assert "In a cell, each call of a network is a step" in repr(shown)


def test_a_name_that_is_no_magic_is_one_sentence(notebook):
    with pytest.raises(UsageError, match=r"there is no magic 'ms_prof' of msnb; there are .*%ms_ir"):
        notebook.shell.run_line_magic("ms_help", "ms_prof")


def test_a_gradient_of_a_network_without_a_batch_is_one_sentence(notebook):
    notebook.ok("from msnb import nn\nnet = nn.Dense(2, 3)")
    for arguments in ("net", "net, nn.MSELoss()"):
        with pytest.raises(UsageError, match="a step needs a batch, and there is none: write %ms_grad net, loss"):
            notebook.shell.run_line_magic("ms_grad", arguments)


def test_the_page_has_tutorials_functions_magics_and_keys(notebook):
    page = help_page.page()
    for name in help_page.tutorial_paths():
        assert f"&quot;name&quot;: &quot;{name}&quot;" in page
    for name in help_page.own_functions():
        assert f"<code>msnb.{name}</code>" in page and getattr(msnb, name) is not None
    assert "%ms_profile" in page and "<kbd>Enter</kbd>" in page
    assert all(help_page.own_functions().values())


def test_a_tutorial_is_read_by_its_name_alone():
    assert help_page.read_tutorial("01_quick_start.ipynb")["nbformat"] == 4
    with pytest.raises(FileNotFoundError, match="There is no tutorial '../README.md'"):
        help_page.read_tutorial("../README.md")


@pytest.mark.parametrize("kind", ["ONNX", "ckpt"])
def test_a_file_is_shown_without_a_widget(notebook, tmp_path, kind):
    notebook.ok("import numpy as np, msnb\nfrom msnb import nn\nfrom msnb.notebook.lab import show_file")
    if kind == "ckpt":
        notebook.ok(f"msnb.save_checkpoint(nn.Dense(2, 3), {json.dumps(str(tmp_path / 'a.ckpt'))})")
    else:
        text = f"file_name={json.dumps(str(tmp_path / 'a'))}, file_format='ONNX'"
        notebook.ok(f"msnb.export(nn.Dense(2, 3), msnb.Tensor(np.ones((1, 2), np.float32)), {text})")
    notebook.ok(f"show_file({json.dumps(str(tmp_path / f'a.{kind.lower()}'))})")
    (output,) = notebook.rich
    assert "application/vnd.jupyter.widget-view+json" not in output.data
    assert ("msnb-view" if kind == "ONNX" else "weight") in output.data["text/html"]
