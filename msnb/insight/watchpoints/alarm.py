"""The alarm that a watched step computes: one bool, True if a condition may be met.

The alarm is computed in float32, inside the program. It may be True although no condition is met, but it is never False
if one is. After an alarm the step is run again and `exact_check` decides in float64.
"""

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.jaxpr.instrument import Measure
from msnb.core.program.program_forms import device_of
from msnb.insight.instrument import instrument
from msnb.insight.watchpoints import bounds, host_tests
from msnb.insight.watchpoints.conditions import split_channels, unit_axis
from msnb.insight.watchpoints.host_tests import ABOVE, RINGS, WEIGHT_RINGS
from msnb.insight.watchpoints.overflow_points import select_overflow_points

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.extra_outputs import Run
    from msnb.core.program.program import Program
    from msnb.insight.watchpoints.conditions import Watchpoint
    from msnb.insight.watchpoints.watched_values import Key, WatchedValues

_INFINITE = 0x7F800000  # bits of a float32 infinity
_VALUE_BYTES = 16 << 20  # maximum bytes of the values that a program returns for tests on the host
_SMALL = 16384  # arrays of at most this many numbers are returned as one array
_TINY = 0x00800000  # bits of the smallest normal float32
_SAMPLE, _SAMPLE_SHARE = 4096, 128  # numbers of a sample; of a larger value one number of so many
_ROUNDING = 1e-6  # largest relative error of a number of values in float32


