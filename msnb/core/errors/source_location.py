"""Places in the user's code, in one notation: ``In [25] line 3`` in a notebook, ``net.py:3`` in a script."""

import os
import re
from collections.abc import Callable
from typing import Any

namers: list[Callable[[str], str | None]] = []
# files that a notebook keeps its cells in: process ids and hashes in their names mean nothing to a reader
_CELL = re.compile(r"ipykernel_\d+[\\/]|<ipython-input|__marimo__cell_|[\\/]\d+\.py$")


def register_namer(namer: Callable[[str], str | None]) -> None:
    """Add `namer(file) -> str | None`, asked first; the notebook registers one that knows its cells."""
    if namer not in namers:
        namers.append(namer)


def label(file: str) -> str:
    """Short name of a source file: its notebook cell, or its base name."""
    for namer in namers:
        name = namer(file)
        if name:
            return name
    return "cell" if _CELL.search(file) else os.path.basename(file)


def format_location(file: str, line: int, owner: Any = None) -> str:
    """Where a line stands; `owner`, the function that holds it, is not told."""
    shown = label(file)
    return f"{shown} line {line}" if shown == "cell" or shown.startswith("In [") else f"{shown}:{line}"
