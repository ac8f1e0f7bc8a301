"""Names of notebook cells for source files: nodes are labelled ``In [3]``, and a click in a view finds the cell."""

import sys
from typing import Any

from msnb.core.errors import source_location

_ids = {}  # file of a cell -> id of the cell in the front end; the file that ran last comes last
_running = None  # the id of the cell that runs, or ran last


def label(file: str) -> str | None:
    """Return ``In [3]`` for the file of a notebook cell, None for any other file."""
    count = _get_execution_counts().get(file)
    return f"In [{count}]" if count else None


def ids() -> Any:
    """Return {label: cell id} of the cells that have run, if the front end sends ids."""
    counts = _get_execution_counts()
    return {f"In [{counts[file]}]": cell for file, cell in _ids.items() if counts.get(file)}


def running_line() -> tuple[int, int]:
    """Return (number, line) of the running cell, for code that a magic compiles."""
    counts, frame = _get_execution_counts(), sys._getframe(1)
    # The number comes from the frame's file: IPython increments its counter before or after a cell runs, depending on
    # the release.
    while frame is not None:
        number = counts.get(frame.f_code.co_filename)
        if number:
            return number, frame.f_lineno
        frame = frame.f_back
    return shell().execution_count, 1


def files_of(cell: str | None) -> list[str]:
    """Return the source files of all versions of a cell that have run, oldest first."""
    return [file for file, other in _ids.items() if other == cell] if cell is not None else []


def file_of(cell: str | None) -> str | None:
    """Return the source file of the last version of a cell that has run, None for a cell that has not."""
    return next((file for file in reversed(files_of(cell)) if label(file)), None)


def cell_of(file: str) -> str | None:
    """Return the id of the cell of a file, None if the front end sent none."""
    return _ids.get(file)


def running_cell() -> str | None:
    """Return the id of the cell that runs, or ran last; None if the front end sent none."""
    return _running


def shell() -> Any:
    """Return the notebook's IPython shell, None outside IPython."""
    # No import: a program that has not loaded IPython does not run in a notebook.
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def _get_execution_counts():
    """Return {file: execution count}. IPython stores it in a private attribute; without it the result is empty."""
    return getattr(getattr(shell(), "compile", None), "_filename_map", None) or {}


def _record_running_cell(info):
    global _running
    running = shell()
    cell = _running = getattr(info, "cell_id", None)
    namer = getattr(getattr(running, "compile", None), "get_code_name", None)
    if cell is None or namer is None:
        return
    text = info.raw_cell or ""
    try:
        code = running.transform_cell(text)
    except Exception:  # the cell has a syntax error, so it needs no name
        return
    # IPython increments its counter before or after this event, depending on the release. Both numbers are recorded,
    # because a surplus entry has no effect.
    for count in (running.execution_count, running.execution_count - 1):
        file = namer(text, code, count)
        _ids.pop(file, None)  # so that the file of a text that runs again becomes the last entry
        _ids[file] = cell


def install() -> None:
    """Register the names of cells from now on. A second call has no effect."""
    source_location.register_namer(label)
    running = shell()
    if running is not None and _record_running_cell not in running.events.callbacks.get("pre_run_cell", ()):
        running.events.register("pre_run_cell", _record_running_cell)


def uninstall(running: Any) -> None:
    """Undo `install` for a shell."""
    if label in source_location.namers:
        source_location.namers.remove(label)
    if _record_running_cell in running.events.callbacks.get("pre_run_cell", ()):
        running.events.unregister("pre_run_cell", _record_running_cell)
