"""``python -m msnb``: every command except the complete demo, which `make demo` runs."""

import os
import re
import signal
import subprocess
import sys

import pytest

from msnb import __main__ as command
from msnb import alias
from msnb._util import command_line
from msnb._util.tutorials import INDEX, list_tutorials, tutorial_paths
from msnb.insight import terminal_traceback


def test_versions_are_printed(capsys):
    import msnb

    assert command.main(["version"]) == 0
    assert f"msnb       {msnb.__version__}" in capsys.readouterr().out


def test_devices_are_listed_with_the_one_in_use_and_what_they_have(capsys):
    assert command.main(["devices"]) == 0
    (line,) = re.findall(r"^\* CPU  +0  .+", capsys.readouterr().out, re.MULTILINE)
    cores, memory = re.search(r", (\d+) cores?, ([\d.]+) GB of memory", line).groups()
    assert 1 <= int(cores) <= os.cpu_count()
    assert float(memory) == pytest.approx(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9, rel=0.01)


def test_jupyterlab_takes_the_place_of_this_process_and_all_further_options(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    calls = []
    monkeypatch.setattr(command.os, "execv", lambda *program: calls.append(program))
    monkeypatch.setattr(command.importlib.util, "find_spec", lambda name: True)
    command.main(["lab", "--no-browser", "--port=9999"])
    ((program, arguments),) = calls
    assert program == arguments[0] == sys.executable
    assert arguments[1:3] == ["-m", "jupyterlab"] and arguments[-2:] == ["--no-browser", "--port=9999"]
    assert f"--LabApp.default_url=/lab/tree/{INDEX}" in arguments, "the address that the server prints opens the index"
    index = tmp_path / arguments[3]
    quick_start = index.parent / command.QUICK_START
    assert index.name == INDEX and quick_start.read_text() == command.quick_start().read_text()
    assert not quick_start.samefile(command.quick_start())
    quick_start.write_text("edited")
    index.unlink()
    command.main(["lab"])
    assert quick_start.read_text() == "edited"
    assert {path.name for path in index.parent.iterdir()} == {INDEX, *tutorial_paths()}


def test_jupyterlab_opens_a_copy_of_what_the_demo_ran(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command.os, "execv", lambda *program: None)
    monkeypatch.setattr(command.importlib.util, "find_spec", lambda name: True)
    (tmp_path / "msnb-demo").mkdir()
    (tmp_path / "msnb-demo" / command.QUICK_START).write_text("executed")
    command.main(["lab"])
    assert (tmp_path / "msnb-lab" / command.QUICK_START).read_text() == "executed"


def test_the_tutorials_are_copied_and_listed_and_what_was_edited_stays(tmp_path, capsys):
    folder = tmp_path / "a" / "course"
    assert command.main(["tutorials", str(folder)]) == 0
    assert {path.name for path in folder.iterdir()} == {INDEX, *tutorial_paths()}
    printed = capsys.readouterr().out
    for name, path in tutorial_paths().items():
        assert (folder / name).read_bytes() == path.read_bytes() and name in printed
    index = (folder / INDEX).read_text(encoding="utf-8")
    assert sorted(row.name for row in list_tutorials()) == [*tutorial_paths()]
    assert all(f'href=\\"{row.name}\\"' in index and row.title[3:] in printed for row in list_tutorials())
    (folder / command.QUICK_START).write_text("edited")
    assert command.main(["tutorials", str(folder)]) == 0
    assert (folder / command.QUICK_START).read_text() == "edited"
    assert "Copied 0 tutorials" in capsys.readouterr().out


def test_a_folder_of_tutorials_that_cannot_be_written_is_one_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert command.main(["tutorials", str(tmp_path / "file")]) == 1
    assert capsys.readouterr().err == f"{tmp_path / 'file'} cannot be written: File exists.\n"


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["labb"], "there is no command 'labb': did you mean lab?"),
        (
            ["xyz"],
            "there is no command 'xyz': there are demo, lab, tutorials, run, launch, graph, profile, html, "
            "slides, check, stubs, devices, version.",
        ),
        (
            ["devices", "--no-browser"],
            "devices takes no --no-browser; python -m msnb devices --help says what it takes",
        ),
        (
            ["graph", "x.py", "--epochs"],
            "graph takes no --epochs; if it is the script's, put -- before it: -- --epochs",
        ),
        (["run"], "the following arguments are required: SCRIPT"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_a_mistake_is_answered_with_one_sentence_and_status_2(arguments, said, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2 and capsys.readouterr().err.endswith(f"error: {said}\n")


def test_every_command_can_be_asked_for_help(capsys):
    for name in command.RUN:
        with pytest.raises(SystemExit) as ended:
            command.main([name, "--help"])
        assert ended.value.code == 0
        assert capsys.readouterr().out.startswith(f"usage: python -m msnb {name}")


@pytest.mark.parametrize(
    "arguments, status, said",
    [("--version", 0, "msnb "), ("version", 0, "jax "), ("--help", 0, "COMMAND"), ("labb", 2, "did you mean lab?")],
)
def test_what_needs_no_jax_is_answered_without_it(arguments, status, said, tmp_path):
    (tmp_path / "jax.py").write_text("raise SystemExit('JAX is imported')")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(command.PACKAGE.parent)))}
    run = [sys.executable, "-m", "msnb", arguments]
    result = subprocess.run(run, capture_output=True, text=True, env=environment)
    assert result.returncode == status and said in result.stdout + result.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such error")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["version"], ["tutorials", "copies"], ["check", "."]])
