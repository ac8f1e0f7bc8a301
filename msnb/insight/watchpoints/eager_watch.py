"""Watchpoints in PYNATIVE mode. Events report the results of operators and the gradients.

The results of one step are tested on the host if the device is a CPU, otherwise in compiled calls of 32 results. After
an alarm the same arrays are checked in float64. Parameters are not tested here. The optimizer is a compiled program in
PYNATIVE mode, too, and `watch` tests its inputs and outputs.
"""

import functools
import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from msnb import context, log
from msnb.core.program import extra_outputs
from msnb.core.state import events, trace_state
from msnb.insight.debugger.selection import matches_query
from msnb.insight.gradients.eager_recorder import locate_scope
from msnb.insight.gradients.rows import is_real
from msnb.insight.watchpoints import alarm, conditions, host_tests
from msnb.insight.watchpoints.conditions import ACTIVATIONS, Watchpoint
from msnb.insight.watchpoints.exact_check import check_array, hits_of_outlier, make_hits
from msnb.ir.anf import CNode, TensorType
from msnb.ir.read import dtype_name
from msnb.nn.cell import Cell

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.state.events import Listener
    from msnb.insight.watchpoints.hits import Hit
    from msnb.insight.watchpoints.series import Series

_CHUNK = 32  # results that one call tests


class Settings(Protocol):
    """The attributes of a `Watch` that its eager side reads."""

    watchpoints: list[Watchpoint]
    nodes: Any
    cell_paths: Collection[str]

    def active_watchpoints(self, step: int) -> list[Watchpoint]:
        """Return the watchpoints that are checked in a step."""
        ...

    def add_eager_run(self, run: "EagerRun") -> None:
        """Add a checked step."""
        ...

    def begin_eager_step(self) -> int:
        """Return the number of the step that begins."""
        ...

    def is_own(self, name: str) -> bool:
        """Return True if a Parameter is a weight of the network."""
        ...


class Value(NamedTuple):
    """One result of an operator, or the gradient of a Parameter."""

    place: "Place"
    slot: int
    array: Any
    operands: Sequence[Any]
    name: str | None  # name of the Parameter, if the value is its gradient


class Place:
    """An operator in a step. Its `node` describes the operator, although a step in PYNATIVE mode has no graph.

    Attributes:
        node (CNode): operator, scope, line, lane and position.
        root (str): class of the outermost Cell.
        is_selected (bool): True if the query of the watch selects it.
        backward (Place): the gradient of the operator.
        tests (dict): watchpoints by result, see `EagerWatch`.
    """

    def __init__(self, node: CNode, root: str, query: Any, cells: Collection[str]) -> None:
        self.node, self.root = node, root
        self.is_selected: bool = _matches_one_query(node, root, query, cells)
        self.backward: Place | None = None
        self.tests: dict[Any, tuple[Watchpoint, ...]] = {}
        self._shape: Any = None
        self._dtype: Any = None

    def set_type(self, array: Any) -> None:
        """Set the type of the node to that of its result."""
        if self._shape != array.shape or self._dtype != array.dtype:
            self._shape, self._dtype = array.shape, array.dtype
            self.node.types = (TensorType(dtype_name(array.dtype), tuple(array.shape), array.dtype.itemsize),)


def _matches_one_query(node, root, query, cells):
    if query is None:
        return True
    queries = query if isinstance(query, (list, tuple, set, frozenset)) else (query,)
    return any(matches_query(node, one, root, cells) for one in queries)


