"""Recompute the value of any node in one run of a program, from the recorded inputs of the run.

A compiled program returns only its results. A replay compiles the same jaxpr again with the values of nodes as extra
outputs, and calls it on the same inputs: Parameters, batch and random number. The Parameters are not changed.

For a small program, one call returns the values of all nodes. For a larger program, a call returns the values of a
window: the requested node and some nodes after it. The shapes determine how many values fit.
"""

import functools
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.compat.jax_private import eval_jaxpr, remove_debug_callbacks
from msnb.core.jaxpr.instrument import Measure
from msnb.core.program.program_cache import find
from msnb.core.program.xla_options import jit_quickly
from msnb.core.state import trace_state
from msnb.core.support.lru_cache import LruCache
from msnb.core.transforms.jit import ms_function
from msnb.insight.debugger.names import place_of_node
from msnb.insight.gradients import host, rows, summary
from msnb.insight.instrument import instrument
from msnb.ir.anf import CNode, ParameterNode

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program
    from msnb.ir.anf import FuncGraph

_ALL_AT_ONCE = 96 << 20  # bytes; if all values of a program take less, one call returns them all
_WINDOW = 64  # maximum number of nodes in a window
_LIMIT = 512 << 20  # bytes of values that a replay keeps
Round = int | tuple[int, ...]  # index of an iteration; in nested loops one index for each loop, outermost first


