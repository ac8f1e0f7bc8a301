"""Breakpoints beside the lines of cells: JupyterLab's extension sets them, the next `%%ms_debug` cell uses them."""

from typing import Any
from weakref import WeakKeyDictionary

from msnb.core.program import program_cache
from msnb.insight.debugger.pause import Breakpoint
from msnb.ir.api import of_program
from msnb.notebook.kernel import cell_names

_lines: dict[str, list[int]] = {}  # id of a cell -> lines with a breakpoint
_sources: "WeakKeyDictionary[Any, set[tuple[str, int]]]" = WeakKeyDictionary()


def replace(cells: dict[str, list[int]]) -> dict[str, Any]:
    """Replace the breakpoints of all cells.

    Args:
        cells (dict): {id of a cell: lines with a breakpoint}.

    Returns:
        dict: ``moved``, {id of a cell: {line: new line}} of breakpoints on a line without nodes, which move to the next
        line with nodes; ``said``, sentences about these and about new breakpoints after the last node, or "".
    """
    before = dict(_lines)
    _lines.clear()
    moved: dict[str, dict[str, int]] = {}
    sentences = []
    for cell, lines in cells.items():
        with_nodes = _find_lines_with_nodes(cell_names.file_of(cell)) if lines else []
        _lines[cell] = []
        for line in sorted(lines):
            nearest = next((number for number in with_nodes if number >= line), line)
            if nearest != line:
                moved.setdefault(cell, {})[str(line)] = nearest
                sentences.append(f"Line {line} has no node: its breakpoint moves to line {nearest}.")
            elif with_nodes and line > with_nodes[-1] and line not in before.get(cell, ()):
                sentences.append(f"No node comes from line {line} or below: its breakpoint never pauses.")
            if nearest not in _lines[cell]:
                _lines[cell].append(nearest)
    return {"moved": moved, "said": " ".join(sentences)}


def breakpoints() -> list[Breakpoint]:
    """Return the breakpoints of the cells that have run."""
    files = {cell: cell_names.file_of(cell) for cell in _lines}
    return [Breakpoint(line=line, file=file) for cell, file in files.items() if file for line in _lines[cell]]


def _find_lines_with_nodes(file):
    """Return the lines of a file that nodes of compiled programs come from, in order."""
    if file is None:
        return []
    sources = set().union(
        *(_collect_source_lines(program) for program in program_cache.all_programs() if program.calls)
    )
    return sorted(line for name, line in sources if name == file)


def _collect_source_lines(program):
    """Return (file, line) of all nodes of a program."""
    if program not in _sources:  # the result is cached, because this runs after each cell
        nodes = of_program(program, program.name).all_nodes()
        _sources[program] = {node.source[:2] for node in nodes if node.source is not None}
    return _sources[program]
