"""Show values on a graph: one per node, summed over scopes, coloured, and written with their units.

This module colours static pictures; `notebook/graph/src/colour.js` colours the widget. Both use the same colour ramps.
"""

import math
import numbers
import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .compare import SAME, compare

if TYPE_CHECKING:  # used only in annotations
    from msnb.ir.anf import FuncGraph
    from msnb.ir.layout.hierarchy import Hierarchy

FOLDS, SCALES = ("sum", "max", "largest"), ("linear", "log")
LEVELS = 9
# two colour ramps, for light and for dark pages; colour-blind readers can distinguish their colours
_RAMPS = (
    ((247, 244, 226), (233, 208, 130), (205, 142, 75), (148, 73, 71), (82, 28, 66)),
    ((38, 38, 46), (84, 42, 80), (156, 66, 84), (214, 130, 82), (244, 214, 140)),
)
# colours for values below zero (blue), near zero (neutral) and above zero (orange)
_TWO_SIDED = (
    ((33, 88, 158), (146, 184, 220), (245, 243, 238), (232, 170, 116), (166, 78, 20)),
    ((126, 178, 234), (54, 92, 138), (38, 40, 46), (140, 80, 40), (240, 160, 92)),
)
_DECADES = 1e6  # the largest range of a logarithmic scale
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def check_column(key: str, column: dict[Any, Any], count: int) -> dict[str, Any]:
    """Return a column with its defaults filled in, and its numbers as floats.

    Args:
        key (str): the key of the column.
        column (dict): ``values``, one per node of ``graph.all_nodes()``, None for a node without one; and optionally
            ``label``, ``unit``, ``note`` (text per node, or None), ``fold`` (the value of a closed scope: ``"sum"`` or
            ``"max"`` of its nodes, or ``"largest"``, the value of largest magnitude) and ``scale`` (``"linear"`` or
            ``"log"``).
        count (int): number of nodes.

    Raises:
        ValueError: If there is not one value per node, or an option is unknown.
        TypeError: If a value is no number.
    """
    unknown = set(column) - {"label", "unit", "values", "note", "fold", "scale"}
    if unknown or "values" not in column:
        raise ValueError(
            f"For 'GraphView', column '{key}' should have 'values' and may have 'label', 'unit', 'note', "
            f"'fold' and 'scale', but got {sorted(column)}."
        )
    result = {
        "label": str(column.get("label", key)),
        "unit": str(column.get("unit", "")),
        "fold": column.get("fold", "sum"),
        "scale": column.get("scale", "linear"),
    }
    for name, allowed in (("fold", FOLDS), ("scale", SCALES)):
        if result[name] not in allowed:
            raise ValueError(
                f"For 'GraphView', '{name}' of column '{key}' should be one of {', '.join(allowed)}, but "
                f"got {result[name]!r}."
            )
    for name in ("values", "note"):
        entries = column.get(name)
        if entries is None and name == "note":
            continue
        entries = list(entries)
        if len(entries) != count:
            raise ValueError(
                f"For 'GraphView', '{name}' of column '{key}' should have one value per node ({count}), "
                f"but got {len(entries)}."
            )
        result[name] = entries
    for value in result["values"]:
        if value is not None and not isinstance(value, numbers.Real) and not hasattr(value, "__float__"):
            raise TypeError(
                f"For 'GraphView', 'values' of column '{key}' should be numbers or None, but got {value!r}."
            )
    result["values"] = [None if value is None else float(value) for value in result["values"]]
    return result


def pack_column(column: Any, order: Any = None) -> Any:
    """Return a column for JSON. Numbers are rounded to four digits; NaN and infinity become strings."""

    def short(value):
        if value is None:
            return None
        if not math.isfinite(value):
            return str(value)
        value = float(f"{value:.4g}")
        return int(value) if value.is_integer() and abs(value) < 1e15 else value

    numbers = range(len(column["values"])) if order is None else order
    result = {**column, "values": [short(column["values"][number]) for number in numbers]}
    if "note" in column:
        result["note"] = [column["note"][number] for number in numbers]
    return result


def transfer_column(old: "FuncGraph", new: "FuncGraph", column: dict[str, Any]) -> dict[str, Any]:
    """Convert the column of an old graph to one of a new graph: nodes that compute the same keep their values, others
    have none.
    """
    if old is new:
        return column
    comparison, count = compare(old, new), len(new)
    result = {**column, "values": [None] * count}
    if "note" in column:
        result["note"] = [None] * count
    for source, target in comparison.links:
        if comparison.first[source] == comparison.second[target] == SAME:
            for name in ("values", "note"):
                if name in result:
                    result[name][target] = column[name][source]
    return result


