"""%%mindspore: one cell's imports, mode, device, clock and graphs."""

import sys

import pytest

from msnb import context
from msnb.core.errors import source_location
from msnb.core.state import events

MODE = "from msnb import context\ncontext.get_context('mode')"


def test_the_imports_of_the_cell_mean_msnb_in_every_form(notebook):
    import msnb.alias

    notebook.ok("""%%mindspore
import mindspore
import mindspore as ms
import mindspore.nn as nn, os
from mindspore import Tensor as T, __version__
from mindspore.common import dtype
if True:
    import mindspore.common.initializer
def later():
    from mindspore import ops
    return ops
""")
    import msnb

    assert notebook["ms"] is notebook["mindspore"] is msnb.alias.mindspore
    assert notebook["nn"] is msnb.nn and notebook["T"] is msnb.Tensor and notebook["dtype"] is msnb.common.dtype
    assert notebook["__version__"] == notebook["ms"].__version__ == "1.1.1" != msnb.__version__
    assert notebook["later"]() is msnb.ops and notebook["os"].__name__ == "os"
    assert "msnb" not in notebook.shell.user_ns and "mindspore" not in sys.modules


def test_a_cell_for_mindspore_2_beside_one_for_r1_1(notebook):
    cell = """%%mindspore{}
import mindspore as ms, mindspore.nn as nn
from mindspore import Tensor, __version__ as version
from mindspore.ops import operations as P
x = Tensor([[1.0, 2.0], [4.0, 3.0]])
made = nn.Dense(2, 2), nn.BCELoss().reduction, P.TopK().sorted, x.max(1), version, ms.__version__
"""
    notebook.ok(cell.format(" --api 2"))
    new, later = notebook["made"], notebook["nn"]
    assert (
        new[1:3] == ("mean", True) and len(new[3]) == 2 and new[4:] == ("2.10.0", "2.10.0") and repr(new[0])[5] == "("
    )
    notebook.ok("%%mindspore\nlargest = x.max(1)\nfrom mindspore import nn")
    assert len(notebook["largest"]) == 2 and notebook["nn"] is not later  # what all share follows the last --api
    notebook.ok(cell.format(" --api 1"))
    old = notebook["made"]
    assert old[1:3] == ("none", False) and old[3].shape == (2,) and old[4:] == ("1.1.1", "1.1.1")
    assert type(old[0]) is type(new[0]) and isinstance(old[0], later.Dense)
    notebook.run("%%mindspore --api 3")
    assert "a generation is one of 1, 2, but got '3'" in notebook.shown


def test_a_session_for_mindspore_2(notebook):
    try:
        notebook.ok("%mindspore on --api 2")
        assert "as MindSpore 2 means it" in notebook.shown
        notebook.ok("import mindspore as ms\nfrom mindspore import nn\nkind = nn.BCELoss().reduction")
        assert notebook["kind"] == "mean" and notebook["ms"].__version__ == "2.10.0"
        notebook.run("%mindspore on --api 5")
        assert "on --api 2" in notebook.shown
    finally:
        notebook.ok("%mindspore off")


def test_the_next_cell_is_as_before(notebook):
    notebook.ok("%%mindspore\nimport mindspore")
    notebook.run("import mindspore")
    assert isinstance(notebook.error, ModuleNotFoundError)
    assert "Begin the cell with %%mindspore" in notebook.shown and "%mindspore on" in notebook.shown


def test_mode_and_device_last_for_the_cell(notebook):
    assert notebook.ok(f"%%mindspore -m graph -d cpu\n{MODE}") == context.GRAPH_MODE
    assert context.get_context("mode") == context.PYNATIVE_MODE
    assert context._state.device_target is None


def test_a_checked_cell_raises_at_an_index_out_of_range(notebook):
    cell = """%%mindspore -m graph {}
from mindspore import Tensor, nn, int32
class Picks(nn.Cell):
    def construct(self, x, i):
        return x[i]
y = Picks()(Tensor([1.0, 2.0]), Tensor([5], int32))
"""
    notebook.run(cell.format("--check"))
    assert isinstance(notebook.error, IndexError) and context.get_context("check_indices") is False
    notebook.ok(cell.format(""))


def test_a_cell_ends_with_the_error_of_a_wrong_label_in_it(notebook):
    notebook.run("""%%mindspore -m graph
from mindspore import Tensor, nn, int32
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True)(Tensor([[1.0, 2.0]]), Tensor([5], int32))
""")
    assert isinstance(notebook.error, RuntimeError) and "but got 5" in notebook.shown


def test_the_mode_comes_back_after_an_error(notebook):
    notebook.run("%%mindspore --mode graph\n1/0")
    assert isinstance(notebook.error, ZeroDivisionError)
    assert context.get_context("mode") == context.PYNATIVE_MODE


