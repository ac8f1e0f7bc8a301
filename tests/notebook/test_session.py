"""%mindspore on and off, the line magics, completion."""

import sys

import pytest

from msnb import context


def test_on_and_off_say_what_import_mindspore_means(notebook, tmp_path, monkeypatch):
    import msnb

    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "users_file.py").write_text("import mindspore\nfrom mindspore import Tensor\n")
    notebook.ok("%mindspore on")
    assert notebook.out == "import mindspore is msnb in this session.\n"
    notebook.ok("import mindspore as ms, users_file")
    assert notebook["users_file"].Tensor is msnb.Tensor
    notebook.ok("%mindspore off")
    assert "in %%mindspore cells only" in notebook.out and "mindspore" not in sys.modules
    sys.modules.pop("users_file")


def test_a_real_mindspore_is_named_when_it_is_hidden(notebook, tmp_path, monkeypatch):
    (tmp_path / "mindspore").mkdir()
    (tmp_path / "mindspore" / "__init__.py").write_text("__version__ = '2.7.1'\n")
    monkeypatch.syspath_prepend(tmp_path)
    notebook.ok("import mindspore")
    notebook.ok("%mindspore on")
    assert "MindSpore 2.7.1" in notebook.out and "is hidden until %mindspore off" in notebook.out
    notebook.ok("%mindspore off\nimport mindspore\nmindspore.__version__")
    assert "import mindspore is MindSpore 2.7.1" in notebook.out and notebook.result.result == "2.7.1"
    notebook.ok("%%mindspore\nimport mindspore")
    assert notebook["mindspore"].__version__ == "1.1.1"
    sys.modules.pop("mindspore")


def test_another_word_is_refused_in_one_line(notebook):
    notebook.run("%mindspore maybe")
    assert "takes on, on --api 1, on --api 2 or off, but got 'maybe'" in notebook.err


def test_the_mode_line_magic_sets_and_tells(notebook):
    notebook.ok("%ms_mode")
    assert notebook.out == "PYNATIVE mode on CPU\n"
    notebook.ok("%ms_mode graph")
    assert notebook.out == "GRAPH mode on CPU\n" and context.get_context("mode") == context.GRAPH_MODE
    notebook.run("%ms_mode fast")
    assert "takes graph or pynative, but got 'fast'" in notebook.err


def test_the_ir_line_magic_shows_a_call_without_running_it(notebook):
    notebook.ok("""%%mindspore
import numpy as np
from mindspore import nn, Tensor
net, inputs = nn.Dense(3, 2), [Tensor(np.ones((4, 3), np.float32))]
""")
    for expression in ("net(inputs[0])", "net(*inputs)", "net"):
        notebook.ok(f"%ms_ir {expression}")
        assert notebook.rich[0].data["text/plain"] == "GraphView(Dense: 2 nodes)"
    notebook.run("%ms_ir nn.ReLU()")
    assert not notebook.result.success
    notebook.run("%ms_ir")
    assert "such as: %ms_ir net(x)" in notebook.err
    notebook.run("relu = nn.ReLU()")
    notebook.run("%ms_ir relu")
    assert "give it a call" in notebook.err


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("%%mindspore ", ["--api", "--check", "--device", "--ir", "--mode", "--time"]),
        ("%%mindspore --ir --t", ["--time"]),
        ("%%mindspore -m ", ["graph", "pynative"]),
        ("%%mindspore --device g", ["GPU"]),
        ("%ms_mode p", ["pynative"]),
        ("%mindspore of", ["off"]),
    ],
)
def test_options_are_completed(notebook, line, offered):
    from IPython.core.completer import provisionalcompleter

    with provisionalcompleter():
        completions = [c.text for c in notebook.shell.Completer.completions(line, len(line))]
    assert sorted(completions) == offered


def test_names_that_are_loaded_late_have_types_and_signatures_at_once(notebook):
    from IPython.core.completer import provisionalcompleter

    notebook.ok("import msnb as ms")
    with provisionalcompleter():
        completions = {c.text: c for c in notebook.shell.Completer.completions("ms.nn.", 6)}
        functions = {c.text: c for c in notebook.shell.Completer.completions("ms.ops.abs", 10)}
    assert {completions[name].type for name in ("Conv2d", "Dense", "Accuracy")} == {"class"}
    assert functions["abs"].type == "function" and functions["abs"].signature.startswith("(input)")
