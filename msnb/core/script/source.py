"""The AST node that defines a function object. Each file or notebook cell is parsed once."""

import ast
import functools
import linecache
from types import CodeType
from typing import Any


class SourceMissing(OSError):
    """The source of a function cannot be found, so it cannot become part of a graph."""


def find_definition(code: CodeType, name: str) -> Any:
    """Return (node, class name): the FunctionDef or Lambda of a code object, and its enclosing class.

    Raises:
        SourceMissing: If there is no source.
    """
    tree = _index_file(code.co_filename)
    match = _find_in_index(tree, code) if tree is not None else None
    if match is None:
        raise SourceMissing(
            f"The source of {name} ({code.co_filename}:{code.co_firstlineno}) cannot be found, so it cannot become "
            f"part of a graph. Define it in a file or a notebook cell; code given to exec() needs an entry in "
            f"linecache."
        )
    return match


def _index_file(filename):
    linecache.checkcache(filename)
    lines = linecache.getlines(filename)
    if not lines:
        return None
    return _index_text("".join(lines))


@functools.lru_cache(maxsize=128)  # files and cells; a session keeps defining new ones
def _index_text(text):
    try:
        return _index_functions(ast.parse(_comment_out_magics(text)))
    except SyntaxError:
        return None


def _comment_out_magics(text):
    """Comment out the magics of a cell's text; line numbers stay the same."""
    if not any(line.lstrip().startswith(("%", "!", "?")) for line in text.splitlines()):
        return text
    return (
        "\n".join(
            "#" + line if line.lstrip().startswith(("%", "!", "?")) and line == line.lstrip() else line
            for line in text.splitlines()
        )
        + "\n"
    )


def _index_functions(tree):
    """Return {first line: [(node, class name)]} of every function and lambda."""
    functions = {}

    def visit(node, class_name):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                visit(child, child.name)
                continue
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([child.lineno] + [d.lineno for d in child.decorator_list])
                functions.setdefault(first, []).append((child, class_name))
            elif isinstance(child, ast.Lambda):
                functions.setdefault(child.lineno, []).append((child, class_name))
            visit(child, class_name)

    visit(tree, None)
    return functions


def _find_in_index(index, code):
    candidates = index.get(code.co_firstlineno, [])
    if code.co_name != "<lambda>":
        for node, class_name in candidates:
            if getattr(node, "name", None) == code.co_name:
                return node, class_name
        return None
    lambdas = [c for c in candidates if isinstance(c[0], ast.Lambda)]
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