class Alarm:
    """The alarm of one program for some watchpoints.

    Args:
        program (Program): the program.
        values (WatchedValues): its values.
        watchpoints (Sequence[Watchpoint]): the conditions.
        selection (frozenset[int]): numbers of the watched nodes; None for all.
        is_bounded (bool): True to test few values against a bound, see `bounds`, and the other conditions by quick
            tests; False to test more values for NaN and infinities, see `overflow_points`, and without quick tests.
        may_use_host (bool): True if the inputs and outputs of a run stay readable until its alarm is read.

    Attributes:
        jaxpr (Union[ClosedJaxpr, None]): the program, with the alarm and series as extra outputs; None if no condition
            applies to it. The alarm is a uint8 of the bits `RINGS` and `ABOVE`; `test_run` adds `WEIGHT_RINGS`, see
            `host_tests`.
        ends (Union[_EndsAlarm, None]): the alarm of the inputs and outputs that the device tests; None if there are
            none.
        host (Union[HostTests, None]): the tests of inputs and outputs that the host does when the alarm is read; None
            if there are none.
        value_tests (list[ValueTest]): the tests of values of nodes that the host does.
        series (list): (watchpoint, keys of values) for each extra output after the alarm. Such an output has the
            statistics of a band, or the living units of activations.
        missed (list[str]): nodes that can't be measured.
        written_inputs (list): index among the inputs of each Parameter that the program writes; None if it is not read.
        bytes_per_run (int): bytes of the Parameters that the program writes, and of the values for the host.
    """

    def __init__(
        self,
        program: "Program",
        values: "WatchedValues",
        watchpoints: "Sequence[Watchpoint]",
        selection: "frozenset[int] | None",
        is_bounded: bool = True,
        may_use_host: bool = False,
    ) -> None:
        self.is_bounded = is_bounded
        self.n_false: int = 0  # alarms of bounds without a hit
        self.bounded: dict[str, set[Any]] = {"points": set(), "inputs": set(), "read": set(), "written": set()}
        self.jaxpr: Any = None
        self.series: list[tuple[Watchpoint, list[Any]]] = []
        self.missed: list[str] = []
        self.tests: dict[Key, list[Watchpoint]] = {}  # value of a node -> conditions that are tested
        self.weight_tests: list[tuple[int | None, int, Watchpoint]] = []
        self.finite_points: set[Key] = set()  # values that are tested for NaN and infinities
        self.finite_weights: list[int] = []  # outputs of the program that are tested for NaN and infinities
        self.collected: list[tuple[Watchpoint, Any]] = []  # a Key, or ("output", index) for a weight
        self._values = values
        positions = {id(p): index for index, p in enumerate(program.params)}
        self.written_inputs: list[int | None] = [positions.get(id(p)) for p in program.written]
        avals = program.jaxpr.out_avals[program.n_results :]
        self.bytes_per_run: int = sum(aval.size * aval.dtype.itemsize for aval in avals)
        for watchpoint in watchpoints:
            self._add_watchpoint(program, watchpoint, selection)
        self.on_device: dict[str, set[Any]] = self.bounded  # inputs and outputs that the host does not test
        self.is_on_cpu: bool = program.spread is None and device_of(program).platform == "cpu"
        is_on_host = may_use_host and self.is_on_cpu
        self.host: host_tests.HostTests | None = self._extract_host_tests(program) if is_on_host else None
        self.value_tests: list[host_tests.ValueTest] = []
        self.has_verdict = False
        self._n_for_host = 0  # extra outputs for the host
        self._bundle_ends: list[int] = []  # ends of the small values in the first of them; small Parameters follow
        collected = {key for _, key in self.collected if key[0] != "output"}
        self.keys: set[Key] = {*self.tests, *self.finite_points, *self.bounded["points"], *collected}
        self.ends: _EndsAlarm | None = _EndsAlarm(self)
        if not self.ends.is_needed:
            self.ends = None
        if not self.keys:
            self.jaxpr = program.jaxpr if self.ends is not None or self.host is not None else None
            return

        def choose(points):
            return [p for p in points if p.node is not None and (p.node.id, p.slot) in self.keys]

        instrumented = instrument(program.jaxpr, choose, _AlarmMeasure(self), program.inputs, program.name)
        self.jaxpr = instrumented.jaxpr
        self.missed = sorted({point.node.fullname for point in instrumented.missed})

    def test_run(self, run: "Run") -> tuple[list[Any], list[Any], list[Any]]:
        """Return (alarms of the device, values of the series, values for the host) of a run, which may still be
        computing.
        """
        n_verdicts, n_others = int(self.has_verdict), len(run.extras) - self._n_for_host
        verdicts, series = list(run.extras[:n_verdicts]), list(run.extras[n_verdicts:n_others])
        values = list(run.extras[n_others:])
        if self.ends is not None:
            verdict, *rest = self.ends(run.inputs, run.outputs, verdicts)
            return [verdict], [*series, *rest], values
        return verdicts, series, values

    def test_on_host(self, inputs: Sequence[Any], outputs: Sequence[Any], values: Sequence[Any]) -> int:
        """Return the alarm of a run that the host computes, see `test_run` for `values`.

        Raises:
            RuntimeError: If an input or output was overwritten.
        """
        verdict = 0
        if self._bundle_ends:
            numbers = np.asarray(values[0])
            pieces = [numbers[start:end] for start, end in itertools.pairwise([0, *self._bundle_ends])]
            values = [*pieces, *values[1:]]
        with np.errstate(all="ignore"):
            for test, array in zip(self.value_tests, values, strict=True):
                verdict |= test(array)
        return verdict if self.host is None else verdict | self.host(inputs, outputs)

    def take_values(self, arrays: "Mapping[Key, Any]") -> "tuple[list[Key], list[Any]]":
        """Return (keys of the values that the host tests, extra outputs for it), and set `value_tests`.

        Small values leave the program as one array, because reading an array takes longer than testing it.

        Args:
            arrays (Mapping): Key of a value outside of loops and branches -> its array.
        """
        tested = [key for key in arrays if key in self.tests or key in self.finite_points or self._is_bounded(key)]
        testable = [key for key in tested if self._is_testable_on_host(key, arrays[key])]
        sizes = {key: arrays[key].size * arrays[key].dtype.itemsize for key in testable}
        keys, total = [], 0
        for key in sorted(testable, key=lambda key: (not _is_small(arrays[key]), sizes[key], key)):
            if total + sizes[key] > _VALUE_BYTES:
                break
            keys.append(key)
            total += sizes[key]
        self.bytes_per_run += total
        self.value_tests = [
            host_tests.ValueTest(self.tests.get(key, ()), key in self.finite_points, self._is_bounded(key))
            for key in keys
        ]
        small = [arrays[key] for key in keys if _is_small(arrays[key])]
        extras = [arrays[key] for key in keys[len(small) :]]
        if small:
            self._bundle_ends = list(itertools.accumulate(array.size for array in small))
            extras.insert(0, jnp.concatenate([array.reshape(-1) for array in small]))
        self._n_for_host = len(extras)
        return keys, extras

    def _is_bounded(self, key):
        return key in self.bounded["points"]

    def _is_testable_on_host(self, key, array):
        tests = tuple(self.tests.get(key, ()))
        return self.is_on_cpu and host_tests.is_testable(array.dtype) and host_tests.are_value_tests(tests)

    @property
    def all_series(self) -> list[Any]:
        """Return (watchpoint, keys) of each value that `test_run` returns."""
        return [*self.series, *(self.ends.series if self.ends is not None else ())]

    def _add_watchpoint(self, program, watchpoint, selection):
        condition = watchpoint.condition
        keys = self._values.keys_of(condition.target, watchpoint.operators, selection)
        if condition.target == "weight":
            if condition.id != "weight_initialization":  # checked before the first step
                self._add_weight_tests(watchpoint, keys)
            return
        if condition.target == "gradient":
            keys = [self._values.gradients[name] for name in keys]
        if condition.id in ("tensor_overflow", "operator_overflow") and selection is None:
            if self.is_bounded:
                self._add_bound_tests(program)
            else:
                self.finite_points |= _select_overflow_keys(program, self._values)
        elif condition.is_overflow:
            self.finite_points.update(keys)
        elif watchpoint.band is not None or condition.id == "dead":
            self.collected += [(watchpoint, key) for key in keys]
        else:
            for key in keys:
                self.tests.setdefault(key, []).append(watchpoint)

    def _add_bound_tests(self, program):
        """Add the tests of values against bounds; Parameters that are written are tested after their update."""
        if self.bounded["points"] or self.bounded["inputs"]:
            return  # another watchpoint has added them
        written = {id(p) for p in program.written}
        logs: list[float | None] = [
            bounds.WEIGHT + 1 if index < len(program.params) else None for index in range(len(program.inputs))
        ]
        avals, first = program.jaxpr.out_avals, program.n_results
        outputs = {first + i for i in range(len(program.written)) if _is_testable(avals[first + i])}
        selection = bounds.select_bounded_points(
            program.jaxpr, _map_testable_results(self._values), logs, sorted(outputs)
        )
        equations = self._values.equations
        self.bounded["points"] = {(equations[path].id, slot) for path, slot in selection.points}
        self.bounded["inputs"] = {index for index in selection.inputs if program.inputs[index][0] != "random"}
        real = [index for index, aval in enumerate(program.jaxpr.in_avals) if _is_testable(aval)]
        positions = {index: id(p) for index, p in enumerate(program.params)}
        self.bounded["read"] = {index for index in real if index in positions and positions[index] not in written}
        self.bounded["written"] = outputs

    def _extract_host_tests(self, program):
        """Return the tests that the host does, and remove them from those of the device; None if there are none."""
        avals = {"inputs": program.jaxpr.in_avals, "read": program.jaxpr.in_avals, "written": program.jaxpr.out_avals}
        quick: dict[str, set[Any]] = {
            name: {index for index in self.bounded[name] if host_tests.is_testable(kinds[index].dtype)}
            for name, kinds in avals.items()
        }
        finite = [index for index in self.finite_weights if host_tests.is_testable(avals["written"][index].dtype)]
        ratios, others = [], []
        for test in self.weight_tests:
            place, output, watchpoint = test
            ratio = host_tests.ratio_test(watchpoint, place, output, avals["written"][output].dtype)
            others += [test] if ratio is None else []
            ratios += [ratio] if ratio is not None else []
        self.weight_tests = others
        self.finite_weights = [index for index in self.finite_weights if index not in finite]
        self.on_device = {name: self.bounded[name] - quick[name] for name in avals}
        if not (finite or ratios or any(quick.values())):
            return None
        return host_tests.HostTests(quick, finite, ratios)

    def _add_weight_tests(self, watchpoint, names):
        condition = watchpoint.condition
        for name in names:
            place, output = self._values.weights[name]
            if output is None:
                continue  # the program does not write it: `Watch` checks it
            if watchpoint.band is not None:
                self.collected.append((watchpoint, ("output", output)))
            elif condition.is_overflow:
                self.finite_weights.append(output)
            elif condition.needs_previous and place is None:
                continue
            else:
                self.weight_tests.append((place, output, watchpoint))


