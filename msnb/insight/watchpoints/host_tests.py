"""Tests of the inputs and outputs of a step on the host, for programs that run on one CPU device.

NumPy reads the arrays of a CPU device without a copy, and a dot product is several times faster than a reduction that
XLA compiles. A step that is read late is tested while the next one runs.

A sum of squares of floats is not below any of its terms, also when it is rounded. So a sum below 2**(2 * n) shows that
every magnitude is below 2**n, and that there is no NaN.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from msnb.insight.watchpoints import bounds

if TYPE_CHECKING:  # named in annotations alone
    from msnb.insight.watchpoints.conditions import Watchpoint

_CHUNK = 1 << 15  # numbers that fit into the cache of a core, twice
_SLACK = 1e-4  # share by which a float32 sum may be off
_ROOT_OF_SMALLEST = 1e-18  # a smaller number may have the square 0
_RATIO = "abs_mean_update_ratio_"


class RatioTest(NamedTuple):
    """The test of the change of one Parameter.

    Attributes:
        place (int): index among the inputs.
        output (int): index among the outputs.
        watchpoint (Watchpoint): the condition.
    """

    place: int
    output: int
    watchpoint: "Watchpoint"


class HostTests:
    """The alarm of the inputs and outputs of a program.

    Args:
        bounded (dict[str, set]): values that are tested against a bound: indices of "inputs", of Parameters that are
            "read", and of outputs that are "written".
        finite (Sequence[int]): outputs that are tested for NaN and infinities.
        ratios (Sequence[RatioTest]): changes of Parameters.
    """

    def __init__(self, bounded: dict[str, set[Any]], finite: Sequence[int], ratios: Sequence[RatioTest]) -> None:
        self._inputs, self._read = sorted(bounded["inputs"]), sorted(bounded["read"])
        self._written, self._finite = sorted(bounded["written"]), sorted(set(finite))
        self._ratios = ratios
        self._last_read: dict[int, tuple[Any, bool]] = {}  # input -> its last array, the verdict

    def __call__(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
        """Return the alarm of a run: 1 if a condition may be met, plus 2 if a value is above its bound.

        Raises:
            RuntimeError: If an array was overwritten.
        """
        with np.errstate(all="ignore"):
            is_below = all([is_below_bound(inputs[index], bounds.TESTED) for index in self._inputs])
            is_below &= all([is_below_bound(outputs[index], bounds.WEIGHT) for index in self._written])
            is_below &= all([self._is_read_below(index, inputs[index]) for index in self._read])
            may_be_met = not all(is_finite(outputs[index]) for index in self._finite)
            may_be_met |= any(
                ratio_rings(test.watchpoint, outputs[test.output], inputs[test.place]) for test in self._ratios
            )
        return may_be_met | (not is_below) << 1

    def _is_read_below(self, index, array):
        """Test a Parameter that no step writes: its array is read once."""
        last, verdict = self._last_read.get(index, (None, False))
        if last is not array:
            verdict = is_below_bound(array, bounds.WEIGHT)
            self._last_read[index] = array, verdict
        return verdict


def is_testable(dtype: Any) -> bool:
    """Return True if the host tests arrays of this dtype quickly."""
    return dtype in (np.float32, np.float64)


def ratio_test(watchpoint: "Watchpoint", place: int | None, output: int | None, dtype: Any) -> RatioTest | None:
    """Return the test of a change if the host can do it, else None."""
    if watchpoint.function is not None or place is None or output is None or not is_testable(dtype):
        return None
    is_ratio = all(name.startswith(_RATIO) for name in watchpoint.tests)
    return RatioTest(place, output, watchpoint) if is_ratio else None


def is_below_bound(array: Any, log: int) -> bool:
    """Return True if all magnitudes are below 2**log."""
    numbers = _numbers(array)
    return bool(np.dot(numbers, numbers) < 4.0**log or np.abs(numbers).max(initial=0) < 2.0**log)


def is_finite(array: Any) -> bool:
    """Return True if there is no NaN and no infinity."""
    numbers = _numbers(array)
    return bool(np.isfinite(np.dot(numbers, numbers)) or np.isfinite(numbers).all())


def ratio_rings(watchpoint: "Watchpoint", array: Any, before: Any) -> bool:
    """Return True if the exact check of the change of a weight may meet a watchpoint, or may have an error code."""
    new, old = _numbers(array), _numbers(before)
    least = new.size * watchpoint.presets["epsilon"]
    size = None
    for name, preset in watchpoint.tests.items():
        is_upper = name == _RATIO + "gt"
        if is_upper and _is_change_below(new, old, preset, least):
            continue
        if size is None:
            size = least + sum(float(np.abs(part).sum()) for part in _chunks(old))
            change = sum(float(np.abs(a - b).sum()) for a, b in zip(_chunks(new), _chunks(old), strict=True))
        limit = preset * size
        is_quiet = change < limit * (1 - _SLACK) if is_upper else change > limit * (1 + _SLACK)
        if not (is_quiet and math.isfinite(change) and math.isfinite(size)):
            return True
    return False


def _is_change_below(new, old, preset, least):
    """Return True if a change is clearly below a share of the magnitudes: few of them suffice to see it."""
    scratch, square = np.empty(min(new.size, _CHUNK), new.dtype), 0.0
    for a, b in zip(_chunks(new), _chunks(old), strict=True):
        part = np.subtract(a, b, out=scratch[: a.size])
        square += float(np.dot(part, part))
    change = math.sqrt(new.size) * math.sqrt(square) + new.size * _ROOT_OF_SMALLEST  # not below the sum
    size = least
    for part in _chunks(old):
        size += float(np.abs(part).sum())
        if change < preset * size * (1 - _SLACK) and math.isfinite(size):
            return True
    return False


def _chunks(numbers):
    return (numbers[start : start + _CHUNK] for start in range(0, numbers.size, _CHUNK))


def _numbers(array):
    return np.asarray(array).reshape(-1)
