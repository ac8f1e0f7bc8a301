"""`%ms_cluster`: processes of a notebook that are one program."""

import sys

import pytest
from IPython.core.error import UsageError


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("start 0", "a positive number of processes, but got 0"),
        ("stop 2", "ends all processes, and takes no number"),
        ("begin", "invalid choice: 'begin'"),
    ],
)
def test_what_it_does_not_take(notebook, line, sentence):
    with pytest.raises(UsageError, match=sentence):
        notebook.shell.run_line_magic("ms_cluster", line)


def test_it_says_what_has_to_be_installed(notebook, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipyparallel", None)
    with pytest.raises(UsageError, match=r"pip install 'msnb\[cluster\]'"):
        notebook.shell.run_line_magic("ms_cluster", "start 2")


def test_an_error_that_is_shown_already_is_one_sentence(notebook):
    error = pytest.importorskip("ipyparallel.error")
    raised = [("ValueError", "no such rank", "", {"engine_id": rank}) for rank in (2, 1)]
    notebook.shell.user_ns["error"] = error.AlreadyDisplayedError(error.CompositeError("errors", raised))
    notebook.run("raise error")
    assert notebook.shown.strip() == "The cell failed in ranks 1, 2; what each raised stands above."


def test_two_processes_run_the_cells_below_px_as_one_program(notebook):
    pytest.importorskip("ipyparallel")
    notebook.ok("%ms_cluster")
    assert notebook.shown == "There are no processes; %ms_cluster start 2 starts two.\n"
    try:
        notebook.ok("%ms_cluster start 2")
        assert notebook.shown == "2 processes are one program: %%px runs a cell in each.\n"
        assert not notebook.rich  # a notebook keeps no bar of progress
        with pytest.raises(UsageError, match="There are processes already"):
            notebook.shell.run_line_magic("ms_cluster", "start 2")
        notebook.ok(
            "%%px\n"
            "import mindspore as ms\n"
            "from mindspore import ops, Tensor\n"
            "from mindspore.communication import get_rank, get_group_size\n"
            "ms.context.set_context(mode=ms.context.GRAPH_MODE)\n"
            "ms.context.set_auto_parallel_context(parallel_mode='data_parallel')\n"
            "class Sum(ms.nn.Cell):\n"
            "    def __init__(self):\n"
            "        super().__init__()\n"
            "        self.sum = ops.AllReduce()\n"
            "    def construct(self, x):\n"
            "        return self.sum(x)\n"
            "print(get_rank(), get_group_size(), Sum()(Tensor([1.0 + get_rank()])))",
        )
        said = notebook.shown
        assert "0 2 [3.]" in said and "1 2 [3.]" in said and "Gloo" not in said, said
        notebook.run("%%px\nif get_rank() == 1: raise ValueError('no such rank')")
        assert "ValueError: no such rank" in notebook.shown
        assert "1 errors" not in notebook.shown
        notebook.run("%%px\nimport os, signal\nif get_rank() == 1: os.kill(os.getpid(), signal.SIGKILL)")
        lost = "Of 2 processes, that of rank 1 has ended, and the others would wait in vain: %ms_cluster stop, then "
        assert f"{lost}%ms_cluster start 2." in notebook.shown
        notebook.run("%%px\nprint(get_rank())")  # which ipyparallel answers with a KeyError
        assert notebook.shown.endswith(f"{lost}%ms_cluster start 2.\n")
        notebook.ok("%ms_cluster")
        assert notebook.shown == f"{lost}%ms_cluster start 2.\n"
    finally:
        notebook.ok("%ms_cluster stop")
    assert notebook.shown == "Stopped 2 processes.\n"
    notebook.ok("%ms_cluster stop")
    assert notebook.shown == "There are no processes; %ms_cluster start 2 starts two.\n"
