"""An error shows the user's lines and one sentence."""

import pytest

NET = """%%mindspore
import numpy as np
import mindspore as ms
from mindspore import nn, ops
class Net(nn.Cell):
    def construct(self, x):
        y = x + 1
        return ops.MatMul()(y, ms.Tensor(np.ones((5, 2), np.float32)))
x = ms.Tensor(np.ones((2, 4), np.float32))
"""


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_only_the_lines_of_the_user_are_shown(notebook, mode):
    notebook.ok(NET)
    notebook.run(f"%%mindspore -m {mode}\n\nNet()(x)")
    shown = notebook.shown
    assert isinstance(notebook.error, ValueError)
    assert "line 3" in shown and "line 8, in Net.construct(self, x)" in shown and "For 'MatMul'" in shown
    assert "msnb/core" not in shown and "site-packages/jax" not in shown and "skipping hidden" not in shown
    assert "inside msnb and JAX left out; %ms_traceback" in shown
    assert len(shown.splitlines()) < 30


def test_the_full_traceback_can_be_had(notebook):
    notebook.run(NET + "Net()(x)")
    notebook.ok("%ms_traceback")
    assert "msnb/core" in notebook.out and "For 'MatMul'" in notebook.out
    assert notebook.error is None


def test_the_exception_itself_keeps_everything(notebook):
    notebook.run(NET + "Net()(x)")
    files, tb = [], notebook.error.__traceback__
    while tb is not None:
        files.append(tb.tb_frame.f_code.co_filename)
        tb = tb.tb_next
    assert any("msnb/core" in f for f in files) and not hasattr(notebook.error, "_render_traceback_")


def test_an_error_is_formatted_once(notebook, monkeypatch):
    """A kernel refuses cells that arrive after an error is shown and before its cell has ended: that takes no time."""
    formatted, structured_traceback = [], notebook.shell.InteractiveTB.structured_traceback

    def count(*arguments, **options):
        formatted.append(arguments[1])
        return structured_traceback(*arguments, **options)

    monkeypatch.setattr(notebook.shell.InteractiveTB, "structured_traceback", count)
    notebook.run(NET + "Net()(x)")
    assert formatted == [notebook.error]


def test_an_error_without_msnb_is_shown_as_ever(plain):
    code = "import json\njson.loads('{')"
    plain.run(code)
    before = plain.shown
    plain.ok("%load_ext msnb")
    plain.run(code)
    assert plain.shown.replace("In[3]", "In[1]") == before and "JSONDecodeError" in before


def test_the_users_own_cause_stays(notebook):
    notebook.run(
        NET
        + """try:
    Net()(x)
except ValueError as error:
    raise KeyError("mine") from error
"""
    )
    assert "direct cause" in notebook.shown
    assert "For 'MatMul'" in notebook.shown and "KeyError: 'mine'" in notebook.shown
    assert "msnb/core" not in notebook.shown
    assert isinstance(notebook.error.__cause__, ValueError) and notebook.error.__suppress_context__


def test_a_name_that_msnb_lacks_gets_a_hint(notebook):
    notebook.run("%%mindspore\nfrom mindspore import nn\nnn.Conv2dd(3)")
    assert "msnb has no mindspore.nn.Conv2dd" in notebook.shown and "Did you mean Conv2d" in notebook.shown
    notebook.run("%%mindspore\nfrom mindspore import Tenser")
    assert "msnb has no mindspore.Tenser" in notebook.shown


def test_an_error_in_a_computation_still_running_belongs_to_its_cell(notebook):
    notebook.ok("""
import jax, jax.numpy as jnp, time
def check(a):
    time.sleep(0.05)
    raise ValueError("found late")
slow = jax.jit(lambda a: jax.pure_callback(check, jax.ShapeDtypeStruct((3,), a.dtype), a) + 1)
work = jax.jit(lambda a: jax.lax.fori_loop(0, 200, lambda i, b: jnp.sin(b @ b), a))
""")
    notebook.run("y = slow(work(jnp.ones((300, 300)))[0, :3])")
    assert not notebook.result.success
    assert "ValueError: found late (in check, In [2] line 4)" in notebook.shown and "callback.py" not in notebook.out
    notebook.ok("1 + 1")  # it is told once


LABELS = """%%mindspore -m graph
import numpy as np
import mindspore as ms
from mindspore import nn
class Scored(nn.Cell):
    def __init__(self):
        super().__init__()
        self.net, self.loss = nn.Dense(3, 4), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    def construct(self, x, y):
        logits = self.net(x)
        return self.loss(logits, y)
scored = Scored()
x, y = ms.Tensor(np.ones((2, 3), np.float32)), ms.Tensor(np.array([0, 4], np.int32))
step = nn.TrainOneStepCell(nn.WithLossCell(scored.net, scored.loss), nn.SGD(scored.net.trainable_params(), 0.1))
"""


def test_a_wrong_label_in_a_graph_shows_the_line_that_was_given_it(notebook):
    notebook.ok(LABELS)
    notebook.run("%%mindspore -m graph\n\nscored(x, y)")  # shown, and so waited for, when the cell has ended
    assert "--> 11     return self.loss(logits, y)" in notebook.shown and "in Scored.construct" in notebook.shown
    assert notebook.shown.rstrip().endswith("raised in the graph at In [2] line 11")


