"""How a file of the user's code is called when it is shown."""

import os
import re
from collections.abc import Callable
from typing import Any

_namers = []


def register_namer(namer: Callable[[str], str | None]) -> Any:
    """Add `namer(file) -> str | None`, asked first; the notebook registers one that knows its cells."""
    if namer not in _namers:
        _namers.append(namer)


def label(file: str) -> str:
    """Short name of a source file: its notebook cell, or its base name."""
    for namer in _namers:
        name = namer(file)
        if name:
            return name
    # ipykernel's files carry the process id and a hash of the text: neither means anything to a reader
    if re.search(r"ipykernel_\d+[\\/]|<ipython-input", file):
        return "cell"
    return os.path.basename(file)


def show(source: tuple[Any, ...] | None) -> str:
    """``net.py:31`` for a (file, line, function) triple, "" for None."""
    return f"{label(source[0])}:{source[1]}" if source else ""