def _is_small(array):
    return array.dtype == np.float32 and array.size <= _SMALL


def _is_testable(aval):
    return jax.dtypes.issubdtype(aval.dtype, np.floating) and aval.size > 0


def _map_testable_results(values):
    """Return {key of an equation: indices of the results that can be tested}."""
    slots: dict[int, list[int]] = {}
    for ident, slot in values.tensors:
        slots.setdefault(ident, []).append(slot)
    return {path: slots.get(node.id, ()) for path, node in values.equations.items()}


def _select_overflow_keys(program, values):
    points = select_overflow_points(program.jaxpr, _map_testable_results(values))
    return {(values.equations[path].id, slot) for path, slot in points}


class _AlarmMeasure(Measure):
    """Tests values inside loops and branches where they are computed, and other values in groups at the end."""

    def __init__(self, alarm: Alarm) -> None:
        self.alarm = alarm

    def measure(self, point, array):
        if not point.nested:
            return array
        key = point.node.id, point.slot
        rung = jnp.zeros((), bool)
        for watchpoint in self.alarm.tests.get(key, ()):
            rung |= rings(watchpoint, array)
        if key in self.alarm.finite_points:
            rung |= has_nonfinite([array])
        is_above = exceeds([array], bounds.TESTED) if key in self.alarm.bounded["points"] else jnp.zeros((), bool)
        collected = [collect(watchpoint, array) for watchpoint, other in self.alarm.collected if other == key]
        return rung, collected, is_above

    def empty(self, point):
        key = point.node.id, point.slot
        shapes = [
            jax.eval_shape(functools.partial(collect, watchpoint), jax.ShapeDtypeStruct(point.shape, point.dtype))
            for watchpoint, other in self.alarm.collected
            if other == key
        ]
        no = jnp.zeros((), bool)
        return no, [jnp.zeros(shape.shape, shape.dtype) for shape in shapes], no

    def merge(self, point, first, second):
        # a living unit stays alive; of a statistic the last iteration counts
        merged = [a | b if a.dtype == bool else b for a, b in zip(first[1], second[1], strict=True)]
        return first[0] | second[0], merged, first[2] | second[2]

    def finish(self, points, measurements, inputs, outputs):
        alarm = self.alarm
        # The barrier prevents XLA from fusing the tests into the program, which would change the last digits of its
        # results.
        measurements = jax.lax.optimization_barrier(measurements)
        arrays, rung, above = {}, [], []
        collected = {}
        for point, measurement in zip(points, measurements, strict=True):
            key = point.node.id, point.slot
            if point.nested:
                rung.append(measurement[0])
                above.append(measurement[2])
                watchpoints = [watchpoint for watchpoint, other in alarm.collected if other == key]
                collected |= {(id(w), key): value for w, value in zip(watchpoints, measurement[1], strict=True)}
            else:
                arrays[key] = measurement
        keys_on_host, extras = alarm.take_values(arrays)
        on_device = {key: arrays[key] for key in arrays.keys() - set(keys_on_host)}
        more_rung, more_above = _test_on_device(alarm, on_device)
        rung += more_rung
        above += more_above
        alarm.series, series = self._collect_series(arrays, collected)
        alarm.has_verdict = bool(rung or above)
        verdict = [_combine_alarm_bits((rung, RINGS), (above, ABOVE))] if alarm.has_verdict else []
        return [*verdict, *series, *extras]

    def _collect_series(self, arrays, nested):
        """Return ([(watchpoint, keys)], an array for each): statistics of a band, or living units."""
        entries, series = [], []
        collected = [(w, key) for w, key in self.alarm.collected if key[0] != "output"]
        for watchpoint in dict.fromkeys(w for w, _ in collected):
            keys = [key for w, key in collected if w is watchpoint]
            values: list[jax.Array] = []
            for key in keys:
                if key in arrays:
                    values.append(collect(watchpoint, arrays[key]))
                elif (id(watchpoint), key) in nested:
                    values.append(nested[id(watchpoint), key])
            keys = [key for key in keys if key in arrays or (id(watchpoint), key) in nested]
            if watchpoint.condition.id == "dead":  # the units of one value
                for key, value in zip(keys, values, strict=True):
                    entries.append((watchpoint, [key]))
                    series.append(value)
            elif values:
                entries.append((watchpoint, keys))
                series.append(jnp.stack(values))
        return entries, series