class Replay:
    """Computes the values of nodes in one run of a program, from the inputs of the run.

    Args:
        program (Program): the program that ran.
        graph (FuncGraph): the graph of the program, see `msnb.ir.api.of_program`.
        inputs (Sequence[jax.Array]): the inputs of the program, in the order of ``program.jaxpr``.
        call (Union[int, None]): number of the run among the calls of the program, see `extra_outputs.Run`. Default:
            None, a run that was not recorded.
    """

    def __init__(self, program: "Program", graph: "FuncGraph", inputs: Sequence[Any], call: int | None = None) -> None:
        self.program = program
        self.graph = graph
        self.call = program.next_call if call is None else call
        self.inputs = as_inputs(program, inputs)
        self._nodes = {node.id: node for node in graph.all_nodes()}
        self._values: dict[tuple[int, int], jax.Array] = {}
        self._rounds: dict[tuple[int, int], int] = {}  # (node, slot) inside a loop or branch -> times computed
        # (node, slot) -> iterations of each loop around it
        self._iterations: dict[tuple[int, int], tuple[int, ...]] = {}
        self._in_rounds: dict[Any, dict[int, Any]] = {}  # (node, round) -> {slot: measurement}
        self._lock = threading.RLock()  # a pause computes the first window on another thread
        self._forms = _get_compiled_forms(program)
        self._parameter_index = {node: index for index, node in enumerate(graph.parameters)}

    # ------------------------------------------------------------------ values
    def main_slot(self, node: CNode) -> int:
        """Return the index of the result that other nodes read; 0 if no node reads a result.

        An operator can also return new values of Parameters, and values that its gradient needs.
        """
        return self._main_slots.get(node.id, 0)

    @functools.cached_property
    def _main_slots(self):
        return rows.main_slots(self.graph)

    def output(self, node: CNode, slot: int | None = None, round: Round | None = None) -> jax.Array:
        """Return one result of a node.

        Args:
            node (CNode): a node of `graph`.
            slot (int): index of the result. Default: None, the `main_slot`.
            round (Union[int, tuple[int]]): iteration of the loop around the node, from 0. In nested loops, one int
                per loop from the outermost. Default: None, the last one.

        Raises:
            ValueError: If the value can't be read, or there is no such result or round.
        """
        slot = self.main_slot(node) if slot is None else slot
        if not 0 <= slot < max(len(node.types), 1):
            raise ValueError(f"{place_of_node(node)} has {len(node.types)} results, but 'slot' is {slot}.")
        if round is not None:
            return self._get_output_in_iteration(node, slot, round)
        array = self._values.get((node.id, slot))
        if array is None:
            with self._lock:
                if (node.id, slot) not in self._values:
                    self._compute_node_values(self._select_nodes_to_compute(node))
                array = self._values.get((node.id, slot))
        if array is None:
            raise ValueError(self._explain_missing_value(node))
        return array

    def value(
        self, node: CNode, slot: int | None = None, round: Round | None = None, kind: str = "output"
    ) -> jax.Array:
        """Return the output of a node, or the gradient with respect to it.

        Args:
            node (CNode): a node of `graph`.
            slot (int): as for `output`. Default: None.
            round (Union[int, tuple[int]]): as for `output`. Default: None.
            kind (str): ``"output"`` or ``"gradient"``. Default: "output".

        Raises:
            ValueError: If the value can't be read, or `kind` is something else.
        """
        if kind not in ("output", "gradient"):
            raise ValueError(f"For 'value', 'kind' should be 'output' or 'gradient', but got {kind!r}.")
        if kind == "output":
            return self.output(node, slot, round)
        gradient = self.gradient(node)
        if gradient is None:
            raise ValueError(
                f"The graph has no gradient of {place_of_node(node)}. Run a training step, such as a view of "
                "TrainOneStepCell; the gradient of a node that several operators read is not a node itself."
            )
        return gradient

    def rounds(self, node: CNode, slot: int | None = None) -> int | None:
        """Return the number of runs of a node inside loops or branches; None for other nodes."""
        slot = self.main_slot(node) if slot is None else slot
        self.output(node, slot)
        return self._rounds.get((node.id, slot))

    def iterations(self, node: CNode, slot: int | None = None, round: Round | None = None) -> tuple[int, ...]:
        """Return the number of iterations of each loop around a node, from the outermost; () outside loops.

        The number for an inner loop can differ between the iterations of an outer loop. `round` selects the outer
        iteration; by default it is the last one that reached the node.
        """
        slot = self.main_slot(node) if slot is None else slot
        if round is None:
            self.output(node, slot)
            return self._iterations.get((node.id, slot), ())
        return self._compute_value_in_round(node, slot, self._validate_round(node, slot, round))[1]

    def operands(self, node: CNode, round: Round | None = None) -> list[tuple[str, Any]]:
        """Return (name, value) of each input of a node; the value is None if it can't be read.

        Args:
            node (CNode): a node of `graph`.
            round (Union[int, tuple[int]]): iteration of the loops around the node, as for `output`. Default: None.
        """
        return [self._read_operand(source, slot, round) for source, slot in node.uses]

    def _read_operand(self, source, slot, round):
        if isinstance(source, CNode):
            loops = self._forms.loops(source.id)
            inner = tuple(round)[:loops] if isinstance(round, (tuple, list)) else (round,)[:loops]
            try:
                return f"%{source.id} {source.name}", self.output(
                    source, slot, inner if round is not None and loops else None
                )
            except ValueError:
                return f"%{source.id} {source.name}", None
        if isinstance(source, ParameterNode):
            index = self._parameter_index.get(source)
            return source.name, None if index is None else self.inputs[index]
        return "constant", getattr(source, "value", None)

    def gradient(self, node: CNode) -> jax.Array | None:
        """Return the gradient with respect to the main result of a forward node.

        It is None if the program computes no gradient, or if no single node has this gradient as its result.
        """
        mate = self._cotangent_by_node_id.get(node.id)
        return None if mate is None else self.output(*mate)

    def weights(self, node: CNode) -> list[tuple[str, Any, Any]]:
        """Return (name, value, new value) of each Parameter that a node reads. The new value is None without an
        update."""
        written = {entry[1]: index for index, entry in enumerate(self.program.outputs) if entry[0] == "param"}
        weights: list[tuple[str, Any, Any]] = []
        for source in node.inputs:
            index = self._parameter_index.get(source)
            if index is not None and source.is_weight:
                at = written.get(source.name)
                weights.append((source.name, self.inputs[index], None if at is None else self._results[at]))
        return weights

    @property
    def results(self) -> list[jax.Array]:
        """The results of the network, without error codes and new values of Parameters."""
        return self._results[: self.program.n_results - bool(self.program.errors)]

    def updates(self) -> list[jax.Array]:
        """Return the new values of the written Parameters, in the order of ``program.written``."""
        return self._results[self.program.n_results :]

    @functools.cached_property
    def _results(self):
        return self.program.repeat_run(self.inputs, self.call)

    @functools.cached_property
    def _cotangent_by_node_id(self):
        return rows.cotangents(self.graph)

    # ------------------------------------------------------------------ statistics
    @property
    def has_statistics(self) -> bool:
        """True if one call can return all values. Then `statistics` uses them and compiles no other program."""
        return self._forms.nbytes <= _ALL_AT_ONCE

    def statistics(self) -> dict[int, dict[str, float]]:
        """Return {number of a node: statistics of its main result} for nodes with real values.

        The statistics are ``mean``, ``std``, ``min``, ``max``, ``zeros`` (share), ``nan`` and ``inf`` (counts), and
        ``abs_mean``. If `has_statistics`, numpy computes them from the values. Otherwise the compiled program computes
        them.
        """
        if self.has_statistics:
            with self._lock:
                if not self._values:
                    self._compute_node_values(tuple(self._nodes))
                values = dict(self._values)  # another thread, which serves the notebook's view, may add values
            main = [(ident, slot) for ident, slot in values if slot == self._main_slots.get(ident, 0)]
            arrays = {ident: np.asarray(values[ident, slot]) for ident, slot in main}
            arrays = {ident: array for ident, array in arrays.items() if rows.is_real(array.dtype) and array.size}
            ids = list(arrays)
            moments = host.summarised(list(arrays.values()))[0] if arrays else []
            means = [float(np.abs(array.astype(np.float32)).mean()) for array in arrays.values()]
        else:
            form, ids = self._forms.statistics(self._main_slots)
            table = np.asarray(form(*self.inputs))
            moments, means = table[:, :-1], table[:, -1]
        return {
            ident: {**dict(zip(summary.COLUMNS, map(float, row), strict=True)), "abs_mean": float(mean)}
            for ident, row, mean in zip(ids, moments, means, strict=True)
        }

    # ------------------------------------------------------------------ windows
    def _select_nodes_to_compute(self, node):
        """Return the ids of the nodes to compute in one program: `node` and its successors, up to a limit of nodes and
        bytes. With statistics instead of values, return all nodes.
        """
        if self.has_statistics:
            return tuple(self._nodes)
        ordered = sorted(self._nodes)
        at, nbytes, window = ordered.index(node.id), 0, []
        for ident in ordered[at : at + _WINDOW]:
            nbytes += sum(kind.nbytes for kind in self._nodes[ident].types)
            if window and nbytes > _ALL_AT_ONCE:
                break
            window.append(ident)
        return tuple(window)

    def _compute_node_values(self, window):
        form, points = self._forms.values(window)
        if sum(array.nbytes for array in self._values.values()) > _LIMIT:
            self._values.clear()
        for point, (count, iterations, array) in zip(points, form(*self.inputs), strict=True):
            key = point.node.id, point.slot
            self._values[key] = array
            if point.nested:
                self._rounds[key] = int(count)
                self._iterations[key] = tuple(map(int, iterations))

    def _get_output_in_iteration(self, node, slot, round):
        count, _, array = self._compute_value_in_round(node, slot, self._validate_round(node, slot, round))
        if not count:
            raise ValueError(f"{place_of_node(node)} did not run in round {round}: it is inside a branch.")
        return array

    def _validate_round(self, node, slot, round):
        """Return the iteration of each loop around a node, from the outermost."""
        count, loops = self.rounds(node, slot), self._forms.loops(node.id)
        if count is None or not loops:
            raise ValueError(f"{place_of_node(node)} is not inside a loop: it has one value, no 'round'.")
        chosen = tuple(round) if isinstance(round, (tuple, list)) else (round,)
        if len(chosen) != loops:
            wanted = "an int" if loops == 1 else f"{loops} ints, one per loop from the outermost"
            raise ValueError(
                f"{place_of_node(node)} is inside {loops} loops, so 'round' is {wanted}, but got {round!r}."
            )
        return chosen

    def _compute_value_in_round(self, node, slot, round):
        """Return (number of runs of the node, iterations of each loop around it, its value in iteration `round`)."""
        with self._lock:
            by_slot = self._in_rounds.get((node.id, round))
            if by_slot is None:
                form, points = self._forms.values_in_round(node.id)
                measurements = form(np.asarray(round, np.int32), *self.inputs)  # the first call fills `points`
                by_slot = {point.slot: one for point, one in zip(points, measurements, strict=True)}
                if sum(one[-1].nbytes for each in self._in_rounds.values() for one in each.values()) > _LIMIT:
                    self._in_rounds.clear()
                self._in_rounds[node.id, round] = by_slot
        if slot not in by_slot:
            raise ValueError(self._explain_missing_value(node))
        count, iterations, array = by_slot[slot]
        iterations = tuple(map(int, iterations))
        for number, length in zip(round, iterations, strict=True):
            if not 0 <= number < length:
                raise ValueError(_explain_invalid_round(node, round, iterations))
        return int(count), iterations, array

    def _explain_missing_value(self, node):
        if not node.types:
            return f"{place_of_node(node)} has no result."
        if any(kind.dtype == "Key" for kind in node.types):
            return f"{place_of_node(node)} is a random key, which has no numbers to show."
        return f"The value of {place_of_node(node)} can't be read: it is computed in the condition of a loop."


