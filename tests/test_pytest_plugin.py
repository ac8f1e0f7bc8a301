"""The report of a user's pytest session for a failing network. pytest loads the plugin `_msnb_pytest` by itself."""

import re
import subprocess
import sys
import tomllib

import pytest
from fresh import ROOT

SUITE = """
import numpy as np
import pytest
from msnb import Tensor, context, nn


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4)

    def construct(self, x):
        return self.dense(x)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_network(mode):
    context.set_context(mode=mode)
    Block()(Tensor(np.ones((2, 5), np.float32)))


def test_of_the_suite_itself():
    assert [1] == [2]
"""
PROGRAM = """
import os, sys, pytest
file = sys.argv[1]
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # others on this machine load for seconds
open(file, "w").write(sys.argv[2])
plugins = ["-p", "no:msnb", "-p", "_msnb_pytest", "-p", "no:cacheprovider"]  # installed or not, once
for style in sys.argv[3:]:
    print("of", style)
    pytest.main([*plugins, "-c", os.devnull, "--color=no", style, file])
"""


@pytest.fixture
def sessions(fresh, tmp_path):
    """Return the outputs of sessions in one process, each with one option."""

    def run(*options, environment=None):
        done = fresh.run(PROGRAM, tmp_path, tmp_path / "test_net.py", SUITE, *options, environment=environment)
        shown = re.split(r"^of --.*\n", done.out, flags=re.MULTILINE)[1:]
        assert len(shown) == len(options), done
        return shown

    return run


def test_a_failing_network_is_the_lines_of_the_test_and_one_sentence(sessions):
    for shown in sessions("--tb=auto", "--tb=long", "--tb=short", "--tb=native"):
        shows_the_lines_and_the_sentence(shown)


def shows_the_lines_and_the_sentence(shown):
    assert "3 failed" in shown
    assert not re.search(r"msnb/(nn|core|ops)/|jax/_src|JAX_TRACEBACK", shown), shown
    for words in ("return self.dense(x)", "Dense(4, 4) takes a last axis of 4", "frames inside msnb and JAX left out"):
        assert shown.count(words) >= 2, shown
    assert "[1] == [2]" in shown


@pytest.mark.parametrize("option, environment", [("--full-trace", {}), ("--tb=auto", {"MSNB_TRACEBACK": "full"})])
def test_all_frames_can_be_had(sessions, option, environment):
    (shown,) = sessions(option, environment=environment)
    assert "msnb/nn/" in shown and "left out" not in shown


def test_a_session_without_msnb_does_not_load_it(tmp_path):
    suite = tmp_path / "test_plain.py"
    suite.write_text("import sys\ndef test_it():\n    assert 'jax' in sys.modules or 'msnb' in sys.modules\n")
    run = [sys.executable, "-m", "pytest", "-p", "no:msnb", "-p", "_msnb_pytest", "-c", "/dev/null", suite]
    environment = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(run, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert "1 failed" in done.stdout, done.stdout + done.stderr


def test_pytest_finds_it_by_its_entry_point_and_it_is_shipped():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["entry-points"]["pytest11"] == {"msnb": "_msnb_pytest"}
    assert (ROOT / "_msnb_pytest.py").exists()
    assert "_msnb_pytest.py" in project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"].values()
