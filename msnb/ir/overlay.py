"""Values that are laid over a graph: one per node, summed up over scopes, coloured, and written with their units.

What the picture does here, the widget does in `notebook/graph/src/colour.js`; both use the same ramps.
"""

import math
import numbers
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .compare import SAME, compare

if TYPE_CHECKING:  # named in annotations alone
    from msnb.ir.anf import FuncGraph
    from msnb.ir.hierarchy import Hierarchy

FOLDS, SCALES = ("sum", "max"), ("linear", "log")
LEVELS = 9
# from light to dark, told apart by colour-blind readers; the second is for dark pages
_RAMPS = (
    ((247, 244, 226), (233, 208, 130), (205, 142, 75), (148, 73, 71), (82, 28, 66)),
    ((38, 38, 46), (84, 42, 80), (156, 66, 84), (214, 130, 82), (244, 214, 140)),
)
# below and above nothing: blue, neutral, orange
_TWO_SIDED = (
    ((33, 88, 158), (146, 184, 220), (245, 243, 238), (232, 170, 116), (166, 78, 20)),
    ((126, 178, 234), (54, 92, 138), (38, 40, 46), (140, 80, 40), (240, 160, 92)),
)
_DECADES = 1e6  # what a logarithmic scale spans at most
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def checked(key: str, column: dict[Any, Any], count: int) -> dict[str, Any]:
    """A column with everything it leaves out, and its numbers as floats.

    Args:
        key (str): what it is called by.
        column (dict): ``values``, one per node of ``graph.all_nodes()``, None for a node without one; and, as wanted,
            ``label``, ``unit``, ``note`` (words per node, or None), ``fold`` (what a closed scope shows of the nodes
            in it: ``"sum"`` or ``"max"``) and ``scale`` (``"linear"`` or ``"log"``).
        count (int): number of nodes.

    Raises:
        ValueError: If there is not one value per node, or a word is none of those.
        TypeError: If a value is no number.
    """
    unknown = set(column) - {"label", "unit", "values", "note", "fold", "scale"}
    if unknown or "values" not in column:
        raise ValueError(
            f"For 'GraphView', column '{key}' should have 'values' and may have 'label', 'unit', 'note', "
            f"'fold' and 'scale', but got {sorted(column)}."
        )
    made = {
        "label": str(column.get("label", key)),
        "unit": str(column.get("unit", "")),
        "fold": column.get("fold", "sum"),
        "scale": column.get("scale", "linear"),
    }
    for name, known in (("fold", FOLDS), ("scale", SCALES)):
        if made[name] not in known:
            raise ValueError(
                f"For 'GraphView', '{name}' of column '{key}' should be one of {', '.join(known)}, but "
                f"got {made[name]!r}."
            )
    for name in ("values", "note"):
        given = column.get(name)
        if given is None and name == "note":
            continue
        given = list(given)
        if len(given) != count:
            raise ValueError(
                f"For 'GraphView', '{name}' of column '{key}' should have one value per node ({count}), "
                f"but got {len(given)}."
            )
        made[name] = given
    for value in made["values"]:
        if value is not None and not isinstance(value, numbers.Real) and not hasattr(value, "__float__"):
            raise TypeError(
                f"For 'GraphView', 'values' of column '{key}' should be numbers or None, but got {value!r}."
            )
    made["values"] = [None if value is None else float(value) for value in made["values"]]
    return made


def packed(column: Any, order: Any = None) -> Any:
    """A column ready for JSON, four digits of each number; JSON knows neither NaN nor Inf, which become text."""

    def short(value):
        if value is None:
            return None
        if not math.isfinite(value):
            return str(value)
        value = float(f"{value:.4g}")
        return int(value) if value.is_integer() and abs(value) < 1e15 else value

    picked = range(len(column["values"])) if order is None else order
    made = {**column, "values": [short(column["values"][number]) for number in picked]}
    if "note" in column:
        made["note"] = [column["note"][number] for number in picked]
    return made


