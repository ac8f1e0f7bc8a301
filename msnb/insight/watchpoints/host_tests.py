"""Tests of the inputs, outputs and values of a step on the host, for programs that run on one CPU device.

NumPy reads the arrays of a CPU device without a copy, and a dot product is several times faster than a reduction that
XLA compiles. If the alarm of a step is read later, the step is tested while the next one runs. XLA also has less to
compile, because a value that the host tests is only one more output of the program.

A sum of squares of floats is not below any of its terms, also when it is rounded. So a sum below 2**(2 * n) shows that
every magnitude is below 2**n, and that there is no NaN.
"""

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from msnb.insight.watchpoints import bounds

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.watchpoints.conditions import Watchpoint

# Bits of an alarm: a condition may be met; a value exceeds its bound; a condition of a weight may be met.
RINGS, ABOVE, WEIGHT_RINGS = 1, 2, 4
_CHUNK = 1 << 16  # numbers that fit into the cache of a core
_SLACK = 1e-4  # largest relative error of a float32 sum
_ROUNDING = 1e-9  # largest relative error of a share of numbers in float64
_FEW = 1024  # numbers that are tested first
_ROOT_OF_SMALLEST = 1e-18  # a smaller number may have the square 0
_RATIO = "abs_mean_update_ratio_"