def test_a_wrong_label_in_a_graph_of_msnbs_own_cells_shows_the_call(notebook):
    notebook.ok(LABELS)
    notebook.ok("%%mindspore -m graph\n\nstep(x, ms.Tensor(np.array([0, 1], np.int32)))")
    notebook.run("%%mindspore -m graph\n\nstep(x, y)")
    assert "----> 3 step(x, y)" in notebook.shown and notebook.shown.count("--> ") == 1
    notebook.run("%%mindspore -m graph\n\nprint(step(x, y).asnumpy())")
    assert "----> 3 print(step(x, y).asnumpy())" in notebook.shown and notebook.shown.count("--> ") == 1
    said = "raised in the graph of train step of Dense, first called at In [3] line 3"
    assert notebook.shown.rstrip().endswith(said)


def test_a_value_that_a_wrong_label_has_spoiled_is_not_shown_below_the_error(notebook):
    notebook.ok(LABELS)
    notebook.ok("from msnb import context\ncontext.set_context(mode=context.GRAPH_MODE)")
    notebook.ok("from IPython import get_ipython\nformat = get_ipython().display_formatter.format")
    assert notebook.run("format(step(x, y))") == ({}, {})
    assert notebook.shown.count("should be labels of 4 classes") == 1
    formats, _ = notebook.ok("format(step(x, ms.Tensor(np.array([0, 1], np.int32))))")
    assert formats.keys() == {"text/plain", "text/html"}


def test_a_failed_assertion_in_a_graph_shows_its_line_once(notebook):
    notebook.run(
        "%%mindspore -m graph\nimport mindspore as ms\n@ms.ms_function\ndef f(x):\n"
        "    assert x > 1, 'small'\n    return x\nf(ms.Tensor(0.5))"
    )
    assert notebook.shown.count("assert x > 1") == 2 and "----> 5     assert x > 1, 'small'" in notebook.shown
    assert "in f(" in notebook.shown


def test_code_that_a_graph_refuses_is_shown_with_its_line_alone(notebook):
    notebook.run("""%%mindspore -m graph
from mindspore import nn, Tensor
class Net(nn.Cell):
    def construct(self, x):
        global kept
        kept = x
        return x
Net()(Tensor([1.0]))""")
    assert isinstance(notebook.error, SyntaxError)
    assert "global kept" in notebook.shown and "Net()(Tensor([1.0]))" in notebook.shown
    assert "msnb/core" not in notebook.shown and "run_code" not in notebook.shown
    notebook.ok("%ms_traceback")
    assert "msnb/core" in notebook.out


def test_a_mistyped_cell_is_shown_as_ever(notebook):
    notebook.run("%%mindspore\nx = = 1")
    assert "line 2" in notebook.shown and "SyntaxError" in notebook.shown


def test_an_interrupt_is_short_too(notebook):
    notebook.run(
        NET
        + """
def stop(*_):
    raise KeyboardInterrupt
class Stopped(nn.Cell):
    def construct(self, x):
        stop()
Stopped()(x)"""
    )
    assert isinstance(notebook.error, KeyboardInterrupt)
    assert "KeyboardInterrupt" in notebook.shown and "msnb/nn" not in notebook.shown


def test_an_interrupt_while_waiting_is_an_interrupt(notebook, monkeypatch):
    from msnb.notebook.kernel import cell_scope

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(cell_scope, "wait", interrupted)
    notebook.run("1")
    assert isinstance(notebook.error, KeyboardInterrupt) and "in the background" not in notebook.shown
    monkeypatch.undo()
    assert notebook.ok("2") == 2


DEEP = """%%mindspore
import numpy as np
from mindspore import nn, Tensor
class Block(nn.Cell):
    def __init__(self, taken, given):
        super().__init__()
        self.conv = nn.Conv2d(taken, given, 3)
    def construct(self, x):
        return self.conv(x)
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell([Block(3, 8), Block(8, 16), Block(8, 8)])
    def construct(self, x):
        return self.body(x)
x = Tensor(np.ones((2, 3, 8, 8), np.float32))
"""


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_the_layer_is_named_below_the_sentence(notebook, mode):
    notebook.ok(DEEP)
    notebook.run(f"%%mindspore -m {mode}\nNet()(x)")
    lines = notebook.shown.rstrip().splitlines()
    assert lines[-3].startswith("ValueError: For 'Conv2D', 'x' has 16 channels")
    assert lines[-1] == "in body.2.conv (Conv2d(8, 8, kernel_size=3)), input (2, 16, 8, 8), at In [2] line 9"
    assert "JAX" not in lines[-2]


def test_a_place_in_a_sentence_is_a_cell_and_a_line_that_the_traceback_shows(notebook):
    notebook.run("""%%mindspore -m graph
from mindspore import nn, Tensor
class If(nn.Cell):
    def construct(self, x):
        if x > 0:
            y = x
        return y
If()(Tensor(1.0))""")
    assert "at In [2] line 5" in notebook.shown and "line 5, in construct()" in notebook.shown


def test_an_error_in_a_data_set_is_reported_once(notebook):
    notebook.run("""%%mindspore
import numpy as np
from mindspore import dataset as ds
def double(x):
    raise KeyError("label")
data = ds.NumpySlicesDataset(np.ones((4, 2), np.float32), ["x"]).map(double, ["x"])
for row in data.create_tuple_iterator():
    pass""")
    shown = notebook.shown
    assert "direct cause" not in shown and shown.count("Traceback") == 1 and "ipykernel" not in shown
    assert "line 5, in double(x)" in shown and "Raised at In [2] line 5, in double" in shown


def test_what_msnb_says_is_one_line_with_that_of_the_user(notebook):
    notebook.run("from msnb import log\n\nlog.once('Something to know.')\nlog.warning('The log of the user.')")
    assert "msnb: Something to know. (In [2] line 3)\n" in notebook.err
    assert "[WARNING] ME(" in notebook.err and "The log of the user." in notebook.err
