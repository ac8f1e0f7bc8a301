"""`%%ms_debug` in a shell and in a kernel without a browser: lines, options, the prompt, and recorded pauses."""

import io
import json
import threading

import nbformat
import pytest
from IPython.core.error import UsageError
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from msnb import context
from msnb.insight.debugger import debugger
from msnb.insight.debugger.paused_step import Pause
from msnb.notebook import lab
from msnb.notebook.debugger.controls import Stepper
from msnb.notebook.debugger.magics import DebugMagics, rewrite_line
from msnb.notebook.graph.api import of_program

NETWORK = """import numpy as np
import msnb
from msnb import Tensor, nn, ops
msnb.set_context(mode=msnb.GRAPH_MODE)
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 2)
    def construct(self, x):
        x = ops.relu(x)
        return self.dense(x)
net = Net()
train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)).set_train()
x, y = Tensor(np.ones((3, 4), np.float32)), Tensor(np.ones((3, 2), np.float32))
"""


@pytest.fixture
def shell(shell):
    shell.run_cell("%load_ext msnb")
    shell.run_cell(NETWORK)
    yield shell
    debugger.stop()
    debugger.records.clear()
    shell.run_cell("%unload_ext msnb")
    context.set_context(mode=context.PYNATIVE_MODE)


def run(shell, monkeypatch, cell, typed):
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    return shell.run_cell(cell)


@pytest.mark.parametrize(
    "before, after",
    [
        (["%%ms_debug -l 3\n", "f(x)\n"], ["get_ipython().run_cell_magic('ms_debug', '-l 3', None)\n", "f(x)\n"]),
        (["\n", "%%ms_debug\n", "f(x)\n"], ["\n", "get_ipython().run_cell_magic('ms_debug', '', None)\n", "f(x)\n"]),
        (
            ["%%ms_debug\n", "%%mindspore -m graph\n", "f(x)\n"],
            ["%%mindspore -m graph\n", "get_ipython().run_cell_magic('ms_debug', '', None)\n", "f(x)\n"],
        ),
        (
            ["%%mindspore\n", "%%ms_debug\n", "f(x)\n"],
            ["%%mindspore\n", "get_ipython().run_cell_magic('ms_debug', '', None)\n", "f(x)\n"],
        ),
        (["%%time\n", "%%ms_debug\n"], ["%%time\n", "%%ms_debug\n"]),
        (["%%ms_debug?\n"], ["%%ms_debug?\n"]),
        (["x = 1\n"], ["x = 1\n"]),
        ([], []),
    ],
)
def test_the_first_line_becomes_a_call_and_the_others_keep_their_numbers(before, after):
    assert rewrite_line(before) == after


def test_a_cell_pauses_at_its_first_step_and_ends_the_debugger(shell, monkeypatch, capsys):
    result = run(shell, monkeypatch, "%%ms_debug\nfor _ in range(3):\n    train(x, y)\nlast = 7", "n\nc\n")
    said = capsys.readouterr().out
    assert result.success and shell.user_ns["last"] == 7
    assert "Paused at step 1, node 1 of" in said and "line 10: x = ops.relu(x)" in said and "node 2 of" in said
    assert debugger._listener is None and debugger.at("op:ReLU").value.shape == (3, 4)


def test_stop_ends_the_cell(shell, monkeypatch, capsys):
    result = run(shell, monkeypatch, "%%ms_debug\nfor _ in range(3):\n    train(x, y)", "q\n")
    assert isinstance(result.error_in_exec, KeyboardInterrupt) and debugger._listener is None


def test_a_line_of_the_cell_is_a_breakpoint(shell, monkeypatch, capsys):
    cell = "%%ms_debug --line 6\n" + NETWORK.replace("import msnb\n", "import msnb\n\n") + "train(x, y)\ntrain(x, y)"
    run(shell, monkeypatch, cell, "c\nc\n")
    said = capsys.readouterr().out
    assert "Line 6 has no node; the next one with nodes is In [" in said and "x = ops.relu(x)" in said
    assert said.count("Paused at step") == 2


@pytest.fixture
def set_breakpoints():
    def ask(cells):
        return lab.ask(json.dumps({"what": "breakpoints", "cells": cells})).value

    yield ask
    ask({})


def test_breakpoints_beside_lines_act_in_the_next_cell(shell, monkeypatch, capsys, set_breakpoints):
    assert shell.run_cell(NETWORK + "train(x, y)", cell_id="net").success
    said = "Line 9 has no node: its breakpoint moves to line 10."
    assert set_breakpoints({"net": [9, 10], "other": [3]}) == {"moved": {"net": {"9": 10}}, "said": said}
    run(shell, monkeypatch, "%%ms_debug\nfor _ in range(2):\n    train(x, y)", "c\nc\n")
    said = capsys.readouterr().out
    assert said.count("Paused at step") == said.count("line 10: x = ops.relu(x)") == 2
    run(shell, monkeypatch, "with msnb.watch(train, 'TO', at='pause'):\n    train(x, y)", "c\n")
    assert "line 10: x = ops.relu(x)" in capsys.readouterr().out and not debugger.is_started
    said = "No node comes from line 99 or below: its breakpoint never pauses."
    assert [set_breakpoints({"net": [10, 99]})["said"] for _ in range(2)] == [said, ""]
    set_breakpoints({})
    run(shell, monkeypatch, "%%ms_debug -r\ntrain(x, y)", "c\n")
    assert "Paused" not in capsys.readouterr().out


