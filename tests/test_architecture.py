"""Imports run downwards only. They form no circle, those for type checkers and those of JavaScript included.
Nothing is imported to find out.

``python tests/test_architecture.py --report`` prints what is measured here, and how many files a concept has: for that
it imports the package.
"""

import ast
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import trees

PACKAGE = Path(__file__).parent.parent / "msnb"

# Higher numbers may import lower ones. Modules beside the levels may import any of them.
FLOOR = {
    **dict.fromkeys(("context", "log", "common", "_config", "_util", "_checkparam", "_version"), 0),
    **dict.fromkeys(("default_config", "device_manager"), 0),
    "core": 1,
    "_c_dataengine": 4,
    "_c_expression": 2,
    "ir": 2,
    **dict.fromkeys(("ops", "numpy", "scipy", "nn"), 3),
    **dict.fromkeys(("formats", "mindrecord", "dataset"), 4),
    **dict.fromkeys(("communication", "parallel", "exchange", "train", "compression", "boost"), 5),
    **dict.fromkeys(("runtime", "hal", "device_context", "run_check", "experimental", "mint", "model_zoo"), 5),
    **dict.fromkeys(("graph", "utils"), 1),
    **dict.fromkeys(("insight", "profiler", "explainer", "rewrite", "check", "labelling"), 6),
    "notebook": 7,
}
BESIDE = {"alias", "mindspore2", "cli", "__main__", "samples", "version"}
# They act on the alias `mindspore` when a user asks for it.
KNOW_THE_ALIAS = {
    f"msnb.notebook.kernel.{name}" for name in ("cell_scope", "cluster", "errors", "magics", "rewrite_imports")
}
# Its `__getattr__` imports a module out of a table, when a user asks for a name.
LAZY = {"msnb.dataset.engine.datasets"}
# Narrower than the floors say: who of the same or a lower floor must not be imported.
FORBIDDEN = {
    "ops": {"nn", "numpy", "ir"},
    "numpy": {"nn", "ir"},
    "scipy": {"nn", "numpy", "ir"},
    "nn": {"numpy"},
    "core": {"ir"},
    "dataset": {"nn", "ops", "ir", "numpy"},
    "mindrecord": {"nn", "ops", "ir", "numpy", "dataset"},
    "formats": {"nn", "ops", "ir", "numpy", "dataset", "mindrecord", "core", "common", "context"},
    "exchange": {"train", "parallel", "communication"},
    "communication": {"nn", "ops", "dataset", "ir", "parallel", "train"},
}


def module_name(path):
    components = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(components[:-1] if components[-1] == "__init__" else components)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def tree_of(module):
    return trees.tree_of(MODULES[module])


def says_it_re_exports(module):
    first_line = (ast.get_docstring(tree_of(module)) or "").partition("\n")[0]
    return re.search(r"\b(face|re-export module)\b", first_line, re.IGNORECASE) is not None


