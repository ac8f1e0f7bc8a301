"""The package imports exactly the dependencies that pyproject.toml declares."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest
from trees import tree_of

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "msnb"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Names under which distributions are imported, where they differ.
DISTRIBUTION = {
    "cv2": "opencv-python-headless",
    "PIL": "pillow",
    "IPython": "ipython",
    "jupyter_client": "nbclient",
    "jupyter_core": "nbclient",
    "orbax": "orbax-checkpoint",
}
OURS = {"msnb", "mindspore", "mindinsight"}


def declared(*requirements):
    return {re.match(r"[\w.-]+", r)[0].lower().replace("_", "-") for r in requirements}


def third_party_imports(path, loading_only):
    todo = [tree_of(path)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module]
        else:
            if not (loading_only and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Try))):
                # imports are statements, and no expression holds one
                todo.extend(child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))
            continue
        for name in names:
            top = name.split(".")[0]
            if top not in sys.stdlib_module_names and top not in OURS:
                yield DISTRIBUTION.get(top, top).lower().replace("_", "-")


@pytest.mark.parametrize("loading_only", [True, False])
def test_whatever_is_imported_is_declared(loading_only):
    allowed = declared(*PROJECT["dependencies"])
    if not loading_only:  # inside a function an extra will do
        allowed |= declared(*(r for extra in PROJECT["optional-dependencies"].values() for r in extra))
    missing = {
        (str(path.relative_to(ROOT)), name)
        for path in sorted(PACKAGE.rglob("*.py"))
        for name in third_party_imports(path, loading_only)
        if name not in allowed
    }
    assert not missing


def called(call):
    """Return the last name of what is called."""
    return getattr(call.func, "attr", None) or getattr(call.func, "id", "")


def test_an_extra_for_users_names_only_what_is_imported():
    extras = PROJECT["optional-dependencies"]
    imported = set()
    for path in PACKAGE.rglob("*.py"):
        imported.update(third_party_imports(path, loading_only=False))
        if not re.search(r"need|import_module", path.read_text(encoding="utf-8")):
            continue
        for node in ast.walk(tree_of(path)):
            # a library that may be missing is asked for by name
            if isinstance(node, ast.Call) and called(node).endswith(("need", "import_module")):
                imported.update(arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant))
    assert declared(*extras["text"], *extras["jpeg"]) <= imported
