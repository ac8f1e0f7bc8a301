"""Each missing name or argument of a program is reported once, with its line."""

import inspect
import json
import subprocess
import sys

import pytest

from msnb.__main__ import main
from msnb.check import check, of_cells
from msnb.check.generation import _load_names_of_one_generation
from msnb.check.judging import judge
from msnb.check.report import Report
from msnb.check.uses import Use
from msnb.core.operator.declare import SPELLINGS


def report(tmp_path, text):
    file = tmp_path / "program.py"
    file.write_text(text)
    return check(file)


def test_missing_names_and_arguments_are_reported(tmp_path):
    findings = report(
        tmp_path,
        "from mindspore import nn, Model, Tensor\n"
        "a = nn.Conv2dd(1)\n"
        "b = nn.Conv2d(1, 2, 3, pad='same')\n"
        "c = nn.ReLU(1, 2, 3)\n"
        "Model(b).train(1, None, callback=[])\n"
        "Tensor(1).no_such_method()\n"
        "from mindspore.train._utils import get_parameter_redundancy as R\n"
        "from mindspore import nosuch\n",
    )
    lines = [(line.place, line.kind) for line in findings.lines]
    assert lines == [
        (f"program.py:{n}", kind) for n, kind in zip(range(2, 9), ("name", *["argument"] * 3, "name", "later", "name"))
    ]
    assert "Did you mean Conv2d" in findings.lines[0].text and "'pad'" in findings.lines[1].text
    assert "'callback'" in findings.lines[3].text and "is not available in msnb yet" in findings.lines[5].text
    assert findings and "4 names that msnb lacks, 3 calls with arguments" in str(findings)


def write_package(folder, **files):
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py" if name != "init" else folder / "__init__.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_modules_that_cannot_be_imported_are_counted_with_their_cause(tmp_path):
    package = tmp_path / "repository" / "lib"
    write_package(
        package,
        init="",
        base="import mindspore as ms\nfrom mindspore.nn import NoSuchLayer\n",
        user="from .base import anything\n",
        far="import lib.user\n",
        inside="def build():\n    from lib import base\n    from mindspore.nn import NoSuchLayer\n",
        guarded="try:\n    from lib.base import x\nexcept ImportError:\n    x = None\n",
        typed="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lib import base\n",
        body="import mindspore.nn as nn\nclass Net(nn.NoSuchBase):\n    pass\n",
    )
    for path in (tmp_path / "repository", package):
        stops = check(path).import_stops
        assert stops.n_modules == 4, str(check(path))
        assert [(cause.file.rpartition("/")[2], cause.line, cause.n_modules) for cause in stops.causes] == [
            ("base.py", 2, 3),
            ("body.py", 2, 1),
        ]
    assert "Stops at import: 4 modules (first: lib/base.py:2 (3), lib/body.py:2 (1))." in str(check(package.parent))


def test_a_package_whose_init_stops_stops_all_its_modules(tmp_path):
    package = tmp_path / "lib"
    write_package(package, init="from lib.one import x\n", one="from mindspore import nosuch\n", two="a = 1\n")
    (package / "sub").mkdir()
    (package / "sub" / "three.py").write_text("from .. import two\n")
    stops = check(tmp_path).import_stops
    assert stops.n_modules == 4 and stops.causes[0].file == "lib/one.py"


def test_existing_names_are_not_reported(tmp_path):
    findings = report(
        tmp_path,
        "import mindspore as ms\nimport mindspore.ops.operations as P\nimport mindspore.dataset as ds\n"
        "from mindspore import nn, context, Tensor\nfrom mindspore.train.callback import LossMonitor\n"
        "context.set_context(mode=context.GRAPH_MODE)\nP.Concat(1)((1, 2))\nP.TopK(True)\n"
        "class Net(nn.Cell):\n  def construct(self, x): return P.ReduceSum(True)(x, 1)\n"
        "net = Net()\nnet.anything(1)\nnet.fc.weight\nTensor([1], ms.int32).asnumpy().any_of_numpy()\n"
        "ds.GeneratorDataset(x, ['a'], shuffle=False)\nms.Model(net).eval(None)\nLossMonitor(1)\n",
    )
    assert not findings.lines and not findings, str(findings)
    assert str(findings).endswith(
        "msnb has every name and argument that can be seen. By its names it may be of any year."
    )