def _combine_alarm_bits(*flags_of_bits):
    """Return the alarm as a uint8. A bit is set if one of its flags is True."""
    bits = [jnp.stack(flags).any().astype(jnp.uint8) * jnp.uint8(bit) for flags, bit in flags_of_bits if flags]
    return functools.reduce(jnp.bitwise_or, bits, jnp.uint8(0))


class _EndsAlarm:
    """The alarm of the inputs and outputs of a program. It is computed by a separate function, because tests inside the
    program could change its rounding.

    Args:
        alarm (Alarm): the alarm of the program.

    Attributes:
        series (list): (watchpoint, keys) for each result after the alarm.
    """

    def __init__(self, alarm: "Alarm") -> None:
        bounded = alarm.on_device
        collected = [(w, key) for w, key in alarm.collected if key[0] == "output"]
        tests = alarm.weight_tests
        read = {*bounded["inputs"], *bounded["read"], *(place for place, _, _ in tests if place is not None)}
        written = {*bounded["written"], *alarm.finite_weights, *(output for _, output, _ in tests)}
        written |= {key[1] for _, key in collected}
        self._inputs, self._outputs = sorted(read), sorted(written)
        watchpoints = dict.fromkeys(w for w, _ in collected)
        self.series: list[tuple[Watchpoint, list[Any]]] = [
            (watchpoint, [key for w, key in collected if w is watchpoint]) for watchpoint in watchpoints
        ]

        def run(inputs, outputs, verdicts):
            inputs = dict(zip(self._inputs, inputs, strict=True))
            outputs = dict(zip(self._outputs, outputs, strict=True))
            rung = [rings(w, outputs[output], None if place is None else inputs[place]) for place, output, w in tests]
            finite = [outputs[index] for index in dict.fromkeys(alarm.finite_weights)]
            rung += [has_nonfinite(finite)] if finite else []
            weights = [inputs[index] for index in sorted(bounded["read"])]
            weights += [outputs[index] for index in sorted(bounded["written"])]
            others = [inputs[index] for index in sorted(bounded["inputs"])]
            above = [exceeds(a, log) for a, log in ((weights, bounds.WEIGHT), (others, bounds.TESTED)) if a]
            series = [jnp.stack([collect(w, outputs[key[1]]) for key in keys]) for w, keys in self.series]
            verdict = _combine_alarm_bits((rung, WEIGHT_RINGS), (above, ABOVE))
            return [functools.reduce(jnp.bitwise_or, verdicts, verdict), *series]

        self._run = jax.jit(run)

    @property
    def is_needed(self) -> bool:
        """Return True if there is something to test."""
        return bool(self._inputs or self._outputs)

    def __call__(self, inputs: Sequence[Any], outputs: Sequence[Any], verdicts: list[Any]) -> list[jax.Array]:
        """Return the alarm of a run, joined with `verdicts`, and its series, which may still be computing."""
        return self._run([inputs[i] for i in self._inputs], [outputs[i] for i in self._outputs], verdicts)


