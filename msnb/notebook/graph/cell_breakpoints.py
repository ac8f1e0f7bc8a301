"""Breakpoints beside the lines of cells: JupyterLab's extension sets them, the next `%%ms_debug` cell uses them."""

from typing import Any

from msnb.core.program import program_cache
from msnb.insight.debugger.pause import Breakpoint
from msnb.ir.api import of_program
from msnb.notebook.kernel import cell_names

_lines: dict[str, list[int]] = {}  # id of a cell -> lines with a breakpoint


def replace(cells: dict[str, list[int]]) -> dict[str, Any]:
    """Replace the breakpoints of all cells.

    Args:
        cells (dict): {id of a cell: lines with a breakpoint}.

    Returns:
        dict: ``moved``, {id of a cell: {line: line}} of breakpoints on a line without nodes, which move to the next one
        with nodes; ``said``, a sentence about them or "".
    """
    _lines.clear()
    moved: dict[str, dict[str, int]] = {}
    sentences = []
    for cell, lines in cells.items():
        with_nodes = _lines_with_nodes(cell_names.file_of(cell)) if lines else []
        _lines[cell] = []
        for line in sorted(lines):
            behind = [number for number in with_nodes if number >= line]
            nearest = behind[0] if behind else line
            if nearest != line:
                moved.setdefault(cell, {})[str(line)] = nearest
                sentences.append(f"Line {line} has no node: its breakpoint moves to line {nearest}.")
            if nearest not in _lines[cell]:
                _lines[cell].append(nearest)
    return {"moved": moved, "said": " ".join(sentences)}


def breakpoints() -> list[Breakpoint]:
    """Return the breakpoints of the cells that have run."""
    files = {cell: cell_names.file_of(cell) for cell in _lines}
    return [Breakpoint(line=line, file=file) for cell, file in files.items() if file for line in _lines[cell]]


def _lines_with_nodes(file):
    """Return the lines of a file that nodes of compiled programs come from, in order."""
    if file is None:
        return []
    graphs = [of_program(program, program.name) for program in program_cache.all_programs() if program.calls]
    sources = (node.source for graph in graphs for node in graph.all_nodes() if node.source is not None)
    return sorted({line for name, line, *_ in sources if name == file})
