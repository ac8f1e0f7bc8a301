"""Rewrite imports of mindspore in one cell to imports of msnb.

The first line, `%%mindspore ...`, becomes a call that opens the cell's scope. No other text changes, so line numbers,
top-level await and other magics keep working. Imports are rewritten in the syntax tree, at their own positions.
"""

import ast
import re
from typing import Any

from msnb.alias import api, is_hub_installed

MAGIC = "%%mindspore"
_HUB = "mindspore_hub"
_API = re.compile(r"--api[= ]\s*([12])\b")


def first_line(lines: list[str]) -> Any:
    """Input transformer: replace the line `%%mindspore OPTIONS` by a call of the magic without a body."""
    if not lines or lines[0].split(None, 1)[:1] != [MAGIC]:
        return lines
    options = lines[0].strip()[len(MAGIC) :].strip()
    if options.endswith("?"):
        return lines  # IPython itself handles `%%mindspore?`, a request for help
    begin = f"get_ipython().run_cell_magic('mindspore', {options!r}, None)\n"
    return [begin, *_transform_second_magic(lines[1:])]


def _transform_second_magic(body):
    """Transform a cell magic on the second line. IPython recognizes a cell magic only on the first line of a cell."""
    from IPython.core.inputtransformer2 import cell_magic

    blank = next((i for i, line in enumerate(body) if line.strip()), 0)
    if not body or not body[blank].startswith("%%"):
        return body
    return body[:blank] + cell_magic(first_line(body[blank:]))


def begins(tree: ast.Module) -> bool:
    """Return True if a cell's syntax tree begins with the call that :func:`first_line` writes."""
    match tree.body[:1]:
        case [
            ast.Expr(
                ast.Call(
                    func=ast.Attribute(attr="run_cell_magic"),
                    args=[ast.Constant("mindspore"), ast.Constant(), ast.Constant(None)],
                )
            )
        ]:
            return True
    return False


def requested_generation(tree: ast.Module) -> int | None:
    """Return the generation of the option `--api` of a `%%mindspore` cell, None without the option."""
    match = _API.search(tree.body[0].value.args[1].value)
    return int(match[1]) if match else None


def generation(tree: ast.Module) -> int:
    """Return the generation of a `%%mindspore` cell's imports: that of `--api`, or the session's."""
    return requested_generation(tree) or api()


class Imports(ast.NodeTransformer):
    """Replace `mindspore` by `msnb` in import statements; the bound names do not change.

    Args:
        generation (int): 2 selects MindSpore 2, `msnb.mindspore2`.
    """

    def __init__(self, generation: int) -> None:
        self.root, self.top = _ROOTS[generation]

    def visit_Import(self, node: ast.Import) -> Any:
        return [ast.copy_location(new, node) for name in node.names for new in self._rewrite_import(name)]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        if node.level or not _is_mindspore_module(node.module or ""):
            return node
        module, statements = self._rename_module(node.module), []
        names = [a for a in node.names if a.name != "__version__" or module != "msnb"]
        if names:
            statements.append(ast.ImportFrom(module, names, 0))
        if len(names) < len(node.names):  # import `__version__` from `msnb.alias`, because it is MindSpore's version
            statements.append(ast.ImportFrom("msnb.alias", [a for a in node.names if a not in names], 0))
        return [ast.copy_location(new, node) for new in statements]

    def _rewrite_import(self, alias):
        if not _is_mindspore_module(alias.name):
            return [ast.Import([alias])]
        if alias.name == _HUB:
            return [ast.Import([ast.alias(self._rename_module(alias.name), alias.asname or _HUB)])]
        if alias.name == "mindspore":
            return [ast.ImportFrom("msnb.alias", [_make_import_alias(self.top, alias)], 0)]
        if alias.asname:
            return [ast.Import([ast.alias(self._rename_module(alias.name), alias.asname)])]
        # `import mindspore.nn` imports the submodule and binds `mindspore`. `import msnb.nn` would bind `msnb`, so the
        # first statement imports it as `mindspore`. The second binds `mindspore` to the top-level module.
        return [
            ast.Import([ast.alias(self._rename_module(alias.name), "mindspore")]),
            ast.ImportFrom("msnb.alias", [_make_import_alias(self.top, ast.alias("mindspore"))], 0),
        ]

    def _rename_module(self, module):
        if module == _HUB:
            return "msnb.model_zoo.hub"
        return self.root + module[len("mindspore") :]


# Generation -> (package of its modules, name in msnb.alias that `mindspore` is bound to).
_ROOTS = {1: ("msnb", "mindspore"), 2: ("msnb.mindspore2", "mindspore2")}


def _make_import_alias(name, alias):
    """Return an import alias of `name` that binds the name bound by `alias`."""
    bound = alias.asname or alias.name
    return ast.alias(name, None if bound == name else bound)


def _is_mindspore_module(module):
    if module == _HUB:
        return not is_hub_installed()
    return module.split(".", 1)[0] == "mindspore"
