"""Text of a run's file `run.json`: JSON with NaN and infinity.

JSON has no NaN and no infinity, so they are written as null. The list ``"not_finite"`` restores them: each entry, such
as ``["summary", "loss", "NaN"]``, is the path to a value (names and list indices), followed by the value.
"""

import json
import math
from typing import Any

_MARKS = "not_finite"


def text_of(values: dict[str, Any]) -> str:
    """Encode a dict of plain values: str, numbers, None, lists and dicts of these."""
    marks: list[Any] = []
    finite = _replace_non_finite(values, (), marks)
    return json.dumps({**finite, _MARKS: marks} if marks else finite, indent=1, allow_nan=False)


def _replace_non_finite(value: Any, path: tuple[Any, ...], marks: list[Any]) -> Any:
    if isinstance(value, dict):
        return {name: _replace_non_finite(item, (*path, name), marks) for name, item in value.items()}
    if isinstance(value, list):
        return [_replace_non_finite(item, (*path, index), marks) for index, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        marks.append([*path, "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"])
        return None
    return value


def read(text: str) -> Any:
    """Decode a text of :func:`text_of`, NaN and infinity included. An entry of ``"not_finite"`` whose path does not
    lead to a null is ignored.

    Raises:
        ValueError: If it is not JSON.
    """
    values = json.loads(text)
    marks = values.pop(_MARKS, None) if isinstance(values, dict) else None
    for mark in marks if isinstance(marks, list) else ():
        if isinstance(mark, list) and len(mark) > 1 and mark[-1] in ("NaN", "Infinity", "-Infinity"):
            _restore_non_finite(values, mark[:-1], float(mark[-1]))
    return values


def _restore_non_finite(values: Any, path: list[Any], value: float) -> None:
    for name in path[:-1]:
        values = _get_item_or_default(values, name)
    if _get_item_or_default(values, path[-1], _MARKS) is None:
        values[path[-1]] = value


def _get_item_or_default(container: Any, name: Any, missing: Any = None) -> Any:
    """Return the item `name` of a dict, or at that index of a list; `missing` if there is none."""
    if isinstance(container, dict) and isinstance(name, str):
        return container.get(name, missing)
    if isinstance(container, list) and type(name) is int and 0 <= name < len(container):
        return container[name]
    return missing