def carried(old: "FuncGraph", new: "FuncGraph", column: dict[str, Any]) -> dict[str, Any]:
    """The column of one graph on another: nodes that compute the same keep their values, others have none."""
    if old is new:
        return column
    found, count = compare(old, new), len(new)
    made = {**column, "values": [None] * count}
    if "note" in column:
        made["note"] = [None] * count
    for source, target in found.links:
        if found.first[source] == found.second[target] == SAME:
            for name in ("values", "note"):
                if name in made:
                    made[name][target] = column[name][source]
    return made


def over_scopes(tree: "Hierarchy", column: dict[str, Any]) -> dict[int, float]:
    """{scope index: sum or largest of the values in it}; a scope without any is missing."""
    total, found = column["fold"] == "sum", {}
    for node in tree.nodes:
        value = column["values"][node.id]
        if value is None:
            continue
        scope = tree.home[node.id]
        while scope is not None:
            before = found.get(scope.index)
            found[scope.index] = value if before is None else before + value if total else _larger(before, value)
            scope = scope.parent
    return found


def _larger(a, b):
    return a if math.isnan(a) or a > b else b  # one NaN inside is what the reader has to know


class Scale:
    """Places of values between 0 and 1, and their colours.

    Args:
        values (Iterable[float]): what is drawn.
        log (bool): whether equal factors are equal distances; a linear scale of values above zero starts at zero.
    """

    def __init__(self, values: Iterable[float], log: bool) -> None:
        known = [value for value in values if value is not None and math.isfinite(value)]
        self.log = log
        self.high: float = max(known, default=0.0)
        self.low: float = min(known, default=0.0)
        self.two_sided: bool = not log and self.low < 0 < self.high
        if log:
            positive = [value for value in known if value > 0]
            self.low = max(min(positive, default=self.high / 10), self.high / _DECADES)
        elif self.two_sided:
            self.high = max(self.high, -self.low)
            self.low = -self.high
        else:
            self.low, self.high = min(self.low, 0.0), max(self.high, 0.0)

    def level(self, value: float) -> int | None:
        """Number of the colour, 0 to ``LEVELS - 1``; None for a value that is not finite."""
        if not math.isfinite(value):
            return None
        if self.log:
            wide = math.log(self.high / self.low) if 0 < self.low < self.high else 0.0
            place = 0.0 if value <= 0 else 1.0 if not wide else max(0.06, math.log(value / self.low) / wide)
        else:
            place = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.0
        return round(min(1.0, max(0.0, place)) * (LEVELS - 1))

    def colours(self, dark: bool = False) -> Any:
        """(fill, ink) of each level, as CSS."""
        stops, made = (_TWO_SIDED if self.two_sided else _RAMPS)[dark], []
        for level in range(LEVELS):
            at = level / (LEVELS - 1) * (len(stops) - 1)
            low = min(len(stops) - 2, int(at))
            rgb = [round(a + (b - a) * (at - low)) for a, b in zip(stops[low], stops[low + 1], strict=True)]
            made.append(("#{:02x}{:02x}{:02x}".format(*rgb), "#000" if _lightness(rgb) > 0.179 else "#fff"))
        return made


def _lightness(rgb):
    """As WCAG measures it, 0 to 1: at 0.179 black and white differ from a colour alike. The twin of src/ink.js."""
    red, green, blue = [v / 3295 if v <= 10 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in rgb]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def human(value: Any, unit: str = "") -> str:
    """A number as people write it: 0.00042 s is 420 µs, 1234567 B is 1.23 MB."""
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
        return f"{_digits(value / step)} {unit}"
    for letter in ("", "k", "M", "G", "T", "P"):
        if abs(value) < 999.5 or letter == "P":
            break
        value /= 1000
    return f"{_digits(value)}{' ' if letter or unit else ''}{letter}{unit}"


def _digits(value):
    if not value:
        return "0"
    if abs(value) < 0.01:
        return f"{value:.1e}".replace("e-0", "e-")
    return str(int(value)) if value == int(value) else f"{value:.3g}"