def test_a_reader_that_ends_early_ends_the_command_without_a_word(arguments, unbuffered, tmp_path):
    (tmp_path / "program.py").write_text("import mindspore\n")
    environment = {**os.environ, "PYTHONPATH": str(command.PACKAGE.parent), "PYTHONUNBUFFERED": unbuffered}
    reader, writer = os.pipe()
    os.close(reader)
    run = [sys.executable, "-m", "msnb", *arguments]
    result = subprocess.run(run, stdout=writer, stderr=subprocess.PIPE, env=environment, cwd=tmp_path)
    os.close(writer)
    assert (result.returncode, result.stderr) == (141, b"")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_a_stop_while_jax_is_loaded_ends_the_command_without_a_word(tmp_path):
    (tmp_path / "jax.py").write_text("import time\nprint('loading', flush=True)\ntime.sleep(60)")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(command.PACKAGE.parent)))}
    run = [sys.executable, "-m", "msnb", "devices"]
    with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout.readline() == "loading\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=120) == ("", "")
    assert process.returncode == -signal.SIGINT


@pytest.mark.parametrize(
    "argv, whole, expected",
    [
        (["-m", "lab"], ["python", "-X", "dev", "-m", "msnb", "lab"], ["lab"]),
        (["-m"], ["python", "-mmsnb"], []),
        (["/bin/msnb", "lab"], ["python", "/bin/msnb", "lab"], ["lab"]),
        (["-m", "x"], ["python", "-m", "msnb.cli.stubs", "x"], None),
        (["-m", "version"], ["python", "-m", "train", "version"], None),
        (["train.py", "version"], ["python", "train.py", "version"], None),
        (["-c", "-m", "msnb"], ["python", "-c", "import msnb", "-m", "msnb"], None),
        ([], ["python"], None),
    ],
)
def test_only_the_command_itself_is_answered(argv, whole, expected):
    assert command_line.command_arguments(argv, whole) == expected


def test_a_script_runs_as_it_is_with_its_arguments(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, beside\n"
        "import mindspore as ms\n"
        "from mindspore import nn\n"
        "from mindspore.common import dtype as mstype\n"
        "print(__name__, sys.argv[1:], beside.x, ms.__version__, ms.Tensor([1, 2], mstype.int32) + 1)\n"
    )
    (tmp_path / "beside.py").write_text("x = 'found'")
    run = [command.sys.executable, "-m", "msnb", "run", str(script), "--epochs", "3"]
    environment = {**os.environ, "PYTHONPATH": str(command.PACKAGE.parent)}
    result = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert result.stdout == "__main__ ['--epochs', '3'] found 1.1.1 [2 3]\n", result.stderr


def test_a_missing_script_is_named(capsys):
    assert command.main(["run", "nowhere.py"]) == 1
    assert "nowhere.py" in capsys.readouterr().err


WRONG = """import numpy as np
import mindspore as ms
from mindspore import nn, ops
class Block(nn.Cell):
    def construct(self, x):
        return ops.MatMul()(x, ms.Tensor(np.ones((5, 2), np.float32)))
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks = nn.SequentialCell([nn.ReLU(), Block()])
    def construct(self, x):
        return self.blocks(x)
x = ms.Tensor(np.ones((2, 4), np.float32))
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the text of a script in this process: (exit status, what stands in standard error)."""
    monkeypatch.setattr(sys, "argv", ["msnb"])
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    monkeypatch.delenv("MSNB_TRACEBACK", raising=False)
    script = tmp_path / "train.py"

    def of(text):
        script.write_text(text)
        return command.main(["run", str(script)]), capsys.readouterr().err

    on_interrupt = signal.getsignal(signal.SIGINT)
    yield of
    signal.signal(signal.SIGINT, on_interrupt)
    alias.uninstall()


