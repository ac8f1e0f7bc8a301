"""The exact check of one step: its program is run again, and every watched value is checked in float64."""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.compat.jax_private import eval_jaxpr, remove_debug_callbacks
from msnb.core.errors.cell_path import attribute_path
from msnb.core.jaxpr.instrument import Measure
from msnb.insight.debugger.replay import Replay
from msnb.insight.instrument import instrument
from msnb.insight.watchpoints import alarm, conditions
from msnb.insight.watchpoints.conditions import Verdict
from msnb.insight.watchpoints.hits import Hit
from msnb.ir.anf import CNode

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.watchpoints.conditions import Watchpoint
    from msnb.insight.watchpoints.series import Outlier
    from msnb.insight.watchpoints.watched_values import Key, WatchedValues

_LAST = 1 << 40  # `Hit.order` of new values of Parameters: after all nodes


def check_array(watchpoint: "Watchpoint", value: Any, previous: Any = None) -> Verdict:
    """Check one array, also against a condition that is a function; see `conditions.check`."""
    if watchpoint.function is None:
        return conditions.check(watchpoint, value, previous)
    holds = bool(np.asarray(watchpoint.call_function(jnp.asarray(value))).any())
    return Verdict([("", None, None)] if holds else [])


class ExactCheck:
    """Checks the values of one step.

    Args:
        replay (Replay): the step.
        values (WatchedValues): the values of its program.
        step (int): number of the step.
        outputs (Sequence[jax.Array]): outputs of the program in this step. Default: None, they are computed again.
    """

    def __init__(
        self, replay: Replay, values: "WatchedValues", step: int, outputs: Sequence[Any] | None = None
    ) -> None:
        self._replay, self._values, self._step = replay, values, step
        self._outputs = outputs
        self._loops: dict[Key, int | None] = {}

    def hits(self, watchpoints: "Iterable[Watchpoint]", selection: "frozenset[int] | None") -> list[Hit]:
        """Return the hits in the order of execution.

        Args:
            watchpoints (Iterable[Watchpoint]): the conditions, without bands and "dead", which need several steps.
            selection (frozenset[int]): numbers of the watched nodes; None for all.
        """
        watchpoints = list(watchpoints)
        hits: list[Hit] = []
        candidates = self._find_candidates(watchpoints, selection)
        for watchpoint in watchpoints:
            condition = watchpoint.condition
            keys = self._values.keys_of(condition.target, watchpoint.operators, selection)
            if condition.target == "weight":
                for name in keys:
                    hits += self._check_weight(watchpoint, name)
            elif condition.target == "gradient":
                for name in keys:
                    hits += self._check_node(watchpoint, self._values.gradients[name], "gradient", name)
            else:
                for key in keys:
                    if candidates is None or key in candidates:
                        hits += self._check_node(watchpoint, key, condition.target)
        return sorted(hits, key=lambda hit: hit.order)

    def _find_candidates(self, watchpoints, selection):
        """Return the values of nodes that may meet a condition; None for all.

        A large program can't return all its values, so it first tests them in float32.
        """
        if self._replay.has_statistics or all(w.condition.target == "weight" for w in watchpoints):
            return None
        tests: dict[Any, list[Callable[..., Any]]] = {}
        for watchpoint in watchpoints:
            condition = watchpoint.condition
            if condition.target in ("weight", "gradient"):
                continue
            test = (
                (lambda array: alarm.has_nonfinite([array]))
                if condition.is_overflow
                else functools.partial(alarm.rings, watchpoint)
            )
            for key in self._values.keys_of(condition.target, watchpoint.operators, selection):
                tests.setdefault(key, []).append(test)
        program = self._replay.program

        def choose(points):
            return [p for p in points if p.node is not None and (p.node.id, p.slot) in tests]

        instrumented = instrument(program.jaxpr, choose, _Tests(tests), program.inputs, program.name)
        quiet = remove_debug_callbacks(instrumented.jaxpr.jaxpr)
        form = jax.jit(lambda *inputs: eval_jaxpr(quiet, instrumented.jaxpr.consts, *inputs)[-1])
        flags = np.asarray(form(*self._replay.inputs))
        return {(point.node.id, point.slot) for point, flag in zip(instrumented.points, flags, strict=True) if flag}

    # ------------------------------------------------------------------ weights
    def _check_weight(self, watchpoint, name):
        place, output = self._values.weights[name]
        if output is None or watchpoint.condition.id == "weight_initialization":
            return []  # `Watch` checks weights that a program does not write
        before = None if place is None else self._replay.inputs[place]
        verdict = check_array(watchpoint, self._get_output(output), before)
        node = self._values.readers.get(name)
        return make_hits(watchpoint, verdict, self._step, node, 0, "weight", name, self._values.graph.name, order=_LAST)

    def _get_output(self, index):
        if self._outputs is not None and not getattr(self._outputs[index], "is_deleted", bool)():
            return self._outputs[index]
        return [*self._replay.results, *self._replay.updates()][index]

    # ------------------------------------------------------------------ nodes
    def _check_node(self, watchpoint, key, kind, name=None):
        node = self._values.nodes[key[0]]
        try:
            rounds = self._replay.rounds(node, key[1])
            entries = (
                [(None, self._replay.output(node, key[1]))] if rounds is None else self._iterate_rounds(key, rounds)
            )
        except ValueError:  # in the condition of a loop
            return []
        for number, array in entries:
            verdict = check_array(watchpoint, array)
            if watchpoint.condition.id == "operator_overflow" and verdict.met:
                if node.graphs or self._reads_nonfinite(node, number):
                    continue  # the NaN or infinity comes from an earlier operator
            if verdict.met or verdict.error_code:
                reader = self._values.readers.get(name) if name is not None else None
                return make_hits(
                    watchpoint,
                    verdict,
                    self._step,
                    node,
                    key[1],
                    kind,
                    name,
                    self._values.graph.name,
                    number,
                    _get_end_position(node),
                    reader,
                    key[1] > 0 or (key[0], 1) in self._values.tensors,
                )
        return []

    def _iterate_rounds(self, key, rounds):
        """Yield (round, value) of a value inside a loop or a branch."""
        node = self._values.nodes[key[0]]
        if rounds == 0:
            return
        try:
            for number in range(rounds):
                yield number, self._replay.output(node, key[1], number)
        except ValueError:  # inside several loops
            yield rounds - 1, self._replay.output(node, key[1])

    def _reads_nonfinite(self, node, number):
        for source, slot in node.uses:
            if isinstance(source, CNode) and number is None:
                try:
                    array = self._replay.output(source, slot)
                except ValueError:
                    continue
            elif number is None:
                array = dict(self._replay.operands(node)).get(getattr(source, "name", None))
            else:
                array = None
            if array is None or not hasattr(array, "dtype"):
                continue
            if jax.dtypes.issubdtype(array.dtype, np.floating) and not np.isfinite(conditions.as_float64(array)).all():
                return True
        return False