def _explain_invalid_round(node, round, iterations):
    if len(round) == 1:
        n_rounds = iterations[0]
        return f"{place_of_node(node)} has run {n_rounds} times, so 'round' is 0 to {n_rounds - 1}, not {round[0]}."
    ends = " and ".join(f"0 to {length - 1}" for length in iterations if length)
    return f"The loops around {place_of_node(node)} have run {iterations} times there: 'round' is {ends}, not {round}."


def program_inputs(net: Any, *args: Any, **kwargs: Any) -> "tuple[Program, list[Any]]":
    """Trace a call of a Cell or function without running it, and return (program, inputs of the program).

    The inputs are the current Parameters, a random number and the arrays of the arguments.

    Raises:
        TypeError: If `net` is neither a Cell nor a function.
    """
    return inputs_of_call(net, args, kwargs, {})


def inputs_of_call(
    net: Any, args: tuple[Any, ...], kwargs: dict[str, Any], parameters: Mapping[int, Any]
) -> "tuple[Program, list[Any]]":
    """Return (program, inputs of the program) of a call, see `program_inputs`.

    Args:
        net (Union[Cell, Callable]): the network.
        args (tuple): the arguments of the call.
        kwargs (dict): the keyword arguments of the call.
        parameters (Mapping): {id of a Parameter: its array in the call}. Others have their current arrays.
    """
    root = net if hasattr(net, "_graph_call") else ms_function(net)
    program, arrays, _ = find(root, *root._graph_call(args, kwargs), for_inspection=True)
    number = [0] if program.random else []
    with trace_state.donation_lock.lock:  # a training on another thread replaces the arrays
        stored = _copy_arrays(
            [parameters[id(p)] if id(p) in parameters else p._get_stored_array() for p in program.params]
        )
    return program, [*stored, *number, *arrays]