@cache
def is_re_export(module):
    """Return True if a module only re-exports names: it has imports, `__all__`, literals, assignments of imported
    names, and a `__getattr__` for names that it imports on access."""
    imported, count = set(), 0
    for node in tree_of(module).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imported |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            count += 1
        elif isinstance(node, ast.FunctionDef):
            if node.name not in ("__getattr__", "__dir__"):
                return False
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if ast.unparse(targets[0]) == "__all__":
                continue
            if node.value is None or not all(isinstance(n, _PLAIN) for n in ast.walk(node.value)):
                return False
            names = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
            if not names <= imported:
                return False
            imported |= {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return False
    return count > 0


_PLAIN = (ast.Name, ast.Attribute, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Starred, ast.Load)


class Import(NamedTuple):
    """That a module imports another of msnb; `guessed`, that it may, by a name that the program puts together. `reason`
    is the comment on the line of an import inside a function. Only type checkers read an import `for_types`."""

    module: str
    line: int
    in_function: bool
    guessed: bool
    for_types: bool
    reason: str


def _from(package, node):
    """Yield the modules of a ``from ... import ...``."""
    base = node.module or ""
    if node.level:
        components = package.split(".")
        base = ".".join(components[: len(components) - node.level + 1] + ([base] if base else []))
    if base.split(".")[0] == "msnb":
        yield from (f"{base}.{a.name}" if f"{base}.{a.name}" in MODULES else base for a in node.names)


def _by_name(module, call):
    """Return the modules that a call of ``import_module`` or ``__import__`` may mean: by a name that the program puts
    together any that fits, by one out of a table any that stands in the module."""
    called = getattr(call.func, "attr", None) or getattr(call.func, "id", "")
    if called.lstrip("_") not in ("import_module", "import__"):
        return ()
    name = call.args[0]
    if isinstance(name, ast.Constant):
        return {name.value} & MODULES.keys()
    if not isinstance(name, ast.JoinedStr):
        return {n.value for n in ast.walk(tree_of(module)) if isinstance(n, ast.Constant)} & MODULES.keys()
    pieces = [v.value if isinstance(v, ast.Constant) else ast.unparse(v.value) for v in name.values]
    names = {"__name__": re.escape(module)}
    pattern = "".join(
        re.escape(part) if isinstance(value, ast.Constant) else names.get(part, r"[\w.]+")
        for part, value in zip(pieces, name.values, strict=True)
    )
    return [m for m in MODULES if re.fullmatch(pattern, m)]


@cache
def imports_of(module):
    """Return the modules of msnb that `module` imports: while it is loaded, in functions (a module's ``__getattr__`` is
    one), by name, and for type checkers."""
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    lines = MODULES[module].read_text(encoding="utf-8").splitlines()
    imports, todo = [], [(node, False, False) for node in tree_of(module).body]
    while todo:
        node, inside, for_types = todo.pop()
        names, guessed = (), False
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.split(".")[0] == "msnb"]
        elif isinstance(node, ast.ImportFrom):
            names = _from(package, node)
        elif isinstance(node, ast.Call):
            names, guessed = _by_name(module, node), not all(isinstance(a, ast.Constant) for a in node.args)
        for name in names:
            reason = lines[node.lineno - 1].partition("#")[2].strip()
            imports.append(Import(name, node.lineno, inside, guessed, for_types, reason))
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            todo += [(child, inside, True) for child in node.body]
            todo += [(child, inside, for_types) for child in node.orelse]
            continue
        inside = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        todo += [(child, inside, for_types) for child in ast.iter_child_nodes(node)]
    return sorted(set(imports))


def top_of(module):
    return module.split(".")[1] if "." in module else ""


def test_every_module_has_a_floor_stands_beside_them_or_re_exports():
    homeless = [m for m in MODULES if top_of(m) and top_of(m) not in FLOOR.keys() | BESIDE and not is_re_export(m)]
    assert not homeless, f"give it a floor in tests/test_architecture.py, or only re-export there: {homeless}"


def is_below(top, target):
    """Return True if modules of the package `top` may import those of `target`."""
    return target == top or (FLOOR[target] <= FLOOR[top] and target not in FORBIDDEN.get(top, ()))


def test_imports_run_downwards_only():
    wrong = []
    for module in MODULES:
        top = top_of(module)
        if top not in FLOOR or is_re_export(module):
            continue
        for imported, line, _, guessed, for_types, _ in imports_of(module):
            target = top_of(imported)
            if target == top or guessed or for_types or (target == "alias" and module in KNOW_THE_ALIAS):
                continue
            if not target or target in BESIDE:
                wrong.append(f"{module}:{line} imports {imported}, which stands above or beside the floors")
            elif target not in FLOOR:
                wrong.append(f"{module}:{line} imports {imported}, which re-exports for users")
            elif not is_below(top, target):
                wrong.append(f"{module}:{line} imports {imported}, but {top} must not use {target}")
    assert not wrong, "\n" + "\n".join(wrong)


@cache
def cuts_across_floors(module):
    """Return True for a re-export module of MindSpore's path with names of a higher floor."""
    top = top_of(module)
    if top not in FLOOR or not is_re_export(module):
        return False
    targets = {top_of(i.module) for i in imports_of(module)} & FLOOR.keys()
    return not all(is_below(top, target) for target in targets)


def test_a_module_that_cuts_across_floors_is_imported_by_re_export_modules_only():
    wrong = [
        f"{module}:{i.line} imports {i.module}"
        for module in MODULES
        if top_of(module) in FLOOR and not is_re_export(module)
        for i in imports_of(module)
        if i.module in MODULES and not i.guessed and cuts_across_floors(i.module) and top_of(i.module) != "msnb"
    ]
    assert not wrong, "import the names from where they are defined:\n" + "\n".join(wrong)