def _get_end_position(node):
    """Return the position of a node in the order of execution; a loop ends after the nodes inside it."""
    return max([node.id, *(inner.id + 0.5 for graph in node.graphs for inner in graph.all_nodes())])


class _Tests(Measure):
    def __init__(self, tests):
        self._tests = tests

    def measure(self, point, array):
        return functools.reduce(jnp.logical_or, [test(array) for test in self._tests[point.node.id, point.slot]])

    def empty(self, point):
        return jnp.zeros((), bool)

    def merge(self, point, first, second):
        return first | second

    def finish(self, points, measurements, inputs, outputs):
        return [jnp.stack(measurements) if measurements else jnp.zeros(0, bool)]


def make_hits(
    watchpoint: "Watchpoint",
    verdict: Verdict,
    step: int,
    node: Any,
    slot: int,
    kind: str,
    name: str | None,
    root: str,
    round: int | None = None,
    order: float = 0,
    reader: Any = None,
    has_results: bool = False,
) -> list[Hit]:
    """Return a Hit for each parameter that was met, or one with an error code.

    Args:
        watchpoint (Watchpoint): the condition.
        verdict (Verdict): its result.
        step (int): number of the step.
        node (CNode): the node that computes the value, or first reads the weight; or None.
        slot (int): index of the node's result.
        kind (str): "weight", "gradient", "activation" or "tensor".
        name (Union[str, None]): name of the Parameter; None for another value.
        root (str): name of the graph.
        round (int): iteration of a loop. Default: None.
        order (float): position in the order of execution. Default: 0.
        reader (CNode): first node that reads the Parameter whose gradient it is. Default: None.
        has_results (bool): True if the node has several results, so that the name needs the index. Default: False.
    """
    place = reader if reader is not None else node
    common = {
        "step": step,
        "node": None if node is None else node.id,
        "slot": slot,
        "name": _format_hit_name(node, slot, kind, name, has_results),
        "kind": kind,
        "op": "" if node is None else node.op,
        "cell": "" if place is None else attribute_path(place.scope, root),
        "source": None if place is None else place.source,
        "lane": {"weight": "update", "gradient": "backward"}.get(kind) or node.direction,
        "condition": watchpoint.condition.id if watchpoint.function is None else watchpoint.title,
        "round": round,
        "order": order,
    }
    if verdict.error_code:
        test = next(iter(watchpoint.tests), "")
        return [Hit(**common, parameter=test, preset=watchpoint.tests.get(test), error_code=verdict.error_code)]
    return [
        Hit(**common, parameter=test, preset=preset, actual=actual, channels=verdict.channels.get(test, ()))
        for test, preset, actual in verdict.met
    ]


def hits_of_outlier(watchpoint: "Watchpoint", outlier: "Outlier", *place: Any) -> list[Hit]:
    """Return the Hit of a value that differs from its history; `place` has the arguments of `make_hits` from `step`
    on.
    """
    verdict = Verdict([(outlier.parameter, outlier.preset, outlier.actual)])
    hits = make_hits(watchpoint, verdict, *place)
    return [dataclasses.replace(hit, name=hit.name + outlier.note) for hit in hits]


def _format_hit_name(node, slot, kind, name, has_results):
    if name is not None:
        return f"gradient of {name}" if kind == "gradient" else name
    return f"{node.fullname}, result {slot}" if has_results else node.fullname