def test_a_mode_that_the_cell_sets_itself_stays(notebook):
    notebook.ok("from msnb import context\ncontext.set_context(mode=0)")
    notebook.ok("%%mindspore -m graph\nfrom mindspore import context\ncontext.set_context(mode=1)")
    assert context.get_context("mode") == context.PYNATIVE_MODE


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("-m grph", "a mode is one of graph, pynative, but got 'grph'. Did you mean graph?"),
        ("-d TPU", "JAX finds no TPU on this machine"),
        ("-d Gaudi", "a device is one of CPU, GPU, TPU"),
        ("--irr", "unrecognized arguments: --irr"),
        ("-m", "expected one argument"),
    ],
)
def test_a_wrong_option_is_one_line_and_the_cell_does_not_run(notebook, options, said):
    notebook.run(f"%%mindspore {options}\nran = True")
    assert not notebook.result.success and "ran" not in notebook.shell.user_ns
    assert said in notebook.err and "Traceback" not in notebook.shown
    assert context.get_context("mode") == context.PYNATIVE_MODE


def test_line_numbers_are_those_of_the_editor(notebook):
    notebook.run("%%mindspore\nimport mindspore\n\nx = undefined")
    assert "line 4" in notebook.shown
    assert notebook.error.__traceback__.tb_next.tb_lineno == 4


def test_the_quoted_cell_begins_with_the_magic_as_it_was_typed(notebook):
    notebook.run("%%mindspore -m graph\nundefined")
    assert "1 # %%mindspore -m graph" in notebook.shown and "get_ipython()" not in notebook.shown


def test_await_at_top_level_works(notebook):
    value = notebook.ok("%%mindspore\nimport asyncio\nimport mindspore as ms\nawait asyncio.sleep(0)\nms.__version__")
    assert value == "1.1.1"


@pytest.mark.parametrize(
    "first",
    [
        "%%mindspore -m graph\n%%time",
        "%%time\n%%mindspore -m graph",
        "%%mindspore -m graph\n%%capture seen",
        "%%capture seen\n%%mindspore -m graph",
    ],
)
def test_other_cell_magics_combine_with_it(notebook, first):
    notebook.ok(f"{first}\nimport mindspore as ms\nmode = ms.context.get_context('mode')\nprint(ms.__version__)")
    assert notebook["mode"] == context.GRAPH_MODE
    assert (notebook["seen"].stdout if "capture" in first else notebook.out).startswith("1.1.1")
    assert context.get_context("mode") == context.PYNATIVE_MODE


def test_line_magics_and_shell_commands_inside_work(notebook):
    notebook.ok("%%mindspore\nfrom mindspore import Tensor\nwhere = %pwd\nwords = !echo hello\n%time t = Tensor([1])")
    assert notebook["words"] == ["hello"] and notebook["t"].shape == (1,)


def test_future_imports_are_allowed(notebook):
    notebook.ok("%%mindspore\nfrom __future__ import annotations\nimport mindspore")


def test_the_cell_that_views_quote_is_called_by_its_prompt(notebook):
    notebook.ok("%%mindspore\nimport mindspore\ndef where(): pass")
    number = notebook.shell.execution_count - 1
    assert source_location.label(notebook["where"].__code__.co_filename) == f"In [{number}]"


def test_time_is_one_line_with_its_phases(notebook):
    notebook.ok("%%mindspore --time\nimport mindspore as ms\nms.Tensor([1.0, 2.0]) + 1.0")
    line = notebook.out.splitlines()[-1]
    assert line.startswith("wall ") and ": compile " in line and ", run " in line


NET = """
import numpy as np
import mindspore as ms
from mindspore import nn
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2)
    def construct(self, x):
        return self.dense(x)
net, x = Net(), ms.Tensor(np.ones((4, 3), np.float32))
"""


def text_of(notebook):
    return [output.data["text/plain"] for output in notebook.rich if "text/plain" in output.data]


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_ir_shows_the_graph_of_each_cell_that_ran(notebook, mode):
    notebook.ok(f"%%mindspore -m {mode} --ir{NET}net(x);")
    assert [t for t in text_of(notebook) if t.startswith("GraphView")] == ["GraphView(Net: 2 nodes)"]
    notebook.ok(f"%%mindspore -m {mode} --ir\ny = net(x)")  # nothing is compiled this time
    assert text_of(notebook) == ["GraphView(Net: 2 nodes)"]
    notebook.ok(f"%%mindspore -m {mode} --ir\n1")
    assert "no Cell and no ms_function has run" in notebook.out


def test_ir_shows_compiled_functions(notebook):
    notebook.ok(f"%%mindspore --ir{NET}@ms.ms_function\ndef twice(x):\n    return x + x\ny = twice(x)")
    assert text_of(notebook) == ["GraphView(twice: 1 nodes)"]


