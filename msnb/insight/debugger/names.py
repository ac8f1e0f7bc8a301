"""Name a node in a sentence: its Cell path, its operator and its line."""

from msnb.core.errors.cell_path import attribute_path
from msnb.core.errors.source_location import format_location
from msnb.ir.anf import CNode


def name_of_node(node: CNode) -> str:
    """Return the Cell path and the operator of a node, such as ``layer1.0.conv/Conv2D``."""
    root = node.func_graph.name if node.func_graph is not None else ""
    cell = attribute_path(node.scope, root)
    return f"{cell}/{node.name}" if cell else node.name


def line_of(node: CNode) -> str:
    """Return ``file:line`` of a node, "" if it has none."""
    return f"{node.source[0]}:{node.source[1]}" if node.source else ""


def short_line(line: str) -> str:
    """Return ``file:line`` without the folders; ``In [3] line 7`` for a notebook cell."""
    file, _, number = line.rpartition(":")
    return format_location(file, int(number)) if file else line


def in_brackets(line: str) -> str:
    """Return the short location of a line in brackets, after a space; "" for no line."""
    return f" ({short_line(line)})" if line else ""


def place_of_node(node: CNode) -> str:
    """Return the name of a node and its line in brackets."""
    return f"{name_of_node(node)}{in_brackets(line_of(node))}"
