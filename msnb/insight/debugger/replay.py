"""Recompute the value of any node in one run of a program, from the recorded inputs of the run.

A compiled program returns its results only. A replay compiles the same jaxpr again with the values of nodes as extra
outputs, and calls it on the same inputs: Parameters, batch and random number. Nothing is written.

Small programs return all values from one call. Larger ones are read in windows: the nodes around the requested one,
bounded by bytes that are known from the shapes.
"""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.compat.jax_private import eval_jaxpr, remove_debug_callbacks
from msnb.core.jaxpr.instrument import Measure
from msnb.core.program.program_cache import find
from msnb.core.state import trace_state
from msnb.core.support.lru_cache import LruCache
from msnb.core.transforms.jit import ms_function
from msnb.insight.gradients import host, rows, summary
from msnb.insight.instrument import instrument
from msnb.ir.anf import CNode, ParameterNode

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.program.program import Program
    from msnb.ir.anf import FuncGraph

_ALL_AT_ONCE = 96 << 20  # bytes: a program with fewer returns all values from one call
_WINDOW = 64  # nodes that one call returns values of, if all do not fit
_LIMIT = 512 << 20  # bytes of values that a replay keeps


class Replay:
    """Computes the values of nodes in one run of a program, from the inputs of the run.

    Args:
        program (Program): the program that ran.
        graph (FuncGraph): the graph of the program, see `msnb.ir.api.of_program`.
        inputs (Sequence[jax.Array]): the inputs of the program, in the order of ``program.jaxpr``.
    """

    def __init__(self, program: "Program", graph: "FuncGraph", inputs: Sequence[Any]) -> None:
        self.program = program
        self.graph = graph
        self.inputs = as_inputs(program, inputs)
        self._nodes = {node.id: node for node in graph.all_nodes()}
        self._values: dict[tuple[int, int], jax.Array] = {}
        self._rounds: dict[tuple[int, int], int] = {}  # values inside loops and branches: times computed
        self._forms = _compiled_forms_of(program)
        self._parameter_index = {node: index for index, node in enumerate(graph.parameters)}

    # ------------------------------------------------------------------ values
    def output(self, node: CNode, slot: int = 0, round: int | None = None) -> jax.Array:
        """Return one result of a node.

        Args:
            node (CNode): a node of `graph`.
            slot (int): index of the result. Default: 0.
            round (int): iteration of the loop around the node, from 0. Default: None, the last one.

        Raises:
            ValueError: If the value can't be read, or there is no such result or round.
        """
        if not 0 <= slot < max(len(node.types), 1):
            raise ValueError(f"{node.fullname} has {len(node.types)} results, but 'slot' is {slot}.")
        if round is not None:
            return self._output_in_iteration(node, slot, round)
        if (node.id, slot) not in self._values:
            self._compute(self._nodes_to_compute_with(node))
        if (node.id, slot) not in self._values:
            raise ValueError(self._explain_missing(node))
        return self._values[node.id, slot]

    def rounds(self, node: CNode, slot: int = 0) -> int | None:
        """Return the number of runs of a node inside loops or branches; None for other nodes."""
        self.output(node, slot)
        return self._rounds.get((node.id, slot))

    def operands(self, node: CNode) -> list[tuple[str, Any]]:
        """Return (name, value) of each input of a node; the value is None if it can't be read."""
        return [self._operand(source, slot) for source, slot in node.uses]

    def _operand(self, source, slot):
        if isinstance(source, CNode):
            try:
                return f"%{source.id} {source.name}", self.output(source, slot)
            except ValueError:
                return f"%{source.id} {source.name}", None
        if isinstance(source, ParameterNode):
            index = self._parameter_index.get(source)
            return source.name, None if index is None else self.inputs[index]
        return "constant", getattr(source, "value", None)

    def gradient(self, node: CNode) -> jax.Array | None:
        """Return the gradient with respect to the first result of a forward node.

        It is None if the program takes no gradient, or none reaches the node by a single operator.
        """
        mate = self._cotangents.get(node.id)
        return None if mate is None else self.output(*mate)

    def weights(self, node: CNode) -> list[tuple[str, Any, Any]]:
        """Return (name, value, new value or None) of each Parameter that a node reads. None: it is not updated."""
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
        """The results of the program, without the new values of Parameters."""
        return self._results[: self.program.n_results]

    def updates(self) -> list[jax.Array]:
        """Return the new values of the written Parameters, in the order of ``program.written``."""
        return self._results[self.program.n_results :]

    @functools.cached_property
    def _results(self):
        return self._forms.results()(*self.inputs)

    @functools.cached_property
    def _cotangents(self):
        return rows.cotangents(self.graph)

    # ------------------------------------------------------------------ statistics
    @property
    def has_statistics(self) -> bool:
        """True if all values fit in memory. Then `statistics` needs no further compilation."""
        return self._forms.nbytes <= _ALL_AT_ONCE

    def statistics(self) -> dict[int, dict[str, float]]:
        """Return {number of a node: statistics of its first result} for nodes with real values.

        The statistics are ``mean``, ``std``, ``min``, ``max``, ``zeros`` (share), ``nan`` and ``inf`` (counts), and
        ``abs_mean``. They are computed by numpy where all values fit in memory, else inside the program.
        """
        if self.has_statistics:
            if not self._values:
                self._compute(tuple(self._nodes))
            values = dict(self._values)  # a thread that answers the page adds to them
            ids = [ident for ident, slot in values if not slot and _is_real_and_not_empty(values[ident, 0])]
            arrays = [np.asarray(values[ident, 0]) for ident in ids]
            moments = host.summarised(arrays)[0] if arrays else []
            means = [float(np.abs(array.astype(np.float32)).mean()) for array in arrays]
        else:
            form, ids = self._forms.statistics()
            table = np.asarray(form(*self.inputs))
            moments, means = table[:, :-1], table[:, -1]
        return {
            ident: {**dict(zip(summary.COLUMNS, map(float, row), strict=True)), "abs_mean": float(mean)}
            for ident, row, mean in zip(ids, moments, means, strict=True)
        }

    # ------------------------------------------------------------------ windows
    def _nodes_to_compute_with(self, node):
        """Return the numbers of the nodes to compute together with `node`: all of them if they fit in memory."""
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

    def _compute(self, window):
        form, points = self._forms.values(window)
        if sum(array.nbytes for array in self._values.values()) > _LIMIT:
            self._values.clear()
        for point, (count, array) in zip(points, form(*self.inputs), strict=True):
            key = point.node.id, point.slot
            self._values[key] = array
            if point.nested:
                self._rounds[key] = int(count)

    def _output_in_iteration(self, node, slot, round):
        count = self.rounds(node, slot)
        if count is None:
            raise ValueError(f"{node.fullname} is not inside a loop: it has one value, no 'round'.")
        if not 0 <= round < count:
            raise ValueError(f"{node.fullname} has run {count} times, so 'round' is 0 to {count - 1}, not {round}.")
        if self._forms.loops(node.id) > 1:
            raise ValueError(f"{node.fullname} is inside several loops: only the value of its last round can be read.")
        form, points = self._forms.values((node.id,), round)
        for point, (_, array) in zip(points, form(*self.inputs), strict=True):
            if point.slot == slot:
                return array
        raise ValueError(self._explain_missing(node))

    def _explain_missing(self, node):
        if not node.types:
            return f"{node.fullname} has no result."
        if any(kind.dtype == "Key" for kind in node.types):
            return f"{node.fullname} is a random key, which has no numbers to show."
        return f"The value of {node.fullname} can't be read: it is computed in the condition of a loop."