def test_ir_is_shown_after_an_error_too_and_the_error_stays(notebook):
    notebook.run(f"%%mindspore -m graph --ir{NET}y = net(x)\n1/0")
    assert isinstance(notebook.error, ZeroDivisionError) and "GraphView(Net: 2 nodes)" in text_of(notebook)


WRONG = """
import numpy as np, mindspore as ms
from mindspore import nn
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc, self.out = nn.Dense(3, 4), nn.Dense(5, 2)
    def construct(self, x):
        return self.out(self.fc(x))
net = Net()
x = ms.Tensor(np.ones((2, 3), np.float32))
"""


@pytest.mark.parametrize("mode", ["graph", "pynative"])
@pytest.mark.parametrize("call", ["import msnb\nview = msnb.view(net, x)", "%ms_ir net(x)", "net(x)"])
def test_a_network_that_fails_to_trace_is_shown_up_to_there_and_the_error_stays(notebook, call, mode):
    notebook.run(f"%%mindspore -m {mode}{' --ir' * (call == 'net(x)')}{WRONG}{call}")
    assert isinstance(notebook.error, ValueError) and "inner dimensions" in str(notebook.error)
    assert text_of(notebook) == ["GraphView(Net: 3 nodes, stops at MatMul)"]


def test_the_class_is_untouched_after_ir(notebook):
    from msnb.nn import Cell

    before = Cell.__call__
    notebook.run(f"%%mindspore --ir{NET}net(x)\nnet(x, x, x)")
    assert not notebook.result.success and Cell.__call__ is before


def test_a_complete_body_as_text_runs_the_same_way(notebook):
    notebook.shell.run_cell_magic("mindspore", "-m graph", "import mindspore as ms\nm = ms.get_context('mode')\n")
    assert notebook["m"] == context.GRAPH_MODE and context.get_context("mode") == context.PYNATIVE_MODE


def test_help_is_there(notebook):
    text = notebook.shell.find_cell_magic("mindspore").__doc__
    assert "graph|pynative" in text and "--ir" in text


def test_autoreload_works_with_imported_files(notebook, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "my_module_of_msnb.py"
    file.write_text("from mindspore import Tensor\nvalue = 1\n")
    notebook.ok("%load_ext autoreload\n%autoreload 2")
    notebook.ok("%mindspore on\nimport my_module_of_msnb as mine\nmine.value")
    file.write_text("from mindspore import Tensor\nvalue = 22\n")
    assert notebook.ok("mine.value") == 22
    sys.modules.pop("my_module_of_msnb")


def traces(shell):
    return (
        list(shell.ast_transformers),
        list(shell.input_transformer_manager.line_transforms),
        list(shell.Completer.custom_matchers),
        {"run_ast_nodes", "showtraceback"} & set(vars(shell)),
        {event: list(acts) for event, acts in shell.events.callbacks.items()},
        list(sys.meta_path),
        set(shell.display_formatter.formatters["text/html"].deferred_printers),
        list(source_location.namers),
        set(shell.magics_manager.magics["line"]),
        set(shell.magics_manager.magics["cell"]),
    )


def test_a_cell_within_a_cell_ends_its_own_scope_only(notebook):
    notebook.ok("from msnb import context\nmode = lambda: context.get_context('mode')\nbefore = mode()")
    other = "graph" if notebook["before"] == 1 else "pynative"
    notebook.ok(f"""%%mindspore -m {other}
shell = get_ipython()
seen = []
for text, silent in (("", False), ("seen.append(mode())", False), ("seen.append(mode())", True), ("1 / 0", False)):
    shell.run_cell(text, silent=silent)
    seen.append(mode())
during = mode()""")
    assert set(notebook["seen"]) == {notebook["during"]} != {notebook["before"]} and len(notebook["seen"]) == 6
    assert notebook.ok("mode()") == notebook["before"]


def test_a_cell_that_is_broken_off_puts_the_mode_back(notebook):
    notebook.ok("from msnb import context\nbefore = context.get_context('mode')")
    other = "graph" if notebook["before"] == 1 else "pynative"
    notebook.run(f"%%mindspore -m {other} --ir\nraise SystemExit")
    notebook.run(f"%%mindspore -m {other} --ir\nraise KeyboardInterrupt")
    assert notebook.ok("context.get_context('mode')") == notebook["before"] and not events.subscribers.entered


def test_unloading_leaves_no_trace(plain):
    before = traces(plain.shell)
    plain.ok("%load_ext msnb")
    plain.ok("%%mindspore --ir --time\nfrom mindspore import Tensor\nTensor([1])")
    plain.ok("%mindspore on")
    plain.ok("%unload_ext msnb")
    assert traces(plain.shell) == before
    plain.run("%%mindspore\n1")
    assert "not found" in plain.err


def test_loading_twice_is_loading_once(notebook):
    before = traces(notebook.shell)
    notebook.shell.extension_manager.loaded.clear()
    notebook.ok("%load_ext msnb")
    assert traces(notebook.shell) == before
