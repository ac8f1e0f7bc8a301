"""`dir(msnb)` shows what msnb has, and `dir(net)` what the user's network has: completion is made of them."""

import ast
import re
import typing
from pathlib import Path

import numpy as np
import pytest

import msnb
from msnb import Parameter, Tensor, nn

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "notebooks").glob("*.ipynb"))]


def functions_in_pages():
    """Return the functions of msnb that README, docs and notebooks call."""
    return sorted({name for page in PAGES for name in re.findall(r"\bmsnb\.(\w+)\(", page.read_text(encoding="utf-8"))})


def names_for_editors():
    """Return the names that msnb/__init__.py imports for type checkers only."""
    tree = ast.parse(Path(msnb.__file__).read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [statement for block in blocks for statement in block.body if isinstance(statement, ast.ImportFrom)]
    return {alias.asname or alias.name for statement in imports for alias in statement.names}


@pytest.fixture
def net():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 2, 3)
            self.scale = Parameter(Tensor(np.ones(2, np.float32)), name="scale")
            self.insert_param_to_cell("shift", Parameter(Tensor(np.ones(2, np.float32)), name="shift"))
            self.insert_child_to_cell("body", nn.SequentialCell(nn.Dense(2, 3), nn.ReLU()))
            self.register_buffer("mean", Tensor(np.ones(2, np.float32)))

    return Net()


def test_every_function_that_a_page_calls_is_in_dir():
    called = functions_in_pages()
    assert {"view", "diff", "summary", "record"} <= {*called}
    assert {*called} <= {*dir(msnb)}


def test_what_is_loaded_late_is_in_dir_and_in_the_view_of_an_editor():
    late = {name for name in (*msnb._LATER, *msnb._VIEWS) if not name.startswith("_")}
    assert late <= {*dir(msnb)}
    assert late <= names_for_editors()


def test_dir_shows_nothing_that_msnb_is_only_written_with():
    public = {name for name in dir(msnb) if not name.startswith("_")}
    assert not {name for name in public if name in vars(typing) and getattr(msnb, name) is vars(typing)[name]}
    assert not {"Any", "TYPE_CHECKING"} & {*msnb.__all__}


def test_dir_of_msnb_loads_nothing(fresh, tmp_path):
    done = fresh.run(
        """
        import sys
        before = set(sys.modules)
        assert "view" in dir(msnb := sys.modules["msnb"])
        print(*sorted(set(sys.modules) - before))
        """,
        tmp_path,
    )
    assert (done.status, done.out.strip()) == (0, ""), done.err


def test_dir_of_a_network_shows_layers_parameters_and_buffers(net):
    assert {"conv1", "scale", "shift", "body", "mean", "construct"} <= {*dir(net)}


def test_dir_of_a_container_shows_only_what_can_be_typed():
    assert all(name.isidentifier() for name in dir(nn.SequentialCell(nn.ReLU(), nn.ReLU())))


def test_dir_of_a_network_whose_init_has_not_run():
    assert "construct" in dir(nn.Cell.__new__(nn.Cell))


def test_completion_shows_layers_and_parameters_first(net):
    from msnb.notebook.kernel.completion import find_cell, list_attributes

    rows = list_attributes(net)
    assert [(row.text, row.type) for row in rows[:4]] == [
        ("body", "layer"),
        ("conv1", "layer"),
        ("scale", "Parameter"),
        ("shift", "Parameter"),
    ]
    assert find_cell("net.body", {"net": net}) is net.body
    assert find_cell("net.missing", {"net": net}) is None
    assert find_cell("net", {}) is None