def test_moves_do_not_wait_for_the_values_of_a_pause(shell, monkeypatch):
    run(shell, monkeypatch, "%%ms_debug\ntrain(x, y)", "c\n")
    replay, can_compute, is_answered = debugger.paused.replay, threading.Event(), threading.Event()
    compute = replay._compute_node_values
    monkeypatch.setattr(replay, "_compute_node_values", lambda window: can_compute.wait(60) and compute(window))
    replay._values.clear()
    shown = of_program(replay.program, replay.program.name)
    stepper = Stepper(debugger, shown)
    shown.attach_stepper(stepper)
    sent = []
    monkeypatch.setattr(shown.widget, "send", lambda content, buffers=None: (sent.append(content), is_answered.set()))
    stepper.show(Pause(replay, (), 1))
    shown._on_message(shown.widget, {"kind": "value", "node": 0}, [])
    send_value, failures = shown._send_value, []

    def fail_first(*arguments):  # an answer that can't be sent holds up no other
        if not failures:
            failures.append(arguments)
            raise RuntimeError("the page is closed")
        send_value(*arguments)

    monkeypatch.setattr(shown, "_send_value", fail_first)
    shown._on_message(shown.widget, {"kind": "value", "node": 0}, [])
    shown._on_message(shown.widget, {"kind": "debug", "word": "n"}, [])
    assert stepper.state["node"] == 1 and not sent
    can_compute.set()
    assert is_answered.wait(60) and sent[0]["values"][0]["title"] == "output" and len(failures) == 1


def test_conditions_pause_at_their_hits(shell, monkeypatch, capsys):
    cell = "%%ms_debug tensor_range:range_start_inclusive=5,range_end_inclusive=9,range_percentage_lt=100\ntrain(x, y)"
    run(shell, monkeypatch, cell, "hits\nc\n")
    said = capsys.readouterr().out
    assert "Paused at step 1" in said and "tensor_range: range_percentage_lt is 100" in said


@pytest.mark.parametrize(
    "option, words",
    [
        (
            "-b op:Relly",
            "nothing has paused at 'op:Relly'. No node of the graph matches",
        ),
        ("-l 99", "nothing has paused at line 99. No node of"),
    ],
)
def test_a_breakpoint_without_a_node_is_said(shell, monkeypatch, capfd, option, words):
    assert run(shell, monkeypatch, f"%%ms_debug {option}\ntrain(x, y)", "").success
    said = "".join(capfd.readouterr())
    assert words in said.replace("\n", " ") and "Paused" not in said


@pytest.mark.parametrize(
    "options, words",
    [
        ("--lien 3", "Did you mean --line?"),
        ("--line 0", "at least 1"),
        ("TOO", "TOO"),
        ("TL:abs_mean_gt", "has no number"),
        ("TL:abs_mean_get=3", "abs_mean_gt"),
    ],
)
def test_wrong_options_are_said(shell, options, words):
    with pytest.raises(UsageError, match=words):
        DebugMagics(shell).ms_debug(options, None)


def test_buttons_move_the_cursor_and_end_the_pause(shell, monkeypatch):
    run(shell, monkeypatch, "%%ms_debug\ntrain(x, y)", "c\n")
    program = debugger.paused.replay.program
    shown = of_program(program, program.name)
    stepper = Stepper(debugger, shown)
    shown.attach_stepper(stepper)
    assert shown._build_widget_state()["debug"]["status"] == "running"
    pause = Pause(debugger.paused.replay, (), 1)
    stepper.show(pause)
    assert stepper.state["status"] == "paused" and stepper.state["node"] == 0 and not stepper.state["ready"]
    for word, said in (("n", ""), ("r op:MatMul", ""), ("]", "is not inside a loop"), ("fly", "is no word here")):
        shown._on_message(shown.widget, {"kind": "debug", "word": word}, [])
        assert said in stepper.state["said"]
    assert "MatMul" in stepper.state["where"]
    shown._on_message(shown.widget, {"kind": "debug", "word": "hello"}, [])
    assert stepper.state["ready"]
    shown._on_message(shown.widget, {"kind": "debug", "word": "s 3"}, [])
    assert (pause.order, pause.n_steps, pause.is_resumed) == ("step", 3, True)


def test_an_answer_that_ends_the_pause_shows_no_state_to_the_page(shell, monkeypatch):
    """The thread of the training shows what follows; a state of another thread could reach the page later."""
    run(shell, monkeypatch, "%%ms_debug\ntrain(x, y)", "c\n")
    program = debugger.paused.replay.program
    shown = of_program(program, program.name)
    stepper, states = Stepper(debugger, shown), []
    shown.attach_stepper(stepper)
    stepper.show(Pause(debugger.paused.replay, (), 1))
    monkeypatch.setattr(shown, "show_stepper", lambda: states.append(stepper.state))
    stepper.answer({"word": "n"})
    stepper.answer({"word": "q"})
    assert [state["node"] for state in states] == [1]
    stepper.set_status("ended", "")
    stepper.answer({"word": "p"})  # the cursor still moves
    assert [(state["node"], state["status"]) for state in states[1:]] == [(1, "ended"), (0, "ended")]


def test_a_notebook_that_is_run_without_a_user_records_the_pauses():
    cells = ["%load_ext msnb", NETWORK, "%%ms_debug\nfor _ in range(2):\n    train(x, y)\nprint('done')"]
    cells.append("print(len(msnb.debugger.records), msnb.debugger.records[0].cursor.at('op:ReLU').value.shape)")
    notebook = new_notebook(cells=[new_code_cell(text) for text in cells])
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    texts = ["".join(out.get("text", "") for out in cell.outputs) for cell in notebook.cells]
    assert "done" in texts[2] and "the training goes on" in texts[2] and texts[3] == "1 (3, 4)\n"
    assert "application/vnd.jupyter.widget-view+json" not in nbformat.writes(notebook)


def test_the_help_lists_the_magic(shell, capsys):
    shell.run_cell("%ms_help ms_debug")
    assert "--line" in capsys.readouterr().out