def program_inputs(net: Any, *args: Any, **kwargs: Any) -> "tuple[Program, list[Any]]":
    """Trace a call of a Cell or function without running it, and return (program, inputs of the program).

    The inputs are the current Parameters, a random number and the arrays of the arguments.

    Raises:
        TypeError: If `net` is neither a Cell nor a function.
    """
    root = net if hasattr(net, "_graph_call") else ms_function(net)
    program, arrays, _ = find(root, *root._graph_call(args, kwargs), for_inspection=True)
    number = [0] if program.random else []
    with trace_state.donation_lock.lock:  # a training on another thread replaces the arrays
        stored = [jnp.copy(p._stored()) for p in program.params]
    return program, [*stored, *number, *arrays]


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
        _, _, points = self._instrument(lambda points: [], _Capture(None))
        self._loops = {p.node.id: p.loops for p in points}
        self.nbytes = sum(int(np.prod(p.shape, dtype=np.int64)) * p.dtype.itemsize for p in points)

    def loops(self, ident):
        """Return the number of loops around a node."""
        return self._loops[ident]

    def values(self, window, round=None):
        """Return (function of the program's inputs, points). It returns (times computed, value) of each point."""
        key = window, round
        if key not in self._cache:
            ids = frozenset(window)
            jaxpr, points, _ = self._instrument(lambda points: [p for p in points if p.node.id in ids], _Capture(round))
            self._cache[key] = _compile_counts_and_values(jaxpr, len(self._jaxpr.jaxpr.outvars), len(points)), points
        return self._cache[key]

    def statistics(self):
        """Return (function of the program's inputs, node numbers). It returns a row of statistics per node."""
        if "statistics" not in self._cache:

            def choose(points):
                return [p for p in points if p.slot == 0 and rows.is_real(p.dtype) and 0 not in p.shape]

            jaxpr, points, _ = self._instrument(choose, _Statistics())
            form = _compile(jaxpr, len(self._jaxpr.jaxpr.outvars))
            self._cache["statistics"] = (lambda *inputs: form(*inputs)[0]), [p.node.id for p in points]
        return self._cache["statistics"]

    def results(self):
        """Return a compiled function from the inputs of the program to its outputs."""
        if "results" not in self._cache:
            self._cache["results"] = _compile(self._jaxpr, 0)
        return self._cache["results"]

    def _instrument(self, choose, measure):
        every = []

        def readable(points):
            every[:] = [p for p in points if p.node is not None and not _is_key(p.dtype)]
            return choose(every)

        instrumented = instrument(self._jaxpr, readable, measure, self._inputs, self._name)
        return instrumented.jaxpr, instrumented.points, every


