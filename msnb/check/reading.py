"""Reads the Python code in files, folders and notebooks, as separately parsed pieces."""

import ast
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_IGNORED_FOLDERS = {"__pycache__", "node_modules", "site-packages", "build", "dist"}
# IPython syntax that Python cannot parse
_MAGIC = re.compile(r"^(\s*)([%!?].*|\w+\s*=\s*[%!].*|[\w.]+\?\??\s*)$")
_PYTHON_CELLS = re.compile(r"%%(mindspore|time|timeit|capture|prun)\b")


class Piece(NamedTuple):
    """Code whose names share a namespace: a file, or the cells of a notebook.

    Attributes:
        file (str): Name of the file or notebook in messages.
        tree (Union[ast.Module, None]): Syntax tree of the code; None if it cannot be parsed.
        error (str): The reason why the code cannot be parsed, or "".
        cells (list): (first line, number) of each cell of a notebook, in order; empty for a file.
    """

    file: str
    tree: ast.Module | None
    error: str
    cells: list[tuple[int, int]]

    def place(self, line: int) -> str:
        """Return the location of a line as text: ``net.py:3`` or ``notes.ipynb, cell 4 line 2``."""
        if not self.cells:
            return f"{self.file}:{line}"
        first, cell = next((entry for entry in reversed(self.cells) if entry[0] <= line), self.cells[0])
        return f"{self.file}, cell {cell} line {line - first + 1}"


def pieces(path: str | os.PathLike[str]) -> Iterator[Piece]:
    """Yield the pieces of a path: the file itself, or every Python file and notebook below a folder.

    Raises:
        FileNotFoundError: If there is no such path.
        ValueError: If a file is neither Python nor a notebook.
    """
    path = Path(path)
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            inner = file.relative_to(path).parts
            hidden = any(part.startswith(".") or part in _IGNORED_FOLDERS for part in inner)
            if file.suffix in (".py", ".ipynb") and file.is_file() and not hidden:
                yield read_piece(file, str(file.relative_to(path)))
        return
    if not path.is_file():
        raise FileNotFoundError(f"There is no file or folder {str(path)!r}.")
    if path.suffix not in (".py", ".ipynb"):
        raise ValueError(f"A Python file, a notebook or a folder can be checked, but got {str(path)!r}.")
    yield read_piece(path, path.name)


def of_cells(sources: list[str], name: str, numbers: list[int] | None = None) -> Piece:
    """Return the cells of a notebook as one piece; `numbers` are the cell numbers, 1, 2, ... by default."""
    lines: list[str] = []
    cells = []
    for number, source in zip(numbers or range(1, len(sources) + 1), sources, strict=True):
        cells.append((len(lines) + 1, number))
        lines += _replace_magics(source)
    return _parse_code(name, "\n".join(lines), cells)


def read_piece(file: Path, name: str) -> Piece:
    """Return the piece of a Python file or a notebook; `name` is its name for messages."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return Piece(name, None, f"it cannot be read: {error}", [])
    if file.suffix == ".py":
        return _parse_code(name, text, [])
    try:
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        sources = ["".join(cell["source"]) for cell in cells]
    except (ValueError, KeyError, TypeError):
        return Piece(name, None, "it is no notebook of version 4", [])
    return of_cells(sources, name)


def _parse_code(name, text, cells):
    try:
        return Piece(name, ast.parse(text), "", cells)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        broken = Piece(name, None, "", cells)
        return broken._replace(error=f"{broken.place(line)}: {error.msg}" if line else str(error))


def _replace_magics(source):
    """Return the lines of a cell, with IPython syntax replaced by statements that do nothing."""
    lines = source.splitlines()
    if lines and lines[0].startswith("%%") and not _PYTHON_CELLS.match(lines[0]):
        return ["" for _ in lines]  # a cell of another language
    try:
        ast.parse(source)
    except SyntaxError:
        return [_MAGIC.sub(r"\1pass", line) for line in lines]
    return lines