def arrows():
    """Module -> the modules that it imports, in functions and for type checkers too, without those that cut across the
    floors. A guess that may mean a re-export module, or what a table has for users, is no arrow."""
    return {
        module: {
            i.module
            for i in imports_of(module)
            if i.module in MODULES
            and i.module != module
            and not cuts_across_floors(i.module)
            and not (i.guessed and ("msnb" in (module, i.module) or module in LAZY or is_re_export(i.module)))
        }
        for module in MODULES
        if not cuts_across_floors(module)
    }


def circles(graph):
    """Return the groups of modules each of which leads to every other (Tarjan's strongly connected components)."""
    number, lowest, path, cycles = {}, {}, [], []

    def visit(module):
        number[module] = lowest[module] = len(number)
        path.append(module)
        for imported in graph.get(module, ()):
            if imported not in number:
                visit(imported)
            if imported in path:
                lowest[module] = min(lowest[module], lowest[imported])
        if lowest[module] == number[module]:
            group = path[path.index(module) :]
            del path[path.index(module) :]
            if len(group) > 1:
                cycles.append(sorted(group))

    for module in graph:
        if module not in number:
            visit(module)
    return cycles


# The packages of core, lowest first. A package imports only packages of earlier rows, for type checkers too.
CORE_ORDER = (
    ("compat",),
    ("support",),
    ("errors",),
    ("state",),
    ("tensor", "jaxpr"),
    ("sharding",),
    ("eager",),
    ("operator",),
    ("script",),
    ("program",),
    ("transforms",),
    ("custom",),
)


def every_import_of(module):
    """Yield (line, module) of each import statement, those for type checkers and in functions included."""
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, name) for name in _from(package, node))


def test_packages_of_core_import_downwards_only():
    rank = {name: number for number, row in enumerate(CORE_ORDER) for name in row}
    assert {m.split(".")[2] for m in MODULES if m.startswith("msnb.core.")} == set(rank)
    wrong = []
    for module in (m for m in MODULES if m.startswith("msnb.core.")):
        own = module.split(".")[2]
        for line, imported in every_import_of(module):
            target = imported.split(".")[2] if imported.startswith("msnb.core.") else own
            if target != own and rank[target] >= rank[own]:
                wrong.append(f"{module}:{line} imports {imported}, but core/{own} must not use core/{target}")
    assert not wrong, "\n" + "\n".join(wrong)


def test_no_modules_import_each_other_in_a_circle():
    cycles = circles(arrows())
    assert not cycles, f"circles of imports, those in functions and for type checkers included: {cycles}"


_JAVASCRIPT_IMPORT = re.compile(
    r"""^\s*(?:import|export)\b[^;'"]*\bfrom\s*["'](\.[^"']+)["']  # import { a } from "./b.js"
    | ^\s*import\s*["'](\.[^"']+)["']  # import "./b.js"
    | \bimport\(\s*["'](\.[^"']+)["']\s*\)  # import("./b.js")""",
    re.MULTILINE | re.VERBOSE,
)


def javascript_arrows():
    """File -> the files that it imports, of all JavaScript and TypeScript that the bundles are built from."""
    root = PACKAGE.parent
    folders = [path for top in ("msnb/notebook", "extensions") for path in (root / top).glob("**/src")]
    files = {
        file.resolve()
        for folder in folders
        if "node_modules" not in folder.parts
        for file in folder.rglob("*")
        if file.suffix in (".js", ".mjs", ".ts")
    }
    graph = {}
    for file in files:
        names = [next(filter(None, match)) for match in _JAVASCRIPT_IMPORT.findall(file.read_text(encoding="utf-8"))]
        paths = [(file.parent / name).resolve() for name in names]
        graph[file] = {path if path in files else path.with_suffix(".ts") for path in paths} & files
    return {
        str(file.relative_to(root)): {str(f.relative_to(root)) for f in imported} for file, imported in graph.items()
    }


def test_no_files_of_javascript_import_each_other_in_a_circle():
    graph = javascript_arrows()
    assert graph["msnb/notebook/graph/src/payload.js"], "the imports of JavaScript are not recognised"
    assert not circles(graph)