class EagerRun:
    """The values of one step in PYNATIVE mode, and their alarms.

    Attributes:
        step (int): number of the step.
        values (list[Value]): the values, in the order of execution.
        verdicts (list): (positions in `values`, bool on the device) of each chunk.
        on_host (list): (position in `values`, its test) of each value that the host tests.
        call (Union[Call, None]): the outermost call of a Cell in which the step ran.
        parameters (dict): {id of a Parameter of that Cell: its array before the update of the step}.
        series (list): (watchpoint, position in `values`, statistic or living units).
    """

    def __init__(
        self,
        step: int,
        values: list[Value],
        verdicts: list[Any],
        on_host: list[tuple[int, host_tests.ValueTest]],
        call: Any,
        series: list[Any],
    ) -> None:
        self.step, self.values, self.verdicts, self.call, self.series = step, values, verdicts, call, series
        self.on_host = on_host
        net = None if call is None else call.net
        self.parameters: dict[int, Any] = (
            {id(p): p._get_stored_array() for p in net.get_parameters()} if isinstance(net, Cell) else {}
        )

    @property
    def has_graph(self) -> bool:
        """Return True if the step can be traced: it ran in a Cell whose Parameters are still there."""
        is_deleted = any(getattr(array, "is_deleted", bool)() for array in self.parameters.values())
        return self.call is not None and isinstance(self.call.net, Cell) and not is_deleted

    @property
    def nbytes(self) -> int:
        """Return the bytes of the values."""
        return sum(_compute_nbytes(value.array.shape, value.array.dtype) for value in self.values)

    def positions_with_alarm(self) -> list[int]:
        """Return the positions of values that may meet a condition."""
        positions = {at for chunk, verdict in self.verdicts if bool(np.asarray(verdict)) for at in chunk}
        with np.errstate(all="ignore"):
            positions.update(at for at, test in self.on_host if test(self.values[at].array))
        return sorted(positions)

    def hits(self, watchpoints: Sequence[Watchpoint], positions: Sequence[int] | None = None) -> "list[Hit]":
        """Return the hits, in the order of execution.

        Args:
            watchpoints (Sequence[Watchpoint]): the conditions.
            positions (Sequence[int]): positions of the values to check. Default: None, all values.
        """
        hits = []
        for at in positions if positions is not None else range(len(self.values)):
            value = self.values[at]
            for watchpoint in watchpoints:
                if not is_series(watchpoint) and applies(watchpoint, value):
                    hits += self._check_value(watchpoint, value, at)
        return hits

    def nodes_in(self, graph: Any) -> dict[int, int]:
        """Return {position in `values`: number of the node in the graph of the same step}.

        Operators of one name and lane are matched in the order of execution, if there are equally many.
        """
        operators: dict[Any, dict[int, Place]] = {}
        for value in self.values:
            node = value.place.node
            if value.name is None:
                operators.setdefault((node.op, node.direction), {})[id(value.place)] = value.place
        nodes: dict[Any, list[CNode]] = {}
        for node in graph.all_nodes():
            nodes.setdefault((node.op, node.direction), []).append(node)
        numbers = {
            id(place): node.id
            for key, by_id in operators.items()
            if len(by_id) == len(nodes.get(key, ()))
            for place, node in zip(by_id.values(), nodes[key], strict=True)
        }
        return {at: numbers[id(value.place)] for at, value in enumerate(self.values) if id(value.place) in numbers}

    def read_series(self, series: "Series") -> "list[Hit]":
        """Return hits of bands and dead units, which compare several steps."""
        hits, entries = [], self.series
        self.series = []
        for watchpoint, at, number in entries:
            value = self.values[at]
            node, place = value.place.node, value.place
            key = value.name or (node.id, node.direction, value.slot, node.op)
            outlier = series.add(watchpoint, key, np.asarray(number))
            if outlier is not None:
                target = watchpoint.condition.target
                hits += hits_of_outlier(
                    watchpoint, outlier, self.step, node, value.slot, target, value.name, place.root, None, at
                )
        return hits

    def _check_value(self, watchpoint, value, order):
        verdict = check_array(watchpoint, value.array)
        if watchpoint.condition.id == "operator_overflow" and verdict.met and _has_nonfinite(value.operands):
            return []
        kind = "gradient" if value.name is not None else watchpoint.condition.target
        node, place = value.place.node, value.place
        return make_hits(watchpoint, verdict, self.step, node, value.slot, kind, value.name, place.root, None, order)


def _has_nonfinite(arrays):
    return any(
        hasattr(array, "dtype") and is_real(array.dtype) and not np.isfinite(conditions.as_float64(array)).all()
        for array in arrays
    )


def is_series(watchpoint: Watchpoint) -> bool:
    """Return True if a watchpoint compares several steps."""
    return watchpoint.band is not None or watchpoint.condition.id == "dead"


