"""Locations in the user's code, in one notation: ``In [25] line 3`` in a notebook, ``net.py:3`` in a script."""

import os
import re
from collections.abc import Callable
from typing import Any

namers: list[Callable[[str], str | None]] = []
# Matches the file names of notebook cells, which contain process ids and hashes.
_CELL = re.compile(r"ipykernel_\d+[\\/]|<ipython-input|__marimo__cell_|[\\/]\d+\.py$")


def register_namer(namer: Callable[[str], str | None]) -> None:
    """Register a function for `label`. It takes a file name and returns a short name, or None for an unknown file.
    The notebook registers one for its cells.
    """
    if namer not in namers:
        namers.append(namer)


def label(file: str) -> str:
    """Return the short name of a source file: its notebook cell, or its base name."""
    for namer in namers:
        name = namer(file)
        if name:
            return name
    return "cell" if _CELL.search(file) else os.path.basename(file)


def format_location(file: str, line: int, owner: Any = None) -> str:
    """Return the text of a line's location. `owner`, the function that contains it, is not part of the text."""
    name = label(file)
    return f"{name} line {line}" if name == "cell" or name.startswith("In [") else f"{name}:{line}"