class RatioTest(NamedTuple):
    """The test of the change of one Parameter.

    Attributes:
        place (int): index among the inputs.
        output (int): index among the outputs.
        presets (tuple): (True for an upper limit of the update ratio and False for a lower one, the limit) of each
            test.
        epsilon (float): epsilon of the condition.
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
        self._last_read: dict[int, tuple[Any, bool]] = {}  # index of an input -> (its last array, result of the test)

    def __call__(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
        """Return the alarm of a run: bits `ABOVE` and `WEIGHT_RINGS`.

        Args:
            inputs (Sequence): its inputs.
            outputs (Sequence): its outputs.

        Raises:
            RuntimeError: If an array was overwritten.
        """
        with np.errstate(all="ignore"):
            is_below = (
                all(is_below_bound(inputs[index], bounds.TESTED) for index in self._inputs)
                and all(is_below_bound(outputs[i], bounds.WEIGHT) for i in self._written)
                and all(self._is_parameter_below_bound(index, inputs[index]) for index in self._read)
            )
            may_be_met = any(test.rings(outputs[test.output], inputs[test.place]) for test in self._ratios)
            may_be_met = may_be_met or not all(is_finite(outputs[i]) for i in self._finite)
        return (WEIGHT_RINGS if may_be_met else 0) | (0 if is_below else ABOVE)

    def _is_parameter_below_bound(self, index, array):
        """Return True if a Parameter that no step writes is below its bound. Each array is read once."""
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
    is_whole = watchpoint.function is None and not watchpoint.is_per_channel
    is_ratio = is_whole and all(name.startswith(_RATIO) for name in tests)
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
    """Return True if the host can do the tests of a value."""
    return all(
        w.condition.is_overflow or w.function is None and not w.is_per_channel and w.tests.keys() <= _QUIET.keys()
        for w in watchpoints
    )


class ValueTest:
    """The test of a value of a node.

    Args:
        watchpoints (Sequence[Watchpoint]): the conditions, see `are_value_tests`.
        is_finite (bool): True to set the bit `RINGS` if there is a NaN or an infinity. It is also set if there are
            conditions.
        is_bounded (bool): True to test the value against a bound, see `bounds`. Default: False.
    """

    def __init__(self, watchpoints: Sequence["Watchpoint"], is_finite: bool, is_bounded: bool = False) -> None:
        self._is_finite, self._is_bounded = is_finite or bool(watchpoints), is_bounded
        self._tests = [
            (_QUIET[name], preset, w.presets)
            for w in watchpoints
            if not w.condition.is_overflow
            for name, preset in w.tests.items()
        ]

    def __call__(self, array: Any) -> int:
        """Return the alarm of a value: bits `RINGS` and `ABOVE`."""
        numbers = np.asarray(array).ravel("K")
        square = float(np.vdot(numbers, numbers))
        alarm = 0
        if self._is_bounded and not (square < 4.0**bounds.TESTED or np.abs(numbers).max() < 2.0**bounds.TESTED):
            alarm = ABOVE
        if self._is_finite and not (math.isfinite(square) or np.isfinite(numbers).all()):
            return alarm | RINGS
        if all(is_quiet(preset, presets, numbers, square) for is_quiet, preset, presets in self._tests):
            return alarm
        return alarm | RINGS


@functools.lru_cache(256)
def value_test(watchpoints: tuple["Watchpoint", ...]) -> ValueTest:
    """Return the test of a value in PYNATIVE mode."""
    return ValueTest(watchpoints, True)


# The functions below return True if the exact check of finite numbers certainly does not meet a condition. They test
# the first numbers before the others, because the first ones are usually enough.
def _is_abs_mean_below(preset, presets, numbers, square):
    size = float(np.abs(numbers).sum()) / numbers.size
    return size * (1 + _SLACK) <= preset


def _is_abs_mean_above(preset, presets, numbers, square):
    least = preset * numbers.size * (1 + _SLACK)
    # the sum of the magnitudes is at least the root of the sum of squares
    return math.sqrt(square) >= least or any(float(np.abs(part).sum()) >= least for part in (numbers[:_FEW], numbers))


def _has_fewer_zeros(preset, presets, numbers, square):
    if square > 0 and preset == 100:
        return True
    n_zeros = numbers.size - np.count_nonzero(numbers)
    return n_zeros * 100.0 < preset * numbers.size * (1 - _ROUNDING)


def _is_rarely_in_range(preset, presets, numbers, square):
    least = (1 - preset / 100) * numbers.size + _ROUNDING * numbers.size  # enough numbers outside of the range
    return any(part.size - _count_in_range(presets, part) >= least for part in (numbers[:_FEW], numbers))


def _is_often_in_range(preset, presets, numbers, square):
    least = preset / 100 * numbers.size * (1 + _ROUNDING)
    return any(_count_in_range(presets, part) >= least for part in (numbers[:_FEW], numbers))


def _count_in_range(presets, numbers):
    # with float64 ends, float32 numbers are compared exactly
    low, high = np.float64(presets["range_start_inclusive"]), np.float64(presets["range_end_inclusive"])
    return np.count_nonzero((numbers >= low) & (numbers <= high))


_QUIET: dict[str, Callable[..., Any]] = {
    "abs_mean_gt": _is_abs_mean_below,
    "abs_mean_lt": _is_abs_mean_above,
    "zero_percentage_ge": _has_fewer_zeros,
    "range_percentage_gt": _is_rarely_in_range,
    "range_percentage_lt": _is_often_in_range,
}


def _is_change_below(new, old, preset, epsilon):
    """Return True if a change is clearly below a share of the magnitudes. The first numbers are usually enough."""
    square, size = 0.0, new.size * epsilon
    for a, b in _iterate_chunks(new, old):
        part = a - b
        square += float(np.dot(part, part))
    # at least the sum of the magnitudes of the changes
    change = float(np.sqrt(new.size * square)) + new.size * _ROOT_OF_SMALLEST
    for part in (old[:1024], old[1024:]):
        size += float(np.abs(part).sum())
        if np.isfinite(size) and change < preset * size * (1 - _SLACK):
            return True
    return False


def _sum_magnitudes(new, old):
    """Return the sums of the magnitudes of the changes and of the old values."""
    sums = [(float(np.abs(a - b).sum()), float(np.abs(b).sum())) for a, b in _iterate_chunks(new, old)]
    return sum(change for change, _ in sums), sum(size for _, size in sums)


def _iterate_chunks(new: np.ndarray, old: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    if new.size <= _CHUNK:
        yield new, old
        return
    for start in range(0, new.size, _CHUNK):
        yield new[start : start + _CHUNK], old[start : start + _CHUNK]