@jax.jit
def _copy_arrays(arrays):
    """Copy arrays in one compiled program; copying each by itself would compile a program per shape."""
    return [jnp.copy(array) for array in arrays]


def as_inputs(program: "Program", inputs: Sequence[Any]) -> list[Any]:
    """Convert the inputs of a program to arrays. One of them can be a Python int: the random number of the call."""
    return [
        value if hasattr(value, "nbytes") else np.asarray(value, aval.dtype)
        for value, aval in zip(inputs, program.jaxpr.in_avals, strict=True)
    ]


class _Forms:
    """Compiles variants of one program that return the values of nodes, and caches them."""

    def __init__(self, program):
        self._jaxpr, self._inputs, self._name = program.jaxpr, program.inputs, program.name
        self._cache = LruCache(16)
        _, _, points = self._instrument_program(lambda points: [], _Capture(None))
        self._loops = {p.node.id: p.loops for p in points}
        self.nbytes = sum(int(np.prod(p.shape, dtype=np.int64)) * p.dtype.itemsize for p in points)

    def loops(self, ident):
        """Return the number of loops around a node."""
        return self._loops.get(ident, 0)

    def values(self, window):
        """Return (function of the program's inputs, points). The function returns (times computed, iterations of the
        loops around, value) for each point.
        """
        if window not in self._cache:
            ids = frozenset(window)
            jaxpr, points, _ = self._instrument_program(
                lambda points: [p for p in points if p.node.id in ids], _Capture(None)
            )
            self._cache[window] = (
                _group_outputs_by_point(_compile_outputs_from(jaxpr, len(self._jaxpr.jaxpr.outvars))),
                points,
            )
        return self._cache[window]

    def values_in_round(self, ident):
        """Return (function of a round and the program's inputs, points) of one node, as `values` does."""
        key = "round", ident
        if key not in self._cache:
            points = []

            def run(round, *inputs):  # `round` is an argument, so all rounds use the same compiled function
                chosen = _Capture(round)
                jaxpr, points[:], _ = self._instrument_program(
                    lambda every: [p for p in every if p.node.id == ident], chosen
                )
                quiet = remove_debug_callbacks(jaxpr.jaxpr)
                return eval_jaxpr(quiet, jaxpr.consts, *inputs)[len(self._jaxpr.jaxpr.outvars) :]

            form = jit_quickly(run)
            self._cache[key] = _group_outputs_by_point(form), points
        return self._cache[key]

    def statistics(self, slots):
        """Return (function of the program's inputs, node numbers). It returns a row of statistics per node.

        `slots` maps the number of a node to its main slot. Nodes with main slot 0 may be missing.
        """
        if "statistics" not in self._cache:

            def choose(points):
                main = [p for p in points if p.slot == slots.get(p.node.id, 0)]
                return [p for p in main if rows.is_real(p.dtype) and 0 not in p.shape]

            jaxpr, points, _ = self._instrument_program(choose, _Statistics())
            form = _compile_outputs_from(jaxpr, len(self._jaxpr.jaxpr.outvars))
            self._cache["statistics"] = (lambda *inputs: form(*inputs)[0]), [p.node.id for p in points]
        return self._cache["statistics"]

    def _instrument_program(self, choose, measure):
        every = []

        def readable(points):
            every[:] = [p for p in points if p.node is not None and not _is_random_key(p.dtype)]
            return choose(every)

        instrumented = instrument(self._jaxpr, readable, measure, self._inputs, self._name)
        return instrumented.jaxpr, instrumented.points, every


