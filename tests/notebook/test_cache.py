"""`%ms_cache`, and recompilation when another cell redefines what a graph used."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

from msnb.core.program import persistent_cache


@pytest.fixture
def shell():
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "msnb")
    yield shell
    shell.run_line_magic("unload_ext", "msnb")
    InteractiveShell.clear_instance()


def test_a_helper_redefined_in_another_cell_recompiles_what_used_it(shell):
    for cell in (
        "import msnb as ms",
        "def helper(x):\n    return x + 1",
        "@ms.ms_function\ndef f(x):\n    return helper(x) * k",
        "k = 2\na = f(ms.Tensor(1.0))",
        "def helper(x):\n    return x + 10",
        "b = f(ms.Tensor(1.0))",
        "k = 3",
        "c = f(ms.Tensor(1.0))",
    ):
        shell.run_cell(cell, store_history=True).raise_error()
    assert [float(shell.user_ns[n].asnumpy()) for n in "abc"] == [4, 22, 33]
    listing = shell.run_line_magic("ms_cache", "")
    assert "'helper' was redefined" in repr(listing) and "'k' was redefined" in repr(listing)
    assert "<table>" in listing._repr_html_()


def test_the_cache_can_be_cleared(shell, capsys):
    shell.run_cell("import msnb as ms\ng = ms.ms_function(lambda x: x * 2)\ny = g(ms.Tensor(1.0))").raise_error()
    shell.run_line_magic("ms_cache", "clear")
    assert "forgotten" in capsys.readouterr().out
    assert repr(shell.run_line_magic("ms_cache", "")).startswith("Nothing has been compiled.\n")


def test_programs_on_disk_are_listed_and_can_be_removed(shell, capsys, tmp_path):
    persistent_cache.use(tmp_path)
    try:
        shell.run_cell("import msnb as ms\ng = ms.ms_function(lambda x: x * 5)\ny = g(ms.Tensor(1.0))").raise_error()
        listing = shell.run_line_magic("ms_cache", "")
        assert f"in {tmp_path}. In this session 0 were found there" in repr(listing)
        assert listing.disk_note in listing._repr_html_() and persistent_cache.in_use().files()
        shell.run_line_magic("ms_cache", "clear disk")
        assert "files removed" in capsys.readouterr().out and not persistent_cache.in_use().files()
    finally:
        persistent_cache.use(None)
    assert "Compiled programs are not kept on disk." in repr(shell.run_line_magic("ms_cache", ""))


def test_the_memory_of_a_program_that_ran_is_listed(shell):
    shell.run_cell(
        "import msnb as ms\nimport numpy as np\nh = ms.ms_function(lambda x: x + 1)\n"
        "y = h(ms.Tensor(np.ones((256, 1024), np.float32)))"
    ).raise_error()
    row = next(r for r in shell.run_line_magic("ms_cache", "").rows if r[0] == "<lambda>")
    assert row[-1] == "2 MiB"  # 1 MiB in, 1 MiB out


def test_what_a_look_at_the_gradients_compiled_is_listed_with_the_line_of_its_magic(shell):
    shell.run_line_magic("ms_cache", "clear")
    shell.run_cell(
        "import numpy as np\nimport msnb as ms\nms.context.set_context(mode=ms.context.GRAPH_MODE)\n"
        "net = ms.nn.Dense(3, 2)\nx, y = (ms.Tensor(np.ones((4, n), np.float32)) for n in (3, 2))"
    ).raise_error()
    try:
        shell.run_cell("ms\n%ms_grad net, ms.nn.MSELoss(), (x, y)", store_history=True).raise_error()
        (row,) = shell.run_line_magic("ms_cache", "").rows
    finally:
        shell.run_cell("ms.context.set_context(mode=ms.context.PYNATIVE_MODE)").raise_error()
    assert row[0] == "Dense with its loss" and row[1].startswith("In [") and row[1].endswith("line 2")
    assert row[4].endswith(" observed") and row[7] == "1"
