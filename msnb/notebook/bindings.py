"""Names of the session: find the name of an object, and the notebook cell that last bound a name."""

import re
import weakref
from typing import Any

from msnb.nn.cell import Cell

_PATH = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*|\[\d+\])*")
_STEP = re.compile(r"[^\W\d]\w*|\[\d+\]")

_bound = {}  # name -> (weak reference to the bound object, id of the cell that bound it)


def find_path(value: Any, space: dict[str, Any], text: str) -> tuple[str, ...] | None:
    """Return the path, such as ``("net",)`` or ``("model", "blocks", "[0]")``, from a name of the session to an object.

    Args:
        value (Any): The object.
        space (dict): The session's names.
        text (str): Source of the cell that uses the object. A path that occurs in this source is preferred.

    Returns:
        tuple[str], None if no path leads to the object.
    """
    for path in _PATH.findall(text):
        steps = tuple(_STEP.findall(path))
        for end in range(len(steps), 0, -1):
            if follow_path(steps[:end], space) is value:
                return steps[:end]
    return next(((name,) for name, other in space.items() if other is value and not name.startswith("_")), None)


def follow_path(steps: tuple[str, ...], space: dict[str, Any]) -> Any:
    """Return the object at the end of a path, None if the path is broken. No user code runs, properties included."""
    value = space.get(steps[0])
    for step in steps[1:]:
        cells = value._cells if isinstance(value, Cell) else {}
        if step[0] == "[":
            index = int(step[1:-1])
            is_row = type(value) in (list, tuple) and index < len(value)
            value = value[index] if is_row else cells.get(str(index))
        else:
            value = cells.get(step) or getattr(value, "__dict__", {}).get(step)
    return value


def show_path(steps: tuple[str, ...]) -> str:
    """Return a path in Python syntax."""
    return steps[0] + "".join(step if step[0] == "[" else f".{step}" for step in steps[1:])


def last_cell(name: str) -> str | None:
    """Return the id of the cell that last bound a name, None if it is unknown."""
    return _bound.get(name, (None, None))[1]


def record(space: dict[str, Any], cell: str | None) -> None:
    """Record the names that a notebook cell has bound to networks and functions. Called at the end of each cell."""
    for name, value in space.items():
        if not callable(value) or isinstance(value, type):
            continue
        before = _bound.get(name)
        if before is None or before[0]() is not value:
            try:
                _bound[name] = weakref.ref(value), cell
            except TypeError:
                _bound.pop(name, None)
    for name in _bound.keys() - space.keys():
        del _bound[name]
