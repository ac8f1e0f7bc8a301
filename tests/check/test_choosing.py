"""A program's names determine its API generation, and one line says so."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from msnb.check.choosing import judge_cell, judge_script

ROOT = Path(__file__).resolve().parents[2]
SECOND = "import mindspore as ms\nfrom mindspore import nn\n\n\n@ms.jit\ndef f(x):\n    return x\n\n\n"
FIRST = "import mindspore as ms\nfrom mindspore import ms_function, nn\n"
NEITHER = "import mindspore as ms\nfrom mindspore import nn\n"
PREPARED = "import mindspore as ms\ntry:\n    f = ms.jit\nexcept AttributeError:\n    f = ms.ms_function\n"
SHOW = "print(ms.__version__, nn.Dense(64, 64).weight.asnumpy().std() > 0.05)\n"
GIVES = {1: "1.1.1 False", 2: "2.10.0 True"}


def write(folder, files):
    """Write files, {"src/net": text}, and return the path of the first."""
    paths = [folder / f"{name}.py" for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return paths[0]


def python(*arguments, **variables):
    """Return (stdout, msnb's lines of stderr) of a Python process."""
    environment = {k: v for k, v in os.environ.items() if k != "MSNB_API"} | {"PYTHONPATH": str(ROOT)} | variables
    ended = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=240
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout.strip(), [line for line in ended.stderr.splitlines() if line.startswith("msnb: ")]


@pytest.mark.parametrize(
    ("files", "generation"),
    [
        ({"train": SECOND}, 2),
        ({"train": FIRST}, 1),
        ({"train": NEITHER}, None),
        ({"train": "import net\n", "net": SECOND}, 2),
        ({"train": "from src.net import Net\n", "src/net": "from . import parts\n", "src/parts": SECOND}, 2),
        ({"train": "def main():\n    import src.net\n", "src/net": "", "src/__init__": FIRST}, 1),
        ({"train": NEITHER + "import broken\n", "broken": "def f(:\n"}, None),
        ({"train": "import train\n" + SECOND}, 2),
        ({"train": "from mindspore import mint\n"}, 2),
        ({"train": "from mindspore.mint.nn import functional\n"}, 2),
        ({"train": PREPARED}, None),
    ],
    ids=range(11),
)
def test_program_and_its_local_imports_determine_the_generation(tmp_path, files, generation):
    assert judge_script(write(tmp_path, files)).generation == generation


def test_installed_packages_are_not_judged(tmp_path):
    train = write(tmp_path, {"train": "import numpy, pytest\n" + NEITHER})
    judgement = judge_script(train)
    assert judgement.generation is None and judgement.is_of_mindspore
    assert not judge_script(write(tmp_path, {"other": "import json\n"})).is_of_mindspore


def test_message_names_the_signs_and_the_location_of_the_first(tmp_path):
    message = judge_script(write(tmp_path, {"train": "import net\n", "net": SECOND})).explained("train.py", "--api {}")
    assert message == (
        "train.py is written for MindSpore 2 (mindspore.jit at net.py:5): names mean what they mean there. "
        "--api 1 changes that."
    )


def test_cell_is_judged_with_local_imports(tmp_path):
    write(tmp_path, {"net": SECOND})
    assert judge_cell(ast.parse("import net"), tmp_path).generation == 2
    assert judge_cell(ast.parse("import net"), tmp_path.parent).generation is None


@pytest.mark.parametrize("text", [SECOND, NEITHER], ids=["MindSpore 2", "neither"])
def test_run_chooses_the_generation_and_prints_it(tmp_path, text):
    train = write(tmp_path, {"train": text + SHOW})
    out, messages = python("-m", "msnb", "run", train)
    assert out == GIVES[2 if text == SECOND else 1]
    assert len(messages) == 1 and "--api" in messages[0] and "MSNB_API" in messages[0]


def test_explicit_generation_is_used_silently(tmp_path):
    train = write(tmp_path, {"train": SECOND + SHOW})
    assert python("-m", "msnb", "run", "--api", "1", train) == (GIVES[1], [])
    assert python("-m", "msnb", "run", train, MSNB_API="1") == (GIVES[1], [])


def test_launch_prints_the_generation_once(tmp_path):
    out, messages = python("-m", "msnb", "launch", "-n", "2", write(tmp_path, {"train": SECOND + SHOW}))
    assert sorted(out.splitlines()) == [f"[{rank}] {GIVES[2]}" for rank in (0, 1)] and len(messages) == 1


def test_graph_command_uses_the_generation_of_the_script(tmp_path):
    text = SECOND + "import numpy as np\nnet = nn.Dense(2, 2)\nnet(ms.Tensor(np.ones((1, 2), np.float32)))\n" + SHOW
    train = write(tmp_path, {"train": text})
    out, messages = python("-m", "msnb", "graph", train, "-o", tmp_path / "page.txt")
    assert GIVES[2] in out and len(messages) == 1


def test_alias_judges_the_running_script(tmp_path):
    install = "import msnb.alias\nmsnb.alias.install()\n"
    out, messages = python(write(tmp_path, {"train": install + SECOND + SHOW}))
    assert out == GIVES[2] and len(messages) == 1 and "msnb.alias.install(api=1)" in messages[0]
    train = write(tmp_path, {"other": "import msnb.alias\nmsnb.alias.install(api=1)\n" + SECOND + install + SHOW})
    assert python(train) == (GIVES[1], [])


def test_first_program_determines_the_generation_of_a_session(tmp_path):
    session = tmp_path / "session.py"
    session.write_text(
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_line_magic('load_ext', 'msnb.notebook')\n"
        f"for text in ({NEITHER!r}, {SECOND + SHOW!r}, {FIRST!r}, {FIRST!r}, {NEITHER + SHOW!r}):\n"
        "    assert shell.run_cell('%%mindspore\\n' + text).success\n"
        f"assert shell.run_cell('%%mindspore --api 1\\n' + {NEITHER + SHOW!r}).success\n"
    )
    out, messages = python(session)
    printed = [line for line in out.splitlines() if line in GIVES.values()]
    assert printed == [GIVES[2], GIVES[2], GIVES[1]]
    assert (
        len(messages) == 2
        and "is written for MindSpore 2" in messages[0]
        and "names mean what they mean there" in messages[0]
    )
    assert "is written for MindSpore r1.1" in messages[1] and "but names mean" in messages[1]
