"""Tests of the inputs and outputs of a step on the host, for programs that run on one CPU device.

NumPy reads the arrays of a CPU device without a copy, and a dot product is several times faster than a reduction that
XLA compiles. A step that is read late is tested while the next one runs.

A sum of squares of floats is not below any of its terms, also when it is rounded. So a sum below 2**(2 * n) shows that
every magnitude is below 2**n, and that there is no NaN.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from msnb.insight.watchpoints import bounds

if TYPE_CHECKING:  # named in annotations alone
    from msnb.insight.watchpoints.conditions import Watchpoint

RINGS, ABOVE, WEIGHT_RINGS = 1, 2, 4  # bits of an alarm: a condition may be met; a bound is exceeded; one of a weight
_CHUNK = 1 << 16  # numbers that fit into the cache of a core
_SLACK = 1e-4  # share by which a float32 sum may be off
_ROOT_OF_SMALLEST = 1e-18  # a smaller number may have the square 0
_RATIO = "abs_mean_update_ratio_"


class RatioTest(NamedTuple):
    """The test of the change of one Parameter.

    Attributes:
        place (int): index among the inputs.
        output (int): index among the outputs.
        presets (tuple): (True for an upper limit of the update ratio and False for a lower one, the limit) of each
            test.
        epsilon (float): see the condition.
    """

    place: int
    output: int
    presets: tuple[tuple[bool, float], ...]
    epsilon: float

    def rings(self, array: Any, before: Any) -> bool:
        """Return True if the exact check of a change may meet the condition, or may have an error code."""
        new, old = np.asarray(array).reshape(-1), np.asarray(before).reshape(-1)
        sums = None
        for is_upper, preset in self.presets:
            if is_upper and _is_change_below(new, old, preset, self.epsilon):
                continue
            sums = sums or _sum_magnitudes(new, old)
            change, size = sums
            limit = preset * (size + new.size * self.epsilon)
            is_quiet = change < limit * (1 - _SLACK) if is_upper else change > limit * (1 + _SLACK)
            if not (is_quiet and np.isfinite(change) and np.isfinite(size)):
                return True
        return False


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
        """Return the alarm of a run: bits `ABOVE` and `WEIGHT_RINGS`.

        Raises:
            RuntimeError: If an array was overwritten.
        """
        with np.errstate(all="ignore"):
            is_below = (
                all(is_below_bound(inputs[index], bounds.TESTED) for index in self._inputs)
                and all(is_below_bound(outputs[index], bounds.WEIGHT) for index in self._written)
                and all(self._is_read_below(index, inputs[index]) for index in self._read)
            )
            may_be_met = any(test.rings(outputs[test.output], inputs[test.place]) for test in self._ratios)
            may_be_met = may_be_met or not all(is_finite(outputs[index]) for index in self._finite)
        return (WEIGHT_RINGS if may_be_met else 0) | (0 if is_below else ABOVE)

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


def ratio_test(watchpoint: "Watchpoint", place: int | None, output: int, dtype: Any) -> RatioTest | None:
    """Return the test of a change if the host can do it, else None."""
    tests = watchpoint.tests
    is_ratio = watchpoint.function is None and all(name.startswith(_RATIO) for name in tests)
    if not is_ratio or place is None or not is_testable(dtype):
        return None
    presets = tuple((name.endswith("_gt"), float(preset)) for name, preset in tests.items())
    return RatioTest(place, output, presets, watchpoint.presets["epsilon"])


def is_below_bound(array: Any, log: int) -> bool:
    """Return True if all magnitudes are below 2**log."""
    numbers = np.asarray(array)
    return bool(np.vdot(numbers, numbers) < 4.0**log or np.abs(numbers).max(initial=0) < 2.0**log)


def is_finite(array: Any) -> bool:
    """Return True if there is no NaN and no infinity."""
    numbers = np.asarray(array)
    return bool(np.isfinite(np.vdot(numbers, numbers)) or np.isfinite(numbers).all())


@functools.lru_cache(256)
def are_value_tests(watchpoints: tuple["Watchpoint", ...]) -> bool:
    """Return True if the host can do the tests of a value: for NaN and infinities, and of its mean magnitude."""
    return all(
        w.function is None and (w.condition.is_overflow or w.tests.keys() <= {"abs_mean_gt", "abs_mean_lt"})
        for w in watchpoints
    )


def value_rings(watchpoints: Sequence["Watchpoint"], array: Any) -> bool:
    """Return True if the exact check of a value may meet one of the watchpoints, or may have an error code."""
    if not is_finite(array):
        return True
    tests = [test for w in watchpoints if not w.condition.is_overflow for test in w.tests.items()]
    if not tests:
        return False
    numbers = np.asarray(array)
    size = float(np.abs(numbers).sum()) / numbers.size
    return not np.isfinite(size) or any(
        size * (1 + _SLACK) > preset if name == "abs_mean_gt" else size * (1 - _SLACK) < preset
        for name, preset in tests
    )


def _is_change_below(new, old, preset, epsilon):
    """Return True if a change is clearly below a share of the magnitudes: few of them suffice to see it."""
    square, size = 0.0, new.size * epsilon
    for a, b in _chunks(new, old):
        part = a - b
        square += float(np.dot(part, part))
    change = float(np.sqrt(new.size * square)) + new.size * _ROOT_OF_SMALLEST  # not below the sum of magnitudes
    for part in (old[:1024], old[1024:]):
        size += float(np.abs(part).sum())
        if np.isfinite(size) and change < preset * size * (1 - _SLACK):
            return True
    return False


def _sum_magnitudes(new, old):
    """Return the sums of the magnitudes of the changes and of the old values."""
    sums = [(float(np.abs(a - b).sum()), float(np.abs(b).sum())) for a, b in _chunks(new, old)]
    return sum(change for change, _ in sums), sum(size for _, size in sums)


def _chunks(new: np.ndarray, old: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    if new.size <= _CHUNK:
        yield new, old
        return
    for start in range(0, new.size, _CHUNK):
        yield new[start : start + _CHUNK], old[start : start + _CHUNK]
