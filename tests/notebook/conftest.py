"""A shell in this process, with msnb loaded, whose cells a test runs one by one."""

import re

import pytest
from browsing import Jupyter, needs
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output


class Notebook:
    """Runs cells as a notebook does; remembers what was shown."""

    def __init__(self, shell):
        self.shell = shell

    def run(self, text, cell=None):
        """Run a cell; returns its value, and raises nothing: see `error`, `out`, `err`, `rich`. `cell` is its id."""
        with capture_output() as captured:
            self.result = self.shell.run_cell(text, store_history=True, cell_id=cell)
        self.out, self.err, self.rich = captured.stdout, captured.stderr, captured.outputs
        self.error = self.result.error_in_exec or self.result.error_before_exec
        self.shown = re.sub(r"\x1b\[[0-9;]*m", "", self.out + self.err)
        return self.result.result

    def ok(self, text, cell=None):
        """Run a cell that has to succeed; returns its value."""
        value = self.run(text, cell)
        assert self.result.success, self.shown
        return value

    def __getitem__(self, name):
        return self.shell.user_ns[name]


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    yield shell
    InteractiveShell.clear_instance()


@pytest.fixture
def plain(shell):
    """Return a notebook without msnb."""
    return Notebook(shell)


@pytest.fixture
def notebook(plain):
    """Yield a notebook with msnb loaded."""
    plain.ok("%load_ext msnb")
    yield plain
    plain.shell.run_line_magic("unload_ext", "msnb")


@pytest.fixture(scope="session")
def jupyter(tmp_path_factory):
    """Yield a server for all tests; see `Jupyter.project`."""
    needs("jupyterlab")
    server = Jupyter(tmp_path_factory.mktemp("jupyter"))
    yield server
    server.close()


def pytest_terminal_summary(terminalreporter):
    """One line that nobody overlooks when the tests in a browser could not run."""
    reasons = {
        str(report.longrepr[2])
        for report in terminalreporter.stats.get("skipped", ())
        if isinstance(report.longrepr, tuple) and "did not run" in str(report.longrepr[2])
    }
    for reason in sorted(reasons):
        terminalreporter.write_line(f"!!! {reason.removeprefix('Skipped: ')}", red=True, bold=True)
