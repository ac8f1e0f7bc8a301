"""The floors of the house: imports run downwards only, never in a circle. Nothing is imported to find out."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "msnb"

# Higher numbers may import lower ones. What stands beside the floors may import any of them.
FLOOR = {
    **dict.fromkeys(("context", "log", "common", "_settings", "_atomic", "_checkparam", "_later"), 0),
    **dict.fromkeys(("_version", "_tested"), 0),
    "core": 1,
    "ir": 2,
    **dict.fromkeys(("ops", "numpy", "nn"), 3),
    **dict.fromkeys(("formats", "mindrecord", "dataset"), 4),
    **dict.fromkeys(("communication", "parallel", "train", "compression"), 5),
    **dict.fromkeys(("insight", "profiler", "explainer"), 6),
    "notebook": 7,
}
BESIDE = {"alias", "__main__", "samples", "stubs"}
# Narrower than the floors say: who of the same or a lower floor must not be imported.
FORBIDDEN = {
    "ops": {"nn", "numpy", "ir"},
    "numpy": {"nn", "ir"},
    "nn": {"numpy"},
    "core": {"ir"},
    "dataset": {"nn", "ops", "ir", "numpy"},
    "mindrecord": {"nn", "ops", "ir", "numpy", "dataset"},
    "formats": {"nn", "ops", "ir", "numpy", "dataset", "mindrecord", "core", "common", "context"},
    "communication": {"nn", "ops", "dataset", "ir", "parallel", "train"},
}


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def tree_of(module):
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def is_face(module):
    """A module that only re-exports, and says so in the first line of its docstring."""
    first_line = (ast.get_docstring(tree_of(module)) or "").partition("\n")[0]
    return re.search(r"\bface\b", first_line, re.IGNORECASE) is not None


def imports_of(module, loading_only):
    """(module of msnb, line) for what `module` imports; with `loading_only` without what functions import."""
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    todo = list(tree_of(module).body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name.split(".")[0] == "msnb")
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join(
                    package.split(".")[: len(package.split(".")) - node.level + 1] + ([base] if base else [])
                )
            if base.split(".")[0] == "msnb":
                for alias in node.names:
                    name = f"{base}.{alias.name}"
                    yield (name if name in MODULES else base), node.lineno
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo.extend(node.orelse)
        elif not (loading_only and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))):
            todo.extend(ast.iter_child_nodes(node))


def top_of(module):
    return module.split(".")[1] if "." in module else ""


def test_every_module_has_a_floor_stands_beside_them_or_is_a_face():
    homeless = [m for m in MODULES if top_of(m) and top_of(m) not in FLOOR.keys() | BESIDE and not is_face(m)]
    assert not homeless, (
        f"give it a floor in tests/test_architecture.py, or say in its first line that it is a face: {homeless}"
    )


def test_imports_run_downwards_only():
    wrong = []
    for module in MODULES:
        top = top_of(module)
        if top not in FLOOR or is_face(module):
            continue
        for imported, line in sorted(set(imports_of(module, loading_only=False))):
            target = top_of(imported)
            if target == top:
                continue
            if not target or target in BESIDE:
                wrong.append(f"{module}:{line} imports {imported}, which stands above or beside the floors")
            elif target not in FLOOR:
                wrong.append(f"{module}:{line} imports {imported}, which is a face for users")
            elif FLOOR[target] > FLOOR[top] or target in FORBIDDEN.get(top, ()):
                wrong.append(f"{module}:{line} imports {imported}, but {top} must not use {target}")
    assert not wrong, "\n" + "\n".join(wrong)


def test_no_modules_import_each_other_in_a_circle():
    graph = {
        module: {name for name, _ in imports_of(module, loading_only=True) if name in MODULES and not is_face(name)}
        - {module}
        for module in MODULES
        if top_of(module) and not is_face(module)
    }
    finished, path = set(), []

    def visit(module):
        if module in path:
            pytest.fail("a circle of imports: " + " -> ".join([*path[path.index(module) :], module]))
        if module in finished:
            return
        path.append(module)
        for imported in sorted(graph.get(module, ())):
            visit(imported)
        finished.add(path.pop())

    for module in graph:
        visit(module)


def test_a_face_only_re_exports():
    for module in MODULES:
        if top_of(module) and is_face(module):
            classes = [node.name for node in tree_of(module).body if isinstance(node, ast.ClassDef)]
            public = [name for name in classes if not name.startswith("_")]
            assert not public, f"{module} says that it is a face, but defines {public}"


def test_private_jax_is_touched_in_one_module():
    wrong = []
    for module in MODULES:
        if module == "msnb.core._jax_private":
            continue
        for node in ast.walk(tree_of(module)):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            wrong += [f"{module}:{node.lineno} {name}" for name in names if re.match(r"jax(lib)?\b.*\._", name)]
    assert not wrong, "use msnb.core._jax_private instead of: " + ", ".join(wrong)
