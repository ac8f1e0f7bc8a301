"""The text of a run's `run.json`.

JSON has no NaN and no infinity: they stand as null, and ``"not_finite"`` says where, and which: a list of
``["summary", "loss", "NaN"]``, the names (and places in lists) that lead to the value, and what it is.
"""

import json
import math
from typing import Any

_MARKS = "not_finite"


def text_of(told: dict[str, Any]) -> str:
    """The text of plain values by name: str, numbers, None, lists and dicts of these."""
    marks: list[Any] = []
    finite = _finite(told, (), marks)
    return json.dumps({**finite, _MARKS: marks} if marks else finite, indent=1, allow_nan=False)


def _finite(value: Any, path: tuple[Any, ...], marks: list[Any]) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item, (*path, name), marks) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item, (*path, place), marks) for place, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        marks.append([*path, "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"])
        return None
    return value


def read(text: str) -> Any:
    """What such a text says, with the values that are marked; a mark that fits nothing changes nothing.

    Raises:
        ValueError: If it is no JSON.
    """
    told = json.loads(text)
    marks = told.pop(_MARKS, None) if isinstance(told, dict) else None
    for mark in marks if isinstance(marks, list) else ():
        if isinstance(mark, list) and len(mark) > 1 and mark[-1] in ("NaN", "Infinity", "-Infinity"):
            _put(told, mark[:-1], float(mark[-1]))
    return told


def _put(told: Any, path: list[Any], value: float) -> None:
    for name in path[:-1]:
        told = _at(told, name)
    if _at(told, path[-1], _MARKS) is None:
        told[path[-1]] = value


def _at(told: Any, name: Any, missing: Any = None) -> Any:
    """What is called `name` in a dict, or stands at that place of a list; `missing` where there is nothing."""
    if isinstance(told, dict) and isinstance(name, str):
        return told.get(name, missing)
    if isinstance(told, list) and type(name) is int and 0 <= name < len(told):
        return told[name]
    return missing