def collect(watchpoint: "Watchpoint", array: jax.Array) -> jax.Array:
    """Return the number that a band follows, or the living units; see `series`."""
    if watchpoint.condition.id == "dead":
        return living_units(array)
    return abs_mean(array)


def living_units(array: jax.Array) -> jax.Array:
    """Return a bool per unit: True if one of its values is not 0. Units are channels, or the last axis."""
    axis = unit_axis(array.ndim)
    return jnp.any(array != 0, axis=tuple(i for i in range(array.ndim) if i != axis))


def has_nonfinite(arrays: Sequence[jax.Array]) -> jax.Array:
    """Return True if any of the arrays has a NaN or an infinity."""
    return _any_magnitude_at_least(arrays, _INFINITE)


def exceeds(arrays: Sequence[jax.Array], log: int) -> jax.Array:
    """Return True if any of the arrays has a NaN, or a magnitude of at least 2**log."""
    return _any_magnitude_at_least(arrays, 127 + log << 23)


def _any_magnitude_at_least(arrays, least):
    """Return True if the float32 bits of any magnitude are at least `least`."""
    exact = [~jnp.isfinite(array).all() for array in arrays if array.dtype == np.float64]
    # The largest bits are integers, whose maximum XLA vectorises. One pass over the concatenated arrays would take four
    # times as long; without the barrier XLA fuses the passes.
    largest = jax.lax.optimization_barrier([_compute_largest_bits(a) for a in arrays if a.dtype != np.float64])
    tests = [jnp.stack(exact).any()] if exact else []
    tests += [jnp.stack(largest).max() >= least] if largest else []
    return functools.reduce(jnp.logical_or, tests)


