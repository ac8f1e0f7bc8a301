"""What differs between the values of two checkpoints, or of a checkpoint and a network, as a table: `msnb.diff`."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.notebook.display.html import number
from msnb.notebook.display.parameter_table import ParameterTable


class Changes(ParameterTable):
    """The Parameters of two files by name: what is equal, changed, removed and added.

    Args:
        old (Mapping[str, Union[Parameter, array, str]]): what one holds.
        new (Mapping[str, Union[Parameter, array, str]]): what the other holds.
        names (tuple[str]): what to call them.

    Attributes:
        comparison (dict[str, int]): how many Parameters are "equal", "changed", "removed" and "added".
        largest (dict[str, float]): of each Parameter that is changed in value alone, the largest difference.
    """

    heads = ("Parameter", "Shape", "Type", "Largest difference", "Largest value", "")
    numbers_in = (3, 4)

    def __init__(self, old: Mapping[str, Any], new: Mapping[str, Any], names: tuple[str, ...] = ("old", "new")) -> None:
        self.names: tuple[str, ...] = tuple(names)
        self.title: str = f"{self.names[0]} and {self.names[1]}"
        self.largest: dict[str, float] = {}
        self.comparison: dict[str, int] = dict.fromkeys(("equal", "changed", "removed", "added"), 0)
        self._rows = [self._row(name, old, new) for name in dict.fromkeys([*old, *new])]

    def _row(self, name, old, new):
        for one, kind, title in ((new, "removed", self.names[0]), (old, "added", self.names[1])):
            if name not in one:
                self.comparison[kind] += 1
                value = _array((old if kind == "removed" else new)[name])
                return name, _shape(value), _type(value), "", "", f"only in {title}"
        a, b = _array(old[name]), _array(new[name])
        told = [one if one == other else f"{one} -> {other}" for one, other in zip(*map(_told, (a, b)), strict=True)]
        row, equal = (name, *told), a.shape == b.shape and a.dtype == b.dtype and _same(a, b)
        self.comparison["equal" if equal else "changed"] += 1
        if equal or a.shape != b.shape or "U" in (a.dtype.kind, b.dtype.kind):
            return *row, "", "", "equal" if equal else "changed"
        wide = np.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else np.float64
        a, b = a.astype(wide), b.astype(wide)
        with np.errstate(invalid="ignore"):
            apart = np.abs(b - a)
        apart = float(apart.max(where=np.isfinite(apart), initial=0.0))
        self.largest[name] = apart
        return *row, number(apart), number(float(np.abs(a).max(where=np.isfinite(a), initial=0.0))), "changed"

    def totals(self) -> str:
        """In words, how much differs."""
        said = ", ".join(f"{many} {kind}" for kind, many in self.comparison.items() if many)
        return f"{self.title}: {said or 'no Parameters'}"

    def _texts(self):
        return self._rows


def _array(value):
    return np.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value)


def _same(a, b):
    return a.tobytes() == b.tobytes() or bool(np.array_equal(a, b))


def _shape(array):
    return "" if array.dtype.kind == "U" else str(array.shape)


def _type(array):
    return "str" if array.dtype.kind == "U" else str(mstype.pytype_to_dtype(array.dtype))


def _told(array):
    return _shape(array), _type(array)