def _is_real_and_not_empty(array):
    return rows.is_real(array.dtype) and array.size > 0


def _is_key(dtype):
    return jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)


_forms: "WeakKeyDictionary[Any, _Forms]" = WeakKeyDictionary()  # of each program, which they do not keep alive


def _compiled_forms_of(program):
    if program not in _forms:
        _forms[program] = _Forms(program)
    return _forms[program]


def _compile(closed, first):
    """Return a compiled function that returns the outputs of a jaxpr from index `first` on. It has no side effects."""
    quiet = remove_debug_callbacks(closed.jaxpr)
    return jax.jit(lambda *inputs: eval_jaxpr(quiet, closed.consts, *inputs)[first:])


def _compile_counts_and_values(closed, first, count):
    form = _compile(closed, first)

    def run(*inputs):
        flat = form(*inputs)
        return list(zip(flat[:count], flat[count:], strict=True))

    return run


class _Capture(Measure):
    """Measures the values themselves. For a value inside a loop it is the value in one iteration of the loop.

    Args:
        round (int): the round; None for the last one.
    """

    def __init__(self, round: int | None) -> None:
        self._round = round

    def measure(self, point: Any, array: Any) -> Any:
        return jnp.int32(1), array

    def empty(self, point: Any) -> Any:
        return jnp.int32(0), jnp.zeros(point.shape, point.dtype)

    def merge(self, point: Any, first: Any, second: Any) -> Any:
        count = first[0] + second[0]
        is_later = second[0] > 0
        if self._round is not None:
            is_later &= first[0] <= self._round
        return count, jnp.where(is_later, second[1], first[1])

    def finish(self, points: list[Any], measurements: list[Any], inputs: list[Any], outputs: list[Any]) -> Any:
        return [count for count, _ in measurements] + [array for _, array in measurements]


class _Statistics(Measure):
    """Measures moments and the mean magnitude of each value. The result is one array with a row per value."""

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