def _as_float(array):
    return array if array.dtype == np.float64 else array.astype(jnp.float32)


def _sum_each(arrays, function):
    """Return the sum of `function` of each array, float32 of shape (number of arrays,)."""
    return jnp.stack([jnp.sum(function(_as_float(array))).astype(jnp.float32) for array in arrays])


def may_exceed(arrays: Sequence[jax.Array], log: int | None = None) -> jax.Array:
    """Return False only if all numbers of the arrays are finite, and their magnitudes below 2**log.

    A sum of squares is not below any of its terms. On a CPU, XLA computes it ten times faster than the largest bits.

    Args:
        arrays (Sequence[jax.Array]): real arrays.
        log (Union[int, None]): log2 of a bound. Default: None, no bound.
    """
    squares = _sum_each(arrays, jnp.square)
    return ~(jnp.isfinite(squares) if log is None else squares < 4.0**log).all()


def _get_magnitude_bits(array):
    """Return the bits of the magnitudes of an array as int32, in float32."""
    return jax.lax.bitcast_convert_type(array.astype(jnp.float32), jnp.int32) & 0x7FFFFFFF


def _compute_largest_bits(array):
    return jnp.max(_get_magnitude_bits(array))


def abs_mean(array: jax.Array) -> jax.Array:
    """Return the mean magnitude of an array, float32."""
    x = array.astype(jnp.float32)
    return jnp.sum(jnp.abs(x)) * (1 / x.size)


def rings(watchpoint: "Watchpoint", array: jax.Array, before: jax.Array | None = None) -> jax.Array:
    """Return True if the exact check of this array may meet the watchpoint, or may have an error code.

    Args:
        watchpoint (Watchpoint): the condition, not one of overflow.
        array (jax.Array): the tensor: real, not empty.
        before (jax.Array): its previous value. Default: None.
    """
    if watchpoint.function is not None:
        return jnp.any(jnp.asarray(watchpoint.call_function(array)))
    if watchpoint.is_per_channel:
        arrays = (array,) if before is None else (array, before)
        channels = [split_channels(watchpoint, each) for each in arrays]
        return jnp.any(jax.vmap(functools.partial(rings, watchpoint.of_one_channel))(*channels))
    x = _as_float(array)
    tests = [_may_meet_preset(name, preset, watchpoint.presets, x, before) for name, preset in watchpoint.tests.items()]
    return functools.reduce(jnp.logical_or, tests)


