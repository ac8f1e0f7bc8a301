"""Finds the modules of a package that cannot be imported, because a module that they import uses a missing name.

Only code that runs at the import of a module counts: it is outside of functions. An import that the program guards, or
that only a type checker reads, is left out.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from msnb.check.uses import catches_missing_name, collect_names


class ImportStop(NamedTuple):
    """A missing name that stops imports.

    Attributes:
        file (str): The file that uses the name.
        line (int): The line.
        n_modules (int): Number of modules that cannot be imported for this reason, with the module itself.
    """

    file: str
    line: int
    n_modules: int


class ImportStops:
    """The modules of a folder that cannot be imported.

    Args:
        trees (Mapping[str, ast.Module]): {file relative to the folder: its syntax tree}.
        root (Path): The folder.
        first_stops (Mapping[str, int]): {file: the first line at which its import stops}.

    Attributes:
        n_modules (int): Number of modules that cannot be imported.
        causes (list[ImportStop]): The reasons; those that stop the most modules first.
    """

    def __init__(self, trees: Mapping[str, ast.Module], root: Path, first_stops: Mapping[str, int]) -> None:
        prefix = _find_package_prefix(root)
        names = {file: _get_module_name(file, prefix) for file in trees if file.endswith(".py")}
        files = {name: file for file, name in names.items()}
        imports = {
            file: [files[name] for name in _list_imported_modules(trees[file], name, _is_package(file), files)]
            for file, name in names.items()
        }
        causes_of = {file: _find_cause(file, imports, first_stops) for file in names}
        counts: dict[str, int] = {}
        for cause in causes_of.values():
            if cause is not None:
                counts[cause] = counts.get(cause, 0) + 1
        self.n_modules: int = sum(counts.values())
        self.causes: list[ImportStop] = [
            ImportStop(file, first_stops[file], count)
            for file, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        ]


def _find_package_prefix(root):
    """Return the dotted name of a folder that is a package itself, with a dot at its end; "" for another folder."""
    root, names = root.resolve(), []
    while (root / "__init__.py").is_file():
        names.insert(0, root.name)
        root = root.parent
    return "".join(f"{name}." for name in names)


def _is_package(file):
    return PurePath(file).name == "__init__.py"


def _get_module_name(file, prefix):
    path = PurePath(file)
    parts = path.parent.parts if _is_package(file) else path.with_suffix("").parts
    return (prefix + ".".join(parts)).rstrip(".")


def _list_imported_modules(tree, name, is_package, known) -> list[str]:
    """Return the modules of the folder that the import of a module imports, in order, with their packages."""
    parts = name.split(".")
    package = parts if is_package else parts[:-1]
    targets = [".".join(package)] if not is_package else []  # the package is imported before the module
    for node in _iterate_import_statements(tree.body):
        if isinstance(node, ast.Import):
            targets += [alias.name for alias in node.names]
        else:
            base = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*base, *([node.module] if node.module else [])])
            targets += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    modules = []
    for target in targets:
        steps = target.split(".")
        modules += [".".join(steps[: count + 1]) for count in range(len(steps))]
    return [module for module in dict.fromkeys(modules) if module in known and module != name]


def _iterate_import_statements(body: Sequence[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, (ast.Try, ast.TryStar)):
            if not any(catches_missing_name(handler) for handler in node.handlers):
                yield from _iterate_import_statements(node.body)
            yield from _iterate_import_statements([*node.orelse, *node.finalbody])
        elif isinstance(node, ast.If):
            if "TYPE_CHECKING" not in collect_names(node.test):
                yield from _iterate_import_statements([*node.body, *node.orelse])
        elif isinstance(node, (ast.With, ast.ClassDef, ast.For, ast.While)):
            yield from _iterate_import_statements(node.body)


def _find_cause(file, imports, first_stops):
    """Return the first file at which the import of a file stops, by a depth-first search; None if it does not stop."""
    stack, seen = [file], set()
    while stack:
        top = stack.pop()
        if top in seen:
            continue
        seen.add(top)
        if top in first_stops:
            return top
        stack += reversed(imports[top])
    return None