@pytest.mark.parametrize("mode", ["GRAPH", "PYNATIVE"])
def test_an_error_deep_in_a_net_ends_with_its_sentence_below_the_lines_of_the_script(run, mode):
    status, shown = run(WRONG + f"ms.set_context(mode=ms.{mode}_MODE)\nNet()(x)\n")
    chosen, *lines = shown.splitlines()
    assert status == 1 and chosen.startswith("msnb: train.py is written for MindSpore 2")
    assert lines[0] == "Traceback (most recent call last):" and lines[-2].startswith("ValueError: For 'MatMul'")
    assert re.findall(r"train.py\", line (\d+)", shown) == ["15", "12", "6"]
    assert shown.count("  File ") == 3 and "For simplicity, JAX" not in shown
    assert re.fullmatch(r"\(\d+ frames inside msnb and JAX left out; MSNB_TRACEBACK=full shows them\)", lines[-3])
    assert lines[-1] == "in blocks.1 (Block), input (2, 4), at train.py:6"


def test_all_frames_of_an_error_can_be_had(run, monkeypatch):
    monkeypatch.setenv("MSNB_TRACEBACK", "full")
    _, shown = run(WRONG + "Net()(x)")
    assert "msnb/core/" in shown and "left out" not in shown


def test_of_an_error_without_msnb_the_lines_of_the_script_are_shown(run):
    status, shown = run("import json\njson.loads('{')")
    assert status == 1 and shown.splitlines()[1].endswith('train.py", line 2, in <module>')
    assert "raw_decode" in shown and "runpy" not in shown
    _, shown = run("x = (\n")
    assert "SyntaxError" in shown and "runpy" not in shown


def test_a_script_with_a_hook_of_its_own_keeps_it(run):
    _, shown = run("import sys\nsys.excepthook = lambda kind, *_: print(kind, file=sys.stderr)\n1 / 0")
    assert shown == "<class 'ZeroDivisionError'>\n"


def test_a_stop_is_one_line_with_its_place_and_status_130(run):
    assert run("import signal\nsignal.raise_signal(signal.SIGINT)\n") == (130, "\nInterrupted at train.py:2.\n")


def test_the_alias_shows_errors_so_while_it_is_on_and_leaves_the_hook_of_others(monkeypatch):
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    alias.install(warn=False)
    assert sys.excepthook is terminal_traceback.show
    alias.uninstall()
    assert sys.excepthook is sys.__excepthook__
    monkeypatch.setattr(sys, "excepthook", print)
    alias.install(warn=False)
    alias.uninstall()
    assert sys.excepthook is print


def test_the_quick_start_is_installed():
    assert command.quick_start().name == "01_quick_start.ipynb"


def test_the_accuracy_is_read_from_the_tagged_cell():
    nbformat = pytest.importorskip("nbformat.v4")
    output = nbformat.new_output("stream", text="{'Accuracy': 0.9831649}\n")
    cell = nbformat.new_code_cell("model.eval(...)", outputs=[output], metadata={"tags": ["accuracy"]})
    notebook = nbformat.new_notebook(cells=[nbformat.new_code_cell("1 + 1"), cell])
    assert command._parse_printed_accuracy(notebook) == 0.9831649
    assert command._parse_printed_accuracy(nbformat.new_notebook()) is None


def test_the_progress_bar_names_the_section_of_a_cell():
    nbformat = pytest.importorskip("nbformat.v4")
    sources = ("# Title\ntext", "## 1 · Load", "more text")
    cells = [cell for s in sources for cell in (nbformat.new_markdown_cell(s), nbformat.new_code_cell("pass"))]
    headings = command._find_headings(nbformat.new_notebook(cells=cells))
    assert headings[1::2] == ["Title", "1 · Load", "1 · Load"]


def test_a_notebook_is_executed_and_its_html_loads_nothing(tmp_path):
    nbformat = pytest.importorskip("nbformat.v4")
    pytest.importorskip("ipykernel")
    from msnb.notebook.notebook_page import to_html

    code = "import sys\nprint('made of', 6 * 7, sys.executable)"
    notebook = nbformat.new_notebook(cells=[nbformat.new_markdown_cell("# Title"), nbformat.new_code_cell(code)])
    command._execute_notebook(notebook, tmp_path, timeout=300)
    assert f"made of 42 {command.sys.executable}" in notebook.cells[1].outputs[0].text
    html = to_html(notebook)
    assert "made of" in html
    assert not re.findall(r"""<(?:script|link|img|iframe)[^>]+(?:src|href)=["']?(?:https?:)?//""", html)
    assert not re.findall(r"""(?:import|from)\s+["']https?://""", html)
