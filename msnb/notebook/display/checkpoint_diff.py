"""The table of `msnb.diff`: differences between the values of two checkpoints, or of a checkpoint and a network."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.notebook.display.html import number
from msnb.notebook.display.parameter_table import ParameterTable


class Changes(ParameterTable):
    """The Parameters of two files by name: equal, changed, removed and added ones.

    Args:
        old (Mapping[str, Union[Parameter, array, str]]): values of the first file.
        new (Mapping[str, Union[Parameter, array, str]]): values of the second file.
        names (tuple[str]): names of the two files in the table.

    Attributes:
        comparison (dict[str, int]): number of Parameters that are "equal", "changed", "removed" and "added".
        largest (dict[str, float]): largest difference of each Parameter that changed in value but not in shape.
    """

    heads = ("Parameter", "Shape", "Type", "Largest difference", "Largest value", "")
    numbers_in = (3, 4)

    def __init__(self, old: Mapping[str, Any], new: Mapping[str, Any], names: tuple[str, ...] = ("old", "new")) -> None:
        self.names: tuple[str, ...] = tuple(names)
        self.title: str = f"{self.names[0]} and {self.names[1]}"
        self.largest: dict[str, float] = {}
        self.comparison: dict[str, int] = dict.fromkeys(("equal", "changed", "removed", "added"), 0)
        self._rows = [self._compare_parameter(name, old, new) for name in dict.fromkeys([*old, *new])]

    def _compare_parameter(self, name, old, new):
        for one, kind, title in ((new, "removed", self.names[0]), (old, "added", self.names[1])):
            if name not in one:
                self.comparison[kind] += 1
                value = _to_numpy((old if kind == "removed" else new)[name])
                return name, _format_shape(value), _format_dtype(value), "", "", f"only in {title}"
        a, b = _to_numpy(old[name]), _to_numpy(new[name])
        descriptions = [
            one if one == other else f"{one} -> {other}"
            for one, other in zip(*map(_format_shape_and_dtype, (a, b)), strict=True)
        ]
        row, equal = (name, *descriptions), a.shape == b.shape and a.dtype == b.dtype and _has_equal_elements(a, b)
        self.comparison["equal" if equal else "changed"] += 1
        if equal or a.shape != b.shape or "U" in (a.dtype.kind, b.dtype.kind):
            return *row, "", "", "equal" if equal else "changed"
        wide = np.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else np.float64
        a, b = a.astype(wide), b.astype(wide)
        with np.errstate(invalid="ignore"):
            difference = np.abs(b - a)
        difference = float(difference.max(where=np.isfinite(difference), initial=0.0))
        self.largest[name] = difference
        return *row, number(difference), number(float(np.abs(a).max(where=np.isfinite(a), initial=0.0))), "changed"

    def totals(self) -> str:
        """Return the counts of equal, changed, removed and added Parameters as text."""
        counts = ", ".join(f"{many} {kind}" for kind, many in self.comparison.items() if many)
        return f"{self.title}: {counts or 'no Parameters'}"

    def _format_text_rows(self):
        return self._rows


def _to_numpy(value):
    return np.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value)


def _has_equal_elements(a, b):
    return a.tobytes() == b.tobytes() or bool(np.array_equal(a, b))


def _format_shape(array):
    return "" if array.dtype.kind == "U" else str(array.shape)


def _format_dtype(array):
    return "str" if array.dtype.kind == "U" else str(mstype.pytype_to_dtype(array.dtype))


def _format_shape_and_dtype(array):
    return _format_shape(array), _format_dtype(array)
