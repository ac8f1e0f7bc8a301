"""An error in the line of a magic is one sentence. The last line of a Python error is the advice."""

import pytest


@pytest.fixture
def run_cell(notebook):
    """Run a cell; the text that it leaves on screen."""

    def run(text):
        notebook.run(text)
        return notebook.shown

    return run


@pytest.mark.parametrize(
    "line, said",
    [
        ("%ms_ir net(", "UsageError: %ms_ir: '(' was never closed: net("),
        ("%ms_profile net(", "UsageError: %ms_profile: '(' was never closed: net("),
        ("%ms_grad net(", "UsageError: %ms_grad: '(' was never closed: write %ms_grad net, loss, (x, y)"),
        ("%ms_pipeline net(", "UsageError: %ms_pipeline: '(' was never closed: net("),
        ("%ms_pipeline 3", "UsageError: %ms_pipeline takes a data set, but got int 3."),
        ("%%mindspore --irr\n1", "UsageError: unrecognized arguments: --irr. Did you mean --ir?"),
    ],
)
def test_a_line_that_means_nothing_is_one_sentence(run_cell, line, said):
    (sentence,) = run_cell(line).splitlines()
    assert sentence.startswith(said)


@pytest.mark.parametrize("magic", ["ms_ir", "ms_grad", "ms_pipeline"])
def test_an_error_in_an_expression_shows_the_expression(run_cell, magic):
    text = run_cell(f"%{magic} undefined(3)")
    assert f"File <%{magic}>:1\n----> 1 undefined(3)\n" in text
    assert text.splitlines()[-1] == "NameError: name 'undefined' is not defined"


def test_what_to_do_about_a_missing_mindspore_is_the_last_line(run_cell, monkeypatch):
    from importlib.machinery import PathFinder

    find = PathFinder.find_spec
    monkeypatch.setattr(PathFinder, "find_spec", lambda name, *rest: None if name == "mindspore" else find(name, *rest))
    *_, sentence, last = run_cell("import mindspore").splitlines()
    assert sentence == "ModuleNotFoundError: No module named 'mindspore'"
    assert last.startswith("Begin the cell with %%mindspore, and its imports of mindspore are msnb; ")


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_a_number_where_a_tensor_is_meant_is_named_in_the_last_line(run_cell, mode):
    begin = f"%%mindspore -m {mode}\nfrom mindspore import nn\n"
    *_, sentence, where = run_cell(f"{begin}nn.Dense(3, 1)(1)").splitlines()
    assert sentence == "TypeError: For 'Dense', 'x' should be a Tensor, but got int 1."
    assert where.startswith("in Dense(3, 1), input int 1, at In [")
    net = "class Net(nn.Cell):\n    def construct(self, x):\n        return x.astype\nNet()(1)"
    *_, sentence, last = run_cell(begin + net).splitlines()
    assert sentence.startswith("AttributeError: 'int' object has no attribute")
    assert last == "A Tensor is meant there, but got int 1: Tensor(...) makes one of it."
    assert "A Tensor is meant" not in run_cell("(1).ndim")  # which msnb has no part in
