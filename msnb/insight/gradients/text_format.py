"""Format numbers, lists and locations for sentences about a training."""

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.gradients.rows import Row

_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_CALL = re.compile(r"(.*) \((\d+)(?:\w\w call)?\)$")


def num(value: float) -> str:
    """Return a number with two digits."""
    return f"{value:.2g}"


def times(value: float) -> str:
    """Return a factor in words: 40 times, 1,200 times, 10⁹ times."""
    if value < 100:
        return f"{value:.0f} times"
    if value < 1e6:
        return f"{float(f'{value:.2g}'):,.0f} times"
    return f"10{str(round(math.log10(value))).translate(_SUPERSCRIPT)} times"


def listed(names: Iterable[str], most: int = 3) -> str:
    """Return the first names, and the number of other names."""
    names = list(names)
    first_names = ", ".join(names[:most])
    return f"{first_names} and {len(names) - most} more" if len(names) > most else first_names


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd, 4th, 11th."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def place_of(row: "Row") -> str:
    """Return the location of a row's operator in words: ``self.relu, 4th call``."""
    calls = []
    path, _, operator = row.name.rpartition("/")
    for text in (path, operator):
        called = _CALL.match(text)
        if called:
            path, operator = (called[1], operator) if text is path else (path, called[1])
            calls.append(f", {ordinal(int(called[2]))} call")
    return (f"self.{path}" if path else operator) + "".join(calls)