def imports_inside_functions():
    """Return {(module, line): the reason that stands on it}."""
    inside = [
        (m, i) for m in MODULES if not is_re_export(m) for i in imports_of(m) if i.in_function and not i.for_types
    ]
    return {(module, i.line): i.reason for module, i in inside}


def test_few_imports_stand_inside_functions():
    assert len(imports_inside_functions()) < 40


def test_an_import_inside_a_function_says_why_it_is_there():
    results = sorted(imports_inside_functions().items())
    silent = [f"{module}:{line}" for (module, line), reason in results if len(reason.split()) < 3]
    assert not silent, "import it at the top, or say on its line why it is lazy:\n" + "\n".join(silent)


def test_a_module_that_says_that_it_re_exports_does_nothing_else():
    wrong = [module for module in MODULES if says_it_re_exports(module) and not is_re_export(module)]
    assert not wrong, f"say in the first line of the docstring what they do: {wrong}"


def test_private_jax_is_touched_in_two_modules():
    wrong = []
    for module in MODULES:
        if module in ("msnb.core.compat.jax_private", "msnb.core.compat.jax_compilation"):
            continue
        for node in ast.walk(tree_of(module)):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            wrong += [f"{module}:{node.lineno} {name}" for name in names if re.match(r"jax(lib)?\b.*\._", name)]
    assert not wrong, "use msnb.core.compat.jax_private instead of: " + ", ".join(wrong)


# --- the report -------------------------------------------------------------------------------------------------------


def files_per_concept():
    """Yield lines: in how many files stand the class, function, Tensor method and numpy's function of one name."""
    sys.path.insert(0, str(Path(__file__).with_name("ops")))
    from test_spellings import UNLIKE, concepts  # spares the package to the tests, which read it as text

    result = concepts()
    kinds = Counter(what.partition(" ")[0] for files in result.values() for named in files.values() for what in named)
    yield f"{len(result)} names: " + ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    for count, names in sorted(Counter(len(files) for files in result.values()).items()):
        yield f"{names} in {count} file{'s' * (count > 1)}"
    for name, files in sorted(result.items()):
        if len(files) > 1:
            why = "two things of one name" if name in UNLIKE else "split"
            yield f"  {name}, {why}: " + "; ".join(f"{file} ({', '.join(named)})" for file, named in files.items())


def annotated(tree):
    """Counter of a module's public functions and methods: "all" and "whole", with a type for each argument and the
    result; "may" and "return", constructors left out, all and those with a type for the result."""
    counts = Counter()
    bodies = [tree.body, *(n.body for n in tree.body if isinstance(n, ast.ClassDef) and not n.name.startswith("_"))]
    for node in (n for body in bodies for n in body if isinstance(n, ast.FunctionDef)):
        if node.name.startswith("_") and node.name not in ("__init__", "__call__"):
            continue
        arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        bare = [a for a in arguments if a.annotation is None and a.arg not in ("self", "cls")]
        constructor, typed = node.name == "__init__", node.returns is not None
        counts["all"] += 1
        counts["whole"] += not bare and (typed or constructor)
        counts["may"] += not constructor
        counts["return"] += typed and not constructor
    return counts


def report():
    """Yield the lines of the report."""
    cycles = circles(arrows())
    yield f"Circles of imports, those in functions and for type checkers included: {len(cycles)}"
    yield from (f"  {len(group)} modules: {', '.join(group)}" for group in cycles)
    lines = imports_inside_functions()
    yield f"Imports of msnb inside functions: {len(lines)}"
    for (module, line), reason in sorted(lines.items()):
        yield f"  {module}:{line}  {reason or 'no reason given'}"
    yield "Files per concept:"
    yield from (f"  {line}" for line in files_per_concept())
    folders = {}
    for module in MODULES:
        folders.setdefault(top_of(module) or "msnb", Counter()).update(annotated(tree_of(module)))
    yield "Public functions with a type for their result; those annotated whole, constructors too:"
    for folder, n in [("all folders", sum(folders.values(), Counter())), *sorted(folders.items())]:
        if n["may"]:
            yield f"  {folder}: {n['return'] / n['may']:.0%}, {n['return']} of {n['may']}; {n['whole']} of {n['all']}"


if __name__ == "__main__":
    if sys.argv[1:] != ["--report"]:
        sys.exit("usage: python tests/test_architecture.py --report")
    print("\n".join(report()))