def applies(watchpoint: Watchpoint, value: Value) -> bool:
    """Return True if a watchpoint is for this value."""
    target, node = watchpoint.condition.target, value.place.node
    if target == "weight":
        return False
    if target == "gradient" or value.name is not None:
        return target == "gradient" and value.name is not None
    if not value.place.is_selected:
        return False
    if target == "activation":
        op = node.op.lower()
        in_operators = op in (watchpoint.operators or ACTIVATIONS)
        return node.direction == "forward" and value.slot == 0 and in_operators
    return True


def _is_host_testable(tests, array):
    """Return True if the host can test a value of a CPU device, when the alarm is read."""
    return (
        host_tests.is_testable(array.dtype)
        and host_tests.are_value_tests(tests)
        and len(array.sharding.device_set) == 1
    )


@functools.partial(jax.jit, static_argnums=0)
def _test_chunk(tests, arrays):
    """Return True if one of the arrays may meet one of its conditions. `tests` are the watchpoints of each array."""
    finite = [array for array, watchpoints in zip(arrays, tests) if any(w.condition.is_overflow for w in watchpoints)]
    rung = [alarm.has_nonfinite(finite)] if finite else []
    for array, watchpoints in zip(arrays, tests):
        rung += [alarm.rings(w, array) for w in watchpoints if not w.condition.is_overflow]
    return jnp.stack(rung).any()


@functools.partial(jax.jit, static_argnums=0)
def _collect_series_values(watchpoints, arrays):
    return [alarm.collect(watchpoint, array) for watchpoint, array in zip(watchpoints, arrays)]


