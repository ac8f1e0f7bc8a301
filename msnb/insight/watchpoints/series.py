"""Conditions that compare a value with those of earlier steps: bands of a statistic, and units that stay zero."""

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.watchpoints.conditions import Watchpoint

_FIRST = 5  # number of steps before a band is computed


class Outlier(NamedTuple):
    """A value that differs from its history.

    Attributes:
        parameter (str): "band", or "steps" for dead units.
        preset (float): end of the band; or the number of steps.
        actual (float): the statistic; or the number of steps that the units have been zero.
        note (str): text that is appended to the name of the value.
    """

    parameter: str
    preset: float
    actual: float
    note: str = ""


class Series:
    """The history of the watched values."""

    def __init__(self) -> None:
        self._statistics: dict[Any, deque[float]] = {}
        self._zero_steps: dict[Any, np.ndarray] = {}

    def add(self, watchpoint: "Watchpoint", key: Any, value: Any) -> Outlier | None:
        """Add the value of one step.

        Args:
            watchpoint (Watchpoint): the condition.
            key (Hashable): names the value.
            value (numpy.ndarray): mean magnitude of the value; for "dead" a bool per unit, True if the unit is not zero
                everywhere.

        Returns:
            Outlier, or None.
        """
        if watchpoint.condition.id == "dead":
            return self._add_units(watchpoint, key, np.asarray(value))
        return self._add_statistic(watchpoint, key, float(value))

    def _add_units(self, watchpoint, key, is_living):
        key, least = (id(watchpoint), key), watchpoint.presets["steps"]
        steps = np.where(is_living, 0, self._zero_steps.get(key, 0) + 1)
        self._zero_steps[key] = steps
        units = np.flatnonzero(steps == least)  # reported once
        if not len(units):
            return None
        listed = ", ".join(map(str, units[:8])) + (f" and {len(units) - 8} more" if len(units) > 8 else "")
        return Outlier("steps", least, least, f", unit{'s' if len(units) > 1 else ''} {listed}")

    def _add_statistic(self, watchpoint, key, value):
        history = self._statistics.setdefault((id(watchpoint), key), deque(maxlen=watchpoint.window))
        if len(history) < min(_FIRST, watchpoint.window):
            history.append(value)
            return None
        mean, deviation = float(np.mean(history)), float(np.std(history))
        width = watchpoint.band * max(deviation, 1e-6 * abs(mean))
        is_upper = any(setting.name.endswith("_gt") for setting in watchpoint.condition.settings)
        end = mean + width if is_upper else mean - width
        if np.isfinite(value):
            history.append(value)
        is_outlier = value > end if is_upper else value < end
        return Outlier("band", end, value) if is_outlier or not np.isfinite(value) else None
