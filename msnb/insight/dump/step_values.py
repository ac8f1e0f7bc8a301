"""Read the values of a step: as extra outputs of the step itself, or computed again from its inputs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.compat.jax_private import eval_jaxpr, remove_debug_callbacks
from msnb.core.jaxpr.instrument import Measure
from msnb.core.program.program_forms import device_of
from msnb.insight.dump.statistics import Statistics, compute_statistics
from msnb.insight.dump.tensors import CONSTANT, INPUT, NODE, OUTPUT, DumpedTensor, DumpedTensors, Value, is_readable
from msnb.insight.instrument import Instrumented, instrument

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program

_GROUP = 256 << 20  # bytes of the values that are computed again together
_ON_HOST = 96 << 20  # a step returns its values for numpy if they have at most this many bytes


class StepStatistics:
    """Statistics of the values of a program, computed in its steps.

    On a CPU the step returns the values, and numpy computes the statistics while the next step runs. This is several
    times faster than XLA's reductions. On other devices, or if the values are too large, the program computes the
    statistics.

    Args:
        program (Program): the program.
        dumped (DumpedTensors): the tensors.
        names (Sequence[str]): the statistics.

    Attributes:
        jaxpr (ClosedJaxpr): the program with extra outputs, which `read` takes.
    """

    def __init__(self, program: "Program", dumped: DumpedTensors, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._constants = [compute_statistics(as_numpy(array), names) for array in dumped.constants]
        values = dumped.values
        nbytes = sum({tensor.value: tensor.type.nbytes for tensor in dumped.tensors}.values())
        self._on_host = device_of(program).platform == "cpu" and nbytes <= _ON_HOST
        self._inputs = [value[1] for value in values if value[0] == INPUT]
        outputs = [value[1] for value in values if value[0] == OUTPUT]
        self._measure: Any = _Capture(outputs) if self._on_host else Statistics(names, self._inputs, outputs)
        instrumented = _instrument_values(program, values, self._measure)
        self.jaxpr: Any = instrumented.jaxpr
        self._points = instrumented.points
        self._values = [(NODE, p.node.id, p.slot) for p in self._points]
        self._avals: list[Any] = [*self._points]
        if not self._on_host:
            self._values += [(INPUT, index) for index in self._inputs]
            self._avals += [program.jaxpr.in_avals[index] for index in self._inputs]
        self._values += [(OUTPUT, index) for index in outputs]
        self._avals += [program.jaxpr.out_avals[index] for index in outputs]

    def select_arrays(self, inputs: Sequence[Any], extras: Sequence[Any]) -> list[Any]:
        """Return the arrays of a run that `read` takes, so that the others can be freed."""
        return [*([inputs[index] for index in self._inputs] if self._on_host else ()), *extras]

    def read(self, arrays: Sequence[Any]) -> dict[Value, list[Any]]:
        """Return the statistics of each value that was computed.

        Args:
            arrays (Sequence): as `select_arrays` returns them.
        """
        statistics: dict[Value, list[Any]] = {(CONSTANT, i): row for i, row in enumerate(self._constants)}
        if not self._on_host:
            rows = self._measure.read(arrays, self._avals)
            statistics |= {value: row for value, row in zip(self._values, rows, strict=True) if row is not None}
            return statistics
        inputs, extras = arrays[: len(self._inputs)], arrays[len(self._inputs) :]
        for index, array in zip(self._inputs, inputs, strict=True):
            statistics[INPUT, index] = compute_statistics(as_numpy(array), self._names)
        for value, array in zip(self._values, _select_captured_arrays(self._points, extras), strict=True):
            if array is not None:
                statistics[value] = compute_statistics(as_numpy(array), self._names)
        return statistics


class StepReplay:
    """Recomputes the values of a program from the inputs of a step.

    The values are computed in groups that fit in memory, one compiled program per group.

    Args:
        program (Program): the program.
        dumped (DumpedTensors): the tensors.
    """

    def __init__(self, program: "Program", dumped: DumpedTensors) -> None:
        self._constants = [as_numpy(array) for array in dumped.constants]
        self._groups = [(group, _Capturer(program, group)) for group in _group_tensors(dumped.tensors)]

    def read(self, program: "Program", inputs: Sequence[Any], call: int) -> Iterator[tuple[DumpedTensor, np.ndarray]]:
        """Yield each tensor that the step computed, with its array.

        Args:
            program (Program): the program.
            inputs (Sequence): the inputs of the step.
            call (int): number of the step among the calls of the program.
        """
        for tensors, capturer in self._groups:
            arrays = capturer.compute(inputs)
            if any(tensor.value[0] == OUTPUT for tensor in tensors):
                arrays |= {(OUTPUT, i): array for i, array in enumerate(program.repeat_run(list(inputs), call))}
            converted: dict[Value, np.ndarray] = {}
            for tensor in tensors:
                value = tensor.value
                if value not in converted:
                    if value[0] == CONSTANT:
                        converted[value] = self._constants[value[1]]
                    elif value[0] == INPUT:
                        converted[value] = as_numpy(inputs[value[1]])
                    elif value in arrays:
                        converted[value] = as_numpy(arrays[value])
                if value in converted:
                    yield tensor, converted[value]


def as_numpy(value: Any) -> np.ndarray:
    """Return a value as an array that `numpy.load` can read; bfloat16 and other small floats become float32."""
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def _group_tensors(tensors: Iterable[DumpedTensor]) -> list[list[DumpedTensor]]:
    """Return the tensors in order, in groups whose distinct values take at most `_GROUP` bytes."""
    groups: list[list[DumpedTensor]] = []
    values: set[Value] = set()
    nbytes = 0
    for tensor in tensors:
        nbytes += 0 if tensor.value in values else tensor.type.nbytes
        if not groups or nbytes > _GROUP:
            groups.append([])
            values, nbytes = set(), tensor.type.nbytes
        values.add(tensor.value)
        groups[-1].append(tensor)
    return groups


class _Capturer:
    """A compiled form of a program that returns the values of some tensors. It has no side effects."""

    def __init__(self, program, tensors):
        instrumented = _instrument_values(program, [tensor.value for tensor in tensors], _Capture())
        first, quiet = len(program.jaxpr.jaxpr.outvars), remove_debug_callbacks(instrumented.jaxpr.jaxpr)
        consts = instrumented.jaxpr.consts
        self._points = instrumented.points
        self._form = jax.jit(lambda *inputs: eval_jaxpr(quiet, consts, *inputs)[first:])

    def compute(self, inputs):
        if not self._points:
            return {}
        arrays = _select_captured_arrays(self._points, self._form(*inputs))
        return {(NODE, p.node.id, p.slot): a for p, a in zip(self._points, arrays, strict=True) if a is not None}


def _instrument_values(program, values, measure) -> Instrumented:
    nodes = {value[1:] for value in values if value[0] == NODE}

    def choose(points):
        return [p for p in points if p.node is not None and (p.node.id, p.slot) in nodes and is_readable(p)]

    return instrument(program.jaxpr, choose, measure, program.inputs, program.name)


class _Capture(Measure):
    """A Measure that returns the values of nodes. For a value inside loops it returns that of the last round.

    The extra outputs are flags, the values, and outputs of the program. Each value in a loop or branch has a flag. It
    is 1 if the value was computed.

    Args:
        outputs (Sequence[int]): indices of outputs of the program.
    """

    def __init__(self, outputs: Sequence[int] = ()) -> None:
        self._outputs = tuple(outputs)

    def measure(self, point: Any, array: Any) -> Any:
        return jnp.int32(1), array

    def empty(self, point: Any) -> Any:
        return jnp.int32(0), jnp.zeros(point.shape, point.dtype)

    def merge(self, point: Any, first: Any, second: Any) -> Any:
        has_value = second[0] > 0
        return first[0] | second[0], jnp.where(has_value, second[1], first[1])

    def finish(self, points: list[Any], measurements: list[Any], inputs: list[Any], outputs: list[Any]) -> Any:
        flags = [flag for point, (flag, _) in zip(points, measurements, strict=True) if point.nested]
        return [*flags, *(array for _, array in measurements), *(outputs[index] for index in self._outputs)]


def _select_captured_arrays(points, extras):
    """Return the values and outputs among the extra outputs of `_Capture`; None for a value that was not computed."""
    nested = [index for index, point in enumerate(points) if point.nested]
    arrays: list[Any] = list(extras[len(nested) :])
    for index, flag in zip(nested, extras, strict=False):
        if not int(flag):
            arrays[index] = None
    return arrays