def fold_over_scopes(tree: "Hierarchy", column: dict[str, Any]) -> dict[int, float]:
    """Return {scope index: the values in the scope, combined by ``fold``}; a scope without values is missing."""
    combine, totals = _COMBINATIONS[column["fold"]], {}
    for node in tree.nodes:
        value = column["values"][node.id]
        if value is None:
            continue
        scope = tree.home[node.id]
        while scope is not None:
            before = totals.get(scope.index)
            totals[scope.index] = value if before is None else combine(before, value)
            scope = scope.parent
    return totals


def _select_larger_or_nan(a, b):
    return a if math.isnan(a) or a > b else b  # NaN takes precedence, so that the reader sees it


def _select_larger_magnitude_or_nan(a, b):
    return a if math.isnan(a) or abs(a) > abs(b) else b


_COMBINATIONS = {"sum": operator.add, "max": _select_larger_or_nan, "largest": _select_larger_magnitude_or_nan}


class Scale:
    """Colour scale: positions of values between 0 and 1, and their colours.

    Args:
        values (Iterable[float]): the values drawn.
        log (bool): whether the scale is logarithmic; a linear scale of values above zero starts at zero.
    """

    def __init__(self, values: Iterable[float], log: bool) -> None:
        finite = [value for value in values if value is not None and math.isfinite(value)]
        self.log = log
        self.high: float = max(finite, default=0.0)
        self.low: float = min(finite, default=0.0)
        self.two_sided: bool = not log and self.low < 0  # true even if all values are negative: dark is far from 0
        if log:
            positive = [value for value in finite if value > 0]
            self.low = max(min(positive, default=self.high / 10), self.high / _DECADES)
        elif self.two_sided:
            self.high = max(self.high, -self.low)
            self.low = -self.high
        else:
            self.low, self.high = min(self.low, 0.0), max(self.high, 0.0)

    def level(self, value: float) -> int | None:
        """Return the index of the colour of a value, 0 to ``LEVELS - 1``; None for a value that is not finite."""
        if not math.isfinite(value):
            return None
        if self.log:
            wide = math.log(self.high / self.low) if 0 < self.low < self.high else 0.0
            position = 0.0 if value <= 0 else 1.0 if not wide else max(0.06, math.log(value / self.low) / wide)
        else:
            position = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.0
        return round(min(1.0, max(0.0, position)) * (LEVELS - 1))

    def colours(self, dark: bool = False) -> Any:
        """Return (fill, text colour) of each level, as CSS."""
        stops, colours = (_TWO_SIDED if self.two_sided else _RAMPS)[dark], []
        for level in range(LEVELS):
            at = level / (LEVELS - 1) * (len(stops) - 1)
            low = min(len(stops) - 2, int(at))
            rgb = [round(a + (b - a) * (at - low)) for a, b in zip(stops[low], stops[low + 1], strict=True)]
            colours.append(("#{:02x}{:02x}{:02x}".format(*rgb), "#000" if _compute_luminance(rgb) > 0.179 else "#fff"))
        return colours


def _compute_luminance(rgb):
    """Return the relative luminance of WCAG, 0 to 1. At 0.179 black and white have equal contrast. src/ink.js has
    the same function."""
    red, green, blue = [v / 3295 if v <= 10 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in rgb]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def human(value: Any, unit: str = "") -> str:
    """Return a number with a readable unit: 0.00042 s is 420 µs, 1234567 B is 1.23 MB."""
    if value is None:
        return "–"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Inf" if value > 0 else "-Inf"
    if unit in _SECONDS:
        value *= _SECONDS[unit]
        size = abs(value)
        step, unit = (
            (1.0, "s")
            if size >= 1 or not value
            else (1e-3, "ms")
            if size >= 1e-3
            else (1e-6, "µs")
            if size >= 1e-6
            else (1e-9, "ns")
        )
        return f"{_format_three_digits(value / step)} {unit}"
    for letter in ("", "k", "M", "G", "T", "P"):
        if abs(value) < 999.5 or letter == "P":
            break
        value /= 1000
    return f"{_format_three_digits(value)}{' ' if letter or unit else ''}{letter}{unit}"


def _format_three_digits(value):
    if not value:
        return "0"
    if abs(value) < 0.01:
        return f"{value:.1e}".replace("e-0", "e-")
    return str(int(value)) if value == int(value) else f"{value:.3g}"