def _is_random_key(dtype):
    return jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)


# by program; a _Forms has no reference to it, so unused programs are freed
_forms: "WeakKeyDictionary[Any, _Forms]" = WeakKeyDictionary()


def _get_compiled_forms(program):
    if program not in _forms:
        _forms[program] = _Forms(program)
    return _forms[program]


def _compile_outputs_from(closed, first):
    """Return a compiled function that returns the outputs of a jaxpr from index `first` on. Debug callbacks are
    removed.
    """
    quiet = remove_debug_callbacks(closed.jaxpr)
    return jit_quickly(lambda *inputs: eval_jaxpr(quiet, closed.consts, *inputs)[first:])


def _group_outputs_by_point(form):
    """Return a function that calls `form` and returns the outputs of `_Capture` as one triple per point."""

    def run(*inputs):
        flat = form(*inputs)
        count = len(flat) // 3
        return list(zip(flat[:count], flat[count : 2 * count], flat[2 * count :], strict=True))

    return run


class _Capture(Measure):
    """A Measure that returns the values of nodes. For a node inside loops it returns the value in one iteration.

    A measurement is (times computed, iterations of each loop around the value, value).

    Args:
        round (jax.Array): the iteration of each loop, from the outermost; None for the last iteration that computed the
            value.
    """

    def __init__(self, round: jax.Array | None) -> None:
        self._round = round

    def measure(self, point: Any, array: Any) -> Any:
        return jnp.int32(1), jnp.zeros(point.loops, jnp.int32), array

    def empty(self, point: Any) -> Any:
        return jnp.int32(0), jnp.zeros(point.loops, jnp.int32), jnp.zeros(point.shape, point.dtype)

    def merge_iteration(self, point: Any, first: Any, second: Any, depth: int) -> Any:
        done = first[1][depth]
        has_value = second[0] > 0
        if self._round is None:
            count, is_chosen = first[0] + second[0], has_value
            takes_value = has_value
        else:
            is_chosen = done == self._round[depth]
            takes_value = is_chosen & has_value
            count = jnp.where(takes_value, second[0], first[0])
        inner = jnp.where(is_chosen, second[1], first[1])
        iterations = jnp.where(jnp.arange(point.loops) > depth, inner, first[1]).at[depth].set(done + 1)
        return count, iterations, jnp.where(takes_value, second[2], first[2])

    def finish(self, points: list[Any], measurements: list[Any], inputs: list[Any], outputs: list[Any]) -> Any:
        return [leaf for column in zip(*measurements, strict=True) for leaf in column]


class _Statistics(Measure):
    """A Measure that computes moments and the mean magnitude of each value, as one array with a row per value."""

    def measure(self, point: Any, array: Any) -> Any:
        return summary.moments(array), jnp.mean(jnp.abs(array.astype(jnp.float32)))

    def empty(self, point: Any) -> Any:
        return summary.nothing(), jnp.float32(0)

    def merge(self, point: Any, first: Any, second: Any) -> Any:
        counts = first[0][0], second[0][0]
        mean = (counts[0] * first[1] + counts[1] * second[1]) / jnp.maximum(counts[0] + counts[1], 1)
        return summary.merged(first[0], second[0]), mean

    def finish(self, points: list[Any], measurements: list[Any], inputs: list[Any], outputs: list[Any]) -> Any:
        if not measurements:
            return [jnp.zeros((0, len(summary.COLUMNS) + 1), jnp.float32)]
        return [jnp.stack([jnp.append(moments, mean) for moments, mean in measurements])]
