"""The AST node that defines a function object. Each file or notebook cell is parsed once."""

import ast
import functools
import linecache
import re
from types import CodeType
from typing import Any

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")  # fields of statements that hold statements


class SourceMissing(OSError):
    """Raised if the source of a function is missing, so that it cannot become part of a graph."""


def find_definition(code: CodeType, name: str) -> Any:
    """Return (node, class name): the FunctionDef or Lambda of a code object, and its enclosing class.

    Raises:
        SourceMissing: If there is no source.
    """
    source = _read_and_parse_source(code.co_filename)
    match = None
    if source is not None:
        match = (
            _find_lambda(source.tree, code)
            if code.co_name == "<lambda>"
            else source.functions.get((code.co_firstlineno, code.co_name))
        )
    if match is None:
        raise SourceMissing(
            f"The source of {name} ({code.co_filename}:{code.co_firstlineno}) cannot be found, so it cannot become "
            f"part of a graph. Define it in a file or a notebook cell; code given to exec() needs an entry in "
            f"linecache."
        )
    return match


class _Source:
    """The parsed syntax tree of a file or a notebook cell.

    Attributes:
        tree (Module): The syntax tree.
        functions (dict): (first line, name) of each function -> (its FunctionDef, the name of its class or None).
    """

    def __init__(self, tree):
        self.tree = tree
        self.functions = _index_functions(tree)


def _read_and_parse_source(filename):
    linecache.checkcache(filename)
    lines = linecache.getlines(filename)
    return _parse_source_text("".join(lines)) if lines else None


@functools.lru_cache(maxsize=64)  # bounded, because a session keeps defining new cells
def _parse_source_text(text):
    for variant in (str, _comment_out_magics):  # only text that Python cannot parse has magics
        try:
            return _Source(ast.parse(variant(text)))
        except SyntaxError:
            pass
    return None


def _comment_out_magics(text):
    """Comment out the magics of a cell's text; line numbers stay the same."""
    return re.sub(r"^[%!?]", "#", text, flags=re.MULTILINE)


def _index_functions(tree):
    """Return {(first line, name): (FunctionDef, class name)}. Expressions hold no `def`, so they are not visited."""
    functions: dict[tuple[int, str], Any] = {}
    stack: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while stack:
        node, class_name = stack.pop()
        for block in _BLOCKS:
            for child in getattr(node, block, ()):
                if isinstance(child, ast.ClassDef):
                    stack.append((child, child.name))
                    continue
                if isinstance(child, _FUNCTIONS):
                    functions[_first_line(child), child.name] = child, class_name
                stack.append((child, class_name))
    return functions


def _first_line(node):
    decorators = getattr(node, "decorator_list", None)
    return decorators[0].lineno if decorators else node.lineno


def _find_lambda(tree, code):
    """Return (Lambda, class name) of a code object. The body's position distinguishes lambdas of one line."""
    lambdas = _find_lambdas(tree, code.co_firstlineno)
    if len(lambdas) == 1:
        return lambdas[0]
    positions = {p for p in code.co_positions() if p[0] is not None and p[2] is not None}
    best = None
    for node, class_name in lambdas:
        body = node.body
        span = (body.lineno, body.end_lineno, body.col_offset, body.end_col_offset)
        if span in positions:
            return node, class_name
        start, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
        inside = all(start <= (p[0], p[2]) and (p[1], p[3]) <= end for p in positions if p[2] != p[3])
        if inside:
            best = (node, class_name)
    return best


def _find_lambdas(tree, line):
    """Return [(Lambda, class name)] of the lambdas that begin at a line. Only statements with that line are visited."""
    lambdas = []
    stack: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while stack:
        node, class_name = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt) and not _first_line(child) <= line <= child.end_lineno:
                continue
            if isinstance(child, ast.Lambda) and child.lineno == line:
                lambdas.append((child, class_name))
            stack.append((child, child.name if isinstance(child, ast.ClassDef) else class_name))
    return lambdas