def _test_on_device(alarm, arrays):
    """Return (flags of conditions, flags of quick tests). A flag of a quick test may be True although no condition is
    met. Without bounds there are no quick tests.
    """
    tested: dict[Watchpoint, list[jax.Array]] = {}
    for key in sorted(arrays):
        for watchpoint in alarm.tests.get(key, ()):
            tested.setdefault(watchpoint, []).append(arrays[key])
    finite = [arrays[key] for key in sorted(alarm.finite_points) if key in arrays]
    bounded = [arrays[key] for key in sorted(alarm.bounded["points"]) if key in arrays]
    rung, quick = [], []
    for watchpoint, values in tested.items():
        if alarm.is_bounded and has_quick_test(watchpoint):
            quick.append(may_be_met(watchpoint, values))
        else:
            rung += [rings(watchpoint, value) for value in values]
    if finite and alarm.is_bounded:
        quick.append(may_exceed(finite))
    elif finite:
        rung.append(has_nonfinite(finite))
    if bounded:
        quick.append(may_exceed(bounded, bounds.TESTED))
    return rung, quick


_QUICK = {"zero_percentage_ge", "abs_mean_lt", "range_percentage_lt", "range_percentage_gt"}


def has_quick_test(watchpoint: "Watchpoint") -> bool:
    """Return True if `may_be_met` can test a condition."""
    return watchpoint.function is None and not watchpoint.is_per_channel and watchpoint.tests.keys() <= _QUICK


def may_be_met(watchpoint: "Watchpoint", arrays: Sequence[jax.Array]) -> jax.Array:
    """Return False only if the exact check of no array meets the watchpoint, or has an error code.

    It reads a sample of each array, or a sum that XLA computes quickly; `rings` is slower and more exact.
    """
    squares = _sum_each(arrays, jnp.square)
    sizes = [array.size for array in arrays]
    is_quiet = jnp.isfinite(squares).all()  # then all numbers are finite
    for name, preset in watchpoint.tests.items():
        if name == "zero_percentage_ge" and preset == 100:
            is_quiet &= (squares > 0).all()
        elif name == "abs_mean_lt":
            least = np.asarray([preset * size * (1 + _estimate_sum_error(size)) for size in sizes], np.float32)
            is_quiet &= (_sum_each(arrays, jnp.abs) >= least).all()
        else:
            samples = [_as_float(_take_sample(array)) for array in arrays]
            unmet = [_is_unmet_in_sample(name, preset, watchpoint.presets, *pair) for pair in zip(samples, sizes)]
            is_quiet &= jnp.stack(unmet).all()
    return ~is_quiet


def _is_unmet_in_sample(name, preset, presets, sample, size):
    """Return True if a sample of `size` numbers shows that a preset is not met, whatever the other numbers are."""
    share = preset / 100 * size  # the preset as a number of elements
    if name == "zero_percentage_ge":
        return _count_true(sample != 0) > (size - share) * (1 + _ROUNDING)
    low, high = _round_range_inwards(presets["range_start_inclusive"], presets["range_end_inclusive"], sample.dtype)
    n_inside = _count_true((sample >= low) & (sample <= high))
    if name == "range_percentage_lt":
        return n_inside > share * (1 + _ROUNDING)
    return sample.size - n_inside > (size - share) * (1 + _ROUNDING)