def test_name_is_reported_once_for_all_its_lines(tmp_path):
    findings = report(tmp_path, "from mindspore import nn\nnn.Nope\nnn.Nope\nnn.Nope(3)\n")
    (line,) = findings.lines
    assert line.place == "program.py:2" and line.text.endswith("(and 2 more lines)")


def test_keywords_of_other_versions_are_not_reported(tmp_path):
    text = (
        "from mindspore import ops\nops.logsumexp(x, axis=1)\nops.interpolate(x, sizes=(2, 2))\nops.split(x, nope=1)\n"
    )
    (line,) = report(tmp_path, text).lines
    assert line.place == "program.py:4" and "'nope'" in line.text


def test_path_of_a_missing_name_is_reported(tmp_path):
    (of_dtype, of_module) = report(
        tmp_path, "from mindspore import dtype\nfrom mindspore.nope import a\ndtype.qint99\n"
    ).lines
    assert of_dtype.text.startswith("msnb has no mindspore.nope")
    assert "there is no mindspore.dtype" not in of_module.text and "dir(mindspore.dtype)" in of_module.text


def test_unsupported_names_are_reported_with_the_reason(tmp_path):
    (line,) = report(tmp_path, "from mindspore.ops.auto_generate import PagedAttention\n").lines
    assert "kernel of Ascend's" in line.text


def test_members_of_unsupported_names_are_reported_like_them(tmp_path):
    text = "from mindspore import rewrite\nfrom mindspore.train import _utils\n"
    findings = report(tmp_path, text + "rewrite.Node.create_call_cell(1)\n_utils.get_parameter_redundancy.of(1)\n")
    assert [(line.place, line.kind) for line in findings.lines] == [
        ("program.py:3", "later"),
        ("program.py:4", "later"),
    ]
    assert "Node.create_call_cell is not available in msnb yet; it rewrites" in findings.lines[0].text


def test_methods_of_results_are_checked_if_the_result_is_a_tensor(tmp_path):
    findings = report(
        tmp_path,
        "from mindspore import Tensor, ops\n"
        "ops.stack([1]).cuda().nope()\n"  # what a method gives is not known
        "x = ops.stack([1, 2])\nx.storage()\nx.sum(0, nope=1)\nx.sum(0).nope()\nx.shape.nope\n"
        "ops.split(x, 2).nope()\n"  # a tuple
        "y = ops.stack([1, 2])\ny = 3\ny.nope()\n"
        "Tensor(1).requires_grad_()\n",
    )
    assert [line.place for line in findings.lines] == [f"program.py:{n}" for n in (2, 4, 5, 12)]
    assert "in MindSpore it is context.set_context" in findings.lines[0].text
    assert "no attribute 'storage': it belongs to MindSpore's C++ Tensors" in findings.lines[1].text
    assert "'nope'" in findings.lines[2].text


def test_tensor_methods_accept_arguments_of_both_generations():
    methods = [
        (name, of, spelling.target)
        for (kind, name, of), spelling in SPELLINGS.items()
        if kind == "method" and callable(spelling.target)
    ]
    assert len(methods) > 300
    for name, generation, target in methods:
        parameters = list(inspect.signature(target).parameters.values())[1:]
        positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        names = tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
        for positional_count, keywords in ((len(positional), ()), (0, names)):
            assert (
                judge(Use(f"mindspore.Tensor().{name}", 1, False, True, positional_count, keywords), generation) is None
            )


def test_every_name_of_either_generation_can_be_judged():
    names = sorted(
        name for some in _load_names_of_one_generation().values() for name in some if not name.endswith("=)")
    )
    assert len(names) > 2000
    for name in names:
        for use in (Use(name, 1, False, True, 1, ("nope",)), Use(f"{name}.inner", 1, False)):
            finding = judge(use, 2)
            assert finding is None or (finding.text.endswith(".") and "\n" not in finding.text), use


