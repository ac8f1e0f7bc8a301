"""In one cell, imports of mindspore become imports of msnb.

The first line, `%%mindspore ...`, becomes a call that begins the cell's scope; nothing else of the text changes, so
line numbers, top-level await and other magics stay. Imports are rewritten in the syntax tree, at their own positions.
"""

import ast
import re
from typing import Any

from msnb.alias import api

MAGIC = "%%mindspore"
_API = re.compile(r"--api[= ]\s*([12])\b")


def first_line(lines: list[str]) -> Any:
    """Input transformer: `%%mindspore OPTIONS` becomes a call of the magic without a body; the body follows."""
    if not lines or lines[0].split(None, 1)[:1] != [MAGIC]:
        return lines
    options = lines[0].strip()[len(MAGIC) :].strip()
    if options.endswith("?"):
        return lines  # a question about the magic, which IPython answers
    begin = f"get_ipython().run_cell_magic('mindspore', {options!r}, None)\n"
    return [begin, *_nested(lines[1:])]


def _nested(body):
    """Another cell magic may follow on the second line; IPython knows it on the first line of a cell only."""
    from IPython.core.inputtransformer2 import cell_magic

    blank = next((i for i, line in enumerate(body) if line.strip()), 0)
    if not body or not body[blank].startswith("%%"):
        return body
    return body[:blank] + cell_magic(first_line(body[blank:]))


def begins(tree: ast.Module) -> bool:
    """Whether a cell's syntax tree begins with what :func:`first_line` wrote."""
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


def asked(tree: ast.Module) -> int | None:
    """The generation that the `--api` of a cell that :func:`begins` so asks for; None where there is none."""
    found = _API.search(tree.body[0].value.args[1].value)
    return int(found[1]) if found else None


def generation(tree: ast.Module) -> int:
    """Whose names the imports of a cell that :func:`begins` so are: what its `--api` asks for, or the session's."""
    return asked(tree) or api()


class Imports(ast.NodeTransformer):
    """`mindspore` becomes `msnb` in import statements; the names that they bind stay.

    Args:
        generation (int): 2 makes them MindSpore 2's, of `msnb.mindspore2`.
    """

    def __init__(self, generation: int) -> None:
        self.root, self.top = _ROOTS[generation]

    def visit_Import(self, node: ast.Import) -> Any:
        return [ast.copy_location(new, node) for name in node.names for new in self._imported(name)]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        if node.level or not _is_ours(node.module or ""):
            return node
        module, made = self._renamed(node.module), []
        names = [a for a in node.names if a.name != "__version__" or module != "msnb"]
        if names:
            made.append(ast.ImportFrom(module, names, 0))
        if len(names) < len(node.names):  # the version of MindSpore, not that of msnb
            made.append(ast.ImportFrom("msnb.alias", [a for a in node.names if a not in names], 0))
        return [ast.copy_location(new, node) for new in made]

    def _imported(self, alias):
        if not _is_ours(alias.name):
            return [ast.Import([alias])]
        if alias.name == "mindspore":
            return [ast.ImportFrom("msnb.alias", [_bound(self.top, alias)], 0)]
        if alias.asname:
            return [ast.Import([ast.alias(self._renamed(alias.name), alias.asname)])]
        # `import mindspore.nn` imports the submodule and binds `mindspore`; through that name, so that `msnb` is not
        # bound.
        return [
            ast.Import([ast.alias(self._renamed(alias.name), "mindspore")]),
            ast.ImportFrom("msnb.alias", [_bound(self.top, ast.alias("mindspore"))], 0),
        ]

    def _renamed(self, module):
        return self.root + module[len("mindspore") :]


# Generation -> (the package that has its modules, what `mindspore` itself is in msnb.alias).
_ROOTS = {1: ("msnb", "mindspore"), 2: ("msnb.mindspore2", "mindspore2")}


def _bound(name, alias):
    """`name`, under the name that `alias` binds."""
    bound = alias.asname or alias.name
    return ast.alias(name, None if bound == name else bound)


def _is_ours(module):
    return module.split(".", 1)[0] == "mindspore"
