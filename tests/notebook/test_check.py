"""`%ms_check` reads the cells that were run, or a file."""


def test_the_cells_of_a_session(notebook):
    notebook.shell.run_cell("from mindspore import nn\nf = lambda: nn.Nope", store_history=True)
    notebook.shell.run_cell("1 + 1", store_history=True)
    (line,) = notebook.shell.run_line_magic("ms_check", "").lines
    assert line.place.startswith("this session, cell ") and line.place.endswith(" line 2") and "Nope" in line.text


def test_a_file(notebook, tmp_path, capsys):
    (tmp_path / "a.py").write_text("import mindspore.nope")
    assert notebook.shell.run_line_magic("ms_check", str(tmp_path / "a.py")).lines[0].place == "a.py:1"
    notebook.shell.run_cell(f"%ms_check {tmp_path / 'b.py'}")
    assert "There is no file or folder" in capsys.readouterr().err