def test_generation_and_differences_in_meaning_are_reported(tmp_path):
    old = report(tmp_path, "from mindspore.ops import operations as P\nP.ControlDepend()\n")
    assert old.generation == 1 and "It was written for r1.1: mindspore.ops.operations.ControlDepend." in str(old)
    new = report(
        tmp_path,
        "import mindspore as ms\nfrom mindspore import nn\n"
        "@ms.jit\ndef f(x): pass\nnn.BCELoss()\nnn.BCELoss(reduction='sum')\nnn.Dense(2, 1, 0.02, 0.02)\n",
    )
    assert new.generation == 2 and not new  # it runs
    (line,) = new.lines
    assert line.place == "program.py:5" and "the mean of the losses" in line.text
    assert report(tmp_path, "from mindspore import nn\nnn.Dropout(0.1)\n").generation is None
    by_argument = report(tmp_path, "from mindspore import nn\nnn.Dropout(p=0.1)\n")
    assert by_argument.generation == 2 and "later: mindspore.nn.Dropout(p=)" in str(by_argument)


@pytest.mark.parametrize(
    ("call", "is_reported"),
    [
        ("x.max(1)", True),
        ("x.min(1)", True),
        ("x.max(dim=1)", True),
        ("x.max(*axes)", True),
        ("x.max()", False),
        ("x.max(axis=1)", False),
        ("x.transpose(0, 2, 1)", False),
        ("x.sum(1)", False),
    ],
)
def test_a_method_of_a_tensor_that_means_something_else_in_mindspore_2_is_reported(tmp_path, call, is_reported):
    text = f"import mindspore as ms\nfrom mindspore import mint, ops\nx = ops.relu(y)\n{call}\nmint.abs(x)\n"
    findings = report(tmp_path, text)
    assert findings.generation == 2 and not findings
    assert [line.kind for line in findings.lines] == ["meaning"] * is_reported
    if "dim=1" in call:
        (line,) = findings.lines
        assert str(line.text).startswith("in MindSpore 2 a number in the first place asks for values and indices")
        assert "since 2.6" in line.text


def test_notebooks_folders_and_broken_files(tmp_path):
    cells = [
        ("markdown", "nn.Nope"),
        ("code", "%load_ext msnb\n!ls"),
        ("code", "%%mindspore\nfrom mindspore import nn\nx?\nnn.Nope"),
    ]
    cells += [("code", "%%bash\nnn.Nope2")]
    notebook = {"cells": [{"cell_type": kind, "source": text} for kind, text in cells], "nbformat": 4}
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook))
    (tmp_path / "b.py").write_text("def f(:\n")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "c.py").write_text("import mindspore.nope")
    findings = check(tmp_path)
    assert [line.place for line in findings.lines] == ["a.ipynb, cell 2 line 4", "b.py"]
    assert "b.py:1: invalid syntax" in findings.lines[1].text
    with pytest.raises(FileNotFoundError):
        check(tmp_path / "nothing.py")
    with pytest.raises(ValueError, match="a notebook or a folder"):
        (tmp_path / "a.txt").write_text("")
        check(tmp_path / "a.txt")


def test_lines_that_look_like_magics_in_a_python_cell():
    cells = ['x = (7\n  % 2)\ntext = """is it so?\nwhy?\n"""\n', "y = !ls\nlen?\n%time\nimport mindspore.nope"]
    (line,) = Report([of_cells(cells, "a")]).lines
    assert line.place == "a, cell 2 line 4"


def test_ms_check_in_a_session(tmp_path):
    findings = Report([of_cells(["import mindspore as ms", "ms.nope"], "this session", [1, 4])])
    assert findings.lines[0].place == "this session, cell 4 line 1"
    assert "<table>" in findings._repr_html_() and "nope" in findings._repr_html_()


def test_check_command(tmp_path, capsys):
    assert main(["check", str(tmp_path / "b.py")]) == 1 and "There is no file or folder" in capsys.readouterr().err
    (tmp_path / "a.py").write_text("from mindspore import nope\n")
    command = [sys.executable, "-m", "msnb", "check"]
    done = subprocess.run([*command, tmp_path / "a.py"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout.startswith("a.py:1: msnb has no mindspore.nope")