class EagerWatch:
    """Collects the values of steps in PYNATIVE mode for one watch."""

    def __init__(self, watch: Settings) -> None:
        self.watch = watch
        self._sequence: list[tuple[Any, Place]] = []  # (kernel, place) by position in the forward pass
        self._listener: Listener | None = None
        self._clear_step()
        self._position = 0

    @property
    def is_needed(self) -> bool:
        """Return True if a condition is about values that operators compute."""
        return any(w.condition.target != "weight" for w in self.watch.watchpoints)

    @property
    def has_selected(self) -> bool:
        """Return True if the query of the watch has selected an operator."""
        return any(place.is_selected for _, place in self._sequence)

    def listen(self) -> None:
        """Subscribe to the events of this thread."""
        self._listener = events.listen(
            dispatched=self._guard_handler(self._add_results),
            recorded=self._guard_handler(self._record_node),
            pulled=self._guard_handler(self._begin_pullback),
            differentiated=self._guard_handler(self._on_gradient_complete),
            entered=self._guard_handler(self._on_call_begin),
            left=self._guard_handler(self._on_call_end),
            name="watch",
            here=True,
            vital=True,  # a hit may end the training, so errors of the handlers are raised
        )

    def close(self) -> None:
        """End the subscription."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self._clear_step()

    def _guard_handler(self, handle):
        """Return a handler that logs its failures and ends the watch. A `Halt` and an interrupt are raised."""

        def run(*args):
            try:
                handle(*args)
            except extra_outputs.Halt:
                self._clear_step()
                raise
            except Exception as problem:
                self.close()
                why = events.describe_failure("watch", "an operator ran", problem)
                self.watch.dropped(why)
                log.warning("%s", why)

        return run

    def _clear_step(self):
        self._values: list[Value] = []
        self._by_node: dict[int, Any] = {}  # id of a node of the tape -> (the node, its place)
        self._around = self._pulled = self._last_place = None
        self._position = 0

    # ------------------------------------------------------------------ events
    def _on_call_begin(self, call):
        if call.around is None and not call.traced and not trace_state.thread.recording:
            self._clear_step()

    def _on_call_end(self, call):
        """End a step that takes no gradient, such as an evaluation."""
        is_outermost = call.around is None and not call.traced and not trace_state.thread.recording
        if is_outermost and self._values and not self._by_node:
            if call.error is None:
                self._test_step(call)
            self._clear_step()

    def _add_results(self, kernel, arrays, out, start, sent):
        if self._pulled is None and events.current() is None and not trace_state.thread.recording:
            return
        place = self._pulled or self._locate_operator(kernel)
        outs = out if isinstance(out, (tuple, list)) else (out,)
        for slot, array in enumerate(outs):
            if is_real(array.dtype) and array.size:
                self._values.append(Value(place, slot, array, arrays, None))

    def _locate_operator(self, kernel):
        """Return the Place of the running operator. A step that repeats the previous one reuses its Places."""
        position, self._position = self._position, self._position + 1
        if position < len(self._sequence) and self._sequence[position][0] is kernel:
            self._last_place = self._sequence[position][1]
            return self._last_place
        del self._sequence[position:]
        scope, root, source, self._around = locate_scope(self._around)
        name = kernel.name
        op = getattr(getattr(name, "meaning", None), "operator", None) or str(name)
        node = CNode(op, (), (), (), scope=scope, direction="forward", source=source, id=position)
        self._last_place = Place(node, root, self.watch.nodes, self.watch.cell_paths)
        self._sequence.append((kernel, self._last_place))
        return self._last_place

    def _record_node(self, node, boxes):
        if self._last_place is not None:
            self._by_node[id(node)] = node, self._last_place
            array = boxes[0]._array
            self._last_place.set_type(array)

    def _begin_pullback(self, node, cotangents):
        entry = self._by_node.get(id(node))
        self._pulled = self._get_backward_place(entry[1]) if entry is not None else None

    def _get_backward_place(self, place):
        if place.backward is None:
            node = place.node
            mate = CNode(
                node.op, (), (), node.types, scope=node.scope, direction="backward", source=node.source, id=node.id
            )
            place.backward = Place(mate, place.root, self.watch.nodes, self.watch.cell_paths)
        return place.backward

    def _on_gradient_complete(self, outputs, weights, sources, gradients):
        if trace_state.thread.recording:
            return
        readers = self._find_first_readers(sources)
        for weight, source, gradient in zip(weights, sources, gradients):
            array = getattr(gradient, "_array", None)
            place = readers.get(id(source))
            if place is None or array is None or not self.watch.is_own(weight.name):
                continue
            if is_real(array.dtype) and array.size:
                self._values.append(Value(place, 0, array, (), weight.name))
        self._test_step(_find_outermost_call(events.current()))
        self._clear_step()

    def _find_first_readers(self, sources):
        """Return {id of a Parameter's leaf: place of the first operator that reads it}."""
        ids, readers = {id(source) for source in sources}, {}
        for node, place in self._by_node.values():
            for link in node.inputs:
                if link is not None and id(link[0]) in ids:
                    readers.setdefault(id(link[0]), place)
        return readers

    def _test_step(self, call):
        """Test the values of a step."""
        step = self.watch.begin_eager_step()
        watchpoints = self.watch.active_watchpoints(step)
        verdicts, chunk = [], []
        followed = [w for w in watchpoints if is_series(w)]
        pairs = [(w, at) for w in followed for at, value in enumerate(self._values) if applies(w, value)]
        numbers = (
            _collect_series_values(tuple(w for w, _ in pairs), [self._values[at].array for _, at in pairs])
            if pairs
            else []
        )
        watchpoints = [w for w in watchpoints if not is_series(w)]
        active, on_host, is_cpu = tuple(watchpoints), [], context.device().platform == "cpu"
        for at, value in enumerate(self._values):
            tests = self._select_watchpoints(value, active)
            if tests and is_cpu and _is_host_testable(tests, value.array):
                on_host.append((at, host_tests.value_test(tests)))
            elif tests:
                chunk.append((at, tests))
            if len(chunk) == _CHUNK:
                verdicts.append(self._test_values(chunk))
                chunk = []
        if chunk:
            verdicts.append(self._test_values(chunk))
        series = [(w, at, number) for (w, at), number in zip(pairs, numbers, strict=True)]
        self.watch.add_eager_run(EagerRun(step, self._values, verdicts, on_host, call, series))

    def _select_watchpoints(self, value, watchpoints):
        """Return the watchpoints that apply to a value. They are cached in its Place, which later steps reuse."""
        cached = value.place.tests
        key = value.slot, value.name is not None, watchpoints
        if key not in cached:
            cached[key] = tuple(w for w in watchpoints if applies(w, value))
        return cached[key]

    def _test_values(self, chunk):
        arrays = [self._values[at].array for at, _ in chunk]
        return [at for at, _ in chunk], _test_chunk(tuple(tests for _, tests in chunk), arrays)


@functools.lru_cache(1024)
def _compute_nbytes(shape, dtype):
    return math.prod(shape) * dtype.itemsize


def _find_outermost_call(call):
    while call is not None and call.around is not None:
        call = call.around
    return call