def _take_sample(array):
    """Return numbers of an array at equal distances along each axis, about as many along each."""
    count, strides = max(_SAMPLE, array.size // _SAMPLE_SHARE), [1] * array.ndim
    axes = sorted(range(array.ndim), key=lambda axis: array.shape[axis])
    for n_others, axis in zip(reversed(range(array.ndim)), axes):
        n_taken = max(1, round(count ** (1 / (n_others + 1))))
        strides[axis] = max(1, array.shape[axis] // n_taken)
        count = max(1, count // -(-array.shape[axis] // strides[axis]))
    return jax.lax.slice(array, [0] * array.ndim, array.shape, strides)


def _may_meet_preset(name, preset, presets, x, before):
    column, _, comparison = name.rpartition("_")
    if name == "rtol":
        return _may_be_unchanged(presets, x, before)
    if column == "zero_percentage" and preset == 100 and x.dtype != np.float64:
        top = _compute_largest_bits(x)
        return (top < _TINY) | (top >= _INFINITE)
    if column == "subnormal_percentage" and x.dtype != np.float64:
        bits = _get_magnitude_bits(x)
        share = 100.0 * _compute_true_fraction((bits > 0) & (bits < _TINY))
        return _compare_with_slack(share, preset, comparison, preset * 1e-5) | (_compute_largest_bits(x) >= _INFINITE)
    value, slack = _compute_statistic_and_slack(column, presets, x, before)
    if column.endswith("percentage"):
        slack = preset * 1e-5
    rung = _compare_with_slack(value, preset, comparison, slack) | ~jnp.isfinite(value)
    if column in ("max", "min") or column.endswith("percentage"):  # such a statistic can be finite although x is not
        rung |= ~(jnp.isfinite(jnp.max(x)) & jnp.isfinite(jnp.min(x)))
    return rung


def _compare_with_slack(value, preset, comparison, slack):
    if comparison == "lt":
        return value - slack < preset
    return value + slack > preset if comparison == "gt" else value + slack >= preset


def _compute_statistic_and_slack(column, presets, x, before):
    """Return (statistic in float32, largest difference from the exact one)."""
    if column in ("max", "min"):
        value = getattr(jnp, column)(x)
        return value, jnp.abs(value) * 1e-6
    if column == "max_min":
        high, low = jnp.max(x), jnp.min(x)
        return high - low, (jnp.abs(high) + jnp.abs(low)) * 1e-6
    if column == "zero_percentage":
        return 100.0 * _compute_true_fraction(x == 0), 0.0
    if column == "range_percentage":
        low, high = _round_range_inwards(presets["range_start_inclusive"], presets["range_end_inclusive"], x.dtype)
        return 100.0 * _compute_true_fraction((x >= low) & (x <= high)), 0.0
    if column == "abs_mean_update_ratio":
        change, size = abs_mean(x - before.astype(x.dtype)), abs_mean(before)
        ratio = change / (size + presets["epsilon"])
        return ratio, ratio * 2 * _estimate_sum_error(x.size)
    size = abs_mean(x)
    if column == "abs_mean":
        return size, size * _estimate_sum_error(x.size)
    return jnp.sum(x) * (1 / x.size), size * _estimate_sum_error(x.size)


def _estimate_sum_error(size):
    """Return the largest relative error of a float32 sum of `size` magnitudes."""
    return 1e-5 + min(1e-2, size * 1.2e-7)


def _round_range_inwards(low, high, dtype):
    """Return the ends of a range, rounded inwards to numbers of `dtype`."""
    start, end = np.asarray(low, dtype), np.asarray(high, dtype)
    start = start if float(start) >= low else np.nextafter(start, np.asarray(np.inf, dtype))
    end = end if float(end) <= high else np.nextafter(end, np.asarray(-np.inf, dtype))
    return start, end


def _compute_true_fraction(condition):
    return _count_true(condition) / condition.size


def _count_true(condition):
    return jnp.sum(condition, dtype=jnp.int32).astype(jnp.float32)


def _may_be_unchanged(presets, x, before):
    before = before.astype(x.dtype)
    change = jnp.abs(x - before)
    tolerance = presets["atol"] + presets["rtol"] * jnp.abs(before)
    return ~jnp.any(change > tolerance * 1.001 + 1e-7 * jnp.abs(before)) | ~jnp.isfinite(jnp.max(change))
