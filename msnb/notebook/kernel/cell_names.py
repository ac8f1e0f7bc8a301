"""Which notebook cell a source file is: nodes are labelled ``In [3]``, and a click can find the cell again."""

import sys
from typing import Any

from msnb.core.errors import source_location

_ids = {}  # file of a cell -> the id its front end knows it by; the file that ran last comes last
_running = None  # the id of the cell that runs, or ran last


def label(file: str) -> str | None:
    """``In [3]`` for the file of a notebook cell, None for any other."""
    count = _counts().get(file)
    return f"In [{count}]" if count else None


def ids() -> Any:
    """{label: cell id} of the cells that ran, as far as the front end told their ids."""
    counts = _counts()
    return {f"In [{counts[file]}]": cell for file, cell in _ids.items() if counts.get(file)}


def running_place() -> tuple[int, int]:
    """(number, line) of the cell that runs, which a statement of a magic belongs to. The shell's own counter may stand
    at the next cell already: IPython counts before the cell runs or after it, by its release."""
    counts, frame = _counts(), sys._getframe(1)
    while frame is not None:
        number = counts.get(frame.f_code.co_filename)
        if number:
            return number, frame.f_lineno
        frame = frame.f_back
    return shell().execution_count, 1


def files_of(cell: str | None) -> list[str]:
    """The files of all texts that a cell has run with; the last one comes last."""
    return [file for file, other in _ids.items() if other == cell] if cell is not None else []


def cell_of(file: str) -> str | None:
    """The id of the cell that a file is the text of, None where the front end told none."""
    return _ids.get(file)


def running_cell() -> str | None:
    """The id of the cell that runs, or ran last; None where the front end told none."""
    return _running


def shell() -> Any:
    """The notebook's shell, None in a program without one."""
    # a program that never loaded IPython is no notebook, and need not load it now
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def _counts():
    """{file: execution count}. IPython keeps it for tracebacks, privately: without it a cell is called "cell"."""
    return getattr(getattr(shell(), "compile", None), "_filename_map", None) or {}


def _before_cell(info):
    global _running
    running = shell()
    cell = _running = getattr(info, "cell_id", None)
    namer = getattr(getattr(running, "compile", None), "get_code_name", None)
    if cell is None or namer is None:
        return
    text = info.raw_cell or ""
    try:
        code = running.transform_cell(text)
    except Exception:  # text that is no Python runs no network either
        return
    # releases of IPython count up before or after this event; the name that no file gets does no harm
    for count in (running.execution_count, running.execution_count - 1):
        file = namer(text, code, count)
        _ids.pop(file, None)  # a text that ran before is the last one again
        _ids[file] = cell


def install() -> None:
    """Name cells from now on; calling it again changes nothing."""
    source_location.register_namer(label)
    running = shell()
    if running is not None and _before_cell not in running.events.callbacks.get("pre_run_cell", ()):
        running.events.register("pre_run_cell", _before_cell)


def uninstall(running: Any) -> None:
    """Undo `install` for a shell."""
    if label in source_location.namers:
        source_location.namers.remove(label)
    if _before_cell in running.events.callbacks.get("pre_run_cell", ()):
        running.events.unregister("pre_run_cell", _before_cell)
